"""What was asked for and is not there: a query of that name, a time with batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.compute as pc

from advisor.contract import FleetQuery, QueryEntry
from advisor.errors import UsageError, did_you_mean

Span = tuple[int, int]
"""Start of the first and of the last batch, milliseconds since 1970."""
_NAMED = 5  # queries that an error lists


def span(batches: pa.Table) -> Span | None:
    """From when to when there are batches, idle triggers left out; None where there is none with a time."""
    executed = batches["timestamp"].filter(pc.invert(batches["idle"])).drop_null()
    if not len(executed):
        return None
    ends = pc.min_max(executed.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())).as_py()
    return ends["min"], ends["max"]


def whole(spans: Iterable[Span | None]) -> Span | None:
    """One span over all of these."""
    known = [one for one in spans if one is not None]
    return (min(first for first, _ in known), max(last for _, last in known)) if known else None


def refuse_empty(limits: Mapping[str, object], batches: int, held: Span | None) -> None:
    """UsageError where limits of time leave none of the batches that the input holds."""
    given = [f"--{name} {value}" for name, value in limits.items() if value is not None]
    if given and held is not None and not batches:
        first, last = (f"{datetime.fromtimestamp(ms / 1000, timezone.utc):%Y-%m-%dT%H:%M:%SZ}" for ms in held)
        raise UsageError(" ".join(given), "no batch is in that time", f"the input has batches from {first} to {last}")


def refuse_unknown(wanted: Iterable[tuple[str | None, str]], queries: Sequence[tuple[str | None, ...]]) -> None:
    """UsageError where a query for which a fact is given is none of these, each by its name, id and run id.

    An empty input has none to compare with.
    """
    known = {name for names in queries for name in names if name}
    for query, fact in wanted:
        if query is not None and known and query not in known:
            called = (next((name for name in names if name), "") for names in queries)
            instead = did_you_mean(query, known, f"there are {_some(called)}")
            option = "--target" if fact.startswith("latency_target") else "--set"
            raise UsageError(f"{option} {query}:...", f"no query {query!r} in the input", instead)


def no_query(query: str, called: Iterable[str]) -> UsageError:
    """Return the error for the only query to show, if it is none of these."""
    return UsageError("--query", f"no query {query!r}", f"the queries are: {_some(called) or 'no query'}")


def _some(called: Iterable[str]) -> str:
    shown = sorted(set(called))
    others = f" and {len(shown) - _NAMED:,} others" if len(shown) > _NAMED else ""
    return f"{', '.join(shown[:_NAMED])}{others}"


def queries(batches: pa.Table) -> list[tuple[str | None, ...]]:
    """What each run of this table can be called by."""
    called = ["name", "id", "run_id"]
    return [tuple(row.values()) for row in batches.select(called).group_by(called).aggregate([]).to_pylist()]


def names(entry: QueryEntry | FleetQuery) -> tuple[str | None, ...]:
    """What a run in the report can be called by."""
    return entry.name, entry.id, entry.run_id
