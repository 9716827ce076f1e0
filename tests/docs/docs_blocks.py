"""The code blocks of README.md and of the site's pages, and what the comment before each says is to be done with it.

    <!-- file: my.py -->        the block is saved under that name
    <!-- run -->                it is run: commands with exit code 0, or Python
    <!-- run: exit 1 -->        the last of its commands ends with this code
    <!-- output -->             it is what the block before printed, whole
    <!-- output: part -->       its lines stand together in what the block before printed
    <!-- not run: why -->       it is shown only
    <!-- needs: a.module -->    at the top of a page: it is about this part of dpaudit
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
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
    """README.md, and the pages of the site that somebody wrote, in order."""
    folders = tuple(DOCS / name for name in GENERATED)
    site = sorted(path for path in DOCS.rglob("*.md") if not any(path.is_relative_to(folder) for folder in folders))
    return [ROOT / "README.md", *site]


def named(page: Path) -> str:
    """Its place in the site, or README.md."""
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order; directives of Sphinx are none."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        line = text[: match.start("fence")].count("\n") + 1
        where = f"{named(page)}:{line}"
        found.append(Block(where, match["language"], match["text"], match["mark"] or ""))
    return found


def needs(page: Path) -> list[str]:
    """The modules that a page is about."""
    return re.findall(r"^<!-- needs: ([\w.]+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)


def follow(block: Block, printed: str, names: dict[str, Any], folder: Path) -> str:
    """Do what the mark says; what is printed now, or was by the last block that ran."""
    kind, _, rest = block.mark.partition(": ")
    if kind == "file":
        (folder / rest).parent.mkdir(parents=True, exist_ok=True)
        (folder / rest).write_text(block.text, encoding="utf-8")
    elif kind == "run" and block.language == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.text, block.where, "exec"), names)
        return out.getvalue()
    elif kind == "run":
        code = int(rest.removeprefix("exit ")) if rest else 0
        return commands(block, code)
    elif kind == "output":
        shown, real = told(block.text), told(printed)
        if rest == "part":
            places = range(len(real) - len(shown) + 1)
            assert any(real[i : i + len(shown)] == shown for i in places), f"{block.where} shows other than\n{printed}"
        else:
            assert shown == real, f"{block.where} shows other than\n{printed}"
    return printed


def commands(block: Block, code: int) -> str:
    """Run the commands of a block; all but the last end with 0."""
    every = block.text.replace("\\\n", " ").strip().splitlines()
    out = ""
    for i, command in enumerate(every):
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=300,
        )
        expected = code if i == len(every) - 1 else 0
        assert ran.returncode == expected, f"{block.where}: {command}\n{ran.stdout}\n{ran.stderr}"
        out += ran.stdout
    return out


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def told(text: str) -> list[str]:
    """The lines without ids, which change with the format of JSON and are no part of what a page explains."""
    return lines(re.sub(r"(?<=replay )[0-9a-f]{12}\b", "ID", text))
