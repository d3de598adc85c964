"""The jobs on the cluster: read, look again, put runs together, judge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow as pa

from advisor.cluster.judging import runs_of
from advisor.cluster.reading import look_again, read_unit
from advisor.cluster.rows import DDL, Done, Row, batches_of, rows_of, sparing
from advisor.cluster.units import Asking, Look, Unit, look
from advisor.report import Asked
from advisor.sources.listener.session import is_connect

SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "32"}
"""Rows are as large as a range's batches: few of them may travel together."""
_LOOKS_PER_TASK = 64
_LOGS_PER_TASK = 4
_UNTOLD = 16  # tasks at once, where a session does not show how many
_REPORTED_EVERY_S = 0.2
Work = Callable[[Iterator[Row]], Iterable[Row]]
"""What makes rows of the rows of some keys, which come key by key in order of place."""


class Jobs:
    """Jobs of one session; what they keep on the workers' disks is let go by `forget`."""

    def __init__(self, spark: Any, progress: Callable[[int], None] | None = None) -> None:
        self._spark = spark
        self._progress = progress
        self._kept: list[Any] = []
        self.parallel = _UNTOLD if is_connect(spark) else max(1, int(spark.sparkContext.defaultParallelism))
        self.spread = self.parallel * 4
        """Tasks that rows are spread over; fewer where little was read."""

    def expect(self, parts: Sequence[Unit]) -> None:
        """Spread what is read of these over no more tasks than pay: each takes as long as some logs' rows."""
        few = min(self.parallel, len(parts))
        self.spread = max(1, min(self.spread, max(few, len(parts) // _LOGS_PER_TASK)))

    def looks(self, asked: list[Asking]) -> list[tuple[str, Look]]:
        """What each of the ranges holds."""
        if not asked:
            return []
        groups = [asked[at : at + _LOOKS_PER_TASK] for at in range(0, len(asked), _LOOKS_PER_TASK)]

        def work(task: bytes) -> Iterator[Row]:
            for path, start, end in msgspec.msgpack.decode(task, type=list[Asking]):
                yield Row("look", path, note=msgspec.json.encode(look(path, start, end)).decode())

        rows = self._over([msgspec.msgpack.encode(group) for group in groups], work).select("key", "note").collect()
        return [(row.key, Look(*msgspec.json.decode(row.note))) for row in rows]

    def read(self, tasks: Sequence[Sequence[Unit]], beside: Any = None, *, stages: bool = False) -> Any:
        """Return the rows of all units and those `beside`, kept on disk."""
        with self._reporting() as count:
            rows = self.rows(tasks, stages=stages, count=count)
            rows = self._keep(rows if beside is None else rows.union(beside))
            rows.count()
        return rows

    def rows(
        self, tasks: Sequence[Sequence[Unit]], *, sightings: bool = True, stages: bool = False, count: Any = None
    ) -> Any:
        """Return the rows of all units, read whenever they are asked for; `count`: takes the bytes of each."""

        def work(task: bytes) -> Iterator[Row]:
            for unit in msgspec.msgpack.decode(task, type=list[Unit]):
                for row in read_unit(unit, sightings, stages):
                    if count is not None and row.kind == "read":
                        count.add(row.said(Done).bytes)
                    yield row

        return self._over([msgspec.msgpack.encode(list(task)) for task in tasks], work)

    def looked_again(self, rows: Any) -> Any:
        """Return rows of sightings from the rows of marks."""
        return self._keep(self._grouped(rows.filter("kind = 'marks'"), self.spread, look_again))

    def runs(self, rows: Any, asked: Asked) -> Any:
        """Two rows per run: its last batches, and the places of all its events."""
        until = asked.until
        return self._keep(
            self._grouped(rows.filter("kind = 'batches'"), self.spread, lambda each: runs_of(each, until))
        )

    def judged(self, rows: Any, families: list[tuple[str, str, str]], work: Work) -> Any:
        """Rows of entries. `rows`: of runs and of sightings; `families`: (run or log, its name, its group)."""
        groups = self._spark.createDataFrame(families, "family string, name string, group string").hint("broadcast")
        families_of = "if(kind = 'sightings', 'log', 'run') as family"
        found = rows.selectExpr(families_of, "key as name", "*").join(groups, ["family", "name"])
        keyed = found.selectExpr("kind", "group as key", "number", "start", "rows", "note", "payload")
        partitions = min(self.parallel * 8, len({group for *_, group in families}))
        return self._grouped(keyed, partitions, work)

    def forget(self) -> None:
        """Let go of all that was kept."""
        for kept in self._kept:
            kept.unpersist()
        self._kept = []

    def _keep(self, frame: Any) -> Any:
        from pyspark import StorageLevel  # noqa: PLC0415

        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept

    def _over(self, tasks: Sequence[bytes], work: Callable[[bytes], Iterator[Row]]) -> Any:
        """A task of the cluster for each of `tasks`."""
        tasks = list(tasks)

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from batches_of(work(tasks[number]))

        return self._spark.range(0, len(tasks), 1, max(1, len(tasks))).mapInArrow(sparing(run), DDL)

    def _grouped(self, frame: Any, partitions: int, work: Work) -> Any:
        """`work` over the rows of each key, in order of place."""

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from batches_of(work(rows_of(batches)))

        ordered = frame.repartition(partitions, "key").sortWithinPartitions("key", "number", "start")
        return ordered.mapInArrow(sparing(run), DDL)

    @contextmanager
    def _reporting(self) -> Iterator[Any]:
        """Yield what tasks add their bytes to, None where nobody asks; tell `progress` how many, also at the end."""
        progress = self._progress
        if progress is None or is_connect(self._spark):
            yield None
            return
        count, ended = self._spark.sparkContext.accumulator(0), threading.Event()

        def watch() -> None:
            while not ended.wait(_REPORTED_EVERY_S):
                progress(count.value)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield count
        finally:
            ended.set()
            watcher.join()
            progress(count.value)
