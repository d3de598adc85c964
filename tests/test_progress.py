from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.progress import Broken, Progress, decode, from_object, partial
from advisor.progress.decoding import as_instant, is_event
from advisor.progress.shapes import ABSENT
from tests.sources.variants import compact, dataproc, made, of_event_log, pretty


def an_event(**changed: Any) -> dict[str, Any]:
    return made(1)[0] | changed


def decoded(thing: dict[str, Any]) -> Progress:
    return decode(json.dumps(thing).encode())


def test_an_event_of_the_driver_log() -> None:
    event = decode(pretty(an_event()).encode())
    assert (event.id[:8], event.run_id[:8], event.name, event.batch_id) == ("11111111", "22222222", "made", 10)
    assert event.timestamp == "2026-03-01T02:00:00.300Z"
    assert (event.duration_ms.add_batch, event.duration_ms.commit_batch) == (220, None)
    assert event.num_input_rows == 10
    assert event.sources[0].description == "KafkaV2[Subscribe[orders]]"
    assert json.loads(bytes(event.sources[0].end_offset)) == {"orders": {"0": 15, "1": 25}}
    assert event.state_operators[0].custom_metrics == {"loadedMapCacheHitCount": 5, "rocksdbCommitFlushLatency": 12}
    assert event.sink is not None
    assert event.sink.description == "ForeachBatchSink"
    assert not event.idle


@pytest.mark.parametrize("form", [compact, pretty, repr, lambda event: compact(dataproc(event))])
def test_all_forms_say_the_same(form: Any) -> None:
    plain, other = decode(pretty(an_event()).encode()), decode(form(an_event()).encode())
    assert other.duration_ms == plain.duration_ms
    assert other.state_operators == plain.state_operators
    assert (other.id, other.timestamp, other.num_input_rows) == (plain.id, plain.timestamp, plain.num_input_rows)


def test_the_patient_way_reads_what_the_fast_way_reads() -> None:
    raw = pretty(an_event()).encode()
    patient, fast = partial.decode_patiently(raw), decode(raw)
    for name in ("id", "run_id", "timestamp", "batch_id", "duration_ms", "event_time", "state_operators", "sink"):
        assert getattr(patient, name) == getattr(fast, name)
    assert [json.loads(bytes(s.end_offset)) for s in patient.sources] == [
        json.loads(bytes(s.end_offset)) for s in fast.sources
    ]


def test_totals_that_an_event_log_leaves_out_are_sums() -> None:
    event = decoded(of_event_log(an_event()))
    assert (event.num_input_rows, event.input_rows_per_second, event.processed_rows_per_second) == (10, 10.5, 33.0)


def test_a_total_is_told_only_where_every_source_tells_its_part() -> None:
    event = of_event_log(an_event())
    (source,) = event["sources"]
    silent = {key: value for key, value in source.items() if key != "numInputRows"}
    given = ([source, source], [source, silent], [])
    rows = [decoded(event | {"sources": sources}).num_input_rows for sources in given]
    assert rows == [20, None, None]


def test_phases_that_have_no_field_are_kept() -> None:
    durations = an_event()["durationMs"] | {"newPhase": 7, "commitBatch": 5}
    event = decoded(an_event(durationMs=durations))
    assert event.duration_ms.other == {"newPhase": 7}
    assert (event.duration_ms.commit_batch, event.idle) == (5, False)
    assert decoded(an_event(durationMs={"triggerExecution": 3, "latestOffset": 2})).idle


@pytest.mark.parametrize("value", ["220", "220.0", 220.0, " 220 "])
def test_numbers_in_other_clothes(value: object) -> None:
    durations = an_event()["durationMs"] | {"addBatch": value}
    assert decoded(an_event(durationMs=durations, numInputRows=value)).duration_ms.add_batch == 220


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", '"NaN"', "null", "1e999"])
def test_a_rate_that_is_no_number_is_missing(value: str) -> None:
    raw = compact(an_event(inputRowsPerSecond="HERE")).replace('"HERE"', value)
    assert decode(raw.encode()).input_rows_per_second is None


@pytest.mark.parametrize(
    "value", ["NaN", '"soon"', "1" + "0" * 30, "[]", "true", "9" * 5000, '"' + "9" * 5000 + '"', "1e30"]
)
def test_a_duration_that_is_no_number_breaks_the_event(value: str) -> None:
    raw = compact(an_event()).replace('"addBatch":220', f'"addBatch":{value}')
    with pytest.raises(Broken) as caught:
        decode(raw.encode())
    assert "\n" not in caught.value.reason
    assert len(caught.value.reason) < 150


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"timestamp": None}, "no timestamp"), ({"timestamp": "yesterday"}, "no point in time"),
        ({"timestamp": "2026-13-01T00:00:00.000Z"}, "no point in time"),
        ({"id": None, "runId": None}, "no id and no runId"),
        ({"durationMs": None, "sources": None}, "no durationMs and no sources"), ({"durationMs": 5}, "durationMs"),
        ({"sources": {}}, "sources"), ({"sources": [5]}, r"sources\[0\]"), ({"stateOperators": "x"}, "stateOperators"),
        ({"batchId": {}}, "batchId"),
    ],
)  # fmt: skip
def test_what_breaks_an_event(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(Broken, match=reason):
        decoded(an_event(**changed))


CALL = repr(an_event()).replace("'made'", "__import__('os').getcwd()").encode()


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[]", b"5", b"null", b"{", b'"x"', b"\xff", b"{'a': 1}", b"{'a': f()}", CALL]
)
def test_what_is_no_event(raw: bytes) -> None:
    with pytest.raises(Broken):
        decode(raw)


def test_python_names_of_values() -> None:
    text = repr(an_event()).replace("'made'", "None").replace("33.0", "nan").replace("10.5", "inf")
    text = text.replace("'11111111-1111-1111-1111-111111111111'", "UUID('11111111-1111-1111-1111-111111111111')")
    event = decode(text.encode())
    assert (event.name, event.sources[0].processed_rows_per_second) == (None, None)
    assert event.id == "11111111-1111-1111-1111-111111111111"


def test_invalid_utf8_in_a_name_is_replaced() -> None:
    raw = compact(an_event(name="Stra_e")).encode().replace(b"Stra_e", b"Stra\xdfe")
    assert decode(raw).name == "Stra�e"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_broken_and_not_a_crash(opening: str, closing: str) -> None:
    deep = opening * 50_000 + "1" + closing * 50_000
    for raw in (deep, compact(an_event(name="HERE")).replace('"HERE"', deep), deep.replace('"', "'")):
        with pytest.raises(Broken):
            decode(raw.encode())


def test_an_event_before_2_1_was_released() -> None:
    old = {
        "id": 0, "timestamp": 1772330400000, "numRecords": 5, "durationMs": {"triggerExecution": 9, "addBatch": 4},
        "currentWatermark": 0, "sources": [{"description": "x", "numRecords": 5}],
    }  # fmt: skip
    event = from_object(old)
    assert (event.id, event.run_id, event.timestamp) == ("0", "0", "2026-03-01T02:00:00.000Z")
    assert event.num_input_rows == 5


@pytest.mark.parametrize("key", ["rtmMetrics", "latencies"])
def test_real_time_mode_is_told(key: str) -> None:
    event = decoded(an_event(**{key: {"P50": 4}}))
    assert (event.rtm_metrics is not ABSENT) or (event.latencies is not ABSENT)
    assert decoded(an_event()).latencies is ABSENT


def test_what_looks_like_an_event() -> None:
    assert is_event(an_event())
    assert is_event({"durationMs": {}, "timestamp": ""})
    assert not is_event({"durationMs": {}})
    assert not is_event([])


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-03-01T02:00:00.300Z", "2026-03-01T02:00:00.300Z"),
        ("2026-03-01T02:00:00Z", "2026-03-01T02:00:00.000Z"),
        ("2026-03-01 02:00:00,3Z", "2026-03-01T02:00:00.300Z"),
        ("2026-03-01T01:59:60.300Z", "2026-03-01T02:00:00.300Z"), ("2026-03-01T01:59:61Z", None),
        ("2026-03-01T01:60:00Z", None), ("9999-12-31T23:59:60Z", None),
        ("2026-03-01T03:30:00.123456+01:30", "2026-03-01T02:00:00.123Z"),
        (1772330400000, "2026-03-01T02:00:00.000Z"),
        ("1772330400000", "2026-03-01T02:00:00.000Z"),
        *((each, "2026-03-01T02:00:00.000Z")
          for each in (1772330400, "1772330400", "2026-03-01 02:00:00", "2026/03/01 02:00:00")),
        *((each, "2026-03-01T02:00:00.300Z") for each in (
            1772330400.3, "1772330400.300", 1772330400300000, 1772330400300000000, "2026-03-01T02:00:00.3",
            "2026-03-01 02:00:00.300 UTC",
        )),
        (0, "1970-01-01T00:00:00.000Z"), ("0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
        ("+292278994-08-17T07:12:55.807Z", "9999-12-31T23:59:59.999Z"),
        ("58831-01-12 00:00:00", "9999-12-31T23:59:59.999Z"),
        *((each, None) for each in (
            "22/11/2026 10:00:00", "0001-01-01T00:00:00.000+05:00", "2026-02-30T00:00:00.000Z", "2026-03-01",
            "-58831-01-12T00:00:00.000Z", 10**30, 10**400, -(10**400), "9" * 401, f"{'9' * 401}.5", -1, float("nan"),
            True, None, [],
        )),
    ],
)  # fmt: skip
def test_points_in_time(value: object, instant: str | None) -> None:
    assert as_instant(value) == instant


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=10,
)
KEYS = [*sorted(an_event()), "durationMillis", "rtmMetrics", "numRecords"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_values_give_an_event_or_a_reason(thing: dict[str, Any]) -> None:
    for changed in (thing, an_event() | thing):
        try:
            event = from_object(changed)
        except Broken as broken:
            assert broken.reason
        else:
            assert event.id
            assert as_instant(event.timestamp) == event.timestamp


@given(st.text() | st.builds(repr, JSON) | st.builds(json.dumps, JSON))
def test_any_text_gives_an_event_or_a_reason(text: str) -> None:
    try:
        decode(text.encode("utf-8", "surrogatepass"))
    except Broken as broken:
        assert broken.reason
