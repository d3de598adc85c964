"""What the columns and cells of a table of durations say, and a row of them as a partial record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from advisor.batches import PHASES
from advisor.progress import UNNAMED, Fragment, as_instant, of_fragment, read_fragment
from advisor.sources.formats.durations import SUMMED, bounds_of, with_sum
from advisor.sources.formats.fragments import Piece
from advisor.sources.formats.remarks import without_remark
from advisor.sources.formats.spans import read_range, read_span

DURATIONS, _TRIGGER, _ADD_BATCH, _SPAN = "durationMs", "triggerExecution", "addBatch", "batchDuration"
_NESTED: Final = ("sources", "stateOperators", "sink", "eventTime")
_NUMBERS: Final = ("batchId", "numInputRows", _SPAN)
_RATES: Final = ("inputRowsPerSecond", "processedRowsPerSecond")
_IDS: Final = ("id", "runId")
_PLAIN: Final = (*_NUMBERS, *_RATES, *_IDS, "name", "timestamp", DURATIONS, *_NESTED)
_ALSO: Final = {
    "batch": "batchId",
    "inputrows": "numInputRows",
    "inputrate": "inputRowsPerSecond",
    "numberofinputrows": "numInputRows",
    "processrate": "processedRowsPerSecond",
    "processingrate": "processedRowsPerSecond",
    "inputratetotal": "inputRowsPerSecond",
    "processingratetotal": "processedRowsPerSecond",
    "processrowspersecond": "processedRowsPerSecond",
    "processingrowspersecond": "processedRowsPerSecond",
    "procrowspersecond": "processedRowsPerSecond",
    "queryname": "name",
    "query": "name",
    "queryid": "id",
    "durations": DURATIONS,
    "operators": "stateOperators",
}
"""Names of Spark's pages and of this project's own tables beside Spark's own."""
_PATHS: Final = {
    **{name.lower(): (name,) for name in _PLAIN},
    **{name: (meant,) for name, meant in _ALSO.items()},
    **{phase.spark.lower(): (DURATIONS, phase.spark) for phase in PHASES},
    "triggerms": (DURATIONS, _TRIGGER),
    "totaltriggerexecution": (DURATIONS, _TRIGGER),
}
_BETWEEN: Final = re.compile(r"""[.\[\]{}/:'"`>*]+|__""")
_UNIT: Final = re.compile(
    r"(?i)(?:[\s_]*[(\[]\s*(ms|millis(?:econds)?|s|secs?|seconds?)\s*[)\]]|[\s_](ms|s|secs?|seconds))$"
)
_PER_SECOND: Final = re.compile(
    r"(?i)[\s_]*[(\[]\s*(?:rows|records|rec|events|msgs?)\s*(?:/|per)\s*s(?:ec(?:ond)?)?\s*[)\]]$"
)
_RATE: Final = re.compile(r"(?i) ?/ ?s(?:ec(?:ond)?)?$")
_BEFORE: Final = re.compile(r"^(?:progress|event|json|query|avg|mean|median)*(?:durations?(?:ms)?)?")
_REMARK: Final = re.compile(r"(?i)\s*\((?:this|per|each|in (?:this|the|a)|of (?:this|the|a)) (?:micro-?)?batch\)$")
_NOT_TYPICAL: Final = re.compile(r"(?:max|min|p\d\d?|percentile\w*|std\w*|count|sum)[ _(]")
_NUMBER: Final = re.compile(
    r"(\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+|\d{1,19})(\.\d+)?\s*(ms|s|secs?|seconds?|min|minutes)?", re.ASCII
)
_DECIMAL_COMMA: Final = re.compile(r"^(\d+),(\d\d?)(?!\d)")
_MARKS: Final = " *`'\"~≈"
_THOUSANDS: Final = len(".000")
_USUAL: Final = 100
"""Characters of a name that is remembered."""
_MS: Final = {"m": 1, "s": 1000}
_MAPPED: Final = re.compile(r"""([A-Za-z]\w*)["']?\s*(?:->|[=:,])\s*(\d{1,15})(?=\s*[,;})\]])""")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "nan", "null", "none", "-", "n/a", "na", "nat", "<na>"})


class Column(NamedTuple):
    """Where in a record the value of a column stands, and how many of the record's units one of its units is.

    `unit` 0: only each cell can tell.
    """

    path: tuple[str, ...]
    unit: int = 1


BATCH: Final = Column(("batchId",))
ROWS: Final = Column(("numInputRows",))
LENGTH: Final = Column((DURATIONS, _TRIGGER))


def column_of(name: str) -> Column | None:
    """What a column of this name holds; None for whatever is no part of a progress event."""
    return _remembered(name) if len(name) <= _USUAL else _read_name(name)


def _read_name(name: str) -> Column | None:
    plain = without_remark(name.strip(_MARKS))
    return _named(name) or (_named(plain) if plain != name else None)


def _named(name: str) -> Column | None:
    if _NOT_TYPICAL.match(name.strip().lower()):
        return None
    parts = [part for part in _BETWEEN.split(_RATE.sub(" per second", without_unit(name))) if part.strip()]
    nested = next((at for at, part in enumerate(parts) if part in _NESTED), None)
    if nested is not None:
        return Column(tuple(parts[nested:]))
    word = re.sub(r"[^a-z0-9]", "", parts[-1].lower()) if parts else ""
    for spelt in (word, _BEFORE.sub("", word), word.removesuffix("ms"), _BEFORE.sub("", word.removesuffix("ms"))):
        if spelt in _PATHS:
            return Column(_PATHS[spelt], unit_of(name))
    return None


_remembered: Final = lru_cache(maxsize=4096)(_read_name)  # lines of a log say the same words again and again


def without_unit(name: str) -> str:
    """The name of a column without the unit or the remark behind it."""
    return _UNIT.sub("", _PER_SECOND.sub("", _REMARK.sub("", name.strip()))).strip()


def unit_of(name: str, default: int = 1) -> int:
    """How many milliseconds one of the unit is that stands in a column's name."""
    match = _UNIT.search(name.strip())
    return _MS[(match[1] or match[2])[0].lower()] if match else default


def are_batches(columns: Iterable[Column]) -> bool:
    """Whether these columns, each there once, tell a batch: phases, a map of them, or rows and how long they took."""
    paths = [column.path for column in columns]
    phases = [path[1] for path in paths if len(path) > 1 and path[0] == DURATIONS]
    whole = (DURATIONS,) in paths and len(paths) > 1
    rates = ("processedRowsPerSecond",) in paths
    length = _TRIGGER in phases or (_SPAN,) in paths
    return len(set(paths)) == len(paths) and (
        whole
        or (len(phases) > 1 and {_ADD_BATCH, _TRIGGER} & {*phases} != set())
        or (length and rates)
        or ((length or rates) and ("numInputRows",) in paths)
    )


def record(start: int, end: int, cells: Iterable[tuple[Column, Any]], place: int) -> Iterator[Piece]:
    """A row at [start, end) of the table at `place`, whose cells are these; none where a number of it was cut."""
    cells = list(cells)
    thing: dict[str, Any] = {}
    in_part: set[str] = set()
    for column, cell in cells:
        value, whole = _value(column, cell)
        if value is not None:
            _put(thing, column.path, value)
        if not whole:
            in_part.add(column.path[0])
    durations = thing.get(DURATIONS, {})
    if _TRIGGER not in durations and _SPAN in thing:
        durations[_TRIGGER] = thing[_SPAN]
    ranges = dict(_ranges(cells))
    summed = not ranges and with_sum(durations)
    if "numInputRows" not in thing and thing.get(_RATES[1], 0) > 0 and durations.get(_TRIGGER, 0) > 0:
        thing["numInputRows"] = round(thing[_RATES[1]] * durations[_TRIGGER] / 1000)  # Spark divides them by the length
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
    says = f"{partial.says}{f'; {SUMMED}' if summed else ''}{bounds_of(ranges)}"
    yield Piece(start, end, partial._replace(says=says))


def _ranges(cells: Iterable[tuple[Column, Any]]) -> Iterator[tuple[str, str]]:
    """(phase, bounds) of the cells of phases that hold a range."""
    for column, cell in cells:
        bounds = read_range(cell.strip(_MARKS)) if isinstance(cell, str) and column.path[0] == DURATIONS else ""
        if bounds and len(column.path) > 1:
            yield column.path[1], bounds


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


def _value(column: Column, cell: Any) -> tuple[Any, bool]:
    """(what a cell says or None, whether that is all of it)."""
    name, phase = column.path[0], column.path[1:]
    if cell is None or (isinstance(cell, str) and cell.strip().strip("*`").lower() in _NOTHING):
        return None, True
    if name == DURATIONS:
        return (_number(cell, column.unit), False) if phase else _map(cell)
    if name in _NESTED:
        return (cell, False) if phase else _nested(name, cell)
    return _plain(name, cell, column.unit), True


def _plain(name: str, cell: Any, unit: int) -> Any:
    """A number, a point in time, an id or a name; None where the cell holds none."""
    if name in _NUMBERS:
        return _number(cell, unit)
    if name in _RATES:
        number = parsed(cell, fraction=True)
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
    number = parsed(cell, fraction=unit > 1)
    return None if number is None or not (number[1] or unit) else round(number[0] * (number[1] or unit))


def parsed(cell: Any, *, fraction: bool) -> tuple[float, int] | None:
    """(the number, milliseconds of its unit or 0) of a cell; None where it holds none.

    Without `fraction` three digits behind a point may be thousands: None, too.
    """
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return (float(cell), 0) if 0 <= cell < 2**53 else None
    text = str(cell).strip(_MARKS)
    match = _NUMBER.fullmatch(_DECIMAL_COMMA.sub(r"\1.\2", text))
    if match is None and (span := read_span(text)) and span[1] == len(text):
        return span[0], 1
    if match is None or (match[2] and len(match[2]) == _THOUSANDS and not (fraction or match[3])):
        return None
    number = float(re.sub(r"[^\d]", "", match[1]) + (match[2] or ""))
    unit = match[3] or ""
    return number, {"": 0, "ms": 1}.get(unit, 60_000 if unit.startswith("min") else 1000)
