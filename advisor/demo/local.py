"""A small stream in a process of its own: started, watched, ended in any case."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

LOG = "driver.log"
_ERRORS = "errors.txt"
_GRACE = 60  # seconds that Spark may take to start and to stop, on a slow machine


class NoStreamError(Exception):
    """Spark could not run the stream; the message says why."""


def spark_missing() -> str | None:
    """Why no stream can run here, in a few words; None if one can."""
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (home and (Path(home) / "bin" / "java").is_file()):
        return "there is no Java here (Spark 4 wants 17 or newer)"
    if find_spec("pyspark") is None:
        return "PySpark is not installed (pip install 'streaming-latency-advisor[spark]')"
    return None


def run_stream(
    place: Path,
    seconds: int,
    advance: Callable[[str, float], None],
    program: Sequence[str] = ("-m", "advisor.demo.stream"),
    grace: float = _GRACE,
) -> None:
    """Run the stream for so long with its driver log in `place`; it is gone afterwards, whatever happens.

    `advance` takes what was done and the part of the time that is over. A stream that hangs is ended, and
    what it has written will do. Raises NoStreamError if there is no progress in its log.
    """
    with _started([sys.executable, *program, str(place), str(seconds)], place, seconds + grace) as stream:
        for line in stream.stdout or ():
            done, _, words = line.strip().partition(" ")
            advance(words, float(done))
        code = stream.wait()
    if not _has_progress(place / LOG):
        raise NoStreamError(_last_words(place / _ERRORS, code))


@contextmanager
def _started(command: list[str], place: Path, limit: float) -> Iterator[subprocess.Popen[str]]:
    with (place / _ERRORS).open("w") as errors:
        # A session of its own, so that Ctrl-C ends the stream here and in one place.
        stream = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True, env=_environment()
        )
    clock = threading.Timer(limit, _end, [stream])
    clock.start()
    try:
        yield stream
    finally:
        clock.cancel()
        _end(stream)
        if stream.stdout:
            stream.stdout.close()


def _environment() -> dict[str, str]:
    """This environment, with this Python for Spark, and without another Spark's home."""
    kept = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS")}
    return kept | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}


def _end(stream: subprocess.Popen[str]) -> None:
    """End the process and the Java machine that it started."""
    try:
        os.killpg(stream.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except AttributeError:  # no process groups on Windows
        stream.kill()
    stream.wait()


def _has_progress(log: Path) -> bool:
    return log.is_file() and b"made progress" in log.read_bytes()


def _last_words(errors: Path, code: int) -> str:
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"it ended with {code} before its first batch"
