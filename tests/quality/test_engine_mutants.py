"""The list of mutants fits the code: each changes one place, is Python, and names tests that exist."""

from __future__ import annotations

import ast
import os
from functools import cache
from pathlib import Path

import pytest
from engine_mutants import MUTANTS, ROOT, Mutant, imported_by_processes, sources


@cache
def names_in(file: str) -> set[str]:
    """Names of the tests of a file below `tests/`."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_changes_one_place_and_is_python(mutant: Mutant) -> None:
    changed = mutant.mutated(ROOT)
    original = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(original))
    compile(changed, mutant.file, "exec")
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert names_in(file)
        assert not name or name.partition("[")[0] in names_in(file), f"{file} has no {name}"


def test_mutants_have_names_and_purposes_of_their_own() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) >= 51
    assert len({mutant.breaks for mutant in MUTANTS}) == len(MUTANTS)


def test_processes_that_tests_start_import_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dpaudit").mkdir()
    (tmp_path / "dpaudit" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sources(tmp_path)))
    assert Path(imported_by_processes()) == tmp_path / "dpaudit" / "__init__.py"


def test_a_mutant_whose_text_is_gone_is_an_error(tmp_path: Path) -> None:
    mutant = Mutant("S0", "", "some.py", "x = 1", "x = 2", ())
    for text, times in (("y = 1\n", 0), ("x = 1\nx = 1\n", 2)):
        (tmp_path / "some.py").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=rf"S0: the text to replace occurs {times} times"):
            mutant.mutated(tmp_path)
