"""Ids that are given out: an id never changes its meaning, and a retired one is never used again."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = {
    "LG": "log",
    "ST": "state",
    "TR": "trigger",
    "SR": "source",
    "SK": "sink",
    "DR": "drift",
    "PL": "planning",
    "CL": "cluster",
    "CF": "config",
    "OB": "observer",
    "DQ": "quality",
}
"""First two letters of an id and the folder of its rules. Other letters are free for a team's own rules."""

SLUGS: Final = {
    "LG001": "offset-log-on-critical-path",
    "LG002": "async-progress-queue-full",
    "LG003": "log-purge-inside-offset-write",
    "LG004": "slow-checkpoint-storage",
    "LG005": "async-progress-switched-off-with-gap",
    "ST001": "state-commit-on-critical-path",
    "ST002": "state-snapshot-in-every-commit",
    "ST003": "hdfs-state-store-too-big",
    "ST004": "state-row-count-tracking",
    "ST005": "too-many-state-partitions",
    "ST006": "too-few-state-partitions",
    "ST007": "state-never-shrinks",
    "ST008": "join-state-format",
    "ST009": "state-reloaded",
    "ST010": "state-snapshot-lag",
    "ST011": "late-rows-dropped",
    "ST012": "state-partitions-nearly-empty",
    "TR001": "falling-behind",
    "TR002": "fixed-cost-dominates",
    "TR003": "empty-batches",
    "TR004": "real-time-mode-candidate",
    "TR005": "continuous-processing-candidate",
    "TR006": "trigger-longer-than-needed",
    "SR001": "source-discovery-slow",
    "SR002": "source-read-more-than-once",
    "SR003": "partition-skew",
    "SR004": "source-parallelism-too-low",
    "SK001": "periodic-spike",
    "SK002": "sink-or-user-code-bound",
    "SK003": "delta-snapshot-rebuilt-in-every-batch",
    "DR001": "drift-at-equal-load",
    "DR002": "regime-change",
    "PL001": "query-planning-slow",
    "PL002": "unaccounted-time",
    "PL003": "time-between-batches",
    "CL001": "idle-cores",
    "CL002": "task-waves",
    "CF001": "databricks-setting-on-open-source-spark",
    "CF002": "misspelled-async-option",
    "CF003": "setting-pinned-by-checkpoint",
    "OB001": "listener-or-ui-cost",
    "DQ001": "data-quality",
}
"""What each id means, written or still to be written."""

RETIRED: Final[dict[str, str]] = {}
"""Ids that were used once -> what they meant."""
