"""Compare two windows: the effects, their causes, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from advisor.comparison.effect import at_most, effect, rounded, same
from advisor.comparison.levels import FEWEST, REST, TOTAL, Levels, levels, opened_alike, parts_apart, timed
from advisor.comparison.load import Load, at_same_load, load
from advisor.comparison.promises import OF, judged, made
from advisor.contract import Advice, Differences, Effect, FactChange, FactEntry, KeptPromise, LoadEntry, Verdict
from advisor.facts import CONF, FACTS, Facts, Known, same_version
from advisor.metrics import Missing
from advisor.metrics.phases import budget
from advisor.metrics.units import milliseconds
from advisor.savings import made_at_once
from advisor.window import PHASES, Window

REAL_TIME = "in real-time mode a batch lasts as long as its trigger, and is no latency"
OPENED_OTHERWISE = (
    "What runs inside addBatch is not compared: the logs are of different kinds, and each divides it otherwise."
)
WITHIN_RUNS = (
    "The intervals hold how batches vary within these two windows, not how one start of a query varies from the next: "
    "repeat both runs to be sure."
)


def compare(
    before: Window, after: Window, steps: Iterable[Advice] = (), on_the_mean: Collection[str] = ()
) -> Differences:
    """Return how AFTER differs from BEFORE: phases, typical and mean batch, record latency, settings, promises.

    `steps`: the advice from BEFORE; `on_the_mean`: ids of steps that promise milliseconds of the mean batch, not of
    the typical one. Differences are AFTER less BEFORE, with 95 % intervals of a moving-block bootstrap that gives
    the same numbers for the same windows.
    """
    changed = changes(before.facts, after.facts)
    taken = made_at_once(made(steps, changed, after.facts), budget(before))
    if "real_time" in (before.facts.value("trigger"), after.facts.value("trigger")):
        return _untold("not comparable", f"Not comparable: {REAL_TIME}.", REAL_TIME, changed, taken)
    before, after = timed(before), timed(after)
    if min(len(before), len(after)) < FEWEST:
        return _too_few(before, after, changed, taken)
    weighed = load(before, after)
    parts, alike = parts_apart(before, after), opened_alike(before, after)
    old, new = levels(before, parts), levels(after, parts)
    effects = tuple(_effects(old, at_same_load(new, weighed.shift), tuple(parts) if alike else ()))
    verdict = _verdict(effects[0], weighed)
    return Differences(
        verdict=verdict,
        says=_says(verdict, effects[0], weighed),
        load=LoadEntry(kind=weighed.kind, says=weighed.says),
        effects=tuple(map(rounded, effects)),
        changed=changed,
        promises=tuple(_promises(taken, effects, on_the_mean, min(len(before), len(after)), weighed)),
        limits=(*_limits(old, new), *([OPENED_OTHERWISE] if alike is False else [])),
    )


def changes(before: Facts, after: Facts) -> tuple[FactChange, ...]:
    """Return what differs, known changes first, then what only one side knows."""
    names = [name for name, fact in FACTS.items() if not fact.outcome]
    names += sorted(name for name in {*before, *after} - set(FACTS) if name.startswith(CONF) and "." in name)
    found = []
    for name in names:
        old, new = before.get(name), after.get(name)
        if not _same(name, old, new):
            sides = [known and FactEntry(value=known.value, origin=known.origin) for known in (old, new)]
            found.append(FactChange(fact=name, before=sides[0], after=sides[1], sure=None not in sides))
    return tuple(sorted(found, key=lambda change: not change.sure))


def _same(name: str, old: Known | None, new: Known | None) -> bool:
    if old is None or new is None:
        return (old or new or Known(None, "")).value is None
    if name in FACTS and FACTS[name].kind == "version":
        return same_version(str(old.value), str(new.value))
    return str(old.value) == str(new.value)


def _effects(old: Levels, new: Levels, parts: Iterable[str]) -> Iterator[Effect]:
    yield effect(TOTAL, "typical", old.typical[TOTAL], new.typical[TOTAL])
    yield effect(TOTAL, "mean", old.mean, new.mean)
    nothing = old.typical[TOTAL] - old.typical[TOTAL]
    for name in (*PHASES.values(), *REST, *parts):
        if name in old.typical or name in new.typical:
            yield effect(name, "typical", old.typical.get(name, nothing), new.typical.get(name, nothing))
    if not isinstance(old.latency, Missing) and not isinstance(new.latency, Missing):
        for stat in old.latency:
            yield effect("record latency", stat, old.latency[stat], new.latency[stat])


def _verdict(total: Effect, weighed: Load) -> Verdict:
    slower = total.difference_ms.low > 0
    comparable = weighed.kind in ("same", "adjusted")
    # More rows never make a batch faster, nor fewer make it slower: such a difference stands at any load.
    if not comparable and not (weighed.kind == "differs" and total.told and slower != weighed.grown):
        return "not comparable"
    if total.told:
        return "slower" if slower else "faster"
    return "no difference" if same(total) else "cannot say"


def _says(verdict: Verdict, total: Effect, weighed: Load) -> str:
    went = f"{milliseconds(total.before_ms)} → {milliseconds(total.after_ms)}"
    share = total.difference_share
    percent = "" if share is None else f", {share.low * 100:+.0f} to {share.high * 100:+.0f} %"
    if verdict == "not comparable":
        return f"Not comparable: a typical batch went {went} {weighed.says}."
    if verdict == "no difference":
        most = milliseconds(at_most(total))
        return f"No difference, or at most {most} either way: a typical batch went {went}{percent}, {weighed.says}."
    if verdict == "cannot say":
        width = f"{milliseconds(total.difference_ms.low)} to {milliseconds(total.difference_ms.high)}"
        return (
            f"Cannot say whether a typical batch is faster or slower: it went {went}, and the 95 % interval of the "
            f"difference, {width}{percent}, holds 0; {weighed.says}. More batches make it narrower."
        )
    by = abs(total.difference_ms.value or 0.0)
    ends = sorted((abs(total.difference_ms.low), abs(total.difference_ms.high)))
    words = f"{milliseconds(by)} {verdict} ({milliseconds(ends[0])} to {milliseconds(ends[1])})"
    return f"A typical batch is {words}: {went}{percent}, {weighed.says}."


def _promises(
    taken: list[Advice], effects: tuple[Effect, ...], on_the_mean: Collection[str], batches: int, weighed: Load
) -> Iterator[KeptPromise]:
    found = {(one.name, one.stat): one for one in effects}
    for step in taken:
        doubt = _doubt(step, taken, weighed)
        stat = "mean" if step.id in on_the_mean else "typical"
        for of, measured in zip(OF, (found[TOTAL, stat], found.get(("record latency", "p50"))), strict=True):
            kept = judged(step, of, measured, batches, doubt)
            if kept is not None:
                yield kept


def _doubt(step: Advice, taken: list[Advice], weighed: Load) -> str | None:
    others = [other.do for other in taken if other.id != step.id and (other.saves_ms or other.saves_latency_ms)]
    if others:
        return f"made together with: {'; '.join(others)}"
    return None if weighed.kind in ("same", "adjusted") else weighed.says


def _limits(old: Levels, new: Levels) -> Iterator[str]:
    yield WITHIN_RUNS
    for side, at in (("BEFORE", old), ("AFTER", new)):
        if isinstance(at.latency, Missing):
            yield f"No record latency for {side}: {at.latency.reason}."


def _too_few(before: Window, after: Window, changed: tuple[FactChange, ...], taken: list[Advice]) -> Differences:
    sides = (("before", FEWEST - len(before)), ("after", FEWEST - len(after)))
    missing = max(more for _, more in sides)
    needed = " and ".join(f"{more} {side}" for side, more in sides if more > 0)
    words = f"more steady batches are needed: {needed}"
    says = f"Too few batches: {len(before)} steady ones before and {len(after)} after; {words}."
    return _untold("too few batches", says, words, changed, taken, missing)


def _untold(
    verdict: Verdict,
    says: str,
    words: str,
    changed: tuple[FactChange, ...],
    taken: list[Advice],
    more: int | None = None,
) -> Differences:
    promises = (judged(step, of, None, 0, words) for step in taken for of in OF)
    kept = tuple(replace(one, more_batches=more) for one in promises if one is not None)
    return Differences(verdict=verdict, says=says, load=None, effects=(), changed=changed, promises=kept, limits=())
