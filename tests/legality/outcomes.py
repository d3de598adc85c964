"""What Spark did with each cell: read, written, and the Sparks and jars that it was run with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from advisor.catalogue import load, rules_directory
from tests.legality.cells import Cell
from tests.legality.cells import cells as cells_of
from tests.record.sparks import DELTA_JARS, KAFKA_JARS, KAFKA_VERSIONS

HERE: Final = Path(__file__).with_name("outcomes")
WRITTEN: Final = rules_directory() / "runs.json"
VERSIONS: Final = ("3.5.9", "4.0.1", "4.1.4", "4.2.1", "4.3.0")
_DELTA: Final = {
    "3.5.9": ("io.delta:delta-spark_2.12:3.2.0", "io.delta:delta-storage:3.2.0"),
    "4.0.1": DELTA_JARS,
    "4.1.4": ("io.delta:delta-spark_4.1_2.13:4.1.0", "io.delta:delta-storage:4.1.0", "org.antlr:antlr4-runtime:4.13.1"),
}
JARS: Final = {
    version: {
        "kafka": tuple(f"{jar.format(**KAFKA_VERSIONS[version[:3]])}?transitive=false" for jar in KAFKA_JARS),
        **({"delta": tuple(f"{jar}?transitive=false" for jar in _DELTA[version])} if version in _DELTA else {}),
    }
    for version in VERSIONS
}
_ALSO: Final = ("kafka_partitions", "task_slots_at_least", "slots_shared", "trigger_one_of", "spark_version")
_OF_OPERATOR: Final = ("operatorName", "numShufflePartitions", "numStateStoreInstances", "numRowsTotal")


def read(version: str) -> dict[str, Any]:
    """What was written of this version; nothing where it was not run."""
    file = HERE / f"{version}.json"
    found: dict[str, Any] = {"spark": version, "listed": [], "usual": {}, "queries": {}, "cells": []}
    return found | (json.loads(file.read_text()) if file.exists() else {})


def write(version: str, results: Sequence[dict[str, Any]], missing: Iterable[Cell]) -> None:
    """Put the results in place of earlier ones of the same queries and cells; facts that most share stand once."""
    known, today = read(version), datetime.now(timezone.utc).date().isoformat()
    asked = asked_facts()
    queries = {name: query | {"facts": facts(known, query)} for name, query in known["queries"].items()}
    queries |= {one["query"]: _query(one, asked) for one in results if "query" in one}
    usual = _usual([query["facts"] for query in queries.values()])
    for query in queries.values():
        query["facts"] = {
            name: query["facts"].get(name) for name in sorted({*query["facts"], *usual})
            if query["facts"].get(name) != usual.get(name)
        }  # fmt: skip
    cells = {(one["step"], one["query"]): one for one in known["cells"]}
    for cell in missing:
        cells.setdefault(
            (cell.step, cell.name), _cell(cell.step, cell.name, "not run", "no jars for this Spark", today)
        )
    for one in results:
        if "step" in one:
            cells[one["step"], one["cell"]] = _cell(one["step"], one["cell"], one["outcome"], one["says"], today)
    listed = next((one["listed"] for one in results if "listed" in one), known["listed"])
    wanted = sorted({(cell.step, cell.name) for cell in cells_of(version)} & cells.keys())
    of_cells = {name.rpartition(", ")[0] for _, name in wanted}
    queries = {name: query for name, query in queries.items() if name in of_cells}
    _put(version, sorted(listed), usual, queries, [cells[key] for key in wanted])


def _put(
    version: str, listed: list[str], usual: dict[str, Any], queries: dict[str, Any], cells: Sequence[dict[str, str]]
) -> None:
    HERE.mkdir(exist_ok=True)
    lines = (
        [f"{json.dumps(name)}: {json.dumps(queries[name])}" for name in sorted(queries)],
        [json.dumps(cell) for cell in cells],
    )
    text = '{{"spark": "{}",\n"listed": {},\n"usual": {},\n"queries": {{\n{}\n}},\n"cells": [\n{}\n]}}\n'
    parts = (json.dumps(listed), json.dumps(usual), *(",\n".join(one) for one in lines))
    (HERE / f"{version}.json").write_text(text.format(version, *parts))


def _cell(step: str, query: str, outcome: str, says: str, date: str) -> dict[str, str]:
    return {"step": step, "query": query, "outcome": outcome, "says": says, "date": date}


def _query(one: dict[str, Any], asked: set[str]) -> dict[str, Any]:
    """A query as it is kept: why Spark refused it, the facts that steps ask for, and its state operators."""
    every = (one["batch"] or {}).get("stateOperators", [])
    operators = [{name: each[name] for name in _OF_OPERATOR if name in each} for each in every]
    told = {name: value for name, value in one["facts"].items() if name in asked}
    return {"refused": one["refused"], "facts": told, "batch": one["batch"] is not None, "operators": operators}


def _usual(of_queries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The value that most queries have, for each fact that most have."""
    found = {}
    for name in sorted({name for told in of_queries for name in told}):
        counted = Counter(json.dumps(told.get(name)) for told in of_queries)
        found[name] = json.loads(counted.most_common(1)[0][0])
    return {name: value for name, value in found.items() if value is not None}


def facts(run: dict[str, Any], query: dict[str, Any]) -> dict[str, Any]:
    """The facts of a query: the usual ones and its own."""
    every = run["usual"] | query["facts"]
    return {name: value for name, value in every.items() if value is not None}


def asked_facts() -> set[str]:
    """The facts that steps ask for, and those that narrow them down."""
    lines = [line for step in load().steps.values() for line in (*step.legal, *step.when, *step.unless)]
    return {line.subject for line in lines if line.fact} | set(_ALSO)


def summary() -> str:
    """The file of the package: for each step and Spark how many cells ended how, and the last date."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for version in VERSIONS:
        for cell in read(version)["cells"]:
            if cell["outcome"] != "not run":
                told = found.setdefault(cell["step"], {}).setdefault(version, {"date": ""})
                told[cell["outcome"]] = told.get(cell["outcome"], 0) + 1
                told["date"] = max(told["date"], cell["date"])
    lines = (f"{json.dumps(step)}: {json.dumps(told, sort_keys=True)}" for step, told in sorted(found.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"
