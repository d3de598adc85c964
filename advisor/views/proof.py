"""A comparison of two runs in a few lines: what was measured, and what became of each promise."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.contract import Comparison, Report
from advisor.views.effects import outcome
from advisor.views.text import ms, saving


def proof_by_run(report: Report) -> dict[str, list[str]]:
    """Return the lines about each run that a session's report compares."""
    found: dict[str, list[str]] = {}
    for comparison in report.comparisons or ():
        found.setdefault(comparison.after.run_id, []).extend(proof(comparison))
    return found


def proof(comparison: Comparison) -> Iterator[str]:
    """What was measured, then each promise beside its measurement, a line each."""
    within = comparison.before.run_id == comparison.after.run_id
    yield f"{'Since the change' if within else 'Measured'}: {comparison.says}"
    for kept in comparison.promises:
        found = f"measured {ms(kept.measured_ms.value)}" if kept.measured_ms else "nothing measured"
        more = f": {kept.more_batches} more batches" if kept.more_batches else ""
        of = "per batch" if kept.of == "batch" else "in record latency"
        yield f"{kept.do}, {of}: promised {saving(kept.predicted_ms)}; {found}; {outcome(kept)}{more}"
