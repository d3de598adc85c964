"""Watches a run: observed latencies, and log files that are purged."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.sources.listener.callbacks import SessionListener
from advisor.sources.listener.session import progress_of
from advisor.trials.setup import Setup
from lab.sketch import Latencies

LOOKS_EVERY: Final = 40
"""Batches between two looks at the logs: a file lives for 100 at least (spark.sql.streaming.minBatchesToRetain)."""
_LOG_FILE: Final = re.compile(r"/(offsets|commits)/(\d+);")


class _Observed(msgspec.Struct):
    rows: int = 0
    latency_us: list[int] = []


class _Event(msgspec.Struct):
    timestamp: str
    durationMs: dict[str, int]  # noqa: N815 - Spark's name
    observedMetrics: dict[str, _Observed] = {}  # noqa: N815


class Watch:
    """A context manager for a run. `measured(first, last)`: what was seen of the batches that started in that time."""

    def __init__(self, setup: Setup, observed: str = "") -> None:
        self.spark, self.observed = setup.spark, observed
        self._logs = _Logs(setup.spark, f"{setup.place}/checkpoint")
        self._batches: list[tuple[pd.Timestamp, _Observed]] = []
        self._listener = SessionListener(cast("Any", self))

    def __enter__(self) -> Watch:
        self.spark.streams.addListener(self._listener)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.spark.streams.removeListener(self._listener)
        self._listener.release()

    def hear(self, kind: str, event: Any) -> None:
        """Take an event of Spark's."""
        if kind != "progress":
            return
        told = msgspec.json.decode(progress_of(event), type=_Event)
        if "addBatch" in told.durationMs:
            self._batches.append((pd.Timestamp(told.timestamp), told.observedMetrics.get(self.observed, _Observed())))
            if len(self._batches) % LOOKS_EVERY == 0:
                self._logs.look()

    def measured(self, first: pd.Timestamp, last: pd.Timestamp) -> dict[str, float]:
        """Latency quantiles in ms, where rows were observed, and how many log files the run wrote and purged."""
        purged, written = self._logs.purged()
        return {"purged_files": float(purged), "log_files": float(written), **self._quantiles(first, last)}

    def _quantiles(self, first: pd.Timestamp, last: pd.Timestamp) -> dict[str, float]:
        if not self.observed:
            return {}
        batches = [observed for at, observed in self._batches if first <= at <= last]
        found = Latencies()
        for one in batches:
            found.add(_milliseconds(one.latency_us))
        seconds = max((last - first).total_seconds(), 1e-3)
        return {
            **found.quantiles(),
            "rank_error": found.rank_error,
            "records": float(len(found)),
            "achieved_per_second": sum(one.rows for one in batches[1:]) / seconds,
        }


def _milliseconds(us: list[int]) -> npt.NDArray[np.float64]:
    return np.array(us, dtype=np.float64) / 1000


class _Logs:
    """The offset and commit logs of a checkpoint, on any storage that Spark reaches."""

    def __init__(self, spark: Any, checkpoint: str) -> None:
        self._java = spark._jvm
        self._paths = [self._java.org.apache.hadoop.fs.Path(f"{checkpoint}/{log}") for log in ("offsets", "commits")]
        self._system = self._paths[0].getFileSystem(spark._jsc.hadoopConfiguration())
        self._seen: set[tuple[str, str]] = set()

    def look(self) -> set[tuple[str, str]]:
        """The log files that are there now."""
        found: set[tuple[str, str]] = set()
        for path in self._paths:
            if self._system.exists(path):  # one text of all: a round trip for each would disturb the run
                files = self._java.org.apache.hadoop.util.functional.RemoteIterators.toList(
                    self._system.listStatusIterator(path)
                )
                found |= set(_LOG_FILE.findall(files.toString()))
        self._seen |= found
        return found

    def purged(self) -> tuple[int, int]:
        """How many files were seen and are gone, how many were seen at all."""
        there = self.look()
        return len(self._seen - there), len(self._seen)
