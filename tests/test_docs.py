"""The documentation: the site builds with every link in place, and commands and code on its pages are what there is."""

from __future__ import annotations

import ast
import gzip
import html
import importlib.util
import json
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import click
import pytest
from click.testing import CliRunner

import advisor
from advisor.cli import main
from advisor.errors import PROGRESS_NEEDS_INFO, WAYS

ROOT = Path(__file__).parents[1]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md")), *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.S | re.M)
_WITHIN = re.compile(r"<!-- in: latency-advisor (.+?) -->\n```text\n(.*?)```", re.S)
_ELSEWHERE = ("README.md", "reading-a-report.md", "CONTRIBUTING.md")
"""What these show is printed in tests/test_project.py and tests/test_skeleton.py."""
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    """(page, text) of every block of code in these languages."""
    for page in PAGES:
        for language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                yield page.name, text


def commands() -> list[tuple[str, str, bool]]:
    """(page, command, whether it is whole) of every line of a shell and of every one named within a sentence."""
    lines = [
        (page, line.strip(), True)
        for page, text in blocks("sh", "bash")
        for line in text.replace("\\\n", " ").splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    inline = [
        (page.name, words, False)
        for page in PAGES
        for words in re.findall(r"`(latency-advisor [^`]+)`", page.read_text(encoding="utf-8"))
    ]
    return [*lines, *inline]


@pytest.mark.parametrize(("page", "line", "whole"), commands())
def test_each_command_is_one_that_there_is(page: str, line: str, whole: bool) -> None:
    for part in line.split(" | "):
        words = shlex.split(part, comments=True)
        words = words[: words.index(">")] if ">" in words else words
        if words[0] == "latency-advisor":
            parses(words[1:], whole)
        elif words[0] == "make":
            for target in words[1:]:
                named = target if "=" not in target else "demo"
                assert re.search(rf"^{named}:", (ROOT / "Makefile").read_text(), re.M), f"{page}: {line}"
        elif words[:2] == ["pip", "install"]:
            extras = re.findall(r"\[(.*?)\]", line)
            assert all(re.search(rf"^{extra} = \[", PROJECT, re.M) for each in extras for extra in each.split(","))


def parses(words: list[str], whole: bool) -> None:
    """Parse a command as click does, and run nothing; one that is not whole may lack an argument."""
    context, command = click.Context(main), main
    while isinstance(command, click.Group):
        if not words:
            return
        name, command, words = command.resolve_command(context, words)
        assert command is not None and name is not None
        context = click.Context(command, parent=context, info_name=name)
    command.make_context("docs", list(words), resilient_parsing=not whole)
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize(("page", "text"), list(blocks("python")))
def test_python_on_a_page_is_python_and_names_what_the_package_has(page: str, text: str) -> None:
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "advisor":
            assert hasattr(advisor, node.attr), f"{page}: advisor.{node.attr}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "advisor":
            module = importlib.import_module(str(node.module))
            assert all(hasattr(module, one.name) for one in node.names), page


def test_every_output_that_is_shown_is_one_that_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command, shown in _WITHIN.findall(text):
            printed = " ".join(html.unescape(CliRunner().invoke(main, shlex.split(command)).output).split())
            assert " ".join(shown.split()) in printed, f"{page.name}: {command}"
        if page.name not in _ELSEWHERE:
            outputs = [block for language, block in _BLOCK.findall(text) if language == "text"]
            assert len(outputs) == len(_WITHIN.findall(text)), f"{page.name}: an output that no command stands for"


_NEED_SPARK = ("watch", "trial", "--engine")
"""What a command holds that runs a Spark, or ends with a query only."""


def runnable() -> list[str]:
    """Every whole command of the pages that reads files by itself, without its redirection, in the pages' order."""
    found = [line for _, line, whole in commands() if whole and "latency-advisor " in line]
    ends = [shlex.join(shlex.split(line.rpartition(" | ")[2], comments=True)).partition(" '>'")[0] for line in found]
    own = [line for line in ends if line.startswith("latency-advisor ") and not re.search("/tmp/|http", line)]
    return [line for line in dict.fromkeys(own) if not any(word in shlex.split(line) for word in _NEED_SPARK)]


def test_every_command_that_needs_no_spark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = gzip.decompress((ROOT / "sample_progress/LG001/rate-to-noop-4.3.0/driver.log.gz").read_bytes())
    (run,) = set(re.findall(rb'"runId" : "([0-9a-f-]{36})"', log))
    for name, of_run in (("driver.log", run), ("before.log", run), ("after.log", run[::-1])):
        (tmp_path / name).write_bytes(log.replace(run, of_run))
    for folder in ("logs", "spark-events", "team-rules"):
        (tmp_path / folder).mkdir()
    (tmp_path / "logs" / "driver.gz").write_bytes(gzip.compress(log))
    (tmp_path / "spark-events" / "driver.log").write_bytes(log)
    with ZipFile(ROOT / "tests/checkpoint/samples/4.3-stateless.zip") as archive:
        archive.extractall(tmp_path / "orders")
    query = re.findall(rb'"id" : "([0-9a-f-]{36})"', log)[0].decode()
    (tmp_path / "orders" / "metadata").write_text(f'{{"id":"{query}"}}')
    monkeypatch.chdir(tmp_path)
    tried = runnable()
    assert len(tried) > 12
    for line in tried:
        result = CliRunner().invoke(main, shlex.split(line)[1:], input=log)
        code = 1 if "--fail-on" in line else 0
        assert (result.exit_code, bool(result.output) or "--output" in line) == (code, True), (line, result.output)


def test_the_ways_to_a_log_are_those_that_the_error_names() -> None:
    page = (ROOT / "docs" / "get-a-log.md").read_text(encoding="utf-8").replace("`", "")
    for where, way in WAYS.items():
        assert re.search(rf"(?m)^\|.*{re.escape(where)}.*\| {re.escape(way.replace('`', ''))} \|", page), where
        assert way in PROGRESS_NEEDS_INFO


def site() -> Any:
    """The program that builds the site."""
    pytest.importorskip("zensical")
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_site_builds_with_every_link_in_place(tmp_path: Path) -> None:
    builder = site()
    builder.build(tmp_path)
    pages = {str(page.relative_to(tmp_path / "site")) for page in (tmp_path / "site").rglob("*.html")}
    assert all(json.dumps(path) in builder.settings() for path in builder.pages())
    assert {"index.html", "docs/attach.html", "reference/metrics.html", "rules/index.html"} <= pages
    commands = (tmp_path / "source" / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in main.commands:
        assert f"## latency-advisor {name}\n" in commands


def test_a_link_that_leads_nowhere_stops_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = site()
    whole = builder.pages()
    monkeypatch.setattr(
        builder, "pages", lambda: whole | {"docs/attach.md": "# Attach\n\n[nowhere](no-such-page.md)\n"}
    )
    with pytest.raises(SystemExit, match="does not exist"):
        builder.build(tmp_path)
