"""A History Server: which applications it has, and the event log of one, which tells everything."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import Reading
from advisor.errors import InputError
from advisor.redaction import redact
from advisor.sources.ui.rest import Application
from advisor.sources.ui.web import SECONDS_OF_A_LOG, Absent, Server

TITLE: Final = "History Server"
_LISTED: Final = 5


def several(server: Server, found: list[Application]) -> InputError:
    """Return the error for the address of a History Server that names none of its applications."""
    newest = sorted(found, key=lambda one: max((each.last_updated_epoch for each in one.attempts), default=0))[::-1]
    listed = ", ".join(f"{one.id} ({redact(one.name)})" for one in newest[:_LISTED])
    says = (
        f"a History Server with {len(found):,} application{'s' * (len(found) > 1)}, the newest: {listed}"
        if found
        else "an empty History Server"
    )
    return InputError(server.address, says, "name one with --app ID, or give .../history/ID")


@contextmanager
def event_log(server: Server, application: str) -> Iterator[Path]:
    """Yield the event log of an application as a zip archive, as long as it is read."""
    with tempfile.TemporaryDirectory(prefix="latency-advisor-") as folder:
        place = Path(folder) / "log.zip"
        server.begin(SECONDS_OF_A_LOG)
        try:
            with place.open("wb") as file:
                server.save(f"applications/{application}/logs", file)
        except Absent:
            raise InputError(
                server.address, f"has no application {application}", "see its list of applications"
            ) from None
        if not _holds_a_file(place):
            give = "--app is for a History Server: give the address of a driver without it"
            raise InputError(server.address, f"gives no event log of {application}", give)
        yield place


def _holds_a_file(place: Path) -> bool:
    try:
        with zipfile.ZipFile(place) as archive:
            return bool(archive.namelist())
    except zipfile.BadZipFile:
        return False


def named(reading: Reading, archive: str, address: str) -> Reading:
    """Return the same reading, which names the address where it named the archive."""
    return replace(
        reading,
        batches=_renamed(reading.batches, archive, address),
        sightings=_renamed(reading.sightings, archive, address),
        inside={name: _renamed(table, archive, address) for name, table in reading.inside.items()},
        broken=tuple(replace(one, file=one.file.replace(archive, address)) for one in reading.broken),
    )


def _renamed(table: pa.Table, archive: str, address: str) -> pa.Table:
    for name in {"file", "log"} & {*table.column_names}:
        at = table.column_names.index(name)
        table = table.set_column(at, table.schema.field(at), pc.replace_substring(table[name], archive, address))
    return table
