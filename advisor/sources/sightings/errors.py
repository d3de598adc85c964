"""Errors of Spark that are well known, as rules/errors.yaml holds them."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from advisor.errors import CatalogueError


class KnownError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error by the patterns that match its text: what it means, what to do, and the line of code that does it.

    `of_task`: it ends a task, which Spark tries again. `of_any_job`: it ends other jobs than streams, too.
    `by_shutdown`: somebody stopped the application.
    """

    matches: tuple[str, ...]
    means: str
    cure: str
    change: str
    of_task: bool = False
    of_any_job: bool = False
    by_shutdown: bool = False


@cache
def known_errors() -> dict[KnownError, re.Pattern[str]]:
    """Return each known error with its pattern, more special ones first; CatalogueError where the file is not right."""
    from advisor.catalogue.load import ERRORS, rules_directory  # noqa: PLC0415 - who reads no error needs no rules
    from advisor.catalogue.plain import read_plain  # noqa: PLC0415

    content, problems = read_plain(rules_directory() / ERRORS)
    try:
        errors = msgspec.convert(content, tuple[KnownError, ...])
        patterns = {error: re.compile("|".join(error.matches), re.DOTALL) for error in errors}
    except (msgspec.ValidationError, re.error) as error:
        problems.append(("", str(error)))
    if problems:
        raise CatalogueError(ERRORS, "\n".join(": ".join(filter(None, each)) for each in problems))
    return patterns


def known_error(text: str) -> KnownError | None:
    """Return the first known error that the text of an error matches; None where none does."""
    return next((error for error, pattern in known_errors().items() if pattern.search(text)), None)
