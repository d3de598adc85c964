"""From what was read to the report: one entry per run of a query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

import advisor
from advisor.batches import SCHEMA, Reading
from advisor.catalogue import Catalogue
from advisor.engine import Silenced, judge
from advisor.facts import Evidence, Facts, Known, Run, computed, settle
from advisor.metrics import METRICS
from advisor.metrics.quality import data_problem
from advisor.report.query import Judged, query, state
from advisor.window import Window, latest_regime, run_window

SCHEMA_VERSION = 1
NARROW = ["id", "run_id", "name", "batch_id", "timestamp", "idle", "file", "offset", "log"]
"""The columns that are looked at in every event of a run; of the others its last batches are enough."""
_NEVER = pd.Timestamp(0, tz="UTC")
LOOKED_AT = 200  # batches of a run that are asked for facts: these do not change within a run


class Wishes(Protocol):
    """What a team wants for a query: facts it knows, rules it does not want to hear of, levels of its own."""

    def facts(self, run: Run) -> Mapping[str, Any]:
        """Facts that the user gives for this run."""

    def silenced(self, run: Run) -> list[Silenced]:
        """Rules that are not to be judged for it."""

    def levels(self, run: Run) -> Mapping[str, Mapping[Any, float]]:
        """Levels that replace those of a rule, by rule id."""

    def notes(self, run: Run) -> tuple[str, ...]:
        """What the report has to say of the wishes themselves."""


@dataclass(frozen=True)
class Asked:
    """How it is to be judged: `since` and `until` limit the batches, `last` counts back from the newest of each run."""

    wishes: Wishes | None = None
    last: pd.Timedelta | None = None
    since: pd.Timestamp | None = None
    until: pd.Timestamp | None = None


@dataclass(frozen=True)
class Report:
    """What `analyze` gives: `data` is the whole report as plain data (README, "The report as JSON")."""

    data: dict[str, Any] = field(repr=False)

    @property
    def queries(self) -> list[dict[str, Any]]:
        """One entry per run, the most pressing first."""
        found: list[dict[str, Any]] = self.data["queries"]
        return found

    @property
    def findings(self) -> pd.DataFrame:
        """One row per finding: query, run, rule, level, confidence, says."""
        columns = ("rule", "slug", "level", "confidence", "says", "explained_by")
        rows = [
            {"query": q["name"] or q["id"], "run_id": q["run_id"]} | {name: f[name] for name in columns}
            for q in self.queries
            for f in q["findings"]
        ]
        return pd.DataFrame(rows, columns=["query", "run_id", *columns])

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.data, indent=2, ensure_ascii=False, allow_nan=False)

    def worst_level(self) -> str | None:
        """The highest level of any finding."""
        levels = {finding["level"] for entry in self.queries for finding in entry["findings"]}
        return next((level for level in ("high", "medium", "low") if level in levels), None)


def assemble(
    reading: Reading,
    catalogue: Catalogue,
    asked: Asked | None = None,
    judged: Callable[[int, int], None] | None = None,
    metrics: Iterable[str] = METRICS,
) -> Report:
    """The report on everything that was read. `judged` hears how many of how many runs are done.

    `metrics`: those that are told of each run; to tell all takes a third of the time.
    """
    tables, narrow = run_tables(reading.batches), reading.batches.select(NARROW)
    entries = judge_runs(tables, narrow, reading.sightings, catalogue, asked or Asked(), judged, metrics)
    return report_on(reading, entries)


def judge_runs(
    tables: Mapping[str, pa.Table],
    narrow: pa.Table,
    sightings: pa.Table,
    catalogue: Catalogue,
    asked: Asked,
    judged: Callable[[int, int], None] | None = None,
    metrics: Iterable[str] = METRICS,
) -> list[dict[str, Any]]:
    """One entry per run, in order of time.

    `tables`: for each run the batches that can be judged, in order of time; `narrow`: NARROW of every event of every
    run, sorted by run and time. A run is judged alike beside any others, as long as all runs are there that share its
    logs or its query.
    """
    court = _Court(tables, narrow, sightings, catalogue, asked)
    entries = []
    for done, run in enumerate(court.runs, 1):
        entries.append(query(court.judged(run), metrics))
        if judged is not None:
            judged(done, len(court.runs))
    return entries


def report_on(reading: Reading, entries: Iterable[dict[str, Any]]) -> Report:
    """The report of these entries, with the counts of the reading."""
    return Report(_plain(reading, entries))


def judged_runs(reading: Reading, catalogue: Catalogue, asked: Asked | None = None) -> list[Judged]:
    """Every run that was read, judged, in order of time."""
    tables, narrow = run_tables(reading.batches), reading.batches.select(NARROW)
    court = _Court(tables, narrow, reading.sightings, catalogue, asked or Asked())
    return [court.judged(run) for run in court.runs]


class _Court:
    """Judges runs in order of time, so that each can be compared with the run of its query before it."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        narrow: pa.Table,
        sightings: pa.Table,
        catalogue: Catalogue,
        asked: Asked,
    ) -> None:
        self._catalogue, self._asked = catalogue, asked
        self._tables = tables
        self._nothing = SCHEMA.empty_table()
        self._evidence = Evidence(sightings.to_pandas(), narrow.to_pandas())
        self.runs = sorted(self._evidence.runs.values(), key=_started)
        self._facts = {run.run_id: self._settled(run) for run in self.runs}
        self._runs_of = Counter(run.id for run in self.runs)
        self._died = Counter(run.id for run in self.runs if self._facts[run.run_id].get("terminated_error"))
        self._seen: Counter[str | None] = Counter()
        self._earlier: dict[str | None, Window] = {}

    def judged(self, run: Run) -> Judged:
        """One run, judged as it was asked for."""
        table, wishes = self._tables.get(run.run_id, self._nothing), self._asked.wishes
        window, before, since = _window(table, self._facts[run.run_id], self._asked, self._earlier.get(run.id))
        self._seen[run.id] += 1
        if len(window):
            self._earlier[run.id] = window
        silenced, levels = (wishes.silenced(run), wishes.levels(run)) if wishes else ((), None)
        judgement = judge(window, self._catalogue, silenced, levels)
        later = self._runs_of[run.id] - self._seen[run.id]
        how = state(run, window.facts, later, self._died[run.id])
        notes = wishes.notes(run) if wishes else ()
        return Judged(run, self._runs_of[run.id], window, before, since, how, judgement, notes)

    def _settled(self, run: Run) -> Facts:
        table = self._tables.get(run.run_id)
        known = computed(_looked_at(table)) if table is not None else {}
        user = self._asked.wishes.facts(run) if self._asked.wishes else None
        return settle(self._evidence.of(run.run_id), self._evidence.around(run.run_id), known, user=user)


def _started(run: Run) -> tuple[bool, pd.Timestamp, str]:
    """In order of time; a run that died before its first event is what happens now, whatever was before."""
    return run.first is None, (_NEVER if run.first is None else run.first), run.run_id


def run_tables(table: pa.Table) -> dict[str, pa.Table]:
    """The rows of each run, in order of time; `table` is sorted by run and time."""
    if not len(table):
        return {}
    runs = table["run_id"].combine_chunks()
    ends = pc.run_end_encode(pc.fill_null(_dense(runs), ""))
    tables, start = {}, 0
    for value, end in zip(ends.values.to_pylist(), ends.run_ends.to_pylist(), strict=True):
        tables[value] = table.slice(start, end - start)
        start = end
    return tables


def _dense(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _looked_at(table: pa.Table) -> pd.DataFrame:
    from advisor.batches import to_pandas  # noqa: PLC0415 - keeps pandas out of the import of this module's names

    executed = table.filter(pc.invert(table["idle"]))
    seen = executed if len(executed) else table
    return to_pandas(seen.slice(max(0, len(seen) - LOOKED_AT)))


def _window(table: pa.Table, facts: Facts, asked: Asked, earlier: Window | None) -> tuple[Window, Window | None, str]:
    """(the window to judge, the one before it, why it begins where it does)."""
    if asked.last is not None or asked.since is not None or asked.until is not None:
        window = _with_computed(run_window(_limited(table, asked), facts))
        return window.only(pd.Series(True, index=window.batches.index), "the time asked for"), None, "asked"
    window, before = latest_regime(_with_computed(run_window(table, facts)))
    if before is not None:
        return window, before, "change_point"
    return window, earlier, "restart"


def _with_computed(window: Window) -> Window:
    """The window, knowing also what its batches tell of themselves: whether their numbers can be trusted."""
    if not len(window.executed):
        return window
    known = dict(window.facts)
    known["data_problem"] = Known(data_problem(window), "computed")
    known.setdefault("missing_batch", Known(None, "computed"))
    return window.with_facts(Facts(known, window.facts.conflicts))


def _limited(table: pa.Table, asked: Asked) -> pa.Table:
    if not len(table):
        return table
    newest = pd.Timestamp(pc.max(table["timestamp"]).as_py())
    since = newest - asked.last if asked.last is not None else asked.since
    keep = pc.is_valid(table["timestamp"])
    if since is not None:
        keep = pc.and_(keep, pc.greater_equal(table["timestamp"], pa.scalar(since, table["timestamp"].type)))
    if asked.until is not None:
        keep = pc.and_(keep, pc.less_equal(table["timestamp"], pa.scalar(asked.until, table["timestamp"].type)))
    return table.filter(keep)


def _plain(reading: Reading, entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "advisor_version": advisor.__version__,
        "input": {
            "files": reading.files,
            "bytes": reading.bytes,
            "events": reading.events,
            "idle": reading.idle,
            "duplicates": reading.duplicates,
            "broken": [
                {"file": b.file, "offset": b.offset, "line": b.line, "reason": b.reason} for b in reading.broken
            ],
        },
        "queries": sorted(entries, key=_pressing),
    }


def _pressing(entry: dict[str, Any]) -> tuple[bool, int, str]:
    """Dead and worst first; of runs alike the newest."""
    rank = {"high": 0, "medium": 1, "low": 2}
    levels = [rank[finding["level"]] for finding in entry["findings"]]
    superseded = entry["state"] == "stopped" and entry["runs"] > 1
    newest = "".join(chr(255 - ord(c)) for c in (entry["last"] or ""))
    return superseded, (-1 if entry["state"] in ("dead", "restarting") else min(levels, default=3)), newest
