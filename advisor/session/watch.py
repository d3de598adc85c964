"""When a finding is worth a word: it appears, worsens or is gone, and stays so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Change = Literal["appeared", "worse", "gone"]

TWICE: Final = 2
"""Judgements in a row that must say so before a finding appears or worsens."""
THRICE: Final = 3
"""Judgements in a row without it before a finding is gone, or with a lower level before that level counts."""
_RANK: Final[Mapping[str | None, int]] = {None: 0, "low": 1, "medium": 2, "high": 3}


@dataclass(frozen=True)
class Notice:
    """What `on_finding` hears. `finding` is the finding as the report has it, the last one seen where it is gone."""

    change: Change
    query: str
    run_id: str
    finding: Mapping[str, Any]

    def __str__(self) -> str:
        """One line."""
        found = self.finding
        if self.change == "gone":
            return f"{self.query}: gone: {found['title']} ({found['rule']})"
        words = "" if self.change == "appeared" else "worse: "
        return f"{self.query}: {words}{found['title']} ({found['rule']}, {found['level']}). {found['says']}"


@dataclass
class _Level:
    """The level that was told of; for how many judgements in a row it has been above it (`rising`) or below."""

    finding: Mapping[str, Any]
    told: str | None = None
    rising: bool | None = None
    times: int = 0


class Watch:
    """The findings of one query between judgements."""

    def __init__(self) -> None:
        self._levels: dict[str, _Level] = {}

    def see(self, entry: Mapping[str, Any], *, final: bool = False) -> list[Notice]:
        """What there is to say after one more judgement; `final`: no other follows, so what it says counts at once."""
        name = entry["name"] or entry["id"]
        found = {f["rule"]: f for f in entry["findings"] if f["explained_by"] is None}
        changes = [(self._step(rule, found.get(rule), final), rule) for rule in self._asked(found)]
        notices = [
            Notice(change, name, entry["run_id"], self._levels[rule].finding) for change, rule in changes if change
        ]
        self._levels = {rule: level for rule, level in self._levels.items() if level.told or level.times}
        return notices

    def _asked(self, found: Iterable[str]) -> list[str]:
        return list(dict.fromkeys([*self._levels, *found]))

    def _step(self, rule: str, finding: Mapping[str, Any] | None, final: bool) -> Change | None:
        level = self._levels.setdefault(rule, _Level(finding or {}))
        if finding is not None:
            level.finding = finding
        now = finding["level"] if finding is not None else None
        if now == level.told:
            level.rising, level.times = None, 0
            return None
        rising = _RANK[now] > _RANK[level.told]
        level.times = level.times + 1 if level.rising is rising else 1
        level.rising = rising
        if not final and level.times < (TWICE if rising else THRICE):
            return None
        return _tell(level, now, rising)


def _tell(level: _Level, now: str | None, rising: bool) -> Change | None:
    before, level.told, level.rising, level.times = level.told, now, None, 0
    if rising:
        return "appeared" if before is None else "worse"
    return "gone" if now is None else None
