"""A checkpoint's record: what it holds, whether it starts, what is done again, and the answers to what was asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Final

from advisor.batches import SCHEMA
from advisor.checkpoint.answers import may, starts
from advisor.checkpoint.facts import facts_of, own_facts
from advisor.checkpoint.logs import Held
from advisor.checkpoint.read import Seen
from advisor.checkpoint.record import Again, Checkpoint, Log, Store
from advisor.checkpoint.statestores import Instance, Load
from advisor.facts import settle
from advisor.metrics import Estimate, measure
from advisor.window import Window, run_window


def describe(
    seen: Seen,
    before: Iterable[str],
    window: Window | None = None,
    user: Mapping[str, object] | None = None,
) -> Checkpoint:
    """Return the record; `window`: the batches of the query, where a log shows them; `user`: facts that are given."""
    window = window or run_window(SCHEMA.empty_table(), settle((), facts_of(seen), user=user))
    window = window.with_facts(window.facts.having(**own_facts(seen)))
    pinned = dict(seen.newest.confs) if seen.newest else {}
    newest = max((one.newest for one in (seen.offset_log, seen.commit_log) if one.newest), default=None)
    per_batch = _per_batch(seen)
    return Checkpoint(
        path=seen.place,
        query_id=seen.query_id,
        start=starts(window),
        again=_again(seen, window),
        answers=tuple(may(asked, pinned, window) for asked in before),
        pinned=pinned,
        stores=tuple(_stores(seen)),
        logs=(
            _log("offsets", seen.offset_log, seen.newest.version if seen.newest else None),
            _log("commits", seen.commit_log, seen.commit.version if seen.commit else None),
            *(_log(f"sources/{name}", log, None) for name, log in seen.source_logs.items()),
        ),
        sources={name: text or "-" for name, text in (seen.newest.offsets if seen.newest else {}).items()},
        watermark_ms=(seen.newest.watermark_ms or None) if seen.newest else None,
        newest=datetime.fromtimestamp(newest, timezone.utc).isoformat(timespec="seconds") if newest else None,
        files=seen.files,
        bytes=seen.bytes,
        files_per_batch=per_batch,
        damage=seen.damage,
        missing_batch=seen.missing_batch,
        state_gap=seen.state_gap or seen.lost_table,
        is_checked=seen.checked,
        temporary=seen.offset_log.left + seen.commit_log.left,
    )


def _again(seen: Seen, window: Window) -> Again:
    """Return what a restart does again."""
    batch = None if seen.is_committed or seen.newest is None else seen.offset_log.last
    took = measure(window, "trigger_execution_ms", "typical") if len(window) else None
    return Again(
        next=seen.next_batch,
        batch=batch,
        rows=seen.newest.rows_since(seen.before) if batch is not None and seen.newest and seen.before else None,
        after_gaps=seen.has_gaps,
        batch_ms=took.value if isinstance(took, Estimate) else None,
    )


def _log(name: str, log: Held, version: int | None) -> Log:
    return Log(
        name=name, first=log.batches[0] if log.batches else None, last=log.last, count=len(log.batches),
        files=log.files, bytes=log.bytes, version=version,
    )  # fmt: skip


def _per_batch(seen: Seen) -> float | None:
    """Return the files that a batch adds: those of its two logs, and those of the newest version of each store."""
    if not seen.offset_log.batches:
        return None
    of_logs = sum(one.files / len(one.batches) for one in (seen.offset_log, seen.commit_log) if one.batches)
    kept = [
        (one.files.files, max(1, len({v for k in one.files.of_kind.values() for v in k}))) for one in seen.instances
    ]
    return round(of_logs + sum(files / versions for files, versions in kept), 1)


def _stores(seen: Seen) -> Iterable[Store]:
    """Yield each store of each operator, over its partitions."""
    together: dict[tuple[int, str], list[Instance]] = defaultdict(list)
    for one in seen.instances:
        together[one.operator, one.store].append(one)
    loads: dict[tuple[int, str], list[Load]] = defaultdict(list)
    for one, loaded in seen.loads:
        loads[one.operator, one.store].append(loaded)
    names = {one.number: one.name for one in seen.operators}
    for (operator, store), several in together.items():
        yield _store(operator, names.get(operator), store, several, loads[operator, store], seen)


def _store(
    operator: int, name: str | None, store: str, several: list[Instance], loads: list[Load], seen: Seen
) -> Store:
    sizes = [one.files.bytes for one in several]
    versions = [v for one in several for kind in one.files.of_kind.values() for v in kind]
    files = {kind: sum(len(one.files.of_kind.get(kind, ())) for one in several) for kind in _KINDS}
    is_rocks = any(one.files.is_rocksdb for one in several)
    return Store(
        operator=operator,
        operator_name=name,
        name=store,
        provider="rocksdb" if is_rocks else "hdfs" if versions else None,
        partitions=len(several),
        first_version=min(versions, default=None),
        last_version=max(versions, default=None),
        files={kind: count for kind, count in files.items() if count},
        bytes=sum(sizes),
        largest_bytes=max(sizes),
        skew=round(max(sizes) * len(sizes) / sum(sizes), 2) if sum(sizes) else None,
        rows=(seen.rows or {}).get((operator, store)),
        snapshot=min((one.snapshot for one in loads), default=0),
        replayed=sum(one.replayed for one in loads),
        most_replayed=max((one.replayed for one in loads), default=0),
        loaded_bytes=sum(one.bytes for one in loads),
    )


_KINDS: Final = ("snapshot", "delta", "zip", "changelog")
