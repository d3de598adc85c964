"""The logical plan that Spark 4 prints at a query's start, and the physical plan in event logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import msgspec

from advisor.facts import from_file_options, from_writer_options
from advisor.redaction import redact
from advisor.sources.sightings.line import Line, Told
from advisor.sources.sightings.query import checkpoint, limits, of_confs

MARK: Final = "Finish initializing with logical plan:"
_REAL_TIME_SCAN: Final = "RealTimeStreamScan"
_LOOP_JOINS: Final = ("BroadcastNestedLoopJoin", "CartesianProduct")
_SHUFFLED_JOINS: Final = ("SortMergeJoin", "ShuffledHashJoin")
_JOIN: Final = re.compile(r"^[ :|+-]*~?Join [A-Z]\w*(?P<condition>.*)")
_LOOP_CONDITION: Final = re.compile(r"\) (?:BroadcastNestedLoopJoin|CartesianProduct)\n[^\n]*\nJoin condition: (.*)")
_NUMBER_OF_COLUMN: Final = re.compile(r"#\d+L?")
_EQUALITIES: Final = (" = ", " <=> ")
_OF_TEXT: Final = re.compile(
    r"Plan ==\nScan \(1\)\s+\(1\) Scan\nOutput \[1\]: \[obj#\d+\]\nArguments: obj#\d+: java.lang.String, "
)
"""The whole plan of `spark.read.json(rdd)` and its like while they look for a schema."""
_FIRST_LINE: Final = re.compile(
    r"CollectLimit \(3\)\n\+- (?:\* )?Filter \(2\)\n   \+- Scan text  ?\(1\)\n"
    r"[^(]{0,9}\(1\)[^(]{0,2000}\(2\)[^(]{0,200}\(length\("
)
"""The whole plan of what `spark.read.csv` asks first where it gets no schema."""
_BY_NUMBER: Final = re.compile(r"\b(\d{1,7})\), REPARTITION_BY_NUM\b")
_PIVOT: Final = re.compile(r"\) LocalLimit[^\n]{0,80}\nInput \[1\]: [^\n]*\nArguments: 10001\n")
"""The end of the job in which `pivot` looks for its values: distinct ones, one more than spark.sql.pivotMaxValues."""
_BATCH_ROWS: Final = re.compile(r"\nArguments: \[[^\]\n]*\], (\w{1,40}\[\d{1,12}\]) at [^\n]*, ExistingRDD, ")
"""Where a query of foreachBatch reads the batch."""
_KEYS: Final = re.compile(r"\n(Left keys|Right keys|Keys) \[\d{1,4}\]: (\[[^\n]+)")
_SORT_OF_ALL: Final = ("rangepartitioning(",)  # Spark samples the input first, in a job of its own
_WINDOW: Final = re.compile(
    r"\bWindow \(\d+\)\n[ :+*-]*Sort \(\d+\)\n[ :+*-]*(?:ShuffleQueryStage[^\n]*\n[ :+*-]*)?Exchange (\(\d+\))\n"
)
_ONE_PARTITION: Final = re.compile(
    r"\n(\(\d+\)) Exchange\nInput [^\n]*\nArguments: SinglePartition, ENSURE_REQUIREMENTS\b"
)
"""What Spark puts below a window without partitionBy; repartition(1) stands below any window, with another reason."""
_PANE: Final = "[named_struct(start, "
_EXPANDS: Final = re.compile(r"(?:Arguments:|[ :|+-]{0,400}~?Expand) \[\[named_struct\(start, ")
_CASE: Final = " WHEN "
_MAP: Final = re.compile(r"\bkeys: \[([^\[\]\n]*)\], values: \[")
"""A map whose keys and values are constants, as Spark prints it."""
_COLUMNS: Final = re.compile(r"\n(?:Out|In)put \[(\d{1,6})\]: ")
_PARSER: Final = re.compile(
    r"\b(from_json|get_json_object|parse_url|(regexp_extract))\(([^#]{0,4000})#(\d+)L?(?: as \w+\))?"
    r"(?=((?(2).{0,1000}?, \d{1,3}(?=\))|[^)]{0,200})))"
)
"""A call, what stands in it before a column and behind it: of a regular expression up to the number of its group."""
_MORE: Final = re.compile(r"\.\.\. (\d{1,9}) more fields")
_PYTHON_CALLS: Final = re.compile(r"EvalPython\nInput [^\n]*\nArguments: \[([^\n]*)\], \[python")
_CALL_ENDS: Final = re.compile(r"\)(#\d+)(?:, (?=\w+\()|$)")
_OPEN_PATTERN: Final = re.compile(  # of rlike, beginning with .*, also in parentheses
    r", ((?:\(\?\w{1,5}\))?(?:\.\*|\(\.\*\))(?:\\.|[^()\\\n]|\((?:\\.|[^()\\\n]){0,200}\)){0,200})(?<![ -]\d)\)"
)
_KEEPS_ALL: Final = re.compile(r"\b(?:partial_)?(collect_list|collect_set|percentile)\(")
_DISTINCT_ERROR: Final = re.compile(r"approx_count_distinct\([^(),\n]{1,200}, (0\.\d{1,9}), 0, 0\)")
_PYTHON: Final = re.compile(r"(?m)^[ :+*()\d-]*\w{0,40}(?:Python|InPandas|InArrow|InPySpark)")
"""An operator, in the plan's tree, that hands rows to Python."""
_PYTHON_BATCHES: Final = re.compile(
    r"\(\d+\) (?:(?:Python)?MapIn|FlatMap(?:Co)?GroupsIn)(?:Pandas|Arrow)\n"
    r"|EvalPython\nInput [^\n]*\nArguments: [^\n]*, (?:20[04]|25[01])\n"  # a pandas_udf or arrow_udf, also of iterators
)
_HEAD: Final = re.compile(r"~?WriteToMicroBatchDataSource\w{0,40} (?P<sink>.*)", re.DOTALL)
_OPTIONS: Final = re.compile(r", (?P<id>[0-9a-f]{8}-[0-9a-f-]{27}), \[(?P<options>.*)", re.DOTALL)
_NEXT_OPTION: Final = re.compile(r", (?=[\w.\-]+=)")
_STATEFUL: Final = re.compile(
    r"(?:\w*WithState\w*|\w*InPandasWithState|Aggregate|Deduplicate\w*|Distinct|GlobalLimit)\b"
)
_TOWER: Final = re.compile(r"(?m)(?:^[ :|+*-]*~?Project\b[^\n]*\n)+")
"""Projections one above the other, in a plan's tree."""
_NO_TOWER: Final = Told("projections", 1)  # at least, and at most where no plan tells more
_NODE: Final = re.compile(r"^(?P<indent>[ :|+-]*?)(?P<streaming>~?)(?P<name>[A-Z]\w*)")
_STATE_INFO: Final = re.compile(r"state info \[ checkpoint = (\S+?), runId = ([0-9a-f-]{36}), opId = \d+")
_SAVES: Final = re.compile(r"\) StateStoreSave|\"StateStoreSave ")
_WRITES_FILES: Final = ") Execute InsertIntoHadoopFsRelationCommand\n"
"""A write of files in foreachBatch."""
_OVERWRITES: Final = re.compile(
    r"(?m)\) (?:(?:Execute )?\w+Command\n(?:Input.*\n)?Arguments: .*, Overwrite(?:,|$)|Overwrite[BP]|\w*ReplaceTable)"
)
_MODE: Final = re.compile(r", (Append|Update|Complete)(?:, |$)")
_HEADER: Final = re.compile(r"^(?:\d{2,4}[-/]\d\d[-/]\d\d|\[\d|\d\d:\d\d:\d\d|\{\"ts\")")


def read_plan(line: Line) -> list[Told]:
    """Statefulness and watermark from the printed plan; where it prints the writer's options, those too."""
    nodes, whole = _nodes(line)
    if not nodes:
        return []
    found, query = _writer(nodes[0])
    found += [_NO_TOWER] * (whole and "ForeachBatch" not in nodes[0])  # whose function makes further plans
    found += _costly("\n".join(nodes))
    found += _joins_in_a_loop(nodes)
    stateful = any(_is_stateful(nodes, index) for index in range(len(nodes)))
    if stateful or whole:
        found.append(Told("stateful", stateful))
        found.append(Told("watermarked", any("EventTimeWatermark" in node for node in nodes)))
    return [each._replace(id=query) for each in found]


def read_execution(plan: str, changed: Mapping[str, str], operators: bytes | msgspec.Raw = b"") -> list[Told]:
    """Read the physical plan of a batch, and the settings that the session changed after the application started."""
    words = len(plan.split()) + sum(map(int, _MORE.findall(plan)))
    found = [Told("plan_words", words), _NO_TOWER] if plan else []
    return [*found, *read_physical_plan(plan, operators), *limits(plan), *of_confs(changed.items())]


def read_physical_plan(text: str, operators: bytes | msgspec.Raw = b"") -> list[Told]:
    """Real-time mode, joins, sorts, what rows are multiplied by, and how Python is called; of an operator with
    state checkpoint, mode and state. `operators`: the same plan as JSON, if known.
    """
    plain = [Told("trigger", "real_time")] if _REAL_TIME_SCAN in text else []
    shapes = {"loop_join": _LOOP_JOINS, "shuffled_join": _SHUFFLED_JOINS, "sort_of_all": _SORT_OF_ALL}
    plain += [Told(fact, value=True) for fact, names in shapes.items() if any(name in text for name in names)]
    plain += _loop_conditions(_LOOP_CONDITION.findall(text))
    if not any(name in text for name in _SHUFFLED_JOINS):  # which gives a repartition(N) before it its own number
        plain += [Told("repartitioned_to", int(number)) for number in _BY_NUMBER.findall(text)]
    plain += _parsed(text)
    forms = {
        "schema_inferred": _OF_TEXT,
        "columns_looked_up": _FIRST_LINE,
        "overwrites": _OVERWRITES,
        "python_batches": _PYTHON_BATCHES,
    }
    plain += [Told(fact, value=True) for fact, form in forms.items() if form.search(text)]
    plain += [Told("pivot_looks", value=True)] if "Functions: []" in text and _PIVOT.search(text) else []
    if not set(_WINDOW.findall(text)).isdisjoint(_ONE_PARTITION.findall(text)):
        plain.append(Told("window_in_one_partition", value=True))
    plain += [Told("joins_own_groups", value=True)] if _joins_own_groups(text) else []
    plain += [*_costly(text), *([Told("grouping_sets", value=True)] if "spark_grouping_id#" in text else [])]
    parts = [_CALL_ENDS.split(calls) for calls in _PYTHON_CALLS.findall(text)]  # text, result, text, result, ""
    called = Counter(
        (call.partition("(")[0], of) for each in parts for call, of in zip(each[:-1:2], each[1::2], strict=True)
    )
    plain += [Told("python_called_again", name) for (name, _), times in called.items() if times > 1][:1]
    plain += runs_python(text) + _compression(text)
    info = _STATE_INFO.search(text)
    if info is None:
        return plain
    if info[1] == "<unknown>":  # Spark planned it once more without the query, and such a plan always says Append
        text = bytes(operators).decode(errors="replace")  # what runs
        info = _STATE_INFO.search(text)
        if info is None or info[1] == "<unknown>":
            return [Told("stateful", value=True), *plain]
    found = [Told("stateful", value=True), *checkpoint(info[1].removesuffix("/state")), *plain]
    saves = [*_SAVES.split(text, maxsplit=1), ""][1].partition("state info [")[2]  # the first operator that saves any
    mode = _MODE.search(re.split('[\n"]', saves, maxsplit=1)[0])
    return [*found, Told("output_mode", mode[1].lower())] if mode else found


def _joins_in_a_loop(nodes: list[str]) -> list[Told]:
    """Return a join of a logical plan without an equality; none if a filter, which Spark may move into it, has one."""
    if any("Filter " in node and any(sign in node for sign in _EQUALITIES) for node in nodes):
        return []
    joins = [join["condition"] for node in nodes if (join := _JOIN.match(node))]
    loops = [each for each in joins if not any(sign in each for sign in _EQUALITIES)]
    return [Told("loop_join", value=True)] * bool(loops) + _loop_conditions(each.lstrip(", ") for each in loops)


def _loop_conditions(conditions: Iterable[str]) -> list[Told]:
    """Return the first condition, without the numbers of its columns; none for a join that has no condition."""
    plain = (redact(_NUMBER_OF_COLUMN.sub("", each))[:100] for each in conditions if each.startswith("("))
    return [Told("loop_condition", each) for each in islice(plain, 1)]


def _joins_own_groups(text: str) -> bool:
    """Whether one side of a join is a batch, and the other one groups of it by the key of the join."""
    rows = _BATCH_ROWS.findall(text)
    if len(rows) == len(set(rows)):
        return False
    keys = _KEYS.findall(text)
    grouped = {key for of, key in keys if of == "Keys"}
    left, right = ({key for of, key in keys if of == side} & grouped for side in ("Left keys", "Right keys"))
    return bool(left) != bool(right)


def runs_python(plan: str) -> list[Told]:
    """Whether rows pass through Python functions, by a physical plan's tree."""
    return [Told("runs_python", value=True)] if _PYTHON.search(plan) else []


def _repeated(text: str) -> dict[str, int]:
    """The windows of a row, branches of the longest CASE WHEN, keys of the largest constant map, and the most columns.

    Spark prints 25 windows or columns at most.
    """
    lines = text.split("\n") if _PANE in text or _CASE in text else []
    expanded = [(line.count(_PANE), _MORE.findall(line)) for line in lines if _EXPANDS.match(line)]
    windows = max((shown + int((more or [0])[-1]) for shown, more in expanded), default=0)
    cases = max((line.count(_CASE) for line in lines if _PANE not in line), default=0)
    keys = max((found.count(",") + 1 for found in _MAP.findall(text)), default=0)
    columns = max(map(int, _COLUMNS.findall(text)), default=0) if " more fields" in text else 0
    return {"windows_per_row": windows, "case_branches": cases, "map_keys": keys, "plan_columns": columns}


def _parsed(text: str) -> list[Told]:
    """The function that one operator calls most often on one column, no call like the other, and how often."""
    calls: Counter[tuple[str, str]] = Counter()
    for line in text.split("\n"):
        found = {match.groups() for match in _PARSER.finditer(line)}
        calls |= Counter((name, column) for name, _, _, column, _ in found)
    ((name, _), times), *_ = calls.most_common(1) or [(("", ""), 0)]
    return [Told("column_parser", name), Told("column_parsed_times", times)] if times > 1 else []


def _costly(plan: str) -> list[Told]:
    """Return the projections one above the other, the first pattern of rlike that begins with `.*`, at most 60 letters,
    the error of distinct counts, the first aggregate that keeps all values, and what the plan repeats.
    """
    tallest = max((tower.count("\n") for tower in _TOWER.findall(plan)), default=0)
    patterns = _OPEN_PATTERN.findall(plan)[:1] if "RLIKE(" in plan else []
    errors = sorted(map(float, _DISTINCT_ERROR.findall(plan)))[:1]
    found = [Told("projections", tallest)] if tallest > 1 else []
    found += [Told("open_pattern", redact(one)[:60]) for one in patterns]
    found += [Told("keeps_all_values", name) for name in _KEEPS_ALL.findall(plan)[:1]]
    found += [Told(fact, number) for fact, number in _repeated(plan).items() if number > 1]
    return found + [Told("distinct_error", error) for error in errors]


def _nodes(line: Line) -> tuple[list[str], bool]:
    """The plan's lines from its root on, and whether its end was seen."""
    text = line.text.partition(MARK)[2]
    structured = line.logger is not None
    rest = text if structured else text + "\n" + line.after
    nodes: list[str] = []
    rows = rest.lstrip("\r\n").split("\n")
    for row in rows if structured else rows[:-1]:  # the last line of what follows may be cut
        if not row.strip() or _HEADER.match(row):
            return nodes, True
        nodes.append(row.rstrip())
    return nodes, structured


def _writer(root: str) -> tuple[list[Told], str | None]:
    """(output mode and options, id of the query) from the root of the plan, where it is printed in full."""
    head = _HEAD.search(root)
    printed = _OPTIONS.search(head["sink"]) if head else None
    if printed is None:
        return [], None
    options, closed, after = printed["options"].rpartition("]")
    named = _MODE.match(after.rstrip())
    if not closed or named is None:
        return [], None
    found = from_writer_options(_pairs(options))
    return [Told("output_mode", named[1].lower()), *(Told(*each) for each in found)], printed["id"]


def _pairs(options: str) -> dict[str, str]:
    parted = (option.partition("=") for option in _NEXT_OPTION.split(options))
    return {name: value for name, equals, value in parted if equals}


def _compression(text: str) -> list[Told]:
    """Return how a write of files compresses them, by its options."""
    arguments = text.partition(_WRITES_FILES)[2].partition("\nArguments: ")[2].partition("\n")[0]
    options = arguments.partition("], Append, ")[0].rpartition(", [")[2]
    return [Told(*each) for each in from_file_options(_pairs(options))]


def _is_stateful(nodes: list[str], index: int) -> bool:
    """Whether a node of the plan keeps state: only streaming ones (`~`) do, and joins of two streams."""
    node = _NODE.match(nodes[index])
    if node is None or not node["streaming"]:
        return False
    if node["name"].endswith("Join"):
        below = _children(nodes[index + 1 :], len(node["indent"]))
        return sum(1 for child in below if child["streaming"]) > 1
    return _STATEFUL.match(node["name"]) is not None


def _children(rows: list[str], depth: int) -> Iterator[re.Match[str]]:
    """The nodes right below: the next ones that are three columns further in, until one stands no further in."""
    for row in rows:
        node = _NODE.match(row)
        if node is None:
            continue
        if len(node["indent"]) <= depth:
            return
        if len(node["indent"]) == depth + 3:
            yield node
