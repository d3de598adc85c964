"""A fleet's report: queries and changes, ranked by what they save over all runs."""

from __future__ import annotations

from advisor.contract.advice import Change, Skipped, StepName
from advisor.contract.base import Entry
from advisor.contract.report import Input
from advisor.vocabulary import Confidence, Legal, Level, State, Takes


class Wins(Entry, frozen=True):
    """Milliseconds per hour: `expected`, 0 where only an upper bound is known, and `at_most`."""

    expected: float
    at_most: float


class FleetStep(Entry, frozen=True):
    """A step of one query, and what it saves there."""

    step: str
    do: str
    legal: Legal
    takes: Takes
    change: Change
    recoverable: Wins | None


class FleetFinding(Entry, frozen=True):
    """A finding of one query."""

    rule: str
    title: str
    level: Level
    confidence: Confidence
    says: str
    explained_by: str | None
    steps: tuple[FleetStep, ...]


class FleetQuery(Entry, frozen=True):
    """One run in short. `trigger_execution_ms` is its median batch, `judged` whether there was anything to judge."""

    id: str | None
    run_id: str
    name: str | None
    state: State
    runs: int
    batches: int
    first: str | None
    last: str | None
    spark_version: str | None
    platform: str | None
    batches_per_hour: float | None
    trigger_execution_ms: float | None
    verdict: str
    best_step: StepName | None
    recoverable: Wins | None
    findings: tuple[FleetFinding, ...]
    judged: bool
    skipped: tuple[Skipped, ...]

    @property
    def label(self) -> str:
        """What to call it: its name, else its id, else that of the run."""
        return self.name or self.id or self.run_id


class FleetChange(Entry, frozen=True):
    """A step over all queries: how many it helps, by its legality, what it saves, and where it saves most."""

    step: str
    do: str
    takes: Takes
    change: Change
    queries: int
    legal: dict[str, int]
    recoverable: Wins
    most_for: tuple[str, ...]


class Counted(Entry, frozen=True):
    """How many queries have this value."""

    value: str
    queries: int


class NotJudged(Entry, frozen=True):
    """Why queries could not be judged, how many, and some of them."""

    reason: str
    queries: int
    examples: tuple[str, ...]


class SkippedRule(Entry, frozen=True):
    """Why a rule could not be judged, and in how many queries."""

    rule: str
    reason: str
    queries: int


class Fleet(Entry, frozen=True):
    """The fleet's report: the latest run of each query, the most recoverable first; changes, the most first."""

    schema_version: int
    advisor_version: str
    input: Input
    runs: int
    recoverable: Wins
    queries: tuple[FleetQuery, ...]
    changes: tuple[FleetChange, ...]
    versions: tuple[Counted, ...]
    platforms: tuple[Counted, ...]
    states: tuple[Counted, ...]
    not_judged: tuple[NotJudged, ...]
    skipped: tuple[SkippedRule, ...]
