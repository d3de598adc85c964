"""What large files are like, before it is decided how they are read."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.cluster.units import Look
from advisor.errors import InputError
from advisor.sources import containers
from advisor.sources.codecs import BLOCK, Source, Torn, blocks, is_packed
from advisor.sources.formats import HEAD, driverlog, format_of, loose
from advisor.sources.places import Place, opened

_STEP = 4 << 20
_OVERLAP = 4096
_FEW = 50
"""Files whose beginnings the driver reads by itself."""


def look(path: str, start: int, end: int) -> Look:
    """Return what [start, end) of a file and its beginning show of it."""
    try:
        with opened(path) as place:
            head = place.read(0, HEAD)
            form = format_of(head)
            if form.tells or is_packed(head[:16]):
                return Look(whole=True)
            return Look(form.name) if form.by_line else _marks(place, start, end)
    except (OSError, InputError):
        return Look(whole=True)


def kinds(paths: Sequence[str]) -> list[str | None]:
    """What files are that can be no logs, None for one that may be one; of many files nothing is asked."""
    return [_container(path) for path in paths] if len(paths) <= _FEW else []


def _container(path: str) -> str | None:
    try:
        with opened(path) as place:
            return containers.container(_first(place)[: containers.HEAD])
    except (OSError, InputError):
        return None


def _first(place: Place) -> bytes:
    """The first decompressed bytes."""
    try:
        return next(blocks(Source(_InOrder(place))), b"")
    except Torn:
        return b""


class _InOrder:
    """A place read from its beginning."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._at = 0

    def read(self, size: int = BLOCK, /) -> bytes:
        found = self._place.read(self._at, self._at + size)
        self._at += len(found)
        return found


def _marks(place: Place, start: int, end: int) -> Look:
    """Whether marked events stand in the range; if none do, whether keys of events do."""
    keyed = False
    for at in range(start, end, _STEP):
        text = place.read(at, min(at + _STEP, end) + _OVERLAP)
        if driverlog.marks_events(text, 0):
            return Look(marked=True)
        keyed = keyed or loose.has_anchor(text, 0, len(text))
    return Look(keyed=keyed)
