"""What several files say of the project must agree: README, Makefile, packaging, the shipped sample."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor.catalogue import load as load_rules
from advisor.cli import main
from advisor.config import load
from advisor.demo import sample

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_REPORT = re.compile(r"(<!-- report: latency-advisor (.+?) -->\n```text\n)(.*?)(```\n<!-- end of report -->)", re.S)


def test_readme_shows_the_report_as_it_is(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    found = _REPORT.search(README)
    assert found
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(main, found[2].split()).output
    if request.config.getoption("--write-golden"):
        page = README[: found.start()] + found[1] + printed + found[4] + README[found.end() :]
        (ROOT / "README.md").write_text(page, encoding="utf-8")
    else:
        assert found[3] == printed


def test_readme_names_options_that_exist() -> None:
    pages = [
        CliRunner().invoke(main, [*command, "--help"]).output
        for command in ([], ["analyze"], ["compare"], ["demo"], ["rules"], ["trial"], ["bench", "offsets"])
    ]
    known = {*re.findall(r"--[a-z-]+", "".join(pages))}
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    used = {
        option
        for block in blocks
        for line in block.splitlines()
        if line.startswith("latency")
        for option in re.findall(r" (--[a-z-]+)", line)
    }
    assert used and used <= known


def test_the_configuration_in_readme_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(ignore:.*?)```", README, re.S)
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
