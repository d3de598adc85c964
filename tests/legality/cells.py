"""The cells of the matrix: one step on one query, on its own checkpoint or on a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import yaml

from advisor.facts import version_at_least

MATRIX: Final = Path(__file__).with_name("matrix.yaml")
ON_APPLICATION: Final = ("spark.scheduler.mode", "spark.shuffle.sort.bypassMergeThreshold")
"""Settings that Spark reads when an application starts."""


@dataclass(frozen=True)
class Query:
    """A query of the matrix, by what the rules ask about it."""

    sink: str
    source: str
    workload: str
    trigger: str
    store: str
    partitions: int
    options: str

    @property
    def name(self) -> str:
        """Its values; what is usual is left out."""
        usual = matrix()["defaults"]
        rest = [f"{field} {value}" for field, value in vars(self).items()
                if field not in ("sink", "source", "workload") and value != usual[field]]  # fmt: skip
        return ", ".join([f"{self.source} to {self.sink}", self.workload, *rest])

    @property
    def needs_kafka(self) -> bool:
        """Whether a broker must run."""
        return "kafka" in (self.sink, *self.source.split("_"))

    @property
    def needs_delta(self) -> bool:
        """Whether Delta must be there."""
        return self.sink in ("delta", "foreach_delta")


@dataclass(frozen=True)
class Cell:
    """A step on a query; `checkpoint`: on the one that the query wrote (old), or on a new one (fresh)."""

    step: str
    query: Query
    checkpoint: str

    @property
    def name(self) -> str:
        """What the outcome is filed under."""
        return f"{self.query.name}, {self.checkpoint} checkpoint"


@cache
def matrix() -> dict[str, Any]:
    """The file as it is written."""
    loaded: dict[str, Any] = yaml.safe_load(MATRIX.read_text())
    return loaded


def cells(version: str) -> list[Cell]:
    """The cells of this Spark, each once."""
    found = [cell for step, lines in matrix()["steps"].items() for line in lines for cell in _line(step, line, version)]
    return list(dict.fromkeys(found))


def _line(step: str, line: dict[str, Any], version: str) -> Iterator[Cell]:
    limits = str(line.get("spark", ">=0")).split(",")
    if not all(version_at_least(version, limit.lstrip("<>=")) is limit.startswith(">=") for limit in limits):
        return
    values = matrix()["defaults"] | {key: value for key, value in line.items() if key != "spark"}
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    for chosen in product(*lists):
        named = dict(zip(values, chosen, strict=True))
        checkpoint = named.pop("checkpoint")
        yield Cell(step, Query(**named), checkpoint)
