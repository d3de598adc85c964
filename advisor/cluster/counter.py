"""Counts what tasks have read, on the driver."""

from __future__ import annotations

from pyspark.accumulators import AccumulatorParam

from advisor.cluster.rows import Done


class Sums(AccumulatorParam[Done]):
    """Adds files, bytes and events."""

    def zero(self, value: Done) -> Done:  # noqa: ARG002
        """Nothing yet."""
        return Done()

    def addInPlace(self, value1: Done, value2: Done) -> Done:  # noqa: N802
        """Both together."""
        return Done(value1.files + value2.files, value1.bytes + value2.bytes, value1.events + value2.events)
