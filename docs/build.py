"""Builds the site of the documentation: these pages, and those that are made from the program; checks their links.

`python docs/build.py [DIRECTORY]` writes to .site by default. Everything is read from this repository and the program;
nothing is fetched, and what the site holds is not committed.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from advisor import catalogue
from advisor.catalogue.step import Step
from advisor.cli import main
from advisor.config import Config
from advisor.facts import FACTS
from advisor.metrics import METRICS

ROOT = Path(__file__).parents[1]
WIDTH = 100
STYLE = """td code { white-space: nowrap; }
.md-typeset pre > code { font-size: .6rem; } /* lines of 110 characters beside the navigation at 1280 px */
@media (max-width: 1500px) { .md-sidebar--secondary { display: none !important; } }
.above img { width: 100%; max-height: 20rem; object-fit: cover; object-position: top; }
"""
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "rules/README.md", "sample_progress/README.md")
NAV: dict[str, list[tuple[str, str]]] = {
    "Tutorials": [("Your first log", "docs/first-log.md"), ("Your first rule", "CONTRIBUTING.md")],
    "How to": [
        ("Ask a running driver", "docs/address.md"),
        ("Get a log", "docs/get-a-log.md"),
        ("Attach to a running query", "docs/attach.md"),
        ("Watch a log", "docs/watch.md"),
        ("Use a notebook", "docs/notebook.md"),
        ("Share a page", "docs/page.md"),
        ("Open addBatch", "docs/stages.md"),
        ("Judge a fleet", "docs/fleet.md"),
        ("Reach a latency target", "docs/target.md"),
        ("Know what it holds", "docs/capacity.md"),
        ("Try a step", "docs/trial.md"),
        ("Ask a checkpoint", "docs/checkpoint.md"),
        ("Tell it what it cannot know", "docs/configuration.md"),
    ],
    "Reference": [
        ("Commands", "reference/commands.md"),
        ("Rules", "rules/README.md"),
        ("Steps", "reference/steps.md"),
        ("Settings that steps change", "reference/settings.md"),
        ("Facts", "reference/facts.md"),
        ("Metrics", "reference/metrics.md"),
        ("Exit codes and JSON", "docs/json.md"),
        ("JSON Schema of reports", "reference/report-schema.md"),
        ("Form of advisor.yaml", "reference/configuration-schema.md"),
        ("Form of a rule", "reference/rule-schema.md"),
        ("Recorded samples", "sample_progress/README.md"),
    ],
    "Explanation": [
        ("Reading a report", "docs/reading-a-report.md"),
        ("Measurements", "docs/measurements.md"),
        ("On logs that others wrote", "docs/logs-of-others.md"),
        ("Dependencies", "docs/dependencies.md"),
        ("Changes", "CHANGELOG.md"),
    ],
}


def build(place: Path) -> None:
    """Write the site below `place`; SystemExit where a link of a page leads nowhere."""
    source = place / "source"
    for old in (source, place / "site"):
        shutil.rmtree(old, ignore_errors=True)
    for path, text in pages().items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text, encoding="utf-8")
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copy(picture, source / "docs")
    (source / "site.css").write_text(STYLE, encoding="utf-8")
    (place / "zensical.toml").write_text(settings(), encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"], cwd=place, capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise SystemExit(built.stdout + built.stderr.partition("Traceback")[0])


def pages() -> dict[str, str]:
    """Every page by its path in the site; what lies in the repository at the same place keeps its links."""
    kept = [*PAGES, *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
    written = {path: (ROOT / path).read_text(encoding="utf-8") for path in kept}
    return {"index.md": _home((ROOT / "README.md").read_text(encoding="utf-8"))} | written | generated()


def _home(readme: str) -> str:
    """The README with its picture below the first paragraph, where it is seen at once."""
    picture = next(line for line in readme.splitlines() if line.startswith("![") and line.endswith("(docs/page.png)"))
    title, first, rest = readme.replace(f"{picture}\n\n", "").split("\n\n", 2)
    return f"{title}\n\n{picture}\n{{ .above }}\n\n{first}\n\n{rest}"


def generated() -> dict[str, str]:
    """The reference: pages that are made from the program itself."""
    rules = catalogue.load()
    return {
        "reference/commands.md": "\n".join(["# Commands\n", *_commands(main, ["latency-advisor"])]),
        "reference/steps.md": _steps(rules),
        "reference/settings.md": _settings(rules.steps.values()),
        "reference/facts.md": _facts(),
        "reference/metrics.md": _metrics(),
        "reference/report-schema.md": _schema("What is printed as JSON", _read("advisor/report.schema.json")),
        "reference/configuration-schema.md": _schema("Form of advisor.yaml", Config.model_json_schema(by_alias=True)),
        "reference/rule-schema.md": _schema("Form of a rule", _read("rules/schema.json")),
    }


def _read(schema: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / schema).read_text(encoding="utf-8"))
    return found


def settings() -> str:
    """What the generator is told; its theme without fonts that would be fetched."""
    groups = {"Start": [("Start", "index.md")]} | NAV | {"More": _others()}
    nav = ", ".join(f"{{{json.dumps(title)} = [{_entries(found)}]}}" for title, found in groups.items() if found)
    return (
        '[project]\nsite_name = "Streaming latency advisor"\ndocs_dir = "source"\nsite_dir = "site"\n'
        'use_directory_urls = false\nextra_css = ["site.css"]\n'
        f"nav = [{nav}]\n\n[project.theme]\nfont = false\n"
        '[[project.theme.palette]]\nmedia = "(prefers-color-scheme: light)"\nscheme = "default"\n'
        '[[project.theme.palette]]\nmedia = "(prefers-color-scheme: dark)"\nscheme = "slate"\n'
    )


def _others() -> list[tuple[str, str]]:
    """Pages of this folder that stand under no title yet."""
    listed = {path for entries in NAV.values() for _, path in entries}
    there = [f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))]
    return [(Path(path).stem.replace("-", " "), path) for path in there if path not in listed]


def _entries(found: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{{{json.dumps(name)} = {json.dumps(path)}}}" for name, path in found)


def _commands(command: click.Command, words: list[str]) -> Iterator[str]:
    """Each command with what `--help` prints."""
    printed = CliRunner().invoke(main, [*words[1:], "--help"], prog_name="latency-advisor", terminal_width=WIDTH).output
    yield f"## {' '.join(words)}\n\n```text\n{printed.rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _commands(command.commands[name], [*words, name])


def _steps(rules: catalogue.Catalogue) -> str:
    asked: dict[str, list[str]] = {step: [] for step in rules.steps}
    for rule in rules.rules.values():
        for step in rule.steps:
            asked.setdefault(step.id, []).append(f"[{rule.id}](../rules/README.md#{rule.id.lower()}-{rule.slug})")
    rows = (
        (f"[{step.id}](../rules/README.md#{step.id})", step.do, step.takes.replace("_", " "), ", ".join(asked[step.id]))
        for step in rules.steps.values()
    )
    return _page("Steps", "What rules advise, with what it takes.", ("step", "what it does", "takes", "rules"), rows)


def _settings(steps: Iterable[Step]) -> str:
    found: dict[tuple[str, str], list[str]] = {}
    for step in steps:
        changes = [step.change, *(stage.change for stage in step.stages)]
        for kind, keys in ((kind, keys) for change in changes if change for kind, keys in change.kinds.items()):
            for key in keys if isinstance(keys, dict) else ():
                found.setdefault((key, kind.replace("_", " ")), []).append(step.id)
    rows = (
        (f"`{key}`", kind, ", ".join(f"[{step}](../rules/README.md#{step})" for step in dict.fromkeys(ids)))
        for (key, kind), ids in sorted(found.items())
    )
    return _page("Settings that steps change", "By their keys.", ("key", "kind", "steps"), rows)


def _facts() -> str:
    rows = (
        (f"`{fact.name}`", fact.meaning, "|".join(fact.values) or fact.kind, "yes" if fact.settable else "", fact.where)
        for fact in FACTS.values()
    )
    words = "What can be known of a query. Those marked can be given: `--set FACT=VALUE`."
    return _page("Facts", words, ("fact", "what it is", "values", "--set", "seen in"), rows)


def _metrics() -> str:
    rows = (
        (f"`{one.name}`", one.meaning, one.unit, one.basis, one.per, ", ".join(one.phases)) for one in METRICS.values()
    )
    words = "Every number that a rule may read. Only wall time may promise milliseconds."
    return _page("Metrics", words, ("metric", "what it is", "unit", "basis", "one value per", "phases"), rows)


def _schema(title: str, schema: dict[str, Any]) -> str:
    kinds = dict(schema.get("$defs", {}))
    if "properties" in schema:
        kinds = {schema.get("title", title): schema} | kinds
    parts = [f"# {title}\n"]
    for name, kind in kinds.items():
        parts.append(f"## {name}\n")
        if kind.get("description"):
            parts.append(_text(inspect.cleandoc(kind["description"])) + "\n")
        rows = [(f"`{key}`", _kind(value), _text(value.get("description", ""))) for key, value in _properties(kind)]
        parts += [_table(("key", "values", ""), rows)] if rows else []
    return "\n".join(parts)


def _properties(kind: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    found: dict[str, dict[str, Any]] = kind.get("properties", {})
    return found.items()


def _kind(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(map(_kind, value["anyOf"]))
    if "enum" in value:
        return ", ".join(f"`{json.dumps(one)}`" for one in value["enum"])
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items') or {})}" if value.get("items") else "list"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"by key: {_kind(value['additionalProperties'])}"
    return json.dumps(value["const"]) if "const" in value else str(value.get("type", "anything"))


def _page(title: str, words: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return f"# {title}\n\n{words}\n\n{_table(columns, ((first, *map(_cell, rest)) for first, *rest in rows))}"


def _cell(words: str) -> str:
    """Words in a table's cell: links that were made here stay."""
    return words if words.startswith("[") else _text(words)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def _text(words: str) -> str:
    return re.sub(r"([|<*_\[\]])", r"\\\1", " ".join(words.split()))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".site"
    build(target)
    print(f"{target / 'site' / 'index.html'}")
    print(f"search needs a server: {sys.executable} -m http.server --directory {target / 'site'}")
