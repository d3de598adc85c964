"""How long batches take and how fast rows come, in words; and texts in which such words tell of no query."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.errors import InputError
from advisor.sources.no_progress.kinds import kind
from advisor.sources.no_progress.lengths import batches_of, read_lengths
from advisor.sources.no_progress.paced import grown, overdue, read_pace
from advisor.sources.no_progress.rates import busy


@pytest.mark.parametrize(
    ("text", "pace"),
    [
        ("Batches take 20-45 seconds against a 30-second trigger.", (20_000, 45_000, 30_000)),
        ("Trigger interval: 10s\nActual batch time: 45s", (45_000, 45_000, 10_000)),
        ("Each batch takes about 2 minutes with a 1 minute trigger.", (120_000, 120_000, 60_000)),
        ("Why do micro-batches take 12 s with a trigger of 5 s?", (12_000, 12_000, 5_000)),
        ("The processing time per batch is 25-35 sec; trigger every 20 sec.", (25_000, 35_000, 20_000)),
        ("trigger = 15s, batch duration p50 = 22s, p95 = 40s", (22_000, 40_000, 15_000)),
        ("batches are taking 900 ms to 1.5 s; processingTime='1 second'; trigger 1 second", (900, 1_500, 1_000)),
        ("| trigger interval | 10 s |\n| batch duration | 32 s |", (32_000, 32_000, 10_000)),
        ("Each batch of 800 rows takes about 14 s; the trigger is 5 seconds.", (14_000, 14_000, 5_000)),
        ("With a 5 s trigger each batch takes 1 min 50 s.", (110_000, 110_000, 5_000)),
        ("| p95 batch duration | `~14s` against a 4s trigger |", (14_000, 14_000, 4_000)),
        (
            'note(\n    "Batches were observed taking about 12-25 "\n    "seconds against a 20-second trigger -- "'
            '\n    "a matter of the laptop rather than of the code."\n)',
            (12_000, 25_000, 20_000),
        ),
        ("text = 'each batch takes 9 s ' +\n  'with a 5 s trigger'", (9_000, 9_000, 5_000)),
        ("TRIGGER_INTERVAL = 500 ms\nCada micro-batch levou ~21s em vez de 500ms", (21_000, 21_000, 500)),
        ("- Trigger interval: 10 seconds\n- Per-batch processing time: 870 – 1,640 ms", (870, 1_640, 10_000)),
    ],
)
def test_the_length_of_batches_and_their_interval(text: str, pace: tuple[float, float, float]) -> None:
    assert read_pace(text) == pace


@pytest.mark.parametrize(
    "text",
    [
        "If a batch takes 40 seconds and the trigger is 30 seconds, the next one starts at once.",
        "Last year batches took 50 s with a 30-second trigger.",
        "- Batches took 40 s with a 10-second trigger (#412)",
        "Batches of 10 seconds, a window of 1 minute, a trigger of 10 seconds.",
        "Batches take 40 rows with a 10-second trigger.",
        "Batches take 40 with a 10-second trigger.",
        "Batches take 40 s; one query has a 10-second trigger, another a 20-second trigger.",
        "Batches take 45-20 s with a 10-second trigger.",
        "a batch every 40 seconds",
        "Batches were slow: they took 40 s, and the trigger was 10 s.",
        'a = "batches take 40"\nb = "s with a 10-second trigger"',
    ],
)
def test_other_lengths_are_no_pace(text: str) -> None:
    assert read_pace(text) is None


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (
            "Batches take 45 s with a 30 s trigger.",
            "45.0 s with a trigger interval of 30.0 s, 1.5 times the interval: if",
        ),
        ("Batches take 20-45 s with a 30 s trigger.", "0.7 to 1.5 times the interval: the longer ones are late"),
        ("Batches take 3 to 4 s with a 10 s trigger.", "0.3 to 0.4 times the interval: these keep the interval"),
        ("Batches take 3 to 4 s with a 10 s trigger.", "waits 5.0 s for it on average, longer than for its batch; a"),
        ("Batches take 22 s with a 0.5 s trigger.", "22.0 s with a trigger interval of 500 ms, 44 times the interval"),
        ("Batches take 6 to 7 s with a 10 s trigger.", "these keep the interval. Where the time goes is not told"),
    ],
)
def test_what_that_means_is_said_as_far_as_it_is_known(tmp_path: Path, text: str, means: str) -> None:
    assert means in (overdue(text) or "")
    path = tmp_path / "asked.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="the text says that batches take"):
        advisor.analyze(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Batch times spike up from ~12-18 Seconds up to ~4 minutes",
            "grew from about 12.0 s to 18.0 s to about 4.0 min",
        ),
        (
            "The batches took an average of 20 seconds, but it increased over days and stabilized at 200 seconds.",
            "from about 20.0 s to about 3.3 min",
        ),
        ("o tempo por lote foi subindo (de ~4s para mais de 25s por lote)", "from about 4.0 s to about 25.0 s"),
    ],
)
def test_batches_that_grew(tmp_path: Path, text: str, said: str) -> None:
    assert said in (grown(text) or "")
    assert "which phase did" in (kind(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "We increased the batch interval from 10 seconds to 30 seconds.",
        "Batch times went up from 4 to 25.",
        "Batch times dropped from 25 seconds to 4 seconds while the load increased.",
        "If batch times increase from 4 seconds to 25 seconds, look at the table.",
        "The upload grew from 4 seconds to 25 seconds.",
    ],
)
def test_other_lengths_that_grew(text: str) -> None:
    assert grown(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Input rate 5000/s, processed 1200/s, and the lag grows.", "rows come 4.2 times as fast"),
        ("We get 8k events/s in and the stream only processes 2.5k events per second.", "rows come 3.2 times as fast"),
        ("Rows arrive at 3,000 per second, but it processes 1,000 per second.", "rows come 3.0 times as fast"),
        ("The producer sends 150 msg/s; the query handles 600 msg/s.", "25 % of the time"),
    ],
)
def test_rates_in_prose(text: str, said: str) -> None:
    assert said in (busy(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "In the test last year 5000/s came in and 1200/s were processed.",
        "If rows come at 5000/s and it processes 1200/s, what then",
        "It processes 1200/s.",
        "Rows arrive at 5000/s or at 6000/s, and it processes 1200/s.",
        "Rows arrive at 5000 per minute, and it processes 1200 per minute.",
    ],
)
def test_rates_of_something_else(text: str) -> None:
    assert busy(text) is None


@pytest.mark.parametrize("unit", ["batches take 1 to ", "batch duration = ", "trigger interval is ", "arrive 5000/s "])
def test_words_on_one_long_line_are_read_at_once(unit: str) -> None:
    """Patterns that took the square of its length would take minutes here."""
    text = unit * (60_000 // len(unit))
    assert read_pace(text) is None
    assert kind(text) is None


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("On Spark a micro-batch took 80 seconds, with the buffer it went down to 30 seconds.", [80_000, 30_000]),
        ("With 200 partitions each micro-batch took a median\n  of ~17.8 s. With 8 it took ~2.8 s.", [17_800, 2_800]),
        ("It was lowered after a test: a batch took about 5.4 s at 0.01 and about 2.1 s at 0.02", [5_400, 2_100]),
        ("Each batch takes 2 minutes.", [120_000]),
        ("Batch processing time: 200 ms. Then it took 5 minutes for the cluster to start.", [200]),
        ("A batch takes an average of 5 s and then 3 s cleanup", [5_000]),
        ("Se cada batch leva 10 segundos", [10_000]),
        ("Each batch takes 2 hours and 30 min.", [9_000_000]),
        ("Batches take 40 s and 10 s.", []),
    ],
)
def test_lengths_of_batches_without_an_interval(text: str, ms: list[float]) -> None:
    assert list(read_lengths(text)) == ms


@pytest.mark.parametrize(
    "text",
    [
        "If each batch takes 2 minutes, the next one waits.",
        "Last year batches took 50 s.",
        "collect for a batch took 20 s.",
        "- Batches took 40 s (#412)",
        "A batch takes 5 rows. It takes 3 s to start the cluster.",
        "the batch size is 500 ms",
        "Spark batch job (nightly batch takes 3 hours) reads from Kafka.",
        "Never a batch took 30 s.",
        "I increased the batch duration to 30 s of data.",
    ],
)
def test_other_lengths_are_none_of_a_batch(text: str) -> None:
    assert list(read_lengths(text)) == []


def test_a_text_about_a_stream_tells_the_lengths_of_its_batches() -> None:
    told = batches_of("Spark: with 200 shuffle partitions a batch took 18 s, then it took 3 s.") or ""
    assert "batches of 18.0 s and 3.0 s, several measurements" in told
    assert "shuffle partitions: 200 by default" in told
    assert batches_of("Training: each micro-batch took 0.9 s.") is None
    assert "DStreams" in (kind("val ssc = new StreamingContext(conf, Seconds(5)) // Spark: each batch takes 9 s") or "")


@pytest.mark.parametrize(
    "text",
    [
        "Never a batch takes 30 s; the trigger interval is 10 s.",
        "Our nightly batch takes 3 hours. The trigger interval of the stream is 1 minute.",
    ],
)
def test_batches_that_never_were_and_nightly_ones_tell_no_pace(text: str) -> None:
    assert read_pace(text) is None


def test_what_a_text_recommends_is_no_trigger_of_now() -> None:
    assert read_pace("Trigger interval: 10s\nActual batch time: 45s\nFix: set trigger to 60s") == (
        45_000,
        45_000,
        10_000,
    )


@pytest.mark.parametrize(
    ("came", "says"), [("0.94", "hardly a pause"), ("1.2", "1.3 times as fast"), ("0.8", "keeps up")]
)
def test_rates_that_hardly_differ_show_no_falling_behind(came: str, says: str) -> None:
    assert says in (busy(f'"inputRowsPerSecond" : {came}, "processedRowsPerSecond" : 0.92') or "")
