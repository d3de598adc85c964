"""Every number that a rule or a view reads, by name, with its unit and the whole that it is a part of."""

from advisor.metrics.entries import statistics
from advisor.metrics.index import METRICS, label, measure, measured, named, remember_typical, sure
from advisor.metrics.registry import STATS, AnyMetric, Bounds, Estimate, Metric, Missing, Quantiles

__all__ = [
    "METRICS",
    "STATS",
    "AnyMetric",
    "Bounds",
    "Estimate",
    "Metric",
    "Missing",
    "Quantiles",
    "label",
    "measure",
    "measured",
    "named",
    "remember_typical",
    "statistics",
    "sure",
]
