"""Read rule files as models, and find every problem in them with its file and key, those behind the types too."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from msgspec.structs import fields
from pydantic import BaseModel, ValidationError

from advisor.catalogue.condition import Condition, Model
from advisor.catalogue.example import Batches, Every, Example, Expect, SourceShort
from advisor.catalogue.plain import in_words, read_plain
from advisor.catalogue.rule import FAMILIES, RETIRED, Measure, RuleBody, Seen, WrittenRule
from advisor.catalogue.step import Borrowed, Change, Saves, SharedStep, Stage, Trigger, Use, WrittenStep
from advisor.errors import did_you_mean, short
from advisor.facts import CONF, FACTS, Fact, check_value, from_conf, is_version
from advisor.metrics import METRICS, STATS, AnyMetric
from advisor.progress.shapes import Operator
from advisor.window import PHASES

_TAGS = ("step", "use", "text")  # what pydantic adds to a place for the kind of a step
_MODELS: tuple[type[BaseModel], ...] = (
    WrittenRule, SharedStep, Condition, Measure, Seen, Change, Saves, Stage, Trigger, Borrowed,
    Batches, Every, Example, Expect, SourceShort,
)  # fmt: skip
_KEYS_ON_TOP = {field.alias or name for kind in (WrittenRule, SharedStep) for name, field in kind.model_fields.items()}
_KEYS = sorted({field.alias or name for model in _MODELS for name, field in model.model_fields.items()} | {"id"})
ROW = {"triggerExecution", "numInputRows", *PHASES.values()}
OPERATOR = {field.encode_name for field in fields(Operator)}
_BRACES = re.compile(r"\{([^{}]*)\}")
Found = Iterator[tuple[str, str]]
"""Key and text of problems in one file."""


@dataclass(frozen=True)
class Problem:
    """What is wrong, in which file, at which key."""

    file: str
    key: str
    text: str

    def __str__(self) -> str:
        return " ".join(": ".join(part for part in (self.file, self.key, self.text) if part).splitlines())


@dataclass(frozen=True)
class Written:
    """One file of the catalogue: a rule or a shared step."""

    file: str
    path: Path
    content: WrittenRule | SharedStep


def read(path: Path, file: str) -> Written | list[Problem]:
    """The rule or shared step that a file holds, or what is wrong with it."""
    try:
        content, wrong = read_plain(path)
    except OSError as error:
        return [Problem(file, "", " ".join(str(error).split()))]
    problems = [Problem(file, line, text) for line, text in wrong]
    if problems and content is None:
        return problems
    if not isinstance(content, dict) or not _KEYS_ON_TOP.intersection(content):  # no line of such a file is repeated
        return [Problem(file, "", "contains no rule; a rule starts with 'id:', a shared step with 'step:'")]
    kind: type[WrittenRule | SharedStep] = SharedStep if "step" in content else WrittenRule
    try:
        return problems or Written(file, path, kind.model_validate(content))
    except ValidationError as error:
        # An item that pydantic leaves out for a fault of its own is then missing in its list, too: one fault, one line.
        faults = [one for one in error.errors() if one["type"] != "too_short" or not one["input"]]
        return problems + [_problem(file, one) for one in faults]


def suggestion(name: str, known: Any) -> str:
    """ "; did you mean 'x'?" where a known name is near, else nothing."""
    said = did_you_mean(name, known)
    return said and f"; {said}"


def _problem(file: str, error: Any) -> Problem:
    place = list(_place(error["loc"]))
    key = ".".join(place)
    if error["type"] == "extra_forbidden":
        return Problem(file, key, f"no key '{place[-1]}' here" + suggestion(place[-1], _KEYS))
    if error["type"] == "missing":
        return Problem(file, key, "is missing")
    found = "" if error["type"] == "value_error" else f", not {reprlib.repr(error['input'])}"
    return Problem(file, key, in_words(error) + found)


def _place(loc: tuple[str | int, ...]) -> Iterator[str]:
    """The keys of a place without the kinds of step and undo that pydantic puts in between."""
    for before, part in zip((None, *loc), loc, strict=False):
        if not (part in _TAGS and (isinstance(before, int) or before == "undo")):
            yield str(part)


def check(written: Sequence[Written]) -> list[Problem]:
    """Everything that is wrong with files that can be read, file by file."""
    steps = {step.id for each in written for _, step in steps_of(each.content)}
    rules = {each.content.id for each in written if isinstance(each.content, WrittenRule)}
    problems = [
        Problem(each.file, key, text)
        for each in written
        for key, text in (*_file(each), *_content(each.content, rules, steps))
    ]
    return [*problems, *_twice(written), *_circle(written)]


def steps_of(content: WrittenRule | SharedStep) -> list[tuple[str, WrittenStep]]:
    """Return the steps that a file itself holds, each with the beginning of its keys."""
    if isinstance(content, SharedStep):
        return [("", content)]
    return [(f"steps.{n}.", step) for n, step in enumerate(content.steps) if isinstance(step, WrittenStep)]


def _circle(written: Iterable[Written]) -> Iterator[Problem]:
    """Yield that rules explain each other in a circle: each of their findings would be folded under another one."""
    rules = [(each.content, each.file) for each in written if isinstance(each.content, WrittenRule)]
    try:
        TopologicalSorter({rule.id: rule.explains for rule, _ in rules}).prepare()
    except CycleError as error:
        circle = error.args[1]
        file = next(file for rule, file in rules if rule.id == circle[0])
        yield Problem(file, "explains", f"a circle: {' <- '.join(circle)}")


def _twice(written: Iterable[Written]) -> Iterator[Problem]:
    seen: dict[tuple[str, str], str] = {}
    for each in written:
        named = [("step", step.id) for _, step in steps_of(each.content)]
        named += [("rule", each.content.id)] if isinstance(each.content, WrittenRule) else []
        for what in named:
            if what in seen:
                yield Problem(each.file, "id", f"{what[0]} '{what[1]}' stands in {seen[what]} already")
            seen.setdefault(what, each.file)


def _file(each: Written) -> Found:
    name, folder = each.path.name, each.path.parent.name
    if isinstance(each.content, SharedStep):
        if name != f"{each.content.id}.yaml":
            yield "step", f"the file of this step is called {each.content.id}.yaml"
        return
    rule = each.content
    if name != f"{rule.id}-{rule.slug}.yaml":
        yield "id", f"the file of this rule is called {rule.id}-{rule.slug}.yaml"
    family = FAMILIES.get(rule.id[:2])
    if family and folder in FAMILIES.values() and folder != family:
        yield "id", f"rules {rule.id[:2]}… lie in the folder {family}"
    if rule.id in RETIRED:
        yield "id", f"{rule.id} was used for '{RETIRED[rule.id]}' and is never used again"


def _content(content: WrittenRule | SharedStep, rules: set[str], steps: set[str]) -> Found:
    if isinstance(content, WrittenRule):
        yield from _rule(content, rules, steps)
    for prefix, step in steps_of(content):
        for key, text in _step(step, steps):
            yield prefix + key, text


def _rule(rule: WrittenRule, rules: set[str], steps: set[str]) -> Found:
    if rule.measure:
        yield from _metric("measure", rule.measure.metric, rule.measure.stat)
    facts = (("seen", rule.seen), ("choice", rule.choice))
    yield from ((f"{key}.fact", _no_fact(named.fact)) for key, named in facts if named and named.fact not in FACTS)
    for key in ("requires", "unless"):
        yield from _conditions(key, getattr(rule, key))
    if rule.loses:
        yield from _loses(rule.loses)
    for key in ("explains", "overlaps"):
        for n, other in enumerate(getattr(rule, key)):
            if other not in rules:
                yield f"{key}.{n}", f"no rule '{other}'{suggestion(other, rules)}"
    for n, step in enumerate(rule.steps):
        if isinstance(step, Borrowed):
            if step.use not in steps:
                yield f"steps.{n}.use", f"no step {short(step.use)}{suggestion(step.use, steps)}"
            for key, text in _asks(step):
                yield f"steps.{n}.{key}", text
    for key in ("title", "says", "why", "adds", "without_steps"):
        yield from _placeholders(key, getattr(rule, key))
    sentences = ((f"{key}.{n}", one) for key in ("adds", "without_steps") for n, one in enumerate(getattr(rule, key)))
    for place, one in sentences:
        yield from _conditions(f"{place}.when", one.when)
    yield from _examples(rule)


def _step(step: WrittenStep, steps: set[str]) -> Found:
    yield from _asks(step)
    if step.saves:
        yield from _promise("saves", step.saves)
    if isinstance(step.undo, Use) and step.undo.use not in steps:
        yield "undo.use", f"no step {short(step.undo.use)}{suggestion(step.undo.use, steps)}"
    for key in ("do", "undo", "costs", "check", "change", "stages"):
        yield from _placeholders(key, getattr(step, key))


def _asks(step: WrittenStep | Borrowed) -> Found:
    for key in ("unless", "when", "legal"):
        yield from _conditions(key, getattr(step, key))
    yield from ((f"legal.{n}.else", "is missing") for n, line in enumerate(step.legal) if line.else_ is None)


def _promise(key: str, saves: Saves) -> Found:
    yield from _metric(key, saves.metric, saves.stat)
    metric = METRICS.get(saves.metric)
    if metric and not metric.promises_ms:
        yield f"{key}.metric", f"'{metric.name}' is no wall time in ms, so it cannot promise milliseconds"


def _loses(name: str) -> Found:
    metric = METRICS.get(name)
    if metric is None:
        yield "loses", f"no metric '{name}'{suggestion(name, METRICS)}"
    elif not metric.promises_ms:
        yield "loses", f"'{name}' is no wall time in ms"


def _metric(key: str, name: str, stat: str | None) -> Found:
    metric = METRICS.get(name)
    if metric is None:
        yield f"{key}.metric", f"no metric '{name}'{suggestion(name, METRICS)}"
    elif stat is None and metric.per == "batch":
        yield f"{key}.stat", f"'{name}' has one value per batch; give one of {', '.join(_stats(metric))}"
    elif stat is not None and stat not in _stats(metric):
        yield f"{key}.stat", f"'{name}' is one value of the window; leave 'stat' out"


def _stats(metric: AnyMetric) -> Sequence[str]:
    if metric.per == "batch":
        return STATS
    return ("p50", "p99") if metric.time == "latency" else ()


def _conditions(key: str, lines: Iterable[Condition]) -> Found:
    for n, line in enumerate(lines):
        place = f"{key}.{n}"
        if line.metric:
            yield from _metric(place, line.metric, line.stat)
            wrong = _wrong_for_metric(line)
        else:
            wrong = _wrong_for_fact(line)
        if wrong:
            yield place, wrong
        yield from _placeholders(f"{place}.else", line.else_)


def _wrong_for_metric(line: Condition) -> str | None:
    if line.operator in ("is", "in"):
        return "a metric is compared by at_least, below or known"
    return None if isinstance(line.operand, int | float) else f"{line.operator} of a metric is a number"


def _wrong_for_fact(line: Condition) -> str | None:
    name = line.fact or ""
    if name.startswith(CONF):
        if not any(kept == name for kept, _ in from_conf(name.removeprefix(CONF), "")):
            return f"no log's or session's settings are read for '{name}'"
        number = line.operator not in ("at_least", "below") or isinstance(line.operand, int | float)
        return None if number else f"{line.operator} of a configuration value is a number"
    fact = FACTS.get(name)
    if fact is None:
        return _no_fact(name)
    if line.operator in ("at_least", "below"):
        return _wrong_bound(fact, line)
    return _wrong_value(fact, line.operand if line.operator == "in" else (line.operand,), line.operator)


def _wrong_value(fact: Fact, values: Iterable[object], operator: str) -> str | None:
    bad = [value for value in values if operator != "known" and not check_value(fact, value)]
    legal = f"; one of {', '.join(fact.values)}" if fact.values else ""
    return f"'{fact.name}' cannot be {bad[0]!r}{legal}" if bad else None


def _wrong_bound(fact: Fact, line: Condition) -> str | None:
    if fact.kind == "version":
        good = isinstance(line.operand, str) and is_version(line.operand)
        return None if good else f"'{fact.name}' is a version; write it in quotes, as \"3.5\""
    if fact.kind not in ("int", "number"):
        return f"'{fact.name}' is a {fact.kind} and cannot be compared by {line.operator}"
    return None if isinstance(line.operand, int | float) else f"'{fact.name}' is compared with a number"


def _no_fact(name: str) -> str:
    return f"no fact '{name}'{suggestion(name, FACTS)}"


def _placeholders(key: str, value: object) -> Found:
    """Names in braces, in a text or anywhere inside a model, must be metrics or facts."""
    if isinstance(value, str):
        for name in _BRACES.findall(value):
            if name not in METRICS and name not in FACTS:
                yield key, f"'{{{name}}}' is neither a metric nor a fact{suggestion(name, [*METRICS, *FACTS])}"
    elif isinstance(value, Model):
        for name in type(value).model_fields:
            yield from _placeholders(f"{key}.{name}", getattr(value, name))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _placeholders(f"{key}.{name}", inner)
    elif isinstance(value, tuple):
        for n, inner in enumerate(value):
            yield from _placeholders(f"{key}.{n}", inner)


def _examples(rule: WrittenRule) -> Found:
    for verdict in sorted(_needed(rule) - {example.expect.verdict for example in rule.examples}):
        yield "examples", f"none with the verdict '{verdict}'"
    offered = {step.use if isinstance(step, Borrowed) else step.id for step in rule.steps}
    for n, example in enumerate(rule.examples):
        for key, text in _example(example, offered):
            yield f"examples.{n}.{key}", text


def _example(example: Example, offered: set[str]) -> Found:
    for name, value in example.facts.items():
        fact = FACTS.get(name)
        if fact is None and not name.startswith(CONF):
            yield "facts", _no_fact(name)
        elif fact and not check_value(fact, value):
            yield "facts", f"'{name}' cannot be {value!r}"
    for n, name in enumerate(example.unknown):
        if name not in FACTS:
            yield f"unknown.{n}", _no_fact(name)
        elif name in example.facts:
            yield f"unknown.{n}", f"'{name}' stands in 'facts', too"
    short = example.batches
    rows = [short.row, short.before, *([short.every.row] if short.every else [])]
    yield from _known("batches.row", {name for row in rows for name in row}, ROW)
    yield from _known("batches.operators", {name for operator in short.operators for name in operator}, OPERATOR)
    yield from _known("expect", {*example.expect.steps, *example.expect.not_steps}, offered)


def _known(key: str, names: set[str], known: set[str]) -> Found:
    yield from ((key, f"no '{name}' there{suggestion(name, known)}") for name in sorted(names - known))


def _needed(rule: RuleBody) -> set[str]:
    """Which answers the rule can give: skipped only where a fact or batches may be missing."""
    can_lack = rule.seen or rule.batches > 1 or any(line.fact for line in rule.requires)
    return {"fires", "quiet", "skipped"} if can_lack else {"fires", "quiet"}
