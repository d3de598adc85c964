"""Read what a job is for, from its description, its properties and its data sets in an event log."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import attrgetter

import msgspec
import stringzilla

from advisor.redaction import redact
from advisor.sources.stages.sparkevents import Dataset, Properties, Sum
from advisor.stages import Batch, kind_of

_DIGITS = 15
"""More digits are no number of a batch, and none that a float holds."""
_NAME = '"name":"'
_CODEGEN = re.compile(r"WholeStageCodegen \(\d+\)|mapPartitions\w*|InputAdapter")
_RUN = re.compile(r"runId = ([0-9a-f-]{36})")
_BATCH_LINE = re.compile(r"batch = (?:\d+|init)\s*")
_BATCH = "\nbatch = "
"""What Spark writes before a batch's number, with which its descriptions end."""
_ID = len("00000000-0000-0000-0000-000000000000")
_SNAPSHOT = "Compute snapshot for version"
_TIME = b"time t"
"""What all names of _SQL hold, and few others."""
_SQL = {
    "time to commit changes": "state_commit_ms",
    "time to update": "state_update_ms",
    "time to remove": "state_update_ms",
    "RocksDB: load - time taken to load the store": "state_load_ms",
    "total time to run Python workers": "python_ms",
    "time to run Python workers": "python_ms",
}
"""Sums over tasks that Spark's SQL operators count, and the columns that hold them."""


_decode_sums = msgspec.json.Decoder(list[Sum]).decode


def sql_sums(raw: msgspec.Raw) -> dict[str, float]:
    """Return the sums that Spark's SQL operators count."""
    found: dict[str, float] = {}
    if stringzilla.find(memoryview(raw), _TIME) < 0:
        return found
    for each in _decode_sums(raw):
        column = _SQL.get(each.name)
        if column and isinstance(each.value, int | float | str):
            try:
                found[column] = found.get(column, 0.0) + max(0.0, float(each.value))
            except ValueError:
                continue
    return found


def operators(datasets: list[Dataset]) -> tuple[str, ...]:
    """Return the operators whose data sets a stage computes, each once, the last one first; sort these so."""
    datasets.sort(key=attrgetter("number"), reverse=True)
    names = [(each.scope or "").partition(_NAME)[2].partition('"')[0] or each.name for each in datasets]
    return tuple(filter(None, dict.fromkeys(map(_shown, names))))


@lru_cache(maxsize=4096)
def _shown(name: str) -> str:
    """Return the name of an operator; nothing for what only wraps generated code."""
    return "" if _CODEGEN.fullmatch(name) else name


@lru_cache(maxsize=4096)
def meant(names: tuple[str, ...], description: str, last: bool, cached: bool) -> tuple[str, str]:
    """Return (the kind of a stage with these operators in a job of this description, what it does)."""
    if description.startswith(_SNAPSHOT):
        description = f"Delta: {description}"
    kind = kind_of(names, description, last=last, cached=cached)
    return kind, redact(description or ", ".join(names))


def is_number(text: str | None) -> bool:
    """Whether it is a number of a batch or of cores."""
    return text is not None and len(text) <= _DIGITS and text.isascii() and text.isdigit()


def batch_of(properties: Properties) -> Batch | None:
    """Return the batch of a job with these properties; None where they name none."""
    query, number = properties.query, properties.batch
    if not (query and number and is_number(number)):
        return None
    group = properties.group or ""
    named = _run(_of_any_batch(properties.description or "")) or (group if len(group) == _ID else None)
    return Batch(redact(query), redact(named) if named else None, int(number))  # one text for all batches


@lru_cache(maxsize=4096)
def _run(description: str) -> str | None:
    found = _RUN.search(description)
    return found[1] if found else None


def described(description: str) -> tuple[str, str]:
    """Return (the query's name, the rest of a job's description)."""
    return _described(_of_any_batch(description))


@lru_cache(maxsize=4096)
def _described(description: str) -> tuple[str, str]:
    head, *rest = description.split("\n")
    batch = _BATCH_LINE.search(description)
    if not batch:
        return "", redact(description)
    return redact(head) if rest and not head.startswith("id = ") else "", redact(description[batch.end() :].strip(" :"))


def _of_any_batch(description: str) -> str:
    """Return a description that Spark wrote with batch 0, the same for all of a run; any other one as it is."""
    head, line, number = description.rpartition(_BATCH)
    return f"{head}{line}0" if number.isdigit() else description
