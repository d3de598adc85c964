"""What to do where no step is the best."""

from __future__ import annotations

from advisor.contract import Advice, QueryEntry
from advisor.views import text

_OPEN_IT = (
    "Find out what addBatch spends its time on before changing anything: progress alone does not tell. The event log, "
    "or the driver log at INFO, opens it here (docs/stages.md); Spark's UI shows the stages of a batch's SQL query."
)
_OF_ITS_OWN = "No rule knows this error: mend what it names. A batch that did not end runs again after a restart."
_NO_NUMBER = ": this may help, but it needs a new checkpoint, and its gain is not known. See --all."


def no_step(query: QueryEntry) -> str:
    """That no step is known, and what was looked at."""
    if not query.window.batches and not any(finding.steps for finding in query.findings):
        return _OF_ITS_OWN if query.terminated and query.terminated.error else "There is nothing to judge yet."
    if taken := with_a_new_checkpoint(query):
        return _only_with_a_new_checkpoint(query, taken[0])
    if _waits_for_an_answer(query):
        return "Answer the question below first: which step helps depends on it."
    if query.screen.unopened and not query.screen.calm:
        return _OPEN_IT
    accepted = " that Spark accepts here" if query.findings else ""
    known = f"No rule knows a change{accepted} that would help."
    calm = "This log shows nothing that needs a change."
    return f"{calm if query.screen.calm else known} {_looked_at(query)}".rstrip()


def _only_with_a_new_checkpoint(query: QueryEntry, step: Advice) -> str:
    grave = query.screen.loss is not None and query.screen.loss.kind in ("rows", "results", "state")
    return step.do + (". It needs a new checkpoint: see --all." if grave else _NO_NUMBER)


def with_a_new_checkpoint(query: QueryEntry) -> list[Advice]:
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
