"""What all parts of a report have in common: how they are declared, and how they become plain data and JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of a report. A field that has a default is left out of the JSON while it has it."""


def plain(part: msgspec.Struct) -> Any:
    """Return it as dictionaries, lists, texts and numbers, as JSON has them."""
    return _with_lists(msgspec.to_builtins(part, enc_hook=_number))


def encoded(part: msgspec.Struct) -> bytes:
    """Return it as JSON in one line."""
    return msgspec.json.encode(part, enc_hook=_number)


def as_json(data: Any) -> str:
    """Return plain data as JSON text of many lines: `json.dumps` would indent in Python, in three times the time."""
    return msgspec.json.format(json.dumps(data, ensure_ascii=False, allow_nan=False), indent=2)


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_lists(inner) for key, inner in value.items()}
    return [_with_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def _number(value: Any) -> Any:
    """Return a number of numpy as Python's own, the only ones that msgspec knows."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"a report cannot hold a {type(value).__name__}")
