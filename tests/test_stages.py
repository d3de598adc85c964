"""Jobs, stages and tasks inside addBatch, from what Spark's own logs say of them."""

from __future__ import annotations

import gzip
import itertools
import tracemalloc
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.batches import SCHEMA, TABLES
from advisor.column import Column
from advisor.sources import files
from advisor.sources.stages.plans import Execution, Operator, Plans, _Sum
from advisor.sources.stages.sparkevents import Dataset, meant, operators
from advisor.stages import PART_COLUMNS, STAGE_COLUMNS, Attempt, Batch, Job, Numbers, Work, kind_of, tables
from advisor.stages.batchjobs import Gathered, Inside
from advisor.stages.parts import HOME, NAMES, divide, shares_of
from advisor.stages.tasks import Spans
from advisor.stages.waits import Slots

SAMPLES = Path(__file__).parents[1] / "sample_progress"
EVENT_LOGS = [
    "CF001/async-state-checkpoint-4.3.0/eventlog_v2_local-1795253596542",
    "LG001/event-log-single-file-3.5.9/local-1795256356823.gz",
    "ST002/event-log-3.5.9/local-1795256726743.gz",
]


def read(sample: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    path = str(SAMPLES / sample)
    return advisor.read_stages(path), advisor.read_stages(path, parts=True)


# The tables.


@pytest.mark.parametrize("columns", [STAGE_COLUMNS, PART_COLUMNS])
def test_every_column_says_what_it_means(columns: tuple[Column, ...]) -> None:
    assert len({column.name for column in columns}) == len(columns)
    for column in columns:
        assert column.meaning
        assert column.name.endswith("_ms") == (column.unit == "ms")


def test_tables_that_were_not_asked_for_are_empty() -> None:
    reading = files.read([str(SAMPLES / EVENT_LOGS[1])])
    assert list(reading.tables) == list(TABLES)
    assert [name for name, table in reading.tables.items() if len(table)] == ["batches", "sightings"]
    assert all(table.schema == TABLES[name] for name, table in reading.tables.items())


@pytest.mark.parametrize("sample", EVENT_LOGS)
def test_parts_add_up_to_add_batch(sample: str) -> None:
    _, parts = read(sample)
    progress = advisor.read_progress(str(SAMPLES / sample))
    executed = progress[~progress["idle"]]
    assert sorted(parts["batch_id"]) == sorted(executed["batch_id"])
    assert parts.merge(executed, on=["run_id", "batch_id"])["add_batch_ms_x"].eq(executed["add_batch_ms"].values).all()
    assert (parts[NAMES].fillna(0) >= 0).all().all()
    assert parts[NAMES].sum(axis=1).to_numpy() == pytest.approx(parts["add_batch_ms"].to_numpy())


def test_a_stateful_batch_of_an_event_log() -> None:
    stages, parts = read(EVENT_LOGS[0])
    wanted = {
        "kind": ["source_read", "state"], "last": [False, True], "task_max_ms": [129, 1075], "slots": [2, 2],
        "what": ["Exchange, MicroBatchScan", "StateStoreSave, StateStoreRestore, Exchange"], "input_rows": [1000, 0],
        "origin": ["event_log"] * 2,
    }  # fmt: skip
    assert stages[stages["batch_id"] == 5][[*wanted]].to_dict("list") == wanted
    part = parts.set_index("batch_id").loc[5]
    numbers = {"jobs": 1, "stages": 2, "tasks": 4, "reads": 1, "add_batch_ms": 1825, "slots_wait_ms": 0}
    assert {name: part[name] for name in numbers} == numbers and pd.isna(part["planning_ms"])
    assert part["state_commit_ms"] > part["state_update_ms"] > part["shuffle_ms"]
    assert "driver_before+planning" in part["together"] and "state_update+sink_write" in part["together"]


def test_without_jobs_the_tables_are_empty() -> None:
    stages, parts = read("LG001/progress-lines-4.3.0/progress.jsonl")
    assert (len(stages), len(parts)) == (0, 0)
    assert list(stages) == [column.name for column in STAGE_COLUMNS]


def test_a_log_in_pieces_and_one_with_broken_lines_tell_the_same(tmp_path: Path) -> None:
    whole = gzip.decompress((SAMPLES / EVENT_LOGS[1]).read_bytes())
    log = tmp_path / "eventlog_v2_local-1"
    log.mkdir()
    lines = whole.splitlines(keepends=True)
    cut = len(lines) // 2
    (log / "events_1_local-1").write_bytes(b"".join(lines[:cut]))
    broken = b'{"Event":"SparkListenerTaskEnd","Stage ID":"x"}\n{"Event":"SparkListenerJobStart","Job ID":1\n'
    (log / "events_2_local-1").write_bytes(broken + b"".join(lines[cut:]))
    expected, found = advisor.read_stages(str(SAMPLES / EVENT_LOGS[1])), advisor.read_stages(str(log))
    pd.testing.assert_frame_equal(found.drop(columns="log"), expected.drop(columns="log"))


# What a stage is for.


@pytest.mark.parametrize(
    ("names", "description", "last", "kind"),
    [
        (["Exchange", "MicroBatchScan"], "", False, "source_read"), (["MicroBatchScan"], "", True, "source_read"),
        (["StateStoreSave", "Exchange"], "", True, "state"), (["AQEShuffleRead", "Exchange"], "", False, "shuffle"),
        (["Exchange"], "", True, "result"), (["Scan parquet "], "", True, "scan"),
        (["Union", "Scan parquet ", "MicroBatchScan"], "", True, "both"),
        (["Scan", "map", "PythonRDD", "MicroBatchScan"], "", True, "source_read"),
        (["MapPartitionsRDD"], "Delta: Compute snapshot for version: 5", True, "table_log"),
        (["mapPartitions", "parallelize"], "Listing leaf files and directories for 150 paths:<br/>a", True, "listing"),
    ],
)  # fmt: skip
def test_what_a_stage_is_for(names: list[str], description: str, last: bool, kind: str) -> None:
    assert kind_of(names, description, last=last) == kind


@pytest.mark.parametrize(
    ("description", "what"),
    [
        (" - MERGE operation - scanning files for matches: Compute snapshot for version: 5",
         "Delta: Compute snapshot for version: 5 (MERGE operation)"),
        (" - MERGE operation - scanning files for matches", "Delta: choosing files"),
    ],
)  # fmt: skip
def test_a_merge_works_on_the_tables_log_twice(description: str, what: str) -> None:
    kept = Dataset(7, "Delta Table State with Stats #5 - file:/data/table/_delta_log", '{"id":"3","name":"map"}')
    names = operators([kept, Dataset(6, "MapPartitionsRDD", '{"id":"2","name":"Exchange"}')])
    assert meant(names, description, last=True, cached=True) == ("table_log", what)


def test_what_lies_in_a_cache_is_not_read_again() -> None:
    assert kind_of(["InMemoryTableScan", "MicroBatchScan"], "", last=True, cached=True) == "result"


def test_a_task_without_a_place_hides_that_of_its_own_stage_only() -> None:
    work = Work("log", "driver_log")
    for stage, places in ((1, (0, -1)), (2, (0, 1))):
        job = Job(stage, Batch("query", "run", 3), 0, 50)
        work.starts(job, [stage])
        work.tasks(np.array([(stage, 0, stage, 10, 20, place, 0) for place in places], float))
        work.completes(Attempt(job, stage, 0, 0, 50, "result", "", True, 2), stage)
    stages = tables([work], SCHEMA.empty_table())["stages"]
    assert stages["process_local"].to_pylist() == [None, 1]
    assert stages["node_local"].to_pylist() == [None, 1]


def test_tasks_that_are_folded_together_stay_with_their_log() -> None:
    works = [Work(log, "event_log") for log in "abc"]
    for nth, work in enumerate(works):
        job = Job(1, Batch("query", work.log, 3), 0, 50)
        work.starts(job, [1])
        work.tasks(np.array([(1, 0, 0, launch, 30, -1, 0) for launch in (10, 20 + nth)], float))
        if work.log != "b":
            work.completes(Attempt(job, 1, 0, 0, 50, "result", "", True, 2), 0)
    stages = tables(works, SCHEMA.empty_table())["stages"]
    assert stages["log"].to_pylist() == ["a", "c"]
    assert stages["task_ms"].to_pylist() == [20 + 10, 20 + 8]
    assert [work.spans.in_order()[0].tolist() for work in works] == [[10, 20], [], [10, 22]]


@pytest.mark.parametrize(
    ("kinds", "settled"),
    [
        (("source_read", "listing", "scan"), ["source_read", "other", "other"]),
        (("listing", "scan"), ["result", "source_read"]),  # of files that the stream itself reads
    ],
)
def test_the_listing_of_a_table_is_work_on_that_table(kinds: tuple[str, ...], settled: list[str]) -> None:
    work = Work("log", "event_log")
    for number, kind in enumerate(kinds):
        job = Job(number, Batch("query", "run", 3), number * 100, number * 100 + 50)
        work.starts(job, [number])
        work.completes(Attempt(job, number, 0, job.start, job.start + 50, kind, "", True, 2), number)
    stages = tables([work], SCHEMA.empty_table())["stages"]
    assert stages["kind"].to_pylist() == settled


def test_the_checkpoint_of_a_delta_log_is_known_by_its_snapshot() -> None:
    work = Work("log", "event_log")
    for number, tasks, kind, what in (
        (1, 50, "table_log", "Delta: Compute snapshot for version: 9"),
        (2, 2, "source_read", "MicroBatchScan"),
        (3, 50, "shuffle", "Exchange, map, MapPartitions, DeserializeToObject"),
        (4, 50, "result", "Exchange"),
    ):
        job = Job(number, Batch("query", "run", 3), number * 100, number * 100 + 50)
        work.starts(job, [number])
        work.completes(Attempt(job, number, 0, job.start, job.start + 50, kind, what, True, tasks), number)
    stages = tables([work], SCHEMA.empty_table())["stages"]
    assert stages["kind"].to_pylist() == ["table_log", "source_read", "table_log", "result"]
    assert stages["what"].to_pylist()[2] == "Delta: log checkpoint"


# The division of the clock.

JOB = Job(1, Batch("query", "run", 3), 100, 900)
OTHER_JOB = Job(2, None, 100, 900)
TIMES = st.integers(0, 1000).map(float)


def attempt(kind: str, submitted: float, completed: float, **numbers: float) -> Attempt:
    busy = array("d", (submitted + 10, completed - 5))
    return Attempt(JOB, 1, 0, submitted, completed, kind, numbers=Numbers(numbers), busy=busy)


def plan(name: str, *below: Operator, **sums: int) -> Operator:
    word, _, text = name.partition(" = ")
    return Operator(word, text, [*below], [_Sum(each.replace("_", " "), id) for each, id in sums.items()])


_SCAN = plan("MicroBatchScan", number_of_output_rows=1)
_TABLE = plan("BroadcastExchange", plan("Scan parquet ", number_of_output_rows=2), number_of_output_rows=3)
_JOIN = plan("BroadcastHashJoin", _SCAN, _TABLE, number_of_output_rows=4)
_BEHIND = plan("Exchange", plan("Project", _JOIN), records_read=5, shuffle_records_written=6)
_PLAN = plan("Sort", plan("WholeStageCodegen (2)", plan("Generate", _BEHIND, number_of_output_rows=7), duration=8))

_CALLS = plan(
    "Filter = Filter (to_json#1 = invoke(StructsToJsonEvaluator(Map(),StructType(StructField(value,LongType,true)))"
    ".evaluate(struct(value, value#1L))) AND isnotnull(v#2) AND transform(v#2, lambdafunction(sha2(lambda x#3, 2"
    "56), lambda x#3, false))[0] AND map(keys: [" + 2000 * "A0001," + "])[v#2])",
    plan(
        "BatchEvalPython = BatchEvalPython [<lambda>(v#2)#5, <lambda>(v#2, u#3)#6], [pythonUDF0#7]",
        plan(
            "Project = Project [from_json(StructField(a,IntegerType,true), v#2, Some(Etc/UTC)).a AS a#15, "
            "from_json(StructField(a,IntegerType,true), v#2, Some(Etc/UTC)).b AS b#16, from_json(StructField(a,"
            "IntegerType,true), w#3).a AS c#17, concat(v#2, ^sha1(x)) AS y#4, regexp_replace("
            f"{12 * 'lower('}v#2{12 * ')'}, a(b) md5(z, x, 1) AS md5(v)#8,"
            " RLIKE(v#2, \\(ab) AS RLIKE(v, ^a)#18, ... 3 more fields]"
        ),
        number_of_output_rows=11,
    ),
)


@pytest.mark.parametrize(
    ("sums", "operators", "multiplied", "rows"),
    [
        ({1: 9, 4: 90}, "MicroBatchScan (9 rows), BroadcastHashJoin (90 rows), Project", "BroadcastHashJoin", (9, 90)),
        ({1: 10, 4: 10}, "MicroBatchScan (10 rows), BroadcastHashJoin (10 rows), Project", None, (None, None)),
        ({2: 1}, "Scan parquet (1 row)", None, (None, None)),
        ({5: 600, 7: 1200, 8: 3}, "Generate (1,200 rows), Sort", "Generate", (600, 1200)),
        ({9: 600}, None, None, (None, None)),
        ({11: 8}, "Project calling from_json 2 times and RLIKE once on v and regexp_replace once on v (3 fields more"
         " than the plan prints), BatchEvalPython calling <lambda> 2 times on v (8 rows), Filter calling sha2 on"
         " each element of an array and to_json once on value and transform once on v with more than 10,000 characters"
         " of expressions", None, (None, None)),
    ],
)  # fmt: skip
def test_the_plan_tells_what_a_stage_runs(
    sums: dict[int, float], operators: str | None, multiplied: str | None, rows: tuple[float | None, float | None]
) -> None:
    plans = Plans()
    plans.take(Execution(plan=_PLAN))
    plans.take(Execution(plan=_CALLS))
    for times in (1, 2):  # sums go on where another job computes the same once more
        stage = attempt("source_read", 0, 100)
        plans.tell(stage, {id: times * number for id, number in sums.items()})
        numbers = (stage.numbers.get("given_rows"), stage.numbers.get("made_rows"))
        assert (stage.operators, stage.multiplied_by, numbers) == (operators, multiplied, rows)


def test_a_function_of_groups_is_called_for_each_of_them() -> None:
    plans = Plans()
    name = "FlatMapGroupsInPandas"
    plans.take(
        Execution(plan=plan(f"{name} = {name} [k#1L], summary(k#1L, v#2)#3, [k#4L, s#5]", number_of_output_rows=1))
    )
    stage = attempt("shuffle", 0, 100)
    plans.tell(stage, {1: 2000})
    assert stage.operators == f"{name} calling summary for each group on k (2,000 rows)"


def test_the_plan_tells_what_is_read_by_jdbc_and_how_often_a_cache_is() -> None:
    plans, scan = Plans(), plan("Scan JDBCRelation(t) [numPartitions=1]")
    cache = plan("InMemoryTableScan", plan("InMemoryTableScan", scan))  # of what was computed from another cache
    for root, found, cached in (
        (plan("Project", scan), [scan.name], 0),
        (plan("Project", cache), [], 1),
        (plan("Union", plan("Filter", cache), plan("Filter", cache), scan), [scan.name], 2),
    ):
        plans.take(Execution(plan=root))
        assert (plans.relations, plans.cached) == (found, cached)


def gathered(*batches: tuple[list[Job], list[Attempt]]) -> Gathered:
    work, batch = Work("log", "event_log"), Batch("query", "run", 3)
    return Gathered([Inside(batch, work, jobs, attempts) for jobs, attempts in batches])


def divided(jobs: list[Job], attempts: list[Attempt], begin: float = 0, end: float = 1000) -> dict[str, float]:
    parts, _ = divide(gathered((jobs, attempts)), np.array([[begin, end]], float))
    return {name: ms for name, ms in zip(NAMES, parts[0].tolist(), strict=True) if ms}


def test_each_moment_counts_once() -> None:
    read = attempt("source_read", 120, 300, task_ms=200, run_ms=150, shuffle_write_ms=50)
    state = attempt("state", 300, 880, task_ms=1000, run_ms=1000, state_commit_ms=600)
    assert divided([JOB], [read, state]) == pytest.approx(
        {
            "driver_before_ms": 100, "scheduling_ms": 20 + 10 + 165 * 0.25 + 5 + 10 + 5 + 20, "shuffle_ms": 165 * 0.25,
            "source_read_ms": 165 * 0.5, "state_commit_ms": 565 * 0.6, "state_update_ms": 565 * 0.4,
            "driver_after_ms": 100,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("jobs", "told"),
    [
        ([], {"not_visible_ms": 1000}),
        ([Job(1, None, 100, 300), Job(2, None, 500, 600)],
         {"driver_before_ms": 100, "driver_between_ms": 200, "driver_after_ms": 400}),
        # a job that ended in the millisecond of its start was told to last until the batch ended
        ([Job(1, None, 100, 100), Job(2, None, 300, 400)],
         {"driver_between_ms": 200, "not_visible_ms": 100, "driver_after_ms": 600}),
    ],
)  # fmt: skip
def test_the_driver_around_jobs(jobs: list[Job], told: dict[str, float]) -> None:
    parts = divided(jobs, [])
    assert {name: parts.get(name) for name in told} == told and (jobs or parts == told)


def test_stages_that_run_at_once_share_the_time() -> None:
    both = [attempt("source_read", 100, 205), attempt("other", 100, 205)]
    parts = divided([JOB], both)
    assert (parts["source_read_ms"], parts["other_ms"]) == (45, 45)


@pytest.mark.parametrize(
    ("jobs", "attempts", "part", "ms"),
    [
        ([Job(number, None, number) for number in range(3000)], [], "not_visible_ms", 4000),  # whose ends are lost
        # each pair of a stage and a moment in which it runs would be nine million numbers
        ([JOB], [attempt("state", n / 2 - 10, 4005 - n / 2) for n in range(3000)], "state_update_ms", 4000),
    ],
    ids=["jobs", "stages that run at once"],
)
def test_thousands_are_divided_in_memory_in_proportion(jobs: Any, attempts: Any, part: str, ms: float) -> None:
    work = gathered((jobs, attempts))
    tracemalloc.start()
    parts, _ = divide(work, np.array([[0, 4000]], float))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert parts[0, NAMES.index(part)] == pytest.approx(ms) and most < 20 << 20


@given(st.lists(st.tuples(TIMES, TIMES, TIMES, TIMES).map(sorted), min_size=1, max_size=4))
def test_stages_share_each_moment_with_those_that_run_in_it(times: list[list[float]]) -> None:
    """As it is defined, moment by moment; the tasks of each stage run in two stretches."""
    stages = [
        Attempt(None, number, 0, spans[0], spans[3], kind, busy=array("d", spans))
        for number, (kind, spans) in enumerate(zip(("source_read", "state", "result", "shuffle"), times, strict=False))
    ]
    moments = sorted({time for spans in times for time in spans})
    expected = {HOME[stage.kind]: 0.0 for stage in stages}
    for start, end in itertools.pairwise(moments):
        running = [stage for stage in stages for at in (0, 2) if stage.busy[at] <= start and end <= stage.busy[at + 1]]
        for stage in running:
            expected[HOME[stage.kind]] += (end - start) / len(running)
    parts = divided([], stages, moments[0], moments[-1])
    assert {name: parts.get(name, 0.0) for name in expected} == pytest.approx(expected)


def test_batches_are_divided_apart() -> None:
    bounds = [[0, 1000], [500, 2000], [0, 150]]
    batches = [([JOB], [attempt("state", 120, 300)]), ([], []), ([OTHER_JOB], [])]
    together, idle = divide(gathered(*batches), np.array(bounds, float))
    alone = [divided(*batch, *span) for batch, span in zip(batches, bounds, strict=True)]
    assert [{name: ms for name, ms in zip(NAMES, row, strict=True) if ms} for row in together.tolist()] == alone
    assert idle.batch.tolist() == [0, 0]
    assert idle.start.tolist() == [120, 295]
    assert idle.ms.tolist() == [10, 5]
    assert [NAMES[part] for part in idle.part] == ["scheduling_ms"] * 2


@st.composite
def spans(draw: st.DrawFn) -> tuple[float, float]:
    start, end = sorted((draw(TIMES), draw(TIMES)))
    return start, end


@given(
    st.lists(spans(), min_size=1, max_size=4),
    st.lists(st.tuples(spans(), st.sampled_from(["source_read", "state", "result", "other", "shuffle"])), max_size=5),
    spans(),
    st.randoms(),
)
def test_parts_are_never_negative_add_up_and_know_no_order(jobs, stages, window, chance) -> None:  # type: ignore[no-untyped-def]
    every = [Job(n, None, *span) for n, span in enumerate(jobs)]
    numbers = Numbers({"task_ms": 10, "run_ms": 8, "state_commit_ms": 9})
    attempts = [
        Attempt(None, n, 0, *span, kind=kind, numbers=numbers, busy=array("d", span))
        for n, (span, kind) in enumerate(stages)
    ]
    parts = divided(every, attempts, *window)
    assert all(ms >= 0 for ms in parts.values())
    assert sum(parts.values()) == pytest.approx(window[1] - window[0])
    chance.shuffle(every)
    chance.shuffle(attempts)
    assert divided(every, attempts, *window) == pytest.approx(parts)


@given(st.dictionaries(st.sampled_from(["task_ms", "run_ms", "state_commit_ms", "python_ms"]), TIMES))
def test_shares_of_a_moment_add_up(numbers: dict[str, float]) -> None:
    (shares,) = shares_of(gathered(([JOB], [attempt("state", 0, 100, **numbers)])))
    assert sum(shares) == pytest.approx(1)
    assert all(share >= 0 for share in shares)


# Waiting for others.


def job_of(query: str) -> Job:
    return Job(1, Batch(query, None, 1), 0)


def others(*spans: tuple[float, float]) -> Slots:
    return Slots(held_by(other=[*spans]), {"other": "heavy"})


def test_others_hold_all_slots_or_none() -> None:
    both = others((0, 100), (50, 200), (300, 400))
    assert both.held((40, 320), 2, "query") == (50, 0, {"heavy"})
    assert both.held((40, 320), 1, "query") == (180, 120, {"heavy"})
    assert both.held((40, 320), None, "query")[0] == 0
    assert both.held((40, 320), 3, "query") == (0, 0, frozenset())
    assert both.held((210, 220), 1, "query") == (0, 0, frozenset())
    follow = others((0, 100), (0, 90), (90, 150), (100, 150))
    assert follow.held((40, 150), 2, "query") == (110, 60, {"heavy"})


def held_by(**spans: list[tuple[float, float]]) -> Spans:
    held = Spans()
    for query, times in spans.items():
        for start, end in times:
            held.add([job_of(query)], np.array([1]), np.array([start]), np.array([end]))
    return held


def test_own_tasks_hold_no_slots_against_oneself_and_several_jobs_are_one_querys() -> None:
    held = held_by(query=[(0.0, 100.0)], other=[(50.0, 60.0)])
    assert Slots(held, {}).held((0, 100), 1, "query") == (10, 0, {"other"}) and not held.alone
    assert held_by(query=[(0.0, 100.0)] * 2).alone
