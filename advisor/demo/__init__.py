"""The demonstration: advice on a shipped log, then on a small stream that runs here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from advisor.api import analyze
from advisor.demo.local import LOG, NoStreamError, run_stream, spark_missing

if TYPE_CHECKING:
    from advisor.report import Report

SAMPLE = "driver.log.gz"
_RECORDED = Path("sample_progress", "LG001", "rate-to-noop-4.3.0", SAMPLE)


def sample() -> Path:
    """The shipped log: in an installed package, else in the repository."""
    package = Path(__file__).parents[1]
    shipped = package / "_sample" / SAMPLE
    return shipped if shipped.is_file() else package.parent / _RECORDED


def run(
    say: Callable[[str], None],
    show: Callable[[Report], None],
    advance: Callable[[str, float], None],
    *,
    seconds: int = 30,
    no_spark: bool = False,
) -> None:
    """Advise on the shipped log and, where Spark can run, on a stream of so many seconds.

    `say` takes a line of text, `show` a report, `advance` what the stream has done and the part
    of its time that is over.
    """
    say("1. A log that Spark 4.3.0 wrote: a stateless stream, checkpoint on a local disk.\n")
    show(analyze([str(sample())]))
    missing = "it was not asked for" if no_spark else spark_missing()
    if missing:
        say(f"\n2. No stream runs here: {missing}.")
    else:
        say(f"\n2. The same kind of stream, here, for {seconds} s.\n")
        _live(say, show, advance, seconds)
    say("\nNow your own log: latency-advisor analyze driver.log")


def _live(
    say: Callable[[str], None], show: Callable[[Report], None], advance: Callable[[str, float], None], seconds: int
) -> None:
    with TemporaryDirectory(prefix="latency-advisor-demo-", ignore_cleanup_errors=True) as place:
        try:
            run_stream(Path(place), seconds, advance)
        except NoStreamError as error:
            say(f"The stream did not run: {error}")
            return
        # No line of a log names the trigger; here it is known.
        show(analyze([str(Path(place) / LOG)], set=["trigger=unspecified"]))
