"""Functions whose globals do not pickle, so that no copy can be made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpaudit
from dpaudit.evidence import assumptions
from dpaudit.results.model import Verdict

SUBJECTS = """
import contextvars, threading
NOISE = contextvars.ContextVar("noise", default=None)
LOCK, KEPT = threading.Lock(), []

def in_a_variable(data, rng):
    if NOISE.get() is None:
        NOISE.set(rng.laplace())
    return data[0] + NOISE.get()

def behind_a_lock(data, rng):
    with LOCK:
        if not KEPT:
            KEPT.append(rng.laplace())
        return data[0] + KEPT[0]

def honest(data, rng):
    with LOCK:
        return data[0] + rng.laplace()

def without_noise(data, rng):
    with LOCK:
        rng.random()
        return data[0]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "m.py").write_text(SUBJECTS)
    return str(tmp_path / "m.py")


def verdict(file: str, name: str) -> Verdict:
    return dpaudit.audit(f"{file}:{name}", epsilon=1.0, pair=([1], [0]), runs=3_000, progress=False).verdict


@pytest.mark.parametrize("name", ["in_a_variable", "behind_a_lock"])
def test_noise_that_is_drawn_once_and_kept(file: str, name: str) -> None:
    assert verdict(file, name) is Verdict.INCONCLUSIVE


def test_others(file: str) -> None:
    assert verdict(file, "honest") is Verdict.PASS
    assert verdict(file, "without_noise") is Verdict.FAIL


def test_where_there_is_no_fresh_process_either(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "fresh_process", lambda target: None)
    assert verdict(file, "behind_a_lock") is Verdict.INCONCLUSIVE
    assert verdict(file, "honest") is Verdict.PASS
