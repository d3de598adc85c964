"""The notebook that needs no Spark: one output for each cell, and what they show in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.executed import as_page, cells, executed, kinds
from tests.views.chromium import Opened

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]


@pytest.fixture(scope="module")
def notebook() -> Any:
    return executed(Path(__file__).with_name("files.ipynb"))


@pytest.fixture(scope="module")
def page(notebook: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notebook") / "outputs.html"
    path.write_text(as_page(notebook), encoding="utf-8")
    return path


def test_each_cell_shows_one_output(notebook: Any) -> None:
    shown = kinds(notebook)
    assert shown.pop("report = advisor.analyze(LOG)") == []
    assert len(shown) == 3 and set(map(tuple, shown.values())) == {("execute_result",)}
    for cell in cells(notebook).values():
        assert all({"text/html", "text/plain"} <= set(output.data) for output in cell.outputs)


def test_the_outputs_open_without_a_request_or_a_complaint(context: Any, page: Path) -> None:
    opened = Opened(context, page)
    assert opened.asked == [page.as_uri()] and opened.said == []
    assert opened.page.locator(".output").count() == 3
    drawn = opened.page.locator(".output figure svg[role=img]")
    assert drawn.count() >= 2 and all(box.bounding_box()["width"] > 200 for box in drawn.all())


def test_a_cell_copies_its_code_without_a_script_of_its_own(context: Any, page: Path) -> None:
    opened = Opened(context, page).page
    opened.get_by_role("button", name="Copy").first.click()
    opened.get_by_role("button", name="Copied").first.wait_for()
    assert opened.evaluate("navigator.clipboard.readText()") == opened.locator(".best code").first.inner_text()


@pytest.mark.parametrize(("scheme", "attribute"), [("light", "false"), ("dark", "true")])
def test_a_card_takes_the_look_of_its_notebook(context: Any, page: Path, scheme: str, attribute: str) -> None:
    opened = Opened(context, page).page
    opened.emulate_media(color_scheme=scheme)
    paper = "getComputedStyle(document.querySelector('.sla')).backgroundColor"
    machine = opened.evaluate(paper)
    opened.evaluate(f"document.body.setAttribute('data-jp-theme-light', '{attribute}')")
    assert opened.evaluate(paper) != machine


def test_a_card_styles_nothing_outside_it(context: Any, page: Path) -> None:
    opened = Opened(context, page).page
    opened.evaluate("document.body.insertAdjacentHTML('beforeend', '<p id=other>text</p>')")
    look = "JSON.stringify(['margin', 'color', 'font'].map(k => getComputedStyle(document.getElementById('other'))[k]))"
    with_cards = opened.evaluate(look)
    opened.evaluate("document.querySelectorAll('.output').forEach(each => each.remove())")
    assert opened.evaluate(look) == with_cards


def test_the_style_of_a_front_end_does_not_reach_into_a_card(context: Any, page: Path) -> None:
    opened = Opened(context, page).page
    look = "(at, what) => getComputedStyle(document.querySelector(at))[what]"
    wanted = {".sla dt": ("float", "none"), ".fall tbody th": ("textAlign", "left"), ".fall": ("tableLayout", "auto")}
    for at, (what, value) in wanted.items():
        assert opened.evaluate(f"({look})('{at}', '{what}')") == value


def test_a_narrow_cell_does_not_scroll_sideways(context: Any, page: Path) -> None:
    opened = Opened(context, page).page
    opened.set_viewport_size({"width": 400, "height": 800})
    wide = "[...document.querySelectorAll('.sla')].filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert opened.evaluate(wide) == 0
