"""The help of a command with many options: examples, options in panels, exit codes.

It is plain text under headings. rich, which would draw boxes, takes longer to import than all the rest of `--help`, has
little room for text in a narrow terminal, and reads `[tool.dpaudit]` as markup.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

from dpaudit.options import PANELS

EXIT_CODES = """\
Exit codes:
  0    no FAIL
  1    some audit FAILs
  2    an option, name, file or dataset cannot be used
  3    some audit is INCONCLUSIVE, none FAILs
  4    the mechanism, or dpaudit itself, crashed
  130  interrupted
"""
EXIT_CODES_OF_PROOFS = """\
Exit codes:
  0    proved; with --check, the certificate is right
  1    refuted; with --check, the certificate is wrong
  2    an option, name or file cannot be used
  3    neither proved nor refuted
  4    the program, or dpaudit itself, crashed
  130  interrupted
"""
EXIT_CODES_OF_PLANS = """\
Exit codes:
  0    planned
  2    an option, name, file or dataset cannot be used
  3    a call takes longer than --time
  4    the mechanism, or dpaudit itself, crashed
  130  interrupted
"""
_LABELS = 24
"""Columns of an option's name beside its description; a longer name has a line of its own."""
_SHORT_DEFAULT = re.compile(r"\[default: .{1,24}\]")
_NARROW = 68
"""Columns below which every description is beneath its option."""


class PanelCommand(TyperCommand):
    """A command whose options are shown in `PANELS`, by the `rich_help_panel` of each, with an epilog as it is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the panels, the last of which has --help too."""
        rows: dict[str, list[tuple[str, str]]] = {panel: [] for panel in ("Arguments", *PANELS)}
        for param in self.get_params(ctx):
            panel = getattr(param, "rich_help_panel", None)
            if param.param_type_name == "argument":
                rows[panel or "Arguments"].append((str(param.metavar), str(getattr(param, "help", ""))))
            elif (record := param.get_help_record(ctx)) is not None:
                rows[panel or PANELS[-1]].append(record)
        for panel, several in rows.items():
            if several:
                _write(formatter, panel, several)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write it as it is: a command that is wrapped cannot be copied."""
        if self.epilog:
            formatter.write(f"\n{self.epilog}")


def epilog(*examples: str, codes: str = EXIT_CODES) -> str:
    """Exit codes and examples, at the end of the help: that is what is on the screen."""
    return "\n".join((f"{codes}\nExamples:", *(f"  {example}" for example in examples), ""))


def _write(formatter: Any, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    """A heading, and its rows in two columns, or one beneath the other where there is little room."""
    narrow = formatter.width < _NARROW
    indent = " " * (6 if narrow else _LABELS + 3)
    formatter.write(f"\n{heading}:\n")
    for label, about in rows:
        beside = len(label) <= _LABELS and not narrow
        if not beside:
            formatter.write(f"  {label}\n")
        first = f"  {label:<{_LABELS}} " if beside else indent
        # a short default is not torn apart
        text = _SHORT_DEFAULT.sub(lambda found: found[0].replace(" ", "\xa0"), about)
        lines = textwrap.wrap(
            text, formatter.width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
        )
        formatter.write("".join(f"{line}\n".replace("\xa0", " ") for line in lines or [first.rstrip()]))
