"""The errors that a user of the advisor meets: one family."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable

TRACEBACK = "LATENCY_ADVISOR_TRACEBACK"
"""Set to anything in the environment, it shows where an error came from."""
WAYS = {
    "a query that runs": "latency-advisor analyze http://driver:4040",
    "driver log by one setting": "spark.driver.log.localDir=DIR",
    "attach": 'advisor.attach(spark, history="progress/")',
    "event log": "spark.eventLog.enabled=true and spark.eventLog.dir=DIR",
    "driver log in a file": "the settings that `latency-advisor log4j` prints",
    "Databricks": "cluster logs",
    "EMR": "the driver's stderr",
    "Kubernetes": "kubectl logs",
}
"""Ways to a log that shows progress, in the words of docs/get-a-log.md."""
PROGRESS_NEEDS_INFO = (
    "Spark writes progress at level INFO; on Spark 4, PySpark's console never shows it. Ways to get it: "
    + "; ".join(f"{where}: {way}" for where, way in WAYS.items())
)
"""What to do where there is no progress."""
WHOLE_RECORDS = (
    "No record here is whole enough to be judged. A running query prints whole ones:\n"
    "PySpark: import json; [print(json.dumps(p, default=str)) for p in query.recentProgress]\n"
    "Scala: query.recentProgress.foreach(p => println(p.json))\n"
    "Give what that prints"
)
"""How to get records that can be judged where only pieces of some are there."""
_LONGEST_NAME = 100
_LONGEST = 1000
"""Letters at each end of a message's line that are shown."""
_FILES = (".gz", ".html", ".json", ".jsonl", ".log", ".md", ".txt", ".yaml", ".yml", ".zip", ".zst")
"""What shows that a place is a file."""
_FEW = 3


class AdvisorError(Exception):
    """Something the user can put right: where it is, what was found there, and what would do."""

    def __init__(self, place: str, found: str, would_do: str = "") -> None:
        self.place = place
        self.found = found
        self.would_do = would_do
        super().__init__(place, found, would_do)

    def __str__(self) -> str:
        """One line, or several where several things are wrong: `place: found; would_do`, without credentials."""
        from advisor.redaction import hide_lines  # noqa: PLC0415 - a tenth of a second that --help does not pay

        said = f"{self.found}; {self.would_do}" if self.would_do else self.found
        place = " ".join(self.place.split("\n"))
        if place.startswith("--") or "/" in place or place.endswith(_FILES):
            # By itself: it may read like the name of a credential.
            return _cut(f"{hide_lines(place)}: {hide_lines(said)}")
        return _cut(hide_lines(f"{place}: {said}" if place else said))

    def _render_traceback_(self) -> list[str]:
        """What a notebook's cell shows: the line alone, with the traceback only if it is asked for."""
        if os.environ.get(TRACEBACK):
            return traceback.format_exception(self)
        return [f"{type(self).__name__}: {self}"]


class InputError(AdvisorError):
    """A file, directory or stream that cannot be read, or that holds no streaming progress."""


class CatalogueError(AdvisorError):
    """A rule file, or a configuration file, with something that the advisor does not know."""


class UsageError(AdvisorError):
    """A command, an option or a fact that was asked for in a way that cannot be carried out."""


def misfit(error: Exception) -> UsageError | None:
    """The error in one line where pyarrow was not imported because numpy is too old for it; None of any other."""
    if not isinstance(error, ImportError) or "requires NumPy 2" not in str(error):
        return None
    from importlib.metadata import version  # noqa: PLC0415 - a tenth of a second that --help does not pay

    would_do = "pip install 'pyarrow<26' (with PySpark 3.5, which needs numpy 1), or pip install 'numpy>=2'"
    return UsageError(f"pyarrow {version('pyarrow')}", f"it does not run with numpy {version('numpy')}", would_do)


def fault(error: BaseException) -> str:
    """What went wrong inside the advisor, in one line: class and message. The traceback goes to stderr if asked for."""
    from advisor.redaction import redact  # noqa: PLC0415 - only a fault waits for it

    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    return redact(f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": "))


def _cut(lines: str) -> str:
    """Return lines, of each that is very long its beginning and its end."""
    each = lines.split("\n")
    return "\n".join(line if len(line) <= 2 * _LONGEST else f"{line[:_LONGEST]} … {line[-_LONGEST:]}" for line in each)


def short(name: str) -> str:
    """A name in quotes as a message shows it; of a very long one its beginning."""
    return f"'{name}'" if len(name) <= _LONGEST_NAME else f"'{name[:_LONGEST_NAME]}…'"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean 'stateful'?` where one of the known names is near or holds it, else what would do `otherwise`."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes waits for it

    others = [other for other in known if other != name]
    near = get_close_matches(name[:_LONGEST_NAME], others, 1) or [
        other for other in others if len(name) > 2 and name in other
    ]
    return f"did you mean {' or '.join(map(repr, near[:_FEW]))}?" if near else otherwise
