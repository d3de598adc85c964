"""Most credentials of an attack are hidden, and hardly a text that only looks like one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import advisor
from advisor.cli import main
from advisor.redaction import hide, hide_lines, redact, redact_data
from advisor.sources.listener.store import History
from advisor.views.markdown import report_as_markdown
from tests.redaction.test_places import a_log, an_event
from tests.redaction.test_redaction import left_of
from tests.sources.sessions import Made, ended, progress, recorder, tell

MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6kL8n"
VALUES = {
    "secret": "Zq7xPw91Lk", "mixed": MIXED, "long": (MIXED[::-1] * 3), "hex": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    "digest": "90ab12cd34ef56" * 4 + "0011aabb",
}  # fmt: skip
_WRITTEN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("attacked.yaml").read_text(encoding="utf-8"))
CREDENTIALS: dict[str, str] = {name: form.format(o="", **VALUES) for name, form in _WRITTEN["credentials"].items()}
LOOK_ALIKES: list[str] = _WRITTEN["look_alikes"]
READABLE = {"jwt over lines"}
"""What stays readable in an error message of several lines; docs/get-a-log.md says so."""


def readable(text: str, said: str) -> list[str]:
    """The credentials of a text that can be read in what is said of it."""
    return [value for value in VALUES.values() if value in text and left_of(value, said)]


def test_enough_are_tried() -> None:
    assert len(CREDENTIALS) >= 80 and len(set(LOOK_ALIKES)) >= 60
    assert len(READABLE) <= 4


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_is_hidden_on_one_line_and_over_lines_and_in_json(name: str) -> None:
    text = CREDENTIALS[name]
    said = [redact(text), hide(text), hide_lines(text), str(redact_data({"description": text}))]
    assert [left for each in said for left in readable(text, each)] == [] or name in READABLE


def test_what_only_looks_so_stays() -> None:
    assert [text for text in LOOK_ALIKES if hide(text) != text] == LOOK_ALIKES[3:4]  # the ARN of a stored secret


def readable_names(said: str) -> list[str]:
    """The values that an output holds whole."""
    return [name for name, value in VALUES.items() if value in said]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of a query for each credential, which stands wherever Spark prints what a user gave."""
    place = tmp_path_factory.mktemp("attacked") / "driver.log"
    place.write_text("".join(a_log(text, nth) for nth, text in enumerate(CREDENTIALS.values())), encoding="utf-8")
    return place


def test_no_output_of_the_command_holds_one(log: Path) -> None:
    ran = CliRunner().invoke(main, ["analyze", str(log), "--all"])
    assert ran.exit_code == 0 and "redacted" in ran.output
    assert readable_names(ran.output) == []


def test_no_form_page_card_frame_or_saved_table_holds_one(log: Path, tmp_path: Path) -> None:
    shown = advisor.analyze(log)
    frames = [advisor.read_progress(log), advisor.read_sightings(log)]
    said = [shown.to_html(), shown._repr_html_(), shown.to_json(), report_as_markdown(shown.typed, everything=True)]
    said += [shown.findings.to_csv(), json.dumps(shown.data)]
    said += [frame.to_csv() for frame in frames]
    frames[0].drop(columns=["operators", "sources"]).to_parquet(tmp_path / "batches.parquet", compression=None)
    assert [readable_names(each) for each in said] == [[]] * len(said)
    assert readable_names((tmp_path / "batches.parquet").read_bytes().decode("latin-1")) == []


def test_no_history_holds_one(tmp_path: Path) -> None:
    listening = recorder(Made(), history=History(tmp_path))
    for nth, text in enumerate(CREDENTIALS.values()):
        tell(listening, ("progress", progress(an_event(text, nth))), ("ended", ended(f"Exception: {text}")))
    reading = listening.reading()
    listening.stop(30)
    (path,) = tmp_path.iterdir()
    assert reading.events == len(CREDENTIALS)
    assert readable_names(path.read_text() + str(reading.batches.to_pylist())) == []
