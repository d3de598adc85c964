"""Several steps at once: what they promise in common beside what they save.

`python -m tests.promises.together [--list] [--only TEXT] [--minutes N]` needs the group lab; a table in
docs/measurements.md gets a row for each. Each is a trial as in `tests.promises.run`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from advisor.cli.spark import session
from advisor.comparison.levels import TOTAL
from advisor.comparison.promises import verdict
from advisor.contract import Outcome, Promise
from advisor.metrics import Estimate
from advisor.views.text import plural
from lab.offsets.queries import Kafka
from tests.promises.cases import ASYNC, CHANGELOGS, FETCHES, FEWER, STATEFUL, Case, Servers, with_partitions
from tests.promises.run import SESSION, keep, lab, on_trial, outcome, parser
from tests.promises.scoreboard import interval
from tests.record.cases import ROCKSDB

FILE = Path(__file__).with_name("together.json")
HEAD = (
    "| query | settings | steps | before, ms | promised, ms | measured, ms | runs | |",
    "|---|---|---|---:|---:|---:|---:|---|",
)


def main() -> None:
    """Measure the chosen cases; the file and the table grow case by case."""
    words = parser("together", __doc__)
    words.add_argument("--minutes", type=float, default=60.0, help="begin no case later; the unmeasured come first")
    asked = words.parse_args()
    names = [case.name for case in cases(Servers()) if asked.only in case.name]
    if asked.list or not names:
        print("\n".join(names) or f"no case holds {asked.only!r}")
        return
    until, known = time.monotonic() + asked.minutes * 60, json.loads(FILE.read_text()) if FILE.exists() else {}
    with session("together", SESSION) as spark, lab(spark, names) as servers:
        chosen = [case for case in cases(servers) if case.name in names]
        for case in sorted(chosen, key=lambda case: case.name in known):
            if time.monotonic() > until:
                break
            keep(FILE, known, {case.name: _measured(spark, case, until)}, "together", markdown)


def cases(servers: Servers) -> Iterator[Case]:
    """Changelogs with fewer state partitions, and the fetch wait with asynchronous progress."""
    for workload, (build, state) in STATEFUL.items():
        for partitions in (4, 8):
            conf, settings = with_partitions(ROCKSDB, partitions), f"RocksDB, {partitions} partitions"
            yield Case(workload, build, f"{CHANGELOGS} + {FEWER}", settings, conf, state)
    for rate in (4, 50):
        made, settings = Kafka(rate, servers.kafka, 4), f"{rate:,} records a second, 4 topic partitions"
        yield Case("Kafka to Kafka", made.build, f"{FETCHES} + {ASYNC}", settings, latency=made.latency)


def _measured(spark: Any, case: Case, until: float) -> dict[str, Any]:
    tried, _ = on_trial(spark, case, case.step.split(" + "), until, None)
    words = {"workload": case.workload, "settings": case.settings, "step": case.step}
    return {"case": words, "spark": spark.version, **outcome(tried, "batch", TOTAL, "typical")}


def markdown(known: Mapping[str, dict[str, Any]]) -> str:
    """How many promises of several steps were kept, and a row for each."""
    told = [one for one in known.values() if one.get("promised_ms")]
    said = Counter(_verdict(one) for one in told)
    inside = sum(one["promised_ms"]["low"] <= one["saved_ms"] <= one["promised_ms"]["high"] for one in told)
    return "\n".join(
        [
            f"{plural(len(told), 'case')}: {said['kept']} kept, {said['broken']} broken, {said['cannot say yet']} "
            f"cannot say; the measured saving lies in the promised interval in {inside}.",
            "",
            *HEAD,
            *(_row(one) for one in told),
        ]
    )


def _verdict(one: Mapping[str, Any]) -> Outcome:
    low, high = one["saved_between_ms"]
    return verdict(Promise(**one["promised_ms"]), Estimate(low, one["saved_ms"], high), one["before_ms"])


def _row(one: Mapping[str, Any]) -> str:
    words, promised = one["case"], one["promised_ms"]
    cells = (words["workload"], words["settings"], words["step"], f"{one['before_ms']:,.0f}",
             interval(promised["low"], promised["expected"], promised["high"]),
             interval(one["saved_between_ms"][0], one["saved_ms"], one["saved_between_ms"][1]),
             str(one["runs"]), _verdict(one))  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
