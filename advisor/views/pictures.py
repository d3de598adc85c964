"""`report.charts.<name>()`: the charts of a query, each of which shows itself in a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from advisor.contract import QueryEntry, Report
from advisor.errors import UsageError
from advisor.report.series import fewer
from advisor.views.cards import chart_as_html, next_name
from advisor.views.charts import Chart, can_draw, charts, drawn
from advisor.views.charts.chart import VEGA_LITE, plain_colours
from advisor.views.charts.waterfall import waterfall_chart
from advisor.views.clean import clean_all
from advisor.views.selection import selections

POINTS = 800
_MIME = "application/vnd.vegalite.v5+json"


class Picture:
    """One chart in a cell: as SVG, or, where the library that draws it is missing, as Vega-Lite for the front end."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, data and colours in it: for Altair's `Chart.from_dict`, or an editor."""
        whole: dict[str, Any] = {"$schema": VEGA_LITE} | plain_colours(self._chart.spec)
        return whole

    def to_svg(self) -> str:
        """The chart as one `<svg>` in plain colours; UsageError where the extra `[page]` is missing."""
        plain = Chart(self._chart.name, self._chart.caption, self._chart.words, self.spec)
        return drawn(plain, next_name()).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    def to_html(self) -> str:
        """The chart with its caption as HTML, as for `displayHTML`; UsageError where the extra `[page]` is missing."""
        return chart_as_html(self._chart, drawn(self._chart, next_name()))

    def __repr__(self) -> str:
        return f"{self._chart.caption}. {self._chart.words}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        shown = {"text/html": self.to_html()} if can_draw() else {_MIME: self.spec}
        return {"text/plain": repr(self)} | shown


class Charts:
    """The charts of a report's queries by name: `report.charts.phases()`, `report.charts.latency("orders")`.

    Without a query, of the most pressing one. `dir()` lists what this report has.
    """

    def __init__(self, report: Callable[[], Report]) -> None:
        self._report = report

    def __getattr__(self, name: str) -> Callable[..., Picture]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda query=None: self._picture(name, query)

    def __dir__(self) -> list[str]:
        return [name for name, _ in self._of(None)]

    def __repr__(self) -> str:
        return f"charts: {', '.join(dir(self)) or 'none, because the report has no query with batches'}"

    def _picture(self, name: str, query: str | None) -> Picture:
        found = dict(self._of(query))
        if name not in found:
            raise UsageError(f"charts.{name}", "this query has no such chart", f"it has: {', '.join(found)}")
        return Picture(found[name])

    def _of(self, query: str | None) -> list[tuple[str, Chart]]:
        entry = self._entry(query)
        if entry is None:
            return []
        thin = entry.series and fewer(entry.series, POINTS)
        found = [*waterfall_chart(entry), *charts(entry, thin)]
        return [(chart.name.replace("-", "_"), chart) for chart in found]

    def _entry(self, query: str | None) -> QueryEntry | None:
        runs = [chosen.query for chosen in selections(clean_all(self._report()))]
        if query is None:
            return runs[0] if runs else None
        for entry in runs:
            if query in (entry.name, entry.id, entry.run_id):
                return entry
        there = ", ".join(str(entry.name or entry.id) for entry in runs) or "none"
        raise UsageError("charts", f"no query {query!r}", f"the queries are: {there}")
