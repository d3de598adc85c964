"""Credentials never stay in text; other text does."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.redaction import (
    REDACTED,
    clean,
    hide,
    hide_lines,
    is_secret_name,
    redact,
    redact_data,
    redact_json,
    redact_setting,
)
from tests.redaction.shapes import DRAWN, HARMLESS, HOLDS_ODD, NAMED, ODD, OVER_LINES, PLACED, SECRET, TOKENS

FORMS = NAMED | {f"placed: {name}": form for name, form in PLACED.items()}
_AROUND = ("reading with {} failed", "{}", "x={}&y=1", '"{}"', "https://h/{}/x", "({})", "a:{};b")


def left_of(secret: str, text: str) -> list[str]:
    """The pieces of a credential that can still be read."""
    return [piece for piece in re.split(r"\W+", secret) if len(piece) > 2 and piece in text]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_lets_a_credential_through(form: str) -> None:
    text = form.format(SECRET)
    said = redact(text)
    assert SECRET not in said and REDACTED in said and redact(said) == said
    thing = {"description": text, text: 5, "inside": [{"metrics": {text: "1"}}], "rows": 10}
    safe = json.loads(redact_json(json.dumps(thing).encode()))
    assert SECRET not in json.dumps(safe) and safe["rows"] == 10


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(secret=st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+", min_size=8, max_size=64))
@settings(max_examples=10)
def test_no_credential_of_any_form_comes_through(form: str, secret: str) -> None:
    marked = "7Q" + secret
    assert marked not in redact(form.format(marked))


PINS = ["pin={}", '{{"pin": {}}}', '{{"userPin":{}, "a": 1}}', "otp={}", "cvv={}"]


@pytest.mark.parametrize(
    ("form", "secret"),
    [*((form, SECRET) for form in OVER_LINES.values()), *((form, pin) for form in PINS for pin in ("482913", "0042"))],
)
def test_a_name_may_stand_a_line_above_and_a_pin_may_be_a_number(form: str, secret: str) -> None:
    assert secret not in redact(form.format(secret)) + hide(form.format(secret))


@pytest.mark.parametrize("form", DRAWN.values(), ids=DRAWN)
def test_a_credential_that_only_its_look_shows(form: str) -> None:
    said = redact(form.format(SECRET))
    assert SECRET not in said and redact(said) == said
    assert redact(form.format("orders")) == form.format("orders")


@pytest.mark.parametrize("secret", ODD.values(), ids=ODD)
def test_a_password_may_hold_what_elsewhere_ends_one(secret: str) -> None:
    said = [redact(form.format(secret)) for form in HOLDS_ODD.values()]
    assert [each for each in said if left_of(secret, each)] == []


@pytest.mark.parametrize("key", TOKENS.values(), ids=TOKENS)
def test_known_shapes_of_keys_need_no_name(key: str) -> None:
    said = [redact(around.format(key)) for around in _AROUND]
    assert [each for each in said if REDACTED not in each or left_of(key[-14:-2], each)] == []


LOOKS_LIKE_PASSWORD = ("ｐａｓｓｗｏｒｄ", "pass\u200bword", "pass\u2060word")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("user=me, password=x, host=h", f"user=me, password={REDACTED}, host=h"),
        ("Map(user -> me, password -> x, host -> h)", f"Map(user -> me, password -> {REDACTED}, host -> h)"),
        ('{"token": "x", "host": "h"}', f'{{"token": "{REDACTED}", "host": "h"}}'),
        ("token=x failed at host h", f"token={REDACTED} failed at host h"),
        ("https://me:x@host:8020/c failed", f"https://{REDACTED}@host:8020/c failed"),
        ("https://h/?password=x&mode=y z", f"https://h/?password={REDACTED}&mode=y z"),
        ("(user,me), (password,x), (host,h)", f"(user,me), (password,{REDACTED}), (host,h)"),
        # names that only look otherwise
        *(
            (f"{name}={SECRET}", f"password={REDACTED}")
            for name in ("ｐａｓｓｗｏｒｄ", "pass\u200bword", "pass\u2060word")
        ),
        *((text, text) for text in HARMLESS),
    ],
)
def test_what_stands_beside_a_credential_and_what_only_looks_like_one_stay(text: str, wanted: str) -> None:
    assert redact(text) == wanted


_WORDS = ["password", "token", "->", "://", "name", "value", "Bearer ", "-u ", "</", REDACTED]
_PIECES = st.sampled_from([*"abA1 =:,;@/\"'\\(){}[]<>-&.", *_WORDS])


@given(st.text(max_size=300) | st.lists(_PIECES, max_size=40).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text(max_size=300))
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    assert all(each.isprintable() or each == "\u00ad" or not each.isascii() for each in clean(text))
    assert not {"\x1b", "\x9b", "\r", "\n", "\u202e", "\u2066"} & set(clean(text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("take", [redact, hide])
def test_text_of_wide_letters_read_as_bytes(encoding: str, take: Callable[[str], str]) -> None:
    said = take(f"user=me password={SECRET}".encode(encoding).decode("latin-1"))
    assert not left_of(SECRET, said.replace("\0", "").replace(" ", ""))
    assert f"password={REDACTED}" in said


@pytest.mark.parametrize("name", ["pass%77ord", r"api\u005fkey", "pass&#119;ord", "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝"])
def test_the_name_of_a_setting_may_be_escaped(name: str) -> None:
    assert redact_setting(name, "x y") == REDACTED
    assert redact_data({name: "x"}) == {name: REDACTED}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *((f"pass{mark}word", "password") for mark in "\u034f\u180e\u3164\u115f\ufe0f\U000e0061\u2065\ufff9\uffa0"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07name\u202e!", "red name!"),
    ],
)
def test_marks_that_nobody_sees_and_terminal_sequences_go(text: str, wanted: str) -> None:
    assert clean(text) == wanted


def test_a_secret_name_hides_the_whole_value() -> None:
    assert redact_setting("spark.hadoop.fs.s3a.secret.key", "two words") == REDACTED
    assert redact_setting("spark.sql.shuffle.partitions", "200") == "200"


HOLDING = (
    "spark.ssl.keyPassword", "fs.s3a.access.key", "token", "kafka.sasl.jaas.config", "my_secret", "connectionString",
    "basic.auth.user.info", "sharedKey", "spark.io.encryption.key", "x-functions-key", "DB_PASS", "auth", "Cookie",
    "fs.azure.account.key.acc.dfs.core.windows.net", "secret/data/password",
)  # fmt: skip
HOLDING_NONE = (
    "key", "spark.sql.shuffle.partitions", "bypass", "author", "fs.s3a.aws.credentials.provider", "token.type",
    "password-resets", "tables/auth", "compass", "signal", "primaryKey",
)  # fmt: skip


@pytest.mark.parametrize("name", HOLDING + HOLDING_NONE)
def test_names_that_hold_credentials_and_those_that_hold_none(name: str) -> None:
    assert is_secret_name(name) is (name in HOLDING)


def test_long_text_is_cut() -> None:
    assert len(redact("a-b/" * 2_000_000)) == 4000
    key = f"-----BEGIN PRIVATE KEY-----{'Ab1' * 2600}-----END PRIVATE KEY-----"
    for at in range(len(f"//u:{SECRET}@h")):
        behind = f"{key} {'y' * (7995 - len(key) - at)} ://u:{SECRET}@h"
        assert SECRET[:4] not in redact(behind) and redact(behind).startswith(f"{REDACTED} yyy")


def test_lines_stay_lines() -> None:
    assert hide_lines("a: x\ntoken=x\nb") == f"a: x\ntoken={REDACTED}\nb"
    harmless = "password of the store is wrong: see\nb: c\n\nd"
    assert hide_lines(harmless) == harmless
    assert hide("a  b\n token=x\n") == f"a  b\n token={REDACTED}\n"


@pytest.mark.parametrize(
    "form",
    [
        "refused:\npassword:\n  {}\nhost: h", "password =\n{}", "password: |\n    {}\nhost: h",
        'token: "\n{}"\nhost: h', "user=me, api_key =>\r\n  {}\r\nhost: h",
        "key: -----BEGIN PRIVATE KEY-----\nMIIEvQ\n{}\n-----END PRIVATE KEY-----\nhost: h",
        "-----BEGIN EC PRIVATE KEY-----\nMIIEvQ\n{}",
    ],
)  # fmt: skip
def test_a_credential_on_the_line_below_its_name_is_hidden(form: str) -> None:
    said = hide_lines(form.format(SECRET))
    assert SECRET not in said
    assert ("host: h" in said) is ("host: h" in form)
    assert SECRET not in str(InputError("made.log", form.format(SECRET)))


def test_json_keeps_its_shape_and_its_bytes_where_it_hides_nothing() -> None:
    raw = b'{"name" : "orders", "rate": 1.0E-5, "sources": [{"endOffset": {"password-resets": {"0": 5}}}]}'
    assert redact_json(raw) == raw


WEB_KEY = {"kty": "EC", "crv": "P-256", "x": "f83O", "d": SECRET}


@pytest.mark.parametrize(
    ("thing", "safe"),
    [
        ({"credentials": {"user": "me", "value": ["x"]}}, {"credentials": {"user": REDACTED, "value": [REDACTED]}}),
        ({"offsets": {"password": {"0": 5}}}, {"offsets": {"password": {"0": 5}}}),
        ({"keys": [WEB_KEY], "d": SECRET}, {"keys": [WEB_KEY | {"d": REDACTED}], "d": SECRET}),
    ],
)
def test_what_a_secret_name_or_key_holds_is_hidden_at_any_depth(thing: object, safe: object) -> None:
    assert redact_data(thing) == safe


SHORT, TIMES = 2_000, 16
LINEAR = 80
"""More than any linear time grows over so many times the text, on a busy machine too; a quadratic one grows by 256."""
GLANCE = 6
"""What grows by less over four times the text grows by less than LINEAR over TIMES; a quadratic one grows by 16."""
REPEATED = {
    "pieces": [*"abA1 =:,;@/\"'\\(){}[]<>-&.\n", "a.", "a-", "a/", "a=b;", "(a,", "a -> ", "key: ", "://", "</", "<a "],
    "opened": ["password=", "password=(", "(password,", "<password>", '"password":[', "password identified by ", "--p ",
               'name="password" value=', "Bearer ", "Cookie: ", "-u ", "https://a@", "a:b@", "-----BEGIN ", "eyJa.",
               "sk-", 'required password="', "private key ", "password=\\\""],
    "named": [form.format("x") for form in NAMED.values()],
    "placed": [form.format("x") for form in PLACED.values()],
    "nothing in its place": [form.format("") for form in (NAMED | PLACED).values()],
    "tokens": [*TOKENS.values()],
    "drawn": [form.format(text) for form in DRAWN.values() for text in ("", "x", SECRET)],
    "introduced": ["mysql ", "mysql -", "docker login -", "to me identified ", "%22", "&quot;", "&lt;password&gt;",
                   "<password><![CDATA[", "<password><![CDATA[]", 'password=""', "password=''", "root:", "a.key ",
                   "A_B ", "Credentials(", "Credentials('a',", 'getConnection("', "login(a,", "password for a",
                   "token is ", 'auth=("', "[password]", "<password a value", "key: | ", "password['a']=b ",
                   "a['b']='c';"],
    "disguised": ["%77", "%2577", r"\u0077", "&#119;", "a\0", "\0\0\0a", "name=a b=c ", '"value":"a","b":"c",', "ⓟ",
                  "https://a:b c ", "https://a:b'c", "Private-Lines: 1 ", 'name="a",b="c",', "%", "\\", "&#"],
    "numbers": ["tokens=[1", "tokens=[-1:2", "0", '{"auth-tokens":{"0":12345678901,"1":', 'tokens=["0":'],
    "accounts": ["a:5432:b:c:", "MII", "$1$", "$2a$10$", "login a/", "sqlplus -s ", "user a/", ".logon a/b,",
                 "AKIAIOSFODNN7EXAMPLE:" + "a" * 40, '--password",', "password {value:", "eyJaaaaaaaaa.a.a.a",
                 "Creds(a,", "session=", "session:a", '"kty":"d":"', "kty'd':'a"],
}  # fmt: skip


def grows_linearly(work: Callable[[str], object], piece: str) -> bool:
    """Whether the time of this thread alone grows as the text does: up to four times the text, or in five looks."""
    if _seconds(work, piece, 4 * SHORT) < GLANCE * min(_seconds(work, piece, SHORT) for _ in range(2)):
        return True
    return any(_seconds(work, piece, TIMES * SHORT) < LINEAR * _seconds(work, piece, SHORT) for _ in range(5))


def _seconds(work: Callable[[str], object], piece: str, size: int) -> float:
    text = (piece * (size // len(piece) + 1))[:size]
    started = time.thread_time()
    work(text)
    return time.thread_time() - started


@pytest.mark.parametrize("pieces", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_as_the_length_of_a_text_does(pieces: list[str]) -> None:
    assert [piece for piece in pieces if not grows_linearly(hide.__wrapped__, piece)] == []


@pytest.mark.parametrize("opened", ["tokens=[", "tokens={", 'auth-tokens":{"0":'])
@pytest.mark.parametrize("number", ["0", "1,", "-1", '"1":2,'])
@pytest.mark.parametrize("end", ["x", "...", "]", ""])
def test_numbers_that_do_not_end_take_no_longer(opened: str, number: str, end: str) -> None:
    assert grows_linearly(lambda numbers: hide.__wrapped__(f"{opened}{numbers}{end}"), number)


@pytest.mark.parametrize(
    "piece", ["a:\n", "a: ", "\n", ': "', "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ", "- ", "=>\n  "]
)
def test_the_time_grows_as_the_number_of_lines_does(piece: str) -> None:
    assert grows_linearly(hide_lines, piece)
