"""What the user gives and wants for each query: from the options first, then from advisor.yaml."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from advisor.catalogue import Catalogue
from advisor.catalogue.plain import in_words, read_plain
from advisor.catalogue.rule import LARGEST, Rule, ordered
from advisor.contract import Silenced
from advisor.errors import CatalogueError, UsageError, did_you_mean, short
from advisor.facts import fact_named, parse_user_fact, read_value, value_in_words
from advisor.facts.evidence import Run
from advisor.redaction import redact
from advisor.vocabulary import LEVELS, Level

NAME = "advisor.yaml"

UserFact = tuple[str | None, str, Any]
_Limit = Annotated[float, Field(ge=0, le=LARGEST, strict=True)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Ignore(_Model):
    """A rule that is silenced for the queries whose name or id `query` names (a glob), until a day or for good."""

    rule: Words
    query: Words = "*"
    reason: Annotated[Words, AfterValidator(redact)]
    until: date | None = None

    def expired(self, today: date) -> bool:
        """Whether the last day on which it holds is over."""
        return self.until is not None and today > self.until


def _order(rule: Rule) -> str:
    levels = ", ".join(f"{level} {limit:g}" for level, limit in rule.levels.items())
    return f"levels must {'fall' if rule.falling else 'rise'} from low to high, as the rule's do: {levels}"


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    wrong, read = list[str](), dict[str, Any]()
    for name, value in facts.items():
        try:
            fact = fact_named(name, place="")
            if fact.kind == "version" and not isinstance(value, str):
                wrong.append(f"{name}: write the version in quotes, YAML reads {value!r} as a number")
            else:
                read[name] = read_value(fact, "null" if value is None else value_in_words(value), place="")
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("; ".join(wrong))
    return read


class QueryConfig(_Model):
    """What is wanted of a query and known about it: its latency target, its levels by rule id, its facts."""

    latency_target_ms: float | None = Field(None, ge=1, le=1e12, strict=True)
    levels: dict[str, Annotated[dict[Level, _Limit], AfterValidator(ordered)]] = Field(default_factory=dict)
    facts: Annotated[dict[str, Any], AfterValidator(_facts)] = Field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        """Every fact that it gives, the latency target among them."""
        target = {} if self.latency_target_ms is None else {"latency_target_ms": self.latency_target_ms}
        return self.facts | target


_NOTHING: Final = QueryConfig.model_construct()
"""What is said of a query that no configuration names."""


class Config(_Model):
    """One advisor.yaml, or nothing at all."""

    ignore: tuple[Ignore, ...] = ()
    queries: dict[str, QueryConfig] = Field(default_factory=dict)

    def ignored(self, *names: str | None, over: bool = False, today: date | None = None) -> dict[str, Ignore]:
        """By rule, what silences it today for the query with these names or ids; `over`: what did so before."""
        found: dict[str, Ignore] = {}
        for entry in self.ignore:
            is_meant = any(name and fnmatchcase(name, entry.query) for name in names)
            if is_meant and entry.expired(today or date.today()) is over:
                found.setdefault(entry.rule, entry)
        return found

    def query(self, *names: str | None) -> QueryConfig:
        """What is said of the query with these names or ids; the empty configuration if nothing is."""
        found = (self.queries[name] for name in names if name and name in self.queries)
        return next(found, _NOTHING)

    def check_rules(self, known: Mapping[str, Rule], place: str = NAME) -> None:
        """CatalogueError naming every rule id that is not `known`, with a suggestion, and levels of the wrong order."""
        named = {f"ignore.{nth}.rule": entry.rule for nth, entry in enumerate(self.ignore)}
        named |= {f"queries.{name}.levels": rule for name, query in self.queries.items() for rule in query.levels}
        wrong = [
            f"{place}: {key}: no rule '{rule}'{_near(rule, known)}" for key, rule in named.items() if rule not in known
        ]
        wrong += [
            f"{place}: queries.{name}.levels.{rule}: {_order(known[rule])}"
            for name, query in self.queries.items()
            for rule, levels in query.levels.items()
            if rule in known and (limits := list(levels.values())) != sorted(limits, reverse=known[rule].falling)
        ]
        if wrong:
            raise CatalogueError("", "\n".join(wrong))


def load(path: Path | str | None, rules: Mapping[str, Rule] | None = None) -> Config:
    """The configuration in a file (empty without one), its rule ids checked against `rules` if they are given.

    CatalogueError names everything that is wrong with it, a line each; UsageError if it cannot be read.
    """
    if path is None:
        return Config.model_construct()  # nothing to check, which takes as long as a small log
    try:
        config = _read(Path(path))
    except (OSError, ValueError) as error:  # a null byte is a ValueError
        found = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"config {path}", found, "name a file that can be read") from None
    if rules is not None:
        config.check_rules(rules, str(path))
    return config


def find(paths: Iterable[str]) -> Path | None:
    """The advisor.yaml beside the logs: in the directory that is given, or in the one of a file; None without one."""
    for given in paths:
        place = Path(given)
        beside = (place if os.path.isdir(place) else place.parent) / NAME  # noqa: PTH112 - Path raises
        if "://" not in given and given != "-" and os.path.isfile(beside):  # noqa: PTH113 - for too long names
            return beside
    return None


def _read(path: Path) -> Config:
    content, problems = read_plain(path)
    wrong = [": ".join(filter(None, (str(path), *problem))) for problem in problems]
    keys = content if isinstance(content, dict) else ()
    if not all(str(key).isalnum() or str(key).isidentifier() for key in keys):  # no line of such a file is repeated
        raise CatalogueError(str(path), "is no configuration", "it may have 'ignore' and 'queries'")
    if not wrong and not isinstance(content, dict | None):
        raise CatalogueError(str(path), "has no keys", "it may have 'ignore' and 'queries'")
    given = {key: value for key, value in (content or {}).items() if value is not None}  # a key of which all is comment
    config = Config()
    try:
        config = Config.model_validate(given)
    except ValidationError as error:
        found = error.errors()
        wrong += [f"{path}: {_problem(one)}" for one in found[:_MOST_TOLD]]
        wrong += [f"{path}: {len(found) - _MOST_TOLD:,} others"] * (len(found) > _MOST_TOLD)
    if wrong:
        raise CatalogueError("", "\n".join(wrong))
    return config


_MOST_TOLD = 20
"""Mistakes of a file that are told."""
_KEYS: dict[str, list[str]] = {"": [*Config.model_fields], "ignore": [*Ignore.model_fields]}
"""The keys that may stand below the first one; below `queries` those of a query."""


def _problem(found: Any) -> str:
    key = ".".join(" ".join(str(part).split()) for part in found["loc"] if part != "[key]")
    if found["type"] == "extra_forbidden":
        *above, name = map(str, found["loc"])
        known = _KEYS.get("".join(above[:1]), [*QueryConfig.model_fields, *LEVELS])
        return f"{key}: no key {short(name)} here{_near(name, known)}"
    if found["type"] == "missing":
        return f"{key}: is missing"
    return f"{key}: {in_words(found)}"


def _near(name: str, known: Collection[str]) -> str:
    said = did_you_mean(name, known, f"known are {', '.join(sorted(known))}" if len(known) < 12 else "")
    return said and f"; {said}"


@dataclass(frozen=True)
class UserWishes:
    """Facts, silenced rules and levels by query; a query is named by its name, its id or a run's id."""

    config: Config
    given: Sequence[UserFact]

    def facts(self, run: Run) -> Mapping[str, Any]:
        """Facts that the user gives for this run; those for one query before those for all."""
        everyone = {name: value for query, name, value in self.given if query is None}
        this = {name: value for query, name, value in self.given if query is not None and query in _names(run)}
        return {**self.config.query(*_names(run)).given, **everyone, **this}

    def silenced(self, run: Run) -> list[Silenced]:
        """Rules that are not to be judged for it, with reasons."""
        meant = self.config.ignored(*_names(run)).values()
        return [Silenced(one.rule, one.reason, one.until.isoformat() if one.until else None) for one in meant]

    def levels(self, run: Run) -> Mapping[str, Mapping[Level, float]]:
        """Levels that replace those of a rule."""
        return self.config.query(*_names(run)).levels

    def unmatched(self, queries: Iterable[tuple[str | None, ...]]) -> tuple[str, ...]:
        """The names and patterns of advisor.yaml that fit none of these queries; none where there is no query."""
        known = {name for names in queries for name in names if name}
        meant = [name for name in self.config.queries if name not in known]
        meant += [one.query for one in self.config.ignore if not any(fnmatchcase(name, one.query) for name in known)]
        return tuple(dict.fromkeys(map(redact, meant))) if known else ()

    def notes(self, run: Run) -> tuple[str, ...]:
        """Silences whose last day is over: they are not applied any more."""
        over = self.config.ignored(*_names(run), over=True).values()
        return tuple(f"Ignoring {one.rule} ended on {one.until} ({one.reason}): it is judged again." for one in over)


def refuse_no_count(name: str, number: object, of: str) -> None:
    """Raise UsageError where a parameter is not a number of at least 1 of these."""
    if not (isinstance(number, int) and number >= 1):
        raise UsageError(f"{name}={number!r}", f"is no count of {of}", "give 1 or more")


def listed(option: str, given: Any, would_do: str = "give a text, or a list of texts") -> list[str]:
    """Return the texts or paths, one or several, that an option was given; UsageError for anything else."""
    is_one = isinstance(given, str | bytes | os.PathLike | Mapping) or getattr(given, "ndim", 1) != 1  # a data frame
    several = [*given] if isinstance(given, Iterable) and not is_one else [given]
    if wrong := [one for one in several if not isinstance(one, str | os.PathLike)]:
        raise UsageError(option, f"{type(wrong[0]).__name__} is neither a text nor a path", would_do)
    return [str.__str__(os.fsdecode(one)) for one in several]  # of an Enum its value


def user_wishes(
    set: Iterable[str], place: str | Path | None, beside: Iterable[str], catalogue: Catalogue
) -> UserWishes:
    """Wishes from `fact=value` texts and the advisor.yaml at `place`, or else the one beside these paths."""
    found = find(beside) if place is None else Path(*listed("config", [place], "give the path of an advisor.yaml"))
    return UserWishes(load(found, catalogue.rules), _given(listed("set", set)))


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
