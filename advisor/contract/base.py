"""What all parts of a report have in common: how they are declared, and how they become plain data and JSON."""

from __future__ import annotations

from typing import Any

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of a report. A field that has a default is left out of the JSON while it has it."""


def plain(told: msgspec.Struct) -> Any:
    """The same as dictionaries, lists, texts and numbers, as JSON has them."""
    return _with_lists(msgspec.to_builtins(told, enc_hook=_number))


def encoded(told: msgspec.Struct) -> bytes:
    """The same as JSON in one line."""
    return msgspec.json.encode(told, enc_hook=_number)


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_lists(inner) for key, inner in value.items()}
    return [_with_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def _number(value: Any) -> Any:
    """A number of numpy as Python's own; msgspec knows only these."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"a report cannot hold a {type(value).__name__}")
