"""Settings that a Spark ignores, and what an upgrade changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from advisor.api import analyze
from advisor.catalogue import Catalogue
from advisor.contract import Finding
from advisor.engine.conditions import ask_all
from advisor.engine.judge import judge_rule
from advisor.examples import window
from advisor.facts import confs
from advisor.facts.confs import known_settings, unknown_settings
from tests.made import events

VERSIONS = known_settings().versions


def test_settings_that_people_invented_are_named() -> None:
    invented = yaml.safe_load(Path(__file__).with_name("invented.yaml").read_text())
    assert len(invented) >= 40
    for version in (None, *VERSIONS):
        assert all((unknown_settings([key], version) or "").startswith(key) for key in invented)


def test_a_misspelt_setting_is_named_with_the_nearest_one() -> None:
    near = {
        "spark.sql.streaming.stateStore.minDeltaForSnapshot": "stateStore.minDeltasForSnapshot, since 2.0.0",
        "spark.sql.streaming.statestore.providerClass": "stateStore.providerClass, since 2.3.0",
        "spark.sql.streaming.noDataMicroBatch.enabled": "noDataMicroBatches.enabled, since 2.4.1",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing": "rocksdb.changelogCheckpointing.enabled",
    }
    assert all(f"nearest is spark.sql.streaming.{'stateStore.' * name.startswith('rocksdb')}{name}" in
               (unknown_settings([key], "4.3.0") or "") for key, name in near.items())  # fmt: skip


def test_the_nearest_one_is_looked_for_only_where_it_is_told() -> None:
    confs._nearest.cache_clear()
    told = unknown_settings([f"spark.sql.streaming.odd{number}" for number in range(50)], "4.0.0")
    assert (told.endswith(" and 47 more"), confs._nearest.cache_info().misses) == (True, 3)


def test_a_setting_is_known_from_its_first_version_to_its_last() -> None:
    cleanup = "spark.sql.streaming.statefulOperator.incrementalCleanupFactor"
    gate = "spark.sql.streaming.join.stateFormatV4.enabled"
    assert unknown_settings([cleanup], "4.2.1") == f"{cleanup} (it came with Spark 4.3)"
    assert unknown_settings([cleanup], "4.3.0") is None
    assert unknown_settings([gate], "4.2.1") is None
    assert unknown_settings([gate], "4.3.0") == f"{gate} (it is gone since Spark 4.3)"
    assert unknown_settings(["spark.sql.streaming.maxRetries"], "4.9.0") is None  # nobody has asked that Spark
    assert unknown_settings(["spark.sql.streaming.maxRetries"], "3.3.0") is None


def test_an_earlier_release_of_the_oldest_spark_counts_as_that_spark() -> None:
    assert (unknown_settings(["spark.sql.streaming.maxRetries"], "3.5.1") or "").startswith("spark.sql.str")
    assert unknown_settings(["spark.sql.streaming.noDataMicroBatches.enabled"], "3.5.1") is None


def test_a_store_of_ones_own_may_read_any_setting_of_stores() -> None:
    key = "spark.sql.streaming.stateStore.mapdb.checkpointPath"
    assert unknown_settings([key], "4.3.0", own_store=True) is None
    assert unknown_settings([key], "4.3.0") is not None


def test_rocksdb_reads_its_settings_in_any_case() -> None:
    assert unknown_settings(["spark.sql.streaming.stateStore.ROCKSDB.compactoncommit"], "4.0.1") is None


@pytest.mark.parametrize("before", VERSIONS)
@pytest.mark.parametrize("after", VERSIONS)
def test_an_upgrade_tells_only_defaults_that_differ(before: str, after: str, catalogue: Catalogue) -> None:
    """Each step names a setting; it is offered only where the newer Spark's own default is another."""
    known = known_settings()
    at, then = known.versions.index(before), known.versions.index(after)
    told = _told_of_upgrade(before, after, catalogue)
    assert all(known.settings[key][at] != known.settings[key][then] for key in told)
    assert bool(told) is (at < then and after > "4.1")  # 4.0 changed no default that steps name


def _told_of_upgrade(before: str, after: str, catalogue: Catalogue) -> list[str]:
    """The settings that the steps of CF004 name for a query that has everything they ask about."""
    every = (
        {"stateful": False, "trigger": "real_time", "sink": "kafka"},
        {
            "stateful": True,
            "trigger": "unspecified",
            "sink": "foreach_batch",
            "state_store": "rocksdb",
            "changelog": True,
        },
    )
    rule, found = catalogue.rules["CF004"], []
    for facts in every:
        example = rule.examples[0].model_copy(
            update={"facts": {"platform": "open_source", "spark_version": before, "upgrade_to": after, **facts}}
        )
        for step in rule.steps:
            if ask_all(step.when, window(example)).holds and step.change:
                found += list(step.change.conf)
    return found


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("4.3.0", "4.0.1", "is older"),
        ("4.3.0", "4.3.0", "No difference"),
        ("4.2.1", "4.9.0", "not known"),
        ("4.0.1", "4.2.1", "each step"),
    ],
)
def test_an_upgrade_without_steps_says_why(before: str, after: str, said: str, catalogue: Catalogue) -> None:
    facts = {"platform": "open_source", "spark_version": before, "upgrade_to": after, "stateful": False}
    found = judge_rule(
        catalogue.rules["CF004"], window(catalogue.rules["CF004"].examples[0].model_copy(update={"facts": facts}))
    )
    assert isinstance(found, Finding)
    assert said in found.says
    assert bool(found.steps) is (said == "each step")


def test_what_an_upgrade_changes_stands_on_the_first_screen(tmp_path: Path) -> None:
    log = tmp_path / "driver.jsonl"
    log.write_text(
        "".join(
            json.dumps(one) + "\n"
            for one in events(
                [{"triggerExecution": 9000, "addBatch": 4000, "walCommit": 3000, "queryPlanning": 1900}] * 40
            )
        )
    )
    given = [
        "upgrade_to=4.3.0",
        "spark_version=4.0.1",
        "platform=open_source",
        "stateful=false",
        "ignored_async_setting=x",
    ]
    (query,) = analyze(log, set=given).typed.queries
    assert "From Spark 4.0.1 to 4.3.0" in query.screen.troubles[0]
