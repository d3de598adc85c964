"""What a fact is, and where a value can come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["bool", "int", "number", "str", "version", "choice", "choices"]
Scope = Literal["query", "application"]
Merge = Literal["later", "largest", "pinned"]

ORIGINS: Final = (
    "user",
    "checkpoint",
    "log",
    "event_log",
    "ui",
    "session",
    "progress",
    "computed",
    "inferred",
    "default",
)
"""Where a value can come from, the most trusted first."""


class Known(NamedTuple):
    """A value and where it came from (one of `ORIGINS`; printed as "from").

    The value None means "seen, and there is none": unlike an unknown fact, it is knowledge.
    """

    value: Any
    origin: str


@dataclass(frozen=True)
class Fact:
    """One thing that can be known about a run.

    `meaning` and `where` are words for a person: what it is, and where it is found. `origins`: where it can come from
    besides a person, the most trusted first. `settable`: whether a person may give it (`--set`, advisor.yaml).
    """

    name: str
    kind: Kind
    meaning: str
    where: str
    origins: tuple[str, ...]
    values: tuple[str, ...] = ()
    unit: str = ""
    minimum: float | None = None
    nullable: bool = False
    """Whether None ("seen, and there is none") is a value."""
    scope: Scope = "query"
    settable: bool = True
    outcome: bool = False
    """Whether it is an event, not a setting, so that two runs are not compared by it."""
    merge: Merge = "later"
    """Of two sightings of one origin the later is right; or the largest, where each is a lower bound; or what the run
    itself pinned, and what was there before is the wish of the session."""

    asks: str = ""
    """The question that a person can answer, where one is worth asking."""
    usual: str = ""
    """The answer that is right most often, where there is one."""

    def trust(self, origin: str) -> int:
        """The place of an origin in the order of trust, 0 for the most trusted."""
        order = ("user", *self.origins)
        return order.index(origin) if origin in order else len(order) + ORIGINS.index(origin)


LATE_BATCH: Final = "late_batch"
"""The content of a line about falling behind: [interval, time spent] in ms. By itself it is no fact of a run."""


class Sighting(NamedTuple):
    """What one place of a log revealed besides progress: a row of the table of sightings, `value` as JSON text."""

    id: str | None
    run_id: str | None
    log: str
    fact: str
    value: str
    origin: str
    file: str
    offset: int
    timestamp: Any = None
