"""A trial: baseline and candidate in turns, and what can be said afterwards."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

import advisor
from advisor import contract
from advisor.comparison import Trial, interleaved, levels, order
from advisor.comparison.effect import SAME_SHARE, rounded, same
from advisor.comparison.interleaved import FEWEST_RUNS, Arm
from advisor.comparison.levels import FEWEST, INSIDE, TOTAL, Levels, is_opened
from advisor.comparison.load import rows_per_batch, rows_per_second
from advisor.comparison.promises import OF, judged
from advisor.contract import Advice, Effect, KeptPromise, OnTrial, Promise, TrialRun, TrialVerdict, moment
from advisor.errors import UsageError
from advisor.metrics import Missing
from advisor.metrics.flow import SAME_LOAD
from advisor.metrics.phases import budget
from advisor.metrics.units import milliseconds
from advisor.savings import made_at_once
from advisor.sources.listener.session import is_connect
from advisor.trials import guard
from advisor.trials import steps as on_trial
from advisor.trials.length import Length, said
from advisor.trials.run import SMALLER_STATE, Bounds, Run, Runner
from advisor.trials.steps import Candidate
from advisor.trials.throwaway import throw_away
from advisor.views.shown import Tried
from advisor.window import Window

WARM_UP: Final = "warm-up"
ESTIMATED, MEASURED = "record latency", "measured record latency"
MORE_RUNS: Final = "more runs could tell"
MOST_RUNS: Final = 3
"""By default a trial makes at most so many times the runs asked for; if it needs more, it ends and reports that."""
HARDLY: Final = 100
"""Runs that nobody makes: where more would be needed, another way is named."""


class Bench:
    """Carries a trial out."""

    def __init__(self, runner: Runner, place: str | None, say: Callable[[str], None], length: Length) -> None:
        self.runner, self.place, self.say, self.length = runner, place, say, length

    def tried(self, given: Sequence[on_trial.Given]) -> Tried:
        """The whole trial; nothing is left behind."""
        on_trial.known(given, self.runner.catalogue)
        with throw_away(self.runner.spark, self.place) as place:
            return self._tried(given, place)

    def _tried(self, given: Sequence[on_trial.Given], place: str) -> Tried:
        first = self._run(WARM_UP, OnTrial(), place)
        if first.refused:
            raise UsageError(
                "trial", f"the query fails without the change, too: {first.refused}", "give a query that runs"
            )
        bounds = self.runner.bounds = self.length.of_runs(first, self.runner.bounds)
        candidate = on_trial.candidate(given, self.runner.catalogue, first.window)
        guard.check_asked({*candidate.variant.code} - first.asked)
        for words in said(first, bounds):
            self.say(words)
        runs = list(self._runs(candidate, place, 0, bounds.runs))
        more = _Result(candidate, runs, bounds).more_runs()
        if more:
            self.say(f"{len(runs)} runs cannot tell: {more} more")
            runs += self._runs(candidate, place, len(runs), len(runs) + more)
        return _Result(candidate, runs, bounds).tried()

    def _runs(self, candidate: Candidate, place: str, done: int, total: int) -> Iterator[Run]:
        """The runs in turns that are not done yet; a refusal ends them, and a run of which too little can be said."""
        arms = order(total)
        for number, arm in enumerate(arms[done:], done + 1):
            words = f"{number} of {total}, {'baseline' if arm == 'A' else 'candidate'}"
            yield (run := self._run(words, candidate.variant if arm == "B" else OnTrial(), place))
            if run.refused or len(run.window) < FEWEST:
                return

    def _run(self, words: str, variant: OnTrial, place: str) -> Run:
        name = f"trial-{uuid.uuid4().hex[:12]}"
        self.say(f"run {words}")
        return self.runner.run(variant, name, f"{place}/{name}", warms_up=words == WARM_UP)


class Counted(NamedTuple):
    """One run that counts: its side, its levels, its measured record latency by quantile."""

    arm: Arm
    window: Window
    levels: Levels
    latency: dict[str, float]


class _Result:
    def __init__(self, candidate: Candidate, runs: Sequence[Run], bounds: Bounds) -> None:
        self.candidate, self.runs, self.bounds = candidate, runs, bounds
        most = max(len(runs), bounds.runs)
        self.arms = order(most + -most % FEWEST_RUNS)[: len(runs)]
        self.trials: list[Trial] = []

    def tried(self) -> Tried:
        refused = next((run.refused for run in self.runs if run.refused), None)
        if refused or self._too_few():
            verdict, says = self._nothing_measured(refused)
        else:
            self.counted = self._counted()
            self.trials = effects(self.counted)
            verdict, says = self._verdict()
        return Tried(self._trial(verdict, says))

    def more_runs(self) -> int:
        """Return how many runs are expected to decide; 0 if these decide, if none could, or if it takes too long.

        Asked once: to look again and again would find a difference sooner or later where there is none.
        """
        if any(run.refused for run in self.runs) or self._too_few() or self._unlike_the_users():
            return 0
        total = effects(self._counted())[0]
        enough = max(total.runs_needed, len(self.runs) + FEWEST_RUNS)
        return 0 if total.decided or enough > self.bounds.most_runs else enough - len(self.runs)

    def _unlike_the_users(self) -> bool:
        return self._stateful() and not self.bounds.state_rows

    def _too_few(self) -> bool:
        return any(len(run.window) < FEWEST for run in self.runs)

    def _nothing_measured(self, refused: str | None) -> tuple[TrialVerdict, str]:
        if refused and self.runs[-1].variant is not self.candidate.variant:
            return "cannot say", f"The baseline itself failed: {refused}"
        if refused:
            needed = self.candidate.packages(self.runs[0].window)
            more = f"; it takes a session started with --packages {','.join(needed)}" if needed else ""
            return "refused", f"Spark refuses it: {refused}{more}"
        fewest = min(len(run.window) for run in self.runs)
        longer = f"give --seconds {math.ceil(self.bounds.seconds * 1.2 * FEWEST / max(1, fewest) / 10) * 10}"
        if self.bounds.state_rows:
            found = f"Cannot say for your state's size: {fewest} steady batches had reached it in time"
            return "cannot say", f"{found}; {longer}, or fewer --state-rows."
        found = f"Cannot say: a run had {fewest} steady batches in {self.bounds.seconds:.0f} s; {FEWEST} are needed"
        return "cannot say", f"{found}: {longer}."

    def _counted(self) -> list[Counted]:
        pairs = zip(self.arms, self.runs, strict=True)
        return [Counted(arm, run.window, levels(run.window), dict(run.latency)) for arm, run in pairs]

    def _verdict(self) -> tuple[TrialVerdict, str]:
        total = self.trials[0].effect
        words = _measured(total)
        if self._unlike_the_users():
            size = max(run.state_rows for run in self.runs)
            return "cannot say", f"Cannot say for your state's size; with {size:,.0f} rows of state: {words}"
        if not total.told and same(total):
            return "no difference", f"No difference of {SAME_SHARE:.0%} or more: {words}"
        if not total.told:
            whole = self.trials[0]
            return "cannot say", f"Cannot say after {whole.runs} runs{would_tell(whole.runs_needed)}: {words}"
        return ("slower" if total.difference_ms.low > 0 else "faster"), words[0].upper() + words[1:]

    def _stateful(self) -> bool:
        return any(run.facts.value("stateful") is True for run in self.runs)

    def _trial(self, verdict: TrialVerdict, says: str) -> contract.Trial:
        slots = self.runs[0].facts.value("task_slots")
        return contract.Trial(
            schema_version=contract.SCHEMA_VERSION,
            advisor_version=advisor.__version__,
            verdict=verdict,
            says=says,
            steps=tuple(step.id for step in self.candidate.steps),
            change=self.candidate.variant,
            spark_version=self.runs[0].facts.value("spark_version"),
            task_slots=slots,
            effects=tuple(rounded(one.effect) for one in self.trials),
            drift_ms=round(self.trials[0].drift_ms, 2) if self.trials else None,
            promises=tuple(self._promises()),
            runs=tuple(self._run_entry(number) for number in range(len(self.runs))),
            limits=tuple(self._limits(verdict)),
        )

    def _run_entry(self, number: int) -> TrialRun:
        run = self.runs[number]
        first, last = run.window.span
        return TrialRun(
            side="baseline" if self.arms[number] == "A" else "candidate",
            run_id=run.run_id,
            batches=len(run.window),
            because=run.window.because,
            first=moment(first),
            last=moment(last),
            typical_ms=round(self.counted[number].levels.typical[TOTAL].value, 2) if self.trials else None,
            state_rows=run.state_rows,
            latency_ms={name: round(value, 2) for name, value in run.latency.items()},
            refused=run.refused,
        )

    def _promises(self) -> Iterator[KeptPromise]:
        """What the catalogue promised from the baseline's own batches, beside what was measured."""
        if not self.trials:
            return
        steps = self._advised()
        doubt = "several steps were made together" if len(steps) > 1 else None
        batches = min(len(run.window) for run in self.runs)
        latency = found(self.trials, MEASURED, "p50") or found(self.trials, ESTIMATED, "p50")
        for step in steps:
            for of, effect in zip(OF, (found(self.trials, TOTAL, "typical"), latency), strict=True):
                if (kept := judged(step, of, effect, batches, doubt)) is not None:
                    more = {"because": MORE_RUNS, "more_batches": None} if kept.more_batches else {}
                    yield msgspec.structs.replace(kept, **more)

    def _advised(self) -> list[Advice]:
        """Return the steps with the mean promise of the baseline runs; several as one, if that is known."""
        baselines = [run.window for run, arm in zip(self.runs, self.arms, strict=True) if arm == "A"]
        of_runs = [made_at_once(self.candidate.advised(window), budget(window)) for window in baselines]
        if len({tuple(step.id for step in of_one) for of_one in of_runs}) > 1:  # one run promises what another does not
            of_runs = [self.candidate.advised(window) for window in baselines]
        return [_mean(list(same)) for same in zip(*of_runs, strict=True)]

    def _limits(self, verdict: TrialVerdict) -> Iterator[str]:
        if self._stateful() and self.bounds.state_rows is None and self.trials:
            yield "The query keeps state, and a throw-away checkpoint begins without any: give state_rows."
        elif self.bounds.state_rows and self.trials:
            yield f"Batches count from {SMALLER_STATE:.0%} of {self.bounds.state_rows:,} rows of state on."
        if self.trials:
            yield from self._loads()
        if verdict != "refused":
            yield "The interval holds how one start of the query varies from the next, on this cluster, at this load."

    def _loads(self) -> Iterator[str]:
        sides = [[run.window for run in self.counted if run.arm == arm] for arm in ("A", "B")]
        ratios = []
        for rows_of in (rows_per_batch, rows_per_second):
            means = [sum(rows_of(window) or 0.0 for window in side) / len(side) for side in sides]
            ratios.append(max(means) / max(min(means), 1e-9))
        if min(ratios) > SAME_LOAD:
            yield "The two sides had different loads, per batch and per second: the effect holds that difference, too."


def effects(runs: Sequence[Counted]) -> list[Trial]:
    """The typical batch, the mean batch, each phase, each part of addBatch where all runs were opened, record latency.

    The record latency is estimated from progress, and measured where that was asked for.
    """
    return [interleaved(list(zip((run.arm for run in runs), found, strict=True)), name, stat)
            for name, stat, found in _levels(runs)]  # fmt: skip


def _levels(runs: Sequence[Counted]) -> Iterator[tuple[str, str, list[float]]]:
    yield TOTAL, "typical", [run.levels.typical[TOTAL].value for run in runs]
    yield TOTAL, "mean", [run.levels.mean.value for run in runs]
    unseen = set() if all(is_opened(run.window) for run in runs) else set(INSIDE)
    for name in dict.fromkeys(name for run in runs for name in run.levels.typical):
        if name != TOTAL and name not in unseen:
            of_runs = [run.levels.typical.get(name) for run in runs]
            yield name, "typical", [level.value if level else 0.0 for level in of_runs]
    latencies = [run.levels.latency for run in runs]
    known = [latency for latency in latencies if not isinstance(latency, Missing)]
    if len(known) == len(latencies):
        for stat in known[0]:
            yield ESTIMATED, stat, [latency[stat].value for latency in known]
    for stat in runs[0].latency:
        if all(stat in run.latency for run in runs):
            yield MEASURED, stat, [run.latency[stat] for run in runs]


def found(trials: Sequence[Trial], name: str, stat: str) -> Effect | None:
    """The effect of that name, or None."""
    return next((one.effect for one in trials if (one.effect.name, one.effect.stat) == (name, stat)), None)


def would_tell(runs: int) -> str:
    """`; about 24 runs would tell`, or that no number within reach would; empty where none is known."""
    if runs > HARDLY:
        return f" (more than {HARDLY} would be needed; longer runs or a quieter machine tell more)"
    return f"; about {runs} runs would tell" if runs else ""


def _mean(same: Sequence[Advice]) -> Advice:
    batch, record = _mean_promise([one.saves_ms for one in same]), _mean_promise([one.saves_latency_ms for one in same])
    return msgspec.structs.replace(same[0], saves_ms=batch, saves_latency_ms=record)


def _mean_promise(promises: Sequence[Promise | None]) -> Promise | None:
    given = [promise for promise in promises if promise is not None]
    if not given or len(given) < len(promises):
        return None
    expected = [promise.expected for promise in given if promise.expected is not None]
    low, high, safe = (sum(getattr(one, end) for one in given) / len(given) for end in ("low", "high", "safe"))
    return Promise(low, sum(expected) / len(expected) if len(expected) == len(given) else None, high, safe)


def _measured(total: Effect) -> str:
    went = f"a typical batch went {milliseconds(total.before_ms)} → {milliseconds(total.after_ms)}"
    ends = f"{total.difference_ms.low:+,.0f} to {total.difference_ms.high:+,.0f} ms"
    share = total.difference_share
    percent = "" if share is None else f", {share.low * 100:+.0f} to {share.high * 100:+.0f} %"
    return f"{went} ({ends}{percent})."


def session_of(spark: Any) -> Any:
    """Return this session, or the active one; UsageError where there is none, or one that cannot look into a query."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise UsageError("trial", "there is not a Spark session", "start one, or pass it as spark=")
    if is_connect(session):
        raise UsageError(
            "trial", "a Spark Connect client cannot inspect a query before it starts", "use a classic session"
        )
    return session
