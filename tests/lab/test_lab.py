"""The laboratory on real servers: a broker, an S3 server, Kafka to Kafka by Spark."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor import catalogue
from advisor.contract import OnTrial
from advisor.errors import UsageError
from advisor.trials.run import Bounds, Runner
from advisor.trials.setup import Permissions, Setup
from lab import jars
from lab.offsets.cells import Checkpoint, plan

pytestmark = [
    pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("confluent_kafka") is None, reason="an extra"),
]  # fmt: skip
RATE = 500
SECONDS = 300
"""The longest wait for what comes: a machine under load is slow."""
NEVER_MS = 600_000
"""An interval that no run reaches: how many logs asynchronous progress writes then does not follow the pace."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where throw-away directories of these tests come to lie."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("lab")
        patch.setattr(tempfile, "tempdir", str(place))
        yield place


@pytest.fixture(scope="module")
def runs(spark: Any, scratch: Path) -> list[dict[str, Any]]:
    """Two short runs of each query; servers and places are gone afterwards."""
    from lab.offsets.runs import Benchmark, servers

    local, configurations = (Checkpoint("local"),), ("inline", "both")
    planned = list(plan(("kafka", "stat"), local, (RATE,), 1, configurations, NEVER_MS))
    kept = "spark.sql.streaming.minBatchesToRetain"
    before = spark.conf.get(kept)
    spark.conf.set(kept, "10000")  # nothing is purged, however many batches a run has before it is stopped
    try:
        with servers(spark, planned, None) as shared:
            return list(Benchmark(spark, shared, 12, 600.0, lambda _: None).runs(planned))
    finally:
        spark.conf.set(kept, before)


def test_every_run_has_its_batches_and_latencies(runs: list[dict[str, Any]]) -> None:
    assert [run["configuration"] for run in runs] == ["inline", "both"] * 2
    for run in runs:
        measured = run["measured"]
        assert run["batches"] >= 12 and not run["refused"]
        assert 0 < measured["p50_low"] <= measured["p50"] <= measured["p99"] <= measured["p99.9_high"]
        assert measured["records"] > 0 and measured["rank_error"] < 0.001


def test_every_record_that_was_due_came_through(runs: list[dict[str, Any]]) -> None:
    """But those that were sent late, or came while the last batch ran: how many these are follows the pace."""
    for run in runs[:2]:
        measured = run["measured"]
        missing = measured["records"] * measured["missing_share"] / (1 - measured["missing_share"])
        assert missing <= RATE / 1000 * (measured["late_ms"] + run["trigger_ms"]["p99"])


def test_the_logs_leave_the_batch(runs: list[dict[str, Any]]) -> None:
    for inline, both in (runs[:2], runs[2:]):
        for log in ("walCommit", "commitOffsets"):
            assert both["phases_ms"][log] < inline["phases_ms"][log] / 2


def test_log_files_are_counted(runs: list[dict[str, Any]]) -> None:
    for run in runs:
        written, executed = run["measured"]["log_files"], run["executed"]
        if run["configuration"] == "inline":
            assert written >= 2 * executed - 2
        else:
            assert 0 < written < executed
        assert run["measured"]["purged_files"] == 0


def test_nothing_is_left(spark: Any, runs: list[dict[str, Any]], scratch: Path) -> None:
    assert not list(scratch.iterdir()) and not spark.streams.active


def test_a_broker_is_gone_after_an_exception(spark: Any, scratch: Path) -> None:
    from confluent_kafka import KafkaException

    from lab.broker import admin, broker, topics

    with pytest.raises(KeyboardInterrupt), broker(spark) as address, topics(address, "some"):
        assert set(admin(address).list_topics(timeout=SECONDS).topics) == {"some"}
        raise KeyboardInterrupt
    with pytest.raises(KafkaException):
        admin(address).list_topics(timeout=0.5)
    assert not list(scratch.iterdir())


def test_after_sigterm_no_broker_is_left(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab", "offsets", "--quick", "--path", "kafka"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as bench:
        assert bench.stderr is not None
        assert any("warming up, kafka" in line for line in bench.stderr)
        assert _processes(str(tmp_path))
        bench.terminate()
        bench.stderr.read()
    assert bench.returncode == 130
    assert not _processes(str(tmp_path)) and not list(tmp_path.glob("latency-advisor-*"))


def _processes(word: str) -> list[str]:
    listed = subprocess.run(["ps", "-e", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout
    return [args for args in listed.splitlines() if word in args]


def test_a_run_makes_its_topic_and_leaves_none(spark: Any, scratch: Path, tmp_path: Path) -> None:
    from lab.broker import admin, broker, topics
    from lab.load import Load

    jars.added(spark, jars.fetched(spark, jars.connector(spark.version)))
    with broker(spark) as address, topics(address, "orders"), Load(address, "orders", RATE):
        reached = {"kafka.bootstrap.servers": address}

        def names() -> set[str]:
            return set(admin(address).list_topics(timeout=SECONDS).topics)

        def build(setup: Setup) -> Any:
            orders = setup.spark.readStream.format("kafka").options(**reached, subscribe="orders").load()
            return orders.select("value").writeStream.format("kafka").options(**reached, topic=setup.topic("out"))

        assert names() == {"orders"}  # and this broker makes none by itself
        runner = Runner(spark, build, Bounds(1, 10, 600.0), Permissions(), catalogue.load())
        run = runner.run(OnTrial(), "run", tmp_path.as_uri())
        assert len(run.window) >= 10 and run.refused is None
        until = time.monotonic() + SECONDS
        while names() != {"orders"}:
            assert time.monotonic() < until
    assert not list(scratch.iterdir())


def test_a_package_that_is_not_there_is_one_line(spark: Any) -> None:
    with pytest.raises(UsageError, match=r"no\.such:package:1: .*not found") as said:
        jars.fetched(spark, ["no.such:package:1"])
    assert "\n" not in str(said.value)


def test_a_bucket_takes_its_time_and_goes(spark: Any, scratch: Path) -> None:
    from lab.bucket import bucket

    with bucket(spark, delay_ms=1.0) as uri:
        name = uri.removeprefix("s3a://")
        endpoint = spark._jsc.hadoopConfiguration().get(f"fs.s3a.bucket.{name}.endpoint")
        with urllib.request.urlopen(f"{endpoint}/{name}?list-type=2") as answer:
            assert f"<Name>{name}</Name>" in answer.read().decode()
    with pytest.raises(OSError):
        urllib.request.urlopen(endpoint)
    assert not list(scratch.iterdir())
