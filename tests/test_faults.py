"""Nothing fatal: odd values cost their own record, a fault costs its own metric, rule or run."""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import fleet
from advisor.batches import Reading
from advisor.catalogue import load
from advisor.engine import Skipped, judge, judge_rule
from advisor.errors import InputError, fault, misfit
from advisor.facts import FACTS, Facts, Known
from advisor.facts.evidence import Evidence
from advisor.facts.inspection import computed
from advisor.metrics import METRICS, STATS, Missing, measure, statistics
from advisor.metrics.latency import mixture_quantiles
from advisor.metrics.measure import measure as unguarded
from advisor.metrics.metric import Metric
from advisor.metrics.quality import data_problem, missing_batches
from advisor.metrics.tasks import least_slots
from advisor.redaction import REDACTED
from advisor.regime import latest_regime
from advisor.report import Asked, assemble
from advisor.report.comparing import compare_readings
from advisor.window import Window, run_window
from tests.made import events, table, window

CATALOGUE = load(None)
SOURCE = {
    "description": "KafkaV2[Subscribe[t]]", "startOffset": {"t": {"0": 0}}, "endOffset": {"t": {"0": 100}},
    "latestOffset": {"t": {"0": 10100}}, "numInputRows": 100,
}  # fmt: skip
OPERATOR = {
    "operatorName": "stateStoreSave", "commitTimeMs": 268, "numShufflePartitions": 8,
    "customMetrics": {"rocksdbCommitFlushLatency": 20, "rocksdbCommitCheckpointLatency": 10},
}  # fmt: skip
BATCH = {
    "triggerExecution": 445, "addBatch": 352, "walCommit": 30, "commitOffsets": 30, "latestOffset": 3,
    "sources": [SOURCE], "operators": [OPERATOR],
}  # fmt: skip
STATEFUL = table(events([BATCH] * 40, interval_ms=1000))
PLAIN = table(events([{"triggerExecution": 100, "addBatch": 60}] * 3))
ODD_VALUES = st.sampled_from([None, "", "text", "-1", -1, 0, 1, 2.5, float("nan"), 10**30, True, False, [], {}])


def settled(values: dict[str, Any]) -> Facts:
    return Facts({name: Known(value, "log") for name, value in values.items()})


def survive(made: Window) -> None:
    """Every metric in every statistic, and every rule: nothing is raised, and nothing was caught on the way."""
    for metric in METRICS.values():
        for stat in STATS:
            unguarded(made, metric, stat)
    is_judged(made)


def is_judged(made: Window) -> None:
    """Every rule, and every metric in the statistics that rules and reports ask for."""
    for rule in CATALOGUE.rules.values():
        judge_rule(rule, made)
    found = [value for value in made.memo.values() if isinstance(value, Missing)]
    assert not [missing.reason for missing in found if "could not be computed" in missing.reason]
    assert not [told for told in statistics(made, METRICS).values() if "could not be computed" in str(told)]


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize("value", [None, "text", -1, 0, float("nan"), True, []], ids=repr)
def test_every_metric_and_rule_copes_with_each_fact_of_any_value(fact: str, value: Any) -> None:
    is_judged(run_window(STATEFUL, settled({"task_slots": 2, "trigger": "processing_time", fact: value})))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.dictionaries(st.sampled_from([*FACTS]), ODD_VALUES))
def test_every_metric_and_rule_copes_with_many_odd_facts(values: dict[str, Any]) -> None:
    for batches in (STATEFUL, PLAIN, PLAIN.slice(0, 0)):
        survive(run_window(batches, settled(values)))


NUMBERS = st.sampled_from([None, 0, 1, -1, 100, 445, 10**6, 10**12, 10**15, 2**62, 2**63 - 1, -(2**63)])
ODD_ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("triggerExecution", "addBatch", "walCommit", "commitOffsets", "numInputRows"), NUMBERS),
            "commitTimeMs": NUMBERS, "numShufflePartitions": NUMBERS, "endOffset": NUMBERS, "batchId": NUMBERS,
            "inputRowsPerSecond": st.sampled_from([None, 0.0, -1.0, 1e-300, 1e300]),
            "timestamp": st.sampled_from(
                ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z"]
            ),
        },
    ),
    max_size=45,
)  # fmt: skip


def odd_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Whole batches, each with these values put in their places."""
    made = deepcopy(events([BATCH] * len(rows), interval_ms=1000))
    for event, odd in zip(made, rows, strict=True):
        for name, value in odd.items():
            _place(event, name)[name] = value
    return table(made)


def _place(event: dict[str, Any], name: str) -> dict[str, Any]:
    parts = [event, event["durationMs"], event["stateOperators"][0], event["sources"][0]]
    return next(part for part in parts if name in part)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ODD_ROWS)
def test_every_metric_and_rule_copes_with_numbers_that_cannot_be_right(rows: list[dict[str, Any]]) -> None:
    batches = odd_table(rows)
    for known in ({}, {"task_slots": 2, "trigger": "processing_time", "trigger_interval_ms": 1000}):
        made = run_window(batches, settled(known))
        survive(made)
        survive(latest_regime(made)[0])
        data_problem(made)
    assert len(assemble(Reading.of(batches), CATALOGUE).queries) == (1 if rows else 0)


def test_tasks_that_worked_in_a_batch_of_no_time_tell_of_no_slots() -> None:
    made = run_window(odd_table([{"addBatch": 0}] * 20 + [{}] * 20), settled({}))
    survive(made)
    assert least_slots(made) == least_slots(run_window(odd_table([{}] * 20), settled({})))


def test_a_fault_in_one_metric_costs_what_reads_it_and_never_the_run() -> None:
    usual = assemble(Reading.of(STATEFUL), CATALOGUE).queries[0]
    for metric in METRICS.values():
        compute = metric.compute
        object.__setattr__(metric, "compute", _fails)
        try:
            (query,) = assemble(Reading.of(STATEFUL), CATALOGUE).queries
        finally:
            object.__setattr__(metric, "compute", compute)
        assert (query.batches, query.window) == (usual.batches, usual.window), metric.name
        assert "fault in the advisor" not in query.verdict, metric.name


def test_one_odd_batch_is_left_out_and_said() -> None:
    odd = {"triggerExecution": 2**63 - 1, "timestamp": "9999-12-31T23:59:59.999Z", "walCommit": -5}
    made = run_window(odd_table([{}] * 20 + [odd] + [{}] * 20), settled({}))
    even = run_window(odd_table([{}] * 41), settled({}))
    assert measure(made, "trigger_execution_ms") == measure(even, "trigger_execution_ms")
    assert measure(made, "wal_commit_ms", "max") == measure(even, "wal_commit_ms", "max")
    assert "A time, a duration or a number of rows cannot be right in 1 batch" in str(data_problem(made))


@pytest.mark.parametrize(("times", "judged"), [(20, 20), (9, 18)], ids=["others are enough", "too few others"])
def test_a_batch_with_a_damaged_phase_is_judged_only_where_others_are_too_few(times: int, judged: int) -> None:
    made = run_window(odd_table([{}, {"walCommit": -5}] * times), settled({}))
    assert (len(made), len(made.executed)) == (judged, 2 * times)


@pytest.mark.parametrize("timestamp", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
def test_a_batch_with_a_wrong_time_is_none_that_the_log_lacks(timestamp: str) -> None:
    batches = odd_table([{}] * 10 + [{"timestamp": timestamp}] + [{}] * 30)
    (query,) = assemble(Reading.of(batches.sort_by("timestamp")), CATALOGUE).queries
    assert query.facts["data_problem"].value == (
        "A time, a duration or a number of rows cannot be right in 1 batch; these numbers were left out"
    )


@pytest.mark.parametrize("whole", [10, 60_000], ids=["longer than their trigger", "in other units than the clock"])
def test_batches_whose_phases_cannot_be_right_are_left_out(whole: int) -> None:
    wrong = {"triggerExecution": whole, "addBatch": 60_000}
    made = run_window(odd_table([{}] * 20 + [wrong] + [{}] * 20), settled({}))
    assert wrong["addBatch"] not in made.batches["add_batch_ms"]
    assert ("in 1 batch: units are mixed, these were left out" in str(data_problem(made))) == (whole == 10)


def test_a_run_of_impossible_times_promises_nothing() -> None:
    report = assemble(Reading.of(odd_table([{"triggerExecution": 10, "addBatch": 60_000}] * 40)), CATALOGUE)
    (query,) = report.queries
    assert "the times of these batches contradict each other" in query.verdict
    assert query.best_step is None
    assert not query.screen.goes_to


@pytest.mark.parametrize("instants", ["2026-03-01T02:00:00.000Z", "falling"])
def test_a_clock_that_stands_or_runs_backwards_is_told(instants: str) -> None:
    each = [f"2026-03-01T02:{59 - at:02}:00.000Z" if instants == "falling" else instants for at in range(41)]
    made = run_window(odd_table([{"timestamp": instant} for instant in each]), settled({}))
    assert "41 batches lasted into the next one: a clock was set back" in str(data_problem(made))
    assert not len(made)


def test_a_clock_set_back_in_mid_run_costs_one_batch_and_the_last() -> None:
    each = [{"timestamp": f"2026-03-01T02:00:{at + (10 if at < 20 else 5.5):06.3f}Z"} for at in range(40)]
    made = run_window(Reading.of(odd_table(each)).batches, settled({}))
    assert "2 batches lasted into the next one: a clock was set back" in str(data_problem(made))
    assert set(made.executed["batch_id"]) - set(made.batches["batch_id"]) == {29, 49}


def test_starts_cut_to_seconds_are_no_clock_set_back_and_no_interval() -> None:
    starts = [f"2026-03-01T02:{n * 3.3 // 60:02.0f}:{n * 3.3 // 1 % 60:02.0f}Z" for n in range(40)]
    took = {"triggerExecution": 3300, "addBatch": 3000}
    batch = {"numInputRows": 330, "inputRowsPerSecond": 100.0, "durationMs": took}
    rows = odd_table([{"timestamp": at, **batch} for at in starts])
    made = run_window(rows, settled({}))
    assert data_problem(made) is None
    assert "trigger_interval_ms" not in computed(rows)


def test_a_damaged_number_of_a_batch_is_no_gap_in_the_log() -> None:
    made = run_window(odd_table([{}] * 20 + [{"batchId": 10**12}] + [{}] * 20), settled({}))
    assert missing_batches(made) == 1
    gap = odd_table([{"batchId": number} for number in (*range(10), *range(14, 24))])
    assert missing_batches(run_window(gap, settled({}))) == 4


@pytest.mark.parametrize(
    ("ids", "count"),
    [
        ([n + (10**15 if n > 20 else 0) for n in range(40)], "1 batch"),
        ([n // 2 for n in range(40)], "20 batches"),
        ([7] * 40, "39 batches"),
    ],
    ids=["jump", "come twice", "stand"],
)
def test_ids_that_jump_by_more_than_can_have_run_or_repeat_are_damaged_and_no_gap(ids: list[int], count: str) -> None:
    judged = run_window(odd_table([{"batchId": number} for number in ids]), settled({}))
    assert missing_batches(judged) == 0
    said = f"Batch ids rise in {count} by more than can have run, or not at all: these ids are damaged"
    assert data_problem(judged) == said


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
def test_one_odd_timestamp_costs_no_other_run(instant: str) -> None:
    odd = [event | {"runId": "odd"} for event in events([BATCH, BATCH | {"timestamp": instant}])]
    report = assemble(Reading.of(table([*events([BATCH] * 40), *odd])), CATALOGUE)
    assert sorted(query.window.batches for query in report.queries) == [2, 40]


def test_a_stage_that_is_known_not_to_run_needs_no_time() -> None:
    made = window([BATCH], delta_snapshot_tasks=None, task_slots=2)
    assert measure(made, "delta_snapshot_share") == Missing("no stage rebuilds a Delta snapshot")


@pytest.mark.parametrize("most", [1e12, 1e15, 1e18, 1e300])
def test_quantiles_of_any_size_end(most: float) -> None:
    low, high = mixture_quantiles(np.array([0.0, most]), np.array([most, most]), np.array([1.0, 1.0]), (0.5, 0.99))
    assert 0 <= low <= high <= 2 * most


def _fails(window: Window) -> Any:
    raise ZeroDivisionError("nothing\nto divide by")


def test_a_fault_in_a_metric_costs_what_reads_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = judge(run_window(STATEFUL, settled({})), CATALOGUE)
    faulty: Any = Metric("offset_log_share", "share", "wall", "fails", _fails)
    monkeypatch.setitem(METRICS, "offset_log_share", faulty)
    made = run_window(STATEFUL, settled({}))
    found = judge(made, CATALOGUE)
    why = "offset_log_share could not be computed (ZeroDivisionError: nothing to divide by)"
    assert Skipped("LG001", why) in found.skipped
    assert {one.rule for one in found.findings} == {one.rule for one in whole.findings} - {"LG001"}
    assert statistics(made, ["offset_log_share"])["offset_log_share"].missing == why
    assert capsys.readouterr().err == ""


def test_what_a_fault_says_holds_no_credentials() -> None:
    said = fault(ValueError("no such\nuser: password=hunter2secret"))
    assert said == f"ValueError: no such user: password={REDACTED}"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4"), "pip install 'pyarrow<26'"),
        (ImportError("No module named 'pyarrow'"), "None"),
        (ValueError("pyarrow requires NumPy 2.0 or newer"), "None"),
    ],
)
def test_what_two_libraries_do_not_fit_and_what_to_install(error: Exception, told: str) -> None:
    assert told in str(misfit(error))


def test_a_fault_in_a_rule_costs_that_rule_and_its_traceback_is_there_for_the_asking(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = dict(CATALOGUE.rules)
    rules["LG001"] = rules["LG001"].model_copy(update={"batches": "three"})
    monkeypatch.setenv("LATENCY_ADVISOR_TRACEBACK", "1")
    found = judge(run_window(STATEFUL, settled({})), replace(CATALOGUE, rules=rules))
    reasons = {skipped.rule: skipped.reason for skipped in found.skipped}
    assert reasons["LG001"].startswith("a fault in the advisor: TypeError: '<' not supported")
    assert "Traceback" in capsys.readouterr().err


UNJUDGED = "This run could not be judged, because of a fault in the advisor: ZeroDivisionError: nothing to divide by."


def _two_runs(*more: str) -> Reading:
    odd = [event | {"runId": run, "id": "other"} for run in ("odd", *more) for event in events([BATCH] * 40)]
    return Reading.of(table([*events([BATCH] * 40), *odd]))


@pytest.mark.parametrize("place", ["latest_regime", "settle", "judge", "run_window"])
def test_a_fault_in_a_run_costs_that_run(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    module = sys.modules["advisor.report.runs"]
    working = getattr(module, place)

    def fails_once(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(module, place, working)
        _fails(given[0])

    monkeypatch.setattr(module, place, fails_once)
    report = assemble(_two_runs(), CATALOGUE)
    assert [entry.verdict == UNJUDGED for entry in report.queries].count(True) == 1
    (lost,) = (entry for entry in report.queries if entry.verdict == UNJUDGED)
    (judged,) = (entry for entry in report.queries if entry.verdict != UNJUDGED)
    assert (lost.window.batches, judged.window.batches) == (0, 40)
    assert lost.last == judged.last


@pytest.mark.parametrize(("told", "more"), [("around", ()), ("of", ("odd 2", "odd 3"))])
def test_a_fault_in_what_is_told_of_a_run_costs_that_run(
    monkeypatch: pytest.MonkeyPatch, told: str, more: tuple[str, ...]
) -> None:
    whole = getattr(Evidence, told)
    monkeypatch.setattr(Evidence, told, lambda self, run: _fails(self) if run == "odd" else whole(self, run))
    report = assemble(_two_runs(*more), CATALOGUE)
    assert [entry.run_id for entry in report.queries if entry.verdict == UNJUDGED] == ["odd"]
    found = fleet.report(map(fleet.summary, report.queries), report.input, version="1")
    assert [(entry.reason, entry.queries) for entry in found.not_judged] == [(UNJUDGED, 1)]


def test_what_cannot_be_judged_is_no_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["advisor.report.runs"], "latest_regime", _fails)
    reading, said = Reading.of(STATEFUL), "no run could be judged, because of a fault in the advisor: ZeroDivisionError"
    with pytest.raises(InputError, match=said):
        compare_readings(reading, reading, CATALOGUE, Asked())
