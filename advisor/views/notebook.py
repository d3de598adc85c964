"""The report as it shows itself in a notebook cell: a card for each query; as text where there is no HTML."""

from __future__ import annotations

import pandas as pd
from msgspec.structs import asdict

from advisor import contract
from advisor.report import Report
from advisor.report.comparing import Compared
from advisor.views.clean import clean_all
from advisor.views.comparison import comparisons_as_text
from advisor.views.proof import proof_by_run
from advisor.views.selection import selections
from advisor.views.templating import environment
from advisor.views.terminal import report_as_text

CARDS = 10
"""Queries that get a card; the others are counted."""


class Shown(Report):
    """A report that shows itself, in a notebook as cards, elsewhere as text."""

    def __repr__(self) -> str:
        return report_as_text(self.typed)

    def _repr_html_(self) -> str:
        return report_as_html(self.typed)

    def to_html(self) -> str:
        """One HTML page that opens offline; its charts need `analyze(..., series=True)` and the extra `[page]`."""
        from advisor.views.page import report_as_page  # noqa: PLC0415 - who prints text waits for no page

        return report_as_page(self.typed)

    def to_frame(self) -> pd.DataFrame:
        """One row per run, metric and statistic: query, run_id, metric, stat, value, unit; no missing ones."""
        rows = [
            (query.name or query.id, query.run_id, metric, stat, value, found.unit)
            for query in self.typed.queries
            for metric, found in query.metrics.items()
            for stat, value in asdict(found).items()
            if isinstance(value, int | float)
        ]
        return pd.DataFrame(rows, columns=["query", "run_id", "metric", "stat", "value", "unit"])


class ShownComparison(Compared):
    """A comparison that shows itself as text."""

    def __repr__(self) -> str:
        return comparisons_as_text(self.typed)


def report_as_html(report: contract.Report) -> str:
    """The report as HTML for one cell: no script, nothing fetched; whatever comes from a session is escaped."""
    report = clean_all(report)
    shown = selections(report)
    page = environment(html=True).get_template("notebook.html.j2")
    return page.render(
        report=report, shown=shown[:CARDS], more=len(shown[CARDS:]), session=report.session, proof=proof_by_run(report)
    )
