"""Claims of ε = 0: a bound of 0 refutes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from dpaudit import audit
from dpaudit.language import Bernoulli, Claim, Mechanism
from dpaudit.results.model import Verdict


@dataclass(frozen=True)
class Coin(Mechanism):
    """A coin whose chance is 0.5, and `chance` for the record 1."""

    chance: float = 0.5

    @property
    def claim(self) -> Claim:
        return Claim(0.0)

    def run(self, S: Any) -> Bernoulli:
        return Bernoulli(0.5 if tuple(S) == (0,) else self.chance)


@pytest.mark.slow(fast=["*-0"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("black_box", [True, False])
def test_no_loss_is_not_refuted(seed: int, black_box: bool) -> None:
    # each audit errs with probability 0.001
    found = audit(Coin(), pair=((0,), (1,)), runs=2_000, black_box=black_box, seed=seed).audits[0]
    assert found.verdict is Verdict.PASS
    assert found.sequential is not None
    assert found.sequential.refuted_at is None


def test_some_loss_is() -> None:
    found = audit(Coin(0.7), pair=((0,), (1,)), runs=5_000, black_box=True).audits[0]
    assert found.verdict is Verdict.FAIL
    assert found.epsilon_lower is not None
    assert found.epsilon_lower > 0
