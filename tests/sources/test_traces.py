"""What messages in logs show that a batch does besides: rules/traces.yaml."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
import yaml

import advisor
from advisor.catalogue.traces import forms, traced, traced_line, traces
from advisor.facts import FACTS
from advisor.sources.stages.loggedjobs import Moment
from advisor.sources.stages.scheduler import DeltaLog
from advisor.sources.stages.sinklines import Notes
from advisor.stages import BATCH_PARTS

SAMPLES = Path(__file__).parents[2] / "sample_progress"
MESSAGES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())


@pytest.mark.parametrize("case", MESSAGES, ids=lambda case: case["message"][:60])
def test_messages(case: dict[str, Any]) -> None:
    by = forms(events="event" in case)[case.get("event") or case["by"]]
    found = traced(by, case["message"].encode())
    assert {trace: number for _, number, trace in found if trace} == case["is"]
    assert {column: number for column, number, trace in found if not trace} == case.get("counts", {})


def test_traces_name_what_is_there() -> None:
    names = {trace.name for trace in traces()}
    for trace in traces():
        assert not trace.tells or FACTS[trace.tells].kind == "bool"
        assert not trace.counts or trace.counts in BATCH_PARTS.names
        assert trace.unless <= names
        assert trace.says or trace.counts or trace.writes
        assert trace.says.format(path="/t", times="once", files="1 file", ms="1 ms") or not trace.says


@pytest.mark.parametrize(
    ("message", "rule"),
    [("ReliableCheckpointRDD: Checkpointing took 7 ms.", None), ("JDBCRDD: closed connection", "JN004")],
)
def test_what_a_batch_does_is_said_with_the_loss(tmp_path: Path, message: str, rule: str | None) -> None:
    """Where no rule names a cause the phase has it; a rule may be about it."""
    whole = (SAMPLES / "SK005/paimon-sink-3.5.9/driver-ms.log").read_text()
    (tmp_path / "driver.log").write_text(
        re.sub(r"(.{21} INFO )DAGScheduler: Got job .*\n", rf"\g<0>\1{message}\n", whole)
    )
    (query,) = advisor.analyze(tmp_path).typed.queries
    loss, said = query.screen.loss, query.facts["batch_does"].value
    assert loss and said and (loss.kind, loss.rule) == ("add_batch", rule) and f" batch {said}." in loss.says


def test_an_event_log_shows_what_a_batch_does(tmp_path: Path) -> None:
    """A data set that is named anew, one that leaves the cache before each job, and a plan's operator."""
    [events] = (SAMPLES / "BC001/static-side-4.3.0").rglob("events_1_*.zstd")
    with pa.input_stream(str(events), compression="zstd") as file:
        whole = file.read().decode()
    rest = 5 * ("MapPartitionsRDD",)
    names = cycle(("ReliableCheckpointRDD", "PythonRDD", "ParallelCollectionRDD", *rest, "PythonRDD", *rest))
    left = re.sub(r'"Name":"MapPartitionsRDD"', lambda _: f'"Name":"{next(names)}"', whole)
    left = re.sub(r'"nodeName":"Scan \w+ ?[^"]*"', '"nodeName":"Scan JDBCRelation(t) [numPartitions=1]"', left)
    write = "Execute InsertIntoHadoopFsRelationCommand"  # Spark 4.3 has it below an adaptive plan
    write = f'"nodeName":"AdaptiveSparkPlan","children":[{{"nodeName":"{write}","simpleString":"{write} /t, true, "}}'
    left = re.sub(r'("sparkPlanInfo":)(\{.*?\})(,"time":\d+)', rf"\1{{{write},\2]}}\3", left)
    unpersist = '{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\n'
    left = re.sub(r'(?m)^(?=\{"Event":"SparkListenerJobStart")', unpersist, left)
    (tmp_path / "events").write_text(left)
    parts = advisor.read_stages(tmp_path / "events", parts=True)
    told = {entry.split()[0] for entries in parts["traces"] for entry in entries}
    assert told >= {
        "checkpoints_rows",
        "makes_rows_of_python",
        "hands_rows_to_python",
        "reads_by_jdbc",
        "drops_cache",
        "writes",
        "writes_files",
    }


def test_an_event_log_shows_the_delta_table_that_a_batch_saves_into(tmp_path: Path) -> None:
    """It stands in the plan's text alone, as Spark 4.0.1 writes it."""
    [events] = (SAMPLES / "BC001/static-side-4.3.0").rglob("events_1_*.zstd")
    with pa.input_stream(str(events), compression="zstd") as file:
        whole = file.read().decode()
    root = '"sparkPlanInfo":{"nodeName":"Execute SaveIntoDataSourceCommand","children":['
    text = r"Arguments: org.apache.spark.sql.delta.sources.DeltaDataSource@57594e2f, [path=/lake/orders], Append\n\n(3)"
    left = re.sub(r'"sparkPlanInfo":(\{.*?\})(,"time":\d+)', rf"{root}\1]}}\2", whole)
    left = re.sub(r'"physicalPlanDescription":"', lambda start: start[0] + text, left)
    (tmp_path / "events").write_text(left)
    parts = advisor.read_stages(tmp_path / "events", parts=True)
    told = {tuple(entry.split()) for entries in parts["traces"] for entry in entries}
    assert {path for name, _, path in (entry for entry in told if len(entry) == 3) if name == "writes_files"} == {
        "/lake/orders"
    }


def test_of_a_long_message_its_beginning_is_kept() -> None:
    traced_line.cache_clear()
    read = Notes(cast(Any, None), Moment(), DeltaLog()).tracing("DataSourceStrategy", None)
    for end in (b"1", b"2"):
        read(b"Pruning directories with: %s" % (b"x" * 10_000 + end), 0)
    assert traced_line.cache_info().currsize == 1
