"""Which runs and logs must be judged together: those that share a log or a query."""

from __future__ import annotations

from collections.abc import Iterable


class Kinship:
    """Groups of names that were said to belong together."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def join(self, names: Iterable[str]) -> None:
        """Say that these belong together."""
        first, *others = map(self._root, names)
        for other in others:
            self._parent[other] = first

    def group(self, name: str) -> str:
        """The name that stands for the group of this one."""
        return self._root(name)

    def _root(self, name: str) -> str:
        root = name
        while (parent := self._parent.setdefault(root, root)) != root:
            root = parent
        while self._parent[name] != root:
            self._parent[name], name = root, self._parent[name]
        return root


def of_run(run_id: str) -> str:
    """A run's name among all names."""
    return f"run {run_id}"


def of_query(query_id: str | None) -> str:
    """A query's name among all names; runs of which no query is known count as runs of one."""
    return f"query {query_id or ''}"


def of_log(log: str) -> str:
    """A log's name among all names."""
    return f"log {log}"
