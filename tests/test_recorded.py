"""The program says of every recorded case what it said before.

Where a change means to say something else: `python -m tests.recorded write` before and after it, `compare`, read each
difference, then `pytest tests/test_recorded.py --write-golden`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorded import CASES, digest, said

STORED = Path(__file__).with_name("recorded.json")


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_case_gets_the_same_report(case: str, request: pytest.FixtureRequest) -> None:
    found = {name: digest(text) for name, text in said(case).items()}
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if request.config.getoption("--write-golden"):
        STORED.write_text(json.dumps(stored | {case: found}, indent=1, sort_keys=True) + "\n")
    else:
        assert found == stored[case]


def test_each_stored_case_is_there() -> None:
    assert sorted(json.loads(STORED.read_text())) == CASES
