"""A checkpoint's record: what it holds, whether it starts, what is done again, and the answers to what was asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone

from advisor.batches import SCHEMA
from advisor.batches.offsets import parse
from advisor.checkpoint.answers import may, starts
from advisor.checkpoint.facts import facts_of, own_facts, written_by
from advisor.checkpoint.read import Seen
from advisor.checkpoint.record import Again, Checkpoint, Log, Store
from advisor.checkpoint.statestores import Instance
from advisor.facts import settle
from advisor.metrics import Estimate, measure
from advisor.window import Window, run_window


def describe(
    seen: Seen, before: Iterable[str], window: Window | None = None, user: Mapping[str, object] | None = None
) -> Checkpoint:
    """Return the record; `window`: the batches of the query, where a log shows them; `user`: facts that are given."""
    window = window or run_window(SCHEMA.empty_table(), settle((), facts_of(seen), user=user))
    window = window.with_facts(window.facts.having(**own_facts(seen)))
    pinned = dict(seen.newest.confs) if seen.newest else {}
    offsets = seen.newest.offsets if seen.newest else {}
    safe = {text: parse(text.encode()).text for text in {*offsets.values()} if text}
    changed = max(seen.offset_log.newest or 0, seen.commit_log.newest or 0)
    logs = {"offsets": (seen.offset_log, seen.newest), "commits": (seen.commit_log, seen.commit)}
    logs |= {f"sources/{name}": (log, None) for name, log in seen.source_logs.items()}
    return Checkpoint(
        path=seen.place,
        query_id=seen.query_id,
        start=starts(window),
        again=_again(seen, window),
        answers=tuple(may(asked, pinned, window) for asked in before),
        pinned=pinned,
        stores=tuple(_stores(seen)),
        logs=tuple(
            Log(
                name=name, first=min(log.batches, default=None), last=log.last, count=len(log.batches), bytes=log.bytes,
                version=read.version if read else None,
            )
            for name, (log, read) in logs.items()
        ),
        sources={name: text and safe[text] for name, text in offsets.items()},
        newest=datetime.fromtimestamp(changed // 10**9, timezone.utc).isoformat() if changed else None,
        written_by=written_by(window),
        files=seen.files,
        bytes=seen.bytes,
        files_per_batch=_per_batch(seen),
        damage=(*seen.damage, *(one for one in (seen.state_gap, seen.lost_table) if one)),
        is_checked=seen.checked,
        temporary=seen.offset_log.left + seen.commit_log.left,
    )  # fmt: skip


def _again(seen: Seen, window: Window) -> Again:
    newest = seen.offset_log.last
    batch = None if seen.is_committed or newest is None else seen.next_batch
    took = measure(window, "trigger_execution_ms", "typical") if len(window) else None
    first = measure(window, "first_batch_ms")
    return Again(
        next=seen.next_batch,
        batch=batch,
        rows=seen.newest.rows_since(seen.before) if batch == newest and seen.newest and seen.before else None,
        after_gaps=seen.has_gaps,
        batch_ms=took.value if isinstance(took, Estimate) else None,
        first_ms=first.value if isinstance(first, Estimate) else None,
    )


def _per_batch(seen: Seen) -> float | None:
    """Return the files that a batch adds: those of its two logs, and those of a version of each store."""
    logs = [(one.files, len(one.batches)) for one in (seen.offset_log, seen.commit_log)]
    states = [(one.files.files, len({v for k in one.files.of_kind.values() for v in k})) for one in seen.instances]
    found = [files / numbers for files, numbers in (*logs, *states) if numbers]
    return round(sum(found), 1) if found else None


def _stores(seen: Seen) -> Iterator[Store]:
    """Yield each store of each operator, over its partitions."""
    names = {one.number: one.name for one in seen.operators}
    together: dict[tuple[int, str], list[Instance]] = defaultdict(list)
    for one in seen.instances:
        together[one.operator, one.store].append(one)
    for (operator, store), several in together.items():
        sizes = [one.files.bytes for one in several]
        counts: Counter[str] = Counter()
        for one in several:
            counts.update({kind: len(versions) for kind, versions in one.files.of_kind.items()})
        versions = [number for one in several for held in one.files.of_kind.values() for number in held]
        loads = [loaded for one, loaded in seen.loads if (one.operator, one.store) == (operator, store)]
        yield Store(
            operator=operator,
            operator_name=names[operator],
            name=store,
            provider="rocksdb" if any(one.files.is_rocksdb for one in several) else "hdfs" if versions else None,
            partitions=len(several),
            first_version=min(versions, default=None),
            last_version=max(versions, default=None),
            files=dict(counts),
            bytes=sum(sizes),
            skew=round(max(sizes) * len(sizes) / sum(sizes), 2) if sum(sizes) else None,
            rows=(seen.rows or {}).get((operator, store)),
            snapshot=min((one.snapshot for one in loads), default=0),
            replayed=sum(one.replayed for one in loads),
            most_replayed=max((one.replayed for one in loads), default=0),
            loaded_bytes=sum(one.bytes for one in loads),
        )
