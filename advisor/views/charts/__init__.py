"""The charts that page, notebook and documentation share, as Vega-Lite specifications and as SVG."""

from advisor.views.charts.chart import Chart
from advisor.views.charts.drawing import can_draw, drawn, library
from advisor.views.charts.query import charts

__all__ = ["Chart", "can_draw", "charts", "drawn", "library"]
