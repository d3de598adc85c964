"""What was asked of `attach`, read and checked before anything is attached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advisor import catalogue
from advisor.errors import UsageError
from advisor.sources.listener.history import History
from advisor.wishes import UserWishes, user_wishes

if TYPE_CHECKING:
    from advisor.catalogue import Catalogue
    from advisor.session.notices import Notice


@dataclass(frozen=True)
class Options:
    """What was asked of `attach`."""

    catalogue: Catalogue
    wishes: UserWishes
    history: Path | None
    on_finding: Callable[[Notice], None] | None
    keep: int
    capacity: int

    @classmethod
    def of(
        cls,
        *,
        set: Iterable[str],
        config: str | Path | None,
        rules: Iterable[str | Path],
        history: str | Path | None,
        on_finding: Callable[[Notice], None] | None,
        keep: int,
        capacity: int,
    ) -> Options:
        """The options with rules and configuration read; UsageError and CatalogueError for what is wrong."""
        for name, number in (("keep", keep), ("capacity", capacity)):
            if number < 1:
                raise UsageError(f"{name}={number}", "is not a number of events", "give at least 1")
        judges = catalogue.rules_to_judge_by([Path(place) for place in rules])
        place = Path(history) if history is not None else None
        return cls(judges, user_wishes(set, config, [], judges), place, on_finding, keep, capacity)


def written_to(directory: Path) -> History:
    """The history that is kept in this directory; UsageError where there can be none."""
    try:
        return History(directory)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        raise UsageError(f"history={directory}", str(error), "give a directory that can be written") from None
