"""Reports from templates, in the words that all of them use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from advisor.views import addbatch, first_screen, plain, selection, text, wording
from advisor.views.clean import escape, fenced
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
Form = Literal["html", "markdown", "text"]
_FILTERS: Final[Mapping[Form, dict[str, Callable[..., str]]]] = {
    "html": {},
    "markdown": {"md": escape, "code": "`{}`".format, "fenced": fenced},
    "text": {"md": plain.held, "code": str, "fenced": plain.code},
}


@cache
def environment(form: Form) -> Environment:
    """What fills templates in: in HTML, all that comes from a session is escaped; elsewhere a filter has to do it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - a first screen needs none

    made = Environment(
        loader=PackageLoader("advisor.views"),
        autoescape=form == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= _FILTERS[form]
    made.globals |= {**_WORDS, "is": plain.IS if form == "text" else ": "}
    return made


def as_markdown(name: str, **shown: object) -> str:
    """Return the template filled in, with one blank line where several follow each other."""
    return re.sub(r"\n{3,}", "\n\n", environment("markdown").get_template(name).render(shown)).strip() + "\n"
