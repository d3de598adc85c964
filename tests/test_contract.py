"""The types of the report: words in order, what becomes of defaults, the schema."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from advisor import contract
from advisor.vocabulary import LEGAL, LEVELS, TAKES, at_once, worst
from tests.generated import of_reports
from tests.views.reports import plain_report, slow


def test_words_stand_in_their_order() -> None:
    assert (LEVELS, LEGAL) == (("low", "medium", "high"), ("yes", "if", "no"))
    assert TAKES == ("nothing", "restart", "stages", "new_checkpoint")
    assert (worst(["low", "high", "medium"]), worst([])) == ("high", None)
    assert at_once(["unspecified", "available_now"]).startswith("default trigger, AvailableNow, or")
    assert at_once(["unspecified"]) == at_once(None) and at_once(None).startswith("default trigger, or")


def test_a_report_is_the_same_after_it_was_json() -> None:
    made = msgspec.convert(plain_report(slow()), contract.Report)
    assert msgspec.json.decode(contract.encoded(made), type=contract.Report) == made
    assert msgspec.json.decode(contract.encoded(made)) == contract.plain(made)


def test_what_has_its_default_is_not_in_the_json() -> None:
    data = contract.plain(msgspec.convert(plain_report(slow()), contract.Report))
    assert not {"session", "comparisons"} & data.keys()
    assert not {"idle_since", "series"} & data["queries"][0].keys()
    assert "read_by_jvm" not in data["input"]
    assert data["queries"][0]["metrics"]["record_latency_ms"] == {"p50": 133.0, "p99": 247.0, "unit": "ms"}
    assert contract.plain(contract.Change(conf={"a": "b"})) == {"conf": {"a": "b"}}


def test_an_interval_without_a_value_says_so_and_what_json_does_not_have_is_refused() -> None:
    assert contract.plain(contract.Metric(low=1.0, value=None, high=2.0)) == {"low": 1.0, "value": None, "high": 2.0}
    with pytest.raises(ValueError, match="JSON compliant"):
        contract.as_json(contract.Metric(low=1.0, value=float("nan"), high=2.0))


def test_numbers_of_numpy_become_plain_ones() -> None:
    made = contract.Metric(p50=np.float64(1.5), unit="ms")
    assert contract.plain(made) == {"p50": 1.5, "unit": "ms"}
    assert contract.encoded(made) == b'{"p50":1.5,"unit":"ms"}'
    with pytest.raises(NotImplementedError, match="cannot hold a _Odd"):
        contract.plain(contract.FactEntry(value=_Odd(), origin=None))


class _Odd:
    """Nothing that JSON has."""


def test_the_schema_names_words_and_what_must_be_there() -> None:
    definitions = of_reports()["$defs"]
    assert definitions["Finding"]["properties"]["level"] == {"enum": ["high", "low", "medium"]}
    assert "from" in definitions["FactEntry"]["required"]
    assert "series" not in definitions["QueryEntry"]["required"]
