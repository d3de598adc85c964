"""Feeders: threads that put records into a Kafka topic or files into a directory while a query runs."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

TICK_SECONDS = 0.05


class KafkaFeed(threading.Thread):
    """Records of 20 bytes at `rows_per_second`; `levels` changes that rate at random, a new one every second.

    `to`: the partitions in turn, one for each record; without it Kafka's client scatters them.
    """

    def __init__(
        self, bootstrap: str, rows_per_second: int = 1000, levels: tuple[int, ...] = (), to: tuple[int, ...] = (-1,)
    ) -> None:
        super().__init__(daemon=True)
        self.producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self.levels, self.rows_per_second = levels or (rows_per_second,), rows_per_second
        self.to, self.sent = to, 0
        self.dice, self.over = random.Random(7), threading.Event()

    def run(self) -> None:
        """Produce until `stop`."""
        tick, due = 0, time.monotonic()
        while not self.over.is_set():
            if tick % int(1 / TICK_SECONDS) == 0:
                self.rows_per_second = self.dice.choice(self.levels)
            for row in range(int(self.rows_per_second * TICK_SECONDS)):
                value = f"{tick:010d}{row:010d}".encode()
                self.producer.produce("incoming", value=value, partition=self.to[self.sent % len(self.to)])
                self.sent += 1
            self.producer.poll(0)
            tick, due = tick + 1, due + TICK_SECONDS
            time.sleep(max(0.0, due - time.monotonic()))

    def stop(self) -> None:
        """End the thread."""
        self.over.set()
        self.join(10)
        self.producer.flush(5)


class FileFeed(threading.Thread):
    """`files` text files of `rows` lines, one every `every_seconds`; then silence."""

    def __init__(self, work: Path, files: int, rows: int, every_seconds: float) -> None:
        super().__init__(daemon=True)
        self.incoming, self.files, self.every_seconds = work / "incoming", files, every_seconds
        self.text = "".join(f"{row:020d}\n" for row in range(rows))
        self.incoming.mkdir(exist_ok=True)
        self.over = threading.Event()

    def run(self) -> None:
        """Write the files, each under a hidden name first."""
        for number in range(self.files):
            hidden = self.incoming / f".file-{number:03d}.txt"
            hidden.write_text(self.text)
            hidden.rename(self.incoming / f"file-{number:03d}.txt")
            if self.over.wait(self.every_seconds):
                return

    def stop(self) -> None:
        """End the thread."""
        self.over.set()
        self.join(10)


def start(feed: dict[str, Any], bootstrap: str | None, work: Path) -> KafkaFeed | FileFeed | None:
    """The running feeder that a source asks for, or None."""
    if not feed:
        return None
    settings = {key: value for key, value in feed.items() if key not in ("kind", "partitions")}
    thread = FileFeed(work, **settings) if feed["kind"] == "files" else KafkaFeed(str(bootstrap), **settings)
    thread.start()
    return thread


def make_topics(bootstrap: str, partitions: int = 2) -> None:
    """The topics `incoming` and `outgoing`."""
    topics = [NewTopic(name, partitions, 1) for name in ("incoming", "outgoing")]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics(topics).values():
        made.result(30)
