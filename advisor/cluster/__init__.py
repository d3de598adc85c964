"""Read and judge a fleet's logs on a Spark cluster, with the same tables and findings as on one machine."""

from advisor.cluster.engine import Judged, judge, read, read_stages
from advisor.cluster.inputs import refuse
from advisor.cluster.judging import WHOLE, Shape
from advisor.cluster.saving import Table
from advisor.cluster.session import described, session

__all__ = ["WHOLE", "Judged", "Shape", "Table", "described", "judge", "read", "read_stages", "refuse", "session"]
