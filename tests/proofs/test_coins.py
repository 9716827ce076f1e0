"""Programs of coins: exact probabilities on every dataset of a small domain."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.coins import exponential_below, logarithm_above
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Domain, Records
from dpaudit.report.proof import method, proof_line

BITS = Domain(2, (0, 1))


def response(data: Any, rng: Any) -> Any:
    return [bit if rng.random() < 0.75 else 1 - bit for bit in data]


def two_cuts(data: Any, rng: Any) -> Any:
    """1 of 4 lies each way, half tell the truth."""
    out = []
    for bit in data:
        u = rng.random()
        if u < 0.5:
            out.append(bit)
        elif u < 0.75:
            out.append(1)
        else:
            out.append(0)
    return tuple(out)


def other_way(data: Any, rng: Any) -> Any:
    """The cuts in another order: which of two comparisons comes first is no matter."""
    u = rng.uniform(2, 6)
    if u > 5:
        return 1 - data[0]
    return data[0] if u >= 3 else 1


def by_choice(data: Any, rng: Any) -> Any:
    return [rng.choice([0, 1], p=[0.2, 0.8] if bit else [0.6, 0.4]) for bit in data]


def by_exponential(data: Any, rng: Any) -> Any:
    scores = [math.exp(0.5 * sum(data)), math.exp(0.5 * (len(data) - sum(data)))]
    return rng.choice(2, p=[score / sum(scores) for score in scores])


def constant(data: Any, rng: Any) -> Any:
    return rng.choice([1, 2, 3])


@pytest.mark.parametrize(
    ("program", "ratio"),
    [
        (response, 3), (two_cuts, 3), (by_choice, Fraction(3)), (constant, 1),
        # P[1]: 1/4 + 1/4 on 0 and 1/4 + 1/2 on 1; P[0]: 1/2 and 1/4
        (other_way, 2),
    ],
)  # fmt: skip
def test_exact_ratio(program: Callable[..., Any], ratio: Fraction) -> None:
    epsilon = math.log(ratio)
    outcome = prove(program, BITS, epsilon=max(epsilon * (1 + 1e-12), 1e-3))
    assert isinstance(outcome, Proof), outcome
    assert epsilon * (1 - 1e-15) <= float(outcome.epsilon) <= epsilon * (1 + 1e-12)
    assert check_certificate(outcome.certificate) is None
    if ratio > 1:
        below = prove(program, BITS, epsilon=0.999999 * epsilon, refute=False)
        assert isinstance(below, Unknown)
        assert float(below.least or 0) == pytest.approx(epsilon)


def test_add_and_remove() -> None:
    def some(data: Any, rng: Any) -> Any:
        return sum(data) > 0 if rng.random() < 0.5 else rng.random() < 0.5

    scope = Domain(2, (0, 1), "add-remove-one")
    assert isinstance(prove(some, scope, epsilon=1.1), Proof)
    assert isinstance(prove(some, scope, epsilon=1.09, refute=False), Unknown)


def leak(data: Any, rng: Any) -> Any:
    return data[0] if rng.random() < 0.01 else None


def swapped(data: Any, rng: Any) -> Any:
    """The coin is the data's: certain on one dataset."""
    return rng.random() < data[0]


def length(data: Any, rng: Any) -> Any:
    return [1 for bit in data if bit or rng.random() < 0.5]


def own_coin_shown(data: Any, rng: Any) -> Any:
    u = rng.random()
    return (data[0] if u < 0.75 else 1 - data[0]), u


def reused(data: Any, rng: Any) -> Any:
    u = rng.random()
    return [bit if u < 0.75 else 1 - bit for bit in data], u < 0.75


@pytest.mark.parametrize("program", [leak, swapped, length, own_coin_shown, reused])
def test_leaks(program: Callable[..., Any]) -> None:
    outcome = prove(program, BITS, epsilon=50, refute=False)
    assert isinstance(outcome, Unknown), outcome
    assert outcome.least is None


@pytest.mark.parametrize(("delta", "proved"), [(0.25, True), (0.2499, False)])
def test_delta(delta: float, proved: bool) -> None:
    """One record of four is published."""

    def sample(data: Any, rng: Any) -> Any:
        return data[rng.integers(len(data))]

    outcome = prove(sample, Domain(4, (0, 1)), epsilon=0, delta=delta)
    assert isinstance(outcome, Proof) is proved
    if isinstance(outcome, Proof):
        assert proof_line(outcome) == "PROVED · sample is (0, 0.25)-DP: ε = 0 and δ = 1/4 (0.25)"
        assert "random choices" in method(outcome)[0]
        assert check_certificate(outcome.certificate) is None


def test_real_records_are_not_enumerated() -> None:
    assert isinstance(prove(response, Records(2, 0, 1), epsilon=5, refute=False), Unknown)


def test_random_channels() -> None:
    """100 random tables P[output | record], with exact ε by fractions: proved at it and not below."""
    rng = np.random.default_rng(20261126)
    for _ in range(100):
        k, n = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        weights = rng.integers(1, 9, (k, 3)).tolist()

        def program(data: Any, rng: Any, weights: Any = weights) -> Any:
            return [rng.choice(3, p=[w / sum(weights[x]) for w in weights[x]]) for x in data]

        rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
        ratio = max(rows[x][o] / rows[y][o] for x, y in itertools.permutations(range(k), 2) for o in range(3))
        scope = Domain(n, tuple(range(k)))
        if ratio == 1:
            continue
        outcome = prove(program, scope, epsilon=math.log(ratio) * (1 + 1e-10))
        assert isinstance(outcome, Proof), (weights, outcome)
        assert isinstance(prove(program, scope, epsilon=math.log(ratio) * (1 - 1e-9), refute=False), Unknown)


def test_shared_coins_by_hand() -> None:
    """Both answers depend on one coin: (x, y) → (x, y) or (1 − x, 1 − y), each with its own lie besides."""

    def program(data: Any, rng: Any) -> Any:
        flipped = rng.random() < 0.25
        return [((bit == 1) != flipped) != (rng.random() < 0.25) for bit in data]

    def probability(data: Any, out: Any) -> Fraction:
        total = Fraction(0)
        for flips in itertools.product((0, 1), repeat=3):
            shown = tuple(bit ^ flips[0] ^ flip for bit, flip in zip(data, flips[1:], strict=True))
            if shown == out:
                total += Fraction(3, 4) ** flips.count(0) * Fraction(1, 4) ** flips.count(1)
        return total

    every = list(itertools.product((0, 1), repeat=2))
    exact = max(
        probability(left, out) / probability(right, out) for left in every for right in every for out in every
        if sum(x != y for x, y in zip(left, right, strict=True)) == 1
    )
    outcome = prove(program, BITS, epsilon=2)
    assert isinstance(outcome, Proof)
    assert float(outcome.epsilon) == pytest.approx(math.log(exact), rel=1e-12)


def test_bounds_of_exponentials() -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(7), Fraction(40)):
        assert math.exp(epsilon) * (1 - 1e-12) <= float(exponential_below(epsilon)) <= math.exp(epsilon) * (1 + 1e-15)
    for value in (Fraction(1), Fraction(3), Fraction(10**9), Fraction(1_000_001, 1_000_000)):
        above = logarithm_above(value)
        assert exponential_below(above) >= value * (1 - Fraction(1, 10**13))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("epsilon", "1", "differ by more"), ("pairs", [], "no pairs"), ("pairs", [[["1/2", "1/2"]]], "sum to 1"),
        ("pairs", [[["-1", "1"], ["2", "0"]]], "below 0"), ("delta", "x", "no fraction"),
    ],
)  # fmt: skip
def test_forged_certificates(key: str, value: Any, says: str) -> None:
    outcome = prove(response, BITS, epsilon=1.2)
    assert isinstance(outcome, Proof)
    forged = copy.deepcopy(outcome.certificate)
    forged[key] = value
    assert says in (check_certificate(forged) or "")
