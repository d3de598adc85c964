"""A first rule: written, tested, changed, and what a failing example says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from advisor.catalogue import load
from advisor.catalogue.skeleton import free, skeleton, write_new
from advisor.cli import main
from advisor.errors import UsageError


def asked(*words: str) -> Result:
    return CliRunner().invoke(main, ["rules", *words])


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A directory with a new rule."""
    assert asked("new", "my001", "--slug", "slow-planning", "--rules", str(tmp_path)).exit_code == 0
    return tmp_path


def changed(team: Path, old: str, new: str) -> Result:
    """What the test of the rule says once its file was changed."""
    (file,) = team.glob("*.yaml")
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return asked("test", "MY001", "--rules", str(team))


def test_a_new_rule_is_in_order_and_answers_its_own_examples(team: Path) -> None:
    assert [file.name for file in team.iterdir()] == ["MY001-slow-planning.yaml"]
    assert asked("check", str(team)).exit_code == 0
    tested = asked("test", "my001", "--rules", str(team))
    assert tested.exit_code == 0
    assert [line.split()[0] for line in tested.output.splitlines()] == ["ok", "ok", "ok"]


def test_a_title_does_not_command_the_terminal(team: Path) -> None:
    assert changed(team, "title: ", 'title: "\\e[31mRED" # ').exit_code == 0
    for command in (("list",), ("show", "MY001")):
        said = asked(*command, "--rules", str(team)).output
        assert "31mRED" in said and "\x1b[31m" not in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("queryPlanning: 20, addBatch: 360", "queryPlanning: 220, addBatch: 160",
         "expected quiet, got fires, because query_planning_share is 55"),
        ("queryPlanning: 200,", "queryPlanning: 20,", "expected fires, got quiet, because "),
        ("facts: {stateful: false, trigger: unspecified, spark", "facts: {stateful: true, trigger: unspecified, spark",
         "expected fires, got quiet, because stateful is true"),
        ("trigger: unspecified, spark", "trigger: real_time, spark", "got quiet, because trigger is real_time"),
        ("count: 60", "count: 3", "expected fires, got skipped, because needs 10 steady batches, there are 3"),
        ("queryPlanning: 200, addBatch: 180", "queryPlanning: 300, addBatch: 180",
         "the phases of `row` together are longer than its triggerExecution"),
        ("level: medium", "level: high", "expected level high, got medium, because query_planning_share is 50"),
        ("because: stateful", "because: sink", "which does not name 'sink'"),
        ("unknown: [stateful]", "unknown: []", "expected skipped, got fires"),
        ("at_least: 50", "at_least: 5000", "it is not shown, because "),
        ('spark_version: "4.0.0"', 'spark_version: "2.4.0"', "got no, because say here what Spark does with it"),
    ],
)  # fmt: skip
def test_a_failing_example_names_what_decides(team: Path, old: str, new: str, said: str) -> None:
    tested = changed(team, old, new)
    assert tested.exit_code == 2
    assert said in tested.output and "FAILED" in tested.output


def test_what_is_no_fact_or_stands_twice_is_refused(team: Path) -> None:
    assert "no fact 'statefull'" in changed(team, "unknown: [stateful]", "unknown: [statefull]").output
    said = changed(team, "unknown: [statefull]", "unknown: [trigger]").output
    assert "'trigger' stands in 'facts', too" in said
    unread = changed(team, "fact: stateful,", 'fact: "conf:spark.ui.port",').output
    assert "settings are read for 'conf:spark.ui.port'" in unread


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("LG001", "is taken: Every batch waits for the offset and commit logs; LG"),
        ("LG01", "'LG01' is not a rule id; LG"),
        ("1", "write two letters and three digits"),
    ],
)
def test_an_id_is_given_once(tmp_path: Path, id: str, said: str) -> None:
    with pytest.raises(UsageError, match="rules new") as refused:
        write_new(id, "x", tmp_path, load())
    assert said in str(refused.value)


def test_where_a_new_rule_is_written(tmp_path: Path) -> None:
    (tmp_path / "planning").mkdir()
    assert write_new("PL009", "x", tmp_path, load()) == tmp_path / "planning" / "PL009-x.yaml"
    with pytest.raises(UsageError, match="there is no such directory"):
        write_new("MY001", "x", tmp_path / "none", load())
    assert free("MY", load()) == "MY001"
    assert "id: MY001\nslug: some-words\n" in skeleton("MY001", "some-words")
    assert "did you mean 'LG001'?" in asked("test", "LG01").output
