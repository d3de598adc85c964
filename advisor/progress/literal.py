"""Parses text that is JSON or a Python dict as print() shows it; runs nothing."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

from advisor.progress.shapes import Broken

LONGEST_LITERAL = 4 << 20
"""Bytes of a Python dict print; Python's own parser takes about a hundred times that in memory."""

_NAMES: dict[str, Any] = {"true": True, "false": False, "null": None, "nan": None, "inf": None, "NaN": None}
_PARSER_GAVE_UP = (SyntaxError, ValueError, MemoryError, RecursionError)


def parse(text: str) -> Any:
    """The object that `text` stands for; Broken when it is neither JSON nor a Python literal."""
    try:
        return json.loads(text)
    except RecursionError:
        raise Broken("nested too deeply") from None
    except ValueError as error:
        if "'" not in text and '"""' not in text and not _trailing_comma(text):
            raise Broken(_why(text, error)) from None
        return _parse_literal(text, error)


def _trailing_comma(text: str) -> bool:
    squeezed = "".join(text.split())
    return ",}" in squeezed or ",]" in squeezed


def _parse_literal(text: str, error: ValueError) -> Any:
    if len(text) > LONGEST_LITERAL:
        raise Broken("a Python dict of more than 4 MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in the text is no news
            return _value(ast.parse(text.strip(), mode="eval").body)
    except _PARSER_GAVE_UP:
        raise Broken(_why(text, error)) from None


def _value(node: ast.expr) -> Any:
    """The value of a literal; names and calls other than the few that a printed dict holds raise ValueError."""
    match node:
        case ast.Constant(value=value) if value is not ...:
            return value
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Call(func=ast.Name(id="UUID"), args=[ast.Constant(value=str() as text)], keywords=[]):
            return text
    raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("not a plain key")


def _why(text: str, error: ValueError) -> str:
    if "…" in text or "..." in text:
        return "shortened by hand: it holds '...'"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at its line {error.lineno}, column {error.colno}"
    return "no JSON: a number of thousands of digits"
