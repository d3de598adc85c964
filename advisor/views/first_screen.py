"""What the first screen says of a query, a line each; the notebook, the page and Markdown use the same lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from advisor.catalogue.load import phases
from advisor.contract import (
    Advice,
    Capacity,
    Latencies,
    Loss,
    LossKind,
    Part,
    PlannedStep,
    Promise,
    QueryEntry,
    Question,
    Target,
    Trend,
)
from advisor.facts.names import FACTS
from advisor.facts.versions import is_untried
from advisor.report.loss import of_loss_first
from advisor.report.steps import SOONER, felt, in_short
from advisor.report.verdict import MAY_BE_LATE, NOTHING_FOUND
from advisor.views import text
from advisor.views.addbatch import sentence, slow
from advisor.views.paste import pastes
from advisor.views.wording import at_least, not_known, state, trend, version
from advisor.vocabulary import TAKES_IN_WORDS

if TYPE_CHECKING:
    from advisor.views.selection import Selection

SHORT_SPAN_MS = 600_000.0
_LOSSES: dict[LossKind, str] = {
    "rows": "rows are lost",
    "results": "results wait",
    "pace": "behind",
    "state": "the state grows without end",
    "batches": "slow batches",
    "waiting": "waiting",
}
"""What is lost, in a word or two, where it is no phase."""
_MUCH_SLOWER = 2
"""Times a typical batch: a batch that takes as long is shown though slow batches are not the loss."""
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
_ANSWERS = {
    "reached": "reached",
    "reached with steps": "reached with these steps, in this order",
    "may be reached": "may be reached; what these steps save is uncertain",
    "not reached": "not reached; the nearest",
    "unknown": "not known",
}
_MORE = 1.1  # a gain that is larger by less is the same one
_WAIT = "waiting for the batch"
_SHORTER = "{} per batch"
_OPEN_IT = (
    "Find out what addBatch spends its time on before changing anything; progress alone does not show it. Bring the "
    "event log or the driver log at INFO (docs/stages.md), or look at a batch's stages in Spark's UI."
)
_MORE_BATCHES = "Look again when more batches have ended, or bring a longer log"
_OF_ITS_OWN = "No rule knows this error: mend what it names. A batch that did not end runs again after a restart."


# The query and what it loses


def kind_of_query(query: QueryEntry) -> str:
    """Return `kafka, 6 partitions → delta · Spark 4.0.0 · stateless · default trigger`, without what is not known."""
    ends = [_ENDS.get(str(query.value(end)), str(query.value(end))) for end in ("source", "sink") if query.value(end)]
    if ends and query.value("source") and (partitions := query.value("kafka_partitions")):
        ends[0] += f", {text.plural(partitions, 'partition')}"
    if ends and not query.value("source"):
        ends.insert(0, "")
    spark = version(query) + " (newer than all tried)" * is_untried(query.spark_version)
    stateful, partitions = query.value("stateful"), query.metric("state_partitions").p50
    kept = "" if stateful is None else "stateful" if stateful else "stateless"
    if stateful and partitions:
        kept += f", {text.plural(round(partitions), 'state partition')}"
    return " · ".join(filter(None, (" → ".join(ends).lstrip(), spark, kept, _trigger(query))))


def _trigger(query: QueryEntry) -> str:
    kind, interval = query.value("trigger"), query.value("trigger_interval_ms")
    if kind == "processing_time":
        likely = "likely " if interval and query.facts["trigger_interval_ms"].origin == "inferred" else ""
        return f"trigger {likely}every {text.ms(interval)}" if interval else "trigger with an interval"
    if kind == "unspecified" and query.facts["trigger"].origin == "inferred":
        return "no pause between batches"
    return _TRIGGERS.get(str(kind), "trigger not known")


def state_if_news(query: QueryEntry) -> str:
    """Return that a query is idle or started again and again; empty for what the headline says, and for the usual."""
    if query.stall is not None or isinstance(query.idle_since, str):
        return state(query)
    return query.state if query.state == "restarting" else ""


def headline_name(query: QueryEntry) -> str:
    """Return what stands before the headline: what is lost, or that the query keeps up; may be empty."""
    if query.screen.calm:
        return "keeps up" if query.screen.calm.closest and not query.screen.calm.partial else "so far"
    loss, held = query.screen.loss, query.screen.capacity
    if loss is not None and loss.kind == "pace" and held and held.outlasts:  # it starts late and piles up no rows
        return "behind its interval"
    named = loss is None or (loss.kind == "add_batch" and not loss.name)  # whose sentence names it already
    return "" if loss is None or named else loss_name(loss)


def loss_name(of: Loss | Part) -> str:
    """Return what to call a loss or a part of the batch."""
    return of.name or _LOSSES.get(of.kind) or next(one.name for one in phases().phases if one.kind == of.kind)


def in_a_line(query: QueryEntry) -> str:
    """Return `logs: Track progress asynchronously`: the loss and the step; the verdict where there is no loss.

    A step against something else stands behind what its rule found.
    """
    loss, best = query.screen.loss, query.best_step
    if query.screen.calm:
        return f"{headline_name(query)}: {offer(query) or 'no rule found anything'}"
    if loss is None:
        return f"stopped with an error: {best.advice.do}" if best and query.terminated else query.verdict
    if best and (why(query) or query.screen.loss_stays):
        return f"{best.title}: {offer(query) or best.advice.do}"
    needs_a_checkpoint = _with_a_new_checkpoint(query)
    nothing = "no rule knows a change" if query.findings else "no rule found anything"
    nothing = "not judged yet" if query.screen.not_judged_yet else nothing
    other = f"{needs_a_checkpoint[0].do} (a new checkpoint)" if needs_a_checkpoint else nothing
    return f"{loss_name(loss)}: {(offer(query) or best.advice.do) if best else other}"


def offer(query: QueryEntry) -> str:
    """Return the best step behind the wish that it serves; empty where it is advised, or there is none."""
    wish, best = query.screen.wish, query.best_step
    return f"if {wish}: {best.advice.do}" if wish and best else ""


def closest(query: QueryEntry) -> list[str]:
    """Return the rules that came closest to firing, a line each."""
    screen = query.screen
    return [f"{entry.rule}, {entry.margin}" for entry in (screen.calm.closest if screen.calm else screen.closest)]


# The numbers


def latency(query: QueryEntry) -> str:
    """Return `p50 218 ms   p99 536 ms   → about 160 ms (p50) with the step`, or why there is none.

    Behind a backlog it is the latency of a record that comes now: those that are read now came earlier.
    """
    found = query.metric("record_latency_ms")
    if found.p50 is None:
        return not_known(found)
    spread = _spread(query, "p50", found.p50, found.p99)
    if query.value("trigger") == "real_time":  # of one batch, too, the events hold both
        spread = f"p50 {text.ms(found.p50)}   p99 {text.ms(found.p99)}"
    moving = _moving(query.trend.record_latency_ms, text.ms, rising="getting longer", falling="getting shorter")
    waits = " (a record that comes now)" * ((query.metric("backlog_wait_ms").low or 0) > 0)
    now = f"{at_least(query)}{spread}{moving}{waits}"
    then = _with_the_step(query)
    return f"{now}   → {then}" if then else now


def _with_the_step(query: QueryEntry) -> str:
    """Return `about 160 ms (p50) with the step`; empty where nothing is known of that, or it stays as it is."""
    found, after = query.metric("record_latency_ms"), query.screen.after
    if after is None or found.p50 is None:
        return ""
    if after.without_spikes:
        return f"at best p50 {text.ms(after.p50)}, p99 {text.ms(after.p99)} with fewer slow batches"
    if text.ms(after.p50) == text.ms(found.p50):
        return ""
    return f"{'at best' if after.at_best else 'about'} {text.ms(after.p50)} (p50) with the step"


def _spread(query: QueryEntry, name: str, usual: float | None, high: float | None) -> str:
    """Return `p50 218 ms   p99 536 ms`; of one batch the one number, since it has no p99."""
    if query.window.batches == 1:
        return f"{text.ms(usual)} (one batch)"
    return f"{name} {text.ms(usual)}   p99 {text.ms(high)}"


def _moving(found: Trend, words: Callable[[float], str], **directions: str) -> str:
    return trend(found, words, **directions) if found.direction in ("rising", "falling") else ""


def batch_headroom_lag(query: QueryEntry) -> str:
    """Return `typical 0.33 s   p99 6.0 s   Headroom 12 %   Lag 0 rows`."""
    batch, lag = query.metric("trigger_execution_ms"), query.metric("backlog_rows")
    furthest = query.metric("furthest_behind_rows").typical
    if lag.p50 is not None:
        moving = _moving(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows")
        gone = query.metric("catch_up_ms").value
        moving = f"; falls, gone in {text.ms(gone)}" if isinstance(gone, float) else moving
        rows = f"{text.count(lag.p50)} rows{moving}"
    else:
        rows = "not known" if furthest is None else f"at least {text.count(furthest)} rows"
    headroom = "-" if query.screen.headroom is None else f"{100 * query.screen.headroom:.0f} %"
    late = query.metric("over_interval_share").value
    if isinstance(late, float) and late > 0 and not (query.screen.loss and query.screen.loss.kind == "pace"):
        headroom += f" ({100 * late:.0f} % of the batches late)"
    took = "not known" if batch.typical is None else _spread(query, "typical", batch.typical, batch.p99)
    return f"{took}   Headroom {headroom}   Lag {rows}"


def target(query: QueryEntry) -> list[str]:
    """Return whether the latency target is reached and how: the answer, then today and a line for each step."""
    found = query.screen.target
    if found is None:
        return []
    said = f"{found.stat} {text.ms(found.ms)}: {_ANSWERS[found.verdict]}"
    if found.missing or found.now is None:
        return [f"{said.partition(';')[0]}: {found.missing}"]
    if found.verdict == "reached":
        return [f"{said} ({_latencies(found.now)}){_cheaper(found)}"]
    if not found.steps:
        looks = "; DO is a look at what does" if query.best_step and query.best_step.advice.looks else ""
        said = f"{said.partition(';')[0]}; no step to rely on shortens it{looks}"
    steps = [f"{nth}. {_planned(step, found.stat)}" for nth, step in enumerate(found.steps, 1)]
    return [said, f"today: {_latencies(found.now)}", *steps, *_left(found)]


def _planned(step: PlannedStep, stat: str) -> str:
    """Return `Track progress asynchronously (restart): p50 60 ms, p99 140 ms (p99 120 ms to 190 ms)`."""
    takes = TAKES_IN_WORDS[step.takes]
    if step.semantics != "unchanged":
        takes += f", {step.semantics.replace('_', ' ')}"
    at_best = "" if step.measured else "at best "
    low, high = text.ms(step.low), text.ms(step.high)
    between = f" ({stat} {low} to {high})" if low != high else ""
    return f"{step.do} ({takes}{_if_allowed(step)}): {at_best}{_latencies(step.after)}{between}"


def _latencies(found: Latencies) -> str:
    every = f", every {text.ms(found.interval_ms)}" if found.interval_ms else ""
    return f"p50 {text.ms(found.p50)}, p99 {text.ms(found.p99)}{every}"


def _cheaper(found: Target) -> str:
    """Return how much cheaper the query could run and still keep the target."""
    cheaper = []
    if found.longest_interval_ms:
        cheaper.append(f"an interval of {text.ms(found.longest_interval_ms)} keeps it, too")
    if found.idle_slots:
        cheaper.append(f"{100 * found.idle_slots:.0f} % of the task slots stay idle")
    return f"; {'; '.join(cheaper)}" if cheaper else ""


def _left(found: Target) -> list[str]:
    """Return what stands in the way of a target that is not reached, or likely not, and what would help."""
    if found.left_ms is None:
        return []
    parts = ", ".join(f"{_WAIT if name == 'wait' else text.phase(name)} {text.ms(ms)}"
                      for name, ms in found.in_the_way.items())  # fmt: skip
    would = []
    if found.holds_at_rows:
        would.append(f"it is reached at about {text.count(found.holds_at_rows)} rows/s")
    if found.waves:
        rounds = text.count(found.waves)
        would.append(
            f"the largest stage needs {rounds} rounds of tasks: more slots help if cores are free or tasks wait"
        )
    likely = "likely " if found.verdict == "may be reached" else ""
    return ["; ".join([f"{likely}{text.ms(found.left_ms)} too long", f"left of the median wait: {parts}", *would])]


def capacity(query: QueryEntry) -> str:
    """Return `about 5,200 rows/s (4,600 to 5,900) at this interval; 1,000 come. ...`; empty where nothing is known."""
    found = query.screen.capacity
    if found is None or found.missing or found.low is None:
        return f"not known: {found.missing}" if found and found.missing else ""
    at = " at this interval" if query.value("trigger") == "processing_time" else ""
    at = ", in batches longer than the interval" if found.outlasts else at
    held = f"at least {text.count(found.low)} rows/s"
    if found.value is not None and found.high is not None:
        held = f"about {text.count(found.value)} rows/s ({text.count(found.low)} to {text.count(found.high)})"
    return f"{held}{at}; {text.count(found.coming)} come. {_at_load(found)}{_drained(found)}"


def _at_load(found: Capacity) -> str:
    """Return what becomes of another load that was asked for; empty where none was."""
    if found.asked is None or found.low is None:
        return ""
    most = found.high if found.value is not None else None
    is_held = found.asked <= found.low
    holds = ("starts late, but piles up no rows" if found.outlasts else "holds") if is_held else "may hold"
    holds = "falls behind" if most and found.asked > most else holds
    batch = f", a batch then takes {text.ms(found.asked_batch_ms)}" if found.asked_batch_ms and is_held else ""
    return f"At {found.load_factor:g} times the load ({text.count(found.asked)} rows/s) it {holds}{batch}. "


def _drained(found: Capacity) -> str:
    """Return how long the work after an outage takes."""
    outage = text.ms((found.outage_minutes or 0) * 60_000)
    outage += f" at {found.load_factor:g} times the load" if found.asked else ""
    if found.drain_ms is None:
        return f"What waits after an outage of {outage} is not surely worked off."
    if found.drain_ms.value is None:
        return f"An outage of {outage} is worked off in at most {text.ms(found.drain_ms.high)}."
    took = f"{text.ms(found.drain_ms.value)} ({text.ms(found.drain_ms.low)} to {text.ms(found.drain_ms.high)})"
    return f"An outage of {outage} is worked off in {took}."


def within_add_batch(query: QueryEntry, width: int | None = None) -> str:
    """Return `of addBatch: state commit 36 %, ...`, or its parts where jobs were seen; empty where nothing is known."""
    if query.inside:
        return sentence(query.inside, width)
    said = []
    for part in query.screen.within_add_batch:
        at_most = "" if part.share_at_most is None else f" to {100 * part.share_at_most:.0f}"
        said.append(f"{loss_name(part)} {100 * part.share:.0f}{at_most} %")
    return f"of addBatch: {', '.join(said)}" if said else ""


def slowest(query: QueryEntry) -> str:
    """Return `batch 10: Delta: Compute snapshot 19.8 s in 154 tasks`, of slow or of much slower batches."""
    loss, typical = query.screen.loss, query.metric("trigger_execution_ms").typical
    if loss is None or typical is None or not query.worst or not query.worst[0].inside:
        return ""
    longest = query.worst[0]
    if loss.kind != "batches" and longest.trigger_execution_ms < _MUCH_SLOWER * typical:
        return ""
    number = "" if longest.batch_id is None else f"batch {longest.batch_id}, "
    return f"{number}{text.ms(longest.trigger_execution_ms)}: {slow(longest.inside)}"


def based_on(chosen: Selection) -> str:
    """Return `49 batches, 31 s (short: confirm on 10 min)`."""
    query, span = chosen.query, chosen.query.screen.span_ms
    found = query.window.batches
    if not found:
        return f"no steady batch, of {text.plural(query.batches, 'batch', 'batches')}" if query.batches else "no batch"
    said = text.plural(found, "batch", "batches") + (f", {text.ms(span)}" if span else "")
    short = span is None or span < SHORT_SPAN_MS
    said += " (it may be an outlier)" if found == 1 else " (short: confirm on 10 min)" if short else ""
    if 2 * found < query.batches:  # mostly what is left out
        said += "".join(query.window.because.partition("; ")[1:])
    return said + (f"; {text.plural(chosen.earlier, 'earlier run')} of this query" if chosen.earlier else "")


# The step


def effort(step: Advice, *, counted: bool = True) -> str:
    """Return `1 line, restart`, or `4 stages`: how much there is to change (if `counted`), and what that takes."""
    if step.stages:
        return text.plural(len(step.stages), "stage")
    lines = sum(len(paste.lines) for paste in pastes(step.change)) if counted else 0
    return (f"{text.plural(lines, 'line')}, " if lines else "") + TAKES_IN_WORDS[step.takes]


def gain(query: QueryEntry, step: Advice) -> str:
    """Return what the step promises, in one line; of the best step that ends spikes also the p99 after it."""
    after, p99 = query.screen.after, query.metric("record_latency_ms").p99
    if after is not None and after.without_spikes and p99 is not None:
        often = f"{found}; " if (found := gain_in_short(step)) else ""
        at_best = after.at_best or after.p99_high is None
        then = f"at best {text.ms(after.p99)}" if at_best else f"{text.ms(after.p99)} to {text.ms(after.p99_high)}"
        return f"{often}p99 of the record latency {text.ms(p99)} → {then}"
    said = _promised(step.saves_latency_ms, SOONER, step) or _promised(step.saves_ms, _SHORTER, step)
    if step.saves_of == "backlog_wait_ms" and (drain := query.metric("drain_ms")).low is not None:
        low, high = text.ms(drain.low), text.ms(drain.high)
        gone = high if low == high else f"{low} or longer" if drain.high is None else f"{low} to {high}"
        at_end = f"what waits at the end is worked off in {gone}, if a batch takes up to half as long again"
        return f"{at_end}; then {gain_in_short(step)}"
    return (said or "not known before it is tried") + _waits_for_two(query, step)


def gain_in_short(step: Advice) -> str:
    """Return what the step saves, without its interval; empty where it promises nothing."""
    promise = felt(step)
    if promise is None or promise.high < 1:
        return ""
    of = SOONER if step.saves_latency_ms else _SHORTER + " on average" * step.ends_slow_batches
    return in_short(promise, of) + (f", {text.only_bounded(step)}" if promise.expected is None else "")


def saved_share(query: QueryEntry, step: Advice) -> float | None:
    """Return which part of a typical batch the step is expected to save; None where that is not known."""
    whole = query.metric("trigger_execution_ms").typical
    return min(1.0, step.saves_ms.likely / whole) if step.saves_ms and step.saves_ms.expected and whole else None


def _promised(promise: Promise | None, of: str, step: Advice | None = None) -> str:
    """Return what a record or a batch gains, by a step or by several; empty below a millisecond."""
    if promise is None or promise.high < 1:
        return ""
    within = f"{text.ms(promise.low)} to {text.ms(promise.high)}"
    if promise.expected is None:
        within = text.only_bounded(step) if step else "not measured yet"
    return f"{in_short(promise, of)} ({within})"


def _waits_for_two(query: QueryEntry, step: Advice) -> str:
    """Return why a record gains more than all that a batch may lose; empty where it does not."""
    record, batch = step.saves_latency_ms, step.saves_ms
    if record is None or batch is None or record.told <= _MORE * batch.high:
        return ""
    if _drains(step):
        unsure = ", if the trigger has no interval" * (query.value("trigger") is None)
        return f"; what waits in the source is worked off sooner, too{unsure}"
    if query.screen.backlog_untold:
        return "; more where rows wait in the source"
    kind = query.facts["trigger"]
    guessed = kind.value is None or (kind.origin == "inferred" and kind.value != "unspecified")
    unsure = ", if the trigger has no interval" * guessed
    return f"; a record waits for two batches{unsure}" if _outlasts(query, batch.told) else ""


def _drains(step: Advice) -> bool:
    """Return whether the gain of a record counts what waits in the source: more than two shorter batches."""
    return bool(step.saves_latency_ms and step.saves_ms and step.saves_latency_ms.told > 2 * step.saves_ms.high)


def _outlasts(query: QueryEntry, saved: float) -> bool:
    """Return whether a batch that is shorter by so many ms is not known to keep the trigger's interval."""
    interval = query.value("trigger_interval_ms") if query.facts["trigger"].origin != "inferred" else None
    return not interval or (query.metric("trigger_execution_ms").typical or 0.0) - saved > interval


def why(query: QueryEntry) -> str:
    """Return what the best step's rule found, where no promise and no line above says so; else empty."""
    best = query.best_step
    found = next((one for one in query.findings if best and one.rule == best.rule), None)
    if best is None or found is None or best.advice.saves_ms or best.advice.saves_latency_ms:
        return ""
    loss = query.screen.loss
    told = {loss.rule, *(one.explained_by for one in query.findings if one.rule == loss.rule)} if loss else set()
    said = " ".join([query.verdict, *query.screen.troubles])
    return "" if found.rule in told or found.says in said else found.says


def beside_the_loss(query: QueryEntry) -> str:
    """Return that the best step leaves the loss as it is; else empty."""
    loss = query.screen.loss
    if loss is None or not query.screen.loss_stays:
        return ""
    if loss.kind == "pace":
        saves = query.best_step and query.best_step.advice.saves_ms
        may = " may" * bool(saves and not _outlasts(query, saves.high))
        return f"The batches{may} still take longer than the trigger interval."
    if query.best_step and _drains(query.best_step.advice):
        return ""  # what waits ends sooner
    return f"This does not shorten {'the logs' if loss.kind == 'logs' else loss_name(loss)}."


def stages(step: Advice) -> str:
    """Return how many stages the step has, and how it begins."""
    first = step.stages[0].do
    begins = f" First {first}." if first else ""
    return f"In {text.plural(len(step.stages), 'stage')}, their code with --all.{begins}"


def once_known(facts: Sequence[str]) -> str:
    """Return how to give the facts that a step waits for."""
    if len(facts) > 1:
        return f"Not known: {', '.join(facts[:-1])} and {facts[-1]}; give each with --set NAME=..."
    (fact,) = facts
    known = FACTS[fact]
    if known.kind == "bool":
        return f"It is not known whether {known.meaning}: --set {fact}=true|false"
    return f"Not known: {known.meaning}; --set {fact}=..."


# Other steps, and what to ask


def also(query: QueryEntry, step: Advice) -> str:
    """Return another step that helps: what to do, how much it saves, what it takes."""
    return f"{step.do}: {gain_in_short(step)}{_waits_for_two(query, step)} ({effort(step)}){_if_allowed(step)}"


def _if_allowed(step: Advice | PlannedStep) -> str:
    return f", if {step.unknown[0]} allows it" if step.legal == "if" and step.unknown else ""


def together(query: QueryEntry) -> str:
    """Return what the steps save that can be taken beside each other; empty where fewer than two can."""
    if query.together is None:
        return ""
    does = {step.id: step.do for finding in query.findings for step in finding.steps}
    steps = "; ".join(does[named.step] for named in query.together.steps)
    return f"{_promised(query.together.saves_ms, _SHORTER)}: {steps}"


def question(asked: Question) -> str:
    """Return the question that would settle most, how to answer it, and how much hangs on it."""
    counts = [(asked.rules, "rule"), (asked.steps, "step")]
    decides = " and ".join(text.plural(len(names), words) for names, words in counts if names)
    if asked.fact == "trigger":
        give = "Which trigger is set? --set trigger_interval_ms=N, or trigger=unspecified if you call no .trigger()"
    else:
        give = f"{asked.asks} --set {asked.give}"
    return f"{give} (decides {decides})"


def no_step(query: QueryEntry) -> str:
    """Return what to do where no step is the best."""
    if not query.window.batches and not any(finding.steps for finding in query.findings):
        died = query.terminated and query.terminated.error
        after = " after the first" if query.batches else ""
        return _OF_ITS_OWN if died else f"Nothing yet: it takes batches{after} that read rows. {_MORE_BATCHES}."
    calm = query.screen.calm
    known = f"{NOTHING_FOUND}{f' {MAY_BE_LATE}' * query.screen.may_be_late}"
    if calm and not calm.partial:
        known = f"Nothing needs a change{'' if calm.closest else ' so far'}."
    elif other := _to_be_looked_at(query):
        return other
    elif query.screen.not_judged_yet and not query.suppressed:
        known = f"Not judged yet: {query.screen.not_judged_yet}."
    elif query.findings or (query.terminated and query.terminated.error):
        known = f"No rule knows a change{' that Spark accepts here' if query.findings else ''} that would help."
    return f"{known} {looked_at(query)}".rstrip()


def _to_be_looked_at(query: QueryEntry) -> str | None:
    """Return what may help a query without a best step: a new checkpoint, an answer, a look; None where nothing may."""
    if taken := _with_a_new_checkpoint(query) or _with_a_new_checkpoint(query, rash=True):
        step, few = taken[0], not _with_a_new_checkpoint(query)
        gained, lost = gain_in_short(step), "its place in the source" if step.stateless else "the state"
        if not few and (promise := felt(step)) and promise.expected is not None:
            says = f"Nothing that is worth {lost}, which a new checkpoint loses. --all has: {step.do}"
            return f"{says}; {gain(query, step)}."
        needs = "That" if "new checkpoint" in step.do else "This may help, but it needs a new checkpoint, which"
        rash = f" {_MORE_BATCHES}: these are too few to lose a state for." * few
        return f"{step.do}{f': {gained}' if gained else ''}. {needs} loses {lost}: see --all.{rash}"
    kinds = {fact for finding in query.findings for step in finding.steps for fact in step.untold_kinds}
    if query.screen.unsure and query.screen.unsure.fact in kinds:
        return "Answer the question below first: which step helps depends on it."
    return _OPEN_IT if query.screen.unopened and not query.screen.calm else None


def _with_a_new_checkpoint(query: QueryEntry, rash: bool = False) -> list[Advice]:
    """Return, of a query without a best step, the steps that Spark may take all the same, or those that are rash."""
    findings = of_loss_first(query.screen.loss, query.findings)
    steps = [step for one in findings for step in one.steps if step.legal != "no" and one.is_rash(step) == rash]
    return [step for step in steps if step.takes == "new_checkpoint" and not step.untold_kinds]


def looked_at(query: QueryEntry) -> str:
    """Return how many rules were looked at, and what came of them."""
    counts = [
        (len(query.findings), "found something", "found something"),
        (len(query.passed), "passed", "passed"),
        (len(query.not_applicable), "does not apply", "do not apply"),
        (len(query.skipped), "could not be judged", "could not be judged"),
        (len(query.suppressed), "is silenced", "are silenced"),
    ]
    said = ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in counts if number)
    return f"Looked at: {text.plural(sum(number for number, *_ in counts), 'rule')} ({said})." if said else ""
