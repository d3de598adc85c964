"""Compare two windows: what changed, by how much, and whether the promise was kept."""

from advisor.comparison.changes import changes
from advisor.comparison.compare import Comparison, compare
from advisor.comparison.effect import Effect
from advisor.comparison.interleaved import Trial, interleaved, order
from advisor.comparison.levels import levels

__all__ = ["Comparison", "Effect", "Trial", "changes", "compare", "interleaved", "levels", "order"]
