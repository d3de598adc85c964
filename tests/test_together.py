"""Steps beside each other: which can be taken together, and what they save in common."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from advisor.contract import Advice, Change, Finding, Promise
from advisor.report.steps import together
from advisor.savings import made_at_once

BUDGET = {"walCommit": 60.0, "addBatch": 1000.0, "commitOffsets": 70.0}
LOGS, STATE = ("walCommit", "commitOffsets"), ("addBatch",)


def step(name: str, saves: Promise | None, of: str, phases: tuple[str, ...], **other: Any) -> Advice:
    plain = Advice(
        id=name, do=name, legal="yes", because=None, unknown=(), change=Change(conf={name: "true"}), stages=(),
        takes="restart", semantics="same", status="stable", saves_ms=saves, saves_latency_ms=None, costs="", undo="",
        check="", saves_in=phases, saves_of=of,
    )  # fmt: skip
    return replace(plain, **other)


def finding(rule: str, *steps: Advice, explained_by: str | None = None) -> Finding:
    return Finding(
        rule=rule, slug=rule, title=rule, level="high", confidence="high", says="", why="", measure=None, evidence=(),
        explained_by=explained_by, steps=steps, references=(), felt_share=None,
    )  # fmt: skip


ASYNC = step("async-progress", Promise(90, 110, 130, 60), "async_progress_saving_ms", LOGS)
CHANGELOG = step("changelog", Promise(100, 250, 400), "state_commit_wall_ms", STATE)
FEWER = step("fewer", Promise(300, 600, 900), "state_waves_excess_ms", STATE)


def names(*findings: Finding) -> list[str]:
    found = together(findings, BUDGET)
    return [one.step for one in found.steps] if found else []


def test_different_phases_add_up() -> None:
    found = together([finding("LG001", ASYNC), finding("ST002", CHANGELOG)], BUDGET)
    assert found is not None
    assert [one.step for one in found.steps] == ["changelog", "async-progress"]
    assert found.saves_ms == Promise(190, 360, 530, 60)
    assert [replace(ASYNC, status=status).experimental for status in ("stable", "experimental")] == [False, True]


def test_of_one_phase_each_takes_its_share_of_what_the_other_leaves() -> None:
    found = together([finding("ST001", FEWER, CHANGELOG)], BUDGET)
    assert found is not None
    assert found.saves_ms == Promise(300, 1000 * (1 - 0.4 * 0.75), 1000)


def test_one_step_alone_is_no_combination() -> None:
    assert names(finding("LG001", ASYNC)) == []
    assert names(finding("LG001", ASYNC), finding("LG002", ASYNC)) == []


def test_what_excludes_each_other_is_not_combined() -> None:
    other_logs = step("faster-storage", Promise(10, 50, 90), "checkpoint_write_ms", LOGS)
    assert names(finding("LG001", ASYNC), finding("LG004", other_logs)) == []
    same_time = replace(FEWER, id="repartition", change=Change(conf={"other": "1"}))
    assert names(finding("ST001", FEWER, same_time)) == []
    same_setting = replace(CHANGELOG, change=FEWER.change)
    assert names(finding("ST001", FEWER, same_setting)) == []


def test_only_what_spark_takes_on_this_checkpoint_is_combined() -> None:
    unfit = ({"legal": "if"}, {"legal": "no"}, {"takes": "new_checkpoint"}, {"saves_ms": None}, {"saves_in": ()})
    for changed in unfit:
        assert names(finding("LG001", ASYNC), finding("ST002", replace(CHANGELOG, **changed))) == []
    assert names(finding("LG001", ASYNC), finding("ST002", CHANGELOG, explained_by="ST001")) == []


def test_steps_that_were_made_at_once_promise_in_common() -> None:
    silent = step("silent", None, "nothing", ())
    one, other = made_at_once([ASYNC, silent, CHANGELOG], BUDGET)
    assert (one.id, one.do) == ("async-progress + changelog", "async-progress; changelog")
    assert one.saves_ms == Promise(190, 360, 530, 60)
    assert other is silent


def test_where_add_batch_takes_nothing_its_steps_save_nothing_in_common() -> None:
    planning = step("planning", Promise(10, 20, 30, 5), "query_planning_ms", ("queryPlanning",))
    budget = {"walCommit": 100.0, "commitOffsets": 100.0, "queryPlanning": 100.0}
    (one,) = made_at_once([ASYNC, planning], budget)
    assert ASYNC.saves_ms and one.saves_ms and one.saves_ms.low == ASYNC.saves_ms.low + 10
    (one,) = made_at_once([ASYNC, CHANGELOG], budget)
    assert one.saves_ms == ASYNC.saves_ms


def test_steps_whose_common_saving_cannot_be_told_stay_apart() -> None:
    for steps in (
        [CHANGELOG],
        [CHANGELOG, replace(FEWER, saves_of=CHANGELOG.saves_of)],
        [CHANGELOG, replace(FEWER, saves_in=())],
        [CHANGELOG, replace(FEWER, saves_ms=None, saves_latency_ms=Promise(1, 2, 3))],
    ):
        assert made_at_once(steps, BUDGET) == steps
