"""The two tables of what was read of some logs: of a batch from several, its fullest origin with what others add."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages.batchjobs import (
    KEYS,
    KINDS,
    Gathered,
    Inside,
    Kinds,
    Triggers,
    batches_of,
    bounds_of,
    strangers_of,
    too_long_of,
)
from advisor.stages.columns import BATCH_PARTS, BY_LINES, COUNTED_BY_LINES, SCHEMAS, STAGES
from advisor.stages.jobs import NUMBERS, Batch, column, matrix
from advisor.stages.parts import (
    DRIVER,
    HOME,
    NAMES,
    PLACE,
    divide,
    gather,
    homes_of,
    knows_wait,
    measured,
    move,
    together,
)
from advisor.stages.waits import Slots, SlotsOf, put_waits
from advisor.stages.work import Work, fold_all

ORIGINS = ("event_log", "session", "driver_log")
"""Of two origins of the same batch the earlier one in this order counts."""
_DRIVER_HOMES = {"planning_ms": DRIVER, "sink_commit_ms": DRIVER[::-1]}
"""Parts that only lines have, and where their time stands in a row of another origin."""
_TASK_HOMES = tuple(dict.fromkeys(HOME.values()))

_Row = dict[str, Any]
_Complete = Callable[[_Row, Sequence[_Row]], _Row]

_TOGETHER = 1024
"""Batches that are divided at once: enough that what numpy takes for each call does not show, and a little memory."""
_BEGUN = "begun"
"""A column that stands in pieces alone: how many jobs of the log began before the row's batch."""
_AS_THEY_ARE = ("stage", "attempt", "kind", "last", "tasks", "slots", "waited_for", "operators", "multiplied_by")


def tables(works: Iterable[Work], batches: pa.Table) -> dict[str, pa.Table]:
    """The tables `stages` and `batch_parts` of these logs; `batches`: how long addBatch took, and when.

    A batch from two origins stands there once: the event log's counts most, completed by what only lines hold.
    """
    rows = Rows()
    rows.add(works, batches)
    return rows.tables()


class Rows:
    """Both tables, piece by piece: what is over becomes rows, and all else of it can be forgotten."""

    def __init__(self) -> None:
        self._tables = {name: [_placed(schema.empty_table(), [])] for name, schema in SCHEMAS.items()}
        self._pieces = 0
        self._kinds = {origin: Kinds() for origin in ORIGINS}
        self._names: dict[str, str] = {}

    def add(self, works: Iterable[Work], batches: pa.Table) -> None:
        """Return the rows of all these works, or of none if it raises; `batches`: how long addBatch took, and when."""
        works = list(works)
        for origin in ORIGINS:
            fold_all([work for work in works if work.origin == origin])
        for work in works:
            work.strangers.sort(key=attrgetter("start"))
        chosen = [inside for origin in ORIGINS for inside in self._settled(works, origin)]
        triggers = Triggers(batches)
        self._names |= triggers.names
        slots_of: SlotsOf = cache(lambda spans: Slots(spans, self._names))
        made = [
            _made(chosen[at : at + _TOGETHER], triggers, self._names, slots_of)
            for at in range(0, len(chosen), _TOGETHER)
        ]
        for name, pieces in self._tables.items():
            pieces += [piece[name] for piece in made]
        self._pieces += 1

    def tables(self, logs: Sequence[str] = ()) -> dict[str, pa.Table]:
        """The tables `stages` and `batch_parts`; `logs`: their order, if they come in pieces."""
        found = {}
        for name, pieces in self._tables.items():
            table = pa.concat_tables(pieces)
            table = _first_copies(_in_order(table, logs) if self._pieces > 1 else table)
            found[name] = best(table.drop_columns([_BEGUN]), name)
        return found

    def _settled(self, works: Sequence[Work], origin: str) -> list[Inside]:
        """The batches of all logs of this origin, each stage with its kind."""
        found = [inside for work in works if work.origin == origin for inside in batches_of(work)]
        self._kinds[origin].settle(found)
        return found


def _placed(table: pa.Table, insides: Sequence[Inside]) -> pa.Table:
    """The table with _BEGUN, of the batch of each row."""
    return table.append_column(_BEGUN, pa.array([inside.jobs[0].nth for inside in insides], pa.int64()))


def _first_copies(table: pa.Table) -> pa.Table:
    """The rows without those of a batch that its log holds again, as where files of one log overlap."""
    batch = np.zeros(len(table), np.int64)
    for name in ("log", "origin", "id", "run_id", "batch_id"):
        coded = table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        batch = np.unique(batch * len(coded.dictionary) + np.asarray(coded.indices), return_inverse=True)[1]
    begun = table[_BEGUN].to_numpy()
    first = np.full(len(table), np.iinfo(np.int64).max)
    np.minimum.at(first, batch, begun)
    kept = begun == first[batch]
    return table if kept.all() else table.filter(pa.array(kept))


def _in_order(table: pa.Table, logs: Sequence[str]) -> pa.Table:
    """The rows by origin, log, and how many jobs of it began before."""
    ranks = [pc.index_in(table[name], pa.array(all, pa.string())) for name, all in (("log", logs), ("origin", ORIGINS))]
    order = np.lexsort([np.asarray(pc.fill_null(rank, 0)) for rank in (table[_BEGUN], *ranks)])
    return table if (np.diff(order) == 1).all() else table.take(order)


def _made(
    some: Sequence[Inside], triggers: Triggers, names: Mapping[str, str], slots_of: SlotsOf
) -> dict[str, pa.Table]:
    """Both tables of these batches."""
    gathered, at = Gathered(some), triggers.at(inside.batch for inside in some)
    too_long = too_long_of(gathered, triggers.length[at])
    right = (at >= 0) & (too_long == 0)
    timed, wrong = gathered.where(right), gathered.where(too_long > 0)
    parts = [_parts_table(timed, triggers, at[right], names, slots_of)]
    if len(wrong):
        keys, more = _keys(wrong, triggers, at[too_long > 0]), too_long[too_long > 0]
        parts.append(_table({**keys, "too_long": more}, BATCH_PARTS, len(wrong)))  # nothing of them is known but that
    seen = gathered.where(too_long == 0)
    stages = _stages_table(seen)  # behind the parts, which note in stages how long they waited
    return {
        "stages": _placed(stages, [inside for inside in seen.insides for _ in inside.attempts]),
        "batch_parts": _placed(pa.concat_tables(parts), [*timed.insides, *wrong.insides]),
    }


def _keys(gathered: Gathered, triggers: Triggers, at: np.ndarray) -> dict[str, Any]:
    """Which batches these are, and which origin shows them."""
    keys = triggers.table.take(pa.array(at))
    works = [inside.work for inside in gathered.insides]
    own = {"origin": [work.origin for work in works], "log": [work.log for work in works]}
    return {**{name: keys[name] for name in KEYS}, **own}


def _parts_table(
    timed: Gathered, triggers: Triggers, at: np.ndarray, names: Mapping[str, str], slots_of: SlotsOf
) -> pa.Table:
    bounds = bounds_of(timed, triggers, at)
    parts, idle = divide(timed, bounds, strangers_of(timed, bounds))
    waited_for = put_waits(timed, parts, idle, names, slots_of)
    for inside, of_batch, ms in zip(timed.insides, parts, triggers.add_batch[at].tolist(), strict=True):
        if not inside.work.clock:
            gather(of_batch, ms)
        for note in inside.notes:
            if note.name in PLACE:
                move(of_batch, note.name, note.value, homes_of(inside, note))
    knows_waits = timed.count(~_knows_wait(timed)) == 0
    columns = dict(zip(NAMES, measured(timed, parts, knows_waits).T, strict=True))
    columns |= dict(zip(BY_LINES, _noted(timed.insides).T, strict=True))
    columns |= {
        "together": together(timed, knows_waits),
        "waited_for": [tuple(sorted(others)) for others in waited_for],
        "jobs": np.bincount(timed.of_job, minlength=len(timed)),
        "stages": np.bincount(timed.of_attempt, minlength=len(timed)),
        "tasks": [sum(attempt.tasks or 0 for attempt in inside.attempts) for inside in timed.insides],
        "too_long": np.zeros(len(timed), int),
        "reads": _reads(timed),
        "traces": [_traces(*each) for each in zip(timed.insides, bounds.tolist(), strict=True)],
    }
    return _table({**_keys(timed, triggers, at), **columns}, BATCH_PARTS, len(timed))


def _knows_wait(gathered: Gathered) -> np.ndarray:
    """Of each stage attempt whether it is known how long it waited."""
    return np.array([knows_wait(inside.work, each) for inside in gathered.insides for each in inside.attempts], bool)


def _noted(insides: Sequence[Inside]) -> np.ndarray:
    """The numbers from lines for each batch, a row of BY_LINES."""
    found = np.full((len(insides), len(BY_LINES)), np.nan)
    for row, inside in zip(found, insides, strict=True):
        if inside.work.origin == "driver_log":
            row[: len(COUNTED_BY_LINES)] = 0.0
        for note in inside.notes:
            if note.name in BY_LINES:
                at = BY_LINES.index(note.name)
                row[at] = np.nan_to_num(row[at]) + note.value
    return found


def _traces(inside: Inside, bounds: Sequence[float]) -> list[str]:
    """Return what a batch does besides, as the column says; of lines that have a time, those during addBatch count."""
    sums, timed = defaultdict[str, float](float), inside.work.clock and inside.work.origin == "driver_log"
    for note in inside.notes:
        if note.trace and (not timed or bounds[0] <= note.time <= bounds[1]):
            sums[note.trace] += note.value
    for one in inside.attempts:
        if one.kind == "other":  # which read no stream, by the folder that they read, and its only file
            place = min(one.paths, default="")
            for path in {place, *(path for path in one.paths if path.startswith(place + "/"))}:
                sums[f"table_ms {path}".rstrip()] += one.completed - one.submitted
    return [" ".join((*trace.split()[:1], f"{sum:g}", *trace.split()[1:])) for trace, sum in sorted(sums.items())]


def _reads(gathered: Gathered) -> np.ndarray:
    """Return how many stages of each batch read the source; NaN if one is unknown."""
    reads = gathered.count(gathered.kinds == KINDS.index("source_read"))
    return np.where(gathered.count(gathered.kinds == KINDS.index(None)) > 0, np.nan, reads)


def _stages_table(seen: Gathered) -> pa.Table:
    insides, attempts, of = seen.insides, seen.attempts, seen.of_attempt
    numbers = matrix(attempt.numbers for attempt in attempts)
    clock, waits = seen.clock[of], np.nan_to_num(column(numbers, "slots_wait_ms"))
    columns: dict[str, Any] = {name: column(numbers, name) for name in NUMBERS if name in STAGES.names}
    columns |= {name: [getattr(attempt, name) for attempt in attempts] for name in _AS_THEY_ARE}
    found = {name: [getattr(inside.batch, name) for inside in insides] for name in Batch._fields}
    found |= {name: [getattr(inside.work, name) for inside in insides] for name in ("origin", "log")}
    columns |= {name: pa.array(values, STAGES.field(name).type).take(pa.array(of)) for name, values in found.items()}
    columns |= {
        "job": [attempt.job.job if attempt.job else None for attempt in attempts],
        "what": [attempt.what or None for attempt in attempts],
        "submitted": np.where(clock, np.round(seen.submitted), np.nan).astype("datetime64[ms]"),
        "wall_ms": seen.completed - seen.submitted,
        "slots_wait_ms": np.where(_knows_wait(seen), waits, np.nan),
        "first_task_ms": np.where(clock, columns["first_task_ms"], np.nan),
    }
    return _table(columns, STAGES, len(attempts))


def _table(columns: Mapping[str, Any], schema: pa.Schema, size: int) -> pa.Table:
    """The table; a column that is not named is null."""
    arrays = [
        _array(columns[field.name], field.type) if field.name in columns else pa.nulls(size, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema)


def _array(values: Any, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """A column of this type; of an array a whole number may come as a float, and NaN is null."""
    if isinstance(values, np.ndarray):
        return pa.array(values, kind, from_pandas=True)
    if pa.types.is_list(kind):
        return _lists(values, kind)
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)


def _lists(values: Iterable[Sequence[str]], kind: pa.DataType) -> pa.Array:
    """Lists of which few are distinct."""
    known: dict[tuple[str, ...], int] = {}
    places = [known.setdefault(tuple(each), len(known)) for each in values]
    return pa.array(list(known), kind).take(pa.array(places, pa.int64()))


def best(table: pa.Table, name: str) -> pa.Table:
    """Return the rows of each batch, in order: of its fullest origin, of several logs of the first.

    `name`: of the table, which says what is added to them of the other rows of the batch.
    """
    origins = table["origin"].to_pylist()
    ranks = list(zip(map(ORIGINS.index, origins), table["log"].to_pylist(), strict=True))
    if len(set(ranks)) < 2:
        return table
    batches = list(zip(*(table[name].to_pylist() for name in ("id", "run_id", "batch_id")), strict=True))
    best: dict[tuple[Any, ...], tuple[int, str]] = {}
    for batch, rank in zip(batches, ranks, strict=True):
        best[batch] = min(best.get(batch, rank), rank)
    others: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for at, (batch, rank) in enumerate(zip(batches, ranks, strict=True)):
        if rank != best[batch]:
            others[batch].append(at)
    if not others:
        return table
    kept = [at for at, (batch, rank) in enumerate(zip(batches, ranks, strict=True)) if rank == best[batch]]
    read = {batch: _take(table, sorted(some, key=ranks.__getitem__)).to_pylist() for batch, some in others.items()}
    twice = [at for at in kept if batches[at] in read]
    complete, alone = _COMPLETE[name], _take(table, twice).to_pylist()
    rows = [complete(row, read[batches[at]]) for at, row in zip(twice, alone, strict=True)]
    once = [at for at in kept if batches[at] not in read]
    found = pa.concat_tables([_take(table, once), pa.Table.from_pylist(rows, table.schema)])
    return found.take(np.argsort([*once, *twice]))


def _take(table: pa.Table, places: Sequence[int]) -> pa.Table:
    return table.take(pa.array(places, pa.int64()))  # without its type an empty list is none of numbers


def _with_lines(row: _Row, others: Sequence[_Row]) -> _Row:
    """Return a row of batch parts with what only the others hold; the time from lines was in other parts of it."""
    parts = np.array([row[name] or 0.0 for name in NAMES])
    for other in others:
        row |= {name: other[name] for name in BY_LINES if row[name] is None}
        known = {trace.partition(" ")[0] for trace in row["traces"] or ()}
        more = [trace for trace in other["traces"] or () if trace.partition(" ")[0] not in known]
        row["traces"] = [*(row["traces"] or ()), *more]
        for name, homes in {**_DRIVER_HOMES, "python_ms": _longest(row)}.items():
            if row[name] is None and other[name] is not None and not row["too_long"]:
                move(parts, name, other[name], homes)
                found = {each: float(ms) for each, ms in zip(NAMES, parts, strict=True)}
                row |= {each: found[each] for each in (name, *homes) if each == name or row[each] is not None}
                row["together"] = [pair for pair in row["together"] if f"{pair}_ms".partition("+")[2] != name]
    return row


def _longest(row: _Row) -> Sequence[str]:
    """The part with most of the tasks' time: of Python workers lines do not say in which they were."""
    return (max(_TASK_HOMES, key=lambda name: row[name] or 0.0),)


def _with_python(row: _Row, others: Sequence[_Row]) -> _Row:
    """A row of stages with the Python workers of the same stage."""
    same = [other for other in others if (other["stage"], other["attempt"]) == (row["stage"], row["attempt"])]
    found = [row["python_ms"], *(other["python_ms"] for other in same)]
    return row | {"python_ms": next((ms for ms in found if ms is not None), None)}


_COMPLETE: Mapping[str, _Complete] = {"stages": _with_python, "batch_parts": _with_lines}
"""What adds to a row of each table what the other rows of its batch hold."""
