"""What a checkpoint makes known: the facts of rules, and those that only the cases of rules/checkpoint.yaml ask."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import Reading, table_of_sightings
from advisor.batches.offsets import kafka_offsets
from advisor.checkpoint.logs import file_batch
from advisor.checkpoint.read import Seen
from advisor.errors import InputError
from advisor.facts import Known, Sighting, from_confs, version_numbers
from advisor.facts.confs import known_settings
from advisor.window import Window

OWN: Final = "checkpoint:"
"""Prefix of the facts that rules do not ask."""
NEWEST_OFFSETS, NEWEST_COMMITS = 2, 3
"""The newest versions of the logs that any Spark here reads (4.3)."""


def facts_of(seen: Seen) -> dict[str, Known]:
    """Return the facts of rules that a checkpoint settles."""
    found: dict[str, Any] = {
        "checkpoint_path": seen.place,
        "checkpoint_scheme": seen.place.partition("://")[0].lower() if "://" in seen.place else "file",
        "source": _source(seen),
        "state_operators": ",".join(dict.fromkeys(one.name for one in seen.operators if one.name)) or None,
        "changelog": _has_changelog(seen),
        "spark_version_at_least": _least_version(seen),
        "stateful": bool(seen.operators) if seen.newest else None,
        "trigger": "continuous" if seen.is_continuous else None,
        "async_progress_before": (not seen.operators and seen.has_gaps) or None,
    }
    confs = from_confs(seen.newest.confs, "checkpoint") if seen.newest else {}
    confs.pop("ignored_databricks_setting", None)  # the checkpoint holds a few settings, not all that were set
    settled = {name: Known(value, "checkpoint") for name, value in found.items() if value is not None}
    return {**confs, **settled, "missing_batch": Known(seen.missing_batch, "checkpoint")}


def own_facts(seen: Seen) -> dict[str, Known]:
    """Return what the cases ask besides."""
    offsets, commits = seen.newest.version if seen.newest else None, seen.commit.version if seen.commit else None
    found = {
        "is_new": seen.offset_log.last is None and seen.commit_log.last is None,
        "is_continuous": seen.is_continuous,
        "is_damaged": bool(seen.damage),
        "damage": seen.damage[0] if seen.damage else None,
        "has_metadata": seen.has_metadata,
        "address": shlex.quote(seen.place if "://" in seen.place else f"file://{Path(seen.place).absolute()}"),
        "has_gaps": seen.has_gaps or seen.missing_batch is not None,
        "has_gap": seen.missing_batch is not None,
        "newest_batch": seen.offset_log.last,
        "next_batch": seen.next_batch,
        "commit_is_ahead": seen.commit_ahead is not None,
        "ahead_batch": seen.commit_ahead,
        "has_state": bool(seen.operators),
        "state_is_lost": seen.state_gap is not None,
        "state_gap": seen.state_gap,
        "table_is_lost": seen.lost_table is not None,
        "lost_table": seen.lost_table,
        "has_replacement": seen.has_replacement,
        "snapshot_form": seen.snapshot_form,
        "is_repartitioned_halfway": seen.is_repartitioned_halfway,
        "offset_log": offsets,
        "commit_log": commits,
        "is_newer": (offsets or 0) > NEWEST_OFFSETS or (commits or 0) > NEWEST_COMMITS,
        "has_changelogs": any("changelog" in one.files.of_kind for one in seen.instances),
        "has_join": any(one.name == "symmetricHashJoin" for one in seen.operators),
        "has_families": any(one.shares_stores for one in seen.operators),
    }
    return {OWN + name: Known(value, "checkpoint") for name, value in found.items()}


def _has_changelog(seen: Seen) -> bool | None:
    """Whether RocksDB's newest version is a changelog; None of another store."""
    numbers = [n for one in seen.instances for kind in one.files.of_kind.values() for n in kind]
    if not any(one.files.is_rocksdb for one in seen.instances):
        return None
    return any(max(numbers) in one.files.of_kind.get("changelog", ()) for one in seen.instances)


def _source(seen: Seen) -> str | None:
    """Return the kind of the sources, as far as the form of their offsets tells it."""
    offsets = {text for text in seen.newest.offsets.values() if text} if seen.newest else ()
    kinds = ("file" if file_batch(one) is not None else "kafka" if kafka_offsets(one) else None for one in offsets)
    first = next(kinds, None)
    return first if first and all(kind == first for kind in kinds) else None


def _least_version(seen: Seen) -> str | None:
    """Return the oldest Spark that writes such files and pins such settings."""
    found = ["4.2"] if seen.newest and seen.newest.version > 1 else []
    found += ["4.0"] if seen.commit and seen.commit.version > 1 else []
    found += ["4.0"] if any(one.shares_stores for one in seen.operators) else []
    found += ["3.5"] if any("changelog" in one.files.of_kind for one in seen.instances) else []
    pinned = seen.newest.confs if seen.newest else ()
    if not any(key.startswith("spark.databricks.") for key in pinned):  # it has settings of later Sparks
        found += [since for key in pinned if (since := _came_with(key))]
    return max(found, key=version_numbers, default=None)


def _came_with(key: str) -> str | None:
    """Return the Spark (4.2) that first has this setting; None where the oldest known one has it, or none."""
    known = known_settings()
    has = known.settings.get(key, ())
    first = next((each for each, value in zip(known.versions, has, strict=False) if value is not None), None)
    return ".".join(first.split(".")[:2]) if first not in (None, known.versions[0]) else None


def written_by(window: Window) -> str | None:
    """Return the Spark that wrote the checkpoint, `4.2 or later` where only that is known."""
    version, least = (window.facts.value(name) for name in ("spark_version", "spark_version_at_least"))
    return version or (f"{least} or later" if least else None)


def with_checkpoint(reading: Reading, seen: Seen) -> Reading:
    """Return what was read with the facts of a checkpoint, for each run of its query; InputError without any."""
    ids, run_ids = reading.batches["id"], reading.batches["run_id"]
    runs = pc.unique(run_ids.filter(pc.equal(ids, seen.query_id))) if seen.query_id else ()
    rows = [
        Sighting(seen.query_id, str(run), seen.place, name, json.dumps(known.value), known.origin, seen.place, 0)
        for run in runs
        for name, known in facts_of(seen).items()
    ]
    if not rows:
        others = ", ".join(map(str, pc.unique(ids).to_pylist()[:3])) or "none"
        found = f"the checkpoint is of query {seen.query_id}, and the log shows {others}"
        raise InputError(seen.place, found, "give the log and the checkpoint of one query")
    return replace(reading, sightings=pa.concat_tables([reading.sightings, table_of_sightings(rows)]))
