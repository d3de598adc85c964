"""The loop, live: attach, read the advice, apply it, see it measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from advisor.contract import Advice, Change, Comparison
from advisor.errors import InputError
from advisor.session import attach
from advisor.trials.run import Heard
from advisor.views.comparison import proof
from advisor.views.paste import pastes
from advisor.views.text import saving

if TYPE_CHECKING:
    from advisor.demo import Stage
    from advisor.session.live import LiveAdvisor

BATCHES: Final = 80
"""Batches of each run: enough to leave the warm-up behind."""
MOST_TIMES: Final = 2
"""The second run goes on to so many times that number where the comparison needs more."""
FIRST_SECONDS: Final = 35.0
"""The longest that the first run takes."""
BOTH_SECONDS: Final = 80.0
"""The longest that both take: the whole demonstration ends within two minutes on a slow machine too."""


def run_loop(spark: Any, place: Path, stage: Stage, *, batches: int = BATCHES) -> Comparison | None:
    """Run the stream, advise on it, restart it with the report's best step, and compare.

    Return the comparison, None where no step can be applied here or the runs cannot be compared. No query is left
    running.
    """
    with attach(spark, on_finding=lambda _: None) as advisor:
        return _Loop(spark, advisor, place, stage, batches).run()


@dataclass
class _Loop:
    spark: Any
    advisor: LiveAdvisor
    place: Path
    stage: Stage
    batches: int

    def run(self) -> Comparison | None:
        begin = time.monotonic()
        with self._running({}, {}) as first:
            first.has("as it is", self.batches, begin + FIRST_SECONDS)
        report = self.advisor.report()
        self.stage.show(report)
        best = report.typed.queries[0].best_step if report.typed.queries else None
        if best is None or not _applicable(best.advice):
            self.stage.say("There is no step here that a restart could apply.")
            return None
        self.stage.say(_applies(best.advice))
        change = best.advice.change
        with self._running(change.conf, change.writer_option) as second:
            return self._proved(second, begin + BOTH_SECONDS)

    def _proved(self, run: _Run, until: float) -> Comparison | None:
        try:
            found = self._measured(run, until)
        except InputError as error:
            self.stage.say(f"The two runs cannot be compared: {error}")
            return None
        for words in proof(found):
            self.stage.say(words)
        return found

    def _measured(self, run: _Run, until: float) -> Comparison:
        """Return the comparison, after as many more batches as it needs while there is time."""
        wanted, most = self.batches, MOST_TIMES * self.batches
        while True:
            in_time = run.has("with the step", wanted, until)
            found = self.advisor.compare().typed.comparisons[0]
            more = max((kept.more_batches or 0 for kept in found.promises), default=0)
            if not more or not in_time or wanted >= most:
                return found
            wanted = min(run.batches + more, most)

    @contextmanager
    def _running(self, conf: Mapping[str, str], options: Mapping[str, str]) -> Iterator[_Run]:
        """Start the query from its checkpoint, and stop it at the end."""
        for key, value in conf.items():
            self.spark.conf.set(key, value)
        # rate-micro-batch has rows for every batch; rate releases them by whole seconds, and most triggers find none.
        rows = self.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1000").load()
        writer = rows.selectExpr("value", "value % 100 AS bucket").writeStream.format("noop").queryName("demo")
        writer = writer.options(checkpointLocation=(self.place / "checkpoint").as_uri(), **options)
        run = _Run(self.advisor, writer.start(), self.stage.advance)
        try:
            yield run
        finally:
            run.query.stop()


class _Run(Heard):
    """One run of the query, which shows how far it is."""

    def __init__(self, advisor: LiveAdvisor, query: Any, advance: Callable[[str, float], None]) -> None:
        super().__init__(advisor, str(query.runId))
        self.query, self._advance = query, advance

    def has(self, words: str, wanted: int, until: float) -> bool:
        """Return True when there are so many batches, False when the time is over or the query has ended before."""
        begin = time.monotonic()

        def tell() -> None:
            done = max(self.batches / wanted, (time.monotonic() - begin) / (until - begin))
            self._advance(f"{words}: {self.batches} batches", done)

        in_time = self.wait(self.query, wanted, until, tell)
        self._advance(f"{words}: {self.batches} batches", 1.0)
        return in_time


def _applies(step: Advice) -> str:
    lines = [line for paste in pastes(step.change) for line in paste.lines]
    promise = saving(step.saves_ms)
    expects = f" Promised: {promise}, per batch." if promise else ""
    return f"The same query again, from its checkpoint, with: {step.do}.{expects}\n  " + "\n  ".join(lines)


def _applicable(step: Advice) -> bool:
    """Whether a restart of this query from its checkpoint, in the same session, is all that it takes."""
    change = step.change
    in_session = all(key.startswith("spark.sql.") for key in change.conf)
    alone = change == Change(writer_option=change.writer_option, conf=change.conf)
    return step.legal == "yes" and step.takes == "restart" and alone and in_session
