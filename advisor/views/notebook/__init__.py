"""What shows itself in a notebook's cell as one output; as text where there is no HTML.

What draws is imported when something is drawn: the command line and scripts need none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from advisor import contract
from advisor.report import Report

if TYPE_CHECKING:
    import pandas as pd

    from advisor.views.notebook.findings import Findings
    from advisor.views.notebook.pictures import Charts


@dataclass(frozen=True, repr=False)
class Shown(Report):
    """A report that shows itself, in a notebook as cards, elsewhere as text.

    `again`: the same report with the single batches of each query, which charts are drawn from; asked for at most once.
    """

    again: Callable[[], contract.Report] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        from advisor.views.terminal import report_as_text  # noqa: PLC0415

        return report_as_text(self.typed)

    def _repr_html_(self) -> str:
        from advisor.views.notebook.card import report_as_html  # noqa: PLC0415

        return report_as_html(self._drawn)

    def to_html(self) -> str:
        """One HTML page that opens offline; its charts need the extra `[page]`."""
        from advisor.views.page import report_as_page  # noqa: PLC0415

        return report_as_page(self._drawn)

    @property
    def findings(self) -> Findings:
        """One row per finding: query, step and gain first, then level, what it stands on, rule; ids last."""
        from advisor.views.notebook.findings import findings  # noqa: PLC0415

        return findings(self.typed)

    @property
    def charts(self) -> Charts:
        """Charts by name, such as `report.charts.phases()`; `dir(report.charts)` lists them."""
        from advisor.views.notebook.pictures import Charts  # noqa: PLC0415

        return Charts(lambda: self._drawn)

    @cached_property
    def _drawn(self) -> contract.Report:
        """The report with its single batches."""
        if self.again is None or any(query.series for query in self.typed.queries):
            return self.typed
        return self.again()

    def to_frame(self) -> pd.DataFrame:
        """One row per run, metric and statistic: query, run_id, metric, stat, value, unit; no missing ones."""
        import pandas as pd  # noqa: PLC0415

        rows = [
            (query.name or query.id, query.run_id, metric, stat, value, found.unit)
            for query in self.typed.queries
            for metric, found in query.metrics.items()
            for stat, value in asdict(found).items()
            if isinstance(value, int | float)
        ]
        return pd.DataFrame(rows, columns=["query", "run_id", "metric", "stat", "value", "unit"])
