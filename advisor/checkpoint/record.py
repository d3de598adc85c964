"""What is known of a checkpoint, as types: the reader fills them, the views and the JSON show them."""

from __future__ import annotations

from typing import Literal

from advisor.contract import Entry, Stage

Says = Literal["yes", "no", "only_so", "if"]


class Answer(Entry, frozen=True):
    """The answer to one question. `versions`: the Sparks that it holds for, where it is no single one.

    `stages`: what a person does, in order; `step`: the step of the catalogue that it is.
    """

    asked: str
    answer: Says
    says: str
    versions: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    step: str | None = None
    unknown: tuple[str, ...] = ()


class Log(Entry, frozen=True):
    """A log folder: its first and newest batch, how many it holds; `version`: of the form of its newest file."""

    name: str
    first: int | None
    last: int | None
    count: int
    bytes: int
    version: int | None = None


class Store(Entry, frozen=True):
    """A state store of an operator, over all its partitions.

    `files`: how many of each kind; `skew`: bytes of the largest partition over their mean. `rows`: as RocksDB's newest
    snapshots count them. `snapshot`: the version that a start loads first (the oldest of all partitions); `replayed`:
    the files of changes that it then reads, `most_replayed` of one partition; `loaded_bytes`: the bytes of both.
    """

    operator: int
    operator_name: str | None
    name: str
    provider: Literal["hdfs", "rocksdb"] | None
    partitions: int
    first_version: int | None
    last_version: int | None
    files: dict[str, int]
    bytes: int
    skew: float | None
    rows: int | None
    snapshot: int
    replayed: int
    most_replayed: int
    loaded_bytes: int


class Again(Entry, frozen=True):
    """What a restart does again: the batch whose commit is missing, and its rows as far as its offsets count rows.

    `next`: the batch with which it goes on. `after_gaps`: batches were tracked asynchronously, so rows behind the
    newest offsets may have been written, too. `batch_ms`: what a typical batch takes, where a log shows it; `first_ms`:
    what the first one after its start took.
    """

    next: int
    batch: int | None
    rows: int | None
    after_gaps: bool
    batch_ms: float | None
    first_ms: float | None


class Checkpoint(Entry, frozen=True):
    """A checkpoint as its files show it. `start`: one answer for each range of Spark versions that agree.

    `answers`: to what was asked; `pinned`: the settings that a start takes from here, whatever is set (of a query
    without state, from Spark 4.1 on, all but the number of partitions); `sources`: the newest offsets; `newest`: when
    the logs last changed; `written_by`: the Spark that wrote them, or the oldest that may have. `damage`: files that a
    start reads and that are not there or not whole; without `is_checked` the state, or the log of a file source, was
    too large to be read in whole. `temporary`: files that nobody finished.
    """

    path: str
    query_id: str | None
    start: tuple[Answer, ...]
    again: Again
    answers: tuple[Answer, ...]
    pinned: dict[str, str]
    stores: tuple[Store, ...]
    logs: tuple[Log, ...]
    sources: dict[str, str | None]
    newest: str | None
    written_by: str | None
    files: int
    bytes: int
    files_per_batch: float | None
    damage: tuple[str, ...]
    is_checked: bool
    temporary: int
