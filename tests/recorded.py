"""What the program says of every recorded case, to compare two states of the code.

    python -m tests.recorded write FOLDER
    python -m tests.recorded compare OLD NEW

`write` stores, for each case of sample_progress/, its report as JSON and its first screen.
`compare` lists the files that differ and, for JSON, the values that do. `tests/test_recorded.py` holds their digests.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

import advisor
from advisor.views.shown import Report
from advisor.views.terminal import report_as_text

ROOT = Path(__file__).parents[1]
_LONG = re.compile(r"\d+\.\d{8,}(e-?\d+)?")
CASES = sorted(str(path.parent.relative_to(ROOT)) for path in (ROOT / "sample_progress").glob("*/*/sample.yaml"))


def sample(case: str) -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load((ROOT / case / "sample.yaml").read_text())
    return described


@lru_cache(maxsize=2)  # the tests ask one case after the other
def report(case: str, *wishes: str) -> Report:
    """The report on a case; `case` is its folder, from the project's root."""
    before = Path.cwd()
    os.chdir(ROOT)  # a report names its files as they were given
    try:
        return advisor.analyze([case], set=wishes)
    finally:
        os.chdir(before)


def said(case: str) -> dict[str, str]:
    """The texts of a case by their file name."""
    found = report(case)
    return {"stages.json": as_json(found.data), "screen.txt": report_as_text(found.typed)}


def as_json(report: dict[str, Any]) -> str:
    """The report's text, in which 1 is not 1.0."""
    return json.dumps(report, sort_keys=True, indent=1)


def digest(text: str) -> str:
    """The last digits of a sum differ between processors, so long numbers count up to their ninth digit."""
    return hashlib.sha256(_LONG.sub(_short, text).encode()).hexdigest()[:16]


def _short(number: re.Match[str]) -> str:
    return f"{float(number.group()):.9g}"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        for name, text in said(case).items():
            (folder / f"{'+'.join(Path(case).parts[1:])}.{name}").write_text(text)


def differences(old: object, new: object, at: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{at}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{at}[{index}]")
    elif old != new:
        yield f"{at}: {str(old)[:90]} | {str(new)[:90]}"


def compare(old: Path, new: Path) -> int:
    names = sorted({path.name for folder in (old, new) for path in folder.iterdir()})
    different = 0
    for name in names:
        before, after = (path.read_text() if path.exists() else "null" for path in (old / name, new / name))
        if before == after:
            continue
        different += 1
        print(name)
        if name.endswith(".json"):
            print(*list(differences(json.loads(before), json.loads(after)))[:20], sep="\n  ")
    print(f"{len(names) - different} of {len(names)} the same")
    return different


if __name__ == "__main__":
    given = [Path(text) for text in sys.argv[2:]]
    sys.exit(bool(compare(*given)) if sys.argv[1] == "compare" else write(*given))
