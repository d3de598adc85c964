"""A checkpoint as text for a terminal: at most some twenty lines, the answers first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from advisor.metrics.units import milliseconds, number
from advisor.views.console import columns, console, written
from advisor.views.paste import pastes

if TYPE_CHECKING:
    from advisor.checkpoint.record import Answer, Checkpoint, Store

_SAYS: Final = {"yes": "yes", "no": "no", "only_so": "only so", "if": "it depends"}
_COLOR: Final = {"yes": "green", "no": "red", "only_so": "yellow", "if": "yellow"}
_MOST_STORES: Final = 2
_SHOWN_CONFS: Final = (
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.streaming.join.stateFormatVersion",
    "spark.sql.streaming.multipleWatermarkPolicy",
)
"""Pinned settings that people most often try to change; JSON has all."""


def checkpoint_as_text(found: Checkpoint, *, width: int, color: bool) -> str:
    """Return what was found, the answers first."""
    page = console(width, color=color)
    whose = f"query {found.query_id}" if found.query_id else "no query id"
    written_last = f", last written {found.newest}" if found.newest else ""
    written_last += f" by Spark {found.written_by}" if found.written_by else ""
    page.print(Text.assemble((f"Checkpoint {found.path}", "bold"), f"  {whose}{written_last}"), soft_wrap=True)
    rows: list[Sequence[str | Text]] = [*_starts(found), *_again(found), *_answers(found), *_holds(found)]
    page.print(columns(rows, {"style": "bold", "no_wrap": True}))
    return written(page)


def _starts(found: Checkpoint) -> Iterator[tuple[str, Text]]:
    for nth, answer in enumerate(found.start):
        on = dict.fromkeys((*answer.versions[:1], *answer.versions[-1:]))
        yield ("" if nth else "STARTS"), _said(answer, f"Spark {' to '.join(on)}: " if on else "")


def _said(answer: Answer, where: str = "") -> Text:
    return Text.assemble(where, (_SAYS[answer.answer], _COLOR[answer.answer]), f". {answer.says}")


def _again(found: Checkpoint) -> Iterator[tuple[str, str]]:
    again, replayed = found.again, sum(one.replayed for one in found.stores)
    said = f"It goes on with batch {again.next}."
    if again.batch is not None:
        rows = f" ({again.rows:,} rows)" if again.rows is not None else ""
        said = f"Batch {again.batch}{rows}: its offsets are logged, its commit is not."
        said += " The sink gets its rows again: foreachBatch, and what keeps no batch numbers, may write them twice."
        if again.batch_ms is not None:
            first = "takes longer" if again.first_ms is None else f"took {milliseconds(again.first_ms)}"
            said += f" The first batch after a start {first}, a typical one {milliseconds(again.batch_ms)}."
    if again.after_gaps:
        said += " Batches were tracked asynchronously: rows read after these offsets are processed again, too."
    if found.stores:
        size = number(sum(one.loaded_bytes for one in found.stores), "bytes")
        most = max(one.most_replayed for one in found.stores)
        said += f" State {again.next}: {size} to load"
        said += f", {replayed:,} files of changes to replay, at most {most} in a row." if replayed else "."
    yield "AGAIN", said


def _answers(found: Checkpoint) -> Iterator[tuple[str, Text]]:
    """Yield what was asked and the answers; words and steps that stand above are not repeated."""
    told: list[Answer] = []
    for answer in found.answers:
        like = next((one for one in (*told, *found.start) if _begins_alike(answer, one)), None)
        words = _said(answer)
        if like is not None:
            above = f"as for {like.asked}" if like in told else "as STARTS says"
            words = Text(f"{_SAYS[answer.answer]}, {above}.{answer.says.removeprefix(like.says)}")
        yield "MAY I", Text.assemble((answer.asked, "bold"), ": ", words)
        same = next((one.asked for one in told if answer.stages and one.stages == answer.stages), None)
        if same and like not in told:
            yield "", Text(f"  The steps are those of {same}.")
        for nth, stage in enumerate(() if same else answer.stages, 1):
            pasted = "; ".join(" ".join(line.strip() for line in one.lines) for one in pastes(stage.change))
            yield "", Text(f"  {nth}. {': '.join(filter(None, (stage.do, pasted)))} (until {stage.until})")
        told.append(answer)


def _begins_alike(answer: Answer, other: Answer) -> bool:
    """Whether an answer is another one, which it may add some words to."""
    same = (answer.answer, answer.stages, answer.unknown) == (other.answer, other.stages, other.unknown)
    return same and answer.says.startswith(other.says)


def _holds(found: Checkpoint) -> Iterator[tuple[str, str]]:
    """Yield what the checkpoint holds: settings, state, logs and files."""
    pinned = [
        f"{key.removeprefix('spark.sql.')}={found.pinned[key].rpartition('.')[2]}"
        for key in _SHOWN_CONFS
        if key in found.pinned
    ]
    if pinned and found.stores:
        more = len(found.pinned) - len(pinned)
        yield "PINNED", f"{', '.join(pinned)}; {more} more. Setting these elsewhere does nothing."
    shown = sorted(found.stores, key=lambda one: -one.bytes)[:_MOST_STORES]
    for first, store in enumerate(shown):
        yield ("" if first else "STATE"), _store(store)
    if len(found.stores) > len(shown):
        yield "", f"and {len(found.stores) - len(shown)} smaller stores"
    logs = [
        f"{log.name} {log.first} to {log.last} ({log.count}{f', v{log.version}' if log.version else ''})"
        for log in found.logs
        if log.count
    ]
    yield "LOGS", "; ".join(logs) or "no batch yet"
    grows = (
        f", about {found.files_per_batch:,.{0 if found.files_per_batch >= 10 else 1}f} more with each batch"
        if found.files_per_batch
        else ""
    )
    left = f"; {found.temporary} temporary files left in the logs" if found.temporary else ""
    unopened = "" if found.is_checked else "; not all was read, it is too large: names and sizes were checked"
    yield "FILES", f"{found.files:,} files, {number(found.bytes, 'bytes')}{grows}{left}{unopened}"


def _store(store: Store) -> str:
    name = f"{store.operator} {store.operator_name or 'operator'}" + (
        f"/{store.name}" if store.name != "default" else ""
    )
    kinds = ", ".join(f"{count:,} {kind} files" for kind, count in store.files.items())
    rows = f", {store.rows:,} rows" if store.rows is not None else ""
    skew = f", the largest partition {store.skew:g} times the mean" if store.skew and store.skew >= 1.5 else ""
    return (
        f"{name}: {store.provider or 'no files'}, {store.partitions} partitions, versions {store.first_version} to"
        f" {store.last_version} ({kinds}), {number(store.bytes, 'bytes')}{rows}{skew}"
    )
