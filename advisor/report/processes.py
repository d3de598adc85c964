"""Do the same work on very many runs in several processes, each forked from this one."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from advisor.facts.evidence import Run

FEWEST = 1_000
"""Runs from which a second process is worth its start."""
AT_ONCE = 200
"""Results that a process sends together."""
Result = TypeVar("Result")


def spread(runs: Sequence[Run], work: Callable[[Run], Result], processes: int) -> Iterator[Result]:
    """Yield what `work` returns of each run, in their order.

    All runs of a query fall to one process, in order. The first run is done here, so that every process has what it
    left. The share of a process that was killed, or failed, is done again here.
    """
    if processes < 2 or len(runs) < FEWEST or sys.platform != "linux":
        yield from map(work, runs)
        return
    found: dict[int, Result] = {0: work(runs[0])}
    gc.freeze()  # a collection would write to every object, and so copy what the processes share
    with ExitStack() as stack:
        sent = [stack.enter_context(_forked(share, runs, work)) for share in _shares(runs, processes)]
        gc.unfreeze()
        for results in _gathered(sent):
            found |= results
    for at, run in enumerate(runs):
        yield found.pop(at) if at in found else work(run)


@contextmanager
def _forked(share: Sequence[int], runs: Sequence[Run], work: Callable[[Run], Result]) -> Iterator[Connection]:
    """Yield what a process sends of its share; it has ended afterwards."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_do, args=(share, runs, work, here, there), daemon=True)
    process.start()
    there.close()
    with here:
        yield here
    process.join()


def _gathered(sent: Sequence[Connection]) -> Iterator[dict[int, Any]]:
    """Yield the results of each process that comes to the end of its share."""
    results: dict[Connection, dict[int, Any]] = {pipe: {} for pipe in sent}
    while results:
        for pipe in wait(list(results)):
            assert isinstance(pipe, Connection)
            try:
                some = pipe.recv()
            except EOFError:  # it was killed, or failed
                del results[pipe]
                continue
            results[pipe] |= some
            if not some:
                yield results.pop(pipe)


def _shares(runs: Sequence[Run], processes: int) -> list[list[int]]:
    """Deal the queries to the processes: the positions of their runs, without the first run."""
    numbers: dict[str, int] = {}
    shares: list[list[int]] = [[] for _ in range(processes)]
    for at, run in enumerate(runs):
        query = run.id or run.run_id
        if at:
            shares[numbers.setdefault(query, len(numbers)) % processes].append(at)
    return shares


def _do(
    share: Sequence[int], runs: Sequence[Run], work: Callable[[Run], Result], reader: Connection, results: Connection
) -> None:
    """Send the results of a share by their positions, a few at once; nothing at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it hears of it
    gc.disable()  # judging leaves hardly a cycle, and the process ends with its share
    reader.close()
    with suppress(Exception):  # what fails here is done again by who waits; or nobody waits any more
        for start in range(0, len(share), AT_ONCE):
            results.send({at: work(runs[at]) for at in share[start : start + AT_ONCE]})
        results.send({})
