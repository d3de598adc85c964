"""From the report to the page: what is drawn of each query, and how the page holds it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from advisor import fleet
from advisor.contract import QueryEntry, Report
from advisor.report.series import fewer
from advisor.views.charts import charts, drawn
from advisor.views.charts.beforeafter import measured_by_run
from advisor.views.charts.chart import style
from advisor.views.charts.waterfall import waterfall
from advisor.views.clean import clean_all
from advisor.views.effects import proof_by_run
from advisor.views.fleet import per_hour, wins
from advisor.views.page.packing import packed
from advisor.views.page.policy import policy
from advisor.views.selection import Selection, selections
from advisor.views.templating import environment

OPEN = 20
"""Queries whose HTML stands in the page as it is; where there are more, all are packed."""
DRAWN = 50
"""The most pressing queries, which get charts of their batches: each takes some tenths of a second and 100 kB."""
POINTS = (800, 160)
"""Batches that a chart shows at most: on the page of one query, and of several."""


def report_as_page(report: Report) -> str:
    """The whole report as one HTML file that needs no network; nothing that comes from a log is obeyed.

    Raises UsageError where the library that draws the charts is missing.
    """
    report = clean_all(report)
    shown = selections(report)
    articles = [_article(report, chosen, number, len(shown)) for number, chosen in enumerate(shown, 1)]
    whole = fleet.report([fleet.summary(one.query) for one in shown], report.input, version=report.advisor_version)
    look, script = _style(), _text("page.js")
    return environment(html=True).get_template("page/page.html.j2").render(
        report=report,
        shown=shown,
        fleet=whole,
        per_hour=per_hour,
        wins=wins,
        in_fleet={query.run_id: query for query in whole.queries},
        articles=[Markup(article) for article in articles] if len(shown) <= OPEN else [],
        packs=packed(articles) if len(shown) > OPEN else [],
        style=Markup(look),
        script=Markup(script),
        policy=policy(script, look),
    )  # fmt: skip


def _article(report: Report, chosen: Selection, number: int, among: int) -> str:
    return environment(html=True).get_template("page/query.html.j2").render(
        chosen=chosen,
        query=chosen.query,
        number=number,
        among=among,
        bars=list(waterfall(chosen.query)),
        charts=_charts(chosen.query, number, among) if number <= DRAWN else [],
        drawn_first=DRAWN if number > DRAWN else 0,
        proof=proof_by_run(report).get(chosen.query.run_id, []),
        pairs=measured_by_run(report).get(chosen.query.run_id, []),
    )  # fmt: skip


def _charts(query: QueryEntry, number: int, among: int) -> Sequence[tuple[object, Markup]]:
    thin = query.series and fewer(query.series, POINTS[among > 1])
    return [(chart, Markup(drawn(chart, f"q{number}"))) for chart in charts(query, thin)]


def _style() -> str:
    return f":root {{ {style('colours.css')} }}\n{style('parts.css')}{_text('page.css')}"


def _text(name: str) -> str:
    return (files("advisor.views") / "templates" / "page" / name).read_text(encoding="utf-8")
