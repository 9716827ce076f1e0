"""The first minute: what `dpaudit` alone says, the example with a bug, and what a project has set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dpaudit.config import SETTINGS, Config
from dpaudit.errors import ReportError
from dpaudit.whole_files import write_file

WELCOME = """\
dpaudit tests claims of differential privacy.

Find a bug in seconds:
  dpaudit example                  writes noisy_count.py: a count with half of the noise it needs
  dpaudit check noisy_count.py:broken --epsilon 1 --data 'integers(0, 1)'

Audit your own function f(dataset, rng):
  dpaudit check my.py:f --epsilon 1 --pair '[0,1,1]' '[0,1,0]'
  dpaudit check my.py:f --epsilon 1 --data 'integers(0, 100)' --html report.html

Algorithms of the literature, as printed:
  dpaudit list                     all of them, with claim and known verdict
  dpaudit check RecPrefix          audit one; `show` describes it, `verify` proves small cases

  dpaudit --help                   all commands        dpaudit doctor   is everything installed?
  dpaudit --install-completion     completion for your shell
"""

CHECK_EXAMPLES = (
    "dpaudit check my.py:f --epsilon 1 --data 'integers(0, 100)'",
    "dpaudit check my.py:f --epsilon 1 --pair '[0,1,1]' '[0,1,0]' --time 60",
    "dpaudit check RecPrefix --html report.html",
)
SAMPLES_EXAMPLES = (
    "dpaudit samples D.npy Dprime.npy --epsilon 1 --delta 1e-5",
    "dpaudit samples scores.csv --alpha 0.05",
    "./my-mechanism | dpaudit samples - --epsilon 1",
    "dpaudit samples D/ Dprime/ --epsilon 1 --follow 600",
)

SCORES_EXAMPLES = (
    "dpaudit scores in.npy out.npy --epsilon 8 --delta 1e-5",
    "dpaudit scores in.csv out.csv --column loss_difference --alpha 0.05 --html scores.html",
)
GUESSES_EXAMPLES = (
    "dpaudit guesses --canaries 1000 --guessed 300 --correct 240 --epsilon 8 --delta 1e-5",
    "dpaudit guesses --canaries 1000 --guessed 300 --correct 240 --mu 0.4",
)

EXAMPLE = '''\
"""A noisy count, with and without its bug.

    dpaudit check noisy_count.py:broken --epsilon 1 --data 'integers(0, 1)'
    dpaudit check noisy_count.py:fixed --epsilon 1 --data 'integers(0, 1)'
"""


def broken(data, rng):
    """Meant for epsilon = 1: one record moves the sum by at most 1, so the scale should be 1 / epsilon."""
    return sum(data) + rng.laplace(0, 1 / 2)


def fixed(data, rng):
    """The same with enough noise."""
    return sum(data) + rng.laplace(0, 1)
'''

PLAN_EXAMPLES = (
    "dpaudit plan my.py:f --epsilon 1 --data 'integers(0, 100)' --runs 1000000",
    "dpaudit plan RecPrefix --json plan.json",
)

SETTLED = ("check", "plan", "samples", "scores", "guesses", "verify", "worst", "compare")
"""Commands that take their defaults from [tool.dpaudit]."""

def write_example(path: Path) -> str:
    """Write the example, and say what to do with it.

    Raises:
        ReportError: the file is there already, or cannot be written.
    """
    if os.path.lexists(path):
        raise ReportError(f"{path} already exists and is not overwritten; name another file.")
    try:
        write_file(path, EXAMPLE)
    except OSError as error:
        raise ReportError(f"Cannot write {path}: {error.strerror or error}.") from None
    return (
        f"{path} has a count with half of the noise that ε = 1 needs (broken), and one with enough (fixed).\n"
        f"  dpaudit check {path}:broken --epsilon 1 --data 'integers(0, 1)'\n"
        f"  dpaudit check {path}:fixed --epsilon 1 --data 'integers(0, 1)'\n"
        "The first FAILs and shows two datasets that prove it; the second is not refuted."
    )


def defaults(settings: Config, group: Any, command: str | None) -> dict[str, dict[str, object]]:
    """The settings of a project as defaults of the command that is run: those that it has an option for.

    Args:
        settings: what the project has set.
        group: all commands.
        command: the one that is run.
    """
    if command not in SETTLED:
        return {}
    names = {option.name for option in group.commands[command].params}
    return {command: {key: value for key, value in settings.values.items() if key in names}}


def shown_config(config: Config) -> str:
    """Every setting, its value, and where it comes from."""
    from dpaudit.engine import store

    where = str(config.path) if config.path is not None else ""
    rows = [
        (key, _spelled(config.values[key]) if key in config.values else setting.unset or _spelled(setting.default),
         "[tool.dpaudit]" if key in config.values else "default", setting.about)
        for key, setting in SETTINGS.items()
    ]
    rows.append((
        "store", str(store.location()), "DPAUDIT_STORE" if os.environ.get("DPAUDIT_STORE") else "default",
        "file that `dpaudit replay` reads",
    ))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = ["  ".join(part.ljust(width) for part, width in zip(row, widths, strict=False)) + f"  {row[3]}"
             for row in rows]
    head = f"from {where}" if where else "no pyproject.toml with [tool.dpaudit] in this folder or above"
    return "\n".join([head, *(line.rstrip() for line in lines)])


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
