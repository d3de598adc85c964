"""What addBatch consists of, in words: one sentence, rows for a table, and what was slow inside a slow batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.contract import BatchPart, InsideBatch, QueryEntry
from advisor.stages import PARTS
from advisor.views import text

_PARTS = {column.name.removesuffix("_ms"): column for column in PARTS}
_SMALLEST = 0.02
_IN_A_SENTENCE = 5


def sentence(inside: InsideBatch, width: int | None = None) -> str:
    """`addBatch 1.7 s: Delta snapshot 1.1 s in 50 tasks, write 0.3 s`; only as many parts as fit into `width`."""
    said = list(map(_told, _shown(inside)[:_IN_A_SENTENCE]))
    while width and len(said) > 2 and len(", ".join(said)) > width - 20:
        said[-2:] = ["…"]
    return f"addBatch {text.ms(inside.ms)}: {', '.join(said)}"


def _shown(inside: InsideBatch) -> list[BatchPart]:
    longest = sorted(inside.parts, key=lambda part: -part.ms)
    return [part for part in longest if part.ms >= _SMALLEST * inside.ms]


def rows(query: QueryEntry) -> list[tuple[str, float, float, str]]:
    """(part, ms, share of the whole batch, what it is) of each part of addBatch, the longest first."""
    if (inside := query.inside) is None:
        return []
    whole = sum(query.budget.values()) or inside.ms
    return [(label(part), part.ms, part.ms / whole, meaning(part, inside)) for part in _shown(inside)]


class Bar(NamedTuple):
    """One phase or part: its words, and where it lies on the clock, in percent of the batch or of addBatch.

    `saved_ms`: what a step takes away at its end.
    """

    label: str
    ms: float
    start: float
    width: float
    meaning: str = ""
    saved_ms: float = 0.0
    saved_width: float = 0.0


def waterfall(query: QueryEntry) -> Iterator[Bar]:
    """The phases in the order of the batch's life; together they are as wide as the batch."""
    whole, start = sum(query.budget.values()), 0.0
    for phase, ms in query.budget.items():
        saved = query.saved.get(phase, 0.0)
        yield Bar(phase, ms, 100 * start / whole, 100 * ms / whole, saved_ms=saved, saved_width=100 * saved / whole)
        start += ms


def bars(inside: InsideBatch) -> list[Bar]:
    """The parts one behind the other, in the order of a batch's life; together they are as wide as addBatch."""
    found, at = [], 0.0
    for part in inside.parts:
        found.append(Bar(label(part), part.ms, 100 * at / inside.ms, 100 * part.ms / inside.ms, meaning(part, inside)))
        at += part.ms
    return found


def counted(inside: InsideBatch) -> str:
    """`1 job, 2 stages and 4 tasks each`."""
    counts = ((inside.jobs, "job"), (inside.stages, "stage"), (inside.tasks, "task"))
    jobs, stages, tasks = (f"{number:g} {word}{'' if number == 1 else 's'}" for number, word in counts)
    return f"{jobs}, {stages} and {tasks} each"


def slow(parts: Sequence[BatchPart]) -> str:
    """`table log 900 ms, driver 120 ms`: what was slow inside a slow batch; empty if unknown."""
    return ", ".join(map(_told, sorted(parts, key=lambda part: -part.ms)))


def label(part: BatchPart) -> str:
    """The part in a word or two, with those that it holds: `read + write`."""
    return " + ".join(short(name) for name in (part.name, *part.holds))


def meaning(part: BatchPart, inside: InsideBatch) -> str:
    """What the part is, with its tasks and what its jobs say of themselves."""
    words = part.what or (_PARTS[part.name].meaning if part.name in _PARTS else "")
    if part.name == "slots_wait" and inside.waited_for:
        words = f"tasks of {', '.join(inside.waited_for)} held them"
    return f"{words}, {text.plural(part.tasks, 'task')}" if part.tasks else words


def _told(part: BatchPart) -> str:
    tasks = f" in {text.plural(part.tasks, 'task')}" if part.tasks and part.name in ("table_log", "other") else ""
    return f"{part.what or label(part)} {text.ms(part.ms)}{tasks}"


def short(name: str) -> str:
    """Return a part in a word or two."""
    return _PARTS[name].does if name in _PARTS else name.replace("_", " ")
