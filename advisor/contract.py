"""The report as types: the judge fills them, every view reads them, and the JSON is made from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from advisor.vocabulary import (
    CONF,
    Confidence,
    Direction,
    Grave,
    Legal,
    Level,
    PhaseKind,
    Semantics,
    Since,
    State,
    Status,
    Takes,
    worst,
)

SCHEMA_VERSION = 1


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of a report. A field that has a default is left out of the JSON while it has it."""


def plain(part: msgspec.Struct) -> Any:
    """Return it as dictionaries, lists, texts and numbers, as JSON has them."""
    return msgspec.json.decode(encoded(part))


def encoded(part: msgspec.Struct) -> bytes:
    """Return it as JSON in one line."""
    return msgspec.json.encode(part, enc_hook=_number)


def as_json(part: msgspec.Struct) -> str:
    """Return it as JSON text of many lines; ValueError for NaN, which msgspec would write as null."""
    whole = json.dumps(msgspec.to_builtins(part, enc_hook=_number), ensure_ascii=False, allow_nan=False)
    return msgspec.json.format(whole, indent=2)


def in_pieces(report: Report, written: Callable[[QueryEntry], str]) -> Iterator[str]:
    """Return `as_json` of a report, a query at a time; `written` is that of a query, which may hold less here."""
    if not report.queries:
        yield as_json(report)
        return
    before, after = as_json(msgspec.structs.replace(report, queries=())).split('\n  "queries": []', 1)
    yield f'{before}\n  "queries": ['
    for nth, entry in enumerate(report.queries):
        indented = written(entry).replace("\n", "\n    ")
        yield f"{',' if nth else ''}\n    {indented}"
    yield f"\n  ]{after}"


def _number(value: Any) -> Any:
    """Return a number of numpy as Python's own, the only ones that msgspec knows."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"a report cannot hold a {type(value).__name__}")


def moment(when: datetime | None) -> str | None:
    """ISO 8601 in UTC, as Spark writes it."""
    return None if when is None else when.isoformat(timespec="milliseconds")[:23] + "Z"


# A rule in the report: the finding, the numbers behind it, and its steps for this query


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

    @property
    def told(self) -> float:
        """What people are told: the expected saving, or the most where nobody has measured it."""
        return self.high if self.expected is None else self.expected

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
    `against`: the facts that make it not legal. `run_on`: the Sparks on which it took effect in queries that were run;
    empty if only documentation says so. `stateless`: the query keeps no state that a new checkpoint would lose.
    `looks`: it only shows more of the query.
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
    run_on: tuple[str, ...] = ()
    stateless: bool = False
    looks: bool = False

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
    def is_harmless(self) -> bool:
        """Whether it changes nothing at all, so that there is no risk and nothing to undo."""
        return self.looks and self.takes == "nothing"

    @property
    def ends_slow_batches(self) -> bool:
        """Whether it ends the slow batches of a rhythm and leaves the others unchanged."""
        return (self.saves_of or "").startswith("spike_")

    def rounded(self) -> Advice:
        """The step with its promises as they are printed."""
        batch, record = (one and one.rounded() for one in (self.saves_ms, self.saves_latency_ms))
        return msgspec.structs.replace(self, saves_ms=batch, saves_latency_ms=record)


class Found(Entry, frozen=True):
    """That a rule fired. `explained_by`: the finding of which this one is a consequence."""

    rule: str
    title: str
    level: Level
    confidence: Confidence
    says: str
    explained_by: str | None


class Finding(Found, frozen=True):
    """A rule that fired, with its steps: legal ones first, then the larger saving, then what takes less.

    `felt_share`: the part of a record's wait that it takes, which ranks findings of one level; None if unknown.
    """

    slug: str
    why: str
    measure: Measured | None
    evidence: tuple[Evidence, ...]
    steps: tuple[Advice, ...]
    references: tuple[str, ...]
    felt_share: float | None

    def is_rash(self, step: Advice) -> bool:
        """Whether the step would lose the state for milliseconds that only few batches, or a new rule, show."""
        promises = bool(step.saves_ms or step.saves_latency_ms)
        loses = step.takes == "new_checkpoint" and not step.stateless
        return loses and self.confidence == "low" and promises

    def rounded(self) -> Finding:
        """The finding with its numbers as they are printed."""
        felt = None if self.felt_share is None else float(f"{self.felt_share:.3g}")
        return msgspec.structs.replace(self, steps=tuple(step.rounded() for step in self.steps), felt_share=felt)


class StepName(Entry, frozen=True):
    """A step of a rule's finding, by their ids."""

    rule: str
    step: str


class AlsoStep(StepName, frozen=True):
    """Another step that helps. `cheap`: it takes a good part of the loss, and no more than a restart."""

    cheap: bool = False


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


# What ran inside addBatch, if a log or a session shows jobs


class BatchPart(Entry, frozen=True):
    """One part of addBatch's wall clock, in ms of a typical batch.

    `name` as in the table of batch parts without its unit (`source_read`); `holds`: parts that cannot be separated
    from it, so that this one holds their time too. `what`: the descriptions of its jobs. `tasks`: of its stages, in a
    typical batch, None if it has none.
    """

    name: str
    ms: float
    holds: tuple[str, ...] = ()
    what: str | None = None
    tasks: int | None = None


class InsideBatch(Entry, frozen=True):
    """What addBatch of a typical batch consists of.

    `ms`: of addBatch, which `parts`, in the order of a batch's life, add up to. `batches`: how many show it.
    `source`: event_log, driver_log or session. `jobs`, `stages`, `tasks`: in a typical batch. `waited_for`: other
    queries whose tasks held the slots.
    """

    ms: float
    batches: int
    parts: tuple[BatchPart, ...]
    jobs: float
    stages: float
    tasks: float
    waited_for: tuple[str, ...] = ()


# What a reader sees first of a query


LossKind = Literal[Grave, PhaseKind, "batches", "waiting"]
"""What is lost: what milliseconds do not count, or time, by the phase that it lies in.

`batches`: some batches take longer than the others. `waiting`: records wait outside of their batch.
"""


class Loss(Entry, frozen=True):
    """What is lost first, in one sentence. `ms`: per batch or record; `share`: of the time from batch to batch.

    `rule`: the rule that found it; None where no rule speaks for a phase. `name`: what it is called where it is a part
    of addBatch.
    """

    kind: LossKind
    says: str
    ms: float | None = None
    share: float | None = None
    name: str | None = None
    rule: str | None = None


class Part(Entry, frozen=True):
    """Milliseconds that one batch spends there on average, and their share of the whole.

    `name`: what it is called, and `rule`: the rule that found it, where it is a part of addBatch.
    `share_at_most`: where only an interval is known; `ms` and `share` are then its low end.
    """

    kind: LossKind
    ms: float
    share: float
    share_at_most: float | None = None
    name: str | None = None
    rule: str | None = None


class After(Entry, frozen=True):
    """Record latency (ms) that is expected after the best step, or at best where nothing is expected yet (`at_best`).

    `without_spikes`: it is that with as few batches slow in a rhythm as the step leaves at best; p99 then lies between
    `p99` and `p99_high`.
    """

    p50: float
    p99: float | None = None
    p99_high: float | None = None
    at_best: bool = False
    without_spikes: bool = False


class Refused(StepName, frozen=True):
    """A step that is not for this query, and why not, in few words."""

    do: str
    because: str


class Question(Entry, frozen=True):
    """The fact that would settle most: how to ask for it, how to give it, which rules and steps then are judged."""

    fact: str
    asks: str
    give: str
    rules: tuple[str, ...]
    steps: tuple[str, ...]


class Brief(Entry, frozen=True):
    """The best step's risk, way back and proof, each in one sentence."""

    risk: str
    undo: str
    check: str


class Calm(Entry, frozen=True):
    """That the query keeps up and no rule found a fault: the numbers, and the rules that came closest to firing.

    `partial`: records of its log were torn or could not be read, so that what they show is not known.
    """

    says: str
    closest: tuple[Passed, ...]
    partial: bool = False


class Interval(Entry, frozen=True):
    """A value with its 95 % interval."""

    low: float
    value: float | None
    high: float


class Capacity(Entry, frozen=True):
    """Rows a second that the query holds at its trigger: `value`, from `low` to `high`; of a wide interval `low` alone.

    `outlasts`: batches then outlast the trigger's interval, but no rows pile up. `coming`: rows a second that come.
    `drain_ms`: how long until what waits after `outage_minutes` is worked off; None if it never is. `asked`: rows a
    second that `load_factor` times today's load are, and `asked_batch_ms` a batch then. `missing`: why nothing is
    known, where it was asked for.
    """

    low: float | None = None
    value: float | None = None
    high: float | None = None
    outlasts: bool = False
    coming: float | None = None
    outage_minutes: float | None = None
    drain_ms: Interval | None = None
    load_factor: float = 1.0
    asked: float | None = None
    asked_batch_ms: float | None = None
    missing: str | None = None


class Latencies(Entry, frozen=True):
    """Record latency in ms, p50 and p99, with the interval of the trigger where it has one."""

    p50: float
    p99: float
    interval_ms: float | None = None

    def at(self, stat: str) -> float:
        """Return one of both."""
        return self.p99 if stat == "p99" else self.p50

    def rounded(self) -> Latencies:
        """To a microsecond."""
        interval = None if self.interval_ms is None else round(self.interval_ms, 1)
        return Latencies(p50=round(self.p50, 3), p99=round(self.p99, 3), interval_ms=interval)


class PlannedStep(StepName, frozen=True):
    """A step on the way to a target. `after`: what is expected after this step and those before it; `low` and `high`:
    between which the latency that the target is for then lies. `unknown`: the facts that would settle an `if`;
    `measured`: whether such a step has been measured, without which its saving is an upper bound.
    """

    do: str
    legal: Legal
    takes: Takes
    semantics: Semantics
    after: Latencies
    low: float
    high: float
    unknown: tuple[str, ...] = ()
    measured: bool = True


TargetVerdict = Literal["reached", "reached with steps", "may be reached", "not reached", "unknown"]


class Target(Entry, frozen=True):
    """Whether the latency target is reached, and how.

    `stat`: p50 or p99. `steps`: in the order in which to take them; of `not reached` those that come nearest, and of
    `may be reached` some whose savings reach it at best, or were never measured. `left_ms`: what is likely still
    above the target then, and `in_the_way`: the parts of a record's wait that are left, in ms, the longest first.
    `longest_interval_ms`: the longest interval that keeps a reached target, and `idle_slots` the share of task slots
    that no batch uses. `holds_at_rows`: rows a second at which the target would be reached; `waves`: how many rounds of
    tasks the largest stage needs.
    `missing`: why nothing is known.
    """

    stat: str
    ms: float
    verdict: TargetVerdict
    now: Latencies | None = None
    steps: tuple[PlannedStep, ...] = ()
    left_ms: float | None = None
    in_the_way: dict[str, float] = msgspec.field(default_factory=dict)
    longest_interval_ms: float | None = None
    idle_slots: float | None = None
    holds_at_rows: float | None = None
    waves: float | None = None
    missing: str | None = None


class Screen(Entry, frozen=True):
    """What is shown first. The step to take is the query's `best_step`.

    `goes_to`: all batch time, the largest part first; `within_add_batch`: what of a typical addBatch is a loss, which
    may overlap. `headroom`: what a typical batch leaves of the trigger interval. `span_ms`: from the first judged batch
    to the last. `troubles`: what is not well besides the loss. `also`: other steps that help.
    `calm`: only where the query keeps up and nothing is wrong. `backlog_untold`: rows wait for an unknown time:
    the record latency is longer than shown. `unopened`: most of a long batch is addBatch, and nothing that was read
    shows what it does. `may_be_late`: batches follow each other without a pause, as if they overran an interval.
    `closest`: beside a loss for which no rule fired, the rules that came closest to firing. `not_judged_yet`: how many
    batches the rules need that might find its cause. `loss_stays`: the best step shortens nothing of the loss, or
    leaves batches longer than their interval. `wish`: of a person, without which the best step is not needed.
    `capacity`: where it is known or was asked for.
    `target`: where one is given.
    """

    loss: Loss | None = None
    calm: Calm | None = None
    goes_to: tuple[Part, ...] = ()
    within_add_batch: tuple[Part, ...] = ()
    after: After | None = None
    headroom: float | None = None
    span_ms: int | None = None
    backlog_untold: bool = False
    unopened: bool = False
    may_be_late: bool = False
    troubles: tuple[str, ...] = ()
    loss_stays: bool = False
    closest: tuple[Passed, ...] = ()
    not_judged_yet: str | None = None
    do: Brief | None = None
    wish: str | None = None
    also: tuple[AlsoStep, ...] = ()
    refused: tuple[Refused, ...] = ()
    unsure: Question | None = None
    capacity: Capacity | None = None
    target: Target | None = None


# Single batches, for charts


class Series(Entry, frozen=True):
    """One value per batch, in order of time; None if the batch does not have it.

    `batches`: how many there are, of which the columns hold as many as a chart can show: where they are thinned out,
    of every stretch its first batch and its longest one. `phases_ms`: by Spark's names of the phases, those that took
    any time; `parts_ms`: parts of addBatch, where jobs were seen. `cold`: still in the warm-up; `judged`: in the
    window; `spike`: far above the typical batch. `changed_at`: when the run changed within itself.
    """

    batches: int
    timestamp: tuple[str | None, ...]
    batch_id: tuple[int | None, ...]
    trigger_execution_ms: tuple[float | None, ...]
    phases_ms: dict[str, tuple[float | None, ...]]
    input_rows: tuple[float | None, ...]
    input_rows_per_second: tuple[float | None, ...]
    processed_rows_per_second: tuple[float | None, ...]
    record_latency_ms: tuple[float | None, ...]
    backlog_rows: tuple[float | None, ...]
    state_rows: tuple[float | None, ...]
    state_memory_bytes: tuple[float | None, ...]
    state_commit_ms: tuple[float | None, ...]
    cold: tuple[bool, ...]
    judged: tuple[bool, ...]
    spike: tuple[bool, ...]
    changed_at: str | None = None
    parts_ms: dict[str, tuple[float | None, ...]] = msgspec.field(default_factory=dict)


# Two windows compared


class Regime(Entry, frozen=True):
    """One side of a change: its batches."""

    first: str | None
    last: str | None
    batches: int


class WindowEntry(Regime, frozen=True):
    """Which batches were judged, and why these."""

    because: str


Verdict = Literal["slower", "faster", "no difference", "cannot say", "not comparable", "too few batches"]
LoadKind = Literal["same", "adjusted", "differs", "unknown"]
Outcome = Literal["kept", "broken", "cannot say yet"]
Of = Literal["batch", "record"]


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


class LoadEntry(Entry, frozen=True):
    """How the loads compare: whether they are the same, or AFTER was corrected for its other load."""

    kind: LoadKind
    says: str


class ComparedRun(WindowEntry, frozen=True):
    """Which batches of which run stand on one side. `spark_between` is `3.4 to 3.5` where only bounds are known."""

    id: str | None
    run_id: str
    spark_version: str | None
    spark_between: str | None = None


class Differences(Entry, frozen=True):
    """AFTER against BEFORE. `effects` is empty if they are unknown; its first is the typical batch."""

    verdict: Verdict
    says: str
    load: LoadEntry | None
    effects: tuple[Effect, ...]
    changed: tuple[FactChange, ...]
    promises: tuple[KeptPromise, ...]
    limits: tuple[str, ...]

    def slower_by_more_than(self, percent: float) -> bool:
        """Whether a typical batch is slower by more than so many percent, the interval's low end included."""
        share = self.effects[0].difference_share if self.effects else None
        return self.verdict == "slower" and share is not None and share.low * 100 > percent


class Comparison(Differences, frozen=True):
    """How two runs of one query differ."""

    query: str | None
    before: ComparedRun
    after: ComparedRun


class Comparisons(Entry, frozen=True):
    """All comparisons. `only_before`, `only_after`: the queries of which the other side has no batches to judge.

    `unread_before`, `unread_after`: how many records of a side could not be read, or not whole.
    """

    schema_version: int
    advisor_version: str
    comparisons: tuple[Comparison, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    unread_before: int = 0
    unread_after: int = 0


# The report: the counts of the input, and one entry per run of a query


class BrokenRecord(Entry, frozen=True):
    """A record that could not be read: where it begins (byte of the decompressed file, line from 1), and why.

    `times`: how many records it stands for: itself, and further ones of its file, which are not listed.
    """

    file: str
    offset: int
    line: int | None
    reason: str
    times: int = 1


class PartialRecord(BrokenRecord, frozen=True, kw_only=True):
    """A record that was read in part: `reason` is what it holds, in words, and `lacks` what it lacks by Spark's names.

    It is judged where its durations are whole, that is where `lacks` has no durationMs, and as far as it goes where
    they tell the length of the batch.
    """

    lacks: tuple[str, ...]


class FallingBehind(Entry, frozen=True):
    """The lines of a log without progress about batches that took longer than one trigger interval.

    `lines`: how many there are; `first`, `last`: by the log's own clock.
    """

    file: str
    lines: int
    interval_ms: int
    first: str | None
    last: str | None
    says: str


class Input(Entry, frozen=True):
    """What was read. `events` counts progress events without duplicates, `idle` those of them that ran no batch.

    `partial` records are not among them. `progress_needs`: how to get progress, where none is there that can be judged.
    `read_by_jvm`: files that only a cluster's JVM could reach. `from_ui`: batches that were read from a driver's pages,
    which are no progress events; `gone_since`: since when its driver, which is watched, does not answer.
    `unmatched`: names and patterns of advisor.yaml that fit no query of the input.
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
    from_ui: int = 0
    gone_since: str | None = None
    unmatched: tuple[str, ...] = ()


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


_NO_METRIC = Metric()


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


StallWord = Literal["silent", "long", "idle", "unheard", "gone"]


class Stall(Entry, frozen=True):
    """Of a run that lives and of which no batch ends: a word, since when, and what it does.

    `silent`: no batch for several times the usual; `long`: a batch runs longer than usual; `idle`: nothing to read;
    `unheard`: batches go on, their progress does not arrive; `gone`: its driver does not answer. `ms`: how long it had
    lasted, where the source was looked at once.
    """

    word: StallWord
    since: str
    says: str
    ms: float | None = None


class RunEntry(Entry, frozen=True):
    """One run of a query: `verdict` is the whole in one sentence, and `file` where the run was read last."""

    id: str | None
    run_id: str
    name: str | None
    spark_version: str | None
    state: State
    runs: int
    batches: int
    first: str | None
    last: str | None
    verdict: str
    file: str | None = None


class QueryEntry(RunEntry, frozen=True, kw_only=True):
    """One run of a query.

    `budget`: milliseconds of a typical batch by phase, in the order of a batch's life; `untold` is what phases take
    that records leave out. `findings`: the most important first, those that another one explains last. Only an
    attached advisor gives `idle_since`; `series` is there if it is asked for. `saved`: of `budget` what the best step
    is expected to take away, or is sure to where nothing is expected yet; empty where it is not known of which phases.
    `together`: steps that help beside each other, with one promise for all; None where fewer than two do. `screen`:
    what is shown first. `inside`: what addBatch consists of, where jobs were seen. `stall`: only where a live source
    shows that no batch ends.

    Every rule stands once in `findings`, `suppressed`, `skipped`, `passed` or `not_applicable`.
    """

    terminated: Terminated | None
    window: WindowEntry
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
    stall: Stall | None = None

    @property
    def level(self) -> Level | None:
        """The highest level of a finding that no other one explains."""
        return worst(finding.level for finding in self.findings if finding.explained_by is None)

    def metric(self, name: str) -> Metric:
        """A metric of the judged batches, an empty one where the entry does not hold it."""
        return self.metrics.get(name, _NO_METRIC)

    def value(self, fact: str) -> Any:
        """The value of a fact, None where it is not known."""
        known = self.facts.get(fact)
        return None if known is None else known.value


class Problem(Entry, frozen=True):
    """What went wrong while listening, and how often."""

    problem: str
    times: int


class Session(Entry, frozen=True):
    """What an attached advisor heard, what it costs and what got lost.

    `unheard`: batches that have ended, by the queries themselves, and whose progress Spark has not delivered yet.
    """

    way: str
    because: str | None
    attached: bool
    events: dict[str, int]
    kept_per_query: int
    memory_bytes: int
    dropped: int
    broken: int
    waiting: int
    unheard: int
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


# A fleet: queries and changes, ranked by what they save over all runs


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


class FleetFinding(Found, frozen=True):
    """A finding of one query."""

    steps: tuple[FleetStep, ...]


class FleetQuery(RunEntry, frozen=True, kw_only=True):
    """One run in short. `trigger_execution_ms` is its median batch, `judged` whether there was anything to judge.

    `backlog_rows`: how far it lags. `behind`: it does not keep up; one late batch is not enough. `stall`: only where a
    driver was asked.
    """

    platform: str | None
    batches_per_hour: float | None
    trigger_execution_ms: float | None
    best_step: StepName | None
    recoverable: Wins | None
    findings: tuple[FleetFinding, ...]
    judged: bool
    skipped: tuple[Skipped, ...]
    application: str | None = None
    backlog_rows: float | None = None
    behind: bool = False
    stall: StallWord | None = None

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


class NotJudged(Entry, frozen=True):
    """Why queries could not be judged, how many, and some of them."""

    reason: str
    queries: int
    examples: tuple[str, ...]


class Fleet(Entry, frozen=True):
    """The fleet's report: the latest run of each query, those behind first; changes, the most first."""

    schema_version: int
    advisor_version: str
    input: Input
    runs: int
    recoverable: Wins
    queries: tuple[FleetQuery, ...]
    changes: tuple[FleetChange, ...]
    not_judged: tuple[NotJudged, ...]


# A trial of a step: its settings, the runs of both sides, the effects and the promises


TrialVerdict = Literal["faster", "slower", "no difference", "refused", "cannot say"]


class OnTrial(Settings, frozen=True):
    """The settings of the candidate. `code`: ids of steps that the building function itself makes."""

    code: tuple[str, ...] = ()


class TrialRun(WindowEntry, frozen=True):
    """One run of a side. `refused`: Spark's message if it refused the settings."""

    side: Literal["baseline", "candidate"]
    run_id: str | None
    typical_ms: float | None
    state_rows: float
    latency_ms: dict[str, float]
    refused: str | None


class Trial(Entry, frozen=True):
    """Candidate against baseline. `drift_ms`: how far both moved from the first run to the last."""

    schema_version: int
    advisor_version: str
    verdict: TrialVerdict
    says: str
    steps: tuple[str, ...]
    change: OnTrial
    spark_version: str | None
    task_slots: int | None
    effects: tuple[Effect, ...]
    drift_ms: float | None
    promises: tuple[KeptPromise, ...]
    runs: tuple[TrialRun, ...]
    limits: tuple[str, ...]
