"""The step that stands first: by what it saves, unless that is little beside the loss that another rule names."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from advisor.contract import Finding, Loss, Promise
from advisor.report.steps import best_step
from tests.test_together import finding, step

LOGS = ("walCommit", "commitOffsets")
INSIDE = Loss(kind="add_batch", says="", ms=300.0, share=0.6, name="one slow task", rule="CL003")


def logs(expected: float, most: float) -> Finding:
    """Asynchronous tracking, with what it is expected to save and what it saves at most."""
    saves = Promise(0.8 * expected, expected, most)
    return finding("LG001", step("async-progress", saves, "logs_ms", LOGS, semantics="at_least_once"))


LOOK = step("open-add-batch", None, "", ())
FEWER = step("fewer", Promise(100, 200, 300), "waves_ms", ("addBatch",), legal="if", takes="new_checkpoint")
SLOTS = step("slots", Promise(0, None, 90), "waves_ms", ("addBatch",))
AT_MOST = step("python", Promise(0, None, 250), "python_ms", ("addBatch",))


def first(*findings: Finding, loss: Loss = INSIDE, batch_ms: float = 500.0) -> str | None:
    found = best_step(findings, loss, batch_ms=batch_ms)
    return found.step if found else None


ROWS, PACE = (replace(INSIDE, kind=kind, rule=rule) for kind, rule in (("rows", "ST011"), ("pace", "TR008")))
SLOW = finding("CL003", LOOK)
MAY_BE = finding("ST009", step("versions", None, "", (), legal="if"))
RESTART = step("changelog", Promise(20, 40, 120), "state_ms", ("addBatch",))


@pytest.mark.parametrize(
    ("findings", "loss", "best"),
    [
        # logs of a fifth stand behind a cause of three fifths, also if they might save more than is expected
        ([logs(100, 120), SLOW], INSIDE, "open-add-batch"),
        ([logs(60, 120), SLOW], INSIDE, "open-add-batch"),
        ([logs(150, 180), SLOW], INSIDE, "async-progress"),
        # the loss's own step, or that of what explains it, stands before a larger saving elsewhere
        ([logs(150, 180), finding("CL003", AT_MOST)], INSIDE, "python"),
        ([logs(150, 180), replace(SLOW, explained_by="PY001"), finding("PY001", AT_MOST)], INSIDE, "python"),
        # a loss without a step leaves the best saving first
        ([logs(60, 120)], INSIDE, "async-progress"),
        ([logs(60, 120)], replace(INSIDE, rule=None), "async-progress"),
        # only what helps against lost rows is advised
        ([logs(60, 120), finding("ST011", LOOK)], replace(ROWS, ms=None), "open-add-batch"),
        ([replace(logs(60, 120), level="medium"), finding("ST011")], replace(ROWS, ms=None), None),
        ([logs(60, 120), finding("ST011")], replace(ROWS, ms=None), "async-progress"),  # a high one has its say
        # a new checkpoint does not come first for the loss alone
        ([finding("ST001", RESTART), finding("ST005", FEWER)], replace(INSIDE, rule="ST005", ms=600.0), "changelog"),
        # against a backlog whatever may shorten the batch stands before a look
        ([finding("SR004", AT_MOST), finding("TR008", LOOK)], PACE, "python"),
        ([finding("SR004", AT_MOST), SLOW], INSIDE, "open-add-batch"),
        # and so it does where its own finding is of a higher level, unless it saves little of the loss at most
        ([finding("SR004", AT_MOST), replace(SLOW, level="low")], INSIDE, "python"),
        ([finding("SR004", SLOTS), replace(SLOW, level="low")], INSIDE, "open-add-batch"),
        # of steps that promise nothing one of a finding that is high, also if it is not sure that Spark takes it
        ([replace(SLOW, explained_by="ST009", level="low"), replace(MAY_BE, level="high")], INSIDE, "versions"),
        ([replace(SLOW, explained_by="ST009", level="low"), replace(MAY_BE, level="medium")], INSIDE, "open-add-batch"),
    ],
)
def test_the_step_that_stands_first(findings: list[Finding], loss: Loss, best: str | None) -> None:
    assert first(*findings, loss=loss) == best


def test_a_look_stands_before_the_loss_s_own_step_that_saves_little_of_it_at_most() -> None:
    assert first(finding("CL003", SLOTS, LOOK)) == "open-add-batch"
    assert first(finding("CL003", SLOTS)) == "slots"
    assert first(finding("CL003", AT_MOST, LOOK)) == "python"
    assert first(finding("CL003", SLOTS, LOOK), loss=replace(INSIDE, kind="pace")) == "slots"


def test_few_batches_are_not_enough_to_lose_the_state_for() -> None:
    sure, few = (replace(finding("ST005", FEWER), confidence=confidence) for confidence in ("medium", "low"))
    loss = replace(INSIDE, rule="ST005")
    assert first(sure, loss=loss) == "fewer"
    assert first(few, loss=loss) is None
    assert first(few, logs(60, 120), loss=loss) == "async-progress"


@pytest.mark.parametrize(("batch_ms", "best"), [(500.0, "python"), (5000.0, "open-add-batch")])
def test_a_step_against_a_backlog_is_measured_by_the_batch_not_by_all_that_waits(batch_ms: float, best: str) -> None:
    minutes = replace(PACE, ms=180_000.0)
    assert first(finding("SR004", AT_MOST), finding("TR008", LOOK), loss=minutes, batch_ms=batch_ms) == best


@pytest.mark.parametrize(("batch_ms", "best"), [(900.0, "fewer"), (1100.0, None)])
def test_the_state_is_not_lost_for_a_small_part_of_a_batch(batch_ms: float, best: str | None) -> None:
    assert first(finding("ST005", FEWER), loss=replace(INSIDE, rule="ST005"), batch_ms=batch_ms) == best
