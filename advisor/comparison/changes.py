"""Which settings and facts differ between two windows."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.contract import FactChange, FactEntry
from advisor.facts import CONF, FACTS, Facts, Known, same_version


@dataclass(frozen=True)
class Change:
    """One fact that differs; `None` if one side does not know it."""

    fact: str
    before: Known | None
    after: Known | None

    @property
    def sure(self) -> bool:
        """Whether both sides know it, so that it did change."""
        return self.before is not None and self.after is not None

    def entry(self) -> FactChange:
        """Return it as the report holds it."""
        return FactChange(fact=self.fact, before=_told(self.before), after=_told(self.after), sure=self.sure)


def changes(before: Facts, after: Facts) -> tuple[Change, ...]:
    """Return what differs, known changes first, then what only one side knows."""
    names = [name for name, fact in FACTS.items() if not fact.outcome]
    names += sorted({*before, *after} - set(FACTS))
    found = [Change(name, before.get(name), after.get(name)) for name in names if _is_setting(name)]
    differing = [change for change in found if not _same(change)]
    return tuple(sorted(differing, key=lambda change: not change.sure))


def _is_setting(name: str) -> bool:
    return name in FACTS or (name.startswith(CONF) and "." in name)


def _same(change: Change) -> bool:
    old, new = change.before, change.after
    if old is None or new is None:
        return (old or new or Known(None, "")).value is None
    if change.fact in FACTS and FACTS[change.fact].kind == "version":
        return same_version(str(old.value), str(new.value))
    return str(old.value) == str(new.value)


def _told(known: Known | None) -> FactEntry | None:
    return None if known is None else FactEntry(value=known.value, origin=known.origin)
