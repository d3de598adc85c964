"""The two tables that all else is computed from: columns, units, building, de-duplication."""

from advisor.batches.build import Place, Rows, build, record_batch
from advisor.batches.columns import COLUMNS, CUSTOM, OPERATOR, PHASES, SCHEMA, SIGHTINGS, SOURCE, Column
from advisor.batches.frames import operators, sources, spread, to_pandas
from advisor.batches.reading import Broken, Reading, deduplicate

__all__ = [
    "COLUMNS",
    "CUSTOM",
    "OPERATOR",
    "PHASES",
    "SCHEMA",
    "SIGHTINGS",
    "SOURCE",
    "Broken",
    "Column",
    "Place",
    "Reading",
    "Rows",
    "build",
    "deduplicate",
    "operators",
    "record_batch",
    "sources",
    "spread",
    "to_pandas",
]
