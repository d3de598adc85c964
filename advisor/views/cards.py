"""What a cell shows, as HTML: no script, nothing fetched, and whatever comes from a session is escaped."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from advisor.contract import Comparisons, QueryEntry, Report, Trial
from advisor.report.series import fewer
from advisor.views import comparison
from advisor.views.addbatch import waterfall
from advisor.views.charts import Chart, can_draw, charts, drawn
from advisor.views.charts.chart import style
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.selection import Selection, selections
from advisor.views.templating import environment

CARDS = 10
"""Queries that get a card; the others are counted."""
WITH_CHARTS = 3
"""Of these, so many with charts."""
POINTS = 160
_CHARTS = ("phases", "latency")
_NUMBER = itertools.count(1)
"""Prefix of the names within one drawing, so that they differ from another cell's."""
COPIES: Final = (
    "getSelection().selectAllChildren(this.parentNode.querySelector('code'));"
    "this.textContent=document.execCommand('copy')?'Copied':'Press Ctrl+C'"
)
"""A cell has no script of its own; a click selects the code and copies it where the browser lets it."""
_CELL = ".sla.sla.sla"
"""Named three times, it outranks a notebook's own style for tables and lists."""
_THEMES = (
    ':is([data-jp-theme-light="false"], .vscode-dark) .sla.sla.sla.sla { color-scheme: dark; } '
    ':is([data-jp-theme-light="true"], .vscode-light) .sla.sla.sla.sla { color-scheme: light; }'
)


def report_as_html(report: Report) -> str:
    """The report as HTML for one cell: a card for each query, the first with charts where a library can draw them."""
    report, draws = clean_all(report), can_draw()
    shown = selections(report)
    articles = []
    for nth, chosen in enumerate(shown[:CARDS]):
        drawn_too, name = draws and nth < WITH_CHARTS, f"sla{next(_NUMBER)}"
        found = drawings(chosen.query, POINTS, name, _CHARTS) if drawn_too else []
        articles.append(article(report, chosen, name, found, copies=COPIES))
    return _cell(articles=articles, more=len(shown[CARDS:]), session=report.session, undrawn=bool(shown) and not draws)


def article(report: Report, chosen: Selection, name: str, found: Sequence[object], **page: Any) -> Markup:
    """Return all of a query as HTML, for a page or a cell; `name`: what the names of its parts begin with."""
    query, proof = chosen.query, proof_by_run(report).get(chosen.query.run_id, [])
    alone = {"among": 1, "drawn_first": 0, "bars": list(waterfall(query)), "proof": proof}
    template = environment("html").get_template("query.html.j2")
    return Markup(template.render(alone | page, chosen=chosen, query=query, id=name, charts=found))


def drawings(query: QueryEntry, points: int, name: str, only: Sequence[str] = ()) -> list[tuple[Chart, Markup]]:
    """Return the charts of a query with at most so many batches, or `only` those of these names."""
    found = charts(query, query.series and fewer(query.series, points))
    return [(one, Markup(drawn(one, name))) for one in found if not only or one.name in only]


def comparison_as_html(found: Comparisons | Trial) -> str:
    """Comparisons or a trial as HTML for one cell: what was promised and measured, then the numbers."""
    entry = clean_all(found)
    return _cell(compared=[entry] if isinstance(entry, Trial) else entry.comparisons, alone=comparison.alone(entry))


def _cell(**shown: Any) -> str:
    inner = "".join(style(name) for name in ("colours.css", "parts.css", "card.css"))
    look = f"{_CELL} {{ color-scheme: light dark; {inner} }} {_THEMES}"  # of the notebook around it: light or dark
    nothing = {"articles": [], "compared": [], "alone": [], "more": 0, "session": None, "undrawn": False}
    looks = {"measured": comparison, "style": Markup(look)}
    return environment("html").get_template("notebook.html.j2").render(nothing | looks | shown)
