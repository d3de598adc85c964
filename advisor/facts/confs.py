"""What configuration values and writer options say about a run, and which streaming settings a Spark ignores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import msgspec

from advisor.facts.names import Known
from advisor.facts.versions import version_at_least, version_numbers
from advisor.redaction import redact_setting
from advisor.vocabulary import CONF

FILE: Final = files("advisor.facts") / "settings.json"
PREFIXES: Final = ("spark.sql.streaming.", "spark.sql.adaptive.streaming.")
STATE_STORE_CLASS: Final = "spark.sql.streaming.stateStore.providerClass"
SPARKS_OWN: Final = "org.apache.spark."
_STATE_STORE: Final = "spark.sql.streaming.stateStore."
_ROCKSDB: Final = "spark.sql.streaming.statestore.rocksdb."
_ALIKE: Final = 0.65  # of a name's letters, in order: difflib's own measure of a spelling mistake
NEARLY: Final = 0.95  # the same, for names of which no list has all: any other key may be right as it is
_NAMED: Final = 3
_SIZE: Final = re.compile(r"(\d{1,12})([kmgtp]?)b?", re.ASCII)
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
    "spark.master", "spark.python.worker.reuse", "spark.sql.execution.arrow.maxrecordsperbatch",
    "spark.sql.files.maxrecordsperfile", "spark.scheduler.mode", "spark.locality.wait", "spark.sql.adaptive.enabled",
    "spark.shuffle.sort.bypassmergethreshold", "spark.memory.offheap.enabled", "spark.sql.codegen.wholestage",
    "spark.sql.parquet.enablevectorizedreader", "spark.sql.pyspark.udf.profiler",
)  # fmt: skip
_HADOOP: Final = "spark.hadoop."
"""Prefix of settings that Spark hands to Hadoop, without it; a session's own settings it hands over as they are."""
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
    if (name := lowered.removeprefix(_HADOOP)) in _READERS:
        fact, read = _READERS[name]
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
    meant = (name for name in options if "asyncprogress" in name.lower())
    ignored = next((name for name in meant if name not in (ASYNC_ENABLED, ASYNC_INTERVAL, _ASYNC_OVERRIDE)), None)
    found: list[tuple[str, Any]] = [("async_progress", enabled), ("ignored_async_setting", ignored)]
    found += from_file_options(options)
    interval = whole(options.get(ASYNC_INTERVAL, str(ASYNC_INTERVAL_MS) if interval_default else ""))
    if enabled and interval is not None:
        found.append(("async_progress_interval_ms", interval))
    return found


def from_file_options(options: Mapping[str, str]) -> list[tuple[str, Any]]:
    """(fact, value) pairs that these options of a writer of files settle."""
    given = {name.lower(): text for name, text in options.items()}
    return [pair for name in _COMPRESSION if name in given for pair in from_conf(name, given[name])]


def from_reader_options(options: Mapping[str, str]) -> list[tuple[str, Any]]:
    """(fact, value) pairs that these options of a source settle."""
    wait = whole(options.get(FETCH_WAIT, ""))
    return [] if wait is None else [("kafka_fetch_max_wait_ms", wait)]


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


def _bytes(text: str) -> int | None:
    """Return a size as Spark reads it (64KB, 1m, 65536); None for anything else."""
    size = _SIZE.fullmatch(text.lower())
    return (int(size[1]) << 10 * " kmgtp".index(size[2] or " ") or None) if size else None


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _manager(text: str) -> str:
    if "AbortableStream" in text:
        return "abortable"
    return "rename" if "FileContextBased" in text or "FileSystemBased" in text else "other"


_COMPRESSION: dict[str, tuple[str, Callable[[str], Any]]] = {
    "parquet.compression.codec.zstd.level": ("zstd_level", whole),
    **dict.fromkeys(("parquet.compression", "compression"), ("file_codec", str.lower)),
}
"""Options of a writer of files, the last one wins; the session takes them as settings, too."""
_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    **_COMPRESSION,
    "spark.sql.streaming.statestore.providerclass": ("state_store", lambda text: _STORES.get(text.rpartition(".")[2])),
    "spark.sql.streaming.statestore.rocksdb.changelogcheckpointing.enabled": ("changelog", _flag),
    ASYNC_PURGE.lower(): ("async_log_purge", _flag),
    "spark.sql.streaming.checkpointfilemanagerclass": ("checkpoint_manager", _manager),
    "spark.sql.files.maxpartitionbytes": ("split_bytes", _bytes),
    "spark.sql.shuffle.partitions": ("shuffle_partitions", _positive),
    _STATE_PARTITIONS: ("shuffle_partitions", _positive),
    "spark.databricks.clusterusagetags.sparkversion": ("databricks_runtime", lambda text: text or None),
    "spark.app.name": ("application", lambda text: text or None),
}
_PLACEBOS = {key.lower(): key for key in DATABRICKS_ONLY}


class Settings(NamedTuple):
    """The Sparks that were asked, each one's default of each key, None where it lacks it, and Spark's own "since"."""

    versions: tuple[str, ...]
    settings: dict[str, tuple[str | None, ...]]
    since: dict[str, str]
    options: frozenset[str]
    """Names of options that a source or a writer reads, which people set on the session."""


@cache
def known_settings() -> Settings:
    """Read the data file that `python -m tests.legality.settings` writes from Spark's jars."""
    data = msgspec.json.decode(FILE.read_bytes())
    versions = tuple(data["versions"])
    spread = {key: tuple(values) if len(values) > 1 else tuple(values) * len(versions)
              for key, (_, *values) in data["settings"].items()}  # fmt: skip
    return Settings(versions, spread, {key: since for key, (since, *_) in data["settings"].items()},
                 frozenset(data["options"]))  # fmt: skip


def unknown_settings(keys: Iterable[str], version: str | None, own_store: bool = False) -> str | None:
    """Return which of these keys this Spark ignores, with the nearest one that it knows; None where it knows all.

    Without a version a key counts that no known Spark has. A state store of one's own may read any setting of stores.
    """
    known = known_settings()
    oldest, newest = (version_numbers(known.versions[end])[:2] for end in (0, -1))
    if version and not oldest <= version_numbers(version)[:2] <= newest:
        return None
    judged = [key for key in keys if not (own_store and key.startswith(_STATE_STORE))]
    wrong = [(key, why) for key in sorted(judged) if (why := _why_ignored(key, version))]
    told = [f"{key} ({why}{_nearest(_name(key))})" for key, why in wrong[:_NAMED]]
    more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    return f"{', '.join(told)}{more}" if told else None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _why_ignored(key: str, version: str | None) -> str | None:
    """Return why this Spark ignores a setting, None if it knows it."""
    known = known_settings()
    has = known.settings.get(_name(key))
    if has is None:
        return f"no Spark from {_minor(known.versions[0])} to {_minor(known.versions[-1])} knows it"
    minors = [_minor(each) for each in known.versions]
    if not version or _minor(version) not in minors or has[at := minors.index(_minor(version))] is not None:
        return None
    since = next((each for each, value in zip(known.versions, has, strict=True) if value is not None), "")
    if version_at_least(since, known.versions[at]):
        return f"it came with Spark {_minor(since)}"
    return f"it is gone since Spark {_minor(known.versions[at])}"


def _name(key: str) -> str:
    """Return the key as the list has it: RocksDB's settings are read in any case of letters."""
    lowered = key.lower()
    if not lowered.startswith(_ROCKSDB):
        return key
    return next((name for name in known_settings().settings if name.lower() == lowered), key)


@lru_cache(maxsize=1024)  # every run of a session has the same settings
def _nearest(key: str) -> str:
    """Return the known setting that is spelt most alike behind the common prefix, and since when it is there."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who has an unknown setting waits for it

    known = known_settings()
    if key in known.settings:
        return ""
    if key.rpartition(".")[2] in known.options:
        return "; it is an option of a source or writer"
    tails = {name.removeprefix(PREFIXES[0]).lower(): name for name in known.settings}
    near = get_close_matches(key.removeprefix(PREFIXES[0]).lower(), tails, 1, _ALIKE)
    if not near:
        return ""
    name = tails[near[0]]
    since = f", since {known.since[name]}" if known.since[name] else ""
    return f"; the nearest is {name}{since}"
