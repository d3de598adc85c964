"""Batches that wait though rows wait, and runs that a scheduler starts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import advisor
from tests.made import event

EVERY_MS = 10_000
"""Of the trigger; the batches lie a minute apart."""
ROW = {"triggerExecution": 500, "latestOffset": 5, "addBatch": 400, "walCommit": 40, "commitOffsets": 40}


def offsets(end: int, latest: int, start: int) -> dict[str, Any]:
    said = {"startOffset": start, "endOffset": end, "latestOffset": latest}
    ends = {name: {"t": {"0": at}} for name, at in said.items()}
    return {"description": "KafkaV2[Subscribe[t]]", "numInputRows": end - start} | ends


def minutes(count: int, *, waiting: int) -> list[dict[str, Any]]:
    """A batch of 600 rows in each minute, and before it a trigger that found `waiting` rows and ran none."""
    made = []
    for number in range(10, 10 + count):
        before, at = 600 * number, 60_000 * number
        found = {"triggerExecution": 5, "latestOffset": 4, "numInputRows": 0}
        found |= {"sources": [offsets(before, before + waiting, before)]}
        row = ROW | {"numInputRows": 600, "sources": [offsets(before + 600, before + 600, before)]}
        made += [event(number, at - EVERY_MS, EVERY_MS, found), event(number, at, EVERY_MS, row)]
    return made


def judged(folder: Path, made: list[dict[str, Any]], code: str = "") -> dict[str, Any]:
    path = folder / "asked.log"
    path.write_text("\n".join([code, *map(json.dumps, made)]) + "\n", encoding="utf-8")
    (query,) = advisor.analyze(path, set=["trigger=processing_time", f"trigger_interval_ms={EVERY_MS}"]).data["queries"]
    return dict(query)


def test_rows_that_wait_for_more_rows_are_the_loss_and_count_into_the_latency(tmp_path: Path) -> None:
    query = judged(tmp_path, minutes(12, waiting=500))
    assert (query["screen"]["loss"]["kind"], query["best_step"]["rule"]) == ("waiting", "SR008")
    assert query["metrics"]["record_latency_ms"]["p50"] == pytest.approx(30_000, rel=0.05)
    assert query["best_step"]["advice"]["change"]["reader_option"] == {"maxTriggerDelay": "10000ms"}
    assert query["best_step"]["advice"]["saves_latency_ms"]["expected"] == pytest.approx(25_000, rel=0.05)


@pytest.mark.parametrize("idle", [True, False])
def test_rows_that_come_once_a_minute_wait_for_nothing(tmp_path: Path, idle: bool) -> None:
    made = minutes(12, waiting=0)
    query = judged(tmp_path, made if idle else made[1::2])
    assert query["screen"]["loss"].get("rule") != "SR008"
    assert query["metrics"]["record_latency_ms"]["p50"] < EVERY_MS


def paced(arrivals: Iterable[tuple[int, int]], least: int = 1) -> list[dict[str, Any]]:
    """Batches of a trigger that runs none below so many rows; `arrivals`: (ms, rows) in order of time."""
    made, waiting, read, now = list[dict[str, Any]](), 0, 0, EVERY_MS
    for at, rows in arrivals:
        while at >= now:
            if waiting >= least:
                more = {"numInputRows": waiting, "sources": [offsets(read + waiting, read + waiting, read)]}
                made.append(event(10 + len(made), now, EVERY_MS, ROW | more))
                waiting, read = 0, read + waiting
            now += EVERY_MS
        waiting += rows
    return made


def spaced(every_ms: Iterable[int], rows: int) -> Iterator[tuple[int, int]]:
    return ((at, rows) for at in accumulate(every_ms))


UNEVEN = [54_000, 47_000, 59_000, 50_000, 56_000, 61_000, 46_000, 52_000] * 4
"""Milliseconds between bursts of rows."""
ON_THE_BEAT = [20_000, 50_000, 80_000, 30_000, 60_000] * 6
"""The same, whole intervals."""


def relayed(every_ms: list[int]) -> Iterator[tuple[int, int]]:
    """Rows that come all the time, and are passed on together."""
    return ((at, 60 * apart // 1000) for at, apart in zip(accumulate(every_ms), every_ms, strict=True))


@pytest.mark.parametrize(
    ("made", "waits"),
    [
        (paced(spaced([98 + 4 * (n // 700 % 2) for n in range(14_000)], 6), least=3600), True),
        (paced(spaced([100 + n // 100 for n in range(9000)], 6), least=3300), True),
        (paced(spaced([55_000] * 30, 3300)), False),
        (paced(spaced(UNEVEN, 3300)), False),
        (paced(relayed(UNEVEN)), False),
        (paced(relayed(ON_THE_BEAT)), False),
        (paced(spaced([23_000, 41_000, 12_000, 37_000] * 10, 1)), False),
        (paced(spaced([100] * 9000, 6)), False),
    ],
    ids=[
        "so many at least",
        "at a falling pace",
        "even bursts",
        "uneven bursts",
        "a relay's",
        "a relay's on the beat",
        "few rows",
        "enough",
    ],
)
def test_a_sharp_lower_edge_of_rows_shows_batches_that_wait_for_more(
    tmp_path: Path, made: list[dict[str, Any]], waits: bool
) -> None:
    query = judged(tmp_path, made)
    latency = query["metrics"]["record_latency_ms"]["p50"]
    assert (any(one["rule"] == "SR008" for one in query["findings"]), latency > 2 * EVERY_MS) == (waits, waits)
    if waits:
        advice = query["best_step"]["advice"]
        assert (query["best_step"]["rule"], advice["legal"]) == ("SR008", "if")


def runs(*starts: tuple[int, int], apart_ms: int = 300_000, rows: int = 3000, **more: Any) -> list[dict[str, Any]]:
    """A first batch of each run: (its number, how long it took)."""
    row = {"latestOffset": 1200, "walCommit": 900, "numInputRows": rows, "sources": [offsets(3000, 3000, 0)]} | more
    made = []
    for nth, (number, took) in enumerate(starts):
        one = event(number, apart_ms * nth, 1, row | {"triggerExecution": took, "addBatch": took - 2200})
        made.append(one | {"runId": f"22222222-2222-2222-2222-{nth:012}", "inputRowsPerSecond": 0.0})
    return made


def newest(folder: Path, made: list[dict[str, Any]]) -> dict[str, Any]:
    (folder / "asked.log").write_text("\n".join(map(json.dumps, made)) + "\n", encoding="utf-8")
    return dict(max(advisor.analyze(folder / "asked.log").data["queries"], key=lambda query: query["last"]))


EVEN = [(100 + nth, 10_000 + 10 * (nth % 3)) for nth in range(8)]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (runs(*EVEN), "Each of 8 runs ran one batch, and they start every 5.0 min"),
        (runs(*EVEN), "rows wait 2.5 min for the next start on average"),
        (runs(*EVEN), "so cold (1.2 s of it finds new data)."),
        (
            runs(*[(30 + n, 435_000 + 9000 * n) for n in range(12)], apart_ms=86_400_000),
            "8.9 min in the last, at equal",
        ),
        (runs((30, 435_000), (31, 430_000), apart_ms=86_400_000), "every 24.0 h"),
    ],
)
def test_runs_of_one_batch_each_are_judged_together(tmp_path: Path, made: list[dict[str, Any]], says: str) -> None:
    query = newest(tmp_path, made)
    assert query["best_step"]["rule"] == "TR011"
    assert any(says in words for words in query["screen"]["troubles"])
    assert not any("judge later ones" in words for words in (query["verdict"], *query.get("limits", ())))


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        (runs((100, 10_000)), "skipped"),
        (runs((100, 10_000), (157, 10_000)), "passed"),
        (runs((100, 10_000), (101, 10_000), apart_ms=317_000), "passed"),
        ([*runs(*EVEN), event(108, 2_400_000, 300_000, {"triggerExecution": 900, "addBatch": 800})], "passed"),
    ],
    ids=["one run", "restarts of a query that ran on", "two starts at any time", "a run with more batches"],
)
def test_other_runs_are_no_schedule(tmp_path: Path, made: list[dict[str, Any]], answer: str) -> None:
    made[-1]["runId"] = made[-2]["runId"] if made[-1]["batchId"] == 108 else made[-1]["runId"]
    query = newest(tmp_path, made)
    assert [kind for kind in ("findings", "passed", "skipped") if "TR011" in str(query[kind])] == [answer]


ENDS = "26/03/01 02:00:09 INFO MicroBatchExecution: Finished processing all available data for the trigger, "


def short_runs(count: int, ends: str) -> list[str]:
    """A log of so many runs of two batches each, 11 to 33 s apart; each run ends with a line that `ends` like this."""
    lines = []
    for nth in range(count):
        for of_run in (0, 1):
            took, number = (800, 1100)[of_run], 2 * nth + of_run
            row = {"triggerExecution": took, "addBatch": took // 2, "walCommit": took // 5, "commitOffsets": took // 5}
            row |= {"numInputRows": 500, "sources": [{"description": "FileStreamSource[file:/in]"}]}
            one = event(number, (0, 11_000, 44_000, 55_000)[nth] + 850 * of_run, 850, row)
            one |= {"runId": f"22222222-2222-2222-2222-{nth:012}"} | ({} if of_run else {"inputRowsPerSecond": 0.0})
            lines.append(PROGRESS + json.dumps(one))
        lines.append(f"{ENDS}{ends}")
    return lines


@pytest.mark.parametrize("count", [2, 4])
def test_runs_that_end_by_themselves_are_a_schedule_with_several_batches_too(tmp_path: Path, count: int) -> None:
    path = tmp_path / "driver.log"
    path.write_text("\n".join(short_runs(count, "terminating this Trigger.AvailableNow query")) + "\n")
    query = advisor.analyze(path).data["queries"][0]
    assert (query["facts"]["trigger"]["value"], query["best_step"]["rule"]) == ("available_now", "TR011")
    told = query["screen"]["troubles"]
    assert any(f"Each of {count} runs ran 2 batches" in words and "1.9 s for 1,000 rows" in words for words in told)


def test_runs_of_several_batches_that_may_be_restarts_are_no_schedule(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_text("\n".join(short_runs(4, "as somebody wrote")) + "\n")
    query = advisor.analyze(path).data["queries"][0]
    assert not [finding for finding in query["findings"] if finding["rule"] == "TR011"]


PROGRESS = "26/03/01 02:00:01 INFO MicroBatchExecution: Streaming query made progress: "
LATE = (
    "26/03/01 02:00:01 WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is {} "
    "milliseconds, but spent {} milliseconds"
)


def beside(name: str, took: int) -> list[str]:
    """Batches of a query of this name, a line each."""
    run = {"name": name, "id": f"id-{name}", "runId": f"run-{name}"}
    row = {"triggerExecution": took, "addBatch": took - 100, "sources": [offsets(100, 100, 0)]}
    return [PROGRESS + json.dumps(event(n, 26_013 * n, 26_013, row) | run) for n in range(4, 9)]


@pytest.mark.parametrize(("later", "behind"), [(2_000, None), (10_100, True)])
def test_a_first_batch_that_alone_outlasts_the_interval_is_no_falling_behind(
    tmp_path: Path, later: int, behind: bool | None
) -> None:
    took = (24_000, *[2_000] * 7, later)
    row = {"name": "orders", "id": "id-orders", "runId": "run-orders"}
    events = [event(n, 10_000 * n + 20_000 * (n > 0), 10_000, {"triggerExecution": ms, "addBatch": ms - 100}) | row
              for n, ms in enumerate(took)]  # fmt: skip
    path = tmp_path / "driver.log"
    path.write_text("\n".join([PROGRESS + json.dumps(one) for one in events] + [LATE.format(10_000, 24_003)]) + "\n")
    (query,) = advisor.analyze(path).data["queries"]
    assert query["facts"]["falling_behind"]["value"] is behind


@pytest.mark.parametrize(
    ("other", "spent", "behind"),
    [
        (2_000, 24_003, {"payments": 10_000, "orders": None}), (2_000, 2_040, {"payments": None, "orders": 10_000}),
        (23_990, 24_003, {"payments": None, "orders": None}), (2_000, 31_000, {"payments": None, "orders": None}),
    ],
    ids=["of one", "of the other", "fits both", "fits none"],
)  # fmt: skip
def test_a_line_about_falling_behind_belongs_to_the_query_whose_batch_took_so_long(
    tmp_path: Path, other: int, spent: int, behind: dict[str, int | None]
) -> None:
    path = tmp_path / "driver.log"
    pairs = zip(beside("payments", 24_000), beside("orders", other), strict=True)
    path.write_text("\n".join(line for pair in pairs for line in (*pair, LATE.format(10_000, spent))) + "\n")
    queries = advisor.analyze(path).data["queries"]
    assert {query["name"]: query["facts"]["trigger_interval_ms"]["value"] for query in queries} == behind
    if behind["payments"]:
        assert (queries[0]["name"], queries[0]["screen"]["loss"]["kind"]) == ("payments", "pace")
