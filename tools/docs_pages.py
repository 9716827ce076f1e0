"""Write the generated pages of the site into docs/: `python tools/docs_pages.py`; Sphinx does it before every build.

What is written is ignored by git: catalogue/ (cards, plans and verdicts), project/ (the records at the top of the
repository), reference/generated/ (command line, configuration, JSON, Python).
"""

from __future__ import annotations

import sys
from pathlib import Path

import docs_catalogue
import docs_records
import docs_reference

GENERATED = ("catalogue", "project", "reference/generated")


def pages() -> tuple[dict[str, str], list[str]]:
    """Path under docs/ → text of every generated page; and what is wrong with the sources, a sentence each."""
    records, problems = docs_records.pages()
    return {**docs_catalogue.pages(), **docs_reference.pages(), **records}, problems


def write(docs: Path) -> list[str]:
    """Write what has changed, remove what is no longer made; what is wrong with the sources, a sentence each.

    Args:
        docs: the folder of the site's sources.
    """
    made, problems = pages()
    for path, text in made.items():
        file = docs / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for folder in GENERATED:
        for file in sorted((docs / folder).rglob("*.md")):
            if file.relative_to(docs).as_posix() not in made:
                file.unlink()
    return problems


if __name__ == "__main__":
    wrong = write(Path(__file__).resolve().parent.parent / "docs")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    sys.exit(bool(wrong))
