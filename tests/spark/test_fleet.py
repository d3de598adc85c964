"""The cluster gives what the local engine gives: over all samples, all forms, broken files and a growing table."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from advisor import api, catalogue
from advisor.cluster import WHOLE, inputs, judge, tablefolder, units
from advisor.cluster.saving import Table
from advisor.cluster.tablefolder import TableFolder
from advisor.contract import Fleet
from advisor.errors import InputError, UsageError
from advisor.report import Asked
from advisor.report.assemble import report_on
from advisor.sources.formats import text
from tests.sources.formats_made import driver_log, json_lines, write_all

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
    """Short texts are divided too, and then only their marked events are found."""
    monkeypatch.setattr(units, "WHOLE", 0)
    monkeypatch.setattr(text, "MIXED", 0)


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


class TestSavedTable:
    @pytest.fixture
    def logs(self, tmp_path: Path) -> Path:
        place = tmp_path / "logs"
        place.mkdir()
        whole = driver_log()
        cut = whole.index(b"Streaming query made progress: {", len(whole) // 2) + 200
        (place / "driver.log").write_bytes(whole[:cut])
        return place

    @pytest.fixture
    def save(self, spark: Any, logs: Path, tmp_path: Path) -> Iterator[Any]:
        table = tmp_path / "table"

        def run(*, stages: bool = True) -> tuple[Fleet, dict[str, int]]:
            report = api.analyze_fleet(logs, spark=spark, save_table=table, incremental=True, stages=stages)
            counts = {part: spark.read.parquet(f"{table}/{part}").count() for part in ("batches", "findings", "files")}
            return report, counts

        yield run
        shutil.rmtree(table)

    def test_a_second_run_over_the_same_logs_adds_nothing_to_the_folder_of_each_day(
        self, save: Any, tmp_path: Path
    ) -> None:
        first, counts = save()
        second, counts_again = save()
        assert counts_again == counts
        assert (first.input.bytes > 0, second.input.bytes) == (True, 0)
        assert second.queries == first.queries
        assert [path.name for path in (tmp_path / "table" / "batches").glob("added=*/day=*")] == ["day=2026-03-01"]

    @pytest.mark.parametrize("stages", [True, False])
    def test_what_is_new_is_added(self, save: Any, logs: Path, stages: bool) -> None:
        whole, torn = driver_log(), (logs / "driver.log").stat().st_size
        (logs / "driver.log").write_bytes(whole[: whole.rindex(b"\n", 0, torn - 200) + 1])
        _, before = save(stages=stages)
        (logs / "driver.log").write_bytes(whole)
        (logs / "other.jsonl").write_bytes(json_lines().replace(b"33333333", b"44444444"))
        report, after = save(stages=stages)
        local = api.analyze_fleet(logs, stages=stages)
        assert after["batches"] == local.input.events > before["batches"]
        size = len(whole) + len(json_lines())  # a log that grew is read whole again for its stages
        assert report.input.bytes == size if stages else report.input.bytes < size
        assert [(q.run_id, q.batches, q.verdict) for q in report.queries] == [
            (q.run_id, q.batches, q.verdict) for q in local.queries
        ]

    def test_a_rotated_log_adds_only_what_it_has_grown(self, save: Any, logs: Path) -> None:
        save()
        (logs / "driver.log").rename(logs / "driver.log.1")
        (logs / "driver.log").write_bytes(driver_log()[(logs / "driver.log.1").stat().st_size - 200 :])
        _, after = save()
        assert after["batches"] == api.analyze_fleet(logs).input.events

    @pytest.mark.parametrize("stages", [pytest.param(True, marks=SLOW), False])
    def test_a_batch_that_was_half_written_becomes_whole(self, save: Any, logs: Path, spark: Any, stages: bool) -> None:
        whole = driver_log()
        (logs / "driver.log").write_bytes(whole[: whole.index(b'"sources"', whole.rindex(b'"addBatch"'))])
        first, _ = save(stages=stages)
        (logs / "driver.log").write_bytes(whole)
        again, _ = save(stages=stages)
        local = api.analyze_fleet(logs, stages=stages)
        assert (again.input.events, again.queries) == (local.input.events, local.queries)
        assert first.input.events < again.input.events
        assert spark.read.parquet(f"{logs.parent}/table/sightings").filter("fact = 'records_torn'").count() == 0

    @pytest.mark.slow
    @pytest.mark.parametrize("stages", [True, False])
    def test_a_file_in_the_place_of_another_is_a_log_of_its_own(
        self, spark: Any, logs: Path, tmp_path: Path, stages: bool
    ) -> None:
        """The second one grows past the place where the last event of the first one began."""
        one = other = driver_log()
        for old, new in ((b"11111111", b"55555555"), (b"22222222", b"66666666"), (b"33333333", b"44444444")):
            other = other.replace(old, new)
        other = other.replace(b"version 4.0.0", b"version 4.3.0")
        table = Table(str(tmp_path / "table"), incremental=True)
        for content in (one, other[: len(other) // 2], other):
            (logs / "driver.log").write_bytes(content)
            found = judge(spark, [logs], catalogue.load(None), Asked(), shape=WHOLE, stages=stages, table=table)
        (logs / "driver.log").rename(logs / "other.log")
        (logs / "driver.log").write_bytes(one)
        local = plain(api.analyze(logs, stages=stages))["queries"]
        assert {each.run_id: (each.batches, each.facts["spark_version"].value) for each in found.entries} == {
            each["run_id"]: (each["batches"], each["facts"]["spark_version"]["value"]) for each in local
        }

    @pytest.mark.parametrize(("name", "column"), [("files", "head"), pytest.param("batches", "partial", marks=SLOW)])
    def test_a_table_of_another_version_is_refused(
        self, save: Any, spark: Any, tmp_path: Path, name: str, column: str
    ) -> None:
        save()
        older, place = tmp_path / "older", tmp_path / "table" / name
        spark.read.parquet(str(place)).drop(column).write.parquet(str(older))
        shutil.rmtree(place)
        older.rename(place)
        with pytest.raises(InputError, match=f"a table of another version, without the column {column}"):
            save()

    def test_rows_whose_data_files_are_gone_or_empty_are_read_again(self, save: Any, tmp_path: Path) -> None:
        first, counts = save()
        for path in (tmp_path / "table" / "batches").rglob("*.parquet*"):  # with Hadoop's hidden checksums
            path.unlink() if path.suffix == ".crc" else path.write_bytes(b"")
        shutil.rmtree(tmp_path / "table" / "stages")
        second, counts_again = save()
        assert (second.queries, counts_again) == (first.queries, counts)

    def test_rows_that_cannot_be_read_again_are_told(self, save: Any, logs: Path, tmp_path: Path) -> None:
        (logs / "other.jsonl").write_bytes(json_lines().replace(b"33333333", b"44444444"))
        save()
        (logs / "driver.log").unlink()
        shutil.rmtree(tmp_path / "table" / "batches")
        with pytest.raises(InputError, match=r"driver\.log cannot be read again as it was; put back the data files"):
            save()
        for path in (tmp_path / "table" / "findings").rglob("*.parquet"):
            path.unlink()
        with pytest.raises(InputError, match="/findings: 0 rows where"):
            save()

    @pytest.mark.parametrize("committed", [True, False])
    def test_what_a_killed_run_left_counts_once_or_never(
        self, save: Any, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
    ) -> None:
        save()
        (logs / "driver.log").write_bytes(driver_log())
        (tmp_path / "table" / "_new-99999999T999999+0000-a").mkdir()  # no run of ours has this name
        with monkeypatch.context() as patch:
            patch.setattr(TableFolder, "drop", lambda self: None)
            patch.setattr(TableFolder, "_finish" if committed else "commit", killed)
            with pytest.raises(KeyboardInterrupt):
                save()
        assert [*(tmp_path / "table").glob("_new-2*")]
        report, counts = save()
        assert (counts["batches"], report.input.bytes == 0) == (api.analyze_fleet(logs).input.events, committed)
        assert [one.name for one in (tmp_path / "table").glob("_new-*")] == ["_new-99999999T999999+0000-a"]

    def test_two_runs_at_once_are_one_too_many(self, save: Any, tmp_path: Path) -> None:
        with tablefolder._held(str(tmp_path / "table")), pytest.raises(UsageError, match="another run is writing"):
            save()

    def test_a_table_that_is_replaced_holds_nothing_of_before(self, save: Any, spark: Any, tmp_path: Path) -> None:
        save()
        api.analyze_fleet(SAMPLES / "LG003", spark=spark, save_table=tmp_path / "table", stages=False)
        names = {path.name for path in (tmp_path / "table").iterdir() if path.is_dir()}
        assert names == {"batches", "files", "findings", "sightings"}
        runs = {row.run_id for row in spark.read.parquet(f"{tmp_path}/table/batches").select("run_id").collect()}
        assert runs == set(api.read_progress(SAMPLES / "LG003")["run_id"])

    @pytest.mark.slow
    def test_the_directory_has_a_name_that_looks_like_a_pattern(self, spark: Any, logs: Path, tmp_path: Path) -> None:
        found = [
            api.analyze_fleet(logs, spark=spark, save_table=tmp_path / "of [1]{a}", incremental=True).input.bytes > 0
            for _ in range(2)
        ]
        assert found == [True, False]

    def test_rows_of_another_program_are_refused(self, save: Any, spark: Any, tmp_path: Path) -> None:
        save()
        place = tmp_path / "table" / "batches" / "added=foreign" / "day=2026-09-21"
        spark.range(1).selectExpr("id as x").write.parquet(str(place))
        with pytest.raises(InputError, match=r"rows of no log|without the column"):
            save()

    def test_tables_of_somebody_else_stay(self, save: Any, tmp_path: Path) -> None:
        (tmp_path / "table" / "files").mkdir(parents=True)
        (tmp_path / "table" / "_lock").write_text("mine")
        with pytest.raises(InputError, match="/files: a table without a manifest"):
            save()
        for held in ("", '{"name": "my web app"}', '{"added": 5, "replaced": [], "rows": {}}'):
            (tmp_path / "table" / "manifest-1.json").write_text(held)
            with pytest.raises(InputError, match=r"manifest-1\.json: no manifest"):
                save()
        assert (tmp_path / "table" / "_lock").read_text() == "mine"


def killed(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_log_without_an_event_is_saved_too(spark: Any, tmp_path: Path) -> None:
    line = "26/03/01 02:00:00 ERROR MicroBatchExecution: Query [id = {0}, runId = {0}] terminated with error\n"
    (tmp_path / "a.log").write_text(line.format("33333333-3333-3333-3333-333333333333"))
    for _ in range(2):
        report = api.analyze_fleet(tmp_path, spark=spark, save_table=tmp_path / "table", incremental=True, stages=False)
        assert [query.state for query in report.queries] == ["no_data"]


def test_saved_stages_open_batches_as_those_of_the_logs_do(spark: Any, tmp_path: Path) -> None:
    place, table = SAMPLES / "CF001", tmp_path / "table"
    local = api.analyze_fleet(place, stages=True)
    api.analyze_fleet(place, spark=spark, save_table=table, incremental=True, stages=False)
    for _ in range(2):
        report = api.analyze_fleet(place, spark=spark, save_table=table, incremental=True, stages=True)
        assert report.queries == local.queries
        for name, parts in (("stages", False), ("batch_parts", True)):
            saved = spark.read.parquet(f"{table}/{name}")
            assert saved.count() == len(api.read_stages(place, parts=parts)) > 0
    whole, opened = (api.analyze(place, spark=each, stages=True) for each in (None, spark))
    assert plain(whole)["queries"] == plain(opened)["queries"]


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
