from __future__ import annotations

import copy
import gc
import json
import random
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from advisor.batches import (
    COLUMNS,
    SCHEMA,
    SIGHTINGS,
    Batches,
    Broken,
    Chunks,
    Columns,
    Reading,
    build,
    deduplicate,
    instants,
    to_pandas,
)
from advisor.batches.collect import Numbers
from advisor.batches.offsets import Offsets, parse, rows_between, rows_per_step
from advisor.facts import Sighting
from advisor.progress import decode
from tests.made import table
from tests.sources.variants import made


def changed(**values: Any) -> dict[str, Any]:
    return copy.deepcopy(made(1)[0]) | values


def row(**values: Any) -> dict[str, Any]:
    rows: list[dict[str, Any]] = table([changed(**values)]).to_pylist()
    return rows[0]


# The table.


def test_every_column_says_what_it_means() -> None:
    assert [column.name for column in COLUMNS] == SCHEMA.names
    assert len({column.name for column in COLUMNS}) == len(COLUMNS)
    for column in COLUMNS:
        assert column.meaning
        assert column.name.endswith("_ms") == (column.unit == "ms" and column.basis == "wall")


def test_the_schema_of_sightings_is_that_of_a_sighting() -> None:
    assert tuple(SIGHTINGS.names) == Sighting._fields


def test_a_row() -> None:
    made_row = row()
    wanted = {"add_batch_ms": 220, "commit_batch_ms": None, "idle": False, "real_time": False, "event_time_max": None,
              "file": "made.log", "offset": 0, "log": "made.log"}  # fmt: skip
    assert {name: made_row[name] for name in wanted} == wanted and not made_row["other_phases"]
    assert made_row["watermark"].isoformat() == "2026-03-01T01:59:00+00:00"
    (operator,) = made_row["operators"]
    assert (operator["name"], operator["commit_ms"], operator["store_instances"]) == ("stateStoreSave", 90, 2)
    (source,) = made_row["sources"]
    assert source["start_offset"] == '{"orders":{"0":10,"1":20}}'
    assert dict(source["metrics"])["maxOffsetsBehindLatest"] == "1"


def test_no_events_make_an_empty_table() -> None:
    empty = build([], [], "a.log", "a")
    assert empty.schema == SCHEMA and not len(empty)
    assert list(to_pandas(empty)) == SCHEMA.names and not len(Batches.of(empty).operators)


def test_different_events_in_one_table() -> None:
    rows = [changed(), changed(stateOperators=[], eventTime={}), changed(durationMs={"triggerExecution": 1, "odd": 4})]
    found = table(rows)
    found.validate(full=True)
    assert [len(each) for each in found["operators"].to_pylist()] == [1, 0, 1]
    assert [dict(each or []) for each in found["other_phases"].to_pylist()] == [{}, {}, {"odd": 4}]
    assert found["idle"].to_pylist() == [False, False, True]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"stateOperators": [], "sources": [], "sink": None},
         {"operators": [], "sources": [], "sink": None, "sink_rows": None}),
        ({"sink": {"description": "x", "numOutputRows": -1}}, {"sink_rows": None}),
        ({"sink": {"description": "x", "numOutputRows": 0}}, {"sink_rows": 0}),
    ],
    ids=["no operators and sources", "a sink that does not count", "no rows"],
)  # fmt: skip
def test_what_a_row_lacks(changes: dict[str, Any], told: dict[str, Any]) -> None:
    found = row(**changes)
    assert {name: found[name] for name in told} == told


def test_credentials_in_descriptions_are_hidden() -> None:
    url = "jdbc:postgresql://user:hunter2@host/db"
    source = made(1)[0]["sources"][0] | {"description": url}
    hidden = row(sink={"description": url}, sources=[source], name="a\x1b[31mb")
    assert "hunter2" not in json.dumps(hidden, default=str)
    assert "\x1b" not in hidden["name"]


@pytest.mark.parametrize("year", ["+292278994", "58831"])
def test_a_watermark_behind_the_year_9999_is_its_end(year: str) -> None:
    odd = row(eventTime={"watermark": f"{year}-08-17T07:12:55.807Z", "max": "2026-03-01T02:00:00.000Z"})
    assert (odd["watermark"].year, odd["event_time_max"].year) == (9999, 2026)


NAN = float("nan")


@pytest.mark.parametrize(
    ("metrics", "columns"),
    [
        # they may come and go
        (({"a": 1, "b": 2}, {}, {"b": 3}, {"b": 4, "a": 5.5}), {"a": [1, NAN, NAN, 5.5], "b": [2, NAN, 3, 4]}),
        # names that read alike without control characters are one
        (({"a": 1, "b": 2}, {"a\0": 3, "b": 4}, {"b": 5, " a": 6}), {"a": [1, 3, 6], "b": [2, 4, 5]}),
    ],
)
def test_the_numbers_of_a_metric(metrics: tuple[dict[str, float], ...], columns: dict[str, list[float]]) -> None:
    rows = [changed(batchId=number, timestamp=1772330400000 + number) for number in range(len(metrics))]
    for event, numbers in zip(rows, metrics, strict=True):
        event["stateOperators"][0]["customMetrics"] = numbers
    batches = Batches.of(table(rows))
    for name, numbers in columns.items():
        np.testing.assert_array_equal(batches.operators[f"custom:{name}"], numbers)
    assert batches.state_metrics(np.ones(len(rows), dtype=bool)) == {*columns}


# Offsets.

KAFKA, SOCKET = "KafkaV2[Subscribe[t]]", "TextSocketV2[h: 1]"
RATE = "RateStreamV2[rowsPerSecond=10, rampUpTimeSeconds=0, x"


@pytest.mark.parametrize(
    ("description", "start", "end", "rows"),
    [
        (KAFKA, '{"t":{"0":5,"1":7}}', '{"t":{"1":9,"0":6}}', 3), (KAFKA, '{"t":{"0":5}}', '{"t":{"0":6,"1":3}}', None),
        (KAFKA, '{"t":{"0":-2}}', '{"t":{"0":6}}', None), (KAFKA, '{"t":{"0":9}}', '{"t":{"0":6}}', None),
        (KAFKA, '"{\\"t\\":{\\"0\\":5}}"', '"{\\"t\\" : {\\"0\\":8}}"', 3), (KAFKA, "null", '{"t":{"0":6}}', None),
        (KAFKA, "{}", "{}", None), (RATE, "5", "7", 20), (RATE.replace("Seconds=0", "Seconds=3"), "5", "7", None),
        (RATE, '"5"', '"7"', 20), (SOCKET, "5", "7", 2), ("MemoryStream[value#1]", "5", "7", None),
        (None, "5", "7", None),
        ("RatePerMicroBatchStream[..]", '{"offset":5,"timestamp":1}', '{"offset":105,"timestamp":9}', 100),
        ("FileStreamSource[file:/x]", '{"logOffset":5}', '{"logOffset":7}', None),
        ("KinesisV2[s]", '[{"shard":{"seq":"4"}}]', '[{"shard":{"seq":"5"}}]', None),
        ("DeltaSource[x]", '{"reservoirVersion":5,"index":-1}', '{"reservoirVersion":7,"index":-1}', None),
        ("x", '"49590338271490256608559692538361571095921575989136588898"', '"5"', None),
        (KAFKA, '{"t":{"0":9223372036854775807}}', '{"t":{"0":9223372036854775807}}', None),
        (KAFKA, '{"t":{"0":4611686018427387904}}', '{"t":{"0":4611686018427387904}}', 0),
        (KAFKA, '{"t":{"0":1.5}}', '{"t":{"0":2.5}}', None), (KAFKA, '{"t":{"0":true}}', '{"t":{"0":true}}', None),
        (SOCKET, "true", "true", None),
    ],
)  # fmt: skip
def test_rows_between_offsets(description: str | None, start: str, end: str, rows: int | None) -> None:
    offsets = Offsets()
    offsets.add([Raw(start.encode())], [Raw(end.encode())], [Raw(b"null")])
    begin, until, _ = offsets.columns()
    assert rows_between(begin, until, rows_per_step(pa.array([description], pa.string()))).to_pylist() == [rows]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"null", None), (b'{\n  "t" : {\n    "0" : 5\n  }\n}', '{"t":{"0":5}}'), (b'"{\\"t\\": 1}"', '{"t":1}'),
        (b'"plain words"', '"plain words"'), (b"5", "5"), (b"1.50", "1.50"), (b'"a\xff"', '"a�"'),
        (b'{"a":' * 950 + b"1" + b"}" * 950, '{"a":' * 950 + "1" + "}" * 950),
    ],
)  # fmt: skip
def test_the_text_of_an_offset(raw: bytes, text: str | None) -> None:
    assert parse(raw).text == text


# Order and duplicates.


def at(number: int, **more: Any) -> dict[str, Any]:
    """An event of this number, so many milliseconds after the first."""
    return changed(batchId=number, timestamp=1772330400000 + number, **more)


def shuffled(count: int, runs: int, seed: int) -> tuple[pa.Table, int]:
    """(events of some runs out of order, some of them twice; how many are twice)."""
    rows = [at(number, runId=f"run-{number % runs}") for number in range(count)]
    chance = random.Random(seed)
    twice = chance.sample(rows, count // 3)
    mixed = rows + twice
    chance.shuffle(mixed)
    return table(mixed), len(twice)


@pytest.mark.parametrize(("count", "runs"), [(1, 1), (12, 1), (12, 5), (300, 3), (300, 150)])
def test_duplicates_are_dropped_and_runs_in_order(count: int, runs: int) -> None:
    mixed, twice = shuffled(count, runs, 7)
    kept, dropped = deduplicate(mixed)
    assert (dropped, len(kept), kept.schema) == (twice, count, SCHEMA)
    names = kept["run_id"].to_pylist()
    assert sorted(set(names), key=names.index) == [f"run-{n}" for n in range(min(runs, count))]
    assert names == sorted(names, key=lambda name: int(name[4:]))
    for name in set(names):
        times = [time for time, run in zip(kept["timestamp"].to_pylist(), names, strict=True) if run == name]
        assert times == sorted(times)


def test_what_is_in_order_comes_back_as_it_is() -> None:
    rows = table([at(n) for n in range(9)])
    kept, dropped = deduplicate(rows)
    assert kept is rows and dropped == 0


def test_long_stretches_are_put_in_order_without_a_copy() -> None:
    rows = [at(n, runId="one") for n in range(400)]
    other = [each | {"runId": "other", "timestamp": 1772330300000 + each["batchId"]} for each in rows]
    kept, dropped = deduplicate(table(rows + other))
    assert dropped == 0
    assert kept["run_id"].to_pylist() == ["other"] * 400 + ["one"] * 400
    assert kept["batch_id"].to_pylist() == list(range(400)) * 2


def test_of_equal_events_the_first_stays_and_those_without_a_batch_id_are_told_apart_by_time() -> None:
    assert deduplicate(table([changed(name="first"), changed(name="second")]))[0]["name"].to_pylist() == ["first"]
    kept, dropped = deduplicate(table([at(n // 2) | {"batchId": None} for n in range(6)]))
    assert (len(kept), dropped) == (3, 3)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_the_key_is_query_run_batch_and_time(keys: list[tuple[int, int, int]]) -> None:
    rows = [changed(runId=f"r{run}", batchId=batch, timestamp=1772330400000 + time) for run, batch, time in keys]
    kept, dropped = deduplicate(table(rows))
    assert len(kept) == len(set(keys))
    assert dropped == len(keys) - len(set(keys))


def test_readings_are_merged() -> None:
    idle = changed(batchId=11, timestamp=1772330500000, durationMs={"triggerExecution": 1})
    one = Reading.of(table([changed(), idle]), broken=[Broken("a", 1, 1, "x")], files=1, size=10)
    other = Reading.of(table([changed(), changed()]), files=2, size=5)
    assert (other.events, other.duplicates) == (1, 1)
    merged = Reading.merge([one, other])
    assert (merged.events, merged.idle, merged.duplicates, merged.files, merged.bytes) == (2, 1, 2, 3, 15)
    assert len(merged.broken) == 1
    assert Reading.merge([]).events == 0


# Frames.


def test_the_frame() -> None:
    frame = to_pandas(table([changed(), changed(batchId=11)]))
    assert str(frame["timestamp"].dt.tz) == "UTC"
    assert frame["commit_batch_ms"].isna().all()
    assert frame["operators"][0][0]["commit_ms"] == 90
    assert frame["add_batch_ms"].mean() == 220


def test_members_follow_the_rows_of_a_table() -> None:
    rows = [at(n) for n in range(4)]
    rows[2]["stateOperators"] = rows[2]["stateOperators"] * 2
    rows[1]["stateOperators"] = []
    members = Batches.of(table(rows))
    assert members.operators["batch"].tolist() == [0, 2, 2, 3]
    assert members.sources["batch"].tolist() == [0, 1, 2, 3]
    assert members.sources["offset_rows"].tolist() == [10] * 4
    assert members.sources["metrics:maxOffsetsBehindLatest"].tolist() == ["1"] * 4


def test_members_of_a_table_in_pieces() -> None:
    rows = [at(n) for n in range(3)]
    for each, names in zip(rows, ("a", "b", "a"), strict=True):
        each["stateOperators"][0]["customMetrics"] = {names: 1}
    pieces = pa.concat_tables([table([each]) for each in rows])
    view = Batches.of(pieces.slice(1)).operators
    assert view["batch"].tolist() == [0, 1]
    np.testing.assert_array_equal(view["custom:b"], [1, np.nan])


def test_pandas_waits_until_it_is_needed() -> None:
    program = "import sys, advisor.batches, advisor.progress; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"


def test_places() -> None:
    events = [decode(json.dumps(event).encode()) for event in made()]
    chunks = Chunks()
    for some, starts, log in ((events[:1], [5], "a"), (events[1:], [7, 9], "b")):
        chunks.add(some, instants([event.timestamp for event in some]), starts, f"{log}.log", log)
    found = chunks.so_far()
    assert found["file"].to_pylist() == ["a.log", "b.log", "b.log"]
    assert found["offset"].to_pylist() == [5, 7, 9]
    assert found["log"].to_pylist() == ["a", "b", "b"]


def test_columns_know_which_names_they_lack() -> None:
    asked: list[str] = []

    def make(name: str) -> np.ndarray:
        asked.append(name)
        return {"rows": np.arange(3.0)}[name]

    columns = Columns(3, make)
    assert ["rows" in columns, "jobs" in columns] * 2 == [True, False] * 2
    assert "jobs" not in columns
    assert asked == ["rows", "jobs"]


@pytest.mark.parametrize("kept", [[], [0, 1, 2, 3], [1, 2, 3], [1], [0, 2]])
def test_the_rows_that_are_kept_come_in_order_wherever_they_lie(kept: list[int]) -> None:
    columns = Columns(4, {"rows": np.arange(4.0)}.__getitem__)
    found = columns.where(np.isin(np.arange(4), kept))
    assert (len(found), found["rows"].tolist()) == (len(kept), [float(at) for at in kept])


def test_columns_in_which_nothing_is_told_are_one_array() -> None:
    numbers = Numbers(4, pa.int64())
    numbers.add([None, None], [1, 2], [None, None], [None, 3])
    numbers.add([None], [3], [None], [None])
    first, told, second, gaps = numbers.columns()
    assert first is second
    assert [each.to_pylist() for each in (first, told, gaps)] == [[None] * 3, [1, 2, 3], [None, 3, None]]


def test_columns_go_when_nobody_holds_them_without_a_search_for_cycles() -> None:
    batches = Batches.of(table(made()))
    assert len(batches.rows["lacks durationMs"]) == len(batches.sources["batch"]) == len(batches.operators["batch"])
    held = [weakref.ref(one) for one in (batches.rows, batches.operators, batches.sources, batches.whole)]
    gc.disable()
    try:
        del batches
        assert [one() for one in held] == [None] * len(held)
    finally:
        gc.enable()
