"""Thousands of jobs and stages of a driver's log that are open at once take room and time by their number alone."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.batches import SCHEMA
from advisor.sources.harvest import Stretch
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.loggedjobs import LoggedJob, OpenJobs
from advisor.sources.stages.slotwaits import _most
from advisor.stages import Work

SECONDS, MILLISECONDS = "25/10/03 10:00:00", "25/10/03 10:00:00.000"
MANY = 3000
BEGINS = """{t} INFO DAGScheduler: Got job {n} (start at Main:7) with 1 output partitions
{t} INFO DAGScheduler: Final stage: ResultStage {n} (start at Main:7)
{t} INFO DAGScheduler: Submitting 2 missing tasks from ResultStage {n} (x)
{t} INFO TaskSetManager: Starting task 0.0 in stage {n}.0 (TID {n}) (h, ANY, 9 bytes)
"""
RUNS = """{t} INFO PythonUDFRunner: Times: total = 5, boot = -31, init = 44, finish = 700
{t} INFO TaskSetManager: Finished task 0.0 in stage {n}.0 (TID {n}) in 1000 ms on h
"""
ENDS = """{t} INFO DAGScheduler: ResultStage {n} (start at Main:7) finished in 1002 ms
{t} INFO DAGScheduler: Job {n} finished: start at Main:7, took 2.0 s
"""


def read(time: str, many: int = MANY) -> Work:
    """What is told of so many jobs, of which the first ends when the last has begun."""
    text = "".join(each.format(t=time, n=n) for each in (BEGINS, RUNS, ENDS) for n in range(many)).encode()
    log = DriverLog("log")
    log.read(Stretch(text, 0, 0, True), len(text), "driver.log")
    (work,) = log.finish(SCHEMA.empty_table())
    return work


@pytest.mark.parametrize("time", [SECONDS, MILLISECONDS])
def test_stages_that_are_open_at_once_take_little_room(time: str) -> None:
    read(time, 1)
    tracemalloc.start()
    work = read(time)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40e6
    assert [attempt.job and attempt.job.job for attempt in work.attempts] == list(range(MANY))
    assert {attempt.numbers.get("python_ms") for attempt in work.attempts} == {None}  # nobody knows whose they are


def begun(number: int) -> LoggedJob:
    return LoggedJob(number, None, 0.0, nth=number, place=(0, number))


def test_a_stage_is_of_the_open_job_with_the_next_final_stage() -> None:
    jobs, open = [begun(number) for number in range(3)], OpenJobs()
    for job, final in zip(jobs, (4, 9, 6), strict=True):
        open.begins(job)
        open.final(job, final)
    assert [open.of(stage) for stage in (0, 4, 5, 7, 10)] == [jobs[0], jobs[0], jobs[2], jobs[1], None]
    open.final(jobs[1], 5)
    assert [open.of(stage) for stage in (5, 6, 7)] == [jobs[1], jobs[2], None]
    assert open.ends(1) is jobs[1]
    assert open.ends(1) is None
    assert open.of(5) is jobs[2]
    assert not open.idle


def test_a_job_whose_final_stage_is_over_is_open_until_another_begins() -> None:
    first, open = begun(0), OpenJobs()
    open.begins(first)
    open.final(first, 3)
    open.over(first)
    assert open.idle
    assert open.of(3) is first
    open.begins(begun(1))
    assert open.of(3) is None
    assert not open.idle
    open.over(first)
    assert not open.idle


@given(st.lists(st.integers(0, 9), min_size=1), st.data())
def test_the_most_of_some_stretches(values: list[int], data: st.DataObject) -> None:
    places = st.tuples(st.integers(0, len(values) - 1), st.integers(1, len(values)))
    some = [(first, last) for first, last in data.draw(st.lists(places)) if first < last]
    first, last = np.array(some, np.int64).reshape(-1, 2).T
    assert _most(np.array(values), first, last).tolist() == [max(values[first:last]) for first, last in some]
