"""Evidence carried over: e-values of independent runs multiply, and of the same runs they must not."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_toys import PAIR, Response, response, responses
from conftest import Typed

import dpaudit
from dpaudit.audit import engine
from dpaudit.audit.carry import carry_key, evidence_of
from dpaudit.audit.request import Request, jobs_of
from dpaudit.audit.results import Result, Verdict
from dpaudit.errors import UsageError


def result(target: Any = responses, *, seed: int, epsilon: float = 0.85, **more: Any) -> Result:
    """A few runs of a mechanism whose ε is 1, against a smaller one."""
    return engine.run(Request((target,), seed=seed, epsilon=epsilon, pair=PAIR, runs=400, **more))


def log_e(found: Result) -> float:
    """ln of the e-value of the only audit."""
    evidence = found.audits[0].sequential
    assert evidence is not None
    return evidence.log_e


def test_e_values_multiply() -> None:
    first = result(seed=1)
    carried = evidence_of(first, where="first", seed=2)
    alone, both = result(seed=2), result(seed=2, carried=carried)
    assert log_e(both) == pytest.approx(log_e(alone) + log_e(first))
    evidence = both.audits[0].sequential
    assert evidence is not None
    assert evidence.seeds == [1, 2]
    assert evidence.carried == pytest.approx(log_e(first))


def test_nights_that_show_nothing_alone_refute_together() -> None:
    found, nights = result(seed=0), 1
    assert found.audits[0].verdict is not Verdict.FAIL
    while found.audits[0].verdict is not Verdict.FAIL and nights < 60:
        found = result(seed=nights, carried=evidence_of(found, where="last night", seed=nights))
        nights += 1
    audit = found.audits[0]
    assert audit.verdict is Verdict.FAIL
    assert nights > 2
    assert "on top of earlier results" in audit.reason
    assert audit.sequential is not None
    assert audit.sequential.seeds == list(range(nights))
    assert audit.epsilon_lower is not None
    assert 0.85 <= audit.epsilon_lower <= 1.0


def test_nothing_carried_changes_nothing() -> None:
    first = result(seed=1, epsilon=2.0)
    carried = evidence_of(first, where="first", seed=2)
    plain, other = result(seed=2), result(seed=2, carried=carried)
    assert log_e(plain) == log_e(other), "an e-value against another claim says nothing about this one"


def test_the_same_runs_twice_are_refused() -> None:
    first = result(seed=1)
    with pytest.raises(UsageError, match="was made with seed 1 too"):
        evidence_of(first, where="nights.json", seed=1)
    later = result(seed=2, carried=evidence_of(first, where="first", seed=2))
    with pytest.raises(UsageError, match="choose another --seed"):
        evidence_of(later, where="nights.json", seed=1)


def test_what_an_e_value_is_about() -> None:
    def key(target: Any, **more: Any) -> str:
        (job,) = jobs_of(Request((target,), **{"epsilon": 1.0, "pair": PAIR, **more}))
        return carry_key(job)

    assert key(response) == key(response, seed=7, runs=50)
    assert key(response) == key(response, pair=((1,), (0,))), "any pair refutes the claim"
    different = [
        key(response), key(responses), key(response, epsilon=1.1), key(response, delta=0.1),
        key(response, relation="add-remove-one", pair=((0,), ())), key(Response()), key(Response(2.0)),
    ]
    assert len(set(different)) == len(different)


def test_a_result_without_e_values() -> None:
    empty = replace(result(seed=1), audits=[])
    with pytest.raises(UsageError, match="holds no e-values"):
        evidence_of(empty, where="empty.json", seed=2)


def test_carried_from_python() -> None:
    first = dpaudit.check(responses, epsilon=0.85, pair=PAIR, runs=400, seed=1)
    both = dpaudit.check(responses, epsilon=0.85, pair=PAIR, runs=400, seed=2, evidence=first)
    evidence = both.audits[0].sequential
    assert evidence is not None
    assert evidence.carried == pytest.approx(log_e(first))


USER = """
import math
def f(data, rng, size):
    p = 1 / (1 + math.exp(-1))
    return (rng.random(size) < p) == bool(data[0])
"""


def test_carried_on_the_command_line(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER)
    line = "check u.py:f --epsilon 0.85 --pair [0] [1] --runs 400"
    assert typed(f"{line} --seed 1 --json one.json").code == 0
    said = typed(f"{line} --seed 2 --evidence one.json --json two.json")
    assert said.code in (0, 1)
    first, second = (json.loads((tmp_path / name).read_text())["audits"][0] for name in ("one.json", "two.json"))
    assert second["sequential"]["carried"] == pytest.approx(first["sequential"]["log_e"])
    assert math.isfinite(second["sequential"]["log_e"])
    # the stored command line carries it too
    assert typed(f"replay {second['replay']}").err.endswith("Reproduced: the same result.\n")
    refused = typed(f"{line} --seed 1 --evidence one.json")
    assert (refused.code, "choose another --seed" in refused.err) == (2, True)
    missing = typed(f"{line} --seed 3 --evidence none.json")
    assert (missing.code, "Cannot read none.json" in missing.err) == (2, True)
    # another text is another mechanism
    (tmp_path / "u.py").write_text(USER.replace("exp(-1)", "exp(-1.0)"))
    said = typed(f"{line} --seed 3 --evidence one.json --json three.json")
    assert json.loads((tmp_path / "three.json").read_text())["audits"][0]["sequential"]["carried"] == 0
