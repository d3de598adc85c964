"""How often a trial sees a difference where there is none: the same query against itself, on real Spark.

`python -m tests.promises.null [--trials 20]` prints each trial's verdict, and how many were false alarms.
"""

from __future__ import annotations

import argparse
import sys
from itertools import cycle, islice
from typing import Any

from advisor.cli.spark import session
from advisor.trials import trial
from tests.promises.cases import STATEFUL, Case
from tests.promises.run import RUNS, SESSION
from tests.promises.workloads import stateless

NOTHING = {"conf": {"spark.sql.streaming.aSettingThatNobodyReads": "1"}}
QUERIES = {"stateless": (stateless(1_000), None), **STATEFUL}


def main() -> None:
    """Run the trials, the queries in turns."""
    parser = argparse.ArgumentParser(prog="null", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, default=20)
    asked = parser.parse_args()
    alarms = 0
    with session("null", SESSION) as spark:
        for name, (build, state) in islice(cycle(QUERIES.items()), asked.trials):
            bounds: dict[str, Any] = {"runs": RUNS, "batches": Case.batches, "seconds": Case.seconds}
            tried = trial(build, [NOTHING], spark=spark, state_rows=state, **bounds)
            alarms += tried.verdict in ("faster", "slower")
            print(name, tried.verdict, tried.data["says"], flush=True)
    print(f"{alarms} of {asked.trials} trials saw a difference where there is none")


if __name__ == "__main__":
    sys.exit(main())
