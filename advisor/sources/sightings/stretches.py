"""Pick the stretches of a file that are read for sightings, and read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from advisor.facts import APPLICATION_STARTS, Sighting
from advisor.sources.envelopes import unwrapped
from advisor.sources.formats import Tells
from advisor.sources.harvest import BEFORE_A_RUN, Buffer, Runs, Stretch, merged, places
from advisor.sources.sightings.events import sight_event_log
from advisor.sources.sightings.region import sight

AFTER_THE_LAST = 1 << 20
_AT_THE_START = 64 << 10
"""Bytes at the beginning of a file in which an application names itself, however far its first batch stands."""
_AROUND_A_NAME = 8 << 10
NAMED = b", runId = "
"""In `[id = …, runId = …]` what is found fastest: a search skips by the length of what it searches for."""
BEFORE_A_NAME, AFTER_A_NAME = 142, 358
"""Bytes around the place of NAMED that hold the query's id and, if any, the words that tell of a turn."""
MENTIONS = 50
_PLANS = 3
TURNS = re.compile(rb"Starting |erminat|rror|Exception|Stream")


class Memory:
    """What is remembered from file to file of one log."""

    def __init__(self) -> None:
        self.runs = Runs()
        self.plans: Counter[bytes] = Counter()
        self.mentions: Counter[bytes] = Counter()
        self.last: dict[tuple[str | None, ...], str] = {}
        """The last value of each fact, so that a log of many batches gives few rows."""

    def fresh(self, sightings: Iterable[Sighting]) -> Iterator[Sighting]:
        """Yield those that say something else than the sighting before of the same fact, run, log and origin.

        Where an application starts, all is said again.
        """
        for each in sightings:
            if each.fact == APPLICATION_STARTS:
                self.last.clear()
            key = (each.log, each.id, each.run_id, each.fact, each.origin)
            if self.last.get(key) != each.value:
                self.last[key] = each.value
                yield each

    def is_worth_a_look(self, name: bytes, turn: bool) -> bool:
        """Return whether the mention of a run is one of the first, or marks a change."""
        self.mentions[name] += 1
        return turn or self.mentions[name] <= MENTIONS


class SecondLook:
    """Sightings of one file."""

    def __init__(self, file: str, log: str, memory: Memory) -> None:
        self.sightings: list[Sighting] = []
        self._file = file
        self._log = log
        self._memory = memory
        self._named: list[tuple[int, int]] = []
        self._looked_at = 0
        memory.runs.next_file()

    def at(self, window: Stretch, resume: int, tells: Tells | None) -> None:
        """Look at what was read of a window; in a plain file only note it, and look when the file ends."""
        if tells:
            self._memory.runs.take()
            for start, line, run in tells(window.buffer, window.begin, resume):
                self._memory.plans[run] += 1
                if not run or self._memory.plans[run] <= _PLANS:  # plans are long and repeat
                    self._keep(sight_event_log(line, log=self._log, file=self._file, base=window.base + start))
        elif window.whole is None:
            self.at_log(window, self._mentions(window, window.begin, resume))
        else:
            self._note(window)
            if window.final:
                whole = window.whole if window.base else window.buffer
                self.at_log(Stretch(whole, 0, 0, final=True), self._named)

    def at_log(self, window: Stretch, mentions: Iterable[tuple[int, int]]) -> None:
        """Look at the marked stretches of a driver's log, around what names a run, at its beginning and at its end."""
        stretches = [(start - window.base, end - window.base) for start, end in self._memory.runs.take()]
        stretches += mentions
        stretches += [(0, _AT_THE_START)] if not window.base else []
        if window.final:
            stretches += self._ends(window)
        for start, end in merged(stretches):
            region_start, region = _whole_lines(window, start, end)
            if region.strip(b"}\r\n"):  # not the last bracket of a file that ends with an event
                self._keep(self._sighted(region, window.base + region_start))

    def _note(self, window: Stretch) -> None:
        """Note where in the file lines name a run, as far as what stands behind a name is there."""
        base = window.base
        stop = len(window.buffer) - (0 if window.final else AFTER_A_NAME)
        self._named += [
            (start + base, end + base) for start, end in self._mentions(window, self._looked_at - base, stop)
        ]
        self._looked_at = max(self._looked_at, base + stop)

    def _sighted(self, region: bytes, base: int) -> list[Sighting]:
        lines = unwrapped(region, 0, len(region))
        if lines is None:
            return sight(region, log=self._log, file=self._file, base=base)
        found = sight(lines.text, log=self._log, file=self._file, base=0)
        return [each._replace(offset=base + lines.origin(each.offset)) for each in found]

    def _keep(self, sightings: Iterable[Sighting]) -> None:
        self.sightings += self._memory.fresh(sightings)

    def _mentions(self, window: Stretch, begin: int, stop: int) -> Iterator[tuple[int, int]]:
        """Stretches around names of runs in [begin, stop): the first of each, and all that tell of a turn."""
        for position in places(window.buffer, NAMED, begin, stop + len(NAMED) - 1):
            if self._memory.is_worth_a_look(*mention(window.buffer, position)):
                yield around(position)

    def _ends(self, window: Stretch) -> list[tuple[int, int]]:
        """What follows the last event; of a file without events its beginning and its end."""
        size, last = len(window.buffer), self._memory.runs.last_end - window.base
        if self._memory.runs.last_end:
            return [(last, last + AFTER_THE_LAST)]
        return [(0, BEFORE_A_RUN), (size - AFTER_THE_LAST, size)]


def mention(buffer: Buffer, position: int) -> tuple[bytes, bool]:
    """(the query's id, whether the words around tell of a turn) where NAMED stands at `position`."""
    turn = TURNS.search(buffer[max(0, position - BEFORE_A_NAME) : position + AFTER_A_NAME])
    return bytes(buffer[max(0, position - 36) : position]), bool(turn)


def around(position: int) -> tuple[int, int]:
    """The stretch around a line that names a run."""
    return position - _AROUND_A_NAME, position + _AROUND_A_NAME


def _whole_lines(window: Stretch, start: int, end: int) -> tuple[int, bytes]:
    """(where it begins, the whole lines that touch [start, end) of the window, as far as the window holds them)."""
    buffer = window.buffer
    start, end = max(0, start), min(len(buffer), max(0, end))
    start = max(0, start - BEFORE_A_RUN, buffer.rfind(b"\n", max(0, start - BEFORE_A_RUN), start) + 1)
    stop = buffer.find(b"\n", end, end + BEFORE_A_RUN)
    return start, bytes(buffer[start : stop + 1 if stop >= 0 else end])
