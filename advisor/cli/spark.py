"""The Spark that a command starts for itself, and the settings that its user gives."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from advisor.errors import UsageError


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Settings from KEY=VALUE; UsageError where one has no value."""
    for text in texts:
        key, sign, _ = text.partition("=")
        if not sign or not key.strip():
            raise UsageError(option, f"{text!r} has no {'key' if sign else 'value'}", "write KEY=VALUE")
    given = dict(text.split("=", 1) for text in texts)
    if len(given) < len(set(texts)):
        raise UsageError(option, "one key has two values", "give it once")
    return given


@contextmanager
def session(command: str, settings: Mapping[str, str]) -> Iterator[Any]:
    """A quiet session with these settings, stopped at the end; UsageError where PySpark or Java is missing."""
    from advisor.cluster.session import refuse_master, started

    refuse_master("--spark", settings.get("spark.master"))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = started(command, settings, f"latency-advisor-{command}")
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


def end_in_order() -> None:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does, so that nothing which it started outlives it.

    The tracebacks of calls that this ended in the JVM, which py4j logs, are kept off the terminal.
    """
    if threading.current_thread() is threading.main_thread():  # elsewhere Python sets no handler
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):  # Windows has one of them
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores the other
                signal.signal(number, signal.default_int_handler)
    ended = "while sending command.", "while shutting down connection"
    for logger in (None, "py4j.clientserver"):
        logging.getLogger(logger).addFilter(lambda record: not str(record.msg).endswith(ended))
