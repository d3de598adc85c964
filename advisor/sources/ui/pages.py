"""Spark's HTML about its streaming queries: the list of them, and the statistics of one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Final, NamedTuple

from advisor.batches import instant
from advisor.sources.sightings.line import OF_SPARK

LIST: Final = "StreamingQuery/?active.pageSize=100000&completed.pageSize=100000"
"""Without a size the page shows 100 queries that run, and 100 that do not."""
HEADING: Final = "Streaming Query Statistics"
"""Stands on the page of a run's statistics."""
STATISTICS: Final = "StreamingQuery/statistics/?id="
_TAG: Final = re.compile(r"<[^<>]*>")
_RUN: Final = re.compile(r"statistics/?\?id=([0-9a-f-]{36})")
_NAMELESS: Final = "<no name>"
_NO_BATCH: Final = "No visualization information available"
_TIMELINE: Final = re.compile(r"drawTimeline\(\s*['\"]#([\w-]+)-timeline['\"],\s*(\w+)")
_AREA: Final = re.compile(r"drawAreaStack\(\s*['\"]#duration-area-stack['\"],\s*\w+,\s*(\w+)")
_NUMBERED: Final = re.compile(r"\btimeTipStrings\[(\d{1,15})\] = ['\"]batch (-?\d{1,18}) ")
_BARE_KEY: Final = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_SERIES: Final = {
    "inputRowsPerSecond": "input-rate",
    "processedRowsPerSecond": "process-rate",
    "numInputRows": "input-rows",
    "batchDuration": "batch-duration",
}
"""The timeline that shows each number of a progress event."""
_STATE: Final = {
    "numRowsTotal": "aggregated-num-total-state-rows",
    "numRowsUpdated": "aggregated-num-updated-state-rows",
    "numRowsRemoved": "aggregated-num-removed-state-rows",
    "memoryUsedBytes": "aggregated-state-memory-used-bytes",
    "numRowsDroppedByWatermark": "aggregated-num-rows-dropped-by-watermark",
}
"""The timelines that show sums over the state operators."""
_MOST: Final = 1e15
"""No count of rows, bytes or milliseconds on a page is as large."""
_GAP: Final = "watermark-gap"
_LATEST: Final = 253_402_300_799_999
"""The end of the year 9999, in ms since 1970."""
_LINES: Final = frozenset((*_SERIES.values(), *_STATE.values(), _GAP))
"""Every timeline that is read."""

Event = dict[str, Any]


class Listed(NamedTuple):
    """A run as the list of queries shows it; `error`: the end of one that failed, in Spark's words."""

    name: str | None
    id: str
    run_id: str
    status: str
    error: str

    @property
    def active(self) -> bool:
        """Whether it runs."""
        return self.status not in ("FINISHED", "FAILED")


def listed(page: str) -> list[Listed]:
    """Return the runs in the list of queries, those that run first, the newest first."""
    found = []
    for row in _inside(page, "tr"):
        raw = _inside(row, "td")
        run, cells = _RUN.search(row), [*map(_text, raw)]
        if run is None or len(cells) < 4 or not OF_SPARK.fullmatch(cells[2]):
            continue
        name = None if cells[0] in ("", "null", _NAMELESS) else cells[0]
        error = _inside("".join(raw[9:10]), "pre") or raw[9:10]  # all of it unfolds behind its first line
        found.append(Listed(name, cells[2], run[1], cells[1], _text(error[0]) if error else ""))
    return found


def _text(cell: str) -> str:
    return unescape(_TAG.sub("", cell)).strip()


def events(page: str, run: Listed) -> list[Event]:
    """Return the batches on a run's page as progress events, in order of time, as far as the page shows them.

    `stateOperators` holds one operator that stands for all; it is empty where the page says that there is none.
    ValueError where the page does not fit together.
    """
    arrays = _arrays(page)
    lines = {name: _numbers(arrays.get(variable)) for name, variable in _TIMELINE.findall(page) if name in _LINES}
    numbers = {int(start): int(batch) for start, batch in _NUMBERED.findall(page)}
    starts = list(lines.get(_SERIES["batchDuration"], {}))
    area = _AREA.search(page)
    phases = [*map(_phases, _members(arrays.get(area[1]) if area else None))]
    if len(phases) != len(starts):
        raise ValueError(f"{len(starts)} batches and the phases of {len(phases)}")
    if page and not area and _NO_BATCH not in page:
        raise ValueError("a query's page is cut off before its batches")
    return [_event(run, start, numbers.get(start), lines, ms) for start, ms in zip(starts, phases, strict=True)]


def _arrays(page: str) -> dict[str, str]:
    """Return the JavaScript arrays of a page by their variables; Spark writes each one on a line of its own."""
    said = (line.strip().removeprefix("var ").partition(" = ") for line in page.splitlines())
    return {variable: text.rstrip("; ") for variable, _, text in said if text.startswith("[")}


def _inside(page: str, tag: str) -> list[str]:
    """Return what stands inside each element of this tag, which holds none of its own kind."""
    begun = (piece.partition(f"</{tag}>") for piece in page.split(f"<{tag}")[1:])
    return [inside.partition(">")[2] for inside, end, _ in begun if end]


def _members(array: str | None) -> list[dict[str, Any]]:
    """Return a JavaScript array of objects of plain values; keys may stand there without quotes."""
    try:
        found = json.loads(_BARE_KEY.sub(r'\1"\2":', array or "[]"))
    except (ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, dict)]


def _numbers(array: str | None) -> dict[int, float]:
    """Return the points of a timeline by their time."""
    points = ((_number(each.get("x")), _number(each.get("y"))) for each in _members(array))
    return {int(x): y for x, y in points if x is not None and y is not None and 0 <= x <= _LATEST}


def _number(value: Any) -> float | None:
    """Return a number as Spark prints one; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < _MOST else None


def _phases(member: Mapping[str, Any]) -> dict[str, int]:
    read = {name: _number(ms) for name, ms in member.items() if name != "x"}
    return {name: int(ms) for name, ms in read.items() if ms is not None}


def _event(
    run: Listed, start: int, batch: int | None, lines: Mapping[str, Mapping[int, float]], phases: Mapping[str, int]
) -> Event:
    """Return one batch; the page fills phases that a batch does not have with 0, so that no addBatch is an idle one."""
    durations = dict(phases)
    if not durations.get("addBatch"):
        durations.pop("addBatch", None)
    shown = {name: lines[line][start] for name, line in _SERIES.items() if start in lines.get(line, ())}
    state = {name: int(lines[line][start]) for name, line in _STATE.items() if start in lines.get(line, ())}
    took = int(shown.get("batchDuration", 0))
    gap = lines.get(_GAP, {}).get(start)
    return {
        "id": run.id, "runId": run.run_id, "name": run.name, "batchId": batch, "timestamp": _iso(start),
        "numInputRows": int(shown.get("numInputRows", 0)), "batchDuration": took,
        "inputRowsPerSecond": shown.get("inputRowsPerSecond"),
        "processedRowsPerSecond": shown.get("processedRowsPerSecond"),
        "durationMs": {**durations, "triggerExecution": took},
        "eventTime": {} if gap is None else {"watermark": _iso(min(max(round(start - 1000 * gap), 0), _LATEST))},
        "stateOperators": [state] if state else [],
    }  # fmt: skip


def _iso(ms: int) -> str:
    moment = instant(ms)
    assert moment is not None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"
