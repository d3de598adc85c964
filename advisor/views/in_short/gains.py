"""What a step takes and saves, and why it is the best."""

from __future__ import annotations

from advisor.contract import Advice, After, Metric, Promise, QueryEntry
from advisor.views import text
from advisor.views.in_short.losses import loss_name

_NONE = Metric()
_TAKES_SHORT = {
    "nothing": "no restart",
    "restart": "restart",
    "new_checkpoint": "new checkpoint",
    "stages": "several restarts",
}


def takes_in_short(step: Advice) -> str:
    """What it takes to make the change, in a word or two."""
    return _TAKES_SHORT[step.takes]


def gain(query: QueryEntry, step: Advice) -> str:
    """What the step promises, in one line; of the query's best step that ends spikes also the p99 after it."""
    after, p99 = query.screen.after, query.metrics.get("record_latency_ms", _NONE).p99
    if after is not None and after.without_spikes and p99 is not None:
        often = f"{found}; " if (found := gain_in_short(step).removesuffix(", not measured yet")) else ""
        return f"{often}p99 of the record latency {text.ms(p99)} → {then_p99(after)}"
    said = (promised(step.saves_latency_ms, "record"), promised(step.saves_ms, "batch"))
    return next(filter(None, said), "no number is promised") + _waits_for_two(query, step)


def then_p99(after: After) -> str:
    """The p99 after the step: at best where nothing is expected yet, else between its ends."""
    if after.at_best or after.p99_high is None:
        return f"at best {text.ms(after.p99)}"
    return f"{text.ms(after.p99)} to {text.ms(after.p99_high)}"


def why(query: QueryEntry) -> str:
    """Return what the best step's rule found, if no promise, loss or trouble above shows it; else empty."""
    best, loss = query.best_step, query.screen.loss
    found = next((one for one in query.findings if best and one.rule == best.rule), None)
    if best is None or found is None or best.advice.saves_ms or best.advice.saves_latency_ms:
        return ""
    shown = {loss.rule, *(one.explained_by for one in query.findings if one.rule == loss.rule)} if loss else set()
    said = " ".join([query.verdict, *query.screen.troubles])
    return "" if found.rule in shown or found.says in said else found.says


def promised(promise: Promise | None, of: str) -> str:
    """What is promised per batch or record, with its interval; empty below a millisecond."""
    if promise is None or promise.high < 1:
        return ""
    if promise.expected is None:
        return f"at most {text.ms(promise.high)} less per {of}, not measured yet"
    return f"about {text.ms(promise.expected)} less per {of} ({text.ms(promise.low)} to {text.ms(promise.high)})"


def _waits_for_two(query: QueryEntry, step: Advice) -> str:
    """Why a record gains more than a batch loses; empty where it does not."""
    loss, promise = query.screen.loss, step.saves_latency_ms
    more = loss is not None and loss.ms and promise is not None and step.saves_ms and promise.likely > loss.ms
    return "; a record waits for the batch before its own, too" if more else ""


def beside_the_loss(query: QueryEntry) -> str:
    """That the best step leaves the loss as it is; else empty."""
    loss = query.screen.loss
    if loss is None or not query.screen.loss_stays:
        return ""
    return f"This does not shorten {'the logs' if loss.kind == 'logs' else loss_name(loss)}."


def gain_in_short(step: Advice) -> str:
    """What the step saves, without its interval; empty where it promises nothing."""
    of_batch = "batch on average" if step.ends_slow_batches else "batch"
    promise, of = (step.saves_latency_ms, "record") if step.saves_latency_ms else (step.saves_ms, of_batch)
    return promised(promise, of).partition(" (")[0]
