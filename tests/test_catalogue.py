"""Rule files: read, checked as a whole, resolved; what is generated from them is up to date."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.catalogue import Catalogue, Step, load, rules_directory, rules_to_judge_by
from advisor.catalogue.check import Written, check, read
from advisor.catalogue.rule import RETIRED
from advisor.errors import CatalogueError
from advisor.views.rules import reference
from tests.generated import ROOT, generated, of_rules

_TABLES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
RULE: dict[str, Any] = _TABLES["rule"]
STEP: dict[str, Any] = RULE["steps"][0]


def own(folder: Path, rule: dict[str, Any], name: str = "XX001-own-rule.yaml") -> Path:
    """A directory of a team's own rules that holds this one."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(yaml.safe_dump(rule, sort_keys=False), encoding="utf-8")
    return folder


def changed(path: str, value: Any) -> dict[str, Any]:
    """The rule above with the value at `path` replaced; None takes the key away."""
    rule = copy.deepcopy(RULE)
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place: Any = rule
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return rule


def wrong(folder: Path, rule: dict[str, Any], name: str = "XX001-own-rule.yaml") -> list[str]:
    """What `load` says about it, a line per problem."""
    with pytest.raises(CatalogueError) as caught:
        load([own(folder, rule, name)])
    return str(caught.value).splitlines()


ODD = (
    None, True, -1, 1.5, float("nan"), float("inf"), 10**18, 400 * "9", "", "x", "{", [], [None], {}, {"use": 1},
    {1: 2},
)  # fmt: skip


def places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of what a file holds."""
    keys = list(content) if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in keys:
        yield content, key
        yield from places(content[key])


def test_odd_values_at_any_place_are_problems_and_never_another_error(tmp_path: Path) -> None:
    rule = copy.deepcopy(RULE)
    path = own(tmp_path / "own", rule) / "XX001-own-rule.yaml"
    refused = 0
    for container, key in list(places(rule)):
        kept = container[key]
        for odd in ODD:
            container[key] = odd
            path.write_text(yaml.safe_dump(rule), encoding="utf-8")
            found = read(path, "own/rule.yaml")
            refused += bool(check([found]) if isinstance(found, Written) else found)
        container[key] = kept
    assert refused > 300


def test_a_teams_own_rules_come_beside_the_shipped_ones(tmp_path: Path, catalogue: Catalogue) -> None:
    loaded = load([own(tmp_path / "own", RULE), rules_directory()])  # which is read once
    assert loaded.rules.keys() == catalogue.rules.keys() | {"XX001"}
    rule = loaded.rules["XX001"]
    assert (rule.file, rule.steps[0].home) == ("own/XX001-own-rule.yaml", "XX001")
    assert (rule.requires[0].operator, rule.requires[0].operand) == ("is", False)


def test_a_rule_asks_more_of_a_step_that_it_borrows(tmp_path: Path, catalogue: Catalogue) -> None:
    more = {"fact": "stateful", "is": False}
    loaded = load([own(tmp_path / "own", changed("steps.0", {"use": "async-progress", "when": [more]}))])
    shared = catalogue.steps["async-progress"]
    (borrowed,) = loaded.rules["XX001"].steps
    assert [line.fact for line in borrowed.when] == [*(line.fact for line in shared.when), "stateful"]
    assert (borrowed.id, borrowed.legal, loaded.steps["async-progress"].when) == (shared.id, shared.legal, shared.when)


@pytest.mark.parametrize(("path", "value", "said"), _TABLES["wrong"])
def test_what_is_wrong_is_said_with_file_and_key(tmp_path: Path, path: str, value: Any, said: str) -> None:
    lines = wrong(tmp_path / "own", changed(path, value))
    assert any(line.startswith("own/XX001-own-rule.yaml: ") and said in line for line in lines), lines


def test_one_fault_of_an_example_is_one_line(tmp_path: Path) -> None:
    (line,) = wrong(tmp_path / "own", {**RULE, "examples": [{**RULE["examples"][0], "batches": {"count": -3}}]})
    assert "examples.0.batches.count" in line


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    first = changed("measure.metric", "nothing_like_it")
    first["explains"] = ["ZZ999"]
    own(tmp_path / "own", first)
    (tmp_path / "own" / "other.yaml").write_text("title: [", encoding="utf-8")
    (tmp_path / "own" / "list.yaml").write_text("- 1", encoding="utf-8")
    lines = wrong(tmp_path / "own", first)
    assert len(lines) == 4
    assert lines[0].startswith("own/list.yaml: contains no rule")
    assert lines[1].startswith("own/other.yaml: line 2: while parsing")


@pytest.mark.parametrize(
    ("change", "name", "folder", "said"),
    [
        ({}, "XX001.yaml", "own", "id: the file of this rule is called XX001-own-rule.yaml"),
        ({"id": "LG009"}, "LG009-own-rule.yaml", "state", "id: rules LG… lie in the folder log"),
        ({"id": "LG001"}, "LG001-own-rule.yaml", "own", "id: rule 'LG001' stands in rules/log/LG001-"),
    ],
)
def test_ids_names_and_folders(tmp_path: Path, change: dict[str, Any], name: str, folder: str, said: str) -> None:
    assert any(said in line for line in wrong(tmp_path / folder, RULE | change, name))


def test_a_retired_id_is_never_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RETIRED, "XX001", "old-meaning")
    assert "XX001 was used for 'old-meaning' and is never used again" in wrong(tmp_path / "own", RULE)[0]


def test_yaml_hides_nothing_and_a_missing_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("id: XX001\nid: XX002\n", encoding="utf-8")
    for place, said in ((tmp_path, r"twice\.yaml: line \d+: the key 'id' stands twice"),
                        (tmp_path / "nowhere", "nowhere: no such directory")):  # fmt: skip
        with pytest.raises(CatalogueError, match=said):
            load([place])


def test_yes_and_no_are_words_and_falling_levels_mean_that_less_is_worse(tmp_path: Path, catalogue: Catalogue) -> None:
    falling = changed("examples.0.expect.steps", {"do-it": "yes"}) | {"levels": {"low": 10, "medium": 5, "high": 1}}
    text = yaml.safe_dump(falling).replace("'yes'", "yes")
    (tmp_path / "XX001-own-rule.yaml").write_text(text, encoding="utf-8")
    rule = load([tmp_path]).rules["XX001"]
    assert (rule.falling, catalogue.rules["LG001"].falling) == (True, False)
    assert {answer for example in rule.examples for answer in example.expect.steps.values()} == {"yes"}


def test_a_step_is_borrowed_with_its_own_conditions_and_its_undo_is_a_step(catalogue: Catalogue) -> None:
    borrowed = next(step for step in catalogue.rules["CF002"].steps if step.id == "async-progress")
    assert borrowed == catalogue.rules["LG001"].steps[0] == catalogue.steps["async-progress"]
    undo = borrowed.undo
    assert isinstance(undo, Step) and borrowed.home == "steps"
    assert (undo.id, len(undo.stages), undo.undo) == ("async-progress-off", 2, "Track progress asynchronously.")


def test_a_rule_cannot_be_changed(catalogue: Catalogue) -> None:
    with pytest.raises(ValueError, match="frozen"):
        catalogue.rules["LG001"].title = "other"


def test_every_rule_has_its_place_in_the_reference(catalogue: Catalogue) -> None:
    page = reference(catalogue.rules.values(), catalogue.steps.values(), whole=True)
    assert all(f"## {rule.id} {rule.slug}" in page for rule in catalogue.rules.values())
    assert all(f"### {step}\n" in page for step in catalogue.steps)
    assert "`offset_log_share` (share, typical): low from 0.1, medium from 0.2, high from 0.4" in page


def test_the_schema_knows_the_words_of_the_grammar() -> None:
    defined = json.loads(json.dumps(of_rules()))["$defs"]
    assert {"is", "in", "else", "spark", "platform"} <= defined["Condition"]["properties"].keys()
    assert defined["Rule"]["additionalProperties"] is False
    assert "step" in defined["SharedStep"]["required"]


def test_what_is_generated_is_up_to_date() -> None:
    made = generated()
    assert {path: (ROOT / path).read_text("utf-8") for path in made} == made, "run `make rules`"


def test_the_rules_to_judge_by_are_those_that_are_checked_but_for_their_examples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = load()
    monkeypatch.setitem(rules_to_judge_by.__globals__, "load", None)  # nothing of them needs the check
    quick = rules_to_judge_by()
    assert (quick.phases, quick.steps, [*quick.rules]) == (checked.phases, checked.steps, [*checked.rules])
    for id, rule in checked.rules.items():
        without = [field for field in type(rule).model_fields if field != "examples"]
        assert [getattr(quick.rules[id], name) for name in without] == [getattr(rule, name) for name in without]
        assert [*quick.rules[id].levels] == [*rule.levels]


def test_a_broken_file_among_the_projects_own_rules_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shutil.copytree(rules_directory(), tmp_path / "rules")
    (own / "log" / "LG001-offset-log-on-critical-path.yaml").write_text("id: [LG001\n")
    for reads in (load, rules_to_judge_by):
        monkeypatch.setitem(reads.__globals__, "rules_directory", lambda: own)
    with pytest.raises(CatalogueError, match="LG001-offset-log"):
        rules_to_judge_by()


def test_no_rule_takes_what_nothing_shows_for_an_exclusion(catalogue: Catalogue) -> None:
    lines = [(rule.id, line) for rule in catalogue.rules.values() for line in rule.unless if line.fact is not None]
    assert [id for id, line in lines if line.operator == "known" and not line.operand] == []
