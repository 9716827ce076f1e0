"""Sizes of HTML reports and how fast they open.  Run: python benchmarks/report_size.py [RESULT.json] [--write]

Of the first 60 audits of a result one report, and of every audit of it a report alone. Without a file, the first ten
algorithms of the catalogue are audited, which are 60 audits, and LearnHalf, whose drawings are the largest. A page is
opened from a file in headless Chromium, each time by a new, empty profile; its time is the browser's own, from the
start of the navigation to the end of the load event, by which all scripts have run. `--write` puts the tables into
report_size.md. Nothing here is a test: sizes are the same on every machine, times are not.
"""

from __future__ import annotations

import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.report.html import to_html
from dpaudit.results.json_form import from_json
from dpaudit.results.model import Result

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from conftest import FLAGS, chromium  # noqa: E402  # the browser that the tests use

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = (
    *("LaplaceMechanism", "LaplaceMechanismRounded", "ExponentialMechanism", "ADist", "ADistCorrected"),
    *("ChoosingMechanism", "DominatingMechanism", "Concatenation", "BasicComposition", "AdvancedComposition"),
    "LearnHalf",
)
RUNS = 20_000
AUDITS, OPENED = 60, 9
LIMIT_OF_ALL, LIMIT_OF_ONE, LIMIT_OF_TIME = 3_000_000, 300_000, 1_000
TIMES = """() => {
  const page = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return [page.loadEventEnd, paint ? paint.startTime : page.loadEventEnd];
}"""


@dataclass(frozen=True)
class Size:
    """Bytes of a page."""

    name: str
    text: str

    @property
    def total(self) -> int:
        return len(self.text.encode())

    @property
    def figures(self) -> int:
        return sum(len(svg.encode()) for svg in re.findall(r'<svg class="figure.*?</svg>', self.text, re.DOTALL))

    @property
    def data(self) -> int:
        """The packed JSON, and the tables behind figures."""
        return sum(map(len, re.findall(r"data:(?:text/csv|application/gzip)[^\"]*", self.text)))


def audited() -> Result:
    """The first audits of the catalogue, by the command that a user has."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        command = [sys.executable, "-m", "dpaudit", "check", "--privacy", *NAMES, "--runs", str(RUNS), "-q"]
        # 1: something was refuted, which is as it should be
        if subprocess.run([*command, "--json", str(path)], check=False).returncode not in (0, 1, 3):
            sys.exit("The audits failed.")
        return from_json(path.read_text(encoding="utf-8"), where="result.json")


def sizes(result: Result) -> tuple[Size, list[Size]]:
    """Of the report of the first audits, and of each alone, largest first."""
    part = replace(result, audits=result.audits[:AUDITS], utility=[], comparison=None)
    alone = [Size(f"{audit.name} · {audit.case}", to_html(replace(part, audits=[audit]))) for audit in result.audits]
    return Size(f"{len(part.audits)} audits", to_html(part)), sorted(alone, key=lambda size: -size.total)


def opening(browser: Browser, size: Size, folder: Path) -> tuple[float, float]:
    """Medians, in milliseconds, of the time to the end of loading and to the first paint."""
    path = folder / "page.html"
    path.write_text(size.text, encoding="utf-8")
    found = []
    for _ in range(OPENED):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(path.as_uri(), wait_until="load")
        page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        page.wait_for_timeout(50)
        found.append(page.evaluate(TIMES))
        context.close()
    load, paint = zip(*found, strict=True)
    return statistics.median(load), statistics.median(paint)


def main() -> None:
    """Measure, and write."""
    from playwright.sync_api import sync_playwright

    files = [name for name in sys.argv[1:] if not name.startswith("--")]
    result = from_json(Path(files[0]).read_text(encoding="utf-8"), where=files[0]) if files else audited()
    whole, alone = sizes(result)
    pages = [whole, alone[0], alone[len(alone) // 2], alone[-1]]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        times = [opening(browser, size, Path(folder)) for size in pages]
        made_with = f"Chromium {browser.version}"
        browser.close()
    lines = [
        "# Sizes of HTML reports, and how fast they open", "",
        f"The first {len(result.audits[:AUDITS])} audits of the catalogue in one report, and {len(result.audits)} "
        "audits alone; sizes in bytes.",
        f"Times: {made_with}, headless, from a file, {platform.machine()}, {os.cpu_count()} processors of which other",
        f"work had its share; medians of {OPENED} openings by new, empty profiles, in ms. Tables of",
        "`python benchmarks/report_size.py`.", "",
        "| page | bytes | figures | data (JSON, CSV) | the rest | load | first paint |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    names = ["", "largest alone: ", "median alone: ", "smallest alone: "]
    for name, size, (load, paint) in zip(names, pages, times, strict=True):
        rest = size.total - size.figures - size.data
        parts = f"{size.total:,} | {size.figures:,} | {size.data:,} | {rest:,}"
        lines.append(f"| {name}{size.name} | {parts} | {load:.0f} | {paint:.0f} |")
    mean = statistics.mean(size.total for size in alone)
    kept = {
        f"the report of {AUDITS} audits is under {LIMIT_OF_ALL:,} bytes": whole.total < LIMIT_OF_ALL,
        f"every report of one audit is under {LIMIT_OF_ONE:,} bytes": alone[0].total < LIMIT_OF_ONE,
        f"all open within {LIMIT_OF_TIME:,} ms": max(load for load, _ in times) < LIMIT_OF_TIME,
    }
    lines += ["", f"Mean size of a report of one audit: {mean:,.0f} bytes.", ""]
    lines += [f"- {'kept' if held else 'MISSED'}: {what}" for what, held in kept.items()]
    text = "\n".join(lines) + "\n"
    print(text)
    if "--write" in sys.argv:
        (ROOT / "benchmarks" / "report_size.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
