"""Reports in the contract's form, for the tests of the views; reports.yaml holds them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import msgspec
import yaml

from advisor import contract
from advisor import vocabulary as words

_MADE: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ASYNC, STORAGE, STATE, OFF = (_MADE["steps"][name] for name in ("async", "storage", "state", "switch_off"))


def advice(step: dict[str, Any]) -> contract.Advice:
    """One step of the contract."""
    return msgspec.convert({"unknown": [], "stages": [], "status": "stable"} | step, contract.Advice)


def finding(rule: str, slug: str, title: str, level: str, says: str, steps: list[Any], **others: Any) -> dict[str, Any]:
    """One finding of the contract."""
    return {
        "rule": rule, "slug": slug, "title": title, "level": level, "confidence": "high", "says": says,
        "why": "It is so.",
        "measure": {"metric": "offset_log_share", "stat": "typical", "value": 0.534},
        "evidence": [
            {"fact": "sink", "value": "kafka", "from": "progress"},
            {"fact": "stateful", "value": False, "from": "log"},
        ],
        "explained_by": None,
        "steps": [msgspec.to_builtins(advice(step)) for step in copy.deepcopy(steps)],
        "references": [], "felt_share": None,
    } | others  # fmt: skip


def slow() -> dict[str, Any]:
    """A stateless query whose logs take half of each batch, after a restart that made it slower."""
    return _whole_query("slow")


def healthy() -> dict[str, Any]:
    """A query to which nothing should be done."""
    return slow() | _whole_query("healthy")


def dead() -> dict[str, Any]:
    """A query that died before its first batch."""
    return healthy() | _whole_query("dead")


def _whole_query(name: str) -> dict[str, Any]:
    query: dict[str, Any] = copy.deepcopy(_MADE[name])
    return query | {"findings": [finding(**one) for one in query["findings"]]}


def report(*queries: dict[str, Any]) -> contract.Report:
    """A whole report of these queries."""
    return msgspec.convert(plain_report(*queries), contract.Report)


def plain_report(*queries: dict[str, Any]) -> dict[str, Any]:
    """The same as plain data."""
    broken = [
        {"file": "driver.log", "offset": 4711 + n, "line": 100 + n, "reason": "ends inside an event"} for n in range(4)
    ]
    read = {"files": 2, "bytes": 12_400_000, "events": 1230, "idle": 26, "duplicates": 2, "broken": broken}
    named = [query | {"best_step": _best(query)} for query in queries]
    return {"schema_version": 1, "advisor_version": "0.1.0", "input": read, "queries": named}


def _best(query: dict[str, Any]) -> dict[str, Any] | None:
    """The best step that a query names by its ids, as the contract has it."""
    named = query["best_step"]
    if named is None:
        return None
    (found,) = (one for one in query["findings"] if one["rule"] == named["rule"])
    (step,) = (one for one in found["steps"] if one["id"] == named["step"])
    return named | {"title": found["title"], "advice": step}


KEPT = {"id", "run_id", "rule", "step", "explained_by", "verdict", "kind", "name_of_effect", "stat", "of", "side"}
KINDS = (
    words.Level, words.Legal, words.Takes, words.Semantics, words.Status, words.State, words.Direction, words.Since,
    contract.LossKind,
)  # fmt: skip
WORDS = {word for kind in KINDS for word in get_args(kind)}


def said(value: Any, change: Callable[[str], str]) -> Any:
    """Plain data of a report with every free text changed: no ids, times and words that the contract lists."""
    if isinstance(value, str) and value not in WORDS and not value.startswith("20"):
        return change(value)
    if isinstance(value, dict):
        return {key: item if key in KEPT else said(item, change) for key, item in value.items()}
    return [said(item, change) for item in value] if isinstance(value, list) else value


class Seen(HTMLParser):
    """The elements of HTML with their attributes, the kinds of its addresses, and the text outside of code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.attributes: set[tuple[str, ...]] = set()
        self.addresses: set[str] = set()
        self.texts: list[str] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.attributes.add(tuple(sorted(name for name, _ in attrs)))
        self.addresses |= {str(value).partition(":")[0] for name, value in attrs if name in ("href", "src")}
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            del self.inside[-self.inside[::-1].index(tag) - 1 :]

    def handle_data(self, data: str) -> None:
        if not {"code", "style", "script"} & set(self.inside):
            self.texts.append(data)
