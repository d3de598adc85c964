"""Turns of baseline and candidate, until what is measured is narrower than what was promised."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from advisor.batches import Reading
from advisor.comparison.levels import FEWEST
from advisor.contract import OnTrial, plain
from advisor.trials.length import Length
from advisor.trials.run import Run, Runner
from advisor.trials.steps import Candidate
from advisor.trials.turns import Bench, _Result
from advisor.window import Window

RUNS, MOST_RUNS = 4, 16
"""A trial looks at its runs after each four, and ends after so many at the latest."""


class UntilNarrow(Bench):
    """A trial that ends early; at the latest with the runs that it has at that moment of `time.monotonic`."""

    def __init__(self, runner: Runner, place: str | None, say: Callable[[str], None], until: float) -> None:
        super().__init__(runner, place, say, Length(runner.bounds.batches, runner.bounds.seconds))
        self.until = until

    def _runs(self, candidate: Candidate, place: str, done: int, total: int) -> Iterator[Run]:
        if done:  # a trial's own second look: here each four runs were looked at
            return
        runs: list[Run] = []
        for run in super()._runs(candidate, place, done, total):
            runs.append(run)
            yield run
            if len(runs) % RUNS == 0 and (time.monotonic() > self.until or self._narrow(candidate, runs)):
                return

    def _narrow(self, candidate: Candidate, runs: list[Run]) -> bool:
        told = _Result(candidate, runs, self.runner.bounds).tried().data
        promises = [kept for kept in told["promises"] if kept["measured_ms"]]
        return all(_width(kept["measured_ms"]) <= _width(kept["predicted_ms"]) for kept in promises)


def _width(interval: dict[str, float]) -> float:
    return interval["high"] - interval["low"]


class Keeping(Runner):
    """A runner that keeps what progress told of each run as files in `place`, where one is given."""

    place: Path | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.baselines: list[Run] = []

    def run(self, *args: Any, **options: Any) -> Run:
        """Run it, and keep its settings and measured latency beside its progress and its stages."""
        run = super().run(*args, **options)
        if run.variant == OnTrial() and len(run.window) >= FEWEST:
            self.baselines.append(run)
        if self.place is not None and run.run_id is not None:
            facts = {name: known.value for name, known in run.facts.items()}
            told = {"variant": plain(run.variant), "latency": dict(run.latency), "facts": facts}
            (self.place / f"{run.run_id}.json").write_text(json.dumps(told, default=str))
            tables = {"batches": self.read.batches, "sightings": self.read.sightings, **self.read.inside}
            for name, table in tables.items():
                pq.write_table(table, self.place / f"{run.run_id}.{name}.parquet")
        return run

    def _window(self, reading: Reading) -> Window:
        self.read = reading
        return super()._window(reading)
