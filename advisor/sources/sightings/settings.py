"""Spark's settings as people write them beside a log: in code, on a command line, in a file of properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.facts import from_conf
from advisor.sources.sightings.marked import Words, marked
from advisor.sources.sightings.query import Told

_KEY: Final = r"spark\.[\w.\-]{3,150}"
_WRITTEN: Final = re.compile(
    rf"""(?mx)
    ["']({_KEY})["'][ \t]*[,:][ \t]*["']?([^"'\s,)}}]{{1,200}})                          # conf.set("k", v), "k": "v"
    |(?:--conf|-c)[ =]["']?({_KEY})=["']?([^\s"']{{1,200}})
    |^[ \t]*(?:SET[ \t]+|set[ \t]+|[-*>][ \t]+)?["'`]?({_KEY})["'`]?(?:[ \t]*[=:][ \t]*|[ \t]+)
        ["'`]?([^\s"'`;,\\]{{1,200}})["'`]?[ \t]*[;,\\]?[ \t]*$                              # alone in its line
    |(?<![Ss]hould[ ])(?<![Cc]an[ ])\b(?:I|we|have|We|also)
        [ ]set[ ]["'`]?({_KEY})["'`]?(?:[ \t]*=[ \t]*|[ ]to[ ])["'`]?([^\s"'`;,]{{1,200}})
    """
)
_MASTER: Final = marked(
    (".master(", ".setmaster(", "--master"),
    r"""(?:\.(?:master|setMaster)\([ \t]*|--master[ =])["']?([\w\[\]*,:/.\-]{3,200})""",
)
_OF_SUBMIT: Final = marked(("--executor-cores", "--num-executors"), r"--(executor-cores|num-executors)[ =](\d{1,5})\b")
_SUBMITTED: Final = {"executor-cores": "spark.executor.cores", "num-executors": "spark.executor.instances"}
_KEY_BEGINS: Final = re.compile(r"spark\.(?<![^\s\"'`=]spark\.)")
"""What stands in every line that holds what is written there."""
_ELSEWHERE: Final = marked(
    ("emr", "dataproc", "hdinsight", "synapse", "cloudera", "kubernetes", "k8s", "minikube"),
    r"(?i)\b(?:EMR|Dataproc|HDInsight|Synapse|Cloudera|(Kubernetes|K8s|minikube))\b",
)
_DATABRICKS: Final = re.compile(r"(?i)databricks|\bDBR\b")
_STRUCTURED: Final = re.compile(r"(?i)structured[ -]streaming|readStream|writeStream")
_PINNED: Final = ("shuffle_partitions", "state_store")
"""Facts that a checkpoint keeps, whatever the session asks for."""


def read_settings(text: Words) -> Iterator[Told]:
    """What the settings say that the text names; of what a checkpoint pins, what the session asked for."""
    pairs = [("spark.master", master) for master in _MASTER.findall(text)]
    pairs += _written(text)
    pairs += [(_SUBMITTED[option], value) for option, value in _OF_SUBMIT.findall(text)]
    yield from _slots(dict(pairs))
    for key, value in dict.fromkeys(pairs):
        for fact, told in from_conf(key, value):
            yield Told(fact, told, "session" if fact in _PINNED else "log")


def _written(text: Words) -> Iterator[tuple[str, str]]:
    """The keys and values that stand in a line together."""
    for line in filter(_KEY_BEGINS.search, text.lines_with("spark.")):
        for found in _WRITTEN.findall(line):
            key, value = (part for part in found if part)
            yield key, value


def _slots(settings: dict[str, str]) -> Iterator[Told]:
    """The tasks that so many executors of so many cores run at once, where their number is fixed."""
    cores, executors = settings.get("spark.executor.cores", ""), settings.get("spark.executor.instances", "")
    dynamic = settings.get("spark.dynamicAllocation.enabled", "").lower() == "true"
    if cores.isdigit() and executors.isdigit() and not dynamic and int(cores) * int(executors):
        yield Told("task_slots", int(cores) * int(executors), "inferred")


def of_dstreams(text: str) -> list[Told]:
    """The first setting of DStreams in a text that speaks of Structured Streaming, where there is no progress."""
    if not _STRUCTURED.search(text):
        return []
    return [told for told in read_settings(Words(text)) if told.fact == "ignored_dstreams_setting"][:1]


def read_platform(text: Words) -> Iterator[Told]:
    """Whose Spark it is, by a word for where it runs; nothing where Databricks is named in words or in a link."""
    named = _ELSEWHERE.findall(text)
    if named and not _DATABRICKS.search(_WRITTEN.sub("", text)):
        yield from (Told("platform", "open_source" if own else "other", "inferred") for own in named)
