"""What the rules say about a cell, and whether Spark agrees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, Literal

from advisor.batches import build
from advisor.catalogue import Catalogue, Step
from advisor.engine.conditions import ask_all
from advisor.facts import Facts, Known
from advisor.progress import decode
from advisor.window import Window, run_window
from tests.legality import outcomes

Answer = Literal["yes", "if", "no", "not offered"]
AGREE: Final[dict[str, tuple[Answer, ...]]] = {
    "takes effect": ("yes", "if", "not offered"),
    "ignored": ("no", "if", "not offered"),
    "refused": ("no", "if", "not offered"),
    "starves": ("no", "if", "not offered"),
}
"""The answers with which an outcome on Spark agrees. "If" names a condition; "not offered" promises nothing."""


_BATCH: Final = {
    "id": "00000000-0000-4000-8000-000000000001", "runId": "00000000-0000-4000-8000-000000000002", "batchId": 3,
    "timestamp": "2026-01-05T03:00:00.000Z", "numInputRows": 100,
    "durationMs": {"triggerExecution": 100, "addBatch": 60, "walCommit": 10, "commitOffsets": 10},
}  # fmt: skip


def disagreements(run: dict[str, Any], catalogue: Catalogue) -> list[str]:
    """A line for each cell on which rules and Spark disagree."""
    steps = catalogue.steps
    found = []
    for cell in run["cells"]:
        if cell["outcome"] not in AGREE or cell["step"] not in steps:
            continue
        name, _, checkpoint = cell["query"].rpartition(", ")
        query = run["queries"][name]
        if query["refused"] is not None:
            continue
        says, because = answer(steps[cell["step"]], window(run, query), checkpoint.partition(" ")[0])
        if says not in AGREE[cell["outcome"]]:
            spark = f"{cell['outcome']}{': ' * bool(cell['says'])}{cell['says']}"
            found.append(
                f"Spark {run['spark']}, {cell['step']}, {cell['query']}: rules say {says} ({because}), Spark: {spark}"
            )
    return found


def window(run: dict[str, Any], query: dict[str, Any]) -> Window:
    """What the program knew of the query: its facts, and a batch with its state operators."""
    event = _BATCH | {"stateOperators": query["operators"]}
    events = [decode(json.dumps(event).encode())] if query["batch"] else []
    known = {name: Known(*value) for name, value in outcomes.facts(run, query).items()}
    return run_window(build(events, range(len(events)), "run", "run"), Facts(known))


def answer(step: Step, window: Window, checkpoint: str) -> tuple[Answer, str]:
    """What the rules say about the step on this checkpoint of the query, and why.

    Metrics in `when` ask whether it would help, not whether Spark takes it. A step that needs a new checkpoint is "no"
    on the old one.
    """
    meant = ask_all([line for line in step.when if line.fact], window)
    if meant.holds is False or any(ask_all([line], window).holds for line in step.unless):
        return "not offered", "; ".join(meant.because)
    legal = ask_all(step.legal, window)
    if legal.holds is False:
        return "no", "; ".join(legal.because)
    if step.takes == "new_checkpoint" and checkpoint == "old":
        return "no", "it takes a new checkpoint"
    doubts = [*_doubts(legal), *_doubts(meant), *legal.inferred]
    return ("if", "; ".join(doubts)) if doubts else ("yes", "")


def _doubts(verdict: Any) -> Iterator[str]:
    if verdict.holds is None:
        yield from verdict.because
