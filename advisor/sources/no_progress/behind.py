"""What waits in a source, where its metrics or offsets stand without durations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from advisor.metrics.words import number
from advisor.progress import FURTHEST, MEAN, offsets_behind

_BYTES: Final = "estimatedTotalBytesBehindLatest"
_WAITING: Final[dict[str, Callable[[float], str]]] = {
    "numFilesOutstanding": lambda count: f"{count:,.0f} file{'s' * (count != 1)}",
    "numBytesOutstanding": lambda size: number(size, "bytes"),
}
_NAMES: Final = "|".join((FURTHEST, MEAN, _BYTES, *_WAITING))
_METRIC: Final = re.compile(
    rf"""\b({_NAMES})\b["'`*]{{0,3}}[ \t]{{0,20}}[:=|][ \t]{{0,20}}["'`]?"""
    r"(\d{1,3}(?:,\d{3})+|\d{1,18})((?:\.\d{1,18})?(?:[eE]\d{1,3})?)\b(?![.,]\d)"
)
_WANTED: Final = re.compile(r"(?i)\b(?:alert|alarm|threshold|warn|critical|target|default|allowed|at most|sla|slo)")
"""Words before a number that somebody set, and nobody measured."""
_END: Final = re.compile(r"""["']endOffset["']\s{0,9}:\s{0,9}(?=\{)""")
_LATEST: Final = re.compile(r"""\s{0,40},\s{0,40}["']latestOffset["']\s{0,9}:\s{0,9}(?=\{)""")
_LONGEST: Final = 64 << 10
"""Letters of the offsets of a source."""
_MOST: Final = 20
"""Sources that are looked at."""
_SHOWN: Final = 5
_MANY: Final = 1000
"""Offsets of which a part of one says nothing."""
_NEAR: Final = 200
"""Letters before a number in which words about it stand."""
_NOTHING: Final = "nothing waited there"
_ONE_MOMENT: Final = "one moment does not tell whether it catches up or falls behind: compare a later one"


def waiting(text: str) -> str | None:
    """What metrics or offsets of sources, without the rest of their events, say of what waits; None without them."""
    told = [said for metrics in _sources(text) if (said := _said(metrics))]
    of, found = ("metrics", told) if told else ("offsets", [_said_of_offsets(behind) for behind in _by_offsets(text)])
    if not found:
        return None
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    each = (f"{n}: {said}" for n, said in enumerate(found[:_SHOWN], 1))
    says = found[0] if len(found) == 1 else f"in the order of the text {'; '.join(each)}{more}"
    waits = "" if all(said == _NOTHING for said in found) else f", and {_ONE_MOMENT}"
    return f"these are {of} of a source alone, by which {says}; how long a batch takes is not told{waits}"


def _sources(text: str) -> Iterator[dict[str, float]]:
    """The metrics, those of one source together: a name that comes again begins the next one."""
    metrics: dict[str, float] = {}
    for found in _METRIC.finditer(text):
        name, whole, fraction = found.groups()
        if _WANTED.search(text, max(0, found.start() - _NEAR), found.start()):
            continue
        if name in metrics:
            yield metrics
            metrics = {}
        metrics[name] = float(whole.replace(",", "") + fraction)
    yield metrics


def _said(metrics: Mapping[str, float]) -> str:
    """What waits by the metrics of a source; empty where they tell nothing."""
    if metrics.keys() & {FURTHEST, MEAN}:
        return _said_of_partitions(metrics)
    waits = [words(metrics[name]) for name, words in _WAITING.items() if metrics.get(name)]
    return f"{' with '.join(waits) or 'nothing'} waited there" if metrics.keys() & _WAITING.keys() else ""


def _said_of_partitions(metrics: Mapping[str, float]) -> str:
    if not metrics.get(FURTHEST, metrics.get(MEAN)):
        return _NOTHING
    told = []
    if FURTHEST in metrics:
        told.append(f"the partition that is furthest behind was {metrics[FURTHEST]:,.0f} offsets behind its latest")
    if MEAN in metrics:
        told.append(f"a partition was {_mean(metrics[MEAN])} offsets behind on average")
    if metrics.get(_BYTES):
        told.append(f"about {number(metrics[_BYTES], 'bytes')} waited in all")
    return ", ".join(told)


def _mean(offsets: float) -> str:
    return f"{offsets:,.0f}" if offsets >= _MANY else f"{offsets:.7g}"


def _by_offsets(text: str) -> Iterator[int]:
    """Offsets from the end of the batch to the latest, of each source that names both."""
    for _, found in zip(range(_MOST), _END.finditer(text), strict=False):
        end, at = _object(text, found.end())
        latest = _LATEST.match(text, at)
        behind = offsets_behind(end, _object(text, latest.end())[0]) if latest else None
        if behind is not None:
            yield behind


def _object(text: str, at: int) -> tuple[Any, int]:
    """(the object of JSON or Python that begins there or None, where it ends)."""
    with suppress(ValueError, RecursionError):
        thing, size = json.JSONDecoder().raw_decode(text[at : at + _LONGEST].replace("'", '"'))
        return thing, at + size
    return None, at


def _said_of_offsets(behind: int) -> str:
    return f"the batch ended {behind:,} offset{'s' * (behind != 1)} behind its latest" if behind else _NOTHING
