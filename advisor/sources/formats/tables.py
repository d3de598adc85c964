"""Tables in which a batch is a row or a column: CSV, Markdown, what Spark, databases and pandas print."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from advisor.sources.formats.cells import (
    BATCH,
    LENGTH,
    ROWS,
    Column,
    are_batches,
    column_of,
    parsed,
    record,
    unit_of,
    without_unit,
)
from advisor.sources.formats.flattened import flattened
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.spans import joined
from advisor.sources.harvest import Buffer

_MOST: Final = 1 << 20
"""Bytes at the beginning of a text in which a table begins."""
_SIGN: Final = re.compile(
    r"(?i)add[ _]?batch|duration_?ms|trigger[ _]?execution|process(?:ed|ing)?[ _]?(?:rows[ _]?per[ _]?second|rate)"
)
_TOOK: Final = (
    r"(?:(?:processing|batch|execution)[ _-]?(?:time|duration)|duration|dauer|verarbeitungszeit|duraci[oó]n"
    r"|tiempo de proces|temps de trait|dur[eé]e)"
)
_LENGTH_BY_PEOPLE: Final = re.compile(
    rf"(?i){_TOOK}(?![^\n]{{0,60}}\b(?:allowed|budget|goal|limit|sla|slo|target|threshold|timeout)\b)"
)
_BY_PEOPLE: Final = re.compile(rf"(?im)^(?=[^\n]{{0,120}}\b(?:micro-?)?(?:batch|lote)\b)[^\n]{{0,160}}?\b{_TOOK}")
"""The head of a table in people's words."""
_OF_STREAMS: Final = re.compile(
    r"(?i)\bstructured streaming|\bspark(?:'s)? stream|\bstreaming (?:query|job)|foreach_?batch\b|\bmicro-?batch"
    r"|writeStream|readStream"
)
_OF_BATCHES: Final = frozenset(("batch", "batchid", "batchno", "batchnr", "batchnumber", "microbatch", "lote"))
_OF_ROWS: Final = frozenset(
    ("records", "rows", "events", "messages", "inputrows", "inputrecords", "numrecords", "numrows", "rowcount",
     "recordcount", "zeilen", "datensätze", "registros", "filas", "eventos", "lignes")
)  # fmt: skip
_MEMBER: Final = re.compile(r"""\s*["'][\w.]+["']\s*:\s*[\d."'-][^,]*,?\s*$""")
"""A line of a JSON object, which is read as that."""
_OF_GAUGES: Final = re.compile(r"(?i)processingRate[-_.]total")
"""Beside it `latency` is how long the trigger took."""
_FOLD: Final = "\\"
"""At the end of a line that goes on in a later one."""
_INDEX: Final = re.compile(r"^\s*\S+")
_DIGIT: Final = re.compile(r"\d")
_RULER: Final = re.compile(r"[\s|+:=─━═┼╪┿╇├┤╞╡┝┥┌┐└┘┬┴╒╕╘╛┏┓┗┛┡┩┠┨╂┯┷-]*")
_MARKS: Final = " *`\"'"
_TYPICAL: Final = ("50%", "median", "p50", "mean", "avg", "average")
_EVENT: Final = re.compile(r"[\"']durationMs[\"']\s{0,9}:\s{0,9}\{")
"""What only an event holds that is written as JSON or as a Python dict: its lines are no rows, however it is cut."""
_STATISTIC: Final = re.compile(r"\d+(?:\.\d+)?%|p\d+|count|std|stddev|min|max|sum|total|summary|" + "|".join(_TYPICAL))

Row = tuple[int, int, Sequence[str]]
"""(where it begins, where it ends, its cells)."""


def rows_of(buffer: Buffer) -> Iterator[Piece]:
    """Each row of the tables in a text that holds no event, as a partial record."""
    begins = bytes(buffer[:_MOST]).decode("latin-1")
    if not _may_hold_tables(begins) or _EVENT.search(begins):
        return
    raw = bytes(buffer[:])
    begins_here = (
        next(_tables(raw[: 2 * _MOST]), None) is not None
    )  # a log of many lines is not taken apart for nothing
    yield from (begins_here and list(_tables(raw))) or (flattened(raw) if _SIGN.search(begins) else ())


def _may_hold_tables(text: str) -> bool:
    return bool(_SIGN.search(text) or (_BY_PEOPLE.search(text) and _OF_STREAMS.search(text)))


def _tables(raw: bytes) -> Iterator[Piece]:
    encoded = raw.splitlines(keepends=True)
    starts = list(accumulate(map(len, encoded), initial=0))
    lines = _unfolded([line.decode("utf-8", "replace").lstrip("\ufeff").replace("\0", "") for line in encoded])
    at = place = 0
    before: dict[int, Column] = {}
    while at < len(lines):
        told = starts[at] < _MOST and bool(_SIGN.search(lines[at]) or _BY_PEOPLE.search(lines[at]))
        sign = told and not _MEMBER.match(lines[at])
        if sign and (table := _begins(lines, at)) is not None:
            columns, rows, behind = table
            apart = False
            placed = [(starts[at + first], starts[at + last], cells) for first, last, cells in rows]
        elif sign and (turned := _turned(lines, at)) is not None:
            columns, cells_of, first, behind = turned
            apart = BATCH not in columns.values() and not any(
                _DIGIT.search(cell) for cells in cells_of for n, cell in enumerate(cells) if n not in columns
            )  # "before" and "after" are two runs
            placed = [(starts[first] + n, starts[first] + n + 1, cells) for n, cells in enumerate(cells_of)]
        else:
            at += 1
            continue
        if columns != before or BATCH not in columns.values():
            place = starts[at]
        yield from _read(columns, placed, place, apart=apart)
        at, before = behind, columns


_PHASES: Final = 40
"""Lines around a phase in which the others stand where each batch is a column."""
_PAIR: Final = 2
Split = Callable[[Iterable[str]], Iterator[tuple[int, int, list[str]]]]
"""Lines to (the first line, the one behind the last, the cells) of each row."""


def _begins(lines: Sequence[str], at: int) -> tuple[dict[int, Column], list[Row], int] | None:
    """(columns, rows by their lines behind `at`, the line behind it) of the table whose head is this line, if it is."""
    columns: dict[int, Column] = {}
    for split in _SPLITS:
        told = _columns(_cells(split, lines[at]))
        more = len(told) > len(columns) and not (columns and split is _by_blanks)  # words of a name are no columns
        if more and are_batches(told.values()):
            columns, chosen = told, split
    if not columns:
        return None
    rows: list[Row] = []
    for row in chosen(lines[n] for n in range(at, len(lines))):
        if rows and are_batches(_columns(row[2]).values()):
            break
        rows.append(row)
    return columns, rows[1:], at + rows[-1][1]


def _cells(split: Split, line: str) -> list[str]:
    return next(split([line]))[2]


def _turned(lines: Sequence[str], at: int) -> tuple[dict[int, Column], list[list[str]], int, int] | None:
    """(columns, rows, first line, the one behind it) of a table around this line in which each batch is a column."""
    low = max(0, at - _PHASES)
    near = lines[low : at + _PHASES]
    for split in _SPLITS:
        name, *values = _cells(split, lines[at]) or [""]
        if column_of(name) is None or all(parsed(value, fraction=True) is None for value in values):
            continue
        cells = [_cells(split, line) for line in near]
        width, first = len(cells[at - low]), at - low
        while first and len(cells[first - 1]) == width:
            first -= 1
        behind = next((n for n in range(at - low, len(cells)) if len(cells[n]) != width), len(cells))
        rows = [row for row in cells[first:behind] if not _RULER.fullmatch("".join(row))]
        columns = _columns([row[0] for row in rows])
        if are_batches(columns.values()) and (width > _PAIR or (width == _PAIR and BATCH in columns.values())):
            if first and len(cells[first - 1]) == width - 1:  # the names of the columns; that of the phases has none
                rows.append(["", *cells[first - 1]])
            return columns, [list(row) for row in zip(*rows, strict=True)][1:], low + first, low + behind
    return None


def _columns(cells: Sequence[str]) -> dict[int, Column]:
    found = {n: column for n, cell in enumerate(cells) if (column := column_of(cell)) is not None}
    if any(_OF_GAUGES.search(cell) for cell in cells):
        found |= {n: LENGTH for n, cell in enumerate(cells) if cell.strip("\"' ").lower() == "latency"}
    return found if are_batches(found.values()) else _by_people(cells) or found


def _by_people(cells: Sequence[str]) -> dict[int, Column]:
    """The columns of a table in people's words of batches, their rows and how long each took; empty of another one."""
    meant = [_meant(cell.strip(_MARKS)) for cell in cells]
    found = {n: column for n, column in enumerate(meant) if column is not None}
    paths = [column.path for column in found.values()]
    return found if sorted(paths) == sorted(column.path for column in (BATCH, ROWS, LENGTH)) else {}


def _meant(name: str) -> Column | None:
    word = "".join(filter(str.isalpha, without_unit(name).lower()))
    if _LENGTH_BY_PEOPLE.match(name):
        return LENGTH._replace(unit=unit_of(name, 0))
    return BATCH if word in _OF_BATCHES else ROWS if word in _OF_ROWS else None


def _by(delimiter: str) -> Split:
    def split(lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        before = 0
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:
                cells = []
            yield before, reader.line_num, cells
            before = reader.line_num

    return split


def _by_bars(lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
    for n, line in enumerate(lines):
        text = re.sub("[│┃┆]", "|", line.strip())
        yield n, n + 1, [cell.strip() for cell in text.removeprefix("|").removesuffix("|").split("|")]


def _by_blanks(lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
    width = 0
    for n, line in enumerate(lines):
        ways = re.split(r"\s{2,}|\t", line.strip()), joined(line).split()
        width = width or max(map(len, ways))
        cells = next((way for way in ways if width <= len(way) <= width + 1), ways[0])
        yield n, n + 1, [*cells[1:], cells[0]] if len(cells) == width + 1 else cells  # its index has no name


def _unfolded(lines: list[str]) -> list[str]:
    """The lines, with the blocks that pandas prints one below the other side by side; as many lines as before."""
    blank = [n for n, line in enumerate(lines) if not line.strip()]
    ends = dict(pairwise([-1, *blank, len(lines)]))
    for begin, end in ends.items():
        size = end - begin
        after = end
        while (
            lines[begin + 1 : begin + 2]
            and lines[begin + 1].rstrip().endswith(_FOLD)
            and ends.get(after, 0) - after == size
        ):
            for n in range(1, size):
                cells = lines[after + n] if n == 1 else _INDEX.sub("", lines[after + n])  # each block repeats the index
                lines[begin + n] = lines[begin + n].rstrip().removesuffix(_FOLD).rstrip() + "  " + cells.rstrip()
                lines[after + n] = ""
            after += size
    return lines


_SPLITS: Final[tuple[Split, ...]] = (_by_bars, _by("\t"), _by(","), _by(";"), _by_blanks)


def _read(columns: dict[int, Column], rows: Sequence[Row], place: int, *, apart: bool) -> Iterator[Piece]:
    """The rows that hold a batch, `apart` each of a run of its own; of statistics the one that is typical."""
    rows = [row for row in rows if row[2] and not _RULER.fullmatch("".join(row[2]))]
    labels = {label: row for row in rows if (label := _statistic(row[2], columns))}
    if labels and len(labels) == len(rows):
        rows = [labels[label] for label in _TYPICAL if label in labels][:1]
    width = max(columns) + 1
    for nth, (start, end, cells) in enumerate(rows):
        known = cells if len(cells) >= width else cells[:-1]  # its last cell may be cut
        if _statistic(cells, columns) is None or len(rows) == 1:
            told = ((columns[n], cell) for n, cell in enumerate(known) if n in columns)
            yield from record(start, end, told, place + nth * apart)


def _statistic(cells: Sequence[str], columns: dict[int, Column]) -> str | None:
    """The label of a row that sums up others: `mean`, `50%`."""
    others = (cell for n, cell in enumerate(cells) if n not in columns or columns[n] == BATCH)
    labels = (without_unit(cell.strip("*` ")).lower() for cell in others)
    return next((label for label in labels if _STATISTIC.fullmatch(label)), None)
