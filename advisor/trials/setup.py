"""What the function that builds a query is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from advisor.contract import OnTrial


@dataclass(frozen=True)
class Permissions:
    """What the user vouches for: a sink that acts nowhere else, a source from which reading takes nothing."""

    sink: bool = False
    source: bool = False


class Setup:
    """One run, for the function that builds its query.

    `spark`: a session of this run alone, with its settings. `name`: nobody else's. `reader_options`: to be passed to
    readStream. Whatever the query writes goes to `path(...)` or `topic(...)`: both are thrown away.
    """

    def __init__(self, spark: Any, name: str, place: str, variant: OnTrial) -> None:
        self.spark = spark
        self.name = name
        self.place = place
        self.variant = variant
        self.asked: set[str] = set()

    @property
    def reader_options(self) -> dict[str, str]:
        """Options for readStream that are on trial."""
        return dict(self.variant.reader_option)

    def path(self, name: str) -> str:
        """A directory of this run."""
        return f"{self.place}/{name}"

    def topic(self, name: str) -> str:
        """The name of a Kafka topic of this run. One that the query writes to is made where the broker has none."""
        return f"{self.name}-{name}"

    def makes(self, step: str) -> bool:
        """Whether the query is to be built with a step that is code, such as persist-in-foreach-batch."""
        self.asked.add(step)
        return step in self.variant.code
