"""From what was read to the report: one entry per run of a query."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

import advisor
from advisor import contract
from advisor.batches import SCHEMA, Batches, Inside, Reading, RunBatches
from advisor.catalogue import Catalogue
from advisor.contract import (
    LEVELS,
    BrokenRecord,
    Input,
    Level,
    PartialRecord,
    QueryEntry,
    Series,
    Silenced,
    Since,
    State,
    plain,
    worst,
)
from advisor.engine import judge
from advisor.errors import fault
from advisor.facts import Evidence, Facts, Known, Run, computed, settle
from advisor.metrics import METRICS
from advisor.metrics.quality import data_problem
from advisor.progress import UNNAMED
from advisor.redaction import hide
from advisor.regime import latest_regime
from advisor.report.falling import PROGRESS_NEEDS_INFO, falling_behind
from advisor.report.judged import Judged
from advisor.report.query import RESTARTING, query, state
from advisor.report.schedule import OneBatch, only_batch, scheduled
from advisor.report.series import series
from advisor.window import Window, executed_window, run_window

SCHEMA_VERSION = 1
NARROW = [
    "id", "run_id", "name", "batch_id", "timestamp", "idle", "trigger_execution_ms", "partial", "file", "offset", "log",
]  # fmt: skip
"""The columns that are looked at in every event of a run; of the others its last batches are enough."""
_PLACE = re.compile(rf"{UNNAMED} at byte ([\d,]+)")
_NEVER, _EPOCH = datetime(1, 1, 1, tzinfo=timezone.utc), datetime(1970, 1, 1, tzinfo=timezone.utc)
LOOKED_AT = 200  # batches of a run that are asked for facts: these do not change within a run


class Wishes(Protocol):
    """What a team wants for a query: facts it knows, rules it does not want to hear of, levels of its own."""

    def facts(self, run: Run) -> Mapping[str, Any]:
        """Facts that the user gives for this run."""

    def silenced(self, run: Run) -> list[Silenced]:
        """Rules that are not to be judged for it."""

    def levels(self, run: Run) -> Mapping[str, Mapping[Level, float]]:
        """Levels that replace those of a rule, by rule id."""

    def notes(self, run: Run) -> tuple[str, ...]:
        """What the report has to say of the wishes themselves."""


@dataclass(frozen=True)
class Asked:
    """How it is to be judged: `since` and `until` limit the batches, `last` counts back from the newest of each run.

    `series`: whether each entry holds its single batches, for charts.
    `live`: what is read comes from a session that runs.
    """

    wishes: Wishes | None = None
    last: pd.Timedelta | None = None
    since: pd.Timestamp | None = None
    until: pd.Timestamp | None = None
    series: bool = False
    live: bool = False


@dataclass(frozen=True)
class Report:
    """What `analyze` gives: `typed` is the whole report, `data` the same as plain data, as its JSON has it."""

    typed: contract.Report = field(repr=False)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The whole report as plain data (docs/json.md, "The report as JSON")."""
        whole: dict[str, Any] = plain(self.typed)
        return whole

    @property
    def queries(self) -> list[dict[str, Any]]:
        """One entry per run as plain data, the most pressing first."""
        found: list[dict[str, Any]] = self.data["queries"]
        return found

    @property
    def findings(self) -> pd.DataFrame:
        """One row per finding: query, run, rule, level, confidence, says."""
        columns = ("rule", "slug", "level", "confidence", "says", "explained_by")
        rows = [
            (query.name or query.id, query.run_id, *(getattr(finding, name) for name in columns))
            for query in self.typed.queries
            for finding in query.findings
        ]
        return pd.DataFrame(rows, columns=["query", "run_id", *columns])

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.data, indent=2, ensure_ascii=False, allow_nan=False)

    def worst_level(self) -> Level | None:
        """The highest level of any finding."""
        return worst(finding.level for query in self.typed.queries for finding in query.findings)


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
    return report_on(reading, entries_of(reading, catalogue, asked or Asked(), judged, metrics))


def entries_of(
    reading: Reading,
    catalogue: Catalogue,
    asked: Asked,
    judged: Callable[[int, int], None] | None = None,
    metrics: Iterable[str] = METRICS,
) -> Iterator[QueryEntry]:
    """One entry per run of a reading, as `judge_runs` gives them."""
    batches, narrow = _by_run(reading), reading.batches.select(NARROW)
    return judge_runs(batches, narrow, reading.sightings, catalogue, asked, judged, metrics)


def judge_runs(
    batches: Mapping[str, Batches],
    narrow: pa.Table,
    sightings: pa.Table,
    catalogue: Catalogue,
    asked: Asked,
    judged: Callable[[int, int], None] | None = None,
    metrics: Iterable[str] = METRICS,
) -> Iterator[QueryEntry]:
    """One entry per run, in order of time, each judged when it is asked for.

    `batches`: of each run those that can be judged, in order of time; `narrow`: NARROW of every event of every
    run, sorted by run and time. A run is judged alike beside any others, as long as all runs are there that share its
    logs or its query.
    """
    judge_of = _RunJudge(batches, narrow, sightings, catalogue, asked)
    for done, run in enumerate(judge_of.runs, 1):
        yield judge_of.entry(run, metrics)
        if judged is not None:
            judged(done, len(judge_of.runs))


def report_on(reading: Reading, entries: Iterable[QueryEntry], by_jvm: int = 0) -> Report:
    """The report of these entries, with the counts of the reading; `by_jvm`: files that only the JVM could reach."""
    found = tuple(entries)
    newest = {entry.id or entry.run_id: entry.run_id for entry in sorted(found, key=_ended)}
    return Report(
        contract.Report(
            schema_version=SCHEMA_VERSION,
            advisor_version=advisor.__version__,
            input=input_of(reading, by_jvm),
            queries=tuple(sorted(found, key=lambda entry: _pressing(entry, newest))),
        )
    )


def judged_runs(reading: Reading, catalogue: Catalogue, asked: Asked | None = None) -> list[Judged]:
    """Every run that was read, judged, in order of time."""
    batches, narrow = _by_run(reading), reading.batches.select(NARROW)
    judge_of = _RunJudge(batches, narrow, reading.sightings, catalogue, asked or Asked())
    return [judge_of.judged(run) for run in judge_of.runs]


def _by_run(reading: Reading) -> RunBatches:
    """The batches of each run, with what was seen inside addBatch."""
    tables = reading.tables
    return RunBatches(reading.batches, Inside(tables["batch_parts"], tables["stages"]) if reading.inside else None)


class _RunJudge:
    """Judges runs in order of time, so that each can be compared with the run of its query before it."""

    def __init__(
        self,
        batches: Mapping[str, Batches],
        narrow: pa.Table,
        sightings: pa.Table,
        catalogue: Catalogue,
        asked: Asked,
    ) -> None:
        self._catalogue, self._asked = catalogue, asked
        self._batches = batches
        self._nothing = Batches.of(SCHEMA.empty_table())
        self._evidence = Evidence(sightings, narrow)
        self._faults: dict[str, str] = {}
        self.runs = sorted(self._evidence.runs.values(), key=_started)
        self._facts: dict[str, Facts] = {}
        self._runs_of = Counter(run.id for run in self.runs)
        self._died = Counter(run.id for run in self.runs if self._may_restart(run))
        self._seen: Counter[str | None] = Counter()
        self._earlier: dict[str | None, Window] = {}
        self._one_batch: dict[str | None, list[OneBatch]] = defaultdict(list)

    def entry(self, run: Run, metrics: Iterable[str]) -> QueryEntry:
        """The run's entry; where a fault in the advisor prevents it, what is known without its batches."""
        judged = self.judged(run)
        try:
            entry = query(judged, metrics)
            return msgspec.structs.replace(entry, series=self._series(judged)) if self._asked.series else entry
        except Exception as error:
            return query(self._unjudged(run, self._settled(run), fault(error)), metrics)

    def judged(self, run: Run) -> Judged:
        """One run, judged as it was asked for; where a fault in the advisor prevents it, without its batches."""
        self._seen[run.id] += 1
        facts = self._facts.pop(run.run_id, None)
        if facts is None:
            facts = self._settled(run)
        if run.run_id in self._faults:
            return self._unjudged(run, facts, self._faults[run.run_id])
        try:
            return self._judged(run, facts)
        except Exception as error:
            return self._unjudged(run, facts, fault(error))

    def _series(self, judged: Judged) -> Series | None:
        """The run's single batches, those that are not judged too."""
        batches = self._batches.get(judged.run.run_id, self._nothing)
        return series(executed_window(batches, judged.window.facts), judged.window, judged.since)

    def _unjudged(self, run: Run, facts: Facts, why: str) -> Judged:
        window = run_window(self._nothing, facts)
        return Judged(run, self._runs_of[run.id], window, None, "restart", self._state(run, facts), fault=why)

    def _judged(self, run: Run, facts: Facts) -> Judged:
        batches, wishes = self._batches.get(run.run_id, self._nothing), self._asked.wishes
        window, before, since = _window(batches, facts, self._asked, self._earlier.get(run.id))
        if self._seen[run.id] == self._runs_of[run.id]:
            self._earlier.pop(run.id, None)  # nothing is compared with it any more
        elif len(window):
            self._earlier[run.id] = window
        window = self._with_schedule(run, window)
        silenced, levels = (wishes.silenced(run), wishes.levels(run)) if wishes else ((), None)
        judgement = judge(window, self._catalogue, silenced, levels)
        notes, idle = wishes.notes(run) if wishes else (), None if len(window) else batches.where(batches.rows["idle"])
        how, died = self._state(run, window.facts), self._died[run.id]
        return Judged(run, self._runs_of[run.id], window, before, since, how, judgement, notes, idle, died=died)

    def _with_schedule(self, run: Run, window: Window) -> Window:
        """The window of a query's last run, knowing what its runs show together if each ran one batch."""
        runs, one = self._one_batch[run.id], only_batch(window.executed)
        if one is not None and window.facts.get("terminated_error") is None:
            runs.append(one)
        if self._seen[run.id] < self._runs_of[run.id] or len(runs) < self._runs_of[run.id]:
            return window
        return window.with_facts(window.facts.having("scheduled_runs", Known(scheduled(runs), "computed")))

    def _state(self, run: Run, facts: Facts) -> State:
        return state(run, facts, self._runs_of[run.id] - self._seen[run.id], self._died[run.id], self._asked.live)

    def _may_restart(self, run: Run) -> bool:
        """Whether the run died, of a query with so many runs that it may be started again and again.

        Facts of the others are settled when they are judged: those of all runs at once would be most of the memory.
        """
        if self._runs_of[run.id] < RESTARTING:
            return False
        facts = self._facts[run.run_id] = self._settled(run)
        return facts.get("terminated_error") is not None

    def _settled(self, run: Run) -> Facts:
        """The run's facts; where a fault in the advisor prevents it, those that the user gives."""
        user = self._asked.wishes.facts(run) if self._asked.wishes else {}
        try:
            known = _told(self._batches.get(run.run_id, self._nothing))
            return settle(self._evidence.of(run.run_id), self._evidence.around(run.run_id), known, user=user)
        except Exception as error:
            self._faults[run.run_id] = fault(error)
            return Facts({name: Known(value, "user") for name, value in user.items()})


def _started(run: Run) -> tuple[bool, datetime, str]:
    """In order of time; a run that died before its first event is what happens now, whatever was before."""
    return run.first is None, run.first or _NEVER, run.run_id


def _told(batches: Batches) -> dict[str, Known]:
    """What the run's batches tell; nothing where a fault in the advisor prevents it, which is told instead."""
    try:
        return computed(_looked_at(batches))
    except Exception as error:
        return {"data_problem": Known(f"a fault in the advisor: {fault(error)}", "computed")}


def _looked_at(batches: Batches) -> Batches:
    ran = ~batches.rows["idle"]
    executed = batches.where(ran) if ran.any() else batches
    return executed.part(max(0, len(executed) - LOOKED_AT), len(executed))


def _window(
    batches: Batches, facts: Facts, asked: Asked, earlier: Window | None
) -> tuple[Window, Window | None, Since]:
    """(the window to judge, the one before it, why it begins where it does)."""
    if asked.last is not None or asked.since is not None or asked.until is not None:
        window = _with_computed(run_window(_limited(batches, asked), facts))
        return replace(window, because="the time asked for", memo={}), None, "asked"
    window, before = latest_regime(_with_computed(run_window(batches, facts)))
    if before is not None:
        return window, before, "change_point"
    return window, earlier, "restart"


def _with_computed(window: Window) -> Window:
    """The window, knowing also what its batches tell of themselves: whether their numbers can be trusted."""
    if not len(window.executed):
        return window
    known = dict(window.facts)
    known.setdefault("data_problem", Known(data_problem(window), "computed"))
    for name in ("missing_batch", "known_error", "scheduled_runs"):
        known.setdefault(name, Known(None, "computed"))
    return window.with_facts(Facts(known, window.facts.conflicts))


def _limited(batches: Batches, asked: Asked) -> Batches:
    started, since = batches.rows["timestamp"], None if asked.since is None else _ms(asked.since)
    if asked.last is not None:
        since = float(np.nanmax(started, initial=0)) - asked.last / pd.Timedelta(1, "ms")
    keep = ~np.isnan(started)
    if since is not None:
        keep &= started >= since
    if asked.until is not None:
        keep &= started <= _ms(asked.until)
    return batches.where(keep)


def _ms(when: pd.Timestamp) -> float:
    return (when.to_pydatetime(warn=False) - _EPOCH) / timedelta(milliseconds=1)


def input_of(reading: Reading, by_jvm: int = 0) -> Input:
    """The counts of a reading, and what could not be read of it."""
    unread = [b for b in reading.broken if b.lacks is None]
    behind = falling_behind(reading.overruns)
    return Input(
        files=reading.files,
        bytes=reading.bytes,
        events=reading.events,
        idle=reading.idle,
        duplicates=reading.duplicates,
        broken=tuple(BrokenRecord(file=hide(b.file), offset=b.offset, line=b.line, reason=b.reason) for b in unread),
        partial=tuple(
            PartialRecord(file=hide(b.file), offset=b.offset, line=b.line, lacks=b.lacks, says=b.reason)
            for b in reading.broken
            if b.lacks is not None
        ),
        falling_behind=behind,
        progress_needs=PROGRESS_NEEDS_INFO if behind and not reading.events else None,
        read_by_jvm=by_jvm,
    )


def _ended(entry: QueryEntry) -> str:
    """A text that sorts runs by time; one that died without a batch is what happens now."""
    return entry.last or "9"


def _pressing(entry: QueryEntry, newest_runs: Mapping[str, str]) -> tuple[bool, int, str, float]:
    """Dead and worst first, runs that were followed by another last; of runs alike the newest, then the slowest.

    Records that name neither query nor time stay as their author ordered them: they may be one query, told anew.
    """
    place = _PLACE.match(entry.run_id)
    worst_first = [-LEVELS.index(finding.level) for finding in entry.findings if not place]
    if entry.screen.loss is not None and entry.screen.loss.kind in (
        "rows_dropped",
        "watermark_stands",
        "falling_behind",
    ):
        worst_first.append(-LEVELS.index("high"))  # also of too few batches for a rule
    superseded = entry.state == "stopped" and newest_runs[entry.id or entry.run_id] != entry.run_id
    newest = "".join(chr(255 - ord(c)) for c in (entry.last or ""))
    dead = entry.state in ("dead", "restarting")
    took = entry.metrics.get("trigger_execution_ms")
    then = float(place[1].replace(",", "")) if place else -((took and took.typical) or 0.0)
    return superseded, (-len(LEVELS) if dead else min(worst_first, default=1)), newest, then
