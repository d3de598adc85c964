"""What `attach` was asked for, and the judge that it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.batches import Reading
from advisor.catalogue import Catalogue
from advisor.contract import Report
from advisor.report import Asked, assemble
from advisor.report.comparing import compare_readings
from advisor.views.shown import Compared
from advisor.wishes import UserWishes

if TYPE_CHECKING:
    from advisor.session.notices import Notice


class Judging:
    """Judges what was read by a catalogue. A rule that fails is listed under "not judged", as everywhere."""

    def __init__(self, catalogue: Catalogue, wishes: UserWishes) -> None:
        self._catalogue, self._asked = catalogue, Asked(wishes=wishes, live=True)

    def report(self, reading: Reading, *, series: bool = False) -> Report:
        """Return the report, with `series` also the single batches; what fails without any rule is raised."""
        return assemble(reading, self._catalogue, replace(self._asked, series=series))

    def compare(self, reading: Reading) -> Compared:
        """Return each query's newest window against the one before it; InputError where none has two."""
        return Compared(*compare_readings(reading, None, self._catalogue, self._asked))


@dataclass(frozen=True)
class Options:
    """What `attach` was asked for, read and checked."""

    judging: Judging
    history: Path | None
    on_finding: Callable[[Notice], None] | None
    keep: int
    capacity: int
    health: int | None = None
