"""Driver logs tell of jobs, stages and tasks what event logs tell, as far as their lines go."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import permutations
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import advisor
from advisor.batches import SCHEMA
from advisor.sources import files
from advisor.sources.harvest import Stretch
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.loggedjobs import Moment, packed
from advisor.sources.stages.loglines import Clock, LogLines
from advisor.sources.stages.scheduler import DeltaLog, Scheduler
from advisor.sources.stages.sinklines import Notes
from advisor.sources.stages.sparkevents import Sum, writing_share
from advisor.sources.stages.statusstore import work_of
from advisor.stages import PARTS, Work
from tests.made import START, event
from tests.sources import variants

SAMPLES = Path(__file__).parents[2] / "sample_progress"
NAMES = [part.name for part in PARTS]
BOTH = SAMPLES / "CF001/async-state-checkpoint-4.3.0"


def parts_of(path: Path) -> pd.DataFrame:
    return advisor.read_stages(path, parts=True).set_index("batch_id")


def unpacked(sample: str) -> bytes:
    return gzip.decompress((SAMPLES / sample).read_bytes())


def told(folder: Path, log: bytes) -> pd.DataFrame:
    """The parts of the batches of this log."""
    (folder / "driver.log").write_bytes(log)
    return parts_of(folder / "driver.log")


COUNTED = "DV001/count-then-wait-4.3.0/driver-ms.log.gz"
SECONDS = "LG001/rate-to-noop-4.3.0/driver.log.gz"
HUDI = "SK005/hudi-sink-3.5.9/driver-ms.log.gz"
FINE = "LG001/structured-log-4.0.0/structured.log.gz"


@pytest.mark.parametrize(
    "log",
    [
        "CF001/async-state-checkpoint-4.3.0/driver.log.gz", "LG001/rate-to-noop-3.5.9/driver.log.gz", FINE,
        "SK003/delta-sink-4.0.0/driver.log.gz", "SR002/kafka-read-twice-4.0.0/driver.log.gz",
        "healthy/restart-4.3.0/driver.log",
    ],
)  # fmt: skip
def test_parts_of_a_driver_log_add_up(log: str) -> None:
    parts = parts_of(SAMPLES / log)
    progress = advisor.read_progress(SAMPLES / log)
    assert len(parts) == (~progress["idle"]).sum()
    assert (parts[NAMES].fillna(0) >= 0).all().all()
    assert parts[NAMES].sum(axis=1).to_numpy() == pytest.approx(parts["add_batch_ms"].to_numpy())
    assert parts["not_visible_ms"].sum() == 0


def test_the_stages_of_a_driver_log() -> None:
    stages = advisor.read_stages(BOTH / "driver.log.gz")
    batch = stages[stages["batch_id"] == 5].reset_index(drop=True)
    assert batch[["job", "stage", "kind", "last", "tasks", "wall_ms", "task_ms", "task_max_ms"]].values.tolist() == [
        [5, 10, "source_read", False, 2, 218, 234, 129],
        [5, 11, "state", True, 2, 1139, 2092, 1075],
    ]
    assert batch["submitted"].isna().all()
    assert batch["run_ms"].isna().all()
    assert list(batch["process_local"]) == [2, 2]


def test_both_logs_of_one_run_say_the_same() -> None:
    (log,) = BOTH.glob("eventlog_*")
    expected, found = (parts_of(path).loc[2:] for path in (log, BOTH / "driver.log.gz"))
    counts = ["jobs", "stages", "tasks", "reads"]
    assert list(found[counts].sum()) == list(expected[counts].sum())
    around = expected[["driver_before_ms", "driver_between_ms", "driver_after_ms"]].sum(axis=1)
    told = found[["driver_ms", "planning_ms"]].sum(axis=1)
    assert told.sum() == pytest.approx(around.sum(), rel=0.05)
    since = found["since_last_stage_ms"] - expected["driver_after_ms"].to_numpy()
    assert since.abs().max() < 1100 and abs(since.mean()) < 100  # a clock of seconds: each way less than one off
    assert found["state_commit_ms"].sum() == pytest.approx(expected["state_commit_ms"].sum(), rel=0.05)


def test_of_two_logs_of_one_run_the_event_log_counts() -> None:
    stages = advisor.read_stages(BOTH)
    assert set(stages["origin"]) == {"event_log"}
    assert not stages.duplicated(["run_id", "batch_id", "stage"]).any()


def test_a_clock_that_knows_milliseconds_tells_when_in_any_zone(tmp_path: Path) -> None:
    parts = parts_of(SAMPLES / FINE)
    assert parts["driver_ms"].isna().all() and (parts["driver_before_ms"] > 0).all() and parts["planning_ms"].sum() > 0
    shifted = re.sub(
        rb'"ts":"2026-11-21T(\d\d)([^"]*)Z"',
        lambda m: b'"ts":"2026-11-21T%02d%s"' % (int(m[1]) + 3, m[2]),
        unpacked(FINE),
    )
    found = told(tmp_path, shifted)
    assert found["driver_before_ms"].to_numpy() == pytest.approx(parts["driver_before_ms"].to_numpy())


def test_a_file_source_tells_the_files_of_each_batch() -> None:
    parts = parts_of(SAMPLES / "SR009/60-files-per-batch-4.3.0/driver.log.gz")
    assert len(parts) > 30
    assert parts["files_read"].value_counts().to_dict() == {60: len(parts) - 1, 37: 1}  # where a listing ended
    assert parts_of(SAMPLES / "SK003/delta-sink-4.0.0/driver.log.gz")["files_read"].isna().all()


def test_a_file_sinks_files_are_counted_by_the_lines_of_its_tasks() -> None:
    moment, delta = Moment(), DeltaLog()
    notes = Notes(Scheduler(Work("log", "driver_log"), moment, delta), moment, delta)
    for time, logger, line in [
        (b"26/11/28 23:59:58", "ParquetOutputFormat", b"ParquetRecordWriter [block size: 134217728b]"),
        (b"26/11/28 23:59:59", "ParquetOutputFormat", b"ParquetRecordWriter [block size: 134217728b]"),
        (b"26/11/29 00:00:01", "ParquetOutputFormat", b"ParquetRecordWriter [block size: 134217728b]"),
        (b"26/11/29 00:00:04", "ManifestFileCommitProtocol", b"Committed batch 4"),
        # of another format, whose tasks write no line
        (b"26/11/29 00:00:05", "ManifestFileCommitProtocol", b"Committed batch 5"),
    ]:
        notes.readers[logger](time + line, len(time))
    assert [(note.name, note.value) for _, note in notes.notes] == [("files_written", 3), ("writing_ms", 3000.0)]


@pytest.mark.parametrize(
    ("given", "more", "share"),
    [
        (119, {"sort time": 40}, 0.974),  # 70 files (shape of a recorded stage)
        (6100, {"sort time": 40}, 0.003),  # rows that take long to compute
        (119, {}, nan),  # no partitionBy: rows are computed as they are written
        (119, {"sort time": 40, "data sent to Python workers": 4096}, nan),
    ],
)
def test_tasks_write_their_files_behind_the_sort_of_their_rows(given: int, more: dict[str, int], share: float) -> None:
    sums = {"internal.metrics.executorRunTime": 6158, "duration": given, **more}
    assert writing_share([Sum(name=name, value=str(value)) for name, value in sums.items()]) == pytest.approx(
        share, abs=0.001, nan_ok=True
    )


def test_a_commit_of_a_table_is_that_of_its_own_batch() -> None:
    moment, delta = Moment(), DeltaLog()
    readers = Notes(Scheduler(Work("log", "driver_log"), moment, delta), moment, delta).readers
    readers["OptimisticTransaction"](b"[tableId=1,txnId=2] Committed delta #10 to file:/t/_delta_log", 0)
    readers["CheckpointFileManager"](b"Writing atomically to file:/t/_delta_log/10.json using temp file", 0)
    assert delta.committed
    readers["CheckpointFileManager"](b"Writing atomically to file:/ck/offsets/11 using temp file", 0)
    assert not delta.committed


@pytest.mark.parametrize(
    ("committed", "kept", "tasks", "what"),
    [
        (True, True, 50, "Delta: choosing files"),  # a MERGE: the commit is that of the batch before
        (False, True, 50, "Delta: choosing files"),
        (False, False, 50, ""),  # it reads what no earlier job has left
        (False, True, 2, ""),
    ],
)
def test_a_job_behind_a_tables_snapshot_chooses_files(committed: bool, kept: bool, tasks: int, what: str) -> None:
    delta = DeltaLog()
    delta.committed = committed
    delta.snapshot(b"DELTA: Compute snapshot for version: 5", 0)
    assert delta.submits(delta.job, 0, 50, kept=False) == "Delta: Compute snapshot for version: 5"
    delta.snapshot(b"DELTA: Done", 0)
    assert delta.submits("", 0, tasks, kept=kept) == what
    assert delta.submits("", 0, 50, kept=True) == ""  # a later job


def test_lines_of_a_merge_say_what_its_jobs_are_for() -> None:
    delta = DeltaLog()
    told = []
    for read, line in (
        (delta.command, b"DELTA: MERGE operation - scanning files for matches"),
        (delta.snapshot, b"DELTA: Compute snapshot for version: 5"),
        (delta.snapshot, b"DELTA: Done"),
        (delta.command, b"DELTA: Done"),
        (delta.command, b"DELTA: Writing modified data"),
        (delta.command, b"DELTA: MERGE operation - Rewriting 2 files"),
        (delta.command, b"DELTA: Done"),
        (delta.command, b"DELTA: Rewriting 4 files for DELETE operation"),
        (delta.command, b"DELTA: Done"),
    ):
        read(line, 0)
        told.append(delta.submits(delta.job, 1, 2, kept=False))
    scans = "MERGE operation - scanning files for matches"
    snapshot = "Delta: Compute snapshot for version: 5 (MERGE operation)"
    rewrites = ["MERGE operation - Rewriting 2 files", "", "Rewriting 4 files for DELETE operation", ""]
    assert told == [scans, snapshot, scans, "", "", *rewrites]


def test_a_table_that_keeps_its_log_with_spark() -> None:
    log = SAMPLES / "SK003/delta-sink-4.0.0/driver.log.gz"
    stages, parts = advisor.read_stages(log), parts_of(log)
    table = stages[stages["kind"] == "table_log"]
    assert set(table["what"].str.replace(r"\d+", "N", regex=True)) == {
        "Delta: Compute snapshot for version: N",
        "Delta: log checkpoint",
    }
    assert set(table.loc[table["what"] == "Delta: log checkpoint", "batch_id"]) == {10, 20, 30, 40}
    assert parts.loc[13, "files_written"] == 2
    assert parts.loc[13, "bytes_written"] == 5648
    assert parts.loc[13, "sink_commit_ms"] == 151
    assert parts.loc[10, "sink_commit_ms"] < 4287 - 1476 - 486 - 864
    assert parts.loc[12, "planning_ms"] == pytest.approx(148.3 + 41.2 + 33.1, abs=0.1)
    assert parts.loc[12, "code_generated_ms"] == pytest.approx(148.3 + 41.2 + 33.1 + 53.5 + 29.0 + 266.6, abs=0.2)
    assert (parts["reads"] == 1).all()


def test_slots_that_another_query_held_are_told_by_the_order_of_the_lines() -> None:
    place = SAMPLES / "CL005/beside-a-heavy-query-4.3.0"
    (log,) = place.glob("eventlog_*")
    found, expected = (advisor.read_stages(path, parts=True) for path in (place / "driver.log.gz", log))
    light = found.groupby("run_id")["slots_wait_ms"].sum().sort_values()
    assert light.to_numpy() == pytest.approx(
        expected.groupby("run_id")["slots_wait_ms"].sum().reindex(light.index).to_numpy(), rel=0.2, abs=1500
    )
    assert advisor.read_stages(place / "driver.log.gz")["slots"].isna().all()
    waiting = found[found["slots_wait_ms"] > 0]
    assert set(waiting["waited_for"].explode()) == {"beside-a-heavy-query-beside"}


# A session's status store.

JOBS = rb"""
[
 {
  "jobId": 3,
  "name": "start at NativeMethodAccessorImpl.java:0",
  "description":
   "q\nid = fccb6ac5-b2c9-4720-a48d-9d273f0683bf\nrunId = b3cc5bf9-769c-47f0-a7c5-bb27432401d2\nbatch = 3",
  "submissionTime": "2026-11-22T19:28:55.922GMT",
  "completionTime": "2026-11-22T19:28:56.660GMT",
  "stageIds": [
   6,
   7
  ],
  "status": "SUCCEEDED"
 },
 {
  "jobId": 4,
  "stageIds": [
   8
  ],
  "status": "RUNNING"
 }
]
"""
STAGES = rb"""
[
 {
  "status": "COMPLETE",
  "stageId": 7,
  "attemptId": 0,
  "numTasks": 2,
  "submissionTime": "2026-11-22T19:28:56.096GMT",
  "firstTaskLaunchedTime": "2026-11-22T19:28:56.106GMT",
  "completionTime": "2026-11-22T19:28:56.660GMT",
  "executorDeserializeTime": 103,
  "executorRunTime": 821,
  "executorCpuTime": 62215713,
  "shuffleReadRecords": 100
 },
 {
  "status": "COMPLETE",
  "stageId": 6,
  "attemptId": 0,
  "numTasks": 2,
  "submissionTime": "2026-11-22T19:28:55.930GMT",
  "firstTaskLaunchedTime": "2026-11-22T19:28:55.940GMT",
  "completionTime": "2026-11-22T19:28:56.090GMT",
  "executorRunTime": 200,
  "inputRecords": 100
 },
 {
  "status": "SKIPPED",
  "stageId": 8,
  "attemptId": 0,
  "numTasks": 2
 }
]
"""


def test_what_a_status_store_tells() -> None:
    work = work_of(JOBS, STAGES, log="app", file="session", slots=2, batches=SCHEMA.empty_table())
    assert [attempt.stage for attempt in work.attempts] == [6, 7]
    read, state = work.attempts
    assert (read.last, state.last) == (False, True)
    assert state.completed - state.submitted == 564
    assert state.numbers.get("first_task_ms") == 10
    assert state.numbers.get("cpu_ms") == pytest.approx(62.2, abs=0.1)
    assert read.numbers.get("input_rows") == 100
    assert [job.job for job in work.jobs] == [3]
    assert not work.knows_waits


def test_a_job_with_another_description_belongs_to_the_batch_in_whose_trigger_it_began() -> None:
    first = json.loads(JOBS)[0] | {"description": "mine", "jobGroup": "b3cc5bf9-769c-47f0-a7c5-bb27432401d2"}
    query = "fccb6ac5-b2c9-4720-a48d-9d273f0683bf"
    rows = [
        {
            "id": query, "run_id": first["jobGroup"], "batch_id": batch, "trigger_execution_ms": 1700.0,
            "add_batch_ms": 1600.0,
        }
        | {"timestamp": datetime(2026, 11, 22, 19, 28, second, tzinfo=timezone.utc), "file": "session"}
        for batch, second in ((2, 54), (3, 55), (4, 57))
    ]  # fmt: skip
    batches = pa.Table.from_pylist(rows, SCHEMA)
    jobs = [first, first | {"jobId": 5, "submissionTime": "2026-11-22T19:28:56.950GMT", "stageIds": [9]}]
    work = work_of(json.dumps(jobs).encode(), STAGES, log="app", file="session", slots=2, batches=batches)
    assert [(job.job, job.batch and job.batch.batch_id, job.description) for job in work.jobs] == [(3, 3, "mine")]
    assert [job.job for job in work.strangers] == [5]


@pytest.mark.parametrize("odd", [2**31, -(2**40), 10**30, "6", None])
def test_an_odd_entry_of_a_status_store_costs_itself(odd: object) -> None:
    def with_odd(entries: bytes, key: str) -> bytes:
        first, *others = json.loads(entries)
        return json.dumps([first | {key: odd}, *others, first]).encode()

    jobs, stages = with_odd(JOBS, "jobId"), with_odd(STAGES, "stageId")
    work = work_of(jobs, stages, log="app", file="session", slots=2, batches=SCHEMA.empty_table())
    assert [attempt.stage for attempt in work.attempts] == [6, 7]
    assert [job.job for job in work.jobs] == [3]


def test_hudi_tells_of_a_micro_batch_that_is_tried_again(tmp_path: Path) -> None:
    before, got, behind = unpacked(HUDI).partition(b" INFO DAGScheduler: Got job 100 ")
    clock = before[before.rindex(b"\n") + 1 :]
    retry = b" INFO HoodieStreamingSink: Retrying the failed micro batch id=3 ...\n"  # as 0.15.0 writes it
    assert sorted(told(tmp_path, before + retry + clock + got + behind)["commit_retries"])[-2:] == [0, 1]


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("FileFormatWriter: Write Job 16a94686 committed. Elapsed time: 63 ms.", 1),
        ("DeltaFileFormatWriter: Write Job 16a94686 committed. Elapsed time: 63 ms.", 1),
        ("AppendDataExec: Data source write support IcebergBatchWrite(table=t) committed.", 1),
        ("BaseHoodieWriteClient: Committed 20261123014532711", 1),
        ("FileFormatWriter: Start to commit write Job 16a94686.", 0),
        ("AppendDataExec: Data source write support IcebergBatchWrite(table=t) is committing.", 0),
    ],
)
def test_the_ends_of_writes_are_counted(tmp_path: Path, line: str, writes: int) -> None:
    plain = re.sub(rb"(?m)^.*HoodieWriteClient: Committed.*\n", b"", unpacked(HUDI))
    before, got, behind = plain.partition(b" INFO DAGScheduler: Got job 100 ")
    clock = before[before.rindex(b"\n") + 1 :]
    assert told(tmp_path, before + f" INFO {line}\n".encode() + clock + got + behind)["writes"].sum() == writes


# Layouts.


def lines(text: bytes) -> list[tuple[str, bytes]]:
    found = LogLines(("DAGScheduler", "DeltaSink"), {}).read(Stretch(text, 0, 0, True), len(text), 0)
    return [(logger, line[message:]) for logger, line, message, _, _ in found]


def test_lines_of_a_pattern_layout() -> None:
    text = (
        b"26/11/21 09:34:29 INFO SparkContext: Created broadcast 22 from broadcast at DAGScheduler.scala:2796\n"
        b"26/11/21 09:34:29 INFO DAGScheduler: Got job 5\n"
        b"short\n"
        b"26/11/21 09:34:29 INFO DeltaSink: Wrote 2 files\n"
        b"26/11/21 09:34:29 INFO DAGScheduler: looking"
    )
    wanted = [("DAGScheduler", b"Got job 5"), ("DeltaSink", b"Wrote 2 files"), ("DAGScheduler", b"looking")]
    assert lines(text) == wanted
    assert lines(b"nothing of this kind\n") == []


@pytest.mark.parametrize(
    "layout",
    [
        "{time} {level} org.apache.spark.{name}: ", "{time} {level} o.a.s.{name} - ", "{time} {level:5} {name}:42: ",
        "{time} {level} [{thread}] {name}: ", "[{thread}] {time} {level} {name}: ", "{level}|{name:16}|",
        "{time} [{thread}] {level:5} {name}: ", "{time} {level:5} scheduler.{name}: [{thread}]: ",
        "pod-7 {time} [{level}] {name} - ", "[pod/a/b] {time} {level} [{thread}] {name}: ",
        "{time} {level} {thread} {name}: ", "{time} {thread} {level} {name}: ",
        "{time} {level:5} {thread} org.apache.spark.{name} - ", "{time}|{level}|{thread:.15}|{name}|",
        "{time} [{level}] [o.a.s.{name}] ({thread}) ",
        "{time} trace=123456789012345678901234 {level} {name} anapplicationoforders - ",
    ],
)  # fmt: skip
def test_lines_in_which_names_stand_in_no_column(layout: str) -> None:
    written = [
        ("INFO", "dag-scheduler-event-loop", "DAGScheduler", "Registering RDD 5"),
        ("INFO", "dag-scheduler-event-loop", "DAGScheduler", "Got job 5 (start at x) with 1 output partitions"),
        ("INFO", "stream", "SparkContext", "Created broadcast 22 from broadcast at DAGScheduler.scala:2796"),
        ("ERROR", "stream", "DeltaSink", "Wrote 2 files"),
        ("WARN", "stream", "OtherSink", "Wrote 2 files"),
    ]
    text = "\n".join(
        layout.format(time="26/11/21 09:34:29", level=level, thread=thread, name=name) + message
        for level, thread, name, message in written
    )
    wanted = [(name, message.encode()) for _, _, name, message in written if name in ("DAGScheduler", "DeltaSink")]
    assert lines(text.encode()) == wanted


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (r"(?m)^(\S+ \S+ [A-Z]+ )(\w+): (.*[^{\n])$", r"\1\3 (\2)"),
        (r"\n", r"\r"),
        (r"(?m)^(\S+ \S+) ([A-Z]+) ", r"[\1 [main]] [user=[a]] \2 o.a."),
    ],
)
def test_a_layout_or_an_end_of_lines_that_is_not_known_is_named(tmp_path: Path, line: str, other: str) -> None:
    (tmp_path / "driver.log").write_text(re.sub(line, other, unpacked(COUNTED).decode()), newline="")
    found = files.read([tmp_path], stages=True)
    assert not len(found.inside["stages"])
    assert ["how its lines look, or end, is not known" in one.reason for one in found.broken] == [True]


def test_a_window_that_begins_within_a_line_is_read_on() -> None:
    job = "09:34:29 INFO [x] org.apache.spark.scheduler.DAGScheduler - Got job {} (start at x)\n"
    text = "".join(map(job.format, (5, 6, 7))).encode()
    read = LogLines(("DAGScheduler",), {}).read(Stretch(text, 0, 3, True), len(text), 0)
    assert [line[message:] for _, line, message, *_ in read] == [b"Got job 6 (start at x)", b"Got job 7 (start at x)"]


def test_a_thread_whose_name_holds_brackets() -> None:
    text = (
        b"09:34:29 [dag-scheduler-event-loop] INFO DAGScheduler: Got job 5\n"
        b"09:34:29 [stream execution thread for q [id = 1, runId = 2]] INFO DeltaSink: Wrote 2 files\n"
    )
    assert lines(text) == [("DAGScheduler", b"Got job 5"), ("DeltaSink", b"Wrote 2 files")]


IN_LAYOUTS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "docker": lambda line: json.dumps({"log": line + "\n", "stream": "stderr"}),
    "CRI": "2026-11-23T11:17:13.123456789Z stderr F {}".format,
    "kubectl": "[pod/count-driver spark] {}".format,
    "log4j": lambda line: re.sub(r"^(\S+ \S+) ([A-Z]+) (\w+): ", r"\1 [main] \2 org.apache.spark.\3 - ", line),
}


@pytest.mark.parametrize("layouts", list(permutations(IN_LAYOUTS, 2)), ids=" then ".join)
def test_a_log_whose_layout_changes_loses_no_job(tmp_path: Path, layouts: tuple[str, str]) -> None:
    lines = unpacked(COUNTED).decode().splitlines()
    middle = [at for at, line in enumerate(lines) if line == "}"][12] + 1
    written = [IN_LAYOUTS[layouts[at >= middle]](line) for at, line in enumerate(lines)]
    (tmp_path / "plain.log").write_text("\n".join(lines))
    (tmp_path / "driver.log").write_text("\n".join(written))
    found, plain = (files.read([tmp_path / name], stages=True) for name in ("driver.log", "plain.log"))
    assert (len(found.batches), found.broken) == (len(plain.batches), ())
    for name, table in plain.inside.items():
        assert found.inside[name].drop(["log"]).equals(table.drop(["log"])), name


EVENT_LOG = "LG001/event-log-single-file-3.5.9/local-1795256356823.gz"


@pytest.mark.parametrize("logs", [(COUNTED, EVENT_LOG), (EVENT_LOG, COUNTED), (FINE, EVENT_LOG), (FINE, COUNTED)])
def test_of_a_driver_log_and_an_event_log_in_one_file_the_second_is_named(
    tmp_path: Path, logs: tuple[str, ...]
) -> None:
    (tmp_path / "driver.log").write_bytes(b"".join(map(unpacked, logs)))
    found = files.read([tmp_path], stages=True)
    alone = [files.read([SAMPLES / log], stages=True) for log in logs]
    assert len(found.batches) == sum(len(one.batches) for one in alone)
    read = alone[:1] if EVENT_LOG in logs else alone
    assert len(found.inside["stages"]) == sum(len(one.inside["stages"]) for one in read)
    assert [
        (one.offset >= len(unpacked(logs[0])) - 1, "event log in one file" in one.reason) for one in found.broken
    ] == [(True, True)] * (EVENT_LOG in logs)


WRITTEN_AGAIN: dict[str, Callable[[str], str]] = {
    "behind a time": "2026-11-28T10:00:00Z {}".format,
    "by docker": lambda line: json.dumps({"log": line + "\n"}),
    "with blanks": lambda line: json.dumps(json.loads(line)),
}


@pytest.mark.parametrize("form", WRITTEN_AGAIN.values(), ids=WRITTEN_AGAIN)
def test_an_event_log_that_was_written_again_is_named(tmp_path: Path, form: Callable[[str], str]) -> None:
    (tmp_path / "log").write_text("\n".join(map(form, unpacked(EVENT_LOG).decode().splitlines())))
    found = files.read([tmp_path], stages=True)
    assert len(found.batches) and not len(found.inside["stages"])
    assert ["was written again or wrapped" in one.reason for one in found.broken] == [True]


def test_a_driver_log_that_holds_an_event_of_an_event_log_stays_one(tmp_path: Path) -> None:
    text = unpacked(COUNTED)
    first = text.index(b"\n") + 1
    other = variants.in_event_log(variants.made()[0]) + "\n" + "26/11/23 11:17:13.054 INFO Other: nothing\n" * 2000
    (tmp_path / "driver.log").write_bytes(text[:first] + other.encode() + text[first:])
    found = files.read([tmp_path], stages=True)
    assert (len(found.batches), len(found.inside["stages"]), found.broken) == (27, 78, ())


def applications(*layouts: str) -> bytes:
    messages = ("SparkContext: Running Spark version 4.3.0", "DAGScheduler: Got job 5", "DeltaSink: Wrote 2 files")
    other = " INFO MemoryStore: Block broadcast_1 stored as values in memory\n" * 100
    return "".join(other + layout + message + "\n" for layout in layouts for message in messages).encode()


@pytest.mark.parametrize(
    "layouts",
    [
        ("26/11/21 09:34:29 INFO ", "26/11/21 09:34:29.123 INFO "), ("26/11/21 09:34:29 INFO org.", "09:34 [x] INFO "),
        ("09:34 INFO ", "26/11/21 09:34:29 INFO ", "09:34 INFO "), ("09:34 INFO ", "09:34 INFO "),
    ],
)  # fmt: skip
def test_each_application_has_its_own_layout(layouts: tuple[str, ...]) -> None:
    own = [("DAGScheduler", b"Got job 5"), ("DeltaSink", b"Wrote 2 files")]
    found = [(logger, message) for logger, message in lines(applications(*layouts)) if logger != "SparkContext"]
    assert found == own * len(layouts)


@pytest.mark.parametrize("logs", [(SECONDS, COUNTED), (COUNTED, SECONDS)])
@pytest.mark.parametrize("begins", [b"Running Spark version", b"Any other line"])
def test_logs_of_two_clocks_behind_each_other(tmp_path: Path, logs: tuple[str, str], begins: bytes) -> None:
    for age, sample in enumerate(logs):
        (tmp_path / f"driver.log.{2 - age}").write_bytes(unpacked(sample).replace(b"Running Spark version", begins))
    expected = pd.concat([advisor.read_stages(SAMPLES / sample, parts=True) for sample in logs])
    found = advisor.read_stages(tmp_path, parts=True)
    keys = ["run_id", "batch_id"]
    expected, found = (parts.drop(columns="log").set_index(keys).sort_index() for parts in (expected, found))
    pd.testing.assert_frame_equal(found, expected, check_like=True)


def test_lines_of_a_structured_layout() -> None:
    text = (
        b'{"ts":"2026-11-21T10:02:32.362Z","level":"INFO","msg":"Got job 5","logger":"DAGScheduler"}\n'
        b'{"ts":"2026-11-21T10:02:32.362Z","level":"INFO","msg":"other","logger":"SparkContext"}\n'
        b'{"ts":"2026-11-21T10:02:32.362Z","level":"INFO","msg":"Wrote","logger":"DeltaSink"}\n'
    )
    found = [(logger, message.split(b'"')[0]) for logger, message in lines(text)]
    assert found == [("DAGScheduler", b"Got job 5"), ("DeltaSink", b"Wrote")]


@pytest.mark.parametrize(
    ("line", "ms"),
    [
        (b'{"ts":"2026-11-21T10:02:32.362Z","level"', 1795255352362),
        (b"26/11/21 10:02:32.362 INFO DAGScheduler: Got", 1795255352362),
        (b"2026-11-21 10:02:32,362 INFO", 1795255352362),
    ],
)
def test_the_time_of_a_line(line: bytes, ms: float) -> None:
    clock = Clock(line)
    assert clock.fine
    assert clock.time(line) == ms
    assert clock.utc == (b"Z" in line)
    assert not Clock(re.sub(rb"[.,]\d{3}", b"", line)).fine


@pytest.mark.parametrize(
    ("hours", "since", "line", "lost"),
    [
        (1, 3, b"", ""), (1, 20, b"", ""), (-1, 20, b"", ""), (-1, 25, b"", ""),
        (1, 20, b"Got job", ""), (1, 25, b"Got job", ""), (-1, 20, b"Got job", ""),
        (-1, 20, b"Submitting [12] missing", ""),
        (1, 20, b"ResultStage \\d+ [(].*finished in", "too_long"), (1, 20, b"Submitting [12] missing", "too_long"),
    ],
)  # fmt: skip
def test_a_clock_that_is_put_forward_or_back(tmp_path: Path, hours: int, since: int, line: bytes, lost: str) -> None:
    log = unpacked(COUNTED)
    event = [found.end() for found in re.finditer(rb"Streaming query made progress", log)][since - 1]
    at = log.rindex(b"\n", 0, next(re.compile(line).finditer(log, event)).start()) + 1

    def moved(line: re.Match[bytes]) -> bytes:
        time = datetime.strptime(line[0].decode(), "%y/%m/%d %H:%M:%S") + timedelta(hours=hours)
        return f"{time:%y/%m/%d %H:%M:%S}".encode()

    changed = log[:at] + re.sub(rb"(?m)^\d\d/\d\d/\d\d \d\d:\d\d:\d\d", moved, log[at:])
    parts, expected = told(tmp_path, changed).drop(columns="log"), parts_of(SAMPLES / COUNTED).drop(columns="log")
    if lost:
        assert parts.at[since, lost] > 0
        parts, expected = parts.drop(since), expected.drop(since)
    pd.testing.assert_frame_equal(parts, expected, check_dtype=False)


def test_what_only_some_sinks_and_sources_tell(tmp_path: Path) -> None:
    assert parts_of(SAMPLES / "LG001/rate-to-noop-4.3.0")["files_written"].isna().all()
    log = next((SAMPLES / "SK004/count-check-and-write-4.0.0").glob("event*"))
    writes = parts_of(log)
    assert writes["writing_ms"].isna().all()
    events = pa.input_stream(str(next(log.glob("events*"))), compression="zstd").read()
    by_value = events.replace(b'"time in aggregation build"', b'"sort time"')
    assert 0 < told(tmp_path, by_value)["writing_ms"].median() < writes["add_batch_ms"].median()
    assert set(writes["files_written"].dropna()) == {4} and writes.loc[1, "bytes_written"] == 57801  # of two writes
    iceberg = parts_of(SAMPLES / "SK008/iceberg-other-writer-4.0.0")
    assert sorted(iceberg["commit_retries"])[-3:] == [0, 1, 1] and set(iceberg["files_written"]) == {2}
    assert iceberg["sink_commit_ms"].min() > 200
    paimon = parts_of(SAMPLES / "SK008/paimon-other-writer-3.5.9")  # a commit was tried again
    assert paimon["commit_retries"].sum() == 1 and paimon["sink_commit_ms"].isna().all()
    hudi = parts_of(SAMPLES / "SK005/hudi-sink-3.5.9")  # from the commit's first line to the end of the batch
    assert hudi["sink_commit_ms"].between(1000, 4000).all() and (hudi["jobs"] >= 13).all()
    assert hudi["commit_retries"].sum() == 0
    refused = parts_of(SAMPLES / "CG003/300-branches-4.3.0")
    assert (refused["code_refused"] == 1).all() and (refused["code_too_long"] == 0).all()


def test_a_pattern_with_milliseconds_tells_when_the_driver_worked(tmp_path: Path) -> None:
    place = SAMPLES / "SK005" / "iceberg-sink-4.0.0"
    ours, theirs = (parts_of(next(place.glob(name))) for name in ("driver-ms.log", "eventlog_*"))
    assert ours["driver_ms"].isna().all()
    off = (ours["source_read_ms"] + ours["scheduling_ms"] - theirs["source_read_ms"] - theirs["scheduling_ms"]).abs()
    assert (off / theirs["add_batch_ms"]).median() < 0.03


def test_a_shuffle_that_is_a_job_of_its_own_ends_with_its_stage() -> None:
    place = SAMPLES / "DV001" / "count-then-wait-4.3.0"
    ours, theirs = (parts_of(next(place.glob(name))) for name in ("driver-ms.log.gz", "eventlog_*"))
    for part in ("driver_before_ms", "driver_between_ms", "driver_after_ms"):
        assert (ours[part] - theirs[part]).abs().median() < 0.03 * theirs["add_batch_ms"].median()
    assert (ours["driver_after_ms"] > 500).all()
    assert (ours["other_ms"][1:] == 0).all()  # of the first batch no offset counts the reads


def test_a_job_for_which_no_thread_waits_ends_with_its_last_stage(tmp_path: Path) -> None:
    without, left_out = re.subn(rb"(?m)^.*DAGScheduler: Job \d+ finished:.*\n", b"", unpacked(COUNTED))
    assert left_out > 10
    ours, theirs = told(tmp_path, without), parts_of(SAMPLES / COUNTED)
    assert (ours["scheduling_ms"] - theirs["scheduling_ms"]).median() < 5
    assert (ours["driver_after_ms"] - theirs["driver_after_ms"]).abs().median() < 5


@pytest.mark.parametrize(("sample", "ms"), [(COUNTED, b".000"), ("LG001/rate-to-noop-3.5.9/driver.log.gz", b"")])
def test_a_job_that_ended_before_its_batch_began_is_none_of_it(tmp_path: Path, sample: str, ms: bytes) -> None:
    earlier = (
        b"26/11/20 00:00:01%b INFO DAGScheduler: Got job 900 (parquet at <unknown>:0) with 1 output partitions\n"
        b"26/11/20 00:00:02%b INFO DAGScheduler: Job 900 finished: parquet at <unknown>:0, took 99000.0 ms\n"
    )
    text = unpacked(sample)
    at = text.rindex(b"\n", 0, text.index(b"Got job ")) + 1
    ours, theirs = told(tmp_path, text[:at] + earlier % (ms, ms) + text[at:]), parts_of(SAMPLES / sample)
    pd.testing.assert_frame_equal(ours.drop(columns="log"), theirs.drop(columns="log"))


def test_kafkas_consumers_tell_how_long_they_polled_and_spark_3_in_nanoseconds(tmp_path: Path) -> None:
    sample = "SR005/sparse-kafka-4.3.0/driver.log.gz"
    log = re.sub(rb"taking ([\d.]+) ms", lambda ms: b"taking %d nanos" % (float(ms[1]) * 1e6), unpacked(sample))
    ours, theirs = told(tmp_path, log), parts_of(SAMPLES / sample)
    assert theirs["kafka_polls"].min() >= 1 and (theirs["kafka_poll_ms"] > 0).all()
    assert ours["kafka_poll_ms"].to_numpy() == pytest.approx(theirs["kafka_poll_ms"].to_numpy(), rel=1e-6)


COMPACTION = b"""\
26/11/22 22:02:01.100 INFO DAGScheduler: Got job 1 (start at x) with 1 output partitions
26/11/22 22:02:01.200 INFO CheckpointFileManager: Writing atomically to file:/t/_spark_metadata/9.compact using temp \
file file:/t/_spark_metadata/.9.compact.7a.tmp
26/11/22 22:02:01.550 INFO CheckpointFileManager: Renamed temp file file:/t/_spark_metadata/.9.compact.7a.tmp to \
file:/t/_spark_metadata/9.compact
"""


def test_a_file_sink_compacts_its_log_between_two_lines() -> None:
    log = DriverLog("log")
    log.read(Stretch(COMPACTION, 0, 0, True), len(COMPACTION), "driver.log")
    moment = datetime(2026, 11, 22, 22, 2, 1, tzinfo=timezone.utc)
    event = {"id": "q", "run_id": "r", "batch_id": 9, "timestamp": moment, "add_batch_ms": 900.0, "offset": 2000}
    (work,) = log.finish(pa.Table.from_pylist([event | {"file": "driver.log"}], SCHEMA))
    assert [(note.name, note.value) for note in work.notes] == [("log_compaction_ms", 350.0)]


@pytest.mark.parametrize(
    ("tasks", "slots", "last", "wall", "spans"),
    [
        ([10, 20, 30], 2, 100, 500, [(60, 70), (60, 80), (70, 100)]),  # one behind the other
        ([], 2, 100, 500, []), ([10], 1, 100, 5, [(95, 100)]),
        # what does not fit one behind the other ran on more slots
        ([30, 20, 10], 1, 1000, 40, [(970, 1000), (970, 990), (990, 1000)]),
        ([30, 30, 30], 1, 1000, 30, [(970, 1000)] * 3), ([30, 30], 1, 1000, 0, [(1000, 1000)] * 2),
    ],
)  # fmt: skip
def test_when_tasks_ran(tasks: list[float], slots: int, last: float, wall: float, spans: list[Any]) -> None:
    assert packed(tasks, slots, last, wall) == spans


def test_a_task_that_failed_is_no_scheduling(tmp_path: Path) -> None:
    log = re.sub(
        rb"(?m)^(.*TaskSetManager: .*)Starting(.* in stage (\d+\.\d).*)$",
        rb"\1Starting\2\n\1Lost task 0.0 in stage \3 (TID 1) (host executor driver): java.lang.RuntimeException: odd",
        unpacked(COUNTED),
    )
    ours, theirs = told(tmp_path, log), parts_of(SAMPLES / COUNTED)
    assert (ours["scheduling_ms"] < theirs["scheduling_ms"]).all()
    assert (ours["source_read_ms"] > theirs["source_read_ms"]).all()
    assert all("source_read+scheduling" in both for both in ours["together"])


SCANS = "FileScanRDD: Reading File path: file:%s/part-0.parquet, range: 0-9, values: [empty row]"
READS = (5, (10, SCANS % "/dim"))
LISTS = (0, (0, "HadoopFSUtils: Listing leaf files and directories in parallel under120 paths. The first several"))


def logged(batches: int, tells: tuple[int, tuple[int, str]] | None, rest: int = 1, files: str = "") -> str:
    """A driver's log of batches with a job of 300 ms that reads a table or lists its folders, as a line `tells` at a
    place among its lines, and the rest, jobs of 100 ms, one of which reads the stream: Kafka, or these files.
    """
    lines: list[str] = []
    for batch in range(batches):
        at = 2.0 * batch
        for one in range(rest + 1):
            job, begin, ms = (rest + 1) * batch + one, 0.1 + 0.4 * (one > 0) + 0.12 * (one > 1), 100 if one else 300
            name, stage = "start at X.java:0", f"in stage {job}.0 (TID {job})"
            said = [
                (0, f"DAGScheduler: Got job {job} ({name}) with 1 output partitions"),
                (0, f"DAGScheduler: Final stage: ResultStage {job} ({name})"),
                (0, "DAGScheduler: Parents of final stage: List()"),
                (0, f"DAGScheduler: Submitting 1 missing tasks from ResultStage {job} (MapPartitionsRDD[1] at {name})"),
                (0, f"TaskSetManager: Starting task 0.0 {stage} (h, executor driver, partition 0, ANY, 9 bytes)"),
                (ms, f"TaskSetManager: Finished task 0.0 {stage} in {ms} ms on h (executor driver) (1/1)"),
                (ms, f"DAGScheduler: ResultStage {job} ({name}) finished in {ms} ms"),
                (ms, f"DAGScheduler: Job {job} finished: {name}, took {ms}.0 ms"),
            ]
            if tells and ms == 300:
                said.insert(*tells)
            if one and files:
                said.insert(5, (10, SCANS % files))
            lines += [f"{clock(at + begin + after / 1000)} INFO {line}" for after, line in said]
        row = {"triggerExecution": 800, "addBatch": 700, "numInputRows": 10}
        told_of = event(batch + 1, 2000.0 * batch, 2000.0, row)
        source = (
            {"description": "FileStreamSource[file:/in/*]", "startOffset": None}
            if files
            else {"startOffset": 10 * batch}
        )
        told_of["sources"][0] |= {**source, "endOffset": None if files else 10 * batch + 10}
        lines.append(
            f"{clock(at + 0.81)} INFO MicroBatchExecution: Streaming query made progress: {json.dumps(told_of)}"
        )
    return "\n".join(lines) + "\n"


def clock(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%y/%m/%d %H:%M:%S.%f")[:-3]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (READS[1][1], "FileScanRDD: Reading File path: file:/dim/part-0.parquet, range: 9-18, values: [empty row]"),
        ("HadoopRDD: Input split: file:/dim/part-0:0+9", "HadoopRDD: Input split: file:/dim/part-0:9+9"),
    ],
)
def test_a_file_that_several_tasks_read_counts_once(tmp_path: Path, first: str, later: str) -> None:
    lines = logged(4, (5, (10, first))).splitlines(keepends=True)
    log = "".join(line + line.replace(first, later) * (first in line) for line in lines)
    found = told(tmp_path, log.encode())
    assert [each[0] for each in found["traces"][1:]] == ["reads_files 1 /dim"] * 3


@pytest.mark.parametrize(
    ("later", "more"),
    [("part-0.csv.gz", "part-0.csv.gz"), ("part-1.csv.gz", "*.csv.gz"), ("part-1.parquet", None)],
)
def test_a_table_is_named_with_its_one_file_or_how_all_end(tmp_path: Path, later: str, more: str | None) -> None:
    """The names may show the format, which else only an event log does."""
    lines = logged(4, READS).replace("0.parquet", "0.csv.gz").splitlines(keepends=True)
    log = "".join(line + line.replace("part-0.csv.gz", later) * ("Reading" in line) for line in lines)
    traces = [trace.split() for trace in told(tmp_path, log.encode())["traces"].iloc[1]]
    assert {each[2] for each in traces if each[0] == "table_ms"} == {"/dim", *([f"/dim/{more}"] if more else [])}


@pytest.mark.parametrize(
    ("tells", "rest", "files", "other"),
    [
        (READS, 1, "", 300.0), (READS, 2, "", 300.0), (LISTS, 1, "", 300.0), (None, 1, "", None),
        (READS, 1, "/in/a", 300.0), (READS, 1, "/mnt/in", None), (READS, 1, "/dim", None),
    ],
)  # fmt: skip
def test_of_several_jobs_that_read_lines_tell_which_reads_a_table_else_nobody_knows(
    tmp_path: Path, tells: tuple[int, tuple[int, str]] | None, rest: int, files: str, other: float | None
) -> None:
    """A source of files whose scan is seen elsewhere may have another name for its folder."""
    found = told(tmp_path, logged(4, tells, rest, files).encode())["other_ms"].tolist()[1:]
    assert found == pytest.approx([other] * 3, abs=15) if other else all(ms is None or ms != ms for ms in found)
