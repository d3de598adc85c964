"""The log4j2 settings with which a Spark driver writes its progress events to a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from advisor.errors import UsageError


def log4j_settings(log: str | Path) -> str:
    """A log4j2 properties file that writes the driver's log to the file `log`, 100 MB at a time, the last ten kept.

    Its comments say how it is used. UsageError for a name that no line of the file can hold.
    """
    if not str(log).isprintable():
        raise UsageError("--log", "the name holds a line break or another control character", "give another name")
    settings = (files("advisor") / "log4j2.properties").read_text(encoding="utf-8")
    return settings.replace("{log}", str(log).replace("\\", "\\\\"))
