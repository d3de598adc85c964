"""The charts that page, notebook and documentation share, as Vega-Lite specifications and as SVG."""

from __future__ import annotations

from advisor.contract import QueryEntry, Series
from advisor.views.charts.chart import Chart, can_draw, drawn, library
from advisor.views.charts.overtime import over_time
from advisor.views.charts.sample import cost_of_rows

__all__ = ["Chart", "can_draw", "charts", "drawn", "library"]


def charts(query: QueryEntry, series: Series | None) -> list[Chart]:
    """Return every chart that the batches of a run have data for; empty with fewer than two batches."""
    if series is None or len(series.timestamp) < 2:
        return []
    cost = cost_of_rows(query, series.sample) if series.sample else None
    return [*over_time(query, series), *([cost] if cost else [])]
