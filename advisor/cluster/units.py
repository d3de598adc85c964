"""What one task reads: whole logs, and ranges of large plain files; grouped into even tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from advisor.errors import InputError
from advisor.sources.codecs import how_to_unpack, is_packed
from advisor.sources.envelopes import export_in
from advisor.sources.formats import HEAD, driverlog, format_of, named
from advisor.sources.paths import Input
from advisor.sources.random_access import Place, opened

UNKNOWN_SIZE = -1
WHOLE = 16 << 20
"""Bytes of a text that is never divided: a short one may be an export, of which all is needed."""
OPENING = 64 << 10
"""Bytes that could be read in the time that it takes to open a file."""


class File(NamedTuple):
    """One file of a log: its place among all files, its bytes on disk (-1: unknown), where it is new.

    `copy`: where the worker that reads it has it, if its path cannot be opened there.
    """

    number: int
    path: str
    size: int
    begin: int = 0
    copy: str = ""


class Look(NamedTuple):
    """What a large file is like: its format, whether only all of it can be read, whether it holds marked events."""

    format: str = "text"
    whole: bool = False
    marked: bool = False


class Unit(NamedTuple):
    """What is read in one go: a log file by file, or, with a `format`, [start, end) of the one file in `files`."""

    log: str
    files: tuple[File, ...]
    format: str | None = None
    start: int = 0
    end: int = 0

    @property
    def size(self) -> int:
        """Bytes on disk that it stands for."""
        return self.end - self.start if self.format else sum(max(0, file.size) for file in self.files)


def cost(part: Unit) -> int:
    """What reading it costs, in bytes."""
    return part.size + OPENING * len(part.files)


def logs(inputs: Iterable[Input], sizes: Mapping[str, int]) -> list[Unit]:
    """The logs behind the inputs, each with its files in order, without those that are not to be read."""
    files: dict[str, list[File]] = {}
    for number, one in enumerate(inputs):
        if not one.unfit:
            files.setdefault(one.log, []).append(File(number, one.path, sizes.get(one.path, UNKNOWN_SIZE)))
    return [Unit(log, tuple(members)) for log, members in files.items()]


def ranges(file: File, split: int) -> list[tuple[int, int]]:
    """[start, end) of each part of what is new in a file, of even size and none larger than `split`."""
    size = file.size - file.begin
    count = max(1, -(-size // split))
    return [(file.begin + size * nth // count, file.begin + size * (nth + 1) // count) for nth in range(count)]


Asking = tuple[str, int, int]
"""A range that is to be looked at before it is decided how its log is read."""


def planned(
    logs: Iterable[Unit], split: int, look: Callable[[list[Asking]], Iterable[tuple[str, Look]]], *, whole: bool = False
) -> list[Unit]:
    """Return what is read in one go, for all logs, each as a `whole` if so asked.

    `look`: what to report about the ranges.
    """
    logs = list(logs)
    if whole:
        return logs
    large = [file for log in logs if log.size > split for file in log.files]  # of small ones nothing need be known
    looks: dict[str, Look] = {}
    for path, seen in look([(file.path, start, end) for file in large for start, end in ranges(file, split)]):
        known = looks.get(path, seen)
        looks[path] = known._replace(marked=known.marked or seen.marked)
    return [unit for log in logs for unit in units(log, looks, split)]


def grown(log: Unit, files: Iterable[File], looks: Mapping[str, Look], split: int) -> list[Unit]:
    """Return how to read what is new at the end of files; a file whose end alone is not enough is read whole."""
    parts = []
    for file in files:
        look = looks.get(file.path, Look(whole=True))
        if not _in_ranges(look):
            parts.append(Unit(log.log, (file._replace(begin=0),)))
        else:
            parts += [Unit(log.log, (file,), look.format, start, end) for start, end in ranges(file, split)]
    return parts


def units(log: Unit, looks: Mapping[str, Look], split: int) -> list[Unit]:
    """Return how to read a log: whole if it is small, an event log, compressed or unmarked, else in ranges."""
    seen = [(file, looks.get(file.path, Look(whole=True))) for file in log.files]
    if any(look.whole or (file.size > WHOLE and not _in_ranges(look)) for file, look in seen):
        return [log]
    parts = []
    for file, look in seen:
        is_whole = not named(look.format).by_line and file.size <= WHOLE
        for start, end in ranges(file, max(split, file.size, 1) if is_whole else split):
            parts.append(Unit(log.log, (file,), look.format, start, end))
    return parts


def _in_ranges(look: Look) -> bool:
    """Whether a range of the file can be read without the rest."""
    return not look.whole and (named(look.format).by_line or look.marked)


def tasks(parts: Iterable[Unit], size: int) -> list[list[Unit]]:
    """Units in tasks of about `size` bytes, neighbours together, the largest tasks first."""
    found: list[list[Unit]] = []
    filled = 0
    for unit in parts:
        if not found or filled + cost(unit) > size:
            found.append([])
            filled = 0
        found[-1].append(unit)
        filled += cost(unit)
    return sorted(found, key=lambda members: -sum(unit.size for unit in members))


_STEP = 4 << 20
_OVERLAP = 4096


def look(path: str, start: int, end: int) -> Look:
    """Return what [start, end) of a file and its beginning show of it."""
    try:
        with opened(path) as place:
            head = place.read(0, 1 << 20)
            form = format_of(head[:HEAD])
            if form.tells or how_to_unpack(head) or is_packed(head[:16]) or export_in(head, grows=False):
                return Look(whole=True)
            return Look(form.name, marked=not form.by_line and _marks(place, start, end))
    except (OSError, InputError):
        return Look(whole=True)


def _marks(place: Place, start: int, end: int) -> bool:
    """Whether marked events stand in the range."""
    steps = range(start, end, _STEP)
    return any(driverlog.marks_events(place.read(at, min(at + _STEP, end) + _OVERLAP), 0) for at in steps)
