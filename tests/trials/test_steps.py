"""Which steps can be on trial, and what is asked wrongly: no Spark."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from advisor.catalogue import load
from advisor.cli import main
from advisor.errors import UsageError
from advisor.trials.setup import Setup, Variant
from advisor.trials.steps import known
from advisor.trials.turns import would_tell

CATALOGUE = load()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "no step was given"),
        (["async-progres"], "did you mean 'async-progress'"),
        (["async-progress-off"], "more than the settings"),
        (["real-time-mode"], "real_time|more than settings"),
        ([{}], "cannot set nothing"),
        ([{"confs": {"a": "b"}}], "cannot set confs"),
        ([{"trigger": {"available_now": True}}], "available_now"),
    ],
)
def test_what_cannot_be_on_trial(given: list[Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        known(given, CATALOGUE)


def test_steps_that_can_be_on_trial() -> None:
    known(["async-progress", "changelog-checkpointing", "persist-in-foreach-batch"], CATALOGUE)
    known(["abortable-checkpoint-manager"], CATALOGUE)
    known([{"conf": {"a": "b"}, "trigger": {"processing_time": "2 seconds"}}], CATALOGUE)


def test_a_step_that_is_code_is_asked_for() -> None:
    setup = Setup(None, "one", "file:///tmp/one", Variant(code=frozenset({"persist-in-foreach-batch"})))
    assert setup.makes("persist-in-foreach-batch") and not setup.makes("other")
    assert setup.path("out") == "file:///tmp/one/out" and setup.topic("out") == "one-out"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["advisor.trials.workloads:rate_to_noop"], "there is no change to try"),
        (["advisor.trials.workloads:nothing", "--step", "async-progress"], "nothing"),
        (["no_such_module:build", "--step", "async-progress"], "no_such_module"),
        (["advisor.trials.workloads:rate_to_noop", "--conf", "a"], "KEY=VALUE"),
    ],
)
def test_the_command_says_what_is_wrong(words: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["trial", *words])
    assert result.exit_code == 2 and said in result.output


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
