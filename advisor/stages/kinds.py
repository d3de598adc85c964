"""What a stage is for, by the operators in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

KINDS = (None, "source_read", "state", "shuffle", "result", "table_log", "other")
"""What stages are for, when all of their query is known."""
_STATE = re.compile(r"StateStore|StateStoreRDD|StreamingDeduplicate|WithState|SymmetricHashJoin|SessionWindowState")
_STREAM = re.compile(r"MicroBatchScan|KafkaSourceRDD|StreamingSource")
_FILES = re.compile(r"^(?:Scan|FileScan|LocalTableScan|BatchScan)\b")
_TABLE_LOG = re.compile(
    r"^Delta: (?!.*(?:write|Write))|snapshot for version|Delta Lake Checkpoint|log ?checkpoint|manifest", re.IGNORECASE
)


def streams(names: Sequence[str]) -> bool:
    """Whether a stage with operators of these names reads a stream or holds its state, cached or not."""
    return any(_STREAM.search(name) or _STATE.search(name) for name in names)


def kind_of(names: Sequence[str], description: str, *, last: bool, cached: bool = False) -> str:
    """The kind of a stage with operators of these names, in a job of this description.

    `last`: it ends its job. `cached`: what it reads lies in a cache, so that the source is not read again.
    """
    if any(_STATE.search(name) for name in names):
        return "state"
    if _TABLE_LOG.search(description):
        return "table_log"
    if any(_STREAM.search(name) for name in names) and not cached:
        return "source_read"
    if any(_FILES.search(name) for name in names):
        return "scan"
    return "result" if last else "shuffle"
