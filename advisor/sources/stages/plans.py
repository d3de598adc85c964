"""What the operators of a stage do, by the plans of SQL executions and the sums that the stage's tasks report."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import field

from advisor.redaction import redact
from advisor.stages import Attempt

_ENDS = ("Exchange", "QueryStage", "Subquery", "InMemoryTableScan")
"""In the names of operators below which another stage computes."""
_HIDDEN = ("Exchange", "QueryStage", "WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ShuffleRead", "ToRow")
"""In the names of operators that only hand rows on."""
_ROWS, _FETCHED = "number of output rows", "records read"
_MOST = 50_000
"""So many sums of the latest plans are held."""
_LONGEST, _NAME, _NAMES = 1000, 60, 12
"""Letters of an operator's name that are read, and that are shown; names that are shown."""


class _Sum(msgspec.Struct):
    name: str = ""
    id: int = field(name="accumulatorId", default=-1)


class Operator(msgspec.Struct):
    """An operator of a physical plan, above those that give it rows."""

    name: str = field(name="nodeName", default="")
    children: list[Operator] = []
    sums: list[_Sum] = field(name="metrics", default_factory=list)


class Execution(msgspec.Struct):
    """The plan of an execution, at its start or as adaptive execution changed it."""

    plan: Operator | None = field(name="sparkPlanInfo", default=None)


class _Part(NamedTuple):
    """An operator: the sum of the rows that it gives, -1 if it does not count them, and the sums of those it gets."""

    name: str
    gives: int
    gets: list[int]


class _Piece:
    """The operators of a plan that one stage computes, those first that give rows to the others."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.before: dict[int, float] = {}
        """What their sums were when such a stage ended last: they go on where two jobs compute the same."""


class Plans:
    """The plans of the latest executions, cut where stages meet."""

    def __init__(self) -> None:
        self._pieces: dict[int, _Piece] = {}
        """By their sums."""

    def take(self, execution: Execution) -> None:
        """Take the plan of an execution that begins, or that adaptive execution changed."""
        if execution.plan:
            self._cut(execution.plan, _Piece())
        if len(self._pieces) > _MOST:
            self._pieces = dict(islice(self._pieces.items(), _MOST // 2, None))

    def _cut(self, operator: Operator, piece: _Piece) -> list[int]:
        """Add an operator and those below it to the pieces of their stages; return the sums of the rows it gives."""
        ids, name = {each.name: each.id for each in reversed(operator.sums)}, operator.name
        ends = any(word in name for word in _ENDS)
        below = _Piece() if ends else piece
        gets = [id for child in operator.children for id in self._cut(child, below)]
        gives = ids.get(_FETCHED if ends and "Exchange" in name else _ROWS, -1)
        if not any(word in name for word in _HIDDEN):
            piece.parts.append(_Part(redact(name[:_LONGEST].strip())[:_NAME], gives, gets))
        if not ends:
            self._pieces.update(dict.fromkeys(ids.values(), piece))
        return gets if gives < 0 else [gives]

    def tell(self, attempt: Attempt, sums: Mapping[int, float]) -> None:
        """Note in a stage what runs in it; in foreachBatch one execution reads the rows of another in its stage."""
        found = list(dict.fromkeys(self._pieces[id] for id in sorted(sums) if id in self._pieces))
        before = {id: number for piece in found for id, number in piece.before.items()}
        added = {id: number - before.get(id, 0.0) for id, number in sums.items()}
        parts, most = [part for piece in found for part in piece.parts], 1.0
        for part in parts:
            made, given = added.get(part.gives, 0.0), sum(added.get(id, 0.0) for id in part.gets)
            if given > 0 and made / given > most:
                most, attempt.multiplied_by = made / given, part.name
                attempt.numbers.update({"made_rows": made, "given_rows": given})
        attempt.operators = ", ".join(list(dict.fromkeys(_shown(part, added) for part in parts))[:_NAMES]) or None
        for piece in found:
            piece.before.update(sums)


def _shown(part: _Part, sums: Mapping[int, float]) -> str:
    """Return the name of an operator with the rows that it gives, where Spark counts them."""
    rows = sums.get(part.gives)
    return f"{part.name} ({rows:,.0f} row{'s' * (rows != 1)})" if rows else part.name
