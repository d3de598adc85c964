"""The long search: `python -m tests.fuzz [SECONDS]`; first what failed before, which stays in .fuzz, is tried again.

Hypothesis makes the inputs. A coverage-guided fuzzer (atheris) was looked at: it lives on thousands of tries a second,
and one try here, from bytes to every view, takes a tenth of a second; most of it in compiled code that it cannot see.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.inputs import Input
from tests.fuzz.passes import PROPERTIES, Property

FOUND = Path(".fuzz")
AT_A_TIME = 10
"""Inputs of one search: few, so that the time is kept and each search begins elsewhere."""


def kept_for(name: str, holds: Callable[[Input], None], folder: Path) -> Callable[[Input], None]:
    """The same property, which leaves an input that fails as a file NAME-DIGEST."""

    def kept(one: Input) -> None:
        try:
            holds(one)
        except Exception:
            folder.mkdir(exist_ok=True)
            (folder / f"{name}-{hashlib.sha256(one.raw).hexdigest()[:12]}").write_bytes(one.raw)
            raise

    return kept


def search(name: str, wanted: Property) -> str:
    """Try some inputs; the traceback of the smallest that fails, or nothing."""
    some = settings(
        max_examples=AT_A_TIME, deadline=None, derandomize=False, database=None, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    try:
        some(given(wanted.inputs)(kept_for(name, wanted.holds, FOUND)))()
    except Exception as error:
        return _told(name, error)
    return ""


def _told(name: str, error: Exception) -> str:
    """Where it failed; what failed is kept as a file."""
    error.__notes__ = []
    return f"== {name}\n" + "".join(traceback.format_exception(error, limit=-4))


def again(path: Path) -> str:
    """Try an input that failed before."""
    name = path.name.rpartition("-")[0]
    try:
        PROPERTIES[name].holds(Input(path.read_bytes()))
    except Exception as error:
        return _told(name, error)
    path.unlink()
    return ""


def main(seconds: float) -> int:
    """Search for so long; how many searches failed."""
    failed = [said for path in sorted(FOUND.glob("*-*")) if (said := again(path))]
    end, tried = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for name, wanted in PROPERTIES.items():
            failed += filter(None, [search(name, wanted)])
            tried += AT_A_TIME
    print(*failed, f"{tried} inputs, {len(failed)} failures" + (f"; they are in {FOUND}" if failed else ""), sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 3600))
