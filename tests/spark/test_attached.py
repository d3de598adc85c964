"""Attached to queries of a real Spark."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.session import attach
from tests.spark.queries import SECONDS, Heard, entry, known, rows, writer

pytestmark = pytest.mark.spark

ASYNC = {"asyncProgressTrackingEnabled": "true", "asyncProgressTrackingCheckpointIntervalMs": "1000"}


@pytest.fixture
def advisor(spark: Any) -> Iterator[Any]:
    with attach(spark) as attached:
        yield attached
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def heard(advisor: Any) -> Heard:
    return Heard(advisor)


def test_a_stateless_query(spark: Any, advisor: Any, heard: Heard, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    tracker = spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup(None)
    scored = rows(spark).select(f.udf(lambda value: f"<{value}>")("value").alias("value"))
    query = writer(scored, "plain", tmp_path, password="hunter2").start()
    heard.batches(query, 5)
    found = entry(advisor, query)
    assert (found["name"], found["state"]) == ("plain", "running")
    assert found["facts"]["spark_version"] == {"value": spark.version, "from": "session"}
    assert known(found, "trigger", "sink", "source", "task_slots", "async_progress", "stateful", "output_mode") == {
        "trigger": "unspecified", "sink": "noop", "source": "rate_micro_batch", "task_slots": 2,
        "async_progress": False, "stateful": False, "output_mode": "append",
    }  # fmt: skip
    assert known(
        found, "platform", "checkpoint_scheme", "checkpoint_manager", "ignored_async_setting", "runs_python"
    ) == {
        "platform": "open_source", "checkpoint_scheme": "file", "checkpoint_manager": "rename",
        "ignored_async_setting": None, "runs_python": True,
    }  # fmt: skip
    assert "hunter2" not in advisor.report().to_json()
    assert attach(spark, health=0) is advisor
    with urllib.request.urlopen(f"http://127.0.0.1:{advisor._health.port}/", timeout=SECONDS) as answer:
        assert (answer.status, json.loads(answer.read())["status"]) == (200, "running")
    told = advisor.overhead()
    assert (told["way"], told["dropped"], told["broken"], told["problems"]) == ("lean", 0, 0, [])
    assert len(tracker.getJobIdsForGroup(str(query.runId))) >= 5
    assert tracker.getJobIdsForGroup(None) == jobs, "no job of Spark is ours"
    query.stop()
    heard.end(query)
    assert entry(advisor, query)["state"] == "stopped"
    advisor.recorder.worker.join(SECONDS)
    assert advisor.recorder.worker.thread is None


def test_a_stateful_query_is_known_before_its_first_batch(
    spark: Any, advisor: Any, heard: Heard, tmp_path: Path
) -> None:
    counts = rows(spark).groupBy("value").count()
    misspelt = writer(counts, "counts", tmp_path, asyncProgressTrackingEnable="true").outputMode("update")
    query = misspelt.trigger(processingTime="100 milliseconds").start()
    heard.batches(query, 3)
    told = {row["fact"]: row["value"] for row in advisor.recorder.store.reading().sightings.to_pylist()}
    # Before 4.0 the plan does not mark what streams: not known then, and never wrong.
    assert told.get("stateful") == (None if spark.version.startswith("3.") else "true")
    found = entry(advisor, query)
    assert known(found, "stateful", "trigger", "trigger_interval_ms", "output_mode", "state_store") == {
        "stateful": True, "trigger": "processing_time", "trigger_interval_ms": 100, "output_mode": "update",
        "state_store": "hdfs",
    }  # fmt: skip
    assert known(found, "shuffle_partitions", "watermarked") == {"shuffle_partitions": 2, "watermarked": False}
    assert "asyncprogresstracking" in found["facts"]["ignored_async_setting"]["value"].lower()


def test_what_the_checkpoint_pins_and_what_the_session_wants(
    spark: Any, advisor: Any, heard: Heard, tmp_path: Path
) -> None:
    def start() -> Any:
        return writer(rows(spark).groupBy("value").count(), "pinned", tmp_path).outputMode("update").start()

    first = start()
    heard.batches(first, 2)
    first.stop()
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    try:
        second = start()
        heard.batches(second, 2)
        found = entry(advisor, second)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert found["facts"]["shuffle_partitions"] == {"value": 2, "from": "checkpoint"}
    conflict = next(each for each in found["conflicts"] if each["fact"] == "shuffle_partitions")
    assert {"value": 7, "from": "session"} in conflict["values"]


def test_a_query_that_fails(spark: Any, advisor: Any, heard: Heard, tmp_path: Path) -> None:
    def fail(batch: Any, number: int) -> None:
        raise ValueError("no such table, token=abc123")

    query = rows(spark).writeStream.foreachBatch(fail).option("checkpointLocation", tmp_path.as_uri()).start()
    heard.end(query)
    found = entry(advisor, query)
    assert found["state"] == "dead"
    assert "no such table" in found["terminated"]["error"]
    assert "abc123" not in found["terminated"]["error"]
    assert known(found, "sink") == {"sink": "foreach_batch"}


def test_a_restart_with_the_advised_option_is_a_run_of_the_same_query(
    spark: Any, advisor: Any, heard: Heard, tmp_path: Path
) -> None:
    first = writer(rows(spark), "again", tmp_path).start()
    heard.steady(first)
    first.stop()
    second = writer(rows(spark), "again", tmp_path, **ASYNC).start()
    heard.steady(second)
    before, after = entry(advisor, first), entry(advisor, second)
    assert before["id"] == after["id"]
    assert (before["state"], after["state"]) == ("stopped", "running")
    assert known(after, "async_progress", "async_progress_interval_ms", "async_progress_before") == {
        "async_progress": True, "async_progress_interval_ms": 1000, "async_progress_before": False,
    }  # fmt: skip


def test_sessions_have_listeners_of_their_own_and_one_advisor_can_serve_several(
    spark: Any, advisor: Any, heard: Heard, tmp_path: Path
) -> None:
    other = spark.newSession()
    with attach(other) as second:
        assert second is not advisor
        ours = writer(rows(spark), "ours", tmp_path / "a").start()
        theirs = writer(rows(other), "theirs", tmp_path / "b").start()
        heard.batches(ours, 2)
        Heard(second).batches(theirs, 1)
        assert {found["name"] for found in advisor.report().queries} == {"ours"}
        assert {found["name"] for found in second.report().queries} == {"theirs"}
    other.streams.addListener(advisor)
    heard.batches(theirs, 2)
    assert {found["name"] for found in advisor.report().queries} == {"ours", "theirs"}
    other.streams.removeListener(advisor)
    theirs.stop()


def test_continuous_processing_has_no_data_and_is_not_idle(spark: Any, advisor: Any, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate").load()
    query = writer(stream, "continuous", tmp_path).trigger(continuous="100 milliseconds").start()
    found = entry(advisor, query)
    query.stop()
    assert known(found, "trigger") == {"trigger": "continuous"}
    assert found["state"] == "no_data"
    assert "no progress event" in found["verdict"]


@pytest.mark.parametrize("stateful", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_real_time_mode(stateful: bool, spark: Any, tmp_path: Path) -> None:
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 3):
        pytest.skip("aggregates in real-time mode, and its trigger in Python, need Spark 4.3")
    stream, source = low_latency_stream(own := spark.newSession())
    # Batches of half a second, to a sink without a broker: the one is for production too short, the other not allowed.
    own.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "500")
    own.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
    own.conf.set("spark.sql.shuffle.partitions", "1")  # all stages run at once, on two slots
    frame = source.groupBy("value").count() if stateful else source
    with attach(own) as advisor:
        heard = Heard(advisor)
        made = writer(frame, "real-time", tmp_path).outputMode("update").trigger(realTime="500 milliseconds")
        query = made.start()
        found = heard.steady(query, lambda: stream.addData(spark._jvm.PythonUtils.toSeq(["a", "b"])))
        query.stop()
    assert known(found, "trigger", "source", "stateful", "changelog") == {
        "trigger": "real_time", "source": "memory", "stateful": stateful, "changelog": True,
    }  # fmt: skip
    assert known(found, "async_progress") == {"async_progress": not stateful}
    assert "per record" not in found["verdict"]
    assert "real-time mode" in found["metrics"]["record_latency_ms"]["missing"]
    assert found["metrics"]["trigger_execution_ms"]["p50"] >= 500
    assert all(step["saves_latency_ms"] is None for finding in found["findings"] for step in finding["steps"])


def low_latency_stream(spark: Any) -> tuple[Any, Any]:
    """Spark's own source for tests of real-time mode: the stream that takes data, and its frame."""
    from pyspark.sql import DataFrame

    java = spark._jvm.org.apache.spark.sql
    stream = java.execution.streaming.sources.LowLatencyMemoryStream.singlePartition(
        spark._jsparkSession, java.Encoders.STRING()
    )
    return stream, DataFrame(stream.toDF(), spark)


def test_a_slow_listener_of_the_session_is_told(spark: Any, advisor: Any, heard: Heard, tmp_path: Path) -> None:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    go, sixth = threading.Event(), threading.Event()

    class Slow(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802
        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            go.wait(SECONDS)

    def write(batch: Any, number: int) -> None:
        if number == 6:  # progress of those before is in the query's own list
            sixth.set()

    listener = Slow()
    spark.streams.addListener(listener)  # after the advisor, which hears one batch and then no more
    try:
        query = rows(spark).writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path)).start()
        heard.batches(query, 1)
        assert sixth.wait(SECONDS)
        assert advisor.overhead()["unheard"] >= 4
        report = advisor.report()
        assert "another listener is slow" in repr(report)
        found = {finding.rule: finding.evidence[0] for finding in report.typed.queries[0].findings}
        assert found["OB001"].value >= 4
    finally:
        go.set()
    query.stop()
    heard.end(query)
    assert advisor.overhead()["unheard"] == 0
    assert "OB001" not in {finding.rule for finding in advisor.report().typed.queries[0].findings}
    spark.streams.removeListener(listener)


def test_a_query_that_waits_for_data_is_idle(spark: Any, advisor: Any, tmp_path: Path) -> None:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    waits = threading.Event()

    class Waiting(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802
        def onQueryProgress(self, event: Any) -> None: ...  # noqa: N802
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802
        def onQueryIdle(self, event: Any) -> None:  # noqa: N802
            waits.set()

    listener = Waiting()
    spark.streams.addListener(listener)  # after the advisor: what it hears, the advisor has heard
    (tmp_path / "in").mkdir()
    stream = spark.readStream.schema("value string").text(str(tmp_path / "in"))
    query = writer(stream, "idle", tmp_path / "checkpoint").start()
    assert waits.wait(SECONDS)
    spark.streams.removeListener(listener)
    found = entry(advisor, query)
    assert "idle" in found["verdict"]
    assert advisor.overhead()["events"]["idle"] >= 1


def test_attached_late(spark: Any, tmp_path: Path) -> None:
    query = writer(rows(spark), "late", tmp_path).start()
    with attach(spark) as first:
        Heard(first).batches(query, 5)
    with attach(spark) as advisor:
        Heard(advisor).batches(query, 1)
        found = entry(advisor, query)
        query.stop()
    assert found["batches"] >= 6
    assert known(found, "task_slots", "trigger") == {"task_slots": 2, "trigger": "unspecified"}
    assert not advisor.progress()["idle"].any()


def test_starting_a_query_waits_for_nothing(spark: Any, advisor: Any, tmp_path: Path) -> None:
    go_on, asked = threading.Event(), threading.Event()
    session = advisor.recorder._session
    slow = session.facts_at_start

    def ask(run_id: str) -> Any:
        asked.set()
        assert go_on.wait(SECONDS)
        return slow(run_id)

    session.facts_at_start = ask
    query = writer(rows(spark), "quick", tmp_path).start()  # returns although nobody answers
    assert asked.wait(SECONDS)
    go_on.set()
    assert known(entry(advisor, query), "task_slots") == {"task_slots": 2}


def test_detached_under_load_the_queries_go_on(spark: Any, tmp_path: Path) -> None:
    advisor = attach(spark)
    heard = Heard(advisor)
    queries = [writer(rows(spark), f"load{number}", tmp_path / str(number)).start() for number in range(3)]
    for query in queries:
        heard.batches(query, 2)
    thread = advisor.recorder.worker.thread
    advisor.detach()
    assert thread is not None and not thread.is_alive()
    assert advisor._lean is not None and advisor._lean._hear is None
    with attach(spark) as again:
        later = Heard(again)
        for query in queries:
            later.batches(query, 1)
            assert query.isActive
            query.stop()
    assert len(advisor.report().queries) == 3


def test_the_public_way_hears_the_same(spark: Any, tmp_path: Path) -> None:
    from advisor.session import live
    from advisor.sources.listener.session import session_of

    with attach(spark) as lean, live.LiveAdvisor(spark, session_of(spark), lean._options) as public:
        public.fall_back(RuntimeError("refused"))
        spark.streams.addListener(public)
        query = writer(rows(spark), "both", tmp_path).start()
        Heard(public).batches(query, 3)
        query.stop()
        shared = ["batch_id", "timestamp", "trigger_execution_ms", "wal_commit_ms", "add_batch_ms"]
        shared += ["input_rows", "sink"]
        one, other = lean.progress()[shared].head(3), public.progress()[shared].head(3)
        assert one.to_dict("records") == other.to_dict("records")
        assert public.overhead()["way"] == "public"


def test_add_batch_is_opened_by_what_the_session_still_holds(
    spark: Any, advisor: Any, heard: Heard, tmp_path: Path
) -> None:
    query = writer(rows(spark).groupBy("value").count(), "opened", tmp_path).outputMode("update").start()
    heard.batches(query, 5)
    query.stop()
    heard.end(query)
    run = str(query.runId)
    stages, parts = (table[table["run_id"] == run] for table in (advisor.stages(), advisor.stages(parts=True)))
    assert (set(stages["kind"]), set(stages["origin"])) == ({"source_read", "state"}, {"session"})
    assert len(parts) >= 5 and list(parts["batch_id"]) == sorted(parts["batch_id"]) and (parts["jobs"] == 1).all()
    told = parts[[name for name in parts if name.endswith("_ms") and name not in ("add_batch_ms", "code_generated_ms")]]
    assert told.sum(axis=1).to_numpy() == pytest.approx(parts["add_batch_ms"].to_numpy())
    assert (parts["state_commit_ms"] > 0).all()
    assert parts["slots_wait_ms"].isna().all()
    assert entry(advisor, query).get("inside") is None
    (found,) = (one for one in advisor.report(stages=True).typed.queries if one.run_id == run)
    assert found.inside is not None and found.inside.parts
