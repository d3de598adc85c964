"""The two tables that everything else is computed from: columns, units, building, de-duplication."""

from advisor.batches.arrays import ALWAYS, Columns, in_part, instant, lacking, rows_of, whole_seconds
from advisor.batches.build import Place, build, instants
from advisor.batches.chunks import FRESH_EVENTS, Chunks
from advisor.batches.columns import COLUMNS, CUSTOM, OPERATOR, PHASES, SCHEMA, SIGHTINGS, SOURCE
from advisor.batches.frames import operators, sources, spread, to_pandas
from advisor.batches.inside import Inside
from advisor.batches.offsets import kafka_offsets
from advisor.batches.reading import TABLES, Broken, Overrun, Reading, deduplicate
from advisor.batches.runs import NO_STAGES, Batches, RunBatches, members_of
from advisor.column import TIME, Column

__all__ = [
    "ALWAYS",
    "COLUMNS",
    "CUSTOM",
    "FRESH_EVENTS",
    "NO_STAGES",
    "OPERATOR",
    "PHASES",
    "SCHEMA",
    "SIGHTINGS",
    "SOURCE",
    "TABLES",
    "TIME",
    "Batches",
    "Broken",
    "Chunks",
    "Column",
    "Columns",
    "Inside",
    "Overrun",
    "Place",
    "Reading",
    "RunBatches",
    "build",
    "deduplicate",
    "in_part",
    "instant",
    "instants",
    "kafka_offsets",
    "lacking",
    "members_of",
    "operators",
    "rows_of",
    "sources",
    "spread",
    "to_pandas",
    "whole_seconds",
]
