"""Where a driver's log is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.sources.stages.begun import Named
from advisor.sources.stages.events import BEGINNING, Place
from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.messages import Messages


@dataclass(slots=True)
class Told:
    """Lines that are read together, and what they say."""

    lines: Lines
    messages: Messages
    times: np.ndarray
    """When they were written; nothing where the log's clock knows only seconds."""
    loggers: Sequence[str]
    """What `lines` counts as loggers."""


@dataclass(slots=True)
class Moment:
    """Where a log is read: at one of its lines."""

    number: int = 0
    """How many lines of the log stand before it."""
    place: Place = BEGINNING
    """The file's number in its log, and the byte of it at which the line begins."""
    now: float = 0.0
    """The line's time; where the log's clock knows only seconds, a sum of what lines tell."""
    fine: bool = False
    """Whether the log's clock knows milliseconds."""
    named: Named | None = None
    """The batch that the line names, if it tells the end of a job."""
