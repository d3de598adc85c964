"""What is known about a run, from which origin, and how conflicts between origins are settled."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from advisor.facts.confs import (
    REAL_ASYNC_CONF,
    from_conf,
    from_confs,
    from_reader_options,
    from_writer_options,
    ignored_option,
    in_order,
)
from advisor.facts.fact import LATE_BATCH, ORIGINS, Fact, Known, Sighting
from advisor.facts.names import EXECUTOR, FACTS
from advisor.facts.settlement import Facts, settle
from advisor.facts.values import check_value, fact_named, parse_user_fact, read_value
from advisor.facts.versions import (
    is_older,
    platform_of,
    same_version,
    version_at_least,
    version_in_words,
    version_numbers,
)
from advisor.vocabulary import CONF

if TYPE_CHECKING:
    from advisor.facts.evidence import Evidence, Run
    from advisor.facts.inspection import computed

__all__ = [
    "CONF",
    "EXECUTOR",
    "FACTS",
    "LATE_BATCH",
    "ORIGINS",
    "REAL_ASYNC_CONF",
    "Evidence",
    "Fact",
    "Facts",
    "Known",
    "Run",
    "Sighting",
    "check_value",
    "computed",
    "fact_named",
    "from_conf",
    "from_confs",
    "from_reader_options",
    "from_writer_options",
    "ignored_option",
    "in_order",
    "is_older",
    "parse_user_fact",
    "platform_of",
    "read_value",
    "same_version",
    "settle",
    "version_at_least",
    "version_in_words",
    "version_numbers",
]

_WITH_PANDAS = {"computed": "inspection", "Evidence": "evidence", "Run": "evidence"}


def __getattr__(name: str) -> Any:
    """Loads what needs pandas when it is first asked for: names and values alone must load fast."""
    if name not in _WITH_PANDAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WITH_PANDAS[name]}"), name)
