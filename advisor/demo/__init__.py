"""The demonstration: advice on a shipped log, then on a stream that runs here, applied and measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from advisor.api import analyze
from advisor.demo.spark import LOG, NoSparkError, spark_missing, started

if TYPE_CHECKING:
    from advisor.views.shown import Report

__all__ = ["Stage", "run", "sample"]

SAMPLE = "driver.log.gz"
_RECORDED = Path("sample_progress", "LG001", "rate-to-noop-4.3.0", SAMPLE)


@dataclass(frozen=True)
class Stage:
    """Where the demonstration prints: lines of text, reports, and what is done with the share that is over."""

    say: Callable[[str], None]
    show: Callable[[Report], None]
    advance: Callable[[str, float], None]


def sample() -> Path:
    """The shipped log: in an installed package, else in the repository."""
    package = Path(__file__).parents[1]
    shipped = package / "_sample" / SAMPLE
    return shipped if shipped.is_file() else package.parent / _RECORDED


def run(stage: Stage, *, no_spark: bool = False) -> None:
    """Advise on the shipped log; where Spark can run, on a stream that runs here, and measure what the advice did.

    Nothing is left behind, also on Ctrl-C.
    """
    stage.say("1. A log that Spark 4.3.0 wrote: a stateless stream, checkpoint on a local disk.\n")
    stage.show(analyze([str(sample())]))
    missing = "--no-spark was given" if no_spark else spark_missing()
    if missing:
        stage.say(f"\n2. No stream runs here: {missing}.")
    else:
        _live(stage)
    stage.say("\nNow your own log: latency-advisor analyze driver.log")


def _live(stage: Stage) -> None:
    from advisor.demo.loop import run_loop  # noqa: PLC0415 - needs Spark, an extra

    stage.say("\n2. A stream that runs here, with the advisor attached: rows without state.\n")
    with TemporaryDirectory(prefix="latency-advisor-demo-", ignore_cleanup_errors=True) as name:
        stage.advance("starting Spark", 0.0)
        place = Path(name)
        try:
            with started(place) as spark:
                if address := spark.sparkContext.uiWebUrl:
                    stage.say(f"Its UI while it runs; in another terminal: latency-advisor watch {address}\n")
                run_loop(spark, place, stage)
        except NoSparkError as error:
            stage.say(f"No stream runs here: Spark did not start: {error}")
            return
        stage.say("\n3. The driver log that this stream wrote, read like any other.\n")
        stage.show(analyze([str(place / LOG)]))
