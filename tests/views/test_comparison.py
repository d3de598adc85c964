"""A comparison as text and Markdown."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from rich.cells import cell_len

from advisor.contract import Comparisons, Interval, KeptPromise, Promise
from advisor.views.comparison import comparison_as_text, outcome

_MADE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("comparisons.yaml").read_text(encoding="utf-8"))


def faster() -> dict[str, Any]:
    """A run with asynchronous progress tracking against the one before it."""
    made: dict[str, Any] = copy.deepcopy(_MADE["faster"])
    return made


def nothing() -> dict[str, Any]:
    """A run that is too short."""
    return faster() | copy.deepcopy(_MADE["nothing"])


def compared(*entries: dict[str, Any]) -> Comparisons:
    made = {"schema_version": 1, "advisor_version": "0.1.0", "comparisons": list(entries)}
    return msgspec.convert(made, Comparisons)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    assert all(cell_len(line) <= width for line in comparison_as_text(compared(faster()), width=width).splitlines())


def test_a_promise_that_was_surpassed_is_kept_and_says_so() -> None:
    promise = Promise(10, 20, 30)
    given = {"step": "a", "do": "Do", "of": "batch", "predicted_ms": promise, "because": "", "more_batches": None}
    surpassed = KeptPromise(**given, measured_ms=Interval(low=35, value=40, high=45), verdict="kept")  # type: ignore[arg-type]
    within = KeptPromise(**given, measured_ms=Interval(low=15, value=20, high=45), verdict="kept")  # type: ignore[arg-type]
    touching = KeptPromise(**given, measured_ms=Interval(low=30, value=35, high=45), verdict="kept")  # type: ignore[arg-type]
    assert outcome(surpassed) == "kept, more than promised"
    assert (outcome(within), outcome(touching)) == ("kept", "kept")
