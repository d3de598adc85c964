"""Queries for tests on a real Spark, and waiting for what they do."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from advisor.window import LONGEST_WARM_UP

SECONDS = 300
"""The longest wait for an event: a machine under load is slow, a test that waits for nothing must end."""


class Heard:
    """Waits for what an advisor has heard."""

    def __init__(self, advisor: Any) -> None:
        self._advisor = advisor
        self._news = threading.Condition()
        self._batches: Counter[str] = Counter()
        self._ended: set[str] = set()
        self._inner, advisor.recorder.changed = advisor.recorder.changed, self._changed

    def _changed(self, id: str, run_id: str, ended: bool) -> None:
        with self._news:
            self._ended |= {run_id} if ended else set()
            self._batches[run_id] += not ended
            self._news.notify_all()
        self._inner(id, run_id, ended)

    def batches(self, query: Any, number: int) -> None:
        """Return when so many batches of the run were heard of."""
        run_id = str(query.runId)
        with self._news:
            assert self._news.wait_for(lambda: self._batches[run_id] >= number, SECONDS), query.exception()

    def batches_or_end(self, run_id: str, batches: int, seconds: float) -> None:
        """Return when so many batches of the run were heard of, it has ended, or time is over."""
        with self._news:
            self._news.wait_for(lambda: run_id in self._ended or self._batches[run_id] >= batches, seconds)

    def steady(self, query: Any, feed: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """The entry of the run in the report as soon as one of its batches is steady: after 51 with rows at the latest.

        `feed` is called before each batch is waited for.
        """
        for number in range(1, LONGEST_WARM_UP + 2):
            feed()
            self.batches(query, number)
            if number % 5 == 0 or number > LONGEST_WARM_UP:  # a report each time would slow what is waited for
                found = entry(self._advisor, query)
                if found["window"]["batches"]:
                    return found
        raise AssertionError(f"no steady batch among {found['batches']}")

    def end(self, query: Any) -> None:
        """Return when the run's end was heard of."""
        with self._news:
            assert self._news.wait_for(lambda: str(query.runId) in self._ended, SECONDS)


def rows(spark: Any, per_batch: int = 100) -> Any:
    """A stream that has rows for every batch."""
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", per_batch).load()


def writer(frame: Any, name: str, checkpoint: Path, **options: str) -> Any:
    """A stream's writer to noop, options included; not started."""
    made = frame.writeStream.format("noop").queryName(name).option("checkpointLocation", checkpoint.as_uri())
    for key, value in options.items():
        made = made.option(key, value)
    return made


def entry(advisor: Any, query: Any) -> dict[str, Any]:
    """What the report says of this run."""
    return next(found for found in advisor.report().queries if found["run_id"] == str(query.runId))


def known(found: dict[str, Any], *names: str) -> dict[str, Any]:
    """Values of facts by name."""
    return {name: found["facts"][name]["value"] for name in names}
