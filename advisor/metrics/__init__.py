"""Every number that a rule or a view reads, by name, with its unit and what it is a part of."""

from advisor.metrics import cost, flow, latency, phases, quality, state, writes  # noqa: F401 - they register the metrics
from advisor.metrics.measure import measure, measured, statistics
from advisor.metrics.registry import METRICS, STATS, Bounds, Estimate, Metric, Missing, Quantiles, named

__all__ = [
    "METRICS",
    "STATS",
    "Bounds",
    "Estimate",
    "Metric",
    "Missing",
    "Quantiles",
    "measure",
    "measured",
    "named",
    "statistics",
]
