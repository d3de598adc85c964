"""Recorded logs of one query that go on: the same batches again and again, each later and with numbers of its own."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_progress"
ONE_QUERY = {
    "driver log": SAMPLES / "LG001/rate-to-noop-4.3.0/driver.log.gz",
    "event log": SAMPLES / "LG001/event-log-single-file-3.5.9/local-1795256356823.gz",
}
"""Logs of 83 and 84 batches, a job of one stage in each."""
_ONCE = re.compile(rb"Running Spark version|SparkListener(?:Application|Executor|LogStart)|QueryTerminated")
_NUMBER = re.compile(
    rb'((?:"(?:Job ID|Stage ID|RDD ID|batchId|streaming\.sql\.batchId)" ?: ?"?|"Stage IDs":\[|batch = |batchId = '
    rb"|(?:Got |finished: )?\b[Jj]ob |[Ss]tage |\(TID ))(\d+)"
)
_TIME = re.compile(rb'("(?:Submission|Completion|Launch|Finish|Getting Result) Time":)(\d{13})')
_MOMENT = re.compile(rb'("timestamp" ?: ?")(\d{4}-[\d-]+T[\d:.]+)Z')
_NUMBERS, _MS = 10_000, 600_000
"""By so much a repetition is behind the one before it."""


def repeated(log: Path, times: int) -> Iterator[bytes]:
    """The log so many times, piece by piece."""
    text = gzip.decompress(log.read_bytes())
    yield text
    again = b"".join(line for line in text.splitlines(keepends=True) if not _ONCE.search(line))
    for nth in range(1, times):
        later = _NUMBER.sub(lambda found, nth=nth: b"%b%d" % (found[1], int(found[2]) + nth * _NUMBERS), again)
        later = _TIME.sub(lambda found, nth=nth: b"%b%d" % (found[1], int(found[2]) + nth * _MS), later)
        yield _MOMENT.sub(lambda found, nth=nth: found[1] + _later(found[2], nth * _MS) + b"Z", later)


def _later(moment: bytes, ms: int) -> bytes:
    then = datetime.fromisoformat(moment.decode()).replace(tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    return then.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3].encode()
