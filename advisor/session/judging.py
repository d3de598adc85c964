"""The same judge as for logs, with a rule that fails kept from taking the others with it."""

from __future__ import annotations

from collections.abc import Callable

from advisor.batches import Reading
from advisor.catalogue import Catalogue
from advisor.report import Asked, Report, assemble
from advisor.report.assemble import Wishes
from advisor.report.comparing import Compared, compare_readings


class Judging:
    """Judges what was read by a catalogue; `trouble` hears of rules that fail, which are then left out."""

    def __init__(self, catalogue: Catalogue, wishes: Wishes, trouble: Callable[[str], None]) -> None:
        self._catalogue, self._asked, self._trouble = catalogue, Asked(wishes=wishes), trouble

    def report(self, reading: Reading) -> Report:
        """The report; what fails without any rule is raised."""
        try:
            return assemble(reading, self._catalogue, self._asked)
        except Exception:  # found below, rule by rule
            return self._without_failing(reading)

    def compare(self, reading: Reading) -> Compared:
        """Each query's newest window against the one before it; InputError where none has two."""
        return compare_readings(reading, None, self._catalogue, self._asked)

    def _without_failing(self, reading: Reading) -> Report:
        assemble(reading, Catalogue({}, self._catalogue.steps), self._asked)
        sound = {id: rule for id, rule in self._catalogue.rules.items() if self._works(id, reading)}
        self._catalogue = Catalogue(sound, self._catalogue.steps)
        return assemble(reading, self._catalogue, self._asked)

    def _works(self, id: str, reading: Reading) -> bool:
        alone = Catalogue({id: self._catalogue.rules[id]}, self._catalogue.steps)
        try:
            assemble(reading, alone, self._asked)
        except Exception as error:
            self._trouble(f"rule {id}: {type(error).__name__}: {error}")
            return False
        return True
