"""What was read, kept in one file that is read as a log is: tomorrow a driver's pages show other batches."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import TABLES, Broken, Reading
from advisor.column import TIME
from advisor.redaction import hide
from advisor.writing import whole_file

MARK: Final = b"latency-advisor: tables that --save wrote".ljust(63) + b"\n"
"""How such a file begins; an Arrow stream of each table follows, whose numbers lie at multiples of 8 bytes."""
_BROKEN: Final = b"broken"
"""Under this name the schema of the first table holds what could not be read, as JSON."""
_ALWAYS: Final = {
    "batches": ("run_id",),
    "sightings": ("log", "fact", "value", "origin", "file", "offset"),
    "batch_parts": ("stages", "tasks"),
}
"""What each row of a table has."""
_LEAST: Final = {"stages": {"tasks": 0, "slots": 1}, "batch_parts": {"stages": 0, "tasks": 0}}
_MOST: Final = 1 << 31
"""Of what these columns count."""
_SHORTEST_ROW: Final = 16
"""Bytes; even a row without a word has more."""
_FIRST, _LAST = (pa.scalar(at.replace(tzinfo=timezone.utc), TIME) for at in (datetime.min, datetime.max))


def write(reading: Reading, path: str | Path) -> None:
    """Write the batches, the facts and the stages of a reading into a file. Raises OSError."""
    with whole_file(path) as file:
        file.write(MARK)
        broken = msgspec.json.encode([replace(one, file=hide(one.file)) for one in reading.broken])
        tables = {**reading.tables, "batches": reading.batches.replace_schema_metadata({_BROKEN: broken})}
        for table in map(_without_credentials, tables.values()):
            with pa.ipc.new_stream(file, table.schema) as stream:
                for chunk in filter(len, table.to_batches()):
                    stream.write_batch(chunk)


def _without_credentials(table: pa.Table) -> pa.Table:
    """The table with paths that may be shown; in all else nothing was left when it was read."""
    for at, name in enumerate(table.column_names):
        if name in ("file", "log"):
            table = table.set_column(at, name, _hidden(table[name].combine_chunks()))
    return table


def is_saved(path: str) -> bool:
    """Whether a path is a file that `write` wrote."""
    try:
        if not Path(path).is_file():  # to open a pipe takes its writer
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def read(path: str, *, stages: bool) -> Reading:
    """Return what such a file holds, without `stages` not what ran inside addBatch; of a damaged one, that it is."""
    content = pa.BufferReader(Path(path).read_bytes())
    content.seek(len(MARK))
    try:
        held = pa.ipc.open_stream(content).schema.metadata or {}
        content.seek(len(MARK))
        lost = msgspec.json.decode(held.get(_BROKEN, b"[]"), type=list[Broken])
        tables = {name: _table(content, name, schema) for name, schema in TABLES.items()}
    except (pa.ArrowException, OSError, UnicodeDecodeError, struct.error, msgspec.MsgspecError) as error:
        broken = Broken(path, 0, 0, f"damaged, or written by another version: {str(error).splitlines()[0][:200]}")
        return Reading.of(TABLES["batches"].empty_table(), broken=[broken], files=1, size=content.size())
    found = Reading.of(tables.pop("batches"), tables.pop("sightings"), broken=lost, files=1, size=content.size())
    return replace(found, inside=tables if stages else {})


def _table(content: pa.BufferReader, name: str, schema: pa.Schema) -> pa.Table:
    """Return the next table; a column that the file does not know is empty."""
    begin = content.tell()
    if any(map(_is_packed, pa.ipc.MessageReader.open_stream(content))):
        raise pa.ArrowInvalid("its tables are packed")
    content.seek(begin)
    held = pa.ipc.open_stream(content).read_all()
    held.validate(full=True)
    if len(held) * _SHORTEST_ROW > content.size():  # a column of nulls takes no bytes, however long it is
        raise pa.ArrowInvalid("it tells of more rows than it holds")
    table = pa.concat_tables([schema.empty_table(), held], promote_options="default").select(schema.names).cast(schema)
    if lacks := [column for column in _ALWAYS.get(name, ()) if table[column].null_count]:
        raise pa.ArrowInvalid(f"a row of {name} has no {lacks[0]}")
    for column, least in _LEAST.get(name, {}).items():
        if pc.any(pc.or_(pc.less(table[column], least), pc.greater(table[column], _MOST))).as_py():
            raise pa.ArrowInvalid(f"{column} of {name} counts what cannot be")
    for times in (table[field.name] for field in schema if field.type == TIME):
        if pc.any(pc.or_(pc.less(times, _FIRST), pc.greater(times, _LAST))).as_py():
            raise pa.ArrowInvalid("a time is in no year that Python knows")
    return pa.table([_hidden(table[column].combine_chunks()) for column in table.column_names], schema)


def _is_packed(message: pa.ipc.Message) -> bool:
    """Whether a message of an Arrow stream holds packed buffers, which may unpack to any size (Arrow's Message.fbs)."""
    held = message.metadata.to_pybytes()

    def number(at: int, form: str = "<I") -> int:
        return int(struct.unpack_from(form, held, at)[0])

    def field(table: int, at: int) -> int:
        """Where the field of a table stands; 0 where it is not there."""
        names = table - number(table, "<i")
        found = number(names + 4 + 2 * at, "<H") if 4 + 2 * at < number(names, "<H") else 0
        return table + found if found else 0

    def inner(table: int, at: int) -> int:
        found = field(table, at)
        return found + number(found)

    header = inner(number(0), 2)
    if message.type == "dictionary":
        header = inner(header, 1)
    return message.type != "schema" and field(header, 3) > 0


def _hidden(values: pa.Array) -> pa.Array:
    """The values without the credentials that the version that wrote them may have let through."""
    kind = values.type
    if pa.types.is_string(kind):
        coded = values.dictionary_encode()
        return pa.array([hide(text) for text in coded.dictionary.to_pylist()], kind).take(coded.indices)
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(values.offsets, _hidden(values.values), kind, mask=values.is_null())
    if pa.types.is_struct(kind):
        inside = [_hidden(values.field(at)) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(inside, fields=list(kind), mask=values.is_null())
    return values
