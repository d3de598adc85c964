"""Checkpoints that real Spark wrote, whole and damaged: what the reader says of them."""

from __future__ import annotations

import ast
import io
import json
import os
import random
import re
import shlex
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from advisor.api import analyze, read_checkpoint
from advisor.checkpoint import read
from advisor.checkpoint.folder import MOST_BYTES, DamagedError, Entry, whole
from advisor.checkpoint.statestores import read_snapshot
from advisor.cli import main
from advisor.contract import as_json
from advisor.errors import InputError, UsageError
from advisor.sources.folders import folder_at
from advisor.views.checkpoint import checkpoint_as_text
from tests.checkpoint.stops import listed
from tests.made import events

SAMPLES = sorted(Path(__file__).with_name("samples").glob("*.zip"))
ASKED = yaml.safe_load(Path(__file__).with_name("asked.yaml").read_text(encoding="utf-8"))
STARTS = yaml.safe_load(Path(__file__).with_name("damaged.yaml").read_text(encoding="utf-8"))
MOST_LINES = 20


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a sample by its name."""

    def copy(name: str) -> Path:
        place = tmp_path / name
        with zipfile.ZipFile(Path(__file__).with_name("samples") / f"{name}.zip") as archive:
            archive.extractall(place)
        return place

    return copy


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["checkpoint", *words], env={"COLUMNS": "120"})


def newest(place: Path, log: str) -> Path:
    return max((place / log).iterdir(), key=lambda one: int(one.name))


@pytest.mark.parametrize("name", [one.stem for one in SAMPLES])
def test_a_whole_checkpoint_starts_and_is_told_in_twenty_lines(name: str, sample: Callable[[str], Path]) -> None:
    place = sample(name)
    before = listed(place)
    found = read_checkpoint(place)
    assert listed(place) == before
    assert {one.answer for one in found.start if "4.3" in one.versions} == {"only_so" if "async" in name else "yes"}
    assert found.again.next in (int(newest(place, "offsets").name), int(newest(place, "offsets").name) + 1)
    files = [one for one in place.rglob("*") if one.is_file() and "_metadata" not in one.parts]
    assert (found.files, found.bytes) == (len(files), sum(one.stat().st_size for one in files))
    assert bool(found.stores) == (name.split("-")[1] not in ("stateless", "async", "files", "named"))
    assert len(checkpoint_as_text(found, width=120, color=False).splitlines()) <= MOST_LINES
    assert json.loads(as_json(found))["query_id"] == json.loads((place / "metadata").read_text())["id"]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: f"{case['sample']} {case['before']}")
def test_what_may_be_changed(case: dict[str, Any], sample: Callable[[str], Path]) -> None:
    found = read_checkpoint(sample(case["sample"]), before=[case["before"]], set=case.get("set", []))
    (answer,) = found.answers
    assert (answer.answer, answer.step) == (case["answer"], case.get("step"))
    assert set(case.get("unknown", ())) <= set(answer.unknown)
    assert case.get("says", "") in answer.says and case.get("never", "none of it") not in answer.says
    assert bool(answer.stages) == ("step" in case or case.get("stages", False))
    assert "{" not in answer.says + "".join(stage.until + str(stage.change.code) for stage in answer.stages)
    assert "<" not in as_json(answer)
    assert f"{case['before']}:" in "".join(checkpoint_as_text(found, width=300, color=False).split())


def test_what_continuous_processing_wrote_takes_no_micro_batches(sample: Callable[[str], Path]) -> None:
    place = sample("4.3-stateless")
    for log in (place / "offsets").iterdir():
        version, _, *offsets = log.read_text().splitlines()
        log.write_text("\n".join([version, "", *offsets]))
    last = int(newest(place, "offsets").name)
    before = ["trigger=processing-time", "trigger=available-now", "real-time"]
    found = read_checkpoint(place, before=before)
    assert [one.answer for one in (*found.start, *found.answers)] == ["only_so", "no", "no", "no"]
    assert [one.answer for one in read_checkpoint(place, set=["trigger=processing_time"]).start] == ["no"]
    for commit in (last, last - 1):
        (place / "commits" / str(commit)).unlink(missing_ok=True)
    again = read_checkpoint(place).again
    assert (again.next, again.batch, again.rows) == (last - 1, last - 1, None)  # behind the newest commit


@pytest.mark.parametrize(
    ("name", "asked", "once"),
    [
        ("4.3-default", ["partitions=16", "spark.sql.shuffle.partitions=16"], "the checkpoint keeps 2"),
        ("4.3-stateless", ["spark=4.3.0", "spark=4.1.0"], "the folder state is lost"),
        ("4.3-async", ["async-off", "trigger=once", "real-time"], "1. restart with the interval 0"),
    ],
)
def test_what_stands_above_is_not_repeated(
    name: str, asked: list[str], once: str, sample: Callable[[str], Path]
) -> None:
    shown = checkpoint_as_text(read_checkpoint(sample(name), before=asked), width=120, color=False)
    assert " ".join(shown.split()).count(once) == 1


@pytest.mark.parametrize("case", STARTS, ids=lambda case: case["name"])
def test_a_damaged_checkpoint_starts_only_where_spark_starts(
    case: dict[str, Any], sample: Callable[[str], Path]
) -> None:
    place = sample(case["sample"])
    for name in case.get("delete", ()):
        target = place / name
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    for name, text in case.get("write", {}).items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    for name, size in case.get("cut", {}).items():
        (place / name).write_bytes((place / name).read_bytes()[:size])
    found = read_checkpoint(place, set=case.get("set", []))
    assert {v: one.answer for one in found.start for v in one.versions or ("known",)}.items() >= case["starts"].items()
    assert case.get("names", "") in " ".join(one.says for one in found.start)


@pytest.mark.parametrize(
    ("more", "ahead"), [([], None), ([14], None), ([14] * 9, 14), ([14, 15, 16, 17, 18, 19], InputError)]
)
def test_a_checkpoint_that_changes_while_it_is_read_is_read_again(
    more: list[int], ahead: Any, sample: Callable[[str], Path]
) -> None:
    """`more`: the commit that each listing shows beside those that are there."""
    folder, coming = folder_at(sample("4.3-default")), iter(more)
    entries = folder.entries

    def listed(below: str) -> Iterator[Entry]:
        yield from entries(below)
        if below == "commits" and (number := next(coming, None)):
            yield Entry(str(number), 9, False)

    folder.entries = listed  # type: ignore[method-assign]
    if ahead is InputError:
        with pytest.raises(InputError, match="it changes while it is read: its query runs; stop the query first"):
            read(folder)
    else:
        assert read(folder).commit_ahead == ahead


class Shut:
    """A folder whose files fail with this error."""

    place = "ckp"

    def __init__(self, error: OSError) -> None:
        self.error = error

    def entries(self, below: str) -> Iterator[Entry]:
        return iter(())

    def read(self, name: str) -> bytes:
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (PermissionError(13, "Permission denied"), InputError),
        (OSError("When reading: AWS Error ACCESS_DENIED during GetObject"), InputError),
        (FileNotFoundError(2, "No such file"), DamagedError),
        (OSError(5, "Input/output error"), DamagedError),
    ],
)
def test_a_file_that_we_may_not_read_is_no_damage(error: OSError, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        whole(Shut(error), "offsets/13")


def damaged(place: Path, chance: random.Random) -> str:
    """Delete, cut off or garble one file, or all of a folder."""
    files = sorted(one for one in place.rglob("*") if one.is_file())
    victim = chance.choice(files)
    way = chance.choice(("delete", "cut", "garble", "empty", "folder"))
    content = victim.read_bytes()
    if way == "folder":
        shutil.rmtree(victim.parent if victim.parent != place else place / "commits")
    elif way == "delete":
        victim.unlink()
    elif way == "garble":
        at = chance.randrange(max(1, len(content)))
        victim.write_bytes(content[:at] + chance.randbytes(20) + content[at + 20 :])
    else:
        victim.write_bytes(content[: chance.randrange(max(1, len(content)))] if way == "cut" else b"")
    return f"{way} {victim.relative_to(place)}"


@pytest.mark.parametrize("seed", range(len(SAMPLES)))
def test_any_damage_gets_one_clear_line(seed: int, sample: Callable[[str], Path]) -> None:
    whole = sample(SAMPLES[seed].stem)
    chance = random.Random(seed)
    for number in range(-(-200 // len(SAMPLES))):
        place = whole.with_name(f"damaged{number}")
        shutil.copytree(whole, place)
        done = damaged(place, chance)
        try:
            seen = read(folder_at(place))
        except InputError as error:
            assert "\n" not in str(error), done
            continue
        assert all("\n" not in wrong and wrong.isprintable() for wrong in (*seen.damage, str(seen.state_gap))), done


FAR = "9" * 17
STATE_OF_4 = "state/0/_metadata/v2/0"


NAMED = (
    'v1\n{"sstFiles":[{"localSstFileName":"a","dfsSstFileName":"x password=hunter2secret","sizeBytes":5}],"numKeys":1}'
)


def snapshot(told: str, *, encrypted: bool = False) -> bytes:
    """A snapshot of RocksDB that says this."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata", told)
    held = bytearray(packed.getvalue())
    held[6] |= encrypted
    held[held.index(b"PK\1\2") + 8] |= encrypted
    return bytes(held)


def put(place: Path, file: str, held: str | bytes) -> None:
    for one in place.glob(file):
        one.write_bytes(held.encode() if isinstance(held, str) else held)


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert re.search(old, text)
    file.write_text(re.sub(old, new, text))


def stated(held: str) -> tuple[str, Callable[[Path], Any]]:
    """What the state of 4.3 says of its stores."""
    return "4.3-ids", lambda at: put(at, STATE_OF_4, f"v2\n{held}")


def offsets(name: str, old: str, new: str) -> tuple[str, Callable[[Path], Any]]:
    """A newest entry of the offset log with this in place of that."""
    return name, lambda at: replaced(newest(at, "offsets"), old, new)


def packed(held: bytes) -> tuple[str, Callable[[Path], Any]]:
    """A checkpoint with this as its snapshots."""
    return "3.5-rocksdb", lambda at: put(at, "state/0/0/*.zip", held)


HOSTILE: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a far batch": ("3.5-changelog", lambda at: newest(at, "offsets").rename(at / "offsets" / FAR)),
    "many partitions": offsets("3.5-changelog", r'(shuffle.partitions":)"\d+', rf'\1"{FAR}'),
    "partitions in other digits": offsets("3.5-changelog", r'(shuffle.partitions":)"\d+', r'\1"²'),
    "a far source": offsets("4.3-files", r'(logOffset":)\d+', rf"\g<1>{FAR * 20}"),
    "stores that are a number": stated('{"stateStoreInfo":5}'),
    "an operator that is a list": stated('{"operatorInfo":[1]}'),
    "an operator named a list": stated('{"operatorInfo":{"operatorName":[1]}}'),
    "ids that are no list": (
        "4.3-ids",
        lambda at: replaced(newest(at, "commits"), r'"stateUniqueIds":.*', '"stateUniqueIds":{"0":{"0":[]}}}'),
    ),
    "a snapshot that unpacks to 128 MB": packed(snapshot(" " * (128 << 20))),
    "an encrypted snapshot": packed(snapshot("v1\n{}", encrypted=True)),
    "a deep snapshot": packed(snapshot("v1\n" + "[" * 100_000)),
    "a table whose name holds a credential": packed(snapshot(NAMED)),
    "a name that is no text": ("3.5-rocksdb", lambda at: (at / "state/0/0/\udcff").mkdir()),
    "a pipe": ("3.5-rocksdb", lambda at: os.mkfifo(at / "offsets/99")),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_files_that_spark_never_writes_are_answered(what: str, sample: Callable[[str], Path]) -> None:
    name, make = HOSTILE[what]
    place = sample(name)
    make(place)
    shown = run(str(place))
    assert (shown.exit_code, shown.stdout.count("STARTS"), shown.stderr) == (0, 1, "")
    assert "hunter2" not in shown.stdout


def test_names_of_files_with_other_ends_of_lines_and_credentials_in_id_and_offset(
    sample: Callable[[str], Path],
) -> None:
    place = sample("4.3-files")
    for one in (place / "sources/0").iterdir():
        one.write_text(one.read_text().replace("file:///", "file:///a\u2028b\x85c"))
    replaced(place / "metadata", r'"id":"[^"]*"', '"id":"password=hunter2hunter2"')
    found = read_checkpoint(place)
    assert found.damage == () and "hunter2" not in as_json(found)
    replaced(newest(place, "offsets"), r'"logOffset":', '"url":"jdbc:postgresql://u:hunter2hunter2@h/db","logOffset":')
    found = read_checkpoint(place)
    assert "logOffset" in str(found.sources) and "hunter2" not in as_json(found)
    os.truncate(place / "sources/0/19.compact", MOST_BYTES + 1)  # a source log of any length is no damage
    found = read_checkpoint(place)
    assert (found.damage, found.is_checked, {one.answer for one in found.start}) == ((), False, {"yes"})


def test_the_command_says_of_a_damaged_checkpoint_what_is_wrong(sample: Callable[[str], Path]) -> None:
    place = sample("4.3-default")
    newest(place, "offsets").write_text("")
    shown = run(str(place), "--fail-on", "no")
    assert shown.exit_code == 1 and f"offsets/{newest(place, 'offsets').name} is empty" in shown.stdout


class Listed:
    """A folder that counts how often each of its folders is listed."""

    def __init__(self, place: Path) -> None:
        self._folder = folder_at(place)
        self.place = str(place)
        self.times: Counter[str] = Counter()

    def entries(self, below: str) -> Iterator[Entry]:
        self.times[below] += 1
        return self._folder.entries(below)

    def read(self, name: str) -> bytes:
        return self._folder.read(name)


@pytest.mark.parametrize("name", ["4.3-join", "4.3-ids", "4.3-files", "3.5-rocksdb"])
def test_each_folder_is_listed_once(name: str, sample: Callable[[str], Path]) -> None:
    folder = Listed(sample(name))
    read(folder)
    assert set(folder.times.values()) == {1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no such file or directory; give the folder that checkpointLocation names"),
        ((str(Path(__file__).parent),), "no checkpoint"),
        ((__file__,), "is a file, not a folder"),
    ],
)
def test_what_is_no_checkpoint_is_refused_in_one_line(words: tuple[str, ...], said: str) -> None:
    refused = run(*words)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1) and said in refused.stderr
    for place in ("a" * 300, "a\0b"):
        with pytest.raises(InputError, match="right to read"):
            read_checkpoint(place)


def test_empty_logs_and_the_parent_of_checkpoints_are_named(sample: Callable[[str], Path], tmp_path: Path) -> None:
    sample("4.3-default")
    (tmp_path / "left" / "offsets").mkdir(parents=True)
    assert "no file is left" in run(str(tmp_path / "left")).stderr
    assert "below it: '4.3-default', 'left'" in run(str(tmp_path)).stderr


def test_a_copy_is_made_from_an_address(sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    place = sample("4.3-default")
    monkeypatch.chdir(place.parent)
    (answer,) = read_checkpoint(place.name, before=["move=s3a://new/place"]).answers
    assert f"distcp file://{place} s3a://new/place" in (answer.stages[0].change.code or "")


@pytest.mark.parametrize("name", ["a b", "it's", '$(id)"); id(""'])
def test_a_folder_with_an_odd_name_is_quoted(sample: Callable[[str], Path], name: str) -> None:
    place = sample("4.3-changelog")
    place = place.rename(place.with_name(name))
    known = ["spark_version=4.3.0", "sink=kafka"]
    answers = read_checkpoint(str(place), before=["partitions=16", f"move=/{name}"], set=known).answers
    code = [stage.change.code for answer in answers for stage in answer.stages if stage.change.code]
    call = ast.parse(code[0], mode="eval").body
    assert isinstance(call, ast.Call) and ast.literal_eval(call.args[0]) == str(place)
    assert shlex.split(code[1]) == ["hadoop", "distcp", f"file://{place}", f"/{name}"]
    assert f"latency-advisor checkpoint {shlex.quote(f'/{name}')}" in answers[1].stages[1].do


@pytest.mark.parametrize(
    "asked",
    ["async", "partitions", "partitions=many", "partitions=0", "async-off=1", "spark=new", "spark=4.3.0; rm",
     "trigger=hourly", "move=", "move=-update",
      "partitions=99999999999", "spark.sql.shuffle.partitions", "spark.sql.shuffle.partitions=abc",
     "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled=maybe",
     *(f"{asked}={'9' * 5000}" for asked in ("spark", "state-format", "partitions"))],
    ids=lambda asked: asked[:40],
)  # fmt: skip
def test_a_question_that_is_none_is_refused(asked: str, sample: Callable[[str], Path]) -> None:
    with pytest.raises(UsageError, match="--before"):
        read_checkpoint(sample("4.3-default"), before=[asked])


def log_of(place: Path, query_id: str) -> Path:
    log = place.with_name("driver.jsonl")
    rows = [{"triggerExecution": 300, "addBatch": 200, "id": query_id, "sink": "NoopTable"}] * 40
    log.write_text("".join(json.dumps(one) + "\n" for one in events(rows)))
    return log


def test_a_log_and_its_checkpoint_know_more_together(sample: Callable[[str], Path]) -> None:
    place = sample("4.3-changelog")
    log = log_of(place, read_checkpoint(place).query_id or "")
    facts = analyze(log, checkpoint=place).data["queries"][0]["facts"]
    wanted = {"shuffle_partitions": 2, "state_store": "rocksdb", "changelog": True}
    told = {name: {"value": value, "from": "checkpoint"} for name, value in wanted.items()}
    assert {name: facts[name] for name in wanted} == told
    assert read_checkpoint(place, log=log).again.batch_ms == 300
    with pytest.raises(InputError, match="of one query"):
        analyze(log_of(place, "11111111-1111-1111-1111-111111111111"), checkpoint=place)


def test_json_holds_the_whole_record_without_credentials_of_questions(sample: Callable[[str], Path]) -> None:
    asked = ("state-format=1", "move=s3://k:hunter2hunter2@b", "spark.my.password=hunter2hunter2")
    shown = run(str(sample("4.3-ids")), "--format", "json", *(f"--before={each}" for each in asked))
    found = json.loads(shown.stdout)
    assert (found["answers"][0]["answer"], len(found["answers"])) == ("no", 3) and "hunter2" not in shown.stdout
    assert found["stores"][0]["rows"] == 20
    assert [log["version"] for log in found["logs"]][:2] == [1, 2]


@pytest.mark.parametrize("tables", ["{}," * 10, '{"dfsSstFileName":"a","sizeBytes":1},' * 200_000])
def test_a_snapshot_whose_list_of_tables_is_none_or_too_long_is_torn(tables: str) -> None:
    held = snapshot('v1\n{"sstFiles":[' + tables.rstrip(",") + '],"numKeys":1}')
    with pytest.raises(DamagedError, match=r"password=.{1,20}redacted"):
        read_snapshot("state/0/0/password=Zq7xPw91Lk/6.zip", held)
