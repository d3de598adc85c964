"""What time is lost to, and the slowest batch."""

from __future__ import annotations

from advisor.contract import Loss, LossKind, Part, QueryEntry
from advisor.views import text
from advisor.views.inside import slow

LOSSES: dict[LossKind, str] = {
    "rows": "rows are lost",
    "results": "results wait",
    "pace": "behind",
    "state": "the state grows without end",
    "batches": "slow batches",
    "waiting": "waiting",
    "logs": "logs",
    "discovery": "source",
    "planning": "planning",
    "add_batch": "addBatch",
    "unaccounted": "no phase",
    "other": "other phases",
}
"""What time is lost to, in a word or two."""


def loss_name(of: Loss | Part) -> str:
    """What to call what time is lost to."""
    return of.name or LOSSES[of.kind]


def slowest(query: QueryEntry) -> str:
    """`batch 10: Delta: Compute snapshot 19.8 s in 154 tasks`, where slow batches are the loss; empty if not known."""
    loss = query.screen.loss
    if loss is None or loss.kind != "batches" or not query.worst:
        return ""
    longest = query.worst[0]
    number = "" if longest.batch_id is None else f"batch {longest.batch_id}, "
    return f"{number}{text.ms(longest.trigger_execution_ms)}: {slow(longest.inside)}" if longest.inside else ""
