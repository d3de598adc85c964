"""The tables of batches and of sightings, from which the rest is computed: columns, building, de-duplication."""

from advisor.batches.arrays import Columns, all_lack, instant, lacks, rows_of, whole_seconds
from advisor.batches.columns import COLUMNS, PHASES, SCHEMA, SIGHTINGS
from advisor.batches.offsets import kafka_offsets
from advisor.batches.reading import TABLES, Broken, Doing, Overrun, Reading, deduplicate, table_of_sightings, to_pandas
from advisor.batches.rows import FRESH_EVENTS, Chunks, build, instants
from advisor.batches.runs import Batches, Inside, RunBatches
