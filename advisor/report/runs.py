"""Judges the runs of a reading in order of time, each beside the run of its query before it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from advisor.batches import SCHEMA, Batches
from advisor.catalogue import Catalogue
from advisor.catalogue.traces import done_besides
from advisor.config import UserWishes
from advisor.contract import QueryEntry
from advisor.engine import judge
from advisor.errors import fault
from advisor.facts import FACTS, Facts, Known, settle
from advisor.facts.evidence import Evidence, Run
from advisor.facts.inspection import computed
from advisor.metrics import remember_typical
from advisor.metrics.quality import data_problem
from advisor.regime import latest_regime
from advisor.report.judged import Judged
from advisor.report.query import RESTARTING, query, state
from advisor.report.schedule import ShortRun, scheduled, short_run
from advisor.report.series import series
from advisor.vocabulary import ENDING, Since, State
from advisor.window import Window, executed_window, run_window

if TYPE_CHECKING:
    import pandas as pd

NARROW = [
    "id", "run_id", "name", "batch_id", "timestamp", "idle", "trigger_execution_ms", "partial", "file", "offset", "log",
]  # fmt: skip
"""The columns that are looked at in every event of a run; of the others its last batches are enough."""
_NEVER, _EPOCH = datetime(1, 1, 1, tzinfo=timezone.utc), datetime(1970, 1, 1, tzinfo=timezone.utc)
LOOKED_AT = 200  # batches of a run that are asked for facts: these do not change within a run


@dataclass(frozen=True)
class Asked:
    """How it is to be judged: `since` and `until` limit the batches, `last` counts back from the newest of each run.

    `series`: whether each entry holds its single batches, for charts.
    `live`: what is read comes from a session that runs.
    """

    wishes: UserWishes | None = None
    last: pd.Timedelta | None = None
    since: pd.Timestamp | None = None
    until: pd.Timestamp | None = None
    series: bool = False
    live: bool = False


class RunJudge:
    """`runs` in order of time: each is to be judged in its turn, and may be compared with the one before it.

    A run is judged alike beside any others, as long as all runs are there that share its logs or its query.
    """

    def __init__(
        self,
        batches: Mapping[str, Batches],
        narrow: pa.Table,
        sightings: pa.Table,
        catalogue: Catalogue,
        asked: Asked,
        brief: bool,
    ) -> None:
        """`batches`: of each run those that can be judged, in order of time; `narrow`: NARROW of every event of every
        run, sorted by run and time. `brief`: whether the entries hold only what a fleet's report needs.
        """
        self._catalogue, self._asked, self._brief = catalogue, asked, brief
        self._batches = batches
        self._nothing = Batches.of(SCHEMA.empty_table())
        self._evidence = Evidence(sightings, narrow)
        # A run that died before its first event is what happens now.
        self.runs = sorted(
            self._evidence.runs.values(), key=lambda run: (run.first is None, run.first or _NEVER, run.run_id)
        )
        self._runs_of = Counter(run.id for run in self.runs)
        self._died = Counter(run.id for run in self.runs if self._may_restart(run))
        self._seen: Counter[str | None] = Counter()
        self._earlier: dict[str | None, Window] = {}
        self._short: dict[str | None, list[ShortRun]] = defaultdict(list)

    def entry(self, run: Run) -> QueryEntry:
        """The run's entry; where a fault in the advisor prevents it, what is known without its batches."""
        judged = self.judged(run)
        try:
            entry = query(judged, self._brief)
            if not self._asked.series:
                return entry
            every = executed_window(self._batches.get(run.run_id, self._nothing), judged.window.facts)
            return msgspec.structs.replace(entry, series=series(every, judged.window, judged.since))
        except Exception as error:
            return query(self._unjudged(run, error), self._brief)

    def judged(self, run: Run) -> Judged:
        """One run, judged as it was asked for; where a fault in the advisor prevents it, without its batches."""
        self._seen[run.id] += 1
        try:
            return self._judged(run)
        except Exception as error:
            return self._unjudged(run, error)

    def _unjudged(self, run: Run, error: Exception) -> Judged:
        facts = Facts({name: Known(value, "user") for name, value in self._given(run).items()})
        window, how = run_window(self._nothing, facts), self._state(run, facts)
        return Judged(run, self._runs_of[run.id], window, None, "restart", how, self._catalogue, fault=fault(error))

    def _judged(self, run: Run) -> Judged:
        batches, wishes = self._batches.get(run.run_id, self._nothing), self._asked.wishes
        told = computed(_looked_at(batches))
        facts = settle(self._evidence.of(run.run_id), self._evidence.around(run.run_id), told, user=self._given(run))
        window, before, since = _window(batches, facts, self._asked, self._earlier.get(run.id))
        if self._seen[run.id] == self._runs_of[run.id]:
            self._earlier.pop(run.id, None)  # nothing is compared with it any more
        elif len(window):
            self._earlier[run.id] = window
        window = self._with_schedule(run, window)
        if not self._brief:
            remember_typical(window)
        silenced, levels = (wishes.silenced(run), wishes.levels(run)) if wishes else ((), None)
        window = replace(window, earlier=before)
        judgement = judge(window, self._catalogue, silenced, levels)
        notes, idle = wishes.notes(run) if wishes else (), None if len(window) else batches.where(batches.rows["idle"])
        how, died = self._state(run, window.facts), self._died[run.id]
        return Judged(
            run, self._runs_of[run.id], window, before, since, how, self._catalogue, judgement, notes, idle, died=died
        )

    def _with_schedule(self, run: Run, window: Window) -> Window:
        """The window of a query's last run, knowing what its runs show together if each took what was there."""
        one_shot = window.facts.value("trigger") in ENDING
        runs, one = self._short[run.id], short_run(window.executed, one_shot=one_shot)
        if one is not None and window.facts.get("terminated_error") is None:
            runs.append(one)
        all_seen = self._seen[run.id] == self._runs_of[run.id] == len(runs)
        if not len(window.executed) or (all_seen and len(runs) == 1):  # one does not show a schedule
            return window
        together = Known(scheduled(runs, one_shot=one_shot) if all_seen else None, "computed")
        return window.with_facts(window.facts.having(scheduled_runs=together))

    def _state(self, run: Run, facts: Facts) -> State:
        return state(run, facts, self._runs_of[run.id] - self._seen[run.id], self._died[run.id], self._asked.live)

    def _may_restart(self, run: Run) -> bool:
        """Whether the run died, of a query with so many runs that it may be started again and again."""
        try:
            seen = self._evidence.of(run.run_id) if self._runs_of[run.id] >= RESTARTING else ()
        except Exception:  # a fault in the advisor: `judged` meets it again, and says so of this run
            return False
        return any(row.fact == "terminated_error" for row in seen)

    def _given(self, run: Run) -> Mapping[str, Any]:
        return self._asked.wishes.facts(run) if self._asked.wishes else {}


def _looked_at(batches: Batches) -> Batches:
    ran = ~batches.rows["idle"]
    executed = batches.where(ran) if ran.any() else batches
    return executed if len(executed) <= LOOKED_AT else executed.part(len(executed) - LOOKED_AT, len(executed))


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


_NONE_SEEN = ("missing_batch", "known_error", "shut_down_in_batch", "debug_log")
"""Facts of which a run that ran batches has none, where what was read would show one."""


def _with_computed(window: Window) -> Window:
    """The window, knowing also what its batches tell of themselves: whether their numbers can be trusted."""
    if not len(window.executed):
        return window
    ways_in = {known.origin for known in window.facts.values()} - {"computed"}
    none = (name for name in _NONE_SEEN if ways_in.intersection(FACTS[name].origins))
    told = {"data_problem": data_problem(window)} | dict.fromkeys(none)
    untold = {name: Known(value, "computed") for name, value in told.items() if window.facts.get(name) is None}
    untold |= done_besides(window)
    ran = window.executed
    late = np.flatnonzero(ran["trigger_execution_ms"] > (window.facts.fixed_interval_ms or math.inf)).tolist()
    if "falling_behind" in window.facts and late == [0] and ran["cold"][0] and len(ran) > 1:
        untold["falling_behind"] = Known(None, "computed")
    return window.with_facts(window.facts.having(**untold))


def _limited(batches: Batches, asked: Asked) -> Batches:
    started = batches.rows["timestamp"]
    keep = ~np.isnan(started)
    if asked.last is not None:
        keep &= started >= np.nanmax(started, initial=0) - 1000 * asked.last.total_seconds()
    if asked.since is not None:
        keep &= started >= _ms(asked.since)
    if asked.until is not None:
        keep &= started <= _ms(asked.until)
    return batches.where(keep)


def _ms(when: pd.Timestamp) -> float:
    return (when.to_pydatetime(warn=False) - _EPOCH) / timedelta(milliseconds=1)
