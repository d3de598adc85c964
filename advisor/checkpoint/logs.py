"""The offset log, the commit log and the metadata of a checkpoint: what Spark reads of them when a query starts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from advisor.batches.offsets import counted
from advisor.checkpoint.folder import MOST_BYTES, DamagedError, Entry, Folder, json_object, number_of, whole
from advisor.redaction import redact, redact_setting

_VERSION: Final = re.compile(r"v(0{0,6}[1-9]\d{0,5})")
_NO_OFFSET: Final = "-"
"""What stands for a source that has no offset yet."""
_NAMED_SOURCES: Final = 2
"""The version of the offset log in which each offset stands behind its source's name."""
COMPACT: Final = ".compact"


class Held(NamedTuple):
    """A log folder: the numbers of its batches, the compact ones among them, all its files and bytes.

    `left`: temporary files that nobody finished; `newest`: when the last file changed.
    """

    batches: tuple[int, ...] = ()
    compact: frozenset[int] = frozenset()
    files: int = 0
    bytes: int = 0
    left: int = 0
    newest: int | None = None

    @property
    def last(self) -> int | None:
        """The number of the newest batch."""
        return self.batches[-1] if self.batches else None


def held(entries: Iterable[Entry], compacted: str = "") -> Held:
    """Count what lies in a log folder; `compacted`: the ending of its compact files, where it has some."""
    batches, compact, files, size, left, newest = [], set(), 0, 0, 0, None
    for one in entries:
        files, size = files + 1, size + one.size
        number = number_of(one.name.removesuffix(compacted))
        if number is not None:
            batches.append(number)
            compact |= {number} if one.name.endswith(COMPACT) else set()
            newest = max(newest or 0, one.changed or 0) or None
        left += one.name.endswith(".tmp")
    return Held(tuple(sorted({*batches})), frozenset(compact), files, size, left, newest)


class Offsets(NamedTuple):
    """One batch of the offset log. `offsets`: its text by the source's name or number; None where it has none yet.

    `is_continuous`: continuous processing wrote it, which leaves the line of settings empty.
    """

    version: int
    offsets: Mapping[str, str | None]
    confs: Mapping[str, str]
    is_continuous: bool = False

    def rows_since(self, before: Offsets) -> int | None:
        """Return the rows between the offsets of an earlier batch and these; None where offsets do not count rows."""
        rows = 0 if self.offsets else None
        for name, text in self.offsets.items():
            (old, start), (new, end) = counted(before.offsets.get(name)), counted(text)
            if rows is None or old != new or new in (None, ("",)):
                return None
            rows += end - start
        return rows


class Commit(NamedTuple):
    """One batch of the commit log. `state_ids`: of each operator and partition the ids of its stores' files."""

    version: int
    state_ids: Mapping[str, Any]


def read_offsets(folder: Folder, name: str, *, read_all: bool = True) -> Offsets:
    """Read a batch of the offset log as Spark does when a query starts; DamagedError where Spark fails.

    Without `read_all` the offsets themselves may be garbled: Spark hands them to no source.
    """
    version, lines = _lines(name, whole(folder, name))
    if len(lines) <= 2:
        raise DamagedError(name, "ends before its offsets: it was written only in part")
    told = json_object(name, lines[1]) if lines[1].strip() else {}
    offsets: dict[str, str | None] = {}
    known: set[str] = set()
    for at, line in enumerate(lines[2:]):
        source, _, text = line.partition(":") if version >= _NAMED_SOURCES else (str(at), "", line)
        offsets[source] = None if text == _NO_OFFSET else text
        if read_all and text not in known and text != _NO_OFFSET and not _reads(text):
            raise DamagedError(name, "is torn or garbled: an offset in it does not read")
        known.add(text)
    confs = told.get("conf") if isinstance(told.get("conf"), dict) else {}
    safe = {str(key): redact_setting(str(key), str(value)) for key, value in (confs or {}).items()}
    return Offsets(version, offsets, safe, not lines[1].strip())


def _reads(text: str) -> bool:
    """Whether a text is JSON."""
    for decode in (msgspec.json.decode, json.loads):  # the second takes more, and ten times as long
        try:
            decode(text)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            continue
        return True
    return False


def read_commit(folder: Folder, name: str) -> Commit:
    """Read a batch of the commit log as Spark does when a query starts; DamagedError where Spark fails."""
    version, lines = _lines(name, whole(folder, name))
    told = json_object(name, lines[1]) if len(lines) > 1 and lines[1].strip() else {}
    ids = told.get("stateUniqueIds")
    return Commit(version, ids if isinstance(ids, dict) else {})


def read_query_id(folder: Folder) -> str:
    """Return the query's id, which stands in the file `metadata`; DamagedError where Spark cannot read it."""
    found = json_object("metadata", whole(folder, "metadata").decode("utf-8", "replace"))
    if not isinstance(found.get("id"), str):
        raise DamagedError("metadata", "names no query")
    return redact(str(found["id"]))


def read_source_batch(folder: Folder, name: str) -> bool:
    """Read a file of a file source's log, and return whether to its end; DamagedError where Spark fails."""
    content = whole(folder, name)
    is_cut = len(content) >= MOST_BYTES
    for line in _lines(name, content)[1][1 : -1 if is_cut else None]:
        json_object(name, line)
    return not is_cut


def file_batch(text: str | None) -> int | None:
    """Return the batch of a file source's own log that an offset names; None where it is no offset of files."""
    try:
        told = json.loads(text) if text and "logOffset" in text else None
    except (ValueError, RecursionError):
        return None
    batch = told.get("logOffset") if isinstance(told, dict) else None
    return batch if type(batch) is int else None


def _lines(name: str, content: bytes) -> tuple[int, list[str]]:
    """Return (version, all lines) of what a file of a log holds; DamagedError where it has no version."""
    text = content.decode("utf-8", "replace")
    # As Java ends lines; Python ends them at other characters, too, which stand in names of files.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    version = _VERSION.fullmatch(lines[0].strip()) if lines else None
    if version is None:
        raise DamagedError(name, "does not begin with the version of its log (v1)")
    return int(version[1]), lines
