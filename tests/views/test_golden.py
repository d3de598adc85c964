"""Whole reports, comparisons and trials as text. Golden files: `pytest --write-golden` writes them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.views.comparison import comparison_as_markdown, comparison_as_text
from advisor.views.markdown import report_as_markdown
from advisor.views.terminal import report_as_text
from tests.views.reports import dead, healthy, report, slow
from tests.views.test_comparison import compared, faster, nothing
from tests.views.test_trial import tried

GOLDEN = Path(__file__).parent / "golden"
TEXTS = {
    "one_query.txt": lambda: report_as_text(report(slow())),
    "one_query_all.txt": lambda: report_as_text(report(slow()), everything=True),
    "many_queries.txt": lambda: report_as_text(report(dead(), slow(), healthy()), width=80),
    "one_query.md": lambda: report_as_markdown(report(slow())),
    "many_queries_all.md": lambda: report_as_markdown(report(slow(), healthy(), dead()), everything=True),
    "comparison.txt": lambda: comparison_as_text(compared(faster(), nothing())),
    "comparison.md": lambda: comparison_as_markdown(compared(faster(), nothing())),
    "trial.txt": lambda: comparison_as_text(tried()),
    "trial.md": lambda: comparison_as_markdown(tried()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_that_of_its_file(name: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-golden"):
        (GOLDEN / name).write_text(TEXTS[name](), encoding="utf-8")
    assert TEXTS[name]() == (GOLDEN / name).read_text(encoding="utf-8")
