"""Turn judged runs into the report: one entry per run, with its headline and its first step."""

from advisor.report.assemble import assemble
from advisor.report.runs import Asked
