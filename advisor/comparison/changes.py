"""Which settings and facts differ between two windows."""

from __future__ import annotations

from advisor.contract import FactChange, FactEntry
from advisor.facts import CONF, FACTS, Facts, Known, same_version


def changes(before: Facts, after: Facts) -> tuple[FactChange, ...]:
    """Return what differs, known changes first, then what only one side knows."""
    names = [name for name, fact in FACTS.items() if not fact.outcome]
    names += sorted(name for name in {*before, *after} - set(FACTS) if name.startswith(CONF) and "." in name)
    found = []
    for name in names:
        old, new = before.get(name), after.get(name)
        if not _same(name, old, new):
            sides = [known and FactEntry(value=known.value, origin=known.origin) for known in (old, new)]
            found.append(FactChange(fact=name, before=sides[0], after=sides[1], sure=None not in sides))
    return tuple(sorted(found, key=lambda change: not change.sure))


def _same(name: str, old: Known | None, new: Known | None) -> bool:
    if old is None or new is None:
        return (old or new or Known(None, "")).value is None
    if name in FACTS and FACTS[name].kind == "version":
        return same_version(str(old.value), str(new.value))
    return str(old.value) == str(new.value)
