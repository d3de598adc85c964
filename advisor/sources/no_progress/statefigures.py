"""Figures of a query's state that stand without durations: an operator, RocksDB's metrics, a table or words of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from advisor.metrics.words import milliseconds
from advisor.report.unjudged import NEARLY_EMPTY, nearly_empty

Figures = dict[str, float]
"""Of one operator, by Spark's names; times are milliseconds, summed over tasks."""

_PARTS: Final = {
    "rocksdbCommitFlushLatency": "flush",
    "rocksdbCommitCompactLatency": "compaction",
    "rocksdbCommitCheckpointLatency": "checkpoint",
    "rocksdbCommitFileSyncLatencyMs": "file sync (the upload)",
}
_TIMES: Final = {"allUpdatesTimeMs": "updates", "allRemovalsTimeMs": "removals", "commitTimeMs": "commits"}
_COUNTS: Final = (
    "numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numShufflePartitions", "numStateStoreInstances",
    "memoryUsedBytes",
)  # fmt: skip
_NAMES: Final = "|".join((*_COUNTS, *_TIMES, *_PARTS))
_NUMBER: Final = r"(\d{1,3}(?:,\d{3})+|\d{1,18})(?![\d.]*\d|,\d{3})"
_FIGURE: Final = re.compile(
    rf"\b({_NAMES})[\"'`*]{{0,3}}(?:[ \t]{{0,20}}(?:=>?|->|[:|]|\bis\b|\bof\b|\bwas\b))?[ \t]{{0,20}}[\"'`*]?{_NUMBER}"
)
_IN_WORDS: Final = re.compile(rf"\b{_NUMBER} (?:state )?(rows|partitions)\b")
_WORDS: Final = {"rows": "numRowsTotal", "partitions": "numShufflePartitions"}
_CELLS: Final = re.compile(r"\t|\s*\|\s*|,\s*|\s{2,}")
_SHOWN: Final = 3
_FEWEST: Final = 2
"""Figures of one operator that say something together."""


def state_figures(text: str) -> str | None:
    """What figures of state tell of rows, partitions and of their times against each other; None without figures."""
    told = [says for each in _operators(text) if len(each) >= _FEWEST and (says := " ".join(_said(each)))]
    if not told:
        return None
    says = " Another operator: ".join(told[:_SHOWN])
    return f"these are figures of state without durations: {says} How long a batch waits for its state is not told"


def _operators(text: str) -> list[Figures]:
    """The figures, those of one operator together: a name that comes again begins the next one."""
    found = [(match.start(), match[1], match[2]) for match in _FIGURE.finditer(text)]
    if found:
        found += [(match.start(), _WORDS[match[2]], match[1]) for match in _IN_WORDS.finditer(text)]
    operators: list[Figures] = []
    for _, name, number in sorted(found):
        if not operators or name in operators[-1]:
            operators.append({})
        operators[-1][name] = float(number.replace(",", ""))
    return operators or [*_rows_of_a_table(text)]


def _rows_of_a_table(text: str) -> Iterator[Figures]:
    """The row below names of figures."""
    for head, row in pairwise(text.splitlines()):
        names, cells = (_CELLS.split(line.strip().strip("|").strip()) for line in (head, row))
        if len(names) == len(cells):
            told = {name: cell for name, cell in zip(names, cells, strict=True) if re.fullmatch(_NAMES, name)}
            if told and all(cell.isdecimal() for cell in told.values()):
                yield {name: float(cell) for name, cell in told.items()}


def _said(figures: Figures) -> Iterator[str]:
    rows, partitions = _rows(figures), _partitions(figures)
    held = [] if rows is None else [f"{rows:,.0f} row{'' if rows == 1 else 's'}"]
    held += [] if partitions is None else [f"in {partitions:,.0f} partition{'' if partitions == 1 else 's'}"]
    if memory := figures.get("memoryUsedBytes"):
        held.append(f"in {memory / 1e6:,.0f} MB of memory" if memory >= 1e6 else f"in {memory / 1e3:,.0f} kB of memory")
    if held:
        yield f"{' '.join(held)}."
    if rows is not None and partitions is not None and nearly_empty(rows, partitions):
        yield NEARLY_EMPTY
    times = {words: figures[name] for name, words in _TIMES.items() if figures.get(name)}
    if times:
        each = (
            f", {milliseconds(times['commits'] / partitions)} a partition" if partitions and "commits" in times else ""
        )
        told = ", ".join(f"{words} {milliseconds(ms)}" for words, ms in times.items())
        yield f"Summed over tasks: {told}{each}."
    yield from _largest({words: figures[name] for name, words in _PARTS.items() if name in figures})


def _rows(figures: Figures) -> float | None:
    """Rows of the state; None where none are told though some were just written: RocksDB need not count them."""
    kept = figures.get("numRowsUpdated", 0.0) > figures.get("numRowsRemoved", 0.0)
    return None if kept and not figures.get("numRowsTotal") else figures.get("numRowsTotal")


def _partitions(figures: Figures) -> float | None:
    return figures.get("numShufflePartitions") or figures.get("numStateStoreInstances")


def _largest(parts: Figures) -> Iterator[str]:
    """Which of the parts of a commit that are there takes most."""
    whole = sum(parts.values())
    if len(parts) >= _FEWEST and whole:
        largest = max(parts, key=lambda name: parts[name])
        yield (
            f"Of the parts of the commits that are named, {largest} takes most: {milliseconds(parts[largest])} of "
            f"{milliseconds(whole)}, summed over tasks."
        )
