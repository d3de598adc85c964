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


def step_of(finding: Any, id: str = "async-progress") -> Any:
    return next(step for step in finding.steps if step.id == id)


def stateful(whole: int = 100, add_batch: int = 90, **operator: Any) -> dict[str, Any]:
    """A batch of an aggregation."""
    made = {"operatorName": "stateStoreSave", "commitTimeMs": 400, "numShufflePartitions": 8} | operator
    return {"triggerExecution": whole, "addBatch": add_batch, "operators": [made]}


def test_a_rule_fires_with_level_confidence_and_a_legal_step(catalogue: Catalogue) -> None:
    finding = judged(catalogue, [BATCH] * 60, **KNOWN)
    assert isinstance(finding, Finding)
    assert (finding.level, finding.confidence) == ("high", "high")
    assert finding.says.startswith("In a typical batch, 58 ms of 100 ms (58.0 %)")
    assert (finding.steps[0].id, finding.steps[0].legal) == ("async-progress", "yes")
    one = judged(catalogue, [BATCH], **KNOWN)  # which is judged, and says so
    assert one.confidence == "low" and "one batch" in one.says


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
    assert step_of(finding, "real-time-mode").change.trigger == {"real_time": "1 minute"}


OLD_STORE = {"stateful": True, "state_store": "hdfs", "spark_version": "4.0.0"}
ROCKSDB = {"stateful": True, "state_store": "rocksdb", "spark_version": "4.3.0"}


def test_an_unknown_fact_is_named_once_in_a_step(catalogue: Catalogue) -> None:
    finding = judged(catalogue, [stateful(numStateStoreInstances=8)] * 60, "ST001", **ROCKSDB, sink="noop")
    step = step_of(finding, "offline-state-repartition")
    assert (step.legal, step.unknown, step.because.count("task_slots=")) == ("if", ("task_slots",), 1)


@pytest.mark.parametrize(
    ("batch", "known"),
    [
        (stateful(), {}),  # it loses the state, and would be a guess
        # partitions that meet as many slots need no fewer
        (stateful(commitTimeMs=90, numShufflePartitions=2, numStateStoreInstances=2), {"task_slots_at_least": 2}),
    ],
)
def test_fewer_partitions_are_not_offered(catalogue: Catalogue, batch: dict[str, Any], known: dict[str, Any]) -> None:
    finding = judged(catalogue, [batch] * 60, "ST001", **OLD_STORE, **known)
    assert "fewer-state-partitions" not in {step.id for step in finding.steps}


def test_steps_stand_in_the_order_of_what_they_save(catalogue: Catalogue) -> None:
    batch = stateful(621, 540, commitTimeMs=638, allUpdatesTimeMs=90, numRowsUpdated=500)
    known = {"changelog": False, "task_slots": 2, "sink": "kafka", "platform": "open_source"}
    finding = judged(catalogue, [batch] * 60, "ST001", **ROCKSDB, **known)
    legal = [step.id for step in finding.steps if step.legal == "yes"]
    assert legal[:2] == ["offline-state-repartition", "changelog-checkpointing"]


UNBOUND: dict[str, Any] = {"spark_version": None}


@pytest.mark.parametrize(
    ("known", "legal", "because"),
    [
        ({"stateful": True}, "no", "state"), ({"sink": "foreach_batch"}, "no", "sink"),
        ({"sink": "foreach", "spark_version": "4.2.1"}, "no", "4.3"), ({"sink": "foreach"}, "yes", ""),
        ({"trigger": "available_now"}, "no", "AvailableNow"), ({"spark_version": "3.3.4"}, "no", "3.4"),
        # what is not known is named; on Databricks its runtime decides as well
        *(({fact: None}, "if", f"--set {fact}=") for fact in ("stateful", "sink", "trigger", "spark_version")),
        ({"platform": "databricks", "databricks_runtime": "11.3", "spark_version": "3.3.0"}, "yes", ""),
        ({"platform": "databricks", "databricks_runtime": "10.4", "spark_version": "3.3.0"}, "no", ""),
        # what holds for every trigger that is left is a yes
        ({"trigger": None, "trigger_one_of": ("unspecified", "processing_time")}, "yes", ""),
        ({"trigger": None, "trigger_one_of": ("once", "unspecified")}, "if", "trigger"),
        # a version is known by its bounds
        (UNBOUND | {"spark_version_below": "3.4"}, "no", "It needs Spark 3.4 or later; this is below 3.4"),
        (UNBOUND | {"spark_version_below": "3.4", "databricks_runtime_below": "11.0", "platform": None}, "no",
         "this is below 3.4"),
        (UNBOUND | {"spark_version_at_least": "3.4", "spark_version_below": "4.0"}, "yes", ""),
        (UNBOUND | {"spark_version_below": "4.0"}, "if", "spark_version is not known"),
    ],
)  # fmt: skip
def test_whether_spark_takes_asynchronous_progress(
    catalogue: Catalogue, known: dict[str, Any], legal: str, because: str
) -> None:
    given = {name: value for name, value in (KNOWN | known).items() if value is not None}
    step = step_of(judged(catalogue, [BATCH] * 60, **given))
    assert step.legal == legal and because in (step.because or "")
    assert legal != "if" or any(name in because for name in step.unknown)


def test_a_long_trigger_makes_it_low_whatever_the_share(catalogue: Catalogue) -> None:
    row = BATCH | {"triggerExecution": 150, "walCommit": 50, "commitOffsets": 50}
    known = KNOWN | {"trigger": "processing_time", "trigger_interval_ms": 60_000, "interval_ms": 60_000}
    assert judged(catalogue, [row] * 60, **known).level == "low"


def test_quiet_when_async_is_on_and_skipped_with_the_fact_that_is_missing(catalogue: Catalogue) -> None:
    known = {name: value for name, value in KNOWN.items() if name != "async_progress"}
    assert isinstance(judged(catalogue, [BATCH] * 60, **known, async_progress=True), NotApplicable)
    skipped = judged(catalogue, [BATCH] * 60, "LG002", **known)
    assert isinstance(skipped, Skipped) and "async_progress" in skipped.reason


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
    left = {entry.rule: entry.left for entry in found.passed}
    assert left["LG001"] is not None
    assert left["LG003"] is None  # nobody knows whether the purge is asynchronous
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
    told = {("kafka", None): True, ("delta", None): False, ("foreach", None): None, ("foreach", "4.3.0"): True,
            ("foreach", "4.2.9"): False}  # fmt: skip
    for (sink, version), holds in told.items():
        found = ask_all(lines, window([BATCH], sink=sink, **({"spark_version": version} if version else {})))
        assert (found.holds, found.unknown) == (holds, ["spark_version"] if holds is None else [])


@pytest.mark.parametrize(
    ("asked", "known", "holds"),
    [
        ({"fact": "spark_version", "at_least": "3.4"}, {"spark_version_at_least": "3.4"}, True),
        ({"fact": "spark_version", "at_least": "3.4"}, {"spark_version_at_least": "3.2"}, None),
        # an interval that holds the limit is no answer; a number that equals it reaches it
        *(({"metric": "state_commit_wall_ms", "at_least": least}, {}, holds)
          for least, holds in ((50, None), (5, True), (500, False))),
        # a configuration value is a text; what is no number is not compared
        *(({"fact": "conf:a", "below": 1000}, {"conf:a": value}, holds)
          for value, holds in (("5", True), (" 2.5 ", True), ("1000", False), ("10k", None), ("true", None))),
        ({"fact": "conf:a", "at_least": 1000}, {}, None),
        *(({"fact": "conf:a", **asked}, {"conf:a": value}, holds)
          for asked in ({"is": "FAIR"}, {"in": ["fair", "0s"]})
          for value, holds in (("FAIR", True), (" fair", True), ("fifo", False))),
        ({"fact": "sink", "is": "Kafka"}, {"sink": "kafka"}, False),
        ({"metric": "trigger_execution_ms", "at_least": 100}, {}, True),
        ({"metric": "trigger_execution_ms", "below": 100}, {}, False),
    ],
)  # fmt: skip
def test_the_answer_to_a_condition(asked: dict[str, Any], known: dict[str, Any], holds: bool | None) -> None:
    state = [{"operatorName": "s", "commitTimeMs": 100, "numShufflePartitions": 10}]
    assert ask(condition(**asked), window([BATCH | {"addBatch": 80, "operators": state}], **known)).holds is holds


@pytest.mark.parametrize(("fact", "settable"), [("kafka_batch_size", True), ("loop_join", False)])
def test_what_a_person_can_set_is_asked_for(fact: str, settable: bool) -> None:
    answer = ask(condition(fact=fact, **{"is": True}), window([BATCH]))
    assert answer.holds is None and fact in answer.because
    assert ("--set" in answer.because) is settable


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
    assert [felt_level("high", share) for share in (0.001, 0.05, None)] == ["low", "medium", "high"]


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
    (tmp_path / "TM001-batch-over-a-second.yaml").write_text(yaml.safe_dump(OWN_RULE))
    rules = load([tmp_path])
    found = judge_rule(rules.rules["TM001"], window([BATCH | {"triggerExecution": 1500, "addBatch": 1400}] * 40))
    assert isinstance(found, Finding)
    assert found.says == "The median batch takes 1.5 s."


def test_an_interval_names_the_fact_that_would_narrow_it_and_no_other(catalogue: Catalogue) -> None:
    batch = stateful(commitTimeMs=40, numStateStoreInstances=8)
    without = judged(catalogue, [batch] * 60, "ST001", **OLD_STORE)
    shared = judged(catalogue, [batch] * 60, "ST001", **OLD_STORE, task_slots=8, slots_shared=True)
    assert isinstance(without, Skipped) and "--set task_slots=..." in without.reason
    assert isinstance(shared, Skipped) and "--set" not in shared.reason


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
