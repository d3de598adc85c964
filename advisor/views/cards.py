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
    report = clean_all(report)
    shown = selections(report)
    cards = [of_query(report, chosen) | {"charts": _charts(chosen, nth)} for nth, chosen in enumerate(shown[:CARDS])]
    undrawn = bool(shown) and not can_draw()
    return _cell(cards=cards, more=len(shown[CARDS:]), session=report.session, undrawn=undrawn)


def of_query(report: Report, chosen: Selection) -> dict[str, Any]:
    """Return what card and page draw of a query, but for its charts."""
    proof = comparison.proof_by_run(report).get(chosen.query.run_id, [])
    return {"chosen": chosen, "bars": list(waterfall(chosen.query)), "proof": proof}


def comparison_as_html(found: Comparisons | Trial) -> str:
    """Comparisons or a trial as HTML for one cell: what was promised and measured, then the numbers."""
    entry = clean_all(found)
    return _cell(compared=[entry] if isinstance(entry, Trial) else entry.comparisons)


def cell_style() -> str:
    """The page's style for what stands in a cell only, in the light or dark look of the notebook around it."""
    inner = "".join(style(name) for name in ("colours.css", "parts.css", "card.css"))
    return f"{_CELL} {{ color-scheme: light dark; {inner} }} {_THEMES}"


def _cell(**shown: Any) -> str:
    nothing = {"cards": [], "compared": [], "more": 0, "session": None, "undrawn": False}
    looks = {"measured": comparison, "style": Markup(cell_style()), "copies": COPIES}
    return environment("html").get_template("notebook.html.j2").render(nothing | looks | shown)


def _charts(chosen: Selection, nth: int) -> Sequence[tuple[Chart, Markup]]:
    query: QueryEntry = chosen.query
    if nth >= WITH_CHARTS or query.series is None or not can_draw():
        return []
    found = charts(query, fewer(query.series, POINTS))
    return [(one, Markup(drawn(one, f"sla{next(_NUMBER)}"))) for one in found if one.name in _CHARTS]
