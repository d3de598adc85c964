"""YAML that hides nothing and stays small."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from advisor import config
from advisor.catalogue import load
from advisor.catalogue.plain import MOST_BYTES, read_plain
from advisor.errors import CatalogueError


def read(directory: Path, text: str) -> tuple[Any, list[tuple[str, str]]]:
    path = directory / "some.yaml"
    path.write_text(text, encoding="utf-8")
    return read_plain(path)


def bomb(first: str, repeat: str) -> str:
    """A mapping in which each of twelve values repeats the one before nine times."""
    names = "abcdefghijklm"
    lines = [repeat.format(this=this, many=",".join([f"*{last}"] * 9)) for last, this in pairwise(names)]
    return "\n".join([f"a: &a {first}", *lines])


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("", None), ("# nothing", None), ("a: [1, 1.5, true, null, x]", {"a": [1, 1.5, True, None, "x"]}),
        ("a: yes\nb: 2026-02-30\nc: 1:30\nd: 0x_", {"a": "yes", "b": "2026-02-30", "c": "1:30", "d": "0x_"}),
        ("[0500, -010, +7, 0x1f]", [500, -10, 7, 31]), ("e: =", {"e": "="}), ("a: " + 5000 * "9", {"a": 5000 * "9"}),
        ("a: " + 400_000 * "1:" + "1", {"a": 400_000 * "1:" + "1"}),
        ('[!!bool "x", !!int "", !!int "-", !!float "", !!bool true]', ["x", "", "-", "", True]),
        ("a: &a {k: 1, l: 2}\nb: {<<: *a, k: 3}", {"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}),
    ],
)  # fmt: skip
def test_what_is_read(tmp_path: Path, text: str, held: Any) -> None:
    assert read(tmp_path, text) == (held, [])


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (bomb("[x]", "{this}: &{this} [{many}]"), "line 7", "more than 300,000 values"),
        (bomb("{k: 1}", "{this}: &{this} {{<<: [{many}]}}"), "line 7", "more than 300,000 values"),
        ("a: 1\nb: &b {c: [*b]}", "line 2", "an alias stands inside what it repeats"),
        ("a:\n  " + 100_000 * "[", "line 2", "more than 50 deep"),
        (100_000 * "- " + "x", "line 1", "more than 50 deep"),
        ("\n".join(f"a{n}: &a{n} [{f'*a{n - 1}' if n else 'x'}]" for n in range(60)), "line 51", "more than 50 deep"),
        ("a: 1\nb: !!set {x}", "line 2", "no type !!set here"),
        ("a: !!binary aGk=", "line 1", "no type !!binary here"),
        ("a: !!python/object/apply:os.getcwd []", "line 1", "no type !!python/object/apply:os.getcwd here"),
        ("a: !!map [1]", "line 1", "no type !!map here"),
        ("? [a]\n: 1", "line 1", "a key is one word or number"),
        ("--- a\n--- b", "line 2", "expected a single document"),
        ("a: \0", "", "control characters are not allowed"),
    ],
)
def test_what_is_refused_and_where(tmp_path: Path, text: str, place: str, said: str) -> None:
    content, [(at, words)] = read(tmp_path, text)
    assert (content, at) == (None, place) and said in words


def test_every_key_that_stands_twice_is_told(tmp_path: Path) -> None:
    _, problems = read(tmp_path, 'a: 1\nb: {c: 1, "c": 2}\na: 3\n')
    assert problems == [
        ("line 3", "the key 'a' stands twice (first in line 1)"),
        ("line 2", "the key 'c' stands twice"),
    ]


def test_a_file_that_is_no_text_or_too_large_is_told(tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_bytes(b"a: \xff")
    assert read_plain(path) == (None, [("", "is not UTF-8; save it as UTF-8")])
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert read_plain(path) == (None, [("", "is larger than 32 MB")])
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(tmp_path / "pipe") == (None, [("", "is no plain file, and may never end")])


OTHERS = {
    "a key": "-----BEGIN PRIVATE {}-----\nMIIsecret0\nsecret1: secret2: x\n-----END PRIVATE {}-----\n".format(
        "KEY", "KEY"
    ),
    "accounts": "secret0:$6$secret1:20228:0:99999:7:::\nsecret2:*:20228:0:99999:7:::\n",
    "users": "secret0:x:0:0:secret1:/root:/bin/secret2\n",
    "netrc": "machine secret0\n  login secret1\n  password secret2\n",
    "environment": "SECRET0=secret1\nexport A='secret2'\n",
    "alias": "a: *secret0\n",
    "tag": "password: !secret0 x\n",
    "anchor": "a: &secret0 1\nb: [&secret0 2, *secret1]\n",
    "a secret of Kubernetes": "apiVersion: v1\nkind: Secret\ndata:\n  secret0: secret1\nsecret2 secret3: null\n",
    "twice": "secret0 secret1: 1\nsecret0 secret1: 2\n",
    "words": "secret0 secret1",
    "control": "secret0\0secret1",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_another_kind_is_refused_in_one_line_that_repeats_none_of_its_own(tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.write_text(OTHERS[kind], encoding="utf-8")
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "LG\n001.yaml").symlink_to(other)
    for read_it in (lambda: load([rules]), lambda: config.load(other)):
        with pytest.raises(CatalogueError) as refused:
            read_it()
        assert "secret" not in str(refused.value).lower() and "\n" not in str(refused.value)
