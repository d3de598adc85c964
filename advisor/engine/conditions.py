"""Is a condition of a rule or a step met? Three answers: yes, no, or not known and why."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from advisor.catalogue import Condition
from advisor.facts import FACTS, Known, version_at_least
from advisor.metrics import Missing, measure, named
from advisor.metrics.words import in_words, number
from advisor.window import Window


@dataclass(frozen=True)
class Answer:
    """What a condition says of a window: `holds` is None when it is not known, `because` says why it is not yes.

    `facts`: the facts it was asked of. `unknown`: those whose value would settle it. `inferred`: it holds, but only by
    a fact that was inferred.
    """

    holds: bool | None
    because: str = ""
    facts: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    inferred: bool = False


YES = Answer(True)


@dataclass(frozen=True)
class Verdict:
    """Conditions together: no as soon as one is no, yes when all are."""

    answers: tuple[Answer, ...] = field(default=())

    @property
    def holds(self) -> bool | None:
        """Whether all hold; None where that is not known."""
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
    def inferred(self) -> list[str]:
        """Facts that it rests on and that were only inferred."""
        return list(dict.fromkeys(name for a in self.answers if a.inferred for name in a.facts))


def ask_all(conditions: Iterable[Condition], window: Window) -> Verdict:
    """The answers to conditions that must all hold.

    Lines on one fact that are limited to versions or platforms are taken together while version or platform is not
    known: if every line fails it is no whatever the version, if some do it depends.
    """
    answers: list[Answer] = []
    for _, lines in groupby(conditions, key=lambda line: (line.subject, bool(line.spark or line.platform))):
        answers.extend(_together(list(lines), window))
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
    """Whether the line is asked of this query's version and platform; None where that is not known."""
    limits = [_in_range(window, line.spark), _on_platform(window, line.platform)]
    return False if False in limits else None if None in limits else True


def _on_platform(window: Window, platforms: tuple[str, ...] | None) -> bool | None:
    known = window.facts.get("platform")
    if platforms is None:
        return True
    return None if known is None else known.value in platforms


def _in_range(window: Window, limits: str | None) -> bool | None:
    if limits is None:
        return True
    answers = [_version_is(window, limit) for limit in limits.split(",")]
    return False if False in answers else None if None in answers else True


def _version_is(window: Window, limit: str) -> bool | None:
    floor = limit.lstrip("<>=")
    reached = spark_reaches(window, floor)
    if reached is None:
        return None
    return reached if limit.startswith(">=") else not reached


def spark_reaches(window: Window, floor: str) -> bool | None:
    """Whether this Spark is `floor` or later, by its version or by what only later versions write."""
    version, least = window.facts.get("spark_version"), window.facts.get("spark_version_at_least")
    if version is not None:
        return version_at_least(str(version.value), floor)
    return True if least is not None and version_at_least(str(least.value), floor) else None


def ask(line: Condition, window: Window) -> Answer:
    """The answer to one condition, whatever versions it is limited to."""
    return _ask_fact(line, window) if line.fact is not None else _ask_metric(line, window)


def _ask_fact(line: Condition, window: Window) -> Answer:
    name = line.subject
    known = window.facts.get(name)
    if line.operator == "known":
        return _ask_known(line, known is not None, Missing(f"{name} is not known", name))
    if name == "spark_version" and line.operator == "at_least":
        return _ask_version(line, window)
    if known is None:
        return Answer(None, _not_known(name), (name,), (name,))
    if _compare(line, known):
        return Answer(True, "", (name,), inferred=known.source == "inferred")
    return Answer(False, line.else_ or f"{name} is {_said(known.value)}", (name,), inferred=known.source == "inferred")


def _ask_version(line: Condition, window: Window) -> Answer:
    reached = spark_reaches(window, str(line.operand))
    if reached is None:
        return Answer(None, _not_known("spark_version"), ("spark_version",), ("spark_version",))
    version = window.facts.get("spark_version") or window.facts.get("spark_version_at_least")
    otherwise = line.else_ or f"spark_version is {version.value if version else 'older'}"
    return Answer(reached, "" if reached else otherwise, ("spark_version",))


def _compare(line: Condition, known: Known) -> bool:
    value, operand = known.value, line.operand
    if line.operator == "is":
        return bool(value == operand)
    if line.operator == "in":
        return value in operand
    if FACTS[line.subject].kind == "version":
        reached = version_at_least(str(value), str(operand))
        return reached if line.operator == "at_least" else not reached
    compared = operator.ge if line.operator == "at_least" else operator.lt
    return value is not None and bool(compared(float(value), float(operand)))


def _ask_metric(line: Condition, window: Window) -> Answer:
    value = measure(window, line.subject, line.stat)
    if line.operator == "known":
        return _ask_known(line, not isinstance(value, Missing), value)
    if isinstance(value, Missing):
        unknown = (value.fact,) if value.fact else ()
        return Answer(None, missing_because(value), unknown, unknown)
    unit = named(line.subject).unit
    limit = float(line.operand)
    sure, never = (value.low >= limit, value.high < limit)
    if line.operator == "below":
        sure, never = value.high < limit, value.low >= limit
    if sure:
        return YES
    words = f"{line.subject} is {in_words(value, unit)}"
    if never:
        return Answer(False, line.else_ or words)
    return Answer(None, f"{words}, the limit {number(limit, unit)} lies between", (), _open_facts(window))


def _open_facts(window: Window) -> tuple[str, ...]:
    return () if window.facts.get("task_slots") else ("task_slots",)


def _ask_known(line: Condition, known: bool, value: object) -> Answer:
    if known is bool(line.operand):
        return YES
    if not known and isinstance(value, Missing):
        unknown = (value.fact,) if value.fact else ()
        return Answer(None, missing_because(value), unknown, unknown)
    return Answer(False, line.else_ or f"{line.subject} is known")


def missing_because(value: Missing) -> str:
    """Why a number is missing, with the option that would give it."""
    return f"{value.reason} (--set {value.fact}=...)" if value.fact else value.reason


def _not_known(name: str) -> str:
    return f"{name} is not known (--set {name}=...)"


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "none" if value is None else str(value)
