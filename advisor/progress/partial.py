"""Partial progress events: what each one lacks, what can be judged of it, and what it holds, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeGuard

from advisor.progress.decoding import as_instant, from_object, in_latest_words
from advisor.progress.fragment import Fragment
from advisor.progress.shapes import Broken, Progress, with_totals

UNNAMED: Final = "unknown"
"""Stands for the id of a query whose record does not show it."""
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
FROM_UI: Final = "ui"
"""Stands among the parts that a batch lacks where it was read from a driver's pages."""
INPUT_RATE: Final = "inputRowsPerSecond"
"""Spark leaves it out of the first batch after a start, or writes 0: there is no batch before it."""
_ANY_TIME: Final = "1970-01-01T00:00:00.000Z"
_SHOWN: Final = 3
_LARGEST: Final = 1e18
_NAMES: Final = {"runId", "name"}
"""What Spark writes between the id and the timestamp."""
_JUDGED: Final = ("triggerExecution", "addBatch")
"""Phases without which a record that lacks some of its durations is not judged."""
_BEHIND_THE_ROWS: Final = {"commitTimeMs", "numShufflePartitions"}
"""Spark writes them behind the rows of an operator: where one stands, the operator was not cut before it."""
_OF_A_PART: Final = {
    "stateOperators": ("operatorName", "numRowsTotal", "numShufflePartitions", "numStateStoreInstances"),
    "sources": ("description",),
}
"""What is kept of a member that is not all there in a list that is not: nothing that is summed over members."""


class Partial(NamedTuple):
    """What a partial record gives: its event if it can be judged, the parts that it lacks, and its words."""

    event: Progress | None
    lacks: tuple[str, ...]
    says: str


def of_fragment(fragment: Fragment) -> Partial | None:
    """Return what a fragment gives; None when nothing in it belongs to a progress event.

    It is an event only where `durationMs` is whole, or has both triggerExecution and addBatch. What it lacks stays
    empty in the event: ask `lacks` before nothing is taken for none.
    """
    thing = in_latest_words(fragment.thing)
    if "durationMs" not in thing and "triggerExecution" in thing:
        thing = {"durationMs": thing}
    lacks = tuple(_lacking(thing, fragment))
    says = ", ".join(_said(thing))
    if not says:
        return None
    thing = _with_its_length(thing)
    durations = thing.get("durationMs")
    judged = isinstance(durations, dict) and all(isinstance(durations.get(phase), int) for phase in _JUDGED)
    return Partial(_event(thing, lacks) if judged or "durationMs" not in lacks else None, lacks, says)


def _with_its_length(thing: dict[str, Any]) -> dict[str, Any]:
    """Return the record with a triggerExecution by its rows and rate, where durations were cut between addBatch and it.

    Spark computes processedRowsPerSecond as the rows over the length; a phase that is longer contradicts it.
    """
    durations, rows, rate = (thing.get(key) for key in ("durationMs", "numInputRows", "processedRowsPerSecond"))
    if not isinstance(durations, dict) or {"triggerExecution", "walCommit"} & durations.keys():
        return thing
    if not (isinstance(durations.get("addBatch"), int) and _above_zero(rows) and _above_zero(rate)):
        return thing
    took = 1000 * rows / rate
    fits = all(ms <= took < _LARGEST for ms in durations.values() if isinstance(ms, int))
    return {**thing, "durationMs": {**durations, "triggerExecution": round(took)}} if fits else thing


def _above_zero(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < _LARGEST


def _lacking(thing: dict[str, Any], fragment: Fragment) -> Iterator[str]:
    for part in PARTS:
        cut = part in fragment.lacks and not (part == "sink" and "description" in (thing.get(part) or ()))
        if cut or not _is_there(part, thing, fragment):
            yield part
    if _without_the_rate(thing) and fragment.end and not fragment.elided:
        yield INPUT_RATE


def _is_there(part: str, thing: dict[str, Any], fragment: Fragment) -> bool:
    match part:
        case "id":
            return bool(thing.get("id") or thing.get("runId"))
        case "timestamp":
            return as_instant(thing.get(part)) is not None
        case "eventTime":
            return part in thing or _has_no_event_time(thing, fragment)
        case "durationMs":
            return isinstance(thing.get(part), dict) and _of_all_phases(thing)
        case "numInputRows":
            return thing.get(part) is not None or _counted(thing, fragment)
    return thing.get(part) is not None


def _of_all_phases(thing: dict[str, Any]) -> bool:
    """Return whether durations hold the whole trigger, and addBatch where rows show that a batch ran."""
    durations = thing["durationMs"].keys()
    return "triggerExecution" in durations and ("addBatch" in durations or not _above_zero(thing.get("numInputRows")))


def _has_no_event_time(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Return whether a record without event time shows that its query has none.

    Spark writes it before the operators, so a record that was cut behind these shows it. One that was closed without
    its other parts, or has gaps between them, does not: somebody chose its members.
    """
    if "stateOperators" not in thing or fragment.elided:
        return False
    others = [part in thing or (part == "id" and bool(_NAMES & thing.keys())) for part in PARTS if part != "eventTime"]
    return all(others if fragment.whole else others[others.index(True) : len(others) - others[::-1].index(True)])


def _without_the_rate(thing: dict[str, Any]) -> bool:
    """Return whether INPUT_RATE is missing where Spark writes it, between the rows and the other rate."""
    keys = [*thing]
    at = keys.index("numInputRows") if "numInputRows" in thing else len(keys)
    known = INPUT_RATE in thing or thing.get("batchId") == 0  # batch 0 is the first in any case
    return not known and keys[at + 1 : at + 2] == ["processedRowsPerSecond"]


def _counted(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Return whether the sources hold the rows that the event leaves out."""
    sources = _objects(thing.get("sources"))
    return bool(sources) and "sources" not in fragment.lacks and all("numInputRows" in each for each in sources)


def _event(thing: dict[str, Any], lacks: Iterable[str]) -> Progress | None:
    known = {key: value for key, value in thing.items() if key not in lacks or key == "durationMs"}
    known |= {part: _trimmed(part, _objects(thing.get(part))) for part in _OF_A_PART if part in lacks}
    known |= {"id": known.get("id") or known.get("runId") or thing.get("name") or UNNAMED}
    try:
        event = from_object({**known, "timestamp": known.get("timestamp", _ANY_TIME)})
    except Broken:
        return None
    if "timestamp" in lacks:
        event.timestamp = ""
    return event if "numInputRows" in lacks or event.num_input_rows is not None else with_totals(event)


def _trimmed(part: str, things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the members of a list that is not all there; an operator with its times keeps them."""
    return [
        each if _BEHIND_THE_ROWS & each.keys() else {key: each[key] for key in _OF_A_PART[part] if key in each}
        for each in things
    ]


def _said(thing: dict[str, Any]) -> Iterator[str]:
    """Yield what a record holds, in words: `batch 0`, `7,440 rows`, `addBatch 12,713 ms`, `sink FileSink[…]`."""
    if isinstance(thing.get("batchId"), int):
        yield f"batch {thing['batchId']}"
    if isinstance(thing.get("numInputRows"), int):
        yield _rows(thing["numInputRows"])
    if isinstance(durations := thing.get("durationMs"), dict):
        phases = [f"{key} {ms:,} ms" for key, ms in durations.items() if isinstance(ms, int)]
        yield from [each for each in phases if each.startswith(_JUDGED)] or phases[:_SHOWN]
    for operator in _objects(thing.get("stateOperators"))[:_SHOWN]:
        held, name = operator.get("numRowsTotal"), operator.get("operatorName") or "without a name"
        yield f"state operator {name}" + (f" with {_rows(held)}" if isinstance(held, int) else "")
    yield from (f"source {each['description']}" for each in _objects(thing.get("sources")) if each.get("description"))
    if isinstance(sink := thing.get("sink"), dict) and sink.get("description"):
        yield f"sink {sink['description']}"


def _rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def _objects(things: Any) -> list[dict[str, Any]]:
    return [each for each in things if isinstance(each, dict)] if isinstance(things, list) else []
