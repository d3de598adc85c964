"""The Spark of the demonstration: small, local, its driver log in a file, nothing of it on the terminal."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import STDOUT, Popen, TimeoutExpired
from typing import Any, Final

from advisor.errors import UsageError
from advisor.log4j import log4j_settings

LOG: Final = "driver.log"
_SAID: Final = "java.txt"
_LEAVING_SECONDS: Final = 10
_LOCAL_IP: Final = "SPARK_LOCAL_IP"
_SIGNALS: Final = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
_OTHER_SPARKS: Final = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")


class NoSparkError(Exception):
    """Spark did not start; the message gives the reason."""


def spark_missing() -> str | None:
    """Return why no stream can run here, None if one can."""
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java") and not (home and (Path(home) / "bin" / "java").is_file()):
        return "Java was not found (Spark 4 wants 17 or newer)"
    if find_spec("pyspark") is None:
        return "PySpark is not installed (pip install 'streaming-latency-advisor[spark]')"
    return None


@contextmanager
def started(place: Path) -> Iterator[Any]:
    """Yield a session with all its files in `place`, its driver log in `LOG` there, and stop it.

    Raise UsageError where a session runs already, NoSparkError where Java or Spark refuses.
    """
    with uninterrupted():
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415

    if SparkContext._active_spark_context is not None:
        raise UsageError("demo", "Spark already runs in this process", "run the demonstration in a new process")
    conf = SparkConf(loadDefaults=False).setAll(list(_settings(place).items()))
    with _java(conf, place / _SAID) as gateway:
        try:
            context = SparkContext(conf=conf, gateway=gateway)
        except Exception as error:  # Py4J raises what it likes
            raise _refused(place / _SAID, error) from error
        try:
            yield SparkSession(context)
        finally:
            context.stop()


@contextmanager
def _java(conf: Any, said: Path) -> Iterator[Any]:
    """Launch Spark's Java machine, which prints to a file, and end it."""
    from pyspark import SparkContext, java_gateway  # noqa: PLC0415

    launch: Any = java_gateway.launch_gateway
    gateway: Any = None
    try:
        with uninterrupted(), _without_other_sparks(), said.open("w") as out:
            try:
                gateway = launch(conf, popen_kwargs={"stdout": out, "stderr": STDOUT})
            except Exception as error:
                raise _refused(said, error) from error
        yield gateway
    finally:
        SparkContext._gateway = SparkContext._jvm = None
        if gateway is not None:
            # Py4J frees Java's unused objects on its own thread, and logs an error once Java is gone.
            gateway._gateway_client.is_connected = False
            _end(gateway.proc)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait for the end of this; they then win over any error.

    A Java machine that is interrupted while it starts would stay for ever, and Python drops errors in a callback of an
    import.
    """
    pressed: list[int] = []
    waiting = {number: before for number in _SIGNALS if callable(before := signal.getsignal(number))}
    for number in waiting:
        signal.signal(number, lambda number, _: pressed.append(number))
    try:
        yield
    except Exception:
        if not pressed:
            raise
    finally:
        for number, before in waiting.items():
            signal.signal(number, before)
    if pressed:
        raise KeyboardInterrupt


def _end(java: Popen[bytes]) -> None:
    """Close its standard input, which ends it; kill it where it hangs."""
    if java.stdin is not None:
        java.stdin.close()
    try:
        java.wait(_LEAVING_SECONDS)
    except TimeoutExpired:
        java.kill()
        java.wait()


@contextmanager
def _without_other_sparks() -> Iterator[None]:
    """Hide other Sparks of this machine, so that PySpark starts its own, whose UI serves this machine alone."""
    others = {name: os.environ.pop(name) for name in (*_OTHER_SPARKS, _LOCAL_IP) if name in os.environ}
    os.environ[_LOCAL_IP] = "127.0.0.1"
    try:
        yield
    finally:
        del os.environ[_LOCAL_IP]
        os.environ.update(others)


def _settings(place: Path) -> dict[str, str]:
    logging = place / "log4j2.properties"
    logging.write_text(log4j_settings(place / LOG))
    return {
        "spark.master": "local[2]",
        "spark.app.name": "latency-advisor-demo",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.killEnabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(place / "tmp"),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }


def _refused(said: Path, error: Exception) -> NoSparkError:
    """Return the line of Java that names the error, else its last one, else Python's own error."""
    lines = [line.strip() for line in said.read_text(errors="replace").splitlines() if line.strip()]
    named = [line for line in lines if "Error" in line or "Exception" in line]
    return NoSparkError((named or lines or [str(error).partition("\n")[0]])[-1])
