"""200 kills of `dpaudit` with SIGKILL, at random moments: what is left behind. Progress on stderr.

python benchmarks/kills.py > benchmarks/kills.md
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

# a fork has one thread: those of a linear algebra library would be gone
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "soundness"))

import kills

KILLS = {
    ("check", False): 50, ("verify", False): 40, ("--evidence", False): 60,
    ("check", True): 40, ("verify", True): 20, ("--evidence", True): 40,
}  # fmt: skip
"""By command, and whether it is supervised."""
HEAD = """\
Written by `python benchmarks/kills.py > benchmarks/kills.md`. {kills} kills; every other run is killed by SIGKILL from
outside at a moment that is uniform over the time that the command takes, the others in the middle of one of their
own file operations (a write that is cut in half, a sync, a rename), drawn at random. Each run writes over the files
of the run before: JSON, HTML, JUnit, SARIF, Markdown, a folder of pages, the log of events, the store, the cache of
output distributions and its key. After every kill each file must be the one from before or a whole new one (of the
log of events the last line may be cut), no e-value may be lost, and after every eighth kill of `verify` a run that
uses the cache must give FAIL again. A supervised command, as the console script is one, has its supervisor killed
from outside, or the process that it supervises in a file operation; in the second case the result must have all audits,
or report a crash with exit code 4.
"""


def main() -> None:
    """Print the table."""
    begun = time.monotonic()
    rows, faults = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kills.begin(folder)
        for seed, ((command, supervised), times) in enumerate(KILLS.items(), 1):
            earlier = sum(1 for _ in folder.rglob("*.tmp"))
            left = kills.kill(folder, command, times, seed=seed, supervised=supervised)
            left.temporary -= earlier
            rows.append((f"`{command}`{', supervised' if supervised else ''}", left))
            faults += [*left.broken, *left.lost, *left.wrong, *left.silent]
            print(f"{rows[-1][0]}: {left}", file=sys.stderr, flush=True)
    print("# Killed at random moments\n")
    print(HEAD.format(kills=sum(KILLS.values())))
    heads = ("command", "killed", "ended before", "files broken", "evidence lost", "wrong verdicts after", "silent",
             "temporary files left")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for command, left in rows:
        print(
            f"| {command} | {left.kills} | {left.ended} | {len(left.broken)} | {len(left.lost)} | "
            f"{len(left.wrong)} | {len(left.silent)} | {left.temporary} |"
        )
    print("\nThe next writer of a file removes what killed ones left (`.NAME.….tmp`), when it is an hour old.")
    print("\n".join(["", *faults]) if faults else "", end="")
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
