"""Reports from templates, in the words that all of them use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from advisor.views import addbatch, first_screen, selection, text, wording
from advisor.views.paste import parts
from advisor.vocabulary import TAKES_IN_WORDS

if TYPE_CHECKING:
    from jinja2 import Environment

_WORDS: Final[Mapping[str, object]] = {
    "first_screen": first_screen,
    "wording": wording,
    "addbatch": addbatch,
    "selection": selection,
    "text": text,
    "parts": parts,
    "TAKES": TAKES_IN_WORDS,
}


@cache
def environment(*, html: bool) -> Environment:
    """What fills templates in: in HTML, all that comes from a session is escaped; elsewhere a filter has to do it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - text on a terminal needs none

    made = Environment(
        loader=PackageLoader("advisor.views"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= _WORDS
    return made
