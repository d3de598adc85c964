"""What is shown first: of every recorded sample a loss, at most 25 lines, and no step that Spark refuses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

import advisor
from advisor.catalogue import load
from advisor.contract import Calm, Passed, QueryEntry
from advisor.engine import Judgement
from advisor.facts import Run
from advisor.metrics import METRICS, label
from advisor.report import Asked
from advisor.report.calm import calm
from advisor.report.change import trends
from advisor.report.judged import Judged
from advisor.report.loss import largest_loss
from advisor.report.parts import goes_to
from advisor.report.screen import first_sentence
from advisor.report.troubles import troubles
from advisor.views.in_short import LOSSES, in_a_line
from advisor.views.in_short.gains import gain
from advisor.views.terminal import report_as_text
from tests.made import START, events, window
from tests.test_report import Wanted, reported
from tests.test_samples import CASES, NAMES, SAMPLES, report

CALM = {
    "triggerExecution": 330, "latestOffset": 0, "queryPlanning": 0, "addBatch": 254, "walCommit": 30,
    "commitOffsets": 30, "numInputRows": 100,
}  # fmt: skip
SPIKE = CALM | {"triggerExecution": 3500, "addBatch": 3420}
CODE = ("spark.conf.set(", '"', "--")  # lines that cannot be broken and pasted
LONGEST = 115  # characters of a sentence that is shown first


def only(rows: Iterable[dict[str, Any]], **facts: Any) -> Any:
    return largest_loss(window(list(rows), interval_ms=facts.pop("interval_ms", None), **facts), (), None)


def entry(rows: Iterable[dict[str, Any]], **timing: Any) -> QueryEntry:
    (query,) = reported(load(None), events(list(rows), **timing)).typed.queries
    return query


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_first_screen_of_a_sample(case: Path) -> None:
    page = report_as_text(report(case).typed)
    for query, width in product(report(case).typed.queries, (80, 100)):
        alone = report_as_text(msgspec.structs.replace(report(case).typed, queries=(query,)), width=width)
        screen = alone.partition("\n\n")[2].partition("More: --all")[0] + "More: --all"
        assert len(screen.splitlines()) <= 25
        assert not [line for line in screen.splitlines() if len(line) > width and not line.strip().startswith(CODE)]
    assert "nothing to do" not in page.lower()
    for query in report(case).typed.queries:
        if query.window.batches:
            assert query.screen.loss is not None
            assert query.verdict.startswith((query.screen.calm or query.screen.loss).says)
            assert query.screen.calm is None or "healthy" in case.parts
            assert query.screen.loss.kind in LOSSES
            assert sum(part.share for part in query.screen.goes_to) <= 1.01


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_nothing_that_spark_refuses_is_advised(case: Path) -> None:
    for query in report(case).typed.queries:
        steps = {(finding.rule, step.id): step for finding in query.findings for step in finding.steps}
        also = [steps[named.rule, named.step] for named in query.screen.also]
        assert all(step.legal != "no" for step in also)
        assert all(steps[one.rule, one.step].legal == "no" for one in query.screen.refused)
        assert query.best_step is None or query.best_step.step not in [step.id for step in also]


def test_slow_batches_in_a_rhythm_are_the_loss() -> None:
    loss = only((SPIKE if number % 10 == 0 else CALM for number in range(50)), stateful=False)
    assert loss.kind == "spikes"
    assert loss.says == "Every 10th batch takes 3.5 s instead of 330 ms: 54 % of all batch time."


def test_a_query_that_does_not_keep_up_loses_by_that() -> None:
    facts = {"trigger": "processing_time", "trigger_interval_ms": 100}
    loss = only([CALM] * 30, **facts)
    assert (loss.kind, loss.says) == (
        "falling_behind", "A batch takes 330 ms, the trigger allows 100 ms: 100 % of the batches are late."
    )  # fmt: skip


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
    assert query.screen.loss is not None and query.screen.loss.kind == "falling_behind"
    assert any("84 million rows of state" in words for words in query.screen.troubles)
    (commit,) = (part for part in query.screen.within_add_batch if part.name == "state commit")
    assert (commit.share, commit.share_at_most) == (0.07, 0.846)
    assert "state commit 7 to 85 %" in " ".join(report_as_text(seen.typed, width=120).split())


def test_an_interval_that_nobody_needs_is_a_loss_and_a_wanted_one_is_none() -> None:
    facts = {"trigger": "processing_time", "trigger_interval_ms": 10_000, "interval_ms": 10_000}
    assert only([CALM] * 30, **facts).kind == "interval"
    assert only([CALM] * 30, **facts, latency_target_ms=60_000).kind == "add_batch"


def test_logs_are_the_loss_where_they_take_most() -> None:
    loss = only([CALM | {"addBatch": 50, "walCommit": 140, "commitOffsets": 120}] * 30)
    assert (loss.kind, loss.ms) == ("logs", 260)


def test_without_a_steady_batch_nothing_is_lost() -> None:
    assert only([]) is None


def test_the_parts_add_up_and_spikes_are_one_of_them() -> None:
    query = entry(SPIKE if number % 10 == 0 else CALM for number in range(50))
    shares = {part.kind: part.share for part in query.screen.goes_to}
    assert set(shares) == {"spikes", "add_batch", "logs", "unaccounted"}
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)


def test_the_question_is_the_one_that_most_wait_for() -> None:
    found = entry([CALM] * 3)
    asked = found.screen.unsure
    assert asked is not None and asked.asks
    waiting = {entry.rule for entry in found.skipped if asked.fact in entry.unknown}
    assert set(asked.rules) >= waiting


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


def test_every_metric_has_words_for_a_reader() -> None:
    assert not [name for name in METRICS if "_" in label(name)]


def test_a_part_of_add_batch_that_a_rule_found_is_named() -> None:
    cases = [case for case in CASES if case.parent.name == "PY001"]
    assert cases
    for case in cases:
        (query,) = report(case).typed.queries
        loss = query.screen.loss
        assert loss is not None and (loss.name, loss.rule) == ("Python workers", "PY001")
        assert "Python workers" in loss.says


QUICK = {"triggerExecution": 330, "addBatch": 304, "walCommit": 3, "commitOffsets": 3, "numInputRows": 100}


def calm_of(rows: Iterable[dict[str, Any]], **facts: Any) -> Calm | None:
    """What is said of a query with a trigger every 600 ms that no rule finds anything about."""
    known = {"trigger": "processing_time", "trigger_interval_ms": 600} | facts
    made = window(list(rows), interval_ms=600, **known)
    run = Run("1", "2", "made")
    judged = Judged(
        run, 1, made, None, "start", "running", Judgement(passed=(Passed("A", "a", 0.5), Passed("B", "b", 0.1)))
    )
    loss = largest_loss(made, (), None)
    return calm(judged, loss, troubles(judged, None, loss), None, trends(made))


def test_a_query_that_keeps_up_is_said_to_with_its_numbers() -> None:
    found = calm_of([QUICK] * 30)
    assert found is not None
    assert found.says == (
        "All 30 batches ended within the trigger interval of 600 ms. A typical batch took 330 ms, p99 330 ms."
    )
    assert [entry.rule for entry in found.closest] == ["B", "A"]


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ([QUICK] * 9, {}),
        ([QUICK] * 30, {"falling_behind": True}),
        ([QUICK] * 30, {"trigger_interval_ms": 400}),
        ([QUICK] * 30, {"trigger": "unspecified", "trigger_interval_ms": None}),
        ([QUICK] * 30, {"latency_target_ms": 100}),
        ([SPIKE if number % 10 == 0 else QUICK for number in range(30)], {}),
        ([SPIKE if number == 17 else QUICK for number in range(30)], {}),
    ],
    ids=["few batches", "behind by the log", "over 80 %", "no lag known", "target missed", "spikes", "one slow batch"],
)
def test_nothing_is_said_to_be_well_that_is_not_shown_to_be(rows: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    assert calm_of(rows, **facts) is None


KAFKA = {"description": "KafkaV2[Subscribe[t]]", "latestOffset": {"t": {"0": 5}}, "endOffset": {"t": {"0": 5}},
         "startOffset": {"t": {"0": 0}}, "numInputRows": 5, "metrics": {"avgOffsetsBehindLatest": "0.0"}}  # fmt: skip


@pytest.mark.parametrize(("ms", "quiet"), [(300, True), (20_000, False)])
def test_long_batches_one_after_the_other_do_not_keep_up(ms: int, quiet: bool) -> None:
    row = {"triggerExecution": ms + 20, "addBatch": ms, "numInputRows": 5, "sources": [KAFKA]}
    facts = {"trigger": "unspecified", "trigger_interval_ms": None, "source": "kafka", "sink": "kafka"}
    assert (calm_of([row] * 30, **facts) is not None) is quiet


@pytest.mark.parametrize(("slots", "words"), [(4, "4 tasks run at once: 10 waves"), (40, ""), (None, "")])
def test_kafkas_partitions_are_read_in_waves_where_slots_are_few(slots: int | None, words: str) -> None:
    row = {"triggerExecution": 20_100, "addBatch": 20_000, "numInputRows": 4000}
    known = {"source": "kafka", "kafka_partitions": 40, "task_slots": slots, "trigger": "unspecified"}
    made = window([row] * 30, interval_ms=20_200, **known)
    judged = Judged(Run("1", "2", "made"), 1, made, None, "start", "running", Judgement())
    said = " ".join(troubles(judged, None, largest_loss(made, (), None)))
    assert ("waves of tasks" in said) is bool(words)
    assert words in said


def test_a_phase_longer_than_its_batch_is_no_part_of_where_time_goes() -> None:
    batch = {"triggerExecution": 300, "addBatch": 120, "walCommit": 100, "commitOffsets": 60}
    found = goes_to(window([batch] * 30 + [batch | {"addBatch": 3_600_000}] + [batch] * 29, trigger="unspecified"))
    assert max(part.share for part in found) == pytest.approx(160 / 300, abs=0.01)


def screen_of(sample: str) -> str:
    (case,) = (case for case, name in zip(CASES, NAMES, strict=True) if sample in name)
    return " ".join(report_as_text(report(case).typed).split())


def test_a_slow_batch_tells_what_it_spent_its_time_on() -> None:
    assert "Slowest batch 10, 35.3 s: Delta: Compute snapshot 19.8 s in 154 tasks" in screen_of("foreachbatch-to-delta")


def test_a_step_that_leaves_the_largest_loss_as_it_is_says_so() -> None:
    assert screen_of("CL005/beside-a-heavy-query").count("but It leaves addBatch as it is. For that:") == 1


def test_a_query_that_died_says_why_once_and_that_it_keeps_no_state() -> None:
    page = screen_of("LG005/switched-off-3.5.9")
    assert page.count("doesn't exist") == 1
    assert "Spark 3.5.9 · stateless" in page and "known for sure" not in page


def test_who_writes_a_checkpoint_of_a_delta_log_writes_delta() -> None:
    page = screen_of("SK007/delta-in-foreachbatch")
    assert "Delta writes a checkpoint of its log after every 10th commit." in page and "writes_delta" not in page


@pytest.mark.parametrize("sample", ["CF001/async-state", "ST002/rocksdb-without", "ST012/200", "both/join"])
def test_the_state_commit_is_one_number(sample: str) -> None:
    (case,) = (case for case, name in zip(CASES, NAMES, strict=True) if sample in name)
    for query in report(case).typed.queries:
        told = query.metrics["state_commit_wall_ms"].typical
        assert query.inside and [part.ms for part in query.inside.parts if part.name == "state_commit"] == [
            pytest.approx(told, rel=0.02)
        ]


def test_a_fetch_wait_comes_before_a_step_that_weakens_what_the_query_guarantees() -> None:
    page = screen_of("SR005/sparse-kafka")
    assert "but It leaves the logs as they are. For that:" in page
    assert page.index("DO Let Kafka answer fetches sooner") < page.index("ALSO Track progress asynchronously")


def test_what_ends_slow_batches_is_told_of_all_batches_and_not_of_the_median_record() -> None:
    assert "at most 134 ms less per batch on average, not measured yet" in screen_of("SK003/delta-sink")


def test_a_step_against_something_else_than_the_loss_says_why() -> None:
    page = screen_of("SK008/paimon-other-writer")
    assert "LOGS: " in page and "why 5.6 % of the batches committed more than once" in page
    (query,) = report(SAMPLES / "SK008/paimon-other-writer-3.5.9").typed.queries
    assert in_a_line(query).startswith("Commits are tried again because others write to the table: Let the other")
    assert "why " not in screen_of("TR001/interval-500-ms-4.3.0") + screen_of("DV001/count-then-wait")


def test_what_explains_the_loss_is_told_beside_it() -> None:
    page = screen_of("CG001/batch-id")
    assert "THE DRIVER WORKING ALONE" in page and "goes into generating and compiling code" in page


EVENT_TIME = {
    "max": "2026-03-01T02:00:00.000Z",
    "min": "2026-03-01T01:29:00.000Z",
    "watermark": "2026-03-01T01:58:00.000Z",
}


@pytest.mark.parametrize(("dropped", "loss", "step"), [(60, "rows_dropped", "ST011"), (30, "interval", "TR006")])
def test_rows_that_are_dropped_come_before_milliseconds(dropped: int, loss: str, step: str) -> None:
    session = {
        "operatorName": "sessionWindowStateStoreSaveExec",
        "commitTimeMs": 60,
        "numShufflePartitions": 2,
        "numRowsDroppedByWatermark": dropped,
    }
    query = entry([CALM | {"operators": [session], "eventTime": EVENT_TIME}] * 30, interval_ms=10_000)
    assert query.screen.loss is not None
    assert query.best_step is not None
    assert (query.screen.loss.kind, query.best_step.rule) == (loss, step)
    assert query.verdict.startswith(query.screen.loss.says)
    assert sum("as too late" in words for words in (query.screen.loss.says, *query.screen.troubles[:1])) == 1


@pytest.mark.parametrize(
    ("apart_ms", "moves", "kind"), [(10_000, False, True), (10_000, True, False), (100, False, False)]
)
def test_a_watermark_that_stands_still_comes_before_milliseconds(apart_ms: int, moves: bool, kind: bool) -> None:
    count = {"operatorName": "stateStoreSave", "commitTimeMs": 60, "numShufflePartitions": 2}
    rows = []
    for number in range(30):
        newest = START + timedelta(milliseconds=number * apart_ms)
        watermark = newest - timedelta(minutes=1) if moves else datetime(1970, 1, 1, tzinfo=timezone.utc)
        times = {name: f"{at:%Y-%m-%dT%H:%M:%S}.000Z" for name, at in (("max", newest), ("watermark", watermark))}
        rows.append(CALM | {"operators": [count], "eventTime": times})
    query = entry(rows, interval_ms=10_000)
    assert query.screen.loss is not None and (query.screen.loss.kind == "watermark_stands") == kind
    assert (query.best_step is not None and query.best_step.rule == "ST017") == kind


def test_slow_batches_that_come_more_seldom_still_make_part_of_the_p99() -> None:
    """A tenth of them is left, and each holds up a second of records: more than one in a hundred."""
    (query,) = report(SAMPLES / "SK001" / "delta-in-foreachbatch-4.0.0").typed.queries
    after, best = query.screen.after, query.best_step
    assert after is not None and after.without_spikes and after.at_best
    now, calm = query.metrics["record_latency_ms"].p99 or 0.0, 520.757  # calm: without the slow batches
    assert 2 * calm < (after.p99 or 0.0) < 0.9 * now
    assert after.p99_high == pytest.approx(now, rel=0.01)
    assert best is not None and "p99 of the record latency 2.5 s → at best 2.0 s" in gain(query, best.advice)


def test_little_savings_stand_behind_a_look_at_the_loss() -> None:
    (query,) = report(SAMPLES / "DV001" / "count-then-wait-4.3.0").typed.queries
    assert query.best_step is not None and query.screen.loss is not None
    assert (query.best_step.rule, query.screen.loss.rule) == ("DV001", "DV001")


def test_a_long_add_batch_that_nobody_opened_is_not_calm() -> None:
    long = CALM | {"triggerExecution": 20_000, "addBatch": 19_900, "sink": "org.apache.spark.sql.kafka010.KafkaTable"}
    assert entry([long] * 24).screen.calm is None


def test_a_step_that_may_set_what_is_set_already_is_not_first() -> None:
    count = {
        "operatorName": "stateStoreSave",
        "numShufflePartitions": 2,
        "numRowsTotal": 20_000,
        "numRowsUpdated": 1000,
    }
    rows = [
        CALM
        | {"operators": [count | {"customMetrics": {"loadedMapCacheHitCount": 0, "loadedMapCacheMissCount": 4 * n}}]}
        for n in range(30)
    ]
    query = entry(rows)
    offered = {step.id: step.legal for finding in query.findings for step in finding.steps}
    assert offered["versions-in-memory"] == "if"
    assert query.best_step is None or query.best_step.step != "versions-in-memory"


def test_a_step_that_fits_every_trigger_that_the_batches_leave_is_a_plain_yes() -> None:
    (query,) = report(SAMPLES / "LG001" / "rate-to-noop-4.3.0").typed.queries
    assert query.best_step is not None and query.best_step.advice.legal == "yes"


@pytest.mark.parametrize(
    ("sample", "step", "measured"),
    [
        ("SH003/joined-by-adaptive-execution-4.3.0", "shuffle-in-one-file", True),
        ("PY001/python-function-4.3.0", "spark-functions", False),
    ],
)
def test_what_may_save_most_of_the_loss_stands_before_a_measured_little(sample: str, step: str, measured: bool) -> None:
    (query,) = report(SAMPLES / sample).typed.queries
    assert query.best_step is not None and query.best_step.step == step
    saves = query.best_step.advice.saves_ms
    assert saves is not None and (saves.expected is not None) is measured


def test_a_step_that_waits_for_a_fact_is_not_said_to_need_a_new_checkpoint() -> None:
    (query,) = advisor.analyze(SAMPLES / "ST004/rows-counted-4.3.0").data["queries"]
    assert query["best_step"] is None
    assert query["verdict"].endswith("Which step helps depends on platform, not known for sure.")
