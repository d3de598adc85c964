"""What kind of query it is: the first line of a screen."""

from __future__ import annotations

from advisor.contract import Metric, QueryEntry
from advisor.views import text
from advisor.views.wording import state, version

_NONE = Metric()
_TRIGGERS = {
    "unspecified": "default trigger",
    "once": "trigger once",
    "available_now": "trigger AvailableNow",
    "continuous": "continuous",
    "real_time": "real-time mode",
}
_ENDS = {
    "foreach_batch": "foreachBatch",
    "rate_micro_batch": "rate",
    "event_hubs": "Event Hubs",
    "auto_loader": "Auto Loader",
}


def kind_of_query(query: QueryEntry) -> str:
    """`kafka, 6 partitions → delta · Spark 4.0.0 · stateless · default trigger`; what is not known is left out."""
    ends = [_ENDS.get(str(query.value(end)), str(query.value(end))) for end in ("source", "sink") if query.value(end)]
    if ends and query.value("source") and (partitions := query.value("kafka_partitions")):
        ends[0] += f", {text.plural(partitions, 'partition')}"
    if ends and not query.value("source"):
        ends.insert(0, "")
    return " · ".join(filter(None, (" → ".join(ends).lstrip(), version(query), _state_kept(query), _trigger(query))))


def _state_kept(query: QueryEntry) -> str:
    stateful, partitions = query.value("stateful"), query.metrics.get("state_partitions", _NONE).p50
    if stateful is None:
        return ""
    kept = f", {text.plural(round(partitions), 'state partition')}" if partitions else ""
    return f"stateful{kept}" if stateful else "stateless"


def _trigger(query: QueryEntry) -> str:
    kind, interval = query.value("trigger"), query.value("trigger_interval_ms")
    if kind == "processing_time":
        likely = "likely " if interval and query.facts["trigger_interval_ms"].origin == "inferred" else ""
        return f"trigger {likely}every {text.ms(interval)}" if interval else "trigger with an interval"
    if kind == "unspecified" and query.facts["trigger"].origin == "inferred":
        one_shot = "available_now" in (query.value("trigger_one_of") or ())
        return "no pause between batches (AvailableNow?)" if one_shot else "no pause between batches"
    return _TRIGGERS.get(str(kind), "trigger not known")


def state_if_news(query: QueryEntry) -> str:
    """Return that a query is idle or started again and again; empty if the headline shows it, or if all is usual."""
    if isinstance(query.idle_since, str):
        return state(query)
    return query.state if query.state == "restarting" else ""
