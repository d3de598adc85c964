"""Print what a template gives in its plain form, whose lines begin as those of Markdown do."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.views.console import columns, indented, table
from advisor.views.paste import fitted

IS = "\x01"
"""Stands between a label and its words. No text from a log holds this mark or one of the next: it was cleaned."""
_WORDS, _BAR, _CODE = "\x02", "\x03", "\x04"
_INDENT = {1: (0, 2), 2: (0, 2), 3: (2, 2), 4: (3, 7)}
"""Columns before words and before rows, below a heading of each depth; the first one is not printed."""
_CODE_AT = 9  # columns after a row begins
_LABEL = {"style": "dim", "min_width": 7, "max_width": 28}  # more rules than stand in these columns go on below


def held(words: object) -> str:
    """Return words in which nothing is taken for the beginning of a line, or for the end of a cell or of bold words."""
    return _WORDS + str(words).replace("|", _BAR).replace("*", f"*{_WORDS}")


def code(lines: Iterable[str]) -> str:
    """Return each line of code behind its mark."""
    return "\n".join(f"{_CODE}{line}" for line in lines)


def print_written(page: Console, written: str, *, ruled: bool = True) -> None:
    """Print headings, rows with labels, tables, code and words; code is never broken, since it could not be pasted.

    `ruled`: with a line above each large heading.
    """
    words, rows = _INDENT[1]
    for kind, lines in groupby(filter(None, written.split("\n")), key=lambda line: line[0]):
        if kind == "#":
            for line in lines:
                words, rows = _heading(page, line, ruled)
        elif kind == "-":
            pairs = [tuple(map(_shown, line[2:].rpartition(IS)[::2])) for line in lines]
            labelled = any(label for label, _ in pairs)
            indented(page, columns(pairs, _LABEL) if labelled else Text("\n".join(said for _, said in pairs)), rows)
        elif kind == "|":
            indented(page, _table(*lines), rows)
        elif kind == _CODE:
            for line in fitted((line[1:] for line in lines), page.width - rows - _CODE_AT):
                page.print(Text(" " * (rows + _CODE_AT) + line, style="bold cyan"), soft_wrap=True)
        else:
            for line in lines:
                _, bold, rest = line.split("**", 2) if line.startswith("**") else ("", "", line)
                indented(page, Text.assemble((_shown(bold), "bold"), _shown(rest)), words)


def _heading(page: Console, line: str, ruled: bool) -> tuple[int, int]:
    marks, _, words = line.partition(" ")
    if marks in ("##", "###"):
        page.print()
    if marks == "##" and ruled:
        page.print(Text("─" * page.width, style="dim"))
    if marks != "#":
        page.print(Text(_shown(words), style="bold"))
    return _INDENT[len(marks)]


def _table(names: str, sides: str, *rows: str) -> Table:
    named = zip(names[2:-2].split(" | "), sides[1:-1].split("|"), strict=True)
    looks = ({"header": name, "justify": "right" if side.endswith(":") else "left"} for name, side in named)
    return table(([_shown(cell) for cell in row[2:-2].split(" | ")] for row in rows), *looks)


def _shown(words: str) -> str:
    return words.replace(_WORDS, "").replace(_BAR, "|")
