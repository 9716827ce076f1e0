"""`dpaudit scores` and `dpaudit guesses`: from words to a result, and the result on stdout or in a file."""

from __future__ import annotations

import shlex
from typing import Any, NoReturn

import typer

from dpaudit.api.canaries import GuessesResult, ScoresResult
from dpaudit.api.guesses import audited_guesses
from dpaudit.api.scores import audit_recorded_scores
from dpaudit.cli.terminal import complain, say
from dpaudit.errors import ReportError
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_MIN_POWER
from dpaudit.plans.recorded_files import read_recorded
from dpaudit.report.files import STDOUT, Outputs
from dpaudit.subjects.recorded import RecordedFiles
from dpaudit.whole_files import write_file

NAME = "scores of canaries"


def scores_of(
    in_scores: str, out_scores: str, *, column: str | None, paired: bool, blocks: str | None, **settings: Any
) -> ScoresResult:
    """The audit of two files of scores."""
    words = RecordedFiles((in_scores, out_scores), column=column, paired=paired, blocks=blocks, name=NAME)
    given = {"column": column, "paired": paired, "blocks": blocks, **settings}
    return audit_recorded_scores(
        read_recorded(words), relation=None, time=None, progress=None, door="command line",
        call=_line(["scores", in_scores, out_scores], given), **settings,
    )


def guesses_of(canaries: int, guessed: int, correct: int, **settings: Any) -> GuessesResult:
    """The audit of numbers of guesses."""
    words = ["guesses", "--canaries", str(canaries), "--guessed", str(guessed), "--correct", str(correct)]
    return audited_guesses(
        canaries, guessed, correct, door="command line", call=_line(words, settings), **settings
    )


def finish_canaries(result: ScoresResult | GuessesResult, outputs: Outputs) -> NoReturn:
    """Show, write, and exit with the code of the verdict."""
    code = result.exit_code
    if outputs.json == STDOUT:
        say(result.to_json())
    else:
        say(f"{result}\n")
    for path, write in ((outputs.json, result.to_json), (outputs.html, result.to_html)):
        if path in (None, STDOUT):
            continue
        try:
            write_file(path, write())
        except (OSError, ReportError) as error:
            why = error.strerror if isinstance(error, OSError) else None
            complain(str(ReportError(f"Cannot write {path}: {why or error}.")))
            code = 2
    raise typer.Exit(code)


def _line(words: list[str], settings: dict[str, Any]) -> str:
    """The command line, without options that have their defaults."""
    defaults = {"alpha": DEFAULT_ALPHA, "min_power": DEFAULT_MIN_POWER, "seed": None}
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words = [*words, flag]
        elif value not in (None, False) and value != defaults.get(name):
            words = [*words, flag, str(value)]
    return shlex.join(["dpaudit", *words])
