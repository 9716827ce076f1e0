"""Long measurements of many short tasks, kept as they end: the same command goes on where it stopped.

They run on worker processes of this machine, or of a cluster that sees the same files.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit.subjects.clusters import connected
from dpaudit.subjects.executors import Workers, called

CHUNK = 20
"""Tasks of a worker that are kept together."""

Key = tuple[Any, ...]
Task = Callable[..., dict[str, Any]]


def arguments(description: str | None, keep: Path) -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, default=keep, metavar="FILE", help="results, one line each")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of dask or ray, instead of processes of this machine")
    parser.add_argument("--part", help="of this table alone")
    parser.add_argument("--most", type=int, metavar="N", help="at most so many tasks now")
    parser.add_argument("--tables", action="store_true", help="run nothing")
    given = parser.parse_args()
    given.keep.parent.mkdir(parents=True, exist_ok=True)
    return given


def results(keep: Path) -> dict[Key, dict[str, Any]]:
    """What has ended, by key; a line that a killed process left unfinished is left out."""
    found: dict[Key, dict[str, Any]] = {}
    if keep.exists():
        for line in keep.read_text(encoding="utf-8").splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            found[tuple(value.pop("key"))] = value
    return found


def run(keys: Sequence[Key], one: Task, given: argparse.Namespace, *, chunk: int = CHUNK) -> None:
    """Run the tasks that have not ended, `one(*key)` each, so many of a worker kept together; progress on stderr."""
    done = results(given.keep)
    left = [key for key in keys if key not in done][: given.most]
    chunks = [left[i : i + chunk] for i in range(0, len(left), chunk)]
    begun = time.monotonic()
    ended = 0
    # workers import what this process can
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    print(f"{len(left):,} of {len(keys):,} to go", file=sys.stderr, flush=True)
    executor = Workers(given.jobs) if given.cluster is None else connected(given.cluster)
    try:
        shared = executor.share(partial(_several, one))
        for future in as_completed([executor.submit(called, shared, some) for some in chunks]):
            lines = future.result()
            with open(given.keep, "a", encoding="utf-8") as file:
                file.writelines(lines)
            ended += len(lines)
            rate = (time.monotonic() - begun) / ended
            print(f"{ended:,} of {len(left):,}, {rate * (len(left) - ended) / 60:.0f} min left", file=sys.stderr,
                  flush=True)
    finally:
        executor.close()


def _several(one: Task, keys: Sequence[Key]) -> list[str]:
    lines = []
    for key in keys:
        begun = time.process_time()
        value = one(*key)
        seconds = round(time.process_time() - begun, 3)
        lines.append(json.dumps({"key": key, **value, "seconds": seconds}) + "\n")
    return lines
