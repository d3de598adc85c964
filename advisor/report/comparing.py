"""Compare two readings, query by query: choose the windows and word the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

import advisor
from advisor.batches import Reading
from advisor.catalogue import Catalogue
from advisor.comparison import compare
from advisor.contract import SCHEMA_VERSION, Advice, ComparedRun, Comparison, Comparisons, moment
from advisor.errors import TRACEBACK, InputError
from advisor.facts.versions import version_in_words
from advisor.report.absent import no_query
from advisor.report.assemble import judged_runs
from advisor.report.judged import Judged
from advisor.report.runs import Asked


def compare_readings(
    before: Reading, after: Reading | None, catalogue: Catalogue, asked: Asked, query: str | None = None
) -> tuple[Comparisons, tuple[str, ...]]:
    """Every query of `before`, or the one of this name or id, against the same in `after`.

    They are the same by id, by name, or because each side holds only one.

    Return the whole, and why sides do not belong together, a sentence each.

    Of several runs the newest with steady batches counts, its latest regime. Without `after`, it is compared with the
    run before. Raises InputError where nothing can be paired, UsageError for a query that is not there.
    """
    old = _runs(before, catalogue, asked, query)
    alone: dict[str, tuple[str, ...]] = {}
    if after is None:
        pairs = [
            (earlier[-1], newest)
            for newest in _newest(old)
            if (earlier := [one for one in old if one.run.id == newest.run.id and one is not newest])
        ]
    else:
        new = _runs(after, catalogue, asked, query)
        for side, runs in (("BEFORE", old), ("AFTER", new)):
            if not runs:
                raise InputError(f"compare, {side}", "no batch can be judged", "latency-advisor analyze shows why")
        pairs = list(_paired(old, new))
        both = zip(("only_before", "only_after"), (old, new), zip(*pairs, strict=True), strict=False)
        alone = {side: _alone(runs, paired) for side, runs, paired in both}
    if not pairs:
        would_do = _would_do(after is None, asked.live)
        raise InputError("compare", "there are not two parts of one query to compare", would_do)
    steps = [step for rule in catalogue.rules.values() for step in rule.steps]
    on_the_mean = {step.id for step in steps if step.saves and step.saves.stat in ("mean", "total")}
    entries = tuple(_compared(one, other, on_the_mean) for one, other in pairs)
    unread_before, unread_after = (sum(one.times for one in side.broken) if side else 0 for side in (before, after))
    whole = Comparisons(
        schema_version=SCHEMA_VERSION, advisor_version=advisor.__version__, comparisons=entries,
        unread_before=unread_before, unread_after=unread_after, **alone,
    )  # fmt: skip
    return whole, tuple(words for one, other in pairs if (words := _do_not_belong(one, other)))


def _compared(one: Judged, other: Judged, on_the_mean: set[str]) -> Comparison:
    found = compare(one.window, other.window, _advised(one, other), on_the_mean)
    before, after, doubt = one.run, other.run, _do_not_belong(one, other)
    if not doubt and before.id != after.id and not (before.name and before.name == after.name):
        doubt = "The query ids differ: these are two queries, or one query with a new checkpoint."
    said = asdict(found) | {"says": f"{doubt} {found.says}".lstrip()}
    return Comparison(query=after.name or after.id, before=_compared_run(one), after=_compared_run(other), **said)


def _do_not_belong(one: Judged, other: Judged) -> str:
    """That the two sides are two queries, or the very same batches; empty where they are neither."""
    before, after = one.run, other.run
    if before.run_id == after.run_id and one.window.span == other.window.span:
        return "Both sides are the same batches of one run."
    two = before.id != after.id and before.name and after.name and before.name != after.name
    return f"Two different queries: {before.name} before, {after.name} after." if two else ""


def _would_do(alone: bool, live: bool) -> str:
    if live:
        return "restart a query in this session, and look again after some batches"
    if alone:
        return "give two logs, or one with two runs of a query"
    return "name the query with --query, or compare logs of the same query"


def _runs(reading: Reading, catalogue: Catalogue, asked: Asked, query: str | None) -> list[Judged]:
    runs = judged_runs(reading, catalogue, asked)
    chosen = [one for one in runs if query in (None, one.run.name, one.run.id, one.run.run_id)]
    if query is not None and not chosen:
        raise no_query(query, (str(one.run.name or one.run.id) for one in runs))
    steady = [one for one in chosen if len(one.window)]
    faults = [one.fault for one in chosen if one.fault is not None]
    if faults and not steady:
        found = f"no run could be judged, because of a fault in the advisor: {faults[-1]}"
        raise InputError("compare", found, f"{TRACEBACK}=1 in the environment shows where")
    return steady


def _newest(runs: Sequence[Judged]) -> list[Judged]:
    """The last run of each query; `runs` are in order of time."""
    return list({one.run.id or one.run.run_id: one for one in runs}.values())


def _alone(runs: list[Judged], paired: Sequence[Judged]) -> tuple[str, ...]:
    """Return the queries of these runs that are not among the paired ones, by name or id."""
    all_of, others = ([one.run.name or one.run.id or one.run.run_id for one in each] for each in (runs, paired))
    return tuple(dict.fromkeys(one for one in all_of if one not in others))


def _paired(old: list[Judged], new: list[Judged]) -> Iterator[tuple[Judged, Judged]]:
    before, after = _newest(old), _newest(new)
    if len(before) == len(after) == 1:
        yield before[0], after[0]
        return
    for other in after:
        same = [one for one in before if one.run.id == other.run.id]
        same = same or [one for one in before if one.run.name and one.run.name == other.run.name]
        if same:
            yield same[-1], other


def _advised(before: Judged, after: Judged) -> list[Advice]:
    """The steps that may have been made: none that Spark refuses; a query that kept its id has kept its checkpoint."""
    steps = [step for finding in before.judgement.findings for step in finding.steps]
    kept = before.run.id is not None and before.run.id == after.run.id
    return [step for step in steps if step.legal != "no" and not (kept and step.takes == "new_checkpoint")]


def _compared_run(side: Judged) -> ComparedRun:
    first, last = map(moment, side.window.span)
    known = side.window.facts
    return ComparedRun(
        id=side.run.id,
        run_id=side.run.run_id,
        spark_version=known.value("spark_version"),
        spark_between=version_in_words(known.value("spark_version_at_least"), known.value("spark_version_below")),
        first=first,
        last=last,
        batches=len(side.window),
        because=side.window.because,
    )
