"""Task slots and stages, from the lines about tasks."""

from __future__ import annotations

import re
from typing import Final

_STAGES: Final = 8
_REACH: Final = 1 << 17
_ADDED: Final = re.compile(rb"Adding task set (\d+)\.\d+ with (\d+) tasks")
_TASK: Final = re.compile(rb"(Starting|Finished) task \d+\.\d+ in stage (\d+)\.\d+ \(TID \d+\)")
SNAPSHOT_TASKS: Final = 50


def slots(region: bytes) -> int | None:
    """Tasks that can run at once: those of a stage that start before its first one ends.

    Only a stage with more tasks than slots shows them; of several stages the largest number, since other jobs may hold
    slots. None when no stage shows them. A lower bound.
    """
    shown = (_burst(region, added) for added in _first(region))
    return max((count for count in shown if count), default=None)


def snapshot_stage(region: bytes) -> bool:
    """Whether Delta rebuilt a snapshot in a stage of 50 tasks here."""
    return region.find(b"(50/50)") >= 0 and region.find(b"elta") >= 0


def _first(region: bytes) -> list[re.Match[bytes]]:
    """The first stages of the region that have more than one task."""
    found: list[re.Match[bytes]] = []
    at = region.find(b"Adding task set ")
    while at >= 0 and len(found) < _STAGES:
        match = _ADDED.match(region, at)
        if match and int(match[2]) > 1:
            found.append(match)
        at = region.find(b"Adding task set ", at + 1)
    return found


def _burst(region: bytes, added: re.Match[bytes]) -> int | None:
    """The stage's tasks that started before its first one ended; None when that were all, or when none ended here."""
    count = 0
    for task in _TASK.finditer(region, added.end(), added.end() + _REACH):
        if task[2] != added[1]:
            continue
        if task[1] == b"Finished":
            return count if 0 < count < int(added[2]) else None
        count += 1
    return None
