"""The report of a session in one cell, drawn anew while a query runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from advisor.views.shown import Report

REST_SECONDS: Final = 2.0
"""Between two drawings at least so long, unless a run ends."""
LOOK_SECONDS: Final = 10.0
"""After so long without news, ask whether a query still runs: a session that is gone sends nothing."""


class News:
    """Wakes whoever waits for a batch or for the end of a run."""

    def __init__(self) -> None:
        self._any, self._end = threading.Event(), threading.Event()

    def tell(self, *, ended: bool) -> None:
        """A batch was kept, or a run ended; from any thread."""
        if ended:
            self._end.set()
        self._any.set()

    def take(self) -> None:
        """Handle every event so far."""
        self._any.clear()
        self._end.clear()

    def wait(self) -> bool:
        """Whether there is something new; False after LOOK_SECONDS without it."""
        if not self._any.wait(LOOK_SECONDS):
            return False
        self._end.wait(REST_SECONDS)
        return True


def reports(report: Callable[[], Report], runs: Callable[[], bool], news: News) -> Iterator[Report]:
    """Yield the report until nothing runs any more, again whenever there is news."""
    more = True
    while more:
        news.take()
        more = runs()  # asked before the report, which then holds everything until the end
        yield report()
        while more and not news.wait():
            more = runs()  # it may have ended without a word
            if not more:
                return


def show(reports: Iterator[Report]) -> None:
    """Show each report in place of the one before, in a notebook; elsewhere print the last. An interrupt ends it."""
    cell = _output_of_a_cell()
    last = None
    with suppress(KeyboardInterrupt):
        for number, last in enumerate(reports):
            if cell:
                (cell.update if number else cell.display)(last)
    if not cell:
        print(last)


def _output_of_a_cell() -> Any:
    """Return IPython's handle of what a notebook's cell shows; None where there is no notebook."""
    try:
        from IPython import get_ipython  # noqa: PLC0415
        from IPython.display import DisplayHandle  # noqa: PLC0415
    except ImportError:
        return None
    return DisplayHandle() if getattr(get_ipython(), "kernel", None) else None  # type: ignore[no-untyped-call]
