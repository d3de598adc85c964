"""Other PySparks, installed beside the one of this environment."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

OLDEST: Final = "3.5.9"
PY4J: Final = {OLDEST: "0.10.9.7"} | dict.fromkeys(("4.0.1", "4.1.4", "4.2.1", "4.3.0"), "0.10.9.9")
"""The PySparks that can be had, each with the Py4J that it wants."""


def installed(config: pytest.Config, version: str) -> Path:
    """A directory with that PySpark, kept in pytest's cache; skips the test where it cannot be had."""
    try:
        return installed_in(config.cache.mkdir("pyspark"), version)  # type: ignore[union-attr]
    except OSError as error:
        pytest.skip(f"PySpark {version} cannot be installed: {error}")


def installed_in(home: Path, version: str) -> Path:
    """A directory below `home` with that PySpark; OSError where it cannot be had."""
    place = home / version
    if not place.is_dir():
        part = place.with_name(f"{version}.part{os.getpid()}")
        packages = (f"pyspark=={version}", f"py4j=={PY4J[version]}")
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(part), *packages]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.strip().splitlines()[-1])
        with suppress(OSError):  # where another process was faster, its directory stays
            part.rename(place)
    return place
