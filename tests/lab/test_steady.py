"""The steady source's arithmetic."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("pyspark.sql.datasource", reason="Spark 4.0 or newer")

from lab.steady import Steady, SteadyReader

START = {"record": 0, "start_us": 1_000_000_000}


def test_spans_follow_each_other_without_gap() -> None:
    reader = SteadyReader(1_000_000_000)
    spans, at = [], START
    for _ in range(3):
        rows, end = reader.read(at)
        spans += list(rows)
        assert next(reader.readBetweenOffsets(at, end)) == spans[-1]
        at = end
    assert [span[0] for span in spans] == [START["start_us"]] * 3
    assert spans[0][1] == 0 and at["record"] == spans[-1][2] + 1
    assert all(after[1] == before[2] + 1 for before, after in pairwise(spans))


def test_nothing_due_is_no_batch() -> None:
    reader = SteadyReader(1000)
    start = reader.initialOffset()
    ahead = {**start, "record": 10**9}
    rows, end = reader.read(ahead)
    assert list(rows) == [] and end == ahead


def test_the_source_reads_its_rate() -> None:
    assert Steady({"rowsPerSecond": "250"}).simpleStreamReader(None).per_second == 250
