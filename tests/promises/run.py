"""Try what the steps promise on real Spark, and write the table of promises kept into README.

`python -m tests.promises.run [--list] [--only TEXT] [--minutes N] [--delta]`; without options everything but Delta,
about an hour. Each case is a trial: baseline and candidate in turns, A B B A, on throw-away checkpoints. What was
promised is computed from the baseline's own batches. A case that was measured before is measured again and replaces
the old figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from advisor.bench import trial
from advisor.cli.spark import session
from advisor.errors import AdvisorError
from tests.promises.cases import DELTA, Case, cases, delta_cases
from tests.promises.table import markdown, written

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured.json"
README = HERE.parents[1] / "README.md"
RUNS = 4
SESSION = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


def main() -> None:
    """Measure the chosen cases; the file and the table grow case by case."""
    words = parser("promises", __doc__)
    words.add_argument(
        "--minutes", type=float, default=600.0, help="begin no case after that; the unmeasured come first"
    )
    words.add_argument("--delta", action="store_true", help="the cases with a Delta table; they need PySpark 4.0")
    asked = words.parse_args()
    chosen = [case for case in (delta_cases() if asked.delta else cases()) if asked.only in case.name]
    if asked.list or not chosen:
        print("\n".join(case.name for case in chosen) or f"no case holds {asked.only!r}")
        return
    until = time.monotonic() + asked.minutes * 60
    known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    chosen.sort(key=lambda case: case.name in known)
    with session("promises", "spark", SESSION | (DELTA if asked.delta else {})) as spark:
        for case in chosen:
            if time.monotonic() > until:
                break
            known[case.name] = measured(spark, case)
            print(case.name, json.dumps(known[case.name]), flush=True)
            MEASURED.write_text(json.dumps(known, indent=1) + "\n")
            README.write_text(written(README.read_text(), "promises", markdown(known)))


def parser(prog: str, doc: str) -> argparse.ArgumentParser:
    """The command line of what measures things that have names; `doc` is the module's."""
    made = argparse.ArgumentParser(prog=prog, description=doc.split("\n\n", maxsplit=1)[0])
    made.add_argument("--list", action="store_true", help="print the names and end")
    made.add_argument("--only", default="", help="those whose name holds this text")
    return made


def measured(spark: Any, case: Case) -> dict[str, Any]:
    """What one case gave: ms of the batch promised and measured, or why there is neither."""
    for key, value in case.conf.items():
        spark.conf.set(key, value)
    bounds = {"runs": RUNS, "batches": case.batches, "seconds": case.seconds, "state_rows": case.state_rows}
    try:
        tried = trial(case.build, [case.step], spark=spark, safe_sink=case.delta, **bounds).data
    except AdvisorError as error:
        return {"case": told(case), "spark": spark.version, "failed": str(error)}
    finally:
        for key in case.conf:
            spark.conf.unset(key)
        spark.conf.set("spark.sql.shuffle.partitions", SESSION["spark.sql.shuffle.partitions"])
    return {"case": told(case), "spark": spark.version, **outcome(tried)}


def told(case: Case) -> dict[str, str]:
    """The case in words."""
    return {"workload": case.workload, "settings": case.settings, "step": case.step}


def outcome(tried: dict[str, Any]) -> dict[str, Any]:
    """The batch before and after, with what was promised of the difference."""
    if not tried["effects"]:
        return {"failed": tried["says"]}
    total = tried["effects"][0]
    of_batch = [kept for kept in tried["promises"] if kept["of"] == "batch"]
    return {
        "before_ms": total["before_ms"],
        "after_ms": total["after_ms"],
        "saved_ms": -total["difference_ms"]["value"],
        "saved_between_ms": [-total["difference_ms"]["high"], -total["difference_ms"]["low"]],
        "promised_ms": of_batch[0]["predicted_ms"] if of_batch else None,
    }


if __name__ == "__main__":
    sys.exit(main())
