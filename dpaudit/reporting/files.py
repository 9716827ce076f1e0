"""Reports as files: read back, written, and refused before the runs rather than after them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from dpaudit.auditing.results import Result
from dpaudit.errors import ReportError
from dpaudit.reporting import json_form
from dpaudit.reporting.html import to_html


def read(path: str) -> Result:
    """The result in a file that `--json` wrote.

    Raises:
        ReportError: the file cannot be read, or holds no result.
    """
    if not path:
        raise ReportError("'' names no file to read; give what `dpaudit check --json FILE` wrote.")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"Cannot read {path}: {_why(error)}.") from None
    return json_form.from_json(text, where=path)


def refuse_unwritable(html: str | None, json: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse report paths that cannot be written, or would overwrite one another or what the report is made from.

    Args:
        html: where the page goes; None for nowhere.
        json: where the JSON goes; "-" for stdout.
        inputs: files that are read.

    Raises:
        ReportError: with the path, and why.
    """
    if html == "-":
        raise ReportError("--html writes a file, not stdout; name one.")
    json = None if json == "-" else json
    if html and json and Path(html).resolve() == Path(json).resolve():
        raise ReportError(f"--html and --json cannot both write {html}; name two files.")
    taken = {Path(path).resolve() for path in inputs}
    for option, path in (("--html", html), ("--json", json)):
        if path is None:
            continue
        if not path:
            raise ReportError(f"{option} '' names no file; give a name.")
        file = Path(path)
        if file.is_dir():
            raise ReportError(f"Cannot write {path!r}: it is a folder; name a file.")
        if file.resolve() in taken:
            raise ReportError(f"{option} would overwrite {path}, which is read here; name another file.")
        if not file.parent.is_dir():
            raise ReportError(f"Cannot write {path}: there is no folder {file.parent}.")
        existed = file.exists()
        try:
            with file.open("a", encoding="utf-8"):
                pass
            if not existed:
                file.unlink()
        except OSError as error:
            raise ReportError(f"Cannot write {path}: {_why(error)}.") from None


def write(result: Result, html: str | None, json: str | None) -> list[ReportError]:
    """Write all reports that can be written; the errors of those that cannot."""
    failures = []
    if json == "-":
        sys.stdout.write(json_form.to_json(result))
    for path, render in ((None if json == "-" else json, json_form.to_json), (html, to_html)):
        if path is not None:
            try:
                _save(path, render(result))
            except ReportError as error:
                failures.append(error)
    return failures


def _save(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"Cannot write {path}: {_why(error)}.") from None
    except UnicodeEncodeError as error:
        raise ReportError(f"Cannot write {path}: {error.object[error.start]!r} is no Unicode text.") from None


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"
