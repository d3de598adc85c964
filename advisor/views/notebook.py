"""`report.findings` and `report.charts.<name>()`: what a notebook's cell shows of a report beside its cards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from advisor.contract import QueryEntry, Report
from advisor.errors import UsageError
from advisor.report.series import fewer
from advisor.views import wording
from advisor.views.cards import chart_as_html, next_name
from advisor.views.charts import Chart, can_draw, charts, drawn
from advisor.views.clean import clean_all
from advisor.views.selection import selections

COLUMNS = (
    "query", "step", "gain", "level", "says", "takes", "legal", "rule", "confidence", "step_id", "run_id",
)  # fmt: skip


def findings(report: Report) -> pd.DataFrame:
    """One row per finding: its query, the step that it advises and what that saves first, names of machines last."""
    rows = [row for query in report.queries for row in _rows(query)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(query: QueryEntry) -> Iterator[dict[str, Any]]:
    for finding in query.findings:
        step = next((step for step in finding.steps if step.legal != "no"), None)
        yield {
            "query": wording.name(query),
            "step": step.do if step else "no setting is known that helps",
            "gain": "; ".join(wording.savings(step)) if step else "",
            "level": finding.level,
            "confidence": finding.confidence,
            "says": finding.says,
            "legal": step.legal if step else "",
            "takes": step.takes if step else "",
            "rule": finding.rule,
            "step_id": step.id if step else "",
            "run_id": query.run_id,
        }


POINTS = 800


class Picture:
    """One chart in a cell; its words where the library that draws it is missing."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    def to_html(self) -> str:
        """The chart with its caption as HTML, as for `displayHTML`; UsageError where the extra `[page]` is missing."""
        return chart_as_html(self._chart, drawn(self._chart, next_name()))

    def __repr__(self) -> str:
        return f"{self._chart.caption}. {self._chart.words}"

    def _repr_html_(self) -> str | None:
        return self.to_html() if can_draw() else None


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
        return [(chart.name.replace("-", "_"), chart) for chart in charts(entry, thin)]

    def _entry(self, query: str | None) -> QueryEntry | None:
        runs = [chosen.query for chosen in selections(clean_all(self._report()))]
        if query is None:
            return runs[0] if runs else None
        for entry in runs:
            if query in (entry.name, entry.id, entry.run_id):
                return entry
        there = ", ".join(str(entry.name or entry.id) for entry in runs) or "none"
        raise UsageError("charts", f"no query {query!r}", f"the queries are: {there}")
