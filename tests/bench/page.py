"""The HTML page of many batches and of many queries: its size, and the CPU time to make it and to open it in a browser.

python -m tests.bench.page [--batches 10000] [--queries 1000]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

from msgspec.structs import replace

from advisor.api import analyze
from advisor.batches import Reading
from advisor.catalogue import load
from advisor.contract import Report
from advisor.report import Asked, assemble
from advisor.views.page import report_as_page
from tests.bench.judging import history

MOST_BYTES = {"batches": 2_000_000, "queries": 10_000_000}
OPENS_WITHIN = 1.0
SAMPLES = Path(__file__).parents[2] / "sample_progress"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def one(batches: int) -> Report:
    """The report on one query with so many batches."""
    return assemble(Reading.of(history(batches, 1)), load(None), Asked(series=True))


def many(queries: int) -> Report:
    """The report on all recorded samples, each told again under other names until there are so many queries."""
    recorded = analyze(SAMPLES, series=True).typed
    told = zip(range(queries), cycle(recorded.queries), strict=False)
    return replace(recorded, queries=tuple(replace(entry, id=f"id-{n}", run_id=f"run-{n}") for n, entry in told))


def opening(page: str) -> float:
    """Seconds of CPU that the page's main thread takes until it is loaded and laid out, the best of three.

    Beside other work on the machine a clock on the wall would tell of that work.
    """
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        path = Path(place) / "page.html"
        path.write_text(page)
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        took = []
        for _ in range(3):
            opened = browser.new_page()
            told = opened.context.new_cdp_session(opened)
            told.send("Performance.enable", {"timeDomain": "threadTicks"})
            opened.goto(path.as_uri(), timeout=0)
            metrics = {one["name"]: one["value"] for one in told.send("Performance.getMetrics")["metrics"]}
            took.append(metrics["TaskDuration"])
        return float(min(took))


def main() -> int:
    """Print each figure beside its target; 1 when one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=1000)
    asked = parser.parse_args()
    missed = False
    for name, report in (("batches", one(asked.batches)), ("queries", many(asked.queries))):
        started = time.process_time()
        page = report_as_page(report)
        took, size, opens = time.process_time() - started, len(page.encode()), opening(page) if CHROMIUM else 0.0
        bad = size > MOST_BYTES[name] or opens > OPENS_WITHIN
        missed |= bad
        print(
            f"  {len(report.queries):,} queries, {sum(one.batches for one in report.queries):,} batches: "
            f"{size / 1e6:.2f} MB (target {MOST_BYTES[name] / 1e6:.0f}), made in {took:.1f} s, "
            f"opens in {opens:.2f} s (target {OPENS_WITHIN:.0f}){'  MISSED' if bad else ''}"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
