"""What a command prints: where it goes, in which form, how wide and in which colours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, cast

import click

from advisor.writing import write_whole

if TYPE_CHECKING:
    from advisor.views.shown import Report, Shown

_PLAIN = str.maketrans({"█": "#", "▏": "|", "─": "-", "→": ">", "·": "|", "…": "~"})


class Look(TypedDict):
    """How a view is to look."""

    width: int
    color: bool


def check_output(options: Mapping[str, Any], paths: Iterable[str] = ()) -> None:
    """Raise UsageError, before anything is read or run, where the output cannot be written.

    That is: where a page is wanted and the library that draws it is missing, where the file has no place, and where it
    is one of the files that are read.
    """
    if options["form"] == "html":
        from advisor.views.charts import library

        library()
    if to_file(options):
        from advisor.sources.outputs import check_new

        own = filter(None, [options.get("config"), *(options.get("rules") or ())])
        check_new("--output", options["output"], [*paths, *own], options.get("checkpoint"))


def to_file(options: Mapping[str, Any]) -> bool:
    """Whether the output goes into a file."""
    return options["output"] not in (None, "-")


def terminal(options: Mapping[str, Any]) -> Look:
    """Return the width of the terminal, in a pipe or a file the one in COLUMNS, and whether it shows colour."""
    from advisor.views.console import WIDTH

    if not sys.stdout.isatty():
        columns = os.environ.get("COLUMNS", "")
        return {"width": int(columns) if columns.isdecimal() and int(columns) else WIDTH, "color": False}
    plain = options["no_color"] or to_file(options) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return {"width": shutil.get_terminal_size((WIDTH, 24)).columns, "color": not plain}


def rendered(found: Shown, options: Mapping[str, Any], *, everything: bool = False) -> str:
    """Return what was found in the form that is asked for; `everything`: also what that form would leave out."""
    if options["form"] == "json":
        from advisor.views.clean import ascii_json

        return ascii_json(found.to_json().rstrip("\n") + "\n")
    if options["form"] == "markdown":
        return found.to_markdown(everything=everything)
    if options["form"] == "html":
        return cast("Report", found).to_html()  # nothing else has a page
    return found.to_text(everything=everything, **terminal(options))


def show(words: str) -> None:
    """Print a text; replace characters that the output's encoding lacks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        words = words.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    click.echo(words, nl=False, color=True)


def put(words: str | Iterable[str], options: Mapping[str, Any]) -> None:
    """Print the words, or write them into the file that is named; a text of many pieces is never held whole."""
    if to_file(options):
        write_whole(options["output"], words)
        return
    for piece in [words] if isinstance(words, str) else words:
        show(piece)
