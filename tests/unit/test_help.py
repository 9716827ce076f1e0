"""What the command line says of itself."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from typed_commands import Typed

from dpaudit.language import relation_names
from dpaudit.options import OPTIONS, PANELS


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


def test_check_has_panels_defaults_relations_exit_codes_and_examples(typed: Typed) -> None:
    text = typed("check --help").out
    places = [text.index(f"\n{heading}:\n") for heading in (*PANELS, "Exit codes", "Examples")]
    assert places == sorted(places)
    assert all(name in text for name in relation_names())
    assert all(f"[default: {value}]" in text for value in ("0.001", "2.0", "0", "no limit", "all cores", "10"))
    examples = text[places[-1] :].splitlines()[2:]
    assert len(examples) == 3
    assert all(line.startswith("  dpaudit check ") for line in examples)


@pytest.mark.parametrize("command", ["check", "verify", "worst", "compare", "stability", "trace"])
@pytest.mark.parametrize("columns", ["80", "60"])
def test_help_fits_and_every_option_is_in_its_panel(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, command: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = typed(f"{command} --help").out
    panels, _, end = text.partition("\nExit codes:\n")
    assert max(map(len, panels.splitlines())) <= int(columns)
    assert max(map(len, end.splitlines())) <= 80
    for option in OPTIONS[command]:
        place = text.index(f"  {option.flag}")
        assert max((panel for panel in PANELS if f"\n{panel}:\n" in text[:place]), key=text.index) == option.panel
