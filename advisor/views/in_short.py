"""What the first screen says of a query, a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from advisor.contract import Advice, Loss, LossKind, Metric, Part, Promise, QueryEntry, Question, Refused, Trend
from advisor.facts.names import FACTS
from advisor.views import text
from advisor.views.inside import sentence, slow
from advisor.views.wording import not_known, state, trend, version

if TYPE_CHECKING:
    from advisor.views.selection import Selection

_NONE = Metric()


LOSSES: dict[LossKind, str] = {
    "rows_dropped": "rows are dropped",
    "watermark_stands": "the watermark stands still",
    "state_grows": "the state grows without end",
    "falling_behind": "falling behind",
    "backlog": "working off a backlog",
    "growth": "growing",
    "slower_than_before": "slower than before",
    "spikes": "spikes",
    "slow_batches": "slow batches",
    "held_back": "waiting for more rows",
    "interval": "waiting for the trigger",
    "watermark": "waiting for the watermark",
    "within_add_batch": "in addBatch",
    "logs": "logs",
    "discovery": "source",
    "planning": "planning",
    "add_batch": "addBatch",
    "unaccounted": "no phase",
    "other": "other phases",
}
"""What time is lost to, in a word or two."""


def loss_name(of: Loss | Part) -> str:
    """What to call what time is lost to."""
    return of.name or LOSSES[of.kind]


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
    """That a query is idle or started again and again; empty for what the headline says, and for what is as usual."""
    if isinstance(query.idle_since, str):
        return state(query)
    return query.state if query.state == "restarting" else ""


def latency_now_and_then(query: QueryEntry) -> str:
    """`p50 218 ms   p99 536 ms   → about 160 ms (p50) with the step`, or why there is none."""
    found = query.metrics.get("record_latency_ms", _NONE)
    if found.p50 is None:
        return not_known(found)
    least = "at least " if query.screen.backlog_untold else ""
    spread = _spread(query, "p50", found.p50, found.p99)
    if query.value("trigger") == "real_time":  # of one batch, too, the events tell both
        spread = f"p50 {text.ms(found.p50)}   p99 {text.ms(found.p99)}"
    now = f"{least}{spread}{_target(query, found.p99)}"
    now += _moving(query.trend.record_latency_ms, text.ms)
    then = latency_then(query)
    return f"{now}   → {then}" if then else now


def latency_then(query: QueryEntry) -> str:
    """`about 160 ms (p50) with the step`; empty where nothing is known of that, or it stays as it is."""
    found, after = query.metrics.get("record_latency_ms", _NONE), query.screen.after
    if after is None or found.p50 is None:
        return ""
    if after.without_spikes:
        return f"without the spikes about {text.ms(after.p50)} / {text.ms(after.p99)}"
    if text.ms(after.p50) == text.ms(found.p50):
        return ""
    return f"{'at best' if after.at_best else 'about'} {text.ms(after.p50)} (p50) with the step"


def _spread(query: QueryEntry, name: str, usual: float | None, high: float | None) -> str:
    """`p50 218 ms   p99 536 ms`; of one batch the one number, since it has no p99."""
    if query.window.batches == 1:
        return f"{text.ms(usual)} (one batch)"
    return f"{name} {text.ms(usual)}   p99 {text.ms(high)}"


def _moving(found: Trend, words: Callable[[float], str]) -> str:
    """The trend of what rises or falls."""
    return trend(found, words) if found.direction in ("rising", "falling") else ""


def _target(query: QueryEntry, p99: float | None) -> str:
    target = query.value("latency_target_ms")
    if not isinstance(target, int | float) or p99 is None:
        return ""
    return f" (target {text.ms(target)}: {'missed' if p99 > target else 'reached'})"


def batch_headroom_lag(query: QueryEntry) -> str:
    """`typical 0.33 s   p99 6.0 s   Headroom 12 %   Lag 0 rows`."""
    batch, lag = query.metrics.get("trigger_execution_ms", _NONE), query.metrics.get("backlog_rows", _NONE)
    headroom = query.screen.headroom
    rows = "not known" if lag.typical is None else f"{text.count(lag.typical)} rows"
    if lag.typical is not None:
        rows += _moving(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows")
    took = "not known" if batch.typical is None else _spread(query, "typical", batch.typical, batch.p99)
    return f"{took}   Headroom {'-' if headroom is None else f'{100 * headroom:.0f} %'}   Lag {rows}"


def within_add_batch(query: QueryEntry, width: int | None = None) -> str:
    """`of addBatch: state commit 36 %, ...`, or its parts where jobs were seen; empty where nothing is known."""
    if query.inside:
        return sentence(query, width)
    found = query.screen.within_add_batch
    said = ", ".join(f"{loss_name(part)} {_share(part)}" for part in found)
    return f"of addBatch: {said}" if said else ""


def _share(part: Part) -> str:
    """`36 %`, or `7 to 85 %` where only an interval is known."""
    at_most = "" if part.share_at_most is None else f" to {100 * part.share_at_most:.0f}"
    return f"{100 * part.share:.0f}{at_most} %"


SHORT_SPAN_MS = 600_000.0


def based_on(chosen: Selection) -> str:
    """`49 batches, 31 s (short: confirm on 10 min)`."""
    query, span = chosen.query, chosen.query.screen.span_ms
    found = query.window.batches
    if not found:
        return f"no steady batch, of {text.plural(query.batches, 'batch', 'batches')}" if query.batches else "no batch"
    said = text.plural(found, "batch", "batches")
    said += f", {text.ms(span)}" if span else ""
    short = found == 1 or span is None or span < SHORT_SPAN_MS
    said += " (it may be an outlier)" if found == 1 else " (short: confirm on 10 min)" if short else ""
    earlier = f"; {text.plural(chosen.earlier, 'earlier run')} of this query" if chosen.earlier else ""
    return said + earlier


def headline_name(query: QueryEntry) -> str:
    """What stands before the headline: what most time is lost to, or that the query keeps up; may be empty."""
    if query.screen.calm:
        return "keeps up"
    loss = query.screen.loss
    return "" if loss is None or loss.kind == "add_batch" else loss_name(loss)  # whose sentence names it already


def closest(query: QueryEntry) -> list[str]:
    """The rules that came closest to firing, a line each."""
    return [f"{entry.margin} · {entry.rule}" for entry in query.screen.calm.closest] if query.screen.calm else []


def in_a_line(query: QueryEntry) -> str:
    """`logs: Track progress asynchronously`: the loss and the step; the verdict where there is no loss.

    A step against something else stands behind what its rule found.
    """
    loss, best = query.screen.loss, query.best_step
    if query.screen.calm:
        return "keeps up: no rule found anything"
    if loss is None:
        return f"stopped with an error: {best.advice.do}" if best and query.terminated else query.verdict
    if best and (why(query) or beside_the_loss(query)):
        return f"{best.title}: {best.advice.do}"
    needs_a_checkpoint = _with_a_new_checkpoint(query)
    other = f"{needs_a_checkpoint[0].do} (a new checkpoint)" if needs_a_checkpoint else "no rule knows a change"
    return f"{loss_name(loss)}: {best.advice.do if best else other}"


_OPEN_IT = (
    "Find out what addBatch spends its time on before changing anything: progress alone does not tell. The event log, "
    "or the driver log at INFO, opens it here (docs/stages.md); Spark's UI shows the stages of a batch's SQL query."
)

_SHOW_DURATIONS = (
    "Find out where a batch's time goes first: these records lack durationMs. Print the whole of query.lastProgress, "
    "which holds it, or bring a log that does (docs/get-a-log.md)."
)

_WATERMARK_FIRST = (
    "Find out first why the watermark lies so far behind: a long delay in withWatermark, one of several inputs that is "
    "late, or a single batch that spans all that time. Here no batch removed state: it goes once the "
    "watermark has passed it. Only then think of another store, which needs a new checkpoint: see --all."
)

_NO_NUMBER = ": this may help, but it needs a new checkpoint, and its gain is not known. See --all."


def no_step(query: QueryEntry) -> str:
    """That no step is known, and what was looked at."""
    if not query.window.batches and not any(finding.steps for finding in query.findings):
        return "There is nothing to judge yet."
    if taken := _with_a_new_checkpoint(query):
        return _WATERMARK_FIRST if query.screen.keeps_old_state else _only_with_a_new_checkpoint(query, taken[0])
    if _waits_for_an_answer(query):
        return "Answer the question below first: which step helps depends on it."
    if query.screen.undivided:
        return _SHOW_DURATIONS
    if query.screen.unopened and not query.screen.calm:
        return _OPEN_IT
    accepted = " that Spark accepts here" if query.findings else ""
    known = f"No rule knows a change{accepted} that would help."
    calm = "This log shows nothing that needs a change."
    return f"{calm if query.screen.calm else known} {_looked_at(query)}".rstrip()


def _only_with_a_new_checkpoint(query: QueryEntry, step: Advice) -> str:
    grave = query.screen.loss is not None and query.screen.loss.kind in ("rows_dropped", "state_grows")
    return step.do + (". It needs a new checkpoint: see --all." if grave else _NO_NUMBER)


def _with_a_new_checkpoint(query: QueryEntry) -> list[Advice]:
    """Of a query without a best step those that Spark may take all the same."""
    steps = [step for finding in query.findings for step in finding.steps if step.legal != "no"]
    return [step for step in steps if step.takes == "new_checkpoint" and not step.untold_kinds]


def _waits_for_an_answer(query: QueryEntry) -> bool:
    """Whether the question is one that decides which step is made for this query."""
    asked = query.screen.unsure
    kinds = {fact for finding in query.findings for step in finding.steps for fact in step.untold_kinds}
    return asked is not None and asked.fact in kinds


def _looked_at(query: QueryEntry) -> str:
    """How many rules were looked at, and what came of them."""
    counts = [
        (len(query.findings), "found something", "found something"),
        (len(query.passed), "passed", "passed"),
        (len(query.not_applicable), "does not apply", "do not apply"),
        (len(query.skipped), "could not be judged", "could not be judged"),
        (len(query.suppressed), "is silenced", "are silenced"),
    ]
    said = ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in counts if number)
    return f"Looked at: {text.plural(sum(number for number, *_ in counts), 'rule')} ({said})." if said else ""


_TAKES_SHORT = {
    "nothing": "no restart",
    "restart": "restart",
    "new_checkpoint": "new checkpoint",
    "stages": "several restarts",
}


def takes_in_short(step: Advice) -> str:
    """What it takes to make the change, in a word or two."""
    return _TAKES_SHORT[step.takes]


def stages(step: Advice) -> str:
    """How many stages the step has, and how it begins."""
    first = step.stages[0].do
    begins = f" First {first}." if first else ""
    return f"In {text.plural(len(step.stages), 'stage')}, their code with --all.{begins}"


def gain(query: QueryEntry, step: Advice) -> str:
    """What the step promises, in one line; of the query's best step that ends spikes also the p99 after it."""
    after, p99 = query.screen.after, query.metrics.get("record_latency_ms", _NONE).p99
    if after is not None and after.without_spikes and p99 is not None:
        return f"p99 of the record latency {text.ms(p99)} → about {text.ms(after.p99)}"
    said = (_gain(step.saves_latency_ms, "record"), _gain(step.saves_ms, "batch"))
    return next(filter(None, said), "no number is promised") + _waits_for_two(query, step)


_IN_GENERAL = ("SK002", "TR001")
"""Rules that say what every headline says: that addBatch is long, or that batches take too long."""


def why(query: QueryEntry) -> str:
    """What the best step's rule found, where no promise, no loss and no trouble above it says so; else empty."""
    best, loss = query.best_step, query.screen.loss
    found = next((one for one in query.findings if best and one.rule == best.rule), None)
    if best is None or found is None or best.advice.saves_ms or best.advice.saves_latency_ms:
        return ""
    if found.rule in _IN_GENERAL:
        return ""
    told = {loss.rule, *(one.explained_by for one in query.findings if one.rule == loss.rule)} if loss else set()
    said = " ".join([query.verdict, *query.screen.troubles])
    return "" if found.rule in told or found.says in said else found.says


def _gain(promise: Promise | None, of: str) -> str:
    if promise is None or promise.high < 1:
        return ""
    if promise.expected is None:
        return f"at most {text.ms(promise.high)} less per {of}, not measured yet"
    return f"about {text.ms(promise.expected)} less per {of} ({text.ms(promise.low)} to {text.ms(promise.high)})"


def _waits_for_two(query: QueryEntry, step: Advice) -> str:
    """Why a record gains more than a batch loses; empty where it does not."""
    loss, promise = query.screen.loss, step.saves_latency_ms
    more = loss is not None and loss.ms and promise is not None and step.saves_ms and promise.likely > loss.ms
    return "; a record waits for the batch before its own, too" if more else ""


_PHASES: dict[LossKind, frozenset[str]] = {
    "within_add_batch": frozenset({"addBatch"}),
    "add_batch": frozenset({"addBatch"}),
    "logs": frozenset({"walCommit", "commitOffsets", "commitLog"}),
    "discovery": frozenset({"latestOffset", "getOffset", "getEndOffset", "setOffsetRange", "getBatch"}),
    "planning": frozenset({"queryPlanning"}),
}
"""The phases that a loss lies in, where it lies in some."""
_GROWING = {"DR001": _PHASES["add_batch"], "DR003": _PHASES["planning"], "DR004": _PHASES["discovery"]}
"""Those that grow, by the rule that found it."""


def beside_the_loss(query: QueryEntry) -> str:
    """That the best step leaves the largest loss as it is, and why it is the best all the same; else empty."""
    loss = query.screen.loss
    lies_in = (_GROWING.get(str(loss.rule)) if loss.kind == "growth" else _PHASES.get(loss.kind)) if loss else None
    if loss is None or not lies_in or not query.saved or lies_in & query.saved.keys():
        return ""
    kind = next(kind for kind, phases in _PHASES.items() if phases & lies_in and kind != "within_add_batch")
    name = LOSSES[kind]
    leaves = "It leaves the logs as they are" if name == LOSSES["logs"] else f"It leaves {name} as it is"
    against = next(_against(query, loss, lies_in), None)
    if against is None:
        return f"{leaves}: no rule knows a change against that"
    return f'{leaves}. For that: "{against.do}" ({_shortly(against) or "no number is promised"})'


def _against(query: QueryEntry, loss: Loss, lies_in: frozenset[str]) -> Iterator[Advice]:
    """Steps that Spark may take against the loss: those of its rule, then others that shorten the same phases."""
    steps = [(finding.rule, step) for finding in query.findings for step in finding.steps if step.legal != "no"]
    yield from (step for rule, step in steps if rule == loss.rule)
    yield from (step for _, step in steps if lies_in & set(step.saves_in))


def slowest(query: QueryEntry) -> str:
    """`batch 10: Delta: Compute snapshot 19.8 s in 154 tasks`, where slow batches are the loss; empty if not known."""
    loss = query.screen.loss
    if loss is None or loss.kind not in ("spikes", "slow_batches") or not query.worst:
        return ""
    longest = query.worst[0]
    number = "" if longest.batch_id is None else f"batch {longest.batch_id}, "
    return f"{number}{text.ms(longest.trigger_execution_ms)}: {slow(longest.inside)}" if longest.inside else ""


def also(step: Advice) -> str:
    """Another step that helps: what to do, how much it saves, what it takes."""
    sure = f", if {step.unknown[0]} allows it" if step.legal == "if" and step.unknown else ""
    return f"{step.do}: {_shortly(step)} ({takes_in_short(step)}){sure}"


def _shortly(step: Advice) -> str:
    """What the step saves, without its interval; empty where it promises nothing."""
    of_batch = "batch on average" if step.ends_slow_batches else "batch"
    promise, of = (step.saves_latency_ms, "record") if step.saves_latency_ms else (step.saves_ms, of_batch)
    return _gain(promise, of).partition(" (")[0]


def together(query: QueryEntry) -> str:
    """What the steps save that can be taken beside each other; empty where fewer than two can."""
    if query.together is None:
        return ""
    does = {step.id: step.do for finding in query.findings for step in finding.steps}
    steps = "; ".join(does[named.step] for named in query.together.steps)
    return f"{_gain(query.together.saves_ms, 'batch')}: {steps}"


def refused(one: Refused) -> str:
    """A step that is not for this query, and why not."""
    return f"{one.do}: {one.because}"


def question(asked: Question) -> str:
    """The question that would settle most, how to answer it, and what waits for the answer."""
    counts = [(asked.rules, "rule"), (asked.steps, "step")]
    waiting = " and ".join(text.plural(len(names), words) for names, words in counts if names)
    verb = "waits" if len(asked.rules) + len(asked.steps) == 1 else "wait"
    with_interval = "; with an interval: --set trigger_interval_ms=N" if asked.fact == "trigger" else ""
    return f"{asked.asks} --set {asked.give}{with_interval} ({waiting} {verb} for it)"


def once_known(facts: Sequence[str]) -> str:
    """How to tell the facts that a step waits for."""
    if len(facts) > 1:
        return f"Not known: {', '.join(facts[:-1])} and {facts[-1]}; --set NAME=... tells each"
    (fact,) = facts
    known = FACTS.get(fact)
    if known is None:
        return f"{fact} is not known: --set {fact}=..."
    if known.kind == "bool":
        return f"It is not known whether {known.meaning}: --set {fact}=true|false"
    return f"Not known: {known.meaning}; --set {fact}=..."
