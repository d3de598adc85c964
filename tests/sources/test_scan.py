from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.sources.reading import scanned
from tests.sources.variants import VARIANTS, compact, log, made, pretty

SAMPLES = Path(__file__).parents[2] / "sample_progress"
HEADER = "26/03/01 02:00:01 INFO ProgressReporter: "
MADE = f"{HEADER}Streaming query made progress: "


def a_log(*parts: str) -> bytes:
    return "".join(part + "\n" for part in parts).encode()


def torn(cut: str) -> bytes:
    """Three events of which the middle one is something else."""
    first, _, third = made()
    return a_log(MADE + pretty(first), cut, f"{HEADER}Committed offsets", MADE + pretty(third))


# Traps: what must not count, and must not break.


NO_EVENTS = {
    "look-alikes of the marker": (
        f"{HEADER}triggerExecution took 9 ms",
        f"{HEADER}Streaming query made progress: [newProgress]",
        f"{HEADER}as soon as the query made progress: the listener is told",
        f"{HEADER}Streaming query has been idle and waiting for new data more than 10000 ms.",
    ),
    "other JSON": (
        '{\n  "type" : "struct",\n  "fields" : [ {\n    "name" : "timestamp",\n    "type" : "long"\n  } ]\n}',
        '{\n  "message" : "Processing new data",\n  "isDataAvailable" : true,\n  "isTriggerActive" : true\n}',
        '{"orders":{"0":15}}',
    ),
    "JSON of a program's own": (
        '{"numInputRows" : 5, "runId" : "a"}', '{\n "batchId" : 5,\n "sources" : [{"numInputRows" : 5}]\n}',
    ),
    "a key of progress in prose": ("the durationMs of a trigger, see 'durationMs' in the docs",),
    "falling behind": (
        "26/03/01 02:00:01 WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is 500} "
        "milliseconds, but spent 2200 milliseconds",
        "Current batch is falling behind. The trigger interval is 500 ms,\nbut spent 8000–18000 ms",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", NO_EVENTS.values(), ids=NO_EVENTS)
def test_what_is_no_event_costs_none(lines: tuple[str, ...]) -> None:
    found = scanned(a_log(*lines, MADE + pretty(made()[0]), *lines))
    assert (found.batch_ids, found.broken) == ([10], [])


@pytest.mark.parametrize("form", [pretty, compact])
@pytest.mark.parametrize("text", ["RateStreamV2[rowsPerSecond=1, numPartitions=default", 'a}b{c\\"d}', "}", '\\"}\\"'])
def test_brackets_in_strings_do_not_count(form: object, text: str) -> None:
    one, two, three = made()
    two["sources"] = [{**two["sources"][0], "description": text}]
    texts = [(pretty if form is pretty else compact)(event) for event in (one, two, three)]
    for prefix in (MADE, "", ">>> Progress: "):
        found = scanned(a_log(*(prefix + each for each in texts)))
        assert found.batch_ids == [10, 11, 12]
        assert not found.broken


BROKEN_BY_HAND = {
    "no last brace": pretty(made()[1])[:-2],
    "no first brace": pretty(made()[1])[2:],
    "a quote missing": pretty(made()[1]).replace('"batchId"', '"batchId', 1),
    "value on the next line, cut": pretty(made()[1])[:400],
    "cut in a number": pretty(made()[1]).split('"inputRowsPerSecond" : ')[0] + '"inputRowsPerSecond" : 29',
    "shortened": re.sub(
        r'"sources" : .*', '"sources" : [ ... ],\n  "sink" : { … }\n}', pretty(made()[1]), flags=re.DOTALL
    ),
    "decimal comma": pretty(made()[1]).replace("10.5", "10,5"),
    "notes": pretty(made()[1]).replace('"batchId" : 11,', '"batchId" : 11, // the second'),
    "two keys on top of each other": pretty(made()[1]).replace(
        '"addBatch" : 220,', '"addBatch" : 220 "addBatch" : 221,'
    ),
}


@pytest.mark.parametrize("cut", BROKEN_BY_HAND.values(), ids=BROKEN_BY_HAND)
def test_a_broken_event_costs_only_itself(cut: str) -> None:
    raw = torn(MADE + cut)
    found = scanned(raw)
    assert found.batch_ids == [10, 12]
    (broken,) = found.broken
    assert broken.file == "some.log"
    assert raw[: broken.offset].count(b"\n") + 1 == broken.line
    assert broken.reason


@pytest.mark.parametrize("cut", BROKEN_BY_HAND.values(), ids=BROKEN_BY_HAND)
def test_a_broken_event_costs_only_itself_without_markers(cut: str) -> None:
    first, _, third = made()
    found = scanned(a_log("one:", pretty(first), "two:", cut, "three:", pretty(third)))
    assert found.batch_ids == [10, 12]
    assert 1 <= len(found.broken) <= 2


_NO_JSON = "a line that begins as progress and is no JSON"


@pytest.mark.parametrize(
    ("line", "ids", "broken"),
    [
        ('{"id":"a","runId":"b","batchId":1,4237.3}', [10, 12], [_NO_JSON]),  # two halves, as a lost block leaves them
        (compact(made()[1])[:20], [10, 12], [_NO_JSON]),
        (compact(made()[1])[:60], [10, 12], ["cut off: its braces do not close"]),
        (compact(made()[1]) + " and more", [10, 11, 12], []),
        ("a line of text", [10, 12], []),
        ('{"id": "a", "runId": "b", "name": "started"}', [10, 12], []),
    ],
)
def test_a_line_that_begins_as_progress_and_is_no_json_is_broken(line: str, ids: list[int], broken: list[str]) -> None:
    first, _, third = made()
    found = scanned(a_log(compact(first), line, compact(third)))
    assert (found.batch_ids, [one.reason for one in found.broken]) == (ids, broken)


@pytest.mark.parametrize("form", [lambda event: MADE + pretty(event), pretty, compact])
@pytest.mark.parametrize("key", ["addBatch", "commitTimeMs", "sources", "numOutputRows"])
def test_a_file_that_begins_in_a_record_behind_its_durations(form: Callable[[dict[str, Any]], str], key: str) -> None:
    first, second, third = map(form, made())
    found = scanned(a_log(first[first.index(key) :], f"{HEADER}Committed offsets", second, third))
    assert (found.batch_ids, len(found.broken)) == ([11, 12], 1)


def with_lines_of_others(event: str) -> str:
    """An event with lines of other threads inside."""
    lines = event.split("\n")
    lines.insert(9, "26/03/01 02:00:01 WARN BlockManager: Putting block {rdd_1} failed")
    lines.insert(20, "\r[Stage 1:>      (0 + 2) / 2]\r                            \r  ")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        MADE + pretty(made()[1]).replace('"batchId" : 11', '"batchId" :\n11'),
        f"{HEADER}=======> Streaming query made progress: {pretty(made()[1])}",
        MADE + with_lines_of_others(pretty(made()[1])),
    ],
    ids=["a value on the next line", "a banner before the marker", "lines of other threads inside"],
)
def test_an_odd_event_is_whole(text: str) -> None:
    assert scanned(torn(text)).batch_ids == [10, 11, 12]


@pytest.mark.parametrize(
    ("changed", "idle", "add_batch_ms", "rows"),
    [
        ({"durationMs": {"latestOffset": 2, "triggerExecution": 3}}, True, None, 10),
        ({"numInputRows": 0}, False, 220, 0),  # it ran without rows
    ],
)
def test_a_batch_without_add_batch_is_idle(
    changed: dict[str, Any], idle: bool, add_batch_ms: int | None, rows: int
) -> None:
    found = scanned(torn(MADE + pretty(made()[1] | changed))).table
    assert found["idle"].to_pylist() == [False, idle, False]
    assert found["add_batch_ms"].to_pylist() == [220, add_batch_ms, 220]
    assert found["input_rows"].to_pylist() == [10, rows, 10]
    (operator,) = found["operators"][1].as_py()
    assert (operator["commit_ms"], operator["shuffle_partitions"]) == (90, 2)  # a sum over tasks, stale where idle


# Fragments, and what is no event at all.


@pytest.mark.parametrize(
    "piece", ['"durationMs" : {\n  "addBatch" : 22\n', '  "stateOperators" : [ ],\n  "numInputRows" : 3,']
)
def test_a_lone_fragment_is_broken(piece: str) -> None:
    found = scanned(piece.encode())
    assert not len(found.table)
    assert len(found.broken) == 1


CODE = (
    'print(query.lastProgress["durationMs"])', "ms = progress.get('durationMs') or {}",
    "progress['durationMs']['addBatch'] > 6000", 'println("Query made progress:" + event.progress.json)',
    'logger.info("query made progress: ", event.progress.name)',
)  # fmt: skip


@pytest.mark.parametrize("code", CODE)
def test_code_that_asks_for_progress_is_no_broken_record(code: str) -> None:
    assert not scanned(f"{code}\n".encode()).broken
    found = scanned(f"{code}\n{pretty(made()[1])}\n".encode())
    assert (found.batch_ids, found.broken) == ([11], [])


def test_offsets_of_kinesis_are_no_piece_of_an_event() -> None:
    offsets = '{"metadata":{"streamName":"clicks","batchId":"8123"},"shardId-000000000002":{"iteratorType":"LATEST"}}'
    assert not scanned(f"26/03/01 02:00:01 INFO KinesisSource: End Offset is {offsets}\n".encode()).broken
    assert scanned(b'  "batchId" : 8123,\n').broken


@pytest.mark.parametrize(
    "text", [b"{queryPlanning=12, addBatch=36}\n", b"addBatch 1.5, walCommit 2.5, queryPlanning 3.5"]
)
def test_durations_without_the_whole_are_nothing(text: bytes) -> None:
    found = scanned(text)
    assert (len(found.table), found.broken) == (0, [])


def test_a_python_literal_with_names_is_broken() -> None:
    text = repr(made()[1]).replace("{'orders': {'0': 15, '1': 25}}", "_END_OFFSET")
    found = scanned(a_log(repr(made()[0]), text, repr(made()[2])))
    assert found.batch_ids == [10, 12]
    assert len(found.broken) == 1


# Blocks.


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("step", [997, 4096])
def test_blocks_give_what_one_piece_gives(name: str, step: int) -> None:
    raw = VARIANTS[name]
    whole = scanned(raw)
    parts = scanned(raw, step)
    if name == "16 notebook":  # an output that is cut by a block is found by its lines: same event, another place
        assert parts.batch_ids == whole.batch_ids
        return
    assert parts.table.to_pylist() == whole.table.to_pylist()
    assert parts.broken == whole.broken


def test_places_are_those_of_the_file() -> None:
    raw = log()
    for step in (None, 777):
        found = scanned(raw, step)
        for offset in found.table["offset"].to_pylist():
            assert raw[offset:].startswith(b"made progress: {")


# Recorded logs, damaged.


def recorded() -> list[bytes]:
    """Pieces of recorded logs with some events each."""
    pieces = []
    for path in sorted(SAMPLES.glob("*/*/*"))[:40]:
        if path.suffix not in (".log", ".gz", ".json", ".jsonl"):
            continue
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        marks = [match.start() for match in re.finditer(b"made progress:", text)]
        if len(marks) > 12 and marks[12] - marks[8] < 60_000:
            pieces.append(text[text.rfind(b"\n", 0, marks[8]) + 1 : text.rfind(b"\n", 0, marks[12]) + 1])
    return pieces


NAMED = {f"recorded {number}": piece for number, piece in enumerate(recorded()[:8])} | VARIANTS
PIECES = list(NAMED.values())


@st.composite
def damage(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, bytes]]]:
    """A text, and up to three stretches of it that something else replaces."""
    which = draw(st.integers(0, len(PIECES) - 1))
    size = len(PIECES[which])
    edits = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, size))
        length = draw(st.one_of(st.just(0), st.just(1), st.integers(0, 200)))
        put = draw(st.one_of(st.just(b""), st.binary(max_size=20), st.sampled_from(HOSTILE)))
        edits.append((start, min(size, start + length), put))
    return which, edits


HOSTILE = (
    b"{", b"}", b'"', b"'", b"\n", b"\\", b"[", b"\x00", b"\xff\xfe", b"\r", b"NaN", b"1e999", b"9" * 400,
    b'{"a":' * 50, b"made progress: ", b"made progress: {", b'"durationMs"', b'"durationMs" : {', b"\xed\xa0\x80",
    b"\\ud800", b"[[[[[", b"-", b"...", "…".encode(), b"null", b"\x1b[31m", b'{"Event":"',
    b'"streaming_query_progress"',
)  # fmt: skip


def spans(raw: bytes) -> list[tuple[int, int, tuple[object, ...]]]:
    """[start, end) and key of the events of an undamaged text; an event reaches to the next one's beginning."""
    rows = scanned(raw).table.select(["offset", "run_id", "batch_id", "timestamp"]).to_pylist()
    starts = [row["offset"] for row in rows]
    ends = [*starts[1:], len(raw)]
    return [(start, end, tuple(row.values())[1:]) for start, end, row in zip(starts, ends, rows, strict=True)]


SPANS = [spans(piece) for piece in PIECES]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(damage())
def test_damage_never_costs_more_than_what_it_touched(case: tuple[int, list[tuple[int, int, bytes]]]) -> None:
    which, edits = case
    raw = PIECES[which]
    untouched = len(raw)
    for start, end, put in sorted(edits, reverse=True):  # from the end; where two overlap, each byte goes once
        raw = raw[:start] + put + raw[min(end, untouched) :]
        untouched = start
    found = scanned(raw)
    kept = {tuple(row.values()) for row in found.table.select(["run_id", "batch_id", "timestamp"]).to_pylist()}
    for start, end, key in SPANS[which]:
        touched = any(edit_start <= end and start <= max(edit_end, edit_start) for edit_start, edit_end, _ in edits)
        assert touched or key in kept, f"{list(NAMED)[which]}: an event was lost that nothing touched"


@given(st.binary(max_size=3000))
@example(b'{"durationMs"' * 30)
@example(b'made progress: {"durationMs":' * 30)
@example(b'{"Event":"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"')
def test_any_bytes_can_be_scanned(raw: bytes) -> None:
    scanned(raw)
    scanned(raw, 100)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)


@given(
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    )
)
def test_a_value_of_any_type_in_any_place(value: object) -> None:
    one, two, three = made()
    for key in [*two, "rtmMetrics"]:
        odd = two | {key: value}
        found = scanned(a_log(*(MADE + json.dumps(event, indent=2) for event in (one, odd, three))))
        assert {10, 12} <= set(found.batch_ids)


@given(st.dictionaries(st.text(), st.text(), max_size=4))
def test_hostile_keys_and_strings(hostile: dict[str, str]) -> None:
    one, two, three = made()
    two["sources"] = [{**two["sources"][0], "metrics": hostile, **hostile}]
    two["durationMs"] |= dict.fromkeys(hostile, 1)
    found = scanned(a_log(*(MADE + pretty(event) for event in (one, two, three))))
    assert found.batch_ids == [10, 11, 12]
    found.table.validate(full=True)


# Size.


def test_many_broken_records_take_no_quadratic_time() -> None:
    for text in (
        b'made progress: {"durationMs": {\n',
        b'{"durationMs": {\n',
        b"made progress: {\n",
        b'"durationMs" :"',
    ):
        assert not len(scanned(text * 5000).table)


@pytest.mark.parametrize(
    "text",
    [
        b"{ you're " + b"a b" * 200 + b' "durationMs": {\n',
        b'{ "x": ' + b'"y\\' * 200 + b' "durationMs": {\n',
        b"{ " + b"#" * 190 + b'"durationMs" : {}}\n',
    ],
    ids=["an apostrophe", "a quotation mark", "comment signs"],
)
def test_what_never_closes_takes_no_exponential_time(text: bytes) -> None:
    """With a repetition inside a repetition it does not return."""
    assert not len(scanned(text).table)


@pytest.mark.skipif("CI" in os.environ, reason="takes memory")
def test_a_line_of_200_megabytes() -> None:
    raw = MADE.encode() + b'{"id": "' + b"x" * 200_000_000 + b"\n" + log()
    found = scanned(raw)
    assert found.batch_ids == [10, 11, 12]
    assert len(found.broken) == 1


@pytest.mark.parametrize("opening", ["[", '{"a":', "(", "{"])
def test_deep_nesting(opening: str) -> None:
    deep = MADE + pretty(made()[1]).replace('"name" : "made"', '"name" : ' + opening * 100_000)
    found = scanned(torn(deep))
    assert found.batch_ids == [10, 12]
    assert len(found.broken) == 1


@pytest.mark.parametrize("every", [3, 50])
@pytest.mark.parametrize("short", [pretty, compact])
def test_a_short_event_among_long_ones_hides_nothing(every: int, short: Callable[[dict[str, Any]], str]) -> None:
    def written(number: int) -> str:
        event = made()[0] | {"batchId": number}
        return short(event) if number % every == 0 else pretty(event | {"name": "x" * 3000})

    found = scanned(a_log(*(MADE + written(number) for number in range(700))))
    assert sorted(found.batch_ids) == list(range(700))


@pytest.mark.parametrize(
    ("times", "batches", "partial", "unread"),
    [
        ([f"11/0{n}/2026 10:00" for n in (1, 2, 3)], [], [(n, "timestamp") for n in (10, 11, 12)], 3),
        ([made()[0]["timestamp"], "soon", made()[2]["timestamp"]], [10, 12], [], 1),
    ],
    ids=["all", "one"],
)
def test_times_that_nobody_can_read(times: list[str], batches: Any, partial: Any, unread: int) -> None:
    lines = [MADE + pretty(event | {"timestamp": at}) for event, at in zip(made(), times, strict=True)]
    found = scanned(a_log(*lines))
    assert (found.batch_ids, found.partial) == (batches, partial)
    assert found.reasons == ["timestamp: no point in time"] * unread
    assert found.table["timestamp"].null_count == len(partial)


# What a scheduler or a logger puts before each line.


@pytest.mark.parametrize(
    "before",
    [
        "[2026-01-24T10:11:12.345+0000] {jobs.py:1} INFO - ", "[2026-01-24, 10:11:12 UTC] {jobs.py:1} INFO - ",
        "2026-01-24 10:11:12,345 - driver - INFO - ", "2026-01-24 10:11:12.345 | INFO     | driver:main:12 - ",
        "[pod/orders-driver/spark] ",
    ],
    ids=["Airflow", "Airflow 2", "Python's logging", "loguru", "a pod"],
)  # fmt: skip
def test_lines_behind_a_prefix_are_whole_records(before: str) -> None:
    mark = "26/01/24 10:11:12 INFO MicroBatchExecution: Streaming query made progress: "
    text = "".join(mark + pretty(each) + "\n" for each in made())
    found = scanned("".join(before + line for line in text.splitlines(keepends=True)).encode())
    assert found.batch_ids == [10, 11, 12]
    assert not found.broken
