"""Every number has one definition, and it is this one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalogue import load
from advisor.facts import Facts, Known
from advisor.metrics import METRICS, Estimate, Missing, measure, statistics
from advisor.metrics.backlog import keeps_up
from advisor.metrics.latency import mixture_medians, mixture_quantiles
from advisor.metrics.phases import budget
from advisor.metrics.quality import missing_batches
from advisor.metrics.units import in_words, number
from advisor.window import Window, run_window
from tests.made import events, facts, table, window

VENDOR = {
    "triggerExecution": 547730,
    "addBatch": 540000,
    "operators": [{"operatorName": "stateStoreSave", "commitTimeMs": 3186626, "numShufflePartitions": 64}],
}


def value(found: Estimate | Missing) -> float:
    assert isinstance(found, Estimate), found
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(("slots", "share"), [(64, "9.1 %"), (200, "9.1 %"), (32, "18.2 %")])
def test_state_commit_share_of_the_published_example(slots: int, share: str) -> None:
    one = window([VENDOR], task_slots=slots)
    assert in_words(measure(one, "state_commit_share_at_slots"), "share") == share  # type: ignore[arg-type]


def test_the_mission_formula_knows_no_slots() -> None:
    one = window([VENDOR], task_slots=32)
    assert value(measure(one, "state_commit_share")) == pytest.approx(3186626 / 64 / 547730)


def test_unknown_slots_leave_an_interval() -> None:
    found = measure(window([VENDOR]), "state_commit_share_at_slots")
    assert isinstance(found, Estimate)
    assert found.value is None
    assert found.low == pytest.approx(0.0909, abs=1e-4)
    assert found.high == pytest.approx(540000 / 547730)


def test_shared_slots_are_only_an_upper_bound() -> None:
    found = measure(window([VENDOR], task_slots=64, slots_shared=True), "state_commit_share_at_slots")
    assert isinstance(found, Estimate)
    assert (found.value, round(found.low, 3)) == (None, 0.091)


DEDUPE = {"operatorName": "dedupe", "numShufflePartitions": 3}
STATEFUL = {"triggerExecution": 100, "addBatch": 80, "operators": [DEDUPE]}


@pytest.mark.parametrize(
    ("row", "known", "missing"),
    [
        ({}, {"task_slots": 2}, 3),
        ({}, {"task_slots": 5}, 0),
        (STATEFUL, {"task_slots": 5}, 3),
        (STATEFUL, {"task_slots": 8}, 0),
        (STATEFUL, {"stateful": True, "task_slots_at_least": 8}, 0),
        ({}, {"task_slots": 8, "slots_shared": True}, "other queries"),
        ({}, {"task_slots_at_least": 4}, "task slots"),
        ({}, {}, "task slots"),
        ({}, {"task_slots": 2, "kafka_partitions": None}, "partitions"),
        ({}, {"task_slots": 2, "source": "rate"}, "partitions"),
        (
            {"triggerExecution": 100, "operators": [{"operatorName": "dedupe"}]},
            {"stateful": True, "task_slots": 9},
            "state",
        ),
    ],
)
def test_each_partition_needs_a_slot(row: dict[str, Any], known: dict[str, Any], missing: float | str) -> None:
    asked = {"source": "kafka", "kafka_partitions": 5, "stateful": "operators" in row} | known
    asked = {name: known for name, known in asked.items() if known is not None}
    found = measure(window([row or {"triggerExecution": 100}], **asked), "missing_task_slots")
    if isinstance(missing, str):
        assert isinstance(found, Missing)
        assert missing in found.reason
    else:
        assert value(found) == missing


def test_slots_that_were_inferred_may_be_more() -> None:
    given = {"source": "kafka", "kafka_partitions": 5, "stateful": False}
    known = Facts({name: Known(value, "user") for name, value in given.items()} | {"task_slots": Known(2, "inferred")})
    found = measure(run_window(table(events([{"triggerExecution": 100}])), known), "missing_task_slots")
    assert isinstance(found, Missing)
    assert found.fact == "task_slots"


def test_shares_of_operators_add_up() -> None:
    two = [
        {"operatorName": "dedupe", "commitTimeMs": 80, "numShufflePartitions": 4},
        {"operatorName": "stateStoreSave", "commitTimeMs": 60, "numShufflePartitions": 2},
    ]
    found = measure(
        window([{"triggerExecution": 100, "addBatch": 90, "operators": two}], task_slots=4), "state_commit_share"
    )
    assert value(found) == pytest.approx((20 + 30) / 100)


def test_retried_tasks_do_not_count_as_partitions() -> None:
    rows = [_counting(8), _counting(8), _counting(11)]
    assert value(measure(window(rows, task_slots=2), "state_partitions", "max")) == 8


def _counting(partitions: int) -> dict[str, object]:
    operator = {"operatorName": "stateStoreSave", "commitTimeMs": 268, "numShufflePartitions": partitions}
    return {"triggerExecution": 445, "addBatch": 352, "operators": [operator]}


def test_a_query_without_state_has_nothing_to_commit() -> None:
    plain = window([{"triggerExecution": 100, "addBatch": 40}])
    assert value(measure(plain, "state_commit_share_at_slots")) == 0


def test_old_spark_does_not_report_commit_times() -> None:
    old = window([{"triggerExecution": 100, "addBatch": 40, "operators": [{"numRowsTotal": 5}]}])
    found = measure(old, "state_commit_share")
    assert isinstance(found, Missing)
    assert "commitTimeMs" in found.reason


def test_typical_share_is_a_ratio_of_sums_over_the_middle_batches() -> None:
    rows = [{"triggerExecution": t, "walCommit": w, "commitOffsets": 0, "addBatch": 1} for t, w in _PAIRS]
    middle = _PAIRS[1:4]
    expected = sum(w for _, w in middle) / sum(t for t, _ in middle)
    assert value(measure(window(rows), "offset_log_share", "typical")) == pytest.approx(expected)


_PAIRS = [(50, 50), (100, 10), (110, 20), (120, 12), (5000, 1)]


def test_total_sees_one_held_batch_in_fifty_that_p95_misses() -> None:
    rows = [{"triggerExecution": 20, "walCommit": 0, "addBatch": 18}] * 49 + [
        {"triggerExecution": 1020, "walCommit": 1000, "addBatch": 18}
    ]
    held = window(rows * 4, interval_ms=1020)
    assert value(measure(held, "offset_log_share", "p95")) == 0
    assert value(measure(held, "offset_log_share", "total")) == pytest.approx(1000 / 2000)


@given(st.lists(st.tuples(*[st.integers(0, 500)] * 5), min_size=1, max_size=20))
def test_the_budget_adds_up(parts: list[tuple[int, ...]]) -> None:
    from advisor.metrics.phases import budget

    names = ("latestOffset", "walCommit", "queryPlanning", "addBatch", "commitOffsets")
    rows = [
        dict(zip(names, p, strict=True)) | {"triggerExecution": sum(p) + 3, "otherPhases": {"dreaming": 2}}
        for p in parts
    ]
    made = window(rows, interval_ms=5000)
    whole = value(measure(made, "trigger_execution_ms", "typical"))
    assert sum(budget(made).values()) == pytest.approx(whole, abs=0.5)


def test_databricks_phases_never_vanish_into_unaccounted() -> None:
    whole = {"triggerExecution": 100, "latestOffset": 0, "queryPlanning": 0, "walCommit": 0, "addBatch": 40}
    made = window([whole | {"commitBatch": 20, "collectSourceMetrics": 36}])
    assert value(measure(made, "unaccounted_ms")) == 4


def test_what_somebody_left_out_is_not_time_in_no_phase() -> None:
    assert isinstance(measure(window([{"triggerExecution": 100, "addBatch": 40}]), "unaccounted_ms"), Missing)


def test_commit_wall_time_of_rocksdb_does_not_count_a_part_twice() -> None:
    custom = {
        "rocksdbCommitFileSyncLatencyMs": 605,
        "rocksdbSaveZipFilesLatencyMs": 429,  # lies within the file sync
        "rocksdbCommitFlushLatency": 20,
        "rocksdbCommitCheckpointLatency": 10,
    }
    operator = {
        "operatorName": "stateStoreSave",
        "commitTimeMs": 638,
        "numShufflePartitions": 8,
        "customMetrics": custom,
    }
    made = window([{"triggerExecution": 621, "addBatch": 540, "operators": [operator]}], task_slots=2)
    assert value(measure(made, "snapshot_commit_wall_ms")) == pytest.approx(635 / 8 * 4)


def test_waves_beyond_the_first() -> None:
    made = window([_counting(8)], task_slots=2)
    assert value(measure(made, "state_waves_excess_ms")) == pytest.approx(2 * 268 / 8 * 3)
    missing = measure(window([_counting(8)]), "state_waves_excess_ms")
    assert isinstance(missing, Missing)
    assert missing.fact == "task_slots"


def test_other_stages_of_a_batch_are_no_waves_of_state() -> None:
    operator = {"operatorName": "dedupe", "allUpdatesTimeMs": 60, "allRemovalsTimeMs": 20, "commitTimeMs": 101}
    batch = {"triggerExecution": 2200, "addBatch": 2000, "operators": [operator | {"numShufflePartitions": 4}]}
    made = window([batch], task_slots=2)
    assert value(measure(made, "state_waves_excess_ms")) == pytest.approx(2 * 181 / 4)


def test_arbitrary_state_is_sure_to_spare_its_commits_only() -> None:
    operator = {"operatorName": "transformWithStateExec", "allUpdatesTimeMs": 4000, "commitTimeMs": 80}
    batch = {"triggerExecution": 1200, "addBatch": 1000, "operators": [operator | {"numShufflePartitions": 8}]}
    spared = measure(window([batch], task_slots=2), "state_waves_excess_ms")
    assert isinstance(spared, Estimate)
    assert (spared.low, spared.value, spared.high) == (80 / 8 * 3, None, 1000 * 3 / 4)


@pytest.mark.parametrize(("operator", "rows"), [("stateStoreSave", 7), ("transformWithStateExec", 5000)])
def test_keys_are_no_rows_but_for_an_aggregation(operator: str, rows: int) -> None:
    state = {"operatorName": operator, "numRowsUpdated": 28, "numShufflePartitions": 4}
    made = window([{"triggerExecution": 200, "addBatch": 100, "numInputRows": 20_000, "operators": [state]}])
    assert value(measure(made, "rows_per_state_partition")) == rows


@pytest.mark.parametrize(
    ("known", "interval"),
    [
        ({}, 60_000), ({"latency_target_ms": 50}, 60_000), ({"latency_target_ms": 500}, 5_000),
        ({"latency_target_ms": 50, "repeated_at_most_ms": 20_000}, 20_000), ({"repeated_at_most_ms": 100}, 5_000),
    ],
)  # fmt: skip
def test_the_interval_of_real_time_mode_follows_from_the_target(known: dict[str, float], interval: int) -> None:
    assert value(measure(window([{"triggerExecution": 100}], **known), "advised_real_time_interval_ms")) == interval


@pytest.mark.parametrize(
    ("operator", "missing"), [("dedupe", False), ("symmetricHashJoin", False), ("stateStoreSave", True)]
)
def test_only_windows_wait_for_the_watermark(operator: str, missing: bool) -> None:
    batch = {"triggerExecution": 100, "addBatch": 80, "operators": [{"operatorName": operator}]}
    made = window([batch] * 20, stateful=True, watermarked=True, output_mode="append", sink="noop")
    assert isinstance(measure(made, "record_latency_ms", "p50"), Missing) is missing


def test_advised_partitions_are_never_fewer_than_slots() -> None:
    assert value(measure(window([_counting(200)], task_slots=16), "advised_state_partitions")) == 16


def test_a_source_that_is_read_twice() -> None:
    source = {
        "description": "KafkaV2[Subscribe[t]]",
        "startOffset": {"t": {"0": 100, "1": 0}},
        "endOffset": {"t": {"0": 600, "1": 500}},
        "latestOffset": {"t": {"0": 700, "1": 500}},
        "numInputRows": 2000,
    }
    made = window([{"triggerExecution": 340, "addBatch": 280, "numInputRows": 2000, "sources": [source]}] * 3)
    assert value(measure(made, "computations")) == 2
    assert value(measure(made, "backlog_rows")) == 100
    assert value(measure(made, "backlog_ms")) == pytest.approx(100 / (1000 / 340))


def test_fixed_cost_is_found_where_rows_vary_on_their_own() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(100, 4000, 200)
    rows = [
        {"triggerExecution": int(150 + 0.05 * n + rng.normal(0, 3)), "numInputRows": int(n), "addBatch": 90}
        for n in counts
    ]
    made = window(rows, interval_ms=1000, trigger="processing_time", trigger_interval_ms=1000)
    assert value(measure(made, "fixed_cost_ms")) == pytest.approx(150, abs=3)
    assert value(measure(made, "cost_per_1000_rows_ms")) == pytest.approx(50, abs=2)


def test_no_fixed_cost_for_the_default_trigger() -> None:
    rows = [{"triggerExecution": 100 + n, "numInputRows": 100 + n, "addBatch": 90} for n in range(60)]
    found = measure(window(rows, trigger="unspecified"), "fixed_cost_ms")
    assert isinstance(found, Missing)
    assert "when the batch before took longer" in found.reason


@pytest.mark.parametrize(
    ("batch", "p50", "p99"),
    [
        # the published figures of six recorded Kafka runs: batch, commit log, and what the model said of them
        ({"triggerExecution": 102, "commitOffsets": 30, "addBatch": 33}, 123, 173),
        ({"triggerExecution": 29, "commitOffsets": 0, "addBatch": 22}, 43.5, 57.7),
    ],
)
def test_record_latency_of_even_batches(batch: dict[str, int], p50: float, p99: float) -> None:
    made = window([batch] * 50, trigger="unspecified")
    assert value(measure(made, "record_latency_ms", "p50")) == pytest.approx(p50, abs=0.5)
    assert value(measure(made, "record_latency_ms", "p99")) == pytest.approx(p99, abs=0.5)


COMMITS = {"commitTimeMs": 40, "numShufflePartitions": 2}


@pytest.mark.parametrize(
    ("sink", "operators", "p50"),
    [
        # 100 of the batch until its end, half of latestOffset and the commit log apart, and half the gap of 100
        ("KafkaTable", [], 100 - 5 - 30 + 50 - 12),
        ("KafkaTable", [{"operatorName": "dedupe", "numRowsTotal": 1}], 100 - 5 - 30 + 50),
        ("KafkaTable", [COMMITS | {"operatorName": "dedupe"}], 100 - 5 - 30 - 20 + 50),
        ("KafkaTable", [COMMITS | {"operatorName": "stateStoreSave"}], 100 - 5 - 30 + 50),
        ("NoopTable", [], 100 - 5 - 30 + 50),
    ],
    ids=[
        "written while the tasks run",
        "state comes before",
        "handed on before the state's commit",
        "counted first",
        "not known of other sinks",
    ],
)
def test_records_are_visible_when_the_sink_has_written_them(sink: str, operators: list[Any], p50: float) -> None:
    batch = {"triggerExecution": 100, "latestOffset": 10, "addBatch": 36, "commitOffsets": 30}
    rows = [batch | {"sink": sink, "operators": operators}] * 20
    facts = {"sink": "kafka" if sink == "KafkaTable" else "noop", "stateful": bool(operators), "task_slots": 2}
    found = measure(window(rows, trigger="unspecified", **facts), "record_latency_ms", "p50")
    assert value(found) == pytest.approx(p50, abs=0.5)


def in_waves(table: str, **facts: Any) -> Window:
    """Batches of six state tasks; their sink as Spark names it."""
    operator = {"operatorName": "dedupe", "numRowsTotal": 1, "numShufflePartitions": 6}
    rows = [{"triggerExecution": 100, "addBatch": 60, "sink": table, "operators": [operator]}] * 20
    return window(rows, trigger="unspecified", stateful=True, **facts)


def test_rows_of_a_kafka_sink_are_visible_when_their_own_task_ends() -> None:
    # three waves: a third of the rows each at 60, 80 and 100 ms of the batch, after a wait of 0 to 100 ms
    made = in_waves("KafkaTable", sink="kafka", task_slots=2)
    assert value(measure(made, "record_latency_ms", "p50")) == pytest.approx(80 + 50, abs=0.5)
    published_at_once = in_waves("NoopTable", sink="noop", task_slots=2)
    assert value(measure(published_at_once, "record_latency_ms", "p50")) == pytest.approx(100 + 50, abs=0.5)


def test_no_record_latency_where_nobody_knows_how_many_tasks_run_at_once() -> None:
    found = measure(in_waves("KafkaTable", sink="kafka"), "record_latency_ms")
    assert isinstance(found, Missing) and found.fact == "task_slots"


def test_a_backlog_is_waited_for() -> None:
    source = {
        "description": "KafkaV2[Subscribe[t]]",
        "startOffset": {"t": {"0": 0}},
        "endOffset": {"t": {"0": 100}},
        "latestOffset": {"t": {"0": 10100}},
        "numInputRows": 100,
    }
    made = window([{"triggerExecution": 100, "addBatch": 90, "sources": [source]}] * 20, trigger="unspecified")
    assert value(measure(made, "record_latency_ms", "p50")) > 10_000


def queued(taken: list[int], waiting: list[int]) -> Window:
    """Batches that take so many rows of a topic, of which so many wait on."""
    ends = list(itertools.accumulate(taken))
    return window(
        [
            {
                "triggerExecution": 100,
                "addBatch": 90,
                "numInputRows": rows,
                "sources": [
                    {
                        "description": "KafkaV2[Subscribe[t]]",
                        "startOffset": {"t": {"0": end - rows}},
                        "endOffset": {"t": {"0": end}},
                        "latestOffset": {"t": {"0": end + wait}},
                        "numInputRows": rows,
                    }
                ],
            }
            for rows, end, wait in zip(taken, ends, waiting, strict=True)
        ],
        trigger="unspecified",
    )


@pytest.mark.parametrize(("ms", "enough"), [(10, False), (70, False), (80, True), (100, False)])
def test_shorter_batches_keep_up_when_their_limit_then_lets_all_through(ms: float, enough: bool) -> None:
    # 500 are taken in 100 ms while 1,900 come: a batch of at most 26 ms is short enough
    assert keeps_up(queued([500] * 20, [1400 * number for number in range(1, 21)]), ms) is enough


def test_a_backlog_that_shrinks_is_gone_after_what_is_left_of_it_at_that_pace() -> None:
    # each batch leaves 100 of 3,000 rows less, and 500 are taken in 100 ms: 5 rows a millisecond
    left = measure(queued([500] * 20, [3000 - 100 * number for number in range(1, 21)]), "catch_up_ms")
    assert isinstance(left, Estimate)
    assert left.low <= left.safe <= left.high and left.safe == pytest.approx(10 * 100, rel=0.01)


@pytest.mark.parametrize(
    ("waiting", "why"),
    [([0] * 20, "nothing waits"), ([1500 * n for n in range(1, 21)], "does not shrink"), ([900] * 20, "not shrink")],
)
def test_a_backlog_that_does_not_shrink_is_never_gone(waiting: list[int], why: str) -> None:
    found = measure(queued([500] * 20, waiting), "catch_up_ms")
    assert isinstance(found, Missing) and why in found.reason


def test_a_limit_of_the_source_shows_in_batches_of_one_size_while_rows_wait() -> None:
    made = queued([499, 500] * 10, [1500 * number for number in range(1, 21)])
    assert value(measure(made, "full_batches_share")) == 1.0
    # 499.5 taken (the first batch apart) and 1,500 more waiting after each: 2 x 1,999.5
    assert value(measure(made, "advised_rows_per_batch")) == 4000
    assert value(measure(made, "backlog_wait_ms")) > 0


@pytest.mark.parametrize(
    ("taken", "waiting"), [([500] * 20, [0] * 20), ([100, 500] * 10, [1000] * 20)], ids=["none waits", "sizes differ"]
)
def test_no_limit_where_nothing_waits_or_sizes_differ(taken: list[int], waiting: list[int]) -> None:
    assert value(measure(queued(taken, waiting), "full_batches_share")) == 0.0


@pytest.mark.parametrize("trigger", ["once", "available_now", "continuous", "real_time"])
def test_no_record_latency_where_progress_does_not_show_it(trigger: str) -> None:
    found = measure(window([{"triggerExecution": 100, "addBatch": 90}], trigger=trigger), "record_latency_ms")
    assert isinstance(found, Missing)


def test_append_mode_waits_for_the_watermark() -> None:
    made = window([_counting(8)], trigger="unspecified", watermarked=True, output_mode="append", stateful=True)
    assert isinstance(measure(made, "record_latency_ms"), Missing)


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(1, 1e4), st.floats(0.1, 1e4)), min_size=1, max_size=30))
def test_mixture_quantiles_lie_in_order_and_within(parts: list[tuple[float, float, float]]) -> None:
    start, width, weight = (np.array(column) for column in zip(*parts, strict=True))
    low, high = mixture_quantiles(start, width, weight, (0.5, 0.99))
    assert start.min() - 0.1 <= low <= high <= (start + width).max() + 0.1


def test_the_medians_of_several_mixtures_are_those_of_each() -> None:
    start, width, weight = np.array([[0.0, 40.0, 10.0], [5.0, 5.0, 90.0]]), np.full((2, 3), 20.0), np.array([1.0, 2, 3])
    each = [mixture_quantiles(begin, long, weight, (0.5,))[0] for begin, long in zip(start, width, strict=True)]
    assert mixture_medians(start, width, weight) == each
    assert mixture_medians(start[0], width[0], weight) == each[:1]


ONE_AFTER_THE_OTHER = [
    ((28, 30), 102, 73),
    ((29, 34), 118, 87),
    ((28, 31), 113, 81),
    ((27, 30), 104, 74),
    ((74, 77), 193, 181),
]
IN_TURNS = [
    ((57, 58), 170, 134),
    ((54, 53), 144, 115),
    ((54, 53.5), 141, 111),
    ((63, 64), 195, 140),
    ((62, 66), 178, 140),
    ((63, 66), 194, 122),
    ((175, 173), 412, 345),
    ((690, 693), 1480, 1410),
]
"""Both logs and the whole batch in ms, and what asynchronous progress was measured to save of it."""


@pytest.mark.parametrize(("logs", "whole", "measured"), ONE_AFTER_THE_OTHER + IN_TURNS)
def test_what_asynchronous_progress_saved_lies_between_what_is_certain_and_the_most(
    logs: tuple[float, float], whole: float, measured: float
) -> None:
    saves = load().steps["async-progress"].saves
    assert saves is not None
    row = {"triggerExecution": whole, "walCommit": logs[0], "commitOffsets": logs[1], "addBatch": 20}
    found = measure(window([row] * 10), saves.metric)
    assert isinstance(found, Estimate)
    assert saves.share[0] * found.low <= measured <= saves.share[2] * found.high


def test_what_else_the_offset_log_waits_for_is_not_relied_on() -> None:
    row = {"triggerExecution": 300, "walCommit": 200, "commitOffsets": 20, "addBatch": 50}
    assert measure(window([row] * 10), "async_progress_saving_ms") == Estimate(40, 220, 220)


@pytest.mark.parametrize(("logs", "interval"), [((57, 58), 1000), ((175, 173), 2000), ((646, 645), 4000)])
def test_the_log_interval_is_one_that_storage_keeps(logs: tuple[float, float], interval: float) -> None:
    row = {"triggerExecution": sum(logs) + 50, "walCommit": logs[0], "commitOffsets": logs[1], "addBatch": 40}
    slow = {**row, "walCommit": 40 * logs[0]}
    assert value(measure(window([*[row] * 10, slow]), "shortest_async_interval_ms")) == interval


def test_missing_batches_are_counted() -> None:
    made = window([{"triggerExecution": 100, "addBatch": 90}] * 5)
    assert missing_batches(made) == 0


def test_every_metric_gives_a_number_or_a_reason_for_any_window() -> None:
    for made in (window([VENDOR]), window([_counting(4)] * 40, task_slots=2), window([])):
        for name, shown in statistics(made, METRICS).items():
            assert shown.missing or shown.unit, name


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_says_what_it_is(metric: object) -> None:
    assert metric.meaning  # type: ignore[attr-defined]
    assert metric.name.split("_")[-1] or metric.unit  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("number_", "unit", "words"),
    [(0.4, "ms", "0.4 ms"), (23, "ms", "23 ms"), (1234, "ms", "1.2 s"), (547730, "ms", "9.1 min"),
     (0.0909, "share", "9.1 %"),
     (15500, "rows", "15,500 rows"), (2_500_000, "bytes", "2.5 MB")],
)  # fmt: skip
def test_numbers_in_words(number_: float, unit: str, words: str) -> None:
    assert number(number_, unit) == words  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "low", "high"),
    [
        ({"spark_version": "2.4.5"}, 144, 282),
        ({"spark_version_below": "3.4"}, 144, 282),
        ({"spark_version": "3.5.1"}, 144, 144),
        ({}, 144, 144),
    ],
)
def test_before_3_4_the_commit_log_hides_in_the_time_of_no_phase(known: dict[str, Any], low: int, high: int) -> None:
    batch = {"triggerExecution": 507, "addBatch": 205, "queryPlanning": 20, "walCommit": 144, "getOffset": 0}
    one = window([batch] * 3, **known)
    found = measure(one, "offset_log_ms")
    assert isinstance(found, Estimate)
    assert (found.low, found.high) == (low, high)
    assert ("commitLog" in budget(one)) is (high > low)
    written = measure(one, "checkpoint_write_ms")
    assert isinstance(written, Estimate)
    assert (written.low, written.high) == (low, high)


def test_a_set_of_keys_that_fills_up_does_not_grow_for_ever() -> None:
    def grows(totals: list[int]) -> Estimate | Missing:
        rows = [
            {"triggerExecution": 500, "addBatch": 400, "numInputRows": 200}
            | {"operators": [{"operatorName": "stateStoreSave", "numShufflePartitions": 2, "numRowsTotal": total}]}
            for total in totals
        ]
        found = measure(window(rows, stateful=True, watermarked=False), "state_growth_per_day")
        assert isinstance(found, Estimate | Missing)
        return found

    assert isinstance(grows([100 * number for number in range(1, 61)]), Estimate)
    filling = grows([round(5000 * (1 - 0.93**number)) for number in range(1, 61)])
    assert isinstance(filling, Missing) and "slows down" in filling.reason


def test_lists_of_the_state_that_fill_up_do_not_grow_for_ever() -> None:
    def grows(sizes: list[int]) -> Estimate | Missing:
        operator = {"operatorName": "stateStoreSave", "numShufflePartitions": 2, "numRowsTotal": 400}
        rows = [
            {"triggerExecution": 500, "addBatch": 400, "numInputRows": 200}
            | {"operators": [operator | {"customMetrics": {"stateOnCurrentVersionSizeBytes": size}}]}
            for size in sizes
        ]
        found = measure(window(rows, stateful=True, watermarked=False), "state_bytes_growth_per_day")
        assert isinstance(found, Estimate | Missing)
        return found

    endless = grows([1_000_000 + 500_000 * number for number in range(40)])
    assert isinstance(endless, Estimate) and endless.safe == pytest.approx(500_000 * 86_400_000 / 500, rel=0.02)
    assert grows([1_000_000] * 40) == Estimate.exactly(0.0)
    filling = grows([round(9_000_000 * (1 - 0.9**number)) for number in range(1, 41)])
    assert isinstance(filling, Missing) and "ever more slowly" in filling.reason


@pytest.mark.parametrize(("pauses", "late"), [((900, 900, 5), 0.0), ((5, 5, 900), 2 / 3)])
def test_a_query_that_waits_for_rows_behind_most_long_batches_is_not_late(pauses: tuple[int, ...], late: float) -> None:
    rows = [{"triggerExecution": 2000, "addBatch": 1900, "interval": 2000 + pause} for pause in pauses * 20]
    found = measure(window(rows, trigger="processing_time", trigger_interval_ms=1000), "over_interval_share")
    assert isinstance(found, Estimate) and found.safe == pytest.approx(late, abs=0.03)


def test_a_watermark_that_stands_still_removes_nothing() -> None:
    def grows(moves: bool, year: int = 2026) -> Estimate | Missing:
        rows = [
            {
                "triggerExecution": 500,
                "addBatch": 400,
                "eventTime": {
                    "watermark": f"{year}-01-01T00:{n if moves else 0:02}:00.000Z",
                    "max": f"{year}-01-01T03:{n:02}:00.000Z",
                },
                "operators": [
                    {"operatorName": "stateStoreSave", "numRowsTotal": 1000 + 100 * n, "numRowsUpdated": 150}
                ],
            }
            for n in range(50)
        ]
        found = measure(window(rows, stateful=True, watermarked=True), "state_growth_per_day")
        assert isinstance(found, Estimate | Missing)
        return found

    assert isinstance(grows(moves=True), Missing)
    still = grows(moves=False)
    assert isinstance(still, Estimate) and still.low > 0
    made_up = grows(moves=False, year=1970)  # a watermark before 1970 is told as 1970: it has not rested
    assert isinstance(made_up, Missing)


def test_a_source_that_tells_its_delay_and_no_rows_has_a_backlog() -> None:
    source = {"description": "kinesis", "metrics": {"avgMsBehindLatest": "184000.0", "maxMsBehindLatest": "190000"}}
    made = window([{"triggerExecution": 9800, "addBatch": 3400, "sources": [source]}] * 3)
    assert measure(made, "backlog_ms") == Estimate.exactly(184_000)
    odd = source | {"metrics": {"avgMsBehindLatest": "1e400"}}
    assert isinstance(
        measure(window([{"triggerExecution": 9800, "addBatch": 3400, "sources": [odd]}]), "backlog_ms"), Missing
    )


class TestBusy:
    """How much of the time a query is busy, whatever idle triggers lay between its batches."""

    def polled(self, count: int, took: int = 60) -> list[dict[str, Any]]:
        """Batches every two seconds, each `took` ms after an idle trigger, as with minOffsetsPerTrigger."""
        made = events([{"triggerExecution": 1100, "addBatch": 300, "interval": 2000}] * count)
        return [one | {"inputRowsPerSecond": one["numInputRows"] / took * 1000} for one in made]

    def busy(self, made: list[dict[str, Any]]) -> Estimate | Missing:
        return measure(run_window(table(made), facts()), "utilisation")

    def test_an_idle_trigger_before_a_batch_is_no_batch(self) -> None:
        found = self.busy(self.polled(14))
        assert isinstance(found, Estimate) and found.safe == pytest.approx(0.55)

    def test_rows_come_in_the_time_from_batch_to_batch(self) -> None:
        found = measure(run_window(table(self.polled(14)), facts()), "rows_coming_per_second")
        assert isinstance(found, Estimate) and found.safe == pytest.approx(50)

    def test_of_one_batch_after_an_idle_trigger_nothing_is_known(self) -> None:
        assert isinstance(self.busy(self.polled(1)), Missing)

    def test_one_batch_that_takes_much_longer_than_its_rows_to_arrive(self) -> None:
        found = self.busy(self.polled(1, took=1000))
        assert isinstance(found, Estimate) and found.safe == pytest.approx(1.1)
