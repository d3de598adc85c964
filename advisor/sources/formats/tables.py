"""Tables in which a batch is a row: CSV, Markdown, what Spark and pandas print, and records with flattened keys."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from advisor.batches import PHASES
from advisor.progress import UNNAMED, Fragment, as_instant, of_fragment, read_fragment
from advisor.sources.formats.durations import SUMMED, with_sum
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.loose import innermost
from advisor.sources.harvest import Buffer

_MOST: Final = 1 << 20
"""Bytes at the beginning of a text in which a table begins."""
_LONGEST: Final = 64 << 10
_MISSES: Final = 20
"""Records one after the other that are none of a batch, behind which no more are looked for."""
_SIGN: Final = re.compile(r"(?i)add[ _]?batch|duration_?ms|trigger[ _]?execution")
_FLAT: Final = re.compile(rb"""(?i)add_?batch(?:_?ms)?["']?\s*:""")

_DURATIONS, _TRIGGER, _ADD_BATCH, _SPAN = "durationMs", "triggerExecution", "addBatch", "batchDuration"
_NESTED: Final = ("sources", "stateOperators", "sink", "eventTime")
_NUMBERS: Final = ("batchId", "numInputRows", _SPAN)
_RATES: Final = ("inputRowsPerSecond", "processedRowsPerSecond")
_IDS: Final = ("id", "runId")
_PLAIN: Final = (*_NUMBERS, *_RATES, *_IDS, "name", "timestamp", _DURATIONS, *_NESTED)
_ALSO: Final = {
    "batch": "batchId",
    "inputrows": "numInputRows",
    "inputrate": "inputRowsPerSecond",
    "processrate": "processedRowsPerSecond",
    "queryname": "name",
    "queryid": "id",
    "durations": _DURATIONS,
    "operators": "stateOperators",
}
"""Names of Spark's pages and of this project's own tables beside Spark's own."""
_PATHS: Final = {
    **{name.lower(): (name,) for name in _PLAIN},
    **{name: (meant,) for name, meant in _ALSO.items()},
    **{phase.spark.lower(): (_DURATIONS, phase.spark) for phase in PHASES},
}
_FOLD: Final = re.compile(r"\s*\\\s*$")
_INDEX: Final = re.compile(r"^\s*\S+")
_BETWEEN: Final = re.compile(r"""[.\[\]{}/:'"`>*]+|__""")
_UNIT: Final = re.compile(
    r"(?i)(?:[\s_]*[(\[]\s*(ms|millis(?:econds)?|s|secs?|seconds?)\s*[)\]]|[\s_](ms|s|secs?|seconds))$"
)
_BEFORE: Final = re.compile(r"^(?:progress|event|json|query|avg|mean|median)*(?:durations?(?:ms)?)?")
_NUMBER: Final = re.compile(
    r"([+-]?)(\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+|\d{1,19})(\.\d+)?\s*(ms|s|secs?|seconds?|min|minutes)?", re.ASCII
)
_DECIMAL_COMMA: Final = re.compile(r"^(\d+),(\d\d?)(?!\d)")
_MARKS: Final = " *`'\"~≈"
_DIGIT: Final = re.compile(r"\d")
_THOUSANDS: Final = len(".000")
_MS: Final = {"m": 1, "s": 1000}
_MAPPED: Final = re.compile(r"""(\w+)["']?\s*(?:->|[=:,])\s*(\d{1,15})(?=\s*[,;})\]])""")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "nan", "null", "none", "-", "n/a", "na", "nat", "<na>"})
_RULER: Final = re.compile(r"[\s|+:=─━═┼╪┿╇├┤╞╡┝┥┌┐└┘┬┴╒╕╘╛┏┓┗┛┡┩┠┨╂┯┷-]*")
_TYPICAL: Final = ("50%", "median", "p50", "mean", "avg", "average")
_STATISTIC: Final = re.compile(r"\d+(?:\.\d+)?%|p\d+|count|std|stddev|min|max|sum|total|summary|" + "|".join(_TYPICAL))
_NOT_TYPICAL: Final = re.compile(r"(?:max|min|p\d\d?|percentile\w*|std\w*|count|sum)[ _(]")


class _Column(NamedTuple):
    """Where in a record the value of a column stands, and how many of the record's units one of its units is."""

    path: tuple[str, ...]
    unit: int = 1


_BATCH: Final = _Column(("batchId",))

Row = tuple[int, int, Sequence[str]]
"""(where it begins, where it ends, its cells)."""


def rows_of(buffer: Buffer) -> Iterator[Piece]:
    """Each row of the tables in a text that holds no event, as a partial record."""
    if not _SIGN.search(bytes(buffer[:_MOST]).decode("latin-1")):
        return
    raw = bytes(buffer[:])
    yield from list(_tables(raw)) or _flattened(raw)


def _flattened(raw: bytes) -> Iterator[Piece]:
    """Records whose keys are paths, `progress.durationMs.addBatch`, or the columns of this project's tables."""
    place, end, misses = -1, 0, 0
    for match in _FLAT.finditer(raw):
        at = match.start()
        if at < end or misses > _MISSES:
            continue
        misses += 1
        start, _ = innermost(raw, max(end, at - _LONGEST), at, min(len(raw), at + _LONGEST))
        text = raw[start : start + 2 * _LONGEST].decode("utf-8", "replace")
        fragment = read_fragment(text)
        end = max(at + 1, start + len(text[: fragment.end].encode()))
        columns = _of_one_record({key: column for key in fragment.thing if (column := _column(key)) is not None})
        if _are_batches(columns.values()):
            place, misses = start if place < 0 else place, 0
            yield from _record(start, end, ((columns[key], fragment.thing[key]) for key in columns), place)


def _of_one_record(columns: dict[str, _Column]) -> dict[str, _Column]:
    """Without what stands outside the record that holds the durations: another's `timestamp`, say."""
    roots = [_root(key) for key, column in columns.items() if column.path[0] == _DURATIONS]
    root = max(roots, key=roots.count, default="")
    return {key: column for key, column in columns.items() if key.startswith(root)}


def _root(key: str) -> str:
    """What stands in a key before the durations, or before the phase."""
    at = key.lower().rfind(_DURATIONS.lower())
    return key[: at if at >= 0 else key.rfind(".") + 1]


def _column(name: str) -> _Column | None:
    """What a column of this name holds; None for whatever is no part of a progress event."""
    if _NOT_TYPICAL.match(name.strip().lower()):
        return None
    parts = [part for part in _BETWEEN.split(_UNIT.sub("", name.strip())) if part.strip()]
    nested = next((at for at, part in enumerate(parts) if part in _NESTED), None)
    if nested is not None:
        return _Column(tuple(parts[nested:]))
    word = re.sub(r"[^a-z0-9]", "", parts[-1].lower()) if parts else ""
    for spelt in (word, _BEFORE.sub("", word), word.removesuffix("ms"), _BEFORE.sub("", word.removesuffix("ms"))):
        if spelt in _PATHS:
            return _Column(_PATHS[spelt], _unit(name))
    return None


def _unit(name: str) -> int:
    match = _UNIT.search(name.strip())
    return _MS[(match[1] or match[2])[0].lower()] if match else 1


def _are_batches(columns: Iterable[_Column]) -> bool:
    """Whether these columns tell durations, each once: phases, or a map of them beside another part."""
    paths = [column.path for column in columns]
    phases = [path[1] for path in paths if len(path) > 1 and path[0] == _DURATIONS]
    whole = (_DURATIONS,) in paths and len(paths) > 1
    return len(set(paths)) == len(paths) and (
        whole or (len(phases) > 1 and {_ADD_BATCH, _TRIGGER} & {*phases} != set())
    )


def _tables(raw: bytes) -> Iterator[Piece]:
    encoded = raw.splitlines(keepends=True)
    starts = list(accumulate(map(len, encoded), initial=0))
    lines = _unfolded([line.decode("utf-8", "replace").lstrip("\ufeff").replace("\0", "") for line in encoded])
    at = place = 0
    before: dict[int, _Column] = {}
    while at < len(lines):
        sign = starts[at] < _MOST and _SIGN.search(lines[at]) is not None
        if sign and (table := _begins(lines, at)) is not None:
            columns, rows, behind = table
            apart = False
            placed = [(starts[at + first], starts[at + last], cells) for first, last, cells in rows]
        elif sign and (turned := _turned(lines, at)) is not None:
            columns, cells_of, first, behind = turned
            apart = _BATCH not in columns.values() and not any(
                _DIGIT.search(cell) for cells in cells_of for n, cell in enumerate(cells) if n not in columns
            )  # "before" and "after" are two runs
            placed = [(starts[first] + n, starts[first] + n + 1, cells) for n, cells in enumerate(cells_of)]
        else:
            at += 1
            continue
        if columns != before or _BATCH not in columns.values():
            place = starts[at]
        yield from _read(columns, placed, place, apart=apart)
        at, before = behind, columns


_PHASES: Final = 40
"""Lines around a phase in which the others stand where each batch is a column."""
_PAIR: Final = 2
Split = Callable[[Iterable[str]], Iterator[tuple[int, int, list[str]]]]
"""Lines to (the first line, the one behind the last, the cells) of each row."""


def _begins(lines: Sequence[str], at: int) -> tuple[dict[int, _Column], list[Row], int] | None:
    """(columns, rows by their lines behind `at`, the line behind it) of the table whose head is this line, if it is."""
    columns: dict[int, _Column] = {}
    for split in _SPLITS:
        told = _columns(_cells(split, lines[at]))
        if _are_batches(told.values()) and len(told) > len(columns):
            columns, chosen = told, split
    if not columns:
        return None
    rows: list[Row] = []
    for row in chosen(lines[n] for n in range(at, len(lines))):
        if rows and _are_batches(_columns(row[2]).values()):
            break
        rows.append(row)
    return columns, rows[1:], at + rows[-1][1]


def _cells(split: Split, line: str) -> list[str]:
    return next(split([line]))[2]


def _turned(lines: Sequence[str], at: int) -> tuple[dict[int, _Column], list[list[str]], int, int] | None:
    """(columns, rows, first line, the one behind it) of a table around this line in which each batch is a column."""
    low = max(0, at - _PHASES)
    near = lines[low : at + _PHASES]
    for split in _SPLITS:
        name, *values = _cells(split, lines[at]) or [""]
        if _column(name) is None or all(_parsed(value, fraction=True) is None for value in values):
            continue
        cells = [_cells(split, line) for line in near]
        width, first = len(cells[at - low]), at - low
        while first and len(cells[first - 1]) == width:
            first -= 1
        behind = next((n for n in range(at - low, len(cells)) if len(cells[n]) != width), len(cells))
        rows = [row for row in cells[first:behind] if not _RULER.fullmatch("".join(row))]
        columns = _columns([row[0] for row in rows])
        if _are_batches(columns.values()) and (width > _PAIR or (width == _PAIR and _BATCH in columns.values())):
            if first and len(cells[first - 1]) == width - 1:  # the names of the columns; that of the phases has none
                rows.append(["", *cells[first - 1]])
            return columns, [list(row) for row in zip(*rows, strict=True)][1:], low + first, low + behind
    return None


def _columns(cells: Sequence[str]) -> dict[int, _Column]:
    return {n: column for n, cell in enumerate(cells) if (column := _column(cell)) is not None}


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
        ways = re.split(r"\s{2,}|\t", line.strip()), line.split()
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
        while lines[begin + 1 : begin + 2] and _FOLD.search(lines[begin + 1]) and ends.get(after, 0) - after == size:
            for n in range(1, size):
                cells = lines[after + n] if n == 1 else _INDEX.sub("", lines[after + n])  # each block repeats the index
                lines[begin + n] = _FOLD.sub("", lines[begin + n].rstrip()) + "  " + cells.rstrip()
                lines[after + n] = ""
            after += size
    return lines


_SPLITS: Final[tuple[Split, ...]] = (_by_bars, _by("\t"), _by(","), _by(";"), _by_blanks)


def _read(columns: dict[int, _Column], rows: Sequence[Row], place: int, *, apart: bool) -> Iterator[Piece]:
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
            yield from _record(start, end, told, place + nth * apart)


def _statistic(cells: Sequence[str], columns: dict[int, _Column]) -> str | None:
    """The label of a row that sums up others: `mean`, `50%`."""
    others = (cell for n, cell in enumerate(cells) if n not in columns or columns[n] == _BATCH)
    labels = (_UNIT.sub("", cell.strip("*` ")).strip().lower() for cell in others)
    return next((label for label in labels if _STATISTIC.fullmatch(label)), None)


def _record(start: int, end: int, cells: Iterable[tuple[_Column, Any]], place: int) -> Iterator[Piece]:
    thing: dict[str, Any] = {}
    in_part: set[str] = set()
    for column, cell in cells:
        value, whole = _value(column, cell)
        if value is not None:
            _put(thing, column.path, value)
        if not whole:
            in_part.add(column.path[0])
    durations = thing.get(_DURATIONS, {})
    if _TRIGGER not in durations and _SPAN in thing:
        durations[_TRIGGER] = thing[_SPAN]
    summed = with_sum(durations)
    if durations.get(_ADD_BATCH, 0) > durations.get(_TRIGGER, durations.get(_ADD_BATCH, 0)):
        return  # a number of it is cut
    partial = of_fragment(Fragment(thing, frozenset(in_part), whole=False, end=0))
    if partial is None or partial.event is None:
        thing = {key: value for key, value in thing.items() if key not in _NESTED}
        partial = of_fragment(Fragment(thing, frozenset(in_part), whole=False, end=0))
    if partial is None:
        return
    if partial.event is not None and partial.event.run_id == UNNAMED:
        name = f"unnamed query (table at byte {place:,})"
        partial.event.id = partial.event.run_id = partial.event.name = name
    yield Piece(start, end, partial._replace(says=f"{partial.says}; {SUMMED}") if summed else partial)


def _put(thing: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set what stands at a path; members of lists have numbers, or there is one."""
    name, *rest = path
    if name in ("sources", "stateOperators") and rest:
        number = int(rest.pop(0)) if rest[0].isdigit() else 0
        members = thing.setdefault(name, [])
        if isinstance(members, list) and number <= len(members) and rest:
            members += [{}] * (number == len(members))
            members[number] = {**members[number]}
            _put(members[number], tuple(rest), value)
    elif rest:
        within = thing.setdefault(name, {})
        if isinstance(within, dict):
            _put(within, tuple(rest), value)
    else:
        thing[name] = value


def _value(column: _Column, cell: Any) -> tuple[Any, bool]:
    """(what a cell says or None, whether that is all of it)."""
    name, phase = column.path[0], column.path[1:]
    if cell is None or (isinstance(cell, str) and cell.strip().strip("*`").lower() in _NOTHING):
        return None, True
    if name == _DURATIONS:
        return (_number(cell, column.unit), False) if phase else _map(cell)
    if name in _NESTED:
        return (cell, False) if phase else _nested(name, cell)
    return _plain(name, cell, column.unit), True


def _plain(name: str, cell: Any, unit: int) -> Any:
    """A number, a point in time, an id or a name; None where the cell holds none."""
    if name in _NUMBERS:
        return _number(cell, unit)
    if name in _RATES:
        number = _parsed(cell, fraction=True)
        return None if number is None else number[0]
    if name == "timestamp":
        return as_instant(cell)
    text = str(cell).strip()
    return text if (_UUID.fullmatch(text) if name in _IDS else not text.endswith("...")) else None


def _map(cell: Any) -> tuple[dict[str, int] | None, bool]:
    text = str(cell).strip()
    told = {name: int(ms) for name, ms in _MAPPED.findall(text)}
    return told or None, text.endswith(("}", ")", "]")) and "..." not in text


def _nested(name: str, cell: Any) -> tuple[Any, bool]:
    if not isinstance(cell, str):
        return cell, True
    if not cell.lstrip().startswith(("{", "[")):
        return ({"description": cell}, False) if name == "sink" else (None, False)
    fragment = read_fragment(f'{{"{name}": {cell}}}')
    return fragment.thing.get(name), name not in fragment.in_part


def _number(cell: Any, unit: int) -> int | None:
    number = _parsed(cell, fraction=unit > 1)
    return None if number is None else round(number[0] * (number[1] or unit))


def _parsed(cell: Any, *, fraction: bool) -> tuple[float, int] | None:
    """(the number, milliseconds of its unit or 0) of a cell; without `fraction` three digits behind a point may be
    thousands: None."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return (float(cell), 0) if abs(cell) < 2**53 else None
    match = _NUMBER.fullmatch(_DECIMAL_COMMA.sub(r"\1.\2", str(cell).strip(_MARKS)))
    if match is None or (match[3] and len(match[3]) == _THOUSANDS and not (fraction or match[4])):
        return None
    number = float(re.sub(r"[^\d]", "", match[2]) + (match[3] or "")) * (-1 if match[1] == "-" else 1)
    unit = match[4] or ""
    return number, {"": 0, "ms": 1}.get(unit, 60_000 if unit.startswith("min") else 1000)
