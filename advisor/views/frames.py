"""`report.findings`: a data frame that shows itself with whole sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pandas as pd

from advisor.contract import Advice, Finding, QueryEntry, Report
from advisor.views import wording

COLUMNS = (
    "query", "step", "gain", "level", "says", "takes", "legal", "rule", "confidence", "step_id", "run_id",
)  # fmt: skip


_WIDTHS = {"query": "6em", "step": "9em", "gain": "12em", "says": "17em"}
"""Of the columns that hold sentences, as they are to be read."""


class Findings(pd.DataFrame):
    """A data frame of which a cell shows every sentence whole."""

    @property
    def _constructor(self) -> type[Findings]:
        return Findings

    def _repr_html_(self) -> str:
        with pd.option_context(
            "display.max_colwidth", None, "display.max_columns", None, "display.html.use_mathjax", False
        ):
            shown: str = super()._repr_html_()  # type: ignore[misc]
        names = cycle(self.columns)
        left = re.sub("<t([hd])>", lambda cell: f'<t{cell[1]} style="text-align: left; vertical-align: top">', shown)
        return re.sub('<td style="', lambda cell: f"{cell[0]}min-width: {_WIDTHS.get(next(names), 'auto')}; ", left)


def findings(report: Report) -> Findings:
    """One row per finding: its query, the step that it advises and what that saves first, names of machines last."""
    rows = [row for query in report.queries for row in _rows(query)]
    return Findings(rows, columns=list(COLUMNS))


def _rows(query: QueryEntry) -> Iterator[dict[str, Any]]:
    for finding in query.findings:
        step = _advised(finding)
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


def _advised(finding: Finding) -> Advice | None:
    """The step that comes first, as long as Spark may take it."""
    return next((step for step in finding.steps if step.legal != "no"), None)
