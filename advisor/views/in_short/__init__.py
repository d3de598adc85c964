"""The lines of the first screen about a query."""

from advisor.views.in_short.gains import beside_the_loss, gain, takes_in_short, why
from advisor.views.in_short.headline import closest, headline_name, in_a_line
from advisor.views.in_short.kind import kind_of_query, state_if_news
from advisor.views.in_short.losses import LOSSES, loss_name, slowest
from advisor.views.in_short.no_step import no_step
from advisor.views.in_short.numbers import (
    based_on,
    batch_headroom_lag,
    latency_now_and_then,
    latency_then,
    within_add_batch,
)
from advisor.views.in_short.steps import also, once_known, question, refused, stages, together

__all__ = [
    "LOSSES",
    "also",
    "based_on",
    "batch_headroom_lag",
    "beside_the_loss",
    "closest",
    "gain",
    "headline_name",
    "in_a_line",
    "kind_of_query",
    "latency_now_and_then",
    "latency_then",
    "loss_name",
    "no_step",
    "once_known",
    "question",
    "refused",
    "slowest",
    "stages",
    "state_if_news",
    "takes_in_short",
    "together",
    "why",
    "within_add_batch",
]
