"""The report as Markdown."""

from __future__ import annotations

from pathlib import Path

import advisor
from advisor.views.clean import escape, fenced
from advisor.views.markdown import report_as_markdown


def test_escaped_text_is_one_line_and_no_line_of_code_closes_its_fence() -> None:
    assert escape("a\n  b_c") == r"a b\_c"
    assert fenced(["x = '''", "````"]) == "`````\nx = '''\n````\n`````"


def test_where_more_files_wait_the_latency_is_the_least_that_it_can_be() -> None:
    (log,) = (Path(__file__).parents[2] / "sample_progress/TR010").iterdir()
    assert "- Latency: at least p50 " in report_as_markdown(advisor.analyze(log).typed)
