"""What a reader calls each metric, in few words."""

from __future__ import annotations

from typing import Final

LABELS: Final[dict[str, str]] = {
    "add_batch_ms": "addBatch",
    "add_batch_share": "addBatch's share of the batch",
    "async_progress_saving_ms": "the time in both logs",
    "backlog_ms": "backlog",
    "backlog_rows": "backlog",
    "backlog_trend_ms_per_minute": "the growth of the backlog",
    "backlog_wait_ms": "the wait in the backlog",
    "checkpoint_write_ms": "the time for writing the checkpoint",
    "checkpoint_write_share": "the share of writing the checkpoint",
    "delta_snapshot_ms": "the time for rebuilding Delta's snapshot",
    "delta_snapshot_share": "the share of rebuilding Delta's snapshot",
    "falling_behind_share": "the share of late batches",
    "fixed_cost_share": "the fixed cost's share of the batch",
    "full_batches_share": "the share of batches filled to the source's limit",
    "headroom_ms": "the time left in the interval",
    "input_rows": "rows a batch",
    "input_rows_per_second": "rows a second",
    "interval_over_advised": "the interval over the one that would do",
    "interval_shortfall_ms": "what the interval is too short by",
    "interval_used_share": "the part of the interval that a batch uses",
    "interval_wait_ms": "the wait for a longer interval than needed",
    "kafka_fetch_wait_ms": "the wait for Kafka's empty fetches",
    "kafka_fetch_wait_share": "the share of waiting for Kafka's empty fetches",
    "late_rows": "rows dropped as too late",
    "late_rows_share": "the share of rows dropped as too late",
    "latency_target_excess_ms": "p99 of the record latency less its target",
    "least_computations": "how often a batch is computed",
    "offset_log_ms": "offset and commit logs",
    "offset_log_share": "the share of the offset and commit logs",
    "record_latency_ms": "record latency",
    "reread_factor": "how often the source is read",
    "reread_ms": "the time for reading rows again",
    "rows_per_state_partition": "rows in each state partition",
    "snapshot_commit_share": "the share of RocksDB's snapshots in the commit",
    "snapshot_commit_wall_ms": "the time for RocksDB's snapshots in the commit",
    "spike_every": "the batches from one slow one to the next",
    "spike_excess_ms": "the time of batches slow in a rhythm",
    "spike_excess_share": "the share of batches slow in a rhythm",
    "spike_gap_ms": "what batches slow in a rhythm take longer",
    "state_commit_share": "the state commit's share, if all tasks ran at once",
    "state_commit_share_at_slots": "the state commit's share of the batch",
    "state_commit_wall_ms": "state commit",
    "state_partitions": "state partitions",
    "state_partitions_per_slot": "state partitions per task slot",
    "state_rows": "keys in the state",
    "state_waves_excess_ms": "the time of state tasks that wait for a slot",
    "trigger_execution_ms": "batch",
    "unwanted_interval_wait_ms": "the wait for a longer interval than needed",
    "utilisation": "the batch over the time from one trigger to the next",
    "wal_commit_ms": "walCommit",
    "wal_commit_share": "walCommit's share of the batch",
}
"""By a metric's name; every metric that a rule names is here."""


def label(metric: str) -> str:
    """What to call the metric; one without a label by its name."""
    return LABELS.get(metric, metric.removesuffix("_ms").replace("_", " "))
