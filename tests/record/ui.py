"""Record the pages of a driver: `python -m tests.record.ui [PYTHON] > tests/sources/ui_4_3_0.json.gz`.

What a look asks of a driver that runs two queries, answer by answer, beside the progress that its event log has.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from advisor.errors import InputError
from advisor.sources.ui.driver import Driver
from advisor.sources.ui.web import Server

BATCHES = 12


class Recording(Server):
    """A server whose answers are kept by their paths."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.answers: dict[str, str] = {}

    def raw(self, path: str) -> bytes:
        found = super().raw(path)
        self.answers[path] = found.decode()
        return found


@contextlib.contextmanager
def running(workload: str, work: Path, python: str = sys.executable, *jars: str, port: str = "0") -> Iterator[str]:
    """Yield the address of a driver that runs a workload; at the end it is stopped, and its event log is whole."""
    script = Path(__file__).with_name("ui_queries.py")
    command = [python, str(script), workload, port, str(work), *jars]
    environment = os.environ | {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        (work / "console").open("w") as log,
        subprocess.Popen(command, **pipes, stderr=log, text=True, env=environment) as child,
    ):
        assert child.stdin is not None and child.stdout is not None
        try:
            address = child.stdout.readline().strip()
            if not address:
                raise RuntimeError((work / "console").read_text()[-2000:])
            yield address
        finally:
            child.stdin.close()
            child.wait(120)


def batches_of(driver: Driver, queries: int, wanted: int, seconds: float = 300) -> None:
    """Look until each of so many queries has shown so many batches."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(InputError):
            driver.look()
        counts = driver.reading().batches["run_id"].value_counts().to_pylist()
        if len(counts) >= queries and all(one["counts"] >= wanted for one in counts):
            return
        time.sleep(3)
    raise TimeoutError(f"{counts}")


def cleared(answers: dict[str, str], work: str) -> dict[str, str]:
    """The answers without what names this machine."""
    return {path: _cleared(text, work, environment=path.endswith("/environment")) for path, text in answers.items()}


def _cleared(text: str, work: str, *, environment: bool) -> str:
    found = json.dumps({"sparkProperties": json.loads(text)["sparkProperties"]}) if environment else text
    found = re.sub(r'"details" ?: ?"[^"]*"', '"details":""', found).replace(work, "/data")
    found = re.sub(r"call at \S*?(\w+\.py:\d+)", r"call at \1", found)
    return re.sub(r"/[\w/.-]*/(?:pyspark|lib/python[\d.]+)/[\w/.-]*", "/opt/python", found)


def main() -> None:
    """Write one recording."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        with running("two", work, *sys.argv[1:2]) as address:
            batches_of(Driver(Server(address), stages=False), 2, BATCHES)
            server = Recording(address)
            Driver(server).look()
        events = [json.loads(line) for path in (work / "events").rglob("*") if path.is_file() for line in path.open()]
        progress = [event["progress"] for event in events if event.get("Event", "").endswith("QueryProgressEvent")]
        whole = {
            "answers": cleared(server.answers, place),
            "progress": json.loads(json.dumps(progress).replace(place, "/data")),
        }
    sys.stdout.buffer.write(gzip.compress(json.dumps(whole).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
