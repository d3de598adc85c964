"""A progress event of which only a part is there: what can be judged of it, what is missing, what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeGuard

from advisor.progress.behind import says_behind
from advisor.progress.fragment import Fragment
from advisor.progress.instants import as_instant
from advisor.progress.shapes import Broken, Progress, with_totals
from advisor.progress.tolerance import from_object, in_latest_words

UNNAMED: Final = "unknown"
"""Stands for the id of a query whose record does not show it."""
AT_BYTE: Final = " at byte "
"""Stands in the id of a run that nothing names but its place in a text."""
PARTS: Final = {
    "id": "id",
    "timestamp": "timestamp",
    "numInputRows": "input rows",
    "durationMs": "durations",
    "eventTime": "event time",
    "stateOperators": "state operators",
    "sources": "sources",
    "sink": "sink",
}
"""The parts of an event that a record may lack, in Spark's order, and the words for them."""
INPUT_RATE: Final = "inputRowsPerSecond"
"""Spark leaves it out of the JSON of the first batch after a start, or it is 0: no batch before it tells since when."""
_ANY_TIME: Final = "1970-01-01T00:00:00.000Z"
_SHOWN: Final = 3
_OF_DURATIONS: Final = re.compile("(?i)duration_?m|add_?batch")
_LONGEST_MS, _LARGEST = 10 * 366 * 86_400_000.0, 1e18
_NAMES: Final = {"runId", "name"}
"""What Spark writes between the id and the timestamp."""
_RATES: Final = {"inputRowsPerSecond": "rows/s came", "processedRowsPerSecond": "rows/s were processed"}


class Partial(NamedTuple):
    """What a partial record gives: its event if its durations are whole, the parts that it lacks, and what is there.

    `in_part`: the parts that it lacks, and yet tells something of.
    """

    event: Progress | None
    lacks: tuple[str, ...]
    says: str
    in_part: tuple[str, ...] = ()


def of_fragment(fragment: Fragment) -> Partial | None:
    """What a fragment gives; None when nothing in it belongs to a progress event.

    It is an event only where `durationMs` is whole and has `triggerExecution`, or has `addBatch`, too, whatever else
    was left out; without durations where rows and rates tell how long the batch took. What it lacks stays empty in the
    event: who reads it must ask `lacks` before he takes nothing for none.
    """
    thing = in_latest_words(fragment.thing)
    if "durationMs" not in thing and "triggerExecution" in thing:
        thing = {"durationMs": thing}
    if (rows := _rows_by_rate(thing)) is not None:
        thing = {**thing, "numInputRows": rows}
    lacks = tuple(_lacking(thing, fragment))
    in_part = tuple(part for part in lacks if thing.get(part) and isinstance(thing[part], dict | list))
    says = describe(thing)
    if not says:
        return None
    if not any(_OF_DURATIONS.search(key) for key in thing) and (took := _by_its_rate(thing)) is not None:
        return Partial(_event({**thing, "durationMs": {"triggerExecution": took}}, lacks), lacks, says, in_part)
    thing = _undivided(_with_its_length(thing), lacks)
    judged = "durationMs" not in lacks or _has_durations(thing)
    return Partial(_event(thing, lacks) if judged else None, lacks, says, in_part)


def _by_its_rate(thing: dict[str, Any]) -> int | None:
    """Milliseconds of the batch: processedRowsPerSecond is its rows over its length, in every version of Spark."""
    rows, rate, told = (thing.get(key) for key in ("numInputRows", "processedRowsPerSecond", "batchDuration"))
    if not _above_zero(rows):
        return None
    took = told if _above_zero(told) else rows / rate * 1000 if _above_zero(rate) else _LONGEST_MS
    return round(took) if took < _LONGEST_MS else None


def _with_its_length(thing: dict[str, Any]) -> dict[str, Any]:
    """The record with the whole trigger in durations that lack it, where its rate tells it and no phase is longer.

    Durations that were cut behind all others keep to these: their sum is the length then.
    """
    durations, took = thing.get("durationMs"), _by_its_rate(thing)
    if not isinstance(durations, dict) or {"triggerExecution", "walCommit"} & durations.keys() or took is None:
        return thing
    told = [ms for ms in durations.values() if isinstance(ms, int)]
    fits = isinstance(durations.get("addBatch"), int) and max(told) <= took
    return {**thing, "durationMs": {**durations, "triggerExecution": took}} if fits else thing


def _undivided(thing: dict[str, Any], lacks: Iterable[str]) -> dict[str, Any]:
    """The record with the whole trigger alone, where its durations are not all there and addBatch is left out."""
    durations = thing.get("durationMs")
    if "durationMs" not in lacks or not isinstance(durations, dict) or "addBatch" in durations:
        return thing
    took = durations.get("triggerExecution")
    return {**thing, "durationMs": {"triggerExecution": took}} if _above_zero(took) else thing


def _rows_by_rate(thing: dict[str, Any]) -> int | None:
    """The rows of a record that tells neither them nor sources: processedRowsPerSecond is rows over the length."""
    durations, rate = thing.get("durationMs"), thing.get("processedRowsPerSecond")
    if "numInputRows" in thing or thing.get("sources") or not isinstance(durations, dict) or not _above_zero(rate):
        return None
    length = durations.get("triggerExecution")
    return round(rate * length / 1000) if _above_zero(length) and length < _LONGEST_MS else None


def _above_zero(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < _LARGEST


_JUDGED: Final = ("triggerExecution", "addBatch")
"""Phases without which a record whose durations are not all there is not judged."""


def _has_durations(thing: dict[str, Any]) -> bool:
    """Whether durations that are not all there tell the whole trigger, and its largest part or no part at all."""
    durations = thing.get("durationMs")
    return isinstance(durations, dict) and (
        all(isinstance(durations.get(phase), int) for phase in _JUDGED)
        or (durations.keys() == {"triggerExecution"} and _above_zero(thing.get("numInputRows")))
    )


def _lacking(thing: dict[str, Any], fragment: Fragment) -> Iterator[str]:
    for part in PARTS:
        if part == "id":
            there = bool(thing.get("id") or thing.get("runId"))
        elif part == "timestamp":
            there = as_instant(thing.get(part)) is not None
        elif part == "eventTime":
            there = part in thing or _has_none(thing, fragment)
        elif part == "durationMs":
            there = isinstance(thing.get(part), dict) and _of_all_phases(thing)
        else:
            there = thing.get(part) is not None or (part == "numInputRows" and _counted(thing, fragment))
        if not there or (part in fragment.in_part and not (part == "sink" and _names_itself(thing[part]))):
            yield part
    if _without_the_rate(thing) and fragment.end and not fragment.shortened:
        yield INPUT_RATE


def _of_all_phases(thing: dict[str, Any]) -> bool:
    """Whether durations tell the whole trigger, and addBatch where rows show that a batch ran."""
    told = thing["durationMs"].keys()
    return "triggerExecution" in told and ("addBatch" in told or not _above_zero(thing.get("numInputRows")))


def _has_none(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Whether a record without event time shows that its query has none.

    It stands before the operators, so one that was cut behind these shows it. Of one that was closed without its other
    parts, or that has gaps between them, somebody chose the members.
    """
    if "stateOperators" not in thing or fragment.shortened:
        return False
    others = [part in thing or (part == "id" and bool(_NAMES & thing.keys())) for part in PARTS if part != "eventTime"]
    told = others if fragment.whole else others[others.index(True) : len(others) - others[::-1].index(True)]
    return all(told)


def _without_the_rate(thing: dict[str, Any]) -> bool:
    """Whether the rate of the rows that came stands not where Spark writes it, between the rows and the other rate."""
    keys = [*thing]
    at = keys.index("numInputRows") if "numInputRows" in thing else len(keys)
    told = INPUT_RATE in thing or thing.get("batchId") == 0  # of batch 0 everybody knows
    return not told and keys[at + 1 : at + 2] == ["processedRowsPerSecond"]


def _names_itself(sink: object) -> bool:
    """Whether a sink that is not all there tells its description: all that is taken from it beside a count."""
    return isinstance(sink, dict) and "description" in sink


def _counted(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Whether the sources tell the rows that the event leaves out."""
    sources = _objects(thing.get("sources"))
    return bool(sources) and "sources" not in fragment.in_part and all("numInputRows" in each for each in sources)


def _event(thing: dict[str, Any], lacks: Iterable[str]) -> Progress | None:
    known = {key: value for key, value in thing.items() if key not in lacks or key == "durationMs"}
    known |= {
        part: _trimmed(part, _objects(thing.get(part))) for part in ("stateOperators", "sources") if part in lacks
    }
    known |= {"id": known.get("id") or known.get("runId") or thing.get("name") or UNNAMED}
    try:
        event = from_object({**known, "timestamp": known.get("timestamp", _ANY_TIME)})
    except Broken:
        return None
    if "timestamp" in lacks:
        event.timestamp = ""
    return event if "numInputRows" in lacks or event.num_input_rows is not None else with_totals(event)


_BEHIND_THE_ROWS: Final = {"commitTimeMs", "numShufflePartitions"}
"""Spark writes them behind the rows of an operator: where one stands, the operator was not cut before it."""
_OF_A_PART: Final = {
    "stateOperators": ("operatorName", "numRowsTotal", "numShufflePartitions", "numStateStoreInstances"),
    "sources": ("description",),
}
"""What may be kept of a member that is not all there in a list that is not: nothing that is summed over members."""


def _trimmed(part: str, things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The members of a list that is not all there; an operator that tells its times keeps them: less than the sum."""
    return [
        each if _BEHIND_THE_ROWS & each.keys() else {key: each[key] for key in _OF_A_PART[part] if key in each}
        for each in things
    ]


def describe(thing: dict[str, Any]) -> str:
    """What a record says, in a few words: `batch 0, 7,440 rows, addBatch 12,713 ms, sink FileSink[…]`."""
    return ", ".join(_said(thing))


def _said(thing: dict[str, Any]) -> Iterator[str]:
    if isinstance(thing.get("batchId"), int):
        yield f"batch {thing['batchId']}"
    if isinstance(thing.get("numInputRows"), int):
        yield f"{thing['numInputRows']:,} {'row' if thing['numInputRows'] == 1 else 'rows'}"
    durations = thing.get("durationMs")
    if isinstance(durations, dict):
        told = [f"{key} {ms:,} ms" for key, ms in durations.items() if isinstance(ms, int)]
        first = [each for each in told if each.startswith(("triggerExecution", "addBatch"))]
        yield from first or told[:_SHOWN]
    else:
        yield from (f"{thing[key]:,.5g} {words}" for key, words in _RATES.items() if _above_zero(thing.get(key)))
    if isinstance(thing.get("eventTime"), dict) and isinstance(thing["eventTime"].get("watermark"), str):
        yield f"watermark {thing['eventTime']['watermark']}"
    operators = _objects(thing.get("stateOperators"))
    yield from map(_operator, operators[:_SHOWN])
    yield from _end_to_end([thing.get("latencies"), thing.get("rtmMetrics")])
    sources = _objects(thing.get("sources"))
    yield from (f"source {each['description']}{says_behind(each)}" for each in sources if each.get("description"))
    sink = thing.get("sink")
    if isinstance(sink, dict) and sink.get("description"):
        yield f"sink {sink['description']}"


def _end_to_end(told: list[Any]) -> Iterator[str]:
    """The record latencies that real-time mode measured, end to end."""
    inside = [each[key] for each in told if isinstance(each, dict) for key in each if key.startswith("e2eLatency")]
    for values in (each for each in inside if isinstance(each, dict)):
        of = {name.lower(): value for name, value in values.items() if _above_zero(value)}
        if "p50" in of and "p99" in of:
            yield f"records took {of['p50']:,.0f} ms (p50) and {of['p99']:,.0f} ms (p99) from end to end"


def _operator(operator: dict[str, Any]) -> str:
    rows = operator.get("numRowsTotal")
    held = f" with {rows:,} {'row' if rows == 1 else 'rows'}" if isinstance(rows, int) else ""
    count = operator.get("numShufflePartitions")
    where = f" in {count:,} partition{'' if count == 1 else 's'}" if isinstance(count, int) else ""
    dropped = operator.get("numRowsDroppedByWatermark")
    late = f", {dropped:,} rows dropped by the watermark" if isinstance(dropped, int) and dropped else ""
    return f"state operator {operator.get('operatorName') or 'without a name'}{held}{where}{late}"


def _objects(things: Any) -> list[dict[str, Any]]:
    return [each for each in things if isinstance(each, dict)] if isinstance(things, list) else []
