"""A trial as text and Markdown."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.contract import Trial
from advisor.views.cards import comparison_as_html
from advisor.views.comparison import comparison_as_markdown
from tests.views.test_comparison import faster


def run(side: str, typical_ms: float) -> dict[str, Any]:
    return {
        "side": side, "run_id": "0f4c1e6a", "batches": 40, "because": "40 steady batches",
        "first": "2026-03-01T02:00:00Z", "last": "2026-03-01T02:01:00Z", "typical_ms": typical_ms, "state_rows": 0.0,
        "latency_ms": {"p50": typical_ms}, "refused": None,
    }  # fmt: skip


def tried(**changed: Any) -> Trial:
    told = faster()
    made = {
        "schema_version": 1, "advisor_version": "0.1.0", "verdict": "faster", "says": told["says"],
        "steps": ["async-progress"], "change": {"writer_option": {"asyncProgressTrackingEnabled": "true"}, "code": []},
        "spark_version": "4.0.0", "task_slots": 2, "effects": told["effects"], "drift_ms": 1.0,
        "promises": told["promises"], "runs": [run("baseline", 120.0), run("candidate", 60.0)],
        "limits": ["Both sides shared a machine."],
    }  # fmt: skip
    return msgspec.convert(made | changed, Trial)


def test_its_card_shows_what_was_tried_and_the_runs() -> None:
    card = comparison_as_html(tried())
    assert "on writeStream:" in card and "asyncProgressTrackingEnabled&#34;, &#34;true&#34;" in card
    assert "baseline: 1 run, 40 steady batches: 120 ms" in card


def test_a_trial_that_spark_refused_promises_nothing() -> None:
    page = comparison_as_markdown(tried(verdict="refused", says="no", effects=[], promises=[], limits=[]))
    assert "### Promises" not in page and "| baseline |" not in page
