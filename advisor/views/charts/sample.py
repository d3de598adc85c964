"""Charts of the judged batches together: how long they take before and after the step, and what a row costs."""

from __future__ import annotations

from advisor.contract import Metric, Promise, QueryEntry, Sample
from advisor.views import text
from advisor.views.charts.chart import NARROW, Chart, Spec, layer, layered, number, time_axis

_HEIGHT = 190
_TAIL = 1.5
"""So many times the 99th percentile is still drawn."""
_PERCENT = number("percent", title="% of batches", axis={"tickCount": 5})
_ROWS = number("rows", axis={"format": "~s", "tickCount": 6}, scale={"domainMin": 0})


def distribution(query: QueryEntry, sample: Sample) -> Chart:
    """Which part of the batches takes how long at most: now, and as the best step promises, with a band."""
    promise = _promise(query)
    now = [{"ms": ms, "percent": percent, "what": "now"} for percent, ms in enumerate(sample.batch_ms)]
    right = min(sample.batch_ms[-1], _TAIL * sample.batch_ms[99])
    left = max(0.0, sample.batch_ms[0] - promise.high) if promise else sample.batch_ms[0]
    scale = {"domain": [min(left, 0.9 * sample.batch_ms[0]), right], "nice": False, "zero": False}
    half, most = text.ms(sample.batch_ms[50]), text.ms(sample.batch_ms[99])
    words = f"Half of the batches take at most {half}, 99 of 100 at most {most}."
    after = [] if promise is None else _after(sample, promise, scale)
    said = _said(query, sample, promise) if promise else ""
    spec = layered(NARROW, _HEIGHT, *after, _curve(now, scale, alone=promise is None))
    caption = "How long batches take, now and after the step" if promise else "How long batches take"
    return Chart("distribution", caption, words + said, spec)


def _promise(query: QueryEntry) -> Promise | None:
    """Return what the best step promises of every batch alike, unless Spark refuses it."""
    best = query.best_step.advice if query.best_step else None
    return None if best is None or best.legal == "no" or best.ends_slow_batches else best.saves_ms


def _said(query: QueryEntry, sample: Sample, promise: Promise) -> str:
    ends = (promise.high, promise.low, promise.likely)
    low, high, likely = (text.ms(max(0.0, sample.batch_ms[50] - end)) for end in ends)
    expected = "" if promise.expected is None else f", {likely} expected"
    step = query.best_step.advice.do if query.best_step else ""
    return f" After the step ({step}) half take at most {low} to {high}{expected}, if each becomes shorter by the same."


def _after(sample: Sample, promise: Promise, scale: Spec) -> list[Spec]:
    band = [
        {"percent": percent, "ms": max(0.0, ms - promise.high), "high": max(0.0, ms - promise.low)}
        for percent, ms in enumerate(sample.batch_ms)
    ]
    mark = {"type": "area", "orient": "horizontal", "color": "var(--good)", "opacity": 0.3, "clip": True}
    area = layer(band, mark, y=_PERCENT, x=_ms(scale), x2={"field": "high"})
    if promise.expected is None:
        return [area]
    then = [
        {"ms": max(0.0, ms - promise.expected), "percent": percent, "what": "promised"}
        for percent, ms in enumerate(sample.batch_ms)
    ]
    return [area, _curve(then, scale)]


def _curve(rows: list[dict[str, object]], scale: Spec, *, alone: bool = False) -> Spec:
    """One line; what it is stands in a legend unless it is the only one."""
    color = {
        "field": "what",
        "type": "nominal",
        "scale": {"domain": ["now", "promised"], "range": ["var(--line-1)", "var(--good)"]},
        "legend": None if alone else {"symbolType": "stroke"},
    }
    line = {"type": "line", "clip": True}
    return layer(rows, line, x=_ms(scale), y=_PERCENT, order={"field": "percent"}, color=color)


def _ms(scale: Spec) -> Spec:
    return number("ms", scale=scale, **time_axis(scale["domain"][1]))


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
