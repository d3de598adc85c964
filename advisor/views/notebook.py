"""`report.findings`: what a notebook's cell shows of a report beside its cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from advisor.contract import QueryEntry, Report
from advisor.views import wording

COLUMNS = (
    "query", "step", "gain", "level", "says", "takes", "legal", "rule", "confidence", "step_id", "run_id",
)  # fmt: skip


class Findings(pd.DataFrame):
    """A data frame of which a cell shows every sentence whole, and none as a formula."""

    @property
    def _constructor(self) -> type[Findings]:
        return Findings

    def _repr_html_(self) -> str:
        with pd.option_context(
            "display.max_colwidth", None, "display.max_columns", None, "display.html.use_mathjax", False
        ):
            shown: str = super()._repr_html_()  # type: ignore[misc]
        return shown


def findings(report: Report) -> Findings:
    """One row per finding: its query, the step that it advises and what that saves first, names of machines last."""
    rows = [row for query in report.queries for row in _rows(query)]
    return Findings(rows, columns=list(COLUMNS))


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
