"""Every number has one definition, and it is this one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.batches import Batches
from advisor.catalogue import load
from advisor.facts import Facts, Known
from advisor.metrics import METRICS, Estimate, Missing, measure, statistics
from advisor.metrics.backlog import catches_up
from advisor.metrics.latency import mixture_medians, mixture_quantiles
from advisor.metrics.phases import budget
from advisor.metrics.units import in_words, number
from advisor.window import Window, run_window
from tests.made import events, facts, table, window

PUBLISHED = {"operatorName": "stateStoreSave", "commitTimeMs": 3186626, "numShufflePartitions": 64}
VENDOR = {"triggerExecution": 547730, "addBatch": 540000, "operators": [PUBLISHED]}


def value(found: Estimate | Missing) -> float:
    assert isinstance(found, Estimate), found
    assert found.value is not None
    return found.value


def batch(whole: float, add_batch: float, operator: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A batch, with a state operator or none."""
    return {"triggerExecution": whole, "addBatch": add_batch, "operators": [operator] if operator else []} | more


def state(name: str = "stateStoreSave", partitions: int | None = None, **more: Any) -> dict[str, Any]:
    return {"operatorName": name} | ({"numShufflePartitions": partitions} if partitions else {}) | more


def topic(rows: int, end: int, wait: int) -> dict[str, Any]:
    """A Kafka source that read so many rows up to `end`, and left so many."""
    offsets = {"startOffset": end - rows, "endOffset": end, "latestOffset": end + wait}
    return {"description": "KafkaV2[Subscribe[t]]", "numInputRows": rows} | {
        name: {"t": {"0": offset}} for name, offset in offsets.items()
    }


def queued(taken: list[int], waiting: list[int]) -> Window:
    """Batches that take so many rows of a topic, of which so many wait on."""
    ends = itertools.accumulate(taken)
    read = zip(taken, ends, waiting, strict=True)
    rows = [batch(100, 90, numInputRows=rows, sources=[topic(rows, end, wait)]) for rows, end, wait in read]
    return window(rows, trigger="unspecified")


def logs(whole: float, offsets: float, commits: float, add_batch: float = 20) -> dict[str, Any]:
    return {"triggerExecution": whole, "walCommit": offsets, "commitOffsets": commits, "addBatch": add_batch}


def about(expected: float, within: float = 0.5) -> Any:
    return pytest.approx(expected, abs=within)


def counted(partitions: int) -> dict[str, Any]:
    return batch(445, 352, state(partitions=partitions, commitTimeMs=268))


PAIRS = [(50, 50), (100, 10), (110, 20), (120, 12), (5000, 1)]
SHARES = [logs(whole, offsets, 0, 1) for whole, offsets in PAIRS]
HELD = ([logs(20, 0, 0, 18)] * 49 + [logs(1020, 1000, 0, 18)]) * 4
ROCKS = {"rocksdbCommitFileSyncLatencyMs": 605, "rocksdbCommitFlushLatency": 20, "rocksdbCommitCheckpointLatency": 10}
IN_THE_SYNC = {"rocksdbSaveZipFilesLatencyMs": 429}
UPDATES = state("dedupe", 4, allUpdatesTimeMs=60, allRemovalsTimeMs=20, commitTimeMs=101)
ARBITRARY = state("transformWithStateExec", 8, allUpdatesTimeMs=4000, commitTimeMs=80)
TWICE = {
    "description": "KafkaV2[Subscribe[t]]", "startOffset": {"t": {"0": 100, "1": 0}}, "numInputRows": 2000,
    "endOffset": {"t": {"0": 600, "1": 500}}, "latestOffset": {"t": {"0": 700, "1": 500}},
}  # fmt: skip
DATABRICKS = {"latestOffset": 0, "queryPlanning": 0, "walCommit": 0, "commitBatch": 20, "collectSourceMetrics": 36}
VISIBLE = {"latestOffset": 10, "commitOffsets": 30}
KAFKA = {"sink": "kafka", "trigger": "unspecified"}
NOOP = {"sink": "noop", "trigger": "unspecified"}
SIX = state("dedupe", 6, numRowsTotal=1)
APPEND = {"watermarked": True, "output_mode": "append", "stateful": True, "sink": "noop"}
KINESIS = {"description": "kinesis", "metrics": {"avgMsBehindLatest": "184000.0", "maxMsBehindLatest": "190000"}}
ODD = {"description": "kinesis", "metrics": {"avgMsBehindLatest": "1e400", "maxMsBehindLatest": "190000"}}
PARTITIONS = {"source": "kafka", "kafka_partitions": 5, "stateful": False}
PLAIN = {"triggerExecution": 100}
DEDUPE = batch(100, 80, state("dedupe", 3))
STATEFUL = PARTITIONS | {"stateful": True}


def set_back(**event_time: str) -> list[dict[str, Any]]:
    """Four batches in order of time: before the third the clock was set back by an hour."""
    starts = [(2, "02:00:02"), (3, "02:00:03"), (0, "03:00:00"), (1, "03:00:01")]
    moments = {"watermark": "2026-03-01T02:59:00.000Z", "max": "2026-03-01T03:00:00.000Z"} | event_time
    return [
        batch(100, 90, batchId=number, timestamp=f"2026-03-01T{at}.000Z", eventTime=moments) for number, at in starts
    ]


NUMBERS: dict[str, list[tuple[list[Any], dict[str, Any], str, str | None, Any]]] = {
    "the mission's formula knows no slots": [
        ([VENDOR], {"task_slots": 32}, "state_commit_share", None, pytest.approx(3186626 / 64 / 547730)),
    ],
    "shares of operators add up": [
        (
            [batch(100, 90, operators=[state("dedupe", 4, commitTimeMs=80), state(partitions=2, commitTimeMs=60)])],
            {"task_slots": 4}, "state_commit_share", None, pytest.approx((20 + 30) / 100),
        ),
    ],
    "tasks that are tried again are no partitions": [
        ([*[counted(8)] * 2, counted(11)], {"task_slots": 2}, "state_partitions", "max", 8),
    ],
    "a watermark of 2036 is ahead of a clock that was set back": [
        (set_back(watermark="2036-03-01T03:00:00.000Z"), {}, "watermark_ahead_of_clock_ms", "max", 3653 * 86_400_000),
    ],
    "without state nothing is committed": [([batch(100, 40)], {}, "state_commit_share_at_slots", None, 0)],
    "a typical share is a ratio of sums over the middle batches": [
        (SHARES, {}, "offset_log_share", "typical", pytest.approx((10 + 20 + 12) / (100 + 110 + 120))),
    ],
    "the total sees one held batch in fifty, which p95 misses": [
        (HELD, {"interval_ms": 1020}, "offset_log_share", "p95", 0),
        (HELD, {"interval_ms": 1020}, "offset_log_share", "total", pytest.approx(1000 / 2000)),
    ],
    "phases of Databricks never vanish into the time of no phase": [
        ([batch(100, 40, **DATABRICKS)], {}, "unaccounted_ms", None, 4),
    ],
    "RocksDB's archives are written within the sync of its files": [
        (
            [batch(621, 540, state(partitions=8, commitTimeMs=638, customMetrics=ROCKS | IN_THE_SYNC))],
            {"task_slots": 2}, "snapshot_commit_wall_ms", None, pytest.approx(635 / 8 * 4),
        ),
    ],
    "waves beyond the first": [
        ([counted(8)], {"task_slots": 2}, "state_waves_excess_ms", None, pytest.approx(2 * 268 / 8 * 3)),
    ],
    "other stages of a batch are no waves of state": [
        ([batch(2200, 2000, UPDATES)], {"task_slots": 2}, "state_waves_excess_ms", None, pytest.approx(2 * 181 / 4)),
    ],
    "keys are no rows, but for an aggregation": [
        ([batch(200, 100, state(name, 4, numRowsUpdated=28), numInputRows=20_000)], {}, "rows_per_state_partition",
         None, rows)
        for name, rows in (("stateStoreSave", 7), ("transformWithStateExec", 5000))
    ],
    "what a watermark drops at an aggregation are groups, at others rows": [
        ([batch(200, 100, state(name, 4, numRowsDroppedByWatermark=7, numRowsUpdated=21), numInputRows=70)] * 2, {},
         metric, "total", expected)
        for name, metric, expected in (
            ("stateStoreSave", "late_groups_share", 0.25), ("dedupe", "late_rows_share", 0.1),
            ("symmetricHashJoin", "late_rows", 7),
        )
    ],
    "the interval of real-time mode follows from the target": [
        ([PLAIN], known, "advised_real_time_interval_ms", None, interval)
        for known, interval in (
            ({}, 60_000), ({"latency_target_ms": 50}, 60_000), ({"latency_target_ms": 500}, 5_000),
            ({"latency_target_ms": 50, "repeated_at_most_ms": 20_000}, 20_000), ({"repeated_at_most_ms": 100}, 5_000),
        )
    ],
    "partitions are never advised to be fewer than slots": [
        ([counted(200)], {"task_slots": 16}, "advised_state_partitions", None, 16),
    ],
    "a source that is read twice": [
        ([batch(340, 280, numInputRows=2000, sources=[TWICE])] * 3, {}, metric, None, expected)
        for metric, expected in (
            ("computations", 2), ("backlog_rows", 100), ("backlog_ms", pytest.approx(100 / (1000 / 340))),
        )
    ],
    # the published figures of six recorded Kafka runs: batch, commit log, and what the model said of them
    "records of even batches": [
        ([batch(*phases, commitOffsets=commits)] * 50, {"trigger": "unspecified"}, "record_latency_ms", stat, expected)
        for phases, commits, p50, p99 in (((102, 33), 30, 123, 173), ((29, 22), 0, 43.5, 57.7))
        for stat, expected in (("p50", about(p50)), ("p99", about(p99)))
    ],
    # 100 of the batch until its end, half of latestOffset and the commit log apart, and half the gap of 100
    "records are visible when Kafka's tasks have written them": [
        ([batch(100, 36, operator, **VISIBLE, sink="KafkaTable")] * 20,
         KAFKA | {"stateful": operator is not None, "task_slots": 2}, "record_latency_ms", "p50",
         about(100 - 5 - 30 + 50 - sooner))
        for operator, sooner in (
            (None, 12), (state("dedupe", numRowsTotal=1), 0),  # written while the tasks run; state comes before
            (state("dedupe", 2, commitTimeMs=40), 20),  # handed on before the state's commit
            (state(partitions=2, commitTimeMs=40), 0),  # counted first
        )
    ],
    "when other sinks write is not known": [
        ([batch(100, 36, **VISIBLE, sink="NoopTable")] * 20, NOOP | {"stateful": False, "task_slots": 2},
         "record_latency_ms", "p50", about(100 - 5 - 30 + 50)),
    ],
    # three waves: a third of the rows each at 60, 80 and 100 ms of the batch, after a wait of 0 to 100 ms
    "rows of a Kafka sink are visible when their own task ends": [
        ([batch(100, 60, SIX, sink=table)] * 20, known | {"stateful": True, "task_slots": 2}, "record_latency_ms",
         "p50", about(expected))
        for table, known, expected in (("KafkaTable", KAFKA, 80 + 50), ("NoopTable", NOOP, 100 + 50))
    ],
    "storage keeps the interval of the logs, whatever one slow batch did": [
        ([logs(offsets + commits + 50, held * offsets, commits, 40) for held in (*[1] * 10, 40)], {},
         "shortest_async_interval_ms", None, interval)
        for offsets, commits, interval in ((57, 58, 1000), (175, 173, 2000), (646, 645, 4000))
    ],
    "a source that tells its delay and no rows has a backlog": [
        ([batch(9800, 3400, sources=[KINESIS])] * 3, {}, "backlog_ms", None, 184_000),
    ],
    "a query that waits for rows behind most long batches is not late": [
        ([batch(2000, 1900, interval=2000 + pause) for pause in pauses * 20],
         {"trigger": "processing_time", "trigger_interval_ms": 1000}, "over_interval_share", None, about(late, 0.03))
        for pauses, late in (((900, 900, 5), 0.0), ((5, 5, 900), 2 / 3))
    ],
    "each partition needs a slot": [
        ([row], known, "missing_task_slots", None, missing)
        for row, known, missing in (
            (PLAIN, PARTITIONS | {"task_slots": 2}, 3), (PLAIN, PARTITIONS | {"task_slots": 5}, 0),
            (DEDUPE, STATEFUL | {"task_slots": 5}, 3), (DEDUPE, STATEFUL | {"task_slots": 8}, 0),
            (DEDUPE, STATEFUL | {"task_slots_at_least": 8}, 0),
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "known", "metric", "stat", "expected"),
    [pytest.param(*case, id=words) for words, cases in NUMBERS.items() for case in cases],
)
def test_a_number(rows: list[Any], known: dict[str, Any], metric: str, stat: str | None, expected: Any) -> None:
    assert value(measure(window(rows, **known), metric, stat)) == expected


@pytest.mark.parametrize(
    ("rows", "known", "metric", "low", "best", "high"),
    [
        ([VENDOR], {}, "state_commit_share_at_slots", about(0.0909, 1e-4), None, pytest.approx(540000 / 547730)),
        ([VENDOR], {"task_slots": 64, "slots_shared": True}, "state_commit_share_at_slots", about(0.091, 5e-4), None,
         pytest.approx(540000 / 547730)),
        ([batch(1200, 1000, ARBITRARY)], {"task_slots": 2}, "state_waves_excess_ms", 80 / 8 * 3, None, 1000 * 3 / 4),
        ([logs(300, 200, 20, 50)] * 10, {}, "async_progress_saving_ms", 40, 220, 220),
    ],
    ids=["unknown slots", "slots that others share", "only its commits are sure to be spared",
         "what else the offset log waits for"],
)  # fmt: skip
def test_an_interval(rows: list[Any], known: dict[str, Any], metric: str, low: Any, best: Any, high: Any) -> None:
    found = measure(window(rows, **known), metric)
    assert isinstance(found, Estimate)
    assert (found.low, found.value, found.high) == (low, best, high)


UNSPECIFIED = [batch(100 + n, 90, numInputRows=100 + n) for n in range(60)]
NONE: list[tuple[list[Any], dict[str, Any], str, str]] = [
    ([batch(100, 40, {"numRowsTotal": 5})], {}, "state_commit_share", "commitTimeMs"),
    ([batch(100, 40)], {}, "unaccounted_ms", ""),
    ([batch(0, 0)] * 20, {"trigger_interval_ms": 1000}, "advised_interval_ms", "less than a millisecond"),
    (set_back(), {}, "watermark_ahead_of_clock_ms", "set back"),
    (UNSPECIFIED, {"trigger": "unspecified"}, "fixed_cost_ms", "when the batch before took longer"),
    *(
        ([batch(100, 90)], {"trigger": trigger}, "record_latency_ms", "")
        for trigger in ("once", "available_now", "continuous", "real_time")
    ),
    ([batch(100, 80, state())] * 20, APPEND, "record_latency_ms", ""),
    ([batch(9800, 3400, sources=[ODD])], {}, "backlog_ms", ""),
    ([PLAIN], PARTITIONS | {"task_slots": 8, "slots_shared": True}, "missing_task_slots", "other queries"),
    ([PLAIN], PARTITIONS | {"task_slots_at_least": 4}, "missing_task_slots", "task slots"),
    ([PLAIN], PARTITIONS, "missing_task_slots", "task slots"),
    ([PLAIN], {"source": "kafka", "stateful": False, "task_slots": 2}, "missing_task_slots", "partitions"),
    ([PLAIN], PARTITIONS | {"source": "rate", "task_slots": 2}, "missing_task_slots", "partitions"),
    ([batch(100, 0, state("dedupe"))], STATEFUL | {"task_slots": 9}, "missing_task_slots", "state"),
]


@pytest.mark.parametrize(("rows", "known", "metric", "why"), NONE)
def test_no_number(rows: list[Any], known: dict[str, Any], metric: str, why: str) -> None:
    found = measure(window(rows, **known), metric)
    assert isinstance(found, Missing) and why in found.reason


def test_only_windows_wait_for_the_watermark() -> None:
    for operator in ("dedupe", "symmetricHashJoin"):
        value(measure(window([batch(100, 80, state(operator))] * 20, **APPEND), "record_latency_ms", "p50"))


@pytest.mark.parametrize(
    ("rows", "known", "metric"),
    [
        ([PLAIN], Facts({**facts(**PARTITIONS), "task_slots": Known(2, "inferred")}), "missing_task_slots"),
        ([counted(8)], facts(), "state_waves_excess_ms"),
        ([batch(100, 60, SIX, sink="KafkaTable")] * 20, facts(**KAFKA, stateful=True), "record_latency_ms"),
    ],
)  # fmt: skip
def test_slots_are_asked_for_where_they_are_not_sure(rows: list[Any], known: Facts, metric: str) -> None:
    found = measure(run_window(table(events(rows)), known), metric)
    assert isinstance(found, Missing) and found.fact == "task_slots"


def test_a_backlog_is_waited_for() -> None:
    rows = [batch(100, 90, sources=[topic(100, 100, 10_000)])] * 20
    assert value(measure(window(rows, trigger="unspecified"), "record_latency_ms", "p50")) > 10_000


@pytest.mark.parametrize(("slots", "share"), [(64, "9.1 %"), (200, "9.1 %"), (32, "18.2 %")])
def test_state_commit_share_of_the_published_example(slots: int, share: str) -> None:
    one = window([VENDOR], task_slots=slots)
    assert in_words(measure(one, "state_commit_share_at_slots"), "share") == share  # type: ignore[arg-type]


@given(st.lists(st.tuples(*[st.integers(0, 500)] * 5), min_size=1, max_size=20))
def test_the_budget_adds_up(parts: list[tuple[int, ...]]) -> None:
    names = ("latestOffset", "walCommit", "queryPlanning", "addBatch", "commitOffsets")
    rows = [
        dict(zip(names, p, strict=True)) | {"triggerExecution": sum(p) + 3, "otherPhases": {"dreaming": 2}}
        for p in parts
    ]
    made = window(rows, interval_ms=5000)
    whole = value(measure(made, "trigger_execution_ms", "typical"))
    assert sum(budget(made).values()) == pytest.approx(whole, abs=0.5)


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


@pytest.mark.parametrize(("ms", "enough"), [(10, False), (70, False), (80, True), (100, False)])
def test_shorter_batches_keep_up_when_their_limit_then_lets_all_through(ms: float, enough: bool) -> None:
    # 500 are taken in 100 ms while 1,900 come: a batch of at most 26 ms is short enough
    assert catches_up(queued([500] * 20, [1400 * number for number in range(1, 21)]), ms) is enough


def test_a_backlog_that_shrinks_is_gone_after_what_is_left_of_it_at_that_pace() -> None:
    # each batch leaves 100 of 3,000 rows less, and 500 are taken in 100 ms: 5 rows a millisecond
    left = measure(queued([500] * 20, [3000 - 100 * n for n in range(1, 21)]), "catch_up_ms")
    assert isinstance(left, Estimate)
    assert left.low <= left.safe <= left.high and left.safe == pytest.approx(10 * 100, rel=0.01)


def test_the_advised_limit_works_a_backlog_off_in_a_time_that_follows_from_rows_and_batches() -> None:
    # 500 are taken in 100 ms while 600 come: 1,200 a batch, so that 600 of 2,000 go in 100 ms, or 300 in 150 ms
    found = measure(queued([500] * 20, [100 * number for number in range(1, 21)]), "drain_ms")
    assert isinstance(found, Estimate) and found.value is None
    assert (found.low, found.high) == pytest.approx((2000 / 600 * 100, 2000 / 300 * 150), rel=0.05)
    slow = queued([500] * 20, [100 * number for number in range(1, 21)])
    slow.batches["trigger_execution_ms"][-1] = 5000  # with such batches in the mean less is taken than comes
    never = measure(slow, "drain_ms")
    assert isinstance(never, Estimate) and 0 < never.low < never.high == math.inf


@pytest.mark.parametrize(
    ("waiting", "why"),
    [
        ([0] * 20, "nothing waits"),
        ([1500 * n for n in range(1, 21)], "does not shrink"),
        ([900] * 20, "not shrink"),
        ([3000 - 150 * min(n, 16) for n in range(1, 21)], "no more"),
    ],
)
def test_a_backlog_that_does_not_shrink_is_never_gone(waiting: list[int], why: str) -> None:
    found = measure(queued([500] * 20, waiting), "catch_up_ms")
    assert isinstance(found, Missing) and why in found.reason
    assert value(measure(queued([500] * 20, [0] * 20), "full_batches_share")) == 0.0
    assert value(measure(queued([100, 500] * 10, [1000] * 20), "full_batches_share")) == 0.0


def test_a_limit_of_the_source_shows_in_batches_of_one_size_while_rows_wait() -> None:
    made = queued([499, 500] * 10, [1500 * number for number in range(1, 21)])
    assert value(measure(made, "full_batches_share")) == 1.0
    # 499.5 taken (the first batch apart) and 1,500 more waiting after each: 2 x 1,999.5
    assert value(measure(made, "advised_rows_per_batch")) == 4000
    assert value(measure(made, "backlog_wait_ms")) > 0


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
    ((28, 30), 102, 73), ((29, 34), 118, 87), ((28, 31), 113, 81), ((27, 30), 104, 74), ((74, 77), 193, 181),
]  # fmt: skip
IN_TURNS = [
    ((57, 58), 170, 134), ((54, 53), 144, 115), ((54, 53.5), 141, 111), ((63, 64), 195, 140), ((62, 66), 178, 140),
    ((63, 66), 194, 122), ((175, 173), 412, 345), ((690, 693), 1480, 1410),
]  # fmt: skip
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


def test_every_metric_gives_a_number_or_a_reason_for_any_window() -> None:
    for made in (window([VENDOR]), window([counted(4)] * 40, task_slots=2), window([])):
        for name, shown in statistics(made, METRICS).items():
            assert shown.missing or shown.unit, name


def test_every_metric_says_what_it_is() -> None:
    assert [metric.name for metric in METRICS.values() if not (metric.meaning and metric.unit)] == []


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
        ({"spark_version": "2.4.5"}, 144, 282), ({"spark_version_below": "3.4"}, 144, 282),
        ({"spark_version": "3.5.1"}, 144, 144), ({}, 144, 144),
    ],
)  # fmt: skip
def test_before_3_4_the_commit_log_hides_in_the_time_of_no_phase(known: dict[str, Any], low: int, high: int) -> None:
    batch = {"triggerExecution": 507, "addBatch": 205, "queryPlanning": 20, "walCommit": 144, "getOffset": 0}
    one = window([batch] * 3, **known)
    for metric in ("offset_log_ms", "checkpoint_write_ms"):
        found = measure(one, metric)
        assert isinstance(found, Estimate) and (found.low, found.high) == (low, high)
    assert ("commitLog" in budget(one)) is (high > low)


def growth(metric: str, rows: list[dict[str, Any]], watermarked: bool = False) -> Estimate | Missing:
    return measure(window(rows, stateful=True, watermarked=watermarked), metric)


@pytest.mark.parametrize(
    ("metric", "told", "numbers", "why"),
    [
        # a set of keys and lists that fill up do not grow for ever
        ("state_growth_per_day", "rows", [100 * n for n in range(1, 61)], None),
        ("state_growth_per_day", "rows", [round(5000 * (1 - 0.93**n)) for n in range(1, 61)], "slows down"),
        ("state_bytes_growth_per_day", "bytes", [1_000_000 + 500_000 * n for n in range(40)], None),
        ("state_bytes_growth_per_day", "bytes", [1_000_000] * 40, None),
        ("state_bytes_growth_per_day", "bytes", [round(9_000_000 * (1 - 0.9**n)) for n in range(1, 41)],
         "ever more slowly"),
    ],
)  # fmt: skip
def test_what_fills_up_does_not_grow_for_ever(metric: str, told: str, numbers: list[int], why: str | None) -> None:
    held: list[dict[str, Any]] = [
        {"numRowsTotal": each} if told == "rows" else
        {"numRowsTotal": 400, "customMetrics": {"stateOnCurrentVersionSizeBytes": each}} for each in numbers
    ]  # fmt: skip
    rows = [batch(500, 400, state(partitions=2, **more), numInputRows=200) for more in held]
    found = growth(metric, rows)
    if why:
        assert isinstance(found, Missing) and why in found.reason
    else:
        a_day = (numbers[-1] - numbers[0]) / (len(numbers) - 1) * 86_400_000 / 500
        assert isinstance(found, Estimate) and found.safe == pytest.approx(a_day, rel=0.02)


def test_a_watermark_that_stands_still_removes_nothing() -> None:
    def grows(moves: bool, year: int = 2026) -> Estimate | Missing:
        def at(n: int) -> dict[str, str]:
            minute = n if moves else 0
            return {"watermark": f"{year}-01-01T00:{minute:02}:00.000Z", "max": f"{year}-01-01T03:{n:02}:00.000Z"}

        keys = [state(numRowsTotal=1000 + 100 * n, numRowsUpdated=150) for n in range(50)]
        rows = [batch(500, 400, operator, eventTime=at(n)) for n, operator in enumerate(keys)]
        return growth("state_growth_per_day", rows, watermarked=True)

    still = grows(moves=False)
    assert isinstance(still, Estimate) and still.low > 0
    assert isinstance(grows(moves=True), Missing)
    assert isinstance(grows(moves=False, year=1970), Missing)  # earlier ones are told as 1970: it has not rested


class TestBusy:
    """How much of the time a query is busy, whatever idle triggers lay between its batches."""

    def polled(self, count: int, took: int = 60) -> list[dict[str, Any]]:
        """Batches every two seconds, each `took` ms after an idle trigger, as with minOffsetsPerTrigger."""
        made = events([{"triggerExecution": 1100, "addBatch": 300, "interval": 2000}] * count)
        return [one | {"inputRowsPerSecond": one["numInputRows"] / took * 1000} for one in made]

    @pytest.mark.parametrize(
        ("count", "took", "metric", "told"),
        [
            (14, 60, "utilisation", 0.55),  # an idle trigger before a batch is no batch
            (14, 60, "rows_coming_per_second", 50),  # rows come in the time from batch to batch
            (1, 60, "utilisation", None),  # of one batch after an idle trigger nothing is known
            (1, 1000, "utilisation", 1.1),  # one that takes much longer than its rows to arrive
        ],
    )
    def test_an_idle_trigger_is_no_batch(self, count: int, took: int, metric: str, told: float | None) -> None:
        found = measure(run_window(table(self.polled(count, took)), facts()), metric)
        assert (found.safe if isinstance(found, Estimate) else None) == (told and pytest.approx(told))


@pytest.mark.parametrize(
    ("counts", "share", "reloads"),
    [
        ([(4 * n, 0) for n in range(9)], 0, 0),
        ([(0, 4 * n) for n in range(9)], 1, 4),
        ([(2, 2)] * 9, 0.5, 2),  # each batch loads new stores: they were unloaded, or executors come and go
    ],
)
def test_a_load_of_state_is_one_of_a_store_that_stays_or_of_a_new_one(
    counts: list[tuple[int, int]], share: float, reloads: float
) -> None:
    caches = [{"loadedMapCacheHitCount": hits, "loadedMapCacheMissCount": missed} for hits, missed in counts]
    made = window([batch(100, 90, state(partitions=2, customMetrics=each)) for each in caches])
    assert value(measure(made, "state_reload_share")) == share
    assert value(measure(made, "state_reloads")) == reloads


def test_a_query_without_state_beside_one_with_state_tells_of_no_load() -> None:
    """One table has the counters of all runs."""
    counts = {"loadedMapCacheHitCount": 4, "loadedMapCacheMissCount": 0}
    stateful = events([batch(100, 90, state(partitions=2, customMetrics=counts))] * 9)
    bare = [one | {"runId": "2", "stateOperators": []} for one in stateful]
    both = Batches.of(table([*stateful, *bare]))
    made = run_window(both.part(len(stateful), len(both)), facts())
    assert "custom:loadedMapCacheMissCount" in made.operators
    assert isinstance(measure(made, "state_reloads"), Missing)
