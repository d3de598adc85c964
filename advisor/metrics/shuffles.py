"""What a batch pays for the number of its shuffle partitions: stages in, one value per batch out."""

from __future__ import annotations

import numpy as np

from advisor.metrics.metric import Batchwise, Bounds, stage_metric
from advisor.metrics.missing import NO_SLOTS, Missing, needed
from advisor.metrics.phases import share_of
from advisor.metrics.tasks import may_fetch, of_kind, per_batch, spread
from advisor.statistics import zero_filled
from advisor.window import Window

MOST_FILES, MANY_FILES = 200.0, 20.0
"""Of a task: spark.shuffle.sort.bypassMergeThreshold, above which it writes one file for all; files worth a look."""
SLOW_WRITE_MS, SLOW_WRITE, BYTES_PER_MS = 5.0, 0.02, 100_000.0
"""Of a task: the time to write to a shuffle, beyond what its bytes take, from which it is slow; as a share."""
LONGER = 12.0
"""Times the tasks' own write time by which files were seen to lengthen a stage: 4 to 12 times."""
JOINED = Missing("the partitions of the shuffle were joined before a stage showed how many there are")


@stage_metric("ms", label="extra waves of shuffle tasks")
def shuffle_waves_ms(window: Window) -> np.ndarray | Missing:
    """What stages that read a shuffle, without state, take beyond one wave of their tasks.

    No stage ends before its longest task does: what a skewed key takes is no matter of waves. Where the log counts what
    tasks fetch, a stage that fetches nothing reads a cache or lists files.
    """
    of, stages = spread(window), window.stages
    if np.isnan(of.rounds).any():
        return NO_SLOTS
    read = of_kind(window, "shuffle", "result") & (of.rounds > 1) & may_fetch(window)
    beyond = np.fmin(of.wall * (1 - 1 / of.rounds), of.wall - of.longest)
    return per_batch(window, beyond, read & ~np.isnan(stages["tasks"]))


@stage_metric("ms", label="small shuffle files")
def shuffle_files_ms(window: Window) -> np.ndarray | Missing:
    """What stages take, at most, for writing their shuffle as a file per partition.

    If the log has the write time, these are stages that write more slowly than a disk does, and no more than 12 times
    that: opening and deleting files does not count as writing. Otherwise they are whole stages whose next stage has
    many tasks. Fewer tasks there prove nothing: adaptive execution joins partitions after they are
    written.
    """
    of, stages, readers = spread(window), window.stages, _tasks_of_reader(window)
    writes, bytes_written = stages["shuffle_write_ms"], zero_filled(stages["shuffle_write_bytes"])
    seen, feeds = ~np.isnan(writes), readers > 0
    many, state = (readers[feeds] >= MANY_FILES).any(), of_kind(window, "state").any()
    if feeds.any() and not seen[feeds].any() and not many and not state:  # state has a task for each partition
        return JOINED
    beyond = writes - bytes_written / BYTES_PER_MS
    by_time = (beyond >= SLOW_WRITE_MS * of.tasks) & (writes >= SLOW_WRITE * of.total)
    by_count = (readers >= MANY_FILES) & (readers <= MOST_FILES)
    longer = np.fmin(stages["wall_ms"], LONGER * writes / of.at_once)
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


shuffle_waves_share = share_of(shuffle_waves_ms)
shuffle_files_share = share_of(shuffle_files_ms)
