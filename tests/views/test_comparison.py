"""A comparison as text and Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len

from advisor.contract import Comparisons, Interval, KeptPromise, Promise
from advisor.views.comparison import comparisons_as_markdown, comparisons_as_text
from advisor.views.effects import outcome

Golden = Callable[[str, str], None]


def interval(low: float, value: float, high: float) -> dict[str, float]:
    return {"low": low, "value": value, "high": high}


def effect(name: str, stat: str, before: float, after: float, width: float, share: bool = True) -> dict[str, Any]:
    by = after - before
    ends = interval(by - width, by, by + width)
    return {
        "name": name,
        "stat": stat,
        "before_ms": before,
        "after_ms": after,
        "difference_ms": ends,
        "difference_share": {key: ms / before for key, ms in ends.items()} if share else None,
        "told": abs(by) > width,
    }


def side(run: str, batches: int, day: str) -> dict[str, Any]:
    times = {"first": f"2026-03-{day}T09:12:03.120Z", "last": f"2026-03-{day}T10:57:00.000Z"}
    names = {"id": "5f1c9a52-8a5e-4b0e-9d3b-0a1f5f1f9c11", "run_id": run, "spark_version": "4.3.0"}
    return names | times | {"batches": batches, "because": "all steady batches of the run"}


def faster() -> dict[str, Any]:
    """A run with asynchronous progress tracking against the one before it."""
    return {
        "query": "orders-enricher",
        "before": side("b7c5e2d4-06d3-4c5b-a4c4-3f6a2f5b8a10", 700, "01"),
        "after": side("0ce129d0-06d3-4c5b-a4c4-3f6a2f5b8a10", 1187, "02"),
        "verdict": "faster",
        "says": "A typical batch is 73 ms faster (66 ms to 80 ms): 102 ms -> 29 ms, -78 to -65 %, at the same load "
        "(1,000 rows per second).",
        "load": {
            "kind": "same",
            "says": "at the same load (1,000 rows per second)",
            "rows_per_batch": {"before": 102.0, "after": 29.0},
            "rows_per_second": {"before": 1000.0, "after": 1000.0},
            "adjusted_ms": 0.0,
        },
        "effects": [
            effect("triggerExecution", "typical", 102, 29, 7),
            effect("triggerExecution", "mean", 110, 31, 9),
            effect("walCommit", "typical", 28, 0.1, 2),
            effect("queryPlanning", "typical", 5, 4.4, 1.2),
            effect("getBatch", "typical", 0.1, 0.1, 0.1),
            effect("commitBatch", "typical", 0, 3, 2, share=False),
            effect("record latency", "p99", 1223, 113, 400),
        ],
        "changed": [
            {
                "fact": "async_progress",
                "before": {"value": False, "from": "log"},
                "after": {"value": True, "from": "log"},
                "sure": True,
            },
            {"fact": "state_store", "before": {"value": "hdfs", "from": "log"}, "after": None, "sure": False},
            {"fact": "conf:spark.sql.a", "before": {"value": "1", "from": "log"}, "after": None, "sure": False},
        ],
        "promises": [
            {
                "step": "async-progress",
                "do": "Track progress asynchronously",
                "of": "batch",
                "predicted_ms": {"low": 60.0, "expected": 72.5, "high": 81.2},
                "measured_ms": interval(66.0, 73.0, 80.0),
                "verdict": "kept",
                "because": "it saved what was promised",
                "more_batches": None,
            },
            {
                "step": "async-progress",
                "do": "Track progress asynchronously",
                "of": "record",
                "predicted_ms": {"low": 0.0, "expected": None, "high": 96.0},
                "measured_ms": None,
                "verdict": "cannot say yet",
                "because": "40 more batches on each side are needed",
                "more_batches": 40,
            },
        ],
        "limits": ["The intervals hold how batches vary within these two windows."],
    }


def nothing() -> dict[str, Any]:
    """A run that is too short."""
    return faster() | {
        "query": None,
        "verdict": "too few batches",
        "says": "Too few batches: 4 steady ones before and 200 after; 6 more steady batches are needed.",
        "load": None,
        "effects": [],
        "changed": [],
        "promises": [],
        "limits": [],
    }


def compared(*entries: dict[str, Any]) -> Comparisons:
    made = {"schema_version": 1, "advisor_version": "0.1.0", "comparisons": list(entries)}
    return msgspec.convert(made, Comparisons)


def test_as_text(golden: Golden) -> None:
    golden("comparison.txt", comparisons_as_text(compared(faster(), nothing())))


def test_as_markdown(golden: Golden) -> None:
    golden("comparison.md", comparisons_as_markdown(compared(faster(), nothing())))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    assert all(cell_len(line) <= width for line in comparisons_as_text(compared(faster()), width=width).splitlines())


def test_a_name_adds_no_markup_and_no_control_characters() -> None:
    page = compared(faster() | {"query": "<b>a</b>|\x1b[31m\n# x"})
    assert "\x1b" not in comparisons_as_text(page)
    assert r"\<b\>a\</b\>\|" in comparisons_as_markdown(page) and "<b>" not in comparisons_as_markdown(page)


def test_a_promise_that_was_surpassed_is_kept_and_says_so() -> None:
    promise = Promise(10, 20, 30)
    given = {"step": "a", "do": "Do", "of": "batch", "predicted_ms": promise, "because": "", "more_batches": None}
    surpassed = KeptPromise(**given, measured_ms=Interval(low=35, value=40, high=45), verdict="kept")  # type: ignore[arg-type]
    within = KeptPromise(**given, measured_ms=Interval(low=15, value=20, high=45), verdict="kept")  # type: ignore[arg-type]
    touching = KeptPromise(**given, measured_ms=Interval(low=30, value=35, high=45), verdict="kept")  # type: ignore[arg-type]
    assert outcome(surpassed) == "kept, more than promised"
    assert (outcome(within), outcome(touching)) == ("kept", "kept")
