"""A step's change as the lines to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

_SESSION = ("spark.sql.", "spark.databricks.")
_LINE = 96


class Paste(NamedTuple):
    """Where some lines belong, in words, and the lines."""

    where: str
    lines: list[str]


def pastes(change: Mapping[str, Any] | None) -> list[Paste]:
    """The lines of code that make a change, each group with the place where it belongs; empty without a change."""
    change = change or {}
    conf = change.get("conf") or {}
    groups = [
        Paste("on writeStream", _options(change.get("writer_option"))),
        Paste("on readStream", _options(change.get("reader_option"))),
        Paste("on writeStream", _trigger(change.get("trigger"))),
        Paste("before start()", _session_conf({k: v for k, v in conf.items() if k.startswith(_SESSION)})),
        Paste(
            "with spark-submit",
            [f"--conf {key}={_shell(value)}" for key, value in conf.items() if not key.startswith(_SESSION)],
        ),
        Paste("with spark-submit", _package(change.get("package"))),
        Paste("in your code", str(change.get("code") or "").splitlines()),
    ]
    return [group for group in groups if group.lines]


def parts(step: Mapping[str, Any]) -> list[tuple[str, Paste | None]]:
    """Each group of lines that a step needs, a stage's first with its heading; None for a stage without code."""
    stages = step.get("stages") or []
    if not stages:
        return [("", paste) for paste in pastes(step.get("change"))]
    return [
        ("" if nth else _heading(number, stage), paste)
        for number, stage in enumerate(stages, 1)
        for nth, paste in enumerate(pastes(stage.get("change")) or [None])
    ]


def _heading(number: int, stage: Mapping[str, Any]) -> str:
    said = [str(stage.get("do") or ""), f"until {stage['until']}" if stage.get("until") else ""]
    return f"Stage {number}: {', '.join(filter(None, said))}"


def _options(options: Mapping[str, Any] | None) -> list[str]:
    return [f".option({_quoted(key)}, {_quoted(value)})" for key, value in (options or {}).items()]


def _session_conf(conf: Mapping[str, Any]) -> list[str]:
    return [line for key, value in conf.items() for line in _set(_quoted(key), _quoted(value))]


def _set(key: str, value: str) -> list[str]:
    whole = f"spark.conf.set({key}, {value})"
    return [whole] if len(whole) <= _LINE else ["spark.conf.set(", f"    {key},", f"    {value},", ")"]


_TRIGGERS = {
    "processing_time": "processingTime",
    "real_time": "realTime",
    "continuous": "continuous",
}


def _trigger(trigger: Mapping[str, Any] | str | None) -> list[str]:
    if not trigger:
        return []
    kinds = {trigger: True} if isinstance(trigger, str) else trigger
    return [_trigger_line(kind, value) for kind, value in kinds.items() if value is not None]


def _trigger_line(kind: str, value: Any) -> str:
    if kind in _TRIGGERS:
        return f".trigger({_TRIGGERS[kind]}={_quoted(interval(value))})"
    if kind == "available_now":
        return ".trigger(availableNow=True)"
    if kind == "once":
        return ".trigger(once=True)"
    return "# remove the call of .trigger(...)"


def interval(value: Any) -> str:
    """An interval as Spark's triggers take it: milliseconds become `500 milliseconds` or `2 seconds`, words stay."""
    try:
        number = round(float(value))
    except (TypeError, ValueError):
        return str(value)
    for size, unit in ((60_000, "minute"), (1000, "second"), (1, "millisecond")):
        if number >= size and number % size == 0:
            return f"{number // size} {unit}{'' if number == size else 's'}"
    return f"{number} milliseconds"


def _package(package: str | list[str] | None) -> list[str]:
    packages = [package] if isinstance(package, str) else package or []
    return [f"--packages {','.join(packages)}"] if packages else []


def _quoted(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _shell(value: Any) -> str:
    return shlex.quote(_plain(value))
