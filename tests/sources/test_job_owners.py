"""Whose a job is whose event log says less than usual: threads, job groups of one's own, caches, late tasks."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import advisor
from advisor.catalogue.traces import forms, traced
from advisor.stages import PARTS

QUERY, RUN, OTHER = (letter * 8 + "-0000-4000-8000-000000000000" for letter in "abc")
STREAM = ("MicroBatchScan",)
BATCH_MS, TRIGGER_MS = 1000, 900
EVENT = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


def progress(batch: int, query: str = QUERY, run: str = RUN) -> dict[str, Any]:
    """A batch that begins at its number of seconds; addBatch begins 50 ms later and takes 800 ms."""
    at = datetime.fromtimestamp(batch * BATCH_MS / 1000, timezone.utc)
    durations = {"latestOffset": 25, "queryPlanning": 25, "addBatch": 800, "commitOffsets": 50}
    told = {
        "id": query, "runId": run, "name": query[:1], "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "batchId": batch, "numInputRows": 100, "durationMs": {**durations, "triggerExecution": TRIGGER_MS},
        "stateOperators": [], "sources": [{"description": "RateStreamV2[rowsPerSecond=100]", "numInputRows": 100}],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
    }  # fmt: skip
    return {"Event": EVENT, "progress": told}


def named(batch: int, run: str | None = RUN) -> dict[str, str]:
    """A job's properties; without a run as where a function of the query set a job group of its own."""
    group = {"spark.jobGroup.id": run} if run else {"spark.jobGroup.id": "mine", "spark.job.description": "my words"}
    return {"sql.streaming.queryId": QUERY, "streaming.sql.batchId": str(batch), **group}


def job(
    number: int, start: int, properties: dict[str, str], operators: tuple[str, ...] = STREAM, **more: Any
) -> list[Any]:
    """A job of 100 ms with one stage of its number and one task, in which 80 ms are run; `more`: of its data set."""
    level = {"Use Disk": False, "Use Memory": False}
    datasets = [
        {"RDD ID": number * 10 + nth, "Name": name, "Number of Partitions": 1, "Storage Level": level}
        for nth, name in enumerate(operators)
    ]
    info = {"Stage ID": number, "Stage Attempt ID": 0, "Stage Name": "", "Number of Tasks": 1, "RDD Info": datasets}
    datasets += [more] if more else []
    times = {"Submission Time": start, "Completion Time": start + 100}
    return [
        {"Event": "SparkListenerJobStart", "Job ID": number, **times, "Stage Infos": [], "Stage IDs": [number]}
        | {"Properties": properties},
        task(number, start + 10),
        {"Event": "SparkListenerStageCompleted", "Stage Info": {**info, **times, "Accumulables": []}},
        {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": start + 100},
    ]


def task(stage: int, launch: int, **info: Any) -> dict[str, Any]:
    """A task of 80 ms."""
    told = {"Launch Time": launch, "Finish Time": launch + 80, "Locality": "ANY", **info}
    return {
        "Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0, "Task Type": "ResultTask",
        "Task Info": {**told, "Accumulables": []}, "Task Metrics": {"Executor Run Time": 80},
    }  # fmt: skip


def read(folder: Path, *events: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of stages and of parts of an event log."""
    flat = [one for each in events for one in (each if isinstance(each, list) else [each])]
    log = folder / "events"
    log.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in flat))
    return advisor.read_stages(log), advisor.read_stages(log, parts=True)


def test_a_job_group_of_ones_own_makes_no_second_row_of_the_batch(tmp_path: Path) -> None:
    stages, parts = read(tmp_path, job(1, 3100, named(3)), job(2, 3300, named(3, run=None)), progress(3))
    assert list(stages["run_id"]) == [RUN, RUN]
    (row,) = parts.to_dict("records")
    assert (row["run_id"], row["jobs"], row["source_read_ms"]) == (RUN, 2, 160)


@pytest.mark.parametrize(
    ("reads", "caller", "kind"),
    [
        ([20], "start at Stream.java:1", "result"),
        ([20], "$anonfun$withThreadLocalCaptured$1 at CompletableFuture.java:1", "other"),
        ([20, 10], "$anonfun$withThreadLocalCaptured$1 at CompletableFuture.java:1", "result"),
    ],
)
def test_a_stage_behind_scans_of_tables_alone_is_theirs(
    tmp_path: Path, reads: list[int], caller: str, kind: str
) -> None:
    """`caller`: of the job that reads the shuffles; only one that broadcasts can hold no rows of the stream."""
    stream, table = job(1, 3100, named(3)), job(2, 3250, named(3), ("Scan parquet ",))
    last = job(3, 3400, named(3), ("AQEShuffleRead",))
    info = last[2]["Stage Info"]
    info["Stage Name"], info["RDD Info"][0]["Parent IDs"] = caller, reads
    stages, _ = read(tmp_path, stream, table, last, progress(3))
    assert list(stages["kind"]) == ["source_read", "other", kind]


def scans(place: str, row: int, *more: str) -> dict[str, Any]:
    """The plan of an execution that scans a folder and counts its rows in this sum; `more`: operators above."""
    sums = [{"name": "number of output rows", "accumulatorId": row, "metricType": "sum"}]
    plan = {
        "nodeName": "Scan csv ",
        "simpleString": "",
        "children": [],
        "metadata": {"Location": place},
        "metrics": sums,
    }
    for name in more:
        plan = {"nodeName": name, "simpleString": "", "children": [plan], "metadata": {}, "metrics": []}
    start = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    return {"Event": start, "description": "", "sparkPlanInfo": plan}


def test_an_execution_within_a_batch_shows_the_driver_alone_in_it(tmp_path: Path) -> None:
    """Of an OPTIMIZE, which has a job of 100 ms, all of its time, too. Executions within it count no second time."""
    plan = {"nodeName": "Execute OptimizeTableCommand", "simpleString": "", "children": [], "metadata": {}}
    sql, more = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution", {"executionId": 4, "rootExecutionId": 1}
    begin = {"Event": f"{sql}Start", **more, "description": f"id = {QUERY}", "sparkPlanInfo": plan, "time": 3200}
    end, theirs = {"Event": f"{sql}End", **more, "time": 3850}, named(3, OTHER) | {"sql.streaming.queryId": OTHER}
    within = {**begin, "executionId": 5, "time": 3250}, {**end, "executionId": 5, "time": 3450}
    _, parts = read(
        tmp_path, begin, within[0], job(1, 3300, named(3)), within[1], job(2, 3500, theirs), end, progress(3)
    )
    assert list(parts["traces"].iloc[0]) == ["driver_within_executions 550", "optimizes 650"]


@pytest.mark.parametrize(
    ("source", "read_from", "above", "kinds"),
    [
        ("file:/in", "/in/a.csv", (), ["source_read", "other", "other"]),
        ("file:/in/*/x", "/in/y/x/a.csv", (), ["source_read", "other", "other"]),
        ("file:/in", "/mnt/in/a.csv", (), ["source_read", "source_read", "source_read"]),
        ("file:/", "/in/a.csv", (), ["source_read", "source_read", "source_read"]),
        ("file:/in", "/in/a.csv", ("Scan ExistingRDD",), ["source_read", "source_read", "source_read"]),
    ],
)
def test_beside_a_source_of_files_the_folder_shows_a_table(
    tmp_path: Path, source: str, read_from: str, above: tuple[str, ...], kinds: list[str]
) -> None:
    """The third stage broadcasts what the second shuffles of /dim. A scan of what foreachBatch got may be both."""
    said = progress(3)
    said["progress"]["sources"][0]["description"] = f"FileStreamSource[{source}]"
    plans = [scans(f"InMemoryFileIndex(1 paths)[file:{read_from}]", 7), scans("Index(1 paths)[file:/dim]", 8, *above)]
    stream, table = job(1, 3100, named(3), ("Scan csv ",)), job(2, 3250, named(3), ("Scan csv ",))
    last = job(3, 3400, named(3), ("AQEShuffleRead",))
    for one, row in ((stream, 7), (table, 8)):
        one[2]["Stage Info"]["Accumulables"] = [{"ID": row, "Name": "number of output rows", "Value": 5}]
    last[2]["Stage Info"]["Stage Name"] = "withThreadLocalCaptured at CompletableFuture.java:1"
    last[2]["Stage Info"]["RDD Info"][0]["Parent IDs"] = [20]
    stages, _ = read(tmp_path, plans, stream, table, last, said)
    assert list(stages["kind"]) == kinds


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("InMemoryFileIndex(1 paths)[file:/ref/a b.csv]", "/ref/a%20b.csv"),
        ("InMemoryFileIndex(2 paths)[file:/ref/a.csv, ... 1 entries]", "/ref"),
        ("InMemoryFileIndex(2 paths)[file:/ref/day=1, file:/ref/day=2]", "/ref"),
        ("InMemoryFileIndex(2 paths)[file:/ref, file:/other]", "/ref"),
    ],
)
def test_of_several_files_a_scan_names_the_folder(place: str, told: str) -> None:
    assert [each[2] for each in traced(forms(events=True)["Scan"], place.encode(), 2.0)] == [f"reads_files {told}"]


def test_a_batch_that_two_runs_tried_has_each_its_own_jobs(tmp_path: Path) -> None:
    later = progress(3, run=OTHER)
    later["progress"]["timestamp"] = "1970-01-01T00:00:09.000Z"
    first, second = job(1, 3300, named(3, run=None)), job(2, 9300, named(3, run=None))
    stages, parts = read(tmp_path, first, progress(3), second, later)
    assert dict(zip(stages["job"], stages["run_id"], strict=True)) == {1: RUN, 2: OTHER}
    assert list(parts["jobs"]) == [1, 1]


def test_a_job_of_a_thread_belongs_to_the_batch_that_ran(tmp_path: Path) -> None:
    stages, parts = read(tmp_path, job(1, 3100, {}), job(2, 3300, {}), progress(3), job(3, 4200, {}), progress(4))
    assert list(stages["batch_id"]) == [3, 3, 4]
    assert list(parts["source_read_ms"]) == [160, 80]


@pytest.mark.parametrize(
    ("start", "says", "second", "runs"),
    [
        (3100, {}, progress(3, OTHER, OTHER), []), (3100, named(3, run=None), progress(3, OTHER, OTHER), [RUN]),
        (3100, named(3, run=None), progress(3, run=OTHER), [None]), (3100, {}, progress(4, OTHER, OTHER), [RUN]),
        (3900, {}, progress(4, OTHER, OTHER), [RUN]), (3950, {}, progress(4, OTHER, OTHER), []),
        (4000, {}, progress(4, OTHER, OTHER), [OTHER]),
    ],
    ids=str,
)  # fmt: skip
def test_of_two_batches_that_run_at_once_none_gets_it(
    tmp_path: Path, start: int, says: dict[str, str], second: dict[str, Any], runs: list[str | None]
) -> None:
    """Unless the job names the query of one; a trigger takes from its first to its 900th ms."""
    stages, _ = read(tmp_path, job(1, start, says), progress(3), second)
    assert [None if pd.isna(run) else run for run in stages["run_id"]] == runs


@pytest.mark.parametrize(("end", "hidden"), [(3400, 100), (3960, 0)])
def test_a_job_of_anybody_is_not_the_drivers_time(tmp_path: Path, end: int, hidden: int) -> None:
    anybody = job(2, 3300, {}, operators=("Scan parquet ",))
    anybody[-1]["Completion Time"] = end
    stages, parts = read(tmp_path, job(1, 3100, named(3)), anybody, progress(3))
    (row,) = parts.to_dict("records")
    assert list(stages["job"]) == [1]
    assert (row["jobs"], row["not_visible_ms"], row["driver_after_ms"]) == (1, hidden, 650 - hidden)
    assert sum(row[part.name] or 0 for part in PARTS if row[part.name] == row[part.name]) == 800


LEVEL = {"Use Disk": True, "Use Memory": True}
KEPT = {"RDD ID": 7, "Name": "Project", "Number of Partitions": 1, "Storage Level": LEVEL}


@pytest.mark.parametrize("operators", [STREAM, ("Scan json ",)], ids=["a stream", "files"])
@pytest.mark.parametrize(("more", "reads"), [({}, 1), ({"Failure Reason": "lost"}, 2), ({"Number of Tasks": 0}, 2)])
def test_a_batch_that_is_kept_is_read_once_and_again_where_it_was_not_computed_whole(
    tmp_path: Path, operators: tuple[str, ...], more: dict[str, Any], reads: int
) -> None:
    jobs = [job(number, 3000 + 150 * number, named(3), operators, **KEPT) for number in (1, 2, 3)]
    jobs[0][2]["Stage Info"].update(more)
    stages, parts = read(tmp_path, *jobs, progress(3))
    assert list(stages["kind"]) == ["source_read"] * reads + ["result"] * (3 - reads)
    assert list(parts["reads"]) == [reads]


def test_a_stage_that_reads_a_table_beside_the_stream_does_not_tell_how_long_the_table_took(tmp_path: Path) -> None:
    """So it is with a union in foreachBatch; a stage that reads the table alone is no source, although no other is."""
    union, table = (
        job(nth, 3000 + 150 * nth, named(3), names)
        for nth, names in enumerate([("Union", *STREAM, "Scan parquet "), ("Scan parquet ",)], 1)
    )
    stages, parts = read(tmp_path, union, progress(3))
    assert (list(stages["kind"]), parts["other_ms"].isna().all()) == ([None], True)
    stages, _ = read(tmp_path, union, table, progress(3))
    assert list(stages["kind"]) == [None, "other"]


@pytest.mark.parametrize("between", [0, 2100])
def test_an_attempt_that_another_outran_is_counted_behind_the_end_of_its_stage(tmp_path: Path, between: int) -> None:
    one = job(1, 3100, named(3))
    late = task(1, 3120, Killed=True, Speculative=True)
    many = [task(9, 3120) for _ in range(2 * between)]
    stages, _ = read(tmp_path, many[:between], one, many[between:], job(2, 3300, named(3)), late, progress(3))
    (row,) = stages[stages["job"] == 1].to_dict("records")
    assert (row["failed"], row["killed"], row["speculative"], row["task_ms"]) == (0, 1, 1, 80)


def executor(name: str, time: int, event: str = "Added") -> dict[str, Any]:
    told = {"Event": f"SparkListenerExecutor{event}", "Timestamp": time, "Executor ID": name}
    return told | ({"Executor Info": {"Total Cores": 2}} if event == "Added" else {})


def test_slots_are_those_of_the_time_when_a_stage_was_submitted(tmp_path: Path) -> None:
    there = [executor("1", 10), executor("2", 20)]
    first, second = job(1, 3100, named(3)), job(2, 3300, named(3))
    stages, _ = read(tmp_path, there, first[:2], executor("1", 3150, "Removed"), first[2:], second, progress(3))
    assert list(stages["slots"]) == [4, 2]


def test_without_slots_nobody_is_told_to_hold_them(tmp_path: Path) -> None:
    mine = job(1, 3100, named(3))
    theirs = job(2, 3200, named(3) | {"sql.streaming.queryId": OTHER, "spark.jobGroup.id": OTHER})
    mine[1] = task(1, 3190)
    theirs[1] = task(2, 3105)
    for slots, wait in ((executor("1", 10), 0), ([], None)):
        stages, parts = read(tmp_path, slots, theirs, mine, progress(3), progress(3, OTHER, OTHER))
        (row,) = parts[parts["run_id"] == RUN].to_dict("records")
        assert (None if pd.isna(row["slots_wait_ms"]) else row["slots_wait_ms"]) == wait
        assert ("scheduling+slots_wait" in row["together"]) == (wait is None)
        assert stages["slots_wait_ms"].isna().all() == (wait is None)


def test_a_stage_without_tasks_and_a_job_without_stages_are_no_scheduling(tmp_path: Path) -> None:
    first, second = job(1, 3100, named(3)), job(2, 3300, named(3))
    _, parts = read(tmp_path, first[:1], first[2:], second[:1], second[3:], progress(3))
    (row,) = parts.to_dict("records")
    assert (row["source_read_ms"], row["not_visible_ms"], row["scheduling_ms"]) == (100, 100, 0)
    assert "source_read+scheduling" in row["together"]


JOB = """25/10/03 10:00:{at}.000 INFO DAGScheduler: Got job {n} ({site}) with 1 output partitions
25/10/03 10:00:{at}.000 INFO DAGScheduler: Final stage: ResultStage {n} ({site})
25/10/03 10:00:{at}.001 INFO DAGScheduler: Submitting 1 missing tasks from ResultStage {n} (x)
25/10/03 10:00:{at}.002 INFO TaskSetManager: {of}Starting task 0.0 in stage {n}.0 (TID {n}) (h, ANY, 9 bytes)
25/10/03 10:00:{at}.102 INFO TaskSetManager: {of}Finished task 0.0 in stage {n}.0 (TID {n}) in 100 ms on h
25/10/03 10:00:{at}.103 INFO DAGScheduler: ResultStage {n} ({site}) finished in 102 ms
25/10/03 10:00:{at}.104 INFO DAGScheduler: Job {n} finished: {site}, took 104 ms
"""
OFFSETS = "25/10/03 10:00:{at}.200 INFO MicroBatchExecution: Committed offsets for batch {batch}. Metadata x\n"
MADE = "25/10/03 10:00:{at}.900 INFO MicroBatchExecution: Streaming query made progress: {told}\n"
LISTING = "25/10/03 10:00:{at}.000 INFO HadoopFSUtils: Listing leaf files and directories in parallel under: 9\n"
DROPS = "25/10/03 10:00:{at}.600 INFO MapPartitionsRDD: Removing RDD 21 from persistence list\n"
TOO_LONG = "25/10/03 10:00:{at}.600 INFO CodeGenerator: Generated method too long to be JIT compiled: X is 9000 bytes\n"
REPORT, OWN, POOL, LISTS = "collect at report.py:7", "start at Main:7", "count at pool.py:7", "load at Tables:7"
BROADCAST = "run at ThreadPoolExecutor.java:1136"
ADAPTIVE = "$anonfun$withThreadLocalCaptured$1 at CompletableFuture.java:1768"


def made(batch: int, source: str) -> str:
    """A driver log's line about a batch, one in every two seconds."""
    event = progress(batch)["progress"]
    event["timestamp"] = f"2025-10-03T10:00:{batch * 2:02}.000Z"
    event["durationMs"] |= {"addBatch": 1500, "triggerExecution": 1800}
    event["sources"][0]["description"] = f"{source}[x]"
    return MADE.format(at=f"{batch * 2 + 1:02}", told=json.dumps(event))


def late(line: str, ms: int) -> str:
    """The line half a second and so many ms later."""
    return re.sub(r"(?<=:\d\d\.)\d{3}", lambda found: f"{int(found[0]) + 500 + ms}", line, count=1)


@pytest.mark.parametrize(
    ("between", "inside", "source", "names", "told"),
    [
        (range(6), REPORT, "KafkaV2", False, 1),
        (range(6), POOL, "KafkaV2", False, 2),  # that code starts none between batches, and no line names a query
        (range(6), POOL, "KafkaV2", True, 1),  # lines name all that a query's own thread runs
        (range(2), REPORT, "KafkaV2", False, None),
        ((), POOL, "KafkaV2", True, 2),
        (range(6), REPORT, "FileStreamSource", False, 1),
        (range(6), OWN, "FileStreamSource", False, None),
        (range(6), LISTS, "KafkaV2", True, None),
        (range(6), OWN, "KafkaV2", True, None),
        (range(6), BROADCAST, "KafkaV2", True, None),
        (range(6), ADAPTIVE, "KafkaV2", True, 1),
        (range(6), ADAPTIVE, "KafkaV2", False, 1),
    ],
)
def test_a_thread_that_also_starts_jobs_between_batches_is_no_batchs(
    tmp_path: Path, between: Any, inside: str, source: str, names: bool, told: int | None
) -> None:
    """`names`: whether lines name the query of its own jobs. LISTS, BROADCAST and OWN are of no thread of its code."""
    lines, number = [], 0
    for batch in range(6):
        of = f"[queryId = {QUERY[:5]}] [batchId = {batch}] " if names else ""
        first = (0, REPORT if inside == POOL else inside, of if inside == OWN else "")
        own = [first] * (batch in between) + [(0, "", "")] + [(1, OWN, of), (1, inside, "")]
        for late, site, said in own:
            at = f"{batch * 2 + late:02}"
            text = LISTING * (site == LISTS) + JOB if site else OFFSETS
            lines.append(text.format(at=at, n=number, site=site, of=said, batch=batch))
            number += bool(site)
        lines.append(made(batch, source))
    (tmp_path / "driver.log").write_text("".join(lines))
    parts = advisor.read_stages(tmp_path / "driver.log", parts=True)
    assert list(parts["jobs"]) == [told or 2 + (batch in between) for batch in range(6)]


@pytest.mark.parametrize("thread", [True, False])
def test_what_a_thread_does_beside_a_batch_is_not_what_the_batch_does(tmp_path: Path, thread: bool) -> None:
    """Its task holds the only slot until the batch's own may start; without it that job is the batch's, too."""
    lines = []
    for batch in range(4):
        first, other, own = (JOB.format(at=f"{batch * 2:02}", n=3 * batch + nth, site=site, of="").splitlines()
                             for nth, site in enumerate((REPORT, REPORT, OWN)))  # fmt: skip
        lines += first * thread + OFFSETS.format(at=f"{batch * 2:02}", batch=batch).splitlines()
        lines += [late(line, 0) for line in other[:4]] + [late(line, 3) for line in own[:3]]
        own[-2:] = [own[-2].replace(" 102 ", " 201 "), own[-1].replace(" 104 ", " 203 ")]
        lines += [late(line, 0) for line in other[4:]] + [late(line, 102) for line in own[3:]]
        lines += [DROPS.format(at=f"{batch * 2:02}"), TOO_LONG.format(at=f"{batch * 2:02}"), made(batch, "KafkaV2")]
    (tmp_path / "driver.log").write_text("\n".join(line.rstrip("\n") for line in lines) + "\n")
    found = advisor.read_stages(tmp_path / "driver.log", parts=True).iloc[1]
    assert (found["jobs"], found["not_visible_ms"], list(found["traces"])) == (
        (1, 3, []) if thread else (2, 0, ["drops_cache 1"])
    )
    assert (found["slots_wait_ms"], found["code_too_long"]) == (98 * thread, 1)
    assert list(found["waited_for"]) == ["a job of no streaming query"] * thread


HOLDS = """25/10/03 10:00:{at} INFO DAGScheduler: Got job {n} ({site}) with {tasks} output partitions
25/10/03 10:00:{at} INFO DAGScheduler: Final stage: ResultStage {n} ({site})
25/10/03 10:00:{at} INFO DAGScheduler: Submitting {tasks} missing tasks from ResultStage {n} (x)
"""
RUNS = (
    "25/10/03 10:00:{at} INFO TaskSetManager: Starting task {task}.0 in stage {n}.0 (TID {n}{task}) (h, ANY, 9 bytes)"
)
RAN = "25/10/03 10:00:{at} INFO TaskSetManager: Finished task {task}.0 in stage {n}.0 (TID {n}{task}) in {ms} ms on h\n"
OVER = """25/10/03 10:00:{at} INFO DAGScheduler: ResultStage {n} ({site}) finished in {ms} ms
25/10/03 10:00:{at} INFO DAGScheduler: Job {n} finished: {site}, took {ms} ms
"""


@pytest.mark.parametrize("start_first", [False, True])
def test_a_stage_waits_for_slots_that_a_job_of_no_query_holds_by_a_clock_of_seconds(
    tmp_path: Path, start_first: bool
) -> None:
    """`start_first`: Spark logs the end that made room for a task some lines behind the task's start."""
    text = ""
    for batch in range(6):
        begin, end = f"{2 * batch:02}", f"{2 * batch + 1:02}"
        other = {"n": 2 * batch, "site": REPORT, "tasks": 2, "ms": 1300}
        own = {"n": 2 * batch + 1, "site": OWN, "tasks": 2, "ms": 100}
        text += HOLDS.format(at=begin, **other) + "".join(
            RUNS.format(at=begin, task=nth, **other) + "\n" for nth in (0, 1)
        )
        text += OFFSETS.format(at=begin, batch=batch).replace(".200", "") + HOLDS.format(at=begin, **own)
        for nth in (0, 1):
            ends, starts = RAN.format(at=end, task=nth, **other), RUNS.format(at=end, task=nth, **own) + "\n"
            between = 3 * f"25/10/03 10:00:{end} INFO Executor: x\n" * (batch < 4)
            text += starts + between + ends if start_first and (batch < 4 or nth == 0) else ends + starts
        text += OVER.format(at=end, **other) + "".join(RAN.format(at=end, task=nth, **own) for nth in (0, 1))
        text += OVER.format(at=end, **{**own, "ms": 1400})
        text += made(batch, "FileStreamSource").replace(".900", "")
    (tmp_path / "driver.log").write_text(text)
    stages = advisor.read_stages(tmp_path / "driver.log")
    assert list(stages["slots_wait_ms"]) == [1200] * 6 and list(stages["slots_overtaken_ms"]) == [0] * 6
    assert [list(names) for names in stages["waited_for"]] == [["a job of no streaming query"]] * 6
