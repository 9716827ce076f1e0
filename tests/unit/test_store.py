"""The store, and replaying what it holds through the command line."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from typed_commands import Typed

from dpaudit.engine import store
from dpaudit.engine.store import Stored
from dpaudit.errors import UnknownNameError, UsageError

USER = """
import numpy as np
def coin(d, rng): return int(rng.random() < 0.7) if d[0] else int(rng.random() < 0.3)
def coins(d, rng, size): return rng.laplace(sum(d), 1.0, size)
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the store lies."""
    path = tmp_path / "deep" / "er" / "store.sqlite3"
    monkeypatch.setenv("DPAUDIT_STORE", str(path))
    return path


def test_put_and_get(place: Path) -> None:
    assert store.location() == place
    store.put([Stored("a1", "A", "dpaudit check A", "1", "{}"), Stored("b2", "B", "dpaudit check B", "2", "{}")])
    assert store.get("b2") == Stored("b2", "B", "dpaudit check B", "2", "{}")
    store.put([Stored("b2", "B", "dpaudit check B --seed 1", "3", "[]")])
    assert store.get("b2").audit == "[]"
    assert store.get("a1").name == "A"


def test_an_unknown_id_gets_the_closest(place: Path) -> None:
    store.put([Stored("abcdef123456", "A", "x", "y", "{}")])
    with pytest.raises(UnknownNameError, match=r"called 'abcdef123457'. Did you mean abcdef123456\?"):
        store.get("abcdef123457")


def test_no_store(place: Path) -> None:
    with pytest.raises(UsageError, match="There is no store"):
        store.get("abc")
    place.parent.mkdir(parents=True)
    sqlite3.connect(place).close()
    place.write_bytes(b"")
    with pytest.raises(UsageError, match="cannot be read"):
        store.get("abc")


def test_a_folder_that_is_a_file(place: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(UsageError, match="set DPAUDIT_STORE"):
        store.put([])


@pytest.mark.slow(only=["1"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_replay_reproduces(typed: Typed, tmp_path: Path, jobs: int) -> None:
    (tmp_path / "u.py").write_text(USER)
    line = "check u.py:coin u.py:coins --epsilon 1 --delta 0.01 --pair [0] [1] --runs 3000 --seed 7"
    first = typed(f"{line} --json r.json --jobs {jobs}")
    audits = json.loads((tmp_path / "r.json").read_text())["audits"]
    assert len({audit["replay"] for audit in audits}) == 2
    for audit in audits:
        again = typed(f"replay {audit['replay']} --json again.json --jobs 1")
        assert "Reproduced: the same result." in again.err
        assert again.code == {"pass": 0, "fail": 1}[audit["verdict"]]
        assert json.loads((tmp_path / "again.json").read_text())["audits"] == [audit]
    assert first.code in (0, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("catalogue")
def test_replay_of_every_case_of_the_catalogue(typed: Typed, tmp_path: Path) -> None:
    typed("check --all --json r.json")  # Empty, Broken and NoClass make this a usage error
    typed("check Response Choice --json r.json --alpha 0.02 --param epsilon=1.5")
    for audit in json.loads((tmp_path / "r.json").read_text())["audits"]:
        assert "Reproduced" in typed(f"replay {audit['replay']}").err


def test_replay_needs_no_file_of_earlier_evidence(typed: Typed, tmp_path: Path) -> None:
    """The request is kept whole: e-values of earlier results are in it, and their file may have gone on."""
    (tmp_path / "u.py").write_text(USER)
    line = "check u.py:coin --epsilon 1 --delta 0.01 --pair [0] [1] --runs 300"
    typed(f"{line} --seed 1 --json evidence.json")
    typed(f"{line} --seed 2 --evidence evidence.json --json evidence.json")
    (audit,) = json.loads((tmp_path / "evidence.json").read_text())["audits"]
    assert audit["sequential"]["seeds"] == [1, 2]
    (tmp_path / "evidence.json").unlink()
    assert "Reproduced: the same result." in typed(f"replay {audit['replay']}").err


def test_a_changed_function_is_not_reproduced(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER)
    typed("check u.py:coin --epsilon 1 --pair [0] [1] --runs 2000 --json r.json")
    replay = json.loads((tmp_path / "r.json").read_text())["audits"][0]["replay"]
    saved = (tmp_path / "u.py").stat()
    (tmp_path / "u.py").write_text(USER.replace("0.7", "0.6"))
    # of the same size, and within the same second: bytecode of the first version would be taken for it
    os.utime(tmp_path / "u.py", ns=(saved.st_atime_ns, saved.st_mtime_ns))
    said = typed(f"replay {replay}")
    assert "NOT reproduced" in said.err
    assert said.code == 4


def test_a_function_that_is_gone(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER)
    typed("check u.py:coin --epsilon 1 --pair [0] [1] --runs 500 --json r.json")
    replay = json.loads((tmp_path / "r.json").read_text())["audits"][0]["replay"]
    (tmp_path / "u.py").unlink()
    said = typed(f"replay {replay}")
    assert said.code == 2
    assert said.sentence == "There is no file u.py."


def test_code_that_is_not_known_is_reproduced_too(typed: Typed, tmp_path: Path) -> None:
    """The key of such code is random, and no part of the result."""
    (tmp_path / "u.py").write_text(f"{USER}\nFILE = open(__file__)\n\n\ndef reads(d, rng):\n    FILE.seek(0)\n    "
                                   "return coin(d, rng)\n")
    typed("check u.py:reads --epsilon 1 --pair [0] [1] --runs 300 --json r.json")
    replay = json.loads((tmp_path / "r.json").read_text())["audits"][0]["replay"]
    assert "Reproduced: the same result." in typed(f"replay {replay}").err


def test_own_randomness_that_nobody_declared_is_not_reproduced(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text("import os\n\n\ndef own(d, rng):\n    return d[0] + os.urandom(1)[0]\n")
    typed("check u.py:own --epsilon 9 --pair [0] [1] --runs 300 --json r.json")
    replay = json.loads((tmp_path / "r.json").read_text())["audits"][0]["replay"]
    said = typed(f"replay {replay}").err
    assert "Not reproduced: not all of the randomness of own follows the seed" in said
