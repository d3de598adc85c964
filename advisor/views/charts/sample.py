"""The chart of what a row costs in the judged batches."""

from __future__ import annotations

from advisor.contract import Metric, QueryEntry, Sample
from advisor.views import text
from advisor.views.charts.chart import NARROW, Chart, Spec, layer, layered, number, time_axis

_HEIGHT = 190
_ROWS = number("rows", axis={"format": "~s", "tickCount": 6}, scale={"domainMin": 0})


def cost_of_rows(query: QueryEntry, sample: Sample) -> Chart | None:
    """Rows against length, with the fitted cost where there is a fit; None where rows do not vary."""
    if len(set(sample.rows)) < 2:
        return None
    points = [{"rows": rows, "ms": ms} for rows, ms in zip(sample.rows, sample.rows_ms, strict=True)]
    fixed, each = (query.metric(name) for name in ("fixed_cost_ms", "cost_per_1000_rows_ms"))
    top = {"domainMin": 0, "domainMax": 1.05 * max(sample.rows_ms)}
    mark = {"type": "point", "filled": True, "size": 18, "opacity": 0.6, "color": "var(--line-1)"}
    dots = layer(points, mark, x=_ROWS, y=number("ms", scale=top, **time_axis(top["domainMax"])))
    line = _line(fixed, each, max(sample.rows))
    return Chart("rows", "Rows of a batch and its length", _cost(fixed, each), layered(NARROW, _HEIGHT, *line, dots))


def _cost(fixed: Metric, each: Metric) -> str:
    if fixed.missing or not _told(fixed) or not _told(each):
        return f"No line is drawn: {fixed.missing or 'nothing was fitted'}."
    return (
        f"A batch costs {text.ms(fixed.value)} ({text.ms(fixed.low)} to {text.ms(fixed.high)}) whatever its rows, and "  # type: ignore[arg-type]
        f"{text.ms(each.value)} more for each 1,000 rows."  # type: ignore[arg-type]
    )


def _told(metric: Metric) -> bool:
    return isinstance(metric.value, int | float) and metric.low is not None and metric.high is not None


def _line(fixed: Metric, each: Metric, most: float) -> list[Spec]:
    """The fit with its interval: a lower fixed cost goes with a higher cost of a row."""
    if not _told(fixed) or not _told(each):
        return []
    ends = [(fixed.value, each.value), (fixed.low, each.high), (fixed.high, each.low)]
    rows = [
        {"rows": at, **{name: a + b * at / 1000 for name, (a, b) in zip(("ms", "one", "other"), ends, strict=True)}}  # type: ignore[operator]
        for at in (0.0, most / 2, most)
    ]
    look = {"color": "var(--line-2)", "clip": True}
    return [
        layer(rows, look | {"type": "area", "opacity": 0.25}, x=_ROWS, y=number("one"), y2={"field": "other"}),
        layer(rows, look | {"type": "line"}, x=_ROWS, y=number("ms")),
    ]
