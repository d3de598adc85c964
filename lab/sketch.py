"""Latencies in a DataSketches KLL sketch: quantiles with the sketch's own error."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lab import require

SIZE: Final = 8000
"""k of the sketch: a rank error of 0.07 %, small beside the 0.1 % beyond p99.9."""
QUANTILES: Final = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


class Latencies:
    """Milliseconds of many records, in constant memory."""

    def __init__(self) -> None:
        require("datasketches")
        from datasketches import kll_doubles_sketch  # noqa: PLC0415 - of the group lab

        self._sketch: Any = kll_doubles_sketch(SIZE)

    def add(self, ms: npt.NDArray[np.float64]) -> None:
        """Take in latencies."""
        if len(ms):
            self._sketch.update(np.ascontiguousarray(ms, dtype=np.float64))

    def __len__(self) -> int:
        return int(self._sketch.n)

    @property
    def rank_error(self) -> float:
        """By how much the rank of a quantile may be wrong, with 99 % confidence: 0.001 is a tenth of a percent."""
        return float(self._sketch.normalized_rank_error(False))

    def quantiles(self) -> dict[str, float]:
        """p50, p99, p99.9 in ms, each with `_low` and `_high`: the same quantile if the rank is off by the error."""
        if not len(self):
            return {}
        found: dict[str, float] = {}
        for name, rank in QUANTILES.items():
            for end, off in (("", 0.0), ("_low", -self.rank_error), ("_high", self.rank_error)):
                found[name + end] = float(self._sketch.get_quantile(min(1.0, rank + off)))
        return found
