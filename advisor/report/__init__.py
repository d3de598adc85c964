"""Findings, skipped rules and queries as plain data with a version."""

from advisor.report.assemble import Asked, Report, assemble

__all__ = ["Asked", "Report", "assemble"]
