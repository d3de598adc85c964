"""The properties of `make fuzz`, each for a few inputs that are always the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.__main__ import kept_for
from tests.fuzz.inputs import Input
from tests.fuzz.passes import PROPERTIES


@pytest.mark.parametrize("name", PROPERTIES)
def test_any_input_is_read_or_refused(name: str) -> None:
    inputs, holds = PROPERTIES[name]
    few = settings(max_examples=8, suppress_health_check=list(HealthCheck))
    few(given(inputs)(holds))()


def test_an_input_that_fails_is_kept(tmp_path: Path) -> None:
    def fails(one: Input) -> None:
        raise ValueError(one.raw)

    with pytest.raises(ValueError, match="made"):
        kept_for("odd-run", fails, tmp_path)(Input(b"made"))
    (path,) = tmp_path.iterdir()
    assert (path.name.rpartition("-")[0], path.read_bytes()) == ("odd-run", b"made")
