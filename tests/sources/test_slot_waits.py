"""What the lines of driver logs tell beside stages: waits for slots of other queries, and time in Python workers."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import advisor
from advisor.batches import SCHEMA
from advisor.sources.harvest import Stretch
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.slotwaits import least_slots
from advisor.stages import PARTS

SAMPLES = Path(__file__).parents[2] / "sample_progress"
NAMES = [part.name for part in PARTS]


def waits_of(path: Path) -> pd.DataFrame:
    stages = advisor.read_stages(path)
    return stages.set_index(["run_id", "batch_id", "stage"])[
        ["slots_wait_ms", "slots_overtaken_ms", "waited_for", "wall_ms"]
    ]


TWO = SAMPLES / "both/two-queries-4.3.0"


def test_waits_between_the_tasks_of_a_stage_are_told_by_a_clock_of_milliseconds() -> None:
    (log,) = TWO.glob("eventlog_*")
    both = waits_of(TWO / "driver-ms.log.gz").join(waits_of(log), rsuffix="_by_events")
    found, expected = both["slots_wait_ms"], both["slots_wait_ms_by_events"]
    assert found.sum() == pytest.approx(expected.sum(), rel=0.02)
    assert ((found - expected).abs() <= 20).mean() >= 0.95
    assert ((found > 0) == (expected > 0)).mean() >= 0.95
    assert (both["waited_for"].map(list) == both["waited_for_by_events"].map(list)).mean() >= 0.95
    parts = advisor.read_stages(TWO / "driver-ms.log.gz", parts=True)
    assert parts[NAMES].sum(axis=1).to_numpy() == pytest.approx(parts["add_batch_ms"].to_numpy())
    assert parts["slots_wait_ms"].notna().all()


@pytest.mark.parametrize("sample", ["both/two-queries-4.3.0", "CL005/beside-a-heavy-query-4.3.0"])
def test_a_clock_of_seconds_tells_waits_that_lengths_and_order_leave_no_doubt_of(tmp_path: Path, sample: str) -> None:
    (log,) = (SAMPLES / sample).glob("eventlog_*")
    (driver,) = (SAMPLES / sample).glob("driver*")
    by_seconds = re.sub(rb"(?m)^(\d\d/\d\d/\d\d \d\d:\d\d:\d\d)\.\d{3} ", rb"\1 ", gzip.decompress(driver.read_bytes()))
    (tmp_path / "driver.log").write_bytes(by_seconds)
    both = waits_of(tmp_path / "driver.log").join(waits_of(log), rsuffix="_by_events")
    told = both[both["slots_wait_ms"].notna()]
    assert len(told) > 0.2 * len(both)
    assert ((told["slots_wait_ms"] - told["slots_wait_ms_by_events"]).abs() <= 50).all()
    none = told[told["slots_overtaken_ms"] == 0]
    assert (none["slots_overtaken_ms_by_events"].fillna(0) <= 0.2 * none["slots_wait_ms"]).all()
    parts = advisor.read_stages(tmp_path / "driver.log", parts=True)
    assert (parts["too_long"] == 0).all()
    unsure = parts["together"].map(lambda names: "scheduling+slots_wait" in names)
    assert parts["slots_wait_ms"].notna()[~unsure].all()
    keys = ["run_id", "batch_id"]
    bounds = parts[unsure].merge(advisor.read_stages(log, parts=True), on=keys, suffixes=("", "_by_events"))
    least = bounds["slots_wait_ms"].dropna()
    assert (least <= bounds["slots_wait_ms_by_events"][least.index] + 50).all()
    assert (least.sum() > 300) == sample.startswith("both")


@pytest.mark.parametrize(
    ("ran", "left", "slots"),
    [
        ({}, {}, 0),
        ({1: 5}, {}, 1),
        ({1: 9, 2: 40, 3: 8}, {}, 2),
        ({1: 1, 2: 1, 3: 1, 4: 30}, {}, 4),
        ({1: 20, 2: 3}, {}, 1),
        ({1: 19, 2: 22, 3: 36}, {2: 2, 3: 33}, 2),  # a recorded run on two slots
        ({1: 9, 2: 9, 3: 36}, {3: 18}, 3),
    ],
)
def test_a_start_logged_before_the_end_that_made_room_is_no_further_slot(
    ran: dict[int, int], left: dict[int, int], slots: int
) -> None:
    assert least_slots(Counter(ran), Counter(left)) == slots


STAGE = """25/10/03 10:00:00.000 INFO DAGScheduler: Got job {n} (start at Main:7) with 1 output partitions
25/10/03 10:00:00.000 INFO DAGScheduler: Final stage: ResultStage {n} (start at Main:7)
25/10/03 10:00:00.001 INFO DAGScheduler: Submitting 1 missing tasks from ResultStage {n} (x)
25/10/03 10:00:00.002 INFO TaskSetManager: Starting task 0.0 in stage {n}.0 (TID {n}) (h, ANY, 9 bytes)
"""
ENDS = """25/10/03 10:00:01.002 INFO TaskSetManager: Finished task 0.0 in stage {n}.0 (TID {n}) in 1000 ms on h
25/10/03 10:00:01.003 INFO DAGScheduler: ResultStage {n} (start at Main:7) finished in 1002 ms
"""
TIMES = "25/10/03 10:00:00.900 INFO {logger}: Times: total = {ms}, boot = -31, init = 44, finish = 700"
NAMED = TIMES + " - Batches: 2, Data: 7.50 KB - task 0.0 in stage {n} (TID {n})"


def times(form: str, ms: int, n: int = 4, logger: str = "PythonUDFRunner") -> str:
    return form.format(logger=logger, ms=ms, n=n) + "\n"


BEGIN_4, BEGIN_5, END_4, END_5 = (text.format(n=n) for text in (STAGE, ENDS) for n in (4, 5))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([BEGIN_4, times(TIMES, 810), times(TIMES, 90), END_4], {4: 900}),
        ([BEGIN_4, END_4], {4: None}),
        ([BEGIN_4, times(TIMES, 810).replace("Times", "Time"), END_4], {4: None}),
        ([BEGIN_4, BEGIN_5, times(TIMES, 810), END_4, times(TIMES, 70), END_5], {4: None, 5: None}),
        ([BEGIN_4, BEGIN_5, times(NAMED, 810), times(NAMED, 70, 5), END_4, END_5], {4: 810, 5: 70}),
        ([BEGIN_4, BEGIN_5.rpartition("25/10")[0], times(TIMES, 810), END_4, END_5], {4: 810, 5: None}),
        ([BEGIN_4, times(NAMED, 33, 9), END_4], {4: None}),
        *(
            ([BEGIN_4, times(NAMED, 33, logger=logger), END_4], {4: 33})
            for logger in (
                "ArrowEvalPythonEvaluatorFactory$$anon$2", "MapInBatchEvaluatorFactory$MapInBatchEvaluator$$anon$1",
                "ArrowPythonRunner", "ApplyInPandasWithStatePythonRunner",
            )
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("structured", [False, True])
def test_python_workers_of_local_mode(lines: list[str], told: dict[int, float | None], structured: bool) -> None:
    text = "".join(lines)
    if structured:
        form = r'{"ts":"2025-10-03T\2Z","level":"INFO","msg":"\4","logger":"\3"}'
        text = re.sub(r"(?m)^(\S+) (\S+) INFO (\S+): (.*)$", form, text)
    log = DriverLog("log")
    log.read(Stretch(text.encode(), 0, 0, True), len(text), "driver.log")
    (work,) = log.finish(SCHEMA.empty_table())
    attempts = {attempt.stage: attempt.numbers.get("python_ms") for attempt in work.attempts}
    assert attempts == told


@pytest.mark.parametrize(("logger", "what"), [("FlatMapGroupsInBatchExec$$anon$1", True), ("ArrowPythonRunner", False)])
def test_a_function_that_takes_a_group_at_a_time_is_known_by_the_class_of_its_workers(logger: str, what: bool) -> None:
    text = BEGIN_4 + times(NAMED, 33, logger=logger) + END_4
    log = DriverLog("log")
    log.read(Stretch(text.encode(), 0, 0, True), len(text), "driver.log")
    (work,) = log.finish(SCHEMA.empty_table())
    (attempt,) = work.attempts
    assert (attempt.what.startswith("FlatMapGroupsIn"), attempt.numbers.get("python_ms")) == (what, 33)


def test_python_of_both_versions_is_told_by_driver_logs() -> None:
    for version in ("3.5.9", "4.3.0"):
        stages = advisor.read_stages(SAMPLES / f"PY001/python-in-driver-log-{version}")
        assert (stages["python_ms"] > 0.5 * stages["task_ms"]).all()
