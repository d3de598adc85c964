"""Gauges of spark.sql.streaming.metricsEnabled, as Prometheus, Graphite, JMX or a console show them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from advisor.metrics.words import milliseconds
from advisor.sources.formats.cells import DURATIONS, Column, record
from advisor.sources.formats.fragments import Piece
from advisor.sources.harvest import Buffer

_MOST: Final = 1 << 20
"""Bytes at the beginning of a text in which gauges are looked for."""
_GAUGE: Final = re.compile(
    r"(latency|inputRate[-_.]total|processingRate[-_.]total)(?:_Value)?\b(?:, ?type=gauges><>Value\"?\}?)?"
    r"(\{[^}\n]{0,300}\})?"
    r"[\"\s=:,{]{1,40}(?:value\"?[\s=:]{1,9})?(\d{1,15}(?:\.\d{1,20})?(?:[eE]\+?\d{1,3})?)(?![\d.-]*\d)"
)
_LAST: Final = re.compile(
    r"\blatency(?:_Value)?\b(?:\{[^}\n]{0,300}\})?[\"\s=:,{]{1,40}(?:value\"?[\s=:]{1,9})?(\d{1,15})\b(?![.\d])"
)
_NO_RATE: Final = re.compile(r"inputRate[-_.]total(?:_Value)?\b[\"\s=:,{]{1,40}(?:value\"?[\s=:]{1,9})?NaN\b")
_ALL_ZERO: Final = "as before the end of the first batch, or where nothing comes; they tell of no batch"
_HOW_LONG: Final = "how long the last trigger took"
_BEFORE: Final = re.compile(r"[\w./-]{0,200}$")
_TYPE: Final = re.compile(r",?\btype=\"[^\"]*\"")
_NAME: Final = re.compile(r"(?:query|name)=\"([^\"]+)\"|streaming[._/-](\w[\w-]*?)[._/-]?(?:\{|$)")
_GAUGES: Final = {
    "latency": Column((DURATIONS, "triggerExecution")),
    "inputRate": Column(("inputRowsPerSecond",)),
    "processingRate": Column(("processedRowsPerSecond",)),
}


def of_the_last_trigger(text: str) -> str | None:
    """What gauges tell that are no sample of a batch, in one line; None where they are of no streaming query."""
    if "inputRate" not in text and "processingRate" not in text:
        return None
    values = [float(gauge[3]) for gauge in _GAUGE.finditer(text)]
    if values and not any(values):
        return f"these are gauges of Spark's metrics, and all are 0, {_ALL_ZERO}"
    lengths = [*{float(ms) for ms in _LAST.findall(text)} - {0.0}]
    took = f"that the last trigger took {milliseconds(*lengths)}" if len(lengths) == 1 else _HOW_LONG
    first = (
        " and that no rate of input was known, as in the first batch after a start, which is cold"
        if _NO_RATE.search(text)
        else ""
    )
    return f"these are gauges of Spark's metrics, which tell {took}{first}; not where the time went"


class _Gauge(NamedTuple):
    start: int
    end: int
    value: float


def gauges(buffer: Buffer) -> Iterator[Piece]:
    """Each sample of a query's gauges, as a partial record; the same numbers again are the same batch."""
    text = bytes(buffer[:_MOST]).decode("latin-1")
    if "Rate" not in text:
        return
    for of, found in _by_query(text).items():
        lists = [found[name] for name in _GAUGES]
        if len({len(each) for each in lists}) != 1:
            continue  # a sample lacks a gauge, and nobody knows which
        samples = [sample for sample in zip(*lists, strict=True) if all(gauge.value > 0 for gauge in sample)]
        for _, same in groupby(samples, key=lambda sample: [gauge.value for gauge in sample]):
            yield from _of_sample(next(same), of, lists[0][0].start)


def _by_query(text: str) -> dict[str, dict[str, list[_Gauge]]]:
    """The values of each gauge in the order in which they stand, by what its name begins with and its labels."""
    found: dict[str, dict[str, list[_Gauge]]] = defaultdict(lambda: defaultdict(list))
    for match in _GAUGE.finditer(text):
        before = _BEFORE.search(text, max(0, match.start() - 200), match.start())
        of = _TYPE.sub("", f"{before[0] if before else ''}{match[2] or ''}")
        found[of][re.split(r"[-_.]", match[1])[0]].append(_Gauge(match.start(), match.end(), float(match[3])))
    return found


def _of_sample(sample: tuple[_Gauge, ...], of: str, place: int) -> Iterator[Piece]:
    """The batch of a sample, whose length the latency is."""
    cells: list[tuple[Column, Any]] = [
        (column, gauge.value) for column, gauge in zip(_GAUGES.values(), sample, strict=True)
    ]
    if name := _NAME.search(of):
        cells.append((Column(("name",)), name[1] or name[2]))
    yield from record(min(sample).start, max(gauge.end for gauge in sample), cells, place)
