"""The printed log4j2 settings, and the command that prints them."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from advisor.cli import main
from advisor.log4j import log4j_settings


def test_every_line_is_a_setting_or_a_comment() -> None:
    lines = [line for line in log4j_settings("/logs/driver.log").splitlines() if line and not line.startswith("#")]
    keys = [line.partition(" = ")[0] for line in lines]
    assert all(" = " in line for line in lines)
    assert len(keys) == len(set(keys))
    assert "appender.file.fileName = /logs/driver.log" in lines


def test_the_command_prints_them_for_the_file_that_is_named() -> None:
    printed = CliRunner().invoke(main, ["log4j", "--log", "logs/orders.log"])
    assert printed.exit_code == 0
    assert printed.output == log4j_settings(Path("logs/orders.log").absolute())


def test_a_name_stays_one_line_of_the_settings() -> None:
    assert "fileName = /logs/new\\\\driver.log\n" in log4j_settings("/logs/new\\driver.log")
    refused = CliRunner().invoke(main, ["log4j", "--log", "a\nrootLogger.level=off"])
    assert refused.exit_code == 2
    assert refused.output.count("\n") == 1
