"""Random command lines: how they end, and which rules they break. Progress on stderr.

python benchmarks/command_lines.py [SECONDS] > benchmarks/command_lines.md

With SECONDS it stops then, and the table says how many lines were run. Limit its memory (`ulimit -v`).
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

# the lines are those of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "soundness"))

import fuzzed_lines

LINES = 20_000
CODES = (0, 1, 2, 3, 4, 130)


def main() -> None:
    """Run them, and write the table."""
    ended: Counter[tuple[str, int]] = Counter()
    broken: list[str] = []
    end = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else None
    done = 0
    with TemporaryDirectory() as place, fuzzed_lines.folder(Path(place)):
        for seed in range(LINES):
            if end is not None and time.monotonic() > end:
                break
            fuzzed_lines.write_files(Path())
            made = fuzzed_lines.line(seed)
            found = fuzzed_lines.run(made)
            command = made.words[0] if made.words else ""
            ended[command if command in COMMANDS else "anything else", found.code] += 1
            broken += [f"{seed}: {rule}" for rule in found.broken]
            done += 1
            if seed % 500 == 0:
                print(f"{seed} of {LINES}, {len(broken)} violations", file=sys.stderr, flush=True)
    print(f"# Random command lines\n\n{done:,} lines of tests/soundness/fuzzed_lines.py, seeds 0 to {done - 1}.\n")
    print(f"| command | {' | '.join(f'exit {code}' for code in CODES)} |\n|---|{'--:|' * len(CODES)}")
    for command in (*COMMANDS, "anything else"):
        print(f"| {command} | {' | '.join(str(ended[command, code]) for code in CODES)} |")
    print(f"\nViolations: {len(broken)}.")
    for text in broken:
        print(f"- {text}")


COMMANDS = ("check", "verify", "worst", "compare", "report", "replay", "list", "show", "example")

if __name__ == "__main__":
    main()
