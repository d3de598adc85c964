"""Is a condition of a rule or a step met? Three answers: yes, no, or not known and why."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from advisor.catalogue import Condition
from advisor.facts import CONF, FACTS, conf_number, value_in_words, version_at_least, version_in_words
from advisor.metrics import Estimate, Missing, label, measure, named
from advisor.metrics.units import in_words, number
from advisor.window import Window

VERSIONS: Final = ("spark_version", "databricks_runtime")
"""Facts that can also be known by their bounds."""
BOUNDS: Final = ("at_least", "below")


class Answer(Struct, frozen=True, gc=False):
    """The answer of a condition for a window: `holds` is None if unknown, `because` is why it is not yes.

    `facts`: the facts that it reads. `unknown`: the facts that would settle it. `inferred`: it holds, but only by an
    inferred fact.
    """

    holds: bool | None
    because: str = ""
    facts: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    inferred: bool = False


YES = Answer(True)


class Verdict(Struct, frozen=True, gc=False):
    """Conditions together: no if one is no, yes if all are."""

    answers: tuple[Answer, ...] = ()

    @property
    def holds(self) -> bool | None:
        """Whether all hold; None if unknown."""
        values = [answer.holds for answer in self.answers]
        return False if False in values else None if None in values else True

    @property
    def because(self) -> list[str]:
        """Why it is not yes: the reasons of the answers that decide."""
        wanted = self.holds
        return list(dict.fromkeys(a.because for a in self.answers if a.holds is wanted and a.because))

    @property
    def unknown(self) -> list[str]:
        """Facts that would settle it."""
        return list(dict.fromkeys(name for answer in self.answers for name in answer.unknown))

    @property
    def against(self) -> list[str]:
        """Facts that make the verdict no."""
        return list(dict.fromkeys(name for a in self.answers if a.holds is False for name in a.facts))

    @property
    def inferred(self) -> list[str]:
        """Facts that it rests on that were only inferred."""
        return list(dict.fromkeys(name for a in self.answers if a.inferred for name in a.facts))


def ask_all(conditions: Iterable[Condition], window: Window) -> Verdict:
    """The answers to conditions that must all hold.

    Lines on one fact that are limited to versions or platforms are taken together while version or platform is
    unknown: if every line fails the answer is no whatever the version; if only some fail, it depends.
    """
    lines = list(conditions)
    for line in lines:  # asked of every rule of every run: any() takes twice as long
        if line.limited:
            break
    else:
        return Verdict(tuple([ask(line, window) for line in lines]))
    answers: list[Answer] = []
    question = {line: "version" if line.subject in VERSIONS else line.subject for line in lines}
    for (_, limited), alike in groupby(lines, key=lambda line: (question[line], line.limited)):
        same = list(alike)
        answers += _together(same, window) if limited else [ask(line, window) for line in same]
    return Verdict(tuple(answers))


def _together(lines: list[Condition], window: Window) -> Iterator[Answer]:
    asked = [(line, limit) for line in lines if (limit := _applies(line, window)) is not False]
    answers = [(ask(line, window), limit) for line, limit in asked]
    open_ones = [answer for answer, limit in answers if limit is None]
    all_fail = len(open_ones) > 1 and all(answer.holds is False for answer in open_ones)
    for (line, limit), (answer, _) in zip(asked, answers, strict=True):
        if limit is True or all_fail or answer.holds is not False:
            yield answer
        else:
            yield _depends(line, answer)


def _depends(line: Condition, answer: Answer) -> Answer:
    fact = "spark_version" if line.spark else "platform"
    limit = f"Spark {line.spark}" if line.spark else "/".join(line.platform or ())
    return Answer(None, f"not on {limit}: {answer.because}", (*answer.facts, fact), (fact,))


def _applies(line: Condition, window: Window) -> bool | None:
    """Return whether the line applies to this query's version and platform; None if unknown."""
    limits = [_version_is(window, limit) for limit in line.spark.split(",")] if line.spark else []
    if line.platform is not None:
        known = window.facts.get("platform")
        limits.append(None if known is None else known.value in line.platform)
    return False if False in limits else None if None in limits else True


def _version_is(window: Window, limit: str) -> bool | None:
    reached = reaches(window, "spark_version", limit.lstrip("<>="))
    if reached is None:
        return None
    return reached if limit.startswith(">=") else not reached


def reaches(window: Window, name: str, floor: str) -> bool | None:
    """Return whether the version in the fact `name`, or its known bounds, is `floor` or later."""
    facts = window.facts
    version, least, below = facts.value(name), facts.value(f"{name}_at_least"), facts.value(f"{name}_below")
    if version is not None:
        return version_at_least(str(version), floor)
    if least is not None and version_at_least(str(least), floor):
        return True
    return False if below is not None and version_at_least(floor, str(below)) else None


def known_bounds(window: Window, name: str) -> str | None:
    """Return the bounds of a version in words; None without any bound."""
    return version_in_words(window.facts.value(f"{name}_at_least"), window.facts.value(f"{name}_below"))


def ask(line: Condition, window: Window) -> Answer:
    """Return the answer to one condition, whatever versions it is limited to; each line is answered once per window."""
    answer = window.memo.get(line)
    if answer is None:
        window.memo[line] = answer = _ask_fact(line, window) if line.fact is not None else _ask_metric(line, window)
    return answer  # type: ignore[return-value]


def _ask_fact(line: Condition, window: Window) -> Answer:
    name = line.subject
    known = window.facts.get(name)
    if line.operator == "known":
        return _ask_known(line, known is not None, Missing(f"{name} is not known", name))
    if name in VERSIONS and line.operator in BOUNDS:
        return _ask_version(line, window)
    if known is None or known.origin == "inferred":
        left = window.facts.value(f"{name}_one_of")
        left = left if isinstance(left, list | tuple) else ()  # a person may set anything
        if len({_compare(line, value) for value in left}) == 1:
            return _answered(line, name, left)
    if known is None:
        return Answer(None, _not_known(name), (name,), (name,))
    if name.startswith(CONF) and line.operator in BOUNDS and conf_number(known.value) is None:
        return Answer(None, f"{name} is no number", (name,), (name,))
    answer = _answered(line, name, (known.value,))
    return replace(answer, inferred=True) if known.origin == "inferred" else answer


def _answered(line: Condition, name: str, possible: Sequence[Any]) -> Answer:
    """Return the answer that every possible value of the fact gives."""
    if _compare(line, possible[0]):
        return Answer(True, "", (name,))
    return Answer(False, line.else_ or f"{name} is {' or '.join(map(value_in_words, possible))}", (name,))


def _ask_version(line: Condition, window: Window) -> Answer:
    name = line.subject
    reached = reaches(window, name, str(line.operand))
    if reached is None:
        return Answer(None, _not_known(name), (name,), (name,))
    if reached is (line.operator == "at_least"):
        return Answer(True, "", (name,))
    facts, bounds = window.facts, known_bounds(window, name)
    this = f"{line.else_}; this is {bounds}" if line.else_ else f"{name} is {bounds}"
    version = facts.value(name)
    return Answer(False, this if version is None else line.else_ or f"{name} is {version}", (name,))


def _compare(line: Condition, value: Any) -> bool:
    operand = line.operand
    if line.operator in ("is", "in"):
        possible = operand if line.operator == "in" else (operand,)
        alike = line.subject.startswith(CONF) and str(value).strip().lower() in (str(one).lower() for one in possible)
        return alike or bool(value in possible)  # Spark takes the words of a setting in any case of letters
    if line.subject.startswith(CONF):
        value = conf_number(value)
    elif FACTS[line.subject].kind == "version":
        reached = version_at_least(str(value), str(operand))
        return reached if line.operator == "at_least" else not reached
    compared = operator.ge if line.operator == "at_least" else operator.lt
    return isinstance(value, int | float) and bool(compared(value, float(operand)))


def _ask_metric(line: Condition, window: Window) -> Answer:
    value = measure(window, line.subject, line.stat)
    if line.operator == "known":
        return _ask_known(line, type(value) is not Missing, value)
    if type(value) is Missing:
        return _missing(value)
    unit = named(line.subject).unit
    limit = float(line.operand)
    above, below = value.low >= limit, value.high < limit
    sure, never = (below, above) if line.operator == "below" else (above, below)
    if sure:
        return YES
    words = f"{label(line.subject)}: {in_words(value, unit)}"
    if never:
        return Answer(False, line.else_ or words)
    narrower = (value.fact,) if value.fact else ()
    return Answer(None, f"{words}; the limit {number(limit, unit)} lies between{would_decide(value)}", (), narrower)


def would_decide(value: Estimate) -> str:
    """Return the option that would narrow an interval, or nothing."""
    return f" (--set {value.fact}=... would decide)" if value.fact else ""


def _ask_known(line: Condition, known: bool, value: object) -> Answer:
    if known is bool(line.operand):
        return YES
    if not known and isinstance(value, Missing):
        return _missing(value)
    return Answer(False, line.else_ or f"{line.subject} is known")


def _missing(value: Missing) -> Answer:
    unknown = (value.fact,) if value.fact else ()
    return Answer(None, missing_because(value), unknown, unknown)


def missing_because(value: Missing) -> str:
    """Return why a number is missing, with the option that would give it."""
    return f"{value.reason} (--set {value.fact}=...)" if value.fact else value.reason


def _not_known(name: str) -> str:
    if name in FACTS and not FACTS[name].settable:
        return f"nothing that was read shows {name}"
    return f"{name} is not known (--set {name}=...)"
