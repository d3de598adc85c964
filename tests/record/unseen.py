"""Shapes and foreachBatch functions of queries that no promise was calibrated on; `workloads.py` runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, functions

Made = dict[str, Any]


def keyed(frame: DataFrame, keys: int) -> DataFrame:
    """Rows with one of so many keys."""
    return frame.withColumn("key", functions.pmod(functions.hash("value"), functions.lit(keys)))


def as_value(frame: DataFrame) -> DataFrame:
    """Rows as JSON in the column that Kafka takes."""
    return frame.select(functions.to_json(functions.struct("*")).alias("value"))


def sessions(frame: DataFrame, shape: Made) -> DataFrame:
    """The length of each user's session, which ends after a second of silence."""
    rows = keyed(frame, shape["keys"]).withWatermark("timestamp", "3 seconds")
    return as_value(rows.groupBy(functions.session_window("timestamp", "1 second"), "key").count())


def unmatched(frame: DataFrame, _: Made) -> DataFrame:
    """Orders with their payment, or without one when none has come in three seconds."""
    orders = frame.withWatermark("timestamp", "2 seconds").selectExpr("value AS paid_for", "timestamp AS ordered_at")
    payments = frame.withWatermark("timestamp", "2 seconds").where("value % 3 = 0")
    near = "paid_for = value AND timestamp BETWEEN ordered_at AND ordered_at + INTERVAL 3 SECONDS"
    return orders.join(payments, functions.expr(near), "leftOuter")


def state_in_pandas(frame: DataFrame, shape: Made) -> DataFrame:
    """The rows and the largest value of each key, kept by a Python function."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    def keep(key: Any, parts: Any, state: Any) -> Any:
        import pandas as pd

        seen, largest = state.get if state.exists else (0, 0)
        for part in parts:
            seen, largest = seen + len(part), max(largest, int(part["value"].max()))
        state.update((seen, largest))
        yield pd.DataFrame({"key": [int(key[0])], "seen": [seen], "largest": [largest]})

    rows = keyed(frame, shape["keys"]).select("key", "value").groupBy("key")
    kept = "seen bigint, largest bigint"
    return rows.applyInPandasWithState(keep, f"key bigint, {kept}", kept, "update", GroupStateTimeout.NoTimeout)


def last_values(frame: DataFrame, shape: Made) -> DataFrame:
    """The last five values of each key, in a list of transformWithState, row by row in Python."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class Last(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.values = handle.getListState("values", "value bigint")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803
            values = [*self.values.get(), *((row.value,) for row in rows)][-5:]
            self.values.put(values)
            yield Row(key=int(key[0]), oldest=values[0][0])

        def close(self) -> None:
            pass

    rows = keyed(frame, shape["keys"]).select("key", "value").groupBy("key")
    return rows.transformWithState(Last(), "key bigint, oldest bigint", "update", "none")


def once_within_watermark(frame: DataFrame, _: Made) -> DataFrame:
    """Each value once within a minute."""
    return frame.withWatermark("timestamp", "1 minute").dropDuplicatesWithinWatermark(["value"])


def skewed_shuffle(frame: DataFrame, shape: Made) -> DataFrame:
    """Rows put together by a key that nine of ten have, then hashed; `spread`: put anywhere.

    All rows come out: Spark would compute what a filter needs before the shuffle.
    """
    column = functions.col("value").cast("string")
    for _ in range(shape["rounds"]):
        column = functions.sha2(column, 512)
    together = functions.expr("IF(value % 10 < 9, 0, value % 50)")
    rows = frame.repartition(8) if shape.get("spread") else frame.repartition(8, together)
    return rows.select(column.alias("hash"))


def words_in_python(frame: DataFrame, shape: Made) -> DataFrame:
    """A regular expression over each row's text, in a Python function; `spark`: by Spark's own."""
    text = functions.expr("repeat(concat('order-', value, ' '), 12)")
    if shape.get("spark"):
        return frame.select(
            functions.size(functions.regexp_extract_all(text, functions.lit("([0-9]+)"))).alias("found")
        )

    def found(line: str) -> int:
        import re

        return len(re.findall(r"[0-9]+", line))

    return frame.select(functions.udf(found, "int")(text).alias("found"))


def wide_json(frame: DataFrame, shape: Made) -> DataFrame:
    """A JSON text of so many fields taken apart, and something made of each."""
    names = [f"f{number}" for number in range(shape["fields"])]
    fields = ", ".join(f"{name} bigint" for name in names)
    parsed = frame.select(functions.from_json(functions.expr("concat('{\"f1\":', value, '}')"), fields).alias("it"))
    return parsed.selectExpr(*(f"coalesce(it.{name}, 0) * {place} AS {name}" for place, name in enumerate(names)))


def beside_shuffled_table(frame: DataFrame, shape: Made) -> DataFrame:
    """Each row joined with a table that is shuffled and sorted for that, in every batch."""
    path = shape["path"]
    static = frame.sparkSession.range(shape["rows"]).selectExpr("id AS key", "sha2(string(id), 256) AS name")
    static.write.mode("overwrite").parquet(path)
    table = frame.sparkSession.read.parquet(path)
    if shape.get("cached"):
        print(table.cache().count())
    return frame.withColumn("key", functions.expr(f"value % {shape['rows']}")).join(table.hint("merge"), "key")


def counted_in_windows(frame: DataFrame, shape: Made) -> DataFrame:
    """A count by key and window of event time."""
    rows = keyed(frame, shape["keys"]).withWatermark("timestamp", shape["delay"])
    return as_value(rows.groupBy(functions.window("timestamp", shape["window"]), "key").count())


SHAPES: dict[str, Callable[[DataFrame, Made], DataFrame]] = {
    shape.__name__: shape
    for shape in (
        sessions, unmatched, state_in_pandas, last_values, once_within_watermark, skewed_shuffle, words_in_python,
        wide_json, beside_shuffled_table, counted_in_windows,
    )
}  # fmt: skip


def largest_and_two_tables(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: three actions, of which each reads the batch again."""

    def write(batch: DataFrame, number: int) -> None:
        print(number, batch.agg(functions.max("value")).collect())
        batch.write.mode("append").parquet(f"{table}/all")
        batch.where("value LIKE '%5'").write.mode("append").json(f"{table}/some")

    return write


def largest_and_two_tables_persisted(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the same, and the batch is persisted first."""
    several = largest_and_two_tables(table)

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            several(batch, number)
        finally:
            batch.unpersist()

    return write


def scored_by_batch_id(table: str) -> Callable[[DataFrame, int], None]:
    """foreachBatch: the batch's id is a number with which columns are computed."""

    def write(batch: DataFrame, number: int) -> None:
        made = [f"(value + {number}) * {column} % 1000 AS c{column}" for column in range(3, 33)]
        batch.selectExpr(*made).where("c3 > 1").write.format("noop").mode("append").save()

    return write


FOREACH_BATCH = {
    function.__name__: function
    for function in (largest_and_two_tables, largest_and_two_tables_persisted, scored_by_batch_id)
}
