"""What it costs to start: CPU of commands beside that of the imports that they cannot do without. Writes startup.md.

python benchmarks/startup.py > benchmarks/startup.md

CPU is that of the process and its children, user and system, the least of several runs. Each command runs once first,
so that bytecode is written. Commands and yardsticks take turns, so that other work on the machine slows both.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROUNDS = 7
FUNCTIONS = """\
def count(data, rng, size):
    return sum(data) + rng.laplace(0, 1, size)


def broken(data, rng, size):
    return sum(data) + rng.laplace(0, 0.3, size)


def single(data, rng):
    return sum(data) + rng.laplace(0, 1)
"""
PARSER = ("import typer, rich",)
SCIENCE = ("import numpy, scipy.stats, sklearn",)
PAIR = ("--epsilon", "1", "--pair", "[0,1,1]", "[0,1,0]")


@dataclass(frozen=True)
class Row:
    """A command, and the import that it is held against.

    Args:
        words: of the command line.
        yardstick: the code of the import.
        most: the largest ratio that is asked for; None where none is.
        what: what it is, where the words do not say it.
    """

    words: tuple[str, ...]
    yardstick: tuple[str, ...]
    most: float | None = None
    what: str = ""

    @property
    def name(self) -> str:
        """As it is shown."""
        line = "`dpaudit " + " ".join(f"'{word}'" if "[" in word else word for word in self.words) + "`"
        return f"{line}, {self.what}" if self.what else line


ROWS = (
    Row(("--version",), PARSER, 1.5),
    Row(("--help",), PARSER),
    Row(("check", "--help"), PARSER),
    Row(("chekc",), PARSER, what="a typo"),
    Row(("check", "RecPrefx"), PARSER, what="a typo"),
    Row(("show", "RecPrefix"), SCIENCE),
    Row(("list",), SCIENCE),
    Row(("check", "my.py:count", *PAIR), SCIENCE, 2.0, what="private"),
    Row(("check", "my.py:broken", *PAIR), SCIENCE, what="badly broken"),
    Row(("check", "my.py:single", *PAIR), SCIENCE, what="private, one sample a call"),
    Row(("check", "my.py:count", "--epsilon", "1", "--data", "integers(0,1)"), SCIENCE, what="private"),
    Row(("check", "my.py:broken", "--epsilon", "1", "--data", "integers(0,1)"), SCIENCE, what="badly broken"),
)


def cpu(words: tuple[str, ...], folder: str) -> float:
    """Seconds of one run."""
    # where bytecode may not be written, every run compiles what it imports
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and print the page."""
    yardsticks = (PARSER, SCIENCE)
    tried = [("-c", *one) for one in yardsticks] + [("-m", "dpaudit", *row.words) for row in ROWS]
    times: dict[tuple[str, ...], list[float]] = {words: [] for words in tried}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "my.py").write_text(FUNCTIONS)
        for words in tried:
            cpu(words, folder)
        for _ in range(ROUNDS):
            for words in tried:
                times[words].append(cpu(words, folder))
    least = {words: min(each) for words, each in times.items()}
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "typer"))
    print("# What it costs to start\n")
    print("Written by `python benchmarks/startup.py > benchmarks/startup.md`; CPU in seconds of the process and its")
    print(f"children, the least of {ROUNDS} runs, which take turns. {platform.machine()}, {os.cpu_count()} processors,")
    print(f"which other work may have shared; Python {platform.python_version()}, {packages}.\n")
    for code in yardsticks:
        print(f"- `python -c \"{code[0]}\"`: {least['-c', *code]:.3f}")
    print("\n| command | CPU | beside | ratio | at most |\n| --- | --- | --- | --- | --- |")
    for row in ROWS:
        seconds = least["-m", "dpaudit", *row.words]
        ratio = seconds / least["-c", *row.yardstick]
        most = f"{row.most} ({'kept' if ratio <= row.most else 'MISSED'})" if row.most is not None else ""
        print(f"| {row.name} | {seconds:.3f} | `{row.yardstick[0]}` | {ratio:.2f} | {most} |")


if __name__ == "__main__":
    main()
