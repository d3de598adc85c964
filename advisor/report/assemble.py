"""From what was read to the report: one entry per run of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

import advisor
from advisor.batches import Inside, Reading, RunBatches
from advisor.catalogue import Catalogue
from advisor.contract import SCHEMA_VERSION, BrokenRecord, FleetQuery, Input, PartialRecord, QueryEntry, Report
from advisor.errors import PROGRESS_NEEDS_INFO, WHOLE_RECORDS, InputError
from advisor.facts.evidence import Run
from advisor.redaction import hide
from advisor.report.absent import names
from advisor.report.falling_behind import falling_behind
from advisor.report.judged import Judged
from advisor.report.packed import Packed
from advisor.report.processes import spread
from advisor.report.runs import NARROW, Asked, RunJudge
from advisor.report.silence import stalls
from advisor.vocabulary import GRAVE, LEVELS

_ENDED = ("stopped", "dead", "restarting")
"""States of a run that no longer lives: a log that is followed may show it beside others."""
Kept = TypeVar("Kept")
MOST_RUNS = 50_000
"""Runs of one report; each takes about 10 ms and 15 kB."""


def assemble(
    reading: Reading, catalogue: Catalogue, asked: Asked | None = None, packed: Packed | None = None, processes: int = 1
) -> Report:
    """The report on everything that was read; `packed` holds each entry, and `processes` judge very many runs."""
    asked = asked or Asked()
    if packed is None:
        return report_on(reading, entries_of(reading, catalogue, asked, lambda entry: entry), asked)
    entries = entries_of(reading, catalogue, asked, packed.pack, processes=processes)
    return report_on(reading, map(packed.hold, entries), asked)


def entries_of(
    reading: Reading,
    catalogue: Catalogue,
    asked: Asked,
    keep: Callable[[QueryEntry], Kept],
    brief: bool = False,
    processes: int = 1,
) -> Iterator[Kept]:
    """What is kept of the entry of each run of a reading, in order of time; so many processes judge very many runs.

    InputError for more runs than one report can hold.
    """
    refuse_many(len(reading.batches["run_id"].unique()))
    judge_of = _judge_of(reading, catalogue, asked, brief)
    words = stalls(reading, timed=not asked.live) if reading.doing else {}  # a screen that stays would say an old time

    def kept(run: Run) -> Kept:
        entry = judge_of.entry(run)
        if words and entry.state not in _ENDED:
            entry = msgspec.structs.replace(entry, stall=words.get(entry.run_id))
        return keep(entry)

    return spread(judge_of.runs, kept, processes)


def refuse_many(runs: int) -> None:
    """InputError for more runs than are judged together."""
    if runs > MOST_RUNS:
        found = f"{runs:,} runs of queries, and one report judges at most {MOST_RUNS:,}"
        raise InputError("", found, "give fewer logs at a time; divide a log of so many queries by query")


def report_on(reading: Reading, entries: Iterable[QueryEntry], asked: Asked | None = None, by_jvm: int = 0) -> Report:
    """The report of these entries, with the counts of the reading; `by_jvm`: files that only the JVM could reach."""
    found = tuple(entries)
    in_time = sorted(found, key=lambda entry: entry.last or "9")  # one that died without a batch is what happens now
    newest = {entry.id or entry.run_id: entry.run_id for entry in in_time}
    return Report(
        schema_version=SCHEMA_VERSION,
        advisor_version=advisor.__version__,
        input=input_of(reading, found, asked or Asked(), by_jvm),
        queries=tuple(sorted(found, key=lambda entry: _pressing(entry, newest))),
    )


def judged_runs(reading: Reading, catalogue: Catalogue, asked: Asked | None = None) -> list[Judged]:
    """Every run that was read, judged, in order of time."""
    judge_of = _judge_of(reading, catalogue, asked or Asked(), brief=True)
    return [judge_of.judged(run) for run in judge_of.runs]


def _judge_of(reading: Reading, catalogue: Catalogue, asked: Asked, brief: bool) -> RunJudge:
    tables = reading.tables
    inside = Inside(tables["batch_parts"], tables["stages"]) if reading.inside else None
    batches, narrow = RunBatches(reading.batches, inside), reading.batches.select(NARROW)
    return RunJudge(batches, narrow, reading.sightings, catalogue, asked, brief)


def input_of(reading: Reading, found: Sequence[QueryEntry | FleetQuery], asked: Asked, by_jvm: int = 0) -> Input:
    """The counts of a reading, what could not be read of it, and what was given for queries that are none of these."""
    records: list[tuple[tuple[str, ...] | None, dict[str, Any]]] = [
        (
            b.lacks,
            {"file": hide(b.file), "offset": b.offset, "line": b.line or None, "reason": b.reason, "times": b.times},
        )
        for b in reading.broken
    ]
    return Input(
        files=reading.files,
        bytes=reading.bytes,
        events=reading.events,
        idle=reading.idle,
        duplicates=reading.duplicates,
        broken=tuple(BrokenRecord(**told) for lacks, told in records if lacks is None),
        partial=tuple(PartialRecord(**told, lacks=lacks) for lacks, told in records if lacks is not None),
        falling_behind=falling_behind(reading.overruns),
        progress_needs=_needs(reading, sum(entry.batches for entry in found)),  # on a cluster a reading holds none
        read_by_jvm=by_jvm,
        from_ui=reading.from_ui,
        gone_since=reading.gone_since.isoformat() if reading.gone_since else None,
        unmatched=asked.wishes.unmatched(map(names, found)) if asked.wishes else (),
    )


def _needs(reading: Reading, batches: int) -> str | None:
    """How to get progress that can be judged; None where some is there, or where nothing asks for it."""
    if reading.overruns and not reading.events:
        return PROGRESS_NEEDS_INFO
    pieces = any(broken.line for broken in reading.broken)  # a file that cannot be opened has none
    return WHOLE_RECORDS if pieces and not batches and not reading.events else None


def _pressing(entry: QueryEntry, newest_runs: Mapping[str, str]) -> tuple[bool, int, bool, str, float]:
    """Dead, worst and grave first, runs followed by another last; of runs alike the newest, then the slowest."""
    worst_first = [-LEVELS.index(finding.level) for finding in entry.findings]
    grave = entry.screen.loss is not None and entry.screen.loss.kind in GRAVE
    if grave:
        worst_first.append(-LEVELS.index("high"))  # also of too few batches for a rule
    superseded = entry.state == "stopped" and newest_runs[entry.id or entry.run_id] != entry.run_id
    newest = "".join(chr(255 - ord(c)) for c in (entry.last or ""))
    dead = entry.state in ("dead", "restarting")
    took = entry.metrics.get("trigger_execution_ms")
    slowest = -((took and took.typical) or 0.0)
    return superseded, (-len(LEVELS) if dead else min(worst_first, default=1)), not grave, newest, slowest
