"""Read a checkpoint's folder once: its logs, its state, and what a start would miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from advisor.checkpoint import logs, statestores
from advisor.checkpoint.folder import WHERE, DamagedError, Entry, Folder, number_of, whole
from advisor.checkpoint.logs import Commit, Held, Offsets, held
from advisor.checkpoint.statestores import Instance, Load, Operator
from advisor.errors import InputError
from advisor.redaction import hide

PARTITIONS: Final = "spark.sql.shuffle.partitions"
MOST_CHECKED: Final = 64 << 20
"""Bytes of state files that are opened; of a larger state only names and sizes are looked at."""
AT_ONCE: Final = 16
"""Requests to an object store at a time."""
LOOKS: Final = 3
"""At a checkpoint that changes while it is read."""
Read = TypeVar("Read")


@dataclass(frozen=True)
class Seen:
    """What a checkpoint's files show.

    `damage`: files that a start reads, and what is wrong with each. `missing_batch`: the number of the offsets before
    the newest, where they are not there. `loads`: what a start loads of each partition; `rows`: of each store, as
    RocksDB's newest snapshots count them. `state_gap`: state that a start cannot load; `lost_table`: a table that a
    snapshot of RocksDB needs, and whether an older snapshot and the changelogs since replace it. `snapshot_form`: the
    newest form of the snapshots that a start reads.
    """

    place: str
    query_id: str | None
    has_metadata: bool
    offset_log: Held
    commit_log: Held
    source_logs: Mapping[str, Held]
    newest: Offsets | None
    before: Offsets | None
    commit: Commit | None
    operators: tuple[Operator, ...]
    instances: tuple[Instance, ...]
    damage: tuple[str, ...]
    missing_batch: int | None
    files: int
    bytes: int
    loads: tuple[tuple[Instance, Load], ...] = ()
    rows: Mapping[tuple[int, str], int] | None = None
    state_gap: str | None = None
    lost_table: str | None = None
    has_replacement: bool = False
    snapshot_form: str | None = None
    checked: bool = True

    @property
    def is_committed(self) -> bool:
        """Whether the newest batch that was begun has its commit."""
        return self.offset_log.last is not None and self.commit_log.last == self.offset_log.last

    @property
    def next_batch(self) -> int:
        """The batch with which a start goes on: the newest again where its commit is missing.

        Continuous processing goes on behind the newest commit.
        """
        last, commit = self.offset_log.last, self.commit_log.last
        if self.is_continuous:
            return 0 if commit is None else commit + 1
        return 0 if last is None else last + self.is_committed

    @property
    def is_continuous(self) -> bool:
        """Whether continuous processing wrote the newest batch."""
        return self.newest is not None and self.newest.is_continuous

    @property
    def commit_ahead(self) -> int | None:
        """The commit of a batch whose offsets are not there: a second query wrote it, or the offsets were lost."""
        offsets, commit = self.offset_log.last, self.commit_log.last
        return commit if commit is not None and (offsets is None or commit > offsets) else None

    @property
    def has_gaps(self) -> bool:
        """Whether batches were begun without offsets of their own, as asynchronous tracking leaves them."""
        numbers = self.offset_log.batches
        return bool(numbers) and numbers[-1] - numbers[0] >= len(numbers)

    @property
    def partitions(self) -> int | None:
        """The number of state partitions that the newest batch was begun with."""
        return number_of(self.newest.confs.get(PARTITIONS, "")) if self.newest else None

    @property
    def is_repartitioned_halfway(self) -> bool:
        """Whether the newest batch, which is not complete, has another number of partitions than the one before."""
        numbers = {one.confs.get(PARTITIONS) for one in (self.before, self.newest) if one}
        return not self.is_committed and len(numbers) == 2


def read(folder: Folder) -> Seen:
    """Read what a start would read, and count the rest; InputError where the folder is no checkpoint.

    A query that runs writes and purges: where something is wrong and the logs have changed since, all is read again.
    """
    for _ in range(LOOKS):
        seen = _read(folder)
        absent = seen.missing_batch is not None or seen.commit_ahead is not None
        if not (absent or seen.damage or seen.state_gap or seen.lost_table):
            return seen
        if _listed(folder) == (seen.offset_log, seen.commit_log):
            return seen
    raise InputError(folder.place, "it changes while it is read: its query runs", "stop the query first")


def _listed(folder: Folder) -> tuple[Held, Held]:
    """List the logs, commits first: what is committed meanwhile has its offsets."""
    commits = held(folder.entries("commits"))
    return held(folder.entries("offsets")), commits


def _read(folder: Folder) -> Seen:
    top = list(folder.entries(""))
    has_metadata = any(one.name == "metadata" for one in top)
    offsets, commits = _listed(folder)
    states, of_sources = _numbered(folder, "state"), _numbered(folder, "sources")
    if not (offsets.files or commits.files or states or has_metadata):
        raise _no_checkpoint(folder, top)
    sources = {one: held(folder.entries(f"sources/{one}"), logs.COMPACT) for one in of_sources}
    first = _Logs(folder, offsets, commits, sources)
    query_id = first.tried(lambda: logs.read_query_id(folder)) if has_metadata else None
    ids = first.commit.state_ids if first.commit else {}
    found = [statestores.operator(folder, int(one), ids.get(one)) for one in states]
    instances = tuple(one for _, several in found for one in several)
    counted = [(one.files, one.bytes) for one in (offsets, commits, *sources.values())]
    counted += [(one.files.files, one.files.bytes) for one in instances]
    seen = Seen(
        place=folder.place,
        query_id=query_id,
        has_metadata=has_metadata,
        offset_log=offsets,
        commit_log=commits,
        source_logs=sources,
        newest=first.newest,
        before=first.before,
        commit=first.commit,
        operators=tuple(one for one, _ in found),
        instances=instances,
        damage=tuple(first.damage),
        missing_batch=first.missing,
        files=sum(not one.is_folder for one in top) + sum(files for files, _ in counted),
        bytes=sum(one.size for one in top) + sum(size for _, size in counted),
        checked=first.are_whole,
    )
    return _with_state(folder, seen)


def _no_checkpoint(folder: Folder, top: list[Entry]) -> InputError:
    """Return what is there instead: empty logs, checkpoints below the folder, or nothing of the kind."""
    folders = sorted(one.name for one in top if one.is_folder)
    if {"offsets", "commits"} & set(folders):
        where = "restore it from a backup; without one a query starts from its beginning"
        return InputError(folder.place, "an empty checkpoint: no file is left in its offsets and commits", where)
    inside = [one for one in folders[:AT_ONCE] if any(below.name == "offsets" for below in folder.entries(one))]
    where = f"give one of those below it: {', '.join(map(repr, inside))}" if inside else WHERE
    return InputError(folder.place, "no checkpoint: there are no offsets, commits or metadata in it", where)


def _numbered(folder: Folder, below: str) -> list[str]:
    return sorted(one.name for one in folder.entries(below) if one.is_folder and number_of(one.name) is not None)


class _Logs:
    """The newest files of the logs, as Spark reads them at a start."""

    def __init__(self, folder: Folder, offsets: Held, commits: Held, sources: Mapping[str, Held]) -> None:
        self._folder = folder
        self.damage: list[str] = []
        self.are_whole = True
        self.newest = self._offsets(offsets.last)
        before = offsets.last - 1 if offsets.last else None
        self.missing = before if before is not None and before not in offsets.batches[-2:] else None
        again = commits.last != offsets.last
        self.before = None if self.missing is not None else self._offsets(before, read_all=again)
        if self.newest and self.before and self.newest.version == 1:
            these, those = len(self.newest.offsets), len(self.before.offsets)
            if these != those:
                self.damage.append(f"offsets/{offsets.last} is of {these} sources, and the batch before of {those}")
        commit = f"commits/{commits.last}"
        self.commit = None if commits.last is None else self.tried(lambda: logs.read_commit(folder, commit))
        for number, text in enumerate(self.newest.offsets.values() if self.newest else ()):
            if (batch := logs.file_batch(text)) is not None:
                self._source(f"sources/{number}", batch, sources.get(str(number), Held()))

    def tried(self, read: Callable[[], Read]) -> Read | None:
        """Return what is read; None where it is damaged, which is kept."""
        try:
            return read()
        except DamagedError as wrong:
            self.damage.append(str(wrong))
            return None

    def _offsets(self, batch: int | None, *, read_all: bool = True) -> Offsets | None:
        file = f"offsets/{batch}"
        return None if batch is None else self.tried(lambda: logs.read_offsets(self._folder, file, read_all=read_all))

    def _source(self, place: str, batch: int, log: Held) -> None:
        """Note what is wrong with the log of a file source, which a start reads from its newest compact file on."""
        numbers, there = range(max(log.compact, default=0), max(batch, log.last or 0) + 1), set(log.batches)
        absent = next((one for one in numbers if one not in there), None)
        if absent is not None:
            self.damage.append(f"{place}/{absent} is missing; the source of files cannot start without it")
            return
        for file in (f"{place}/{one}" + (".compact" if one in log.compact else "") for one in numbers):
            if self.tried(lambda name=file: logs.read_source_batch(self._folder, name)) is False:  # type: ignore[misc]
                self.are_whole = False


def _with_state(folder: Folder, seen: Seen) -> Seen:
    """Return it with what a start would load of each partition, and with what is wrong with that."""
    live = [one for one in seen.instances if seen.partitions is None or one.partition < seen.partitions]
    loads = tuple((one, statestores.load(one.files, seen.next_batch, one.id)) for one in live)
    missing = (f"{hide(one.place)}/{loaded.missing} is missing" for one, loaded in loads if loaded.missing)
    gap = next(chain(missing, _lost(seen)), None)
    is_small = sum(loaded.bytes for _, loaded in loads) <= MOST_CHECKED
    if gap or not is_small:
        return replace(seen, loads=loads, state_gap=gap, checked=seen.checked and is_small)
    with ThreadPoolExecutor(AT_ONCE) as together:
        found = list(together.map(lambda pair: _opened(folder, *pair), loads))
    rows: Counter[tuple[int, str]] = Counter()
    for (one, _), opened in zip(loads, found, strict=True):
        if opened.rows is not None:
            rows[one.operator, one.store] += opened.rows
    lost = [pair for pair, opened in zip(loads, found, strict=True) if opened.lost_table]
    return replace(
        seen,
        loads=loads,
        rows=rows,
        state_gap=next((one.wrong for one in found if one.wrong), None),
        lost_table=next((one.lost_table for one in found if one.lost_table), None),
        has_replacement=all(statestores.has_replacement(one.files, loaded) for one, loaded in lost),
        snapshot_form=max((one.form for one in found if one.form), default=None),
    )


def _lost(seen: Seen) -> Iterator[str]:
    """Yield the operators, partitions and stores without any file that a start needs.

    Operators count from 0, and each partition has the same stores; a state without keys has one partition only.
    """
    numbers = [one.number for one in seen.operators] if seen.next_batch else []
    yield from (f"state/{number} is missing" for number in range(max(numbers, default=0)) if number not in numbers)
    for of in seen.operators:
        there = {(one.partition, one.store): one.place for one in seen.instances if one.operator == of.number}
        needed = range(seen.partitions or 0) if seen.next_batch and not of.has_no_keys else ()
        stores = sorted({store for partition, store in there if partition in needed})
        partitions = {partition for partition, _ in there}
        yield from (f"state/{of.number}/{number} is missing" for number in needed if number not in partitions)
        lost = ((number, store) for number in needed for store in stores if (number, store) not in there)
        yield from (hide(f"state/{of.number}/{number}/{store} is missing") for number, store in lost)


class _Opened(NamedTuple):
    """What the state files of a partition show: what is wrong, a lost table, the snapshot's rows and form."""

    wrong: str | None = None
    lost_table: str | None = None
    rows: int | None = None
    form: str | None = None


def _opened(folder: Folder, one: Instance, loaded: Load) -> _Opened:
    """Open the files that a start loads."""
    found = _Opened()
    try:
        for name in (f"{one.place}/{file}" for file in loaded.names):
            content = whole(folder, name)
            if name.endswith(".zip"):
                form, rows, tables = statestores.read_snapshot(name, content)
                lost = [table for table, size in tables.items() if one.files.tables.get(table, -1) < size]
                found = _Opened(None, hide(f"{one.place}/SSTs/{lost[0]}") if lost else None, rows, form)
            elif statestores.is_cut_off(content):
                return found._replace(wrong=f"{name} ends too early")
    except DamagedError as wrong:
        return found._replace(wrong=str(wrong))
    return found
