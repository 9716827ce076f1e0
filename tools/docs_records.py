"""The repository's own records as pages of the site: decisions, benchmarks, the changelog, how it is built.

They are written for whoever reads the repository; here their links are made to lead to pages of the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from docs_text import toctree

ROOT = Path(__file__).resolve().parent.parent
_SINGLE = {
    "CHANGELOG.md": "project/changelog.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "API_STYLE.md": "project/api-style.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "tests/README.md": "project/tests.md",
}
_ELSEWHERE = {
    "README.md": "index.md",
    "reports/README.md": "catalogue/index.md",
    "decisions": "project/decisions/index.md",
    "benchmarks": "project/benchmarks/index.md",
}
"""Documents and folders that have no copy, and the page that says the same."""
_FENCE = re.compile(r"^( {0,3})(```+|~~~+)")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)#\s]+)\)")
_DECISION = re.compile(r"(?<![\w/`(\[])decisions/(\d{4})(?!\d)(?:[\w-]*\.md)?")


def pages() -> tuple[dict[str, str], list[str]]:
    """Path under docs/ → text; and links that lead nowhere, a sentence each."""
    placed = placed_sources()
    made, broken = {}, []
    for source, page in placed.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text, problems = relinked(text, source, page, placed)
        if not text.startswith("# "):
            text = f"# {Path(source).stem.replace('_', ' ').capitalize()}\n\n{text}"
        made[page] = text
        broken += problems
    for folder, title, intro in (
        ("decisions", "Decisions", "Choices that could have gone the other way, each with its reason."),
        ("benchmarks", "Benchmarks", "What it costs and what it sees. Every page says how its tables were made."),
    ):
        names = [Path(source).stem for source in placed if source.startswith(f"{folder}/")]
        made[f"project/{folder}/index.md"] = f"# {title}\n\n{intro}\n\n{toctree(names, hidden=False)}"
    entries = [
        "contributing", "architecture", "api-style", "tests", "decisions/index", "benchmarks/index", "security",
        "changelog",
    ]
    made["project/index.md"] = f"# How it is built\n\n{toctree(entries, hidden=False)}"
    return made, broken


def placed_sources() -> dict[str, str]:
    """Path in the repository → path under docs/ of every record that has a copy."""
    placed = dict(_SINGLE)
    for folder in ("decisions", "benchmarks"):
        placed |= {f"{folder}/{p.name}": f"project/{folder}/{p.name}" for p in sorted((ROOT / folder).glob("*.md"))}
    return placed


def relinked(text: str, source: str, page: str, placed: Mapping[str, str]) -> tuple[str, list[str]]:
    """A record with its links as they are on the site, and those that lead nowhere, a sentence each.

    What has a page is linked to; other files of the repository become their names. `decisions/0014` in running text
    becomes a link too. Pictures must be under docs/. Code is left as it is.

    Args:
        text: the record.
        source: its path in the repository.
        page: the path of its page under docs/.
        placed: as `placed_sources`.
    """
    decisions = {Path(s).name[:4]: p for s, p in placed.items() if s.startswith("decisions/")}
    broken: list[str] = []

    def link(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        to = placed.get(path) or _ELSEWHERE.get(path)
        if to is not None:
            return f"[{label}]({posixpath.relpath(to, posixpath.dirname(page))}{anchor})"
        if not (ROOT / path).exists():
            broken.append(f"{source}: the link to {target} leads nowhere.")
        return label if label.startswith("`") else f"{label} (`{path}`)"

    def picture(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if not path.startswith("docs/") or not (ROOT / path).exists():
            broken.append(f"{source}: the picture {match[2]} is not under docs/.")
        return f"![{match[1]}]({posixpath.relpath(path.removeprefix('docs/'), posixpath.dirname(page))})"

    def decision(match: re.Match[str]) -> str:
        to = decisions.get(match[1])
        if to is None:
            broken.append(f"{source}: there is no decision {match[1]}.")
            return match[0]
        return f"[decision {int(match[1])}]({posixpath.relpath(to, posixpath.dirname(page))})"

    lines, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[2]
            lines.append(line)
            continue
        if fence or line.startswith("    "):
            lines.append(line)
            continue
        parts = re.split(r"(`+[^`]*`+(?!\]))", line)
        parts[::2] = [_PICTURE.sub(picture, _LINK.sub(link, _DECISION.sub(decision, part))) for part in parts[::2]]
        lines.append("".join(parts))
    return "\n".join(lines) + "\n", broken
