"""Workers with a Spark of some version each, which run queries on checkpoints as they are told (worker.py)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")


class Worker:
    """One Spark in a process of its own; `python`: the interpreter of the environment with that PySpark."""

    def __init__(self, python: str, place: Path) -> None:
        self._python, self._place = python, place
        place.mkdir(parents=True, exist_ok=True)
        self._begin()

    def _begin(self) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK", "PYTHONPATH"))}
        with (self._place / "stderr").open("w") as errors:
            self._process = subprocess.Popen(
                ["nice", "-n", "10", self._python, str(WORKER), str(self._place)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
                env={**kept, "PYSPARK_PYTHON": self._python},
            )  # fmt: skip
        told = self._answer()
        self.version, self._jvm = told["version"], told["pid"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask(self, **order: Any) -> dict[str, Any]:
        """Give an order and return the answer."""
        assert self._process.stdin is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return self._answer()

    def freeze(self) -> None:
        """Stop the JVM where it is: what lies on the disk now is what a crash leaves."""
        os.kill(self._jvm, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._jvm, signal.SIGCONT)

    def kill(self) -> None:
        """End all at once, as kill -9 does, and begin anew."""
        self._end()
        self._begin()

    def close(self) -> None:
        self._end()

    def _end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
