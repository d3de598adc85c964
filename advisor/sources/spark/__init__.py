"""Reads and judges a fleet's logs on a Spark cluster, with the tables and findings of the local engine."""

from advisor.sources.spark.engine import Judged, judge, read
from advisor.sources.spark.given import refuse
from advisor.sources.spark.saving import Table
from advisor.sources.spark.session import described, session

__all__ = ["Judged", "Table", "described", "judge", "read", "refuse", "session"]
