"""Single batches, for charts."""

from __future__ import annotations

from typing import Literal

from advisor.contract.base import Entry

MarkKind = Literal["restart", "change_point"]


class Mark(Entry, frozen=True):
    """A moment at which the run changed, and what it was."""

    at: str | None
    kind: MarkKind


class Sample(Entry, frozen=True):
    """The judged batches together: `batch_ms` is their length at every percent of them, from 0 to 100.

    `rows` and `rows_ms`: the rows and the length of single batches, at most 400 of them, evenly spread.
    """

    batch_ms: tuple[float, ...]
    rows: tuple[float, ...]
    rows_ms: tuple[float, ...]


class Series(Entry, frozen=True):
    """One value per batch, in order of time; None if the batch does not have it.

    `batches`: how many there are, of which the columns hold as many as a chart can show: where they are thinned out,
    of every stretch its first batch and its longest one. `phases_ms`: by Spark's names of the phases, those that took
    any time. `cold`: still in the warm-up; `judged`: in the window; `spike`: far above the typical batch.
    `sample`: None where none is judged.
    """

    batches: int
    timestamp: tuple[str | None, ...]
    batch_id: tuple[int | None, ...]
    trigger_execution_ms: tuple[float | None, ...]
    phases_ms: dict[str, tuple[float | None, ...]]
    input_rows: tuple[float | None, ...]
    input_rows_per_second: tuple[float | None, ...]
    processed_rows_per_second: tuple[float | None, ...]
    record_latency_ms: tuple[float | None, ...]
    backlog_rows: tuple[float | None, ...]
    state_rows: tuple[float | None, ...]
    state_memory_bytes: tuple[float | None, ...]
    state_commit_ms: tuple[float | None, ...]
    cold: tuple[bool, ...]
    judged: tuple[bool, ...]
    spike: tuple[bool, ...]
    marks: tuple[Mark, ...]
    sample: Sample | None = None
