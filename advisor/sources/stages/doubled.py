"""Lines that a log holds twice: two appenders wrote it."""

from __future__ import annotations

import numpy as np

from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.kinds import Kind


class Doubled:
    """Whether a log holds each line twice, as far as it was read."""

    def __init__(self) -> None:
        self._before = b""
        self._seen = False

    def drop(self, lines: Lines, kinds: np.ndarray) -> None:
        """What repeats the line before it tells nothing; so it is in all of a log, if it is where a job begins."""
        begin = 0 if self._seen else self._first(lines, np.flatnonzero(kinds == Kind.GOT))
        if begin is not None:
            self._seen = True
            for at in range(begin, len(lines.starts)):
                if lines.line(at) == self._previous(lines, at):
                    kinds[at] = Kind.NOTHING
        if len(lines.starts):
            self._before = lines.line(len(lines.starts) - 1)

    def _first(self, lines: Lines, begins: np.ndarray) -> int | None:
        """The first line, where a job begins, that repeats the one before it."""
        again = begins[np.diff(begins, prepend=-1) == 1]
        return next((at for at in again.tolist() if lines.line(at) == self._previous(lines, at)), None)

    def _previous(self, lines: Lines, at: int) -> bytes:
        return lines.line(at - 1) if at else self._before
