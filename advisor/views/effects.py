"""The parts that a comparison and a trial share: by how much each phase differs, and whether each promise was kept."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.contract import Comparison, Effect, Interval, KeptPromise, Promise, Report, Trial
from advisor.views import text
from advisor.views.markdown import table

TITLE = "By how much (negative is faster)"
MORE = "kept, more than promised"
STYLES = {
    "faster": "bold green",
    "slower": "bold red",
    "refused": "bold red",
    "kept": "green",
    MORE: "green",
    "broken": "bold red",
}
"""Of verdicts, those on a difference and those on a promise."""
_SMALLEST_MS = 0.5  # phases that take less on both sides are left out


def headings(before: str, after: str) -> tuple[str, ...]:
    """Of the columns of `effect_rows`, for two sides of these names."""
    return ("", before, after, "difference", "95 % interval", f"of {before}", "")


def effect_rows(entry: Comparison | Trial) -> Iterator[tuple[str, ...]]:
    """A row for each phase that takes any time."""
    for one in entry.effects:
        if max(one.before_ms, one.after_ms) < _SMALLEST_MS:
            continue
        share = one.difference_share
        yield (
            _what(one),
            text.ms(one.before_ms),
            text.ms(one.after_ms),
            _signed(one.difference_ms.value or 0.0),
            _interval(one.difference_ms),
            f"{100 * share.value:+.0f} %" if share and share.value is not None else "",
            "" if one.told else "may be noise",
        )


def effects_as_markdown(headings: tuple[str, ...], entry: Comparison | Trial) -> Iterator[str]:
    """The table of `effect_rows`, as one text; nothing where no phase takes any time."""
    found = table(headings, ("---", *["---:"] * (len(headings) - 2), "---"), effect_rows(entry))
    if found:
        yield "\n".join(["", *found])


def promise_rows(entry: Comparison | Trial) -> Iterator[tuple[str, str]]:
    """(verdict, what was promised and what was measured), a row for each promise."""
    for kept in entry.promises:
        of = "per batch" if kept.of == "batch" else "in record latency"
        saved = kept.measured_ms
        measured = f"measured {text.ms(saved.value)} ({_interval(saved)}); " if saved else ""
        yield outcome(kept), f"{kept.do}, {of}: promised {_promised(kept.predicted_ms)}; {measured}{kept.because}"


def outcome(kept: KeptPromise) -> str:
    """Return the verdict on a promise: `kept`, also if more was saved than promised, `broken` or `cannot say yet`."""
    more = kept.measured_ms is not None and kept.measured_ms.low > kept.predicted_ms.high
    return MORE if kept.verdict == "kept" and more else kept.verdict


def _promised(saves: Promise) -> str:
    return text.saving(saves) if saves.expected is not None else f"at most {text.ms(saves.high)}"


def _what(one: Effect) -> str:
    words = "batch" if one.name == "triggerExecution" else one.name
    return words if one.stat == "typical" and words != "batch" else f"{words}, {one.stat}"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{text.ms(value)}"


def _interval(ends: Interval) -> str:
    """`-63 to -16 ms`; both with their unit where these differ."""
    low, high = text.ms(ends.low), text.ms(ends.high)
    unit = high[high.rfind(" ") :]  # with its space: "ms" ends in "s", too
    return f"{low.removesuffix(unit)} to {high}"


def proof_by_run(report: Report) -> dict[str, list[str]]:
    """Return the lines about each run that a session's report compares."""
    found: dict[str, list[str]] = {}
    for comparison in report.comparisons or ():
        found.setdefault(comparison.after.run_id, []).extend(proof(comparison))
    return found


def proof(comparison: Comparison) -> Iterator[str]:
    """What was measured, then each promise beside its measurement, a line each."""
    within = comparison.before.run_id == comparison.after.run_id
    yield f"{'Since the change' if within else 'Measured'}: {comparison.says}"
    for kept in comparison.promises:
        found = f"measured {text.ms(kept.measured_ms.value)}" if kept.measured_ms else "nothing measured"
        more = f": {kept.more_batches} more batches" if kept.more_batches else ""
        of = "per batch" if kept.of == "batch" else "in record latency"
        yield f"{kept.do}, {of}: promised {text.saving(kept.predicted_ms)}; {found}; {outcome(kept)}{more}"
