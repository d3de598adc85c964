"""Record real Spark runs: start the Spark of a case, let it write its logs, keep them without this machine's names."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import readme
import servers
from cases import CASES, Case
from sparks import CACHE, Lab

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent.parent / "sample_progress"


def main() -> None:
    """Record the chosen cases, or list them."""
    arguments = parser().parse_args()
    chosen = [case for case in CASES if arguments.all or case.name in arguments.case or case.folder in arguments.rule]
    unknown = set(arguments.case) - {case.name for case in CASES}
    if unknown:
        sys.exit(f"no case {', '.join(sorted(unknown))}; --list names them")
    if arguments.list or not chosen:
        print("\n".join(f"{case.name:34} {' '.join(case.sparks):12} {case.says}" for case in CASES))
        return
    lab = Lab(arguments.lab)
    pairs = [(case, spark) for case in chosen for spark in ([arguments.spark] if arguments.spark else case.sparks)]
    failed = [trouble for case, spark in pairs if (trouble := attempt(case, spark, lab, arguments.out))]
    readme.write(arguments.out, HERE / "notes.md")
    if failed:
        sys.exit("\n".join(["not recorded:", *failed]))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="run.py", description=__doc__)
    made.add_argument("case", nargs="*", help="names of cases, such as LG001/rate-to-noop")
    made.add_argument(
        "--rule", action="append", default=[], help="all cases of a rule (LG001), or healthy; may be repeated"
    )
    made.add_argument("--all", action="store_true", help="every case (about an hour on two cores)")
    made.add_argument("--list", action="store_true", help="name the cases and end; so does a call without any case")
    made.add_argument("--spark", help="record with this version of PySpark instead of the case's own")
    made.add_argument(
        "--lab", type=Path, default=CACHE, help="where environments, jars and runs are put (default: %(default)s)"
    )
    made.add_argument("--out", type=Path, default=SAMPLES, help="where samples are kept (default: sample_progress)")
    return made


def attempt(case: Case, spark: str, lab: Lab, out: Path) -> str:
    """Record, or say why not, so that the other cases still get their turn."""
    try:
        record(case, spark, lab, out)
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        return f"{case.name} on {spark}: {error}"
    return ""


def record(case: Case, spark: str, lab: Lab, out: Path) -> None:
    """Run a case on one Spark and keep what it wrote in OUT/RULE/NAME-SPARK."""
    python, work = lab.spark_python(spark), lab.root / "work" / f"{case.name.replace('/', '-')}-{spark}"
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("raw", "tmp", "incoming"):
        (work / folder).mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        plan = case.plain() | started(case, spark, lab, work, stack)
        (work / "case.json").write_text(json.dumps(plan))
        if case.other_writer:
            stack.enter_context(servers.application(python, HERE / "writer.py", work))
        for number in range(len(case.runs)):
            stream(python, work, number)
    choose(case, work / "raw")
    kept = out / f"{case.name}-{spark}"
    shutil.rmtree(kept, ignore_errors=True)
    (work / "replacements.json").write_text(json.dumps(replacements(lab, work)))
    tool(python, "sanitise.py", work / "raw", kept, work / "replacements.json")
    (kept / "sample.yaml").write_text(description(case, spark))
    tool(python, "medians.py", kept)


def started(case: Case, spark: str, lab: Lab, work: Path, stack: contextlib.ExitStack) -> dict[str, Any]:
    """Addresses of the servers that the case needs, and its jars."""
    jars = [str(jar) for kind in case.needs for jar in lab.jars(kind, spark)]
    bootstrap = (
        stack.enter_context(servers.kafka(lab.broker_class_path(), work / "kafka")) if "kafka" in case.needs else None
    )
    s3 = stack.enter_context(servers.s3(lab.tools_python(), work / "s3")) if "s3a" in case.needs else None
    return {"jars": jars, "bootstrap": bootstrap, "s3": s3}


def stream(python: Path, work: Path, number: int) -> None:
    """One run of the case in an application of its own; a query that dies is no failure."""
    quiet = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_USER": "spark",
        "HADOOP_USER_NAME": "spark",
        "PYSPARK_PYTHON": str(python),
        "SPARK_HOME": str(next((python.parent.parent / "lib").glob("python3*/site-packages/pyspark"))),
    }
    environment = {**os.environ, **quiet, "TMPDIR": str(work / "tmp"), "PWD": str(work)}
    with (work / f"console-{number}.txt").open("w") as console:
        command = [str(python), str(HERE / "stream.py"), str(work / "case.json"), str(number), str(work)]
        subprocess.run(command, check=True, cwd=work, env=environment, stdout=console, stderr=console, timeout=600)


def choose(case: Case, raw: Path) -> None:
    """Leave only the files that the case keeps; rotate its log where it asks for that."""
    if "progress" not in case.keep:
        (raw / "progress.jsonl").unlink(missing_ok=True)
    if not {"text", "again"} & set(case.keep):
        (raw / "driver.log").unlink(missing_ok=True)
    if case.rotated_into:
        rotate(raw / "driver.log", case.rotated_into)


def rotate(log: Path, parts: int) -> None:
    """Cut a log at line borders as a rotation does (.1 is the youngest of the old), and lose the middle file."""
    lines = log.read_text().splitlines(keepends=True)
    size = len(lines) // parts + 1
    pieces = ["".join(lines[start : start + size]) for start in range(0, len(lines), size)]
    for age, piece in enumerate(reversed(pieces)):
        if age != parts // 2:
            log.with_name(f"{log.name}.{age}" if age else log.name).write_text(piece)


def replacements(lab: Lab, work: Path) -> list[tuple[str, str]]:
    """What names this machine, and what stands for it in a sample."""
    own = [address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("203.0.113.1", 9))
        own.append(probe.getsockname()[0])
    paths = [
        (str(work), "/data"),
        (str(lab.root), "/opt/lab"),
        (str(HERE), "/opt/app"),
        (str(Path.home()), "/home/spark"),
    ]
    words = [
        (socket.gethostname(), "driver-host"),
        (platform.release(), "6.1.0"),
        *((address, "192.0.2.1") for address in [*own, "127.0.0.1"]),
    ]
    prefix = (str(Path(sys.base_prefix)), "/opt/python")
    user = getpass.getuser()
    users = [
        (f"to: {user}", "to: spark"),
        (f"Set({user})", "Set(spark)"),
        (f'"user.name":"{user}"', '"user.name":"spark"'),
    ]
    return [*paths, prefix, *words, *users]


def description(case: Case, spark: str) -> str:
    """The text of sample.yaml."""
    values = {
        "says": case.says,
        "made_by": f"python tests/record/run.py {case.name} --spark {spark}",
        "spark": spark,
        "set": case.facts,
        "expect": list(case.expect),
    }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def tool(python: Path, script: str, *arguments: Path) -> None:
    """Run one of the scripts beside this one with that interpreter."""
    subprocess.run([str(python), str(HERE / script), *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
