"""Where the output of a command goes and in which form: the same options on every command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.options import Command, group
from advisor.errors import UsageError

if TYPE_CHECKING:
    from advisor.cli.printing import Look
    from advisor.views.notebook import Shown


def output_options(*forms: str) -> Callable[[Command], Command]:
    """Adds --format with these forms, --output and --no-color to a command, as `form`, `output` and `no_color`."""
    return group(
        click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True),
        click.option("--output", metavar="FILE", help="Write the output to this file."),
        click.option("--no-color", is_flag=True, help="No colours. The variable NO_COLOR does the same."),
    )


def check_page(options: Mapping[str, Any]) -> None:
    """UsageError, before anything is read or run, for output that has no place.

    Also where a page is wanted and the library that draws it is missing.
    """
    if options["form"] == "html":
        from advisor.views.charts import library

        library()
    if to_file(options):
        check_place("--output", Path(options["output"]))


def check_place(option: str, path: Path) -> None:
    """UsageError where no file of this name can be written."""
    if path.is_dir():
        raise UsageError(f"{option} {path}", "is a directory", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}", "there is no such directory", "create it, or name another file")


def check_output(paths: Iterable[str], options: Mapping[str, Any]) -> None:
    """UsageError, before anything is read, where the output would be written over one of the files that are read."""
    if not to_file(options) or not Path(options["output"]).is_file():
        return
    from advisor.sources.paths import STDIN, expand, is_url

    for path in (one.path for given in paths if given != STDIN and not is_url(given) for one in expand([given])):
        if Path(path).exists() and Path(path).samefile(options["output"]):
            raise UsageError(f"--output {options['output']}", "is one of the files that are read", "name another file")


def to_file(options: Mapping[str, Any]) -> bool:
    """Whether the output goes into a file."""
    return options["output"] not in (None, "-")


def terminal(options: Mapping[str, Any]) -> Look:
    """How a text is to look: without colour where it goes into a file."""
    from advisor.cli import printing

    return printing.terminal(plain=options["no_color"] or to_file(options))


def rendered(report: Shown, options: Mapping[str, Any], *, everything: bool = False) -> str:
    """A report in the form that is asked for; with `everything` all of it, where the form would leave something out."""
    if options["form"] == "json":
        from advisor.views.clean import ascii_json

        return ascii_json(report.to_json().rstrip("\n") + "\n")
    if options["form"] == "markdown":
        from advisor.views.markdown import report_as_markdown

        return report_as_markdown(report.typed, everything=everything)
    if options["form"] == "html":
        return report.to_html()
    from advisor.views.terminal import report_as_text

    return report_as_text(report.typed, everything=everything, **terminal(options))


def put(words: str, options: Mapping[str, Any]) -> None:
    """Print the words, or write them into the file that is named."""
    from advisor.cli.printing import show

    if not to_file(options):
        show(words)
        return
    # What was there stays until the new text is whole; but a device or a pipe must not be replaced by a file.
    atomic = Path(options["output"]).is_file()
    try:
        with click.open_file(options["output"], "w", encoding="utf-8", atomic=atomic) as file:
            file.write(words)
    except OSError as error:  # a full device does not say its name
        raise OSError(error.errno, error.strerror, options["output"]) from None
