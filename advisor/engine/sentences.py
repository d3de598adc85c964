"""Sentences and settings of a rule with this query's numbers in them."""

from __future__ import annotations

import json
import re
import shlex

import msgspec

from advisor import contract
from advisor.catalogue import Change, Rule, Step
from advisor.catalogue.step import PLACEHOLDER
from advisor.facts import Known, value_in_words
from advisor.metrics import METRICS, AnyMetric, Estimate, Missing, measure
from advisor.metrics.units import in_words, interval, number
from advisor.window import Window

_PLAIN_PATH = re.compile(r"[\w/][\w./:@%=+-]*")
"""A path without a quote, a blank or a sign that a shell or Python reads: it came from a log, and is pasted."""

_UNKNOWN = {"ms": "time", "share": "share", "bytes": "size"}
"""What to call a number that is missing, by its unit."""


def sentence(text: str, window: Window, rule: Rule | None = None) -> str:
    """Fill each {metric} and {fact} into the text, in words; an unknown one becomes `unknown`."""
    return PLACEHOLDER.sub(lambda match: _words(match[1], window, rule), text)


def setting(text: str, window: Window) -> str:
    """Return the value of a setting with whole, bare numbers; an unknown one becomes <name: why>, to be filled in."""
    return PLACEHOLDER.sub(lambda match: _bare(match[1], window), text)


def finding_says(rule: Rule, window: Window) -> str:
    """Return the rule's sentence, beginning with the batches that it is about."""
    said = sentence(rule.says, window, rule)
    if not len(window):
        return said
    if len(window) == 1 and rule.seen is None:
        which = "the first batch after a start" if bool(window.batches["cold"][0]) else "the one batch given"
        return f"In {which}, {said}"
    if not rule.says.startswith("{"):
        return said[:1].upper() + said[1:]
    typical = rule.measure is not None and rule.measure.stat == "typical"
    return f"In a typical batch, {said}" if typical else said


def undo_says(step: Step, window: Window) -> str:
    """Return how to undo a step, in words; an undoing step stage by stage."""
    if isinstance(step.undo, str):
        return sentence(step.undo, window)
    if not step.undo.stages:
        return f"{step.undo.do}: {_settings_in_words(step.undo.change, window)}"
    stages = []
    for nth, stage in enumerate(step.undo.stages, 1):
        parts = ((stage.do or "").rstrip("."), _settings_in_words(stage.change, window))
        stages.append(f"({nth}) {', '.join(filter(None, parts))}; done when {stage.until}")
    return f"{step.undo.do}, in {len(stages)} stages. {'. '.join(stages)}. {step.undo.costs}"


def change_of(change: Change | None, window: Window) -> contract.Change:
    """Return the change with its numbers filled in, a trigger in Spark's words; unused kinds are empty."""
    if change is None:
        return contract.Change()
    filled = msgspec.convert({kind: _filled(value, window) for kind, value in change.kinds.items()}, contract.Change)
    trigger = {kind: interval(value) if isinstance(value, str) else value for kind, value in filled.trigger.items()}
    return msgspec.structs.replace(filled, trigger=trigger)


def _filled(value: object, window: Window) -> object:
    if isinstance(value, dict):
        return {key: _filled(inner, window) for key, inner in value.items()}
    return setting(value, window) if isinstance(value, str) else value


def _settings_in_words(change: Change | None, window: Window) -> str:
    if change is None:
        return ""
    settings = {**change.writer_option, **change.reader_option, **change.conf}
    said = [f"{key}={setting(value, window)}" for key, value in settings.items()]
    if change.trigger is not None:
        said += [f"trigger {kind} {value}" for kind, value in change.trigger.model_dump(exclude_none=True).items()]
    return "set " + ", ".join(said) if said else ""


def _words(name: str, window: Window, rule: Rule | None) -> str:
    if name in METRICS:
        stat = _stat(name, rule)
        value, unit = _within_the_batch(measure(window, name, stat), METRICS[name], window, stat), METRICS[name].unit
        return in_words(value, unit) if isinstance(value, Estimate) else f"an unknown {_UNKNOWN.get(unit, 'number')}"
    known = window.facts.get(name)
    if name.endswith("_path"):
        path = _pasted(known)
        return shlex.quote(f"./{path}" if path.startswith("-") else path) if path else "PATH"
    if known is None or known.value is None:
        return f"an unknown {name}"
    if name.endswith("_ms") and isinstance(known.value, int | float):
        return number(float(known.value), "ms")
    is_count = type(known.value) is int and not name.endswith("_batch")  # the number of a batch names files
    return f"{known.value:,}" if is_count else value_in_words(known.value)


def _within_the_batch(
    value: Estimate | Missing, metric: AnyMetric, window: Window, stat: str | None
) -> Estimate | Missing:
    """Return a part of a batch as at most the whole: one that is worked out from its tasks may be more."""
    if metric.basis != "wall" or metric.per != "batch" or not metric.phases or metric.unit not in ("ms", "share"):
        return value
    whole = measure(window, "trigger_execution_ms", stat) if metric.unit == "ms" else Estimate.exactly(1.0)
    if not isinstance(value, Estimate) or not isinstance(whole, Estimate):
        return value
    low, high = min(value.low, whole.safe), min(value.high, whole.safe)
    return Estimate(low, None if value.value is None else min(value.value, whole.safe), high, value.fact)


def _stat(name: str, rule: Rule | None) -> str | None:
    """Return the statistic of a metric for a sentence: the one by which the rule judges."""
    if METRICS[name].per == "window" and METRICS[name].time != "latency":
        return None
    if rule is None or rule.measure is None:
        return "typical"
    if rule.measure.metric == name:
        return rule.measure.stat
    asked = [line.stat for line in rule.requires if line.metric == name and line.stat]
    if asked:
        return asked[0]
    if rule.measure.stat == "total":
        return "mean"
    return "typical" if METRICS[name].unit == "ms" else rule.measure.stat or "typical"


def _bare(name: str, window: Window) -> str:
    if name in METRICS:
        value = measure(window, name)
        if isinstance(value, Missing):
            return f"<{name.replace('_', ' ')}: {value.reason}>"
        return f"{value.safe:.0f}"
    known = window.facts.get(name)
    if name.endswith("_path"):  # it stands between quotes
        return json.dumps(_pasted(known), ensure_ascii=False)[1:-1] or f"<{name}>"
    return f"<{name}>" if known is None else str(known.value)


def _pasted(known: Known | None) -> str:
    """Return a path that stands in code or in a command; empty where it is not known, or holds more than a path."""
    if known is None or not (known.origin == "checkpoint" or _PLAIN_PATH.fullmatch(str(known.value))):
        return ""  # a folder that the user named stays as he named it
    return str(known.value)
