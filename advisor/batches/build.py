"""Events to rows of the table, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec import Raw
from msgspec.structs import astuple

from advisor.batches.columns import CUSTOM, OPERATOR, PHASES, SCHEMA, SOURCE, TIME
from advisor.batches.offsets import Offsets, rows_between
from advisor.progress import ABSENT, Durations, EventTime, Operator, Progress, Sink, Source
from advisor.redaction import redact

_NO_TIMES = astuple(EventTime())
_NO_SINK = astuple(Sink())
_MAP_OF_PHASES = SCHEMA.field("other_phases").type
_METRICS = SOURCE.field("metrics").type


class Place(NamedTuple):
    """Where an event was read: file, byte offset in the decompressed file, and the log that the file belongs to."""

    file: str
    offset: int
    log: str


def build(events: Sequence[Progress], places: Sequence[Place]) -> pa.Table:
    """The table of batches, in the order of the events; raises pa.ArrowInvalid for a timestamp that is none."""
    return pa.Table.from_batches([record_batch(events, places)] if events else [], SCHEMA)


def record_batch(events: Sequence[Progress], places: Sequence[Place]) -> pa.RecordBatch:
    """The same as one chunk of a table. There is at least one event."""
    (ids, runs, times, durations, numbers, spans, rows, arriving, processed, names, event_times, operators, sources,
     sinks, metrics, latencies) = zip(*map(astuple, events), strict=True)  # fmt: skip
    phases = list(zip(*map(astuple, durations), strict=True))
    files, offsets, logs = zip(*places, strict=True)
    columns = [
        _texts(ids), _texts(runs), _texts(_redacted(names)), _ints(numbers), pa.array(times, pa.string()).cast(TIME),
        pa.array([duration is None for duration in phases[_ADD_BATCH]], pa.bool_()),
        _ints(rows), _floats(arriving), _floats(processed), _ints(spans), *map(_ints, phases[:-1]),
        _maps(phases[-1], _MAP_OF_PHASES), *_event_times(event_times), *_sinks(sinks), _operators(operators),
        _sources(sources),
        _real_time(metrics, latencies),
        _texts(files), _ints(offsets), _texts(logs),
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


_ADD_BATCH = Durations.__struct_fields__.index("add_batch")
assert [f"{name}_ms" for name in Durations.__struct_fields__[:-1]] == [column.name for column in PHASES]


def _ints(values: Iterable[int | None]) -> pa.Array:
    return pa.array(values, pa.int64())


def _floats(values: Iterable[float | None]) -> pa.Array:
    return pa.array(values, pa.float64())


def _texts(values: Iterable[str | None]) -> pa.Array:
    return pa.array(values, pa.string())


_redact = lru_cache(maxsize=4096)(redact)


def _redacted(values: Iterable[str | None]) -> list[str | None]:
    return [None if value is None else _redact(value) for value in values]


def _real_time(*columns: Sequence[Raw]) -> pa.Array:
    return pa.array([any(raw is not ABSENT for raw in row) for row in zip(*columns, strict=True)], pa.bool_())


def _event_times(times: Sequence[EventTime | None]) -> list[pa.Array]:
    if not any(times):
        return [pa.nulls(len(times), TIME)] * 4
    columns = zip(*(_NO_TIMES if time is None else astuple(time) for time in times), strict=True)
    return [_instants(column) for column in columns]


def _instants(values: Sequence[str | None]) -> pa.Array:
    texts = _texts(values)
    try:
        return texts.cast(TIME)
    except pa.ArrowInvalid:
        return pa.array([_instant(text) for text in texts], TIME)


def _instant(text: pa.StringScalar) -> pa.Scalar | None:
    """A watermark may lie beyond the end of time; then there is none."""
    try:
        return text.cast(TIME).as_py()
    except (pa.ArrowInvalid, ValueError, OverflowError):
        return None


def _sinks(sinks: Sequence[Sink | None]) -> list[pa.Array]:
    names, rows = zip(*(_NO_SINK if sink is None else astuple(sink) for sink in sinks), strict=True)
    return [_texts(_redacted(names)), _ints([None if count == -1 else count for count in rows])]


def _starts(groups: Iterable[Sequence[Any] | dict[str, Any]]) -> pa.Array:
    return pa.array([0, *accumulate(map(len, groups))], pa.int32())


def _operators(groups: Sequence[list[Operator]]) -> pa.Array:
    flat = list(chain.from_iterable(groups))
    *columns, custom = zip(*map(astuple, flat), strict=True) if flat else [()] * len(OPERATOR)
    names, *numbers = columns
    members = pa.StructArray.from_arrays([_texts(names), *map(_ints, numbers), _custom(custom)], fields=list(OPERATOR))
    return pa.ListArray.from_arrays(_starts(groups), members)


def _custom(metrics: Sequence[dict[str, float] | None]) -> pa.Array:
    """Metrics of state stores as maps. A tuple of names, which comes back batch for batch, is numbered once."""
    filled = [metric or {} for metric in metrics]
    numbers: dict[str, int] = {}
    known: dict[tuple[str, ...], list[int]] = {}
    codes: list[int] = []
    for metric in filled:
        names = tuple(metric)
        code = known.get(names)
        if code is None:
            code = known[names] = [numbers.setdefault(name, len(numbers)) for name in names]
        codes += code
    keys = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(list(numbers), pa.string()))
    values = _floats(list(chain.from_iterable(metric.values() for metric in filled)))
    return pa.MapArray.from_arrays(_starts(filled), keys, values, type=CUSTOM)


def _maps(mappings: Sequence[dict[str, Any] | None], kind: pa.DataType) -> pa.Array:
    if not any(mappings):
        return pa.nulls(len(mappings), kind)
    filled = [mapping or {} for mapping in mappings]
    keys = _texts(list(chain.from_iterable(filled)))
    items = pa.array(list(chain.from_iterable(mapping.values() for mapping in filled)), kind.item_type)
    return pa.MapArray.from_arrays(_starts(filled), keys, items, type=kind)


def _sources(groups: Sequence[list[Source]]) -> pa.Array:
    flat = list(chain.from_iterable(groups))
    names, start, end, latest, *numbers, metrics = zip(*map(astuple, flat), strict=True) if flat else [()] * 8
    read = Offsets().read
    starts, ends, latests = read(start), read(end), read(latest)
    members = [
        _texts(_redacted(names)),
        *(_texts([offset.text for offset in column]) for column in (starts, ends, latests)),
        _ints(numbers[0]),
        _floats(numbers[1]),
        _floats(numbers[2]),
        _ints(list(map(rows_between, starts, ends, names))),
        _ints(list(map(rows_between, ends, latests, names))),
        _maps(metrics, _METRICS),
    ]
    return pa.ListArray.from_arrays(_starts(groups), pa.StructArray.from_arrays(members, fields=list(SOURCE)))
