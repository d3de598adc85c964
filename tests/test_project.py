"""What several files say of the project must agree: README, Makefile, packaging, the shipped sample."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor.catalogue import load as load_rules
from advisor.cli import main
from advisor.config import load
from advisor.demo import sample

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}
READING = "reading-a-report.md"
_REPORT = re.compile(r"(<!-- report: latency-advisor (.+?) -->\n```text\n)(.*?)(```\n<!-- end of report -->)", re.S)


def test_the_report_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    whole, begun = _REPORT.search(DOCS[READING]), _REPORT.search(README)
    assert whole and begun and whole[2] == begun[2]
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(main, whole[2].split()).output
    first = "".join(printed.splitlines(keepends=True)[: begun[3].count("\n")])
    if request.config.getoption("--write-golden"):
        (ROOT / "docs" / READING).write_text(_shown(DOCS[READING], whole, printed), encoding="utf-8")
        (ROOT / "README.md").write_text(_shown(README, begun, first), encoding="utf-8")
    else:
        assert (whole[3], begun[3]) == (printed, first)


def test_the_line_of_capacity_is_shown_as_it_is() -> None:
    folder, line = re.findall(r"\((sample_progress/TR006/[^)]+)\)[^`]+`--target (?:p99=4s)`:\n`([^`]+)`", README)[0]
    printed = CliRunner().invoke(main, ["analyze", str(ROOT / folder), "--target", "p99=4s"]).output
    assert line in printed


def _shown(page: str, found: re.Match[str], printed: str) -> str:
    return page[: found.start()] + found[1] + printed + found[4] + page[found.end() :]


def test_readme_is_short() -> None:
    assert README.count("\n") <= 150


def test_links_of_readme_and_documentation_lead_somewhere() -> None:
    pages = {ROOT / "README.md": README, **{ROOT / "docs" / name: text for name, text in DOCS.items()}}
    for page, text in pages.items():
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
            path, _, heading = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists(), f"{page.name}: {target}"
            if heading:
                assert heading in _headings(linked.read_text(encoding="utf-8")), f"{page.name}: {target}"


def _headings(text: str) -> list[str]:
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_the_configuration_that_is_shown_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(ignore:.*?)```", DOCS["configuration.md"], re.S)
    (tmp_path / "advisor.yaml").write_text(example, encoding="utf-8")
    config = load(tmp_path / "advisor.yaml", load_rules().rules)
    assert config.ignore and config.queries


def test_ci_runs_the_test_command_of_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in README and script.rstrip().endswith("exec make test")


def test_the_wheel_carries_the_sample_that_the_demonstration_shows() -> None:
    packaging = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    shown = sample().relative_to(ROOT).as_posix()
    assert f'"{shown}" = "advisor/_sample/{sample().name}"' in packaging
    assert sample().is_file()


def test_constraints_name_versions_and_no_places() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    form = re.compile(r'[A-Za-z0-9._-]+==[A-Za-z0-9.]+(; python_version (<|>=) "3\.\d+")?')
    assert all(form.fullmatch(line) for line in lines if not line.startswith("#"))


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "advisor").rglob("*.py")
}


def imported(module: str) -> set[str]:
    """The project's modules that a module waits for while it is imported, besides the packages around it."""
    found: set[str] = set()
    rest: list[ast.AST] = list(ast.parse(MODULES[module].read_text(encoding="utf-8")).body)
    while rest:
        node = rest.pop()
        if isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{one.name}" for one in node.names}
            found |= names | {str(node.module)} if names - {*MODULES} else names
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            rest += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            rest += ast.iter_child_nodes(node)
    found &= {*MODULES}
    return (found | set().union(*map(packages, found)) - packages(module)) - {module}


def packages(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts))}


def test_every_module_can_be_the_first_that_is_imported() -> None:
    """Whoever attaches first imports other modules first than whoever reads a log; without a circle both can."""
    assert len(MODULES) > 200
    TopologicalSorter({module: imported(module) for module in MODULES}).prepare()
