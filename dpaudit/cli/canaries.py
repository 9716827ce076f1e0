"""`dpaudit scores` and `dpaudit guesses`: from words to a result, and the result on stdout or in a file."""

from __future__ import annotations

import shlex
from typing import Any

import typer

from dpaudit.api.canaries import GuessesResult, ScoresResult
from dpaudit.api.guesses import audited_guesses
from dpaudit.api.scores import audit_recorded_scores
from dpaudit.cli.terminal import complain, say
from dpaudit.errors import ReportError
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_MIN_POWER
from dpaudit.plans.recorded_files import read_recorded
from dpaudit.subjects.recorded import RecordedFiles
from dpaudit.whole_files import write_file

NAME = "scores of canaries"


def scores_of(in_scores: str, out_scores: str, *, column: str | None, **settings: Any) -> ScoresResult:
    """The audit of two files of scores."""
    recorded = read_recorded(RecordedFiles((in_scores, out_scores), column=column, name=NAME))
    return audit_recorded_scores(
        recorded, relation=None, time=None, progress=None, door="command line",
        call=_line(["scores", in_scores, out_scores], {"column": column, **settings}), **settings,
    )


def guesses_of(canaries: int, guessed: int, correct: int, **settings: Any) -> GuessesResult:
    """The audit of numbers of guesses."""
    words = ["guesses", "--canaries", str(canaries), "--guessed", str(guessed), "--correct", str(correct)]
    return audited_guesses(
        canaries, guessed, correct, door="command line", call=_line(words, settings), **settings
    )


def finish_canaries(result: ScoresResult | GuessesResult, json: str | None) -> None:
    """Show, write, and exit with the code of the verdict."""
    code = result.exit_code
    if json == "-":
        say(result.to_json())
        raise typer.Exit(code)
    say(f"{result}\n")
    if json is not None:
        try:
            write_file(json, result.to_json())
        except OSError as error:
            complain(str(ReportError(f"Cannot write {json}: {error.strerror or error}.")))
            code = 2
    raise typer.Exit(code)


def _line(words: list[str], settings: dict[str, Any]) -> str:
    """The command line, without options that have their defaults."""
    defaults = {"alpha": DEFAULT_ALPHA, "min_power": DEFAULT_MIN_POWER, "seed": None}
    for name, value in settings.items():
        if value is not None and value != defaults.get(name):
            words = [*words, f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(["dpaudit", *words])
