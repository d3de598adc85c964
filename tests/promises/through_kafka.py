"""Queries from topic to topic, each made for one run of a trial; Kafka's clock tells the latency of their records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from advisor.trials.setup import Setup
from lab.broker import topics
from lab.load import Load
from lab.offsets.queries import Kafka, Measured


class KafkaOnce(Kafka):
    """Topic to topic, each value once: no two are alike, so each gets through and stays in the state."""

    def rows(self, setup: Setup) -> Any:
        """What comes, once."""
        return super().rows(setup).dropDuplicates(["value"])


class KafkaToDelta(Kafka):
    """Records of a topic to a Delta table by its sink; nobody's clock tells when they are there."""

    def build(self, setup: Setup) -> Any:
        """The writer."""
        return self.rows(setup).writeStream.format("delta").option("path", setup.path("table"))

    @contextmanager
    def latency(self, setup: Setup) -> Iterator[Measured]:
        """The load alone."""
        incoming = setup.topic("in")
        with topics(self.address, incoming), Load(self.address, incoming, self.per_second):
            yield lambda *_: {}


class KafkaCapped(Kafka):
    """Topic to topic, at most so many records a batch."""

    def __init__(self, per_second: int, address: str, per_batch: int) -> None:
        super().__init__(per_second, address)
        self.reads = {"maxOffsetsPerTrigger": str(per_batch)}


class KafkaCounted(Kafka):
    """A count by value, in update mode: no two are alike, so each gets through at once and stays in the state."""

    def rows(self, setup: Setup) -> Any:
        """Values with their counts."""
        return super().rows(setup).groupBy("value").count()

    def build(self, setup: Setup) -> Any:
        """The writer."""
        return super().build(setup).outputMode("update")


class KafkaWithinWatermark(Kafka):
    """Topic to topic, each value once within the watermark."""

    def rows(self, setup: Setup) -> Any:
        """What comes, once."""
        seen = super().rows(setup).select("value", "timestamp").withWatermark("timestamp", "5 seconds")
        return seen.dropDuplicatesWithinWatermark(["value"])


class KafkaJoined(Kafka):
    """Topic joined with itself by value within event time: matched rows come out in their batch."""

    how = "inner"

    def rows(self, setup: Setup) -> Any:
        """What finds itself."""
        from pyspark.sql import functions as f

        one, other = (
            super(KafkaJoined, self).rows(setup).selectExpr(f"value AS {side}", f"timestamp AS {side}_at")
            .withWatermark(f"{side}_at", "3 seconds")
            for side in ("one", "other")
        )  # fmt: skip
        near = "one = other AND other_at BETWEEN one_at AND one_at + INTERVAL 3 SECONDS"
        return one.join(other, f.expr(near), self.how).selectExpr("one AS value")


class KafkaOuter(KafkaJoined):
    """The same, where a row without a match comes out, too, once the watermark has passed."""

    how = "leftOuter"


class KafkaInPython(Kafka):
    """Topic to topic, each value through a Python function."""

    def rows(self, setup: Setup) -> Any:
        """What Python gives back."""
        from pyspark.sql import functions as f

        return super().rows(setup).select(f.udf(bytes, "binary")("value").alias("value"))


class KafkaInPandas(Kafka):
    """Topic to topic, many values at once through a Python function."""

    def rows(self, setup: Setup) -> Any:
        """What Python gives back."""
        return super().rows(setup).select("value").mapInPandas(lambda frames: frames, "value binary")


class KafkaInForeachBatch(Kafka):
    """Topic to topic by a batch write in foreachBatch, after a count of the rows."""

    def build(self, setup: Setup) -> Any:
        """The writer."""

        def write(batch: Any, _: int) -> None:
            batch.count()
            batch.write.format("kafka").options(**self._reached, topic=setup.topic("out")).save()

        return self.rows(setup).select("value").writeStream.foreachBatch(write)


class KafkaParsed(Kafka):
    """Topic to topic, each value read as JSON of sixty fields and written as JSON again."""

    def rows(self, setup: Setup) -> Any:
        """What was parsed."""
        from pyspark.sql import functions as f

        fields = ", ".join(f"'f{number}', value" for number in range(60))
        schema = ", ".join(f"f{number} STRING" for number in range(60))
        text = f.expr(f"to_json(map({fields}))")
        return (
            super().rows(setup).select(f.from_json(text, schema).alias("one")).select(f.to_json("one").alias("value"))
        )


class KafkaWithTable(Kafka):
    """Topic to topic, each record joined with a small table."""

    def rows(self, setup: Setup) -> Any:
        """What the table holds too."""
        from pyspark.sql import functions as f

        table = setup.spark.range(64).selectExpr("id AS key_of_table")
        return super().rows(setup).join(f.broadcast(table), f.expr("pmod(hash(value), 64) = key_of_table"))


class KafkaShuffled(Kafka):
    """Topic to topic through a shuffle: records of one key in one task."""

    def rows(self, setup: Setup) -> Any:
        """What comes, by its hash."""
        from pyspark.sql import functions as f

        return super().rows(setup).repartition(4, f.hash("value"))


class KafkaExploded(Kafka):
    """Topic to topic, each record ten times, of which one is kept."""

    def rows(self, setup: Setup) -> Any:
        """What is kept."""
        return super().rows(setup).selectExpr("value", "explode(sequence(1, 10)) AS copy").where("copy = 7")
