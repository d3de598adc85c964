"""What people write around what they paste: the code of their query, and in words what it reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.facts import from_writer_options
from advisor.facts.confs import ASYNC_ENABLED
from advisor.facts.inspection import sink_kind, source_kind
from advisor.sources.sightings.limits import read_limits
from advisor.sources.sightings.marked import Words, lowered, marked
from advisor.sources.sightings.misplaced import read_misplaced, without_misplaced
from advisor.sources.sightings.query import Told, checkpoint, limits
from advisor.sources.sightings.settings import read_platform, read_settings
from advisor.sources.sightings.status import read_status
from advisor.sources.sightings.storage import read_storage
from advisor.sources.sightings.words import is_past, read_keys, read_words

_NO_CODE: Final = re.compile(r"(?m)^[ \t]*(?://|#|at [\w.$]+\().*$")
"""A comment, or a frame of a stack: `at scala.collection.immutable.List.foreach(List.scala:392)`."""
_BETWEEN: Final = r"(?:(?!readStream|writeStream).){0,3000}?"
_WRITES_TO: Final = marked(
    "writestream",
    rf"""writeStream\b{_BETWEEN}\.(?:(foreachBatch|foreach)\(|format\(\s*["']([\w.-]+)["'])""",
    re.DOTALL,
)
_ENDS_THERE: Final = re.compile(r"\.start\b|\.toTable\(|readStream|writeStream")
_READS_FROM: Final = marked("readstream", rf"""readStream\b{_BETWEEN}\.format\(\s*["']([\w.-]+)["']""", re.DOTALL)
_WRITES_A_TABLE: Final = marked(
    "writestream", rf"""writeStream\b{_BETWEEN}\.(?:toTable\(|start\(\s*f?["'])""", re.DOTALL
)
_SINK_IN_WORDS: Final = re.compile(
    r"""sink(?<!\wsink)(?:[. ]description)?["'`*]{0,3}\s*[:=|]\s*["'`*]{0,3}([a-z][\w$.\[]*)"""
)
_SINK_ALONE: Final = re.compile(r"""(?m)^["']sink["']\s*:\s*\{\s*["']description["']\s*:\s*["']([a-z][\w$.\[]*)""")
"""The sink of a record of which but some lines are there, without its braces."""
_SOURCE_IN_WORDS: Final = re.compile(
    r"""source(?<!\wsource)s?(?:\.description)?["']?\s*[:=]\s*["']?\[?["']?([a-z][\w$.\[]*)"""
)
_BY_ITS_CLASS: Final = re.compile(r"\b((?:FileStream|Kafka|CloudFiles|Delta)Source|KafkaV2|TextSocketV2)\b")
_SINK_BY_ITS_CLASS: Final = re.compile(r"(?<![\w.$\"'])((?:Delta|Memory|File|Foreach)Sink)\b")
_FOREACH_BATCH: Final = marked(("foreachbatch", "foreach_batch"), r"for[eE]ach_?[bB]atch|ForeachBatchSink\b")
_STORES: Final = (
    "kafka|kinesis|delta|parquet|iceberg|hudi|jdbc|elasticsearch|opensearch|cassandra|bigquery|mongodb|mongo|snowflake|"
    "redshift|postgresql|postgres|mysql|redis|hbase|clickhouse"
)
_PLACES: Final = f"{_STORES}|files?|socket|rate|console|memory|noop|foreachbatch|foreach"
_PLACE: Final = rf"(?<![\w.])({_PLACES})(?![.:]?\w)"
"""The word by itself: in `kafka.bootstrap.servers -> kafka:9092` it is part of a name."""
_ARROW: Final = re.compile(
    rf"{_PLACE}"
    rf"(?:[^\n]{{0,40}}?(?:->|→|=>)(?! name:)[^\n]{{0,40}}?|[ -](?:in)?to[ -](?:an?[ ]|the[ ])?){_PLACE}"
)
_ARROWS: Final = ("->", "→", "=>", "to ", "to-")
_MAP: Final = re.compile(r"\bMap\([^()\n]{0,4000}\)")
"""Options as Scala prints them, with arrows of their own."""
_WRITTEN_TO: Final = marked(
    tuple(_STORES.split("|")),
    r"(?i)\b(?:write|writes|writing|save|saves|saving|sink|index|indexing|insert|inserting|upsert|upserting|gravo|grava|"
    rf"gravamos|escribo|escribe|escribimos)\b[^\n.]{{0,30}}?\b(?:to|into|no|na|en|em)\b[^\n.]{{0,20}}?\b({_STORES})\b",
)
_READ_IN_WORDS: Final = marked((" kafka", " kinesis"), r"(?i)\b(?:from|de|do|aus)[ ](kafka|kinesis)\b")
_KEEPS_STATE: Final = marked(
    ("withstate", "duplicateswithin"),
    r"applyInPandasWithState|transformWithState|[mM]apGroupsWithState(?!\.\w)|dropDuplicatesWithinWatermark",
)
_MAY_KEEP_STATE: Final = marked(
    ("group", ".dropduplicates", ".distinct"),
    r"\.(?:groupBy|groupByKey|dropDuplicates|distinct)\s*\(|(?i:\bgroup\s+by\b)",
)
_JOINED: Final = marked(".join(", r"(?is)\.join\(.{0,400}?\bbetween\b.{0,200}?\binterval\b")
_MODE: Final = marked(".outputmode(", r"""\.outputMode\(\s*["'](append|update|complete)["']""", re.IGNORECASE)
_EVERY: Final = marked(
    "processingtime",
    r"""(?ix) processingTime\s*[=(]\s* (?:["']\s*(\d{1,9})\s*(ms|milliseconds?|s|seconds?|minutes?|hours?)\s*["']
    |(\d{1,9})\.(milliseconds?|seconds?|minutes?|hours?)|(\d{1,12})\s*\))""",
)
_BY_NAME: Final = marked("trigger(", r"\btrigger\(\s*(?:Trigger\.)?(availableNow|once|realTime)\b", re.IGNORECASE)
_KINDS: Final = {"availablenow": "available_now", "once": "once", "realtime": "real_time"}
"""What code calls these triggers, in small letters."""
_OPTION: Final = marked(".option(", r"""\.option\(\s*["']([\w.]+)["']\s*,\s*["']?([^"'()\s]+)["']?\s*\)""")
_VERSION: Final = marked(
    "spark ",
    r"(?<!since )(?<!needs )(?<!before )(?<!until )(?<!from )(?<!in )"
    r"\bSpark(?: version:?)? v?(\d\.\d{1,2}(?:\.\d{1,2})?)(?![\d+]|\.\d)",
)
_RELEASE: Final = r"(\d\.\d{1,2}\.\d{1,2})"
_INSTALLED: Final = marked(
    ("pyspark", "spark:spark-", "-bin-"),
    rf"\bpyspark(?:[=~]=|[ \t]{{1,40}}){_RELEASE}\b|\borg\.apache\.spark:spark-[\w.-]{{1,60}}_2\.1\d:{_RELEASE}\b"
    rf"|\bspark-{_RELEASE}-bin-",
)
_UNIT_MS: Final = {"m": 60_000, "s": 1000, "h": 3_600_000}
_FILES: Final = ("file", "files", "parquet", "json", "csv", "orc", "text", "avro")
_SINKS: Final = ("kafka", "console", "memory", "noop", "foreach", "delta")
_SOURCES: Final = ("kafka", "delta", "rate", "socket", "memory", "kinesis")


def read_paste(text: str) -> Iterator[Told]:
    """Facts that the text names, once each; nothing where it names two of a kind. Lines of code that are comments say
    nothing.
    """
    text = Words(text)
    code = _code(text)
    read = without_misplaced(code)
    found = [
        *_ends(text, code),
        *_trigger(code),
        *read_words(text),
        *_state(code),
        *_options(read),
        *read_misplaced(code),
        *read_keys(code),
        *read_limits(read),
        *read_storage(code),
        *read_status(text),
        *read_settings(code),
    ]
    installed = ["".join(version) for version in _INSTALLED.findall(text)]
    found += [Told("spark_version", version) for version in installed or _VERSION.findall(text)]
    found += read_platform(text)
    found += [Told("output_mode", mode.lower()) for mode in _MODE.findall(code)]
    values: dict[str, list[Told]] = {}
    for told in dict.fromkeys(found):
        values.setdefault(told.fact, []).append(told)
    yield from (each[0] for each in values.values() if len(each) == 1)


def _code(text: Words) -> Words:
    """The text without comments and frames of a stack."""
    others = any(map(_NO_CODE.match, text.lines_with("//", "#", ".scala:", ".java:")))
    return Words(_NO_CODE.sub("", text)) if others else text


def _ends(text: Words, code: Words) -> Iterator[Told]:
    """What the query reads and writes: by its code, else by a word for it."""
    sinks = [_sink(name) for name in _written(code)]
    sources = [_source(name) for name in _READS_FROM.findall(code)]
    arrows = [ends for line in text.lines_with(*_ARROWS) for ends in _arrows(line)]
    sinks = sinks or ["other"] * bool(_WRITES_A_TABLE.search(code))
    sinks = sinks or [_sink(name) for name in _named(_SINK_IN_WORDS, text)] or [_sink(end) for _, end in arrows]
    sources = (
        sources or [_source(name) for name in _named(_SOURCE_IN_WORDS, text)] or [_source(one) for one, _ in arrows]
    )
    if not sinks and not text.holds("runid"):
        sinks = [_sink(name) for name in _named(_SINK_ALONE, text)]
    in_batches = bool(_FOREACH_BATCH.search(text))
    if not in_batches:
        sinks = sinks or [_sink(name) for name in _WRITTEN_TO.findall(text) or _SINK_BY_ITS_CLASS.findall(code)]
    sources = sources or [_source(name) for name in _READ_IN_WORDS.findall(text) or _BY_ITS_CLASS.findall(text)]
    yield from (Told("sink", kind) for kind in sinks or ["foreach_batch"] * in_batches)
    yield from (Told("source", kind) for kind in sources)


def _arrows(line: str) -> list[tuple[str, str]]:
    """From where to where the line says that rows go, in lower case."""
    return _ARROW.findall(lowered(_MAP.sub("", line) if "Map(" in line else line))


def _named(pattern: re.Pattern[str], text: Words) -> list[str]:
    """What the first group of a pattern in lower case finds, as it is written."""
    return [text[found.start(1) : found.end(1)] for found in pattern.finditer(text.lowered)]


def _written(code: Words) -> Iterator[str]:
    """What each writer in the code writes to; foreachBatch stands in for a format that was named before it."""
    for found in _WRITES_TO.finditer(code):
        end = _ENDS_THERE.search(code, found.end())
        rest = code[found.end() : end.start() if end else None]
        yield "foreachBatch" if ".foreachBatch(" in rest else found[1] or found[2]


def _sink(name: str) -> str:
    lowered = name.lower()
    if lowered in _SINKS:
        return lowered
    return "foreach_batch" if lowered == "foreachbatch" else "file" if lowered in _FILES else sink_kind(name)


def _source(name: str) -> str:
    lowered = name.lower()
    known = {
        "cloudfiles": "auto_loader",
        "eventhubs": "event_hubs",
        "rate-micro-batch": "rate_micro_batch",
    } | dict.fromkeys(_FILES, "file")
    return lowered if lowered in _SOURCES else known.get(lowered) or source_kind(name)


def _trigger(code: Words) -> Iterator[Told]:
    for match in _EVERY.finditer(code):
        if is_past(code, match.start(), match.end()):
            continue
        text, unit, scala, scala_unit, ms = match.groups(default="")
        interval = int(ms) if ms else int(text or scala) * _unit_ms((unit or scala_unit).lower())
        yield Told("trigger", "processing_time" if interval else "unspecified")
        if interval:
            yield Told("trigger_interval_ms", interval)
    yield from (Told("trigger", _KINDS[kind.lower()]) for kind in _BY_NAME.findall(code))


def _unit_ms(unit: str) -> int:
    return 1 if unit.startswith(("ms", "mil")) else _UNIT_MS[unit[0]]


def _state(code: Words) -> Iterator[Told]:
    """Whether the query keeps state; a function of foreachBatch may group each batch, which keeps none."""
    joined = (code.count("readStream") > 1 and ".join(" in code) or _JOINED.search(code)
    may = "foreachBatch" not in code and "Stream" in code and (joined or _MAY_KEEP_STATE.search(code))
    if may or _KEEPS_STATE.search(code):
        yield Told("stateful", value=True)


def _options(code: Words) -> Iterator[Told]:
    options = dict(_OPTION.findall(code))
    if any("asyncprogress" in name.lower() for name in options):
        for fact, value in from_writer_options(options):
            if value is not None and (fact != "async_progress" or ASYNC_ENABLED in options):
                yield Told(fact, value)
    if path := options.get("checkpointLocation"):
        yield from (told for told in checkpoint(path) if told.fact == "checkpoint_scheme")
    yield from limits(" ".join(f"{name}={value}" for name, value in options.items()))
