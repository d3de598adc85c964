"""How a run shows that a step has taken effect: by its execution class, files, progress, pinned settings, log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.legality.runs import Seen

PARTITIONS: Final = {"kafka": 2, "kafka_wide": 6}
"""Of the topic that a source of the matrix reads."""
EPOCHS: Final = 6
"""Commits of continuous processing after which a query counts as one that runs."""
Effect = Callable[["Seen", set[Path]], bool]


def moved(seen: Seen) -> bool:
    """Whether a query whose tasks never end has read every partition of its source."""
    if seen.execution == "ContinuousExecution":
        return len(seen.commits) >= EPOCHS
    first: dict[str, int] = {}
    most: dict[str, int] = {}
    for source in (source for batch in seen.batches for source in batch["sources"]):
        for name, offsets in (("startOffset", first), ("endOffset", most)):
            for partition, offset in _of_topic(source.get(name)).items():
                offsets[partition] = (max if offsets is most else min)(offsets.get(partition, offset), offset)
    return bool(most) and all(offset > first.get(partition, 0) for partition, offset in most.items())


def _of_topic(offsets: dict[str, dict[str, int]] | None) -> dict[str, int]:
    return {partition: offset for topic in (offsets or {}).values() for partition, offset in topic.items()}


def _tracked_apart(seen: Seen, before: set[Path]) -> bool:
    written = [number for number in seen.offsets if not _known(seen, before, number)]
    return seen.execution == "AsyncProgressTrackingMicroBatchExecution" and len(written) < len(seen.batches)


def _known(seen: Seen, before: set[Path], number: int) -> bool:
    return seen.place / "checkpoint/offsets" / str(number) in before


def _tracked_at_once(seen: Seen, before: set[Path]) -> bool:
    ran = {batch["batchId"] for batch in seen.batches}
    return seen.execution == "MicroBatchExecution" and len(ran) >= 2 and ran <= set(seen.offsets)


def _interval(seen: Seen, before: set[Path]) -> bool:
    return seen.trigger == "ProcessingTimeTrigger(300)" and len(seen.batches) >= 2


def _without_renames(seen: Seen, before: set[Path]) -> bool:
    return "Renamed temp file" not in seen.log


def _new(seen: Seen, before: set[Path], pattern: str) -> list[Path]:
    return [file for file in (seen.place / "checkpoint/state").rglob(pattern) if file not in before]


def _changelogs(seen: Seen, before: set[Path]) -> bool:
    return bool(_new(seen, before, "*.changelog"))


def _operators(seen: Seen) -> list[dict[str, Any]]:
    return [operator for batch in seen.batches[-2:] for operator in batch["stateOperators"]]


def _in_rocksdb(seen: Seen) -> bool:
    return all("rocksdbGetCount" in one["customMetrics"] for one in _operators(seen)) and bool(_operators(seen))


def _rocksdb_with_changelog(seen: Seen, before: set[Path]) -> bool:
    return _in_rocksdb(seen) and _changelogs(seen, before)


def _one_partition(seen: Seen, before: set[Path]) -> bool:
    return {one["numShufflePartitions"] for one in _operators(seen)} == {1}


def _uncounted(seen: Seen, before: set[Path]) -> bool:
    return _in_rocksdb(seen) and {one["numRowsTotal"] for one in _operators(seen)} == {0}


def _without_checksums(seen: Seen, before: set[Path]) -> bool:
    """Whether files of the state had Spark's checksum beside them before, and have none now.

    Hadoop's local file system writes others, whose names begin with a dot.
    """
    written = [*_new(seen, before, "*.delta"), *_new(seen, before, "*.zip")]
    had = any(file.name.endswith((".delta.crc", ".zip.crc")) and not file.name.startswith(".") for file in before)
    return had and bool(written) and not any(file.with_name(f"{file.name}.crc").exists() for file in written)


def _one_store(seen: Seen, before: set[Path]) -> bool:
    found = _operators(seen)
    return bool(found) and all(one["numStateStoreInstances"] == one["numShufflePartitions"] for one in found)


def _operator(name: str) -> Effect:
    return lambda seen, before: {one["operatorName"] for one in _operators(seen)} == {name}


def _watermark(seen: Seen, before: set[Path]) -> bool:
    return bool(seen.batches) and "watermark" in seen.batches[-1].get("eventTime", {})


def _tasks(number: int) -> Effect:
    return lambda seen, before: re.search(rf"Adding task set \d+\.\d+ with {number} tasks", seen.log) is not None


def _more_tasks(seen: Seen, before: set[Path]) -> bool:
    """Whether a stage has more tasks than the topic has partitions."""
    partitions = PARTITIONS[seen.query.source]
    return any(int(tasks) > partitions for tasks in re.findall(r"Adding task set \d+\.\d+ with (\d+) tasks", seen.log))


def _prints(text: str) -> Effect:
    return lambda seen, before: text in seen.log


def _at_most(rows: int) -> Effect:
    """Whether batches have so few rows; one that was planned before the step is run again as it was planned."""

    def few(seen: Seen, before: set[Path]) -> bool:
        new = [batch for batch in seen.batches if not _known(seen, before, batch["batchId"])]
        return 0 < max((batch["numInputRows"] for batch in new), default=0) <= rows

    return few


def _two_files(seen: Seen, before: set[Path]) -> bool:
    return max((batch["numInputRows"] for batch in seen.batches), default=0) == 2


def _archived(seen: Seen, before: set[Path]) -> bool:
    return any((seen.place.parent.parent / "archive").rglob("*.json"))


def _real_time(seen: Seen, before: set[Path]) -> bool:
    return seen.trigger.startswith("RealTime") and moved(seen)


def _continuous(seen: Seen, before: set[Path]) -> bool:
    return seen.execution == "ContinuousExecution" and moved(seen)


def _fair(seen: Seen, before: set[Path]) -> bool:
    return seen.scheduler == "FAIR" and bool(seen.batches)


def _one_file(seen: Seen, before: set[Path]) -> bool:
    return bool(seen.shuffles) and "BypassMergeSortShuffleHandle" not in seen.shuffles


def _no_delta_checkpoint(seen: Seen, before: set[Path]) -> bool:
    log = seen.place / "out/_delta_log"
    new = [file for file in log.glob("*.checkpoint*.parquet") if file not in before]
    return len(seen.batches) >= 12 and not new


def _snapshot_of_two(seen: Seen, before: set[Path]) -> bool:
    return not _tasks(50)(seen, before) and bool(seen.batches)


EFFECTS: Final[dict[str, Effect]] = {
    "async-progress": _tracked_apart,
    "async-progress-off": _tracked_at_once,
    "async-progress-interval": _tracked_apart,
    "interval-that-holds": _interval,
    "interval-no-longer-than-needed": _interval,
    "abortable-checkpoint-manager": _without_renames,
    "changelog-checkpointing": _changelogs,
    "rocksdb-with-changelog": _rocksdb_with_changelog,
    "fewer-state-partitions": _one_partition,
    "offline-state-repartition": _one_partition,
    "no-row-count": _uncounted,
    "no-state-file-checksums": _without_checksums,
    "join-state-in-one-store": _one_store,
    "drop-duplicates-within-watermark": _operator("dedupeWithinWatermark"),
    "watermark-in-aggregation": _watermark,
    "fewer-shuffle-partitions": _tasks(3),
    "kafka-fetch-wait": _prints("fetch.max.wait.ms = 10\n"),
    "more-source-partitions": _more_tasks,
    "twice-the-rows-per-batch": _at_most(7),
    "twice-the-files-per-batch": _two_files,
    "clean-source": _archived,
    "real-time-mode": _real_time,
    "real-time-mode-in-place": _real_time,
    "real-time-mode-on-old-checkpoint": _real_time,
    "real-time-mode-stateful": _real_time,
    "continuous-processing": _continuous,
    "fair-scheduler": _fair,
    "shuffle-in-one-file": _one_file,
    "delta-checkpoint-interval": _no_delta_checkpoint,
    "delta-snapshot-partitions": _snapshot_of_two,
}
