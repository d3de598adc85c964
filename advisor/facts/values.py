"""Values of facts: read from text, checked, compared."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from advisor.errors import UsageError, did_you_mean
from advisor.facts.names import FACTS, Fact
from advisor.facts.versions import is_version, may_be_spark, same_version
from advisor.redaction import redact

_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_NOTHING = ("null", "none")
_MOST: dict[str, float] = {"ms": 1e12, "min": 1e6, "tasks": 1e6, "": 1e6}
"""By unit, what nothing that a person means exceeds: without one it is a count. Rows are Java's long at most."""
_FILE = re.compile(r"^file:/+")
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_DIGITS = re.compile(r"[+-]?\d[\d_]{0,30}", re.ASCII)


def parse_user_fact(text: str) -> tuple[str | None, str, Any]:
    """(query or None, fact, value) of `fact=value` or `QUERY:fact=value`; UsageError with a suggestion otherwise.

    QUERY may be a query's name, id or run id and may hold colons.
    """
    left, equals, value = text.partition("=")
    query, colon, name = left.rpartition(":")
    if not equals or not name.strip():
        raise UsageError(f"--set {text}", "is not of the form fact=value", "for instance --set stateful=false")
    if colon and not query.strip():
        raise UsageError(f"--set {text}", "names no query before the colon", f"write --set {left[1:]}={value} for all")
    fact = fact_named(name.strip(), place=f"--set {text}")
    return query.strip() or None, fact.name, read_value(fact, value.strip(), place=f"--set {text}")


def conf_number(value: object) -> float | None:
    """Return the number that a configuration value is; None where it is none ("10s", "true")."""
    text = str(value).strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def fact_named(name: str, *, place: str) -> Fact:
    """The fact of that name, which a person gives; UsageError where there is none, or where it is observed only."""
    if name not in FACTS:
        raise UsageError(
            place, f"no fact {name!r}", did_you_mean(name, FACTS, "`latency-advisor facts list` names them")
        )
    fact = FACTS[name]
    if not fact.settable:
        raise UsageError(place, f"{name} cannot be set, it can only be observed", f"it is found in: {fact.where}")
    return fact


def read_value(fact: Fact, text: str, *, place: str) -> Any:
    """The value that `text` stands for; UsageError when the fact cannot have it."""
    if fact.nullable and text.lower() in _NOTHING:
        return None
    if fact.kind == "choice":
        if text.lower() in fact.values:
            return text.lower()
        known = "one of " + ", ".join(fact.values)
        raise UsageError(place, f"{fact.name} cannot be {text!r}", did_you_mean(text.lower(), fact.values, known))
    value = _READERS[fact.kind](text)
    if value is None:
        wanted = _WANTED[fact.kind] + ", or none" * fact.nullable
        raise UsageError(place, f"{fact.name} cannot be {text!r}", f"give {wanted}")
    most = fact.maximum or _MOST.get(fact.unit, 2**63 - 1)
    between = f"give {fact.minimum:g} to {most:,.0f}" if fact.maximum else ""
    if fact.minimum is not None and value < fact.minimum:
        raise UsageError(place, f"{fact.name} cannot be {text!r}", between or f"give at least {fact.minimum:g}")
    if isinstance(value, int | float) and value > most:
        raise UsageError(place, f"{fact.name} cannot be {text!r}", between or f"give at most {most:,.0f}")
    if fact.name in ("spark_version", "upgrade_to") and not may_be_spark(value):
        raise UsageError(place, f"there is no Spark {text}", f"give {_WANTED['version']}")
    return value


def check_value(fact: Fact, value: Any) -> bool:
    """Whether a value that something other than a user reported fits the fact."""
    if value is None:
        return fact.nullable
    if fact.kind == "choice":
        return value in fact.values
    if fact.kind == "choices":
        return isinstance(value, list | tuple) and set(value) <= set(fact.values)
    if fact.kind in ("str", "version"):
        return isinstance(value, str)
    if fact.kind == "bool":
        return isinstance(value, bool)
    wanted = int if fact.kind == "int" else (int, float)
    return isinstance(value, wanted) and not isinstance(value, bool) and value >= (fact.minimum or 0)


def value_in_words(value: object) -> str:
    """A value as YAML and options write it; none, if it is known that there is none."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def same_value(fact: Fact | None, one: Any, other: Any) -> bool:
    """Whether two sources say the same; versions agree as far as both say."""
    if fact is not None and fact.kind == "version" and one and other:
        return same_version(one, other)
    if fact is not None and fact.name == "checkpoint_path" and one and other:
        return _FILE.sub("/", one).rstrip("/") == _FILE.sub("/", other).rstrip("/")
    return bool(one == other)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


_READERS: dict[str, Callable[[str], Any]] = {
    "bool": lambda text: _WORDS.get(text.lower()),
    "int": lambda text: int(text.replace("_", "")) if _DIGITS.fullmatch(text) else None,
    "number": _number,
    "str": lambda text: redact(text) or None,
    "version": lambda text: text if is_version(text) else None,
}
_WANTED = {
    "bool": "true or false",
    "int": "a whole number",
    "number": "a number",
    "str": "some text",
    "version": "a version such as 3.5.1",
}
