"""Tells apart what somebody measured under different settings and put into one text, so that it is not averaged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from advisor.progress import AT_BYTE, UNNAMED, Progress
from advisor.redaction import redact
from advisor.sources.headings import Heading, heading

_BEFORE: Final = re.compile(r"(?i)^(?:before|old|previous(?:ly)?|original)\b[\s:,]*")


class Record(NamedTuple):
    """An event that stands at [start, end) of a text."""

    event: Progress
    start: int
    end: int


class Measurement(NamedTuple):
    """The records from byte `start` to `end` of a text, which are called by `run_id` from now on.

    `says`: the heading's words, of settings that hold for them.
    """

    start: int
    end: int
    id: str
    run_id: str
    says: str


def tell_apart(text: bytes, records: Sequence[Record]) -> list[Measurement]:
    """Give the records of each measurement a run of their own; none where the text does not say that it holds several.

    What tells: headings that name other settings, and batch ids that begin anew where no run is named.
    """
    if len(records) < 2:
        return []
    records = sorted(records, key=lambda record: record.start)
    groups = list(_groups(text, records))
    if len(groups) < 2:
        return []
    runs = Counter(run for group, _ in groups for run in {record.event.run_id for record in group})
    return [_named(group, title, runs) for group, title in groups]


def _groups(text: bytes, records: Sequence[Record]) -> Iterator[tuple[list[Record], Heading | None]]:
    """The records of each measurement, with its heading."""
    titles = _titles(text, records)
    group: list[Record] = []
    said: Heading | None = None
    for at, (record, title) in enumerate(zip(records, titles, strict=True)):
        other = title is not None and (said is None or title.text.lower() != said.text.lower())
        if group and (other or _begins_anew(records, at)):
            yield group, said
            group, said = [], None
        group.append(record)
        said = title or said
    if group:
        yield group, said


def _titles(text: bytes, records: Sequence[Record]) -> list[Heading | None]:
    """The heading of each record; of those that are not sure by themselves only where another one is like it."""
    ends = [0, *(record.end for record in records)]
    gaps = (text[min(end, record.start) : record.start] for end, record in zip(ends[:-1], records, strict=True))
    found = [heading(gap.decode("utf-8", "replace")) for gap in gaps]
    forms = [title.form for title in found if title is not None]
    opened = any(title is not None and not title.only_a_number for title in found)

    def counts(title: Heading | None) -> bool:
        if title is None:
            return False
        return title.sure or (opened if title.only_a_number else forms.count(title.form) > 1)

    kept = [title if counts(title) else None for title in found]
    return kept if any(kept[1:]) else [None] * len(kept)


def _begins_anew(records: Sequence[Record], at: int) -> bool:
    """Whether the batch ids of records that name no run go back here, or repeat, while time goes on."""
    if not at or not all(record.event.run_id == UNNAMED for record in records[at - 1 : at + 1]):
        return False
    before, event = records[at - 1].event, records[at].event
    if before.batch_id is None or event.batch_id is None or event.batch_id > before.batch_id:
        return False
    if before.timestamp and event.timestamp:
        return event.timestamp > before.timestamp
    return not all(_falls(one.event, other.event) for one, other in pairwise(records))


def _falls(one: Progress, other: Progress) -> bool:
    """Whether two records stand as newest first does: the batch before comes next."""
    return one.batch_id is not None and other.batch_id == one.batch_id - 1


def _named(group: Sequence[Record], title: Heading | None, runs: Mapping[str, int]) -> Measurement:
    """The measurement of a group; its records get a run of their own where another group has theirs, too."""
    for event in (record.event for record in group):
        event.name = _called(event.name, title)
        if runs[event.run_id] > 1:
            event.run_id = f"{event.run_id}{AT_BYTE}{group[0].start:,}"
    first = group[0].event
    says = _BEFORE.sub("", title.text) if title else ""
    return Measurement(group[0].start, group[-1].end, first.id, first.run_id, says)


def _called(name: str | None, title: Heading | None) -> str | None:
    """The query's name with the words of the heading."""
    if title is None:
        return name
    query = "unnamed query" if name is None or name.startswith("unnamed query (") else name
    return f"{query} ({redact(title.text)})"
