"""The cluster gives what the local engine gives: over all samples, all forms, broken files and a growing table."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from advisor import api, catalogue
from advisor.cluster import WHOLE, inputs, judge, units
from advisor.errors import InputError, UsageError
from advisor.report import Asked
from advisor.report.assemble import report_on
from tests.sources.formats_made import write_all

pytestmark = [
    pytest.mark.spark,
    # PySpark 3.5
    pytest.mark.filterwarnings("ignore:distutils Version classes are deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

SAMPLES = Path(__file__).parents[2] / "sample_progress"
SLOW = pytest.mark.slow
"""Another row shows the same way through Spark."""


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("formats")
    (place / "marked").mkdir()
    write_all(place / "marked")
    for name in ("printed.txt", "comment.log"):  # their events are found only where a text is read as a whole
        (place / "marked" / name).rename(place / name)
    (place / "marked" / "vanished.log").symlink_to(place / "never.log")
    return place


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts are divided too."""
    monkeypatch.setattr(units, "WHOLE", 0)


def plain(report: api.Report) -> Any:
    return json.loads(report.to_json())


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("family", [pytest.param("", marks=SLOW, id="all"), "LG005"])  # test_ranges.py asks all, too
def test_samples_give_the_same_report(spark: Any, family: str) -> None:
    one, other = (plain(api.analyze(SAMPLES / family, spark=each)) for each in (spark, None))
    assert one["input"] == other["input"]
    for ours, theirs in zip(one["queries"], other["queries"], strict=True):
        for key, value in theirs.items():
            assert ours[key] == value, (theirs["name"], key)


@pytest.mark.usefixtures("divided")
def test_all_forms_give_the_same_report_from_small_ranges(spark: Any, formats: Path) -> None:
    marked = formats / "marked"
    found = judge(spark, [marked], catalogue.load(None), Asked(), shape=WHOLE, split=6_000, stages=False)
    one, other = plain(api.Report(report_on(found.reading, found.entries))), plain(api.analyze(marked, stages=False))
    assert one == other
    assert {broken["reason"] for broken in one["input"]["broken"]} >= {"No such file or directory"}
    assert len(one["input"]["broken"]) + len(one["input"]["partial"]) > 3


@pytest.mark.parametrize(
    "limits", [{"last": "2s", "set": ["task_slots=3"]}, pytest.param({"until": "2026-03-01T02:00:00.700Z"}, marks=SLOW)]
)
def test_what_is_asked_for_is_asked_on_the_cluster_too(spark: Any, formats: Path, limits: dict[str, Any]) -> None:
    path = formats / "marked" / "driver.log"
    assert plain(api.analyze(path, spark=spark, **limits)) == plain(api.analyze(path, **limits))


def test_the_table_of_batches_has_the_same_rows(spark: Any, formats: Path) -> None:
    frame = api.read_progress(formats, spark=spark)
    local = api.read_progress(formats)
    assert frame.columns == list(local.columns)
    key = ["run_id", "batch_id", "timestamp", "file", "offset", "input_rows", "trigger_execution_ms"]
    ours = {tuple(row) for row in frame.selectExpr("run_id", "batch_id", "unix_millis(timestamp)", *key[3:]).collect()}
    times = local["timestamp"].dt.tz_convert(None).astype("datetime64[ms]").astype("int64")
    assert ours == set(local.assign(timestamp=times)[key].itertuples(index=False, name=None))
    assert frame.selectExpr("operators[0].custom['x']", "sources[0].end_offset").count() == len(local)


def test_progress_is_told_and_settings_are_put_back(spark: Any, formats: Path) -> None:
    told: list[Any] = []
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    report = api.analyze(formats, spark=spark, progress=told.append)
    assert told[-1] == report.data["input"]["bytes"]
    assert spark.conf.get(name) == before


def test_what_only_the_jvm_reaches_gives_the_same(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place, url = SAMPLES / "LG003", "viewfs://fleet/logs"
    spark.conf.set("fs.viewfs.mounttable.fleet.link./logs", place.as_uri())
    found = json.loads(api.analyze(url, spark=spark).to_json().replace(url, str(place)))
    local = plain(api.analyze(place))
    assert found["input"].pop("read_by_jvm") == local["input"]["files"]
    assert found == local
    frame = api.read_progress(url, spark=spark)
    assert frame.count() == local["input"]["events"]
    monkeypatch.setattr(inputs, "LARGEST", 10)
    broken = plain(api.analyze(url, spark=spark))["input"]["broken"]
    assert len(broken) == local["input"]["files"]
    assert all("only the JVM" in one["reason"] for one in broken)


def test_a_file_that_only_the_local_engine_reads_is_named(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes((SAMPLES / "LG001/progress-lines-4.3.0/progress.jsonl").read_bytes())
    api.analyze(SAMPLES / "LG003", save=tmp_path / "saved.batches")
    (broken,) = plain(api.analyze(tmp_path, spark=spark, stages=False))["input"]["broken"]
    assert broken["file"].endswith("saved.batches") and broken["reason"].startswith("--save wrote it")


def test_an_address_where_nobody_finds_anything(spark: Any) -> None:
    with pytest.raises(InputError, match="the JVM finds no file there; check the address"):
        api.analyze("viewfs://fleet/nowhere", spark=spark)


@pytest.mark.parametrize("content", [pytest.param(b"", marks=SLOW), b"nothing at all\n"])
def test_nothing_found_is_the_same_error(spark: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.log").write_bytes(content)
    with pytest.raises(InputError) as local:
        api.analyze(tmp_path)
    with pytest.raises(InputError) as cluster:
        api.analyze(tmp_path, spark=spark)
    assert str(cluster.value) == str(local.value)


def test_lines_about_falling_behind_are_told_alike(spark: Any, tmp_path: Path) -> None:
    says = (
        "WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is 500 milliseconds, but "
    )
    for name in ("a", "b"):
        lines = [f"26/03/01 02:00:0{at} {says}spent {at}200 milliseconds" for at in range(1, 5)]
        (tmp_path / f"{name}.log").write_text("\n".join(lines) + "\n")
    one, other = plain(api.analyze(tmp_path, spark=spark)), plain(api.analyze(tmp_path))
    assert one["input"] == other["input"]
    assert [entry["lines"] for entry in one["input"]["falling_behind"]] == [4, 4]


@pytest.mark.parametrize(
    "asked",
    [{"since": "2099-01-01"}, pytest.param({"until": "2001-01-01"}, marks=SLOW), {"set": ["no-such:sink=kafka"]}],
    ids=str,
)
def test_what_is_not_there_is_the_same_error(spark: Any, formats: Path, asked: dict[str, Any]) -> None:
    path = formats / "marked" / "driver.log"
    for call in (api.analyze, api.analyze_fleet):
        with pytest.raises(UsageError) as local:
            call(path, **asked)
        with pytest.raises(UsageError) as cluster:
            call(path, spark=spark, **asked)
        assert str(cluster.value) == str(local.value)


def test_standard_input_is_refused(spark: Any) -> None:
    with pytest.raises(InputError, match="standard input"):
        api.analyze("-", spark=spark)


def test_the_fleet_is_ranked_alike(spark: Any) -> None:
    one, other = (api.analyze_fleet(SAMPLES / "LG001", spark=each) for each in (spark, None))
    assert one == other


@pytest.mark.parametrize("parts", [False, True])
def test_the_cluster_opens_batches_as_the_local_engine_does(spark: Any, parts: bool) -> None:
    place = SAMPLES / "CF001"
    key = ["batch_id"] if parts else ["batch_id", "stage"]
    theirs, ours = api.read_stages(place, parts=parts, spark=spark).toPandas(), api.read_stages(place, parts=parts)
    assert list(theirs) == list(ours)
    numbers = [name for name in ours if name.endswith(("_ms", "_rows", "_bytes", "_id", "kind", "what"))]
    assert theirs.sort_values(key)[numbers].astype(str).values.tolist() == ours[numbers].astype(str).values.tolist()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="elsewhere nobody tells a process's children")
def test_a_command_that_is_stopped_while_spark_starts_leaves_no_process() -> None:
    """The JVM holds the pipe for as long as it lives, and its first line is there before it says where it listens."""
    asked = ["analyze", str(SAMPLES / "LG001"), "--engine", "spark", "--master", "local[1]", "--fleet"]
    run = subprocess.Popen([sys.executable, "-m", "advisor", *asked], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert run.stderr is not None and run.stderr.readline()
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    assert run.returncode == 130
