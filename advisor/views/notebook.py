"""The report as it shows itself in a notebook cell: a card for each query; as text where there is no HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from advisor.report import Report
from advisor.report.comparing import Compared
from advisor.views.clean import clean_all
from advisor.views.comparison import render as comparison_as_text
from advisor.views.pages import environment
from advisor.views.promises import by_run
from advisor.views.screen import screens
from advisor.views.terminal import render as as_text

Data = Mapping[str, Any]

CARDS = 10
"""Queries that get a card; the others are counted."""


class Shown(Report):
    """A report that shows itself, in a notebook as cards, elsewhere as text."""

    def __repr__(self) -> str:
        return as_text(self.data)

    def _repr_html_(self) -> str:
        return render(self.data)

    def to_frame(self) -> pd.DataFrame:
        """One row per run, metric and statistic: query, run_id, metric, stat, value, unit; no missing ones."""
        rows = [
            {"query": q["name"] or q["id"], "run_id": q["run_id"], "metric": metric, "stat": stat, "value": value}
            | {"unit": found.get("unit")}
            for q in self.queries
            for metric, found in q["metrics"].items()
            for stat, value in found.items()
            if isinstance(value, int | float)
        ]
        return pd.DataFrame(rows, columns=["query", "run_id", "metric", "stat", "value", "unit"])


class ShownComparison(Compared):
    """A comparison that shows itself as text."""

    def __repr__(self) -> str:
        return comparison_as_text(self.data)


def render(report: Data) -> str:
    """The report as HTML for one cell: no script, nothing fetched; whatever comes from a session is escaped."""
    report = clean_all(report)
    shown = screens(report)
    page = environment(html=True).get_template("notebook.html.j2")
    return page.render(
        report=report, shown=shown[:CARDS], more=len(shown[CARDS:]), session=report.get("session"), proof=by_run(report)
    )
