"""Jobs of a driver's log that have begun and not ended."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.sources.stages.begun import Begun


class OpenJobs:
    """Jobs by their number, and in the order of their final stages: there may be thousands of which no end is told."""

    def __init__(self) -> None:
        self._jobs: dict[int, Begun] = {}
        self._finals: list[tuple[int, int, Begun]] = []
        """(final stage, how many jobs began before, job) of those whose final stage is known, in order."""
        self._over: set[int] = set()
        """Jobs whose final stage is over."""

    @property
    def idle(self) -> bool:
        """Whether none of them runs."""
        return len(self._over) == len(self._jobs)

    def begins(self, begun: Begun) -> None:
        """A job begins; those whose final stage is over are forgotten.

        Spark logs the end of a job only where a thread waits for it; adaptive execution runs each shuffle, and what it
        puts into a cache, as a job for which none does.
        """
        for number in (*self._over, begun.job.job):
            self.ends(number)
        self._jobs[begun.job.job] = begun

    def final(self, begun: Begun, stage: int) -> None:
        """The final stage of a job is told."""
        if self._has(begun):
            self._leave(begun)
            insort(self._finals, (stage, begun.number, begun))
        begun.final = stage

    def of(self, stage: int) -> Begun | None:
        """The job that a stage is of: stages of one are numbered up to its final one."""
        at = bisect_left(self._finals, (stage,))
        return self._finals[at][-1] if at < len(self._finals) else None

    def over(self, begun: Begun) -> None:
        """The final stage of a job is over."""
        if self._has(begun):
            self._over.add(begun.job.job)

    def ends(self, number: int) -> Begun | None:
        """The job, which ends; None where it was not open."""
        begun = self._jobs.pop(number, None)
        if begun:
            self._over.discard(number)
            self._leave(begun)
        return begun

    def _has(self, begun: Begun) -> bool:
        return self._jobs.get(begun.job.job) is begun

    def _leave(self, begun: Begun) -> None:
        if begun.final >= 0:
            del self._finals[bisect_left(self._finals, (begun.final, begun.number))]
