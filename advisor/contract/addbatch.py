"""What ran inside addBatch, if a log or a session shows jobs."""

from __future__ import annotations

from advisor.contract.base import Entry


class BatchPart(Entry, frozen=True):
    """One part of addBatch's wall clock, in ms of a typical batch.

    `name` as in the table of batch parts without its unit (`source_read`); `holds`: parts that cannot be separated
    from it, so that this one holds their time too. `what`: the descriptions of its jobs. `tasks`: of its stages, in a
    typical batch, None if it has none.
    """

    name: str
    ms: float
    holds: tuple[str, ...] = ()
    what: str | None = None
    tasks: int | None = None


class StageSpan(Entry, frozen=True):
    """One stage on the clock of a batch: `start_ms` from the start of its first stage; `kind`, `what` as in a part."""

    job: int | None
    stage: int | None
    kind: str | None
    what: str | None
    start_ms: float
    ms: float
    tasks: int | None
    slots: int | None
    slots_wait_ms: float | None = None


class Timeline(Entry, frozen=True):
    """The stages of one batch, which took about as long as most."""

    batch_id: int | None
    add_batch_ms: float
    stages: tuple[StageSpan, ...]


class InsideBatch(Entry, frozen=True):
    """What addBatch of a typical batch consists of.

    `ms`: of addBatch, which `parts`, in the order of a batch's life, add up to. `batches`: how many show it.
    `source`: event_log, driver_log or session. `jobs`, `stages`, `tasks`: in a typical batch. `waited_for`: other
    queries whose tasks held the slots. `timeline`: None if the log's clock cannot place stages.
    """

    ms: float
    batches: int
    parts: tuple[BatchPart, ...]
    jobs: float
    stages: float
    tasks: float
    waited_for: tuple[str, ...] = ()
    timeline: Timeline | None = None
