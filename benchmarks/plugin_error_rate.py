"""How often the pytest plugin fails a suite of twenty correct mechanisms: whole pytest sessions, with rotating seeds.

python benchmarks/plugin_error_rate.py > benchmarks/plugin_error_rate.md

A session takes some twenty seconds of one core, so what has ended is kept (--keep FILE, by default
benchmarks/plugin_error_rate.jsonl) and the same command goes on where it was stopped; --tables prints what there is and
runs nothing. Progress on stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from joblib import Parallel, delayed
from scipy import stats

from dpaudit.pytest_plugin.settings import DEFAULT_ALPHA, DEFAULT_RUNS, call_share, item_share

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "benchmarks" / "plugin_suite"
TESTS = 20


@dataclass(frozen=True)
class Part:
    """Sessions that one table is of.

    Args:
        title: of the table.
        options: of pytest, besides the seed.
        alpha: of the session.
        sessions: how many are wanted.
        first: the first seed.
    """

    title: str
    options: tuple[str, ...]
    alpha: float
    sessions: int
    first: int


PARTS = (
    Part(
        f"The plugin's defaults: α = {DEFAULT_ALPHA}, {DEFAULT_RUNS:,} samples per dataset", (), DEFAULT_ALPHA,
        1_000, 1,
    ),
    Part(
        "α = 0.1, 1,000 samples per dataset (`--dp-alpha=0.1 --dp-runs=1000`)", ("--dp-alpha=0.1", "--dp-runs=1000"),
        0.1, 200, 100_001,
    ),
)


class Listener:
    """Gathers the audits of a session, as any plugin could."""

    def __init__(self) -> None:
        self.audits: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Every report that has audits."""
        self.audits += getattr(report, "dp_audits", [])


def session(part: int, seed: int) -> dict[str, Any]:
    """One whole pytest session in this process: which tests failed."""
    listener = Listener()
    plain = ["-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=", f"--rootdir={SUITE}", "-qq"]
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as empty, contextlib.redirect_stdout(io.StringIO()):
        # an empty configuration file: neither the settings of this project nor those above it
        config = Path(empty) / "pytest.ini"
        config.write_text("[pytest]\n", encoding="utf-8")
        words = [*plain, "-c", str(config), f"--dp-seed={seed}", *PARTS[part].options, str(SUITE)]
        code = pytest.main(words, plugins=[listener])
    verdicts = Counter(audit["verdict"] for audit in listener.audits)
    assert len(listener.audits) == TESTS, (code, len(listener.audits))
    failed = [str(audit["test"]).rpartition("::")[2] for audit in listener.audits if audit["verdict"] == "fail"]
    # a failed test is a failed session, and nothing else is
    assert (code == pytest.ExitCode.OK) == (verdicts["pass"] == TESTS)
    seconds = round(time.process_time() - begun, 1)
    return {"part": part, "seed": seed, "failed": failed, "undecided": verdicts["inconclusive"], "seconds": seconds}


def several(keep: str, part: int, seeds: list[int]) -> None:
    """Sessions in one worker, each kept as it ends."""
    for seed in seeds:
        line = json.dumps(session(part, seed))
        with open(keep, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def kept(path: Path) -> list[list[dict[str, Any]]]:
    """What has ended, part by part."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for line in lines:
        value = json.loads(line)
        found[value["part"], value["seed"]] = value
    return [[value for (at, _), value in sorted(found.items()) if at == part] for part in range(len(PARTS))]


def tables(done: list[list[dict[str, Any]]]) -> None:
    """The benchmark's text."""
    print("# How often the pytest plugin fails correct mechanisms\n")
    print(
        f"Whole pytest sessions over the {TESTS} mechanisms of `benchmarks/plugin_suite`, each audited on a pair on\n"
        "which its ε is all, or nearly all, that it claims, so that every FAIL is false; a seed of its own for every\n"
        "session (`--dp-seed`). Of sessions at most a share α may fail; of audits at most what one may err with,\n"
        "α / 20 · 6/π². p: of the exact binomial test of that, one-sided. The command goes on where it was\n"
        "stopped, so sessions may be of several versions of dpaudit. Tables of\n"
        "`python benchmarks/plugin_error_rate.py`.\n"
    )
    for part, sessions in zip(PARTS, done, strict=True):
        number = len(sessions)
        print(f"## {part.title}\n")
        short = f" of {part.sessions:,} (stopped early; the same command goes on)" if number < part.sessions else ""
        print(f"{number:,} sessions{short}.\n")
        if not number:
            continue
        each = call_share(item_share(part.alpha, TESTS), 1)
        failed = [name for one in sessions for name in one["failed"]]
        print("| | number | failed | share | may fail | p |")
        print("| --- |" + " --- |" * 5)
        print(f"| sessions | {_row(sum(bool(one['failed']) for one in sessions), number, part.alpha)}")
        print(f"| audits | {_row(len(failed), number * TESTS, each)}\n")
        undecided = sum(one["undecided"] for one in sessions)
        seconds = sum(one["seconds"] for one in sessions) / number
        named = ", ".join(f"{name} ({count})" for name, count in Counter(failed).most_common()) or "none"
        print(f"Failed: {named}. INCONCLUSIVE: {undecided}. CPU seconds a session: {seconds:.1f}.\n")


def _row(failed: int, number: int, may: float) -> str:
    p = stats.binomtest(failed, number, may, alternative="greater").pvalue
    return f"{number:,} | {failed} | {failed / number:.2g} | {may:.3g} | {p:.2g} |"


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, default=ROOT / "benchmarks" / "plugin_error_rate.jsonl", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--part", type=int, choices=range(len(PARTS)), help="of this table alone")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    given = parser.parse_args()
    given.keep.parent.mkdir(parents=True, exist_ok=True)
    for at, part in enumerate(PARTS):
        if given.tables or given.part not in (None, at):
            continue
        done = {one["seed"] for one in kept(given.keep)[at]}
        left = [seed for seed in range(part.first, part.first + part.sessions) if seed not in done]
        size = max(1, min(10, math.ceil(len(left) / given.jobs)))
        chunks = [left[i : i + size] for i in range(0, len(left), size)]
        print(f"{part.title}: {len(left)} sessions to go", file=sys.stderr, flush=True)
        Parallel(n_jobs=given.jobs, verbose=5)(delayed(several)(str(given.keep), at, chunk) for chunk in chunks)
    tables(kept(given.keep))


if __name__ == "__main__":
    main()
