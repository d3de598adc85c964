"""Inputs that are nearly right: recorded events with odd values, logs with bytes changed, odd YAML."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.sources.variants import VARIANTS

_SAMPLES = Path(__file__).parents[2] / "sample_progress"
_EVENTS = 12
_MARK = "Streaming query made progress: "
_DEEP = '{"a":' * 300 + "1" + "}" * 300


class Input(NamedTuple):
    """The bytes of a file, and the batches that must be found in it whatever else is odd there."""

    raw: bytes
    whole: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"Input of {len(self.raw)} bytes"


class Literal(str):
    """JSON text that stands where a value would."""

    __slots__ = ()


ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 0.5, -0.0, 1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30, "", " ",
    "NaN", "-1",    "1e5", "0x10", "Infinity", "null", "é\u202e\u0000\x1b[31m", "\ud800", "<script>alert(1)</script>",
    "x" * 5000, "a\nb", "::error::owned", "a\u2028::error::owned ##[error]owned", "@octocat #1 :smile: https://evil.example",
    "##vso[task.complete]", "{{ 31415927 * 10007 }}", "tokens=[" + "0" * 40 + "x", " " * 5000,
    "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-02-30T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
    [], {}, [[]], [None], {"a": {}}, {"": None}, ["x"] * 50, {str(n): n for n in range(50)},
    *map(Literal, ("NaN", "Infinity", "-Infinity", "9" * 5000, "1e999", "-0", _DEEP, "[" * 300 + "]" * 300, "'x'")),
]  # fmt: skip
ODD_BYTES = [
    b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b"\\", b'"', b"{", b"}", b"[", b"'", b"\x1b[31m", b"<!--",
    b"- ",
    b"# ", b"Streaming query made progress: ", b'{"id":', b"\xef\xbb\xbf", b"\xfe\xff", b"\x1f\x8b", b"batch 1" * 9,
]  # fmt: skip


@cache
def recorded() -> list[list[dict[str, Any]]]:
    """Some events of each recorded run that is a driver's log."""
    runs = (list(_events(gzip.decompress(log.read_bytes()))) for log in sorted(_SAMPLES.glob("**/driver.log.gz")))
    return [run[-_EVENTS:] for run in runs if len(run) >= _EVENTS]


def _events(log: bytes) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for part in log.decode("utf-8", "replace").split(_MARK)[1:]:
        yield decoder.raw_decode(part)[0]


def _places(thing: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a parsed event."""
    members = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, item in members:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _changed(event: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The event with another value at that place."""
    if not path:
        return value
    copy = dict(event) if isinstance(event, dict) else list(event)
    copy[path[0]] = _changed(copy[path[0]], path[1:], value)
    return copy


def _written(event: Any) -> str:
    if isinstance(event, Literal):
        return str(event)
    if isinstance(event, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_written(item)}" for key, item in event.items()) + "}"
    if isinstance(event, list):
        return "[" + ",".join(map(_written, event)) + "]"
    return json.dumps(event)


@st.composite
def odd_events(draw: st.DrawFn) -> Input:
    """A recorded run as JSON lines or a log, one event of it with one to three odd values."""
    run = draw(st.sampled_from(recorded()))
    at = draw(st.integers(0, len(run) - 1))
    event: Any = run[at]
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(_places(event))))
        event = _changed(event, path, draw(st.sampled_from(ODD_VALUES)))
    header = draw(st.sampled_from(["", f"26/03/01 02:00:01 INFO MicroBatchExecution: {_MARK}"]))
    lines = [header + (_written(event) if number == at else json.dumps(each)) for number, each in enumerate(run)]
    whole = frozenset(each["batchId"] for number, each in enumerate(run) if number != at)
    return Input("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n", whole)


@st.composite
def odd_runs(draw: st.DrawFn) -> Input:
    """A recorded run of which every event has the same odd values."""
    run = draw(st.sampled_from(recorded()))
    changes = draw(
        st.lists(st.tuples(st.sampled_from(list(_places(run[0]))), st.sampled_from(ODD_VALUES)), min_size=1, max_size=3)
    )
    lines = []
    for event in run:
        changed: Any = event
        for path, value in changes:
            if path in set(_places(changed)):
                changed = _changed(changed, path, value)
        lines.append(_written(changed))
    return Input("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n")


@cache
def _logs() -> list[bytes]:
    heads = [gzip.decompress(log.read_bytes()) for log in sorted(_SAMPLES.glob("**/driver.log.gz"))[::7]]
    return [*VARIANTS.values(), *(log[: 1 << 15] for log in heads)]


@st.composite
def broken_files(draw: st.DrawFn) -> Input:
    """A file of any format with stretches cut, doubled, swapped, overwritten; lines mixed; another encoding."""
    raw = draw(st.sampled_from(_logs()))
    for _ in range(draw(st.integers(1, 5))):
        raw = _BREAKS[draw(st.sampled_from(sorted(_BREAKS)))](draw, raw)
    return Input(raw)


def _cut(draw: st.DrawFn, raw: bytes) -> bytes:
    start, end = _stretch(draw, raw)
    return raw[:start] + raw[end:]


def _doubled(draw: st.DrawFn, raw: bytes) -> bytes:
    start, end = _stretch(draw, raw)
    return raw[:end] + raw[start:]


def _overwritten(draw: st.DrawFn, raw: bytes) -> bytes:
    start, end = _stretch(draw, raw)
    return raw[:start] + draw(st.sampled_from(ODD_BYTES) | st.binary(max_size=20)) + raw[end:]


def _truncated(draw: st.DrawFn, raw: bytes) -> bytes:
    return raw[: draw(st.integers(0, len(raw)))]


def _mixed(draw: st.DrawFn, raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    other = draw(st.sampled_from(_logs())).splitlines(keepends=True)
    at, step = draw(st.integers(0, len(lines))), draw(st.integers(1, 9))
    for number, line in enumerate(other[:40]):
        lines.insert(at + number * step, line)
    return b"".join(lines)


def _encoded(draw: st.DrawFn, raw: bytes) -> bytes:
    how = draw(st.sampled_from(["utf-16", "utf-8-sig", "utf-16-be", "cp500"]))
    return raw.decode("utf-8", "replace").encode(how, "replace")


def _stretch(draw: st.DrawFn, raw: bytes) -> tuple[int, int]:
    start = draw(st.integers(0, len(raw)))
    return start, min(len(raw), start + draw(st.integers(0, 400)))


_BREAKS = {
    "cut": _cut, "doubled": _doubled, "overwritten": _overwritten, "truncated": _truncated, "mixed": _mixed,
    "encoded": _encoded,
}  # fmt: skip

_NUMBER = re.compile(rb"\d+")
_ODD_NUMBERS = [
    b"0",
    b"-1",
    b"9" * 30,
    b"9" * 5000,
    b"1e9",
    b"9223372036854775808",
    b"NaN",
    b"",
    b"1,000",
    "²".encode(),
]


@st.composite
def odd_numbers(draw: st.DrawFn) -> Input:
    """A log in which some numbers are none, or cannot be right."""
    lines = draw(st.sampled_from(_logs())).splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 60))):
        at = draw(st.integers(0, len(lines) - 1))
        found = list(_NUMBER.finditer(lines[at]))
        if found:
            start, end = draw(st.sampled_from(found)).span()
            lines[at] = lines[at][:start] + draw(st.sampled_from(_ODD_NUMBERS)) + lines[at][end:]
    return Input(b"".join(lines))


_SCALARS = st.sampled_from(
    ["ignore", "queries", "rule", "reason", "until", "LG001", "made", "facts", "levels", "task_slots", "medium", "*",
     "~",      "2026-02-30", "2026-03-01", "0x", "1e999", ".nan", "!!python/name:os.system", "&a [*a]", "é", "", "-1",
     "0.5", "true"]
)  # fmt: skip


@st.composite
def odd_yaml(draw: st.DrawFn) -> Input:
    """YAML that holds the words of advisor.yaml in odd places."""
    tree = draw(
        st.recursive(
            _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_SCALARS, inner, max_size=4),
            max_leaves=20,
        )
    )  # fmt: skip
    text = _as_yaml(tree)
    return Input((text + draw(st.sampled_from(["", "\n---\na", "\t", "\n: :", "\nignore: 1"]))).encode())


def _as_yaml(tree: Any) -> str:
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key}: {_as_yaml(item)}" for key, item in tree.items()) + "}"
    return "[" + ", ".join(map(_as_yaml, tree)) + "]" if isinstance(tree, list) else str(tree)
