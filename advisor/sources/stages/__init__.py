"""What logs tell of the jobs, stages and tasks inside a batch."""

from advisor.sources.stages.opened import Opened

__all__ = ["Opened"]
