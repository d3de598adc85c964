"""Wait for an answer no longer than is sensible, whatever the call that gives it does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, Queue
from typing import Any, TypeVar, cast

_T = TypeVar("_T")


def within(ask: Callable[[], _T], seconds: float, late: TimeoutError) -> _T:
    """What `ask` gives; raises `late` after so many seconds: it goes on then, on a thread that holds up nobody."""
    answers: Queue[tuple[bool, Any]] = Queue()

    def run() -> None:
        try:
            answers.put((True, ask()))
        except BaseException as error:  # it belongs to who asks
            answers.put((False, error))

    threading.Thread(target=run, name="latency-advisor-asks", daemon=True).start()
    try:
        given, found = answers.get(timeout=seconds)
    except Empty:
        raise late from None
    if not given:
        raise found
    return cast(_T, found)
