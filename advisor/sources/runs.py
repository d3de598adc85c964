"""Which stretches of a log are worth a second look, for what they reveal besides progress."""

from __future__ import annotations

from collections.abc import Iterable

BEFORE_A_RUN = 4 << 20
A_BATCH = 1 << 20
"""Before the second event of a run: all lines of one batch, whose largest stage shows the task slots."""
BEFORE_AN_EVENT = 8 << 10
HEAD_OF_AN_EVENT = 640
"""Its ids and rates, which tell whose line stands before it, and of which version it is."""
AFTER_AN_EVENT = 4 << 10
FIRST_EVENTS = 10
EVERY = 100
_REACH = {0: BEFORE_A_RUN, 1: A_BATCH}


class Runs:
    """Marks the stretches around some events of each run; one per log, since a run goes on in the log's next file.

    Positions are bytes of the file that is being read.
    """

    def __init__(self) -> None:
        self.last_end = 0
        self._stretches: list[tuple[int, int]] = []
        self._seen: dict[str, int] = {}

    def saw(self, run_id: str, start: int, end: int) -> None:
        """An event of a run stands at [start, end)."""
        seen = self._seen.get(run_id, 0)
        self._seen[run_id] = seen + 1
        if seen < FIRST_EVENTS or seen % EVERY == 0:
            reach = _REACH.get(seen, BEFORE_AN_EVENT)
            self._stretches.append((max(self.last_end, start - reach), min(end, start + HEAD_OF_AN_EVENT)))
            self._stretches.append((end, end + AFTER_AN_EVENT))
        self.last_end = end

    def take(self) -> list[tuple[int, int]]:
        """The stretches so far; they are forgotten here."""
        taken, self._stretches = self._stretches, []
        return taken

    def next_file(self) -> None:
        """Positions begin at 0 again."""
        self.last_end = 0
        self._stretches = []


def merged(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that touch as one."""
    together: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if together and start <= together[-1][1]:
            together[-1] = (together[-1][0], max(end, together[-1][1]))
        elif end > start:
            together.append((start, end))
    return together
