"""What Spark did with each cell of the matrix, asked of the rules; and a few cells on the Spark of this environment."""

from __future__ import annotations

import pytest

from advisor.catalogue import Catalogue
from advisor.facts.confs import unknown_settings
from tests.legality import outcomes, verdicts
from tests.legality.cells import cells, matrix

RUN = [version for version in outcomes.VERSIONS if outcomes.read(version)["cells"]]


@pytest.mark.parametrize("version", RUN)
def test_rules_and_spark_agree_about_each_cell(version: str, catalogue: Catalogue) -> None:
    assert verdicts.disagreements(outcomes.read(version), catalogue) == []


def test_every_cell_of_the_matrix_was_run_on_the_newest_spark() -> None:
    newest = outcomes.VERSIONS[-1]
    run = {(cell["step"], cell["query"]) for cell in outcomes.read(newest)["cells"]}
    assert run == {(cell.step, cell.name) for cell in cells(newest)}


def test_the_package_holds_what_was_run() -> None:
    assert outcomes.WRITTEN.read_text() == outcomes.summary()


def test_each_step_of_the_matrix_is_one_of_the_rules(catalogue: Catalogue) -> None:
    assert set(matrix()["steps"]) <= set(catalogue.steps)


def test_a_wrong_rule_is_named(catalogue: Catalogue) -> None:
    run = outcomes.read(RUN[-1])
    turned = {"refused": "takes effect", "takes effect": "refused"}
    cells = [cell | {"outcome": turned.get(cell["outcome"], cell["outcome"])} for cell in run["cells"]]
    named = " ".join(verdicts.disagreements(run | {"cells": cells}, catalogue))
    assert all(f" {step}," in named for step in ("async-progress", "no-row-count", "continuous-processing"))


@pytest.mark.parametrize("version", RUN)
def test_no_setting_that_spark_lists_is_called_unknown(version: str) -> None:
    listed = outcomes.read(version)["listed"]
    assert len(listed) >= 15
    assert unknown_settings(listed, version) is None
    assert unknown_settings(listed, None) is None
