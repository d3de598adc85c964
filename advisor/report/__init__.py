"""Findings, skipped rules and queries as plain data with a version."""

from advisor.report.assemble import Report, assemble
from advisor.report.runs import Asked

__all__ = ["Asked", "Report", "assemble"]
