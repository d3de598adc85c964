"""Compare two windows: what changed, by how much, and whether the promise was kept."""

from advisor.comparison.bootstrap import Level
from advisor.comparison.changes import changes
from advisor.comparison.compare import Comparison, compare
from advisor.comparison.effect import Effect
from advisor.comparison.interleaved import Trial, interleaved, order
from advisor.comparison.levels import levels
from advisor.comparison.load import Load
from advisor.comparison.promises import Kept

__all__ = [
    "Comparison",
    "Effect",
    "Kept",
    "Level",
    "Load",
    "Trial",
    "changes",
    "compare",
    "interleaved",
    "levels",
    "order",
]
