"""One thread behind a bounded queue: takes work from callbacks, and is gone when there is none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Any, Final

TICK_SECONDS: Final = 1.0
"""How long it waits for work before it looks whether anyone still needs it."""


class Worker:
    """Does `handle(item)` for each item in order. `needed`: whether more is to come; the thread ends if not.

    It starts by itself with the next item. Nothing that `handle` or `tick` raises gets out: `failed` hears it.
    """

    def __init__(
        self,
        handle: Callable[[Any], None],
        needed: Callable[[], bool],
        failed: Callable[[BaseException], None],
        *,
        tick: Callable[[], None] = lambda: None,
        capacity: int = 10_000,
    ) -> None:
        self._handle, self._needed, self._failed, self._tick = handle, needed, failed, tick
        self._queue: Queue[Any] = Queue(capacity)
        self._lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self._last: threading.Thread | None = None  # one that is about to end is no longer `thread`
        self.capacity = capacity
        self.dropped = 0
        self.cpu_seconds = 0.0

    def waiting(self) -> int:
        """How many items wait."""
        return self._queue.qsize()

    def offer(self, item: Any) -> bool:
        """Leave an item; never waits, never raises. False: the queue was full, and the item is dropped and counted."""
        try:
            self._queue.put_nowait(item)
        except Full:
            self.dropped += 1
            return False
        with suppress(RuntimeError):  # no thread can begin now: the item waits for the next one
            self._wake()
        return True

    def flush(self, timeout: float) -> bool:
        """Wait until everything offered so far is done; False when the time is over first."""
        if threading.current_thread() is self.thread:
            return True
        done = threading.Event()
        try:
            self._queue.put(done, timeout=timeout)
        except Full:
            return False
        try:
            self._wake()
        except RuntimeError:
            return False
        return done.wait(timeout)

    def join(self, timeout: float) -> None:
        """Wait for the thread to end, which it does when nobody needs it."""
        thread = self._last
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _wake(self) -> None:
        with self._lock:
            if self.thread is None or not self.thread.is_alive():
                thread = threading.Thread(target=self._run, name="latency-advisor", daemon=True)
                thread.start()
                self.thread = self._last = thread

    def _run(self) -> None:
        while not self._over():
            item = None
            with suppress(Empty):
                item = self._queue.get(timeout=TICK_SECONDS)
            self._do(item)

    def _over(self) -> bool:
        with self._lock:
            if not self._queue.empty() or self._is_needed():
                return False
            self.thread = None
            return True

    def _is_needed(self) -> bool:
        try:
            return self._needed()
        except BaseException as error:  # a session that does not answer is gone
            self._told(error)
            return False

    def _do(self, item: Any) -> None:
        if isinstance(item, threading.Event):
            item.set()
            return
        if item is None:
            self._guarded(self._tick)
            return
        cpu = time.thread_time()
        self._guarded(lambda: self._handle(item))
        self.cpu_seconds += time.thread_time() - cpu

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # SystemExit, too: it must end neither this thread nor the query
            self._told(error)

    def _told(self, error: BaseException) -> None:
        with suppress(BaseException):  # what hears it runs the caller's code, too: a handler of `logging`
            self._failed(error)
