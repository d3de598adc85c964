"""What read tasks wait for fetches that Kafka holds back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from advisor.metrics.fetch import kafka_fetch_wait_ms, largest_partition_share, partitions_read, rows_at_once
from advisor.metrics.metric import Bounds
from advisor.metrics.missing import Missing
from advisor.window import run_window
from tests.made import events, facts, table, window


def taken(rows: int, took: int = 200, **offsets: dict[str, int]) -> dict[str, Any]:
    """A batch whose reads take so long, of so many records between these offsets."""
    source = {"description": "KafkaV2[Subscribe[events]]", "numInputRows": rows}
    source |= {f"{end}Offset": {"events": places} for end, places in offsets.items()}
    return {"triggerExecution": took + 95, "addBatch": took, "numInputRows": rows, "sources": [source]}


def batches(read: dict[str, int], *, partitions: int = 4, backlog: int = 0, count: int = 8) -> list[dict[str, Any]]:
    """Batches of 300 ms, each of which takes so many records of each partition."""
    made = []
    for n in range(count):
        start, end = ({str(p): at * read.get(str(p), 0) for p in range(partitions)} for at in (n, n + 1))
        made.append(taken(sum(read.values()), start=start, end=end, latest=end | {"0": end["0"] + backlog}))
    return made


def waited(made: list[dict[str, Any]], **known: Any) -> Any:
    """What the tasks of these batches wait."""
    return kafka_fetch_wait_ms(window(made, **({"source": "kafka", "task_slots": 4} | known)))


EACH = {"0": 3, "1": 3, "2": 3, "3": 3}


def test_only_partitions_that_gave_records_have_a_task() -> None:
    found = partitions_read(window(batches({"0": 3, "2": 1}), source="kafka"))
    assert (found == 2).all()


def test_the_largest_partition_is_a_share_of_all_that_a_batch_reads() -> None:
    made = batches({"0": 23, "1": 2})
    more = taken(50, start={"0": 0}, end={"0": 50})["sources"]
    made[0]["sources"] += [source | {"description": "KafkaV2[Subscribe[others]]"} for source in more]
    found = largest_partition_share(window(made, source="kafka"))
    assert isinstance(found, np.ndarray) and found[:2] == pytest.approx([50 / 75, 23 / 25])


@pytest.mark.parametrize(
    ("made", "known", "ms"),
    [
        # each task waits for its partition's next record, and waves add up
        (batches(EACH), {}, pytest.approx(300 / 3, abs=2)),
        (batches(EACH), {"task_slots": 2}, pytest.approx(2 * 300 / 3, abs=4)),
        # no longer than the limit that is set, and with a backlog there is more to read at once
        (batches(EACH), {"kafka_fetch_max_wait_ms": 10}, pytest.approx(10)),
        (batches(EACH, backlog=500), {}, pytest.approx(0)),
    ],
)
def test_what_tasks_wait_for(made: list[dict[str, Any]], known: dict[str, Any], ms: Any) -> None:
    found = waited(made, **known)
    assert isinstance(found, np.ndarray) and found[1:] == ms


def test_unknown_slots_leave_an_interval_and_other_sources_do_not_tell() -> None:
    found = waited(batches(EACH), task_slots=None)
    assert isinstance(found, Bounds)
    assert (found.low[1:] < found.high[1:]).all() and (found.high[1:] <= 200).all()
    assert isinstance(waited(batches(EACH), source="file"), Missing)


@pytest.mark.parametrize(("records", "low", "high"), [(6, 0, 50), (1, 200, 200)])
def test_one_partition_may_have_its_next_record_by_then(records: int, low: float, high: float) -> None:
    found = waited(batches({"0": records}, partitions=1), task_slots=2)
    least, most = (found.low, found.high) if isinstance(found, Bounds) else (found, found)
    assert isinstance(least, np.ndarray) and isinstance(most, np.ndarray)
    assert (least[1:] == pytest.approx(low, abs=2)) and (most[1:] == pytest.approx(high, abs=2))


def uneven(by_batch: list[dict[str, int]]) -> list[dict[str, Any]]:
    """Batches of 300 ms, each of which takes its own number of records of each partition."""
    made, start = [], dict.fromkeys(by_batch[0], 0)
    for read in by_batch:
        end = {place: at + read[place] for place, at in start.items()}
        made.append(taken(sum(read.values()), start=start, end=end, latest=end))
        start = end
    return made


def test_records_that_come_in_groups_leave_a_partition_without_any_for_longer() -> None:
    in_groups = [{str(p): 600 if (n + p) % 4 < 2 else 200 for p in range(4)} for n in range(24)]
    found = waited(uneven(in_groups))
    assert isinstance(found, Bounds)
    assert found.low[1:] == pytest.approx(300 / 400, abs=0.05)
    assert (found.high[1:] > 50).all()


def test_a_partition_that_always_gets_more_is_no_sign_of_groups() -> None:
    skewed = [{"0": 600, "1": 200, "2": 200, "3": 200}] * 24
    assert rows_at_once(window(uneven(skewed), source="kafka", task_slots=4)) == 1.0
    assert rows_at_once(window(batches(EACH), source="kafka", task_slots=4)) == 1.0


def in_bursts(sizes: list[tuple[int, int]], count: int = 8) -> Any:
    """Batches in bursts 20 s apart: each size is (ms of addBatch, rows of each of 4 partitions) of a batch in a burst.

    The first of a burst comes 12 ms after a trigger that found nothing.
    """
    rows, place = [], 0
    for number in range(count * len(sizes)):
        ms, each = sizes[number % len(sizes)]
        start, place = place, place + each
        ends = {end: dict.fromkeys("0123", at) for end, at in (("start", start), ("end", place), ("latest", place))}
        interval = {"interval": 20_000.0} if number % len(sizes) == 0 else {}
        rows.append(taken(4 * each, ms, **ends) | {"triggerExecution": ms + 80} | interval)
    made = events(rows)
    for event in made[:: len(sizes)]:
        event["inputRowsPerSecond"] = event["numInputRows"] / 0.012
    return table(made)


def test_a_record_that_comes_alone_waits_for_the_whole_fetch_whatever_the_last_poll_found() -> None:
    found = kafka_fetch_wait_ms(run_window(in_bursts([(640, 1)]), facts(source="kafka", task_slots=4)))
    assert isinstance(found, Bounds)
    assert (found.low[1:-1] == 500).all() and (found.high[1:-1] == 500).all()


def test_the_first_batch_of_a_burst_waits_for_what_it_takes_longer_than_the_second() -> None:
    found = kafka_fetch_wait_ms(run_window(in_bursts([(620, 5), (130, 80)]), facts(source="kafka", task_slots=4)))
    assert isinstance(found, Bounds)
    assert (found.low[2::2] == 490).all() and (found.high[2::2] == 500).all()
    assert (found.high[3::2] <= 10).all()
