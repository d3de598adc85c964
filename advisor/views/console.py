"""A page of text in the making: a console that writes into memory, headings, rows and tables."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.views.clean import no_commands

WIDTH = 100
_NARROWEST, _WIDEST = 40, 120


def console(width: int, *, color: bool, narrowest: int = _NARROWEST) -> Console:
    """An empty page of that width in characters, within limits that can be read; looks at no environment."""
    return Console(
        file=io.StringIO(),
        width=max(narrowest, min(int(width), _WIDEST)),
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


def indented(page: Console, what: RenderableType, indent: int = 2) -> None:
    """Print it with so many spaces before each line."""
    page.print(Padding(what, (0, 0, 0, indent)))


def columns(rows: Iterable[Sequence[str | Text]], *first: Mapping[str, Any], gap: int = 2) -> Table:
    """Rows in columns without lines; `first`: how all but the last column look, which is wrapped."""
    made = Table.grid(padding=(0, gap, 0, 0))
    for column in first:
        made.add_column(**column)
    made.add_column(overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def table(rows: Iterable[Sequence[str | Text]], *looks: Mapping[str, Any]) -> Table:
    """A table with headings; `looks`: how each column looks."""
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for look in looks:
        made.add_column(**{"overflow": "fold", **look})
    for row in rows:
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made
