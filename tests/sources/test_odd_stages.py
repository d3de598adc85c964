"""An odd value in a line of a job, a stage or a task costs that line, never the report and no other file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd
import pytest
import zstandard

import advisor
from advisor.batches import to_pandas
from advisor.catalogue import Catalogue
from advisor.contract import as_json
from advisor.report import assemble
from advisor.sources import files

SAMPLES = Path(__file__).parents[2] / "sample_progress"
BESIDE = SAMPLES / "LG001/progress-lines-4.3.0/progress.jsonl"
ODD = ["-5", "²", "9" * 23, "9" * 5000, str(2**63 - 1), "1.2.3", "1,234.5", "nan"]
IN_EVENTS = [
    rb'"Completion Time":(\d+)', rb'"Submission Time":(\d+)', rb'"Number of Tasks":(\d+)', rb'"Job ID":(\d+)',
    rb'"Stage ID":(\d+)', rb'"Finish Time":(\d+)', rb'"Total Cores":(\d+)', rb'"streaming.sql.batchId":"(\d+)"',
]  # fmt: skip
IN_LINES = [
    rb"Got job (\d+) ", rb"Final stage: \w+ (\d+)", rb"Submitting (\d+) missing", rb"finished in ([\d.]+) m?s",
    rb"took ([\d.]+) ", rb"Code generated in ([\d.]+) ms", rb"\(TID \d+\) in (\d+) ms",
]  # fmt: skip


@cache
def event_log() -> bytes:
    (log,) = (SAMPLES / "CL003/one-straggler-4.3.0").glob("eventlog_*/events_1_*")
    with zstandard.open(log) as file:
        return b"".join(line + b"\n" for line in bytes(file.read()).split(b"\n")[:900])


@cache
def driver_log() -> bytes:
    return gzip.decompress((SAMPLES / "CF001/async-state-checkpoint-4.3.0/driver.log.gz").read_bytes())[:400_000]


def with_odd(text: bytes, place: bytes, value: str) -> bytes:
    """The text with this value in every such place."""

    def replaced(found: re.Match[bytes]) -> bytes:
        whole, begin = found[0], found.start(1) - found.start()
        return whole[:begin] + value.encode() + whole[found.end(1) - found.start() :]

    changed = re.sub(place, replaced, text)
    assert changed != text, place
    return changed


@pytest.mark.parametrize("place", [*IN_EVENTS, *IN_LINES])
@pytest.mark.parametrize("value", ODD)
def test_a_line_with_an_odd_value(tmp_path: Path, catalogue: Catalogue, place: bytes, value: str) -> None:
    log = event_log() if place in IN_EVENTS else driver_log()
    (tmp_path / "odd.log").write_bytes(with_odd(log, place, value))
    reading = files.read([tmp_path / "odd.log", BESIDE], stages=True)
    assert json.loads(as_json(assemble(reading, catalogue)))["input"]["events"] >= 80
    assert [len(to_pandas(table)) for table in reading.tables.values()] == [*map(len, reading.tables.values())]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (rb" took ([\d.]+) ms", "999999999999.9"), (rb"finished in (\d+) ms", "999999999"),
        (rb"\(TID \d+\) in (\d+) ms", "999999999999999"),
    ],
)  # fmt: skip
def test_what_outlasts_its_trigger_opens_no_batch_and_is_told(tmp_path: Path, place: bytes, value: str) -> None:
    log = gzip.decompress((SAMPLES / "SK009/file-sink-compaction-4.3.0/driver-ms.log.gz").read_bytes())
    (tmp_path / "driver.log").write_bytes(with_odd(log, place, value))
    (query,) = advisor.analyze(tmp_path / "driver.log", stages=True).typed.queries
    (said,) = (finding.says for finding in query.findings if finding.rule == "DQ001")
    assert said.startswith("Jobs, stages or tasks outlast the trigger in ")
    assert query.inside is None


STRUCTURED = SAMPLES / "LG001/structured-log-4.0.0/structured.log.gz"
MILLIS = SAMPLES / "both/join-4.3.0/driver-ms.log.gz"
EVENTS = SAMPLES / "LG001/event-log-single-file-3.5.9/local-1795256356823.gz"


def behind(before: bytes) -> Callable[[bytes], bytes]:
    return lambda log: b"".join(before + line for line in log.splitlines(keepends=True))


def test_a_phase_that_outlasts_its_trigger_does_not_move_addbatch(tmp_path: Path) -> None:
    changed = with_odd(
        (SAMPLES / "SK005/paimon-sink-3.5.9/driver-ms.log").read_bytes(), rb'"commitOffsets" : (\d+)', "9" * 18
    )
    (tmp_path / "driver.log").write_bytes(changed)
    parts = advisor.read_stages(tmp_path / "driver.log", parts=True)
    assert (parts["driver_before_ms"] > 0).all() and not parts["not_visible_ms"].any()


@pytest.mark.parametrize("sample", [STRUCTURED, MILLIS], ids=["structured", "text"])
@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.replace(b"\n", b"\r\n"), behind(b"2026-12-01T03:04:05.678901234Z stdout F "),
        behind(b"spark-driver-1  | "), behind(b"[pod/orders-driver/spark] "),
    ],
    ids=["crlf", "container", "compose", "pod"],
)  # fmt: skip
def test_a_container_s_prefix_and_windows_ends_of_lines_change_no_stage(
    tmp_path: Path, sample: Path, change: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "driver.log").write_bytes(change(gzip.decompress(sample.read_bytes())))
    found, expected = (advisor.read_stages(path, parts=True) for path in (tmp_path / "driver.log", sample))
    told = ["batch_id", "jobs", "stages", "tasks", "too_long", "driver_before_ms"]
    pd.testing.assert_frame_equal(found[told], expected[told])


def half_again(log: bytes) -> bytes:
    half = log.index(b"\n", len(log) // 2) + 1
    return log[:half] + log[log.index(b"\n", half // 2) + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log + log, half_again, lambda log: b"".join(2 * line for line in log.splitlines(keepends=True)),
    ],
    ids=["whole", "a part", "each line"],
)  # fmt: skip
def test_an_event_log_that_holds_lines_twice_tells_each_stage_once(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "application").write_bytes(change(gzip.decompress(EVENTS.read_bytes())))
    for parts in (False, True):
        found, expected = (advisor.read_stages(path, parts=parts) for path in (tmp_path / "application", EVENTS))
        pd.testing.assert_frame_equal(found.drop(columns="log"), expected.drop(columns="log"))


def test_two_appenders_on_one_file_double_no_task() -> None:
    stages = advisor.read_stages(SAMPLES / "healthy/each-event-twice-4.3.0/driver.log")
    assert (stages["task_max_ms"] <= stages["wall_ms"]).all()
    assert (stages["task_ms"] <= stages["tasks"] * stages["task_max_ms"]).all()


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1])
@pytest.mark.parametrize("key", ["numInputRows", "triggerExecution"])
@pytest.mark.parametrize("kind", ["driver log", "event log"])
def test_a_number_of_progress_that_no_float_holds_costs_no_stage(
    tmp_path: Path, kind: str, key: str, value: int
) -> None:
    log = driver_log() if kind == "driver log" else event_log()
    odd = re.sub(rf'("{key}"\s*:\s*)\d+'.encode(), rf"\g<1>{value}".encode(), log, count=2)
    assert odd != log
    for name, text in (("usual", log), ("odd", odd)):
        (tmp_path / name).write_bytes(text)
    found, expected = (advisor.read_stages(tmp_path / name) for name in ("odd", "usual"))
    assert len(expected)
    assert len(found) == len(expected)


@pytest.mark.parametrize("sample", [STRUCTURED, MILLIS], ids=["structured", "text"])
def test_a_task_without_a_preferred_place_is_told_by_every_log(tmp_path: Path, sample: Path) -> None:
    log = gzip.decompress(sample.read_bytes())
    (tmp_path / "driver.log").write_bytes(log.replace(b" PROCESS_LOCAL,", b" NO_PREF,"))
    found, before = advisor.read_stages(tmp_path / "driver.log"), advisor.read_stages(sample)
    assert before["process_local"].sum() > 0
    pd.testing.assert_series_equal(found["no_pref"], before["process_local"], check_names=False)


def shuffled(value: Any, order: int) -> Any:
    """The same with the keys of every object in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], order) for key in sorted(value, key=lambda key: crc32(key.encode(), order))}
    return [shuffled(each, order) for each in value] if isinstance(value, list) else value


def reordered(line: bytes, order: int) -> bytes:
    event = json.loads(line)
    return json.dumps({"Event": event.pop("Event"), **shuffled(event, order)}, separators=(",", ":")).encode()


@pytest.mark.parametrize("order", [1, 8, 10, 11])
def test_the_order_of_keys_changes_no_stage(tmp_path: Path, order: int) -> None:
    lines = event_log().splitlines()
    changed = [reordered(line, order) if b"SparkListener" in line[:24] else line for line in lines]
    (tmp_path / "reordered").write_bytes(b"\n".join(changed))
    (tmp_path / "as-it-is").write_bytes(b"\n".join(lines))
    for parts in (False, True):
        found, expected = (advisor.read_stages(tmp_path / name, parts=parts) for name in ("reordered", "as-it-is"))
        assert len(expected)
        pd.testing.assert_frame_equal(found.drop(columns="log"), expected.drop(columns="log"))
