"""The files behind paths: those that workers open by themselves, and those that only the JVM reaches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from advisor.cluster.jvm import listed
from advisor.cluster.session import is_local
from advisor.cluster.units import Log, cost, logs
from advisor.errors import InputError
from advisor.sources.paths import (
    STDIN,
    Input,
    expand,
    holds_credential,
    in_order,
    is_url,
    log_of,
    refuse_missing,
    shown,
)
from advisor.sources.places import sizes

Paths = Sequence[str | os.PathLike[str]]


class Given(NamedTuple):
    """All files in their order, their logs; those of `urls` are read by the JVM."""

    inputs: list[Input]
    logs: list[Log]
    by_jvm: list[Log]
    urls: list[str]

    @property
    def cost(self) -> int:
        """What reading it all costs, in bytes."""
        return sum(map(cost, self.logs))


def refuse(paths: Paths) -> None:
    """What is certain before a session is there: InputError for standard input, and where on this machine nothing is.

    Nothing is listed, opened or fetched.
    """
    refuse_missing(_named(paths))


def given(spark: Any, paths: Paths) -> Given:
    """The files behind the paths, by names that mean the same in every worker's directory; InputError as `expand`."""
    inputs: dict[str, Input] = {}
    lengths: dict[str, int] = {}
    urls = []
    named = _named(paths)
    for path in named if is_local(spark) else map(_absolute, named):
        found, below = _found(spark, path)
        lengths |= below
        urls += [path] if below else []
        for one in found:
            inputs.setdefault(one.path, _sendable(one))
    found_logs = logs(inputs.values(), sizes(path for path in inputs if path not in lengths) | lengths)
    near, far = ([log for log in found_logs if (log.files[0].path in lengths) is by_jvm] for by_jvm in (False, True))
    return Given(list(inputs.values()), near, far, urls)


def _named(paths: Paths) -> list[str]:
    """The paths as text; InputError for standard input."""
    named = [os.fspath(path) for path in paths]
    if STDIN in named:
        raise InputError(STDIN, "a cluster cannot read standard input", "use --engine local, or give files")
    return named


def _found(spark: Any, path: str) -> tuple[list[Input], dict[str, int]]:
    """(the files at a path, the bytes of each where only the JVM reaches them)."""
    try:
        return expand([path]), {}
    except InputError as error:
        if not is_url(path) or holds_credential(path):
            raise
        below = listed(spark, path)
        if not below:
            found = f"{error.found}, and the JVM finds no file there"
            raise InputError(path, found, "check the address and the credentials") from None
        return [Input(file, log_of(file), False) for file in in_order(below)], below


def _sendable(one: Input) -> Input:
    """The input; Spark holds names as UTF-8."""
    return (
        one if shown(one.path) == one.path else one._replace(unfit="its name is no UTF-8: only --engine local reads it")
    )


def _absolute(path: str) -> str:
    return path if is_url(path) or path == STDIN or path.startswith("dbfs:/") else os.path.abspath(path)  # noqa: PTH100
