"""Credentials never stay in text; other text does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.redaction import REDACTED, clean, is_secret_name, redact, redact_setting

SECRET = "Zq7xPw91Lk"
FORMS = {
    "option": "password={}",
    "arrow": "kafka.ssl.keystore.password -> {}, next -> 1",
    "colon": "secret: {}",
    "json": '{{"sasl.jaas.config": "{}", "a": 1}}',
    "quoted": "api_key='{}'",
    "jaas": 'kafka.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required u="u" p="{}";',
    "jaas alone": 'org.apache.kafka.common.security.scram.ScramLoginModule required username="{}" password="x";',
    "userinfo": "Use https://user:{}@host/path to store",
    "userinfo with slash": "jdbc:postgresql://user:ab/{}@host:5432/db",
    "token in url": "https://{}@host/path",
    "sas": "https://x.blob.core.windows.net/c?sv=2020&sig={}&se=2030",
    "signed url": "https://b.s3.amazonaws.com/k?X-Amz-Signature={}&X-Amz-Expires=60",
    "connection string": "Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={};EntityPath=e",
    "account key": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;",
    "bearer": "Authorization: Bearer {}",
    "fs key": "fs.s3a.secret.key={} fs.s3a.path.style.access=true",
    "hadoop": "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net -> {}",
}
HARMLESS = [
    "file:/data/checkpoints/rate-to-noop",
    "abfss://container@account.dfs.core.windows.net/checkpoints/q1",
    "wasbs://container@account.blob.core.windows.net/q1",
    "s3a://bucket/path/to=1/x",
    "java.lang.IllegalStateException: batch 138 doesn't exist",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "kafka: KafkaV2[Subscribe[orders]]",
    "local[2]",
]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_lets_a_credential_through(form: str) -> None:
    assert SECRET not in redact(form.format(SECRET))
    assert REDACTED in redact(form.format(SECRET))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(secret=st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+", min_size=8, max_size=64))
def test_no_credential_of_any_form_comes_through(form: str, secret: str) -> None:
    marked = "7Q" + secret
    assert marked not in redact(form.format(marked))


@pytest.mark.parametrize("key", ["AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "dapi" + "0123456789abcdef" * 2])
def test_known_shapes_of_keys_need_no_name(key: str) -> None:
    assert key not in redact(f"reading with {key} failed")


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert redact(text) == text


def test_what_stands_beside_a_credential_stays() -> None:
    assert redact("user=me, password=x, host=h") == f"user=me, password={REDACTED}, host=h"


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_redacting_a_redacted_credential_changes_nothing(form: str) -> None:
    once = redact(form.format(SECRET))
    assert redact(once) == once


@given(st.text(max_size=300))
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    assert all(each.isprintable() or each == "\u00ad" or not each.isascii() for each in clean(text))
    assert not {"\x1b", "\x9b", "\r", "\n", "\u202e", "\u2066"} & set(clean(text))


def test_terminal_sequences_go_as_a_whole() -> None:
    assert clean("\x1b[31mred\x1b[0m \x1b]0;title\x07name\u202e!") == "red name !"


def test_a_secret_name_hides_the_whole_value() -> None:
    assert redact_setting("spark.hadoop.fs.s3a.secret.key", "two words") == REDACTED
    assert redact_setting("spark.sql.shuffle.partitions", "200") == "200"


@pytest.mark.parametrize(
    "name",
    ["spark.ssl.keyPassword", "fs.s3a.access.key", "token", "kafka.sasl.jaas.config", "my_secret", "connectionString"],
)
def test_names_that_hold_credentials(name: str) -> None:
    assert is_secret_name(name)


def test_long_text_is_cut_in_little_time() -> None:
    assert len(redact("a-b/" * 2_000_000)) == 4000
