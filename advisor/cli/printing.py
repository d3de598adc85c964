"""Text to standard output: as wide as the terminal, in colour where that is wanted, in characters that it knows."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TypedDict

import click

from advisor.views.terminal import WIDTH

_PLAIN = str.maketrans({"█": "#", "▏": "|", "─": "-", "→": ">", "·": "|", "…": "~"})


class Look(TypedDict):
    """How a view is to look."""

    width: int
    color: bool


def terminal(*, plain: bool = False) -> Look:
    """The width of the terminal and whether it shows colour; in a pipe or a file the width that COLUMNS names."""
    if not sys.stdout.isatty():
        columns = os.environ.get("COLUMNS", "")
        return {"width": int(columns) if columns.isdecimal() and int(columns) else WIDTH, "color": False}
    wanted = not plain and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return {"width": shutil.get_terminal_size((WIDTH, 24)).columns, "color": wanted}


def show(words: str) -> None:
    """Print a text; characters that the output's encoding lacks are replaced, not an error."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        words = words.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    click.echo(words, nl=False, color=True)
