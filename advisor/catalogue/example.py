"""What a rule's own examples may say: batches in short form, facts, and the expected answer."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from advisor.catalogue.condition import Model, Number, Text
from advisor.vocabulary import Confidence, Level


class Every(Model):
    """What each nth batch shows instead."""

    nth: int = Field(ge=2)
    row: dict[str, Number]
    parts: dict[str, Number | tuple[str, ...]] = Field(default_factory=dict)
    stages: tuple[dict[str, Number | str | bool], ...] = ()


class SourceShort(Model):
    """One source of every batch: how many offsets it moves per batch and how far it lies behind the newest one."""

    description: Text = "KafkaV2[Subscribe[events]]"
    offsets: int | None = Field(None, ge=0)
    """Offsets per batch; as many as the batch has rows when left out."""
    backlog: int | None = Field(None, ge=0)
    backlog_growth: int = 0
    files_waiting: int | None = Field(None, ge=0)
    """Files that the source has not taken yet, as Databricks' Delta source and Auto Loader report them."""
    partitions: int = Field(1, ge=1, le=1_000)
    in_one: float = Field(0.0, ge=0, le=1)
    """The share of the records that one partition has before all take their turn."""


class Batches(Model):
    """A run in short form. `row` holds Spark's own names: phases of durationMs in ms, and numInputRows.

    `parts` and `stages` are what jobs show inside addBatch: columns of the tables `batch_parts` and `stages`, the same
    in each batch. `interval_ms` is the time between two starts (default: triggerExecution + 5 ms). With
    `rows_follow_batch` a batch reads what came in since the batch before, as with the default trigger. `batch_id` is
    the first one. `growth`: by how much a number of `row` grows from one batch to the next, triggerExecution by as much
    as its phases together. `state_growth`: the same of numRowsTotal of each operator, whose removals take longer in
    proportion, `state_bytes_growth` of the size that it tells, `tasks_growth` of its tasks; `event_time_growth_ms`: of
    the newest event time.
    """

    count: int = Field(ge=0, le=10_000)
    row: dict[str, Number] = Field(default_factory=dict)
    every: Every | None = None
    interval_ms: int | None = Field(None, ge=1)
    rows_follow_batch: bool = False
    batch_id: int = Field(100, ge=0)
    missing_ids: tuple[int, ...] = ()
    operators: tuple[dict[str, Any], ...] = ()
    growth: dict[str, Number] = Field(default_factory=dict)
    state_growth: int = 0
    state_bytes_growth: int = 0
    tasks_growth: int = 0
    sources: tuple[SourceShort, ...] = ()
    sink: Text | None = None
    event_time: dict[str, str] = Field(default_factory=dict)
    event_time_growth_ms: int = 0
    parts: dict[str, Number | tuple[str, ...]] = Field(default_factory=dict)
    stages: tuple[dict[str, Number | str | bool], ...] = ()
    first: dict[str, Number] = Field(default_factory=dict)
    """What the first batch shows instead; the next one starts when it ends."""
    before: dict[str, Number] = Field(default_factory=dict)
    """What `row` showed in as many batches before the restart or change with which these began."""


class Expect(Model):
    """What the engine must answer. `because` is in the reason; a step that is not shown stands in `not_steps`."""

    verdict: Literal["fires", "quiet", "skipped"]
    level: Level | None = None
    confidence: Confidence | None = None
    because: Text | None = None
    steps: dict[str, Literal["yes", "no", "if"]] = Field(default_factory=dict)
    not_steps: tuple[str, ...] = ()


class Example(Model):
    """One case that a rule answers: its test and its documentation.

    `facts` are taken as given by the user, those in `unknown` are unknown, even if the batches show them.
    """

    name: Text
    unknown: tuple[str, ...] = ()
    facts: dict[str, bool | int | float | str | None] = Field(default_factory=dict)
    batches: Batches
    expect: Expect
