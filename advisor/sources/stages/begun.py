"""Jobs of a driver's log that have begun."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from advisor.stages import Attempt, Job

if TYPE_CHECKING:
    from advisor.sources.stages.events import Place

Named = tuple[str, int]
"""(beginning of a query's id, batch), where a line names them."""


@dataclass(slots=True)
class Begun:
    """A job that has begun, and where the log says so."""

    job: Job
    number: int
    place: Place
    what: str = ""
    background: bool = False
    final: int = -1
    has_parents: bool = False
    ended: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    leaves: list[Attempt] = field(default_factory=list)
    named: Named | None = None
    now: float = 0.0
    """When its last stage ended, without a clock that knows milliseconds."""
