"""What configuration values and writer options say about a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from advisor.facts.names import Known
from advisor.facts.settings import PREFIXES
from advisor.redaction import redact_setting
from advisor.vocabulary import CONF

ASYNC_ENABLED: Final = "asyncProgressTrackingEnabled"
ASYNC_INTERVAL: Final = "asyncProgressTrackingCheckpointIntervalMs"
ASYNC_INTERVAL_MS: Final = 1000
"""Spark's own, where that option is not given."""
_ASYNC_OVERRIDE: Final = "_asyncProgressTrackingOverrideSinkSupportCheck"
REAL_ASYNC_CONF: Final = "spark.sql.streaming.realtimemode.asyncprogresstrackingbydefault.enabled"
FETCH_WAIT: Final = "kafka.fetch.max.wait.ms"
ASYNC_STATE: Final = "spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled"
ASYNC_PURGE: Final = "spark.sql.streaming.asyncLogPurge.enabled"
IGNORED_EVERYWHERE: Final = "spark.sql.streaming.statefulOperator.asyncCheckpoint.enabled"
DATABRICKS_ONLY: Final = (
    ASYNC_STATE,
    IGNORED_EVERYWHERE,
    "spark.sql.streaming.statefulOperator.stateRebalancing.enabled",
    "spark.databricks.streaming.realTimeMode.enabled",
)
"""Exact keys that open-source Spark accepts and ignores. Never a prefix: `spark.databricks.delta.*` does work there."""

_KEPT_PREFIXES = (*PREFIXES, "spark.databricks.", "spark.dynamicallocation.")
_DSTREAMS: Final = "spark.streaming."
"""Prefix of settings that only DStreams read; Structured Streaming ignores them."""
_KEPT = (
    "spark.sql.shuffle.partitions", "spark.executor.cores", "spark.executor.instances", "spark.task.cpus",
    "spark.master",
)  # fmt: skip
_STORES = {"RocksDBStateStoreProvider": "rocksdb", "HDFSBackedStateStoreProvider": "hdfs"}
_STATE_PARTITIONS: Final = "spark.sql.streaming.internal.statestore.partitions"


def from_confs(confs: Mapping[str, str], origin: str) -> dict[str, Known]:
    """Every fact that these configuration values settle, with the values themselves as `conf:KEY`.

    `confs` is taken as all that was set: when none in it is a Databricks setting, that is known too (the value None).
    """
    read = (each for key, text in in_order(confs.items()) for each in from_conf(key, text))
    found = {name: Known(value, origin) for name, value in read}
    found.setdefault("ignored_databricks_setting", Known(None, origin))
    return found


def in_order(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs in an order in which the later one is right: the number of state partitions comes last."""
    return sorted(pairs, key=lambda pair: pair[0].lower() == _STATE_PARTITIONS)


def from_conf(key: str, text: str) -> list[tuple[str, Any]]:
    """(fact, value) pairs that one configuration value settles, first itself as `conf:KEY` where it is kept."""
    lowered = key.lower()
    found: list[tuple[str, Any]] = []
    of_async = "asyncprogress" in lowered
    if lowered in _KEPT or lowered.startswith(_KEPT_PREFIXES) or of_async:
        found.append((CONF + key, redact_setting(key, text)))
    if lowered in _READERS:
        fact, read = _READERS[lowered]
        found += [(fact, value) for value in [read(text.strip())] if value is not None]
    if of_async and lowered != REAL_ASYNC_CONF:
        found.append(("ignored_async_setting", key))
    if lowered.startswith(_DSTREAMS):
        found.append(("ignored_dstreams_setting", key))
    if lowered in _PLACEBOS and text.strip().lower() == "true":
        found.append(("ignored_databricks_setting", _PLACEBOS[lowered]))
    return found


def from_writer_options(options: Mapping[str, str], *, interval_default: bool = True) -> list[tuple[str, Any]]:
    """(fact, value) pairs that a query's complete writer options settle; option names count in exactly this case.

    A tracking interval that is not given is Spark's own, unless `interval_default` is false.
    """
    enabled = options.get(ASYNC_ENABLED, "false").strip().lower() == "true"
    found: list[tuple[str, Any]] = [("async_progress", enabled), ("ignored_async_setting", ignored_option(options))]
    interval = whole(options.get(ASYNC_INTERVAL, str(ASYNC_INTERVAL_MS) if interval_default else ""))
    if enabled and interval is not None:
        found.append(("async_progress_interval_ms", interval))
    return found


def from_reader_options(options: Mapping[str, str]) -> list[tuple[str, Any]]:
    """(fact, value) pairs that these options of a source settle."""
    wait = whole(options.get(FETCH_WAIT, ""))
    return [] if wait is None else [("kafka_fetch_max_wait_ms", wait)]


def ignored_option(options: Iterable[str]) -> str | None:
    """The first writer option that was meant for asynchronous progress tracking and that Spark does not know."""
    known = (ASYNC_ENABLED, ASYNC_INTERVAL, _ASYNC_OVERRIDE)
    return next((name for name in options if "asyncprogress" in name.lower() and name not in known), None)


def local_slots(master: str, task_cpus: int = 1) -> int | None:
    """Task slots of a local master (`local[4]`); None for `local[*]` and for clusters."""
    if master == "local":
        return 1
    inside = master.removeprefix("local[").partition("]")[0].partition(",")[0]
    cores = whole(inside) if master.startswith("local[") else None
    return max(cores // task_cpus, 1) if cores else None


def whole(text: str) -> int | None:
    """Return a number of digits alone, as Spark reads it; None for anything else."""
    stripped = text.strip()
    return int(stripped) if stripped.isdecimal() and len(stripped) <= 15 else None


def _positive(text: str) -> int | None:
    return whole(text) or None


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _manager(text: str) -> str:
    if "AbortableStream" in text:
        return "abortable"
    return "rename" if "FileContextBased" in text or "FileSystemBased" in text else "other"


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "spark.sql.streaming.statestore.providerclass": ("state_store", lambda text: _STORES.get(text.rpartition(".")[2])),
    "spark.sql.streaming.statestore.rocksdb.changelogcheckpointing.enabled": ("changelog", _flag),
    ASYNC_PURGE.lower(): ("async_log_purge", _flag),
    "spark.sql.streaming.checkpointfilemanagerclass": ("checkpoint_manager", _manager),
    "spark.sql.shuffle.partitions": ("shuffle_partitions", _positive),
    _STATE_PARTITIONS: ("shuffle_partitions", _positive),
    "spark.databricks.delta.snapshotpartitions": ("delta_snapshot_partitions", _positive),
    "spark.databricks.clusterusagetags.sparkversion": ("databricks_runtime", lambda text: text or None),
    "spark.app.name": ("application", lambda text: text or None),
}
_PLACEBOS = {key.lower(): key for key in DATABRICKS_ONLY}
