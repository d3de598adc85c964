"""The one family of errors that a user of the advisor meets."""

from __future__ import annotations


class AdvisorError(Exception):
    """Something the user can put right: where it is, what was found there, and what would do."""

    def __init__(self, place: str, found: str, would_do: str = "") -> None:
        self.place = place
        self.found = found
        self.would_do = would_do
        super().__init__(place, found, would_do)

    def __str__(self) -> str:
        """One line: `place: found; would_do`."""
        said = f"{self.place}: {self.found}" if self.place else self.found
        return f"{said}; {self.would_do}" if self.would_do else said


class InputError(AdvisorError):
    """A file, directory or stream that cannot be read, or that holds no streaming progress."""


class CatalogueError(AdvisorError):
    """A rule file, or a configuration file, that says something the advisor does not know."""


class UsageError(AdvisorError):
    """A command, an option or a fact that was asked for in a way that cannot be carried out."""
