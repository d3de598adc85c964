"""What is shown first: of every recorded sample a loss, at most 25 lines, and no step that Spark refuses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

from advisor.catalogue import load
from advisor.catalogue.example import Example
from advisor.contract import Calm, FactEntry, Passed, Promise, QueryEntry, Skipped
from advisor.engine import Judgement, judge
from advisor.examples import window as of_example
from advisor.facts.evidence import Run
from advisor.metrics import METRICS, label
from advisor.report import Asked
from advisor.report.judged import Judged
from advisor.report.loss import goes_to, largest_loss, serves
from advisor.report.query import query
from advisor.report.screen import first_sentence, is_unopened, screen
from advisor.report.steps import best_step
from advisor.report.verdict import calm
from advisor.views.first_screen import batch_headroom_lag, beside_the_loss, gain, in_a_line, no_step
from advisor.views.terminal import report_as_text
from advisor.window import Window, run_window
from tests.made import START, events, facts, table, window
from tests.recorded import report
from tests.test_report import Wanted, reported

CALM = {
    "triggerExecution": 330, "latestOffset": 0, "queryPlanning": 0, "addBatch": 254, "walCommit": 30,
    "commitOffsets": 30, "numInputRows": 100,
}  # fmt: skip
QUICK = {"triggerExecution": 330, "addBatch": 304, "walCommit": 3, "commitOffsets": 3, "numInputRows": 100}
SPIKE = CALM | {"triggerExecution": 3500, "addBatch": 3420}
LONGEST = 115  # characters of a sentence that is shown first


def only(rows: Iterable[dict[str, Any]], **facts: Any) -> Any:
    made = window(list(rows), interval_ms=facts.pop("interval_ms", None), **facts)
    return largest_loss(judged(made, judge(made, load(None))))


def judged(made: Window, judgement: Judgement) -> Judged:
    return Judged(Run("1", "2", "made"), 1, made, None, "restart", "running", load(None), judgement)


def entry(rows: Iterable[dict[str, Any]], **timing: Any) -> QueryEntry:
    (query,) = reported(load(None), events(list(rows), **timing)).typed.queries
    return query


@pytest.mark.parametrize(
    ("rows", "facts", "kind", "rule"),
    [
        ([SPIKE if number % 10 == 0 else CALM for number in range(50)], {"stateful": False}, "batches", "SK001"),
        ([CALM] * 30, {"trigger": "processing_time", "trigger_interval_ms": 100}, "pace", "TR013"),
        ([CALM], {"trigger": "processing_time", "trigger_interval_ms": 100}, "pace", "TR013"),
        ([CALM | {"addBatch": 50, "walCommit": 140, "commitOffsets": 120}] * 30, {}, "logs", "LG001"),
        ([QUICK] * 30, {}, "add_batch", None),
    ],
    ids=["rhythm", "late", "one late batch", "logs", "no rule"],
)
def test_what_is_lost_first(rows: list[dict[str, Any]], facts: dict[str, Any], kind: str, rule: str | None) -> None:
    loss = only(rows, **facts)
    assert (loss.kind, loss.rule) == (kind, rule)


def test_what_explains_another_may_be_explained_in_its_turn() -> None:
    """DV003 explains DV001, which explains SK002."""
    example = load(None).rules["DV003"].examples[0]
    row = example.batches.row | {"triggerExecution": 5000, "walCommit": 50, "commitOffsets": 50}
    made = of_example(example.model_copy(update={"batches": example.batches.model_copy(update={"row": row})}))
    judgement = judge(made, load(None))
    explained = {one.rule: one.explained_by for one in judgement.findings}
    assert (explained["DV001"], explained["SK002"]) == ("DV003", "DV001")
    for findings in (judgement.findings, judgement.findings[::-1]):
        seen = judged(made, replace(judgement, findings=findings))
        assert largest_loss(seen).rule == "DV003"
    # A team's own rules may explain each other.
    circle = [
        msgspec.structs.replace(one, explained_by="SK002") if one.rule == "DV003" else one for one in judgement.findings
    ]
    assert largest_loss(judged(made, replace(judgement, findings=circle))).rule in ("DV003", "DV001", "SK002")


def test_the_whole_result_written_again_explains_waves_whose_head_names_no_trifle() -> None:
    """What tasks give to the driver, 0.2 ms a batch, is all that SK010 measures here."""
    example = load(None).rules["SK010"].examples[-2]
    stage = {"kind": "state", "tasks": 4, "slots": 2, "wall_ms": 1550, "task_ms": 2900, "task_max_ms": 800}
    batches = example.batches.model_dump() | {"stages": [stage], "parts": {"result_ms": 0.2}}
    known = example.facts | {"task_slots": 2, "local_mode": True}
    made = of_example(Example.model_validate(example.model_dump() | {"facts": known, "batches": batches}))
    judgement = judge(made, load(None))
    both = [one for one in judgement.findings if one.rule in ("CL002", "SK010")]
    loss = largest_loss(judged(made, replace(judgement, findings=both)))
    best = best_step(both, loss)
    assert loss and best and (loss.rule, best.step) == ("CL002", "merge-what-has-changed")


SAVED = {"operatorName": "stateStoreSave", "numShufflePartitions": 2}
BIG_STATE = {
    "operatorName": "stateStoreSave", "numRowsTotal": 84_000_000, "numRowsUpdated": 900_000, "commitTimeMs": 420_000,
    "allUpdatesTimeMs": 160_000, "memoryUsedBytes": 64_000_000_000, "numShufflePartitions": 200,
    "numStateStoreInstances": 200, "customMetrics": {"loadedMapCacheHitCount": 4000, "loadedMapCacheMissCount": 0},
}  # fmt: skip
LATE = {"triggerExecution": 31_020, "addBatch": 29_800, "walCommit": 280, "numInputRows": 1_500_000}


def test_a_query_that_does_not_keep_up_is_told_what_is_gravest_of_its_batches() -> None:
    rows = [LATE | {"operators": [BIG_STATE]}] * 12
    trigger = Asked(wishes=Wanted({"trigger": "processing_time", "trigger_interval_ms": 30_000}))
    seen = reported(load(None), events(rows, interval_ms=30_000), asked=trigger)
    (query,) = seen.typed.queries
    assert query.screen.loss is not None and query.screen.loss.kind == "pace"
    assert any("84 million rows of state" in words for words in query.screen.troubles)
    (commit,) = (part for part in query.screen.within_add_batch if part.name == "state commit")
    assert (commit.share, commit.share_at_most) == (0.07, 0.846)
    assert "state commit 7 to 85 %" in " ".join(report_as_text(seen.typed, width=120).split())


def test_a_fact_that_its_batches_contradict_is_on_the_first_screen() -> None:
    rows = [CALM | {"operators": [BIG_STATE]}] * 12
    wrong: list[dict[str, Any]] = [{"stateful": False}, {"trigger": "continuous"}, {"trigger": "once"}]
    for wanted in (*wrong, {"stateful": True}, {"trigger": "unspecified"}):
        seen = reported(load(None), events(rows, interval_ms=3_337), asked=Asked(wishes=Wanted(wanted)))
        assert ("\nCONFLICT  " in report_as_text(seen.typed)) == (wanted in wrong)


def test_an_interval_that_nobody_needs_is_a_loss_and_a_wanted_one_is_none() -> None:
    facts = {"trigger": "processing_time", "trigger_interval_ms": 10_000, "interval_ms": 10_000}
    assert only([CALM] * 30, **facts).rule == "TR006"
    assert only([CALM] * 30, **facts, latency_target_ms=60_000).kind == "add_batch"
    assert only([]) is None


@pytest.mark.parametrize(("target", "wish"), [({}, "records should arrive sooner"), ({"latency_target_ms": 100}, None)])
def test_a_shorter_interval_is_advised_to_those_who_want_records_sooner(
    target: dict[str, int], wish: str | None
) -> None:
    facts = Wanted({"trigger": "processing_time", "trigger_interval_ms": 10_000} | target)
    seen = reported(load(None), events([CALM] * 30, interval_ms=10_000), asked=Asked(wishes=facts)).typed
    (query,) = seen.queries
    assert query.best_step is not None and query.best_step.rule == "TR006"
    assert (query.screen.calm is not None, query.screen.wish) == (wish is not None, wish)
    words = report_as_text(seen)
    assert ("\nIF   " in words, "\nDO   " in words) == (wish is not None, wish is None)
    assert ("If records should arrive sooner: " in query.verdict) == (wish is not None)


def test_the_parts_add_up_and_spikes_are_one_of_them() -> None:
    query = entry(SPIKE if number % 10 == 0 else CALM for number in range(50))
    shares = {part.kind: part.share for part in query.screen.goes_to}
    assert set(shares) == {"batches", "add_batch", "logs", "unaccounted"}
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)


def test_the_question_is_the_one_that_most_wait_for() -> None:
    found = entry([CALM] * 3)
    asked = found.screen.unsure
    assert asked is not None and asked.asks
    waiting = {entry.rule for entry in found.skipped if asked.fact in entry.unknown}
    assert set(asked.rules) >= waiting


@pytest.mark.parametrize(
    ("waits", "local", "fact"),
    [
        (Skipped("CL001", "", ("task_slots",)), True, None),
        (Skipped("CL001", "", ("task_slots",)), False, "task_slots"),
        (Skipped("TR014", "", ("latency_target_ms",)), True, "latency_target_ms"),  # a wish
    ],
)
def test_a_fact_that_decides_only_a_rule_without_a_step_is_not_asked(
    waits: Skipped, local: bool, fact: str | None
) -> None:
    example = load(None).rules["CL001"].examples[0]
    made = of_example(example.model_copy(update={"facts": {"source": "rate", "local_mode": local}}))
    waiting = replace(judge(made, load(None)), findings=(), skipped=[waits])
    asked = screen(judged(made, waiting), None, None, None).unsure
    assert (asked and asked.fact) == fact


def test_what_is_shown_first_of_a_step_is_short() -> None:
    catalogue = load(None)
    steps = [*catalogue.steps.values(), *(step for rule in catalogue.rules.values() for step in rule.steps)]
    long = [
        (step.id, name, first)
        for step in steps
        for name in ("costs", "undo", "check")
        if isinstance(words := getattr(step, name), str) and len(first := first_sentence(words)) > LONGEST
    ]
    assert long == []
    assert not [name for name in METRICS if "_" in label(name)]  # each has words for a reader


def calm_of(rows: Iterable[dict[str, Any]], **facts: Any) -> Calm | None:
    """What is said of a query with a trigger every 600 ms that no rule finds anything about."""
    known = {"trigger": "processing_time", "trigger_interval_ms": 600} | facts
    made = window(list(rows), interval_ms=600, **known)
    seen = judged(made, Judgement(passed=(Passed("A", "a", 0.5), Passed("B", "b", 0.1))))
    seen = replace(seen, judgement=replace(seen.judgement, findings=judge(made, load(None)).findings))
    return calm(seen, largest_loss(seen), is_unopened(made))


def test_a_query_that_keeps_up_is_said_to_with_its_numbers() -> None:
    found = calm_of([QUICK] * 30)
    assert found is not None and "330 ms" in found.says and "30" in found.says
    assert [entry.rule for entry in found.closest] == ["B", "A"]
    few = calm_of([QUICK] * 9)
    assert few is not None and few.says.startswith("No problem in 9 batches (10 are needed to be sure).")


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ([QUICK] * 30, {"falling_behind": True}),
        ([QUICK] * 30, {"trigger_interval_ms": 400}),
        ([QUICK] * 30, {"trigger": "unspecified", "trigger_interval_ms": None}),
        ([QUICK] * 30, {"latency_target_ms": 100}),
        ([QUICK] * 9, {"trigger": "unspecified", "trigger_interval_ms": None}),
        ([SPIKE if number % 10 == 0 else QUICK for number in range(30)], {}),
        ([SPIKE if number == 17 else QUICK for number in range(30)], {}),
    ],
    ids=["behind by the log", "over 80 %", "no lag known", "target missed", "few", "spikes", "one slow batch"],
)
def test_nothing_is_said_to_be_well_that_is_not_shown_to_be(rows: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    assert calm_of(rows, **facts) is None


LOGGED = QUICK | {"addBatch": 200, "walCommit": 50, "commitOffsets": 40}


@pytest.mark.parametrize(
    ("facts", "quiet"),
    [({"stateful": True}, True), ({"stateful": False}, False), ({"stateful": True, "latency_target_ms": 100}, False)],
    ids=["no step", "a step", "target missed"],
)
def test_a_small_finding_that_no_step_mends_does_not_hide_that_a_query_keeps_up(
    facts: dict[str, Any], quiet: bool
) -> None:
    known = {"sink": "noop", "source": "rate", "spark_version": "4.3.0", "platform": "open_source", **facts}
    made = window([LOGGED] * 30, interval_ms=600, trigger="processing_time", trigger_interval_ms=600, **known)
    assert "LG001" in {one.rule for one in judge(made, load(None)).findings}
    found = calm_of([LOGGED] * 30, **known)
    assert (found is not None and "keeps up" in found.says) is quiet


def test_a_query_that_keeps_up_needs_no_change_though_a_small_finding_has_no_step() -> None:
    query = entry([QUICK] * 30, interval_ms=600)
    found = msgspec.structs.replace(query.screen, calm=Calm(says="The query keeps up.", closest=()))
    finding = entry([LOGGED | {"operators": [SAVED | {"commitTimeMs": 10}]}] * 30, interval_ms=600).findings[:1]
    steps = tuple(msgspec.structs.replace(step, legal="no") for step in finding[0].steps)
    refused = (msgspec.structs.replace(finding[0], steps=steps),)
    assert no_step(msgspec.structs.replace(query, screen=found, findings=refused)).startswith("Nothing needs a change")


@pytest.mark.parametrize(("moved", "operators", "said"), [
    (True, [], "moved"), (True, [{"operatorName": "stateStoreSave"}], "moved"),
    (False, [{"operatorName": "stateStoreSave"}], "stood"), (None, [{"operatorName": "stateStoreSave"}], ""),
])  # fmt: skip
def test_a_batch_without_rows_is_told_with_what_it_costs_and_why_it_ran(
    moved: bool | None, operators: list[dict[str, Any]], said: str
) -> None:
    ends = {} if moved is None else {"startOffset": {"logOffset": 0}, "endOffset": {"logOffset": int(moved)}}
    source = {"description": "FileStreamSource[file:/in]", "numInputRows": 0, **ends}
    rows = [QUICK | {"numInputRows": 0, "operators": operators, "sources": [source]}] * 6
    verdict, why = entry(rows, first=0).verdict, load(None).phases.without_rows
    assert "Each of 5 batches without rows takes" in verdict
    assert [name for name, words in why.items() if words in verdict] == ([said] if said else [])


@pytest.mark.parametrize(("polled_ms", "quiet"), [(10.0, True), (600.0, False)])
def test_a_query_that_polls_and_finds_nothing_behind_most_batches_keeps_up(polled_ms: float, quiet: bool) -> None:
    made = events([QUICK] * 30, interval_ms=600)
    for one in made:
        one["inputRowsPerSecond"] = one["numInputRows"] / polled_ms * 1000
    seen = judged(run_window(table(made), facts(trigger="unspecified")), Judgement(passed=(Passed("A", "a", 0.5),)))
    found = calm(seen, largest_loss(seen), is_unopened(seen.window))
    assert (found is not None and "waits for new rows" in found.says) is quiet


def test_a_first_batch_that_the_log_calls_late_does_not_hide_that_the_others_keep_up() -> None:
    def found(first: int) -> Calm | None:
        rows = [QUICK | {"triggerExecution": first, "addBatch": first - 26}, *[QUICK] * 30]
        known = {"trigger": "processing_time", "trigger_interval_ms": 600, "falling_behind": True}
        made = window(rows, interval_ms=600, first=0, **known)
        seen = judged(made, Judgement(passed=(Passed("A", "a", 0.5),)))
        return calm(seen, largest_loss(seen), is_unopened(made))

    assert found(5000) is not None and found(500) is None
    assert found(590) is not None  # Spark's line counts what lies around triggerExecution, too


def test_one_source_for_all_is_advised_to_a_query_without_state() -> None:
    files = [{"description": f"FileStreamSource[file:/in/{n}]", "numInputRows": 10} for n in range(12)]
    row = {"triggerExecution": 3000, "latestOffset": 1500, "addBatch": 1300, "numInputRows": 120, "sources": files}
    keyed = {"operators": [SAVED | {"commitTimeMs": 10}]}
    bare, stateful = (entry([one] * 17) for one in (row, row | keyed))
    assert bare.best_step is not None and bare.best_step.rule == "SR010"
    assert stateful.best_step is None and "too few to lose a state for" in no_step(stateful)  # no step for SR001


KAFKA = {"description": "KafkaV2[Subscribe[t]]", "latestOffset": {"t": {"0": 5}}, "endOffset": {"t": {"0": 5}},
         "startOffset": {"t": {"0": 0}}, "numInputRows": 5, "metrics": {"avgOffsetsBehindLatest": "0.0"}}  # fmt: skip


@pytest.mark.parametrize(("ms", "quiet"), [(300, True), (20_000, False)])
def test_long_batches_one_after_the_other_do_not_keep_up(ms: int, quiet: bool) -> None:
    row = {"triggerExecution": ms + 20, "addBatch": ms, "numInputRows": 5, "sources": [KAFKA]}
    made = window([row] * 30, trigger="unspecified", source="kafka", sink="kafka")
    seen = judged(made, Judgement())
    assert (calm(seen, largest_loss(seen), is_unopened(made)) is not None) is quiet


def test_a_phase_longer_than_its_batch_is_no_part_of_where_time_goes() -> None:
    batch = {"triggerExecution": 300, "addBatch": 120, "walCommit": 100, "commitOffsets": 60}
    made = window([batch] * 30 + [batch | {"addBatch": 3_600_000}] + [batch] * 29, trigger="unspecified")
    found = goes_to(made, load(None).phases.phases)
    assert max(part.share for part in found) == pytest.approx(160 / 300, abs=0.01)


def test_a_step_against_something_else_than_the_loss_says_why() -> None:
    (query,) = report("sample_progress/SK008/paimon-other-writer-3.5.9").typed.queries
    assert query.screen.loss_stays and "committed more than once" in " ".join(query.screen.troubles)
    assert in_a_line(query).startswith("Commits are tried again because others write to the table: Let the other")


EVENT_TIME = {"max": "2026-03-01T02:00:00.000Z", "min": "2026-03-01T01:29:00.000Z"}
EVENT_TIME |= {"watermark": "2026-03-01T01:58:00.000Z"}


@pytest.mark.parametrize(
    ("dropped", "loss", "step"), [(60, "rows", "ST011"), (30, "rows", "ST011"), (10, "waiting", "TR006")]
)
def test_rows_that_are_dropped_come_before_milliseconds(dropped: int, loss: str, step: str) -> None:
    session = SAVED | {"operatorName": "sessionWindowStateStoreSaveExec", "commitTimeMs": 60}
    session |= {"numRowsDroppedByWatermark": dropped}
    query = entry([CALM | {"operators": [session], "eventTime": EVENT_TIME}] * 30, interval_ms=10_000)
    assert query.screen.loss is not None and query.best_step is not None and query.screen.calm is None
    assert (query.screen.loss.kind, query.best_step.rule) == (loss, step)
    assert query.verdict.startswith(query.screen.loss.says)
    assert [finding.rule for finding in query.findings].count("ST011") == 1


@pytest.mark.parametrize(
    ("apart_ms", "moves", "kind"), [(10_000, False, True), (10_000, True, False), (100, False, False)]
)
def test_a_watermark_that_stands_still_comes_before_milliseconds(apart_ms: int, moves: bool, kind: bool) -> None:
    count = SAVED | {"commitTimeMs": 60}
    rows = []
    for number in range(30):
        newest = START + timedelta(milliseconds=number * apart_ms)
        watermark = newest - timedelta(minutes=1) if moves else datetime(1970, 1, 1, tzinfo=timezone.utc)
        times = {name: f"{at:%Y-%m-%dT%H:%M:%S}.000Z" for name, at in (("max", newest), ("watermark", watermark))}
        rows.append(CALM | {"operators": [count], "eventTime": times})
    query = entry(rows, interval_ms=10_000)
    assert query.screen.loss is not None and (query.screen.loss.kind == "results") == kind
    assert (query.best_step is not None and query.best_step.rule == "ST017") == kind


def test_a_long_add_batch_that_nobody_opened_is_not_calm() -> None:
    long = CALM | {"triggerExecution": 20_000, "addBatch": 19_900, "sink": "org.apache.spark.sql.kafka010.KafkaTable"}
    assert entry([long] * 24).screen.calm is None


def test_a_step_that_may_set_what_is_set_already_is_not_first() -> None:
    count = SAVED | {"numRowsTotal": 20_000, "numRowsUpdated": 1000}
    misses = [{"loadedMapCacheHitCount": 0, "loadedMapCacheMissCount": 4 * n} for n in range(30)]
    query = entry(CALM | {"operators": [count | {"customMetrics": custom}]} for custom in misses)
    offered = {step.id: step.legal for finding in query.findings for step in finding.steps}
    assert offered["versions-in-memory"] == "if"
    assert query.best_step is None or query.best_step.step != "versions-in-memory"


@pytest.mark.parametrize(
    ("logs_ms", "known", "quiet", "wished"),
    [
        (20, {}, True, "more than one task can run at once"),
        (400, {}, False, "more than one task can run at once"),
        (20, {"task_slots": 2}, False, None),
        (20, {"task_slots_at_least": 2}, False, None),
    ],
)
def test_one_task_is_a_fault_only_where_several_can_run(
    logs_ms: float, known: dict[str, Any], quiet: bool, wished: str | None
) -> None:
    example = load(None).rules["SR004"].examples[-2]
    logs = {"triggerExecution": 2140 + 2 * logs_ms, "walCommit": logs_ms, "commitOffsets": logs_ms}
    row = example.batches.row | logs
    batches = example.batches.model_copy(update={"row": row})
    seen = of_example(example.model_copy(update={"facts": example.facts | known, "batches": batches}))
    seen = judged(seen, judge(seen, load(None)))
    loss = largest_loss(seen)
    best = best_step(seen.judgement.findings, loss, seen.catalogue.rules)
    assert loss and best and (loss.rule, best.step) == ("SR004", "more-source-partitions")
    assert (calm(seen, loss, unopened=False) is not None, serves(seen, best)) == (quiet, wished)


@pytest.mark.parametrize("source_ms", [560, 800])
def test_a_step_in_the_code_against_the_largest_loss_stands_first_with_its_bound(source_ms: int) -> None:
    """A query without state that calls `repartition(60)` on two slots: its files are the consequence."""
    stages = [
        {"kind": "source_read", "last": False, "stage": 1, "tasks": 2, "wall_ms": source_ms, "task_ms": 1000,
         "task_max_ms": 520},
        {"kind": "result", "last": True, "stage": 2, "tasks": 60, "wall_ms": 600, "task_ms": 1100, "task_max_ms": 30},
    ]  # fmt: skip
    row = {"triggerExecution": 1650, "addBatch": 1500, "walCommit": 50, "commitOffsets": 50, "numInputRows": 1000}
    batches = {"count": 30, "row": row, "stages": [one | {"slots": 2, "first_task_ms": 5} for one in stages]}
    known = {"stateful": False, "task_slots": 2, "spark_version": "4.3.0", "sink": "noop"}
    many = {"name": "repartition(60)", "facts": known, "batches": batches, "expect": {"verdict": "fires"}}
    found = of_example(Example.model_validate(many))
    seen = judged(found, judge(found, load(None)))
    loss = largest_loss(seen)
    best = best_step(seen.judgement.findings, loss, seen.catalogue.rules)
    assert loss and best and (loss.rule, best.rule, best.step) == ("SH002", "SH002", "find-the-shuffle")
    promise = best.advice.saves_ms
    assert promise and promise.expected is None and promise.high > 500


@pytest.mark.parametrize(
    ("python_ms", "interval_ms", "rule", "words"),
    [
        (2300, 3000, "PY001", ""),
        (2300, 800, "PY001", "The batches still take longer than the trigger interval."),
        (400, 2900, "LG001", "The batches may still take longer than the trigger interval."),
    ],
)
def test_late_batches_get_the_step_against_what_takes_most_of_them(
    python_ms: int, interval_ms: int, rule: str, words: str
) -> None:
    row = {"triggerExecution": 3200, "addBatch": 2700, "walCommit": 165, "commitOffsets": 160, "numInputRows": 2000}
    parts = {"python_ms": python_ms, "source_read_ms": 245}
    known = {"trigger": "processing_time", "trigger_interval_ms": interval_ms, "task_slots": 2, "stateful": False}
    made = {
        "name": "late",
        "facts": known | {"source": "kafka", "sink": "kafka", "spark_version": "4.3.0"},
        "batches": {"count": 30, "row": row, "parts": parts, "interval_ms": 3205},
        "expect": {"verdict": "fires"},
    }
    found = of_example(Example.model_validate(made))
    told = query(judged(found, judge(found, load(None))))
    assert told.best_step and told.screen.loss and told.screen.loss.kind == "pace"
    assert (told.best_step.rule, beside_the_loss(told)) == (rule, words)
    whole = msgspec.structs.replace(told, screen=msgspec.structs.replace(told.screen, backlog_untold=False))
    waits_for_two = gain(whole, told.best_step.advice).endswith("a record waits for two batches")
    assert waits_for_two == (interval_ms == 800)  # a shorter batch keeps the others, which stay
    assert waits_for_two == gain(told, told.best_step.advice).endswith("more where rows wait in the source")
    assert words or told.screen.troubles[0].startswith("In a typical batch, 2.3 s of 3.2 s is spent in Python")
    if words:  # a gain that counts what waits in the source is not beside a loss that stays
        saves = {"saves_ms": Promise(0, 200, 300), "saves_latency_ms": Promise(0, 900, 1000)}
        step = msgspec.structs.replace(told.best_step.advice, **saves)
        counts = msgspec.structs.replace(told, best_step=msgspec.structs.replace(told.best_step, advice=step))
        assert gain(counts, step).endswith("; what waits in the source is worked off sooner, too")
        assert beside_the_loss(counts) == words
        screen = msgspec.structs.replace(told.screen, loss=msgspec.structs.replace(told.screen.loss, kind="waiting"))
        said = [beside_the_loss(msgspec.structs.replace(one, screen=screen)) for one in (told, counts)]
        assert said == ["This does not shorten waiting.", ""]
        unknown = msgspec.structs.replace(counts, facts=counts.facts | {"trigger": FactEntry(value=None, origin=None)})
        assert gain(unknown, step).endswith("too, if the trigger has no interval")


@pytest.mark.parametrize(("every_third", "untold"), [(2, True), (3, False)])
def test_as_many_files_in_each_batch_may_be_a_limit_that_leaves_more(every_third: int, untold: bool) -> None:
    row = {"triggerExecution": 3000, "addBatch": 2700, "numInputRows": 290}
    made = {
        "name": "files",
        "facts": {"source": "file", "trigger": "unspecified", "spark_version": "4.3.0"},
        "batches": {
            "count": 20,
            "row": row,
            "parts": {"files_read": 2},
            "every": {"nth": 3, "row": row, "parts": {"files_read": every_third}},
        },
        "expect": {"verdict": "fires"},
    }
    found = of_example(Example.model_validate(made))
    assert query(judged(found, judge(found, load(None)))).screen.backlog_untold == untold


def test_a_latency_without_its_backlog_is_the_batch_and_half_the_interval() -> None:
    """Not the difference of two medians of what grows from batch to batch; the rows that wait are a median, too."""
    row = {"triggerExecution": 300, "addBatch": 200, "numInputRows": 1000}
    made = {
        "name": "limit",
        "facts": {"trigger": "processing_time", "trigger_interval_ms": 1000, "source": "kafka"},
        "batches": {
            "count": 60,
            "interval_ms": 1000,
            "row": row,
            "sources": [{"backlog": 2000, "backlog_growth": 1200}],
        },
        "expect": {"verdict": "fires"},
    }
    found = of_example(Example.model_validate(made))
    told = query(judged(found, judge(found, load(None))))
    assert told.best_step and told.best_step.step == "more-rows-per-batch"
    assert told.screen.after and told.screen.after.p50 == pytest.approx(300 + 1000 / 2, rel=0.01)
    assert batch_headroom_lag(told).endswith("Lag 37,400 rows")


@pytest.mark.parametrize(("came", "step"), [(1200, "async-progress"), (5000, "more-rows-per-batch")])
def test_what_holds_a_batch_up_stands_before_a_larger_limit_where_the_backlog_falls_without_it(
    came: int, step: str
) -> None:
    row = {"triggerExecution": 300, "addBatch": 100, "walCommit": 90, "commitOffsets": 90, "numInputRows": 1000}
    sources = [{"backlog": 9000, "backlog_growth": came - 1000}]
    made = {
        "name": "limit",
        "facts": {"trigger": "unspecified", "source": "kafka", "sink": "noop", "stateful": False},
        "batches": {"count": 60, "interval_ms": 302, "row": row, "sources": sources},
        "expect": {"verdict": "fires"},
    }
    found = of_example(Example.model_validate(made))
    told = query(judged(found, judge(found, load(None))))
    assert told.best_step and told.best_step.step == step


def test_where_lines_are_short_the_reason_of_the_step_stays_before_how_it_is_checked() -> None:
    (seen,) = (told := report("sample_progress/TR002/interval-100-ms-4.3.0/driver.log.gz").typed).queries
    assert seen.best_step
    (why,) = [one.says for one in seen.findings if one.rule == seen.best_step.rule]
    words = " ".join(report_as_text(told, width=60).split())
    assert why in seen.screen.troubles and why in words and " check " not in words
