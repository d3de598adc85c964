"""The page in a real Chromium: it opens without a request or an error, and its controls do what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.api import analyze
from advisor.views.page import report_as_page
from tests.views.chromium import Opened
from tests.views.reports import report, slow

pytestmark = pytest.mark.browser
SAMPLES = Path(__file__).parents[2] / "sample_progress"
MANY = 40


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a recorded query that keeps state."""
    path = tmp_path_factory.mktemp("page") / "one.html"
    path.write_text(analyze(SAMPLES / "ST001" / "rocksdb-8-partitions-4.3.0", series=True).to_html())
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of so many queries that they are packed."""
    path = tmp_path_factory.mktemp("page") / "many.html"
    queries = [slow() | {"id": f"{n:036}", "run_id": f"{n:036}", "name": f"orders-{n:02}"} for n in range(MANY)]
    queries[7]["name"] = "<img src=x onerror=alert(1)>"
    path.write_text(report_as_page(report(*queries)))
    return path


def test_it_opens_without_a_request_or_a_complaint(context: Any, one: Path, many: Path) -> None:
    for path in (one, many):
        opened = Opened(context, path)
        assert opened.asked == [path.as_uri()]
        assert opened.said == []


def test_code_is_copied(context: Any, one: Path) -> None:
    opened = Opened(context, one).page
    opened.get_by_role("button", name="Copy").first.click()
    opened.get_by_role("status").filter(has_text="Copied").wait_for(state="attached")
    assert opened.evaluate("navigator.clipboard.readText()") == opened.locator(".best .code code").first.inner_text()


def test_the_theme_follows_the_machine_until_the_button_is_pressed(context: Any, one: Path) -> None:
    opened = Opened(context, one).page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(paper)
    opened.emulate_media(color_scheme="dark")
    dark = opened.evaluate(paper)
    opened.get_by_role("button", name="Light").click()
    assert light != dark and opened.evaluate(paper) == light


def test_a_table_is_searched_and_sorted(context: Any, many: Path) -> None:
    opened = Opened(context, many).page
    rows = opened.locator("#queries tbody tr")
    opened.keyboard.press("/")
    opened.keyboard.type("orders-3")
    assert rows.filter(visible=True).count() == 10
    assert opened.locator("#found").inner_text() == f"10 of {MANY}"
    opened.get_by_role("searchbox").fill("")
    heading = opened.get_by_role("columnheader", name="query")
    for direction, first in (("ascending", "<img"), ("descending", "orders-39")):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == direction
        assert rows.first.locator("th").inner_text().startswith(first)


def test_a_packed_query_opens_by_keyboard_and_closes_again(context: Any, many: Path) -> None:
    opened = Opened(context, many)
    page = opened.page
    page.get_by_role("link", name="orders-33", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator("article.open").wait_for()
    assert "orders-33" in page.locator("article.open h2").inner_text()
    assert not page.locator("#all").is_visible()
    page.get_by_role("link", name="All queries").press("Enter")
    page.locator("#all").wait_for()
    assert page.locator("article.open").count() == 0
    assert opened.said == [] and opened.asked == [many.as_uri()]


def test_hostile_names_stay_text_in_a_packed_query(context: Any, many: Path) -> None:
    opened = Opened(context, many)
    opened.page.get_by_role("link", name="<img src=x onerror=alert(1)>").click()
    opened.page.locator("article.open").wait_for()
    assert opened.page.locator("img").count() == 0
    assert opened.asked == [many.as_uri()] and opened.said == []


def test_the_policy_stops_a_script_that_got_in(context: Any, one: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    hostile = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    broken.write_text(one.read_text().replace("</main>", f"{hostile}</main>"))
    opened = Opened(context, broken)
    assert opened.page.title() != "owned"
    assert any("Content Security Policy" in words for words in opened.said)


def test_print_shows_what_is_folded_and_hides_what_is_pressed(context: Any, one: Path) -> None:
    opened = Opened(context, one).page
    closed = opened.locator("details:not([open])").count()
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.emulate_media(media="print")
    assert closed and opened.locator("details:not([open])").count() == 0
    assert not opened.locator("#theme").is_visible() and not opened.locator(".copy").first.is_visible()
    opened.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.locator("details:not([open])").count() == closed
    assert opened.pdf().startswith(b"%PDF")


CUT = """[...document.querySelectorAll('.wide')].filter(each => each.clientWidth && each.scrollWidth > each.clientWidth)
.map(each => each.getAttribute('aria-label'))"""
"""The tables of which a part is outside the picture."""


@pytest.mark.parametrize("width", [360, 1000])
def test_neither_a_phone_nor_half_a_screen_scrolls_sideways(context: Any, one: Path, many: Path, width: int) -> None:
    for path in (one, many):
        opened = Opened(context, path).page
        opened.set_viewport_size({"width": width, "height": 740})
        opened.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.evaluate(CUT) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(context: Any, one: Path, many: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for address in (one.as_uri(), many.as_uri(), f"{many.as_uri()}#q3"):
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, json.dumps(
            [(one["id"], [n["html"] for n in one["nodes"][:2]]) for one in serious], indent=1
        )


WIDTHS = {"light": 1000, "dark": 1000, "phone": 360, "print": 718}
"""Of each look, in pixels; a sheet of A4 between usual margins has 718."""
PICTURES = Path(__file__).parents[2] / ".screenshots"
"""To be looked at; no picture is compared with another, as each machine draws letters in its own way."""


@pytest.mark.parametrize("look", WIDTHS)
def test_a_screenshot_is_kept_of_each_look(context: Any, one: Path, many: Path, look: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    for path in (one, many):
        opened = Opened(context, path).page
        opened.set_viewport_size({"width": WIDTHS[look], "height": 800})
        opened.emulate_media(**{"dark": {"color_scheme": "dark"}, "print": {"media": "print"}}.get(look, {}))
        kept = opened.screenshot(path=PICTURES / f"{path.stem}-{look}.png", full_page=True, animations="disabled")
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert len(set(kept)) == 256, "a blank picture holds few different bytes"


def test_the_picture_in_the_readme_is_of_the_report_beside_it(context: Any, tmp_path: Path, request: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(analyze(SAMPLES / "LG001/rate-to-noop-4.3.0/driver.log.gz", series=True).to_html())
    opened = Opened(context, path).page
    opened.set_viewport_size({"width": 1000, "height": 1320})
    assert "119 ms of 183 ms" in opened.locator(".verdict").inner_text()
    if request.config.getoption("--write-golden"):
        opened.screenshot(path=PICTURES.parent / "docs/page.png", animations="disabled")
