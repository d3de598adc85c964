"""Verdicts that were once wrong, each by its kind."""

from __future__ import annotations

from pathlib import Path

import advisor
from advisor.views.terminal import report_as_text

SAMPLES = Path(__file__).resolve().parents[1] / "sample_progress"


def test_no_clean_bill_is_given_of_a_log_that_was_torn(tmp_path: Path) -> None:
    text = (SAMPLES / "healthy/long-trigger-4.3.0/driver.log").read_text()
    (tmp_path / "whole.log").write_text(text)
    at = text.rindex('"durationMs"')
    (tmp_path / "torn.log").write_text(text[:at] + text[text.index("\n", text.index("sink", at)) :])
    whole, torn = (advisor.analyze(tmp_path / f"{name}.log").typed for name in ("whole", "torn"))
    (query,) = torn.queries
    assert whole.queries[0].screen.calm and not whole.queries[0].screen.calm.partial
    assert query.screen.calm and query.screen.calm.partial
    assert not any(words in report_as_text(torn) for words in ("KEEPS UP", "Nothing needs a change", "shows nothing"))
