"""One run of a trial: a query on a throw-away checkpoint until enough of its batches are steady."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from multiprocessing import active_children
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.batches import SCHEMA, Reading
from advisor.catalogue import Catalogue
from advisor.contract import OnTrial
from advisor.errors import AdvisorError, UsageError, fault
from advisor.facts import Facts
from advisor.metrics.operators import per_batch
from advisor.metrics.units import interval
from advisor.redaction import redact
from advisor.report.assemble import judged_runs
from advisor.session import attach
from advisor.session.live import LiveAdvisor
from advisor.trials.guard import check
from advisor.trials.setup import Permissions, Setup
from advisor.trials.throwaway import own_topic
from advisor.window import Window, run_window

STOP_TIMEOUT: Final = "60s"
SMALLER_STATE: Final = 0.9  # of the rows asked for: from there on a batch counts
WARM: Final = 2
"""Steady batches that a run needs to warm up: two show the pace."""
WARM_SECONDS: Final = 20.0
"""For which a warm-up goes on all the same where its batches are short."""
_ASK_SECONDS: Final = 1.0
_NO_CAUSE: Final = ("[STREAM_FAILED]", "Query [", "=== ", "Current ", "An error occurred while calling ")


@dataclass(frozen=True)
class Bounds:
    """How long a trial may be: so many runs, steady batches of each, seconds of each; state that must be there.

    `most_runs`: where so many runs cannot tell.
    """

    runs: int
    batches: int
    seconds: float
    state_rows: int | None = None
    most_runs: int = 0


@dataclass(frozen=True)
class Run:
    """A run's result: its steady batches, Spark's words if it refused, the record latency if that was measured.

    `seconds`: from its start to its last batch. `asked`: steps that its function asked for.
    """

    variant: OnTrial
    run_id: str | None
    window: Window
    refused: str | None
    latency: Mapping[str, float]
    seconds: float = 0.0
    asked: frozenset[str] = frozenset()

    @property
    def facts(self) -> Facts:
        """What is known of the run."""
        return self.window.facts

    @property
    def state_rows(self) -> float:
        """The most rows of state that a judged batch had; 0 without state."""
        return float(state_rows(self.window).max()) if len(self.window) else 0.0


class Runner:
    """Runs one side at a time, each in a session of its own beside the user's."""

    def __init__(
        self,
        spark: Any,
        build: Callable[[Setup], Any],
        bounds: Bounds,
        permissions: Permissions,
        catalogue: Catalogue,
        latency: Any = None,
    ) -> None:
        """`latency(setup)`: a context manager around each run that measures record latency."""
        self.spark, self.build, self.bounds, self.permissions = spark, build, bounds, permissions
        self.latency: Any = latency or (lambda _: nullcontext(lambda *_: {}))
        self.catalogue = catalogue

    def run(self, variant: OnTrial, name: str, place: str, *, warms_up: bool = False) -> Run:
        """Run it; UsageError where it must not run. A run that warms up ends with two steady batches."""
        with _running(self.spark):
            session = _session(self.spark, variant)
            setup = Setup(session, name, place, variant)
            with self.latency(setup) as measured, attach(session, on_finding=lambda _: None) as live:
                heard = Heard(live)
                try:
                    return self._watched(setup, live, heard, measured, warms_up)
                finally:
                    for query in session.streams.active:
                        query.stop()

    def _watched(self, setup: Setup, live: LiveAdvisor, heard: Heard, measured: Any, warms_up: bool) -> Run:
        writer = self._built(setup)
        with own_topic(setup, check(writer, setup, self.permissions)):
            try:
                query = self._on_trial(writer, setup).start()
            except Exception as error:  # Spark's own refusals have no common class
                return Run(setup.variant, None, _nothing(), _words(error), {})
            begun = time.monotonic()
            judged = self._steady(query, live, heard, warms_up)
            seconds = time.monotonic() - begun
            refused = _words(query.exception()) if query.exception() is not None else None
            query.stop()
            # Not the batches until the stop, too: beside faster ones some of the others would count as cold again.
            window = self._window(replace(judged, inside=live.opened().inside))
            latency = measured(*map(pd.Timestamp, window.span)) if len(window) else {}  # type: ignore[arg-type]
            asked = frozenset(setup.asked)
            return Run(setup.variant, str(query.runId), window, refused, latency, seconds, asked)

    def _built(self, setup: Setup) -> Any:
        """Return what the user's function gives; UsageError for what it raises. A copy of this process ends here."""
        own = os.getpid()
        try:
            return self.build(setup)
        except (AdvisorError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise UsageError("trial", f"the function raised {fault(error)}", "correct it") from error
        finally:
            if os.getpid() != own:
                os._exit(0)

    def _on_trial(self, writer: Any, setup: Setup) -> Any:
        writer = writer.queryName(setup.name).option("checkpointLocation", f"{setup.place}/checkpoint")
        for key, value in setup.variant.writer_option.items():
            writer = writer.option(key, value)
        every = setup.variant.trigger.get("processing_time")
        return writer.trigger(processingTime=interval(every)) if every else writer

    def _steady(self, query: Any, live: LiveAdvisor, heard: Heard, warms_up: bool) -> Reading:
        """Return what was read when enough batches are steady, time is over or the query has ended."""
        until, enough = time.monotonic() + self.bounds.seconds, WARM if warms_up else self.bounds.batches
        wanted = enough
        if warms_up:
            heard.wait(query, self.bounds.batches, min(until, time.monotonic() + WARM_SECONDS))
            wanted = heard.batches
        while True:
            goes_on = heard.wait(query, wanted, until)
            reading = live.recorder.reading()
            steady = len(self._window(reading))
            if steady >= enough or not goes_on:
                return reading
            wanted = heard.batches + max(1, (enough - steady) // 2)

    def _window(self, reading: Reading) -> Window:
        runs = judged_runs(reading, self.catalogue)
        if not runs:
            return _nothing()
        window = runs[-1].window
        if not self.bounds.state_rows or not len(window):
            return window
        filled = state_rows(window) >= SMALLER_STATE * self.bounds.state_rows
        return window.only(filled, "batches with the state that was asked for")


def state_rows(window: Window) -> np.ndarray:
    """Rows of state in each batch, of all operators; 0 without state."""
    rows: np.ndarray = np.nan_to_num(per_batch(window, window.operators["rows_total"]))
    return rows


class Heard:
    """Counts the batches of a session's one query, or of one run of it, as its advisor hears of them."""

    def __init__(self, live: LiveAdvisor, run_id: str = "") -> None:
        self.batches, self.ended, self._run_id = 0, False, run_id
        self._news = threading.Condition()
        self._inner, live.recorder.changed = live.recorder.changed, self._changed

    def wait(self, query: Any, batches: int, until: float, tell: Callable[[], None] = lambda: None) -> bool:
        """Return when so many batches have come; False when the query has ended or time is over. `tell`: meanwhile."""
        while not self._enough(batches):
            if time.monotonic() >= until or not query.isActive:
                return False
            tell()
        return not self.ended and time.monotonic() < until

    def _enough(self, batches: int) -> bool:
        with self._news:
            return self._news.wait_for(lambda: self.ended or self.batches >= batches, _ASK_SECONDS)

    def _changed(self, id: str, run_id: str, ended: bool) -> None:
        if self._run_id in ("", run_id):
            with self._news:
                self.batches += not ended
                self.ended = self.ended or ended
                self._news.notify_all()
        self._inner(id, run_id, ended)


@contextmanager
def _running(spark: Any) -> Iterator[None]:
    """End what was begun in processes meanwhile; UsageError where Spark has been stopped, whatever that raised."""
    before, raised = active_children(), None
    try:
        yield
    except Exception as error:
        raised = error
    finally:
        for child in active_children():
            if child not in before:
                child.terminate()
    try:
        stopped = spark.sparkContext._jsc is None or spark.sparkContext._jsc.sc().isStopped()
    except Exception:  # Py4J raises what it likes where the JVM is gone
        stopped = True
    if stopped:
        raise UsageError("trial", "Spark was stopped in a run", "take stop() out of the query's code") from raised
    if raised:
        raise raised


def _session(spark: Any, variant: OnTrial) -> Any:
    """A session with the user's settings and temporary views, and those on trial; the user's keeps its own."""
    session = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    session.conf.set("spark.sql.streaming.stopTimeout", STOP_TIMEOUT)
    for key, value in variant.conf.items():
        try:
            session.conf.set(key, value)
        except Exception as error:
            raise UsageError(key, _words(error), "a trial can only change what a running session accepts") from None
    return session


def _words(error: Any) -> str:
    """Return Spark's error in one line, without addresses and credentials."""
    lines = [line.strip(": ") for line in str(error).splitlines() if line.strip()]
    named = (line for line in lines if not line.startswith(_NO_CAUSE))
    return redact(next(named, lines[0] if lines else type(error).__name__))


def _nothing() -> Window:
    return run_window(SCHEMA.empty_table(), Facts({}, []))
