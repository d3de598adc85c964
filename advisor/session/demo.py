"""The loop, live: attach, read the advice, apply it, see it measured."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from advisor.errors import AdvisorError, UsageError
from advisor.session import attach
from advisor.views.paste import interval, pastes
from advisor.views.promises import told
from advisor.views.screen import best_step
from advisor.views.text import saving

if TYPE_CHECKING:
    from advisor.report import Report
    from advisor.session.live import LiveAdvisor
    from advisor.session.watch import Notice

BATCHES: Final = 80
"""Batches of each run: enough to leave the warm-up behind and to say something of the rest."""
LONGEST_SECONDS: Final = 55.0
"""A run is over then, however many batches it has."""
_STEP_SECONDS: Final = 0.5
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class Workload:
    """A stream that runs anywhere: what is computed of the rows, and the session's settings at its start."""

    made: Callable[[Any], Any]
    mode: str = "append"
    conf: Mapping[str, str] = field(default_factory=dict)


WORKLOADS: Final[Mapping[str, Workload]] = {
    "stateless": Workload(lambda rows: rows.selectExpr("value", "value % 100 AS bucket")),
    "stateful": Workload(
        lambda rows: rows.selectExpr("value % 5000 AS bucket").groupBy("bucket").count(),
        "update",
        {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.stateStore.providerClass": _ROCKSDB},
    ),
}
"""What `live_demo` can run: for each, other advice."""


def live_demo(
    workload: str,
    say: Callable[[str], None],
    show: Callable[[Report], None],
    advance: Callable[[str, float], None],
    *,
    batches: int = BATCHES,
) -> dict[str, Any] | None:
    """Run a local stream, advise on it, restart it with the step that the report calls best, and compare.

    Comes back with the comparison as plain data, None where the advice held no step that can be applied here. Needs
    PySpark and Java. `say` takes a line of text, `show` the first report, `advance` what a run has done and the part of
    it that is over. Nothing is left behind, also on Ctrl-C. Raises UsageError for an unknown
    workload, and where a Spark session runs already.
    """
    if workload not in WORKLOADS:
        raise UsageError(f"workload {workload!r}", "there is no such workload", f"take one of {', '.join(WORKLOADS)}")
    place = Path(mkdtemp(prefix="latency-advisor-demo-"))
    try:
        with _session(place) as spark, attach(spark, on_finding=_silent) as advisor:
            return _Loop(spark, advisor, WORKLOADS[workload], place, batches, advance).run(say, show)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _silent(_: Notice) -> None:
    """The report is shown as a whole."""


@dataclass
class _Loop:
    spark: Any
    advisor: LiveAdvisor
    workload: Workload
    place: Path
    batches: int
    advance: Callable[[str, float], None]

    def run(self, say: Callable[[str], None], show: Callable[[Report], None]) -> dict[str, Any] | None:
        self._configure(self.workload.conf)
        self._once("as it is", {})
        report = self.advisor.report()
        show(report)
        best = best_step(report.queries[0]) if report.queries else None
        if best is None or not _applicable(best[1]):
            say("There is no step here that a restart could apply.")
            return None
        change = best[1]["change"]
        say(_applies(best[1]))
        self._configure(change.get("conf") or {})
        self._once("with the step", change)
        return self._proved(say)

    def _proved(self, say: Callable[[str], None]) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self.advisor.compare().data["comparisons"][0]
        except AdvisorError as error:
            say(f"The two runs cannot be compared: {error}")
            return None
        for words in told(found):
            say(words)
        return found

    def _configure(self, conf: Mapping[str, Any]) -> None:
        for key, value in conf.items():
            self.spark.conf.set(key, str(value))

    def _once(self, words: str, change: Mapping[str, Any]) -> None:
        """One run of the query, from its checkpoint, until it has enough batches or its time is over."""
        enough = _Enough(self.advisor, self.batches)
        query = self._writer(change).start()
        try:
            enough.wait(query, lambda done: self.advance(f"{words}: {enough.seen} batches", done))
        finally:
            query.stop()
            enough.leave()

    def _writer(self, change: Mapping[str, Any]) -> Any:
        rows = self.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1000").load()
        writer = self.workload.made(rows).writeStream.format("noop").queryName("demo").outputMode(self.workload.mode)
        writer = writer.option("checkpointLocation", (self.place / "checkpoint").as_uri())
        for key, value in (change.get("writer_option") or {}).items():
            writer = writer.option(key, str(value))
        every = (change.get("trigger") or {}).get("processing_time")
        return writer.trigger(processingTime=interval(every)) if every else writer


class _Enough:
    """Counts the batches that an advisor hears of."""

    def __init__(self, advisor: LiveAdvisor, wanted: int) -> None:
        self.seen, self._wanted, self._recorder = 0, wanted, advisor.recorder
        self._news = threading.Condition()
        self._inner = advisor.recorder.changed
        advisor.recorder.changed = self._heard

    def wait(self, query: Any, advance: Callable[[float], None]) -> None:
        left = LONGEST_SECONDS
        while self.seen < self._wanted and left > 0 and query.isActive:
            with self._news:
                self._news.wait_for(lambda: self.seen >= self._wanted, _STEP_SECONDS)
            left -= _STEP_SECONDS
            advance(min(1.0, max(self.seen / self._wanted, 1 - left / LONGEST_SECONDS)))

    def leave(self) -> None:
        self._recorder.changed = self._inner

    def _heard(self, id: str, run_id: str, ended: bool) -> None:
        with self._news:
            self.seen += not ended
            self._news.notify_all()
        self._inner(id, run_id, ended)


def _applies(step: Mapping[str, Any]) -> str:
    lines = [line for paste in pastes(step["change"]) for line in paste.lines]
    promise = saving(step.get("saves_ms"))
    expects = f" Promised: {promise}, per batch." if promise else ""
    return f"The same query again, from its checkpoint, with: {step['do']}.{expects}\n  " + "\n  ".join(lines)


def _applicable(step: Mapping[str, Any]) -> bool:
    """Whether a restart of this query from its checkpoint is all that it takes."""
    change = step.get("change") or {}
    return step["legal"] == "yes" and step["takes"] == "restart" and {*change} <= {"writer_option", "conf", "trigger"}


@contextmanager
def _session(place: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    if SparkSession.getActiveSession() is not None:
        raise UsageError("demo", "a Spark session runs here already", "run it in a process of its own")
    (place / "log4j2.properties").write_text("rootLogger.level = off\n")
    builder = SparkSession.builder
    for key, value in {
        "spark.master": "local[2]",
        "spark.app.name": "latency-advisor-demo",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={place / 'log4j2.properties'}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(place / "tmp"),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
