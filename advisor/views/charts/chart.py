"""What all charts have in common: a name, words, a Vega-Lite specification, and the colours of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

Spec = dict[str, Any]

WIDE, NARROW = 900, 430
VEGA_LITE: Final = "https://vega.github.io/schema/vega-lite/v5.json"
_AXIS: Final = {
    "labelColor": "var(--dim)", "titleColor": "var(--dim)", "gridColor": "var(--faint)", "domainColor": "var(--faint)",
    "tickColor": "var(--faint)", "labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal",
}  # fmt: skip
_LEGEND: Final = {
    "labelColor": "var(--ink)", "labelFontSize": 13, "title": None, "orient": "top", "symbolType": "square",
    "symbolStrokeWidth": 3, "columns": 7, "columnPadding": 34,
}  # fmt: skip
CONFIG: Final = {
    "view": {"stroke": None}, "axis": _AXIS, "legend": _LEGEND, "aria": False, "background": None,
    "area": {"line": False}, "line": {"strokeWidth": 1.5},
}  # fmt: skip
_VARIABLE = re.compile(r"var\(--([\w-]+)(?:, (var\(--[\w-]+\)))?\)")
_COLOUR = re.compile(r"(?<!-)--([\w-]{1,60}): (?:light-dark\((#\w+), #\w+\)|(var\(--[\w-]+\)));")


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a caption, what it shows in words, and its specification in the page's colours.

    `timed`: whether it goes along the batches' time. `of`: the rules whose findings it shows.
    """

    name: str
    caption: str
    words: str
    spec: Spec
    wide: bool = False
    timed: bool = False
    of: tuple[str, ...] = ()


def layered(width: int, height: int, *layers: Spec) -> Spec:
    """A specification of these layers, the first below the others."""
    return {"width": width, "height": height, "config": CONFIG, "layer": list(layers)}


def plain_colours(spec: Any) -> Any:
    """Return the specification with the light look's colours in place of CSS variables, for readers without CSS.

    Any part of a specification: dictionaries, lists, texts and numbers.
    """
    if isinstance(spec, dict):
        return {key: plain_colours(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [plain_colours(value) for value in spec]
    return _colour(spec) if isinstance(spec, str) else spec


def _colour(words: str) -> str:
    found = _VARIABLE.fullmatch(words)
    if found is None:
        return words
    own = _light().get(found[1], found[2])
    return words if own is None else _colour(own)


@cache
def _light() -> dict[str, str]:
    """Each colour of the page by its name."""
    return {name: light or other for name, light, other in _COLOUR.findall(style("colours.css"))}


def style(name: str) -> str:
    """One of the style sheets that page and notebook share."""
    return (files("advisor.views") / "templates" / "style" / name).read_text(encoding="utf-8")
