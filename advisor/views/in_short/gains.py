"""What a step takes and saves, and why it is the best."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.contract import Advice, After, Loss, LossKind, Metric, Promise, QueryEntry
from advisor.views import text
from advisor.views.in_short.losses import LOSSES

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


_IN_GENERAL = ("SK002", "TR001")
"""Rules that say what every headline says: that addBatch is long, or that batches take too long."""


def why(query: QueryEntry) -> str:
    """What the best step's rule found, where no promise, no loss and no trouble above it says so; else empty."""
    best, loss = query.best_step, query.screen.loss
    found = next((one for one in query.findings if best and one.rule == best.rule), None)
    if best is None or found is None or best.advice.saves_ms or best.advice.saves_latency_ms:
        return ""
    if found.rule in _IN_GENERAL:
        return ""
    told = {loss.rule, *(one.explained_by for one in query.findings if one.rule == loss.rule)} if loss else set()
    said = " ".join([query.verdict, *query.screen.troubles])
    return "" if found.rule in told or found.says in said else found.says


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


_PHASES: dict[LossKind, frozenset[str]] = {
    "within_add_batch": frozenset({"addBatch"}),
    "add_batch": frozenset({"addBatch"}),
    "logs": frozenset({"walCommit", "commitOffsets", "commitLog"}),
    "discovery": frozenset({"latestOffset", "getOffset", "getEndOffset", "setOffsetRange", "getBatch"}),
    "planning": frozenset({"queryPlanning"}),
}
"""The phases that a loss lies in, where it lies in some."""
_GROWING = {"DR001": _PHASES["add_batch"], "DR003": _PHASES["planning"], "DR004": _PHASES["discovery"]}
"""Those that grow, by the rule that found it."""


def beside_the_loss(query: QueryEntry) -> str:
    """That the best step leaves the largest loss as it is, and why it is the best all the same; else empty."""
    loss = query.screen.loss
    lies_in = (_GROWING.get(str(loss.rule)) if loss.kind == "growth" else _PHASES.get(loss.kind)) if loss else None
    if loss is None or not lies_in or not query.saved or lies_in & query.saved.keys():
        return ""
    kind = next(kind for kind, phases in _PHASES.items() if phases & lies_in and kind != "within_add_batch")
    name = LOSSES[kind]
    leaves = "It leaves the logs as they are" if name == LOSSES["logs"] else f"It leaves {name} as it is"
    against = next(_against(query, loss, lies_in), None)
    if against is None:
        return f"{leaves}: no rule knows a change against that"
    return f'{leaves}. For that: "{against.do}" ({gain_in_short(against) or "no number is promised"})'


def _against(query: QueryEntry, loss: Loss, lies_in: frozenset[str]) -> Iterator[Advice]:
    """Steps that Spark may take against the loss: those of its rule, then others that shorten the same phases."""
    steps = [(finding.rule, step) for finding in query.findings for step in finding.steps if step.legal != "no"]
    yield from (step for rule, step in steps if rule == loss.rule)
    yield from (step for _, step in steps if lies_in & set(step.saves_in))


def gain_in_short(step: Advice) -> str:
    """What the step saves, without its interval; empty where it promises nothing."""
    of_batch = "batch on average" if step.ends_slow_batches else "batch"
    promise, of = (step.saves_latency_ms, "record") if step.saves_latency_ms else (step.saves_ms, of_batch)
    return promised(promise, of).partition(" (")[0]
