"""A report as a folder: an index of all audits, a page for each algorithm, and the result as JSON.

A page holds all cases of one algorithm, because a page for each audit would repeat style and script hundreds of times.
Links are relative, so the folder can be moved, zipped or served. What dpaudit did not write is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dpaudit.errors import ReportError
from dpaudit.report import html
from dpaudit.report.figures import figures_of_pages
from dpaudit.report.html import Within, to_html
from dpaudit.results import json_form
from dpaudit.results.model import Audit, Result, UtilityAudit
from dpaudit.whole_files import write_file

INDEX, DATA, PAGES = "index.html", "result.json", "algorithms"
_OURS = '<meta name="generator" content="dpaudit">'
"""Stands near the beginning of every page that dpaudit writes."""
_LONGEST = 80  # characters of a page's name
_WORDS = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def write_report(
    folder: Path, result: Result, *, jobs: int = 1, step: Callable[[], object] = lambda: None
) -> Path:
    """Write a report into a folder, which is made if it is not there; an earlier report in it is replaced.

    Args:
        folder: where to; its parent must be there.
        result: of any command.
        jobs: processes that draw.
        step: called after each audit of privacy.

    Returns:
        The first page, `index.html` in the folder.

    Raises:
        ReportError: the folder cannot be written, or holds files of those names that dpaudit did not write.
    """
    refuse_folder(folder)
    places: dict[str, str] = {}
    names = page_names(audit.name for audit in result.every)
    pages = {page: _part(result, name, page, places) for name, page in names.items()}
    whole = Within(replace(result, comparison=None), f"../{INDEX}")
    try:
        (folder / PAGES).mkdir(parents=True, exist_ok=True)
        drawn = figures_of_pages([part.audits for part in pages.values()], jobs=jobs)
        for page, part in pages.items():
            write_file(folder / PAGES / page, to_html(part, within=whole, drawn=drawn, step=step))
        write_file(folder / DATA, json_form.to_json(result))
        # last, so that there is no index of what is not there
        write_file(folder / INDEX, html.to_index(result, places=places, data_file=DATA))
        for old in sorted((folder / PAGES).glob("*.html")):
            if old.name not in pages and _is_ours(old):
                old.unlink()
    except OSError as error:
        raise ReportError(f"Cannot write {error.filename or folder}: {error.strerror or error}.") from None
    return folder / INDEX


def refuse_folder(folder: Path) -> None:
    """Refuse a folder that cannot hold a report, or in which a file that is not dpaudit's would be overwritten.

    Raises:
        ReportError: with the path, and why.
    """
    if folder.exists() and not folder.is_dir():
        raise ReportError(f"Cannot write a report into {folder}: it is a file; name a folder.")
    if not folder.resolve().parent.is_dir():
        raise ReportError(f"Cannot write a report into {folder}: there is no folder {folder.parent}.")
    index = folder / INDEX
    pages = [path for path in (index, *(folder / PAGES).glob("*.html")) if path.exists()]
    foreign = [path for path in pages if not _is_ours(path)]
    # an index is written last: whoever was killed before it left pages that are ours, and the data
    foreign += [path for path in (folder / DATA,) if path.exists() and not any(map(_is_ours, pages))]
    foreign += [path for path in (folder / PAGES,) if path.exists() and not path.is_dir()]
    if foreign:
        raise ReportError(f"{foreign[0]} is not of a report that dpaudit wrote; name another folder.")


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return _OURS in file.read(1_000)
    except (OSError, UnicodeDecodeError):
        return False


def page_names(names: Iterable[str]) -> dict[str, str]:
    """The file name of every algorithm's page; no two are equal, also where case does not count.

    Args:
        names: of the algorithms of a result, in the order of its audits; repeated ones are left out.
    """
    pages: dict[str, str] = {}
    for name in dict.fromkeys(names):
        words = _WORDS.sub("-", name).lower()
        stem = re.sub(r"[^a-z0-9]+", "-", words)[:_LONGEST].strip("-") or "audit"
        page, number = f"{stem}.html", 1
        while page in pages.values():
            number += 1
            page = f"{stem}-{number}.html"
        pages[name] = page
    return pages


def _part(result: Result, name: str, page: str, places: dict[str, str]) -> Result:
    """What the page of one algorithm shows; where each of its audits stands is added to `places`."""
    kinds: tuple[tuple[str, Sequence[Audit | UtilityAudit]], ...] = (
        ("audit", result.audits), ("utility", result.utility)
    )
    for kind, audits in kinds:
        here = [number for number, audit in enumerate(audits, 1) if audit.name == name]
        # a page counts its own audits
        places.update({f"{kind}-{n}": f"{PAGES}/{page}#{kind}-{i}" for i, n in enumerate(here, 1)})
    return replace(
        result,
        audits=[audit for audit in result.audits if audit.name == name],
        utility=[audit for audit in result.utility if audit.name == name],
        comparison=None,
    )

