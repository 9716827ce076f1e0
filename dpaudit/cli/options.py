"""Options that several commands share, each written down once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from dpaudit.language import relation_names
from dpaudit.plans import registry
from dpaudit.report.files import Outputs

_Command = TypeVar("_Command", bound=Callable[..., Any])

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="One line for each audit, no progress.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Worker processes (default: all cores).")]


def algorithms(incomplete: str) -> list[str]:
    """Registered names that begin so, for a shell."""
    return [name for name in (*registry.names(), *registry.names(registry.CORPUS)) if name.startswith(incomplete)]


def contests(incomplete: str) -> list[str]:
    """Comparisons that begin so, for a shell."""
    return [name for name in registry.names(registry.CONTESTS) if name.startswith(incomplete)]


def relations(incomplete: str) -> list[str]:
    """Relations that begin so, for a shell."""
    return [name for name in relation_names() if name.startswith(incomplete)]


Relation = Annotated[
    str | None,
    typer.Option(
        help="replace-one or add-remove-one; for groups of k add :k (replace-one:3).", autocompletion=relations
    ),
]
Changed = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="Change a parameter of the mechanism; repeatable."),
]
Seconds = Annotated[float | None, typer.Option("--time", metavar="SECONDS", help="Stop after this long.")]


def _path(option: str, metavar: str, text: str) -> Any:
    return Annotated[str | None, typer.Option(option, metavar=metavar, help=text)]


_OUTPUTS: dict[str, Any] = {
    "html": _path("--html", "FILE", "Write an HTML report: one file, with everything in it."),
    "json": _path("--json", "FILE", "Write JSON; - for stdout."),
    "junit": _path("--junit", "FILE", "Write JUnit XML: a test case for each claim; - for stdout."),
    "sarif": _path("--sarif", "FILE", "Write SARIF, for code scanning; - for stdout."),
    "markdown": _path("--markdown", "FILE", "Write Markdown, for a pull request; - for stdout."),
    "events": _path("--events", "FILE", "Write each event as a line of JSON, as it comes; - for stdout."),
    "report": _path("--report", "DIR", "Write an HTML report into a folder: an index, a page for each algorithm."),
}
"""The options of `Outputs`, by field."""


def with_outputs(command: _Command) -> _Command:
    """Give a command the options of `Outputs`, in the place of its parameter `outputs`, which gets them as one.

    The parser reads options off a function's signature, so this puts the one parameter's options there.
    """
    assert set(_OUTPUTS) == {field.name for field in fields(Outputs)}
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "outputs":
            parameters += [
                inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
                for option, annotation in _OUTPUTS.items()
            ]
        else:
            # the parser passes all by name, so that their order is that of the help alone
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def parsed(**values: Any) -> Any:
        outputs = Outputs(**{option: values.pop(option) for option in _OUTPUTS})
        return command(**values, outputs=outputs)

    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` reads
    parsed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return parsed  # type: ignore[return-value]  # to its callers, which are the parser alone, it is the command
