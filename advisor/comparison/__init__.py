"""Compare two windows: what changed, by how much, and whether the promise was kept."""

from advisor.comparison.compare import compare
from advisor.comparison.interleaved import Trial, interleaved, order
from advisor.comparison.levels import levels
