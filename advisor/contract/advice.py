"""A rule in the report: the finding, the numbers behind it, and its steps for this query."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.contract.base import Entry
from advisor.vocabulary import CONF, Confidence, Legal, Level, Semantics, Status, Takes


class FactEntry(Entry, frozen=True):
    """What is known of a fact, and where it came from; both None where it is not known."""

    value: Any
    origin: str | None = msgspec.field(name="from")


class Evidence(Entry, frozen=True):
    """A fact that a finding stands on."""

    fact: str
    value: Any
    origin: str | None = msgspec.field(name="from")


class Measured(Entry, frozen=True):
    """The number that a finding stands on, by its metric's unit; `low` and `high` where only an interval is known."""

    metric: str
    stat: str | None
    value: float
    low: float | None = None
    high: float | None = None


class Settings(Entry, frozen=True):
    """Options, configuration and trigger that are set, by their keys."""

    writer_option: dict[str, str] = msgspec.field(default_factory=dict)
    reader_option: dict[str, str] = msgspec.field(default_factory=dict)
    conf: dict[str, str] = msgspec.field(default_factory=dict)
    trigger: dict[str, str | bool] = msgspec.field(default_factory=dict)


class Change(Settings, frozen=True):
    """What a step sets; kinds that it does not use are left out. `package`: with which Spark has to be started."""

    package: str | None = None
    code: str | None = None
    value: str | None = None


class Stage(Entry, frozen=True):
    """One part of a step that is made in order: what to do or to set, and until when."""

    do: str | None
    change: Change
    until: str


class Promise(Entry, frozen=True, kw_only=False):
    """Milliseconds saved, at least `low` and at most `high`; `expected` is None until such a step has been measured.

    `low` may be relied on as far as trials show; 0 if a step may save nothing. `safe` is physically certain.
    """

    low: float
    expected: float | None
    high: float
    safe: float = 0.0

    @property
    def likely(self) -> float:
        """What steps are ranked by: the expected saving, or the low end."""
        return self.low if self.expected is None else self.expected

    def rounded(self) -> Promise:
        """To a tenth of a millisecond, as it is printed."""
        expected = None if self.expected is None else round(self.expected, 1)
        return Promise(round(self.low, 1), expected, round(self.high, 1), round(self.safe, 1))


KINDS = ("source", "platform")
"""What a step may be made for: elsewhere it does nothing, ends the query, or moves files away."""


class Advice(Entry, frozen=True):
    """One step for one query: whether Spark takes it, what it changes, saves and costs, and how it is undone.

    `because`: why it is not legal, or legal only if; `unknown`: the facts that would settle an `if`. `saves_ms` is per
    batch, `saves_latency_ms` of a typical record's latency. `saves_in`: the phases of a typical batch
    that become shorter, by Spark's names; empty if unknown. `saves_of`: the saving is a share of this metric.
    `against`: the facts that make it not legal.
    """

    id: str
    do: str
    legal: Legal
    because: str | None
    unknown: tuple[str, ...]
    change: Change
    stages: tuple[Stage, ...]
    takes: Takes
    semantics: Semantics
    status: Status
    saves_ms: Promise | None
    saves_latency_ms: Promise | None
    costs: str
    undo: str
    check: str
    saves_in: tuple[str, ...] = ()
    saves_of: str | None = None
    against: tuple[str, ...] = ()

    @property
    def experimental(self) -> bool:
        """Whether nothing measured stands behind the step, or Spark gives no guarantee for it."""
        return self.status == "experimental"

    @property
    def untold_kinds(self) -> tuple[str, ...]:
        """Unknown facts that decide whether the step is meant for this query: its platform, its source, a setting.

        A step that is for one value of a setting only sets what holds already, where it has another.
        """
        if self.legal != "if":
            return ()
        return tuple(fact for fact in self.unknown if fact in KINDS or fact.startswith(CONF))

    @property
    def ends_slow_batches(self) -> bool:
        """Whether it ends the slow batches of a rhythm and leaves the others unchanged."""
        return (self.saves_of or "").startswith("spike_")

    def rounded(self) -> Advice:
        """The step with its promises as they are printed."""
        batch, record = (one and one.rounded() for one in (self.saves_ms, self.saves_latency_ms))
        return msgspec.structs.replace(self, saves_ms=batch, saves_latency_ms=record)


class Finding(Entry, frozen=True):
    """A rule that fired, with its steps: legal ones first, then the larger saving, then what takes less.

    `explained_by`: the finding of which this one is a consequence. `felt_share`: the part of a record's wait that it
    takes, which ranks findings of one level; None if unknown.
    """

    rule: str
    slug: str
    title: str
    level: Level
    confidence: Confidence
    says: str
    why: str
    measure: Measured | None
    evidence: tuple[Evidence, ...]
    explained_by: str | None
    steps: tuple[Advice, ...]
    references: tuple[str, ...]
    felt_share: float | None

    def rounded(self) -> Finding:
        """The finding with its numbers as they are printed."""
        felt = None if self.felt_share is None else float(f"{self.felt_share:.3g}")
        return msgspec.structs.replace(self, steps=tuple(step.rounded() for step in self.steps), felt_share=felt)


class StepName(Entry, frozen=True):
    """A step of a rule's finding, by their ids."""

    rule: str
    step: str


class BestStep(StepName, frozen=True):
    """The step that a query should take first, whole, with the title of the finding that it belongs to."""

    title: str
    advice: Advice


class Together(Entry, frozen=True):
    """Steps that can be taken beside each other, the largest saving first, and what they save of a batch in common."""

    steps: tuple[StepName, ...]
    saves_ms: Promise


class Skipped(Entry, frozen=True, kw_only=False):
    """A rule that could not be judged, and why; `unknown`: the facts that would settle it."""

    rule: str
    reason: str
    unknown: tuple[str, ...] = ()


class Passed(Entry, frozen=True, kw_only=False):
    """A rule that was judged and did not fire, and by how much.

    `left`: how far its number is from the limit, as a share of the limit; None if unknown.
    """

    rule: str
    margin: str
    left: float | None = None


class Silenced(Entry, frozen=True, kw_only=False):
    """A rule that a team has silenced, and why."""

    rule: str
    reason: str
    until: str | None
