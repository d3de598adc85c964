"""Very many runs judged in several processes: the same report, whatever becomes of the processes."""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from advisor import api
from advisor.errors import UsageError
from advisor.facts.evidence import Run
from advisor.report import processes
from advisor.report.processes import spread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
RUNS = [Run(f"query {number % 7}", f"run {number}") for number in range(60)]
LOGS = Path(__file__).parent.parent / "sample_progress"


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FEWEST", 2)
    monkeypatch.setattr(processes, "AT_ONCE", 3)


def test_results_come_in_order_and_a_query_stays_in_one_process() -> None:
    """Only the first run is done where all are asked for."""
    found = list(spread(RUNS, lambda run: (run.run_id, os.getpid()), 2))
    assert [name for name, _ in found] == [run.run_id for run in RUNS]
    of_query = defaultdict(set)
    for run, (_, process) in list(zip(RUNS, found, strict=True))[1:]:
        of_query[run.id].add(process)
    assert {len(several) for several in of_query.values()} == {1}
    assert len(set.union(*of_query.values())) == 2
    assert found[0][1] == os.getpid()


def test_a_process_that_is_killed_costs_no_result() -> None:
    """What it did not end is done by the one that started it."""
    here = os.getpid()

    def work(run: Run) -> str:
        if run.run_id == "run 40" and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return run.run_id

    assert list(spread(RUNS, work, 2)) == [run.run_id for run in RUNS]


@pytest.mark.parametrize("fault", [MemoryError, OSError])
def test_so_does_one_that_fails(fault: type[Exception], capfd: pytest.CaptureFixture[str]) -> None:
    """And it says nothing: what it did is done again."""
    here = os.getpid()

    def work(run: Run) -> str:
        if run.run_id == "run 40" and os.getpid() != here:
            raise fault
        return run.run_id

    assert list(spread(RUNS, work, 2)) == [run.run_id for run in RUNS]
    assert capfd.readouterr().err == ""


def test_the_report_is_the_same() -> None:
    """Of the recorded logs together, and of their fleet."""
    paths = [LOGS / name for name in ("healthy", "ST004", "SK002", "LG001")]
    alone, spread_out = (api.analyze(paths, stages=False, packed=True, processes=count).to_json() for count in (1, 2))
    assert spread_out == alone
    of_all, of_each = (api.analyze_fleet(paths, stages=False, processes=count) for count in (1, 2))
    assert of_each == of_all


@pytest.mark.parametrize("count", ["2", None, 0])
def test_a_number_of_processes_that_is_none_is_refused(count: Any) -> None:
    for judge in (api.analyze, api.analyze_fleet):
        with pytest.raises(UsageError, match="no count of processes"):
            judge(LOGS / "healthy", processes=count)
