"""How the command ends: exit codes, and errors in one line."""

from __future__ import annotations

import atexit
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from advisor.cli.spark import end_in_order
from advisor.errors import TRACEBACK, AdvisorError, misfit
from advisor.sources.answering import ASKS

_NO_VALUE = re.compile(r"--[\w-]+=\s*")
_HELP_INSTEAD: type[click.ClickException] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""A group without a command; before click 8.2 it shows its help by itself."""
_LONGEST_SIZE = 9
"""Digits of a terminal's width or height; from 4,301 on Python raises an error."""
FAILED_ON, WRONG, STOPPED, PIPE_CLOSED = 1, 2, 130, 141


class CodedGroup(click.Group):
    """A group of commands that ends with this project's exit codes."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **named: Any) -> NoReturn:
        """Run a command and leave with its exit code; nothing else is raised."""
        named["standalone_mode"] = False
        if args is None:
            end_in_order()
        if logging.lastResort:
            logging.lastResort.setFormatter(Plain())
        for name in ("COLUMNS", "LINES"):
            if len(os.environ.get(name, "")) > _LONGEST_SIZE:
                del os.environ[name]
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:  # the shell closed it
                setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - as long as the process lives
        code = _code(lambda: super(CodedGroup, self).main(_given(args), *more, **named))
        if args is None and any(thread.name == ASKS for thread in threading.enumerate()):
            _leave(code)
        sys.exit(code)


class Plain(logging.Formatter):
    """What is logged, as errors are said: without credentials, terminal sequences and commands."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, or its lines."""
        return _safe(super().format(record))


def remark(words: str) -> None:
    """Say it on standard error, if that takes it; a report does not fail for it."""
    with _unless_full():
        click.echo(f"latency-advisor: {_safe(words, hidden=True)}", err=True)


@contextmanager
def _unless_full() -> Iterator[None]:
    """Leave standard error alone once it is full; Python would fail once more when it exits."""
    try:
        yield
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _leave(code: int) -> None:
    """Leave in order, but without waiting for an object store: its library does, at the end, for one that is silent."""
    if (stores := sys.modules.get("pyarrow.fs")) and hasattr(stores, "ensure_s3_finalized"):
        atexit.unregister(stores.ensure_s3_finalized)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _given(args: Sequence[str] | None) -> list[str]:
    """The words of the command line; UsageError where one is empty: a variable that is not set, most often."""
    given = sys.argv[1:] if args is None else list(args)
    for before, word in zip(("", *given), given, strict=False):
        if not word.strip() or _NO_VALUE.fullmatch(word):
            option = word.strip() or (before if before.startswith("--") else "an argument")
            raise click.UsageError(f"{option.rstrip('=')} is empty; give a value or leave it out")
    return given


def _code(call: Callable[[], Any]) -> int:
    try:
        code = call()
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return STOPPED
    except (BrokenPipeError, SystemExit):  # click leaves by itself for one reason only: the pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains once more when it exits
        return PIPE_CLOSED
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except Exception as error:
        in_a_model = type(error).__name__ == "SchemaError" and "KeyboardInterrupt" in str(error)
        if in_a_model or _of_an_interrupt(error):
            return STOPPED
        with _unless_full():
            _refuse(misfit(error) or error)
        return WRONG
    return code if isinstance(code, int) else 0


def _of_an_interrupt(error: BaseException | None) -> bool:
    """Whether an error came within an import or on the way out, after Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _refuse(error: Exception) -> None:
    """Say what is wrong. An error of ours is without credentials already, which hides less of a file's name."""
    if isinstance(error, _HELP_INSTEAD):
        error.show()
        return
    if os.environ.get(TRACEBACK):
        click.echo(_safe(traceback.format_exc()), err=True)
    click.echo(f"latency-advisor: {_safe(_line(error), hidden=isinstance(error, AdvisorError))}", err=True)


def _line(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, (AdvisorError, OSError)):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory; give fewer logs at a time, or leave out what ran inside batches (--no-stages)"
    return f"unexpected {type(error).__name__}: {' '.join(str(error).split())} ({TRACEBACK}=1 shows where)"


def _safe(words: str, *, hidden: bool = False) -> str:
    from advisor.redaction import hide_lines
    from advisor.views.clean import clean, no_commands

    safe = words if hidden else hide_lines(words)
    indents = ((line, len(line) - len(line.lstrip(" "))) for line in safe.splitlines())
    lines = "\n".join(" " * indent + clean(line) for line, indent in indents)
    return no_commands(lines) or "failed without a word"
