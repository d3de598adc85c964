"""What descriptions, properties and data sets in an event log say of jobs and stages."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import attrgetter

import msgspec

from advisor.redaction import redact
from advisor.sources.stages.sparkevents import Dataset, Properties, Sum
from advisor.stages import Batch, kind_of

_DIGITS = 15
"""More digits are no number of a batch, and none that a float holds."""
_NAME = '"name":"'
_CODEGEN = re.compile(r"WholeStageCodegen \(\d+\)|mapPartitions\w*|InputAdapter")
_RUN = re.compile(r"runId = ([0-9a-f-]{36})")
_BATCH_LINE = re.compile(r"batch = (?:\d+|init)\s*")
_SNAPSHOT = "Compute snapshot for version"
_COUNTS = re.compile(rb'"Name":"(?:time to [cur]|RocksDB: load|(?:total )?time to run P)')
"""What each name of _SQL begins with."""
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
    """The sums that Spark's SQL operators count."""
    found: dict[str, float] = {}
    if not _COUNTS.search(raw):
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
    """Names of the operators whose data sets a stage computes, each once, the last one first; sorts them so."""
    datasets.sort(key=attrgetter("number"), reverse=True)
    return tuple(filter(None, dict.fromkeys([_operator(_named(each)) for each in datasets])))


def _named(dataset: Dataset) -> str:
    scope = (dataset.scope or "").partition(_NAME)[2].partition('"')[0]
    return scope or dataset.name


@lru_cache(maxsize=4096)
def _operator(name: str) -> str:
    """The name; none of what only wraps generated code."""
    return "" if _CODEGEN.fullmatch(name) else name


@lru_cache(maxsize=4096)
def meant(names: tuple[str, ...], description: str, last: bool, cached: bool) -> tuple[str, str]:
    """(the kind of a stage with these operators in a job of this description, what is said of it)."""
    if description.startswith(_SNAPSHOT):
        description = f"Delta: {description}"
    kind = kind_of(names, description, last=last, cached=cached)
    return kind, redact(description or ", ".join(names))


def is_number(text: str | None) -> bool:
    """Whether it is a number of a batch or of cores."""
    return text is not None and len(text) <= _DIGITS and text.isascii() and text.isdigit()


def batch_of(properties: Properties) -> Batch | None:
    """The batch of a job with these properties; None where they name none."""
    if not (properties.query and properties.batch and is_number(properties.batch)):
        return None
    run = _RUN.search(properties.description or "")
    group = properties.group or ""
    named = run[1] if run else group if len(group) == len("00000000-0000-0000-0000-000000000000") else None
    return Batch(_once(properties.query), _once(named) if named else None, int(properties.batch))


@lru_cache(maxsize=4096)
def _once(id: str) -> str:
    """An id without credentials, as one text for all batches."""
    return redact(id)


def described(description: str) -> tuple[str, str]:
    """(the query's name, what is said of the job beside query and batch) of a job's description."""
    head, *rest = description.split("\n")
    batch = _BATCH_LINE.search(description)
    if not batch:
        return "", redact(description)
    return redact(head) if rest and not head.startswith("id = ") else "", redact(description[batch.end() :].strip(" :"))
