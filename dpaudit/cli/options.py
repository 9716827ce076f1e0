"""Options that several commands share, each written down once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import typer

from dpaudit import options
from dpaudit.plans import registry
from dpaudit.report.files import Outputs

_Command = TypeVar("_Command", bound=Callable[..., object])


def about(option: options.Option) -> str:
    """What the help says of an option; a default that is no value is written as the parser writes the others."""
    return f"{option.about}  [default: {option.unset}]" if option.unset else option.about


def _not_both(context: typer.Context, value: bool) -> bool:
    """Refuse --quiet with --verbose; whichever is read second sees the other."""
    if value and (context.params.get("quiet") or context.params.get("verbose")):
        raise typer.BadParameter("give --quiet or --verbose, not both")
    return value


WHAT, OUTPUT = options.PANELS[0], options.PANELS[-1]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print one line per audit, without progress.", rich_help_panel=OUTPUT,
                 callback=_not_both),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also print how each verdict was made.", rich_help_panel=OUTPUT,
                 callback=_not_both),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help=about(options.JOBS), metavar="N", rich_help_panel=options.JOBS.panel),
]
Given: TypeAlias = dict[str, Any]
"""What a command was given of the options of the table, by key: the type of the parameter that stands for them."""


def algorithms(incomplete: str) -> list[str]:
    """Registered names that begin so, for a shell."""
    return [name for name in (*registry.names(), *registry.names(registry.CORPUS)) if name.startswith(incomplete)]


def comparisons(incomplete: str) -> list[str]:
    """Comparisons that begin so, for a shell."""
    return [name for name in registry.names(registry.COMPARISONS) if name.startswith(incomplete)]


def relations(incomplete: str) -> list[str]:
    """Relations that begin so, for a shell."""
    from dpaudit.language import relation_names

    return [name for name in relation_names() if name.startswith(incomplete)]


_METAVARS = {"number": "NUMBER", "count": "N", "text": "TEXT"}
_OUTPUTS: dict[str, object] = {
    field.name: Annotated[
        str | None,
        typer.Option(
            f"--{field.name}", metavar=field.metadata["metavar"], help=field.metadata["about"], rich_help_panel=OUTPUT
        ),
    ]
    for field in fields(Outputs)
}
"""The options of `Outputs`, by field."""


def with_options(command: _Command) -> _Command:
    """Give a command the options of the table in the place of its parameter `given`, and those of `Outputs` in that of
    `outputs`; each gets its own as one value.

    The parser reads options off a function's signature, so this puts them there. The name of the function before
    "_command" says which part of the table it has.
    """
    table = options.OPTIONS.get(command.__name__.removesuffix("_command"), ())
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        # the parser passes all by name, so that their order is that of the help alone
        if name == "outputs":
            parameters += [_parameter(one.name, None, _OUTPUTS[one.name]) for one in fields(hints["outputs"])]
        elif name == "given":
            parameters += [_parameter(option.key, option.default, _annotation(option)) for option in table]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def parsed(**values: Any) -> object:
        if "outputs" in hints:
            values["outputs"] = hints["outputs"](**{one.name: values.pop(one.name) for one in fields(hints["outputs"])})
        if table:
            values["given"] = {option.key: values.pop(option.key) for option in table}
        return command(**values)

    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` reads
    parsed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return parsed  # type: ignore[return-value]  # to its callers, which are the parser alone, it is the command


def _parameter(name: str, default: object, annotation: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(option: options.Option) -> object:
    """What the parser reads the option's words as."""
    kind: Any = {"pair": tuple[str, str], "parameters": list[str]}.get(option.kind, options.KINDS[option.kind])
    flag = f"{option.flag}/--no-{option.flag.removeprefix('--')}" if option.off else option.flag
    words = typer.Option(
        flag, help=about(option), metavar=option.metavar or _METAVARS.get(option.kind), rich_help_panel=option.panel,
        show_default=not option.unset,
        autocompletion=relations if option.kind == "relation" else None,
    )
    return Annotated[kind if option.default is not None else kind | None, words]
