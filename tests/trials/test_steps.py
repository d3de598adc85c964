"""Which steps can be on trial, and what is asked wrongly: no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.catalogue import load
from advisor.cli import main
from advisor.contract import OnTrial
from advisor.errors import UsageError
from advisor.trials.length import Length, said
from advisor.trials.run import Bounds, Run
from advisor.trials.setup import Setup
from advisor.trials.steps import known
from advisor.trials.turns import would_tell
from tests.made import window

CATALOGUE = load()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "no step was given"), (["async-progres"], "did you mean 'async-progress'"),
        (["async-progress-off"], "more than the settings"), (["real-time-mode"], "real_time|more than settings"),
        ([{}], "cannot set nothing"), ([{"confs": {"a": "b"}}], "cannot set confs"),
        ([{"writer_option": {"checkpointlocation": "/prod/ck"}}], "checkpointlocation says where a query writes"),
        ([{"writer_option": {"maxRecordsPerFile": "5", "Path": "/prod/out"}}], "Path says where a query writes"),
        ([{"trigger": {"available_now": True}}], "available_now"),
        *(([{"trigger": {"processing_time": text}}], "no interval") for text in ("x", "2 years", "-2 seconds", "inf")),
    ],
)  # fmt: skip
def test_what_cannot_be_on_trial(given: list[Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        known(given, CATALOGUE)


def test_steps_that_can_be_on_trial() -> None:
    known(["async-progress", "changelog-checkpointing", "persist-in-foreach-batch"], CATALOGUE)
    known(["abortable-checkpoint-manager"], CATALOGUE)
    for interval in ("2 seconds", "interval 1 minute 30 seconds", "0.5 second", "1 Hour", "0 seconds", 2000):
        known([{"conf": {"a": "b"}, "trigger": {"processing_time": interval}}], CATALOGUE)


def test_a_step_that_is_code_is_asked_for() -> None:
    setup = Setup(None, "one", "file:///tmp/one", OnTrial(code=frozenset({"persist-in-foreach-batch"})))
    assert setup.makes("persist-in-foreach-batch") and not setup.makes("other")
    assert setup.path("out") == "file:///tmp/one/out" and setup.topic("out") == "one-out"


def warm_up(*, pace_ms: float, batches: int = 2) -> Run:
    """A warm-up of 30 s whose steady batches come at this pace."""
    rows = [{"triggerExecution": pace_ms / 2, "addBatch": pace_ms / 4}] * batches
    return Run(OnTrial(), "run", window(rows, interval_ms=pace_ms), None, {}, seconds=30.0)


BOUNDS = Bounds(runs=8, batches=1, seconds=1.0, most_runs=24)


@pytest.mark.parametrize(
    ("asked", "pace_ms", "batches", "seconds"),
    [
        (Length(), 200, 40, 60), (Length(), 4_000, 15, 30 + 2 * 15 * 4), (Length(), 20_000, 10, 30 + 2 * 10 * 20),
        (Length(batches=12), 20_000, 12, 30 + 2 * 12 * 20), (Length(seconds=300), 20_000, 15, 300),
    ],
)  # fmt: skip
def test_the_length_of_runs_follows_from_the_pace_of_the_warm_up(
    asked: Length, pace_ms: float, batches: int, seconds: float
) -> None:
    bounds = asked.of_runs(warm_up(pace_ms=pace_ms), BOUNDS)
    assert (bounds.batches, bounds.seconds) == (batches, pytest.approx(seconds))


def test_what_it_will_take_is_said_beforehand() -> None:
    first = warm_up(pace_ms=20_000)
    each, all = said(first, Length().of_runs(first, BOUNDS))
    assert "10 steady batches" in each and "20.0 s" in each and "3 min" in each
    assert "8 runs: about 27 min" in all and "at most 24 runs, 80 min" in all


def test_a_length_into_which_no_result_fits_is_refused_with_one_that_does() -> None:
    with pytest.raises(UsageError, match=r"do not fit into 60 s; give --seconds 230"):
        Length(seconds=60).of_runs(warm_up(pace_ms=20_000), BOUNDS)
    with pytest.raises(UsageError, match=r"no steady batch in 1 s; .*--seconds"):
        Length().of_runs(warm_up(pace_ms=1000, batches=0), BOUNDS)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["advisor.trials.workloads:rate_to_noop"], "there is no change to try"),
        (["advisor.trials.workloads:nothing", "--step", "async-progress"], "nothing"),
        (["no_such_module:build", "--step", "async-progress"], "no_such_module"),
        (["no_such_module:build", "--step", "async-progres"], "did you mean 'async-progress'?"),
        (["advisor.trials.workloads:rate_to_noop", "--conf", "a"], "KEY=VALUE"),
    ],
)
def test_the_command_says_what_is_wrong(words: list[str], answer: str) -> None:
    result = CliRunner().invoke(main, ["trial", *words])
    assert result.exit_code == 2 and answer in result.output


def test_what_a_module_prints_is_no_part_of_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loud_queries.py").write_text("print('said on import')")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["trial", "loud_queries:build", "--step", "async-progress"])
    assert (result.exit_code, result.stdout) == (2, "") and "said on import" in result.stderr


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (0, ""),
        (24, "; about 24 runs would tell"),
        (17_616, " (more than 100 would be needed; longer runs or a quieter"),
    ],
)
def test_runs_that_nobody_makes_are_not_counted(runs: int, said: str) -> None:
    assert would_tell(runs).startswith(said) and bool(would_tell(runs)) == bool(said)
