"""Run queries and steps on one Spark, and keep what came of them: the program of a Spark of its own.

`python -m tests.legality.runs PLAN.json`: the plan names cells, the address of a broker, jars and where results go.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from advisor.catalogue import Step, load
from advisor.facts.confs import PREFIXES
from advisor.redaction import redact
from advisor.report.assemble import judged_runs
from advisor.session import attach
from tests.legality import streams
from tests.legality.cells import ON_APPLICATION, Cell, Query, matrix
from tests.legality.effects import EFFECTS, EPOCHS, moved
from tests.spark.queries import Heard

BATCHES: Final = 4
SECONDS: Final = 120.0
"""The longest wait for a batch."""
STARVING_SECONDS: Final = 30.0
"""How long a query that holds its tasks may leave a partition unread."""
LOG4J: Final = """rootLogger.level = info
rootLogger.appenderRef.text.ref = text
appender.text.type = File
appender.text.name = text
appender.text.fileName = {log}
appender.text.layout.type = PatternLayout
appender.text.layout.pattern = %d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""
QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For many queries of a second each."""
_CLASS = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\]")
_WRAPPING: Final = ("STREAM_FAILED", "FAILED_EXECUTE_UDF")
_NO_WORDS: Final = ("An error occurred while calling", "Query [", "=== ", "Current ", "Identifier", "Error while")
LASTING: Final = ("continuous", "real_time")


@dataclass
class Seen:
    """What a run showed."""

    query: Query
    refused: str | None = None
    execution: str = ""
    trigger: str = ""
    batches: list[dict[str, Any]] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    log: str = ""
    place: Path = Path()
    shuffles: list[str] = field(default_factory=list)
    scheduler: str = ""


class Runner:
    """Runs queries one after the other in one session."""

    def __init__(self, spark: Any, place: Path, log: Path | None = None, bootstrap: str | None = None) -> None:
        self.spark, self.place, self.log, self.bootstrap = spark, place, log, bootstrap
        self.files = place / "files"
        if not self.files.exists():
            streams.write_files(self.files)
        self.advisor = attach(spark, on_finding=lambda _: None)
        self._heard = Heard(self.advisor)
        self.catalogue = load()
        self.steps = self.catalogue.steps

    def query(self, query: Query, place: Path) -> tuple[Seen, dict[str, Any]]:
        """Run the query without any step; also the facts that the advisor has of it, and one of its batches."""
        seen, run_id = self._run(query, place, {})
        return seen, self._told(run_id)

    def _told(self, run_id: str | None) -> dict[str, Any]:
        runs = judged_runs(self.advisor.recorder.reading(), self.catalogue)
        [found] = [run for run in runs if run.run.run_id == run_id] or [None]
        if found is None:
            return {}
        return {name: [known.value, known.origin] for name, known in found.window.facts.items()}

    def cell(self, cell: Cell, base: Path) -> tuple[str, str]:
        """Run the step on a copy of the query's checkpoint or on a new one: (outcome, what Spark said)."""
        place = self.place / "cells" / re.sub(r"\W+", "-", f"{cell.step} {cell.name}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if cell.checkpoint == "old":
            shutil.copytree(base, place, dirs_exist_ok=True)
        step = self.steps[cell.step]
        try:
            seen = self._stages(step, cell, place) if step.stages else self._changed(step, cell, place)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return seen

    def _changed(self, step: Step, cell: Cell, place: Path) -> tuple[str, str]:
        if step.id == "delta-checkpoint-interval":
            sql = f"ALTER TABLE delta.`{place / 'out'}` SET TBLPROPERTIES ('delta.checkpointInterval' = '100')"
            self.spark.sql(sql)
        before = {file for file in place.rglob("*") if file.is_file()}
        change = _filled(step.change.kinds if step.change else {})
        seen, _ = self._run(cell.query, place, change, code=step.id, batches=13 if "delta-ch" in step.id else BATCHES)
        return _outcome(step.id, seen, before)

    def _stages(self, step: Step, cell: Cell, place: Path) -> tuple[str, str]:
        """Each stage in order; the last run shows whether it has worked."""
        seen = Seen(cell.query)
        for stage in step.stages:
            change = _filled(stage.change.kinds if stage.change else {})
            if code := change.get("code"):
                try:
                    _repartition(self.spark, place, code)
                except Exception as error:
                    return "refused", words(error)
                continue
            if not change and not (stage.do or "").startswith("start the query"):
                continue
            seen, _ = self._run(cell.query, place, change)
            if seen.refused:
                return "refused", seen.refused
        return _outcome(step.id, seen, set())

    def _run(
        self, query: Query, place: Path, change: dict[str, Any], code: str = "", batches: int = BATCHES
    ) -> tuple[Seen, str | None]:
        seen, start = Seen(query, place=place), self.log.stat().st_size if self.log else 0
        kind, interval = _trigger(query, change)
        conf = {key: value for key, value in change.get("conf", {}).items() if key not in ON_APPLICATION}
        with self._session(streams.settings(query) | conf):
            try:
                started = self._start(query, place, change, code, kind, interval)
            except Exception as error:  # Spark's refusals have no common class
                seen.refused = words(error)
                return seen, None
            try:
                self._watch(started, kind, place, batches, seen)
            finally:
                with contextlib.suppress(Exception):
                    started.stop()
        seen.log = self.log.read_bytes()[start:].decode(errors="replace") if self.log else ""
        seen.offsets, seen.commits = _numbers(place / "checkpoint/offsets"), _numbers(place / "checkpoint/commits")
        return seen, str(started.runId)

    @contextlib.contextmanager
    def _session(self, conf: dict[str, str]) -> Iterator[None]:
        try:
            for key, value in conf.items():
                self.spark.conf.set(key, value)
            yield
        finally:
            for key in conf:
                self.spark.conf.unset(key)

    def _start(self, query: Query, place: Path, change: dict[str, Any], code: str, kind: str, interval: str) -> Any:
        def read() -> Any:
            options = dict(change.get("reader_option", {}))
            if "sourceArchiveDir" in options:
                options["sourceArchiveDir"] = str(self.place / "archive")
            return streams.rows(self.spark, query, self.bootstrap, self.files, options)

        frame, mode = streams.shaped(read, query, code)
        if kind == "real_time" and query.workload == "stateless":
            mode = "update"
        writer = streams.writer(frame, query, mode, place, self.bootstrap, dict(change.get("writer_option", {})))
        java = streams.trigger(self.spark, kind, interval)
        if java is not None:
            writer._jwrite = writer._jwrite.trigger(java)
        return writer.start()

    def _watch(self, started: Any, kind: str, place: Path, batches: int, seen: Seen) -> None:
        execution = started._jsq.streamingQuery()
        seen.execution, seen.trigger = execution.getClass().getSimpleName(), execution.trigger().toString()
        epochs = EPOCHS + len(_numbers(place / "checkpoint/commits"))
        run_id, until = str(started.runId), time.monotonic() + STARVING_SECONDS
        if kind == "continuous":  # it sends no events
            while (
                started.isActive and len(_numbers(place / "checkpoint/commits")) < epochs and time.monotonic() < until
            ):
                with contextlib.suppress(Exception):  # it raises what the query died of, which is asked for below
                    started.awaitTermination(0.2)
        elif kind == "real_time":
            for wanted in range(1, 100):
                self._heard.batches_or_end(run_id, wanted, until - time.monotonic())
                seen.batches = _executed(execution)
                if not started.isActive or time.monotonic() >= until or (seen.batches and moved(seen)):
                    break
        else:
            self._heard.batches_or_end(run_id, batches, SECONDS)
        seen.batches = _executed(execution)
        seen.scheduler = str(self.spark.sparkContext._jsc.sc().getSchedulingMode().toString())
        stateful = bool(seen.batches) and bool(seen.batches[-1]["stateOperators"])
        seen.shuffles = _shuffles(execution) if stateful and kind not in LASTING else []  # other plans are adaptive
        if (error := started.exception()) is not None:
            seen.refused = words(error)


def _outcome(step: str, seen: Seen, before: set[Path]) -> tuple[str, str]:
    if seen.refused:
        return "refused", seen.refused
    lasting = seen.execution == "ContinuousExecution" or seen.trigger.startswith("RealTime")
    if lasting and not moved(seen):
        return "starves", "partitions that no task holds are never read"
    if not seen.batches and seen.execution != "ContinuousExecution":
        return "starves", "no batch"
    return ("takes effect", "") if EFFECTS[step](seen, before) else ("ignored", "")


def _trigger(query: Query, change: dict[str, Any]) -> tuple[str, str]:
    given = change.get("trigger")
    if not given:
        return query.trigger, streams.INTERVAL
    [(kind, value)] = given.items()
    return kind, f"{value} milliseconds" if str(value).isdigit() else str(value)


def _filled(kinds: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(kinds)
    for name, value in matrix()["fill"].items():
        text = text.replace("{" + name + "}", value)
    filled: dict[str, Any] = json.loads(text)
    return filled


def _repartition(spark: Any, place: Path, code: str) -> None:
    call = code.replace("{checkpoint_path}", (place / "checkpoint").as_uri())
    assert "repartition(" in call
    eval(call, {"spark": spark})


def _executed(execution: Any) -> list[dict[str, Any]]:
    events = [json.loads(entry.json()) for entry in execution.recentProgress()]
    return [event for event in events if "addBatch" in event["durationMs"]]


def _shuffles(execution: Any) -> list[str]:
    """How the shuffles of the last batch are written, by the class of their handles."""
    found: list[str] = []
    with contextlib.suppress(Exception):
        left = [execution.lastExecution().executedPlan()]
        while left:
            node = left.pop()
            if node.getClass().getSimpleName() == "ShuffleExchangeExec":
                found.append(str(node.shuffleDependency().shuffleHandle().getClass().getSimpleName()))
            children = node.children()
            left += [children.apply(number) for number in range(children.size())]
    return found


def _numbers(folder: Path) -> list[int]:
    return sorted(int(file.name) for file in folder.glob("*") if file.name.isdigit()) if folder.exists() else []


def words(error: Any) -> str:
    """Return Spark's error class, or the first line that says something, without addresses and numbers of a run."""
    text = str(error)
    named = [name for name in _CLASS.findall(text) if name not in _WRAPPING]
    if named:
        return max(named, key=lambda name: ("." in name, -named.index(name)))
    lines = [line.strip(": ").partition("Exception: ")[2] or line.strip(": ") for line in text.splitlines() if line]
    told = next((line for line in lines if not line.startswith(_NO_WORDS) and "[STREAM_FAILED]" not in line), lines[0])
    return re.sub(r"file:\S+|/\S+/\S+|@[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}", "...", redact(told))[:160]


def session(plan: dict[str, Any], place: Path, log: Path) -> Any:
    """The session of a plan, which logs into a file."""
    from pyspark.sql import SparkSession

    (place / "log4j2.properties").write_text(LOG4J.format(log=log))
    log.touch()
    conf = {
        "spark.master": "local[4]",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"{QUICK} -Dlog4j2.configurationFile={place}/log4j2.properties",
        "spark.local.dir": f"{place}/tmp",
        "spark.sql.warehouse.dir": f"{place}/warehouse",
        "spark.sql.streaming.realTimeMode.minBatchDuration": "1000",
        "spark.executor.heartbeatInterval": "60s",
        "spark.network.timeout": "600s",
        **plan["conf"],
    }
    if plan["jars"]:
        conf["spark.driver.extraClassPath"] = ":".join(plan["jars"])
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main() -> None:
    """Run a plan; each result is a line of its own, so that nothing is lost."""
    faulthandler.register(signal.SIGUSR1)
    plan = json.loads(Path(sys.argv[1]).read_text())
    place = Path(plan["place"])
    spark = session(plan, place, place / "driver.log")
    runner = Runner(spark, place, place / "driver.log", plan["bootstrap"])
    with Path(plan["results"]).open("a") as results:
        if not plan["conf"]:
            listed = [row["key"] for row in spark.sql("SET -v").collect()]
            results.write(json.dumps({"listed": [key for key in listed if key.startswith(PREFIXES)]}) + "\n")
        for result in outcomes(runner, plan, place):
            results.write(json.dumps(result) + "\n")
            results.flush()
    spark.stop()


def outcomes(runner: Runner, plan: dict[str, Any], place: Path) -> Iterator[dict[str, Any]]:
    """Each query, before its first cell, and each cell."""
    cells = [Cell(each["step"], Query(**each["query"]), each["checkpoint"]) for each in plan["cells"]]
    bases: dict[Query, Path] = {}
    for cell in sorted(cells, key=lambda each: each.query.name):
        base = place / "queries" / re.sub(r"\W+", "-", cell.query.name)
        if cell.query not in bases and not base.exists():
            began = time.monotonic()
            seen, facts = runner.query(cell.query, base)
            yield {
                "query": cell.query.name,
                "refused": seen.refused,
                "facts": facts,
                "batch": seen.batches[-1] if seen.batches else None,
                "seconds": round(time.monotonic() - began, 1),
            }
        bases[cell.query] = base
        began = time.monotonic()
        try:
            outcome, says = runner.cell(cell, base)
        except Exception as error:  # of a value that Spark refuses as soon as it is set, too
            refused = type(error).__name__ == "IllegalArgumentException"
            outcome, says = "refused" if refused else "not run", words(error)
        spent = round(time.monotonic() - began, 1)
        yield {"step": cell.step, "cell": cell.name, "outcome": outcome, "says": says, "seconds": spent}


if __name__ == "__main__":
    main()
