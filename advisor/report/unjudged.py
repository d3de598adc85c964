"""What is said of a run without a steady batch: its first batch taken apart, its empty triggers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from advisor.batches import Batches, Columns, lacks
from advisor.batches.arrays import ASKING
from advisor.catalogue import ranking
from advisor.facts import is_older
from advisor.facts.trigger import LATE_MS
from advisor.metrics.operators import shown_by_caches
from advisor.metrics.units import milliseconds, number
from advisor.report.judged import Judged
from advisor.statistics import any_above_zero, known
from advisor.window import PHASES, Window

SINCE: Final = "3.4"
"""Open-source Spark that names a phase for the commit log, and that can track progress asynchronously."""
_WORTH_TELLING, _LARGE_REST = 0.01, 0.1  # of the batch: how much of the list of phases is shown
_MINUTE_MS = 60_000
_MEANINGS = {
    "addBatch": "reading, computing, writing",
    "latestOffset": "discovery",
    "getOffset": "discovery",
    "getEndOffset": "discovery",
    "queryPlanning": "planning",
    "walCommit": "the offset log",
    "commitOffsets": "the commit log",
}
_OF_A_BATCH: Final = ("query_planning_ms", "wal_commit_ms", "commit_offsets_ms")
"""Phases that no empty trigger has."""
_FIRST_BATCH_RUNS = "Spark reports a batch once it has ended: the first one may still have run when this was written."


def nothing_to_judge(judged: Judged) -> str:
    """Return why no batch of the run can be judged, and what its batches and triggers show all the same."""
    executed, empty = judged.window.executed, judged.idle
    if judged.window.facts.value("trigger") == "continuous":
        return "No data: continuous processing writes no progress events."
    if not len(executed):
        return f"Nothing to judge: {_no_batch(judged)}"
    if executed["cold"].all():
        quiet = f" {empty_triggers(empty)}" if empty is not None and len(empty) else ""
        return f"{first_batch(judged.window)}{quiet}"
    later = executed["input_rows"][~executed["cold"]]
    if executed["cold"].any() and not executed["impossible"].any() and (later == 0).all():
        return f"{first_batch(judged.window)} {_without_rows(judged)}"
    return f"Nothing to judge: {_why_none_is_steady(judged)}"


def _no_batch(judged: Judged) -> str:
    empty = judged.idle
    if judged.since == "asked" and judged.run.batches:
        return "no batch in the time asked for."
    if not judged.run.batches or empty is None or not len(empty):
        facts = judged.window.facts
        if facts.value("falling_behind") and (interval := facts.value("trigger_interval_ms")):
            return f"batches take longer than their interval of {milliseconds(interval)}, and no progress shows why."
        return f"no progress event. {_FIRST_BATCH_RUNS}"
    quiet = "" if ran_batch(empty.rows).any() else "idle, "
    return f"{quiet}no whole record of a batch. {empty_triggers(empty)}"


def _why_none_is_steady(judged: Judged) -> str:
    executed, none = judged.window.executed, "no batch with rows after the start."
    if executed["impossible"].any():
        return "the times of these batches contradict each other, so they cannot be right."
    if any_above_zero(executed["input_rows"]) or np.isnan(executed["trigger_execution_ms"][-1]):
        return none
    return f"{none} {_without_rows(judged)}"


def first_batch(window: Window) -> str:
    """Return where the time of the first batch after a start went: discovery, planning, reading and writing."""
    count, at = int(window.executed["cold"].sum()), int(window.executed["cold"].argmax())
    first = window.executed.part(at, at + 1)
    whole, rows = float(first["trigger_execution_ms"][0]), first["input_rows"][0]
    of_rows = "" if np.isnan(rows) else f" for {number(rows, 'rows')}"
    old = is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), SINCE)
    parts = ", ".join(_parts(first, whole, old))
    others = f" (and {count - 1:,} more cold ones)" if count > 1 else ""
    goes_on = window.facts.value("scheduled_runs") is None and window.facts.value("trigger") != "once"
    cold = "It is cold" if whole < ranking()["longest_start_ms"] else "A cold start alone does not take so long"
    return (
        f"First batch after a start{others}: {milliseconds(whole)}{of_rows}{': ' if parts else ''}{parts}. "
        f"{cold}{': judge later ones' * goes_on}."
        f"{f' Asynchronous progress tracking is no option: it needs Spark {SINCE}.' * old}"
    )


def _without_rows(judged: Judged) -> str:
    """Return what batches without rows cost, where the time of the last one went, and why it ran."""
    window, facts = judged.window, judged.window.facts
    empty = window.executed.where((window.executed["input_rows"] == 0) & ~window.executed["cold"])
    last = window.executed.at(np.array([len(window.executed) - 1]))
    whole, moved = float(last["trigger_execution_ms"][0]), float(last["moved"][0])
    old = is_older(facts.value("spark_version"), facts.value("spark_version_below"), SINCE)
    parts = ", ".join(_parts(last, whole, old))
    took = f"A batch without rows takes {milliseconds(whole)}"
    if len(empty) > 1:
        each = f"Each of {len(empty):,} batches without rows takes {_range(empty['trigger_execution_ms'])}"
        took = f"{each}. The last one took {milliseconds(whole)}"
    took += f"{': ' if parts else ''}{parts}."
    stateful, says = facts.value("stateful") is True, judged.catalogue.phases.without_rows
    why = says["moved"] if moved == 1 else says["stood"] if moved == 0 and stateful else ""
    state = "Every one commits all partitions of its state." if stateful else ""
    return " ".join(filter(None, (took, why, state)))


def _parts(batch: Columns, whole: float, old: bool) -> Iterator[str]:
    """Yield the phases that take long, the longest first, and a larger part of the batch that is in none."""
    told = {name: float(batch[column][0]) for column, name in PHASES.items()}
    phases = {name: ms for name, ms in told.items() if not math.isnan(ms)}
    for name, ms in sorted(phases.items(), key=lambda phase: -phase[1]):
        if ms >= _WORTH_TELLING * whole:
            yield f"{name} {milliseconds(ms)}{f' ({_MEANINGS[name]})' if name in _MEANINGS else ''}"
    rest = whole - sum(phases.values()) - float(np.nan_to_num(batch["other_phases_ms"][0]))
    if rest >= _LARGE_REST * whole and not lacks(batch, "durationMs")[0]:
        yield f"in no phase {milliseconds(rest)}{' (mostly the commit log)' if old else ''}"


def empty_triggers(triggers: Batches) -> str:
    """Return how long each empty trigger takes, and what state the query keeps; never the state's timings."""
    rows = triggers.rows
    if ran_batch(rows).any():
        return _without_add_batch(rows)
    asked = next((name for name in ASKING if any_above_zero(rows[name])), None)
    took = _range(rows["trigger_execution_ms"])
    asks = ""
    if asked is not None:
        part = _range(rows[asked])
        of_it = "all" if part == took else part
        asks = f", {of_it} of it asking the source for new data ({PHASES[asked]})"
    which = "The empty trigger takes" if len(triggers) == 1 else f"Each of {len(triggers):,} empty triggers takes"
    said = f"{which} {took}{asks}."
    if (rows["timestamp"] % _MINUTE_MS < LATE_MS).all():  # a default trigger lies so near once in thousands of times
        said += " It starts on the full minute: a trigger of 1 min, or a part of it, decides the latency."
    return said + _state(triggers)


def ran_batch(rows: Columns) -> np.ndarray:
    """Return which records without addBatch are of a batch all the same: they read rows, or have a batch's phases."""
    ran: np.ndarray = rows["input_rows"] > 0
    for phase in _OF_A_BATCH:
        ran = ran | ~np.isnan(rows[phase])
    return ran


def _without_add_batch(rows: Columns) -> str:
    last = rows.at(np.flatnonzero(ran_batch(rows))[-1:])
    whole, read = float(last["trigger_execution_ms"][0]), last["input_rows"][0]
    of_rows = f" for {number(read, 'rows')}" if read > 0 else ""
    parts = ", ".join(_parts(last, whole, old=False))
    return (
        f"A trigger took {_range(last['trigger_execution_ms'])}{of_rows}; its durations name no addBatch"
        f"{f', only {parts}' if parts else ''}."
    )


def _state(triggers: Batches) -> str:
    """Return what state the last trigger shows; its partitions as the operator says, else as its caches show."""
    batch = triggers.operators["batch"]
    last = triggers.operators.where(batch == batch[-1:])
    counted = np.where(last["shuffle_partitions"] > 0, last["shuffle_partitions"], last["store_instances"])
    later = np.full(len(last), triggers.rows["batch_id"][-1] - 1.0)  # an empty trigger has the next batch's number
    partitions = np.where(counted > 0, counted, shown_by_caches(last, later))
    kept = [_operator(*each) for each in zip(last["name"], last["rows_total"], partitions, strict=True)]
    if not kept:
        return ""
    return (
        f" The query keeps state: {' and '.join(kept)}. "
        "State timings in an empty trigger's event are those of the last batch, so they are not judged."
    )


def _operator(name: str | None, rows: float, partitions: float) -> str:
    held = "" if np.isnan(rows) else f", {number(rows, 'rows')}"
    spread = "" if np.isnan(partitions) else f" in {partitions:,.0f} partition{'' if partitions == 1 else 's'}"
    return f"{name or 'an operator'}{held}{spread}"


def _range(values: np.ndarray) -> str:
    told = known(values)
    if not len(told):
        return "an unknown time"
    low, high = milliseconds(told.min()), milliseconds(told.max())
    return low if low == high else f"{low} to {high}"
