"""That a query keeps up and nothing is wrong, with the numbers that show it; never more than its batches show."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.contract import Calm, Changed, Loss, LossKind, Passed, Trends
from advisor.metrics import Estimate, Quantiles, measure
from advisor.metrics.latency import told_by_events
from advisor.metrics.numbers import fact_number
from advisor.metrics.words import milliseconds
from advisor.report.behind import nothing_waits
from advisor.report.change import slower
from advisor.report.judged import Judged
from advisor.report.loss import NEARLY_FULL
from advisor.report.screen import is_unopened
from advisor.report.troubles import LONG_MS
from advisor.report.verdict import FEWEST_BATCHES
from advisor.window import Window

MOST_CLOSEST = 2
_WRONG: tuple[LossKind, ...] = (
    "rows_dropped",
    "watermark_stands",
    "falling_behind",
    "state_grows",
    "held_back",
    "backlog",
    "growth",
    "slower_than_before",
    "spikes",
    "slow_batches",
    "watermark",
)


def calm(
    judged: Judged, loss: Loss | None, troubles: Sequence[str], changed: Changed | None, trend: Trends
) -> Calm | None:
    """None where a rule found something or is silenced, where anything is wrong, and where too little is known."""
    window, judgement = judged.window, judged.judgement
    latency = told_by_events(window)
    if latency is not None and not judgement.findings and not troubles and judged.state not in ("dead", "restarting"):
        return Calm(says=_in_real_time(latency), closest=tuple(closest(judgement.passed)))
    if judgement.findings or judgement.suppressed or troubles or judged.state in ("dead", "restarting"):
        return None
    if loss is None or loss.kind in _WRONG or (changed is not None and slower(changed)):
        return None
    if "rising" in (trend.record_latency_ms.direction, trend.backlog_rows.direction):
        return None
    if len(window) < FEWEST_BATCHES or window.facts.value("falling_behind"):
        return None
    kept = _keeps_up(window)
    return Calm(says=f"{kept} {_lengths(window)}", closest=tuple(closest(judgement.passed))) if kept else None


def _in_real_time(latency: Quantiles) -> str:
    return (
        f"Records take {milliseconds(latency.p50)} (p50) and {milliseconds(latency.p99)} (p99) from end to end, as "
        "their events say (rtmMetrics). In real-time mode a batch lasts as long as its trigger: no latency."
    )


def _keeps_up(window: Window) -> str:
    """What shows that the query keeps up; empty where nothing does.

    One that is always busy keeps up by the length of its batches: where these are long, they are the latency.
    """
    kind, interval = window.facts.value("trigger"), fact_number(window, "trigger_interval_ms")
    late = measure(window, "falling_behind_share")
    if not isinstance(late, Estimate) or late.high > 0:
        return ""
    used = measure(window, "interval_used_share")
    if kind == "processing_time" and interval and isinstance(used, Estimate) and used.high <= NEARLY_FULL:
        return f"All {len(window):,} batches ended within the trigger interval of {milliseconds(interval)}."
    if kind == "unspecified" and nothing_waits(window) and not is_unopened(window, LONG_MS):
        return f"After each of {len(window):,} batches no rows were left in the source."
    return ""


def _lengths(window: Window) -> str:
    typical, slowest = measure(window, "trigger_execution_ms"), measure(window, "trigger_execution_ms", "p99")
    if not isinstance(typical, Estimate) or not isinstance(slowest, Estimate):
        return ""
    return f"A typical batch took {milliseconds(typical.safe)}, p99 {milliseconds(slowest.safe)}."


def closest(passed: Sequence[Passed]) -> list[Passed]:
    """The rules that passed with the smallest margin, the smallest first."""
    measured = [entry for entry in passed if entry.left is not None]
    return sorted(measured, key=lambda entry: entry.left or 0.0)[:MOST_CLOSEST]
