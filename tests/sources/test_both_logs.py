"""A driver log and an event log of the same run, read together: what each alone cannot tell."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import advisor
from advisor.batches import SCHEMA
from advisor.stages import PARTS, Attempt, Batch, Job, Note, Work, best, tables
from advisor.stages.columns import BY_LINES

BOTH = Path(__file__).parents[2] / "sample_progress/both"
SAMPLES = ("deduplication-4.3.0", "delta-sink-4.0.0", "join-4.3.0")


def parts_of(*logs: Path) -> pd.DataFrame:
    found = advisor.read_stages([str(log) for log in logs], parts=True)
    return found.sort_values("batch_id").reset_index(drop=True)


def logs_of(sample: str) -> tuple[Path, Path]:
    (lines,), (events,) = (BOTH / sample).glob("driver*"), (BOTH / sample).glob("eventlog*")
    return lines, events


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("turned", [False, True], ids=["lines first", "events first"])
def test_lines_add_what_events_do_not_tell(sample: str, turned: bool) -> None:
    lines, events = logs_of(sample)
    found = parts_of(*((events, lines) if turned else (lines, events)))
    of_lines, of_events = parts_of(lines), parts_of(events)
    assert set(found["origin"]) == {"event_log"}
    told = [*BY_LINES, "planning_ms"]
    pd.testing.assert_frame_equal(found[told], of_lines[told])
    same = ["batch_id", "add_batch_ms", "scheduling_ms", "source_read_ms", "state_commit_ms", "jobs", "tasks"]
    pd.testing.assert_frame_equal(found[same], of_events[same])
    parts = found[[part.name for part in PARTS]].sum(axis=1)
    assert parts.to_list() == pytest.approx(found["add_batch_ms"].to_list())


def work(origin: str, *, clock: bool = True, python_ms: float | None = None) -> Work:
    made = Work(f"{origin}.log", origin, clock=clock)
    job = Job(1, Batch("query", "run", 3), 1_100, 1_900)
    made.starts(job, [1])
    read = Attempt(job, 1, 0, 1_200, 1_800, "source_read", "", True, 1)
    if python_ms is not None:
        read.numbers["python_ms"] = python_ms
    made.tasks(np.array([(1, 0, 0, 1_200, 1_800, -1, 0)], float))
    made.completes(read, 0)
    return made


ONE = {
    "id": "query", "run_id": "run", "batch_id": 3, "timestamp": datetime.fromtimestamp(1, timezone.utc),
    "add_batch_ms": 1_000.0, "trigger_execution_ms": 1_000.0, "commit_offsets_ms": 0.0,
}  # fmt: skip
TIMED = pa.Table.from_pylist([ONE], SCHEMA)


def test_python_workers_that_only_lines_tell_of_are_counted() -> None:
    lines = work("driver_log", clock=False, python_ms=300.0)
    alone = tables([work("event_log")], TIMED)["batch_parts"]
    both = tables([lines, work("event_log")], TIMED)["batch_parts"]
    assert alone["python_ms"].to_pylist() == [None]
    assert both["python_ms"].to_pylist() == [300.0]
    assert both["source_read_ms"].to_pylist() == [300.0]


@pytest.mark.parametrize(
    ("name", "taken"),
    [("planning_ms", "driver_before_ms"), ("sink_commit_ms", "driver_after_ms")],
)
def test_a_line_without_a_known_time_takes_the_drivers_time(name: str, taken: str) -> None:
    lines = work("driver_log", clock=False)
    lines.notes.append(Note(Batch("query", "run", 3), name, 60.0))
    found = tables([work("event_log"), lines], TIMED)["batch_parts"]
    assert found[name].to_pylist() == [60.0]
    assert found[taken].to_pylist() == [40.0]


def test_tables_of_logs_that_were_read_apart_are_put_together_alike() -> None:
    """So the cluster does it, whose tasks read a log each."""
    lines, events = work("driver_log"), work("event_log")
    lines.notes.append(Note(Batch("query", "run", 3), "files_written", 7.0))
    at_once = tables([lines, events], TIMED)["batch_parts"]
    apart = best(pa.concat_tables([tables([each], TIMED)["batch_parts"] for each in (lines, events)]), "batch_parts")
    assert apart.to_pylist() == at_once.to_pylist()
    assert apart["files_written"].to_pylist() == [7]
