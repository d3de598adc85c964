"""A page of text in the making: a console that writes into memory, headings, rows and tables."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.views.clean import no_commands

WIDTH = 100
_NARROWEST, _WIDEST = 40, 120
_INDENT = (0, 0, 0, 2)


def console(width: int, *, color: bool, narrowest: int = _NARROWEST) -> Console:
    """An empty page of that width in characters, within limits that can be read; looks at no environment."""
    return Console(
        file=io.StringIO(),
        width=max(narrowest, min(width, _WIDEST)),
        force_terminal=color,
        force_jupyter=False,  # else a page in the making is shown in the cell beside what it is made for
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def written(page: Console) -> str:
    """What stands on a page that `console` made, each line without spaces at its end, and with a line break."""
    assert isinstance(page.file, io.StringIO)
    return no_commands("".join(line.rstrip() + "\n" for line in page.file.getvalue().splitlines()))


def heading(page: Console, words: str) -> None:
    """An empty line and these words."""
    page.print()
    page.print(Text(words, style="bold"))


def grid(page: Console, title: str, rows: Iterable[tuple[str, str]], styles: Mapping[str, str]) -> None:
    """Labels with their words under a title, a label in its style; nothing where there are no rows."""
    found = list(rows)
    if not found:
        return
    heading(page, title)
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(overflow="fold")
    made.add_column(overflow="fold")
    for label, words in found:
        made.add_row(Text(label, styles.get(label, "dim")), Text(words))
    page.print(Padding(made, _INDENT))


def table(page: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table under a title; nothing where there are no rows. A column without a name stands to the left."""
    found = list(rows)
    if not found:
        return
    heading(page, title)
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name else "left", overflow="fold")
    for row in found:
        made.add_row(*map(Text, row))
    page.print(Padding(made, _INDENT))
