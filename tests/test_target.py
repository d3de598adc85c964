"""Whether a latency target is reached: as it is, by the fewest steps that Spark takes, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import advisor
from advisor.catalogue import load
from advisor.cli.options import facts_given
from advisor.contract import Advice, Promise, QueryEntry, Target
from advisor.errors import UsageError
from advisor.metrics.phases import budget
from advisor.report.target import target
from advisor.savings.after import after
from advisor.views.terminal import report_as_text
from tests.made import window
from tests.test_together import finding, step

SAMPLES = Path(__file__).parents[1] / "sample_progress"
CATALOGUE = load(None)
ROW = {"triggerExecution": 400, "walCommit": 60, "commitOffsets": 70, "addBatch": 260, "numInputRows": 100}
LOGS = step("logs", Promise(90, 110, 130, 60), "async_progress_saving_ms", ("walCommit", "commitOffsets"))
STATE = step("state", Promise(100, 150, 200), "state_commit_wall_ms", ("addBatch",), semantics="unchanged")
LOGS = replace(LOGS, semantics="unchanged")
INTERVAL = step("interval", None, "interval_wait_ms", (), semantics="unchanged",
                saves_latency_ms=Promise(0, 800, 1000))  # fmt: skip


def wanted(stat: str, ms: float, *steps: Advice, every: float | None = None, **facts: Any) -> Target:
    trigger = {"trigger": "processing_time", "trigger_interval_ms": every} if every else {"trigger": "unspecified"}
    known = {"latency_target_ms": ms, "latency_target_stat": stat, **trigger, **facts}
    made = window([ROW] * 60, interval_ms=every, **known)
    found = target(made, [finding(one.id, one) for one in steps])
    assert found is not None
    return found


def asked(sample: str, *facts: str) -> QueryEntry:
    """The one query of a sample, with these facts."""
    (query,) = advisor.analyze(SAMPLES / sample, set=facts).typed.queries
    return query


def ids(found: Target) -> list[str]:
    return [one.step for one in found.steps]


def test_what_is_reached_could_be_cheaper() -> None:
    """A record waits its batch and, at p99, 0.99 of the interval; without a fit a batch grows with the interval."""
    found = wanted("p99", 3000, LOGS)
    assert (found.verdict, found.steps) == ("reached", ())
    assert found.now is not None and found.now.p99 == pytest.approx(330 + 0.99 * 400, abs=5)
    assert found.longest_interval_ms is not None and 1000 < found.longest_interval_ms < 2700
    assert wanted("p99", 740).longest_interval_ms is None
    assert target(window([ROW] * 60, trigger="unspecified"), []) is None


@pytest.mark.parametrize(
    ("more", "ms", "verdict"),
    [(0, 1000, "reached"), (20, 1000, "reached with steps"), (60, 1000, "not reached"), (60, 100_000, "unknown"),
     (60, 14_870, "may be reached")],
)  # fmt: skip
def test_nothing_is_reached_while_the_backlog_grows_on(more: int, ms: float, verdict: str) -> None:
    """Batches of 400 ms take 100 of the 100 + `more` rows that come; of 290 ms they take up to 37 more."""
    rows = []
    for number in range(1, 61):
        offsets = {"startOffset": 0, "endOffset": 100, "latestOffset": 100 + more * number}
        source = {"description": "KafkaV2[Subscribe[t]]", "numInputRows": 100}
        rows.append(ROW | {"sources": [source | {name: {"t": {"0": offset}} for name, offset in offsets.items()}]})
    made = window(rows, trigger="unspecified", latency_target_ms=ms, latency_target_stat="p99")
    found = target(made, [finding(LOGS.id, LOGS)])
    assert found is not None and found.verdict == verdict


def test_the_fewest_steps_reach_it_and_each_says_what_it_leaves() -> None:
    one = wanted("p99", 650, STATE, LOGS)
    assert (one.verdict, ids(one)) == ("reached with steps", ["state"])
    both = wanted("p99", 500, STATE, LOGS)
    assert (both.verdict, sorted(ids(both))) == ("reached with steps", ["logs", "state"])
    assert both.steps[0].after.p99 > both.steps[1].after.p99
    assert all(taken.low <= taken.after.p99 <= taken.high for taken in both.steps)


UNMEASURED = step("looks", Promise(0, None, 350), "skew_ms", ("addBatch",), semantics="unchanged")
LOSES = step("loses", Promise(200, 300, 350), "skew_ms", ("addBatch",), takes="new_checkpoint", legal="if")
UNSURE = replace(STATE, saves_ms=Promise(0, 150, 200), saves_latency_ms=None)


@pytest.mark.parametrize(
    ("stat", "ms", "steps", "verdict"),
    [
        ("p50", 550, (), "reached"), ("p99", 550, (), "not reached"),  # the median may be the target
        ("p99", 600, (UNSURE,), "may be reached"),  # by a step that may save nothing
        ("p99", 300, (UNMEASURED,), "may be reached"),
    ],
)  # fmt: skip
def test_the_verdict(stat: str, ms: float, steps: tuple[Advice, ...], verdict: str) -> None:
    assert wanted(stat, ms, *steps).verdict == verdict


@pytest.mark.parametrize("taking", [{"takes": "new_checkpoint", "legal": "if"}, {"semantics": "at_least_once"}])
def test_what_loses_something_is_taken_only_where_nothing_else_reaches_it(taking: dict[str, Any]) -> None:
    loses = step("loses", Promise(200, 300, 350), "skew_ms", ("addBatch",), **({"semantics": "unchanged"} | taking))
    assert ids(wanted("p99", 600, loses, STATE)) == ["state"]
    last = wanted("p99", 300, loses, LOGS)
    assert ids(last)[-1] == "loses" or taking.get("takes") is None
    assert "loses" in ids(last)


def test_more_slots_are_not_asked_for_where_a_step_ends_the_waves_or_one_task_takes_longest() -> None:
    query = asked("ST002/rocksdb-without-changelog-4.3.0", "latency_target_ms=500")
    found = query.screen.target
    assert found is not None and "offline-state-repartition" in ids(found) and found.waves is None
    query = asked("CL002/16-tasks-on-2-slots-4.3.0", "latency_target_ms=1")
    assert query.screen.target is not None and query.screen.target.waves == 8
    query = asked("CL003/one-straggler-4.3.0", "latency_target_ms=1")
    assert query.screen.target is not None and query.screen.target.waves is None


@pytest.mark.parametrize(("ms", "verdict", "left"), [(500, "not reached", 59_500), (90_000, "unknown", None)])
def test_a_result_waits_for_its_window_and_at_least_for_all_the_watermarks_delay(
    ms: float, verdict: str, left: float | None
) -> None:
    times = {"watermark": "2026-03-01T01:59:00.000Z", "max": "2026-03-01T02:00:00.000Z"}
    saved = {"operatorName": "stateStoreSave", "commitTimeMs": 60, "numShufflePartitions": 2}
    row = {**ROW, "eventTime": times, "stateOperators": [saved]}
    made = window([row] * 20, output_mode="append", stateful=True, watermarked=True, latency_target_ms=ms)
    found = target(made, [])
    assert found is not None and found.missing is not None
    assert (found.verdict, found.left_ms, "update mode" in found.missing) == (verdict, left, True)


def test_a_batch_saves_as_much_of_kafkas_fetches_as_its_add_batch_is_long() -> None:
    """A slow batch of 600 ms of addBatch saves three times what a usual one of 200 ms does."""
    made = window([ROW | {"triggerExecution": took + 140, "addBatch": took} for took in (200,) * 50 + (600,) * 10],
                  trigger="processing_time", trigger_interval_ms=100)  # fmt: skip
    fetches, other = (
        after(made, [step("one", Promise(100, 100, 100), of, ("addBatch",))], budget(made))
        for of in ("kafka_fetch_wait_ms", "static_side_ms")
    )
    assert fetches.p99 < other.p99 - 200


def test_a_target_within_the_range_of_what_is_promised_only_may_be_reached() -> None:
    for ms in (400, 300):
        found = wanted("p99", ms, STATE)
        assert found.verdict == "may be reached"
        assert found.steps[0].low <= ms < found.steps[0].high
    assert found.left_ms == pytest.approx(found.steps[0].after.p99 - 300, abs=0.1)


@pytest.mark.parametrize(
    ("fact", "kept_out"), [("keep_checkpoint", "new_checkpoint"), ("keep_exactly_once", "restart")]
)
def test_what_gives_up_what_is_kept_is_advised_nowhere(fact: str, kept_out: str) -> None:
    sample = {"keep_checkpoint": "ST012/200-partitions-4.3.0", "keep_exactly_once": "LG001/rate-to-noop-4.3.0"}[fact]
    query = asked(sample, f"{fact}=true", "latency_target_ms=10")
    steps = [step for one in query.findings for step in one.steps]
    assert [step.takes for step in steps if fact in step.against and step.legal == "no"][:1] == [kept_out]
    shown = {query.best_step.step} if query.best_step else set()
    shown |= {one.step for one in query.screen.also} | {one.step for one in query.screen.target.steps}  # type: ignore[union-attr]
    assert not shown & {step.id for step in steps if fact in step.against}


@pytest.mark.parametrize(
    ("sample", "ms", "verdict"),
    [
        ("SR005/sparse-kafka-4.3.0", 1020, "reached with steps"),
        ("ST002/rocksdb-without-changelog-4.3.0", 10, "not reached"),
    ],
)
def test_with_a_target_the_first_step_is_the_one_on_its_way(sample: str, ms: int, verdict: str) -> None:
    query = asked(sample, f"latency_target_ms={ms}")
    found = query.screen.target
    assert found is not None and query.best_step is not None
    assert (found.verdict, query.best_step.step) == (verdict, found.steps[0].step)


SMALL = step("small", Promise(20, 30, 40), "skew_ms", ("addBatch",))


@pytest.mark.parametrize(
    ("ms", "steps", "taken"),
    [
        # the nearest keeps the state where that takes a good part
        (50, (LOSES, STATE), ["state"]), (50, (LOSES, SMALL), ["loses"]),
        # a step that was never measured stands behind one that was
        (600, (UNMEASURED, STATE), ["state"]), (300, (UNMEASURED,), ["looks"]),
    ],
)  # fmt: skip
def test_the_steps_that_are_taken(ms: float, steps: tuple[Advice, ...], taken: list[str]) -> None:
    assert ids(wanted("p99", ms, *steps)) == taken


def test_the_median_is_never_above_the_p99_after_a_step() -> None:
    """A promise of the median alone may be smaller than what the model takes off the p99."""
    little = replace(STATE, saves_ms=Promise(200, 255, 260), saves_latency_ms=Promise(0, 5, 300))
    for stat in ("p50", "p99"):
        (taken,) = wanted(stat, 50, little).steps
        assert taken.after.p50 <= taken.after.p99
        assert taken.low <= taken.after.at(stat) <= taken.high


def test_what_is_out_of_reach_names_the_nearest_and_what_is_left() -> None:
    found = wanted("p99", 50, STATE, LOGS)
    assert (found.verdict, sorted(ids(found))) == ("not reached", ["logs", "state"])
    assert found.left_ms == pytest.approx(found.steps[-1].after.p99 - 50, abs=0.1)
    assert "addBatch" in found.in_the_way


def test_a_shorter_interval_follows_from_the_shorter_batch() -> None:
    alone, beside = wanted("p99", 1000, INTERVAL, every=5000), wanted("p99", 600, INTERVAL, STATE, every=5000)
    assert alone.now is not None and alone.now.interval_ms == 5000
    assert ids(alone) == ["interval"]
    assert ids(beside) == ["interval", "state"]  # what gains more comes first
    short, shorter = (found.steps[-1].after.interval_ms for found in (alone, beside))
    assert short is not None and shorter is not None and shorter < short < 5000


def test_steps_on_one_phase_do_not_add_up() -> None:
    again = replace(STATE, id="again", saves_of="skew_ms", change=LOGS.change)
    apart = 400 - wanted("p99", 1, STATE).steps[-1].after.p99
    both = 400 - wanted("p99", 1, STATE, again).steps[-1].after.p99
    assert both < 2 * apart + 400


def test_options_stand_for_facts() -> None:
    options = {
        "given": ("sink=kafka",), "targets": ("p99=500ms", "orders:p50=2s"), "keep": ("exactly-once",), "load": 2.0,
    }  # fmt: skip
    assert facts_given(options) == [
        "sink=kafka", "latency_target_ms=500", "latency_target_stat=p99", "orders:latency_target_ms=2000",
        "orders:latency_target_stat=p50", "keep_exactly_once=true", "load_factor=2",
    ]  # fmt: skip
    for wrong in ("500ms", "p95=2s", "p99=500"):
        with pytest.raises(UsageError, match="--target"):
            facts_given(options | {"targets": (wrong,)})


def test_the_first_screen_stays_short() -> None:
    report = advisor.analyze(SAMPLES / "ST001" / "rocksdb-8-partitions-4.3.0", set=["latency_target_ms=1000"])
    screen = report_as_text(report.typed).partition("\n\n")[2]
    assert "TARGET" in screen and len(screen.splitlines()) <= 25


def test_what_was_asked_of_the_capacity_is_on_the_screen_beside_a_target() -> None:
    known = ["latency_target_ms=500", "load_factor=2"]
    shown = report_as_text(advisor.analyze(SAMPLES / "TR006/varying-load-4.3.0", set=known).typed)
    assert "At 2 times the load" in " ".join(shown.split())


@pytest.mark.parametrize(("ms", "wish"), [(4000, "records should arrive sooner than the target asks"), (3000, None)])
def test_a_step_that_weakens_a_guarantee_serves_only_a_wish_once_the_target_is_reached(
    ms: int, wish: str | None
) -> None:
    known = [f"latency_target_ms={ms}", "trigger=processing_time", "trigger_interval_ms=2000"]
    query = asked("TR006/varying-load-4.3.0", *known)
    assert query.best_step and (query.best_step.advice.semantics != "unchanged") == bool(wish)
    assert query.screen.wish == wish
