"""What the operators of a stage do, by the plans of SQL executions and the sums that the stage's tasks report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import field

from advisor.metrics.flow import folder
from advisor.redaction import redact
from advisor.stages import CALLS_SHOWN, Attempt

_ENDS = ("Exchange", "QueryStage", "Subquery", "InMemoryTableScan")
"""In the names of operators below which another stage computes."""
_HIDDEN = ("Exchange", "QueryStage", "WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ShuffleRead", "ToRow")
"""In the names of operators that only hand rows on."""
_ROWS, _FETCHED = "number of output rows", "records read"
_OF_CHOSEN_FILES = "TahoeBatchFileIndex"
"""The place of a scan of files that a command of Delta chose before, by its condition."""
_FILES, _PARTITIONS = "number of files read", "number of partitions read"
ROWS = "Scan ExistingRDD"
"""The operator that reads rows which code made of another frame: in foreachBatch those of the batch, perhaps."""
_MOST = 50_000
"""So many sums of the latest plans are held."""
_LONGEST, _NAME, _NAMES = 1000, 60, 12
"""Letters of an operator's name that are read, and that are shown; names that are shown."""
_TEXT, _LONG = 50_000, 10_000
"""Letters of an operator's expressions that are read, and beyond which they are long: a map of literals, say."""
_CALL = re.compile(
    r"(?<!\w)(?P<name>[A-Za-z_]\w{0,80}?)(?:Evaluator)?"
    r"(?=\((?:(?:StructField\(|Map\(\),StructType\()([^#]{1,4000})|(?:[^#()]{0,200}\(){0,20}([^#()]{1,200}))#\d)"
)
"""A call of Spark's in which a column comes, before anything closes: a word in a literal has none behind it."""
_PYTHON_CALL = re.compile(r"(?<!\w)(?P<name>[\w<>]{1,80})\((?=([^#()]{1,200})()#\d)")
_APART = re.compile(r"[(,\s=\[\]]")
_PYTHON = re.compile("EvalPython|Pandas|InArrow|PythonUDTF")
_BRACKET = re.compile(r"\\.|[()]")
_LAMBDA = re.compile(r"lambdafunction\(|\\.|[()]")
_MORE = re.compile(r"\.\.\. (\d{1,9}) more fields")
_PREFIX = re.compile("^(?:partial|merge|finalmerge)_")
_CHEAP = re.compile(
    "abs|avg|ceil|coalesce|concat|count|cume_dist|dense_rank|element_at|first|floor|greatest|hash|if|ifnull|in|lag|last"
    "|lead|least|length|lower|map|max|min|monotonically_increasing_id|nanvl|not|nullif|nvl|pmod|rank|round|row_number"
    "|sign|size|stddev|struct|named_struct|structtype|substring|sum|trim|upper|variance|xxhash64|(?:try_)?cast|array"
    "|year|month|day|hour|minute|second|date_trunc|trunc|window|windowspecdefinition|precisetimestampconversion"
    "|startswith|endswith|contains|is(?:not)?null|isnan|known.*|normalizenan.*|promote_precision|.*decimal.*|when"
    "|checkoverflow|unscaledvalue|.*partitioning|invoke|static_invoke|evaluate|lambdafunction|functions|keys|bigint|.*Aggregate",
    re.IGNORECASE,
)
"""Functions that cost little more than the column itself."""


class _Sum(msgspec.Struct):
    name: str = ""
    id: int = field(name="accumulatorId", default=-1)


class Operator(msgspec.Struct):
    """An operator of a physical plan, above those that give it rows."""

    name: str = field(name="nodeName", default="")
    text: str = field(name="simpleString", default="")
    children: list[Operator] = []
    sums: list[_Sum] = field(name="metrics", default_factory=list)
    metadata: dict[str, str] = {}


class Execution(msgspec.Struct):
    """The start of an execution, its end, or a changed plan of it; `root`: within which it runs, or its own number."""

    id: int = field(name="executionId", default=-1)
    root: int | None = field(name="rootExecutionId", default=None)
    time: int = 0
    description: str | None = None
    plan: Operator | None = field(name="sparkPlanInfo", default=None)
    text: msgspec.Raw = field(name="physicalPlanDescription", default=msgspec.Raw())


class _Part(NamedTuple):
    """An operator: what it calls, the sum of the rows it gives, -1 if it counts none, and the sums of those it gets."""

    name: str
    calls: str
    gives: int
    gets: list[int]


class _Piece:
    """The operators of a plan that one stage computes, those first that give rows to the others."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.paths: set[str] = set()
        self.before: dict[int, float] = {}
        """What their sums were when such a stage ended last: they go on where two jobs compute the same."""


class Plans:
    """The plans of the latest executions, cut where stages meet."""

    def __init__(self) -> None:
        self._pieces: dict[int, _Piece] = {}
        """By their sums."""
        self.scans: dict[int, str] = {}
        """Where scans read, and whether all partitions, by the sums in which the driver tells their files."""
        self.relations: list[str] = []
        """What the latest plan reads of databases by JDBC; not what is read from a cache of it."""
        self.cached = 0
        """How often the latest plan reads a cache."""

    def take(self, execution: Execution) -> None:
        """Take the plan of an execution that begins, or that adaptive execution changed."""
        self.relations, self.cached = [], 0
        if execution.plan:
            self._cut(execution.plan, _Piece())
        if len(self._pieces) > _MOST:
            self._pieces = dict(islice(self._pieces.items(), _MOST // 2, None))
            self.scans = {id: place for id, place in self.scans.items() if id in self._pieces}

    def _cut(self, operator: Operator, piece: _Piece) -> list[int]:
        """Add an operator and those below it to the pieces of their stages; return the sums of the rows it gives."""
        ids, name = {each.name: each.id for each in reversed(operator.sums)}, operator.name
        piece.paths |= {ROWS} & {name}
        if place := operator.metadata.get("Location"):
            chosen = place.startswith(_OF_CHOSEN_FILES)
            unpruned = _PARTITIONS in ids and operator.metadata.get("PartitionFilters") == "[]" and not chosen
            self.scans[ids.get(_FILES, -1)] = place + ", all partitions" * unpruned
            piece.paths.add(folder(place.partition("[")[2].split(",")[0].rstrip("]")))
        ends, known, cached = any(word in name for word in _ENDS), len(self.relations), self.cached
        below = _Piece() if ends else piece
        gets = [id for child in operator.children for id in self._cut(child, below)]
        if "InMemoryTableScan" in name:
            del self.relations[known:]
            self.cached = cached + 1
        elif "JDBCRelation" in name:
            self.relations.append(name)
        gives = ids.get(_FETCHED if ends and "Exchange" in name else _ROWS, -1)
        if not any(word in name for word in _HIDDEN):
            calls = _calling(name, operator.text[:_TEXT])
            piece.parts.append(_Part(redact(name[:_LONGEST].strip())[:_NAME], calls, gives, gets))
        if not ends:
            self._pieces.update(dict.fromkeys(ids.values(), piece))
        return gets if gives < 0 else [gives]

    def tell(self, attempt: Attempt, sums: Mapping[int, float]) -> None:
        """Note in a stage what runs in it; in foreachBatch one execution reads the rows of another in its stage."""
        found = list(dict.fromkeys(self._pieces[id] for id in sorted(sums) if id in self._pieces))
        before = {id: number for piece in found for id, number in piece.before.items()}
        added = {id: number - before.get(id, 0.0) for id, number in sums.items()}
        parts, most = [part for piece in found for part in piece.parts], 1.0
        for part in parts:
            made, given = added.get(part.gives, 0.0), sum(added.get(id, 0.0) for id in part.gets)
            if given > 0 and made / given > most:
                most, attempt.multiplied_by = made / given, part.name
                attempt.numbers.update({"made_rows": made, "given_rows": given})
        attempt.operators = ", ".join(list(dict.fromkeys(_shown(part, added) for part in parts))[:_NAMES]) or None
        for piece in found:
            piece.before.update(sums)
            attempt.paths |= frozenset(piece.paths)


def _shown(part: _Part, sums: Mapping[int, float]) -> str:
    """Return an operator with what it calls and the rows that it gives, where Spark counts them."""
    rows = sums.get(part.gives)
    return part.name + part.calls + (f" ({rows:,.0f} row{'s' * (rows != 1)})" if rows else "")


@lru_cache(maxsize=64)
def _calling(operator: str, text: str) -> str:
    """Return which functions an operator calls, as far as its plan prints it; calls that are alike count once.

    What stands in a lambda is called for each element of an array.
    """
    if "Scan" in operator:
        return ""
    call = _PYTHON_CALL if _PYTHON.search(operator) else _CALL
    calls = {
        (_named(each["name"]), _APART.split(each[2] or each[3])[-1], _arguments(text, each.end("name")))
        for each in call.finditer(text)
    }
    times = Counter(name for name, *_ in calls if not _CHEAP.fullmatch(name))
    most = sorted(times, key=lambda name: (-times[name], name))[:CALLS_SHOWN]
    in_lambda = _in_lambdas(text)
    in_each = {_named(each["name"]) for each in call.finditer(text) if in_lambda[each.start()]}
    once = "for each group" if "Groups" in operator else "once"
    columns = {name: [*{column for called, column, _ in calls if called == name}] for name in most}
    said = [
        f"{name} on each element of an array"
        if name in in_each
        else f"{name} {f'{times[name]} times' if times[name] > 1 else once}"
        + (f" on {columns[name][0]}" if len(columns[name]) == 1 else "")
        for name in most
    ]
    cut = sum(map(int, _MORE.findall(text)))
    found = f" calling {redact(' and '.join(said))}" if said else ""
    found += " with more than 10,000 characters of expressions" if len(text) > _LONG else ""
    return found + (f" ({cut} field{'s' * (cut > 1)} more than the plan prints)" if cut else "")


def _in_lambdas(text: str) -> bytearray:
    """Return for each letter of a plan's expressions whether it stands in a lambda."""
    inside, depth, begun = bytearray(len(text)), 0, (0, 0)
    for at in _LAMBDA.finditer(text):
        depth += 0 if at[0].startswith("\\") else -1 if at[0] == ")" else 1
        if at[0].startswith("lambda") and not begun[0]:
            begun = depth, at.end()
        elif begun[0] > depth:
            inside[begun[1] : at.start()] = b"\1" * (at.start() - begun[1])
            begun = 0, 0
    return inside


def _named(name: str) -> str:
    """Return a function's name as one writes it."""
    return _PREFIX.sub("", name).replace("StructsToJson", "to_json")


def _arguments(text: str, at: int) -> str:
    """Return what stands in the parentheses that open at a place."""
    depth = 0
    for found in _BRACKET.finditer(text, at, at + _LONGEST):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return text[at : found.start()]
    return text[at : at + _LONGEST]
