"""Read facts from Spark's own object of a running query through Py4J: private names, each of which may be missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from advisor.facts import from_conf, from_writer_options
from advisor.facts.inspection import sink_kind
from advisor.sources.sightings.line import Line
from advisor.sources.sightings.plan import MARK, read_plan, runs_python
from advisor.sources.sightings.query import checkpoint, limits

Told = tuple[str, Any, str]
"""(fact, value, origin)."""
_T = TypeVar("_T")

_BETWEEN: Final = "\x01"
_TRIGGER: Final = re.compile(r"(?<!\w)(\w{1,60}?)Trigger\w*(?:\((\d+))?")
_TRIGGERS: Final = {
    "OneTime": "once",
    "AvailableNow": "available_now",
    "Continuous": "continuous",
    "RealTime": "real_time",
}
_HOLD_OPTIONS: Final = ("MicroBatchExecution", "ContinuousExecution")
_OWN: Final = {
    "spark.sql.streaming.stateStore.providerClass": "checkpoint",
    "spark.sql.shuffle.partitions": "checkpoint",
    "spark.sql.streaming.internal.stateStore.partitions": "checkpoint",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "session",  # real-time mode sets it
}
"""Settings that a query may have other than its session, and where it has them from."""
_SNAPSHOT: Final = ": Compute snapshot for version"
_JOBS: Final = 12
"""The newest jobs of a run that are looked at: those of some batches."""


def of_start(execution: Any) -> list[Told]:
    """Trigger, way of execution, output mode, sink, options, checkpoint and plan of a run that has started."""
    return [(fact, value, "session") for ask in _ASKED for fact, value in attempt(ask, execution)]


def of_batch(execution: Any, session: dict[str, str]) -> list[Told]:
    """Settings that the query has other than its session, most because its checkpoint pins them; the batch's plan."""
    own = separated(execution.sparkSessionForStream().conf().getAll())
    other = {key: own[key] for key in _OWN if own.get(key) not in (None, session.get(key))}
    found = [(fact, value, _OWN[key]) for key, text in other.items() for fact, value in from_conf(key, text)]
    shown = (one for ask in (_delta_snapshot, _python) for one in attempt(ask, execution))
    return [*found, *((fact, value, "session") for fact, value in shown)]


def slots(context: Any) -> list[Told]:
    """Tasks that can run at once on the executors that are there now."""
    profile = context.resourceProfileManager().defaultResourceProfile()
    return [("task_slots", int(context.maxNumConcurrentTasks(profile)), "session")]


def separated(scala_map: Any) -> dict[str, str]:
    """A map of Scala in one round trip."""
    pairs = str(scala_map.mkString(_BETWEEN)).split(_BETWEEN)
    return {key: value for key, arrow, value in (pair.partition(" -> ") for pair in pairs) if arrow}


def attempt(ask: Callable[..., list[_T]], *given: Any) -> list[_T]:
    """Return the answer, nothing if this Spark cannot give it: the fact stays unknown."""
    try:
        return ask(*given)
    except Exception:  # Py4J and gRPC raise what they like
        return []


def _kind(execution: Any) -> list[tuple[str, Any]]:
    name = execution.getClass().getSimpleName()
    if name == "ContinuousExecution":
        return [("trigger", "continuous"), ("async_progress", False)]
    return [("async_progress", name == "AsyncProgressTrackingMicroBatchExecution")]


def trigger(text: str) -> list[tuple[str, Any]]:
    """The trigger as Spark prints it: `ProcessingTimeTrigger(700)`; an interval of 0 is the default trigger."""
    match = _TRIGGER.search(text)
    if match is None:
        return []
    interval = int(match[2] or 0)
    if match[1] == "ProcessingTime":
        if not interval:
            return [("trigger", "unspecified")]
        return [("trigger", "processing_time"), ("trigger_interval_ms", interval)]
    kind = _TRIGGERS.get(match[1])
    return [("trigger", kind)] if kind else []


def _options(execution: Any) -> list[tuple[str, Any]]:
    kind = execution.getClass()
    while kind.getSimpleName() not in _HOLD_OPTIONS:
        kind = kind.getSuperclass()
    field = kind.getDeclaredField("extraOptions")
    field.setAccessible(True)
    real_time = "RealTime" in execution.trigger().toString()
    found = from_writer_options(separated(field.get(execution)), interval_default=not real_time)
    # Real-time mode tracks asynchronously without the option: the execution class decides.
    return [(fact, value) for fact, value in found if fact != "async_progress"]


def _manager(execution: Any) -> list[tuple[str, Any]]:
    name = execution.offsetLog().fileManager().getClass().getSimpleName()
    return from_conf("spark.sql.streaming.checkpointFileManagerClass", name)[1:]


def _plan(execution: Any) -> list[tuple[str, Any]]:
    """State operators and a watermark, before any batch has run."""
    text = execution.analyzedPlan().treeString()
    if "~" not in text:  # before 4.0 nothing marks what streams, so it is unknown what keeps state
        return []
    line = Line(f"{MARK}\n{text}", "\n", 0, logger="MicroBatchExecution")
    return [(one.fact, one.value) for one in read_plan(line) if one.fact in ("stateful", "watermarked")]


def _limits(execution: Any) -> list[tuple[str, Any]]:
    """`maxOffsetsPerTrigger`, in the options that the plan prints with a source of Kafka; None where it has none."""
    text = "\n".join(row for row in execution.analyzedPlan().treeString().splitlines() if ", kafka, " in row)
    found = [(one.fact, one.value) for one in limits(text)]
    whole = text and "more fields" not in text and "maxoffsetspertrigger" not in text.lower()
    return [("max_offsets_per_trigger", None), *found] if whole else found


def _python(execution: Any) -> list[tuple[str, Any]]:
    """Whether the plan of the newest batch, which exists already, hands rows to Python."""
    plan = execution.lastExecution().executedPlan().treeString()
    return [(one.fact, one.value) for one in runs_python(plan)]


def _delta_snapshot(execution: Any) -> list[tuple[str, Any]]:
    """Tasks in which Delta rebuilds its table's snapshot, where at least a third of the run's newest jobs does so.

    Each batch has one such job beside that of its rows. Fewer are those of Delta's own checkpoint, after some batches.
    """
    if sink_kind(execution.sink().toString()) != "delta":
        return []
    context = execution.sparkSession().sparkContext()
    tracker, store = context.statusTracker(), context.statusStore()
    jobs = sorted(tracker.getJobIdsForGroup(execution.runId().toString()))[-_JOBS:]
    texts = {job: store.job(job).description().toString() for job in jobs}
    rebuilt = [job for job, text in texts.items() if text.startswith("Some(Delta: ") and _SNAPSHOT in text]
    if len(rebuilt) < max(2, len(jobs) // 3):
        return []
    stages = [tracker.getStageInfo(stage) for stage in tracker.getJobInfo(rebuilt[-1]).get().stageIds()]
    return [("delta_snapshot_tasks", max(stage.get().numTasks() for stage in stages if stage.isDefined()))]


_ASKED: Final[tuple[Callable[[Any], list[tuple[str, Any]]], ...]] = (
    _kind,
    lambda execution: trigger(execution.trigger().toString()),
    lambda execution: [("output_mode", execution.outputMode().toString().lower())],
    lambda execution: [("sink", sink_kind(execution.sink().toString()))],
    _options,
    lambda execution: [(one.fact, one.value) for one in checkpoint(execution.resolvedCheckpointRoot())],
    _manager,
    _plan,
    _limits,
)
