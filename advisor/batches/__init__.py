"""The tables of batches and of sightings, from which the rest is computed: columns, building, de-duplication."""

from advisor.batches.arrays import ALWAYS, Columns, all_lack, instant, lacks, rows_of, whole_seconds
from advisor.batches.columns import COLUMNS, CUSTOM, OPERATOR, PHASES, SCHEMA, SIGHTINGS, SOURCE
from advisor.batches.doing import Doing, job_in_words
from advisor.batches.frames import operators, sources, to_pandas
from advisor.batches.offsets import kafka_offsets
from advisor.batches.reading import TABLES, Broken, Overrun, Reading, deduplicate, table_of_sightings
from advisor.batches.rows import FRESH_EVENTS, Chunks, build, instants
from advisor.batches.runs import NO_STAGES, Batches, Inside, RunBatches, members_of
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
    "Doing",
    "Inside",
    "Overrun",
    "Reading",
    "RunBatches",
    "all_lack",
    "build",
    "deduplicate",
    "instant",
    "instants",
    "job_in_words",
    "kafka_offsets",
    "lacks",
    "members_of",
    "operators",
    "rows_of",
    "sources",
    "table_of_sightings",
    "to_pandas",
    "whole_seconds",
]
