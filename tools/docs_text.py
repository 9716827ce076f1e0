"""Markdown for generated pages: plain text that stays as it is, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"[\\*_<>\[\]{}|~$#]")


def plain(text: str) -> str:
    """Text without markup, as Markdown that shows it; what stands between backticks stays code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    parts[::2] = [_SIGNS.sub(r"\\\g<0>", part) for part in parts[::2]]
    # in a line of its own "1." would be a list, "- " and "+ " too
    return re.sub(r"^(\d+)([.)])(?=\s)|^([-+])(?=\s)", lambda m: f"{m[1] or ''}\\{m[2] or m[3]}", "".join(parts))


def code(text: str) -> str:
    """A code span."""
    return f"`{' '.join(text.split())}`" if text.strip() else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; a bar within code is escaped."""
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def toctree(entries: Iterable[str], *, hidden: bool = True, caption: str = "") -> str:
    """A table of contents of these documents."""
    options = [":hidden:"] if hidden else []
    options += [f":caption: {caption}"] if caption else []
    return "\n".join(["```{toctree}", *options, "", *entries, "```"]) + "\n"


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))
