"""What messages of Spark's scheduler in a driver's log are about."""

from __future__ import annotations

from enum import IntEnum

JOBS, TASKS = "DAGScheduler", "TaskSetManager"
"""The classes that write them."""


class Kind(IntEnum):
    """Of a message, and what its number, its other number and its length are."""

    NOTHING = -1
    """It tells nothing."""
    OTHER = 0
    """Of another logger."""
    GOT = 1
    """Job; 1 where it runs in the background."""
    FINAL = 2
    """Stage."""
    PARENTS = 3
    """1 where the final stage has some."""
    SUBMITS = 4
    """Stage; tasks."""
    STAGE_ENDS = 5
    """Stage; LAST, FAILED, or both; ms."""
    JOB_ENDS = 6
    """Job; none; ms."""
    STARTS = 7
    """Stage; place in LOCALITIES, or -1."""
    FINISHES = 8
    """Stage; the task's place in it; ms."""
    LOST = 9
    """Stage."""


LAST, FAILED = 1, 2
"""Of a stage that ends: it is a job's last one; it failed."""
