"""Runs, made and recorded, told as other versions, sinks, triggers and layouts write them: what must hold of each."""

from __future__ import annotations

import copy
import gzip
import itertools
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.facts.versions import COMMIT_OFFSETS_ON_DATABRICKS, MINORS, version_at_least
from advisor.views.terminal import report_as_text
from tests.made import events
from tests.sources.variants import KAFKA, STATE

Event = dict[str, Any]
BATCHES = 24
NEW_STATE = ("operatorName", "allUpdatesTimeMs", "allRemovalsTimeMs", "commitTimeMs", "numRowsRemoved",
             "numShufflePartitions", "numStateStoreInstances")  # fmt: skip
WITHOUT_ASYNC = ("file", "delta", "foreach_batch", "other", "foreach")
ASYNC = "async-progress"
SINKS = {
    "kafka": "org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@3b1f",
    "console": "org.apache.spark.sql.execution.streaming.ConsoleTable$@31a", "memory": "MemorySink",
    "noop": "NoopTable", "foreach_batch": "ForeachBatchSink", "file": "FileSink[hdfs://nn/out]",
    "delta": "DeltaSink[hdfs://nn/table]", "other": "IcebergWrite(table=db.t, format=PARQUET)",
}  # fmt: skip
OF_STATE_ONLY = ("ST001", "ST002", "ST003", "ST005", "ST006", "ST009", "ST011", "ST012")
SAMPLES = Path(__file__).parents[1] / "sample_progress"
INTERVAL_MS = {"default": None, "interval": 2000}


def of_version(made: Event, version: str) -> Event:
    """The event as that version would have written it, by what came when."""
    told = copy.deepcopy(made)
    durations, old = told["durationMs"], not version_at_least(version, "3.0")
    if not version_at_least(version, "3.4"):
        durations.pop("commitOffsets")
    if old:
        asked = durations.pop("latestOffset")
        durations["getEndOffset" if version == "2.4" else "getOffset"] = asked
    if version == "2.4":
        durations["setOffsetRange"] = 2
    if not version_at_least(version, "2.3"):
        told.pop("batchId")
    if version_at_least(version, "4.0"):
        told["batchDuration"] = durations["triggerExecution"]
    for operator in told["stateOperators"]:
        if not version_at_least(version, "3.2"):
            for key in NEW_STATE:
                operator.pop(key, None)
        if not version_at_least(version, "3.1"):
            operator.pop("numRowsDroppedByWatermark", None)
        if not version_at_least(version, "2.4"):
            operator.pop("customMetrics", None)
        elif not version_at_least(version, "4.2"):
            known = operator.get("customMetrics", {})
            operator["customMetrics"] = {name: known[name] for name in known if name.startswith("loadedMap")}
    for source in told["sources"]:
        if not version_at_least(version, "3.2"):
            source.pop("latestOffset", None)
            source.pop("metrics", None)
    return told


def made(version: str, sink: str, trigger: str, stateful: bool) -> list[Event]:
    """A run whose logs take a third of each batch, and whose state commits show where it keeps some."""
    rows: list[Event] = [
        {
            "triggerExecution": 300 + 7 * (number % 3), "addBatch": 170 + 7 * (number % 3), "latestOffset": 4,
            "getBatch": 0, "queryPlanning": 12, "walCommit": 55, "commitOffsets": 52, "numInputRows": 10,
            "sources": [_read(number)], "operators": [copy.deepcopy(STATE)] if stateful else [], "sink": SINKS[sink],
        }
        for number in range(BATCHES)
    ]  # fmt: skip
    for row in rows:
        for operator in row["operators"]:
            operator["customMetrics"] = {"loadedMapCacheHitCount": 5, "loadedMapCacheMissCount": 0}
    return [of_version(each, version) for each in events(rows, interval_ms=INTERVAL_MS[trigger])]


def _read(number: int) -> Event:
    """Kafka's offsets of one batch, each going on where the one before ended."""
    source = copy.deepcopy(KAFKA)
    offsets = [{"orders": {"0": 10 + 5 * at, "1": 20 + 5 * at}} for at in (number, number + 1)]
    return source | {"startOffset": offsets[0], "endOffset": offsets[1], "latestOffset": offsets[1]}


def told() -> Iterator[tuple[str, str, str, bool]]:
    """Every version with every sink, trigger and state, in an order that mixes them."""
    every = [*itertools.product(MINORS[1:], SINKS, INTERVAL_MS, (False, True))]
    random.Random(14).shuffle(every)
    return iter(every)


CASES = [*told()]


def queried(folder: Path, lines: str) -> dict[str, Any]:
    path = folder / "told.log"
    path.write_text(lines + "\n", encoding="utf-8")
    (query,) = advisor.analyze(path).data["queries"]
    found: dict[str, Any] = query
    return found


def legal(query: dict[str, Any]) -> dict[str, str]:
    """How each step of each finding may be taken, by its id."""
    return {step["id"]: step["legal"] for finding in query["findings"] for step in finding["steps"]}


def value(query: dict[str, Any], fact: str) -> Any:
    return query["facts"].get(fact, {}).get("value")


@pytest.mark.parametrize("part", range(8))
def test_what_is_told_of_each_run_holds(tmp_path: Path, part: int) -> None:
    """One report in four of all: the others differ by parts that these hold, too."""
    for version, sink, trigger, stateful in CASES[part :: 8 * 4]:
        run = made(version, sink, trigger, stateful)
        query = queried(tmp_path, "\n".join(map(json.dumps, run)))
        case = f"{version} {sink} {trigger} {stateful}"
        assert query["window"]["batches"] >= BATCHES - 2, case
        _within_bounds(query, version, case)
        _by_its_trigger(query, trigger, case)
        _legal_there(query, version, sink, stateful, case)
        rules = {finding["rule"] for finding in query["findings"]}
        assert stateful or not rules & set(OF_STATE_ONLY), case


def _within_bounds(query: dict[str, Any], version: str, case: str) -> None:
    """The bounds of the version hold it, and what bounds it from below is no newer than Databricks' own."""
    least, below = value(query, "spark_version_at_least"), value(query, "spark_version_below")
    assert least is None or version_at_least(version, least), f"{case}: at least {least}"
    assert below is None or not version_at_least(version, below), f"{case}: below {below}"
    first = COMMIT_OFFSETS_ON_DATABRICKS[0]
    assert below is not None or version_at_least(version, first), f"{case}: no bound above"


def test_batches_without_a_pause_may_be_those_of_an_interval_that_all_overrun(tmp_path: Path) -> None:
    path = tmp_path / "told.log"
    path.write_text("\n".join(map(json.dumps, made("4.0", "noop", "default", stateful=False))), encoding="utf-8")
    for given, words in (([], "no pause between batches"), (["trigger=unspecified"], "default trigger")):
        assert words in report_as_text(advisor.analyze(path, set=given).typed)


def test_a_backlog_that_is_gone_at_the_end_is_not_falling_behind(tmp_path: Path) -> None:
    """AvailableNow on Kafka, whose newest offset stands still while it works."""
    run, last = made("4.0", "noop", "default", stateful=False), 24 * 200
    for number, one in enumerate(run):
        at = [{"orders": {"0": 200 * n}} for n in (number, number + 1)]
        newest = {"orders": {"0": last}}
        one["sources"][0] |= {"startOffset": at[0], "endOffset": at[1], "latestOffset": newest}
    query = queried(tmp_path, "\n".join(map(json.dumps, run)))
    assert not {"TR001", "TR008"} & {finding["rule"] for finding in query["findings"]}
    assert "available_now" in value(query, "trigger_one_of")
    assert legal(query).get(ASYNC) == "if"


def _by_its_trigger(query: dict[str, Any], trigger: str, case: str) -> None:
    kinds = {"default": ("unspecified",), "interval": ("processing_time",)}
    assert value(query, "trigger") in (*kinds[trigger], None), case
    assert value(query, "trigger_interval_ms") in (INTERVAL_MS[trigger], None), case
    assert not {"once", "real_time"} & set(value(query, "trigger_one_of") or ()), case


def _legal_there(query: dict[str, Any], version: str, sink: str, stateful: bool, case: str) -> None:
    """Nothing that this Spark, this sink or a query with state refuses is said to be legal for sure."""
    steps = legal(query)
    if stateful or sink in WITHOUT_ASYNC or not version_at_least(version, "3.4"):
        assert steps.get(ASYNC, "no") == "no", case
        best = query["best_step"]
        assert best is None or best["advice"]["id"] != ASYNC, case
    elif ASYNC in steps:
        assert steps[ASYNC] != "no", case
    for step in ("real-time-mode", "real-time-mode-in-place", "offline-state-repartition"):
        assert steps.get(step) != "yes" or version_at_least(version, "4.1"), f"{case}: {step}"
    assert steps.get("changelog-checkpointing", "no") != "yes", f"{case}: the default store has none"


RECORDED = ("LG001/kafka-to-kafka-4.3.0", "TR006/interval-5-s-4.3.0")


@cache
def recorded(case: str) -> tuple[Event, ...]:
    """The first batches of a sample, as Spark wrote them."""
    (path,) = (SAMPLES / case).glob("driver.log*")
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    starts = [found.end() for found in re.finditer("Streaming query made progress: ", text)]
    told = [json.JSONDecoder().raw_decode(text, start)[0] for start in starts]
    return tuple([event for event in told if "addBatch" in event["durationMs"]][: 2 * BATCHES])


def test_the_triggers_that_fit_recorded_batches(tmp_path: Path) -> None:
    every_5_s = queried(tmp_path, "\n".join(map(json.dumps, recorded(RECORDED[1]))))
    assert (value(every_5_s, "trigger"), value(every_5_s, "trigger_interval_ms")) == ("processing_time", 5000)
    run = copy.deepcopy(recorded(RECORDED[0]))
    once = queried(tmp_path, json.dumps(run[0] | {"batchId": 0, "inputRowsPerSecond": 0.0}))
    assert {"once", "available_now"} <= set(value(once, "trigger_one_of"))
    newest = run[-1]["sources"][0]["latestOffset"]
    for event in run:
        event["sources"][0]["latestOffset"] = newest
    fixed = queried(tmp_path, "\n".join(map(json.dumps, run)))
    assert "available_now" in value(fixed, "trigger_one_of")
    assert legal(fixed).get(ASYNC, "no") != "yes"
