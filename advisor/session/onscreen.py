"""The report of a session in one cell, drawn anew while a query runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

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


class Screen(Protocol):
    """What can show one thing, and another in its place."""

    def show(self, what: Report) -> None:
        """Show it in place of what was shown before."""

    def close(self) -> None:
        """Nothing more is shown."""


class Cell:
    """An output of a notebook's cell, by IPython's display handle."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, what: Report) -> None:
        """Show it in place of what was shown before."""
        from IPython.display import display  # noqa: PLC0415 - only where a notebook runs

        if self._handle is None:
            self._handle = display(what, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(what)

    def close(self) -> None:
        """What stands in the cell stays."""


class Printed:
    """Where there is no notebook: the last report as text."""

    def __init__(self) -> None:
        self._last: Report | None = None

    def show(self, what: Report) -> None:
        """Keep it until the end."""
        self._last = what

    def close(self) -> None:
        """Print the last one."""
        print(self._last)


def screen() -> Screen:
    """A cell's output in a notebook, standard output elsewhere."""
    return Cell() if _in_notebook() else Printed()


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython  # noqa: PLC0415
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def follow(report: Callable[[], Report], runs: Callable[[], bool], news: News, on: Screen) -> None:
    """Show the report until nothing runs any more, again whenever there is news; an interrupt ends it, too."""
    try:
        while True:
            news.take()
            more = runs()  # asked before the report, which then holds everything until the end
            on.show(report())
            if not more or not _news(news, runs):
                break
    except KeyboardInterrupt:
        pass
    on.close()


def _news(news: News, runs: Callable[[], bool]) -> bool:
    """Wait for news; False where everything ended without a word."""
    while not news.wait():
        if not runs():
            return False
    return True
