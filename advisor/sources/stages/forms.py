"""What the messages of Spark's scheduler begin with, and which jobs run in the background."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from advisor.sources.stages.kinds import JOBS, TASKS

_SITE = re.compile(rb"(.*?)\) with \d+ output partitions")
_BACKGROUND = re.compile(rb"withThreadLocalCaptured|ThreadPoolExecutor|FutureTask|CompletableFuture")
FORMS: Mapping[str, Sequence[bytes]] = {
    JOBS: (b"Got ", b"Fina", b"Pare", b"Subm", b"Resu", b"Shuf", b"Job "),
    TASKS: (b"Star", b"Fini", b"Lost"),
}


@lru_cache(1024)
def background(site: bytes) -> int:
    """Whether a job that is called from there runs in the background; -1 where it is no call of a job."""
    found = _SITE.match(site)
    return bool(_BACKGROUND.search(found[1])) if found else -1
