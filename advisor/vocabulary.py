"""The words that a report uses for level, confidence, legality, cost and state, each set in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Level = Literal["low", "medium", "high"]
Confidence = Literal["low", "medium", "high"]
Legal = Literal["yes", "if", "no"]
Takes = Literal["nothing", "restart", "stages", "new_checkpoint"]
Semantics = Literal["unchanged", "at_least_once", "at_most_once", "exactly_once"]
Status = Literal["stable", "experimental"]
State = Literal["running", "log_ends", "stopped", "restarting", "dead", "no_data"]
Direction = Literal["rising", "falling", "steady", "unknown"]
Since = Literal["restart", "change_point", "asked"]
Grave = Literal["rows", "results", "pace", "state"]
PhaseKind = Literal["add_batch", "logs", "discovery", "planning", "other", "unaccounted"]

LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the worst."""
GRAVE: tuple[Grave, ...] = get_args(Grave)
"""What milliseconds do not count, the gravest first: rows, results, a query that falls behind, state without end."""
LEGAL: tuple[Legal, ...] = get_args(Legal)
"""From what Spark takes to what it refuses."""
ENDING = ("once", "available_now")
"""Triggers whose runs take what is there, and end."""
TAKES: tuple[Takes, ...] = get_args(Takes)
"""From what costs least to what costs most."""
TAKES_IN_WORDS: dict[Takes, str] = {
    "nothing": "no restart",
    "restart": "restart",
    "stages": "in stages",
    "new_checkpoint": "new checkpoint",
}
OF_KERNEL = ("/proc/", "/sys/")
"""Where files lie that the kernel makes: plain ones by their kind, and to read one may never end."""
CONF = "conf:"
"""Prefix of the facts that hold a configuration value."""


def at_once(one_of: Iterable[str] | None) -> str:
    """The triggers by which each batch starts as soon as the one before ends; `one_of`: those that fit the batches."""
    others = ", AvailableNow" if "available_now" in (one_of or ()) else ""
    return f"default trigger{others}, or an interval that every batch overruns"


def worst(levels: Iterable[Level]) -> Level | None:
    """The highest of these levels; None where there is none."""
    return max(levels, key=LEVELS.index, default=None)
