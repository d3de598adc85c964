"""Looks again at some stretches of a file, for what they reveal besides progress."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from advisor.facts.sighting import Sighting
from advisor.sources.harvest import Window
from advisor.sources.runs import BEFORE_A_RUN, Runs, merged
from advisor.sources.sightings import Repeats, sight, sight_event_log

AFTER_THE_LAST = 1 << 20
_AROUND_A_NAME = 8 << 10
_NAMED = b"[id = "
_MENTIONS = 50
_PLANS = 3
_TURNS = re.compile(rb"Starting |erminat|rror|Exception|Stream")
_TELLING = re.compile(
    rb'\{"Event":"(?:SparkListener(?:LogStart|EnvironmentUpdate|ApplicationStart|ExecutorAdded|ExecutorRemoved)'
    rb'|org\.apache\.spark\.sql\.(?:streaming\.[^"]{0,60}\$Query(?:Started|Terminated)Event'
    rb'|execution\.ui\.SparkListenerSQLExecutionStart))"'
)
_RUN = re.compile(rb"runId = ([0-9a-f-]{36})")


class Memory:
    """What is remembered from file to file of one log."""

    def __init__(self) -> None:
        self.runs = Runs()
        self.repeats = Repeats()
        self.plans: Counter[bytes] = Counter()
        self.mentions: Counter[bytes] = Counter()


class SecondLook:
    """Sightings of one file."""

    def __init__(self, file: str, log: str, memory: Memory) -> None:
        self.sightings: list[Sighting] = []
        self._file = file
        self._log = log
        self._memory = memory
        memory.runs.next_file()

    def at_log(self, window: Window, resume: int) -> None:
        """Look at the marked stretches of a driver's log, around what names a run, and at the end."""
        stretches = [(start - window.base, end - window.base) for start, end in self._memory.runs.take()]
        stretches += self._mentions(window, resume)
        if window.final:
            stretches += self._ends(window)
        for start, end in merged(stretches):
            region_start, region = _whole_lines(window, start, end)
            base = window.base + region_start
            self._keep(sight(region, log=self._log, file=self._file, base=base))

    def at_event_log(self, window: Window, resume: int) -> None:
        """Look at the telling lines of an event log."""
        self._memory.runs.take()
        for start, line in self._telling_lines(window, resume):
            self._keep(sight_event_log(line, log=self._log, file=self._file, base=window.base + start))

    def _keep(self, sightings: Iterable[Sighting]) -> None:
        self.sightings += self._memory.repeats.fresh(sightings)

    def _mentions(self, window: Window, resume: int) -> Iterator[tuple[int, int]]:
        """Stretches around lines that name a run; where every line does, around those that tell of a turn."""
        buffer, counted = window.buffer, self._memory.mentions
        position = buffer.find(_NAMED, window.begin, resume)
        while position >= 0:
            name = bytes(buffer[position + 6 : position + 42])
            counted[name] += 1
            if counted[name] <= _MENTIONS or _TURNS.search(buffer[max(0, position - 100) : position + 400]):
                yield position - _AROUND_A_NAME, position + _AROUND_A_NAME
            position = buffer.find(_NAMED, position + 1, resume)

    def _ends(self, window: Window) -> list[tuple[int, int]]:
        """What follows the last event; of a file without events its beginning and its end."""
        size, last = len(window.buffer), self._memory.runs.last_end - window.base
        if self._memory.runs.last_end:
            return [(last, last + AFTER_THE_LAST)]
        return [(0, BEFORE_A_RUN), (size - AFTER_THE_LAST, size)]

    def _telling_lines(self, window: Window, resume: int) -> Iterator[tuple[int, bytes]]:
        buffer = window.buffer
        for match in _TELLING.finditer(buffer, window.begin, resume):  # type: ignore[call-overload]
            start = match.start()
            stop = buffer.find(b"\n", start)
            line = bytes(buffer[start : stop if stop >= 0 else len(buffer)])
            if not match[0].endswith(b'SQLExecutionStart"') or self._is_new_plan(line):
                yield start, line

    def _is_new_plan(self, line: bytes) -> bool:
        """Plans are long and the same in each batch: the first few of a run are enough."""
        run = _RUN.search(line)
        if run is None:
            return False
        self._memory.plans[run[1]] += 1
        return self._memory.plans[run[1]] <= _PLANS


def _whole_lines(window: Window, start: int, end: int) -> tuple[int, bytes]:
    """(where it begins, the whole lines that touch [start, end) of the window, as far as the window holds them)."""
    buffer = window.buffer
    start, end = max(0, start), min(len(buffer), max(0, end))
    start = max(0, start - BEFORE_A_RUN, buffer.rfind(b"\n", max(0, start - BEFORE_A_RUN), start) + 1)
    stop = buffer.find(b"\n", end, end + BEFORE_A_RUN)
    return start, bytes(buffer[start : stop + 1 if stop >= 0 else end])
