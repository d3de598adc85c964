"""The step that stands first: by what it saves, unless that is little beside the loss that another rule names."""

from __future__ import annotations

from msgspec.structs import replace

from advisor.contract import Advice, Finding, Loss, Promise
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
AT_MOST = step("python", Promise(0, None, 250), "python_ms", ("addBatch",))


def first(*findings: Finding, loss: Loss = INSIDE) -> str | None:
    found = best_step(findings, loss)
    return found.step if found else None


def test_logs_of_a_fifth_stand_behind_a_cause_of_three_fifths() -> None:
    assert first(logs(100, 120), finding("CL003", LOOK)) == "open-add-batch"


def test_that_it_might_save_more_than_is_expected_makes_no_difference() -> None:
    """The most that is possible is no reason to leave the loss as it is."""
    assert first(logs(60, 120), finding("CL003", LOOK)) == "open-add-batch"


def test_a_saving_that_is_no_trifle_stays_first() -> None:
    assert first(logs(150, 180), finding("CL003", LOOK)) == "async-progress"


def test_the_loss_s_own_step_stands_before_a_larger_saving_elsewhere() -> None:
    assert first(logs(150, 180), finding("CL003", AT_MOST)) == "python"


def test_a_look_stands_before_the_loss_s_own_step_that_saves_little_of_it_at_most() -> None:
    little = step("slots", Promise(0, None, 90), "waves_ms", ("addBatch",))
    assert first(finding("CL003", little, LOOK)) == "open-add-batch"
    assert first(finding("CL003", little)) == "slots"
    assert first(finding("CL003", AT_MOST, LOOK)) == "python"
    assert first(finding("CL003", little, LOOK), loss=replace(INSIDE, kind="pace")) == "slots"


def test_a_step_of_what_explains_the_loss_is_its_own() -> None:
    loss = replace(finding("CL003", LOOK), explained_by="PY001")
    assert first(logs(150, 180), loss, finding("PY001", AT_MOST)) == "python"


def test_a_loss_without_a_step_leaves_the_best_saving_first() -> None:
    assert first(logs(60, 120)) == "async-progress"
    assert first(logs(60, 120), loss=replace(INSIDE, rule=None)) == "async-progress"


def test_only_what_helps_against_lost_rows_is_advised() -> None:
    rows = replace(INSIDE, kind="rows", rule="ST011", ms=None)
    assert first(logs(60, 120), finding("ST011", LOOK), loss=rows) == "open-add-batch"
    assert first(logs(60, 120), finding("ST011"), loss=rows) is None


def test_few_batches_are_not_enough_to_lose_the_state_for() -> None:
    sure, few = (replace(finding("ST005", FEWER), confidence=confidence) for confidence in ("medium", "low"))
    loss = replace(INSIDE, rule="ST005")
    assert first(sure, loss=loss) == "fewer"
    assert first(few, loss=loss) is None
    assert first(few, logs(60, 120), loss=loss) == "async-progress"


def test_a_new_checkpoint_does_not_come_first_for_the_loss_alone() -> None:
    restart: Advice = step("changelog", Promise(20, 40, 120), "state_ms", ("addBatch",))
    loss = replace(INSIDE, rule="ST005", ms=600.0)
    assert first(finding("ST001", restart), finding("ST005", FEWER), loss=loss) == "changelog"


def test_against_a_backlog_whatever_may_shorten_the_batch_stands_before_a_look() -> None:
    pace = replace(INSIDE, kind="pace", rule="TR008")
    assert first(finding("SR004", AT_MOST), finding("TR008", LOOK), loss=pace) == "python"
    assert first(finding("SR004", AT_MOST), finding("CL003", LOOK)) == "open-add-batch"
