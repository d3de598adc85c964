"""The charts that page, notebook and documentation share, as Vega-Lite specifications and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from advisor.contract import Finding, QueryEntry, Series
from advisor.views.charts.chart import Chart, Spec, can_draw, drawn, layer, library
from advisor.views.charts.overtime import TIME, over_time
from advisor.views.charts.sample import cost_of_rows
from advisor.vocabulary import worst

__all__ = ["Chart", "can_draw", "charts", "drawn", "library"]

_ABOUT: Final = {
    "utilisation": "rates", "falling_behind_share": "backlog", "latency_target_excess_ms": "latency",
    "interval_over_advised": "latency", "interval_used_share": "latency",
    "state_commit_share_at_slots": "state-commit", "snapshot_commit_share": "state-commit", "fixed_cost_share": "rows",
}  # fmt: skip
"""The chart of a rule's measure, unless it is the chart of phases."""


def charts(query: QueryEntry, series: Series | None) -> list[Chart]:
    """Return every chart that the batches of a run have data for; empty with fewer than two batches."""
    if series is None or len(series.timestamp) < 2:
        return []
    found = over_time(query, series)
    if series.sample is not None:
        found += filter(None, [cost_of_rows(query, series.sample)])
    return list(_with_findings(found, query, series))


def _with_findings(drawn: Sequence[Chart], query: QueryEntry, series: Series) -> Iterator[Chart]:
    """Mark each finding on its chart: the batches that it stands on, in its level's colour."""
    names = {chart.name for chart in drawn}
    shown: dict[str, list[Finding]] = {}
    for finding in query.findings:
        about = _ABOUT.get(finding.measure.metric, "phases") if finding.measure else "phases"
        shown.setdefault(about if about in names else "phases", []).append(finding)
    for chart in drawn:
        found = shown.get(chart.name, [])
        spec = _shaded(chart.spec, found, series) if chart.timed else chart.spec
        yield replace(chart, spec=spec, of=tuple(one.rule for one in found))


def _shaded(spec: Spec, findings: list[Finding], series: Series) -> Spec:
    judged = [at for at, is_judged in zip(series.timestamp, series.judged, strict=True) if is_judged and at]
    if not findings or not judged:
        return spec
    level = worst(finding.level for finding in findings)
    span = [{"t": judged[0], "end": judged[-1], "rules": ", ".join(one.rule for one in findings)}]
    shade = layer(span, {"type": "rect", "color": f"var(--{level})", "opacity": 0.08}, x=TIME, x2={"field": "end"})
    words = {"type": "text", "align": "right", "dx": -3, "y": -7, "color": f"var(--{level})", "fontSize": 13}
    label = layer(span, words, x=TIME | {"field": "end"}, text={"field": "rules"})
    return spec | {"layer": [shade, *spec["layer"], label]}
