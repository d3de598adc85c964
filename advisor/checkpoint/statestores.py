"""The state of a checkpoint: its operators and stores, and which files a start loads of each partition."""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from advisor.checkpoint.folder import DamagedError, Entry, Folder, json_object, number_of, whole
from advisor.checkpoint.logs import held

_FILE: Final = re.compile(r"(\d{1,18})(?:_([0-9a-fA-F-]{36}))?\.(delta|snapshot|changelog|zip)")
_WHOLE: Final = ("snapshot", "zip")
"""Files that hold a whole version; the others hold what changed since the version before."""
_DEFAULT: Final = "default"
_INSIDE: Final = ("SSTs", "logs")
"""The folders inside a store of RocksDB."""
_MOST_OF_TABLES: Final = 4 << 20
"""Bytes of a snapshot's list of tables: tens of thousands of them; the snapshots of all partitions are read at once."""
_BLOCK, _BLOCK_HEAD = b"LZ4Block", 21
"""How each block begins as Java writes LZ4, and the bytes before its data."""


class Files(NamedTuple):
    """The state files of one store in one partition: the bytes of each version, by kind.

    `ids`: the unique ids by version and kind, where names hold one; `tables`: RocksDB's SST files with their bytes.
    """

    of_kind: Mapping[str, Mapping[int, int]]
    ids: Mapping[tuple[int, str], str]
    files: int
    bytes: int
    tables: Mapping[str, int]

    @property
    def is_rocksdb(self) -> bool:
        """Whether the files are RocksDB's."""
        return "zip" in self.of_kind or "changelog" in self.of_kind


class Load(NamedTuple):
    """What a start loads of a partition: the snapshot's version (0: none), and how many files it replays on it.

    `names`: of these files, up to `missing`, the first of them that is not there; `bytes`: of those before it.
    """

    snapshot: int = 0
    replayed: int = 0
    bytes: int = 0
    names: tuple[str, ...] = ()
    missing: str | None = None


class Instance(NamedTuple):
    """One store in one partition of an operator; `place`: its folder, `id`: of its newest version's file."""

    operator: int
    store: str
    partition: int
    place: str
    files: Files
    id: str | None


class Operator(NamedTuple):
    """What a stateful operator says of itself; `shares_stores`: its stores are column families of one RocksDB."""

    number: int
    name: str | None
    has_no_keys: bool
    shares_stores: bool


class _Info(msgspec.Struct, frozen=True):
    operatorName: str | None = None  # noqa: N815 - Spark's own names


class _Store(msgspec.Struct, frozen=True):
    storeName: str = ""  # noqa: N815


class _Table(msgspec.Struct, frozen=True):
    dfsSstFileName: str  # noqa: N815
    sizeBytes: int  # noqa: N815


class _Snapshot(msgspec.Struct, frozen=True):
    """What is read of the metadata in a snapshot of RocksDB."""

    sstFiles: tuple[_Table, ...]  # noqa: N815
    numKeys: Any = None  # noqa: N815


class _Metadata(msgspec.Struct, frozen=True):
    """What is read of an operator's metadata."""

    operatorInfo: _Info = _Info()  # noqa: N815
    stateStoreInfo: tuple[_Store, ...] = ()  # noqa: N815
    operatorPropertiesJson: Any = None  # noqa: N815


def counted(entries: Iterable[Entry], tables: Mapping[str, int], id: str | None = None) -> Files:
    """Count the files of one store in one partition; of several of one version the one with the id is kept."""
    of_kind: dict[str, dict[int, int]] = defaultdict(dict)
    ids: dict[tuple[int, str], str] = {}
    files, size = len(tables), sum(tables.values())
    for one in entries:
        files, size = files + 1, size + one.size
        if found := _FILE.fullmatch(one.name):
            key = (int(found[1]), found[3])
            if found[2] and (key not in ids or found[2] == id):
                ids[key] = found[2]
            of_kind[key[1]][key[0]] = one.size
    return Files(of_kind, ids, files, size, tables)


def load(files: Files, version: int, id: str | None = None, before: int | None = None) -> Load:
    """Return what is loaded to have a version: the newest whole one before it, and each change since.

    `id`: the unique id of that version's file, where the commit log holds one. `before`: take no snapshot of this
    version or a later one.
    """
    if version == 0:
        return Load()
    wholes = {number: kind for kind in _WHOLE for number in files.of_kind.get(kind, ())}
    snapshot = max((one for one in wholes if one <= version and (before is None or one < before)), default=0)
    change = "changelog" if files.is_rocksdb else "delta"
    whole_one = [(snapshot, wholes[snapshot])] if snapshot else []
    changes = ((number, change) for number in range(snapshot + 1, version + 1))
    names: list[str] = []
    missing, size = None, 0
    for number, kind in chain(whole_one, changes):
        known = id if id and number == version else files.ids.get((number, kind))
        names.append(f"{number}_{known}.{kind}" if known else f"{number}.{kind}")
        if number not in files.of_kind.get(kind, ()) or files.ids.get((number, kind)) != known:
            missing = names[-1]
            break
        size += files.of_kind.get(kind, {}).get(number, 0)
    return Load(snapshot, version - snapshot, size, tuple(names), missing)


def has_replacement(files: Files, loaded: Load) -> bool:
    """Whether an older snapshot, or none, and the changes since hold the same."""
    without = load(files, loaded.snapshot + loaded.replayed, before=loaded.snapshot)
    return loaded.snapshot > 0 and without.missing is None


def operator(folder: Folder, number: int, ids: Any) -> tuple[Operator, list[Instance]]:
    """Read what an operator says of itself, and list its state, each folder once; `ids`: of the commit log."""
    below = f"state/{number}"
    folders = {one.name for one in folder.entries(below) if one.is_folder}
    told = _told(folder, below) if "_metadata" in folders else _Metadata()
    partitions = sorted(at for one in folders if (at := number_of(one)) is not None)
    stores = [one.storeName for one in told.stateStoreInfo]
    instances = [one for at in partitions for one in _instances(folder, number, at, _ids(ids, at, stores))]
    shares = "useVirtualColumnFamilies" in str(told.operatorPropertiesJson) or "_stateSchema" in folders
    has_no_keys = partitions == [0] and _has_no_keys(folder, below)
    return Operator(number, told.operatorInfo.operatorName, has_no_keys, shares), instances


def _ids(ids: Any, partition: int, stores: list[str]) -> dict[str, str]:
    """Return the unique ids of a partition's stores."""
    try:
        return dict(zip(stores, ids[partition], strict=True))
    except (LookupError, TypeError, ValueError):
        return {}


def _has_no_keys(folder: Folder, below: str) -> bool:
    """Whether the state has one row for all: Spark keeps that in one partition, whatever is set."""
    try:
        return b'"fields":[]' in folder.read(f"{below}/0/_metadata/schema").partition(b"}")[0]
    except OSError:
        return False


def _told(folder: Folder, below: str) -> _Metadata:
    """Return what an operator's metadata says, the newest file of its second form; Spark starts without it, too."""
    newest = held(folder.entries(f"{below}/_metadata/v2")).last
    name = f"{below}/_metadata/metadata" if newest is None else f"{below}/_metadata/v2/{newest}"
    try:
        text = whole(folder, name).decode("utf-8", "replace").partition("\n")[2]
        return msgspec.convert(json_object(name, text), _Metadata)
    except (DamagedError, msgspec.ValidationError):
        return _Metadata()


def _instances(folder: Folder, operator: int, partition: int, ids: Mapping[str, str]) -> Iterator[Instance]:
    """Yield the stores of a partition: the one whose files lie in its folder, and those in folders of their own."""
    below = f"state/{operator}/{partition}"
    inside = list(folder.entries(below))
    own = any(_FILE.fullmatch(one.name) for one in inside)  # then no other folder is a store
    stores = [one.name for one in inside if one.is_folder and one.name[0] not in "_." and one.name not in _INSIDE]
    for store in (not own and sorted(stores)) or [_DEFAULT]:
        place = below if own or not stores else f"{below}/{store}"
        found = inside if place == below else list(folder.entries(place))
        tables = {
            table.name: table.size
            for one in found
            if one.is_folder and one.name in _INSIDE
            for table in folder.entries(f"{place}/{one.name}")
        }
        files = counted((one for one in found if not one.is_folder), tables, ids.get(store))
        yield Instance(operator, store, partition, place, files, ids.get(store))


def read_snapshot(name: str, held: bytes) -> tuple[str, int | None, dict[str, int]]:
    """Return (form, rows, its tables with their bytes) of a snapshot of RocksDB; DamagedError where it is torn."""
    try:
        with zipfile.ZipFile(io.BytesIO(held)) as archive:
            form, _, text = archive.open("metadata").read(_MOST_OF_TABLES).partition(b"\n")
        told = msgspec.json.decode(text, type=_Snapshot)
    except Exception:  # what is torn raises whatever its decoder pleases
        raise DamagedError(name, "is torn or garbled") from None
    tables = {one.dfsSstFileName: one.sizeBytes for one in told.sstFiles}
    return form.decode("utf-8", "replace"), told.numKeys if type(told.numKeys) is int else None, tables


def is_cut_off(held: bytes) -> bool:
    """Whether a file of changes, or a snapshot of the default store, ends inside one of its blocks of LZ4.

    Files that are packed with anything else are taken as they are.
    """
    at = 0
    while held[at : at + len(_BLOCK)] == _BLOCK:
        packed = int.from_bytes(held[at + 9 : at + 13], "little")
        at += _BLOCK_HEAD + packed
        if not packed or at >= len(held):  # Spark never reads the empty block at the end
            return packed > 0 and at > len(held)
    return not at and _BLOCK.startswith(held[: len(_BLOCK)])
