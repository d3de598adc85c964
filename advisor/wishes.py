"""What the user gives and wants for each query: from the options first, then from advisor.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor import config
from advisor.catalogue import Catalogue
from advisor.engine import Silenced
from advisor.errors import UsageError
from advisor.facts import parse_user_fact
from advisor.facts.evidence import Run
from advisor.vocabulary import Level

UserFact = tuple[str | None, str, Any]


@dataclass(frozen=True)
class UserWishes:
    """Facts, silenced rules and levels by query; a query is named by its name, its id or a run's id."""

    config: config.Config
    given: Sequence[UserFact]

    def facts(self, run: Run) -> Mapping[str, Any]:
        """Facts that the user gives for this run; those for one query before those for all."""
        everyone = {name: value for query, name, value in self.given if query is None}
        this = {name: value for query, name, value in self.given if query is not None and query in _names(run)}
        return {**self.config.query(*_names(run)).given, **everyone, **this}

    def silenced(self, run: Run) -> list[Silenced]:
        """Rules that are not to be judged for it, with reasons."""
        meant = (self.config.ignored(rule, *_names(run)) for rule in self._ignored_rules())
        return [Silenced(e.rule, e.reason, e.until.isoformat() if e.until else None) for e in meant if e]

    def levels(self, run: Run) -> Mapping[str, Mapping[Level, float]]:
        """Levels that replace those of a rule."""
        return self.config.query(*_names(run)).levels

    def notes(self, run: Run) -> tuple[str, ...]:
        """Silences whose last day is over: they are not applied any more."""
        over = (self.config.expired(rule, *_names(run)) for rule in self._ignored_rules())
        return tuple(f"Ignoring {e.rule} ended on {e.until} ({e.reason}): it is judged again." for e in over if e)

    def _ignored_rules(self) -> Iterable[str]:
        """Each once, however many entries speak of it."""
        return dict.fromkeys(entry.rule for entry in self.config.ignore)


def user_wishes(
    set: Iterable[str], place: str | Path | None, beside: Iterable[str], catalogue: Catalogue
) -> UserWishes:
    """Wishes from `fact=value` texts and the advisor.yaml at `place`, or else the one beside these paths."""
    found = Path(place) if place is not None else config.find(beside)
    return UserWishes(config.load(found, catalogue.rules), _given(set))


def _given(texts: Iterable[str]) -> list[UserFact]:
    """The facts in these texts; UsageError where two contradict each other."""
    given: dict[tuple[str | None, str], Any] = {}
    for text in texts:
        query, name, value = parse_user_fact(text)
        if given.setdefault((query, name), value) != value:
            raise UsageError(
                f"--set {text}", f"{name} is given twice, as {given[query, name]} and {value}", "give it once"
            )
    return [(query, name, value) for (query, name), value in given.items()]


def _names(run: Run) -> tuple[str | None, ...]:
    return run.name, run.id, run.run_id
