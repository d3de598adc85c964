"""Two windows: load, changed settings, promises, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
import pytest

from advisor.catalogue import load as load_catalogue
from advisor.comparison import compare
from advisor.comparison.effect import made_of, rounded, same
from advisor.comparison.load import load, rows_per_batch, rows_per_second
from advisor.contract import Differences, FactEntry, Interval
from advisor.engine import Advice, judge
from advisor.stages import PARTS
from advisor.window import Window, run_window
from tests.comparison.noise import windows
from tests.made import event, facts, table, window

SYNC = {"walCommit": 28, "addBatch": 33, "commitOffsets": 30, "queryPlanning": 5, "latestOffset": 2}
BATCH = {"triggerExecution": 400, "addBatch": 380}
ASYNC = {"walCommit": 0, "addBatch": 22, "commitOffsets": 0, "queryPlanning": 4, "latestOffset": 2}
LEGAL: dict[str, Any] = {
    "stateful": False, "sink": "kafka", "trigger": "unspecified", "platform": "open_source", "spark_version": "4.3.0",
}  # fmt: skip


def run(
    phases: Mapping[str, float], count: int = 120, seed: int = 0, noise: float = 0.1, rows: Any = None, **how: Any
) -> Window:
    """Batches of these phases, noisy; rows follow the batch at 1000 a second unless they are given."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        scale = max(0.3, 1 + noise * rng.normal())
        row = {name: round(ms * scale) for name, ms in phases.items()}
        length = sum(row.values()) + 3
        made.append(row | {"triggerExecution": length, "numInputRows": rows or length})
    return window(made, **how)


def effect(found: Differences, name: str, stat: str = "typical") -> Any:
    return next(one for one in found.effects if (one.name, one.stat) == (name, stat))


def advised(before: Window) -> list[Advice]:
    return [step for finding in judge(before, load_catalogue(None)).findings for step in finding.steps]


def kept(before: Window, after: Window) -> dict[tuple[str, str], Any]:
    """The promises of the steps that were made, by step and what they are of."""
    return {(one.step, one.of): one for one in compare(before, after, advised(before)).promises}


def test_a_faster_run_is_told_with_its_phases_and_its_latency() -> None:
    found, again = (compare(run(SYNC, **LEGAL), run(ASYNC, seed=1, **LEGAL)) for _ in range(2))
    assert found.verdict == "faster" and (found.says, found.effects) == (again.says, again.effects)
    total = effect(found, "triggerExecution")
    assert total.difference_ms.low < -70 < total.difference_ms.high
    assert effect(found, "commitOffsets").difference_ms.value == pytest.approx(-30, abs=1.5)
    phases = sum(one.difference_ms.value for one in found.effects if one.name in {*SYNC, "unaccounted"})
    assert phases == pytest.approx(total.difference_ms.value, abs=0.1)
    assert effect(found, "record latency", "p99").told
    assert found.says.startswith("A typical batch is ")


def opened(made: Window, together: str | None, **parts: float) -> Window:
    """These batches with what their jobs showed inside addBatch; `together`: the parts that no stage tells apart."""
    count = len(made)
    columns = {part.name: np.full(count, parts.get(part.name, np.nan)) for part in PARTS}
    told = {"jobs": np.ones(count), "together": np.array([together] * count, dtype=object)}
    return replace(made, batches=made.batches.having(**told, **columns))


def test_a_read_that_holds_the_write_is_compared_with_both() -> None:
    before = opened(run(SYNC), "source_read+sink_write", source_read_ms=2900.0, python_ms=10.0)
    after = opened(run(SYNC, seed=1), None, source_read_ms=3.0, sink_write_ms=2300.0, python_ms=10.0)
    found = {one.name: (one.before_ms, one.after_ms) for one in compare(before, after).effects}
    assert found["addBatch: source read + sink write"] == (2900.0, 2303.0)
    assert found["addBatch: python"] == (10.0, 10.0)
    assert not found.keys() & {"addBatch: source read", "addBatch: sink write"}
    apart = {one.name for one in compare(after, after).effects}
    assert {"addBatch: source read", "addBatch: sink write"} < apart


@pytest.mark.parametrize(
    ("how", "verdict", "says"),
    [
        ({}, "no difference", "No difference, or at most "),
        ({"count": 12, "noise": 0.5}, "cannot say", "Cannot say whether a typical batch is faster or slower"),
    ],
)
def test_the_same_settings_give_no_difference_or_an_interval_too_wide(
    how: dict[str, Any], verdict: str, says: str
) -> None:
    found = compare(run(SYNC, **how, **LEGAL), run(SYNC, seed=7, **how, **LEGAL))
    total = effect(found, "triggerExecution").difference_ms
    assert (found.verdict, found.changed, found.slower_by_more_than(0)) == (verdict, (), False)
    assert found.says.startswith(says) and total.low < 0 < total.high


@pytest.mark.parametrize(("percent", "fails"), [(0, True), (5, True), (60, False)])
def test_slower_by_more_than_counts_the_low_end_of_the_interval(percent: float, fails: bool) -> None:
    slower = {name: 1.4 * ms for name, ms in SYNC.items()}
    found = compare(run(SYNC, **LEGAL), run(slower, seed=1, **LEGAL))
    assert found.slower_by_more_than(percent) is fails
    assert not compare(run(slower, **LEGAL), run(SYNC, seed=1, **LEGAL)).slower_by_more_than(percent)


@pytest.mark.parametrize(("low", "percent", "fails"), [(0.25, 25, False), (0.25, 24.9, True), (0.2496, 24.98, False)])
def test_slower_by_more_is_judged_by_the_number_itself(low: float, percent: float, fails: bool) -> None:
    share = Interval(low=low, value=0.5, high=0.75)
    ms = Interval(low=25, value=50, high=75)
    found = compare(run(SYNC), run(SYNC))
    effect = rounded(made_of("triggerExecution", "typical", (100, 150), ms, share))
    found = msgspec.structs.replace(found, verdict="slower", effects=(effect,))
    assert found.slower_by_more_than(percent) is fails


@pytest.mark.parametrize(
    ("before", "after", "low", "high", "is_same"),
    [
        (200, 200, -9.9, 9, True),
        (200, 200, -9, 10, False),
        (200, 200, -10.1, 0, False),
        (200, 206, 0, 10.1, False),
        (206, 200, -10.1, 0, False),
    ],
)
def test_sides_are_the_same_whose_whole_interval_is_within_a_share_of_the_smaller(
    before: float, after: float, low: float, high: float, is_same: bool
) -> None:
    ms = Interval(low=low, value=0, high=high)
    assert same(made_of("addBatch", "typical", (before, after), ms, None)) is is_same


def test_too_few_batches_say_how_many_more() -> None:
    found = compare(run(SYNC, count=6), run(SYNC))
    assert found.verdict == "too few batches" and found.effects == ()
    assert "needed: 4 before." in found.says
    assert "needed: 4 before and 1 after." in compare(run(SYNC, count=6), run(SYNC, count=9)).says


def loaded(rows: float, count: int = 100, seed: int = 0, interval_ms: float = 1000, **how: Any) -> Window:
    """A trigger with an interval whose batches cost 50 ms and a tenth of a ms per row."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        taken = round(rows * (1 + 0.3 * rng.uniform(-1, 1)))
        length = round(50 + 0.1 * taken + rng.normal())
        made.append({"addBatch": length - 5, "triggerExecution": length, "numInputRows": taken})
    return window(made, interval_ms=interval_ms, **how)


def test_more_rows_are_taken_off_by_the_fitted_cost() -> None:
    known = {"trigger": "processing_time"}
    found = compare(loaded(1000, **known), loaded(1400, seed=1, **known))
    assert found.load is not None and found.load.kind == "adjusted"
    assert found.verdict == "cannot say"  # the fit is no surer than that
    assert abs(found.effects[0].difference_ms.value or 0) < 3


def test_an_effect_at_another_load_is_the_effect_of_the_change_alone() -> None:
    before = loaded(1000, trigger="processing_time")
    after = run({"addBatch": 150}, rows=1400, noise=0.02, seed=1, interval_ms=1000, trigger="processing_time")
    found = compare(before, after)  # AFTER's rows do not vary, so BEFORE's fit is used: 150 + 3 - 40 against 150
    assert found.load is not None and found.load.kind == "adjusted"
    assert found.effects[0].after_ms == pytest.approx(113, abs=3)
    assert found.verdict == "faster"


def test_rows_that_would_take_longer_than_the_batch_are_not_taken_off() -> None:
    after = run({"addBatch": 20}, rows=1400, noise=0.02, seed=1, interval_ms=1000, trigger="processing_time")
    for sides in ((loaded(1000, **STEADY), after), (after, loaded(1000, **STEADY))):
        load = compare(*sides).load
        assert load is not None and load.kind == "differs"


STEADY = {"trigger": "processing_time"}
TURNED = {"faster": "slower", "slower": "faster"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(pytest.param(*pair, id=f"recorded {number}") for number, pair in enumerate(combinations(windows(), 2))),
        (loaded(1000, **STEADY), loaded(1400, seed=1, **STEADY)),
        (loaded(1000, **STEADY), loaded(700, seed=1, interval_ms=500, **STEADY)),
        (loaded(1000, **STEADY), run({"addBatch": 150}, rows=1400, seed=1, interval_ms=1000, **STEADY)),
    ],
)
def test_turned_round_each_difference_turns_its_sign(one: Window, other: Window) -> None:
    there, back = compare(one, other), compare(other, one)
    assert back.verdict == TURNED.get(there.verdict, there.verdict)
    assert there.load is not None and back.load is not None and there.load.kind == back.load.kind
    turned = {(of.name, of.stat): [-of.difference_ms.high, -of.difference_ms.low] for of in back.effects}
    for of in there.effects:
        assert [of.difference_ms.low, of.difference_ms.high] == pytest.approx(turned[of.name, of.stat], abs=0.011)


def test_without_a_fit_another_load_is_not_comparable() -> None:
    found = compare(loaded(1000), loaded(1400, seed=1))
    assert (found.verdict, found.slower_by_more_than(0)) == ("not comparable", False)
    assert "the trigger is not known" in found.says


@pytest.mark.parametrize(
    ("before", "after", "kind", "says"),
    [
        # a batch that is faster with more rows is faster
        ({"rows": 100, "interval_ms": 200}, {"rows": 150, "interval_ms": 200}, "differs", ""),
        # rows that only follow the batch, and batches that a limit fills
        ({}, {}, "same", "1,000 rows per second"),
        ({"rows": 500}, {"rows": 500}, "same", "at the same load (500 rows per batch)"),
    ],
)
def test_the_load_beside_a_faster_batch(before: Any, after: Any, kind: str, says: str) -> None:
    found = compare(run(SYNC, **before), run(ASYNC, seed=1, **after))
    assert found.load is not None and (found.load.kind, found.verdict) == (kind, "faster")
    assert says in found.load.says


def test_a_source_that_is_read_twice_is_no_double_load() -> None:
    def read(times: int) -> Window:
        source = {"description": "KafkaV2[Subscribe[t]]", "latestOffset": {"t": {"0": 9000}}}
        rows = [
            {
                "triggerExecution": 300, "addBatch": 280, "numInputRows": 100 * times,
                "sources": [{**source, "startOffset": {"t": {"0": 100 * n}}, "endOffset": {"t": {"0": 100 * n + 100}}}],
            }
            for n in range(40)
        ]  # fmt: skip
        return window(rows, trigger="unspecified")

    assert load(read(2), read(1)).kind == "same"
    assert rows_per_batch(read(2)) == 100.0


def test_triggers_that_find_nothing_are_time_in_which_rows_come() -> None:
    """At 300 rows a second a trigger of 4 s takes 1,200, one of 710 ms mostly 300 after one that finds none."""

    def read(since_batch: int, since_trigger: int, rows: int) -> Window:
        made = [
            event(number, since_batch * number, since_trigger, BATCH | {"numInputRows": rows})
            for number in range(10, 40)
        ]
        return run_window(table(made), facts(trigger="processing_time"))

    assert load(read(4000, 4000, 1200), read(1000, 710, 300)).says == "at the same load (300 rows per second)"


def test_batches_that_a_log_lacks_are_no_time_without_rows() -> None:
    made = [event(number, 1000 * number, 1000, BATCH) for number in range(10, 60)]
    whole, lacking = (run_window(table(kept), facts()) for kept in (made, [*made[:10], *made[30:]]))
    assert rows_per_second(whole) == rows_per_second(lacking) == 100.0


def test_what_changed_and_what_only_one_side_tells() -> None:
    before = run(SYNC, async_progress=False, sink="kafka", application="yesterday")
    after = run(SYNC, async_progress=True, sink="kafka", output_mode="append", application="today")
    changed = compare(before, after).changed
    assert [(one.fact, one.sure) for one in changed] == [("async_progress", True), ("output_mode", False)]
    assert changed[0].after == FactEntry(value=True, origin="user")


def test_a_promise_is_kept_or_broken() -> None:
    before = run(SYNC, async_progress=False, **LEGAL)
    after = run(ASYNC, seed=1, async_progress=True, async_progress_interval_ms=1000, **LEGAL)
    found = kept(before, after)
    batch = found["async-progress", "batch"]
    assert (batch.verdict, found["async-progress", "record"].verdict) == ("kept", "kept")
    assert batch.measured_ms is not None and batch.predicted_ms.low - 3 < batch.measured_ms.low
    slow = run(SYNC | {"walCommit": 20}, seed=1, async_progress=True, **LEGAL)
    assert kept(before, slow)["async-progress", "batch"].verdict == "broken"


def test_a_promise_that_cannot_be_judged_yet_says_how_many_batches_more() -> None:
    before = run(SYNC, count=25, noise=0.6, async_progress=False, **LEGAL)
    after = run(ASYNC | {"addBatch": 30}, count=25, noise=0.6, seed=1, async_progress=True, **LEGAL)
    assert {one.verdict for one in kept(before, after).values()} <= {"cannot say yet", "kept", "broken"}
    few = kept(before, run(ASYNC, count=4, async_progress=True, **LEGAL))
    assert [(one.verdict, one.more_batches) for (_, of), one in few.items() if of == "batch"] == [("cannot say yet", 6)]


def sparse(phases: Mapping[str, float], **how: Any) -> Window:
    """Batches of 12 rows from 4 partitions of Kafka."""
    made = []
    for number, length in enumerate(run(phases, count=60).batches["trigger_execution_ms"]):
        offsets = {"startOffset": 3 * number, "endOffset": 3 * number + 3}
        source = {key: {"t": dict.fromkeys("0123", at)} for key, at in offsets.items()}
        made.append({**phases, "triggerExecution": float(length), "numInputRows": 12, "sources": [source]})
    return window(made, source="kafka", task_slots=2, **how)


def test_two_steps_that_were_made_at_once_promise_in_common() -> None:
    """Each alone would seem to have saved what both did."""
    before = sparse(SYNC | {"addBatch": 400}, async_progress=False, kafka_fetch_max_wait_ms=500, **LEGAL)
    after = sparse(ASYNC, async_progress=True, async_progress_interval_ms=1000, kafka_fetch_max_wait_ms=10, **LEGAL)
    found = {made: one.verdict for made, one in kept(before, after).items()}
    assert found == {("kafka-fetch-wait + async-progress", "batch"): "kept"}


def test_a_step_that_was_not_made_has_no_promise_to_keep() -> None:
    before = run(SYNC, async_progress=False, **LEGAL)
    for trigger in ("unspecified", "processing_time"):
        assert kept(before, run(ASYNC, async_progress=False, **LEGAL | {"trigger": trigger})) == {}


def test_a_trigger_that_became_what_was_advised_is_a_step_made() -> None:
    known = {"trigger": "processing_time", "trigger_interval_ms": 5000, "latency_target_ms": 1000}
    before = loaded(5000, interval_ms=5000, **known)
    step = next(step for step in advised(before) if step.id == "interval-no-longer-than-needed")
    advised_ms = int(str(step.change.trigger["processing_time"]).split()[0])
    after = loaded(advised_ms, seed=1, interval_ms=advised_ms, **known | {"trigger_interval_ms": advised_ms})
    promises = compare(before, after, [step]).promises
    assert [(one.step, one.of, one.verdict) for one in promises] == [(step.id, "record", "kept")]


def test_real_time_mode_is_no_slower_batch() -> None:
    before, real_time = run(SYNC, **LEGAL), run({"addBatch": 5000}, **LEGAL | {"trigger": "real_time"})
    found = compare(before, real_time, advised(before))
    assert (found.verdict, found.slower_by_more_than(5)) == ("not comparable", False)
    assert "real-time mode" in found.says and not compare(real_time, before).effects
