"""What stands in the headline, or in one line for a whole query."""

from __future__ import annotations

from advisor.contract import QueryEntry
from advisor.views.in_short.gains import beside_the_loss, why
from advisor.views.in_short.losses import loss_name
from advisor.views.in_short.no_step import with_a_new_checkpoint


def headline_name(query: QueryEntry) -> str:
    """What stands before the headline: what most time is lost to, or that the query keeps up; may be empty."""
    if query.screen.calm:
        return "keeps up"
    loss = query.screen.loss
    return "" if loss is None or loss.kind == "add_batch" else loss_name(loss)  # whose sentence names it already


def closest(query: QueryEntry) -> list[str]:
    """The rules that came closest to firing, a line each."""
    return [f"{entry.margin} · {entry.rule}" for entry in query.screen.calm.closest] if query.screen.calm else []


def in_a_line(query: QueryEntry) -> str:
    """`logs: Track progress asynchronously`: the loss and the step; the verdict where there is no loss.

    A step against something else stands behind what its rule found.
    """
    loss, best = query.screen.loss, query.best_step
    if query.screen.calm:
        return "keeps up: no rule found anything"
    if loss is None:
        return f"stopped with an error: {best.advice.do}" if best and query.terminated else query.verdict
    if best and (why(query) or beside_the_loss(query)):
        return f"{best.title}: {best.advice.do}"
    needs_a_checkpoint = with_a_new_checkpoint(query)
    other = f"{needs_a_checkpoint[0].do} (a new checkpoint)" if needs_a_checkpoint else "no rule knows a change"
    return f"{loss_name(loss)}: {best.advice.do if best else other}"
