"""Most credentials of an attack are hidden, and hardly a text that only looks like one."""

from __future__ import annotations

import pytest

from advisor.redaction import hide, hide_lines, redact, redact_data
from tests.redaction.shapes import ATTACKED, LOOK_ALIKES, VALUES
from tests.redaction.test_redaction import left_of

READABLE = {"jwt over lines"}
"""What stays readable in an error message of several lines; docs/get-a-log.md says so."""


def readable(text: str, said: str) -> list[str]:
    """The credentials of a text that can be read in what is said of it."""
    return [value for value in VALUES.values() if value in text and left_of(value, said)]


def test_enough_are_tried() -> None:
    assert len(ATTACKED) >= 80 and len(set(LOOK_ALIKES)) >= 60
    assert len(READABLE) <= 4


@pytest.mark.parametrize("name", ATTACKED)
def test_a_credential_is_hidden_on_one_line_and_over_lines_and_in_json(name: str) -> None:
    text = ATTACKED[name]
    said = [redact(text), hide(text), hide_lines(text), str(redact_data({"description": text}))]
    assert [left for each in said for left in readable(text, each)] == [] or name in READABLE


def test_what_only_looks_so_stays() -> None:
    assert [text for text in LOOK_ALIKES if hide(text) != text] == LOOK_ALIKES[3:4]  # the ARN of a stored secret
