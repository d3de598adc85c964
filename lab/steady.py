"""A source that releases rows steadily, at a constant rate, and costs the engine next to nothing.

Spark's own `rate` source releases whole seconds, so that its records wait about 500 ms for their release. A row of this
source is a span of due records, `first` to `last`; the query unfolds it (`records`). It is read in the driver's source
process together with the offsets: a Python worker for each task would cost more than the rest of the batch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from lab.load import MICROS, due

NAME: Final = "advisor-steady"
Span = tuple[int, int, int]


class SteadyReader(SimpleDataSourceStreamReader):
    """Spans of the records that are due; a record's number is its offset."""

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second

    def initialOffset(self) -> dict[str, int]:  # noqa: D102, N802
        return {"record": 0, "start_us": time.time_ns() // 1000}

    def read(self, start: dict[str, int]) -> tuple[Iterator[Span], dict[str, int]]:  # noqa: D102
        by_now = due(time.time_ns() // 1000 - start["start_us"], self.per_second)
        if by_now <= start["record"]:
            return iter([]), start
        end = {**start, "record": by_now}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[Span]:  # noqa: D102, N802
        return iter([(start["start_us"], start["record"], end["record"] - 1)])


class Steady(DataSource):
    """`spark.dataSource.register(Steady)`, then format `advisor-steady` with the option `rowsPerSecond`."""

    @classmethod
    def name(cls) -> str:  # noqa: D102
        return NAME

    def schema(self) -> str:  # noqa: D102
        return "start_us bigint, first bigint, last bigint"

    def simpleStreamReader(self, schema: Any) -> SteadyReader:  # noqa: ARG002, D102, N802
        return SteadyReader(int(self.options["rowsPerSecond"]))


def records(spark: Any, per_second: int) -> Any:
    """A stream of so many records a second: `record`, and `created_us`, when it was due, in microseconds since 1970."""
    spark.dataSource.register(Steady)
    spans = spark.readStream.format(NAME).option("rowsPerSecond", per_second).load()
    created = f"start_us + record * {MICROS} div {per_second} AS created_us"
    return spans.selectExpr("start_us", "explode(sequence(first, last)) AS record").selectExpr("record", created)
