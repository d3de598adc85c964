"""A comparison or a trial as text or Markdown: by how much each phase differs, and whether each promise was kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from advisor.contract import Comparison, Comparisons, Effect, Interval, KeptPromise, Report, Trial
from advisor.views import text, wording
from advisor.views.clean import clean_all
from advisor.views.console import WIDTH, console, written
from advisor.views.paste import pastes
from advisor.views.plain import print_written
from advisor.views.templating import as_markdown, environment
from advisor.vocabulary import CONF

Rows = Iterable[tuple[str, str]]
_MORE = "kept, more than promised"
_SMALLEST_MS = 0.5  # phases that take less on both sides are left out


def comparison_as_text(found: Comparisons | Trial, *, width: int = WIDTH, color: bool = False) -> str:
    """All comparisons, or the trial, as text that ends in a line break."""
    page = console(width, color=color)
    print_written(page, environment("text").get_template("comparison.md.j2").render(_shown(found)), ruled=False)
    return written(page).lstrip("\n")


def comparison_as_markdown(found: Comparisons | Trial) -> str:
    """All comparisons, or the trial, as Markdown; what comes from logs or Spark can add no markup."""
    return as_markdown("comparison.md.j2", **_shown(found))


def _shown(found: Comparisons | Trial) -> dict[str, Any]:
    cleaned = clean_all(found)
    entries = (cleaned,) if isinstance(cleaned, Trial) else cleaned.comparisons
    return {"entries": entries, "alone": alone(cleaned)} | {
        each.__name__: each for each in (title, sides, changes, headings, effect_rows, sections)
    }


def alone(found: Comparisons | Trial) -> list[str]:
    """Return which queries only one side shows, and how much of a side was not read, a sentence each."""
    if isinstance(found, Trial):
        return []
    sides = ("BEFORE", found.only_before, found.unread_before), ("AFTER", found.only_after, found.unread_after)
    missed = [
        f"Not compared, as only {side} holds batches to judge: {', '.join(names)}" for side, names, _ in sides if names
    ]
    lost = [(side, text.plural(unread, "record")) for side, _, unread in sides if unread]
    return missed + [f"{side}: {records} not readable; latency-advisor analyze shows why" for side, records in lost]


def title(entry: Comparison | Trial) -> str:
    """What is compared; nothing of a trial, which is alone on its page."""
    return "" if isinstance(entry, Trial) else entry.query or "a query without a name"


def sections(entry: Comparison | Trial) -> Iterator[tuple[str, Rows]]:
    """What stands below the numbers: titles, each with its rows of a label and words."""
    if isinstance(entry, Comparison):
        yield "Changed between them", _facts_changed(entry)
    yield "Promises", promise_rows(entry)
    yield "Runs", runs(entry)
    yield "Note", (("", words) for words in entry.limits)


def headings(entry: Comparison | Trial) -> tuple[str, ...]:
    """Of the columns of `effect_rows`."""
    before, after = ("baseline", "candidate") if isinstance(entry, Trial) else ("before", "after")
    return ("", before, after, "difference", "95 % interval", f"of {before}", "")


def effect_rows(entry: Comparison | Trial) -> list[tuple[str, ...]]:
    """A row for each phase that takes any time."""
    return [_effect(one) for one in entry.effects if max(one.before_ms, one.after_ms) >= _SMALLEST_MS]


def _effect(one: Effect) -> tuple[str, ...]:
    value, share = one.difference_ms.value or 0.0, one.difference_share
    name = "batch" if one.name == "triggerExecution" else one.name
    return (
        name if one.stat == "typical" and name != "batch" else f"{name}, {one.stat}",
        text.ms(one.before_ms),
        text.ms(one.after_ms),
        f"{'+' if value > 0 else ''}{text.ms(value)}",
        _interval(one.difference_ms),
        f"{100 * share.value:+.0f} %" if share and share.value is not None else "",
        "" if one.told else "may be noise",
    )


def promise_rows(entry: Comparison | Trial) -> Iterator[tuple[str, str]]:
    """(verdict, what was promised and what was measured), a row for each promise."""
    for kept in entry.promises:
        saved, promise = kept.measured_ms, kept.predicted_ms
        promised = f"up to about {text.ms(promise.high)}" if promise.expected is None else text.saving(promise)
        measured = f"measured {text.ms(saved.value)} ({_interval(saved)}); " if saved else ""
        yield outcome(kept), f"{_of(kept)}: promised {promised}; {measured}{kept.because}"


def outcome(kept: KeptPromise) -> str:
    """Return the verdict on a promise: `kept`, also if more was saved than promised, `broken` or `cannot say yet`."""
    more = kept.measured_ms is not None and kept.measured_ms.low > kept.predicted_ms.high
    return _MORE if kept.verdict == "kept" and more else kept.verdict


def _of(kept: KeptPromise) -> str:
    return f"{kept.do}, {'per batch' if kept.of == 'batch' else 'in record latency'}"


def _interval(ends: Interval) -> str:
    """`-63 to -16 ms`; both with their unit where these differ."""
    low, high = text.ms(ends.low), text.ms(ends.high)
    unit = high[high.rfind(" ") :]  # with its space: "ms" ends in "s", too
    return f"{low.removesuffix(unit)} to {high}"


def sides(entry: Comparison | Trial) -> Iterator[tuple[str, str]]:
    """Which batches of which run stand on each side of a comparison; nothing of a trial, which has many runs."""
    for label, side in () if isinstance(entry, Trial) else (("before", entry.before), ("after", entry.after)):
        words = f"{text.plural(side.batches, 'batch', 'batches')}, {text.span(side.first, side.last)}"
        yield label, f"run {side.run_id[:8]}, {wording.version(side)}: {words} ({side.because})"


def _facts_changed(entry: Comparison) -> Iterator[tuple[str, str]]:
    """Return what changed, a row each; facts that only one side knows, by name in one row."""
    for change in entry.changed:
        if change.before and change.after:
            yield change.fact, f"{wording.fact(change.before)} → {wording.fact(change.after)}"
    before = [change.fact for change in entry.changed if change.after is None]
    after = [change.fact for change in entry.changed if change.before is None]
    for side, alone in (("before", before), ("after", after)):
        facts = [name for name in alone if not name.startswith(CONF)]
        if alone:
            settings = len(alone) - len(facts)
            more = [text.plural(settings, "setting")] if settings else []
            yield f"known {side} only", ", ".join([*facts, *more])


def changes(entry: Comparison | Trial) -> Iterator[tuple[str, str]]:
    """(where it belongs, the lines) of what was tried."""
    if isinstance(entry, Trial):
        yield from ((group.where, "\n".join(group.lines)) for group in pastes(entry.change))
        yield from (("in your code", step) for step in entry.change.code)


def runs(entry: Comparison | Trial) -> Iterator[tuple[str, str]]:
    """(side, its runs with their typical batches), and how many task slots they took."""
    if isinstance(entry, Comparison):
        return
    for side in ("baseline", "candidate"):
        found = [run for run in entry.runs if run.side == side]
        levels = [text.ms(run.typical_ms) for run in found if run.typical_ms is not None]
        batches = text.plural(sum(run.batches for run in found), "steady batch", "steady batches")
        yield side, f"{text.plural(len(found), 'run')}, {batches}" + (f": {', '.join(levels)}" if levels else "")
    if entry.task_slots:
        yield "took", f"up to {text.plural(entry.task_slots, 'task slot')}, one run after the other"


def proof_by_run(report: Report) -> dict[str, list[str]]:
    """Return the lines about each run that a session's report compares."""
    found: dict[str, list[str]] = {}
    for comparison in report.comparisons or ():
        found.setdefault(comparison.after.run_id, []).extend(proof(comparison))
    return found


def proof(comparison: Comparison) -> Iterator[str]:
    """What was measured, then each promise beside its measurement, a line each."""
    yield f"Measured: {comparison.says}"
    for kept in comparison.promises:
        found = f"measured {text.ms(kept.measured_ms.value)}" if kept.measured_ms else "nothing measured"
        more = f": {kept.more_batches} more batches" if kept.more_batches else ""
        yield f"{_of(kept)}: promised {text.saving(kept.predicted_ms)}; {found}; {outcome(kept)}{more}"
