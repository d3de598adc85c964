"""Numbers that cannot be had: why, and how a metric says so."""

from __future__ import annotations

from typing import TypeVar, final

import msgspec

T = TypeVar("T")


@final
class Missing(msgspec.Struct, frozen=True, gc=False):
    """A number that cannot be had: the reason in words, and the fact that would give it, if one would."""

    reason: str
    fact: str | None = None


class MissingError(Exception):
    """Raised in a metric for a number that it needs and that is missing; that is then its value."""

    def __init__(self, missing: Missing) -> None:
        self.missing = missing


def needed(found: T | Missing) -> T:
    """Return what was found; raise MissingError where it is missing."""
    if type(found) is Missing:  # `isinstance` takes ten times as long for a class of msgspec
        raise MissingError(found)
    return found


NO_BATCHES = Missing("there are no steady batches")
NO_SLOTS = Missing("the number of task slots is not known", "task_slots")
NO_INTERVAL = Missing("the trigger interval is not known", "trigger_interval_ms")
NOT_SEEN = Missing("nothing shows the jobs of these batches (event logs do, and driver logs at INFO)")
NOT_TOLD = Missing("the data of these batches' jobs does not contain it")
NO_READER = Missing("nothing shows which of several stages reads the source")
