"""The charts that page, notebook and documentation share, as Vega-Lite specifications and as SVG."""

from advisor.views.charts.chart import Chart, can_draw, drawn, library
from advisor.views.charts.overtime import charts
