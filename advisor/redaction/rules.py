"""What stands in the place of a credential, and rules that put it there.

Every repetition in a rule ends where it fails, or is bounded, so that the time grows as the length of a text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

REDACTED: Final = "*********(redacted)"
"""What stands in the place of a credential; the words that Spark itself prints."""
NOT_YET: Final = r"(?!\*{9}\(redacted\))"
"""Redacting twice changes nothing."""


class Rule(NamedTuple):
    """Where a credential stands: after group 1 of the pattern, if it has one, and before `then`.

    The pattern is tried where a text holds one of `needs`, in lower case.
    """

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    then: str = ""


def rule(needs: str | tuple[str, ...], pattern: str, then: str = "") -> Rule:
    """A rule of this pattern."""
    return Rule((needs,) if isinstance(needs, str) else needs, re.compile(pattern, re.DOTALL), then)


def applied(rules: Iterable[Rule], text: str) -> str:
    """`text` without the credentials that the rules know."""
    lowered = text.lower()
    for needs, pattern, then in rules:
        if any(each in lowered for each in needs):
            text = pattern.sub((r"\1" if pattern.groups else "") + REDACTED + then, text)
    return text
