"""Sphinx extension: writes the generated pages before a build, and makes docstrings fit for reStructuredText."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.matching import patfilter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

log = logging.getLogger(__name__)


def write_pages(app: Sphinx) -> None:
    """Write the pages made from cards, docstrings, the parser, the schema and the records of the repository."""
    import docs_pages

    for problem in docs_pages.write(Path(app.srcdir)):
        log.warning(problem, type="dpaudit")


def copy_reports(app: Sphinx, error: Exception | None) -> None:
    """Put the committed reports, and the pages that `make report` left, beside the pages that link to them."""
    if error is not None or app.builder.format != "html":
        return
    import docs_catalogue

    folder = Path(app.outdir) / docs_catalogue.IN_SITE
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(docs_catalogue.REPORTS, folder, ignore=shutil.ignore_patterns("*.md"))
    if docs_catalogue.BUILT.is_dir():
        shutil.copytree(docs_catalogue.BUILT, folder / "catalogue")


def optional_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Leave patterns out of tables of contents that match nothing: pages that other parts of the project bring."""
    folder = docname.rpartition("/")[0]

    def kept(match: re.Match[str]) -> str:
        pattern = match[0].strip()
        full = pattern[1:] if pattern.startswith("/") else f"{folder}/{pattern}".lstrip("/")
        return match[0] if patfilter(app.env.found_docs, full) else ""

    source[0] = re.sub(r"(?<=^```\{toctree\}\n)(?:.*\n)*?(?=```$)", lambda toc: re.sub(
        r"^[\w/-]+\*\n", kept, toc[0], flags=re.MULTILINE
    ), source[0], flags=re.MULTILINE)


def file_names(app: Sphinx, docname: str, source: list[str]) -> None:
    """Show the names that blocks are to be saved under: `<!-- file: my.py -->` becomes the block's caption."""
    source[0] = re.sub(
        r"^<!-- file: (\S+) -->\n```(\w+)\n", r"```{code-block} \2\n:caption: \1\n\n", source[0], flags=re.MULTILINE
    )


def as_rst(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: |X|, log* and x_ mean what they say, and are no markup."""
    # a constant or alias without a text of its own would have that of its type
    if what in ("attribute", "data") and " ".join(lines).split() in _texts(type(obj), getattr(obj, "__origin__", None)):
        lines.clear()
    lines[:] = _with_literals(lines)
    literal = False
    for i, line in enumerate(lines):
        indented = not line.strip() or line.startswith(" ")
        if literal and indented:
            continue
        parts = re.split(r"(``.*?``|`[^`]*`)", line)
        parts[::2] = [re.sub(r"(?<!\*)\*(?!\*| )|\||(?<=\w)_(?=\W|$)", r"\\\g<0>", part) for part in parts[::2]]
        lines[i] = "".join(parts)
        literal = line.rstrip().endswith("::")
    if what in ("attribute", "data", "property") and lines:
        lines[0] = f": {lines[0]}"  # or napoleon takes what stands before a colon for the type


def parsable(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """A dataclass's default that a factory makes, as Python: with `<factory>` no signature can be parsed."""
    return None if signature is None else (signature.replace("<factory>", "..."), returns)


def _with_literals(lines: list[str]) -> list[str]:
    """Indented paragraphs after running text are code or formulas: as literal blocks."""
    made: list[str] = []
    for line in lines:
        before = [earlier for earlier in made if earlier.strip()]
        fresh = bool(made) and not made[-1].strip() and bool(before)
        if fresh and line.startswith("    ") and not before[-1].startswith(" ") and not before[-1].endswith("::"):
            made += ["::", ""]
        made.append(line)
    return made


def _texts(*kinds: Any) -> list[list[str]]:
    texts = (getattr(kind, "__doc__", None) for kind in kinds)
    return [text.split() for text in texts if isinstance(text, str)]  # a class with slots may have one named so


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect them."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", optional_pages)
    app.connect("source-read", file_names)
    app.connect("autodoc-process-docstring", as_rst, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", parsable)
    app.connect("build-finished", copy_reports)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
