"""Streaming settings that a Spark does not know: it accepts and ignores them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import msgspec

from advisor.facts.versions import version_at_least, version_numbers

FILE: Final = files("advisor.facts") / "settings.json"
PREFIXES: Final = ("spark.sql.streaming.", "spark.sql.adaptive.streaming.")
STATE_STORE_CLASS: Final = "spark.sql.streaming.stateStore.providerClass"
SPARKS_OWN: Final = "org.apache.spark."
_STATE_STORE: Final = "spark.sql.streaming.stateStore."
_ROCKSDB: Final = "spark.sql.streaming.statestore.rocksdb."
_ALIKE: Final = 0.65  # of a name's letters, in order: difflib's own measure of a spelling mistake
NEARLY: Final = 0.95  # the same, for names of which no list has all: any other key may be right as it is
_NAMED: Final = 3


class Settings(NamedTuple):
    """The Sparks that were asked, each one's default of each key, None where it lacks it, and Spark's own "since"."""

    versions: tuple[str, ...]
    settings: dict[str, tuple[str | None, ...]]
    since: dict[str, str]
    options: frozenset[str]
    """Names of options that a source or a writer reads, which people set on the session."""


@cache
def known_settings() -> Settings:
    """Read the data file that `python -m tests.legality.settings` writes from Spark's jars."""
    data = msgspec.json.decode(FILE.read_bytes())
    versions = tuple(data["versions"])
    spread = {key: tuple(values) if len(values) > 1 else tuple(values) * len(versions)
              for key, (_, *values) in data["settings"].items()}  # fmt: skip
    return Settings(versions, spread, {key: since for key, (since, *_) in data["settings"].items()},
                 frozenset(data["options"]))  # fmt: skip


def unknown_settings(keys: Iterable[str], version: str | None, own_store: bool = False) -> str | None:
    """Return which of these keys this Spark ignores, with the nearest one that it knows; None where it knows all.

    Without a version a key counts that no known Spark has. A state store of one's own may read any setting of stores.
    """
    known = known_settings()
    oldest, newest = (version_numbers(known.versions[end])[:2] for end in (0, -1))
    if version and not oldest <= version_numbers(version)[:2] <= newest:
        return None
    judged = [key for key in keys if not (own_store and key.startswith(_STATE_STORE))]
    told = [told for key in sorted(judged) if (told := _told(key, version))]
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return f"{', '.join(told[:_NAMED])}{more}" if told else None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _told(key: str, version: str | None) -> str | None:
    """Return the key and what is wrong with it, None if nothing is."""
    known, here = known_settings(), _name(key)
    has = known.settings.get(here)
    if has is None:
        near = _nearest(here)
        return f"{key} (no Spark from {_minor(known.versions[0])} to {_minor(known.versions[-1])} knows it{near})"
    minors = [_minor(each) for each in known.versions]
    if not version or _minor(version) not in minors or has[at := minors.index(_minor(version))] is not None:
        return None
    since = next((each for each, value in zip(known.versions, has, strict=True) if value is not None), "")
    if version_at_least(since, known.versions[at]):
        return f"{key} (it came with Spark {_minor(since)})"
    return f"{key} (it is gone since Spark {_minor(known.versions[at])})"


def _name(key: str) -> str:
    """Return the key as the list has it: RocksDB's settings are read in any case of letters."""
    lowered = key.lower()
    if not lowered.startswith(_ROCKSDB):
        return key
    return next((name for name in known_settings().settings if name.lower() == lowered), key)


@lru_cache(maxsize=1024)  # every run of a session has the same settings
def _nearest(key: str) -> str:
    """Return the known setting that is spelt most alike behind the common prefix, and since when it is there."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who has an unknown setting waits for it

    known = known_settings()
    if key.rpartition(".")[2] in known.options:
        return "; it is an option of a source or writer"
    tails = {name.removeprefix(PREFIXES[0]).lower(): name for name in known.settings}
    near = get_close_matches(key.removeprefix(PREFIXES[0]).lower(), tails, 1, _ALIKE)
    if not near:
        return ""
    name = tails[near[0]]
    since = f", since {known.since[name]}" if known.since[name] else ""
    return f"; the nearest is {name}{since}"
