"""Try what the steps promise on real Spark, and write the table of promises kept into README.

`python -m tests.promises.run [--list] [--only TEXT] [--minutes N] [--delta | --s3a]`; without options what needs only
this machine's disk, over an hour; the cases with Kafka and with S3A need the extra [bench]. Each case is a trial:
baseline and candidate in turns, A B B A, on throw-away checkpoints. What was promised is computed from the baseline's
own batches. A case that was measured before is measured again and replaces the old figure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from advisor.bench import trial
from advisor.bench.effects import MEASURED as MEASURED_LATENCY
from advisor.bench.effects import TOTAL
from advisor.bench.lab import jars
from advisor.bench.lab.broker import broker
from advisor.bench.lab.bucket import bucket
from advisor.cli.spark import session
from advisor.errors import AdvisorError
from tests.promises.cases import DELAYS, DELTA, Case, Servers, cases, delta_cases, s3a_cases
from tests.promises.table import markdown, written

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured.json"
README = HERE.parents[1] / "README.md"
Table = Callable[[dict[str, Any]], str]
RUNS = 4
RECORD = "record p50"
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
    where = words.add_mutually_exclusive_group()
    where.add_argument("--delta", action="store_true", help="the cases with a Delta table; they need PySpark 4.0")
    where.add_argument("--s3a", action="store_true", help="those with the checkpoint on S3A; they need PySpark 4.0")
    asked = words.parse_args()
    every = delta_cases if asked.delta else s3a_cases if asked.s3a else cases
    names = [case.name for case in every(Servers()) if asked.only in case.name]
    if asked.list or not names:
        print("\n".join(names) or f"no case holds {asked.only!r}")
        return
    until = time.monotonic() + asked.minutes * 60
    known = json.loads(MEASURED.read_text())
    with (
        session("promises", "spark", SESSION | (DELTA if asked.delta else {})) as spark,
        lab(spark, names) as servers,
    ):
        chosen = [case for case in every(servers) if case.name in names]
        for case in sorted(chosen, key=lambda case: not {case.name, of_record(case.name)}.isdisjoint(known)):
            if time.monotonic() > until:
                break
            keep(MEASURED, known, measured(spark, case), "promises", markdown)


def of_record(name: str) -> str:
    """What the row of a case is called that tells the latency of its records."""
    return f"{name}, {RECORD}"


def row_of_record(case: Case, spark: str, found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The row that tells the latency of a case's records."""
    words = {"workload": case.workload, "settings": f"{case.settings}, {RECORD}", "step": case.step}
    return {of_record(case.name): {"case": words, "spark": spark, **found}}


def keep(file: Path, known: dict[str, Any], found: dict[str, Any], name: str, table: Table) -> None:
    """Add what was found to what is known, to its file and to README's table of that name."""
    known |= found
    print(json.dumps(found), flush=True)
    file.write_text(json.dumps(known, indent=1) + "\n")
    README.write_text(written(README.read_text(), name, table(known)))


@contextmanager
def lab(spark: Any, names: Sequence[str]) -> Iterator[Servers]:
    """The servers that what has these names needs."""
    with ExitStack() as stack:
        address, buckets = "", {}
        if any("Kafka" in name for name in names):
            address = stack.enter_context(kafka(spark))
        if any("S3A" in name for name in names):
            needed = [*jars.s3a(jars.hadoop_version(spark)), *jars.abortable(spark.version)]
            jars.added_to_driver(spark, jars.fetched(spark, needed))
            buckets = {delay: stack.enter_context(bucket(spark, delay)) for delay in DELAYS}
        yield Servers(address, buckets)


@contextmanager
def kafka(spark: Any) -> Iterator[str]:
    """The address of a broker that this session reads and writes."""
    jars.added(spark, jars.fetched(spark, jars.connector(spark.version)))
    with broker(spark) as address:
        yield address


def parser(prog: str, doc: str) -> argparse.ArgumentParser:
    """The command line of what measures things that have names; `doc` is the module's."""
    made = argparse.ArgumentParser(prog=prog, description=doc.split("\n\n", maxsplit=1)[0])
    made.add_argument("--list", action="store_true", help="print the names and end")
    made.add_argument("--only", default="", help="those whose name holds this text")
    return made


def measured(spark: Any, case: Case) -> dict[str, dict[str, Any]]:
    """What one case gave: of the batch and, where that was measured, of a record; or why there is nothing.

    A step that promises something of records only has no row for the batch.
    """
    for key, value in case.conf.items():
        spark.conf.set(key, value)
    bounds = {"runs": RUNS, "batches": case.batches, "seconds": case.seconds, "state_rows": case.state_rows}
    where = {"place": case.place, "safe_sink": case.delta, "latency": case.latency}
    try:
        tried = trial(case.build, [case.step], spark=spark, **where, **bounds).data
    except AdvisorError as error:
        tried = {"effects": [], "says": str(error)}
    finally:
        for key in case.conf:
            spark.conf.unset(key)
        spark.conf.set("spark.sql.shuffle.partitions", SESSION["spark.sql.shuffle.partitions"])
    batch, record = outcome(tried, "batch", TOTAL, "typical"), outcome(tried, "record", MEASURED_LATENCY, "p50")
    words = {"workload": case.workload, "settings": case.settings, "step": case.step}
    found = {case.name: {"case": words, "spark": spark.version, **batch}}
    if "failed" in record:
        return found
    more = row_of_record(case, spark.version, record)
    return more if batch["promised_ms"] is None and record["promised_ms"] else found | more


def outcome(tried: dict[str, Any], of: str, name: str, stat: str) -> dict[str, Any]:
    """A batch or a record before and after, with what was promised of the difference."""
    effect = next((one for one in tried["effects"] if (one["name"], one["stat"]) == (name, stat)), None)
    if effect is None:
        return {"failed": tried["says"]}
    promised = [kept["predicted_ms"] for kept in tried["promises"] if kept["of"] == of]
    return {
        "before_ms": effect["before_ms"],
        "after_ms": effect["after_ms"],
        "saved_ms": -effect["difference_ms"]["value"],
        "saved_between_ms": [-effect["difference_ms"]["high"], -effect["difference_ms"]["low"]],
        "promised_ms": promised[0] if promised else None,
    }


if __name__ == "__main__":
    sys.exit(main())
