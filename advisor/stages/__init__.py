"""What runs inside addBatch: jobs, stages and tasks, and the wall clock divided among them."""

from advisor.stages.batchjobs import (
    CALLS_SHOWN,
    DELTA_COMMAND,
    DRIVER_WITHIN,
    FILE_CHOICE,
    LISTING,
    LOG_CHECKPOINT,
    MERGE,
    OPTIMIZES,
    PYTHON_RDD,
    VACUUM,
    Triggers,
    kind_of,
    streams,
)
from advisor.stages.columns import BATCH_PARTS, PART_COLUMNS, PARTS, SCHEMAS, STAGE_COLUMNS, STAGES
from advisor.stages.jobs import SUMS, Attempt, Batch, Job, Note, Numbers
from advisor.stages.tables import Rows, best, tables
from advisor.stages.tasks import FAILED, KILLED, LOCALITIES, SPECULATIVE
from advisor.stages.work import Work
