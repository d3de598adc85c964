"""What stands in the place of a credential, and rules that put it there.

Every repetition in a rule ends where it fails, or is bounded, so that the time grows as the length of a text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

REDACTED: Final = "*********(redacted)"
"""What stands in the place of a credential; the words that Spark itself prints."""
NOT_YET: Final = r"(?!\*{9}\(redacted\))"
"""Redacting twice changes nothing."""

_Entry = TypeVar("_Entry", bound=tuple[Any, ...])


class Rule(NamedTuple):
    """Where a credential stands and what the pattern's match becomes.

    The pattern is tried where a text holds one of `needs`, in lower case.
    """

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    becomes: str


def rule(needs: str | tuple[str, ...], pattern: str, then: str = "") -> Rule:
    """A rule that hides what stands after group 1 of the pattern, if it has one, and before `then`."""
    compiled = re.compile(pattern, re.DOTALL)
    becomes = (r"\1" if compiled.groups else "") + REDACTED + then
    return Rule((needs,) if isinstance(needs, str) else needs, compiled, becomes)


def tried(entries: Iterable[_Entry], text: str) -> Iterator[_Entry]:
    """The entries of which the text holds one of the words that stand first in them, in lower case."""
    lowered = text.lower()
    for entry in entries:
        for word in entry[0]:
            if word in lowered:
                yield entry
                break


def applied(rules: Iterable[Rule], text: str) -> str:
    """`text` without the credentials that the rules know."""
    for _, pattern, becomes in tried(rules, text):
        text = pattern.sub(becomes, text)
    return text
