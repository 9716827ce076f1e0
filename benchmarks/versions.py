"""CPU of all audits of the catalogue and of the corpus, of this version beside that of another checkout.

git worktree add ../before COMMIT
python benchmarks/versions.py ../before > benchmarks/versions.md

Each algorithm is audited by both versions at the same time, with one process each, so that other work on the machine
slows both. CPU is that of the command and all its children, user and system. Verdicts are compared too. What has ended
is kept in --keep FILE, and the same command goes on where it was stopped. Progress on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dpaudit.plans import registry

HERE = Path(__file__).resolve().parents[1]
SHOWN = 25
"""Algorithms of the table, those that take the most CPU; the others are one row."""
CORPUS = "the corpus"


def audited(tree: Path, name: str) -> dict[str, Any]:
    """CPU seconds of the audits of an algorithm or the corpus in a checkout, and their verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join(str(tree / part) for part in ("", "algorithms", "audits"))
        given = {
            **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "versions" / tree.name),
        }
        result = Path(folder) / "result.json"
        what = ["--corpus"] if name == CORPUS else [name]
        process = subprocess.Popen(
            [sys.executable, "-m", "dpaudit", "check", *what, "--jobs", "1", "--expect", "--json", str(result)],
            cwd=folder, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        found = json.loads(result.read_text()) if result.exists() else {"audits": [], "utility": []}
    verdicts = {
        f"{one['name']} {one['case']} {one['claim']['statement'] if 'claim' in one else ''}": one["verdict"]
        for one in [*found["audits"], *found["utility"]]
    }
    return {"seconds": used.ru_utime + used.ru_stime, "code": process.returncode, "verdicts": verdicts}


def both(before: Path, name: str) -> dict[str, Any]:
    """The same by both versions at once."""
    with ThreadPoolExecutor(2) as threads:
        old, new = threads.map(audited, (before, HERE), (name, name))
    return {"name": name, "before": old, "now": new}


def commit(tree: Path) -> str:
    """The commit of a checkout, as it is shown."""
    words = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def tables(rows: list[dict[str, Any]], before: str, every: str) -> str:
    """The page; `every` says of which algorithms."""
    def line(name: str, some: list[dict[str, Any]]) -> str:
        old, new = (sum(row[which]["seconds"] for row in some) for which in ("before", "now"))
        return f"| {name} | {old:.1f} | {new:.1f} | {new / old:.2f} |"

    catalogue = sorted(
        (row for row in rows if row["name"] != CORPUS), key=lambda row: row["before"]["seconds"], reverse=True
    )
    audits = sum(len(row["now"]["verdicts"]) for row in rows)
    others = [
        f"{what}: {row['before']['verdicts'].get(what)} → {row['now']['verdicts'].get(what)}"
        for row in rows
        for what in {**row["before"]["verdicts"], **row["now"]["verdicts"]}
        if row["before"]["verdicts"].get(what) != row["now"]["verdicts"].get(what)
    ]
    unexpected = [row["name"] for row in rows if row["now"]["code"]]
    return "\n".join([
        "# CPU of the catalogue and the corpus, beside an earlier version", "",
        f"By `python benchmarks/versions.py`, of {commit(HERE)} beside {before}: `dpaudit check NAME --jobs 1`, both",
        f"at the same time; Python {platform.python_version()}, {os.cpu_count()} cores. {audits:,} audits; "
        f"{'no verdict differs' if not others else 'verdicts that differ are listed below'}; "
        f"{'all are as expected' if not unexpected else 'not as expected: ' + ', '.join(unexpected)}.", "",
        "| | CPU s before | now | ratio |", "| --- | --- | --- | --- |",
        line(f"**{every}**", catalogue),
        *(line(f"**{CORPUS}**", [row]) for row in rows if row["name"] == CORPUS),
        *(line(row["name"], [row]) for row in catalogue[:SHOWN]),
        *([line(f"{len(catalogue) - SHOWN} others", catalogue[SHOWN:])] if len(catalogue) > SHOWN else []),
        *(["", *(f"- {one}" for one in others)] if others else []),
    ])


def main() -> None:
    """Measure what is not kept yet, and print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="checkout of the other version")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "versions.jsonl", metavar="FILE")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these algorithms alone")
    given = parser.parse_args()
    before = given.before.resolve()
    kept = [json.loads(line) for line in given.keep.read_text().splitlines()] if given.keep.exists() else []
    names = given.only or [*registry.names(), CORPUS]
    for at, name in enumerate(names):
        if any(row["name"] == name for row in kept):
            continue
        started = time.monotonic()
        kept.append(both(before, name))
        with given.keep.open("a") as file:
            file.write(json.dumps(kept[-1]) + "\n")
        old, new = (kept[-1][which]["seconds"] for which in ("before", "now"))
        took = time.monotonic() - started
        print(f"{at + 1} of {len(names)}: {name} {old:.1f} → {new:.1f} s, {took:.0f} s", file=sys.stderr)
    every = "of the catalogue, these" if given.only else "catalogue"
    print(tables([row for row in kept if row["name"] in names], commit(before), every))


if __name__ == "__main__":
    main()
