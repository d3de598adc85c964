"""What stands in saved tables counts once: over killed runs, rotated logs, rows that are gone, other versions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyarrow.dataset import dataset

from advisor import api, catalogue
from advisor.cluster import WHOLE, judge, tablefolder
from advisor.cluster.saving import Table
from advisor.cluster.tablefolder import TableFolder, table_folder
from advisor.contract import Fleet
from advisor.errors import InputError, UsageError
from advisor.report import Asked
from tests.sources.formats_made import driver_log, json_lines
from tests.spark.test_fleet import SAMPLES, SLOW, plain, pytestmark  # noqa: F401 - pytest reads it

Run = tuple[Fleet, dict[str, int]]


def saved(spark: Any, logs: Path, table: Path, *, stages: bool = True) -> Run:
    """Add the logs to the tables; what is said, and how many rows there are."""
    report = api.analyze_fleet(logs, spark=spark, save_table=table, incremental=True, stages=stages)
    names = ("batches", "findings", "files")
    return report, {name: dataset(table / name, exclude_invalid_files=True).count_rows() for name in names}


def torn_log(logs: Path) -> None:
    whole = driver_log()
    cut = whole.index(b"Streaming query made progress: {", len(whole) // 2) + 200
    logs.mkdir()
    (logs / "driver.log").write_bytes(whole[:cut])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the logs of all these tests lie, one after the other: tables hold the paths of what was read."""
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def first_run(spark: Any, place: Path) -> Run:
    """A first run over the logs, done once."""
    torn_log(place / "logs")
    found = saved(spark, place / "logs", place / "first")
    shutil.rmtree(place / "logs")
    return found


@pytest.fixture
def logs(place: Path) -> Iterator[Path]:
    torn_log(place / "logs")
    yield place / "logs"
    shutil.rmtree(place / "logs")


@pytest.fixture
def table(place: Path) -> Iterator[Path]:
    yield place / "table"
    shutil.rmtree(place / "table")


@pytest.fixture
def first(first_run: Run, place: Path, table: Path) -> Run:
    """The tables as the first run left them, and what it said."""
    shutil.copytree(place / "first", table)
    return first_run


@pytest.fixture
def save(spark: Any, logs: Path, table: Path) -> Callable[..., Run]:
    return partial(saved, spark, logs, table)


def test_a_second_run_over_the_same_logs_adds_nothing_to_the_folder_of_each_day(
    first: Run, save: Any, table: Path
) -> None:
    report, counts = first
    second, counts_again = save()
    assert counts_again == counts
    assert (report.input.bytes > 0, second.input.bytes) == (True, 0)
    assert second.queries == report.queries
    assert [path.name for path in (table / "batches").glob("added=*/day=*")] == ["day=2026-03-01"]


@pytest.mark.parametrize("stages", [True, False])
def test_what_is_new_is_added(save: Any, logs: Path, stages: bool) -> None:
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


@pytest.mark.slow
@pytest.mark.usefixtures("first")
def test_logs_that_are_read_without_stages_are_told(save: Any, logs: Path, caplog: Any) -> None:
    assert caplog.text == ""
    (logs / "other.jsonl").write_bytes(json_lines().replace(b"33333333", b"44444444"))
    save(stages=False)
    assert "1 logs are read without stages" in caplog.text


@pytest.mark.usefixtures("first")
def test_a_rotated_log_adds_only_what_it_has_grown(save: Any, logs: Path) -> None:
    (logs / "driver.log").rename(logs / "driver.log.1")
    (logs / "driver.log").write_bytes(driver_log()[(logs / "driver.log.1").stat().st_size - 200 :])
    _, after = save()
    assert after["batches"] == api.analyze_fleet(logs).input.events


@pytest.mark.parametrize("stages", [pytest.param(True, marks=SLOW), False])
def test_a_batch_that_was_half_written_becomes_whole(
    save: Any, logs: Path, table: Path, spark: Any, stages: bool
) -> None:
    whole = driver_log()
    (logs / "driver.log").write_bytes(whole[: whole.index(b'"sources"', whole.rindex(b'"addBatch"'))])
    first, _ = save(stages=stages)
    (logs / "driver.log").write_bytes(whole)
    again, _ = save(stages=stages)
    local = api.analyze_fleet(logs, stages=stages)
    assert (again.input.events, again.queries) == (local.input.events, local.queries)
    assert first.input.events < again.input.events
    assert spark.read.parquet(f"{table}/sightings").filter("fact = 'records_torn'").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("stages", [True, False])
def test_a_file_in_the_place_of_another_is_a_log_of_its_own(spark: Any, logs: Path, table: Path, stages: bool) -> None:
    """The second one grows past the place where the last event of the first one began."""
    one = other = driver_log()
    for old, new in ((b"11111111", b"55555555"), (b"22222222", b"66666666"), (b"33333333", b"44444444")):
        other = other.replace(old, new)
    other = other.replace(b"version 4.0.0", b"version 4.3.0")
    tables = Table(str(table), incremental=True)
    for content in (one, other[: len(other) // 2], other):
        (logs / "driver.log").write_bytes(content)
        found = judge(spark, [logs], catalogue.load(None), Asked(), shape=WHOLE, stages=stages, table=tables)
    (logs / "driver.log").rename(logs / "other.log")
    (logs / "driver.log").write_bytes(one)
    local = plain(api.analyze(logs, stages=stages))["queries"]
    assert {each.run_id: (each.batches, each.facts["spark_version"].value) for each in found.entries} == {
        each["run_id"]: (each["batches"], each["facts"]["spark_version"]["value"]) for each in local
    }


@pytest.mark.parametrize(("name", "column"), [("files", "head"), pytest.param("batches", "partial", marks=SLOW)])
@pytest.mark.usefixtures("first")
def test_a_table_of_another_version_is_refused(
    save: Any, spark: Any, table: Path, tmp_path: Path, name: str, column: str
) -> None:
    older, place = tmp_path / "older", table / name
    spark.read.parquet(str(place)).drop(column).write.parquet(str(older))
    shutil.rmtree(place)
    older.rename(place)
    with pytest.raises(InputError, match=f"a table of another version, without the column {column}"):
        save()


def test_rows_whose_data_files_are_gone_or_empty_are_read_again(first: Run, save: Any, table: Path) -> None:
    report, counts = first
    for path in (table / "batches").rglob("*.parquet*"):  # with Hadoop's hidden checksums
        path.unlink() if path.suffix == ".crc" else path.write_bytes(b"")
    shutil.rmtree(table / "stages")
    second, counts_again = save()
    assert (second.queries, counts_again) == (report.queries, counts)


def test_rows_that_cannot_be_read_again_are_told(save: Any, logs: Path, table: Path) -> None:
    (logs / "other.jsonl").write_bytes(json_lines().replace(b"33333333", b"44444444"))
    save()
    (logs / "driver.log").unlink()
    shutil.rmtree(table / "batches")
    with pytest.raises(InputError, match=r"driver\.log cannot be read again as it was; put back the data files"):
        save()
    for path in (table / "findings").rglob("*.parquet"):
        path.unlink()
    with pytest.raises(InputError, match="/findings: 0 rows where"):
        save()


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("committed", [True, False])
def test_what_a_killed_run_left_counts_once_or_never(
    save: Any, logs: Path, table: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    (logs / "driver.log").write_bytes(driver_log())
    (table / "_new-99999999T999999+0000-a").mkdir()  # no run of ours has this name
    with monkeypatch.context() as patch:
        patch.setattr(TableFolder, "drop", lambda self: None)
        patch.setattr(TableFolder, "_finish" if committed else "commit", killed)
        with pytest.raises(KeyboardInterrupt):
            save()
    assert [*table.glob("_new-2*")]
    report, counts = save()
    assert (counts["batches"], report.input.bytes == 0) == (api.analyze_fleet(logs).input.events, committed)
    assert [one.name for one in table.glob("_new-*")] == ["_new-99999999T999999+0000-a"]


class Interrupted:
    """A file system whose rename is done, and then Ctrl-C comes."""

    def __init__(self, files: Any) -> None:
        self.files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def rename(self, old: Any, new: Any) -> None:
        assert self.files.rename(old, new)
        raise KeyboardInterrupt


@pytest.mark.parametrize("early", [True, False])
def test_what_a_run_killed_at_its_end_left_is_removed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    def begun() -> TableFolder:
        folder = TableFolder(spark, str(tmp_path / "t"), ["batches"])
        folder.begin()
        (tmp_path / f"t/_new-{folder.name}/batches").mkdir(parents=True)
        return folder

    begun().commit({}, [])
    second = begun()
    if early:
        monkeypatch.setattr(second, "_files", Interrupted(second._files))
    else:
        monkeypatch.setattr(second, "_names", killed)
    with pytest.raises(KeyboardInterrupt):
        second.commit({}, [])
    second.drop()
    TableFolder(spark, str(tmp_path / "t"), ["batches"]).begin()
    left = sorted(one.name for one in (tmp_path / "t").iterdir() if not one.name.startswith("."))
    assert left == ["batches", "manifest-2.json"]
    assert len([*(tmp_path / "t/batches").iterdir()]) == 2


def test_two_runs_at_once_are_one_too_many(save: Any, table: Path) -> None:
    with tablefolder._held(str(table)), pytest.raises(UsageError, match="another run is writing"):
        save()


@pytest.mark.usefixtures("first")
def test_a_table_that_is_replaced_holds_nothing_of_before(spark: Any, table: Path) -> None:
    api.analyze_fleet(SAMPLES / "LG003", spark=spark, save_table=table, stages=False)
    names = {path.name for path in table.iterdir() if path.is_dir()}
    assert names == {"batches", "files", "findings", "sightings"}
    runs = {row.run_id for row in spark.read.parquet(f"{table}/batches").select("run_id").collect()}
    assert runs == set(api.read_progress(SAMPLES / "LG003")["run_id"])


@pytest.mark.slow
def test_the_directory_has_a_name_that_looks_like_a_pattern(spark: Any, logs: Path, tmp_path: Path) -> None:
    found = [
        api.analyze_fleet(logs, spark=spark, save_table=tmp_path / "of [1]{a}", incremental=True).input.bytes > 0
        for _ in range(2)
    ]
    assert found == [True, False]


@pytest.mark.usefixtures("first")
def test_rows_of_another_program_are_refused(save: Any, spark: Any, table: Path) -> None:
    place = table / "batches" / "added=foreign" / "day=2026-09-21"
    spark.range(1).selectExpr("id as x").write.parquet(str(place))
    with pytest.raises(InputError, match=r"rows of no log|without the column"):
        save()


@pytest.mark.parametrize("place", ["jdbc:mysql://u:pw1@h/x", "nofs://host/x", "file://localhost/x", "\ud800"])
def test_a_place_that_spark_does_not_know_is_one_clear_error(spark: Any, place: str) -> None:
    with pytest.raises(UsageError, match="no file system") as error, table_folder(spark, place, ["files"]):
        pass
    assert "pw1" not in str(error.value)


def test_tables_of_somebody_else_stay(save: Any, table: Path) -> None:
    (table / "_lock").parent.mkdir()
    (table / "_lock").write_text("mine")
    for others in ("files", "_delta_log", "metadata", "part-0.parquet"):
        (table / others).mkdir()
        with pytest.raises(InputError, match=f"/{others}: a table without a manifest"):
            save()
        (table / others).rmdir()
    for held in ("", '{"name": "my web app"}', '{"added": 5, "replaced": [], "rows": {}}'):
        (table / "manifest-1.json").write_text(held)
        with pytest.raises(InputError, match=r"manifest-1\.json: no manifest"):
            save()
    assert (table / "_lock").read_text() == "mine"


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
