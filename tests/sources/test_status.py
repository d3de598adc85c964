"""query.status alone and beside a record; query.exception(); an empty lastProgress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.sources.no_progress.kinds import kind
from advisor.sources.sightings.status import read_status
from advisor.views.markdown import report_as_markdown as as_markdown
from advisor.views.terminal import report_as_text
from tests.made import event
from tests.sources.reading import told


def status(message: str, *, data: bool = False, active: bool = False) -> dict[str, Any]:
    return {"message": message, "isDataAvailable": data, "isTriggerActive": active}


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Stopped", "the query has ended: query.exception() tells whether by an error"),
        ("Waiting for data to arrive", "waits for data"),
        ("Waiting for next trigger", "waits for its next trigger"),
        ("Processing new data", "works on a batch"),
        ("Writing offsets to log", "writes the offset log"),
        ("Getting offsets from KafkaV2[Subscribe[pay]]", "asks a source for what is new"),
        ("Initializing sources", "before its first batch has ended there is no progress"),
    ],
)
def test_what_a_status_says(message: str, says: str) -> None:
    for text in (
        json.dumps(status(message), indent=2),
        repr(status(message)),
        f"StreamingQueryStatus(message={message}, isDataAvailable=false, isTriggerActive=false)",
    ):
        assert says in (kind(text) or "")


def test_a_message_that_is_not_known_gets_no_meaning() -> None:
    assert kind(repr(status("Thinking"))) == "this is query.status, which tells no durations"


def test_the_last_of_several_statuses_counts() -> None:
    text = f"{status('Processing new data')}\n{status('Stopped')}\n"
    assert [each.fact for each in read_status(text)] == ["stopped"]
    assert not [*read_status(f"{status('Stopped')}\n{status('Initializing sources')}")]


def test_a_status_of_an_error_is_what_ended_the_query(tmp_path: Path) -> None:
    query = told(tmp_path, f">>> q.status\n{status('Terminated with exception: no table x')}")
    assert (query["state"], query["verdict"]) == ("dead", "The query stopped with an error: no table x.")
    refused = "Terminated with exception: Sink ForeachBatchSink does not support async progress tracking"
    assert told(tmp_path, repr(status(refused)))["best_step"]["rule"] == "ER001"


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("Stopped", "stopped"),
        ("Terminated with exception: boom", "dead"),
        ("Waiting for data to arrive", "log_ends"),
        ("Processing new data", "log_ends"),
    ],
)
def test_a_status_beside_a_record(tmp_path: Path, message: str, state: str) -> None:
    record = json.dumps(event(7, 60_000, 10_000, {"triggerExecution": 900, "addBatch": 700, "walCommit": 60}))
    for text in (f"{record}\n{status(message)}", f"{json.dumps(status(message))}\n{record}"):
        query = told(tmp_path, text)
        assert (query["state"], query["window"]["batches"]) == (state, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (">>> query.lastProgress\nNone", "empty until the first trigger"),
        ("query.recentProgress -> []", "empty until the first trigger"),
        ("scala> q.lastProgress\nres4: org.apache.spark.sql.streaming.StreamingQueryProgress = null", "empty until"),
        ("q.lastProgress -> None\nq.exception() -> None", "it did not end with an error"),
        ("scala> q.exception\nres3: Option[x.Y] = None\nscala> q.lastProgress\nres4: x.Z = null", "did not end with"),
        (f"q.lastProgress is None, q.status {status('Stopped')}", "the query has ended"),
    ],
)
def test_empty_progress_beside_what_else_was_asked(text: str, says: str) -> None:
    assert says in (kind(text) or "")


def test_code_that_asks_for_none_of_it_says_nothing() -> None:
    assert "empty until" not in (kind("if q.lastProgress: print(q.lastProgress['durationMs'])") or "")


@pytest.mark.parametrize(
    "text",
    [
        '{"batchId": 3, "stateOperators": [{"numRowsTotal": 12}]',
        '"sources" : [ { "description" : "KafkaV2[Subscribe[a]]", "startOffset" : null, "numInputRows" : 0 } ]',
        '{"batchId": 9, "durationMs": {"addBatch": 400, "walCommit": 30}}',
    ],
)
def test_pieces_that_cannot_be_judged_say_how_to_get_whole_records(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pieces.txt"
    path.write_text(text, encoding="utf-8")
    report = advisor.analyze(path).typed
    for page in (report_as_text(report), as_markdown(report)):
        assert "print(json.dumps(p, default=str))" in page
        assert "println(p.json)" in page


def test_a_record_that_is_judged_asks_for_no_other(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(event(7, 60_000, 10_000, {"triggerExecution": 900, "addBatch": 700})))
    assert advisor.analyze(path).typed.input.progress_needs is None


_IDLE = "INFO MicroBatchExecution: Streaming query has been idle and waiting for new data more than {} ms."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            f"25/01/05 08:00:10 {_IDLE.format(10000)}\n",
            "1 line of Spark's says that the query is idle: for more than 10.0",
        ),
        (
            f"{_IDLE.format(10000)}\n{_IDLE.format(24000)}\n",
            "2 lines of Spark's say that the query is idle: for more than 24",
        ),
        (f"Why is it slow? My log:\n> {_IDLE.format(10000)}\n", "that is no slow query"),
    ],
)
def test_lines_of_a_query_without_new_data_are_told(text: str, says: str) -> None:
    assert says in (kind(text) or "")


def test_an_error_says_more_than_that_a_query_was_idle() -> None:
    died = "ERROR MicroBatchExecution: Query [id = 1-2, runId = 3-4] terminated with error\n"
    assert "idle" not in (kind(f"{_IDLE.format(10000)}\n{died}org.apache.spark.SparkException: gone\n") or "")


def test_to_be_idle_for_other_reasons_is_not_told() -> None:
    assert "Spark's" not in (kind("the executor has been idle for 60 s") or "")
