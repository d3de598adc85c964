"""A checkpoint's logs, state and health, read-only: does a query start from it, and what may be changed."""

from advisor.checkpoint.describe import describe
from advisor.checkpoint.facts import with_checkpoint
from advisor.checkpoint.read import Seen, read
from advisor.checkpoint.record import Checkpoint
