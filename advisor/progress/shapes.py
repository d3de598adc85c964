"""The shape of one progress event: typed records, in the words that Spark writes."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar, cast

from msgspec import Meta, Raw, Struct, field

from advisor.redaction import redact

Int = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that a table's column can hold; anything larger is no count of anything."""
_Number = TypeVar("_Number", int, float)

FURTHEST: Final = "maxOffsetsBehindLatest"
"""Kafka's metric of a source: offsets of the partition that is furthest behind."""
MEAN: Final = "avgOffsetsBehindLatest"
"""Kafka's metric of a source: offsets that a partition is behind on average."""
ABSENT = Raw(b"null")
"""Stands for JSON that the event does not have."""


class Broken(Exception):  # noqa: N818 - the name that the tables use for it, too
    """A record that is not one whole progress event; `reason`: why, in words, without credentials."""

    def __init__(self, reason: str) -> None:
        self.reason = redact(reason)
        super().__init__(self.reason)


class Durations(Struct, gc=False, rename="camel", forbid_unknown_fields=True):
    """`durationMs`: wall milliseconds of the driver by phase; None where the event has no such key."""

    trigger_execution: Int | None = None
    latest_offset: Int | None = None
    get_offset: Int | None = None
    get_end_offset: Int | None = None
    set_offset_range: Int | None = None
    wal_commit: Int | None = None
    get_batch: Int | None = None
    query_planning: Int | None = None
    add_batch: Int | None = None
    commit_offsets: Int | None = None
    commit_batch: Int | None = None
    collect_source_metrics: Int | None = None
    post_add_batch_callback: Int | None = None
    post_commit_batch_callback: Int | None = None
    other: dict[str, Int] | None = field(default=None, name="")
    """Phases that no field is named for, by Spark's name."""


class EventTime(Struct, gc=False):
    """`eventTime`: ISO timestamps as Spark wrote them."""

    watermark: str | None = None
    max: str | None = None
    min: str | None = None
    avg: str | None = None


class Operator(Struct, gc=False, rename="camel"):
    """One of `stateOperators`; the times are sums over tasks."""

    operator_name: str | None = None
    num_rows_total: Int | None = None
    num_rows_updated: Int | None = None
    num_rows_removed: Int | None = None
    num_rows_dropped_by_watermark: Int | None = None
    all_updates_time_ms: Int | None = None
    all_removals_time_ms: Int | None = None
    commit_time_ms: Int | None = None
    memory_used_bytes: Int | None = None
    num_shuffle_partitions: Int | None = None
    num_state_store_instances: Int | None = None
    custom_metrics: dict[str, float] | None = None


class Source(Struct, gc=False, rename="camel"):
    """One of `sources`; offsets are JSON as it stands in the event (in an event log: a string that holds JSON)."""

    description: str | None = None
    start_offset: Raw = ABSENT
    end_offset: Raw = ABSENT
    latest_offset: Raw = ABSENT
    num_input_rows: Int | None = None
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None
    metrics: dict[str, str] | None = None


class Sink(Struct, gc=False, rename="camel"):
    """`sink`; -1 output rows means that the sink does not count."""

    description: str | None = None
    num_output_rows: Int | None = None


class Progress(Struct, gc=False, rename="camel", kw_only=True):
    """One decoded progress event; None for what the event lacks."""

    id: str
    run_id: str
    timestamp: str
    name: str | None = None
    batch_id: Int | None = None
    num_input_rows: Int | None = None
    batch_duration: Int | None = None
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None
    duration_ms: Durations
    event_time: EventTime | None = None
    state_operators: list[Operator] = []
    sources: list[Source] = []
    sink: Sink | None = None
    rtm_metrics: Raw = ABSENT
    latencies: Raw = ABSENT

    @property
    def idle(self) -> bool:
        """Whether the trigger ran no batch."""
        return self.duration_ms.add_batch is None


def with_totals(event: Progress) -> Progress:
    """The event with totals over its sources, which event logs leave out and every other form has."""
    sources = event.sources
    total = sources[0] if len(sources) == 1 else _total(sources)
    if total.num_input_rows is not None:
        event.num_input_rows = total.num_input_rows
        event.input_rows_per_second = total.input_rows_per_second
        event.processed_rows_per_second = total.processed_rows_per_second
    return event


def _total(sources: list[Source]) -> Source:
    """Return what all these sources took together, if each of them is known."""
    return Source(
        num_input_rows=_sum([source.num_input_rows for source in sources]),
        input_rows_per_second=_sum([source.input_rows_per_second for source in sources]),
        processed_rows_per_second=_sum([source.processed_rows_per_second for source in sources]),
    )


def _sum(numbers: list[_Number | None]) -> _Number | None:
    return None if not numbers or None in numbers else sum(cast("list[_Number]", numbers))
