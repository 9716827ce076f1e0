"""The code blocks of the site's pages, and what the comment before each says is to be done with it.

    <!-- file: my.py -->        the block is saved under that name
    <!-- run -->                it is run: commands with exit code 0, or Python
    <!-- run: exit 1 -->        the last of its commands ends with this code
    <!-- output -->             it is what the block before printed, whole
    <!-- output: part -->       its lines stand together in what the block before printed
    <!-- not run: why -->       it is shown only
    <!-- needs: a.module -->    at the top of a page: it is about this part of dpaudit
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED = ("_build", "catalogue", "project", "reference/generated")
RUNNABLE = {"sh", "python", "console", "bash"}
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*?) -->\n+)?^(?P<fence>```+)(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block: where it is, its language, its text, and its mark ("" for none)."""

    where: str
    language: str
    text: str
    mark: str


def pages() -> list[Path]:
    """The pages that somebody wrote, in order."""
    folders = tuple(DOCS / name for name in GENERATED)
    return sorted(path for path in DOCS.rglob("*.md") if not any(path.is_relative_to(folder) for folder in folders))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order; directives of Sphinx are none."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        line = text[: match.start("fence")].count("\n") + 1
        where = f"{page.relative_to(DOCS).as_posix()}:{line}"
        found.append(Block(where, match["language"], match["text"], match["mark"] or ""))
    return found


def needs(page: Path) -> list[str]:
    """The modules that a page is about."""
    return re.findall(r"^<!-- needs: ([\w.]+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
