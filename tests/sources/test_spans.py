"""Lengths of time as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.formats.durations import alone
from advisor.sources.formats.pairs import pairs
from advisor.sources.formats.spans import joined, read_span


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("12400", 12400),
        ("12400.0", 12400),
        ("12,400", 12400),
        ("12400 ms", 12400),
        ("12 400 ms", 12400),
        ("12,400 ms", 12400),
        ("12400000 us", 12400),
        ("12.4 s", 12400),
        ("12.4s", 12400),
        ("12,4 s", 12400),
        ("12.4 sec", 12400),
        ("12.4 seconds", 12400),
        ("12.4 с", 12400),
        ("12.4秒", 12400),
        ("PT12.4S", 12400),
        ("00:00:12.400", 12400),
        ("0.2 min", 12000),
        ("1 min 20 s", 80000),
        ("1m20s", 80000),
        ("PT1M20S", 80000),
        ("1h 2m 3s", 3723000),
        ("842 ms", 842),
    ],
)
def test_what_is_written(text: str, ms: float) -> None:
    span = read_span(text)
    assert span is not None
    assert span[0] == pytest.approx(ms)
    assert span[1] == len(text)


BOUNDS = (
    "10+ seconds",
    "10 s+",
    "20-45 s",
    "20–45 s",
    "0.8s-1.5s",
    "10 to 12 s",
    "45 s or more",
    "200 - 600 ms",
    "40+",
    "1 min 20 s+",
    "1 min 20+ s",
    "1 min 20-45 s",
    "1 min 20 to 45 s",
    "1 min 20 s - 45 s",
)


@pytest.mark.parametrize("text", ["12.4", "12.400 ms", "12,400 s", "12:40", "12/40", "12%", "12xyz", "", "s", *BOUNDS])
def test_what_is_in_doubt_says_nothing(text: str) -> None:
    assert read_span(text) is None


@given(st.text(alphabet="0123456789.,: PTHMShmsecinu", max_size=40))
def test_any_text_is_read_or_not(text: str) -> None:
    span = read_span(text)
    assert span is None or (span[0] >= 0 and 0 < span[1] <= len(text))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("addBatch: 12.4 s", "addBatch: 12.4s"),
        ("addBatch  1 min 3 s", "addBatch  1min 3s"),
        ("walCommit 12 400 ms", "walCommit 12400ms"),
        ("walCommit 12 400", "walCommit 12 400"),
        ("addBatch 12 seconds ago", "addBatch 12seconds ago"),
        ("3 sources", "3 sources"),
    ],
)
def test_a_number_and_its_unit_are_one_cell(line: str, told: str) -> None:
    assert joined(line) == told


@pytest.mark.parametrize(
    "text",
    [
        "addBatch: {} s\nlatestOffset: 9.1 s\ntriggerExecution: 24.6 s\n",
        "| addBatch | {} s |\n| latestOffset | 9.1 s |\n| triggerExecution | 24.6 s |\n",
        "The batch (triggerExecution) takes 24.6 s, of that addBatch takes {} s and latestOffset 9.1 s.",
    ],
)
def test_durations_with_units_stand_in_lines_tables_and_prose(text: str) -> None:
    (piece,) = alone(text.format("12.4").encode())
    assert piece.partial.event is not None
    durations = piece.partial.event.duration_ms
    assert (durations.add_batch, durations.latest_offset, durations.trigger_execution) == (12400, 9100, 24600)


def test_a_value_in_doubt_makes_no_record() -> None:
    assert list(alone(b"addBatch 12.331 ms, walCommit 1.031 ms, triggerExecution 14.402 ms")) == []


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_is_no_length_of_a_batch(bound: str) -> None:
    """Of a table that somebody wrote for two runs, decoded byte by byte as names and values are."""
    table = f"| Metric | Before |\n|---|---|\n| Batch Duration | {bound} |\n| Process Rate | 7,310 |\n"
    assert list(pairs(table.encode())) == []
    assert list(alone(f"addBatch: {bound}, triggerExecution: {bound}".encode())) == []


def test_a_length_among_other_words_is_still_one() -> None:
    (piece,) = pairs(b"Batch Duration | 12 s | 3x\nProcess Rate | 7310 |\n")
    assert piece.partial.event is not None
    assert piece.partial.event.duration_ms.trigger_execution == 12_000
