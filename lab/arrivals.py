"""What became visible in a topic, and when."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lab.load import Load, created_us
from lab.sketch import Latencies

_AT_ONCE: Final = 20_000
_ASK_SECONDS: Final = 60.0
"""For records that are known to be there: a busy broker is slow."""


def latencies(address: str, topic: str, first_us: int, last_us: int) -> Latencies:
    """From creation to visible in `topic`, of the records created in that time (microseconds since 1970).

    Visible is the broker's own time of arrival (LogAppendTime, whole milliseconds): both clocks are one machine's.
    """
    found = Latencies()
    for messages in _messages(address, topic):
        created = created_us([message.value() for message in messages])
        visible_ms = np.array([message.timestamp()[1] for message in messages], dtype=np.float64)
        kept = (created >= first_us) & (created < last_us)
        found.add(visible_ms[kept] - created[kept] / 1000)
    return found


def _messages(address: str, topic: str) -> Any:
    """Everything that the topic holds at this moment, many at a time."""
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415 - of the group lab

    settings = {"bootstrap.servers": address, "group.id": f"{topic}-reader", "enable.auto.commit": False}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest", "log_level": 0, "error_cb": lambda _: None})
    try:
        partitions = consumer.list_topics(topic, _ASK_SECONDS).topics[topic].partitions
        ends = {number: consumer.get_watermark_offsets(TopicPartition(topic, number)) for number in partitions}
        left = sum(high - low for low, high in ends.values())
        consumer.assign([TopicPartition(topic, number, low) for number, (low, _) in ends.items()])
        while left > 0:
            messages = [one for one in consumer.consume(min(left, _AT_ONCE), _ASK_SECONDS) if one.error() is None]
            if not messages:
                return
            left -= len(messages)
            yield messages
    finally:
        consumer.close()


def report(load: Load, address: str, topic: str, first_us: int, last_us: int) -> dict[str, float]:
    """Latency quantiles in ms of the records that were due in that time, how many, and how good the load was.

    `missing_share`: the part of the records due that never became visible; where it is not 0 the quantiles are too low.
    """
    load.stop()
    found, due = latencies(address, topic, first_us, last_us), load.due(first_us, last_us)
    return {
        **found.quantiles(),
        "rank_error": found.rank_error,
        "records": float(len(found)),
        "missing_share": max(0.0, 1 - len(found) / due) if due else 0.0,
        "achieved_per_second": load.achieved_per_second,
        "late_ms": load.late_ms,
    }
