"""What logs tell of the jobs, stages and tasks inside a batch."""

from advisor.sources.stages.opened import Opened
from advisor.sources.stages.statusstore import work_of

__all__ = ["Opened", "work_of"]
