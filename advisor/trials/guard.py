"""What a trial must not touch: looks into a query before it is started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from advisor.errors import UsageError
from advisor.sources.listener.execution import separated
from advisor.trials.setup import Permissions, Setup

_HARMLESS_SINKS: Final = frozenset({"noop", "console", "memory"})
_FILE_FORMATS: Final = frozenset({"parquet", "json", "csv", "text", "orc", "avro", "xml", "binaryfile"})
_SINKS_WITH_A_PATH: Final = _FILE_FORMATS | {"delta"}
_LASTING_SOURCES: Final = _FILE_FORMATS | {"kafka", "rate", "rate-micro-batch", "delta", "iceberg"}
_CODE_SINKS: Final = {"foreachbatch": "foreachBatch", "foreach": "foreach"}
_TRIALS: Final = "ProcessingTimeTrigger"
_VOUCH_SINK: Final = "write to setup.path(...) or setup.topic(...), or confirm with safe_sink that it may write"
_VOUCH_CODE: Final = "if it writes only below setup.path(), add --safe-sink (in Python safe_sink=True)"
_VOUCH_SOURCE: Final = "confirm with safe_source if reading takes no data away from other readers"


class End(NamedTuple):
    """A source of a query or its sink: the format, foreach and foreachbatch included, and options in lower case."""

    format: str
    options: Mapping[str, str]


def check(writer: Any, setup: Setup, permissions: Permissions) -> End:
    """Return the query's sink if it may run in a trial; UsageError names what it would touch."""
    java = _java(writer)
    trigger = str(_field(java, "trigger").toString())
    if not trigger.startswith(_TRIALS):
        raise _refused(f"its trigger is {trigger}", "a trial takes the default trigger or a processing-time trigger")
    sink = End(_sink(java), _lowered(_field(java, "extraOptions")))
    _check_sink(sink, setup, permissions)
    sources = list(_sources(writer))
    for source in sources:
        _check_source(source, permissions)
    for key, value in setup.variant.reader_option.items():
        if not any(source.options.get(key.lower()) == value for source in sources):
            raise _refused(f"no source has the option {key}={value}", "pass setup.reader_options to readStream")
    return sink


def check_unbuilt(build: Any, permissions: Permissions) -> None:
    """UsageError, before Spark is started, for code that names fork, or foreachBatch without the permission."""
    names = _names(build, set())
    if "fork" in names:
        found = "it forks this process, and the copy would use the same connection to Spark"
        raise _refused(found, "start another program with subprocess")
    if not permissions.sink and "foreachBatch" in names:
        raise _refused("it runs your foreachBatch several times", _VOUCH_CODE)


def check_asked(unasked: Iterable[str]) -> None:
    """UsageError for a step that is code, for which the building function never asked."""
    for step in unasked:
        found = f"{step} is a change of your code, and the function never asked setup.makes({step!r})"
        raise _refused(found, f"write `if setup.makes({step!r}):` where the query is built with the step")


def _names(function: Any, seen: set[Any]) -> set[str]:
    """Return the attributes that a function's code names, those of the functions that it calls by name too."""
    found: set[str] = set()
    codes = [getattr(function, "__code__", None)]
    while codes:
        code = codes.pop()
        if code is None or code in seen:
            continue
        seen.add(code)
        found.update(code.co_names)
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    known = getattr(function, "__globals__", {})
    called = [known.get(name) for name in sorted(found)]
    own = [one for one in called if isinstance(one, FunctionType) and not one.__module__.startswith("pyspark")]
    return found.union(*[_names(one, seen) for one in own])


def is_own(sink: End, setup: Setup) -> bool:
    """Whether the sink is a Kafka topic of this run alone."""
    return sink.format == "kafka" and sink.options.get("topic", "").startswith(setup.topic(""))


def _java(writer: Any) -> Any:
    if hasattr(writer, "runId"):
        writer.stop()
        raise _refused("the function started the query", "return the writer, without start()")
    if not hasattr(writer, "_jwrite"):
        raise _refused(f"the function returned {type(writer).__name__}", "return what writeStream gives, not started")
    return writer._jwrite


def _check_sink(sink: End, setup: Setup, permissions: Permissions) -> None:
    kind, options = sink
    if not _below(options.get("checkpointlocation", setup.place), setup.place):
        raise _refused("the function sets checkpointLocation", "leave it out: each run has a throw-away one")
    if kind in _HARMLESS_SINKS or permissions.sink or is_own(sink, setup):
        return
    if kind in _SINKS_WITH_A_PATH and _below(options.get("path", ""), setup.place):
        return
    where = options.get("path") or options.get("topic")
    found = f"it would write with {_CODE_SINKS.get(kind, kind)}" + (f" to {where}" if where else "")
    raise _refused(found, _VOUCH_CODE if kind in _CODE_SINKS else _VOUCH_SINK)


def _check_source(source: End, permissions: Permissions) -> None:
    if source.options.get("cleansource", "off").lower() != "off":
        raise _refused("its source has cleanSource, which removes or moves files", "build it without cleanSource")
    if permissions.source:
        return
    if source.format not in _LASTING_SOURCES:
        raise _refused(f"its source {source.format} may hand each record out only once", _VOUCH_SOURCE)
    if "kafka.group.id" in source.options:
        raise _refused("its source sets kafka.group.id, which others may share", _VOUCH_SOURCE)


def _sink(java: Any) -> str:
    if _field(java, "foreachBatchWriter") is not None:
        return "foreachbatch"
    return "foreach" if _field(java, "foreachWriter") is not None else str(_field(java, "source")).lower()


def _lowered(options: Any) -> dict[str, str]:
    return {key.lower(): value for key, value in separated(options).items()}


def _sources(writer: Any) -> Iterator[End]:
    leaves = writer._df._jdf.queryExecution().analyzed().collectLeaves()
    for leaf in (leaves.apply(number) for number in range(leaves.size())):
        if leaf.isStreaming():
            yield _source(leaf)


def _source(leaf: Any) -> End:
    kind = leaf.getClass().getSimpleName()
    if kind == "StreamingRelation":
        made = leaf.dataSource()
        return End(made.className().lower(), _lowered(made.options()))
    if kind == "StreamingRelationV2":
        options = leaf.extraOptions()
        return End(leaf.sourceName().lower(), {str(key).lower(): str(options[key]) for key in options})
    return End(kind, {})


def _field(java: Any, name: str) -> Any:
    """A private field of Spark's writer; UsageError where this Spark has none, since nothing could be checked."""
    try:
        field = java.getClass().getDeclaredField(name)
        field.setAccessible(True)
        return field.get(java)
    except Exception:  # Py4J raises what Java raised
        raise _refused(f"this Spark does not show its writer's {name}", "use a classic session, 3.5 to 4.3") from None


def _below(path: str, place: str) -> bool:
    return (path.rstrip("/") + "/").startswith(place.rstrip("/") + "/") and ".." not in path.split("/")


def _refused(found: str, would_do: str) -> UsageError:
    return UsageError("trial", found, would_do)
