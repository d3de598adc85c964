"""The report on everything that was read: the counts of the input, and one entry per run of a query."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.contract.addbatch import BatchPart, InsideBatch
from advisor.contract.advice import BestStep, FactEntry, Finding, Passed, Silenced, Skipped, Together
from advisor.contract.base import Entry
from advisor.contract.comparison import Comparison
from advisor.contract.screen import Screen
from advisor.contract.series import Series
from advisor.vocabulary import Direction, Level, Since, State, worst


class BrokenRecord(Entry, frozen=True):
    """A record that could not be read: where it begins (byte of the decompressed file, line from 1), and why.

    `times`: how many records it stands for: itself, and further ones of its file, which are not listed.
    """

    file: str
    offset: int
    line: int | None
    reason: str
    times: int = 1


class PartialRecord(Entry, frozen=True):
    """A record that was read in part: where it begins, what it holds in words, and what it lacks by Spark's names.

    It is judged where its durations are whole, that is where `lacks` has no durationMs, and as far as it goes where
    they tell the length of the batch. `times`: as of a BrokenRecord.
    """

    file: str
    offset: int
    line: int | None
    lacks: tuple[str, ...]
    says: str
    times: int = 1


class FallingBehind(Entry, frozen=True):
    """The lines of a log without progress about batches that took longer than one trigger interval.

    `lines`: how many there are; `low_ms`, `median_ms`, `high_ms`: how long the batches took; `first`, `last`: by the
    log's own clock.
    """

    file: str
    lines: int
    interval_ms: int
    low_ms: float
    median_ms: float
    high_ms: float
    first: str | None
    last: str | None
    says: str


class Input(Entry, frozen=True):
    """What was read. `events` counts progress events without duplicates, `idle` those of them that ran no batch.

    `partial` records are not among them. `progress_needs`: how to get progress, where none is there that can be judged.
    `read_by_jvm`: files that only a cluster's JVM could reach.
    """

    files: int
    bytes: int
    events: int
    idle: int
    duplicates: int
    broken: tuple[BrokenRecord, ...]
    partial: tuple[PartialRecord, ...] = ()
    falling_behind: tuple[FallingBehind, ...] = ()
    progress_needs: str | None = None
    read_by_jvm: int = 0


class WindowEntry(Entry, frozen=True):
    """Which batches were judged, and why these."""

    first: str | None
    last: str | None
    batches: int
    because: str


class Metric(Entry, frozen=True):
    """One metric of the judged batches: its statistics, or an interval, or why it is `missing`."""

    low: float | None = None
    value: float | msgspec.UnsetType | None = msgspec.UNSET
    high: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    typical: float | None = None
    unit: str | None = None
    missing: str | None = None


class Regime(Entry, frozen=True):
    """One side of a change: its batches, and their metrics by name and statistic."""

    first: str | None
    last: str | None
    batches: int
    metrics: dict[str, dict[str, float]]


class Changed(Entry, frozen=True):
    """How the judged batches differ from those before them, and since when."""

    at: str | None
    because: Since
    says: str
    before: Regime
    after: Regime


class Trend(Entry, frozen=True):
    """How a number develops, and by how much per hour if the batches span long enough."""

    direction: Direction
    per_hour: float | None


class Trends(Entry, frozen=True):
    """How record latency and backlog develop."""

    record_latency_ms: Trend
    backlog_rows: Trend


class Conflict(Entry, frozen=True):
    """A fact for which two places have different values, and the value that was taken."""

    fact: str
    values: tuple[FactEntry, ...]
    taken: Any


class WorstBatch(Entry, frozen=True):
    """A slow batch, with the phase that was furthest above its own median.

    `inside`: where that is addBatch and its jobs were seen, the parts that were above their own median, the furthest
    first, with their milliseconds in this batch.
    """

    batch_id: int | None
    timestamp: str | None
    trigger_execution_ms: float
    input_rows: int | None
    phase: str
    phase_ms: float
    inside: tuple[BatchPart, ...] = ()


class Terminated(Entry, frozen=True):
    """How a run ended."""

    error: str | None


class QueryEntry(Entry, frozen=True):
    """One run of a query.

    `verdict` is the whole in one sentence. `budget`: milliseconds of a typical batch by phase, in the order of a
    batch's life; `untold` is what phases take that records leave out. `findings`: the most important first, those
    that another one explains last. Only an attached advisor gives `idle_since`; `series` is there if it is asked
    for. `saved`: of `budget` what the best step is expected to take away, or is sure to where nothing is expected
    yet; empty where it is not known of which phases. `together`: steps that help beside each other, with one
    promise for all; None where fewer than two do. `screen`: what is shown first. `inside`: what addBatch consists
    of, where jobs were seen.

    Every rule stands once in `findings`, `suppressed`, `skipped`, `passed` or `not_applicable`.
    """

    id: str | None
    run_id: str
    name: str | None
    spark_version: str | None
    state: State
    terminated: Terminated | None
    runs: int
    batches: int
    first: str | None
    last: str | None
    window: WindowEntry
    verdict: str
    best_step: BestStep | None
    changed: Changed | None
    trend: Trends
    facts: dict[str, FactEntry]
    conflicts: tuple[Conflict, ...]
    metrics: dict[str, Metric]
    budget: dict[str, float]
    findings: tuple[Finding, ...]
    suppressed: tuple[Silenced, ...]
    skipped: tuple[Skipped, ...]
    worst: tuple[WorstBatch, ...]
    limits: tuple[str, ...]
    idle_since: str | msgspec.UnsetType | None = msgspec.UNSET
    series: Series | None = None
    saved: dict[str, float] = msgspec.field(default_factory=dict)
    passed: tuple[Passed, ...] = ()
    not_applicable: tuple[Skipped, ...] = ()
    together: Together | None = None
    screen: Screen = msgspec.field(default_factory=Screen)
    inside: InsideBatch | None = None

    @property
    def level(self) -> Level | None:
        """The highest level of a finding that no other one explains."""
        return worst(finding.level for finding in self.findings if finding.explained_by is None)

    def value(self, fact: str) -> Any:
        """The value of a fact, None where it is not known."""
        known = self.facts.get(fact)
        return None if known is None else known.value


class Problem(Entry, frozen=True):
    """What went wrong while listening, and how often."""

    problem: str
    times: int


class Session(Entry, frozen=True):
    """What an attached advisor heard, what it costs and what got lost."""

    way: str
    because: str | None
    attached: bool
    events: dict[str, int]
    kept_per_query: int
    memory_bytes: int
    dropped: int
    broken: int
    waiting: int
    capacity: int
    callback_ms_per_event: float | None
    cpu_ms_per_event: float | None
    watch_cpu_seconds: float
    history: str | None
    problems: tuple[Problem, ...]


class Report(Entry, frozen=True):
    """The whole report: runs, the most pressing first. An attached advisor adds comparisons and its session."""

    schema_version: int
    advisor_version: str
    input: Input
    queries: tuple[QueryEntry, ...]
    comparisons: tuple[Comparison, ...] | None = None
    session: Session | None = None
