"""The table of sample_progress/README.md, made from every sample.yaml."""

from __future__ import annotations

import json
from pathlib import Path

HEAD = """# Samples that Spark wrote

A real Spark wrote every file here, on a small machine (2 cores; local disk unless the row names S3A); nothing was
typed by hand. The recorder removed what names the machine (host, user, addresses, paths: the work directory became
`/data`, the laboratory `/opt/lab`), compressed big files, and merged an event log's many small zstd frames. `expect`
names the rules that must fire; under `healthy/` no rule may fire.

Record one again with the command of its row; `make samples` records all. `python tests/record/run.py --help` says where
environments and jars go.

| folder | what it is | made by | Spark | expect | set |
|---|---|---|---|---|---|
"""


def write(samples: Path, notes: Path) -> None:
    """README.md beside the samples: the table, then the notes."""
    rows = [row(path) for path in sorted(samples.glob("*/*/sample.yaml"))]
    (samples / "README.md").write_text(HEAD + "".join(rows) + "\n" + notes.read_text())


def row(path: Path) -> str:
    """One sample's line of the table."""
    sample = {key: json.loads(value) for key, value in (line.split(": ", 1) for line in path.read_text().splitlines())}
    given = " ".join(f"{fact}={value}" for fact, value in sample["set"].items())
    folder = path.parent.relative_to(path.parent.parent.parent)
    cells = (
        f"`{folder}`",
        sample["says"],
        f"`{sample['made_by']}`",
        sample["spark"],
        " ".join(sample["expect"]) or "nothing",
        given,
    )
    return f"| {' | '.join(cells)} |\n"
