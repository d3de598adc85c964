"""The command line: words in, text and exit codes out."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pydantic_core import SchemaError

import advisor.api
from advisor.cli import main
from advisor.cli.analyze import fails
from advisor.cluster.session import refuse_master
from advisor.demo import sample
from advisor.errors import UsageError
from advisor.metrics import METRICS
from tests.made import event

LOG = str(sample())


def run(*words: str, **options: Any) -> Result:
    return CliRunner().invoke(main, words, **options)


def program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "advisor", *words]
    env = os.environ | environment
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def one_line(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("latency-advisor: ")
    return result.stderr


def test_help_teaches_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from advisor.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'pandas', 'numpy', 'pyarrow', 'pydantic', 'rich', 'jinja2', 'scipy', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "latency-advisor analyze driver.log" in done.stdout
    assert "Exit codes:" in done.stdout and "LATENCY_ADVISOR_TRACEBACK" in done.stdout


@pytest.mark.parametrize("words", [(), ("rules",)])
def test_without_a_command_it_shows_its_help(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code in (0, 2)  # before click 8.2 it was no mistake
    assert result.output.startswith("Usage: ")


def test_a_log_becomes_a_page_json_and_markdown() -> None:
    result = run("analyze", LOG)
    assert result.exit_code == 0, result.output
    assert "LG001" in result.output and "\x1b" not in result.output
    assert '.option("asyncProgressTrackingEnabled", "true")' in result.output
    data = json.loads(run("analyze", LOG, "--format", "json").output)
    assert data["schema_version"] == 1 and data["queries"][0]["findings"]
    assert run("analyze", LOG, "--format", "markdown").output.startswith("# Streaming latency report\n")


@pytest.mark.parametrize("command", [["analyze"], ["compare", LOG], ["watch"]])
def test_a_log_is_not_written_over_by_its_report(command: list[str], tmp_path: Path) -> None:
    log = tmp_path / "a.log.gz"
    log.write_bytes(Path(LOG).read_bytes())
    (tmp_path / "link").symlink_to(log)
    result = run(*command, str(tmp_path), "--output", str(tmp_path / "link"))
    assert result.exit_code == 2
    assert "is one of the files that are read; name another file" in result.output
    with log.open("rb") as stdin:
        words = [sys.executable, "-m", "advisor", "analyze", "-", "--output", str(log)]
        given = subprocess.run(words, stdin=stdin, capture_output=True, check=False)
    assert b"is one of the files that are read" in given.stderr
    with pytest.raises(UsageError, match="is one of the files that are read"):
        advisor.api.analyze(f"file://{log}", save=tmp_path / "link")
    with pytest.raises(UsageError, match="is neither a text nor a path"):
        advisor.api.analyze(log, save=[])  # type: ignore[arg-type]
    assert log.read_bytes() == Path(LOG).read_bytes()


@pytest.mark.parametrize("option", ["--config", "--rules", "--checkpoint"])
def test_nor_is_anything_else_that_is_read(option: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("queries: {}\n")
    given = file if option == "--config" else tmp_path
    for path in (str(given), f"file://{given}") if option == "--checkpoint" else (str(given),):
        result = run("analyze", LOG, option, path, "--output", str(file))
        assert result.exit_code == 2 and "name another" in one_line(result)
    assert file.read_text() == "queries: {}\n"
    beside = run("analyze", LOG, "--save", str(tmp_path / "advisor.yaml"))
    assert beside.exit_code == 2 and "name another" in one_line(beside)


def test_a_report_goes_into_a_pipe() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader) as read, os.fdopen(writer, "w"):
        assert run("analyze", LOG, "--fleet", "--output", f"/dev/fd/{writer}").exit_code == 0
        assert "read" in read.readline()


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert run("analyze", LOG, "--output", str(pipe)).exit_code == 0
    assert b"LG001" in reader.communicate()[0]
    assert pipe.is_fifo()


def test_a_log_comes_through_standard_input() -> None:
    text = gzip.decompress(Path(LOG).read_bytes())
    assert "LG001" in run("analyze", "-", input=text).output


@pytest.mark.parametrize(
    ("level", "worst", "failed"),
    [("low", "low", True), ("medium", "low", False), ("medium", "high", True), ("high", "medium", False),
     ("low", None, False), (None, "high", False)],
)  # fmt: skip
def test_fail_on(level: str | None, worst: str | None, failed: bool) -> None:
    assert fails(worst, level) is failed


def test_fail_on_is_the_exit_code() -> None:
    assert run("analyze", LOG, "--fail-on", "low").exit_code == 1
    assert run("analyze", LOG).exit_code == 0


HELD = "no batch is in that time; the input has batches from 2026-11-21T08:56:36Z to 2026-11-21T08:56:53Z"


@pytest.mark.parametrize(
    "limits",
    [
        ("--since", "2099-01-01"),
        ("--last", "30m", "--since", "2099-01-01"),
        ("--until", "2001-01-01T00:00:00Z"),
        ("--since", "2026-11-21T08:56:38.001Z", "--until", "2026-11-21T08:56:38.002Z"),
    ],
)
def test_a_gate_does_not_pass_for_want_of_batches(limits: tuple[str, ...]) -> None:
    asked = " ".join(limits)
    assert f"{asked}: {HELD}" in one_line(run("analyze", LOG, *limits, "--fail-on", "low"))
    fleet = run("analyze", LOG, *limits, "--fleet", "--fail-on", "low")
    assert (fleet.exit_code, fleet.stdout) == (2, "")
    assert f"{asked}: {HELD}" in fleet.stderr


def test_a_gate_on_the_last_minutes_does_not_pass_where_the_query_waited(tmp_path: Path) -> None:
    waits = {"triggerExecution": 3, "latestOffset": 3}
    made = [event(number, number * 1000, 100, {"triggerExecution": 100, "addBatch": 90}) for number in range(20)]
    made += [event(20, 100_000 + number * 10_000, 100, waits) for number in range(20)]
    log = tmp_path / "progress.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in made))
    said = one_line(run("analyze", str(log), "--last", "1m", "--fail-on", "low"))
    held = "no batch is in that time; the input has batches from 2026-03-01T02:00:00Z to 2026-03-01T02:00:19Z"
    assert f"--last 1m: {held}" in said
    assert run("analyze", str(log), "--last", "10m").exit_code == 0


def test_of_several_queries_one_may_have_no_batch_in_the_time_asked_for(tmp_path: Path) -> None:
    other = {"id": "33333333-3333-3333-3333-333333333333", "runId": "44444444-4444-4444-4444-444444444444"}
    row = {"triggerExecution": 100, "addBatch": 90}
    made = [event(number, number * 1000, 100, row) for number in range(20)]
    made += [event(number, 3_600_000 + number * 1000, 100, row) | other for number in range(20)]
    log = tmp_path / "progress.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in made))
    found = json.loads(run("analyze", str(log), "--since", "2026-03-01T03:00:00Z", "--format", "json").output)
    verdicts = {entry["batches"]: entry["verdict"] for entry in found["queries"]}
    assert verdicts[0] == "Nothing to judge: no batch in the time asked for."
    assert set(verdicts) == {0, 20}


@pytest.mark.parametrize(
    ("option", "values", "said"),
    [
        ("--last", ["30m30m", "30m 1h", "1w", "NaN", "-5m", "٣m", "1e9d", "999999999d"], "write 500ms, 30s, 30m, 2h"),
        ("--since", ["now", "12:00", "2026", "2026-02-30", "1700000000", "NaT"], "write 2026-03-01"),
        ("--set", [":task_slots=3"], "names no query"),
        ("--set", ["latency_target_ms=1e308", "trigger_interval_ms=99999999999999"], "give at most 1,000,000,000,000"),
        ("--set", ["task_slots=1e9", "task_slots=٣", "task_slots=0x10", "task_slots=nan"], "give a whole number"),
        ("--set", ["task_slots=99999999", "shuffle_partitions=99999999999999"], "give at most 1,000,000"),
        ("--set", ["latency_target_ms=0", "latency_target_ms=1e-300"], "give at least 1"),
        ("--set", ["spark_version=9.9.9.9", "spark_version=3", "spark_version=3.9", "spark_version=1.6"], "no Spark"),
        ("--set", ["upgrade_to=0", "upgrade_to=4", "upgrade_to=99.1.1"], "there is no Spark"),
        ("--set", ["spark_version=4.3.0-\x1b[31m", "upgrade_to=4.3.0; rm", "upgrade_to=99999"], "give a version"),
        ("--set", ["outage_minutes=1e12"], "give at most 1,000,000"),
        ("--load", ["1e308x", "0.001x", "nanx"], "'--load'"),
        ("--rules", [""], "--rules is empty"),
        ("--last=", ["30m"], "--last is empty"),
    ],
)  # fmt: skip
def test_odd_values_of_options(option: str, values: list[str], said: str) -> None:
    for value in values:
        result = run("analyze", LOG, option, value)
        assert said in one_line(result), value


def test_a_width_of_thousands_of_digits_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("analyze", LOG)
    monkeypatch.setenv("COLUMNS", "1" * 5000)
    assert run("analyze", LOG).output == wide.output


def test_a_long_value_is_cut_in_a_message(tmp_path: Path) -> None:
    config = tmp_path / "advisor.yaml"
    config.write_text(f"queries: {{orders: {{facts: {{spark_version: '{'x' * 100_000}'}}}}}}")
    said = one_line(run("analyze", LOG, "--config", str(config)))
    assert len(said) < 2500 and str(config) in said and said.strip().endswith("give a version such as 3.5.1")


def test_one_fact_may_be_given_twice_with_one_value_and_reaches_the_report() -> None:
    data = json.loads(run("analyze", LOG, *["--set", "task_slots=7"] * 2, "--format", "json").output)
    assert data["queries"][0]["facts"]["task_slots"] == {"value": 7, "from": "user"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["os.path:sep", "--conf", "a=1"], "cannot be called with a setup"),
        (["os:getpid", "--conf", "a=1"], "cannot be called with a setup"),
        (["os.path:exists", "--conf", "=1"], "has no key"),
        (["os.path:exists", "--conf", "a=1", "--conf", "a=2"], "one key has two values"),
        (["os.path:exists", "--conf", "a=1", "--runs", "6"], "6 is not a multiple of 4"),
        (["os.path:exists", "--conf", "a=1", "--seconds", "nan"], "nan"),
        (["os.path:exists", "--conf", "a=1", "--batches", "0"], "0 is not in the range"),
        (["os.path:exists", "--conf", "a=1", "--batches", "9"], "9 steady batches are too few for a result; give at"),
        (["tests.trials.queries:forking", "--conf", "a=1"], "it forks this process"),
        (["tests.trials.queries:in_a_function", "--conf", "a=1"], "your foreachBatch several times; if it writes only"),
    ],
)
def test_a_trial_that_cannot_be_starts_no_spark(words: list[str], said: str) -> None:
    assert said in one_line(run("trial", *words))


def test_a_directory_without_rules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "contains no rules" in one_line(run("analyze", LOG, "--rules", str(tmp_path)))
    os.mkfifo(tmp_path / "waits.yaml")
    assert "waits.yaml: is not a file" in one_line(run("analyze", LOG, "--rules", str(tmp_path)))
    for number in range(401):
        (tmp_path / f"{number}.yaml").touch()
    monkeypatch.setattr(sys.modules["advisor.catalogue.load"], "_MOST_FILES", 400)
    assert "name the folder of the rules" in one_line(run("analyze", LOG, "--rules", str(tmp_path)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["analyze"], "Missing argument"),
        (["analyse", "x"], "No such command 'analyse'"),
        (["analyze", "x", "--fomat", "json"], "'--format'"),
        (["analyze", "nowhere.log"], "nowhere.log"),
        (["analyze", LOG, "--set", "statefull=true"], "stateful"),
        (["analyze", LOG, "--set", "sink=kafak"], "kafka"),
        (["analyze", LOG, "--load", "abc"], "'--load': 'abc' is not a valid number"),
        (["analyze", LOG, "--last", "soon"], "--last soon"),
        (["analyze", LOG, "--last", "30"], "--last 30: 30 has no unit; write 500ms, 30s, 30m"),
        (["analyze", LOG, "--set", "no-such:sink=kafka"], "no query 'no-such' in the input; there are rate-to-noop"),
        (["analyze", LOG, "--set", "rate-to-nop:sink=kafka"], "did you mean 'rate-to-noop'?"),
        (["compare", LOG, LOG, "--set", "no-such:sink=kafka"], "no query 'no-such' in the input"),
        (["trial", "advisor.trials.workloads:rate_to_noop", "--step", "async-progres"], "mean 'async-progress'?"),
        (["analyze", LOG, "--set", "task_slots=3", "--set", "task_slots=4"],
         "task_slots is given twice, as 3 and 4; give it once"),
        (["analyze", LOG, "--target", "p99=0.1ms"],
         "--target p99=0.1ms: latency_target_ms cannot be '0.1'; give at least 1"),
        (["analyze", LOG, "--target", "p99=1s", "--target", "p50=1s"],
         "--target p50=1s: is a second one beside p99=1s; give one"),
        (["analyze", LOG, "--set", "q:latency_target_ms=9", "--target", "q:p99=1s"],
         "--target q:p99=1s: is a second one beside --set q:latency_target_ms=9; give one"),
        (["analyze", LOG, "--target", "no-such:p99=1s"], "--target no-such:...: no query 'no-such'"),
        (["analyze", LOG, "--master", "sc://host:15002"],
         "sc://host:15002 is a server of Spark Connect, which is no master; from Python, give a session"),
        (["steps", "show", "async-progres"], "did you mean 'async-progress'?"),
        (["metrics", "show", "ofset_log_share"], "did you mean 'offset_log_share'?"),
        (["facts", "show", "state_stor"], "did you mean 'state_store'?"),
        (["analyze", LOG, "--config", "nowhere.yaml"], "nowhere.yaml"),
        (["analyze", LOG, "--rules", "nowhere"], "nowhere"),
        (["rules", "show", "LG01"], "did you mean 'LG001'?"),
        (["rules", "check", "nowhere"], "nowhere: no such directory"),
        (["rules", "new", "ZZ001", "--slug", "Small Files"], "--slug Small Files: is no short name; write lower-case"),
        (["compare", LOG, LOG, "--fail-if-slower", "5%"], "'5%' is not a valid number"),
        # what would be lost at the end is told at the beginning
        (["analyze", LOG, "--output", "no/such/page"], "--output no/such/page: there is no such directory; create it"),
        (["compare", LOG, LOG, "--output", "."], "--output .: is a directory; name a file in it"),
        (["analyze", LOG, "--output", "s3://AKIA:secret@lake/x"], "--output s3:...: is an address; name a file"),
        (["analyze", LOG, "--save", "gs://user:secret@lake/x"], "--save gs:...: is an address; name a file"),
        (["trial", "mod:one", "--step", "async-progress", "--output", "no/x"], "no/x: there is no such directory"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(words: list[str], said: str) -> None:
    assert said in one_line(run(*words))


@pytest.mark.parametrize(
    ("fleet", "before"),
    [((), ""), (("--fleet", "--engine", "local"), "latency-advisor: reading on this machine, without Spark\n")],
    ids=["queries", "fleet"],
)
def test_where_all_is_broken_the_report_says_where_and_the_exit_code_is_2(
    tmp_path: Path, fleet: tuple[str, ...], before: str
) -> None:
    log = tmp_path / "driver.log"
    log.write_text('26/11/21 10:00:00 INFO Stream: made progress: {\n  "id" : "x",\n')
    result = run("analyze", str(log), *fleet)
    assert result.exit_code == 2
    assert "cut off" in result.stdout
    said = f"latency-advisor: {log}: one record, which is broken; the report lists where and why\n"
    assert result.stderr == before + said


def test_a_file_that_cannot_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop.log"
    loop.symlink_to(loop)
    result = run("analyze", str(loop))
    assert result.exit_code == 2 and "Not readable: 1 record\n" in result.stdout and " line " not in result.stdout
    assert f"{loop}: Too many levels of symbolic links; the report names each" in result.stderr


@pytest.mark.parametrize("words", [("./-lead.log",), ("--", "-lead.log")])
def test_a_name_may_begin_with_a_dash(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-lead.log").write_bytes(gzip.decompress(Path(LOG).read_bytes()))
    result = run("analyze", *words)
    assert (result.exit_code, result.stderr) == (0, "") and "LG001" in result.stdout


def test_more_runs_than_one_report_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["advisor.report.assemble"], "MOST_RUNS", 0)  # the function has this name, too
    said = one_line(run("analyze", LOG))
    assert said.startswith("latency-advisor: 1 runs of queries, and one report judges at most 0; give fewer logs")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ZeroDivisionError("a\x1b[31m\nb"), "unexpected ZeroDivisionError: a\\x1b[31m b (LATENCY_ADVISOR_TRACEBACK=1 "),
        (pa.ArrowMemoryError("malloc of size 64 failed"), "latency-advisor: not enough memory; give fewer logs"),
    ],
)
def test_an_error_that_nobody_expected_is_one_line_too(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(advisor.api, "analyze", broken)
    assert words in one_line(run("analyze", LOG))
    monkeypatch.setenv("LATENCY_ADVISOR_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in run("analyze", LOG).stderr


def interrupted() -> OSError:
    """What a library raises on the way out of Ctrl-C."""
    error = OSError("the gateway is gone")
    error.__context__ = KeyboardInterrupt()
    return error


def test_what_a_trial_starts_prints_to_stderr_too() -> None:
    code = (
        "import os\nfrom advisor.cli.trial import to_stderr\nwith to_stderr(): os.system('echo apart')\nprint('result')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("result\n", "apart\n")


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SchemaError("Error building:\n  KeyboardInterrupt: "), interrupted()]
)
def test_ctrl_c(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(advisor.api, "analyze", stopped)
    assert run("analyze", LOG).exit_code == 130


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_any_command_in_order(signal: str) -> None:
    killed = (
        f"import advisor.api, signal; signal.signal(signal.{signal}, signal.SIG_DFL); "  # nohup ignores SIGHUP
        f"advisor.api.analyze = lambda *_, **__: signal.raise_signal(signal.{signal})"
    )
    code = f"{killed}; from advisor.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "analyze", LOG], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "")


def test_a_store_that_is_silent_holds_up_neither_a_signal_nor_the_end() -> None:
    code = """import atexit, os, signal, threading, pyarrow.fs, advisor.api
from advisor.sources import paths
pyarrow.fs.ensure_s3_finalized = threading.Event().wait  # as the library waits for what it was asked
atexit.register(pyarrow.fs.ensure_s3_finalized)
def asked():
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()
advisor.api.analyze = lambda *_, **__: paths.from_store("s3://bucket/log", asked)
from advisor.cli import main; main()"""
    words = [sys.executable, "-c", code, "analyze", LOG]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (130, "")


@pytest.mark.parametrize(
    ("closed", "code"),
    [(">&-", 0), ("2>&-", 0), ("<&-", 2), ("<&- 2>/dev/full", 2), ("--fleet 2>/dev/full", 0), ("--format html <&-", 0)],
)
def test_what_the_shell_closed_is_no_fault(closed: str, code: int) -> None:
    command = f"{sys.executable} -m advisor analyze {LOG if code == 0 else '-'} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, "unexpected" in done.stderr) == (code, False)


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m advisor facts list | head -n 0; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 141)  # 0 where the pipe took all of it before it was closed


def test_an_output_that_knows_no_unicode_gets_plain_characters() -> None:
    done = program("analyze", LOG, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii() and "####" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--version", f"latency-advisor {advisor.__version__}\n"),
        ("facts list", "hdfs | rocksdb"), ("facts show state_store", "- Values: hdfs | rocksdb\n"),
        ("rules list", "LG001  Every batch waits for the offset and commit logs"), ("rules show lg001", "## LG001 "),
        ("rules show lg001", "### async-progress\n"), ("steps show async-progress", "- Undo: "),
        ("steps show async-progress", "### async-progress\n"),
        ("steps list --format json", '"do": "What to do about a well-known error"'),
        ("steps list --format json", '"rules": "CF002, LG001'),
        ("steps show async-progress --format json", '"takes": "restart"'),
        ("metrics show offset_log_share", "- Metric: offset_log_share\n"),
        ("metrics show offset_log_share", "- Unit: share\n"),
        ("metrics show offset_log_share --format json", '"unit": "share"'),
    ],
)  # fmt: skip
def test_what_there_is_is_listed_and_shown(words: str, said: str) -> None:
    assert said in run(*words.split()).output


def test_lists_are_as_wide_and_long_as_what_they_hold() -> None:
    assert max(map(len, run("facts", "list").output.splitlines())) <= 100
    rows = json.loads(run("metrics", "list", "--format", "json").output)
    assert [*rows[0]] == ["metric", "in reports", "unit", "per", "meaning"]
    assert len(rows) == len(METRICS)
    assert len(run("metrics", "list").output.splitlines()) < 1.5 * len(METRICS)


def test_a_pipe_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("analyze", LOG).output.splitlines()
    assert max(map(len, (line for line in lines if ".option(" not in line))) <= 60
    assert any(len(line) > 50 for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", LOG), ("compare", LOG, LOG), ("rules", "list"), ("steps", "list"), ("metrics", "list"),
        ("facts", "list"), ("log4j",),
    ],
)  # fmt: skip
def test_output_goes_into_a_file(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "written"
    result = run(*words, "--output", str(path))
    assert (result.exit_code, result.output) == (0, "")
    assert path.read_text(encoding="utf-8")


def test_rules_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("advisor.cli.listing.run", lambda rule: told)
    assert "are in order" in run("rules", "check").output
    told.append("LG001, an example: expected level high, got low")
    result = run("rules", "check")
    assert result.exit_code == 2 and told[0] in result.stderr


def test_all_that_is_wrong_with_a_teams_rules_is_said(tmp_path: Path) -> None:
    (tmp_path / "LG999-x.yaml").write_text("id: LG999\ntitel: x\n", encoding="utf-8")
    result = run("rules", "check", str(tmp_path))
    assert result.exit_code == 2
    assert all(line.startswith("latency-advisor: ") for line in result.stderr.splitlines()[:1])
    assert "did you mean 'title'?" in result.stderr and "says: is missing" in result.stderr


@pytest.mark.parametrize(
    "master",
    ["x", "LOCAL", "local[0]", "local[x]", "spark:h:7", "spark://h", "yarn-client", "mesos://h:1", "http://h:7077"],
)
def test_what_is_no_master_starts_no_java(master: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    trial = ("trial", "advisor.trials.workloads:rate_to_noop", "--step", "async-progress")
    for words in (("analyze", LOG, "--master", master), (*trial, "--spark", f"spark.master={master}")):
        said = one_line(run(*words))
        assert f"{master} is no master; give spark://host:7077, yarn, k8s://… or local[8]" in said


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*]", "local[*,3]", "local-cluster[2,1,1024]", "spark://a:7077,b:7077", "yarn",
     "k8s://https://h:6443", "spark://[::1]:7077"],
)  # fmt: skip
def test_what_spark_takes_is_a_master(master: str) -> None:
    refuse_master("--master", master)
    refuse_master("--master", None)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("no-such.log",), "no-such.log: no such file or directory"), (("-",), "a cluster cannot read standard input"),
        ((LOG, "--last", "soon"), "is not a length of time"), ((LOG, "--set", "sinc=kafka"), "sinc"),
        ((LOG, "--rules", "no-such-rules"), "no-such-rules"),
        ((LOG, "--fleet", "--load", "2x"), "--load is of one query's report; leave out --fleet"),
        ((LOG, "--fleet", "--keep", "checkpoint"), "--keep is of one query's report; leave out --fleet"),
        ((LOG, "--save-table", "http://h:1/x"), "save_table: names no directory; give the one"),
        ((LOG, "--save-table", "s3a://AKIAIOSFODNN7EXAMPLE:s3cr3t-k3y@b/x"), "the address contains a credential"),
    ],
)  # fmt: skip
def test_what_was_asked_wrongly_starts_no_spark(words: tuple[str, ...], found: str) -> None:
    # no master: were one asked for, the message would be of Spark
    done = run("analyze", *words, "--master", "spark://nowhere.invalid:1", env={"JAVA_HOME": "/nowhere"})
    assert (done.exit_code, done.stdout) == (2, "")
    assert found in done.stderr and "Spark" not in done.stderr and "k3y" not in done.stderr


def test_a_new_rule_takes_the_place_of_none(tmp_path: Path) -> None:
    assert run("rules", "new", "ZZ001", "--rules", str(tmp_path)).exit_code == 0
    (mine,) = tmp_path.iterdir()
    mine.write_text("mine")
    for slug in ("my-rule", "another"):
        said = one_line(run("rules", "new", "zz001", "--slug", slug, "--rules", str(tmp_path)))
        assert f"ZZ001 is taken: {mine}; give another id, or change that file" in said
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (:", "broken:build: cannot be imported: SyntaxError: "),
        ("class B(BaseException): ...\nraise B('no')", "broken:build: cannot be imported: B: no; correct the module"),
        ("import sys\nsys.exit(3)", "broken:build: cannot be imported: SystemExit: 3; correct the module"),
        (
            "raise RuntimeError('password:\\n  Zq7xPw91Lk')",
            "cannot be imported: RuntimeError: password: *********(redacted)",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_in_a_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert said in one_line(run("trial", "broken:build", "--step", "async-progress"))
    sys.modules.pop("broken", None)


@pytest.mark.parametrize("name", ["secret.log", "token.jsonl", "credentials.json"])
def test_the_name_of_a_file_hides_no_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("nothing")
    assert f"{name}: no streaming progress in 1 file (7 bytes); give a driver log" in one_line(run("analyze", name))
    assert f"--output {name}: is one of the files that are read" in one_line(run("analyze", name, "--output", name))
    assert "Zq7x" not in one_line(run("analyze", LOG, "--set", "password=Zq7x"))
