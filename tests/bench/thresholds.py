"""What recorded runs show of the numbers at which thresholds of rules were chosen.

    python -m tests.bench.thresholds LOG_OR_REPORT...

Prints a line for each query: its log, then what each threshold looks at. A report is what `--format json` printed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import advisor

OF_FACTS, OF_METRICS = ("plan_words", "projections", "listed_files"), ("python_per_row_ms", "small_files_share")


def looked_at(query: dict[str, Any]) -> dict[str, float]:
    """Return what the thresholds look at, as far as it is known: words, rows, ms, shares of the batch."""
    found = {name: query["facts"].get(name, {}).get("value") for name in OF_FACTS}
    typical = {name: metric.get("typical") for name, metric in query["metrics"].items()}
    found |= {name: typical.get(name) for name in OF_METRICS}
    rows, files, batch = (typical.get(name) for name in ("input_rows", "files_per_batch", "trigger_execution_ms"))
    found["rows_a_file"] = rows / files if rows and files else None
    new = [step for one in query["findings"] for step in one["steps"] if step["takes"] == "new_checkpoint"]
    saved = [(step.get("saves_ms") or {}).get("expected") for step in new if step["legal"] != "no"]
    found["new_checkpoint_share"] = max((ms for ms in saved if ms), default=0.0) / batch if batch else None
    return {name: round(value, 3) for name, value in found.items() if value}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        report = json.loads(Path(path).read_text()) if path.endswith(".json") else advisor.analyze(path).data
        for query in report["queries"]:
            print(path, query["name"], *(f"{name}={value:g}" for name, value in looked_at(query).items()), flush=True)
