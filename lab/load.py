"""Load at a constant rate into a topic: the schedule goes on whether or not the system keeps up."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

TICK_SECONDS: Final = 0.002
PADDING: Final = b"." * 12
"""After the 8 bytes of the creation time: records of 20 bytes."""
MICROS: Final = 1_000_000


class Load:
    """`per_second` records of 20 bytes, open loop: a record's creation time is the time at which it was due.

    A context manager that starts and stops it. A producer that is slow or full makes a record late, never its creation
    time; so what the record waited counts as latency.
    """

    def __init__(
        self, address: str, topic: str, per_second: int, *, queue: int = 1_000_000, flush_seconds: float = 30.0
    ) -> None:
        from confluent_kafka import Producer  # noqa: PLC0415 - of the group lab

        self.topic, self.per_second, self.flush_seconds = topic, per_second, flush_seconds
        self.sent, self.start_us, self.end_us = 0, 0, 0
        self.late_ms = 0.0
        """The longest time that a record was handed to the producer after it was due."""
        self.full = threading.Event()
        """Set once the producer took no more."""
        settings = {"bootstrap.servers": address, "linger.ms": 1, "queue.buffering.max.messages": queue}
        self._producer: Any = Producer(settings | {"log_level": 0, "error_cb": lambda _: None})
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)

    def __enter__(self) -> Load:
        self.start_us = time.time_ns() // 1000
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the schedule and hand over what is still in the producer; a second call does nothing."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()
            self.sent -= self._producer.flush(self.flush_seconds)

    @property
    def achieved_per_second(self) -> float:
        """Records that the broker has, per second of the schedule; known after `stop`."""
        return self.sent * MICROS / max(1, self.end_us - self.start_us)

    def due(self, first_us: int, last_us: int) -> int:
        """How many records were due from one moment to another, both in microseconds since 1970."""
        return self._due(min(last_us, self.end_us)) - self._due(max(first_us, self.start_us))

    def _due(self, at_us: int) -> int:
        return due(at_us - self.start_us, self.per_second)

    def _run(self) -> None:
        while not self._over.is_set():
            self._send_until(self._due(time.time_ns() // 1000))
            self._producer.poll(0)
            self._over.wait(TICK_SECONDS)
        self.end_us = time.time_ns() // 1000

    def _send_until(self, due: int) -> None:
        if due > self.sent:
            self.late_ms = max(self.late_ms, (time.time_ns() // 1000 - self._created(self.sent)) / 1000)
        while self.sent < due and not self._over.is_set():
            try:
                self._producer.produce(self.topic, value=self._created(self.sent).to_bytes(8, "big") + PADDING)
                self.sent += 1
            except BufferError:  # the producer is full: the schedule goes on, these records become late
                self.full.set()
                self._producer.poll(TICK_SECONDS)

    def _created(self, number: int) -> int:
        return self.start_us + number * MICROS // self.per_second


def due(us: int, per_second: int) -> int:
    """Records that a schedule of so many microseconds holds: the first is due at its start."""
    return -(-us * per_second // MICROS)


def created_us(values: list[bytes]) -> npt.NDArray[np.int64]:
    """Creation times in microseconds since 1970, of the values of records."""
    whole = np.frombuffer(b"".join(value[:8] for value in values), dtype=">i8")
    return whole.astype(np.int64)
