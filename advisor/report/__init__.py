"""Findings, skipped rules and queries as plain data with a version."""

from advisor.report.assemble import Asked, Report, assemble
from advisor.report.comparing import Compared, Wanted, compare_readings

__all__ = ["Asked", "Compared", "Report", "Wanted", "assemble", "compare_readings"]
