"""The reference's generated pages: command line, configuration, exit codes, the JSON form, Python."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import typer

import dpaudit.errors
from docs_python import python_pages
from docs_text import code, plain, table
from dpaudit import config
from dpaudit.cli import commands
from dpaudit.options import KINDS
from dpaudit.results import json_form
from dpaudit.results.model import FORMAT_VERSION

HERE = "reference/generated"


def pages() -> dict[str, str]:
    """Path under docs/ → text."""
    made = {
        "command-line": _command_line(),
        "configuration": _configuration(),
        "exit-codes": _exit_codes(),
        "json": _json(),
    }
    if find_spec("dpaudit.pytest_plugin") is not None:
        made["pytest"] = _pytest()
    return {f"{HERE}/{name}.md": text for name, text in {**made, **python_pages()}.items()}


def typed_commands() -> dict[str, Any]:
    """Name → command, as the parser has them."""
    group: Any = typer.main.get_command(commands.app)
    return {name: command for name, command in group.commands.items() if not command.hidden}


def _command_line() -> str:
    group: Any = typer.main.get_command(commands.app)
    parts = [
        "# Command line\n",
        "stdout carries the result, stderr the progress and what went wrong. {doc}`exit-codes` says how commands end.",
        "Every command tells its options: `dpaudit check --help`.\n",
        _options(group, "dpaudit"),
    ]
    for name, command in typed_commands().items():
        context = command.make_context(name, [], resilient_parsing=True)
        usage = " ".join(f"dpaudit {name} {' '.join(command.collect_usage_pieces(context))}".split())
        head = f"## dpaudit {name}\n\n{plain(command.help or '')}\n\n```text\n{usage}\n```\n"
        parts += [head, _options(command, name)]
    return "\n".join(parts)


def _options(command: Any, name: str) -> str:
    """The records of `--help`: the one form in which every version of typer tells an option."""
    context = command.make_context(name, [], resilient_parsing=True)
    records = (option.get_help_record(context) for option in command.get_params(context))
    rows = [[code(words), plain(about)] for words, about in filter(None, records)]
    return table(["option", "does"], rows) if rows else ""


def _configuration() -> str:
    options = {word for command in typed_commands().values() for option in command.params for word in option.opts}
    rows = []
    for key, setting in config.SETTINGS.items():
        option = code(f"--{key}") if f"--{key}" in options else ""
        rows.append([code(key), KINDS[setting.kind].__name__, plain(setting.about), option])
    example = '[tool.dpaudit]\nalpha = 0.01\nruns = 50000\nseed = 1\n'
    return (
        "# Configuration\n\nDefaults of a project stand in the `[tool.dpaudit]` table of its `pyproject.toml`, for the "
        "command line and for pytest\nalike. The nearest file that has such a table counts, from the working directory "
        "upwards; what is given on the command\nline or in a call comes first.\n\n"
        f"```toml\n{example}```\n\n" + table(["key", "type", "is", "option"], rows)
        + "\nAn unknown key, or a value of another type, is an error with exit code 2.\n"
    )


_PROCESSES = """\
The `dpaudit` command runs in two processes: one audits, and one supervises it. If a mechanism calls `os._exit`, crashes
the process or gets it killed, the supervisor says which audit was running and how it ended, records that audit as
crashed, and starts another process for the remaining audits. The results of audits that had ended are kept, every
output file is written, and the exit code is 4. A process that does not react to `--time` is killed 5 seconds later, and
one that does not react to a second Ctrl-C 3 seconds later. If the import of your file ends the process, there is
nothing to audit, and the exit code is 4.

Set `DPAUDIT_ONE_PROCESS=1` to run in one process, for a debugger that attaches by process id or for a profiler.

In Python and pytest the process is yours: a mechanism that calls `os._exit` ends your program. With `pytest -n 1`
(pytest-xdist) tests run in a worker process, and pytest reports a worker that was lost as a failure of its test.
"""


def _exit_codes() -> str:
    rows = [
        ["0", "no audit FAILs (with `--expect`: every verdict is the one that the catalogue expects)"],
        ["1", "some audit FAILs"],
        ["2", "usage or configuration: an option, a name, a file, a dataset cannot be used as given"],
        ["3", "some audit is INCONCLUSIVE, none FAILs; or a time limit came before anything was found"],
        [
            "4", "a mechanism raised or misbehaved, ended or crashed dpaudit's process, or hung beyond the time limit; "
            "or dpaudit itself failed (`DPAUDIT_TRACEBACK=1` shows where)",
        ],
        ["130", "interrupted"],
    ]
    errors = [
        [f"`{name}`", f"`{kind.__mro__[1].__name__}`", str(kind.exit_code), plain((kind.__doc__ or "").strip())]
        for name, kind in _errors()
    ]
    return (
        "# Exit codes and errors\n\n" + table(["code", "means"], rows)
        + "\nA crash (4) weighs more than a FAIL (1), a FAIL more than an INCONCLUSIVE (3).\n\n"
        "## Mechanisms that end the process\n\n" + _PROCESSES + "\n## Errors in Python\n\n"
        "Everything that is somebody's mistake, and no bug of dpaudit's, is raised as one tree, `dpaudit.errors`:\n\n"
        + table(["class", "is a", "exit code", "means"], errors)
    )


def _errors() -> Iterator[tuple[str, type[dpaudit.errors.DpauditError]]]:
    for name, kind in vars(dpaudit.errors).items():
        if isinstance(kind, type) and issubclass(kind, dpaudit.errors.DpauditError):
            yield name, kind


def _json() -> str:
    schema = json_form.schema()
    definitions = dict(schema["$defs"])
    result = definitions.pop("Result")
    parts = [
        "# JSON form of a result\n",
        f"{plain(result['description'])} `dpaudit check --json FILE` writes it, `dpaudit report FILE` and",
        "{py:func}`dpaudit.results.json_form.from_json` read it; {py:func}`dpaudit.results.json_form.schema` gives its",
        "JSON Schema (2020-12). Keys are added and not renamed within a major version; this is format",
        f"{FORMAT_VERSION}.\n",
        _object("result", result),
        *(_object(name, part) for name, part in definitions.items()),
    ]
    return "\n".join(parts)


def _object(name: str, part: dict[str, Any]) -> str:
    required = set(part.get("required", ()))
    rows = [
        [code(key), _kind(value), "yes" if key in required else "", plain(value.get("description", ""))]
        for key, value in part.get("properties", {}).items()
    ]
    about = f"{plain(part.get('description', ''))}\n" if name != "result" else ""
    fields = table(["key", "type", "always there", "is"], rows) if rows else f"{_kind(part)}\n"
    return f"(json-{name.replace('_', '-')})=\n## {name.replace('_', ' ')}\n\n{about}\n{fields}"


def _kind(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"{{ref}}`{name.replace('_', ' ')} <json-{name.replace('_', '-')}>`"
    for key in ("oneOf", "anyOf"):
        if key in value:
            return " or ".join(dict.fromkeys(_kind(one) for one in value[key]))
    if "enum" in value:
        return ", ".join(code(str(one)) for one in value["enum"])
    if "const" in value:
        return code(str(value["const"]))
    kind = value.get("type", "any JSON")
    names = " or ".join(kind) if isinstance(kind, list) else kind
    if isinstance(value.get("items"), dict) and "array" in names:
        return f"{names} of {_kind(value['items'])}"
    return names


def _pytest() -> str:
    """The plugin's options and markers, from its own declarations."""
    import pytest

    manager = pytest.PytestPluginManager()
    parser = pytest.Parser(_ispytest=True)
    manager.import_plugin("dpaudit.pytest_plugin")
    manager.hook.pytest_addoption.call_historic(kwargs={"parser": parser, "pluginmanager": manager})
    rows = [
        [", ".join(map(code, option.names())), plain(option.attrs().get("help") or "")]
        for group in parser._groups
        for option in group.options
        if any(name.startswith("--dp") for name in option.names())
    ]
    return (
        "# pytest plugin\n\nInstalled with dpaudit; {doc}`../../how-to/pytest` shows how to use it. Fixtures and "
        "marks: `pytest --fixtures`, `pytest --markers`.\n\n" + table(["option", "does"], rows)
    )
