"""What is known about one run in the end, and where origins contradict each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from advisor.contract import Conflict, FactEntry
from advisor.facts.derived import Candidates, derive
from advisor.facts.names import EXECUTOR, FACTS, ORIGINS, Known, Merge, Sighting
from advisor.facts.values import check_value, conf_number, same_value
from advisor.vocabulary import CONF


class Facts(Mapping[str, Known]):
    """The facts of one run by name; `conflicts` lists where they contradict each other and what was taken."""

    def __init__(self, known: Mapping[str, Known], conflicts: Iterable[Conflict] = ()) -> None:
        self._known = dict(known)
        self.conflicts = list(conflicts)

    def __getitem__(self, name: str) -> Known:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Facts({self._known}, conflicts={self.conflicts})"

    def get(self, name: str, default: Any = None) -> Any:
        """What is known of this fact, or `default`."""
        # Mapping's own raises and catches an error for each fact that is not known, a hundred times a run
        return self._known.get(name, default)

    def each(self, names: Iterable[str]) -> list[Known | None]:
        """What is known of each of these facts."""
        return [*map(self._known.get, names)]

    def having(self, **more: Known) -> Facts:
        """The same facts and these."""
        return Facts({**self._known, **more}, self.conflicts)

    def value(self, name: str) -> Any:
        """The value, or None when it is not known (or known to be none)."""
        known = self._known.get(name)
        return None if known is None else known.value

    def number(self, name: str) -> float | None:
        """The value as a number; None where it is not known, or is none."""
        value = self.value(name)
        if name.startswith(CONF):
            return conf_number(value)
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

    @property
    def fixed_interval_ms(self) -> float | None:
        """The interval of the trigger, where it has one."""
        return self.number("trigger_interval_ms") if self.value("trigger") == "processing_time" else None


def settle(sightings: Iterable[Sighting], *found: Mapping[str, Known], user: Mapping[str, Any] | None = None) -> Facts:
    """The facts of a run, from the most trusted origin each, with defaults of Spark where their absence was seen.

    `sightings` are those that count for the run, the later ones right (`Evidence.of`); `found` what batches, other
    runs, session or checkpoint showed; `user`: what the user gave.
    """
    candidates = _seen(sightings)
    for known in found:
        for name, (value, origin) in known.items():
            candidates.setdefault(name, {})[origin] = value
    for name, value in (user or {}).items():
        candidates.setdefault(name, {})["user"] = value
    derive(candidates)
    taken = {name: _take(name, by_source) for name, by_source in candidates.items() if not name.startswith(EXECUTOR)}
    return Facts(taken, _conflicts(candidates, taken))


def _seen(rows: Iterable[Sighting]) -> Candidates:
    candidates: Candidates = {}
    for row in rows:
        value = _value(row)
        if not _fits(row.fact, value):
            continue
        by_origin = candidates.setdefault(row.fact, {})
        if by_origin.get(row.origin) is not None:
            value = _merged(row, value, by_origin)
        by_origin[row.origin] = value
    return candidates


def _merged(row: Sighting, value: Any, by_origin: dict[str, Any]) -> Any:
    """Return which counts: the row's value, or the earlier value of the same origin."""
    earlier, merge = by_origin[row.origin], _merge(row.fact)
    if merge == "largest" and (row.origin == "inferred" or "inferred" not in FACTS[row.fact].origins):
        return max(value, earlier)  # what a log says of slots is no lower bound
    if row.fact.startswith(EXECUTOR) and value is None and earlier:
        return earlier  # a second line about the same executor, which names no cores
    if merge == "pinned" and row.run_id and earlier != value:
        by_origin.setdefault("session", earlier)
    return value


def _merge(name: str) -> Merge:
    return FACTS[name].merge if name in FACTS else "later"


def _value(row: Sighting) -> Any:
    try:
        return msgspec.json.decode(row.value)
    except (TypeError, ValueError):
        return row.value


def _fits(name: str, value: Any) -> bool:
    if name.startswith((CONF, EXECUTOR)):
        return True
    return name in FACTS and check_value(FACTS[name], value)


def _take(name: str, by_origin: Mapping[str, Any]) -> Known:
    if len(by_origin) == 1:
        [(origin, value)] = by_origin.items()
        return Known(value, origin)
    trust = FACTS[name].trust if name in FACTS else ORIGINS.index
    found = [origin for origin in by_origin if origin == "user" or by_origin[origin] is not None] or list(by_origin)
    origin = min(found, key=trust)  # of what was seen, "none here" gives way to "one there"
    return Known(by_origin[origin], origin)


def _conflicts(candidates: Candidates, taken: Mapping[str, Known]) -> Iterator[Conflict]:
    """Yield the facts of which two origins differ."""
    for name in sorted(name for name in taken if len(candidates[name]) > 1):
        known, fact = taken[name], FACTS.get(name)
        told = candidates[name]
        values = tuple(FactEntry(value=told[origin], origin=origin) for origin in ORIGINS if origin in told)
        if any(_contradicts(name, known, one) and not same_value(fact, known.value, one.value) for one in values):
            yield Conflict(fact=name, values=values, taken=known.value)
    trigger, kinds = taken.get("trigger"), taken.get("trigger_one_of")
    unseen = {"user", "inferred"}.issuperset(candidates.get("trigger", ()))  # with one that was seen it conflicts above
    if trigger and kinds and trigger.origin == "user" and unseen and trigger.value not in kinds.value:
        said, shown = FactEntry(trigger.value, "user"), FactEntry(" or ".join(kinds.value), kinds.origin)
        yield Conflict(fact="trigger", values=(said, shown), taken=trigger.value)


def _contradicts(name: str, known: Known, other: FactEntry) -> bool:
    """Whether a differing value is a contradiction: a default is none, and a lower bound only when it lies above."""
    if other.origin == "default" or (other.value is None and known.origin != "user"):
        return False
    if other.origin != "inferred":
        return True
    if name == "trigger":
        return bool(other.value != "unspecified")  # an interval that no batch keeps looks the same
    return bool(other.value > known.value) if _merge(name) == "largest" else True
