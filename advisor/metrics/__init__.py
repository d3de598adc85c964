"""Every number that a rule or a view reads, by name, with its unit and the whole that it is a part of."""

from advisor.metrics.index import ALL, METRICS, label, measure, measured, named, remember_typical, statistics, sure
from advisor.metrics.metric import STATS, AnyMetric, Estimate, Quantiles
from advisor.metrics.missing import Missing
