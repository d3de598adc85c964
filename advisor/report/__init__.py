"""Turn judged runs into the report: one entry per run, its findings ranked, its headline and its first step chosen."""

from advisor.report.assemble import assemble
from advisor.report.runs import Asked

__all__ = ["Asked", "assemble"]
