"""Servers of the laboratory as processes of their own: started, watched, ended in any case."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

READY_SECONDS: Final = 300.0
"""For a server that runs: one that ends is told at once, and a busy machine is slow."""
_GRACE_SECONDS: Final = 15.0


@contextlib.contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[str]]:
    """The process of this command, its words in `log`; it is gone afterwards. Its standard output can be read."""
    with log.open("w") as words:
        # A session of its own: Ctrl-C reaches this process only, which then ends the server in good order.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True, start_new_session=True
        )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        _close(pipe)


def _close(pipe: IO[str] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


def free_port() -> int:
    """A port of the loopback that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A directory that is gone afterwards."""
    place = Path(tempfile.mkdtemp(prefix="latency-advisor-lab-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def last_words(log: Path) -> str:
    """The last line that the process wrote, or that it said nothing."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word"
