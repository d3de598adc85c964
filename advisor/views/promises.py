"""A comparison of two runs in a few lines: what was measured, and what became of each promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from advisor.views.text import ms, saving


def by_run(report: Mapping[str, Any]) -> dict[str, list[str]]:
    """What there is to say of each run that a session's report compares, in lines."""
    found: dict[str, list[str]] = {}
    for comparison in report.get("comparisons", ()):
        found.setdefault(comparison["after"]["run_id"], []).extend(told(comparison))
    return found


def told(comparison: Mapping[str, Any]) -> Iterator[str]:
    """What was measured, then each promise beside its measurement, a line each."""
    within = comparison["before"]["run_id"] == comparison["after"]["run_id"]
    yield f"{'Since the change' if within else 'Measured'}: {comparison['says']}"
    for kept in comparison["promises"]:
        measured = kept["measured_ms"]
        found = f"measured {ms(measured['value'])}" if measured else "nothing measured"
        more = f": {kept['more_batches']} more batches" if kept["more_batches"] else ""
        of = "per batch" if kept["of"] == "batch" else "in record latency"
        yield f"{kept['do']}, {of}: promised {saving(kept['predicted_ms'])}; {found}; {kept['verdict']}{more}"
