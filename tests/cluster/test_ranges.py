"""Ranges, without Spark: every split of every form gives what one reading gives."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from advisor import api
from advisor.batches import SCHEMA, Reading
from advisor.cluster import engine, reading, units
from advisor.errors import InputError
from advisor.sources import files, harvest, random_access
from tests.cluster.apart import judge_apart, read_apart
from tests.recorded import CASES, as_json, digest
from tests.sources.formats_made import FORMATS, driver_log, write_all
from tests.sources.reading import unprivileged
from tests.sources.variants import VARIANTS

SAMPLES = Path(__file__).parents[2] / "sample_progress"


@pytest.fixture(autouse=True, scope="module")
def divided() -> Iterator[None]:
    """Short texts are divided too; ranges are read in small windows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "WHOLE", 0)
        patch.setattr(random_access, "STEP", 1_500)
        patch.setattr(reading, "SLACK", 500)
        yield


NOTHING = Reading.of(SCHEMA.empty_table())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("formats")
    write_all(place)
    return place


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("variants")
    for number, content in enumerate(VARIANTS.values()):
        (place / f"{number}.log").write_bytes(content)
    return place


def whole(paths: list[str]) -> Reading:
    try:
        return files.read(paths)
    except InputError:
        return NOTHING


def sightings(reading: Reading) -> tuple[list[dict[str, Any]], set[str]]:
    """(what lines told in their order, files with torn records, of which each range tells by itself)."""
    rows = reading.sightings.to_pylist()
    torn = {row["file"] for row in rows if row["fact"] == "records_torn"}
    return [row for row in rows if row["fact"] != "records_torn"], torn


def assert_same(one: Reading, other: Reading) -> None:
    assert one.batches.to_pylist() == other.batches.to_pylist()
    assert sightings(one) == sightings(other)
    assert sorted(map(repr, one.broken)) == sorted(map(repr, other.broken))
    assert (one.files, one.bytes, one.events, one.idle, one.duplicates) == (
        other.files, other.bytes, other.events, other.idle, other.duplicates,
    )  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
@given(split=st.integers(300, 40_000))
@example(split=61)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_split_of_every_form(folder: Path, name: str, split: int) -> None:
    path = str(folder / name)
    one, other = read_apart([path], split), whole([path])
    if other is NOTHING:
        assert not one.events
        assert not one.broken
    else:
        assert_same(one, other)


@pytest.mark.parametrize("variant", VARIANTS)
@given(split=st.integers(150, 4_000))  # shorter ranges are of no other kind, and each costs a reading
@example(split=211)
@settings(max_examples=2)
def test_every_split_of_every_variant(variants: Path, variant: str, split: int) -> None:
    path = str(variants / f"{list(VARIANTS).index(variant)}.log")
    assert_same(read_apart([path], split), files.read([path]))


def test_a_file_that_shrank_since_it_was_planned(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(driver_log())
    file = units.File(0, str(path), path.stat().st_size)
    planned = [units.Unit("a", (file,), "text", start, end) for start, end in units.ranges(file, 6_000)]
    path.write_bytes(driver_log()[: file.size // 2])
    found = [row for unit in planned for row in reading.read_unit(unit)]
    whole = files.read([str(path)])
    assert sum(row.rows for row in found if row.kind == "batches") == whole.events > 0


def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(driver_log())
    path.chmod(0)
    with unprivileged():
        rows = list(reading.read_unit(units.Unit("a", (units.File(0, str(path), 10),))))
    assert ["Permission denied" in row.note for row in rows if row.kind == "broken"] == [True]


def test_a_log_that_is_not_unpacked_is_named(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_bytes(driver_log())
    (tmp_path / "other.log.xz").write_bytes(lzma.compress(driver_log()))
    for split in (300, 64 << 20):
        found = read_apart([str(tmp_path)], split)
        assert [(Path(one.file).name, one.reason[:9]) for one in found.broken] == [("other.log.xz", "not read:")]
        assert_same(found, files.read([tmp_path]))


RECORDED = json.loads((SAMPLES.parent / "tests" / "recorded.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_a_cluster_says_of_each_recorded_log_what_a_laptop_says(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The laptop is asked only where its digest is another one: test_recorded.py asks it for each."""
    monkeypatch.chdir(SAMPLES.parent)
    found = as_json(judge_apart([case], 64 << 20))
    assert digest(found) == RECORDED[case]["stages.json"] or found == as_json(json.loads(api.analyze(case).to_json()))


@pytest.mark.parametrize("family", ["DQ001", "LG005"])
def test_runs_without_stages_are_judged_alike_group_by_group(family: str) -> None:
    place = SAMPLES / family
    apart = json.loads(json.dumps(judge_apart([str(place)], 64 << 20, stages=False)))
    assert apart["queries"] == json.loads(api.analyze(place, stages=False).to_json())["queries"]


def test_small_files_share_tasks_and_a_huge_one_is_divided() -> None:
    small = [units.Unit(f"{nth}.log", (units.File(nth, f"{nth}.log", 100_000),)) for nth in range(2_000)]
    huge = units.Unit("huge.log", (units.File(2_000, "huge.log", 1 << 30),))
    look = {"huge.log": units.Look(marked=True)}
    planned = [unit for log in [*small, huge] for unit in units.units(log, look, 64 << 20)]
    found = units.tasks(planned, 64 << 20)
    sizes = [sum(unit.size + units.OPENING for unit in task) for task in found]
    assert sum(len(task) for task in found) == 2_000 + 16
    assert max(sizes) <= (64 << 20) + units.OPENING
    assert len(found) <= 16 + 6


def test_of_very_many_broken_records_all_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (harvest, engine):
        monkeypatch.setattr(module, "MOST_BROKEN", 4)
    torn = '26/03/01 02:00:00 INFO MicroBatchExecution: Streaming query made progress: {"id" : oops'
    path = tmp_path / "driver.log"
    path.write_text("\n".join([torn] * 40))
    found = read_apart([str(path)], 700).broken
    assert [(one.line, one.times) for one in found] == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 36)]
