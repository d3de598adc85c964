"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import advisor
from advisor.views.markdown import escape, fenced, report_as_markdown
from tests.views.reports import dead, healthy, report, slow

Golden = Callable[[str, str], None]


def test_one_query(golden: Golden) -> None:
    golden("one_query.md", report_as_markdown(report(slow())))


def test_many_queries_with_everything(golden: Golden) -> None:
    golden("many_queries_all.md", report_as_markdown(report(slow(), healthy(), dead()), everything=True))


def test_a_name_adds_no_markup() -> None:
    query = slow() | {"name": "<script>a</script> | [x](http://x) `b` *c*\n# d"}
    page = report_as_markdown(report(query, healthy()))
    assert r"\<script\>a\</script\> \| \[x\](http:&#8203;//x) \`b\` \*c\* \# d" in page
    assert "<script>" not in page


def test_escaped_text_is_one_line() -> None:
    assert escape("a\n  b_c") == r"a b\_c"


def test_no_line_of_code_closes_its_fence() -> None:
    assert fenced(["x = '''", "````"]) == "`````\nx = '''\n````\n`````"


def test_where_more_files_wait_the_latency_is_the_least_that_it_can_be() -> None:
    (log,) = (Path(__file__).parents[2] / "sample_progress/TR010").iterdir()
    assert "- Latency: at least p50 " in report_as_markdown(advisor.analyze(log).typed)
