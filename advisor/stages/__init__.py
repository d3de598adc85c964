"""What runs inside addBatch: jobs, stages and tasks, and the wall clock divided among them."""

from advisor.stages.columns import BATCH_PARTS, PART_COLUMNS, PARTS, STAGE_COLUMNS, STAGES
from advisor.stages.kinds import kind_of
from advisor.stages.tables import tables
from advisor.stages.work import FAILED, KILLED, LOCALITIES, SPECULATIVE, SUMS, Attempt, Batch, Job, Work

__all__ = [
    "BATCH_PARTS",
    "FAILED",
    "KILLED",
    "LOCALITIES",
    "PARTS",
    "PART_COLUMNS",
    "SPECULATIVE",
    "STAGES",
    "STAGE_COLUMNS",
    "SUMS",
    "Attempt",
    "Batch",
    "Job",
    "Work",
    "kind_of",
    "tables",
]
