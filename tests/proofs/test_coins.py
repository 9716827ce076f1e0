"""Programs of coins: exact probabilities on every dataset of a small domain."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.exact import exponential_below, logarithm_above
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


@pytest.mark.parametrize("values", [(0, 1), (0.5, 1.5), ("yes", "no"), ()])
def test_numbers_and_texts_of_numpy_are_equal_to_pythons(values: tuple[Any, ...]) -> None:
    def chosen(data: Any, rng: Any) -> Any:
        return [x if rng.random() < 0.5 else rng.choice(list(values)) for x in data]

    def whole(data: Any, rng: Any) -> Any:
        return [x if rng.random() < 0.5 else rng.integers(2) for x in data]

    program, values = (chosen, values) if values else (whole, (0, 1))
    outcome = prove(program, Domain(2, values), epsilon=1.1, refute=False)
    assert isinstance(outcome, Proof)
    assert float(outcome.epsilon) == pytest.approx(math.log(3))


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


# --- beside noise ---


def bits_and_a_count(data: Any, rng: Any) -> Any:
    bits = [bit if rng.random() < 0.75 else 1 - bit for bit in data]
    return sum(data) + rng.laplace(scale=1.0), bits


def count_that_depends_on_bits(data: Any, rng: Any) -> Any:
    bits = [bit if rng.integers(4) else 1 - bit for bit in data]
    return (sum(data) + rng.laplace(scale=1.0), bits) if sum(bits) > 1 else sum(data) + rng.laplace(scale=4.0)


def hidden_bit(data: Any, rng: Any) -> Any:
    return (data[0] if rng.random() < 0.75 else 1 - data[0]) + rng.laplace(scale=0.5)


def random_scale(data: Any, rng: Any) -> Any:
    return sum(data) + rng.laplace(scale=2.0 if rng.random() < 0.5 else 4.0)


def whole_noise(data: Any, rng: Any) -> Any:
    bit = data[0] if rng.random() < 0.75 else 1 - data[0]
    return 2 * bit + rng.geometric(1 - math.exp(-1)) - rng.geometric(1 - math.exp(-1))


E2 = math.exp(2)


@pytest.mark.parametrize(
    ("program", "epsilon"),
    [
        (bits_and_a_count, math.log(3) + 1), (count_that_depends_on_bits, math.log(3) + 1), (random_scale, 1 / 2),
        # the densities of two mixtures, where one is largest relative to the other
        (hidden_bit, math.log((3 * E2 + 1) / (E2 + 3))), (whole_noise, math.log((3 * E2 + 1) / (E2 + 3))),
    ],
)  # fmt: skip
def test_choices_beside_noise(program: Callable[..., Any], epsilon: float) -> None:
    outcome = prove(program, BITS, epsilon=epsilon * (1 + 1e-9), refute=False)
    assert isinstance(outcome, Proof), outcome
    assert float(outcome.epsilon) == pytest.approx(epsilon, rel=1e-9)
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None
    below = prove(program, BITS, epsilon=epsilon * 0.999, refute=False)
    assert isinstance(below, Unknown)
    assert float(below.least or 0) == pytest.approx(epsilon, rel=1e-9)


def test_random_hidden_choices() -> None:
    """A number that is chosen with probabilities of the record, and Laplace noise: ε by densities at kinks."""
    rng, exact = np.random.default_rng(5), 0
    for _ in range(60):
        k, m, scale = int(rng.integers(2, 4)), int(rng.integers(2, 5)), float(rng.choice([0.25, 0.5, 1.0, 2.0]))
        weights, values = rng.integers(1, 9, (k, m)).tolist(), sorted(rng.choice(6, m, replace=False).tolist())

        def program(
            data: Any, rng: Any, weights: Any = weights, values: Any = values, scale: float = scale
        ) -> Any:
            share = weights[data[0]]
            return values[rng.choice(len(values), p=[w / sum(share) for w in share])] + rng.laplace(scale=scale)

        def density(x: int, y: float, weights: Any = weights, values: Any = values, scale: float = scale) -> float:
            nearest = min(abs(y - value) for value in values)
            return sum(
                w / sum(weights[x]) * math.exp((nearest - abs(y - value)) / scale)
                for w, value in zip(weights[x], values, strict=True)
            )

        # between two kinks, the ratio of two sums of exp(y) and exp(−y) is monotone
        kinks = [-1000.0, *values, 1000.0]
        truth = max(math.log(density(x, y) / density(z, y)) for x, z in itertools.permutations(range(k), 2)
                    for y in kinks)
        outcome = prove(program, Domain(1, tuple(range(k))), epsilon=1.5 * truth, refute=False)
        assert isinstance(outcome, Proof), (weights, values, scale)
        assert check_certificate(outcome.certificate) is None
        assert float(outcome.epsilon) >= truth * (1 - 1e-9)
        exact += float(outcome.epsilon) <= truth * (1 + 1e-6)
    assert exact >= 58


@pytest.mark.parametrize(("delta", "proved"), [(0.1, True), (0.0999, False)])
def test_delta_beside_noise(delta: float, proved: bool) -> None:
    """One time in ten the record is published, otherwise with noise."""

    def program(data: Any, rng: Any) -> Any:
        return ("raw", data[0]) if rng.random() < 0.1 else data[0] + rng.laplace(scale=1.0)

    outcome = prove(program, BITS, epsilon=1, delta=delta, refute=False)
    assert isinstance(outcome, Proof) is proved
    assert isinstance(prove(program, BITS, epsilon=0.999, delta=delta, refute=False), Unknown)
    if isinstance(outcome, Proof):
        assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None


def test_choices_that_are_never_made() -> None:
    def program(data: Any, rng: Any) -> Any:
        return rng.choice(2, p=[data[0], 1 - data[0]]) + rng.laplace(scale=1.0)

    outcome = prove(program, BITS, epsilon=1, refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 1
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None


def test_choices_that_are_too_rare_for_doubles() -> None:
    """The logarithm of a ratio of nearly 10⁴⁰⁰; certificates are confirmed for ε up to 50."""
    def program(data: Any, rng: Any) -> Any:
        for _ in range(4):
            if rng.random() >= (1e-100 if data[0] else 0.5):
                return "often"
        return "seldom"

    outcome = prove(program, Domain(1, (0, 1)), epsilon=1, refute=False)
    assert isinstance(outcome, Unknown)
    assert float(outcome.least or 0) == pytest.approx(400 * math.log(10) - 4 * math.log(2), rel=0.02)
    assert isinstance(prove(program, Domain(1, (0, 1)), epsilon=1000, delta=1e-3, refute=False), Unknown)


def test_delta_with_many_digits() -> None:
    def program(data: Any, rng: Any) -> Any:
        noise = rng.exponential(1)
        return noise + (data[0] if rng.random() < 0.25 else 1 - data[0])

    outcome = prove(program, BITS, epsilon=1, delta=0.3, refute=False)
    assert isinstance(outcome, Proof)
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None


def one_coin_for_all(data: Any, rng: Any) -> Any:
    u = rng.random()
    return sum(data) + rng.laplace(scale=1.0), [bit if u < 0.75 else 1 - bit for bit in data]


def coin_is_shown(data: Any, rng: Any) -> Any:
    coin = rng.integers(2)
    return coin, data[0] ^ int(coin), data[0] + rng.laplace(scale=1.0)


def noise_is_used_twice(data: Any, rng: Any) -> Any:
    noise = rng.laplace(scale=1.0)
    return (data[0] if rng.random() < 0.75 else 1 - data[0]) + noise, data[0] + noise


def uniform_is_shown(data: Any, rng: Any) -> Any:
    u = rng.random()
    return (u, data[0] + rng.laplace(scale=1.0)) if u < 0.25 + data[0] / 2 else data[0] + rng.laplace(scale=1.0)


def largest_with_a_uniform(data: Any, rng: Any) -> Any:
    """How u compares with c decides which is largest, and is no random choice with a probability."""
    u, c = rng.random(), 0.1 + 0.8 * data[0]
    return rng.laplace(scale=1.0) + (1 if max(u, c) > c else 0)


def place_of_the_largest(data: Any, rng: Any) -> Any:
    return np.argmax([rng.random(), 0.1 + 0.8 * data[0]]), rng.laplace(scale=1.0)


def place_of_the_smallest(data: Any, rng: Any) -> Any:
    values = [rng.random(), 0.1 + 0.8 * data[0]]
    return values.index(min(values))


def scale_by_the_data(data: Any, rng: Any) -> Any:
    bit = data[0] if rng.random() < 0.75 else 1 - data[0]
    return bit, rng.laplace(scale=1.0 + data[0])


@pytest.mark.parametrize(
    "program", [one_coin_for_all, coin_is_shown, noise_is_used_twice, uniform_is_shown, scale_by_the_data,
                largest_with_a_uniform, place_of_the_largest, place_of_the_smallest]
)
def test_leaks_beside_noise(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)
    assert isinstance(prove(program, BITS, epsilon=20, refute=False), Unknown)


def test_bounds_of_exponentials() -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(7), Fraction(40)):
        assert math.exp(epsilon) * (1 - 1e-12) <= float(exponential_below(epsilon)) <= math.exp(epsilon) * (1 + 1e-15)
    for value in (Fraction(1), Fraction(3), Fraction(10**9), Fraction(1_000_001, 1_000_000)):
        above = logarithm_above(value)
        assert exponential_below(above) >= value * (1 - Fraction(1, 10**13))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("epsilon", "1", "differ by more"), ("pairs", [], "proves nothing"),
        ("pairs", [[[[["1/2", -1]], "1/2"]]], "sum to 1"), ("pairs", [[[[["1", -1]], "2"]]], "sum to 1"),
        ("pairs", [[[[["-1", -1]], "1"], [[["2", -1]], "0"]]], "below 0"), ("delta", "x", "no fraction"),
        ("pairs", [[[[["1", 0]], "1"]]], "no certificate"),
    ],
)  # fmt: skip
def test_forged_certificates(key: str, value: Any, says: str) -> None:
    outcome = prove(response, BITS, epsilon=1.2)
    assert isinstance(outcome, Proof)
    forged = copy.deepcopy(outcome.certificate)
    forged[key] = value
    assert says in (check_certificate(forged) or "")


def test_a_proof_whose_certificate_is_not_confirmed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.proofs.coins.logarithm_above", lambda value: Fraction(0))
    outcome = prove(response, BITS, epsilon=2, refute=False)
    assert isinstance(outcome, Unknown)
    assert "differ by more than" in outcome.reason
