"""All charts of one run of a query."""

from __future__ import annotations

from advisor.contract import QueryEntry, Series
from advisor.views.charts.chart import Chart
from advisor.views.charts.findings import with_findings
from advisor.views.charts.overtime import over_time
from advisor.views.charts.sample import cost_of_rows, distribution


def charts(query: QueryEntry, series: Series | None) -> list[Chart]:
    """Return every chart that the batches of a run have data for; empty with fewer than two batches."""
    if series is None or len(series.timestamp) < 2:
        return []
    found = over_time(query, series)
    if series.sample is not None:
        cost = cost_of_rows(query, series.sample)
        found += [distribution(query, series.sample), *([cost] if cost else [])]
    return list(with_findings(found, query, series))
