"""What all charts have in common: a name, words, a Vega-Lite specification in the colours of the page, and its SVG."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from markupsafe import escape

from advisor.errors import UsageError

Spec = dict[str, Any]

WIDE, NARROW = 900, 430
_IN_SECONDS = 2000.0
"""Milliseconds from which on an axis is in seconds."""
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
_OWN_WORDS = re.compile(r' (?:role|aria-[a-z]+|class|font-family|stroke-miterlimit|xmlns(?::xlink)?|version)="[^"]*"')
_PATH = re.compile(r' d="[^"]*"')
_DECIMALS = re.compile(r"(\.\d)\d+")
_CLIP = re.compile(r"""(?<=["#])clip\d+""")  # counted through by the library: no page would be like another
_SIZE = re.compile(r'^<svg width="[^"]*" height="[^"]*"')


@dataclass(frozen=True)
class Chart:
    """One chart: its name, a caption, what it shows in words, and its specification in the page's colours."""

    name: str
    caption: str
    words: str
    spec: Spec
    wide: bool = False


def layer(rows: Sequence[Mapping[str, object]], mark: Spec, **encoding: Spec) -> Spec:
    """A layer of a specification: these rows, drawn as this mark."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def number(field: str, **more: Any) -> Spec:
    """How a field of numbers is drawn."""
    return {"field": field, "type": "quantitative", **more}


def layered(width: int, height: int, *layers: Spec) -> Spec:
    """A specification of these layers, the first below the others."""
    return {"width": width, "height": height, "config": CONFIG, "layer": list(layers)}


def time_axis(most: float | None, ticks: int = 6) -> Spec:
    """Return the title and the axis of milliseconds up to `most`; in seconds where these are some."""
    seconds = most is not None and most >= _IN_SECONDS
    labels = {"labelExpr": "format(datum.value / 1000, '~g')"} if seconds else {"format": ",~g"}
    return {"title": "s" if seconds else "ms", "axis": {"tickCount": ticks, **labels}}


def style(name: str) -> str:
    """One of the style sheets that page and notebook share."""
    return (files("advisor.views") / "templates" / "style" / name).read_text(encoding="utf-8")


_DREW: set[int] = set()
"""The processes in which charts were drawn: in one that is forked from them, what draws would wait for ever."""


def library() -> Any:
    """What draws; UsageError where it is missing, and where it would end the process."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - not on Windows

        if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < 66 << 30:
            found = "the limit of address space (ulimit -v) is below the 66 GB that what draws its charts reserves"
            raise UsageError("the page", found, "raise it, or take another format")
    if _DREW and os.getpid() not in _DREW:
        found = "this process was forked from one that has drawn charts, and drawing would hang in it"
        raise UsageError("the page", found, "start processes by spawn: multiprocessing.get_context('spawn')")
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ImportError:
        missing = "vl-convert-python is missing, which draws its charts"
        raise UsageError("the page", missing, "pip install 'streaming-latency-advisor[page]'") from None
    return vl_convert


def drawn(chart: Chart, of: str) -> str:
    """The chart as one `<svg>`, an image with a name to a screen reader; UsageError where the library is missing.

    `of`: what the names within it begin with, which must be the page's only ones.
    """
    draws = library()
    _DREW.add(os.getpid())
    svg = _PATH.sub(lambda path: _DECIMALS.sub(r"\1", path[0]), draws.vegalite_to_svg(chart.spec))
    svg = _CLIP.sub(rf"{of}-{chart.name}-clip", svg)
    said = f"{chart.caption}. {chart.words}"
    return _SIZE.sub(f'<svg role="img" aria-label="{escape(said)}"', _OWN_WORDS.sub("", svg))


def can_draw() -> bool:
    """Whether the library is there."""
    try:
        library()
    except UsageError:
        return False
    return True
