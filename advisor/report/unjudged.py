"""What is said of a run without a steady batch: its first batch taken apart, its idle triggers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from advisor.batches import Batches, Columns
from advisor.facts import is_older
from advisor.facts.starts import LATE_MS
from advisor.metrics import Estimate, measure
from advisor.metrics.inside import OWN_CODE
from advisor.metrics.numbers import any_above_zero, known
from advisor.metrics.operators import shown_by_caches
from advisor.metrics.words import milliseconds, number
from advisor.window import PHASES, Window

ASYNC_SINCE = "3.4"
"""Open-source Spark that can track progress asynchronously."""
COMMIT_LOG_SINCE = "3.4"
"""Open-source Spark that names a phase for the commit log."""
_WORTH_TELLING, _LARGE_REST, _MOST = 0.01, 0.1, 0.5
_WORTH_OF_STATE = 0.05
_MINUTE_MS = 60_000
_MANY_PARTITIONS, _FEW_ROWS = 50, 10
_BY_DEFAULT, _FEW_FOR_EACH = 200, 10  # spark.sql.shuffle.partitions; rows for each that are next to none
_LONG_FIRST_MS = 5000.0  # of addBatch in a first batch: more than starting up takes
_MEANINGS = {
    "addBatch": "reading, computing, writing",
    "latestOffset": "discovery",
    "getOffset": "discovery",
    "getEndOffset": "discovery",
    "queryPlanning": "planning",
    "walCommit": "the offset log",
    "commitOffsets": "the commit log",
}


def first_batch(window: Window) -> str:
    """Where the time of the first batch after a start went: discovery, planning, reading and writing."""
    count, at = int(window.executed["cold"].sum()), int(window.executed["cold"].argmax())
    first = window.executed.part(at, at + 1)
    whole, rows = float(first["trigger_execution_ms"][0]), first["input_rows"][0]
    of_rows = "" if np.isnan(rows) else f" for {number(rows, 'rows')}"
    parts = ", ".join(_parts(first, whole, _has_hidden_commit_log(window)))
    others = f" (and {count - 1:,} more cold ones)" if count > 1 else ""
    long = first["add_batch_ms"][0] >= _LONG_FIRST_MS
    partitions = untold_partitions(window, window.cold or window, rows) if long else ""
    goes_on = window.facts.value("scheduled_runs") is None and window.facts.value("trigger") != "once"
    return (
        f"First batch after a start{others}: {milliseconds(whole)}{of_rows}{': ' if parts else ''}{parts}. "
        f"It is cold{': judge later ones' * goes_on}."
        f"{f' {partitions}.' if partitions else ''}{_commits(window.cold or window, whole)}{_too_old(window)}"
    )


def _commits(cold: Window, whole: float) -> str:
    """What committing the state took in the first batch, where that is a part of it worth telling."""
    if not len(cold.operators):
        return ""
    each, total = measure(cold, "state_commit_per_task_ms"), measure(cold, "state_commit_task_ms")
    if not isinstance(each, Estimate) or not isinstance(total, Estimate) or len(cold) != 1:
        return ""
    if each.safe < _WORTH_OF_STATE * whole:
        return ""
    return (
        f" Committing the state took its tasks {milliseconds(total.safe)}, {milliseconds(each.safe)} each on average."
    )


def untold_partitions(window: Window, of: Window, rows: float) -> str:
    """How many partitions state has by default, where rows are few and no batch `of` the window tells how many it has.

    Empty where they are not few, are told, or where a function of the query's own may take the time.
    """
    told = measure(of, "state_partitions")
    own = not window.facts.value("stateful") or window.facts.value("sink") in OWN_CODE
    if own or not rows < _FEW_FOR_EACH * _BY_DEFAULT or (isinstance(told, Estimate) and told.safe):
        return ""
    return (
        f"How many partitions the state has is not told: {_BY_DEFAULT} by default, each a task in every batch, however "
        "few its rows"
    )


def without_rows(window: Window) -> str:
    """Where the time of the last batch went, which as all others read no rows."""
    last = window.executed.at(np.array([len(window.executed) - 1]))
    whole = float(last["trigger_execution_ms"][0])
    parts = ", ".join(_parts(last, whole, _has_hidden_commit_log(window)))
    state = " Every one commits all partitions of its state." if window.facts.value("stateful") else ""
    return f"A batch without rows takes {milliseconds(whole)}{': ' if parts else ''}{parts}.{state}{_log(window, last)}"


def _log(window: Window, batch: Columns) -> str:
    """What a Delta source does in a batch whose discovery takes most of a long time."""
    found = sum(float(np.nan_to_num(batch[phase][0])) for phase in ("latest_offset_ms", "get_batch_ms"))
    whole = float(batch["trigger_execution_ms"][0])
    if window.facts.value("source") != "delta" or found < max(_LONG_FIRST_MS, _MOST * whole):
        return ""
    return (
        " In latestOffset and in getBatch a Delta source reads the log of each version since the last batch: many "
        "small commits make both long. The versions in startOffset and endOffset tell how many they were."
    )


def _too_old(window: Window) -> str:
    """That this Spark is too old for what readers of a slow batch ask for first."""
    if not is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), ASYNC_SINCE):
        return ""
    return f" Asynchronous progress tracking is no option: it needs Spark {ASYNC_SINCE}."


def _has_hidden_commit_log(window: Window) -> bool:
    """Whether this Spark names no phase for the commit log."""
    return is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), COMMIT_LOG_SINCE)


def _parts(batch: Columns, whole: float, hidden_commit_log: bool) -> Iterator[str]:
    """The phases that are worth telling, the longest first, and a larger part of the batch that is in none."""
    told = {name: float(batch[column][0]) for column, name in PHASES.items()}
    known = {name: ms for name, ms in told.items() if not math.isnan(ms)}
    for name, ms in sorted(known.items(), key=lambda phase: -phase[1]):
        if ms >= _WORTH_TELLING * whole:
            yield f"{name} {milliseconds(ms)}{f' ({_MEANINGS[name]})' if name in _MEANINGS else ''}"
    rest = whole - sum(known.values()) - float(np.nan_to_num(batch["other_phases_ms"][0]))
    if rest >= _LARGE_REST * whole and not batch["shortened"][0]:
        yield f"in no phase {milliseconds(rest)}{' (mostly the commit log)' if hidden_commit_log else ''}"


def idle(triggers: Batches) -> str:
    """What idle triggers tell: how long each takes, and what state the query keeps; never the state's timings."""
    rows = triggers.rows
    if ran_batch(rows).any():
        return _without_add_batch(rows)
    discovery = [
        phase for phase in ("latest_offset_ms", "get_offset_ms", "get_end_offset_ms") if any_above_zero(rows[phase])
    ]
    asks = f", {_range(rows[discovery[0]])} of it {PHASES[discovery[0]]}" if discovery else ""
    triggers_word = "An idle trigger takes" if len(triggers) == 1 else f"{len(triggers):,} idle triggers take"
    took = _range(rows["trigger_execution_ms"])
    return f"{triggers_word} {took}{asks}.{_on_the_minute(rows['timestamp'])}{_state(triggers)}"


def ran_batch(rows: Columns) -> np.ndarray:
    """Which records without addBatch are of a batch all the same, and shortened: rows were read, or phases are told
    that no idle trigger has.
    """
    ran: np.ndarray = rows["input_rows"] > 0
    for phase in _OF_A_BATCH:
        ran = ran | ~np.isnan(rows[phase])
    return ran


_OF_A_BATCH: Final = ("query_planning_ms", "wal_commit_ms", "commit_offsets_ms")


def _without_add_batch(rows: Columns) -> str:
    """Of records of batches that name no addBatch."""
    last = rows.at(np.flatnonzero(ran_batch(rows))[-1:])
    whole, read = float(last["trigger_execution_ms"][0]), last["input_rows"][0]
    of_rows = f" for {number(read, 'rows')}" if read > 0 else ""
    parts = ", ".join(_parts(last, whole, hidden_commit_log=False))
    return (
        f"A trigger took {_range(last['trigger_execution_ms'])}{of_rows}; its durations name no addBatch"
        f"{f', only {parts}' if parts else ''}."
    )


def _on_the_minute(starts: np.ndarray) -> str:
    """What starts on full minutes tell: by default trigger a start lies so near one once in thousands of times."""
    aligned = not np.isnan(starts).any() and (starts % _MINUTE_MS < LATE_MS).all()
    return " It starts on the full minute: a trigger of 1 min, or a part of it, decides the latency." if aligned else ""


class _Operator(NamedTuple):
    name: str | None
    rows_total: float
    partitions: float


def _state(triggers: Batches) -> str:
    batch = triggers.operators["batch"]
    last = triggers.operators.where(batch == batch[-1:])
    kept = [
        _Operator(*values) for values in zip(last["name"], last["rows_total"], _of_each(triggers, last), strict=True)
    ]
    if not kept:
        return ""
    names = " and ".join(f"{each.name or 'an operator'}{_rows(each)}{_partitions(each)}" for each in kept)
    empty = any(nearly_empty(each.rows_total, each.partitions) for each in kept)
    return (
        f" The query keeps state: {names}. {f'{NEARLY_EMPTY} ' if empty else ''}"
        "State timings in an idle event are those of the last batch: nothing is judged by them."
    )


NEARLY_EMPTY: Final = (
    "Partitions with next to no rows cost a task and a commit each in every batch; their number is "
    "spark.sql.shuffle.partitions as it was at the checkpoint's first batch."
)


def _of_each(triggers: Batches, operators: Columns) -> np.ndarray:
    """The partitions of each operator: as it says, else as its caches show; NaN where nothing does.

    An idle trigger has the next batch's number, and a query's first batch loads no state.
    """
    shown = np.where(operators["shuffle_partitions"] > 0, operators["shuffle_partitions"], operators["store_instances"])
    later = np.full(len(operators), triggers.rows["batch_id"][-1] - 1.0)
    return np.where(shown > 0, shown, shown_by_caches(operators, later))


def _partitions(operator: _Operator) -> str:
    count = operator.partitions
    return "" if np.isnan(count) else f" in {count:,.0f} partition{'' if count == 1 else 's'}"


def _rows(operator: _Operator) -> str:
    rows = operator.rows_total
    return "" if np.isnan(rows) else f", {rows:,.0f} row{'' if rows == 1 else 's'}"


def nearly_empty(rows: float, partitions: float) -> bool:
    """Whether so many partitions hold next to no rows each."""
    return partitions >= _MANY_PARTITIONS and rows < _FEW_ROWS * partitions


def _range(values: np.ndarray) -> str:
    told = known(values)
    if not len(told):
        return "an unknown time"
    low, high = milliseconds(told.min()), milliseconds(told.max())
    return low if low == high else f"{low} to {high}"
