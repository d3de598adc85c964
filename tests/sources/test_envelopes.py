"""Logs as collectors and log services hand them out: the same batches and the same stages as of the plain log."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.cluster.units import look
from advisor.errors import InputError
from advisor.sources import envelopes, random_access
from advisor.sources.envelopes import IN_PART, TOO_LARGE, exported, is_export, unwrapped
from advisor.sources.following import Following
from tests.made import event

PLAIN = Path(__file__).parents[2] / "sample_progress" / "TR007" / "nearly-full-4.3.0" / "driver.log"
TEXT = PLAIN.read_text()[: PLAIN.read_text().index("2026-11-22T18:17:28")].rpartition("\n26/")[0] + "\n"
LINES = TEXT.splitlines()
ENTRIES = re.split(r"\n(?=26/11/22 )", TEXT.rstrip("\n"))
WHEN = "2026-11-22T18:17:09.123456789Z"


PRINTED = {"cells": [{"source": [], "outputs": [{"text": TEXT.splitlines(keepends=True)}]}], "nbformat": 4}


def as_lines(entries: list[str], form: str, prefix: str = "", end: str = "") -> str:
    """An object per entry: `form` with TEXT where the entry belongs."""
    return "".join(f"{prefix}{form.replace('TEXT', json.dumps(entry + end))}\n" for entry in entries)


def as_csv(entries: list[str], delimiter: str = ",") -> str:
    text = io.StringIO()
    rows = csv.writer(text, delimiter=delimiter)
    rows.writerows([["_time", "message"], *(["1763835429", entry] for entry in entries)])
    return text.getvalue()


LAYOUTS = {
    "docker": as_lines(LINES, f'{{"log":TEXT,"stream":"stderr","time":"{WHEN}"}}', end="\n"),
    "docker, spaced": as_lines(LINES, f'{{ "log": TEXT, "stream": "stderr", "time": "{WHEN}" }}', end="\n"),
    "journald": as_lines(LINES, '{"__REALTIME_TIMESTAMP":"1763835429123456","MESSAGE":TEXT,"_PID":"12"}'),
    "journald, octets": "".join(json.dumps({"_PID": "12", "MESSAGE": list(line.encode())}) + "\n" for line in LINES),
    "journald, octets at last": as_lines(LINES[:-400], '{"_PID":"12","MESSAGE":TEXT}')
    + "".join(json.dumps({"_PID": "12", "MESSAGE": list(line.encode())}) + "\n" for line in LINES[-400:]),
    "fluentd": as_lines(LINES, '{"log":TEXT,"stream":"stderr"}', prefix="2026-11-22 18:17:09 +0000 kube.var.log: "),
    "fluent-bit, entries": as_lines(ENTRIES, '{"date":1763835429.12,"log":TEXT,"kubernetes":{"pod":"x"}}'),
    "GCP, lines": as_lines(LINES, f'{{"textPayload":TEXT,"timestamp":"{WHEN}"}}'),
    "GCP, a document": json.dumps([{"textPayload": entry, "severity": "INFO"} for entry in ENTRIES], indent=2),
    "GCP, a payload": as_lines(ENTRIES, '{"jsonPayload":{"message":TEXT},"severity":"INFO"}'),
    "CloudWatch, get-log-events": json.dumps({"events": [{"timestamp": 1, "message": line} for line in LINES]}),
    "CloudWatch, indented": json.dumps({"events": [{"message": line} for line in LINES], "next": "f/3"}, indent=4),
    "CloudWatch Insights": json.dumps(
        {"results": [[{"field": "@timestamp", "value": WHEN}, {"field": "@message", "value": e}] for e in ENTRIES]}
    ),
    "newest first, Insights": json.dumps({"results": [[{"field": "@message", "value": e}] for e in ENTRIES[::-1]]}),
    "newest first, CSV": as_csv(ENTRIES[::-1]),
    "newest first": json.dumps({"events": [{"message": line} for line in reversed(LINES)]}),
    "newest first, lines": as_lines(LINES[::-1], f'{{"line":TEXT,"timestamp":"{WHEN}"}}'),
    "newest first, plain": "\n".join(LINES[::-1]) + "\n",
    "two lists": json.dumps({"a": [{"log": e} for e in ENTRIES[:9]], "b": [{"log": e} for e in ENTRIES[9:]]}),
    "two lists of one name": json.dumps(
        {"a": [{"log": line} for line in LINES[:99]], "b": [{"log": line} for line in LINES[99:]]}
    ).replace('"b": [', '"a": ['),
    "Azure": as_lines(LINES, '{"TimeGenerated":"x","LogEntry":TEXT}'),
    "Datadog": as_lines(ENTRIES, '{"id":"a","attributes":{"message":TEXT}}'),
    "Loki": as_lines(LINES, f'{{"line":TEXT,"timestamp":"{WHEN}"}}'),
    "Elasticsearch": json.dumps({"took": 3, "hits": {"hits": [{"_source": {"message": entry}} for entry in ENTRIES]}}),
    "Splunk": as_csv(ENTRIES).replace("message", "_raw", 1),
    "CSV, a row for each line": as_csv(LINES),
    "CSV, tabs": as_csv(LINES, delimiter="\t"),
    "Jupyter": json.dumps(PRINTED, indent=1),
    "Jupyter, one line": json.dumps(PRINTED),
}


def read(path: Path) -> list[list[str]]:
    """Batches and stages without their places."""
    stages = advisor.read_stages(path).drop(columns=["log", "file"], errors="ignore")
    batches = advisor.read_progress(path)[["batch_id", "timestamp", "trigger_execution_ms", "add_batch_ms", "partial"]]
    return [[str(row) for row in table.to_dict("records")] for table in (batches, stages)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    path = tmp_path_factory.mktemp("plain") / "driver.log"
    path.write_text(TEXT)
    return read(path)


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_a_wrapped_log_says_what_the_plain_one_says(tmp_path: Path, text: str, plain: list[list[str]]) -> None:
    path = tmp_path / "driver.log"
    path.write_text(text)
    batches, stages = read(path)
    assert len(batches) > 5 < len(stages)
    assert [batches, stages] == plain


HEAD = next(at for at, line in enumerate(LINES) if line.endswith("made progress: {") and at > len(LINES) // 2)
END = LINES.index("}", HEAD)
DAMAGED = {
    "no head": [*LINES[:HEAD], *LINES[HEAD + 1 :]],
    "no beginning": [*LINES[:HEAD], *LINES[HEAD + 6 :]],
    "no end": [*LINES[:END], *LINES[END + 1 :]],
    "a head that is no UTF-8": [*LINES[:HEAD], LINES[HEAD].replace("made", "mad\udce9"), *LINES[HEAD + 1 :]],
    "a record that a new file begins in": LINES[HEAD + 6 :],
}


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("form", ['{"log":TEXT,"stream":"stderr"}', f"{WHEN} stderr F TEXT"])
def test_of_a_damaged_record_a_wrapped_log_says_what_the_plain_one_says(
    tmp_path: Path, damaged: list[str], form: str
) -> None:
    found = []
    for wrap in (form, "TEXT"):
        lines = [json.dumps(line, ensure_ascii=False) if wrap[0] == "{" else line for line in damaged]
        text = "".join(wrap.replace("TEXT", line) + "\n" for line in lines)
        (tmp_path / "driver.log").write_bytes(text.encode(errors="surrogateescape"))
        read_of = advisor.analyze(tmp_path / "driver.log").typed.input
        names = [(one.lacks, one.reason) for one in read_of.partial], [one.reason for one in read_of.broken]
        found.append((read(tmp_path / "driver.log")[0], names))
    assert found[0] == found[1]
    assert len(found[0][0]) == sum("durationMs" in line for line in damaged)


@pytest.mark.parametrize(
    "wrap", [lambda line: json.dumps({"log": line}) + "\n", "2026-03-01T02:00:00.123456789Z stdout F {}".format]
)
@pytest.mark.parametrize("turned", [False, True])
def test_lines_that_are_not_all_in_envelopes_are_taken_out(wrap: Callable[[str], str], turned: bool) -> None:
    lines = [line + "\n" for line in LINES]
    texts = [*lines[:9], *map(wrap, lines[9:])] if turned else [*map(wrap, lines[:9]), *lines[9:]]
    text = "".join(texts).encode()
    found = unwrapped(text, 0, len(text))
    assert found is not None
    assert found.text.decode() == "".join(lines)


def test_pieces_of_a_line_are_joined_within_their_stream(tmp_path: Path) -> None:
    row = {"triggerExecution": 300, "addBatch": 200}
    lines = [f"made progress: {json.dumps(event(number, 1000 * number, 1000, row))}" for number in range(3)]
    pieces = [[f"stderr P {line[:99]}", "stdout F between", f"stderr F {line[99:]}"] for line in lines]
    text = "".join(f"{WHEN} {piece}\n" for each in pieces for piece in each)
    (tmp_path / "driver.log").write_text(text)
    assert advisor.read_progress(tmp_path / "driver.log")["partial"].tolist() == [None] * 3


def test_an_event_before_a_log_is_no_export() -> None:
    begins = json.dumps(event(0, 0, 0, {}), indent=2)
    assert not is_export(f"{begins}\n{TEXT * 9}".encode())
    assert is_export(f'{{\n  "hits" : {begins},\n "lines": [{json.dumps(TEXT * 9)}]}}'.encode())


@pytest.mark.parametrize(
    "prefix", ["driver-{}-1  | ", "[pod/driver-{}/spark] ", "driver-{} spark ", "\x1b[32mdriver-{} |\x1b[0m "]
)
@pytest.mark.parametrize(("chunk", "before"), [(1, 0), (7, 0), (7, 2000)])
def test_lines_of_two_containers_make_no_batches_of_both(
    tmp_path: Path, prefix: str, chunk: int, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_access, "STEP", 70_001 if before else random_access.STEP)
    of_a, of_b = ([prefix.format(name) + line for line in LINES] for name in "ab")
    of_b = [re.sub('(Id" : )"....', r'\1"beef', line).replace('"id" : "', '"id" : "b') for line in of_b]
    pieces = ((of_a[at : at + chunk], of_b[at : at + chunk]) for at in range(0, len(LINES), chunk))
    mixed = [line for a, b in pieces for line in (*a, *b)]
    kept = ["id", "run_id", "batch_id", "input_rows", "trigger_execution_ms", "add_batch_ms"]
    tables = []
    for name, lines in (("mixed", mixed), ("apart", of_a + of_b)):
        (tmp_path / name).write_text(
            "26/11/22 18:17:09 INFO A: words of other kinds\n" * before + "\n".join(lines) + "\n"
        )
        tables.append(advisor.read_progress(tmp_path / name)[kept].to_dict("records"))
    assert tables[0] == tables[1]
    assert len({str(row) for row in tables[0]}) == 2 * TEXT.count("made progress")


LARGE = (
    "journald, octets", "journald, octets at last", "GCP, a document", "CloudWatch, indented", "CloudWatch Insights",
    "newest first", "newest first, plain", "two lists of one name", "Elasticsearch", "CSV, a row for each line",
    "Jupyter", "Jupyter, one line",
)  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_an_export_of_many_windows_says_what_the_plain_log_says(
    tmp_path: Path, name: str, plain: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_access, "STEP", 70_001)
    (tmp_path / "driver.log").write_text(LAYOUTS[name])
    assert read(tmp_path / "driver.log") == plain
    assert look(str(tmp_path / "driver.log"), 1000, 2000).whole


@pytest.mark.parametrize("cut", ["too large", "cut off"])
def test_an_export_that_is_not_read_to_its_end_is_named(
    tmp_path: Path, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = tmp_path / "driver.log", LAYOUTS["Elasticsearch"]
    at = text.rindex("made progress") + 100
    path.write_text(text if cut == "too large" else text[:at])
    if cut == "too large":
        monkeypatch.setattr(random_access, "STEP", 1 << 16)
        monkeypatch.setattr(envelopes, "LARGEST", 1)
    found = advisor.analyze(path).typed.input
    assert 0 < found.events < TEXT.count("made progress")
    assert bool([one for one in found.broken if one.reason == TOO_LARGE]) == (cut == "too large")
    assert found.broken or found.partial


@pytest.mark.parametrize("name", ["GCP, a document", "Elasticsearch", "CSV, a row for each line", "newest first"])
@pytest.mark.parametrize("begun", [0, 1000])
def test_an_export_that_is_watched_is_read_or_named(tmp_path: Path, name: str, begun: int) -> None:
    path = tmp_path / "export"
    path.write_text(LAYOUTS[name][:begun])
    following = Following([str(path)] if begun else [])
    following.poll()
    path.write_text(LAYOUTS[name])
    following = following if begun else Following([str(path)])
    following.poll()
    found = following.reading()
    assert [one.reason for one in found.broken][:1] == [IN_PART] * bool(begun)
    assert begun or found.events == TEXT.count("made progress")
    following.close()


def _event(number: int) -> dict[str, object]:
    return event(number, 1000.0 * number, 1000.0, {"triggerExecution": 500})


def _message(number: int) -> str:
    return f"26/01/01 INFO MicroBatchExecution: Streaming query made progress: {json.dumps(_event(number))}"


OTHERS = {
    "another key": lambda number: {"msg": _message(number)},
    "another key beside a message": lambda number: {"message": "see detail", "detail": [_message(number)]},
    "a text": _message,
    "an event": _event,
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_entries_of_another_form_are_read_too(tmp_path: Path, other: Callable[[int], object]) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([*({"message": _message(number)} for number in range(4)), *map(other, range(4, 9))]))
    assert sorted(advisor.read_progress(path)["batch_id"]) == list(range(9))


UNKNOWN = {
    "Loki's answer": json.dumps({"data": {"result": [{"values": [["1", line] for line in LINES]}]}}),
    "Azure's answer": json.dumps({"tables": [{"rows": [[WHEN, line] for line in LINES[::-1]]}]}, indent=2),
    "OpenTelemetry": as_lines(LINES, '{"logRecords":[{"body":{"stringValue":TEXT}}]}'),
    "Elasticsearch, fields": json.dumps({"hits": {"hits": [{"fields": {"message": [line]}} for line in LINES]}}),
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_an_export_of_another_form_is_named_and_no_other_file_is_lost(tmp_path: Path, text: str) -> None:
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(InputError, match="an export of a form that is not known; export its lines as text"):
        advisor.analyze(tmp_path)
    (tmp_path / "driver.log").write_text(TEXT)
    report = advisor.analyze(tmp_path)
    reasons = [one.reason[:40] for one in report.typed.input.broken]
    assert (bool(report.queries), reasons) == (True, ["not read: an export of a form that is no"])


def test_a_key_that_stands_twice_in_an_entry_is_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    entries = [{"message": _message(at), "again": _message(at + 1)} for at in (0, 2, 4)]
    path.write_text(json.dumps(entries).replace('"again"', '"message"'))
    assert sorted(advisor.read_progress(path)["batch_id"]) == list(range(6))


def test_what_stands_above_the_events_counts_where_a_table_has_the_newest_first(tmp_path: Path) -> None:
    """Each event stands whole in its cell, and nothing of the log's jobs in any."""
    (tmp_path / "driver.log").write_text(as_csv([entry for entry in ENTRIES[::-1] if "DAGScheduler: " not in entry]))
    assert advisor.analyze(tmp_path / "driver.log").typed.queries[0].facts["spark_version"].value == "4.3.0"


def test_lines_behind_a_table_of_lines_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(as_csv(LINES) + "\n".join(map(_message, range(90, 93))))
    read = advisor.analyze(path).typed.input
    assert (read.events, len(read.broken)) == (TEXT.count("made progress") + 3, 0)


def test_a_logger_of_its_own_key_stands_before_what_was_logged() -> None:
    line = {"@timestamp": WHEN, "level": "INFO", "logger_name": "org.apache.spark.scheduler.DAGScheduler"}
    found = unwrapped(json.dumps({**line, "message": "Got job 1"}).encode(), 0, 1000)
    assert found is not None
    assert found.text == f"{WHEN} INFO  DAGScheduler: Got job 1\n".encode()


NO_EXPORTS = [
    b'[{"message": "Completed a streaming update", "progress": {"id": 1}}]',
    b'{"cells": [{"source": ["made progress:"]}]}',
    b"26/11/22 18:17:09 INFO MicroBatchExecution: Streaming query made progress: {\n",
    b"ts,app\n1,made progress:\n",
    b"".join(b'[query %d] 26/11/22 18:17:09 INFO X: made progress: {\n  "id" : 1\n}\n' % number for number in (1, 2)),
    b'{"MESSAGE": [1, 2, "x", 300]}',
    b"",
]


@pytest.mark.parametrize("raw", NO_EXPORTS)
def test_other_text_is_left_as_it_is(raw: bytes) -> None:
    assert exported(raw) is None


json_things = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["message", "log", "MESSAGE", "attributes", "events", "logger"]), inner)
    ),
)


@given(json_things)
def test_no_document_stops_the_reading(thing: object) -> None:
    raw = json.dumps([thing, {"message": "made progress: {"}]).encode()
    exported(raw)
    unwrapped(json.dumps(thing).encode(), 0, 1000)
