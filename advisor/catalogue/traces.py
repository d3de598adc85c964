"""What a batch does besides its own work, by the messages in logs that rules/traces.yaml explains."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from statistics import median

import msgspec

from advisor.catalogue.load import TRACES, rules_directory
from advisor.catalogue.plain import read_plain
from advisor.errors import CatalogueError
from advisor.facts import Known
from advisor.metrics.flow import batch_traces, folder, folders_of, lies_in
from advisor.metrics.units import milliseconds
from advisor.window import Window

_NO_FILES = ("kafka", "rate", "rate_micro_batch", "socket", "kinesis", "event_hubs", "memory")
_MOST_OF, _SAID = 0.5, 4
"""So many of the batches leave a trace that is said; traces that are said."""
_READ = ("table_read", "unpruned_read")


class Trace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What messages show that a batch does, with the keys of rules/traces.yaml."""

    name: str
    says: str = ""
    counts: str = ""
    tells: str = ""
    lines: dict[str, str] = {}
    events: dict[str, str] = {}
    least: float = 1
    unless: frozenset[str] = frozenset()
    not_of: frozenset[str] = frozenset()
    of_sources: bool = False
    writes: bool = False


Forms = Sequence[tuple[re.Pattern[bytes], Trace]]


@cache
def traces() -> Sequence[Trace]:
    """Return the traces in the order in which they are said; CatalogueError where the file is not right."""
    content, problems = read_plain(rules_directory() / TRACES)
    try:
        return msgspec.convert(content, tuple[Trace, ...])
    except msgspec.ValidationError as error:
        raise CatalogueError(TRACES, str(problems or error)) from None


@cache
def forms(*, events: bool = False) -> Mapping[str, Forms]:
    """Return the forms of messages by the class that writes them, or by the kind of event."""
    found: dict[str, list[tuple[re.Pattern[bytes], Trace]]] = defaultdict(list)
    for trace in traces():
        for classes, pattern in (trace.events if events else trace.lines).items():
            for each in classes.split():
                found[each].append((re.compile(pattern.encode()), trace))
    return dict(found)


def traced(some: Forms, message: bytes, number: float = 1.0) -> Sequence[tuple[str, float, str]]:
    """Return (column, number, which trace and its path); `number`: what the message counts if it names none itself."""
    for pattern, trace in some:
        if found := pattern.match(message):
            groups = found.groupdict()
            number, path = float(groups.get("number") or number), groups.get("path")
            named = f"{trace.name} {folder(path.decode('utf-8', 'replace'))}" if path else trace.name
            both = (trace.counts, number, ""), ("traces" if trace.says or path else "", number, named)
            return [each for each in both if each[0]]
    return ()


@lru_cache(maxsize=4096)
def traced_line(of: str, message: bytes) -> Sequence[tuple[str, float, str]]:
    """Return the same of a driver log's message; a table's folder comes again in each batch."""
    return traced(forms()[of], message)


def done_besides(window: Window) -> dict[str, Known]:
    """Return the facts that the traces of most of the window's batches tell, first of all what they do in words."""
    usual, seen = (_usual(window, share) for share in (_MOST_OF, 0.0))
    reads = {trace.name for trace in traces() if trace.tells in _READ}
    tables = {path: number for (name, path), number in usual.items() if name in reads and path}
    written = {path for trace in traces() if trace.writes for name, path in seen if name == trace.name}
    sinks = window.batches["sink"] if "sink" in window.batches else ()  # noqa: SIM401
    own = tables.keys() & (written | {*folders_of(sinks)})
    found, said = list(_shown(usual, window)), list[str]()
    for trace, path, number in found[:_SAID]:
        times, files = (f"{number:,.0f} {what}{'s' * (number != 1)}" for what in ("time", "file"))
        does = trace.says.format(path=path, times=times, files=files, ms=milliseconds(number))
        said.append(does + " (which it also writes)" * (path in own))
    words = " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))
    told: dict[str, object] = {trace.tells: True for trace, *_ in found if trace.tells}
    told |= {"own_table_read": True} if own else {}
    told |= {"table_files": round(max(tables.values()))} if tables else {}
    took = {path: ms for (name, path), ms in usual.items() if name == "table_ms" and "*" not in path}
    longest = max(took, key=lambda path: (took[path], path), default="")
    if longest:
        told["longest_table"] = longest + (f" ({tables[longest]:,.0f} files)" if tables.get(longest, 0) > 1 else "")
    told |= {"batch_does": words} if words else {}
    return {name: Known(value, "computed") for name, value in told.items()}


def _usual(window: Window, share: float) -> dict[tuple[str, str], float]:
    """Return the traces of at least this share of the batches, (name, path), with the median of their number."""
    shown, numbers = [found for found in batch_traces(window) if found is not None], defaultdict(list)
    for name, number, path in chain.from_iterable(shown):
        numbers[name, path].append(float(number))
    return {key: median(found) for key, found in numbers.items() if len(found) >= max(1, share * len(shown))}


def _shown(usual: Mapping[tuple[str, str], float], window: Window) -> Iterator[tuple[Trace, str, float]]:
    """Yield the traces that are said, with their path and number, in order.

    What lies in a folder that was named, or that the stream reads, is not named again.
    """
    names, of_files = {name for name, _ in usual}, window.facts.value("source") not in _NO_FILES
    folders = folders_of(window.sources["description"])
    for trace in traces():
        own = sorted((-number, path) for (name, path), number in usual.items() if name == trace.name)
        hidden = (trace.of_sources and of_files) or names & trace.unless
        others = {path for name, path in usual if name in trace.not_of}
        for less, path in own if trace.says and not hidden else ():
            if -less >= trace.least and path not in others and not lies_in(path, folders):
                folders += [path] if path else []
                yield trace, path, -less
