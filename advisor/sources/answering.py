"""Wait for an answer no longer than is sensible, whatever the call that gives it does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from math import inf
from typing import TypeVar

_T = TypeVar("_T")
ASKS = "latency-advisor-asks"
"""Name of the threads that wait."""


def within(
    ask: Callable[[], _T], seconds: float, late: Exception, quiet: float = inf, tell: Callable[[], None] = lambda: None
) -> _T:
    """Return what `ask` gives; raise `late` after so many seconds: it goes on then, on a thread that holds up nobody.

    `tell` is called where there is no answer after `quiet` seconds.
    """
    answer: Future[_T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # it belongs to who asks
            answer.set_exception(error)

    threading.Thread(target=run, name=ASKS, daemon=True).start()
    if not wait([answer], min(quiet, seconds)).done and quiet < seconds:
        tell()
        wait([answer], seconds - quiet)
    if not answer.done():
        raise late
    return answer.result()
