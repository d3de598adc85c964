"""A trial on real Spark: what it says, what it leaves alone, what it refuses."""

from __future__ import annotations

import tempfile
from asyncio import CancelledError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.contract import OnTrial
from advisor.errors import UsageError
from advisor.trials import workloads
from advisor.trials.setup import Setup

pytestmark = pytest.mark.spark
SHORT = {"runs": 4, "most_runs": 4, "batches": 10, "seconds": 600.0}
ASYNC = "async-progress"
NEVER = {"writer_option": {"asyncProgressTrackingCheckpointIntervalMs": "600000"}}
"""No log is written in the background while batches are measured, however long they take."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where throw-away directories of these tests come to lie."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("trials")
        patch.setattr(tempfile, "tempdir", str(place))
        yield place


@pytest.fixture(scope="module")
def tried(spark: Any, scratch: Path) -> Any:
    """Async progress tracking where Spark takes it, with the promise of the catalogue's step."""
    return advisor.trial(workloads.rate_to_noop, [ASYNC, NEVER], spark=spark, **SHORT)


def test_runs_take_turns_and_end_by_batches(tried: Any) -> None:
    assert [run["side"][0] for run in tried.data["runs"]] == ["b", "c", "c", "b"]
    assert all(run["batches"] >= 10 and run["run_id"] and not run["refused"] for run in tried.data["runs"])
    assert len({run["run_id"] for run in tried.data["runs"]}) == 4


def test_the_logs_leave_the_batch(tried: Any) -> None:
    effects = {(one["name"], one["stat"]): one for one in tried.data["effects"]}
    assert {("triggerExecution", "typical"), ("addBatch", "typical"), ("record latency", "p50")} <= set(effects)
    for log in ("walCommit", "commitOffsets"):
        assert effects[log, "typical"]["after_ms"] < effects[log, "typical"]["before_ms"] / 2


def test_effects_are_told_by_the_parts_of_add_batch(tried: Any) -> None:
    parts = [one for one in tried.data["effects"] if one["name"].startswith("addBatch: ")]
    inside = next(one for one in tried.data["effects"] if one["name"] == "addBatch")
    assert "addBatch: not visible" not in {one["name"] for one in parts}
    assert sum(one["before_ms"] for one in parts) == pytest.approx(inside["before_ms"], rel=0.02)


def test_promised_and_measured_stand_side_by_side(tried: Any) -> None:
    promises = {kept["of"]: kept for kept in tried.data["promises"]}
    assert set(promises) == {"batch", "record"}
    assert promises["batch"]["predicted_ms"]["low"] > 0
    total = tried.data["effects"][0]["difference_ms"]
    assert promises["batch"]["measured_ms"]["value"] == pytest.approx(-total["value"], abs=0.1)


def test_the_text_holds_the_verdict_and_the_change(tried: Any) -> None:
    words = str(tried)
    assert words.startswith(tried.data["says"].split(":")[0].split(" (")[0][:30])
    assert '.option("asyncProgressTrackingEnabled", "true")' in words and "up to 2 task slots" in words


def test_nothing_is_left_and_the_session_keeps_its_settings(spark: Any, tried: Any, scratch: Path) -> None:
    assert tried.verdict in ("faster", "no difference", "slower", "cannot say")
    assert not list(scratch.iterdir())
    assert not spark.streams.active
    assert spark.conf.get("spark.sql.streaming.stopTimeout") != "60s"


def rate_to_files(setup: Setup) -> Any:
    return workloads.rows(setup).writeStream.format("parquet").option("path", setup.path("files"))


def rate_counted(setup: Setup) -> Any:
    counts = workloads.rows(setup).selectExpr("value % 5000 AS bucket").groupBy("bucket").count()
    return counts.writeStream.format("noop").outputMode("update")


@pytest.mark.slow
def test_a_refusal_at_start_in_sparks_words(spark: Any, scratch: Path) -> None:
    tried = advisor.trial(rate_to_files, [ASYNC], spark=spark, **SHORT)
    assert tried.verdict == "refused"
    assert "does not support async progress tracking" in tried.data["says"]
    assert not tried.data["effects"] and not list(scratch.iterdir())


@pytest.mark.slow
def test_a_refusal_in_the_first_batch_in_sparks_words(spark: Any, scratch: Path) -> None:
    tried = advisor.trial(rate_counted, [ASYNC], spark=spark, **SHORT)
    assert tried.verdict == "refused"
    assert "Stateful streaming queries does not support async progress tracking" in tried.data["says"]


@pytest.mark.slow
def test_a_refusal_for_want_of_a_package_names_it(spark: Any, scratch: Path) -> None:
    tried = advisor.trial(workloads.rate_to_noop, ["abortable-checkpoint-manager"], spark=spark, **SHORT)
    assert tried.verdict == "refused"
    assert "AbortableStreamBasedCheckpointFileManager" in tried.data["says"]
    assert f"--packages org.apache.spark:spark-hadoop-cloud_2.13:{spark.version}" in tried.data["says"]


def _rows(setup: Setup) -> Any:
    return setup.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()


def _started(setup: Setup) -> Any:
    return _rows(setup).writeStream.format("noop").option("checkpointLocation", setup.path("own")).start()


def _cleans(setup: Setup) -> Any:
    incoming = Path(setup.path("incoming").removeprefix("file://"))
    incoming.mkdir(parents=True)
    reader = setup.spark.readStream.schema("value string").option("cleanSource", "delete")
    return reader.json(str(incoming)).writeStream.format("noop")


def _socket(setup: Setup) -> Any:
    reader = setup.spark.readStream.format("socket").option("host", "127.0.0.1").option("port", 9)
    return reader.load().writeStream.format("noop")


def _exits(setup: Setup) -> Any:
    raise CancelledError(7)


NOT_TOUCHED = {
    "exits": (_exits, "the function raised CancelledError: 7"),
    "fails": (lambda setup: _rows(setup.nothing), "the function raised AttributeError"),
    "foreachBatch": (lambda setup: _rows(setup).writeStream.foreachBatch(lambda *_: None), "safe_sink"),
    "foreach": (lambda setup: _rows(setup).writeStream.foreach(lambda _: None), "safe_sink"),
    "own checkpoint": (
        lambda setup: _rows(setup).writeStream.format("noop").option("checkpointLocation", "/data/checkpoint"),
        "checkpointLocation",
    ),
    "own files": (lambda setup: _rows(setup).writeStream.format("parquet").option("path", "/data/out"), "/data/out"),
    "way out": (
        lambda setup: _rows(setup).writeStream.format("json").option("path", setup.path("a/../../../out")),
        "setup.path",
    ),
    "own topic": (lambda setup: _rows(setup).writeStream.format("kafka").option("topic", "orders"), "orders"),
    "cleanSource": (_cleans, "cleanSource"),
    "socket": (_socket, "safe_source"),
    "started": (_started, "start()"),
    "no writer": (_rows, "writeStream"),
    "once": (lambda setup: _rows(setup).writeStream.format("noop").trigger(availableNow=True), "AvailableNow"),
}


@pytest.mark.filterwarnings("ignore:.*socket.*")
@pytest.mark.parametrize("name", NOT_TOUCHED)
def test_what_a_trial_does_not_touch(spark: Any, scratch: Path, name: str) -> None:
    build, words = NOT_TOUCHED[name]
    with pytest.raises(UsageError, match=words.replace("(", r"\(").replace(")", r"\)")):
        advisor.trial(build, [ASYNC], spark=spark, **SHORT)
    assert not list(scratch.iterdir()) and not spark.streams.active


def test_an_option_that_reaches_no_source_is_an_error(spark: Any, scratch: Path) -> None:
    from advisor.trials.guard import check
    from advisor.trials.setup import Permissions

    variant = OnTrial(reader_option={"rowsPerBatch": "20"})
    setup = Setup(spark, "some", scratch.as_uri(), variant)
    with pytest.raises(UsageError, match="reader_options"):
        check(_rows(setup).writeStream.format("noop"), setup, Permissions())
    check(workloads.rate_to_noop(setup), setup, Permissions())


def test_a_setting_that_a_running_session_cannot_take(spark: Any, scratch: Path) -> None:
    change = {"conf": {"spark.executor.memory": "1g"}}
    with pytest.raises(UsageError, match=r"spark\.executor\.memory"):
        advisor.trial(workloads.rate_to_noop, [change], spark=spark, **SHORT)
