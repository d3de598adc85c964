"""What shows itself in a notebook's cell as one output; as text where there is no HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd
from msgspec.structs import asdict

from advisor import contract
from advisor.report import Report
from advisor.report.comparing import Compared
from advisor.views.comparison import comparisons_as_text
from advisor.views.notebook.card import comparisons_as_html, report_as_html
from advisor.views.notebook.findings import Findings, findings
from advisor.views.notebook.pictures import Charts
from advisor.views.terminal import report_as_text

__all__ = ["Shown", "ShownComparison", "report_as_html"]


@dataclass(frozen=True, repr=False)
class Shown(Report):
    """A report that shows itself, in a notebook as cards, elsewhere as text.

    `again`: the same report with the single batches of each query, which charts are drawn from; asked for at most once.
    """

    again: Callable[[], contract.Report] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return report_as_text(self.typed)

    def _repr_html_(self) -> str:
        return report_as_html(self._drawn)

    def to_html(self) -> str:
        """One HTML page that opens offline; its charts need the extra `[page]`."""
        from advisor.views.page import report_as_page  # noqa: PLC0415 - who prints text waits for no page

        return report_as_page(self._drawn)

    @property
    def findings(self) -> Findings:
        """One row per finding: query, step and gain first, then level, what it stands on, rule; ids last."""
        return findings(self.typed)

    @property
    def charts(self) -> Charts:
        """Charts by name, such as `report.charts.phases()`; `dir(report.charts)` lists them."""
        return Charts(lambda: self._drawn)

    @cached_property
    def _drawn(self) -> contract.Report:
        """The report with its single batches."""
        if self.again is None or any(query.series for query in self.typed.queries):
            return self.typed
        return self.again()

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
    """A comparison that shows itself: in a notebook before, promise and after as bars, elsewhere as text."""

    def __repr__(self) -> str:
        return comparisons_as_text(self.typed)

    def _repr_html_(self) -> str:
        return comparisons_as_html(self.typed)

    def to_html(self) -> str:
        """One HTML page that opens offline, with the same bars."""
        from advisor.views.page.alone import comparisons_as_page  # noqa: PLC0415

        return comparisons_as_page(self.typed)
