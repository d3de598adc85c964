"""Facts that follow from several others, and Spark's defaults where the absence of a setting was seen."""

from __future__ import annotations

from typing import Any

from advisor.facts.confs import ASYNC_PURGE, ASYNC_STATE, IGNORED_EVERYWHERE, local_slots
from advisor.facts.names import CONF, EXECUTOR, SOURCES
from advisor.facts.versions import platform_of, version_at_least

Candidates = dict[str, dict[str, Any]]


def derive(candidates: Candidates) -> None:
    """Add to `candidates` what follows from them; what was seen directly stays as it is."""
    _platform(candidates)
    _databricks(candidates)
    _slots(candidates)
    _log_purge(candidates)


def _best(candidates: Candidates, name: str) -> Any:
    by_source = candidates.get(name, {})
    return by_source[min(by_source, key=SOURCES.index)] if by_source else None


def _source(candidates: Candidates, name: str) -> str:
    return min(candidates[name], key=SOURCES.index)


def _put(candidates: Candidates, name: str, value: Any, source: str) -> None:
    candidates.setdefault(name, {}).setdefault(source, value)


def _properties(candidates: Candidates) -> str | None:
    """The source that showed the application's Spark properties as a whole, if any did."""
    seen = [source for source in candidates.get(CONF + "spark.master", {}) if source in ("event_log", "session")]
    return seen[0] if seen else None


def _platform(candidates: Candidates) -> None:
    """Databricks adds properties of its own to every application: where all were seen without them it is not there."""
    runtime = _best(candidates, "databricks_runtime")
    if runtime:
        _put(candidates, "platform", "databricks", _source(candidates, "databricks_runtime"))
        return
    properties = _properties(candidates)
    if properties and "databricks" not in candidates.get("platform", {}).values():
        version = _best(candidates, "spark_version")
        _put(candidates, "platform", platform_of(str(version)) if version else "open_source", properties)


def _databricks(candidates: Candidates) -> None:
    """On Databricks its settings are not ignored; elsewhere asynchronous state checkpoints do not exist."""
    platform = _best(candidates, "platform")
    if platform == "databricks":
        ignored = candidates.get("ignored_databricks_setting", {})
        for source in [source for source, key in ignored.items() if key not in (None, IGNORED_EVERYWHERE)]:
            del ignored[source]
        if not ignored:
            candidates.pop("ignored_databricks_setting", None)
        candidates.pop("spark_version_at_least", None)  # Databricks brings features to older versions
        for source, value in candidates.get(CONF + ASYNC_STATE, {}).items():
            _put(candidates, "async_state_checkpoint", str(value).lower() == "true", source)
    elif platform in ("open_source", "other"):
        _put(candidates, "async_state_checkpoint", False, "default")


def _slots(candidates: Candidates) -> None:
    """Task slots from a local master, or from the executors that are there."""
    cpus = _whole(_best(candidates, CONF + "spark.task.cpus")) or 1
    master = candidates.get(CONF + "spark.master", {})
    for source, text in master.items():
        slots = local_slots(str(text), cpus)
        if slots:
            _put(candidates, "task_slots", slots, source)
    executors = {name: by for name, by in candidates.items() if name.startswith(EXECUTOR)}
    default = _whole(_best(candidates, CONF + "spark.executor.cores"))
    total = _total_cores(executors, default, cpus)
    if total:
        source = next(iter(next(iter(executors.values()))))
        _put(candidates, "task_slots", total, source)


def _total_cores(executors: Candidates, default: int | None, cpus: int) -> int | None:
    """The tasks that the registered executors run at once; None when the cores of one are not known."""
    cores = [_best(executors, name) for name in executors]
    known = [count for one in cores if (count := default if one is None else int(one)) is not None]
    return sum(count // cpus for count in known) if len(known) == len(cores) else None


def _log_purge(candidates: Candidates) -> None:
    """It came with 3.4, where it is on unless set: known only where the properties were seen without the key."""
    version = _best(candidates, "spark_version")
    newer = version_at_least(str(version or _best(candidates, "spark_version_at_least") or 0), "3.4")
    if "async_log_purge" in candidates or CONF + ASYNC_PURGE in candidates:
        return
    if newer and _properties(candidates):
        _put(candidates, "async_log_purge", True, "default")
    elif version and not newer and _best(candidates, "platform") != "databricks":
        _put(candidates, "async_log_purge", False, "default")


def _whole(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isdigit() else None
