"""The pages of a driver, recorded on Spark 4.3.0, as tables; and servers that are none of Spark's."""

from __future__ import annotations

import gzip
import json
import os
import re
import ssl
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from click.testing import CliRunner

import advisor
import advisor.api
from advisor.batches import SIGHTINGS, TABLES
from advisor.cli import main
from advisor.errors import InputError, UsageError
from advisor.sources import files, saved
from advisor.sources.ui import pages, web
from advisor.sources.ui.driver import Driver, Watched
from advisor.sources.ui.rest import Application, Execution, of_plans, operators_of
from advisor.views.fleet import fleet_as_text
from tests.sources.formats_made import event_log
from tests.sources.variants import zipped
from tests.sources.web_served import Served, body, recorded, redirect, serving


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return recorded()


@pytest.fixture(scope="module")
def driver(made: dict[str, Any]) -> Iterator[Served]:
    with serving(made["answers"]) as served:
        yield served


@pytest.fixture
def answers(made: dict[str, Any]) -> dict[str, Any]:
    """The driver's answers by their path, which a test may change."""
    return dict(made["answers"])


def refused(*words: str) -> str:
    """What the command says where it does nothing."""
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 2
    return said.output


@pytest.fixture(scope="module")
def shown(made: dict[str, Any]) -> list[dict[str, Any]]:
    """The batches on both pages."""
    runs = pages.listed(made["answers"][pages.LIST])
    return [event for run in runs for event in pages.events(made["answers"][f"{pages.STATISTICS}{run.run_id}"], run)]


@pytest.fixture(scope="module")
def by_batch(made: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(event["runId"], event["batchId"]): event for event in made["progress"]}


class TestPages:
    def test_the_list_names_each_query(self, made: dict[str, Any]) -> None:
        runs = pages.listed(made["answers"][pages.LIST])
        assert {(run.name, run.id, run.run_id, run.status) for run in runs} == {
            (event["name"], event["id"], event["runId"], "RUNNING") for event in made["progress"]
        }

    def test_each_batch_is_the_one_of_its_progress(self, shown: Any, by_batch: Any) -> None:
        assert len(shown) >= 20
        for event in shown:
            told = by_batch[event["runId"], event["batchId"]]
            assert event["durationMs"] == {**told["durationMs"], "triggerExecution": told["batchDuration"]}
            assert [event[key] for key in ("timestamp", "id", "name")] == [
                told[key] for key in ("timestamp", "id", "name")
            ]
            assert event["numInputRows"] == sum(source["numInputRows"] for source in told["sources"])
            mark = told["eventTime"].get("watermark")
            assert event["eventTime"].get("watermark") == (mark if mark and not mark.startswith("1970") else None)

    def test_the_name_of_a_timeline_counts_and_no_variable(self, made: dict[str, Any], shown: Any) -> None:
        run = pages.listed(made["answers"][pages.LIST])[0]
        page = made["answers"][f"{pages.STATISTICS}{run.run_id}"]
        renamed = re.sub(r"\bv(\d+)(?=[ ,)])", lambda name: f"v{int(name[1]) + 30}", page)
        assert renamed != page
        assert pages.events(renamed, run) == [event for event in shown if event["runId"] == run.run_id]
        with pytest.raises(ValueError, match="phases of 0"):
            pages.events(page.replace("#duration-area-stack", "#other"), run)

    def test_a_trigger_without_a_batch_is_idle_and_a_watermark_may_lie_far_ahead(self) -> None:
        page = """var v1 = [{"x": 1795665738526, "y": 3.0}];
var v2 = [{x: "04:02:18.526", "addBatch": "0.0","latestOffset": "3.0"}];
drawTimeline('#batch-duration-timeline', v1, 1, 2, 0.0, 9.0, 'ms');
drawAreaStack('#duration-area-stack', v3, v2)"""
        run = pages.Listed(None, "a", "b", "RUNNING", "")
        assert pages.events(page, run)[0]["durationMs"] == {"latestOffset": 3, "triggerExecution": 3}
        page += """
var v4 = [{"x": 1795665738526, "y": -1.79E12}];
drawTimeline('#watermark-gap-timeline', v4, 1, 2, 0.0, 9.0, 's');"""
        assert pages.events(page, run)[0]["eventTime"]["watermark"] == "9999-12-31T23:59:59.999Z"


@pytest.fixture(scope="module")
def reading(driver: Served) -> Any:
    return files.read([driver.address], stages=True)


def failed(page: str) -> str:
    """The list of queries once one of them has died, as Spark 4.3.0 writes its row."""
    rows = re.findall(r"<tr>\s*<td>.*?</tr>", page, re.DOTALL)
    error = """<td>py4j.Py4JException: Return Message: Traceback (most recent call last):<span class="expand-details">
        +details
      </span><div class="stacktrace-details collapsed">
          <pre>py4j.Py4JException: Return Message: Traceback (most recent call last):
  File &quot;job.py&quot;, line 9, in write
ValueError: no such customer, password=hunter2
</pre></div></td>"""
    return page.replace(rows[0], rows[0].replace("RUNNING", "FAILED").replace("</tr>", error + "</tr>"))


def test_a_query_that_died_is_dead_with_its_error(made: dict[str, Any]) -> None:
    with serving(made["answers"] | {pages.LIST: failed(made["answers"][pages.LIST])}) as served:
        report = advisor.analyze(served.address)
    first = report.data["queries"][0]
    assert (first["state"], first["terminated"]["error"].startswith("ValueError: no such customer")) == ("dead", True)
    assert "hunter2" not in report.to_json()


@pytest.mark.parametrize("options", [["--engine", "spark"], ["--master", "local[2]"], ["--save-table", "tables"]])
def test_an_address_is_not_read_on_a_cluster(options: list[str]) -> None:
    assert "is read on this machine" in refused("analyze", "http://127.0.0.1:9", *options, "--engine", "spark")


class TestTables:
    def test_the_operators_are_those_of_progress(self, reading: Any, by_batch: Any) -> None:
        rows = [row for row in reading.batches.to_pylist() if row["operators"]]
        whole = [row for row in rows if "stateOperators" not in row["partial"]]
        assert len(whole) >= len(rows) - 1 > 5
        for row in whole:
            (told,) = by_batch[row["run_id"], row["batch_id"]]["stateOperators"]
            (found,) = row["operators"]
            assert found["name"] == told["operatorName"]
            assert found["shuffle_partitions"] == told["numShufflePartitions"]
            for column, key in (("commit_ms", "commitTimeMs"), ("all_updates_ms", "allUpdatesTimeMs")):
                assert found[column] == pytest.approx(told[key], abs=max(50, 0.005 * told[key]))
            for column, key in (("rows_total", "numRowsTotal"), ("rows_updated", "numRowsUpdated")):
                assert found[column] == told[key]

    def test_what_no_page_shows_is_named(self, reading: Any) -> None:
        assert {row["partial"].split(",")[0] for row in reading.batches.to_pylist()} == {"ui"}
        assert all({"sources", "sink"} <= {*row["partial"].split(",")} for row in reading.batches.to_pylist())
        assert (reading.events, reading.from_ui) == (0, len(reading.batches))

    def test_jobs_and_stages_open_add_batch(self, reading: Any) -> None:
        parts = reading.inside["batch_parts"].select(["run_id", "batch_id"]).to_pylist()
        assert len({*map(str, parts)}) >= len(reading.batches) - 2

    @pytest.mark.parametrize(
        ("fact", "value"),
        [("task_slots", 2), ("spark_version", "4.3.0"), ("application", "orders"), ("conf:spark.master", "local[2]")],
    )
    def test_facts_of_the_application(self, fact: str, value: Any, reading: Any) -> None:
        rows = [row for row in reading.sightings.to_pylist() if row["fact"] == fact]
        assert [(row["value"].strip('"'), row["origin"], row["run_id"]) for row in rows] == [(str(value), "ui", None)]

    def test_what_each_query_does_is_read(self, made: dict[str, Any], reading: Any) -> None:
        assert set(reading.doing) == {event["runId"] for event in made["progress"]}

    def test_the_report_names_the_ui(self, driver: Served) -> None:
        report = advisor.analyze(driver.address)
        first = report.data["queries"][0]
        assert report.data["input"]["from_ui"] == sum(query["batches"] for query in report.data["queries"])
        assert {query["facts"]["sink"]["value"] for query in report.data["queries"]} == {"noop", "foreach_batch"}
        assert any("UI does not show" in text for text in first["limits"])
        assert {query["state"] for query in report.data["queries"]} == {"running"}

    def test_its_findings_are_as_sure_as_those_of_the_progress_itself(
        self, made: dict[str, Any], driver: Served, tmp_path: Path
    ) -> None:
        log = tmp_path / "progress.json"
        log.write_text("\n".join(map(json.dumps, made["progress"])))
        pages_say, log_says = (
            {(query.run_id, one.rule): one.confidence for query in report.typed.queries for one in query.findings}
            for report in (advisor.analyze(driver.address), advisor.analyze(log))
        )
        shared = pages_say.keys() & log_says.keys()
        assert {key: pages_say[key] for key in shared} == {key: log_says[key] for key in shared} != {}

    def test_the_fleet_has_the_word_for_each_query(self, driver: Served) -> None:
        words = {one.run_id: one.stall.word for one in advisor.analyze(driver.address).typed.queries if one.stall}
        ranked = advisor.api.analyze_fleet(driver.address)
        assert words and {one.run_id: one.stall for one in ranked.queries if one.stall} == words
        assert all(f"  {word}  " in fleet_as_text(ranked) for word in words.values())

    def test_without_stages_no_job_is_asked_for(self, made: dict[str, Any]) -> None:
        with serving(made["answers"]) as served:
            files.read([served.address], stages=False)
            assert not [path for path in served.paths if path.endswith(("/jobs", "/stages"))]


class TestSaved:
    """What `analyze ADDRESS --save FILE` keeps of a driver, which every command reads as a log."""

    @pytest.fixture
    def place(self, driver: Served, tmp_path: Path) -> Path:
        advisor.analyze(driver.address, save=tmp_path / "before.batches")
        return tmp_path / "before.batches"

    def test_the_tables_are_those_of_the_address(self, reading: Any, place: Path) -> None:
        found = files.read([place.parent], stages=True)
        assert all(found.tables[name].equals(table) for name, table in reading.tables.items())
        assert found.from_ui == reading.from_ui
        assert not files.read([place]).inside

    def test_what_two_files_keep_counts_once(self, reading: Any, place: Path) -> None:
        again = place.with_name("again.batches")
        saved.write(files.read([place], stages=True), again)
        assert again.stat().st_size <= place.stat().st_size
        found = files.read([place, again], stages=True)
        assert all(
            found.tables[name].num_rows == len(reading.tables[name]) > 0 for name in ("batches", *reading.inside)
        )

    def test_it_is_compared_with_the_address_in_both_orders(
        self, driver: Served, place: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        for paths in ([str(place), driver.address], [driver.address, str(place)]):
            said = CliRunner().invoke(main, ["compare", *paths, "--format", "json"])
            pairs = json.loads(said.output)["comparisons"]
            assert (said.exit_code, len(pairs)) == (0, 2)
        assert capfd.readouterr().err == ""  # no word of Arrow's

    def test_what_could_not_be_read_stays_known(self, made: dict[str, Any], tmp_path: Path) -> None:
        log, kept = tmp_path / "q.jsonl", tmp_path / "q.batches"
        event = json.dumps(made["progress"][0])
        log.write_text(f"{event}\n{event[:300]}\n")
        was = advisor.analyze(log, save=kept).typed.input
        again = advisor.analyze(kept).typed.input
        assert len(was.broken + was.partial) == 1
        assert (again.broken, again.partial) == (was.broken, was.partial)

    def test_a_damaged_one_is_one_line(self, place: Path) -> None:
        whole = place.read_bytes()
        for damaged in (whole[:-5000], whole.replace(b"run_id", b"run\x9bid", 1)):
            place.write_bytes(damaged)
            assert "damaged, or written by another version" in refused("analyze", str(place))

    @pytest.mark.parametrize(
        ("table", "column", "value"),
        [
            ("sightings", "offset", None), ("sightings", "timestamp", 1 << 60), ("batches", "timestamp", -(1 << 60)),
            ("batches", "run_id", None), ("batch_parts", "stages", None), ("batch_parts", "tasks", -1),
            ("stages", "slots", 0),
        ],
    )  # fmt: skip
    def test_an_edited_one_is_one_line(
        self, reading: Any, place: Path, table: str, column: str, value: int | None
    ) -> None:
        held = reading.tables[table]
        kind = held.schema.field(column)
        odd = pa.array([value] * len(held), pa.int64()).cast(kind.type)
        odd = held.set_column(held.schema.get_field_index(column), kind, odd)
        held_in = {"inside": {**reading.inside, table: odd}} if table in reading.inside else {table: odd}
        saved.write(replace(reading, **held_in), place)
        (broken,) = saved.read(str(place), stages=True).broken
        assert "damaged, or written by another version" in broken.reason

    @pytest.mark.parametrize("name", ["batches", "sightings"])
    @pytest.mark.parametrize("packing", ["zstd", "lz4"])
    def test_one_with_a_packed_table_is_not_unpacked(self, reading: Any, place: Path, packing: str, name: str) -> None:
        with place.open("wb") as file:
            file.write(saved.MARK)
            for each, table in reading.tables.items():
                packed = pa.ipc.IpcWriteOptions(compression=packing if each == name else None)
                with pa.ipc.new_stream(file, table.schema, options=packed) as stream:
                    stream.write_table(table)
        (broken,) = saved.read(str(place), stages=True).broken
        assert "its tables are packed" in broken.reason

    @pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), 1e300])
    def test_numbers_that_tell_nothing_cost_no_report(self, reading: Any, place: Path, value: float) -> None:
        inside = {}
        for name, table in reading.inside.items():
            for at, field in enumerate(table.schema):
                if pa.types.is_floating(field.type) or (field.name == "tasks" and not value):
                    table = table.set_column(at, field, pa.array([value] * len(table)).cast(field.type))  # noqa: PLW2901
            inside[name] = table
        saved.write(replace(reading, inside=inside), place)
        report = advisor.analyze(place)
        assert {one.state for one in report.typed.queries} == {"running"}
        assert not report.typed.input.broken

    def test_a_credential_that_another_version_kept_is_hidden(self, reading: Any, place: Path) -> None:
        kept = "thrift://me:Tr0ub4dor9x@host"
        rows = reading.batches.to_pylist()
        for row in rows:
            row.update(name=f"q {kept}", sources=[{**one, "description": kept} for one in row["sources"]])
        odd = pa.Table.from_pylist(rows, reading.batches.schema)
        sightings = pa.Table.from_pylist([{**row, "value": kept} for row in reading.sightings.to_pylist()], SIGHTINGS)
        saved.write(replace(reading, batches=odd, sightings=sightings), place)
        found = saved.read(str(place), stages=True)
        assert "Tr0ub4dor9x" in str(odd.to_pylist()) + str(sightings.to_pylist())
        assert "Tr0ub4dor9x" not in str(found.batches.to_pylist()) + str(found.sightings.to_pylist())
        assert found.batches["name"][0].as_py().startswith("q thrift://")

    def test_rows_without_a_byte_are_not_counted(self, reading: Any, place: Path) -> None:
        none = pa.table({"id": pa.nulls(1_000_000)})
        saved.write(replace(reading, batches=none, sightings=none.slice(0, 0), inside={}), place)
        assert len(saved.read(str(place), stages=True).batches) == 0

    def test_a_pipe_is_not_opened_to_see_what_it_is(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert not saved.is_saved(str(tmp_path / "pipe"))

    def test_a_column_of_another_version_is_left_out_or_empty(
        self, reading: Any, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = {name: schema.append(pa.field("newer", pa.int64())) for name, schema in TABLES.items()}
        monkeypatch.setattr("advisor.sources.saved.TABLES", other)
        found = saved.read(str(place), stages=True).inside["stages"]
        assert found.column_names[-1] == "newer" and found["newer"].null_count == len(found) > 0
        monkeypatch.undo()
        names = [name for name in reading.batches.column_names if name != "sink"]
        less = replace(reading, batches=reading.batches.select(names).append_column("newer", reading.batches["offset"]))
        saved.write(less, place)
        assert saved.read(str(place), stages=False).batches["sink"].null_count == len(reading.batches)

    def test_what_is_read_is_not_replaced(self, place: Path) -> None:
        assert "one of the files that are read" in refused("analyze", str(place), "--save", str(place))
        both = [f"--{option}={place.with_name('one')}" for option in ("save", "output")]
        assert "name the same file" in refused("analyze", str(place), *both)


def says(address: str) -> str:
    with pytest.raises(InputError) as error:
        files.read([address])
    assert "\n" not in str(error.value)
    return str(error.value)


def drip(handler: Any, line: bytes = b"", block: bytes = b" ", pause: float = 0.02) -> None:
    """A block of the answer now and then, or this of its header, until the other side has gone."""
    if not line:
        handler.send_response(200)
        handler.end_headers()
    try:
        while not handler.server._BaseServer__is_shut_down.wait(pause):
            handler.wfile.write(line or block)
            handler.wfile.flush()
    except OSError:
        return


FORM = '<title>Sign in</title><input type="password" name="p">'


def without_the_last(page: str) -> str:
    """A page without the last batch in each of its arrays."""
    return re.sub(r"(var v\d+ = \[\{.*\}),\{[^{}]*\}\];", r"\1];", page)


class TestServers:
    """A line for each server that is no driver, and nothing is asked of any other."""

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (lambda handler: body(handler, "<title>Grafana</title>"), "is no page of Spark's UI, but 'Grafana'"),
            (lambda handler: body(handler, FORM), "login page"),
            (lambda handler: body(handler, "no", 401), "asks for a login (401)"),
            (lambda handler: body(handler, "no", 403), "asks for a login (403)"),
            (redirect("/"), "circle"),
            (lambda handler: body(handler, gzip.compress(b"[]"), packed="gzip"), "is no page of Spark's UI"),
            (drip, "did not answer within"),
            (lambda handler: drip(handler, block=b" " * (1 << 16), pause=0), "larger than 1 MB"),
        ],
        ids=["another page", "a login", "401", "403", "a circle", "packed", "a page that drips", "one without end"],
    )
    def test_a_server_that_is_no_driver(
        self, answer: Callable[[Any], None], said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(web, "SECONDS", 0.2 if "within" in said else web.SECONDS)
        monkeypatch.setattr(web, "LARGEST", 1 << 20)
        with serving({}, answer) as served:
            assert said in says(served.address)
        assert "nobody listens" in says(served.address)

    @pytest.mark.parametrize("location", ["{0}/login?next=secret", "{0}\\@{1}/secret"])
    def test_a_redirect_elsewhere_is_not_followed(self, location: str) -> None:
        def leads_away(handler: Any) -> None:
            redirect(location.format(other.address, handler.headers["Host"]))(handler)

        with serving({}) as other, serving({}, leads_away) as served:
            said = says(served.address)
            assert f"redirects to {other.address}" in said
            assert "secret" not in said
            assert not other.asked

    @pytest.mark.parametrize("asked", ["", "/new/app_1/"])
    def test_a_path_in_front_and_a_redirect_on_the_same_server(self, answers: dict[str, Any], asked: str) -> None:
        moved = {f"new/app_1/{path}": answer for path, answer in answers.items()}
        there = {path: redirect(f"/new/app_1/{path}") for path in answers} if not asked else {}
        with serving(moved | there) as served:
            assert files.read([served.address + asked]).from_ui

    @pytest.mark.parametrize("line", [b"X", b"HTTP/1.1 100 Continue\r\n\r\n"])
    def test_a_header_that_never_ends_leaves_no_thread(self, line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(web, "SECONDS", 0.2)
        with serving({}, lambda handler: drip(handler, line)) as served:
            server, before = web.Server(served.address), {*threading.enumerate()}
            with pytest.raises(InputError, match="did not answer within"):
                server.page("")
            for left in {*threading.enumerate()} - before:
                if left.name == "latency-advisor-asks":
                    left.join(20)
                    assert not left.is_alive()

    def test_all_answers_of_a_look_have_one_limit(self, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(made["answers"]) as served:
            driver = Driver(web.Server(served.address), stages=False)
            monkeypatch.setattr("advisor.sources.ui.driver.SECONDS_OF_ALL", -1.0)
            with pytest.raises(InputError, match="did not answer within"):
                driver.look()

    def test_who_waits_is_told_once_for_what(self, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(web, "QUIET_SECONDS", 0.0)
        id = next(path for path in made["answers"] if path.endswith("/stages")).split("/")[-2]

        def slow(handler: Any) -> None:
            told.wait(20)
            body(handler, made["answers"][f"api/v1/applications/{id}/stages"])

        told = threading.Event()
        monkeypatch.setattr(
            web.Server, "_tell", lambda _, words: "/stages" in words and (said.append(words), told.set())
        )
        said: list[str] = []
        with serving(made["answers"] | {f"api/v1/applications/{id}/stages": slow}) as served:
            assert files.read([served.address], stages=True).from_ui
        assert said == [said[0]] and said[0].endswith("--no-stages asks for less")

    def test_an_answer_that_breaks_off(self) -> None:
        def answer(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b"[")

        with serving({}, answer) as served:
            assert "broke off" in says(served.address)

    def test_an_application_without_a_streaming_query(self, made: dict[str, Any]) -> None:
        answers = {path: text for path, text in made["answers"].items() if not path.startswith("StreamingQuery")}
        id = next(path for path in answers if path.endswith("/executors")).split("/")[-2]
        answers[f"api/v1/applications/{id}/jobs?status=running"] = '[{"jobId":1,"name":"collect at job.py:3"}]'
        with serving(answers) as served:
            assert "has no streaming query; running: collect at job.py:3" in says(served.address)

    @pytest.mark.parametrize("address", ["http://me:hidden@driver:4040", "http://driver:4040/?token=hidden"])
    def test_a_credential_in_the_address_is_refused(self, address: str) -> None:
        said = says(address)
        assert "contains a credential" in said
        assert "hidden" not in said


def counted(rows: int, instances: int, commit: str, plan: str = "") -> Execution:
    """An execution of one action in foreachBatch on a state of two partitions; before Spark 4.3 a `plan` tells them."""
    told = {"number of total state rows": f"{rows:,}", "number of state store instances": str(instances)}
    metrics = [{"name": name, "value": value} for name, value in (told | {"time to commit changes": commit}).items()]
    run = "00000000-0000-0000-0000-000000000001"
    shown = {
        "id": 1, "status": "COMPLETED", "successJobIds": [1], "description": f"id = {run}\nrunId = {run}\nbatch = 7",
        "nodes": [{"nodeName": "StateStoreSave", "metrics": metrics}], "planDescription": plan,
    }  # fmt: skip
    return msgspec.convert(shown, Execution)


@pytest.mark.parametrize(
    ("second", "rows", "instances", "commit"),
    [((200, 2, "1.0 s"), 400, 4, 1500), ((0, 0, "0 ms"), 200, 2, 500)],
    ids=["computed twice", "read from a cache"],
)
def test_the_executions_of_a_batch_add_up(second: Any, rows: int, instances: int, commit: int) -> None:
    ((operator,),) = operators_of([counted(200, 2, "500 ms"), counted(*second)]).values()
    assert (operator["numRowsTotal"], operator["numStateStoreInstances"]) == (rows, instances)
    assert operator["commitTimeMs"] == commit


@pytest.mark.parametrize(
    ("plan", "partitions"),
    [("(3) Scan [numPartitions=default]\n(9) Save\nArguments: state info [ opId = 0, numPartitions = 4] None", 4),
     ("state info [ numPartitions = 4], state info [ numPartitions = 1]", None), ("", None)],
    ids=["of one number", "of two numbers", "none"],
)  # fmt: skip
def test_the_plan_names_the_partitions_of_the_state(plan: str, partitions: int | None) -> None:
    facts = {each.fact: each.value for each in of_plans([counted(200, 16, "500 ms", plan)])}
    assert facts.get("shuffle_partitions") == partitions


@pytest.mark.parametrize(
    ("plan", "sink"),
    [("WriteToDataSourceV2 (9)\n(9) Arguments: MicroBatchWrite[epoch: 4, writer: KafkaStreamingWrite@3]", "kafka"),
     ("* Project (2)\n+- Scan text (1)", ["foreach_batch", "file", "delta", "other"])],
)  # fmt: skip
def test_a_batch_without_a_writer_has_a_sink_of_the_first_interface(plan: str, sink: Any) -> None:
    found = [each.value for each in of_plans([counted(200, 2, "1 ms", plan)]) if each.fact.startswith("sink")]
    assert found == [sink]


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "1e400", '"abc"', "null", "[" * 100_000, "9" * 5000])
def test_an_odd_number_on_a_page_costs_no_more_than_its_batch(made: dict[str, Any], odd: str) -> None:
    address = next(path for path in made["answers"] if "statistics" in path)
    page = made["answers"][address]
    run = pages.Listed("orders", "1", "1", "RUNNING", "")
    whole = pages.events(page, run)
    changed = page.replace(f'"y": {page.partition(chr(34) + "y" + chr(34) + ": ")[2].partition("}")[0]}', f'"y": {odd}')
    assert changed != page
    try:
        assert {event["timestamp"] for event in pages.events(changed, run)} <= {event["timestamp"] for event in whole}
    except ValueError as error:
        assert "batches" in str(error)


def test_another_page_instead_of_the_statistics_is_named(made: dict[str, Any]) -> None:
    other = {path: "<title>Sign in</title>" for path in made["answers"] if "statistics" in path}
    with serving(made["answers"] | other) as driver, pytest.raises(InputError, match="no page of Spark's UI, but 'Sig"):
        Driver(web.Server(driver.address)).look()


def _a_long_batch(page: str) -> str:
    return re.sub(r'("y": ?)\d+\.\d', r"\g<1>900000000000000.0", page)


@pytest.mark.parametrize(
    ("of", "odd", "said"),
    [
        ("/jobs", "null", "does not fit together"), ("/stages", "[" * 100_000, "does not fit together"),
        ("/executors", "{}", "is no page of Spark's UI"), ("/environment", None, "/environment with an error (503)"),
        ("/sql?", None, "/sql?details=false"), ("/sql/", None, "with an error (503)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_answer_that_is_none_is_named_and_costs_no_batch(
    made: dict[str, Any], of: str, odd: str | None, said: str, form: str
) -> None:
    answer = odd or (lambda handler: body(handler, "busy", 503))
    answers = made["answers"] | {path: answer for path in made["answers"] if of in path}
    with serving(answers) as driver:
        done = CliRunner().invoke(main, ["analyze", driver.address, "--format", form])
        fleet = CliRunner().invoke(main, ["analyze", driver.address, "--fleet"])
    assert (done.exit_code, fleet.exit_code) == (0, 0)
    assert said.replace(" ", "") in "".join(done.stdout.split()) and "Not readable" in fleet.stdout
    assert form == "json" or "batches, read from the UI, 1 not readable" in done.stdout.partition("\n")[0]


def test_a_page_that_is_cut_off_is_named_and_costs_no_other(made: dict[str, Any]) -> None:
    path, *_ = (path for path in made["answers"] if "statistics" in path)
    page = made["answers"][path].partition(pages.HEADING)
    with serving(made["answers"] | {path: "".join(page[:2])}) as driver:
        found = files.read([driver.address])
    assert ["cut off before its batches" in one.reason for one in found.broken] == [True]
    runs = {event["runId"] for event in made["progress"]}
    assert set(found.batches["run_id"].to_pylist()) == runs - {path.rpartition("=")[2]}


def test_pages_that_are_not_sparks_are_one_line(made: dict[str, Any]) -> None:
    answers = made["answers"] | {path: _a_long_batch(body) for path, body in made["answers"].items() if "stat" in path}
    with serving(answers) as driver:
        (unread,) = files.read([driver.address]).broken
    assert "does not fit together" in unread.reason


@pytest.mark.parametrize("address", ["http://[::1", "http://[x]/", "http://h:99999999/", "http://:70000000/"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    assert "no address of a web server" in says(address)
    assert "http://localhost:4040" in refused("analyze", "localhost:4040")


class TestCredentials:
    @pytest.fixture
    def asked(self, made: dict[str, Any]) -> Iterator[Served]:
        with serving(made["answers"]) as served:
            yield served

    @pytest.mark.parametrize(
        ("given", "sent"),
        [
            ({web.TOKEN: "t0ken-of-mine"}, "Bearer t0ken-of-mine"),
            ({web.TOKEN: "t0ken-of-mine\n"}, "Bearer t0ken-of-mine"),
            ({web.USER: "me", web.PASSWORD: "hidden"}, "Basic bWU6aGlkZGVu"),
            ({"NETRC": "netrc"}, "Basic bWU6aGlkZGVu"),
        ],
        ids=["a token", "a token and a line break", "a name and a password", "a netrc file"],
    )
    def test_a_login_is_sent_and_not_shown(
        self, asked: Served, given: dict[str, str], sent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("netrc").write_text(
            "machine 127.0.0.1 login me password hidden\nmachine other login you password theirs\n"
        )
        Path("netrc").chmod(0o600)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        shown = advisor.analyze(asked.address).to_json()
        assert {headers["authorization"] for _, headers in asked.asked} == {sent}
        assert "t0ken-of-mine" not in shown and '"hidden' not in shown

    @pytest.mark.parametrize("token", ["t0ken-of-mine\nX: y", "\tt0ken-of-mine", "t0ken-of-mine €"])
    def test_a_login_that_no_header_can_hold_is_not_repeated(
        self, asked: Served, monkeypatch: pytest.MonkeyPatch, token: str
    ) -> None:
        monkeypatch.setenv(web.TOKEN, token)
        assert "a letter that no header can" in says(asked.address)
        assert "t0ken" not in says(asked.address)

    def test_a_broken_netrc_file(self, asked: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
        place = tmp_path / "netrc"
        place.write_text("nonsense")
        monkeypatch.setenv("NETRC", str(place))
        assert "repair the file" in says(asked.address)

    def test_an_own_certificate_authority(
        self, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        place, pipe = certificate(tmp_path / "ca.pem"), tmp_path / "pipe"
        os.mkfifo(pipe)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place)
        with serving(made["answers"], tls=context) as served:
            assert "SSL_CERT_FILE names the file of your own CA" in says(served.address)
            for other, words in ((tmp_path / "none", "but {} is no file"), (Path(__file__), "but in {} is none")):
                monkeypatch.setenv("SSL_CERT_FILE", str(other))
                assert words.format(other) in says(served.address)
            monkeypatch.setenv("SSL_CERT_FILE", str(pipe))
            assert says(served.address).startswith(f"{pipe}: is a pipe")
            monkeypatch.setenv("SSL_CERT_FILE", str(place))
            assert files.read([served.address]).from_ui

    def test_what_is_wrong_with_tls(
        self, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        place = certificate(tmp_path / "ca.pem", "10.9.8.7")
        monkeypatch.setenv("SSL_CERT_FILE", str(place))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place)
        with serving(made["answers"], tls=context) as served:
            assert "its certificate is for another host" in says(served.address)
            assert "speak https?" in says(served.address.replace("https", "http"))


def certificate(place: Path, host: str = "127.0.0.1") -> Path:
    """Write a certificate of a host that signs itself, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(timezone.utc)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.serial_number(x509.random_serial_number()).add_extension(here, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    place.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(pem))
    return place


LOG = "eventlog_v2_app-1/events_1_app-1"


class TestHistoryServer:
    """A History Server names its applications, and gives the event log of one."""

    LISTED = '[{"id":"app-1","name":"orders","attempts":[{"lastUpdatedEpoch":2}]},{"id":"app-2","name":"old"}]'

    @pytest.fixture
    def server(self) -> Iterator[Served]:
        answers = {
            "api/v1/applications": self.LISTED, "api/v1/applications/app-1/logs": zipped({LOG: event_log()}),
            "api/v1/applications/app-1/2/logs": zipped({LOG: event_log()}),
            "api/v1/applications/app-2/logs": "<title>Sign in</title>",
            "api/v1/applications/app-4/logs": event_log(),
            "api/v1/applications/app-3/logs": zipped({LOG: b"nothing\n"}), "": "<title>History Server</title>",
        }  # fmt: skip
        with serving(answers) as served:
            yield served

    def test_an_application_is_to_be_named(self, server: Served) -> None:
        assert "a History Server with 2 applications, the newest: app-1 (orders), app-2 (old)" in says(server.address)

    @pytest.mark.parametrize("path", ["/history/app-1", "/history/app-1/StreamingQuery/", "/history/app-1/2/jobs/"])
    def test_the_event_log_of_one_is_read_and_removed(self, path: str, server: Served) -> None:
        found = files.read([server.address + path], stages=True)
        assert (found.events, found.from_ui) == (12, 0)
        assert all(name.startswith(server.address) for name in found.batches["file"].to_pylist())
        assert not [*Path(tempfile.gettempdir()).glob("latency-advisor-*/log.zip")]

    @pytest.mark.parametrize(
        ("app", "path", "said"),
        [
            ("app-1", "/api/v1/applications/app-1/logs", "12 progress events"),
            ("app-1/2", "/api/v1/applications/app-1/2/logs", ""),
        ],
    )
    def test_an_option_names_an_application_or_an_attempt(self, app: str, path: str, said: str, server: Served) -> None:
        result = CliRunner().invoke(main, ["analyze", server.address, "--app", app])
        assert (result.exit_code, said in result.output, server.paths[-1]) == (0, True, path)

    @pytest.mark.parametrize(("path", "app"), [("/history/app-1", "app-2"), ("", "app-1;x"), ("", "../app-1")])
    def test_an_option_that_names_no_application_is_refused(self, path: str, app: str, server: Served) -> None:
        result = CliRunner().invoke(main, ["analyze", server.address + path, "--app", app])
        assert (result.exit_code, server.paths) == (2, [])

    @pytest.mark.parametrize(
        ("app", "said"),
        [
            ("app-2", ": is no page of Spark's UI, but 'Sign in'"),
            ("app-4", ": gives no event log of app-4"),
            ("app-3", "/history/app-3"),
            ("app-9", ": has no application app-9"),
        ],
    )
    def test_what_is_no_log_names_the_address_alone(self, app: str, said: str, server: Served) -> None:
        found = says(f"{server.address}/history/{app}")
        assert found.startswith(f"{server.address}{said}")
        assert tempfile.gettempdir() not in found

    def test_an_application_is_not_watched(self, server: Served) -> None:
        with pytest.raises(InputError, match="an application of a History Server"):
            Watched(f"{server.address}/history/app-1", stages=True)
        assert server.paths == []

    def test_the_only_application_of_a_server_is_no_driver(self, made: dict[str, Any]) -> None:
        answers = {path: text for path, text in made["answers"].items() if not path.startswith("StreamingQuery")}
        with serving(answers | {"": "<title>History Server</title>"}) as served:
            assert "a History Server with 1 application, the newest" in says(served.address)


@pytest.mark.parametrize(
    "page", ["", "/", "/StreamingQuery/", "/StreamingQuery/statistics/?id=1", "/jobs", "/SQL/execution/?id=1"]
)
@pytest.mark.parametrize("front", ["http://driver:4040", "https://host/proxy/application_1_1"])
def test_the_address_of_any_page_of_a_driver_will_do(front: str, page: str) -> None:
    assert web.Server(web.parted(front + page)[0]).address == front


class TestWatching:
    """A driver that is asked again: what was read stays, through its end and its return."""

    def test_new_batches_are_added(self, answers: dict[str, Any]) -> None:
        run = pages.listed(answers[pages.LIST])[0]
        page = f"{pages.STATISTICS}{run.run_id}"
        whole, answers[page] = answers[page], without_the_last(answers[page])
        with serving(answers) as served:
            watched = Watched(served.address, stages=True)
            assert watched.poll()
            before = watched.reading().from_ui
            assert not watched.poll()
            answers[page] = whole
            assert watched.poll()
            assert watched.reading().from_ui == before + 1

    def test_each_query_that_has_ended_is_read_once(self, answers: dict[str, Any]) -> None:
        (run, *others) = pages.listed(answers[pages.LIST])
        row = next(row for row in re.findall(r"<tr>\s*<td>.*?</tr>", answers[pages.LIST], re.DOTALL) if run.id in row)
        ended = row.replace("RUNNING", "FINISHED")
        more = {digit * 8 + run.id[8:]: digit * 8 + run.run_id[8:] for digit in "0123456789ab"}
        rows = [ended.replace(run.id, id).replace(run.run_id, run_id) for id, run_id in more.items()]
        answers[pages.LIST] = answers[pages.LIST].replace(row, row + "".join(rows))
        page = answers[f"{pages.STATISTICS}{run.run_id}"]
        answers |= {f"{pages.STATISTICS}{run_id}": page.replace(run.run_id, run_id) for run_id in more.values()}
        with serving(answers) as served:
            driver = Driver(web.Server(served.address))
            driver.look()
            assert {*driver.reading().batches["id"].to_pylist()} == {*more, run.id, *(one.id for one in others)}
            asked = len(served.paths)
            driver.look()
            assert not [path for path in served.paths[asked:] if any(one in path for one in more.values())]

    def test_what_ran_inside_is_bounded_as_batches_are(
        self, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving(answers) as served:
            driver = Driver(web.Server(served.address))
            driver.look()
            rows = {name: len(table) for name, table in driver.reading().inside.items()}
            monkeypatch.setattr("advisor.sources.ui.driver._MOST_ROWS", 5)
            driver._unopened = [driver.reading().batches]
            driver._open()
            assert min(rows.values()) > 5
            assert {len(table) for table in driver.reading().inside.values()} == {5}

    def test_batches_that_are_dropped_are_not_opened(
        self, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("advisor.sources.ui.driver._KEPT", 1)
        runs = pages.listed(answers[pages.LIST])
        with serving(answers) as served:
            driver = Driver(web.Server(served.address))
        for run in [*runs, *runs]:
            driver._keep(pages.events(answers[f"{pages.STATISTICS}{run.run_id}"], run))
        assert [len(each) for each in driver._unopened] == [len(driver.reading().batches)]

    def test_only_the_last_executions_are_listed_again(
        self, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("advisor.sources.ui.driver._LISTED_AGAIN", 10)
        (run,) = (run for run in pages.listed(answers[pages.LIST]) if run.name == "orders-by-key")
        page = f"{pages.STATISTICS}{run.run_id}"
        whole, answers[page] = answers[page], without_the_last(answers[page])
        listed = next(path for path in answers if "details=false" in path)
        held = json.loads(answers[listed])
        answers[listed.replace("offset=0", f"offset={len(held) - 10}")] = json.dumps(held[-10:])
        with serving(answers, otherwise=lambda handler: body(handler, "[]")) as served:
            watched = Watched(served.address, stages=False)
            answers[page] = whole
            watched.poll()
            watched.poll()
        assert len([path for path in served.paths if "details=false" in path]) == 2
        runs = pages.listed(answers[pages.LIST])
        shown = [pages.events(answers[f"{pages.STATISTICS}{one.run_id}"], one) for one in runs]
        assert watched.reading().from_ui == sum(map(len, shown))

    @pytest.mark.parametrize(
        ("fails", "kept", "lacking"),
        [
            ("sql?details=false", True, True), ("sql?details=true", True, True),
            ("StreamingQuery/statistics", False, False),
            ("StreamingQuery/?active", False, False), ("/environment", True, False), ("/executors", True, False),
            ("/sql/", True, False), ("/jobs", True, False), ("/stages", True, False),
        ],
    )  # fmt: skip
    def test_what_one_answer_lacks_comes_with_the_next_look(
        self, answers: dict[str, Any], fails: str, kept: bool, lacking: bool
    ) -> None:
        held = {path: found for path, found in answers.items() if fails in path}
        whole = {path: found for path, found in answers.items() if "statistics" in path}
        answers |= dict.fromkeys(whole, f"<h3>{pages.HEADING}</h3>No visualization information available.")
        with serving(answers) as served:
            watched = Watched(served.address, stages=True)
            watched.poll()
            watched._driver._application = Application("the one before")
            watched._driver._learned.clear()
            watched._driver._facts.clear()
            answers |= whole | {path: lambda handler: body(handler, "busy", 503) for path in held}
            watched._driver._open_from = 0.0
            watched.poll()
            assert kept is (watched._driver._open_from > 0)
            assert bool(watched._driver._unopened) is (fails in ("/jobs", "/stages"))
            watched._driver._open_from = 0.0
            looked = watched.reading()
            assert (bool(looked.from_ui), looked.gone_since is None) == (kept, fails != "StreamingQuery/?active")
            learned = watched._driver._learned & set(looked.batches["run_id"].to_pylist())
            assert bool(learned) is (kept and fails not in ("sql?details=false", "/sql/"))
            assert any("stateOperators" in str(each) for each in looked.batches["partial"].to_pylist()) is lacking
            answers |= held
            watched.poll()
            clean = Driver(web.Server(served.address))
            clean.look()
        found, expected = watched.reading(), clean.reading()
        assert found.gone_since is None
        assert found.from_ui == expected.from_ui
        assert found.batches["partial"].to_pylist() == expected.batches["partial"].to_pylist()
        assert {name: len(rows) for name, rows in found.inside.items()} == {
            name: len(rows) for name, rows in expected.inside.items()
        }
        facts = [{(row["log"], row["fact"]) for row in each.sightings.to_pylist()} for each in (found, expected)]
        assert facts[0] >= facts[1]

    def test_an_answer_about_some_executions_that_fails_costs_no_other_batch_its_state(
        self, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("advisor.sources.ui.driver._AT_A_TIME", 38)
        (asked,) = (path for path in answers if "details=true&planDescription=false" in path)
        some, others = (asked.replace("offset=1&length=76", f"offset={first}&length=38") for first in (1, 39))
        answers |= {
            some: lambda handler: body(handler, "busy", 503),
            others: json.dumps(json.loads(answers[asked])[38:]),
        }
        with serving(answers) as served:
            driver = Driver(web.Server(served.address))
            driver.look()
        (unread,) = driver.reading().broken
        assert "with an error (503)" in unread.reason
        rows = [row for row in driver.reading().batches.to_pylist() if row["operators"]]
        assert {"stateOperators" in row["partial"] for row in rows} == {False, True}

    def test_a_driver_that_is_gone_and_comes_back(self, answers: dict[str, Any]) -> None:
        with serving(answers) as served:
            watched = Watched(served.address, stages=False)
            watched.poll()
            before = watched.reading()
            kept = dict(answers)
            answers.clear()
            assert watched.poll()
            assert not watched.poll()
            gone = watched.reading()
            assert gone.gone_since is not None
            assert gone.batches.equals(before.batches)
            answers.update(kept)
            assert watched.poll()
            assert watched.reading().gone_since is None

    def test_a_query_that_a_restarted_driver_does_not_start_is_gone(self, answers: dict[str, Any]) -> None:
        shown = answers[pages.LIST]
        (row,) = (row for row in re.findall(r"<tr>\s*<td>.*?</tr>", shown, re.DOTALL) if "orders-by-key" in row)
        run = re.findall('id=([^"]*)', row)[0]
        with serving(answers) as served:
            steps = advisor.api.follow(served.address, stages=False)
            next(steps)
            answers[pages.LIST] = shown.replace(row, "")
            assert {query["run_id"]: query["stall"]["word"] for query in next(steps).queries}[run] == "gone"
            answers[pages.LIST] = shown.replace(run, "deadbeef-0000-4000-8000-000000000001")
            (late,) = (query for query in next(steps).queries if query["run_id"] == run)
            assert late.get("stall", {}).get("word") != "gone"

    def test_the_screen_says_since_when_it_is_gone(self, answers: dict[str, Any]) -> None:
        with serving(answers) as served:
            steps = advisor.api.follow(served.address)
            assert next(steps).typed.input.gone_since is None
            answers.clear()
            report = next(steps)
            assert "gone since" in str(report)
            assert report.data["input"]["gone_since"]

    def test_a_driver_without_a_batch_is_shown_at_once(self, answers: dict[str, Any]) -> None:
        for path in [path for path in answers if "statistics" in path]:
            answers[path] = "<h3>Streaming Query Statistics</h3><b>No visualization information available.</b>"
        with serving(answers) as served:
            steps = advisor.api.follow(served.address)
            first = next(steps)
            assert "no batch yet, read from the UI" in str(first)
            assert {(one.state, one.batches) for one in first.typed.queries} == {("no_data", 0)}
            assert next(steps) is None
        with pytest.raises(UsageError, match="one address at a time"):
            next(advisor.api.follow([served.address] * 2))


def test_an_archive_in_a_directory_is_read_and_a_damaged_one_costs_no_other(tmp_path: Path) -> None:
    whole = zipped({LOG: event_log()})
    (tmp_path / "a.zip").write_bytes(whole)
    (tmp_path / "b.zip").write_bytes(whole.replace(b"PK\x01\x02", b"PK\x01\x09"))
    found = files.read([tmp_path])
    assert found.events == files.read([tmp_path / "a.zip"]).events > 0
    assert [("b.zip" in one.file, "damaged archive" in one.reason) for one in found.broken] == [(True, True)]
    place = str(tmp_path / "a.zip")
    assert "one of the files that are read" in refused("analyze", place, "--output", place)
    assert (tmp_path / "a.zip").read_bytes() == whole


def test_two_files_of_one_name_in_an_archive_are_not_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("log", event_log())
        archive.writestr("log", b"other")
    (broken,) = files.read([tmp_path / "a.zip"]).broken
    assert "two of one name" in broken.reason
