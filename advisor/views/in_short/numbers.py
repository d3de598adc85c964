"""What was measured: the lines of latency, batch, addBatch and the batches that they are based on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from advisor.contract import Metric, Part, QueryEntry, Trend
from advisor.views import text
from advisor.views.in_short.losses import loss_name
from advisor.views.inside import sentence
from advisor.views.wording import at_least, not_known, trend

if TYPE_CHECKING:
    from advisor.views.selection import Selection


_NONE = Metric()


def latency_now_and_then(query: QueryEntry) -> str:
    """`p50 218 ms   p99 536 ms   → about 160 ms (p50) with the step`, or why there is none."""
    found = query.metrics.get("record_latency_ms", _NONE)
    if found.p50 is None:
        return not_known(found)
    least = at_least(query)
    spread = _spread(query, "p50", found.p50, found.p99)
    if query.value("trigger") == "real_time":  # of one batch, too, the events tell both
        spread = f"p50 {text.ms(found.p50)}   p99 {text.ms(found.p99)}"
    now = f"{least}{spread}{_target(query, found.p99)}"
    now += _moving(query.trend.record_latency_ms, text.ms)
    then = latency_then(query)
    return f"{now}   → {then}" if then else now


def latency_then(query: QueryEntry) -> str:
    """`about 160 ms (p50) with the step`; empty where nothing is known of that, or it stays as it is."""
    found, after = query.metrics.get("record_latency_ms", _NONE), query.screen.after
    if after is None or found.p50 is None:
        return ""
    if after.without_spikes:
        return f"at best {text.ms(after.p50)} / {text.ms(after.p99)} with fewer spikes"
    if text.ms(after.p50) == text.ms(found.p50):
        return ""
    return f"{'at best' if after.at_best else 'about'} {text.ms(after.p50)} (p50) with the step"


def _spread(query: QueryEntry, name: str, usual: float | None, high: float | None) -> str:
    """`p50 218 ms   p99 536 ms`; of one batch the one number, since it has no p99."""
    if query.window.batches == 1:
        return f"{text.ms(usual)} (one batch)"
    return f"{name} {text.ms(usual)}   p99 {text.ms(high)}"


def _moving(found: Trend, words: Callable[[float], str]) -> str:
    """The trend of what rises or falls."""
    return trend(found, words) if found.direction in ("rising", "falling") else ""


def _target(query: QueryEntry, p99: float | None) -> str:
    target = query.value("latency_target_ms")
    if not isinstance(target, int | float) or p99 is None:
        return ""
    return f" (target {text.ms(target)}: {'missed' if p99 > target else 'reached'})"


def batch_headroom_lag(query: QueryEntry) -> str:
    """`typical 0.33 s   p99 6.0 s   Headroom 12 %   Lag 0 rows`."""
    batch, lag = query.metrics.get("trigger_execution_ms", _NONE), query.metrics.get("backlog_rows", _NONE)
    headroom = query.screen.headroom
    rows = _of_furthest(query) if lag.typical is None else f"{text.count(lag.typical)} rows"
    if lag.typical is not None:
        rows += _moving(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows")
    took = "not known" if batch.typical is None else _spread(query, "typical", batch.typical, batch.p99)
    return f"{took}   Headroom {'-' if headroom is None else f'{100 * headroom:.0f} %'}   Lag {rows}"


def _of_furthest(query: QueryEntry) -> str:
    """What waits at least, by the partition that is furthest behind."""
    furthest = query.metrics.get("furthest_behind_rows", _NONE).typical
    return "not known" if furthest is None else f"at least {text.count(furthest)} rows"


def within_add_batch(query: QueryEntry, width: int | None = None) -> str:
    """`of addBatch: state commit 36 %, ...`, or its parts where jobs were seen; empty where nothing is known."""
    if query.inside:
        return sentence(query, width)
    found = query.screen.within_add_batch
    said = ", ".join(f"{loss_name(part)} {_share(part)}" for part in found)
    return f"of addBatch: {said}" if said else ""


def _share(part: Part) -> str:
    """`36 %`, or `7 to 85 %` where only an interval is known."""
    at_most = "" if part.share_at_most is None else f" to {100 * part.share_at_most:.0f}"
    return f"{100 * part.share:.0f}{at_most} %"


SHORT_SPAN_MS = 600_000.0


def based_on(chosen: Selection) -> str:
    """`49 batches, 31 s (short: confirm on 10 min)`."""
    query, span = chosen.query, chosen.query.screen.span_ms
    found = query.window.batches
    if not found:
        return f"no steady batch, of {text.plural(query.batches, 'batch', 'batches')}" if query.batches else "no batch"
    said = text.plural(found, "batch", "batches")
    said += f", {text.ms(span)}" if span else ""
    short = found == 1 or span is None or span < SHORT_SPAN_MS
    said += " (it may be an outlier)" if found == 1 else " (short: confirm on 10 min)" if short else ""
    earlier = f"; {text.plural(chosen.earlier, 'earlier run')} of this query" if chosen.earlier else ""
    return said + earlier
