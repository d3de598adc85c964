"""Read and judge a fleet's logs on a Spark cluster, with the same tables and findings as on one machine."""

from advisor.cluster.engine import judge, read
from advisor.cluster.inputs import refuse
from advisor.cluster.judging import WHOLE, Shape
from advisor.cluster.saving import Table
from advisor.cluster.session import described, session
from advisor.cluster.tablefolder import refuse_place
