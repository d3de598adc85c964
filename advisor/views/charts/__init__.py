"""The charts that page, notebook and documentation share, as Vega-Lite specifications and as SVG."""

from __future__ import annotations

from advisor.contract import QueryEntry, Series
from advisor.views.charts.chart import Chart, can_draw, drawn, library
from advisor.views.charts.overtime import over_time

__all__ = ["Chart", "can_draw", "charts", "drawn", "library"]


def charts(query: QueryEntry, series: Series | None) -> list[Chart]:
    """Return every chart that the batches of a run have data for; empty with fewer than two batches."""
    return over_time(query, series) if series is not None and len(series.timestamp) >= 2 else []
