from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.harvest import find, places

TEXT = st.lists(st.sampled_from([b"a", b"b", b"\n", b"}", b"\x00", b"\xff"]), max_size=90).map(b"".join)


@given(TEXT, TEXT.filter(len), st.integers(0, 95), st.integers(0, 95))
def test_it_finds_what_bytes_find_does(text: bytes, sub: bytes, start: int, end: int) -> None:
    for where in ((), (start,), (start, end)):
        assert find(text, sub[:3], *where) == text.find(sub[:3], *where)


@given(TEXT, TEXT.filter(len), st.integers(0, 95), st.integers(0, 95))
def test_every_place_is_told_once(text: bytes, sub: bytes, begin: int, end: int) -> None:
    found = re.compile(re.escape(sub[:2])).finditer(text, begin, end)
    assert list(places(text, sub[:2], begin, end)) == [one.start() for one in found]
