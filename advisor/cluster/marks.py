"""What a task notes of its range for the second look at the log, which needs all ranges."""

from __future__ import annotations

import msgspec

from advisor.sources.harvest import Buffer
from advisor.sources.runs import Runs
from advisor.sources.secondlook import AFTER_A_NAME, BEFORE_A_NAME, MENTIONS, NAMED, around, mention

_NEAR = around(0)[1] - around(0)[0]


class Marks(msgspec.Struct):
    """What is found in one range of a log: events (number of the run, [start, end)), and where lines name a run."""

    path: str
    size: int
    runs: list[str] = msgspec.field(default_factory=list)
    events: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    mentions: list[tuple[bytes, int, bool]] = msgspec.field(default_factory=list)


class Seen(Runs):
    """Keeps every event's place."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks
        self._numbers: dict[str, int] = {}

    def saw(self, run_id: str, start: int, end: int) -> None:
        """An event of a run stands at [start, end)."""
        number = self._numbers.setdefault(run_id, len(self._numbers))
        if number == len(self._marks.runs):
            self._marks.runs.append(run_id)
        self._marks.events.append((number, start, end))


class Mentions:
    """Finds where the lines of a range name a run: the first of each name, and all that tell of a turn.

    Where every line names one, turns between two that are near are left out: what is looked at is the same.
    """

    def __init__(self, marks: Marks, start: int, end: int) -> None:
        self._found = marks.mentions
        self._next = start
        self._end = end
        self._counted: dict[bytes, int] = {}
        self._turns = 0

    def look(self, buffer: Buffer, base: int, final: bool) -> int:
        """Search what has not been searched; the position in `buffer` from which on the next look needs it."""
        stop = self._end - base if final else min(self._end - base, len(buffer) - AFTER_A_NAME)
        position = buffer.find(NAMED, self._next - base, stop + len(NAMED) - 1)
        while position >= 0:
            self._note(buffer, base, position)
            position = buffer.find(NAMED, position + 1, stop + len(NAMED) - 1)
        self._next = max(self._next, base + stop)
        return max(0, stop - BEFORE_A_NAME)

    def _note(self, buffer: Buffer, base: int, position: int) -> None:
        name, turn = mention(buffer, position)
        self._counted[name] = count = self._counted.get(name, 0) + 1
        if count <= MENTIONS:
            self._found.append((name, base + position, turn))
            self._turns = 0
        elif turn:
            self._note_turn(name, base + position)

    def _note_turn(self, name: bytes, place: int) -> None:
        if self._turns >= 2 and place - self._found[-2][1] <= _NEAR:
            self._found.pop()
            self._turns -= 1
        self._found.append((name, place, True))
        self._turns += 1
