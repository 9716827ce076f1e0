"""What the command line says of itself."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from typed_commands import Typed


@pytest.mark.parametrize("line", ["--version", "--version check", "--version check nothing --nosuch"])
def test_version(typed: Typed, line: str) -> None:
    said = typed(line)
    assert (said.code, said.out, said.err) == (0, f"dpaudit {version('dpaudit')}\n", "")


@pytest.mark.parametrize("command", ["", "list", "show", "check", "report", "replay"])
def test_help_is_short_too(typed: Typed, command: str) -> None:
    long, short = typed(f"{command} --help"), typed(f"{command} -h")
    assert long == short
    assert long.code == 0
    assert long.out.startswith(f"Usage: dpaudit {command}".strip())
    assert "-h, --help" in long.out
