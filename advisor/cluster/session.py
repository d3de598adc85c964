"""Spark sessions: the one that is given, or one of our own; and how its workers get this package."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import advisor
from advisor.catalogue import rules_directory
from advisor.errors import InputError, UsageError
from advisor.sources.listener.session import is_connect

_OWN = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_MASTERS = "spark://host:7077, yarn, k8s://… or local[8]"
_TO_START = f"it needs Java 17 or newer, and a master such as {_MASTERS}"
_MASTER = re.compile(
    r"yarn|spark://\S+:\d{1,5}|k8s://\S+|local(?:\[(?:\*|[1-9]\d*)(?:\s*,\s*[1-9]\d*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
)
"""What Spark takes; of anything else it complains with a stack trace of its own."""
_OF_JAVA = ": "
"""Py4J's own line names the call, the one below it the exception."""
_PACKAGE = re.compile(r"(?:advisor|streaming_latency_advisor)[\w.-]*\.(?:zip|egg)$")
"""As --py-files takes it; a wheel sent that way is found by the driver alone."""
_SHIPPED = "spark.latencyAdvisor.shipped"


def java() -> str:
    """The Java command: of JAVA_HOME, else of the path; UsageError where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else None
    if (found := found or shutil.which("java")) is None:
        raise UsageError("Spark", "Java was not found", "install Java 17 or newer, or set JAVA_HOME")
    return found


def active_session() -> Any:
    """The session that runs in this process, None without one."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        return None
    return SparkSession.getActiveSession()


@contextmanager
def session(given: Any = None, master: str | None = None) -> Iterator[Any]:
    """The session that is given, or that runs already; else one at `master`, ended afterwards.

    Without a master it is as spark-submit or the defaults say, else all local cores. Raises UsageError without PySpark
    or Java.
    """
    found = given if given is not None else active_session()
    if found is not None:
        yield found
        return
    spark = _started(master)
    try:
        yield spark
    finally:
        spark.stop()


def refuse_master(option: str, master: str | None) -> None:
    """UsageError under the name of the option, before Java is started, for what is no address of a cluster."""
    if master is None or _MASTER.fullmatch(master):
        return
    if master.startswith("sc://"):
        would_do = "from Python, give a session of it as `spark=`"
        raise UsageError(option, f"{master} is a server of Spark Connect, which is no master", would_do)
    raise UsageError(option, f"{master} is no master", f"give {_MASTERS}")


def started(option: str, settings: Mapping[str, str], name: str = "latency-advisor") -> Any:
    """A session with these settings; UsageError under the name of the option, in a line, where it does not start."""
    try:
        from py4j.protocol import Py4JError  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        would_do = "pip install 'streaming-latency-advisor[spark]'"
        raise UsageError(option, "PySpark is not installed here", would_do) from None
    java()
    builder = SparkSession.builder.appName(name)
    for key, value in {**_OWN, **settings}.items():
        builder = builder.config(key, value)
    others = _children()
    try:
        return builder.getOrCreate()
    except KeyboardInterrupt:  # a JVM that was about to say where it listens waits for ever
        for process in _children() - others:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        raise
    except (PySparkException, Py4JError, OSError) as error:
        lines = str(error).strip().split("\n")
        words = next((line for line in lines if line.startswith(_OF_JAVA)), lines[0]).removeprefix(_OF_JAVA)[:200]
        home = f" (SPARK_HOME is {os.environ['SPARK_HOME']})" if os.environ.get("SPARK_HOME") else ""
        raise UsageError(option, f"Spark does not start{home}: {words}", _TO_START) from None


def _children() -> set[int]:
    """Return the processes that this one has started and that live; none where the system does not tell."""
    with suppress(OSError):
        told = [(thread / "children").read_text() for thread in Path("/proc/self/task").iterdir()]
        return {int(process) for processes in told for process in processes.split()}
    return set()


def _started(master: str | None) -> Any:
    refuse_master("--master", master)
    spark = started("--engine spark", {"spark.master": master} if master else {})
    spark.sparkContext.setLogLevel("ERROR")
    if is_local(spark):
        spark.sparkContext.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return spark


def described(spark: Any) -> str:
    """Version and master of a session, in words."""
    where = "Spark Connect" if is_connect(spark) else spark.sparkContext.master
    return f"Spark {spark.version}, {where}"


def is_local(spark: Any) -> bool:
    """Whether the workers are processes of the driver's, in its directory."""
    return not is_connect(spark) and spark.sparkContext.master.split("[")[0] == "local"


def ship(spark: Any) -> None:
    """Give the workers this package, once per session; the driver's own have it."""
    if is_connect(spark) or is_local(spark):
        return
    context = spark.sparkContext
    if context.getLocalProperty(_SHIPPED) == advisor.__version__ or _sent(context):
        return
    # a name of its own: Spark takes no second file of a name, and the user may have sent the package, too
    name = f"advisor-{advisor.__version__}-{uuid4().hex[:8]}"
    folder = tempfile.mkdtemp(prefix="latency-advisor-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # workers fetch it as long as the session lives
    context.addPyFile(archive(folder, name))
    context.setLocalProperty(_SHIPPED, advisor.__version__)


def _sent(context: Any) -> bool:
    """Whether the user has sent the package himself, with --py-files or addPyFile."""
    sent = [*context._python_includes, *context.getConf().get("spark.submit.pyFiles", "").split(",")]
    return any(_PACKAGE.match(name.rsplit("/", 1)[-1]) for name in sent)


def archive(folder: str | Path, name: str = "advisor") -> str:
    """This package as a zip file in a folder, as `--py-files` takes it; where it stands."""
    home = Path(advisor.__file__).parent
    if home.parent.is_file():
        return str(shutil.copy(home.parent, Path(folder) / f"{name}.zip"))
    staged = Path(folder) / "staged"
    shutil.copytree(home, staged / "advisor", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(rules_directory(), staged / "advisor" / "_rules", dirs_exist_ok=True)  # a checkout has them beside
    found = shutil.make_archive(str(Path(folder) / name), "zip", staged)
    shutil.rmtree(staged)
    return found


@contextmanager
def explained() -> Iterator[None]:
    """Turns what Spark raises into a line: workers that lack a library, tables that it cannot read or write."""
    try:
        yield
    except Exception as error:
        said = str(error)
        if lacks := _LACKS.search(said):
            raise UsageError("the cluster's workers", f"have no Python module '{lacks[1]}'", _REMEDY) from None
        if damaged := _DAMAGED.search(said):
            raise InputError(damaged[damaged.lastindex or 0], _UNREADABLE, _TO_SAVE) from None
        if refused := _REFUSED.search(said):
            why = refused[refused.lastindex or 0].strip()
            raise UsageError("save_table", why, "give a directory that can be written") from None
        raise


_LACKS = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_DAMAGED = re.compile(
    r"(?:reading file|footer for file:?|is not a Parquet file:?)\s+(\S+\.parquet)"
    r"|RuntimeException: (\S+) is not a Parquet file"
    r"|\[CONFLICTING_[A-Z_]{1,40}\](?s:.{0,4000}?)\n\t(\w{1,20}:\S{1,4000})"
)
"""A file or a folder that Spark cannot read as part of a table."""
_REFUSED = re.compile(
    r"(?:AccessControl|ParentNotDirectory|FileAlreadyExists|UnsupportedFileSystem)Exception: ([^\n]{1,200})"
    r"|(?:IO|ClassNotFound|Connect)Exception: "
    r"((?:Mkdirs failed|No space left|Read-only|Call From|Class \S{1,200}FileSystem not found)[^\n(]{0,200})"
)
_UNREADABLE = "cannot be read as part of a saved table"
_TO_SAVE = "remove it, or save into a new directory"
_REMEDY = "install streaming-latency-advisor there, or send an environment along with --archives"


@contextmanager
def settings(spark: Any, wanted: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings, as it was before afterwards."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            with suppress(Exception):  # a session that was stopped meanwhile
                spark.conf.unset(name) if value is None else spark.conf.set(name, value)
