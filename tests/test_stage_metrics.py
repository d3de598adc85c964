"""What was seen inside addBatch: the tables beside the batches of a run, and what the metrics make of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from advisor.batches import Inside, Reading, RunBatches
from advisor.facts import Facts
from advisor.facts.inspection import computed
from advisor.metrics import Estimate, Missing, measure
from advisor.stages import BATCH_PARTS, STAGES, VACUUM
from advisor.window import Window, executed_window
from tests.made import events, table
from tests.made import facts as known

RUN = "r"
KEY = {"id": "q", "run_id": RUN}
AT = datetime(2026, 3, 1, tzinfo=timezone.utc)
KAFKA = {"description": "KafkaV2[Subscribe[t]]"}
EVEN = {"kind": "source_read", "tasks": 2, "slots": 2, "wall_ms": 110.0, "first_task_ms": 10.0, "task_ms": 190.0}
EVEN |= {"task_max_ms": 100.0, "rows_max": 50.0, "input_rows": 100}
EIGHT = EVEN | {"kind": "result", "tasks": 8, "wall_ms": 410.0}


def opened(rows: list[Any], stages: dict[int, list[Any]], parts: dict[int, Any] | None = None, **facts: Any) -> Window:
    """The window of such a run, with these facts."""
    return executed_window(run_of(rows, stages, parts), known(**facts))


def run_of(rows: list[Any], stages: dict[int, list[Any]], parts: dict[int, Any] | None = None) -> Any:
    """The batches of a run with these stages and parts, by batch id."""
    batches = Reading.of(table([event | {"id": "q", "runId": RUN} for event in events(rows, first=0)])).batches
    told = {number: {"jobs": 1} for number in stages} | (parts or {})
    seen = Inside(
        pa.Table.from_pylist([{**KEY, "batch_id": at, **each} for at, each in told.items()], BATCH_PARTS),
        pa.Table.from_pylist(
            [{**KEY, "batch_id": at, "job": nth, "stage": nth, **each}
             for at, every in stages.items() for nth, each in enumerate(every)],
            STAGES,
        ),
    )  # fmt: skip
    return RunBatches(batches, seen)[RUN]


def ms(window: Window, name: str) -> float:
    """The typical value of a metric."""
    found = measure(window, name)
    assert isinstance(found, Estimate), found
    return found.safe


BATCH = {"triggerExecution": 600, "addBatch": 500}
SAVED = {"operatorName": "stateStoreSave", "commitTimeMs": 1600, "numShufflePartitions": 8}
IDLE = {"triggerExecution": 3, "latestOffset": 2}


def test_parts_stand_beside_their_batch_and_nothing_beside_others() -> None:
    window = opened([BATCH, IDLE, BATCH, BATCH], {}, {2: {"jobs": 1, "slots_wait_ms": 40.0}})
    numbers = window.batches["batch_id"].tolist()
    assert np.isnan(window.batches["slots_wait_ms"]).tolist() == [number != 2 for number in numbers]
    assert window.batches["slots_wait_ms"][numbers.index(2)] == 40


def test_batches_whose_jobs_nobody_saw_generate_no_code() -> None:
    seen = {number: {"jobs": 1, "code_generated_ms": 5.0} for number in range(4)}
    assert ms(opened([BATCH] * 12, {}, seen), "code_generated_ms") == 5


def test_a_run_of_which_nothing_shows_the_jobs_has_no_parts_and_no_stages() -> None:
    batches = Reading.of(table(events([BATCH] * 2))).batches
    run = batches["run_id"][0].as_py()
    found = RunBatches(batches, Inside(BATCH_PARTS.empty_table(), STAGES.empty_table()))[run]
    assert "jobs" not in found.rows
    assert len(found.stages) == 0
    assert isinstance(measure(executed_window(found, Facts({})), "straggler_ms"), Missing)


def test_stages_follow_their_batch_when_batches_are_left_out() -> None:
    window = opened([BATCH] * 4, {0: [EVEN], 2: [EVEN, EVEN], 3: [EVEN]})
    kept = window.only(window.batches["batch_id"] >= 2, "some")
    assert kept.stages["batch"].tolist() == [0, 0, 1]
    assert len(kept.stages["wall_ms"]) == 3


def test_names_of_those_that_held_the_slots_become_a_fact() -> None:
    waits = {n: {"jobs": 1, "waited_for": ["b", "a"] if n else ["a"]} for n in range(3)}
    window, batches = opened([BATCH] * 3, {}, waits), run_of([BATCH] * 3, {}, waits)
    assert computed(batches)["slots_held_by"].value == "a, b"
    assert window.batches["waited_for"].tolist() == ["a", "b, a", "b, a"]


SLOW = EVEN | {"tasks": 4, "wall_ms": 430.0, "task_ms": 466.0, "task_max_ms": 417.0, "rows_max": 25.0}
KEYED = {"kind": "state", "input_rows": 0, "shuffle_read_rows": 100, "rows_max": 90.0}


@pytest.mark.parametrize(
    ("stage", "metric", "expected"),
    [
        (EVEN, "straggler_ms", 0),
        (SLOW, "straggler_ms", 420 - 2 * 49 / 3),  # two rounds of the others' mean task
        (SLOW | {"rows_max": 90.0}, "straggler_ms", 0),  # its rows explain it
        (SLOW | {"rows_max": 90.0}, "skew_ms", 420 - 466 / 2),  # its work spread evenly over two slots
        (SLOW | {"rows_max": 90.0, "kind": "shuffle"}, "skew_ms", 0),
        (SLOW | KEYED, "shuffle_skew_ms", 420 - 466 / 2),
        (SLOW | KEYED, "straggler_ms", 0),
        (SLOW | KEYED | {"rows_max": 25.0}, "shuffle_skew_ms", 0),  # a slow task with no more rows
        (SLOW | KEYED | {"shuffle_read_rows": 0}, "shuffle_skew_ms", 0),  # it reads no shuffle
        (SLOW | KEYED | {"kind": "source_read"}, "shuffle_skew_ms", 0),
        (EVEN, "waves_ms", 0),
        (SLOW, "waves_ms", 3),
        (EVEN | {"tasks": 8, "wall_ms": 410.0, "task_max_ms": 100.0, "task_ms": 790.0}, "waves_ms", 300),
        (EVEN | {"tasks": 50, "kind": "table_log"}, "waves_ms", 0),
        (EVEN | {"tasks": 1, "task_ms": 100.0}, "too_few_readers_ms", 50),
        (EVEN | {"tasks": 1, "task_ms": 100.0, "kind": "state"}, "too_few_readers_ms", 0),
        (EVEN | {"gc_ms": 80.0}, "gc_ms", 40),
        (EVEN | {"run_ms": 100.0, "cpu_ms": 90.0, "gc_ms": 80.0}, "computing_share", 1),  # it may count twice
        (EVEN | {"output_rows": 1000}, "rewriting_ms", EVEN["wall_ms"]),
        (EVEN | {"output_rows": 999}, "rewriting_ms", 0),
        (EIGHT, "shuffle_waves_ms", 300),
        (EIGHT | {"task_max_ms": 380.0}, "shuffle_waves_ms", 20),
        (EIGHT | {"shuffle_read_rows": 0}, "shuffle_waves_ms", 0),
        (EIGHT | {"task_ms": 800.0, "cpu_ms": 500.0}, "shuffle_waves_ms", 150),  # which fewer tasks compute as well
        (EIGHT | {"task_ms": 799.0, "cpu_ms": 500.0}, "shuffle_waves_ms", 300),  # of small tasks it is their start
    ],
)
def test_a_stage_in_milliseconds_of_its_batch(stage: dict[str, Any], metric: str, expected: float) -> None:
    assert ms(opened([BATCH] * 3, {n: [stage] for n in range(3)}), metric) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("stage", "metric", "expected"),
    [
        ({"kind": "other", "shuffle_write_rows": 9}, "static_shuffles", 1),
        ({"kind": "other", "shuffle_write_rows": 0}, "static_shuffles", 0),
        ({"kind": "shuffle", "shuffle_write_rows": 9}, "static_shuffles", 0),
        ({"what": "FlatMapGroupsInPandas, AQEShuffleRead"}, "grouped_python", 1),
        ({"what": "FlatMapCoGroupsInPandas"}, "grouped_python", 1),
        ({"what": "FlatMapGroupsInPandasWithState"}, "grouped_python", 0),
        ({"what": "MapInPandas"}, "grouped_python", 0),
    ],
)
def test_stages_of_a_kind_are_counted(stage: dict[str, Any], metric: str, expected: float) -> None:
    assert ms(opened([BATCH] * 3, {n: [EVEN | stage] for n in range(3)}), metric) == expected


UNTOLD = SLOW | {"kind": "state", "rows_max": None, "input_rows": None, "shuffle_read_rows": None}


@pytest.mark.parametrize(
    ("places", "skewed"),
    [
        ([2] * 12, True), ([2] * 11 + [0], True), ([2] * 6, True), ([2] * 5, False),  # which may be chance
        ([0, 1, 2, 3] * 3, False), ([None] * 12, False),  # now here, now there is no key
    ],
)  # fmt: skip
def test_without_rows_a_key_is_told_by_its_partition(places: list[int | None], skewed: bool) -> None:
    stages = {n: [UNTOLD | {"longest_task": place}] for n, place in enumerate(places)}
    window = opened([BATCH] * len(places), stages)
    assert (ms(window, "shuffle_skew_ms") > 0) == skewed
    assert (ms(window, "straggler_ms") > 100) != skewed


def test_a_partition_that_is_slow_now_and_then_is_no_key() -> None:
    even = UNTOLD | {"wall_ms": 260.0, "task_max_ms": 120.0}
    stages = {n: [(UNTOLD if n % 3 else even) | {"longest_task": 2}] for n in range(30)}
    assert ms(opened([BATCH] * 30, stages), "shuffle_skew_ms") == 0


MAP = EVEN | {"last": False, "shuffle_write_bytes": 30_000}
READER = {"kind": "result", "last": True, "slots": 2, "wall_ms": 20.0, "task_ms": 30.0, "task_max_ms": 15.0}


@pytest.mark.parametrize(
    ("stage", "readers", "most", "sure"),
    [
        (MAP | {"shuffle_write_ms": 40.0}, 1, 110, True),  # all of a stage that has little else to do
        (MAP | {"shuffle_write_ms": 12.0}, 1, 72, True),  # 12 x what writing took, on two slots
        (MAP | {"shuffle_write_ms": 12.0, "run_ms": 180.0, "cpu_ms": 100.0}, 1, 40, True),  # it computes, too
        (MAP | {"shuffle_write_ms": 12.0, "run_ms": 180.0, "cpu_ms": 175.0}, 1, 24, True),  # as files do
        (MAP | {"shuffle_write_ms": 4.0}, 200, 0, True),  # written quickly
        (MAP | {"shuffle_write_ms": 40.0, "shuffle_write_bytes": 90_000_000}, 1, 0, True),  # many bytes
        (MAP | {"shuffle_write_ms": 26.0, "shuffle_write_bytes": 16_800_000}, 1, 0, True),  # as fast as a disk
        (MAP, 200, 110, False),
        (MAP, 201, 0, False),  # so many are written as one file
    ],
)
def test_shuffle_files_take_no_more_than_writing_shows(
    stage: dict[str, Any], readers: int, most: float, sure: bool
) -> None:
    written = {"shuffle_write_ms": 0.0} if "shuffle_write_ms" in stage else {}
    window = opened([BATCH] * 3, {n: [stage, READER | written | {"tasks": readers}] for n in range(3)})
    assert ms(window, "shuffle_files_ms") == pytest.approx(most)
    saving = measure(window, "shuffle_files_saving_ms", "typical")
    assert isinstance(saving, Estimate)
    assert (saving.value is not None or most == 0, saving.high) == (sure or most == 0, pytest.approx(most))


def test_partitions_that_were_joined_are_not_counted_and_nothing_takes_longer_than_add_batch() -> None:
    window = opened([BATCH] * 3, {n: [MAP, READER | {"tasks": 1}] for n in range(3)})
    assert isinstance(measure(window, "shuffle_files_ms"), Missing)
    assert ms(opened([BATCH] * 3, {n: [SLOW] * 3 for n in range(3)}), "straggler_ms") == 500


def test_tasks_that_wait_for_their_place_run_one_after_the_other() -> None:
    stage = EVEN | {"wall_ms": 210.0, "process_local": 2, "node_local": 0}
    rows = {n: [stage] for n in range(3)}
    assert ms(opened([BATCH] * 3, rows, local_mode=False), "locality_wait_ms") == 100
    assert isinstance(measure(opened([BATCH] * 3, rows, local_mode=True), "locality_wait_ms"), Missing)
    away = {n: [stage | {"process_local": 1, "any_local": 1}] for n in range(3)}
    assert ms(opened([BATCH] * 3, away, local_mode=False), "locality_wait_ms") == 0


@pytest.mark.parametrize(
    ("again", "ms_again"),
    [
        ([EVEN, EVEN | {"wall_ms": 60.0}, EVEN | {"kind": "result", "wall_ms": 90.0}], (60, 60)),
        ([EVEN | {"kind": "state", "wall_ms": took} for took in (30.0, 90.0)], (30, 30)),
    ],
    ids=["read the source", "compute the state"],
)
def test_jobs_that_do_it_again_count_without_the_longest(
    again: list[dict[str, Any]], ms_again: tuple[int, int]
) -> None:
    made = opened([BATCH] * 3, dict.fromkeys(range(3), again))
    assert (ms(made, "repeated_ms"), ms(made, "recomputed_ms")) == ms_again
    in_one = opened([BATCH] * 3, {n: [each | {"job": 7} for each in again] for n in range(3)})
    assert ms(in_one, "repeated_ms") == 0


MAYBE = EVEN | {"kind": None}
FEEDS = MAP | {"kind": "state"}


@pytest.mark.parametrize(
    ("stages", "facts", "metric", "value"),
    [
        *(([MAYBE, MAYBE], {}, metric, None) for metric in (
            "computing_jobs", "repeated_ms", "recomputed_ms", "too_few_readers_ms", "one_task_ms",
        )),
        ([EVEN, MAYBE], {}, "repeated_ms", None),
        ([EVEN, MAYBE], {}, "computing_jobs", 1),
        ([EVEN, EVEN, MAYBE], {}, "repeated_ms", 110),
        ([EVEN], {}, "too_few_readers_ms", 0),
        ([MAYBE, MAYBE], {}, "later_jobs_ms", 150),
        ([EVEN], {}, "repartition_waves", None),
        ([EVEN], {"repartitioned_to": 2}, "repartition_waves", 1),
        ([EVEN | {"what": "Project"}], {}, "repartition_waves", 0),
        ([EVEN], {}, "waves_beyond_setting", None),
        ([EVEN], {"shuffle_partitions": 8}, "waves_beyond_setting", 0),
        ([EVEN | {"what": VACUUM}], {}, "text_scans", None),
        ([MAP, FEEDS, READER | {"tasks": 2}], {}, "shuffle_files_ms", None),
        ([MAP | {"shuffle_write_ms": 1.0}, FEEDS, READER | {"tasks": 2}], {}, "shuffle_files_ms", 0),
    ],
)  # fmt: skip
def test_what_no_stage_shows_is_missing_and_not_0(
    stages: list[dict[str, Any]], facts: dict[str, Any], metric: str, value: float | None
) -> None:
    parts = {n: {"jobs": len(stages), "driver_between_ms": 40.0} for n in range(3)}
    found = measure(opened([BATCH] * 3, dict.fromkeys(range(3), stages), parts, **facts), metric)
    assert (None if isinstance(found, Missing) else found.safe) == value


def test_computing_again_is_bounded_where_the_reading_jobs_are_not_known() -> None:
    ends = [{"t": {"0": 50 * n}} for n in range(4)]
    twice = {"numInputRows": 100}
    rows = [
        BATCH | twice | {"sources": [KAFKA | twice | {"startOffset": ends[n], "endOffset": ends[n + 1]}]}
        for n in range(3)
    ]
    stages = {n: [MAYBE, MAYBE] for n in range(3)}
    assert ms(opened(rows, stages), "recomputed_ms") == 250
    alone = {n: {"jobs": 2, "driver_ms": 400.0} for n in range(3)}
    assert ms(opened(rows, stages, alone), "recomputed_ms") == 50


def test_rows_of_kafkas_partitions_tell_where_tasks_do_not() -> None:
    ends = [{"t": {"0": 100 * n, "1": 10 * n}} for n in range(4)]
    rows = [BATCH | {"sources": [KAFKA | {"startOffset": ends[n], "endOffset": ends[n + 1]}]} for n in range(3)]
    stage = EVEN | {"rows_max": None, "input_rows": None, "wall_ms": 200.0, "task_ms": 210.0, "task_max_ms": 190.0}
    window = opened(rows, {n: [stage] for n in range(3)})
    assert ms(window, "skew_ms") == 85
    assert ms(window, "straggler_ms") == 0


def test_a_commit_is_what_lines_tell_or_what_follows_the_last_job() -> None:
    after = {n: {"jobs": 1, "driver_after_ms": 300.0} for n in range(3)}
    told = {n: {"jobs": 1, "driver_after_ms": 50.0, "sink_commit_ms": 250.0} for n in range(3)}
    clock = {n: {"jobs": 1, "driver_ms": 320.0} for n in range(3)}
    assert ms(opened([BATCH] * 3, {}, after, sink="other"), "sink_commit_ms") == 300
    assert ms(opened([BATCH] * 3, {}, told, sink="foreach_batch"), "sink_commit_ms") == 250
    assert isinstance(measure(opened([BATCH] * 3, {}, after, sink="foreach_batch"), "sink_commit_ms"), Missing)
    within = measure(opened([BATCH] * 3, {}, clock, sink="other"), "sink_commit_ms")
    assert isinstance(within, Estimate)
    assert (within.low, within.high) == (0, 320)
    assert ms(opened([BATCH] * 3, {}, clock), "driver_gaps_ms") == 320


def test_jobs_on_the_tables_log_explain_a_rhythm() -> None:
    slow = {"triggerExecution": 2100, "addBatch": 2000}
    log = EVEN | {"kind": "table_log", "tasks": 50, "wall_ms": 1400.0}
    rows = [slow if n % 10 == 0 else BATCH for n in range(50)]
    stages = {n: [EVEN, *([log] if n % 10 == 0 else [])] for n in range(50)}
    window = opened(rows, stages)
    assert ms(window, "table_log_spike_ms") == 1400
    assert ms(window, "table_log_spike_share") == pytest.approx(5 * 1400 / (5 * 2100 + 45 * 600))
    assert ms(opened(rows, {n: [EVEN] for n in range(50)}), "table_log_spike_ms") == 0
    assert isinstance(measure(opened([BATCH] * 50, stages), "table_log_spike_ms"), Missing)


def test_tasks_that_were_seen_at_once_are_one_wave_where_nobody_knows_the_slots() -> None:
    stages = {n: [EVEN | {"slots": None}] for n in range(3)}
    assert ms(opened([BATCH] * 3, stages, task_slots_at_least=2), "waves_ms") == 0
    assert ms(opened([BATCH] * 3, stages), "waves_ms") == 0  # one slot would take longer
    stages = {n: [EVEN | {"slots": None, "wall_ms": 210.0}] for n in range(3)}
    assert isinstance(measure(opened([BATCH] * 3, stages), "waves_ms"), Missing)


def test_a_clock_of_seconds_does_not_tell_whether_slots_were_waited_for() -> None:
    by_seconds = {n: {"jobs": 1, "slots_wait_ms": 50.0, "driver_ms": 20.0} for n in range(3)}
    assert isinstance(measure(opened([BATCH] * 3, {}, by_seconds), "slots_wait_ms"), Missing)
    assert ms(opened([BATCH] * 3, {}, by_seconds, slots_shared=False), "slots_wait_ms") == 50
    stages = {n: [EVEN | {"slots_wait_ms": None, "wall_ms": 400.0}] for n in range(3)}
    waits = measure(opened([BATCH] * 3, stages, by_seconds), "slots_wait_ms")
    assert isinstance(waits, Estimate)
    assert (waits.low, waits.high) == (50, 350)


@pytest.mark.parametrize(("traces", "found"), [(["optimizes 400"], 400), ([], 100), (["optimizes 900"], 500)])
def test_optimize_takes_its_execution(traces: list[str], found: float) -> None:
    """Not only its last job: it reads the table's log, chooses files and samples before, and commits behind that."""
    stages = {n: [EVEN | {"kind": "other", "what": "Optimizing 3 files", "wall_ms": 100.0}] for n in range(3)}
    parts = {n: {"jobs": 1, "traces": traces} for n in range(3)}
    assert ms(opened([BATCH] * 3, stages, parts), "table_rewritten_ms") == found


def test_a_static_table_may_cost_what_the_driver_does_around_its_jobs() -> None:
    """Of an 1,824 ms shorter batch behind a cache its own job had 1,578."""
    parts = {"jobs": 2, "other_ms": 200.0, "scheduling_ms": 30.0, "driver_between_ms": 20.0, "driver_before_ms": 90.0}
    assert ms(opened([BATCH] * 3, {}, dict.fromkeys(range(3), parts)), "static_view_ms") == 250
    seconds = {"jobs": 2, "other_ms": 200.0, "driver_ms": 150.0}
    assert ms(opened([BATCH] * 3, {}, dict.fromkeys(range(3), seconds)), "static_view_ms") == 350
    none = seconds | {"other_ms": 0.0}
    assert ms(opened([BATCH] * 3, {}, dict.fromkeys(range(3), none)), "static_view_ms") == 0


def test_the_driver_alone_within_a_write_is_no_code_of_the_function() -> None:
    parts = {"jobs": 1, "driver_before_ms": 60.0, "driver_after_ms": 40.0, "traces": ["driver_within_executions 70"]}
    assert ms(opened([BATCH] * 3, {}, dict.fromkeys(range(3), parts)), "driver_outside_executions") == pytest.approx(
        0.3
    )
    parts |= {"traces": []}
    assert ms(opened([BATCH] * 3, {}, dict.fromkeys(range(3), parts)), "driver_outside_executions") == 1


def test_kafka_is_split_into_more_tasks_than_it_has_partitions() -> None:
    one = opened([BATCH] * 3, {n: [EVEN | {"tasks": 1, "task_ms": 100.0}] for n in range(3)})
    assert (ms(one, "advised_source_tasks"), ms(one, "splittable_read_ms")) == (2, 50)
    large = EVEN | {"wall_ms": 210.0, "task_ms": 220.0, "task_max_ms": 200.0, "rows_max": 90.0}
    skewed = opened([BATCH] * 3, {n: [large] for n in range(3)})
    assert (ms(skewed, "advised_source_tasks"), ms(skewed, "splittable_read_ms")) == (4, 90)


@pytest.mark.parametrize(("wall", "waves"), [(320.0, 240), (None, 375)])
def test_waves_of_state_are_those_of_its_stages_where_these_were_seen(wall: float | None, waves: float) -> None:
    """The driver's time in addBatch is no wave; without such a stage all of addBatch is the most that it can be."""
    state = {"kind": "state", "tasks": 8, "slots": 2, "wall_ms": wall, "task_ms": 600.0, "task_max_ms": 90.0}
    stages = {number: [EVEN, *([state] if wall else [])] for number in range(3)}
    made = opened([BATCH | {"operators": [SAVED]}] * 3, stages, task_slots=2)
    assert ms(made, "state_waves_ms") == waves
    assert ms(made, "state_waves_excess_ms") == 375


@pytest.mark.parametrize(
    ("what", "python", "found"),
    [("BatchEvalPython, Scan", True, 1), ("start at <unknown>:0", True, None), ("start at <unknown>:0", None, 0)],
)
def test_a_session_names_no_stage_that_runs_python(what: str, python: bool | None, found: int | None) -> None:
    stages = {number: [EVEN | {"what": what}] for number in range(3)}
    made = measure(opened([BATCH] * 3, stages, runs_python=python), "python_stages", "p50")
    assert (made.safe if isinstance(made, Estimate) else None) == found


@pytest.mark.parametrize(
    ("stages", "tasks", "python", "sooner"),
    [
        ((200,), 2, None, 500 / 3), ((60, 150), 2, None, 150 / 3), ((200, 30), 2, None, 30 / 3),
        ((200,), 8, None, 500 * (1 / 12 + 3 / 8)), ((200,), 2, True, 0), ((200,), 8, True, 500 * 3 / 8),
    ],
)  # fmt: skip
def test_rows_reach_kafka_in_the_last_of_several_stages(
    stages: tuple[int, ...], tasks: int, python: bool | None, sooner: float
) -> None:
    """The typical row of four waves is in Kafka a third of a task, with Python none, before the middle wave ends."""
    seen = [EVEN | {"tasks": tasks, "wall_ms": wall, "last": True, "submitted": AT + timedelta(seconds=nth)}
            for nth, wall in enumerate(stages)]  # fmt: skip
    rows = [BATCH | {"sink": "KafkaTable", "sources": [KAFKA]}] * 20
    known: dict[str, Any] = {"stateful": False, "sink": "kafka", "trigger": "unspecified", "runs_python": python}
    found = opened(rows, dict.fromkeys(range(20), seen), **known)
    assert measure(found, "record_latency_ms", "p50").safe == pytest.approx(600 - sooner + 600 / 2, abs=2)  # type: ignore[union-attr]
