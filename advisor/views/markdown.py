"""The report as Markdown, for an issue, a wiki page or a review."""

from __future__ import annotations

from advisor.contract import Report
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.details import details
from advisor.views.selection import selections
from advisor.views.templating import as_markdown


def report_as_markdown(report: Report, *, everything: bool = False) -> str:
    """The whole report as Markdown; what comes from logs can neither add markup nor HTML."""
    report = clean_all(report)
    shown, proof = selections(report, everything=everything), proof_by_run(report)
    return as_markdown("report.md.j2", report=report, shown=shown, everything=everything, details=details, proof=proof)
