"""A step's change as the lines to paste."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from advisor.contract import Advice, Change, Settings
from advisor.metrics.units import interval

_SESSION = ("spark.sql.", "spark.databricks.")
_LINE = 96
_COMMENT = re.compile(r"\s*#\s*")


class Paste(NamedTuple):
    """Where some lines belong, in words, and the lines."""

    where: str
    lines: list[str]


def pastes(settings: Settings) -> list[Paste]:
    """The lines of code that make a change, each group with the place where it belongs; empty without a change."""
    conf, change = settings.conf, settings if isinstance(settings, Change) else Change()
    groups = [
        Paste("on writeStream", _options(settings.writer_option)),
        Paste("on readStream", _options(settings.reader_option)),
        Paste("on writeStream", [_trigger_line(kind, value) for kind, value in settings.trigger.items()]),
        Paste("before start()", [line for key in conf if key.startswith(_SESSION) for line in _set(key, conf[key])]),
        Paste(
            "with spark-submit",
            [f"--conf {key}={shlex.quote(conf[key])}" for key in conf if not key.startswith(_SESSION)],
        ),
        Paste("with spark-submit", [f"--packages {change.package}"] if change.package else []),
        Paste("in your code", (change.code or "").splitlines()),
    ]
    return [group for group in groups if group.lines]


def fitted(lines: Iterable[str], width: int) -> Iterator[str]:
    """The lines with each comment broken to `width`; code is never broken, since it could not be pasted then."""
    for line in lines:
        mark = _COMMENT.match(line)
        yield from textwrap.wrap(line, width, subsequent_indent=mark[0], break_on_hyphens=False) if mark else [line]


def parts(step: Advice) -> list[tuple[str, Paste | None]]:
    """Each group of lines that a step needs, a stage's first with its heading; None for a stage without code."""
    if not step.stages:
        return [("", paste) for paste in pastes(step.change)]
    found: list[tuple[str, Paste | None]] = []
    for number, stage in enumerate(step.stages, 1):
        heading = f"Stage {number}: {f'{stage.do}. ' if stage.do else ''}Done when {stage.until}."
        found += [("" if nth else heading, paste) for nth, paste in enumerate(pastes(stage.change) or [None])]
    return found


def _options(options: Mapping[str, str]) -> list[str]:
    return [f".option({_quoted(key)}, {_quoted(value)})" for key, value in options.items()]


def _set(key: str, value: str) -> list[str]:
    key, value = _quoted(key), _quoted(value)
    whole = f"spark.conf.set({key}, {value})"
    return [whole] if len(whole) <= _LINE else ["spark.conf.set(", f"    {key},", f"    {value},", ")"]


_TRIGGERS = {"processing_time": "processingTime", "real_time": "realTime", "continuous": "continuous"}


def _trigger_line(kind: str, value: str | bool) -> str:
    if kind not in _TRIGGERS:
        return ".trigger(availableNow=True)"
    return f".trigger({_TRIGGERS[kind]}={_quoted(interval(value))})"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
