"""Task slots, what the tasks of a batch wait for and do again, as wall time, and slots that they do not use."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from advisor.facts.inspection import holds_only
from advisor.metrics.addbatch import BY_SECONDS, driver_gaps_ms, of_jobs
from advisor.metrics.flow import batch_traces
from advisor.metrics.metric import (
    Batchwise,
    Bounds,
    batch_metric,
    bounded_metric,
    remembered,
    stage_metric,
    window_metric,
)
from advisor.metrics.missing import NO_SLOTS, NOT_SEEN, NOT_TOLD, Missing, MissingError, needed
from advisor.metrics.operators import largest, partitions, task_ms
from advisor.metrics.slow_batches import rhythm
from advisor.stages import DELTA_COMMAND, DRIVER_WITHIN, LISTING, MERGE, OPTIMIZES, PYTHON_RDD, VACUUM
from advisor.statistics import above_zero, known, mean, median, middle, zero_filled
from advisor.window import Window

_TEXT = ("Scan csv", "Scan json", "Scan text")
_TEXT_FILE = re.compile(r"\.(?:csv|tsv|jsonl?|txt)(?:\.\w{1,9})?$")
_PYTHON = ("Python", "InPandas", "InArrow", "InPySpark")
_BY_ARROW = ("ArrowEvalPython", "MapInPandas", "MapInArrow")
_ARROW_ROWS = "conf:spark.sql.execution.arrow.maxRecordsPerBatch"
_GROUPED = ("FlatMapGroupsIn", "FlatMapCoGroupsIn")
_MANY_TIMES = 10
LEAST_MS = 20.0  # by which a stage or a task is longer, or it is noise
SMALL_TASK_MS = 100.0  # so long a task takes at least for it to be worth its start
_OPTIMIZES = "Optimizing "
_MATCHING = (f"{MERGE} - scanning files", f"{MERGE} - writing new files for only inserts")
_REWRITTEN = re.compile(rf"{MERGE} - Rewriting (\d{{1,9}}) file")
_OVERLAP = 0.05  # of a stage: so much the tasks of one slot may seem to run at once, as each ends a little late
_TIMERS = 0.9
"""What may be relied on of tasks that ran at once by their times: an attempt that was made again counts twice."""


def slots(window: Window) -> float | None:
    """Tasks that can run at once, if known."""
    number = window.facts.number("task_slots")
    return number if number is not None and number > 0 else None


@remembered
def least_slots(window: Window) -> float:
    """Tasks that surely run at once: those that were seen to, where the query has all slots for itself, else 1.

    And as many as it takes to fit the time of an operator's tasks into addBatch, in a typical batch.
    """
    seen = window.facts.number("task_slots_at_least")
    known_ones = seen if seen is not None and seen >= 1 and not slots_are_shared(window) else 1.0
    add_batch = window.batches["add_batch_ms"][window.operators["batch"]]
    at_once = known(task_ms(window) / above_zero(add_batch))
    return max(known_ones, float(np.ceil(middle(at_once) * _TIMERS))) if len(at_once) else known_ones


@window_metric("count", "count")
def missing_task_slots(window: Window) -> float | Missing:
    """Task slots that are missing where each source partition and each state partition holds one all the time."""
    needed_ones = needed(_held_all_the_time(window))
    total, seen = window.facts.get("task_slots"), window.facts.number("task_slots_at_least")
    free = slots(window) or 0.0
    if free and free < needed_ones and total is not None and total.origin != "inferred":
        return needed_ones - free
    if slots_are_shared(window):
        return Missing("other queries run in the same task slots")
    return 0.0 if max(free, seen or 0.0) >= needed_ones else NO_SLOTS


def _held_all_the_time(window: Window) -> float | Missing:
    """Tasks of real-time mode or continuous processing, which never end: one a partition."""
    if window.facts.value("source") != "kafka":
        return Missing("the partitions of the source are not known")
    of_source = window.facts.number("kafka_partitions")
    if of_source is None:
        return Missing("the partitions of the topics are not known", "kafka_partitions")
    if window.facts.value("stateful") is False:
        return of_source
    most = known(largest(window, partitions(window))).max(initial=0.0)
    return of_source + float(most) if most > 0 else Missing("the state partitions are not known")


@window_metric("count", "count", label="the advised number of state partitions")
def advised_state_partitions(window: Window) -> float | Missing:
    """As many state partitions as task slots, never fewer: each slot then has one task per batch."""
    free, shown = slots(window), known(partitions(window))
    return NO_SLOTS if free is None else min(free, float(shown.max(initial=0.0)) or free)


def slots_are_shared(window: Window) -> bool:
    """Whether other queries of the application run in the same slots: then they are an upper bound."""
    return bool(window.facts.value("slots_shared"))


@bounded_metric("ms", phases=("add_batch_ms",), inside=True, label="waiting for slots that others hold", share=True)
def slots_wait_ms(window: Window) -> Batchwise | Missing:
    """Waiting for task slots that other queries' tasks held, inside addBatch.

    By a clock of seconds, a stage whose wait the lines leave open waited at most while its longest task did not run.
    """
    found, stages = of_jobs(window, "slots_wait_ms"), window.stages
    if found is NOT_SEEN or of_jobs(window, "driver_ms") is NOT_TOLD or window.facts.value("slots_shared") is False:
        return found
    if not len(stages):
        return BY_SECONDS
    open_ms = np.where(np.isnan(stages["slots_wait_ms"]), stages["wall_ms"] - zero_filled(stages["task_max_ms"]), 0.0)
    more = needed(per_batch(window, open_ms))
    least = np.where(np.isnan(more), np.nan, zero_filled(window.batches["slots_wait_ms"]))
    return Bounds(least, np.fmin(least + more, window.batches["add_batch_ms"]))


@bounded_metric("ms", phases=("add_batch_ms",), inside=True, label="waits while free slots went to other queries")
def slots_overtaken_ms(window: Window) -> Bounds | Missing:
    """Waiting for slots of which one had become free and went to others' tasks: FAIR would have given it to this query.

    As long as all slots run tasks that began before, no order helps: Spark does not interrupt them.
    """
    waits = slots_wait_ms(window)
    if isinstance(waits, Missing):
        return waits
    overtaken, most = window.stages["slots_overtaken_ms"], waits.high if isinstance(waits, Bounds) else waits
    least, held = (
        needed(per_batch(window, np.where(np.isnan(overtaken), 0.0, ms)))
        for ms in (overtaken, zero_filled(window.stages["slots_wait_ms"]))
    )
    return Bounds(least, np.fmax(least, most - held + least))


class Spread(msgspec.Struct, frozen=True):
    """The stages of the batches: tasks, slots, their milliseconds. NaN where it is not known.

    `wall`: from the first task's launch to the stage's end, without waiting for slots that others held. `total`,
    `longest`: of its tasks, from launch to finish. `others`: the mean task but the longest. `rounds`: of tasks that
    run one after the other. `at_once`: tasks that run at once, all of them or as many as there are slots.
    """

    tasks: np.ndarray
    slots: np.ndarray
    wall: np.ndarray
    total: np.ndarray
    longest: np.ndarray
    others: np.ndarray
    rounds: np.ndarray
    at_once: np.ndarray


@remembered
def spread(window: Window) -> Spread:
    """The stages of the window in numbers."""
    stages = window.stages
    tasks, total, longest = stages["tasks"], stages["task_ms"], stages["task_max_ms"]
    slots = np.where(np.isnan(stages["slots"]), window.facts.number("task_slots") or np.nan, stages["slots"])
    before = np.fmax(zero_filled(stages["first_task_ms"]), zero_filled(stages["slots_wait_ms"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(tasks > 1, (total - longest) / (tasks - 1), longest)
        wall = np.maximum(stages["wall_ms"] - before, longest)
        at_least = np.fmax(_seen_at_once(window), np.ceil(total / wall - _OVERLAP))  # else the stage takes longer
    rounds = np.where(tasks <= at_least, 1.0, np.ceil(tasks / slots))
    at_once = np.fmin(np.maximum(tasks, 1.0), slots)  # Spark makes stages without a task, too
    return Spread(tasks, slots, wall, total, longest, others, rounds, at_once)


def _seen_at_once(window: Window) -> float:
    return window.facts.number("task_slots_at_least") or 1.0


def per_batch(window: Window, values: np.ndarray, keep: np.ndarray | bool = True) -> np.ndarray | Missing:
    """The values of the stages that are kept, summed per batch, at most addBatch; 0 where it has none.

    NaN for a batch without a visible stage; Missing if there is none, or if no stage has a value.
    """
    if not len(window.stages):
        return NOT_SEEN
    if np.isnan(values).all():
        return NOT_TOLD
    batch = window.stages["batch"]
    present = keep & ~np.isnan(values)
    total = np.bincount(batch[present], np.maximum(values[present], 0.0), len(window))
    seen = np.bincount(batch, minlength=len(window)) > 0
    return np.where(seen, np.minimum(total, window.batches["add_batch_ms"]), np.nan)


def most(window: Window, values: np.ndarray, nothing: float = np.nan) -> np.ndarray:
    """The largest value of the stages of each batch; `nothing` where none has one."""
    found = np.full(len(window), nothing)
    np.fmax.at(found, window.stages["batch"], values)
    return found


def of_batch(window: Window, name: str) -> np.ndarray:
    """The sum of a number over the stages of each batch; NaN where it has none."""
    return above_zero(np.bincount(window.stages["batch"], zero_filled(window.stages[name]), len(window)))


def of_kind(window: Window, *kinds: str) -> np.ndarray:
    """Which stages of the window are of one of these kinds."""
    return np.isin(window.stages["kind"].astype(str), kinds)


def may_fetch(window: Window) -> np.ndarray:
    """Which stages fetch rows from a shuffle; where the log does not count these, every one may."""
    fetched = window.stages["shuffle_read_rows"]
    return np.isnan(fetched) | (fetched > 0)


@stage_metric("ms", label="extra waves of tasks", share=True)
def waves_ms(window: Window) -> np.ndarray | Missing:
    """What stages with more tasks than slots take beyond their longest task: the most that more slots could save."""
    of = spread(window)
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    return per_batch(window, of.wall - of.longest, (of.rounds > 1) & ~of_kind(window, "table_log"))


@stage_metric("ms", label="what more task slots could save", share=True)
def slots_short_ms(window: Window) -> np.ndarray:
    """Extra waves of tasks and waits for slots that other queries hold. No slot shortens a stage's longest task."""
    return needed(waves_ms(window)) + zero_filled(window.batches["slots_wait_ms"])


@stage_metric("count", "count", label="waves of tasks in the largest stage")
def most_waves(window: Window) -> np.ndarray | Missing:
    """The most waves of tasks of a stage of the batch: its tasks over the slots, rounded up."""
    rounds = spread(window).rounds
    return NO_SLOTS if np.isnan(rounds).any() else most(window, np.where(of_kind(window, "table_log"), np.nan, rounds))


@stage_metric("count", "count", label="waves of tasks that repartition(N) in the code makes")
def repartition_waves(window: Window) -> np.ndarray | Missing:
    """The waves of a stage that has as many tasks as the plan's repartition(N) makes; 0 where the plan has none."""
    number = window.facts.number("repartitioned_to")
    if number is None:
        _described(window)  # a log that shows no operators shows no plan
    return _most_waves_of(window, spread(window).tasks == number)


@stage_metric("count", "count", label="waves of more tasks than the setting of shuffle partitions makes")
def waves_beyond_setting(window: Window) -> np.ndarray | Missing:
    """The most waves behind a shuffle with more tasks than spark.sql.shuffle.partitions."""
    set_to = window.facts.number("shuffle_partitions")
    if set_to is None:
        return Missing("spark.sql.shuffle.partitions is not known", "shuffle_partitions")
    more = spread(window).tasks > set_to
    return _most_waves_of(window, of_kind(window, "shuffle", "result") & may_fetch(window) & more)


def _most_waves_of(window: Window, which: np.ndarray) -> np.ndarray | Missing:
    rounds = spread(window).rounds
    return NO_SLOTS if np.isnan(rounds).any() else most(window, np.where(which, rounds, 0.0), 0.0)


@stage_metric("ms", label="small tasks that read the source in waves", share=True, of_reads=True)
def small_reading_tasks_ms(window: Window) -> np.ndarray | Missing:
    """What stages that read the source in several waves of small tasks take beyond their longest task."""
    return _small_tasks(window, of_kind(window, "source_read"))


@stage_metric("ms", label="small tasks in waves behind the source", share=True)
def small_later_tasks_ms(window: Window) -> np.ndarray | Missing:
    """The same, of stages behind a shuffle."""
    return _small_tasks(window, of_kind(window, "state", "shuffle", "result"))


def _small_tasks(window: Window, which: np.ndarray) -> np.ndarray | Missing:
    of = spread(window)
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    small = (of.rounds > 1) & (of.total < SMALL_TASK_MS * of.tasks)
    return per_batch(window, of.wall - of.longest, small & which)


def _too_few(window: Window, kind: str, unseen: float = 1.0) -> np.ndarray | Missing:
    """What stages of a kind take beyond their work spread over all slots, where they have fewer tasks than slots."""
    of, slots, these = spread(window), _slots_at_least(window, unseen), of_kind(window, kind)
    if (np.isnan(of.slots) & these & (of.tasks >= slots)).any():  # there may be more slots than were seen
        return NO_SLOTS
    return per_batch(window, of.wall - of.total / slots, (of.tasks < slots) & these)


def _slots_at_least(window: Window, unseen: float = 1.0) -> np.ndarray:
    """Slots of each stage, or as many as were seen, else `unseen`; raises MissingError if it may be one of several."""
    slots = np.where(np.isnan(of := spread(window).slots), window.facts.number("task_slots_at_least") or unseen, of)
    if len(slots) and not (slots > 1).any() and np.isnan(of).any():
        raise MissingError(NO_SLOTS)
    return slots


@stage_metric("ms", label="too few reading tasks", share=True, of_reads=True)
def too_few_readers_ms(window: Window) -> np.ndarray | Missing:
    """What reading the source takes beyond its work spread over all slots, two if none is known, with fewer tasks."""
    return _too_few(window, "source_read", unseen=2.0)


@stage_metric("ms", label="too few tasks that work on state", share=True)
def too_few_state_tasks_ms(window: Window) -> np.ndarray | Missing:
    """What stages with state take beyond their work spread over all slots, where they have fewer tasks than slots."""
    return _too_few(window, "state")


@stage_metric("ms", label="the one task that computes the batch", share=True, of_reads=True)
def one_task_ms(window: Window) -> np.ndarray | Missing:
    """What stages of a single task take beyond their work spread over all slots.

    Of those behind a shuffle the ones that get most of the batch's rows: the end of an aggregation gets few. Where the
    log counts no rows, the batch's longest stage.
    """
    of, stages, slots = spread(window), window.stages, _slots_at_least(window)
    rows, batch = stages["rows_max"], stages["batch"]
    longest = of.wall >= most(window, of.wall)[batch]
    gathers = np.where(np.isnan(rows), longest, rows >= window.batches["input_rows"][batch] / 2)
    reads = of_kind(window, "source_read") | (gathers & of_kind(window, "shuffle", "result"))
    return per_batch(window, of.wall - of.total / slots, (of.tasks == 1) & (slots > 1) & reads)


@window_metric("count", "count", label="the advised number of shuffle partitions")
def advised_shuffle_partitions(window: Window) -> float | Missing:
    """As many partitions as there are task slots."""
    slots = median(spread(window).slots) if len(window.stages) else window.facts.number("task_slots")
    return NO_SLOTS if slots is None or np.isnan(slots) else slots


@window_metric("count", "count", inside=True, label="the advised number of tasks that read the source")
def advised_source_tasks(window: Window) -> float:
    """As many tasks for the source as there are slots; twice its tasks where they are as many already.

    Kafka's reader splits a partition only where minPartitions is more than the partitions that have new records.
    """
    tasks, slots = median(needed(source_tasks(window))), needed(advised_shuffle_partitions(window)).safe
    return 2 * tasks if tasks >= slots else slots


@stage_metric("count", "count", label="tasks that read the source")
def source_tasks(window: Window) -> np.ndarray:
    """Tasks of the stage that reads the source; of several the most."""
    return most(window, np.where(of_kind(window, "source_read"), window.stages["tasks"], np.nan))


@stage_metric("ratio", "count", label="tasks that read each of Kafka's partitions")
def tasks_per_kafka_partition(window: Window) -> np.ndarray | Missing:
    """Tasks of the stage that reads the source, over the partitions of the topics."""
    number = window.facts.number("kafka_partitions")
    if not number:
        return Missing("the partitions of the topics are not known", "kafka_partitions")
    return needed(source_tasks(window)) / number


@stage_metric("count", "count", label="tasks that work on state")
def state_tasks(window: Window) -> np.ndarray:
    """Tasks of the stage with state that has most; 0 without state."""
    return most(window, np.where(of_kind(window, "state"), window.stages["tasks"], 0.0), 0.0)


@stage_metric("count", "count", label="task slots that a batch uses")
def used_slots(window: Window) -> np.ndarray:
    """Task slots that the batch's largest job can use at once: all its tasks, as many as there are slots at most."""
    return np.fmin(*_of_largest_job(window))


@stage_metric("share", label="the share of task slots that stay idle")
def idle_slots_share(window: Window) -> np.ndarray:
    """Task slots of which no job of the batch can make use / task slots."""
    tasks, slots = _of_largest_job(window)
    return 1 - np.fmin(tasks, slots) / slots


def _of_largest_job(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """(tasks of the job that has most, task slots) of each batch; NaN where no stage was seen.

    Stages of a job count as if all ran at once, though most follow each other.
    """
    of, stages = spread(window), window.stages
    if np.isnan(of.slots).all():
        raise MissingError(NO_SLOTS)
    jobs, at = np.unique(np.stack([stages["batch"], stages["job"]]), axis=1, return_inverse=True)
    tasks = np.full(len(window), np.nan)
    np.fmax.at(tasks, jobs[0].astype(int), np.bincount(at.ravel(), np.nan_to_num(of.tasks), jobs.shape[1]))
    return tasks, most(window, of.slots)


@stage_metric("ms", label="waits for a slot close to the data", share=True)
def locality_wait_ms(window: Window) -> np.ndarray | Missing:
    """What tasks that all ran beside their data waited for it, while slots elsewhere were free.

    The time of a stage's tasks less what as many slots need for them; where an executor for each was free at once, it
    is 0. Not in local mode, where every place is the same.
    """
    of, stages = spread(window), window.stages
    slots = np.where(np.isnan(of.slots), _seen_at_once(window), of.slots)
    with np.errstate(divide="ignore", invalid="ignore"):
        enough = np.fmax(of.longest, np.fmax(of.total / slots, of.rounds * of.total / of.tasks))
    beside = zero_filled(stages["process_local"]) + zero_filled(stages["node_local"])
    waits = (beside >= of.tasks) & (of.tasks > 1) & (of.wall - enough >= LEAST_MS)
    if waits.any() and window.facts.value("local_mode") is not False:
        return Missing("on one machine every task is beside its data; whether this is one is not known", "local_mode")
    return per_batch(window, of.wall - enough, waits)


@stage_metric("ms", label="waits for an executor", share=True)
def executor_wait_ms(window: Window) -> np.ndarray | Missing:
    """From a stage's submission to its first task, less waits for slots of others: a free executor takes it at once."""
    return per_batch(window, window.stages["first_task_ms"] - zero_filled(window.stages["slots_wait_ms"]))


@stage_metric("ms", label="garbage collection", share=True)
def gc_ms(window: Window) -> np.ndarray | Missing:
    """Garbage collection during tasks as wall time: its sum over the tasks that run at once."""
    return per_batch(window, window.stages["gc_ms"] / spread(window).at_once)


@stage_metric("ms", label="tasks that failed and ran again", share=True)
def failed_tasks_ms(window: Window) -> np.ndarray | Missing:
    """What stages in which tasks failed take beyond their longest task, or rounds of it: failures cost as much."""
    of = spread(window)
    rounds = np.where(np.isnan(of.rounds), np.ceil(of.tasks / _seen_at_once(window)), of.rounds)
    return per_batch(window, of.wall - rounds * of.longest, window.stages["failed"] > 0)


@stage_metric("ms", label="the longest stage", share=True)
def longest_stage_ms(window: Window) -> np.ndarray:
    """The longest stage of a batch."""
    return np.fmin(most(window, spread(window).wall), window.batches["add_batch_ms"])


@stage_metric("ms", label="the longest stage that holds no state", share=True)
def longest_stateless_stage_ms(window: Window) -> np.ndarray:
    """The longest stage of a batch that holds no state, or joins streams to many rows, and reads no table's log."""
    wall = np.where(holds_only(window.stages), 0.0, spread(window).wall)
    return np.fmin(most(window, wall), window.batches["add_batch_ms"])


@stage_metric("ms", label="the longest stage behind a shuffle", share=True)
def longest_shuffled_stage_ms(window: Window) -> np.ndarray:
    """The longest stage of a batch of those behind a shuffle, which hold no state."""
    return most(window, np.where(of_kind(window, "shuffle", "result"), spread(window).wall, 0.0))


@stage_metric("ms", "task", label="task time per row of the longest stage")
def longest_stage_per_row_ms(window: Window) -> np.ndarray:
    """Time of the tasks of a batch's longest stage over the rows that they, or else the batch, read from the source."""
    stages, whole = window.stages, window.batches["input_rows"][window.stages["batch"]]
    rows = np.where(np.isnan(stages["input_rows"]), whole, stages["input_rows"])
    took = np.where(np.isnan(stages["run_ms"]), stages["task_ms"], stages["run_ms"]) / above_zero(rows)
    return most(window, np.where(_is_longest(window), took, np.nan))


def _is_longest(window: Window) -> np.ndarray:
    wall = spread(window).wall
    found: np.ndarray = wall == most(window, wall)[window.stages["batch"]]
    return found


@stage_metric(
    "share", "task", label="the part of their time in which tasks of the longest stage compute or collect garbage"
)
def computing_share(window: Window) -> np.ndarray | Missing:
    """What tasks of a batch's longest stage compute, collect garbage and fetch, of the time that they run.

    The rest waits: for Python, which is another process, a sink, a source, a service, or a processor. At most all of
    it: Spark counts whole milliseconds, and what is collected while a task computes counts twice.
    """
    stages = window.stages
    busy = stages["cpu_ms"] + sum(zero_filled(stages[name]) for name in ("gc_ms", "fetch_wait_ms", "shuffle_write_ms"))
    if np.isnan(busy).all():
        return NOT_TOLD
    longest = _is_longest(window)
    worked, ran = (
        np.bincount(stages["batch"], np.where(longest, ms, 0.0), len(window)) for ms in (busy, stages["run_ms"])
    )
    return np.minimum(worked / above_zero(ran), 1.0)


@stage_metric("ms", "task", label="reading a task before it runs")
def task_start_ms(window: Window) -> np.ndarray:
    """Deserialising a task, the mean of a batch's: milliseconds of computing, so it takes long without a processor."""
    read, tasks = (needed(per_batch(window, window.stages[name])) for name in ("deserialize_ms", "tasks"))
    return read / above_zero(tasks)


def _described(window: Window) -> list[str]:
    """Return what each stage does, in words; raises MissingError where these batches' log does not hold it.

    The lines of a driver log show no more of it than what Delta says of its own jobs, and which list or end in Python.
    """
    texts = window.stages["what"].tolist()
    short = {text for text in texts if text not in (None, LISTING, PYTHON_RDD, VACUUM)}
    if all(text.startswith("Delta: ") or DELTA_COMMAND.search(text) for text in short):
        raise MissingError(NOT_TOLD)
    return [text or "" for text in texts]


@stage_metric("count", "count", label="longest stages that run Python")
def python_stages(window: Window) -> np.ndarray:
    """Whether the longest stage of a batch runs Python functions, by the names of its operators: 1, or 0."""
    python = np.array([any(word in text for word in _PYTHON) for text in _described(window)], bool)
    if window.facts.value("runs_python") and not python.any():  # a session names no operators
        raise MissingError(NOT_TOLD)
    return np.bincount(window.stages["batch"], python & _is_longest(window), len(window))


@stage_metric("count", "count", label="Python workers that a task keeps busy")
def python_workers(window: Window) -> np.ndarray:
    """The time of Python workers over that of the tasks, of the stage with most."""
    return most(window, window.stages["python_ms"] / above_zero(window.stages["task_ms"]))


@stage_metric("count", "count", label="Arrow batches that a task hands to Python")
def arrow_batches(window: Window) -> np.ndarray | Missing:
    """Rows of the largest task that hands them to Python in Arrow batches, over the setting of such a batch's rows."""
    rows = window.facts.number(_ARROW_ROWS)
    if rows is None or rows <= 0:
        return Missing("the rows of an Arrow batch are not limited by a setting that was seen")
    arrow = np.array([any(word in text for word in _BY_ARROW) for text in _described(window)], bool)
    return most(window, np.where(arrow, np.ceil(window.stages["rows_max"] / rows), 0.0), 0.0)


@stage_metric("count", "count", label="longest stages whose rows a Python function takes")
def python_ends(window: Window) -> np.ndarray:
    """Whether Python takes the rows of a batch's longest stage, and no operator does (foreachPartition): 1, or 0."""
    ends = np.array([(text or "").startswith(PYTHON_RDD) for text in window.stages["what"].tolist()], bool)
    return np.bincount(window.stages["batch"], ends & _is_longest(window), len(window))


@stage_metric("ms", "task", label="processor time per row that the source gives")
def cpu_per_row_ms(window: Window) -> np.ndarray:
    """Processor time of the stages that read the source, over the rows that they read."""
    cpu, read = (
        np.where(of_kind(window, "source_read"), window.stages[name], 0.0) for name in ("cpu_ms", "input_rows")
    )
    took, rows = (np.bincount(window.stages["batch"], values, len(window)) for values in (cpu, read))
    return took / above_zero(rows)


@stage_metric("ms", label="computing while reading the source, at least", of_reads=True)
def cpu_wall_ms(window: Window) -> np.ndarray | Missing:
    """Processor time of the stages that read the source as wall time: its sum over the tasks that run at once."""
    return per_batch(window, window.stages["cpu_ms"] / spread(window).at_once, of_kind(window, "source_read"))


@stage_metric("count", "count", label="stages of one task that read files", of_reads=True)
def unsplit_reads(window: Window) -> np.ndarray | Missing:
    """Stages of one task that read files of the source, in which no coalesce stands; 0 of other sources."""
    stages, source = window.stages, window.facts.value("source")
    if source is None:
        return NOT_TOLD
    alone = (spread(window).tasks == 1) & of_kind(window, "source_read") & (source == "file")
    if window.facts.value("reads_gzip") and (one_file := window.batches["files_read"] == 1).any():
        return np.bincount(stages["batch"], alone & one_file[stages["batch"]], len(window))
    coalesced = np.array(["Coalesce" in text for text in _described(window)], bool)
    return np.bincount(stages["batch"], alone & ~coalesced, len(window))


@stage_metric("count", "count", label="longest stages of one task that adaptive execution joined")
def joined_stages(window: Window) -> np.ndarray:
    """Whether the longest stage of a batch is one task because adaptive execution joined small partitions: 1, or 0."""
    joined = np.array(["AQEShuffleRead" in text for text in _described(window)], bool)
    return np.bincount(window.stages["batch"], joined & (spread(window).tasks == 1) & _is_longest(window), len(window))


@stage_metric("count", "count", label="reads of a static table from text")
def text_scans(window: Window) -> np.ndarray:
    """Stages that read no stream but a table of CSV, JSON or text files, by its files' names or their operators."""
    paths = [[path for name, _, path in each or () if name == "table_ms"] for each in batch_traces(window)]
    if (named := np.array([sum(map(bool, map(_TEXT_FILE.search, each))) for each in paths], float)).any():
        return named
    text = np.array([any(word in what for word in _TEXT) for what in _described(window)], bool)
    return np.bincount(window.stages["batch"], text & of_kind(window, "other"), len(window))


@stage_metric("count", "count", label="reads of a cached table")
def cached_scans(window: Window) -> np.ndarray:
    """Stages that read no stream but a cached table, as far as their operators are told."""
    cached = np.array(["InMemoryTableScan" in what for what in _described(window)], bool)
    return np.bincount(window.stages["batch"], cached & of_kind(window, "other"), len(window))


@stage_metric("count", "count", label="shuffles of static tables")
def static_shuffles(window: Window) -> np.ndarray | Missing:
    """Stages that read no stream and write a shuffle: joins and aggregates of tables, computed in the batch."""
    wrote = window.stages["shuffle_write_rows"]
    if np.isnan(wrote).all():
        return NOT_TOLD
    return np.bincount(window.stages["batch"], (wrote > 0) & of_kind(window, "other"), len(window))


@stage_metric("ms", label="writing many times the rows of a batch", share=True)
def rewriting_ms(window: Window) -> np.ndarray | Missing:
    """Stages that write at least ten times the rows that the batch brings, as one that writes a table anew does.

    But OPTIMIZE's, which `table_rewritten_ms` holds.
    """
    written, rows = window.stages["output_rows"], window.batches["input_rows"][window.stages["batch"]]
    if np.isnan(written).all():
        return NOT_TOLD
    optimized = np.array([_OPTIMIZES in (text or "") for text in window.stages["what"].tolist()], bool)
    return per_batch(window, window.stages["wall_ms"], (rows > 0) & (written >= _MANY_TIMES * rows) & ~optimized)


@stage_metric("count", "count", label="stages that run Python once for each group")
def grouped_python(window: Window) -> np.ndarray:
    """Stages of applyInPandas and its like, which call Python for each group, without state."""
    grouped = [any(word in text for word in _GROUPED) and "WithState" not in text for text in _described(window)]
    return np.bincount(window.stages["batch"], np.array(grouped, bool), len(window))


@stage_metric("bytes", "bytes", label="bytes written to disk for lack of memory")
def spilled_bytes(window: Window) -> np.ndarray | Missing:
    """Bytes that tasks wrote to disk because their memory was full."""
    spilled, batch = window.stages["disk_spilled_bytes"], window.stages["batch"]
    if np.isnan(spilled).all():
        return NOT_TOLD
    return np.bincount(batch, zero_filled(spilled), len(window)).astype(float)


@stage_metric("ms", label="stages whose tasks run out of memory", share=True)
def spilling_ms(window: Window) -> np.ndarray | Missing:
    """Stages in which tasks wrote to disk because their memory was full: more than this a spill cannot take."""
    spilled = window.stages["disk_spilled_bytes"]
    return per_batch(window, np.where(spilled > 0, spread(window).wall, spilled))


@stage_metric("ms", label="the table's own log", share=True)
def table_log_ms(window: Window) -> np.ndarray | Missing:
    """Stages on a table format's own log: Delta's snapshot, the checkpoint of its log."""
    return per_batch(window, window.stages["wall_ms"], of_kind(window, "table_log"))


@stage_metric("ms", label="rewriting the table's files by OPTIMIZE", share=True)
def table_rewritten_ms(window: Window) -> np.ndarray | Missing:
    """The time of OPTIMIZE, by its SQL execution; else from the end of the stage before it to its own end.

    Its stages alone, where others run between them or the log's clock knows seconds only.
    """
    optimized = np.array([_OPTIMIZES in text for text in _described(window)], bool)
    first, last = _reach(window, optimized)
    own = ~optimized & ~of_kind(window, "table_log") & (window.stages["submitted"] < last[window.stages["batch"]])
    before = _reach(window, own)[1]
    known_span = _traced_ms(window, OPTIMIZES)
    span = np.where(before <= first, last - before, np.nan)
    return _through(window, optimized, np.where(known_span > 0, known_span, span))


@batch_metric("share", "count", inside=True, label="the part of the driver's own time outside of writes and queries")
def driver_outside_executions(window: Window) -> np.ndarray:
    """What the driver does outside of jobs, and of writes and queries of the batch's own code, over all that it does.

    Within these Spark plans, and a table's format reads its log and commits. 1 where no log shows them.
    """
    return 1 - np.minimum(_traced_ms(window, DRIVER_WITHIN) / above_zero(needed(driver_gaps_ms(window))), 1.0)


def _traced_ms(window: Window, trace: str) -> np.ndarray:
    """Return the number of this trace in each batch."""
    return np.array([sum(float(ms) for name, ms, _ in each or () if name == trace) for each in batch_traces(window)])


def _reach(window: Window, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return when the first of these stages of each batch began and the last one ended, ms; NaN where unknown."""
    begin, wall = window.stages["submitted"], window.stages["wall_ms"]
    return -most(window, np.where(which, -begin, np.nan)), most(window, np.where(which, begin + wall, np.nan))


def _through(window: Window, which: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Return the span, at most addBatch, or what these stages take where it is not known."""
    alone = needed(per_batch(window, window.stages["wall_ms"], which))
    return np.where(np.isnan(span), alone, np.fmin(span, window.batches["add_batch_ms"]))


@bounded_metric("ms", phases=("add_batch_ms",), inside=True, label="Delta's MERGE", share=True)
def merge_ms(window: Window) -> Batchwise | Missing:
    """From the first to the last stage of Delta's MERGE in a batch, by Delta's own description of its jobs.

    With the driver's time in between; where the log's clock knows seconds only, at least the stages alone.
    """
    merges = np.array([MERGE in (text or "") for text in window.stages["what"]], bool)
    first, last = _reach(window, merges)
    found = _through(window, merges, last - first)
    open_ended = np.isnan(last - first) & (found > 0)
    return Bounds(found, np.where(open_ended, window.batches["add_batch_ms"], found)) if open_ended.any() else found


@stage_metric("ms", label="looking for matches in the table of a MERGE", share=True)
def merge_scan_ms(window: Window) -> np.ndarray | Missing:
    """Stages of Delta's MERGE before it writes: those that scan for matches, or that only insert; NaN without any."""
    looks = np.array([any(words in (text or "") for words in _MATCHING) for text in window.stages["what"]], bool)
    looks &= ~of_kind(window, "result", "table_log")
    return above_zero(needed(per_batch(window, window.stages["wall_ms"], looks)))


@stage_metric("count", "count", label="files that a MERGE writes again")
def merge_rewritten_files(window: Window) -> np.ndarray:
    """Files of its table in which a MERGE found matches, by Delta's own description of its jobs."""
    found = [_REWRITTEN.search(text or "") for text in window.stages["what"]]
    return most(window, np.array([float(each[1]) if each else np.nan for each in found]))


@window_metric("ms", phases=("add_batch_ms",), label="the table log's longest jobs")
def table_log_spike_ms(window: Window) -> float | Missing:
    """What stages on the table's own log take more in a batch of the rhythm than in the others."""
    slow, read = needed(rhythm(window)).slow, needed(table_log_ms(window))
    more = max(0.0, mean(read[slow]) - mean(read[~slow]))
    return NOT_TOLD if np.isnan(more) else more


@window_metric("share", phases=("add_batch_ms",), label="the share of the table log's longest jobs")
def table_log_spike_share(window: Window) -> float:
    """What stages on the table's own log take more in periodic slow batches, over the time of all batches."""
    slow, more = needed(rhythm(window)).slow, needed(table_log_spike_ms(window)).safe
    return more * float(slow.sum()) / float(np.nansum(window.batches["trigger_execution_ms"]))
