"""Functions of single records that are not linear: what is known of them is their interval."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.language import Claim
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Answers, Records, Scope

FOUR = Records(4, 0, 1)


def sum_of_squares(records: Any, rng: Any) -> float:
    return float(sum(x * x for x in records) + rng.laplace(0, 1))


def squares_in_numpy(records: Any, rng: Any) -> float:
    return float((records**2).sum() + rng.laplace(0, 1))


def centred_squares(records: Any, rng: Any) -> float:
    return float(np.square(records - 0.5).sum() + rng.laplace(0, 0.25))


def variance(records: Any, rng: Any) -> float:
    mean = np.mean(records) + rng.laplace(0, 2 / len(records))
    square = np.mean(records**2) + rng.laplace(0, 2 / len(records))
    return float(square - mean**2)


def exponentials(records: Any, rng: Any) -> float:
    return float(np.exp(records).sum() + rng.laplace(0, math.e - 1))


def logarithms(records: Any, rng: Any) -> float:
    return sum(math.log(1 + x) for x in records) + float(rng.laplace(0, math.log(2)))


def roots(records: Any, rng: Any) -> float:
    return float(np.sqrt(records).mean() + rng.laplace(0, 1 / len(records)))


def moments(records: Any, rng: Any) -> tuple[float, float]:
    return records.sum() + rng.laplace(0, 2), (records**2).sum() + rng.laplace(0, 2)


def cubes(records: Any, rng: Any) -> float:
    return float((records**3).sum() + rng.laplace(0, 1))


def bumps(records: Any, rng: Any) -> float:
    return float(sum(x * (1 - x) for x in records) + rng.laplace(0, 0.25))


@pytest.mark.parametrize("program", [
    sum_of_squares, squares_in_numpy, centred_squares, variance, exponentials, logarithms, roots, moments, cubes, bumps,
])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove-one"])
def test_needs_what_the_interval_says(program: Any, relation: Any) -> None:
    scope = Records(4, 0, 1, relation=relation)
    wide = 4 if relation == "add-remove-one" and program is exponentials else 1
    if relation == "add-remove-one" and program in (variance, roots):
        return  # means of two sizes
    outcome = prove(program, scope, epsilon=wide, refute=False)
    assert isinstance(outcome, Proof), outcome
    # an exponential is e for a record that is added, and moves by e − 1 for one that is replaced
    least = math.e / (math.e - 1) if wide > 1 else 1
    assert float(outcome.epsilon) == pytest.approx(least, rel=1e-12)
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None
    assert isinstance(prove(program, scope, epsilon=Fraction(outcome.epsilon) * Fraction(999, 1000), refute=False),
                      Unknown)


def cancelled(records: Any, rng: Any) -> float:
    return float((records[0] ** 2 - records[0] * records[0]) * 100 + rng.laplace(0, 1))


def test_equal_products_cancel() -> None:
    outcome = prove(cancelled, FOUR, epsilon=1, refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 0


def of_noise(records: Any, rng: Any) -> float:
    return float(records[0] * rng.laplace(0, 1))


def compared(records: Any, rng: Any) -> int:
    return 1 if records[0] ** 2 > 0.25 else 0


def outside(records: Any, rng: Any) -> float:
    return math.log(records[0]) + float(rng.laplace(0, 1))


def of_two_records(records: Any, rng: Any) -> float:
    return float(records[0] * records[1] + rng.laplace(0, 1))


def without_bounds(answers: Any, rng: Any) -> float:
    return float(answers[0] ** 2 + rng.laplace(0, 1))


def too_little(records: Any, rng: Any) -> float:
    return float(np.exp(3 * records).sum() + rng.laplace(0, math.e**3 - 1.01))


@pytest.mark.parametrize(("program", "scope"), [
    (of_noise, FOUR), (compared, FOUR), (outside, FOUR), (of_two_records, FOUR), (without_bounds, Answers(1)),
    (too_little, FOUR),
])
def test_is_not_proved(program: Any, scope: Scope) -> None:
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


def test_gaussian_noise() -> None:
    def noisy(records: Any, rng: Any) -> float:
        return float(np.exp(records).sum() + rng.normal(0, 10))

    outcome = prove(noisy, FOUR, claim=Claim(1.0, 1e-5), refute=False)
    assert isinstance(outcome, Proof)
    assert float(outcome.mu_squared) == pytest.approx(((math.e - 1) / 10) ** 2, rel=1e-12)


# --- gradients: clipped functions of a record and of what was released before ---


def descent(records: Any, rng: Any) -> float:
    w = 0.0
    for _ in range(3):
        total = 0.0
        for x in records:
            total += max(-1.0, min(1.0, 2 * (w - x)))
        w = w - 0.1 * (total + rng.normal(0, 4))
    return w


def descent_in_numpy(records: Any, rng: Any) -> float:
    w = 0.0
    for _ in range(3):
        total = np.clip(2 * (w - records), -1, 1).sum() + rng.normal(0, 4)
        w -= 0.1 * total / len(records)
    return w


def descent_with_laplace(records: Any, rng: Any) -> float:
    w = 0.5
    for _ in range(2):
        w -= np.clip(w - records, -0.1, 0.1).sum() + rng.laplace(0, 0.4)
    return w


@pytest.mark.parametrize("program", [descent, descent_in_numpy])
def test_clipped_gradients(program: Any) -> None:
    """The first gradient is in [−1, 0], the later ones in [−1, 1], with noise of standard deviation 4."""
    outcome = prove(program, FOUR, claim=Claim(1.0, 0.1), refute=False)
    assert isinstance(outcome, Proof), outcome
    assert outcome.mu_squared == Fraction(1, 16) + 2 * Fraction(4, 16)
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None
    assert isinstance(prove(program, FOUR, claim=Claim(1.0, 0.049), refute=False), Unknown)


def test_clipped_gradients_with_laplace_noise() -> None:
    outcome = prove(descent_with_laplace, FOUR, epsilon=1, refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 1


def clips_what_is_noisy(records: Any, rng: Any) -> float:
    return float(np.clip(records[0] + rng.laplace(0, 1), 0, 1))


def test_clipping_a_noisy_number_stays_post_processing() -> None:
    outcome = prove(clips_what_is_noisy, FOUR, epsilon=1, refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 1


def noise_is_not_for_free(records: Any, rng: Any) -> float:
    w = records.sum() + rng.laplace(0, 2)
    return float(np.clip(w - records, -1, 1).sum() + rng.laplace(0, 2))


def clipped_on_one_side(records: Any, rng: Any) -> float:
    w = records.sum() + rng.laplace(0, 2)
    return float(np.maximum(w - records, -1).sum() + rng.laplace(0, 4))


def never_released(records: Any, rng: Any) -> float:
    secret = 3 * records[0] + rng.laplace(0, 100)
    return float(np.clip(secret - records, -1, 1).sum() * 0.1 + rng.laplace(0, 0.1))


def of_an_answer(answers: Any, rng: Any) -> float:
    return math.exp(min(max(answers[0], 0), 1)) + float(rng.laplace(0, 1))


def quotient_of_an_answer(answers: Any, rng: Any) -> float:
    return 50 / (1 + min(max(answers[0], 0), 1)) + float(rng.laplace(0, 1))


@pytest.mark.parametrize(("program", "scope"), [
    (noise_is_not_for_free, FOUR), (clipped_on_one_side, FOUR), (never_released, FOUR), (of_an_answer, Answers(1)),
    (quotient_of_an_answer, Answers(1)),
])
def test_clipped_is_not_proved(program: Any, scope: Scope) -> None:
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


@pytest.mark.slow
def test_lower_bounds_and_refutations_where_gradients_are_clipped() -> None:
    proved = prove(descent_with_laplace, FOUR, epsilon=1, lower=True)
    assert isinstance(proved, Proof)
    assert proved.lower is not None
    assert 0 < proved.lower.epsilon <= 1
    assert not isinstance(prove(noise_is_not_for_free, FOUR, epsilon=1), Proof)
