"""What read tasks wait for fetches that Kafka holds back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from advisor.metrics.fetch import kafka_fetch_wait_ms, partitions_read, rows_at_once
from advisor.metrics.metric import Bounds
from advisor.metrics.missing import Missing
from advisor.window import run_window
from tests.made import events, facts, table, window


def batches(read: dict[str, int], *, partitions: int = 4, backlog: int = 0, count: int = 8) -> list[dict[str, Any]]:
    """Batches of 300 ms, each of which takes so many records of each partition."""
    made = []
    for n in range(count):
        start = {str(p): n * read.get(str(p), 0) for p in range(partitions)}
        end = {str(p): (n + 1) * read.get(str(p), 0) for p in range(partitions)}
        latest = {p: at + (backlog if p == "0" else 0) for p, at in end.items()}
        source = {
            "description": "KafkaV2[Subscribe[events]]",
            "startOffset": {"events": start},
            "endOffset": {"events": end},
            "latestOffset": {"events": latest},
            "numInputRows": sum(read.values()),
        }
        made.append({"triggerExecution": 295, "addBatch": 200, "numInputRows": sum(read.values()), "sources": [source]})
    return made


EACH = {"0": 3, "1": 3, "2": 3, "3": 3}


def test_only_partitions_that_gave_records_have_a_task() -> None:
    found = partitions_read(window(batches({"0": 3, "2": 1}), source="kafka"))
    assert (found == 2).all()


def test_each_task_waits_for_its_partitions_next_record_and_waves_add_up() -> None:
    one_wave = kafka_fetch_wait_ms(window(batches(EACH), source="kafka", task_slots=4))
    two_waves = kafka_fetch_wait_ms(window(batches(EACH), source="kafka", task_slots=2))
    assert isinstance(one_wave, np.ndarray) and isinstance(two_waves, np.ndarray)
    assert one_wave[1:] == pytest.approx(300 / 3, abs=2)
    assert two_waves[1:] == pytest.approx(2 * 300 / 3, abs=4)


def test_unknown_slots_leave_an_interval() -> None:
    found = kafka_fetch_wait_ms(window(batches(EACH), source="kafka"))
    assert isinstance(found, Bounds)
    assert (found.low[1:] < found.high[1:]).all() and (found.high[1:] <= 200).all()


@pytest.mark.parametrize(("records", "low", "high"), [(6, 0, 50), (1, 200, 200)])
def test_one_partition_may_have_its_next_record_by_then(records: int, low: float, high: float) -> None:
    found = kafka_fetch_wait_ms(window(batches({"0": records}, partitions=1), source="kafka", task_slots=2))
    least, most = (found.low, found.high) if isinstance(found, Bounds) else (found, found)
    assert isinstance(least, np.ndarray) and isinstance(most, np.ndarray)
    assert (least[1:] == pytest.approx(low, abs=2)) and (most[1:] == pytest.approx(high, abs=2))


def uneven(by_batch: list[dict[str, int]]) -> list[dict[str, Any]]:
    """Batches of 300 ms, each of which takes its own number of records of each partition."""
    made, start = [], dict.fromkeys(by_batch[0], 0)
    for read in by_batch:
        end = {place: at + read[place] for place, at in start.items()}
        offsets = {"startOffset": {"events": start}, "endOffset": {"events": end}, "latestOffset": {"events": end}}
        source = {"description": "KafkaV2[Subscribe[events]]", "numInputRows": sum(read.values()), **offsets}
        made.append({"triggerExecution": 295, "addBatch": 200, "numInputRows": sum(read.values()), "sources": [source]})
        start = end
    return made


def test_records_that_come_in_groups_leave_a_partition_without_any_for_longer() -> None:
    in_groups = [{str(p): 600 if (n + p) % 4 < 2 else 200 for p in range(4)} for n in range(24)]
    found = kafka_fetch_wait_ms(window(uneven(in_groups), source="kafka", task_slots=4))
    assert isinstance(found, Bounds)
    assert found.low[1:] == pytest.approx(300 / 400, abs=0.05)
    assert (found.high[1:] > 50).all()


def test_a_partition_that_always_gets_more_is_no_sign_of_groups() -> None:
    skewed = [{"0": 600, "1": 200, "2": 200, "3": 200}] * 24
    assert rows_at_once(window(uneven(skewed), source="kafka", task_slots=4)) == 1.0
    assert rows_at_once(window(batches(EACH), source="kafka", task_slots=4)) == 1.0


def test_no_wait_is_longer_than_the_limit_that_is_set() -> None:
    found = kafka_fetch_wait_ms(window(batches(EACH), source="kafka", task_slots=4, kafka_fetch_max_wait_ms=10))
    assert isinstance(found, np.ndarray)
    assert found[1:] == pytest.approx(10)


def test_a_consumer_with_a_backlog_has_more_to_read_at_once() -> None:
    found = kafka_fetch_wait_ms(window(batches(EACH, backlog=500), source="kafka", task_slots=4))
    assert isinstance(found, np.ndarray)
    assert (found[1:] == 0).all()


def test_other_sources_do_not_tell() -> None:
    assert isinstance(kafka_fetch_wait_ms(window(batches(EACH), source="file")), Missing)


def in_bursts(sizes: list[tuple[int, int]], count: int = 8) -> Any:
    """Batches in bursts 20 s apart: each size is (ms of addBatch, rows of each of 4 partitions) of a batch in a burst.

    The first of a burst comes 12 ms after a trigger that found nothing.
    """
    rows, place = [], 0
    for number in range(count * len(sizes)):
        ms, each = sizes[number % len(sizes)]
        start, place = place, place + each
        source = {
            "description": "KafkaV2[Subscribe[events]]",
            "startOffset": {"events": dict.fromkeys("0123", start)},
            "endOffset": {"events": dict.fromkeys("0123", place)},
            "latestOffset": {"events": dict.fromkeys("0123", place)},
        }
        interval = {"interval": 20_000.0} if number % len(sizes) == 0 else {}
        rows.append(
            {"triggerExecution": ms + 80, "addBatch": ms, "numInputRows": 4 * each, "sources": [source]} | interval
        )
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
