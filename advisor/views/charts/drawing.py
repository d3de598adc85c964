"""A Vega-Lite specification drawn as SVG: no script is left in it, and its colours are those of the page."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import escape

from advisor.errors import UsageError
from advisor.views.charts.chart import Chart

_OWN_WORDS = re.compile(r' (?:role|aria-[a-z]+|class|font-family|stroke-miterlimit|xmlns(?::xlink)?|version)="[^"]*"')
_SAID = re.compile(r'<path aria-label="([^"<]*)"([^<>]*)/>')
_PATH = re.compile(r' d="[^"]*"')
_DECIMALS = re.compile(r"(\.\d)\d+")
_CLIP = re.compile(r"""(?<=["#])clip\d+""")  # counted through by the library: no page would be like another
_SIZE = re.compile(r'^<svg width="[^"]*" height="[^"]*"')


def library() -> Any:
    """What draws; UsageError where it is missing."""
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
    svg = _PATH.sub(lambda path: _DECIMALS.sub(r"\1", path[0]), library().vegalite_to_svg(chart.spec))
    svg = _SAID.sub(
        r'<path\2 pointer-events="all"><title>\1</title></path>', svg
    )  # a browser shows it under the pointer
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
