"""When a finding is worth a word: it appears, worsens or is gone, and stays so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from advisor.contract import Finding, QueryEntry, plain
from advisor.views.clean import clean, no_commands
from advisor.views.first_screen import effort
from advisor.vocabulary import LEVELS, Level

Change = Literal["appeared", "worse", "gone"]

TWICE: Final = 2
"""Judgements in a row that must say so before a finding appears or worsens."""
THRICE: Final = 3
"""Judgements in a row without it before a finding is gone, or with a lower level before that level counts."""
_RANKS: Final[tuple[Level | None, ...]] = (None, *LEVELS)


@dataclass(frozen=True)
class Notice:
    """What `on_finding` hears. `typed` is the finding as the report has it, the last one seen where it is gone."""

    change: Change
    query: str
    run_id: str
    typed: Finding

    @cached_property
    def finding(self) -> dict[str, Any]:
        """The finding as plain data."""
        found: dict[str, Any] = plain(self.typed)
        return found

    def __str__(self) -> str:
        """One line."""
        found = self.typed
        words = f"worse: {found.title}" if self.change == "worse" else found.title
        step = next((f" Step: {step.do} ({effort(step)})." for step in found.steps if step.legal != "no"), "")
        said = f"{words} ({found.rule}, {found.level}). {found.says}{step}"
        return no_commands(clean(f"{self.query}: {f'gone: {words} ({found.rule})' if self.change == 'gone' else said}"))


@dataclass
class _Level:
    """The level of the last notice, and for how many judgements in a row it has been above it (`rising`) or below."""

    finding: Finding
    notified: Level | None = None
    rising: bool | None = None
    times: int = 0


class Watch:
    """The findings of one query between judgements."""

    def __init__(self) -> None:
        self._levels: dict[str, _Level] = {}

    def see(self, entry: QueryEntry, *, final: bool = False) -> list[Notice]:
        """Return the notices after one more judgement; `final`: no other follows, so this one counts at once."""
        name = entry.name or entry.id or entry.run_id
        found = {finding.rule: finding for finding in entry.findings if finding.explained_by is None}
        rules = list(dict.fromkeys([*self._levels, *found]))
        changes = [(self._step(rule, found.get(rule), final), rule) for rule in rules]
        notices = [Notice(change, name, entry.run_id, self._levels[rule].finding) for change, rule in changes if change]
        self._levels = {rule: level for rule, level in self._levels.items() if level.notified or level.times}
        return notices

    def _step(self, rule: str, finding: Finding | None, final: bool) -> Change | None:
        level = self._levels.get(rule)
        if level is None:
            assert finding is not None  # only what is known or found is asked for
            level = self._levels[rule] = _Level(finding)
        level.finding = finding or level.finding
        now = finding.level if finding is not None else None
        if now == level.notified:
            level.rising, level.times = None, 0
            return None
        rising = _RANKS.index(now) > _RANKS.index(level.notified)
        level.times = level.times + 1 if level.rising is rising else 1
        level.rising = rising
        if not final and level.times < (TWICE if rising else THRICE):
            return None
        before, level.notified, level.rising, level.times = level.notified, now, None, 0
        if rising:
            return "appeared" if before is None else "worse"
        return "gone" if now is None else None
