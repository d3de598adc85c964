"""Facts that follow from several others, and Spark's defaults where the absence of a setting was seen."""

from __future__ import annotations

from typing import Any, Final

from advisor.facts.confs import (
    ASYNC_PURGE,
    ASYNC_STATE,
    DATABRICKS_ONLY,
    IGNORED_EVERYWHERE,
    PREFIXES,
    SPARKS_OWN,
    STATE_STORE_CLASS,
    local_slots,
    unknown_settings,
    whole,
)
from advisor.facts.names import EXECUTOR, ORIGINS
from advisor.facts.versions import (
    COMMIT_OFFSETS_ON_DATABRICKS,
    is_older,
    platform_of,
    version_at_least,
    version_numbers,
)
from advisor.vocabulary import CONF, ENDING

Candidates = dict[str, dict[str, Any]]
"""Fact to origin to value."""

_FIRST_SPARK: Final = {"available_now": "3.2", "real_time": "3.5"}
"""The oldest Spark with a trigger, Databricks' own included (open source: 3.3 and 4.1)."""
_PINNED_BY_CHECKPOINT: Final = {"shuffle_partitions": "spark.sql.shuffle.partitions", "state_store": "The state store"}
"""Facts that a query with state takes from its first start, and what sets them."""
_SINKS_WITHOUT_ASYNC: Final = ("delta", "file", "foreach_batch")
"""Sinks for which Spark refuses asynchronous progress tracking at start."""
_STREAMING: Final = tuple(CONF + prefix for prefix in PREFIXES)


def derive(candidates: Candidates) -> None:
    """Add to `candidates` what follows from them; what was seen directly stays as it is."""
    _version_bounds(candidates)
    _platform(candidates)
    _slots(candidates)
    _sink(candidates)
    _log_purge(candidates)
    _trigger(candidates)
    _async_progress(candidates)
    _stateless(candidates)
    _changelog(candidates)
    _pinned(candidates)
    _unknown(candidates)


def _best(candidates: Candidates, name: str) -> Any:
    by_origin = candidates.get(name, {})
    return by_origin[min(by_origin, key=ORIGINS.index)] if by_origin else None


def _put(candidates: Candidates, name: str, value: Any, origin: str) -> None:
    candidates.setdefault(name, {}).setdefault(origin, value)


def _properties(candidates: Candidates) -> str | None:
    """The origin that showed the application's Spark properties as a whole, if any did."""
    seen = [origin for origin in candidates.get(CONF + "spark.master", {}) if origin in ("event_log", "ui", "session")]
    return seen[0] if seen else None


def _version_bounds(candidates: Candidates) -> None:
    """Of what lines and progress say the narrower bound is right; a torn record lacks what newer Sparks write, too."""
    for name, narrower in (("spark_version_at_least", max), ("spark_version_below", min)):
        found = {origin: str(version) for origin, version in candidates.get(name, {}).items() if version is not None}
        if len(found) > 1:
            origin = narrower(found, key=lambda each: version_numbers(found[each]))
            candidates[name] = {origin: found[origin]}
    least, below = (_best(candidates, f"spark_version_{bound}") for bound in ("at_least", "below"))
    if least and below and version_at_least(str(least), str(below)):
        del candidates["spark_version_below"]


def _platform(candidates: Candidates) -> None:
    """Databricks adds properties of its own to every application: where all were seen without them it is not there.

    On Databricks its settings are not ignored; elsewhere asynchronous state checkpoints do not exist.
    """
    properties = _properties(candidates)
    if _best(candidates, "databricks_runtime"):
        _put(candidates, "platform", "databricks", min(candidates["databricks_runtime"], key=ORIGINS.index))
    elif properties and "databricks" not in candidates.get("platform", {}).values():
        version = _best(candidates, "spark_version")
        _put(candidates, "platform", platform_of(str(version)) if version else "open_source", properties)
    platform = _best(candidates, "platform")
    if platform == "databricks":
        _databricks(candidates)
    elif platform in ("open_source", "other"):
        _put(candidates, "async_state_checkpoint", False, "default")


def _databricks(candidates: Candidates) -> None:
    """It does not ignore its settings, and brings features to older versions: of commitOffsets it is known to which."""
    seen = candidates.pop("ignored_databricks_setting", {})
    if ignored := {origin: key for origin, key in seen.items() if key in (None, IGNORED_EVERYWHERE)}:
        candidates["ignored_databricks_setting"] = ignored
    least = candidates.pop("spark_version_at_least", None) or {}
    if any(version_at_least(str(version), "3.4") for version in least.values()):
        _put(candidates, "spark_version_at_least", COMMIT_OFFSETS_ON_DATABRICKS[0], "progress")
    for origin, value in candidates.get(CONF + ASYNC_STATE, {}).items():
        _put(candidates, "async_state_checkpoint", str(value).lower() == "true", origin)


def _trigger(candidates: Candidates) -> None:
    """An interval is one of processing time; kinds that this Spark does not have yet are no longer possible.

    What alone is left is known.
    """
    for origin in candidates.get("trigger_interval_ms", {}):
        _put(candidates, "trigger", "processing_time", origin)
    found = candidates.get("trigger_one_of")
    if not found:
        return
    left = [kind for kind in found["computed"] if not _before(candidates, _FIRST_SPARK.get(kind, "0"))]
    found["computed"] = left
    if len(left) == 1:
        _put(candidates, "trigger", left[0], "computed")


def _async_progress(candidates: Candidates) -> None:
    """Return off if this Spark lacks it, or would not have run these batches with it; a line that shows it wins."""
    if "async_progress" in candidates:
        return
    refused = (
        _best(candidates, "stateful") is True
        or _best(candidates, "sink") in _SINKS_WITHOUT_ASYNC
        or _best(candidates, "trigger") in ENDING
    )
    if refused or _before(candidates, _async_since(candidates)):
        _put(candidates, "async_progress", False, "computed")


def _stateless(candidates: Candidates) -> None:
    """A query with state dies in the first batch that it tracks asynchronously, and leaves no gap in its log."""
    if _best(candidates, "missing_batch") is not None and _best(candidates, "async_progress"):
        _put(candidates, "async_progress_before", True, "computed")
    if _best(candidates, "async_progress_before") and _best(candidates, "missing_batch") is not None:
        _put(candidates, "stateful", False, "computed")


def _changelog(candidates: Candidates) -> None:
    """Before 3.5 Spark accepts the setting and ignores it; Databricks had changelogs earlier."""
    if "changelog" in candidates and _best(candidates, "platform") != "databricks" and _before(candidates, "3.5"):
        _put(candidates, "changelog", False, "computed")


def _pinned(candidates: Candidates) -> None:
    """Where a query with state was asked for something else than its checkpoint keeps."""
    differing = []
    for fact, key in _PINNED_BY_CHECKPOINT.items():
        asked, others = candidates.get(fact, {}).get("session"), ("checkpoint", "progress", "log")
        kept = next((value for origin in others if (value := candidates.get(fact, {}).get(origin)) is not None), None)
        if asked is not None and kept is not None and asked != kept:
            differing.append(f"{key} is set to {asked}, and the checkpoint keeps {kept}")
    if differing and _best(candidates, "stateful"):
        _put(candidates, "pinned_setting", ". ".join(differing), "computed")


def _unknown(candidates: Candidates) -> None:
    """Name streaming settings that this Spark ignores, but those that other rules name; Databricks may read any."""
    keys = [name.removeprefix(CONF) for name in candidates if name.startswith(_STREAMING)]
    if (not keys and not _properties(candidates)) or _best(candidates, "platform") == "databricks":
        return
    provider = str(_best(candidates, CONF + STATE_STORE_CLASS) or SPARKS_OWN)
    version = _best(candidates, "spark_version")
    judged = [key for key in keys if key not in DATABRICKS_ONLY and "asyncprogress" not in key.lower()]
    told = unknown_settings(judged, str(version) if version else None, not provider.startswith(SPARKS_OWN))
    _put(candidates, "unknown_setting", told, "computed")


def _async_since(candidates: Candidates) -> str:
    """The first Spark that tracks progress asynchronously, here: on Databricks that of Runtime 11.3."""
    elsewhere = _best(candidates, "platform") in ("open_source", "other")
    runtime = _best(candidates, "databricks_runtime_below")
    before_runtime = runtime is not None and version_at_least("11.3", str(runtime))
    return "3.4" if elsewhere or before_runtime else "3.3"


def _before(candidates: Candidates, floor: str) -> bool:
    return is_older(_best(candidates, "spark_version"), _best(candidates, "spark_version_below"), floor)


def _sink(candidates: Candidates) -> None:
    """What a sink shows: only a log tells whether a function writes Delta; Spark's file sink takes append mode only."""
    sink = _best(candidates, "sink")
    if sink is not None and sink not in ("foreach", "foreach_batch", "other"):
        _put(candidates, "writes_delta", sink == "delta", "computed")
    if sink == "file":
        _put(candidates, "output_mode", "append", "computed")


def _slots(candidates: Candidates) -> None:
    """Task slots from a local master, or from the executors that are there."""
    cpus = whole(str(_best(candidates, CONF + "spark.task.cpus"))) or 1
    master = candidates.get(CONF + "spark.master", {})
    for origin, text in master.items():
        _put(candidates, "local_mode", str(text) == "local" or str(text).startswith("local["), origin)
        slots = local_slots(str(text), cpus)
        if slots:
            _put(candidates, "task_slots", slots, origin)
    executors = {name: by for name, by in candidates.items() if name.startswith(EXECUTOR)}
    default = whole(str(_best(candidates, CONF + "spark.executor.cores")))
    origin = next((origin for by in executors.values() for origin in by), "")
    cores = [default if (own := _best(executors, name)) is None else int(own) for name in executors]
    if None not in cores and (total := sum(count // cpus for count in cores if count)):
        _put(candidates, "task_slots", total, origin)
    if gone := sum(_best(executors, name) == 0 for name in executors):
        _put(candidates, "executors_gone", gone, origin)
    _bound_by_what_ran(candidates)


def _bound_by_what_ran(candidates: Candidates) -> None:
    """Slots that a stage with more tasks showed are only a bound where other tasks ran in some of them.

    So it is where several queries share them, and where more tasks were seen to run at once.
    """
    one_stage, seen = (candidates.get(name, {}) for name in ("task_slots", "task_slots_at_least"))
    number, most = one_stage.get("inferred"), seen.get("inferred") or 0
    if number is not None and (most > number or _best(candidates, "slots_shared")):
        candidates["task_slots"] = {origin: value for origin, value in one_stage.items() if origin != "inferred"}
        if not candidates["task_slots"]:
            del candidates["task_slots"]
        candidates["task_slots_at_least"] = {**seen, "inferred": max(most, number)}


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
