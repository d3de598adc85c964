"""Find bytes in megabytes of text, several times as fast as bytes.find."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import stringzilla

from advisor.sources.harvest import Buffer

find: Callable[..., int] = stringzilla.find
"""As bytes.find, for bytes in memory alone: at a lone surrogate in a str stringzilla ends the process."""


def places(buffer: Buffer, sub: bytes, begin: int = 0, end: int | None = None) -> Iterator[int]:
    """Where `sub` stands in [begin, end) of bytes in memory; none of them reaches into the next."""
    end = len(buffer) if end is None else end
    at = find(buffer, sub, begin, end)
    while at >= 0:
        yield at
        at = find(buffer, sub, at + len(sub), end)
