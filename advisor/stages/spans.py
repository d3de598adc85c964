"""When tasks ran, and for whom."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from advisor.stages.work import Job


class Spans:
    """When tasks ran, and for whom."""

    def __init__(self) -> None:
        self._jobs: list[Job | None] = []
        self._places: dict[int, int] = {}
        self._launch, self._finish, self._of = array("d"), array("d"), array("q")

    def add(self, jobs: Sequence[Job | None], counts: np.ndarray, launch: np.ndarray, finish: np.ndarray) -> None:
        """So many tasks of each of these jobs (None: of none), one behind the other, ran in these times."""
        of = [self._place(job) for job in jobs]
        self._launch.frombytes(np.ascontiguousarray(launch, float).tobytes())
        self._finish.frombytes(np.ascontiguousarray(finish, float).tobytes())
        self._of.frombytes(np.repeat(np.array(of, np.int64), counts).tobytes())

    def since(self, time: float) -> Spans:
        """Those that were not over then."""
        kept, finish = Spans(), np.frombuffer(self._finish)
        there = finish > time
        of = np.frombuffer(self._of, np.int64)[there]
        jobs = [self._jobs[place] for place in of.tolist()]
        kept.add(jobs, np.ones(len(jobs), np.int64), np.frombuffer(self._launch)[there], finish[there])
        return kept

    def move(self, ms: float) -> None:
        """Move all of them."""
        self._launch = array("d", (np.frombuffer(self._launch) + ms).tobytes())
        self._finish = array("d", (np.frombuffer(self._finish) + ms).tobytes())

    @cached_property
    def alone(self) -> bool:
        """Whether all tasks were one query's; asked when all have been added, and their jobs know their batches."""
        return len(set(map(_query, self._jobs))) < 2

    def in_order(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str | None]]:
        """(launch, finish, whose) of all tasks in the order of their launch, and the queries that `whose` counts."""
        launch, finish = np.frombuffer(self._launch), np.frombuffer(self._finish)
        order = np.argsort(launch, kind="stable")
        queries = [_query(job) for job in self._jobs]
        places = {query: place for place, query in enumerate(dict.fromkeys(queries))}
        whose = np.array([places[query] for query in queries], np.int64)[np.frombuffer(self._of, np.int64)]
        return launch[order], finish[order], whose[order], list(places)

    def _place(self, job: Job | None) -> int:
        place = self._places.setdefault(id(job), len(self._jobs))
        if place == len(self._jobs):
            self._jobs.append(job)
        return place


def _query(job: Job | None) -> str | None:
    """Of which query a job is; None of none."""
    return job.batch.id if job and job.batch else None
