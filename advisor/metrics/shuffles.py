"""What a batch pays for the number of its shuffle partitions, and for one task that takes far longer than others."""

from __future__ import annotations

import numpy as np

from advisor.metrics.fetch import rows_per_partition
from advisor.metrics.metric import Batchwise, Bounds, remembered, stage_metric, window_metric
from advisor.metrics.missing import NO_SLOTS, NOT_SEEN, NOT_TOLD, Missing, needed
from advisor.metrics.tasks import LEAST_MS, SMALL_TASK_MS, may_fetch, of_kind, per_batch, spread, too_few_readers_ms
from advisor.statistics import median, zero_filled
from advisor.window import Window

MOST_FILES, MANY_FILES = 200.0, 20.0
"""Of a task: spark.shuffle.sort.bypassMergeThreshold, above which it writes one file for all; files worth a look."""
SLOW_WRITE_MS, SLOW_WRITE, BYTES_PER_MS = 5.0, 0.02, 100_000.0
"""Of a task: the time to write to a shuffle, beyond what its bytes take, from which it is slow; as a share."""
LEAST_LONGER, LONGER = 4.0, 12.0
"""Times the tasks' own write time by which files were seen to lengthen a stage: the least though they also compute."""
NO_WRITE_TIME = Missing("nothing shows how long the tasks write to shuffles")
JOINED = Missing("the partitions of the shuffle were joined before a stage showed how many there are")
SLOWER = 2.0  # a straggler takes at least so many times as long as the other tasks of its stage
UNEVEN = 2.0  # a partition is large from so many times the rows of the others
MUCH_SLOWER, LEAST_UNTOLD_MS = 3.0, 100.0  # for a task with unknown rows to count as a large partition
FEWEST_AT_ONE_PLACE, MOST_AT_ONE_PLACE = 5, 0.9  # stages of one kind, and how many have their longest task there
CHANCE = 0.001  # that the longest tasks of a stage without skew are at one place


@stage_metric("ms", label="extra waves of shuffle tasks", share=True)
def shuffle_waves_ms(window: Window) -> np.ndarray | Missing:
    """What stages that read a shuffle, without state, take beyond one wave of their tasks.

    No stage ends before its longest task does: what a skewed key takes is no matter of waves. Nor is what tasks compute
    that are not small: fewer tasks compute as much. Where the log counts what tasks fetch, a stage that fetches nothing
    reads a cache or lists files.
    """
    of, stages = spread(window), window.stages
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    read = of_kind(window, "shuffle", "result") & (of.rounds > 1) & may_fetch(window)
    beyond = np.fmin(of.wall * (1 - 1 / of.rounds), of.wall - of.longest)
    computed = np.where(of.total >= SMALL_TASK_MS * of.tasks, stages["cpu_ms"], 0.0) / of.at_once
    return per_batch(window, np.fmin(beyond, of.wall - computed), read & ~np.isnan(stages["tasks"]))


@stage_metric("ms", label="small shuffle files", share=True)
def shuffle_files_ms(window: Window) -> np.ndarray | Missing:
    """What stages take, at most, for writing their shuffle as a file per partition.

    If the log has the write time, these are stages that write more slowly than a disk does, and no more than 12 times
    that, nor more than their tasks do not compute, or four times that: opening and deleting files does not count as
    writing. Shuffles that are set to few partitions have few files. Otherwise they are whole stages whose next stage
    has many tasks. Fewer tasks there prove nothing: adaptive execution joins partitions after they are written.
    """
    of, stages, readers = spread(window), window.stages, _tasks_of_reader(window)
    writes, bytes_written = stages["shuffle_write_ms"], zero_filled(stages["shuffle_write_bytes"])
    seen, feeds = ~np.isnan(writes), readers > 0
    many, state = (readers[feeds] >= MANY_FILES).any(), of_kind(window, "state").any()
    if feeds.any() and not seen[feeds].any() and not many:
        return NO_WRITE_TIME if state else JOINED  # state has a task for each partition
    beyond = writes - bytes_written / BYTES_PER_MS
    set_to = max(window.facts.number("shuffle_partitions") or MANY_FILES, window.facts.number("repartitioned_to") or 0)
    by_time = (set_to >= MANY_FILES) & (beyond >= SLOW_WRITE_MS * of.tasks) & (writes >= SLOW_WRITE * of.total)
    by_count = (readers >= MANY_FILES) & (readers <= MOST_FILES)
    waits = np.maximum(stages["run_ms"] - stages["cpu_ms"], LEAST_LONGER * writes)  # files take processors, too
    longer = np.fmin(stages["wall_ms"], np.fmin(LONGER * writes, waits) / of.at_once)
    return per_batch(window, longer, feeds & np.where(seen, by_time, by_count))


@stage_metric("ms", label="what one shuffle file saves")
def shuffle_files_saving_ms(window: Window) -> Batchwise:
    """The same, for what a step saves of it: anything up to that if no log has the write time."""
    most, seen = needed(shuffle_files_ms(window)), not np.isnan(window.stages["shuffle_write_ms"]).all()
    return most if seen else Bounds(np.zeros(len(window)), most)


def _tasks_of_reader(window: Window) -> np.ndarray:
    """The tasks of the batch's next stage for stages that feed one, whatever these tasks read; 0 for others."""
    stages, tasks = window.stages, np.zeros(len(window.stages))
    feeds = (stages["batch"][:-1] == stages["batch"][1:]) & (stages["last"][:-1] == False)  # noqa: E712 - null is no
    tasks[:-1] = np.where(feeds, zero_filled(stages["tasks"][1:]), 0.0)
    return np.where(of_kind(window, "table_log"), 0.0, tasks)


@remembered
def _rows_ratio(window: Window) -> np.ndarray:
    """Return the rows of the largest task over the others' mean, by tasks, else by Kafka's offsets; NaN if unknown."""
    stages, largest = window.stages, window.stages["rows_max"]
    rows = zero_filled(stages["input_rows"]) + zero_filled(stages["shuffle_read_rows"])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(stages["tasks"] == 1, 1.0, largest / ((rows - largest) / (stages["tasks"] - 1)))
    unknown = np.isnan(ratio)
    if unknown.any():
        by_offsets = needed(rows_per_partition(window))[stages["batch"]]
        ratio = np.where(unknown & of_kind(window, "source_read"), by_offsets, ratio)
    return ratio


def slow_task(window: Window) -> np.ndarray:
    """Which stages have one task that takes at least twice as long as the others."""
    of = spread(window)
    return (of.longest >= SLOWER * of.others) & (of.longest - of.others >= LEAST_MS)


@remembered
def skewed(window: Window) -> np.ndarray:
    """Which stages behind a shuffle wait for one partition that has most of the work.

    Its task reads at least twice the rows of the others. If rows are unknown, it is the same partition in nearly all
    batches: a slow machine or a pause moves around. Then it has to be slow by more, since the first tasks
    of a stage may always be a little slower.
    """
    stages, of = window.stages, spread(window)
    behind = of_kind(window, "state", "shuffle", "result") & may_fetch(window)
    slow = slow_task(window) & behind
    present = ~np.isnan(stages["rows_max"])
    much = slow & ~present & (of.longest >= MUCH_SLOWER * of.others) & (of.longest - of.others >= LEAST_UNTOLD_MS)
    found = slow & present & (_rows_ratio(window) >= UNEVEN)
    for tasks in np.unique(of.tasks[much]):
        alike = behind & ~present & (of.tasks == tasks)
        batches = len(np.unique(stages["batch"][alike]))
        fewest = max(FEWEST_AT_ONE_PLACE, MOST_AT_ONE_PLACE * batches, 1 - np.log(CHANCE) / np.log(tasks))
        found |= much & alike & _at_one_place(stages["longest_task"], much & alike, fewest)
    return found


def _at_one_place(place: np.ndarray, slow: np.ndarray, fewest: float) -> np.ndarray:
    """Which stages have their longest task where nearly all slow ones have it; none where it moves, or they are few."""
    places = place[slow & ~np.isnan(place)]
    if len(places) < fewest:
        return np.zeros(len(place), dtype=bool)
    values, counts = np.unique(places, return_counts=True)
    return (place == values[counts.argmax()]) & bool(counts.max() >= MOST_AT_ONE_PLACE * len(places))


@stage_metric("ms", label="one large partition behind a shuffle", share=True)
def shuffle_skew_ms(window: Window) -> np.ndarray | Missing:
    """What stages behind a shuffle wait for one partition that has most of the rows or of the work.

    The time of the tasks less what it would be if their work were spread evenly.
    """
    return _beyond_even(window, skewed(window))


@window_metric("ratio", "count", inside=True, label="the longest task over the others, behind a shuffle")
def shuffle_skew_factor(window: Window) -> float | Missing:
    """How many times as long as the others the longest task behind a shuffle takes, where one partition is large."""
    if not len(window.stages):
        return NOT_SEEN
    of, found = spread(window), skewed(window)
    if not found.any():
        return Missing("no partition behind a shuffle is large")
    return median((of.longest / np.maximum(of.others, 1.0))[found])


@stage_metric("ms", label="one slow task", share=True)
def straggler_ms(window: Window) -> np.ndarray | Missing:
    """What a stage waits for one task that takes at least twice as long as the others, with no more rows than they.

    Where a log does not count the rows of tasks, those of more tasks than files may well be in one of them.
    """
    of, slow = spread(window), slow_task(window) & ~(_rows_ratio(window) >= UNEVEN) & ~skewed(window)
    alone = np.maximum(of.rounds, 1) * of.others
    files = window.batches["files_read"][window.stages["batch"]]
    uneven = np.isnan(_rows_ratio(window)) & of_kind(window, "source_read") & (files < of.tasks)
    return per_batch(window, np.where(uneven, np.nan, np.minimum(of.wall - alone, of.longest - of.others)), slow)


@stage_metric("ms", label="one large partition", share=True)
def skew_ms(window: Window) -> np.ndarray | Missing:
    """What reading the source waits for a partition with at least twice the rows of the others.

    The time of the tasks less what it would be if their work were spread evenly.
    """
    reads = of_kind(window, "source_read")
    may_read = reads | (window.stages["kind"] == None)  # noqa: E711 (element by element)
    if may_read.any() and np.isnan(_rows_ratio(window)[reads]).all():
        return NOT_TOLD
    return _beyond_even(window, (_rows_ratio(window) >= UNEVEN) & reads)


def _beyond_even(window: Window, large: np.ndarray) -> np.ndarray | Missing:
    """What these stages take beyond what they would if the work of their tasks were spread evenly."""
    of = spread(window)
    share = of.total / np.maximum(of.tasks, 1)
    return per_batch(window, np.minimum(of.wall - np.maximum(of.rounds, 1) * share, of.longest - share), large)


@stage_metric("ms", label="reading that more tasks could share")
def splittable_read_ms(window: Window) -> np.ndarray:
    """What reading the source takes beyond its work spread evenly over all slots: few tasks, or one large partition."""
    few, large = needed(too_few_readers_ms(window)), skew_ms(window)
    return np.where(few > 0, few, np.nan if isinstance(large, Missing) else large)
