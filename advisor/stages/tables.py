"""The two tables of what was read of some logs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.stages.addbatch import clock_of, gather, homes_of, move
from advisor.stages.columns import BATCH_PARTS, BY_LINES, COUNTED_BY_LINES, STAGES
from advisor.stages.inside import Inside, Kinds, Row, batches_of, key_of, rows_of, too_long_of
from advisor.stages.numbers import NUMBERS, column, matrix
from advisor.stages.origins import ORIGINS, best_parts, best_stages
from advisor.stages.parts import NAMES, PLACE, divide
from advisor.stages.told import tells_wait, together, told
from advisor.stages.waits import Slots, SlotsOf, put_waits
from advisor.stages.work import Attempt, Batch, Work

_TOGETHER = 1024
"""Batches that are divided at once: enough that what numpy takes for each call does not show, and a little memory."""
_KEYS = ("id", "run_id", "batch_id", "timestamp", "add_batch_ms")
_AS_THEY_ARE = ("stage", "attempt", "kind", "last", "tasks", "slots", "waited_for")


def tables(works: Iterable[Work], batches: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(the table of stages, the table of batch parts) of these logs; `batches` tell how long addBatch took, and when.

    A batch of which two origins tell stands there once: the event log's counts most, with what only lines tell.
    """
    rows = Rows()
    rows.add(works, batches)
    return rows.tables()


class Rows:
    """Both tables, piece by piece: what is over becomes rows, and all else of it can be forgotten."""

    def __init__(self) -> None:
        self._stages, self._parts = [STAGES.empty_table()], [BATCH_PARTS.empty_table()]
        self._begun = array("q"), array("q")
        """Of each row of both how many jobs of the log began before its batch."""
        self._pieces = 0
        self._kinds = {origin: Kinds() for origin in ORIGINS}
        self._names: dict[str, str] = {}

    def add(self, works: Iterable[Work], batches: pa.Table) -> None:
        """Rows of all of these works, or where it raises of none; `batches` tell how long addBatch took, and when."""
        works = list(works)
        for work in works:
            work.fold()
            work.strangers.sort(key=attrgetter("start"))
        chosen = [inside for origin in ORIGINS for inside in self._settled(works, origin)]
        rows = rows_of(batches)
        self._names |= {row.id: row.name for row in rows.values() if row.id and row.name}
        slots_of: SlotsOf = cache(lambda spans: Slots(spans, self._names))
        made = [
            _made(chosen[at : at + _TOGETHER], rows, self._names, slots_of) for at in range(0, len(chosen), _TOGETHER)
        ]
        for stages, parts, of_stages, of_parts in made:
            self._stages.append(stages)
            self._parts.append(parts)
            self._begun[0].extend(of_stages)
            self._begun[1].extend(of_parts)
        self._pieces += 1

    def tables(self, logs: Sequence[str] = ()) -> tuple[pa.Table, pa.Table]:
        """(the table of stages, the table of batch parts); `logs`: in which order they are told, where in pieces."""
        stages, parts = pa.concat_tables(self._stages), pa.concat_tables(self._parts)
        if self._pieces > 1:
            stages, parts = _in_order(stages, self._begun[0], logs), _in_order(parts, self._begun[1], logs)
        return best_stages(stages), best_parts(parts)

    def _settled(self, works: Sequence[Work], origin: str) -> list[Inside]:
        """The batches of all logs of this origin, each stage with its kind."""
        found = [inside for work in works if work.origin == origin for inside in batches_of(work)]
        self._kinds[origin].settle(found)
        return found


def _in_order(table: pa.Table, begun: array[int], logs: Sequence[str]) -> pa.Table:
    """The rows by origin, log, and how many jobs of it began before."""
    ranks = [pc.index_in(table[name], pa.array(all, pa.string())) for name, all in (("log", logs), ("origin", ORIGINS))]
    order = np.lexsort([np.frombuffer(begun, np.int64), *(np.asarray(pc.fill_null(rank, 0)) for rank in ranks)])
    return table if (np.diff(order) == 1).all() else table.take(order)


def _made(
    some: Sequence[Inside], rows: Mapping[tuple[Any, ...], Row], names: Mapping[str, str], slots_of: SlotsOf
) -> tuple[pa.Table, pa.Table, list[int], list[int]]:
    """(stages and parts of these batches, of each row of both how many jobs of its log began before its batch)."""
    timed = [(inside, row) for inside in some if (row := rows.get(key_of(*inside.batch)))]
    odd = [(inside, row, too_long) for inside, row in timed if (too_long := too_long_of(inside, row))]
    wrong = {id(inside) for inside, *_ in odd}
    right = [pair for pair in timed if id(pair[0]) not in wrong]
    told = [inside for inside in some if id(inside) not in wrong]
    parts = pa.concat_tables([_parts_table(right, names, slots_of), _untold(odd)])
    stages = _stages_table(told)  # behind the parts, which note in stages how long they waited
    timely = [inside for inside, _ in right] + [inside for inside, *_ in odd]
    of_stages = [inside.jobs[0].nth for inside in told for _ in inside.attempts]
    return stages, parts, of_stages, [inside.jobs[0].nth for inside in timely]


def _untold(odd: Sequence[tuple[Inside, Row, int]]) -> pa.Table:
    """Rows of the table of batch parts that say nothing of a batch but how much of it cannot be right."""
    columns: dict[str, Any] = {name: [None] * len(odd) for name in BATCH_PARTS.names}
    columns |= {name: [getattr(row, name) for _, row, _ in odd] for name in _KEYS}
    columns |= {
        "too_long": [too_long for *_, too_long in odd],
        "origin": [inside.work.origin for inside, *_ in odd],
        "log": [inside.work.log for inside, *_ in odd],
    }
    return _table(columns, BATCH_PARTS)


def _parts_table(timed: Sequence[tuple[Inside, Row]], names: Mapping[str, str], slots_of: SlotsOf) -> pa.Table:
    """The table of batch parts, a row per batch."""
    insides = [inside for inside, _ in timed]
    parts, idle = divide([clock_of(inside, row) for inside, row in timed])
    waited_for = put_waits(insides, parts, idle, names, slots_of)
    for (inside, row), of_batch in zip(timed, parts, strict=True):
        if not inside.work.clock:
            gather(of_batch, row.add_batch_ms)
        for note in inside.notes:
            if note.name in PLACE:
                move(of_batch, note.name, note.value, homes_of(inside, note))
    columns: dict[str, Any] = {name: [getattr(row, name) for _, row in timed] for name in _KEYS}
    columns.update(zip(NAMES, told(insides, parts).T, strict=True))
    noted = [_noted(inside) for inside in insides]
    columns |= {name: [of_batch.get(name) for of_batch in noted] for name in BY_LINES}
    columns |= {
        "together": [together(inside) for inside in insides],
        "waited_for": list(map(sorted, waited_for)),
        "jobs": [len(inside.jobs) for inside in insides],
        "stages": [len(inside.attempts) for inside in insides],
        "tasks": [sum(attempt.tasks or 0 for attempt in inside.attempts) for inside in insides],
        "too_long": [0] * len(insides),
        "reads": [_reads(inside.attempts) for inside in insides],
        "origin": [inside.work.origin for inside in insides],
        "log": [inside.work.log for inside in insides],
    }
    return _table(columns, BATCH_PARTS)


def _noted(inside: Inside) -> Mapping[str, float]:
    """What lines told of the batch, each by its column."""
    found = dict.fromkeys(COUNTED_BY_LINES, 0.0) if inside.work.origin == "driver_log" else {}
    for note in inside.notes:
        found[note.name] = found.get(note.name, 0.0) + note.value
    return found


def _reads(attempts: Sequence[Attempt]) -> int | None:
    if any(attempt.kind is None for attempt in attempts):
        return None
    return sum(attempt.kind == "source_read" for attempt in attempts)


def _stages_table(chosen: Sequence[Inside]) -> pa.Table:
    """The table of stages, a row per stage attempt."""
    pairs = [(inside, attempt) for inside in chosen for attempt in inside.attempts]
    attempts = [attempt for _, attempt in pairs]
    clock = np.array([inside.work.clock for inside, _ in pairs], bool)
    waits_told = np.array([tells_wait(inside.work, attempt) for inside, attempt in pairs], bool)
    numbers = matrix(attempt.numbers for attempt in attempts)
    submitted = np.array([attempt.submitted for attempt in attempts], float)
    columns: dict[str, Any] = {name: column(numbers, name) for name in NUMBERS if name in STAGES.names}
    columns |= {name: [getattr(attempt, name) for attempt in attempts] for name in _AS_THEY_ARE}
    columns |= {name: [getattr(inside.batch, name) for inside, _ in pairs] for name in Batch._fields}
    columns |= {
        "job": [attempt.job.job if attempt.job else None for attempt in attempts],
        "what": [attempt.what or None for attempt in attempts],
        "submitted": np.where(clock, np.round(submitted), np.nan).astype("datetime64[ms]"),
        "wall_ms": np.array([attempt.completed for attempt in attempts], float) - submitted,
        "slots_wait_ms": np.where(waits_told, np.nan_to_num(columns["slots_wait_ms"]), np.nan),
        "first_task_ms": np.where(clock, columns["first_task_ms"], np.nan),
        "origin": [inside.work.origin for inside, _ in pairs],
        "log": [inside.work.log for inside, _ in pairs],
    }
    return _table(columns, STAGES)


def _table(columns: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """The table; a whole number may come as a float, and NaN is null."""
    arrays = [pa.array(columns[field.name], from_pandas=True) for field in schema]
    return pa.table([array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema)
