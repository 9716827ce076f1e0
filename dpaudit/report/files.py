"""Reports as files: read back, written, and refused before the runs rather than after them."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dpaudit.errors import ReportError, WriterError
from dpaudit.options import REPORT
from dpaudit.whole_files import encoded, read_file, refuse_unwritable_file, write_file

# the command line reads `Outputs` at every start: a writer is imported when it writes
if TYPE_CHECKING:
    from rich.console import Console

    from dpaudit.results.model import Result
    from dpaudit.results.stability import StabilityRecord

STDOUT = "-"


def _output(about: str, render: Callable[[Result, bool], str] | None, metavar: str = "FILE") -> str | None:
    """A field of `Outputs`.

    Args:
        about: the help of its option.
        render: result, and whether expected verdicts are in order → the file's text; None for what `write` and the
            command line make themselves.
        metavar: what the help calls the path.
    """
    made: str | None = field(default=None, metadata={"about": about, "render": render, "metavar": metavar})
    return made


def _to_json(result: Result, expect: bool) -> str:
    from dpaudit.results.json_form import to_json

    return to_json(result)


def _to_junit(result: Result, expect: bool) -> str:
    from dpaudit.report.junit import to_junit

    return to_junit(result, expect=expect)


def _to_sarif(result: Result, expect: bool) -> str:
    from dpaudit.report.sarif import to_sarif

    return to_sarif(result, expect=expect)


def _to_markdown(result: Result, expect: bool) -> str:
    from dpaudit.report.markdown import to_markdown

    return to_markdown(result, expect=expect)


@dataclass(frozen=True)
class FileOutputs:
    """Where one result goes besides the terminal; None for nowhere, "-" for stdout. Every field is an option.

    Args:
        html: one HTML file; never stdout.
        json: the result as JSON.
        junit: JUnit XML.
        sarif: SARIF 2.1.0.
        markdown: Markdown for a pull request.
    """

    html: str | None = _output("Write an HTML report as a single file.", None)
    json: str | None = _output("Write JSON; - for stdout.", _to_json)
    junit: str | None = _output("Write JUnit XML: a test case for each claim; - for stdout.", _to_junit)
    sarif: str | None = _output("Write SARIF, for code scanning; - for stdout.", _to_sarif)
    markdown: str | None = _output("Write Markdown, for a pull request; - for stdout.", _to_markdown)

    @property
    def named(self) -> dict[str, str]:
        """Option ("--html") and path of everything that is written, "-" and "" too."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {f"--{name}": value for name, value in values if value is not None}

    @property
    def take_stdout(self) -> bool:
        """Whether one of them is written to stdout, which then holds nothing else."""
        return STDOUT in self.named.values()


@dataclass(frozen=True)
class Outputs(FileOutputs):
    """Where a run's result goes, also one of many audits; `FileOutputs`, and more.

    Args:
        html, json, junit, sarif, markdown: as of `FileOutputs`.
        events: NDJSON, a line for each event, while the run goes on.
        report: a folder of HTML pages; never stdout.
    """

    events: str | None = _output("Write events as lines of JSON as they happen; - for stdout.", None)
    report: str | None = _output(REPORT.about, None, REPORT.metavar)


def read(path: str) -> Result:
    """The result in a file that `--json` wrote.

    Raises:
        ReportError: the file cannot be read, or holds no result.
    """
    from dpaudit.results import json_form

    if not path:
        raise ReportError("'' names no file to read; give what `dpaudit check --json FILE` wrote.")
    try:
        text = read_file(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"Cannot read {path}: {_why(error)}.") from None
    return json_form.from_json(text, where=path)


def stability_in(path: str) -> StabilityRecord | None:
    """The result in a file that `dpaudit stability --json` wrote; None where the file is another or cannot be read.

    Raises:
        ReportError: it is one with a mistake in it.
    """
    from dpaudit.results.stability import StabilityRecord

    try:
        text = read_file(path) if path else ""
        value = json.loads(text)
    except (OSError, ValueError):
        return None
    return StabilityRecord.from_json(text) if isinstance(value, dict) and {"metric", "allowed"} <= set(value) else None


def refuse_unwritable(outputs: FileOutputs, inputs: Iterable[str] = ()) -> None:
    """Refuse report paths that cannot be written, or would overwrite one another or what the report is made from.

    Args:
        outputs: where everything goes.
        inputs: files that are read.

    Raises:
        ReportError: with the path, and why.
    """
    named = outputs.named
    for option in ("--html", "--report"):
        if named.get(option) == STDOUT:
            raise ReportError(f"{option} writes a {'file' if option == '--html' else 'folder'}, not stdout; name one.")
    on_stdout = [option for option, path in named.items() if path == STDOUT]
    if len(on_stdout) > 1:
        first, second, *_ = on_stdout
        raise ReportError(f"{first} and {second} cannot both write to stdout; name a file for one of them.")
    # resolve() raises where links form a loop; whoever reads such a file says so
    taken = {Path(os.path.realpath(path)) for path in inputs}
    written: dict[Path, str] = {}
    for option, path in named.items():
        if path == STDOUT:
            continue
        if not path:
            raise ReportError(f"{option} '' names no {'folder' if option == '--report' else 'file'}; give a name.")
        file = Path(path)
        if file.resolve() in written:
            raise ReportError(f"{written[file.resolve()]} and {option} cannot both write {path}; name two files.")
        written[file.resolve()] = option
        if option == "--report":
            _refuse_folder(file, taken, written)
        else:
            _refuse_file(option, path, taken, named.get("--report"))


def _refuse_file(option: str, path: str, taken: set[Path], report: str | None) -> None:
    file = Path(path)
    if file.is_dir():
        raise ReportError(f"Cannot write {path!r}: it is a folder; name a file.")
    if file.resolve() in taken:
        raise ReportError(f"{option} would overwrite {path}, which is read here; name another file.")
    # the folder of --report is made before anything is written
    made = report not in (None, "", STDOUT) and file.parent.resolve() == Path(report or "").resolve()
    if not file.parent.is_dir():
        if made:
            return
        raise ReportError(f"Cannot write {path}: there is no folder {file.parent}.")
    try:
        refuse_unwritable_file(path)
    except OSError as error:
        raise ReportError(f"Cannot write {path}: {_why(error)}.") from None


def _refuse_folder(folder: Path, taken: set[Path], written: Mapping[Path, str]) -> None:
    from dpaudit.report.report_dir import DATA, INDEX, PAGES, refuse_folder  # it imports what draws figures

    refuse_folder(folder)
    own = {(folder / name).resolve() for name in (INDEX, DATA)}
    pages = (folder / PAGES).resolve()
    for file in taken:
        if file in own:
            path = folder / file.name
            raise ReportError(f"--report would overwrite {path}, which is read here; name another folder.")
    for file, option in written.items():
        if option != "--report" and (file in own or pages in (file, *file.parents)):
            raise ReportError(f"{option} and --report cannot both write {file.name}; name another file.")


def same_file(path: str | None, other: str | None) -> bool:
    """Whether two names, either of which may be None or "-", are of one file."""
    named = [name for name in (path, other) if name not in (None, "", STDOUT)]
    return len(named) == 2 and Path(named[0] or "").resolve() == Path(named[1] or "").resolve()


def write(
    result: Result, outputs: Outputs, *, expect: bool = False, jobs: int = 1, progress: Console | None = None,
    evidence: str | None = None,
) -> list[ReportError]:
    """Write every report but the events, whatever becomes of the others; the errors of those that cannot be written.

    The JSON comes first, because everything else can be made from it, and stdout last, because its reader may go away.

    Args:
        result: what to write.
        outputs: where to.
        expect: whether a verdict that the catalogue expects is in order, whatever it is.
        jobs: processes that draw.
        progress: where to show how far it is.
        evidence: the file with the evidence of earlier runs. Where it is the JSON's too, what it holds and `result`
            does not is kept (`dpaudit.results.earlier`), as it is at that moment.
    """
    from dpaudit.report.progress import Writing

    failures: list[ReportError] = []
    renderers = {f"--{field.name}": field.metadata["render"] for field in fields(Outputs)}
    times = sum(option in outputs.named for option in ("--html", "--report"))
    with Writing(progress, times * len(result.audits)) as writing:
        for option, path in _ordered(outputs):
            try:
                if option == "--report":
                    from dpaudit.report.report_dir import write_report

                    write_report(Path(path), result, jobs=jobs, step=writing.step)
                elif option == "--html":
                    from dpaudit.report.figures import figures_of_pages
                    from dpaudit.report.html import to_html

                    drawn = figures_of_pages([result.audits], jobs=jobs)
                    _save(path, to_html(result, drawn=drawn, step=writing.step))
                elif option == "--json" and same_file(path, evidence) and Path(path).exists():
                    from dpaudit.results.earlier import with_earlier

                    _save(path, _to_json(with_earlier(result, read(path)), expect))
                elif (render := renderers.get(option)) is not None:
                    _save(path, render(result, expect))
            except ReportError as error:
                failures.append(error)
            except Exception as error:
                # a bug in one report must not take the others with it
                if os.environ.get("DPAUDIT_TRACEBACK"):
                    raise
                failures.append(WriterError(option, path, error))
    return failures


def _ordered(outputs: FileOutputs) -> list[tuple[str, str]]:
    """Options and paths in the order in which they are written."""
    return sorted(outputs.named.items(), key=lambda item: (item[1] == STDOUT, item[0] != "--json"))


def write_stability(result: StabilityRecord, outputs: FileOutputs) -> list[ReportError]:
    """Write every report of an audit of stability, as `write` does; the errors of those that cannot be written."""
    failures: list[ReportError] = []
    for option, path in _ordered(outputs):
        try:
            _save(path, stability_text(result, option))
        except ReportError as error:
            failures.append(error)
        except Exception as error:
            # a bug in one report must not take the others with it
            if os.environ.get("DPAUDIT_TRACEBACK"):
                raise
            failures.append(WriterError(option, path, error))
    return failures


def stability_text(result: StabilityRecord, option: str) -> str:
    """What an option writes of an audit of stability.

    Args:
        result: the audit.
        option: "--html", "--json", "--junit", "--sarif" or "--markdown".
    """
    if option == "--json":
        return result.to_json()
    if option == "--html":
        from dpaudit.report.html import stability_to_html

        return stability_to_html(result)
    if option == "--junit":
        from dpaudit.report.junit import stability_to_junit

        return stability_to_junit(result)
    if option == "--sarif":
        from dpaudit.report.sarif import stability_to_sarif

        return stability_to_sarif(result)
    from dpaudit.report.markdown import stability_to_markdown

    return stability_to_markdown(result)


def save(path: str | Path, writers: Mapping[str, Callable[[], str]]) -> None:
    """Write what the ending of a file's name asks for.

    Args:
        path: of the file.
        writers: what makes the text, by ending, such as ".html".

    Raises:
        ReportError: another ending, or the file cannot be written.
    """
    write = writers.get(Path(path).suffix.lower())
    if write is None:
        raise ReportError(f"Cannot write {path}: its name must end in {' or '.join(writers)}.")
    text = write()
    try:
        write_file(path, text)
    except OSError as error:
        raise ReportError(f"Cannot write {path}: {_why(error)}.") from None


def _save(path: str, text: str) -> None:
    try:
        if path == STDOUT:
            say(text)
        else:
            write_file(path, text)
    except OSError as error:
        where = "to stdout" if path == STDOUT else path
        raise ReportError(f"Cannot write {where}: {_why(error)}.") from None


def say(text: str) -> None:
    """Write onto stdout, at once, in UTF-8 as into a file; if its reader has gone (`| head`), what follows is dropped.

    Raises:
        OSError: it is closed, or cannot be written, as on a full disk; what follows is dropped, too.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(text))
        sys.stdout.flush()
    except OSError as error:
        drop(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise


def drop(stream: TextIO | None) -> None:
    """Let what is still to be written to stdout or stderr go nowhere: also what its buffer holds when Python ends."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"
