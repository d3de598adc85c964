"""Two windows compared: by how much they differ, what changed between them, and which promises were kept."""

from __future__ import annotations

from typing import Literal

from advisor.contract.advice import FactEntry, Promise
from advisor.contract.base import Entry

Verdict = Literal["slower", "faster", "no difference", "cannot say", "not comparable", "too few batches"]
LoadKind = Literal["same", "adjusted", "differs", "unknown"]
Outcome = Literal["kept", "broken", "cannot say yet"]
Of = Literal["batch", "record"]


class Interval(Entry, frozen=True):
    """A value with its 95 % interval."""

    low: float
    value: float | None
    high: float


class Effect(Entry, frozen=True):
    """One number before and after; differences are AFTER less BEFORE, `told` if they are more than noise."""

    name: str
    stat: str
    before_ms: float
    after_ms: float
    difference_ms: Interval
    difference_share: Interval | None
    told: bool


class FactChange(Entry, frozen=True):
    """A fact that differs; None if one side does not know it. `sure`: both know it."""

    fact: str
    before: FactEntry | None
    after: FactEntry | None
    sure: bool


class KeptPromise(Entry, frozen=True):
    """What a step that was made promised, what it saved, and what became of the promise.

    `more_batches`: how many each side still needs for an answer; None where there is one, or where none can come.
    """

    step: str
    do: str
    of: Of
    predicted_ms: Promise
    measured_ms: Interval | None
    verdict: Outcome
    because: str
    more_batches: int | None


class Sides(Entry, frozen=True):
    """One number before and after."""

    before: float | None
    after: float | None


class LoadEntry(Entry, frozen=True):
    """How the loads compare, and what was taken off AFTER for its other load."""

    kind: LoadKind
    says: str
    rows_per_batch: Sides
    rows_per_second: Sides
    adjusted_ms: float


class ComparedRun(Entry, frozen=True):
    """Which batches of which run stand on one side. `spark_between` is `3.4 to 3.5` where only bounds are known."""

    id: str | None
    run_id: str
    spark_version: str | None
    first: str | None
    last: str | None
    batches: int
    because: str
    spark_between: str | None = None


class Comparison(Entry, frozen=True):
    """AFTER against BEFORE, for one query. `effects` is empty if they are unknown; its first is the batch."""

    query: str | None
    before: ComparedRun
    after: ComparedRun
    verdict: Verdict
    says: str
    load: LoadEntry | None
    effects: tuple[Effect, ...]
    changed: tuple[FactChange, ...]
    promises: tuple[KeptPromise, ...]
    limits: tuple[str, ...]


class Comparisons(Entry, frozen=True):
    """All comparisons."""

    schema_version: int
    advisor_version: str
    comparisons: tuple[Comparison, ...]
