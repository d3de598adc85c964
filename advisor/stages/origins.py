"""Merge batches from several logs: each from its fullest origin, completed by what only another one's lines hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from advisor.stages.columns import BY_LINES
from advisor.stages.parts import DRIVER, HOME, NAMES, move

ORIGINS = ("event_log", "session", "driver_log")
"""Of two origins of the same batch the earlier one in this order counts."""
_DRIVER_HOMES = {"planning_ms": DRIVER, "sink_commit_ms": DRIVER[::-1]}
"""Parts that only lines have, and where their time stands in a row of another origin."""
_TASK_HOMES = tuple(dict.fromkeys(HOME.values()))

_Row = dict[str, Any]
_Complete = Callable[[_Row, Sequence[_Row]], _Row]


def best_parts(table: pa.Table) -> pa.Table:
    """Return a row of batch parts for each batch, in order: from its fullest origin, of several logs the first."""
    return _best(table, _with_lines)


def best_stages(table: pa.Table) -> pa.Table:
    """The rows of stages of each batch, from the origin that `best_parts` takes."""
    return _best(table, _with_python)


def _best(table: pa.Table, complete: _Complete) -> pa.Table:
    """Return the rows that stay; `complete` adds what the other rows of the batch hold."""
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
    read = {batch: sorted(_take(table, some).to_pylist(), key=_rank) for batch, some in others.items()}
    twice = [at for at in kept if batches[at] in read]
    rows = [complete(row, read[batches[at]]) for at, row in zip(twice, _take(table, twice).to_pylist(), strict=True)]
    once = [at for at in kept if batches[at] not in read]
    found = pa.concat_tables([_take(table, once), pa.Table.from_pylist(rows, table.schema)])
    return found.take(np.argsort([*once, *twice]))


def _take(table: pa.Table, places: Sequence[int]) -> pa.Table:
    return table.take(pa.array(places, pa.int64()))  # without its type an empty list is none of numbers


def _rank(row: Mapping[str, Any]) -> tuple[int, str]:
    return ORIGINS.index(row["origin"]), row["log"]


def _with_lines(row: _Row, others: Sequence[_Row]) -> _Row:
    """Return a row of batch parts with what only the others hold; the time from lines was in other parts of it."""
    parts = np.array([row[name] or 0.0 for name in NAMES])
    for other in others:
        row |= {name: other[name] for name in BY_LINES if row[name] is None}
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
