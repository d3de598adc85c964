"""The catalogue: the rules and steps of all directories, checked as a whole, or the project's own for judging.

To check every file at each start would take longer than to judge a log: `rules check` does.
"""

from __future__ import annotations

import atexit
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple
from zipfile import ZipFile

from yaml import YAMLError

from advisor.catalogue.check import Problem, Written, check, read, steps_of
from advisor.catalogue.plain import read_plain, read_trusted
from advisor.catalogue.rule import Phases, Rule, RuleWithoutExamples, WrittenRule
from advisor.catalogue.step import Borrowed, SharedStep, Step, StepBody, WrittenStep
from advisor.errors import CatalogueError

PHASES = "phases.yaml"
"""The file of the project's own rules that holds what is said of a phase where no rule names a cause."""
ERRORS = "errors.yaml"
"""The file beside it that holds the well-known errors of Spark."""
CHECKPOINT = "checkpoint.yaml"
"""The file of what is answered about a checkpoint."""
TRACES = "traces.yaml"
"""The file of what messages in logs show that a batch does."""
_NO_RULES: Final = (PHASES, ERRORS, CHECKPOINT, TRACES, "clues.yaml", "ranking.yaml", "silence.yaml")
"""The files beside the project's own rules that hold none."""
RUNS = "runs.json"
"""The file of what came of steps on real Sparks, which `python -m tests.legality` writes."""
_EXAMPLES: Final = "\nexamples:"
"""The examples stand last in each file, and are half of its text."""
_MOST_FILES: Final = 2_000
"""Of one folder of rules; a whole machine has more."""


class Clue(NamedTuple):
    """What is said of a text in which a pattern is seen, and what to give instead of it."""

    seen: re.Pattern[bytes]
    says: str
    give: str | None = None


@cache
def _beside(file: str) -> Any:
    return read_plain(rules_directory() / file)[0]


@cache
def clues(kind: str = "clues") -> tuple[Clue, ...]:
    """Return the clues of the project, the likeliest first; `alone`: of a text that holds nothing else."""
    found = _beside("clues.yaml")[kind]
    return tuple(Clue(re.compile(each["seen"].encode()), each["says"], each.get("give")) for each in found)


def clue_alone(text: bytes) -> tuple[str | None, str | None]:
    """Return (what a text without progress seems to be, what to give instead); None where nothing tells."""
    for clue in clues("alone"):
        if found := clue.seen.search(text):
            name = found.groupdict().get("name")
            return clue.says.format(name=f" ({name.decode('utf-8', 'replace')})" if name else ""), clue.give
    return None, None


def runs_of(step: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what came of a step on each Spark that it was run on: how many queries by outcome, and the date."""
    return _runs().get(step, {})


@cache
def _runs() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    found: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads((rules_directory() / RUNS).read_text("utf-8"))
    return found


def late_batches() -> Mapping[str, str]:
    """Return the sentences about lines that say that batches fall behind."""
    late: Mapping[str, str] = _beside("clues.yaml")["late"]
    return late


def ranking() -> Mapping[str, float]:
    """Return the numbers by which the report ranks what rules find, and says what follows from it."""
    numbers: Mapping[str, float] = _beside("ranking.yaml")
    return numbers


def silence() -> Mapping[str, Any]:
    """Return when a query of which no batch ends gets a word, and what the frames of its thread say."""
    limits: Mapping[str, Any] = _beside("silence.yaml")
    return limits


def doing_of(thread: str) -> Mapping[str, Any] | None:
    """Return what the frames of a query's thread, or its status, show: the first entry that is seen there."""
    return next((each for each in silence()["doing"] if re.search(each["seen"], thread)), None)


def waits(thread: str) -> bool:
    """Whether these frames, or this status, are those of a query that waits for data or for its next trigger."""
    found = doing_of(thread)
    return bool(found and found.get("idle"))


@cache
def phases() -> Phases:
    """Return the names of a batch's phases, and what is said of them where no rule names a cause."""
    return Phases.model_validate(_beside(PHASES))


@dataclass(frozen=True)
class Catalogue:
    """The rules by id, and every step by id (shared ones and those of a rule). `memo`: what the engine remembers."""

    rules: dict[str, Rule]
    steps: dict[str, Step]
    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    phases: Phases = field(default_factory=phases, compare=False, repr=False)

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """The facts that the rules ask, those by which a version is known, and what else a fact can be, too."""
        names = {"platform", "spark_version"}  # to these lines may be limited
        for rule in self.rules.values():
            names.update(line.fact for line in (*rule.unless, *rule.requires) if line.fact)
            names.update((rule.seen.fact,) if rule.seen else ())
        return tuple(sorted(f"{name}{kin}" for name in names for kin in ("", "_at_least", "_below", "_one_of")))

    @cached_property
    def most_batches(self) -> int:
        """The most batches that a rule needs."""
        return max((rule.batches for rule in self.rules.values()), default=0)


def rules_directory() -> Path:
    """Where the project's own rules lie: in an installed package or a wheel that Python imports from, else in the
    repository.
    """
    package = Path(__file__).parents[1]
    if package.parent.is_file():
        return _unpacked(package.parent) / "advisor" / "_rules"
    installed = package / "_rules"
    return installed if installed.is_dir() else package.parent / "rules"


@cache
def _unpacked(wheel: Path) -> Path:
    """A directory with the rules of a wheel, which is there until this process ends."""
    folder = mkdtemp(prefix="latency-advisor-")
    atexit.register(rmtree, folder, ignore_errors=True)
    with ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith("advisor/_rules/")])
    return Path(folder)


def load(dirs: Sequence[Path | str] | None = None) -> Catalogue:
    """The project's rules and those of further directories; CatalogueError with all that is wrong, one line each."""
    written, problems = _read_all([rules_directory(), *(Path(each) for each in dirs or ())])
    problems = problems + check(written)
    if problems:
        raise CatalogueError("", "\n".join(str(problem) for problem in problems))
    return resolve(written)


def _read_all(dirs: Iterable[Path]) -> tuple[list[Written], list[Problem]]:
    written: list[Written] = []
    problems: list[Problem] = []
    each_once: dict[Path, Path] = {}
    for directory in dirs:  # the project's own rules may be named, too
        each_once.setdefault(directory.resolve(), directory)
    for directory in each_once.values():
        if not os.path.isdir(directory):  # noqa: PTH112 - false for a name that is too long, where Path raises
            problems.append(Problem(str(directory), "", "no such directory"))
            continue
        paths = sorted(islice(directory.rglob("*.y*ml"), _MOST_FILES + 1))
        if not 0 < len(paths) <= _MOST_FILES:
            many = f"contains more than {_MOST_FILES:,} YAML files: name the folder of the rules" if paths else ""
            problems.append(Problem(str(directory), "", many or "contains no rules; a rule is a *.yaml file"))
            continue
        for path in paths:
            if path.name in _NO_RULES and path.parent == rules_directory():
                continue
            if path.exists() and not path.is_file():  # to open a pipe is to wait for its writer
                problems.append(Problem(str(path), "", "is not a file"))
                continue
            found = read(path, (Path(directory.resolve().name) / path.relative_to(directory)).as_posix())
            if isinstance(found, Written):
                written.append(found)
            else:
                problems.extend(found)
    return written, problems


def resolve(written: Iterable[Written]) -> Catalogue:
    """Return the catalogue of these files, every borrowed step in its place."""
    homes: dict[str, tuple[WrittenStep, str]] = {}
    written = list(written)
    for each in written:
        for _, step in steps_of(each.content):
            homes[step.id] = (step, each.content.id if isinstance(each.content, WrittenRule) else "steps")
    steps = {id_: _step(*homes[id_], homes) for id_ in sorted(homes)}
    rules = (_rule(each.content, each.file, steps) for each in written if isinstance(each.content, WrittenRule))
    in_order = {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
    return Catalogue(in_order, steps)


def _rule(rule: WrittenRule, file: str, steps: dict[str, Step]) -> Rule:
    resolved = tuple(
        _borrowed(step, steps[step.use]) if isinstance(step, Borrowed) else steps[step.id] for step in rule.steps
    )
    return Rule.model_construct(**(dict(rule) | {"steps": resolved, "file": file}))


def _borrowed(by: Borrowed, step: Step) -> Step:
    """Return the shared step with the conditions of the rule that borrows it."""
    own = {name: (*getattr(step, name), *lines) for name in ("unless", "when", "legal") if (lines := getattr(by, name))}
    return step.model_copy(update=own) if own else step


def _step(step: WrittenStep, home: str, homes: dict[str, tuple[WrittenStep, str]], depth: int = 0) -> Step:
    undo: str | Step
    if isinstance(step.undo, str):
        undo = step.undo
    elif depth:  # the undo of an undo is the step itself again: a sentence ends the circle
        undo = f"{homes[step.undo.use][0].do}."
    else:
        undo = _step(*homes[step.undo.use], homes, depth + 1)
    own = {name: getattr(step, name) for name in StepBody.model_fields}
    return Step.model_construct(**own, undo=undo, home=home)


def rules_to_judge_by(dirs: Sequence[Path | str] | None = None) -> Catalogue:
    """Return the project's rules without their examples; with further directories, all rules, all of them checked."""
    if dirs:
        return load(dirs)
    home = rules_directory().resolve()
    paths = sorted(home.glob("*/*.y*ml"))  # what lies beside the folders are lists that the rules use
    try:
        return _shipped(home, tuple((path, path.stat().st_mtime_ns) for path in paths))
    except (AttributeError, LookupError, OSError, TypeError, ValueError, YAMLError):
        return load()  # reports what is wrong with a file of a working copy


@lru_cache(maxsize=2)
def _shipped(home: Path, files: tuple[tuple[Path, int], ...]) -> Catalogue:
    """Read these rules and steps once in a process, and again when one was written since (`files`: path and time)."""
    written = []
    for path, _ in files:
        content = read_trusted(path.read_text(encoding="utf-8").partition(_EXAMPLES)[0])
        kind = SharedStep if "step" in content else RuleWithoutExamples
        written.append(Written(path.relative_to(home.parent).as_posix(), path, kind.model_validate(content)))
    return resolve(written)
