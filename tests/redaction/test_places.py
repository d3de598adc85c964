"""No credential comes from a log or a session into what is kept, printed or written, wherever it stands."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import advisor
from advisor.batches import build
from advisor.cli import main
from advisor.errors import InputError, UsageError
from advisor.facts import from_confs, parse_user_fact
from advisor.progress import Broken, decode
from advisor.redaction import REDACTED
from advisor.sources import files
from advisor.sources.listener.store import History
from advisor.sources.sightings.events import sight_event_log
from advisor.sources.sightings.region import sight
from advisor.views.markdown import report_as_markdown
from tests.made import event
from tests.redaction.shapes import ATTACKED, DRAWN, HARMLESS, NAMED, PLACED, SECRET, TOKENS, VALUES
from tests.sources.sessions import Made, ended, progress, recorder, tell
from tests.sources.variants import pretty

EVENT_LOG = Path(__file__).parents[2] / "sample_progress/ST002/event-log-3.5.9/local-1795256726743.gz"
FORMS = {
    **{name: form.format(SECRET) for name, form in NAMED.items()},
    **{f"placed: {name}": form.format(SECRET) for name, form in PLACED.items()},
    **{f"drawn: {name}": form.format(SECRET) for name, form in DRAWN.items()},
}
FORMED = {name: token for name, token in TOKENS.items() if "\n" not in token}
CREDENTIALS = [(text, SECRET) for text in FORMS.values()] + [(token, token[-14:-2]) for token in FORMED.values()]
IDS = [*FORMS, *FORMED]
TEXTS = [text for text, _ in CREDENTIALS] + [*ATTACKED.values()]
SECRETS = sorted({secret for _, secret in CREDENTIALS} | {*VALUES.values()})
QUERY, RUN = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
_LINE = "26/03/01 02:00:00 INFO MicroBatchExecution: "
_CLASS = "org.apache.spark.sql.streaming.StreamingQueryListener$Query"


def an_event(text: str, number: int = 10, **more: Any) -> dict[str, Any]:
    """A batch with the text wherever an event has text of its own."""
    source = {"description": text, "numInputRows": 5, "startOffset": {text: {"0": 1}}, "endOffset": text,
              "latestOffset": {"inside": [text]}, "metrics": {text: "1", "told": text}}  # fmt: skip
    operator = {"operatorName": text, "commitTimeMs": 5, "customMetrics": {text: 1}}
    row = {"triggerExecution": 300, "addBatch": 200, "walCommit": 60, "sources": [source], "operators": [operator],
           "sink": text, "name": text, "otherPhases": {text: 3}}  # fmt: skip
    return event(number, number * 300, 300, row) | more


def a_log(text: str, number: int = 0) -> str:
    """A driver's log with the text wherever Spark prints what a user gave."""
    run = f"22222222-2222-2222-2222-{number:012}"
    ids = {"id": f"11111111-1111-1111-1111-{number:012}", "runId": run}
    line = " ".join(text.splitlines())
    names = f"[id = {ids['id']}, runId = {run}]"
    batches = "".join(
        f"{_LINE}Streaming query made progress: {pretty(an_event(text, at) | ids)}\n" for at in range(10, 13)
    )
    return (
        f"{_LINE}Submitted application: {line}\n"
        f"{_LINE}Checkpoint root {line} resolved to {line}.\n"
        f"{_LINE}Starting {line} {names}. Use {line} to store the query checkpoint.\n"
        f"{_LINE}Updating the value of conf 'spark.sql.streaming.made' in current session from '{line}' to '{line}'.\n"
        f"{_LINE}Committed offsets for batch 1. "
        f"Metadata OffsetSeqMetadata(0,1,Map(spark.sql.streaming.made -> {line}))\n"
        f"{batches}"
        f"{_LINE}Query {line} {names} terminated with error\njava.lang.IllegalStateException: {line}\n"
    )


def an_event_log(text: str) -> Iterator[bytes]:
    """Lines of an event log with the text in names, properties, plans and errors."""
    ids = {"id": QUERY, "runId": RUN}
    for record in (
        {"Event": "SparkListenerApplicationStart", "App Name": text, "Timestamp": 1},
        {"Event": "SparkListenerEnvironmentUpdate",
         "Spark Properties": {"spark.app.name": text, "spark.sql.streaming.made": text, "spark.databricks.made": text}},
        {"Event": f"{_CLASS}StartedEvent", "name": text, "timestamp": "2026-03-01T02:00:00Z", **ids},
        {"Event": f"{_CLASS}TerminatedEvent", "exception": f"java.lang.IllegalStateException: {text}", **ids},
        {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
         "description": f"made\nid = {QUERY}\nrunId = {RUN}\nbatch = 1", "physicalPlanDescription": text,
         "modifiedConfigs": {"spark.sql.streaming.made": text}},
    ):  # fmt: skip
        yield json.dumps(record).encode()


SIGHTED = {"query_name", "application", "terminated_error"}
IN_A_LOG = SIGHTED | {"checkpoint_path", "conf:spark.sql.streaming.made"}


@pytest.mark.parametrize(("text", "secret"), CREDENTIALS, ids=IDS)
def test_no_table_setting_or_error_holds_a_credential(text: str, secret: str) -> None:
    told = sight(a_log(text).encode(), log="made.log", file="made.log", base=0)
    seen = [each for line in an_event_log(text) for each in sight_event_log(line, log="events", file="events", base=0)]
    assert {each.fact for each in told} >= IN_A_LOG and {each.fact for each in seen} >= SIGHTED
    ran = CliRunner().invoke(main, ["analyze", text, "--set", text])
    assert ran.exit_code == 2
    kept = {
        "batches": build([decode(json.dumps(an_event(text)).encode())], [0], "made.log", "made.log").to_pylist(),
        "sightings": told, "sightings of an event log": seen,
        "settings": from_confs({"spark.sql.streaming.made": text, "spark.databricks.made": text}, "session"),
        "a fact of the user's": parse_user_fact(f"source_scheme={text}"),
        "an error": InputError(text, f"cannot be read: {text}", text), "what the command says": ran.output,
    }  # fmt: skip
    assert [place for place, what in kept.items() if secret in str(what)] == []
    for changed in ({"batchId": text}, {"durationMs": {text: "x"}}, {"timestamp": text}):
        with pytest.raises(Broken) as broken:
            decode(json.dumps(an_event("plain") | changed).encode())
        assert secret[:6] not in broken.value.reason


def test_a_session_and_its_history(tmp_path: Path) -> None:
    listening = recorder(Made(), history=History(tmp_path))
    for number, text in enumerate(TEXTS):
        tell(listening, ("progress", progress(an_event(text, number))), ("ended", ended(f"Exception: {text}")))
    listening.trouble("; ".join(TEXTS[:5]))
    reading = listening.reading()
    listening.stop(30)
    (path,) = tmp_path.iterdir()
    kept = str([reading.batches.to_pylist(), reading.sightings.to_pylist(), listening.problems]) + path.read_text()
    assert reading.events == len(TEXTS)
    assert lines_with_credentials(kept) == []
    assert files.read([tmp_path]).events == len(TEXTS)


@pytest.fixture(scope="module")
def one_log_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with each where Spark prints what a user gave: nine in a query, those of an attack in one of its own."""
    place = tmp_path_factory.mktemp(f"token={SECRET}") / "driver.log"
    texts = ["; ".join(TEXTS[at : at + 9]) for at in range(0, len(CREDENTIALS), 9)] + [*ATTACKED.values()]
    broken = f'{_LINE}Streaming query made progress: {{"id": "{SECRET}", "timestamp": "password={SECRET}", \n'
    logs = "".join(a_log(text, number) for number, text in enumerate(texts))
    place.write_text(logs + broken, encoding="utf-8")
    return place


def lines_with_credentials(said: str) -> list[str]:
    return [line for secret in SECRETS if secret in said for line in said.splitlines() if secret in line]


def test_what_the_command_prints(one_log_of_all: Path) -> None:
    ran = CliRunner().invoke(main, ["analyze", str(one_log_of_all), "--all"])
    assert ran.exit_code == 0 and "redacted" in ran.output
    assert lines_with_credentials(ran.output) == []


def test_what_a_notebook_gets_and_files_hold(one_log_of_all: Path, tmp_path: Path) -> None:
    shown = advisor.analyze(one_log_of_all, save=tmp_path / "kept")
    said = [
        (tmp_path / "kept").read_bytes().decode("latin-1"),
        shown.to_json(),
        repr(shown),
        shown._repr_html_(),
        shown.findings.to_csv(),
        json.dumps(shown.data),
    ]
    said += [shown.to_html(), report_as_markdown(shown.typed, everything=True)]
    frames = [advisor.read_progress(one_log_of_all), advisor.read_sightings(one_log_of_all)]
    frames = [frame.drop(columns=["file", "log"]) for frame in frames]  # where they were read is what was asked
    frames[0].drop(columns=["operators", "sources"]).to_parquet(tmp_path / "saved", compression=None)
    said += [*(frame.to_csv() for frame in frames), (tmp_path / "saved").read_bytes().decode("latin-1")]
    assert lines_with_credentials("\n".join(said)) == []


def test_the_tables_that_open_add_batch(tmp_path: Path) -> None:
    """Jobs' descriptions, stages' names and the operators of their data sets, as an event log of Spark tells them."""
    lines = gzip.decompress(EVENT_LOG.read_bytes()).decode().splitlines()
    texts = itertools.cycle(text for text, _ in CREDENTIALS)
    (tmp_path / "events").write_text("\n".join(_with_text(line, texts) for line in lines))
    frames = [advisor.read_stages(tmp_path, parts=parts) for parts in (False, True)]
    assert f"password={REDACTED}" in set(frames[0]["what"])
    assert lines_with_credentials("\n".join(frame.to_csv() for frame in frames)) == []


def _with_text(line: str, texts: Iterator[str]) -> str:
    event = json.loads(line)
    if described := event.get("Properties", {}).get("spark.job.description"):
        event["Properties"]["spark.job.description"] = f"{described}\n{next(texts)}"
    for stage in (event.get("Stage Info"), *event.get("Stage Infos", [])):
        if stage:
            stage["Stage Name"] = next(texts)
    return json.dumps(event, separators=(",", ":"))


def test_the_path_of_a_file_in_messages(tmp_path: Path) -> None:
    place = tmp_path / f"password={SECRET}.log"
    assert SECRET not in CliRunner().invoke(main, ["analyze", str(place)]).output
    place.write_text("nothing")
    assert SECRET not in CliRunner().invoke(main, ["analyze", str(place)]).output
    with pytest.raises((InputError, UsageError)) as error:
        advisor.analyze(place)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_so_comes_through_unchanged(text: str) -> None:
    """Everywhere: names, descriptions, offsets, settings."""
    row = build([decode(json.dumps(an_event(text)).encode())], [0], "made.log", "made.log").to_pylist()[0]
    source, operator = row["sources"][0], row["operators"][0]
    assert row["name"] == row["sink"] == source["description"] == operator["name"] == text
    assert row["other_phases"] == [(text, 3)]
    assert json.loads(source["start_offset"]) == {text: {"0": 1}}
    told = sight(a_log(text).encode(), log="made.log", file="made.log", base=0)
    values = {each.fact: msgspec.json.decode(each.value) for each in told}
    assert values["query_name"] == values["application"] == text
    assert values["terminated_error"].endswith(text)
