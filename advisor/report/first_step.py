"""The step that a query should take first."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.contract import Advice, BestStep, Finding, Loss, Part, Promise
from advisor.report.loss import GRAVE

_OF_DEATH = ("ER001", "LG005")
"""Rules that speak of what a query died of: that comes before whatever its batches take."""
LITTLE = 1 / 3
"""Of the largest loss: a step that saves less per batch does not stand before a look at the loss itself."""
WEAKER = 0.8
"""What a saving counts for that has a price in what the query guarantees: one nearly as large without comes first."""


def best_step(findings: Sequence[Finding], loss: Loss | None = None, within: Sequence[Part] = ()) -> BestStep | None:
    """Of all steps that Spark takes, what saves a record most; a new checkpoint only where nothing else helps.

    Never one that loses the state for a gain of which only the most is known, nor one that is made for a platform or a
    source that may be another: there it does nothing, ends the query, or moves files away. Where rows are lost, or the
    state grows without end, only what helps against that; and where all savings that were measured are little beside
    what one part of addBatch takes, what may save that part. `within`: the parts of addBatch that findings name, by
    which a loss of all addBatch is no larger than what its own rule names of it.
    """
    asked = [finding for finding in findings if loss is not None and finding.rule == loss.rule in GRAVE] or findings
    offers = [(finding, step) for finding in asked for step in finding.steps if _may_be_first(step)]
    if not offers:
        return None
    offers = _against(loss, within, offers) or offers
    finding, step = min(offers, key=lambda offer: (offer[0].rule not in _OF_DEATH, _preference(offer[1])))
    return BestStep(rule=finding.rule, step=step.id, title=finding.title, advice=step)


def _against(
    loss: Loss | None, within: Sequence[Part], offers: Sequence[tuple[Finding, Advice]]
) -> list[tuple[Finding, Advice]]:
    """Where nothing is expected to save a worthwhile part of the loss: what may, though nobody measured it.

    Where nothing unmeasured may, what its own rule offers without a new checkpoint.
    """
    if loss is None or loss.ms is None or loss.rule is None:
        return []
    promised = [(offer, promise) for offer in offers if (promise := offer[1].saves_ms) is not None]
    at_most = [promise.high for (finding, _), promise in promised if finding.rule == loss.rule]
    named = [part.ms for part in within if part.rule == loss.rule]
    worthwhile = LITTLE * min(loss.ms, max(at_most, default=loss.ms), *named)
    if any(_worth(step, promise) >= worthwhile for (_, step), promise in promised):
        return []
    may = [offer for offer, promise in promised if promise.expected is None and promise.high >= worthwhile]
    own = [offer for offer in offers if offer[0].rule == loss.rule and offer[1].takes != "new_checkpoint"]
    return may or own


def _may_be_first(step: Advice) -> bool:
    return step.legal != "no" and not step.untold_kinds and (step.takes != "new_checkpoint" or _promises(step))


def _promises(step: Advice) -> bool:
    promise = felt(step)
    return promise is not None and promise.likely >= 1


def felt(step: Advice) -> Promise | None:
    """What the step promises of a record's latency, else of the batch."""
    return step.saves_latency_ms or step.saves_ms


def _preference(step: Advice) -> tuple[int, bool, float, float, bool]:
    """What saves something, then a new checkpoint, then what promises nothing; a plain yes before an if."""
    promise = felt(step)
    if promise is None or promise.high < 1:
        return 2, step.legal != "yes", 0.0, 0.0, step.experimental
    tier = int(step.takes == "new_checkpoint")
    return tier, step.legal != "yes", -_worth(step, promise), -promise.high, step.experimental


def _worth(step: Advice, promise: Promise) -> float:
    """What the step is expected to save, as far as what it guarantees weighs."""
    return promise.likely * (1.0 if step.semantics == "unchanged" else WEAKER)
