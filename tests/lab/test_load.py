"""Sketch, sources and load: what needs neither Spark nor a broker."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("datasketches", reason="an extra")
pytest.importorskip("confluent_kafka", reason="an extra")

from lab.load import PADDING, Load, created_us, due
from lab.sketch import Latencies


def test_quantiles_within_the_sketchs_error() -> None:
    values = np.random.default_rng(7).permutation(np.arange(1_000_000, dtype=np.float64))
    found = Latencies()
    for part in np.array_split(values, 37):
        found.add(part)
    told = found.quantiles()
    assert len(found) == 1_000_000 and 0 < found.rank_error < 0.001
    for name, rank in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
        assert told[f"{name}_low"] <= told[name] <= told[f"{name}_high"]
        assert told[name] / 1_000_000 == pytest.approx(rank, abs=2 * found.rank_error)
        assert told[f"{name}_high"] - told[f"{name}_low"] < 4_000


def test_nothing_has_no_quantiles() -> None:
    found = Latencies()
    found.add(np.array([]))
    assert found.quantiles() == {} and len(found) == 0


def test_a_record_carries_its_creation_time() -> None:
    values = [number.to_bytes(8, "big") + PADDING for number in (0, 1, 1_790_000_000_123_456)]
    assert created_us(values).tolist() == [0, 1, 1_790_000_000_123_456]
    assert {len(value) for value in values} == {20} and created_us([]).tolist() == []


def test_the_schedule_goes_on_when_nobody_takes_the_records() -> None:
    with Load("127.0.0.1:1", "topic", 2000, queue=100, flush_seconds=0.1) as load:
        assert load.full.wait(300)
        assert load.sent == 100
    assert load.due(load.start_us, load.end_us) > 100
    assert load.achieved_per_second == 0.0 and load.late_ms <= (load.end_us - load.start_us) / 1000


def test_due_counts_within_the_schedule_only() -> None:
    load = Load("127.0.0.1:1", "topic", 1000)
    load.start_us, load.end_us = 1_000_000, 3_000_000
    assert load.due(1_000_000, 3_000_000) == 2000
    assert load.due(0, 9_000_000) == 2000
    assert load.due(1_500_000, 1_750_000) == 250


def test_a_record_is_sent_when_it_is_due_not_when_the_next_one_is() -> None:
    assert [due(us, 4) for us in (0, 1, 250_000, 250_001, 999_999)] == [0, 1, 1, 2, 4]


@pytest.mark.parametrize("per_second", [1, 3, 7, 1000, 9973])
def test_what_is_due_was_created_before(per_second: int) -> None:
    load = Load("127.0.0.1:1", "topic", per_second)
    for us in (1, 142_857, 333_334, 1_000_000, 2_345_678):
        sent = due(us, per_second)
        assert load._created(sent - 1) < us <= load._created(sent)
