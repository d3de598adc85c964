"""What the order of lines tells of a stage's wait for slots, where the log's clock knows only seconds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

_OFTEN = 0.5
"""Spark may log a task's start before the end that made room for it: then one task too many seems to run."""


@dataclass(slots=True)
class Rounds:
    """Ends of other jobs' tasks while a stage had tasks to start."""

    full: dict[int, int] = field(default_factory=dict)
    """Of each of these jobs the most tasks that ran when one of its own ended."""
    _started: int = 0
    behind: int = -1
    """Where the line of the last start ends."""

    def starts(self, behind: int) -> None:
        """A task starts, as a line says that ends at this place."""
        self._started += 1
        self.behind = behind

    def ends(self, job: int, place: int, tasks: int, running: int) -> None:
        """A task of another job ended, as the line at this place says; so many ran. The stage has so many tasks.

        The end that made room for a start may stand right behind it.
        """
        late = place == self.behind
        if self._started < tasks or late:
            self.full[job] = max(self.full.get(job, 0), running - late)


def most_at_once(running: Counter[int]) -> int:
    """Task slots at least, from how many tasks seemed to run when one started: so many did, how often."""
    most = max(running, default=0)
    at_least = [sum(times for count, times in running.items() if count >= least) for least in range(1, most + 1)]
    for found in range(1, most):
        if at_least[found] < _OFTEN * at_least[found - 1]:
            return found
    return most
