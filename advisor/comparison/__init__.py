"""Compare two windows: what changed, by how much, and whether the promise was kept."""

from advisor.comparison.compare import changes, compare
from advisor.comparison.interleaved import Trial, interleaved, order
from advisor.comparison.levels import levels

__all__ = ["Trial", "changes", "compare", "interleaved", "levels", "order"]
