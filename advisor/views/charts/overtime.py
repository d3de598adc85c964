"""Charts of a run over time, with their words for readers who do not see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from advisor.contract import QueryEntry, Series
from advisor.views import text, wording
from advisor.views.addbatch import short
from advisor.views.charts.chart import NARROW, WIDE, Chart, Spec, layer, layered, number, time_axis

BARS_UP_TO = 150
"""Up to so many batches are drawn as bars; more become an area."""
_CUT = 2.5
"""So many times the highest value after the warm-up is still drawn; the first batches of a run reach much further."""
_PARTS: Final = 4
"""Parts of addBatch that are drawn by themselves, the largest."""
_COLOURS: Final = ("var(--line-1)", "var(--line-2)")
_TIME: Final = {"field": "t", "type": "temporal", "scale": {"type": "utc"}, "axis": {"title": None, "tickCount": 8}}
_TIME_NARROW: Final = _TIME | {"axis": {"title": None, "tickCount": 5}}


def charts(query: QueryEntry, series: Series | None) -> list[Chart]:
    """Return every chart that the batches of a run have data for; empty with fewer than two batches."""
    if series is None or len(series.timestamp) < 2:
        return []
    drawn = [_phases(series), _latency(query, series), _rates(series), *_lines(query, series)]
    return [chart for chart in drawn if chart is not None]


def _phases(series: Series) -> Chart | None:
    columns, length = _with_parts(series), series.trigger_execution_ms
    names = list(columns)
    if not names:
        return None
    axis = time_axis(_highest([length], series))
    bars = len(series.timestamp) <= BARS_UP_TO
    width = max(1, min(6, round(0.4 * WIDE / len(series.timestamp))))
    mark = {"type": "bar", "width": width, "clip": True} if bars else {"type": "area", "clip": True}
    colours = {"domain": names, "range": _colours(names, series.phases_ms)}
    stacked = layer(
        _rows(series, columns), mark, x=_TIME, y=number("ms", scale=_scale([length], series), **axis),
        color={"field": "phase", "type": "nominal", "sort": names, "scale": colours}, order={"field": "nth"},
    )  # fmt: skip
    nth = {"calculate": f"indexof({names!r}, datum.phase)", "as": "nth"}
    stacked["transform"] = [{"fold": names, "as": ["phase", "ms"]}, nth]
    said, spikes = "none takes twice the usual time", len(_spiking(series))
    if spikes:
        takes = text.plural(spikes, "batch takes", "batches take")
        said = f"{takes} at least twice the usual time, marked by a triangle"
    words = (
        f"{text.plural(series.batches, 'batch', 'batches')}, {text.span(series.timestamp[0], series.timestamp[-1])}; "
        f"the longest takes {text.ms(_most(length))}; {said}.{_cut([length], series)}"
    )
    spec = layered(WIDE, 210, stacked, *_spikes(series), *_marked(series))
    return Chart("phases", "Where each batch's time goes", words, spec, wide=True)


def _with_parts(series: Series) -> dict[str, Sequence[float | None]]:
    """Return the phases; the largest parts of addBatch, where jobs were seen, in the place of what they take of it."""
    whole = series.phases_ms.get("addBatch")
    totals = {name: sum(ms or 0.0 for ms in values) for name, values in series.parts_ms.items()}
    largest = sorted(totals, key=lambda name: -totals[name])[:_PARTS]
    if whole is None or not any(totals.values()):
        return dict(series.phases_ms)
    parts = {short(name): series.parts_ms[name] for name in series.parts_ms if name in largest}
    taken = [sum(ms or 0.0 for ms in each) for each in zip(*parts.values(), strict=True)]
    rest = [None if ms is None else max(0.0, ms - of) for ms, of in zip(whole, taken, strict=True)]
    found: dict[str, Sequence[float | None]] = {}
    for phase, values in series.phases_ms.items():
        found |= {**parts, "other of addBatch": rest} if phase == "addBatch" else {phase: values}
    return found


def _colours(names: Iterable[str], phases: Iterable[str]) -> list[str]:
    """Return a colour for each phase, shades of one for the parts of addBatch."""
    shade = {name: f"var(--part-{nth})" for nth, name in enumerate([one for one in names if one not in phases], 1)}
    return [shade.get(name, f"var(--{name}, var(--other))") for name in names]


def _spiking(series: Series) -> list[tuple[str, float]]:
    """Spikes as (when, ms); those of the warm-up are none."""
    rows = zip(series.timestamp, series.trigger_execution_ms, series.spike, series.cold, strict=True)
    return [(at, ms) for at, ms, spike, cold in rows if spike and not cold and at and ms is not None]


def _spikes(series: Series) -> list[Spec]:
    most = _highest([series.trigger_execution_ms], series) or 0.0
    found = [{"t": at, "ms": min(ms, most)} for at, ms in _spiking(series)]
    look = {"type": "point", "shape": "triangle-down", "filled": True, "color": "var(--high)"}
    return [layer(found, look | {"size": 30, "yOffset": -6}, x=_TIME, y=number("ms"))] if found else []


def _latency(query: QueryEntry, series: Series) -> Chart | None:
    lines = {"a typical record, estimated": series.record_latency_ms, "batch": series.trigger_execution_ms}
    target, high = query.value("latency_target_ms"), query.metric("record_latency_ms").p99
    said = "" if high is None else f" The p99 of all records, {text.ms(high)}, counts the slow records of a batch too."
    if not isinstance(target, int | float):
        return _line("latency", "Record latency and length of a batch", "ms", lines, series, said=said)
    seen = float(target) <= 1.05 * (_highest(list(lines.values()), series) or 0.0)
    said += f" The target is {text.ms(float(target))}{'' if seen else ', above all that is drawn'}."
    mark = {"type": "rule", "color": "var(--high)", "strokeDash": [6, 3], "size": 1.5}
    over = [layer([{"y": float(target)}], mark, y=number("y"))] if seen else []
    return _line("latency", "Record latency and length of a batch", "ms", lines, series, over, said)


def _rates(series: Series) -> Chart | None:
    lines = {
        "rows that arrive": series.input_rows_per_second,
        "rows that a batch can do": series.processed_rows_per_second,
    }
    return _line("rates", "Rows a second: arriving, and what a batch can do", "rows/s", lines, series)


def _lines(query: QueryEntry, series: Series) -> Iterable[Chart | None]:
    gone = wording.catch_up(query)
    said = f" {gone[:1].upper()}{gone[1:]}." if gone else ""
    rows = {"backlog": series.backlog_rows}
    yield _line("backlog", "Backlog: rows that wait in the source", "rows", rows, series, said=said)
    yield _line("state-rows", "Rows in state", "rows", {"rows": series.state_rows}, series)
    yield _line("state-memory", "Memory of state", "bytes", {"memory": series.state_memory_bytes}, series)
    yield _line("state-commit", "State commit of one task", "ms", {"commit": series.state_commit_ms}, series)


def _line(
    name: str,
    caption: str,
    unit: str,
    lines: Mapping[str, Sequence[float | None]],
    series: Series,
    over: Sequence[Spec] = (),
    said: str = "",
) -> Chart | None:
    """Return one line per column with data; None if there is none, or if all of it is zero."""
    known = {label: values for label, values in lines.items() if any(values)}
    if not known:
        return None
    names, columns = list(known), list(known.values())
    color = {
        "field": "what", "type": "nominal", "sort": names,
        "scale": {"domain": names, "range": list(_COLOURS[: len(known)])}, "legend": {"symbolType": "stroke"},
    }  # fmt: skip
    plain = {"title": unit, "axis": {"format": "~s", "tickCount": 5}}
    axis = time_axis(_highest(columns, series), 5) if unit == "ms" else plain
    drawn = layer(
        _rows(series, known), {"type": "line", "clip": True}, x=_TIME_NARROW,
        y=number("value", **axis, scale=_scale(columns, series)),
        color=color if len(known) > 1 else {"value": _COLOURS[0]},
    )  # fmt: skip
    drawn["transform"] = [{"fold": names, "as": ["what", "value"]}]
    most = "; ".join(f"{label}: at most {_amount(_most(values), unit)}" for label, values in known.items())
    words = f"{most[:1].upper()}{most[1:]}.{said}{_cut(columns, series)}"
    return Chart(name, caption, words, layered(NARROW, 150, drawn, *over, *_marked(series)))


def _marked(series: Series) -> list[Spec]:
    """Return the start of the run, and its change, which lie over all else."""
    marks = {"start": series.timestamp[0], "change": series.changed_at}
    found = [{"t": at, "is": words} for words, at in marks.items() if at]
    if not found:
        return []
    label = {"type": "text", "align": "left", "dx": 4, "dy": 6, "y": 0, "color": "var(--ink)", "fontSize": 13}
    return [
        layer(found, {"type": "rule", "strokeDash": [4, 3], "color": "var(--ink)"}, x=_TIME),
        layer(found, label, x=_TIME, text={"field": "is"}),
    ]


def _rows(series: Series, columns: Mapping[str, Sequence[float | None]]) -> list[dict[str, Any]]:
    cells = zip(series.timestamp, *columns.values(), strict=True)
    return [{"t": at, **dict(zip(columns, values, strict=True))} for at, *values in cells if at]


def _scale(columns: Sequence[Sequence[float | None]], series: Series) -> Spec:
    """Return the axis from 0 to the highest value after the warm-up: the first batches would flatten all others."""
    most = _highest(columns, series)
    return {"domainMin": 0, "domainMax": 1.05 * most} if most else {}


def _highest(columns: Sequence[Sequence[float | None]], series: Series) -> float | None:
    every = [value for values in columns for value in values if value is not None]
    warm = _most([value for values in columns for value, cold in zip(values, series.cold, strict=True) if not cold])
    return _most([value for value in every if value <= _CUT * warm]) if warm else _most(every)


def _cut(columns: Sequence[Sequence[float | None]], series: Series) -> str:
    """Return a sentence if the warm-up reaches above the chart."""
    above, most = _most([value for values in columns for value in values]), _highest(columns, series)
    return " The warm-up is cut off at the top." if above and most and above > most else ""


def _most(values: Sequence[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)


def _amount(value: float | None, unit: str) -> str:
    return text.amount(value, unit) if unit in ("ms", "bytes") else f"{text.count(value)} {unit}"
