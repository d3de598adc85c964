"""Judge a live session as logs are judged."""

from __future__ import annotations

from dataclasses import replace

from advisor.batches import Reading
from advisor.catalogue import Catalogue
from advisor.report import Asked, Report, assemble
from advisor.report.comparing import Compared, compare_readings
from advisor.report.runs import Wishes


class Judging:
    """Judges what was read by a catalogue. A rule that fails is listed under "not judged", as everywhere."""

    def __init__(self, catalogue: Catalogue, wishes: Wishes) -> None:
        self._catalogue, self._asked = catalogue, Asked(wishes=wishes, live=True)

    def report(self, reading: Reading, *, series: bool = False) -> Report:
        """The report, with `series` also the single batches; what fails without any rule is raised."""
        return assemble(reading, self._catalogue, replace(self._asked, series=series))

    def compare(self, reading: Reading) -> Compared:
        """Each query's newest window against the one before it; InputError where none has two."""
        return compare_readings(reading, None, self._catalogue, self._asked)
