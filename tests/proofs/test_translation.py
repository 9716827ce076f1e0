"""Claims of (ε, δ), zCDP and GDP: one shift of the noise for all paths."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.errors import UsageError
from dpaudit.language import Claim, Gaussian, Laplace, Mechanism
from dpaudit.language.answers import AnswersL1
from dpaudit.language.curves import GaussianDP, Profile, Renyi, ZeroConcentrated
from dpaudit.language.zcdp import zcdp_delta
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Outcome, Proof, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit.report.proof import proof_json, proof_line, proof_text

N = Records(4, 0, 1)
LOOSE = GaussianDP(100.0)


def total(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 2)


def vector(data: Any, rng: Any) -> Any:
    return np.array([data.sum(), (data > 0.5).sum()]) + rng.normal(0, 2, size=2)


def histogram(data: Any, rng: Any) -> Any:
    return np.bincount(np.floor(data * 3).astype(int).clip(0, 2), minlength=3) + rng.normal(0, 3, size=3)


def two_draws(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 1) + rng.normal(0, 1)


def uneven_draws(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 3) + rng.normal(0, 4)


def released_twice(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.normal(0, 2)
    return noisy, 3 * noisy + 1, noisy > 2


def post_processed(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.normal(0, 2)
    return ("many", noisy + rng.normal(0, 1)) if noisy > 2 else ("few", noisy)


def above(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 2) > 1.5


def largest(data: Any, rng: Any) -> Any:
    noisy = [answer + rng.normal(0, 5) for answer in data]
    return noisy.index(max(noisy))


def both(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 1), data.sum() + rng.laplace(0, 2)


def standard(data: Any, rng: Any) -> Any:
    return data.sum() + 4 * rng.standard_normal()


@pytest.mark.parametrize(
    ("program", "scope", "epsilon", "mu_squared"),
    [
        (total, N, 0, Fraction(1, 4)),
        (vector, N, 0, Fraction(1, 2)),
        (histogram, N, 0, Fraction(2, 9)),
        (two_draws, N, 0, Fraction(1, 2)),
        (uneven_draws, N, 0, Fraction(1, 25)),
        (released_twice, N, 0, Fraction(1, 4)),
        (post_processed, N, 0, Fraction(1, 4)),
        (above, N, 0, Fraction(1, 4)),
        # shifts of all answers together change nothing, so the noise moves by the distances from the mean
        (largest, Answers(3), 0, Fraction(8, 75)),
        (largest, Answers(3, "one"), 0, Fraction(2, 75)),
        (both, N, Fraction(1, 2), 1),
        (standard, N, 0, Fraction(1, 16)),
        (total, Records(4, 0, 1, "add-remove-one"), 0, Fraction(1, 4)),
        (total, Records(4, -1, 1), 0, 1),
    ],
)  # fmt: skip
def test_exact_loss(program: Callable[..., Any], scope: Scope, epsilon: Fraction, mu_squared: Fraction) -> None:
    # zCDP takes both kinds of noise
    outcome = prove(program, scope, claim=ZeroConcentrated(1e4))
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == epsilon
    assert float(outcome.mu_squared) == pytest.approx(float(mu_squared), rel=1e-6)
    assert outcome.mu_squared >= mu_squared
    assert check_certificate(outcome.certificate) is None


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_delta_at_its_limit(epsilon: float) -> None:
    """N(0, 4) on a sum that moves by 1: the smallest δ by Balle and Wang 2018, Theorem 8, here with math.erfc."""
    mu = 0.5

    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    delta = phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)
    assert isinstance(prove(total, N, epsilon=epsilon, delta=delta * 1.000001), Proof)
    below = prove(total, N, epsilon=epsilon, delta=delta * 0.999999)
    assert isinstance(below, Unknown)
    assert "δ =" in below.reason


@pytest.mark.parametrize(
    ("claim", "proved"),
    [
        (ZeroConcentrated(0.125), True),
        (ZeroConcentrated(0.12499), False),
        (GaussianDP(0.5), True),
        (GaussianDP(0.4999), False),
        (Renyi({2: 0.25, 8: 1.0}), True),
        (Renyi({2: 0.25, 8: 0.99}), False),
        (Profile({0: 0.2, 1: 0.02}), True),
        (Profile({0: 0.19, 1: 0.02}), False),
        (Claim.zcdp(0.125, epsilon=1.0), True),
        (Claim.zcdp(0.12, epsilon=1.0), False),
        (Claim(1.0, 0.02), True),
        (Claim(1.0, 0.001), False),
    ],
)  # fmt: skip
def test_claims(claim: Any, proved: bool) -> None:
    outcome = prove(total, N, claim=claim)
    assert isinstance(outcome, Proof) is proved, outcome
    assert outcome.goal  # type: ignore[union-attr]


def test_laplace_noise_with_a_delta_or_zcdp() -> None:
    def noisy(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace(0, 2)

    assert isinstance(prove(noisy, N, epsilon=0.5, delta=1e-6), Proof)
    assert isinstance(prove(noisy, N, epsilon=0.49, delta=1e-6), Unknown)
    assert isinstance(prove(noisy, N, claim=ZeroConcentrated(0.125)), Proof)
    assert isinstance(prove(noisy, N, claim=ZeroConcentrated(0.124)), Unknown)
    # the tight μ of Laplace noise is not known here
    assert isinstance(prove(noisy, N, claim=GaussianDP(5.0)), Unknown)


def one_sided(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 1), data.sum() - rng.exponential(2) >= 0


def no_noise(data: Any, rng: Any) -> Any:
    return data.sum(), rng.normal(0, 1)


def wrong_signs(data: Any, rng: Any) -> Any:
    noise = rng.normal(0, 100)
    return data.sum() + noise, data.sum() - noise


def scale_of_data(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 1 + data[0])


def branch_on_data(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 100) if data[0] > 0.5 else rng.normal(0, 100)


def number_of_data(data: Any, rng: Any) -> Any:
    return [rng.normal(0, 100) for record in data if record > 0.5]


def whole_beside(data: Any, rng: Any) -> Any:
    return data.sum() + rng.normal(0, 10), (data > 0.5).sum() + rng.geometric(0.5) - rng.geometric(0.5)


def rarely_none(data: Any, rng: Any) -> Any:
    return data.sum() if rng.normal(0, 1) > 9 else data.sum() + rng.normal(0, 10)


def scale_of_branch(data: Any, rng: Any) -> Any:
    noisy = rng.normal(0, 1)
    return noisy, data.sum() + rng.normal(0, 1 if noisy + 3 * (data[0] > 0.5) > 1 else 100), noisy > 1


def raw(data: Any, rng: Any) -> Any:
    return rng.normal(0, 100) + data.sum(), data[0] > 0.5


def product(data: Any, rng: Any) -> Any:
    return data.sum() * rng.normal(0, 100)


@pytest.mark.parametrize(
    "program",
    [
        no_noise, wrong_signs, one_sided, scale_of_data, branch_on_data, number_of_data, whole_beside, rarely_none,
        scale_of_branch, raw, product,
    ],
)
@pytest.mark.parametrize("claim", [LOOSE, ZeroConcentrated(1e4), Claim(50.0, 0.5)])
def test_leaks(program: Callable[..., Any], claim: Any) -> None:
    outcome = prove(program, N, claim=claim)
    assert isinstance(outcome, Unknown), outcome
    assert outcome.reason


def adaptive(first: float, slopes: tuple[float, float], scales: tuple[float, float]) -> Callable[..., Any]:
    """Releases two numbers; what the second one is of, and its noise, depend on the first."""

    def program(data: Any, rng: Any) -> Any:
        noisy = data.sum() + rng.normal(0, first)
        if noisy > 1:
            return noisy, slopes[0] * data.sum() + rng.normal(0, scales[0])
        return noisy, slopes[1] * data.sum() + rng.normal(0, scales[1])

    return program


@pytest.mark.parametrize("seed", range(20))
def test_adaptive_noise_costs_what_the_most_expensive_path_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, *scales = map(int, rng.integers(1, 9, 3))
    slopes = int(rng.integers(-3, 4)), int(rng.integers(1, 4))
    outcome = prove(adaptive(first, slopes, (scales[0], scales[1])), N, claim=LOOSE)
    assert isinstance(outcome, Proof)
    assert outcome.mu_squared == Fraction(1, first**2) + max(
        Fraction(slope, scale) ** 2 for slope, scale in zip(slopes, scales, strict=True)
    )
    assert check_certificate(outcome.certificate) is None


def test_adaptive_noise_keeps_what_its_exact_distribution_allows() -> None:
    """δ of two adaptive releases, integrated over the first one, is at most that of the proof's μ."""
    first, scales = 2.0, (1.0, 3.0)
    outcome = prove(adaptive(first, (1, 1), scales), N, claim=LOOSE)
    assert isinstance(outcome, Proof)
    mu = math.sqrt(outcome.mu_squared)
    for total_of_d in (0.0, 0.5, 1.0, 3.0):
        for epsilon in (0.2, 0.7, 1.5):
            y = np.linspace(-20, 24, 20_001)
            p, q = norm.pdf(y, total_of_d, first), norm.pdf(y, total_of_d + 1, first)
            left = np.maximum(epsilon - np.log(p) + np.log(q), -60.0)
            after = np.array([GaussianDP(1 / scales[0 if at > 1 else 1]).delta_at(max(e, 0.0)) if e >= 0 else np.nan
                              for at, e in zip(y.tolist(), left.tolist(), strict=True)])
            # below 0, δ(ε) = 1 − e^ε + e^ε δ(−ε)
            for place in np.flatnonzero(np.isnan(after)):
                e, at = float(left[place]), float(y[place])
                back = GaussianDP(1 / scales[0 if at > 1 else 1]).delta_at(-e)
                after[place] = 1 - math.exp(e) + math.exp(e) * back
            exact = float(np.trapezoid(p * after, y))
            assert exact <= GaussianDP(mu).delta_at(epsilon) * (1 + 1e-4)


def test_noise_of_an_answer_cannot_wait_for_what_is_decided_with_it() -> None:
    """The sparse vector technique shifts the noise of an answer above, and of no other: that is not known before."""

    def first_above(data: Any, rng: Any) -> Any:
        threshold = rng.normal(0, 2)
        return [answer + rng.normal(0, 4) > threshold for answer in data]

    outcome = prove(first_above, Answers(3), claim=LOOSE)
    assert isinstance(outcome, Proof)
    # with a = 1/7 of the threshold, a²/4 + (2(1 − a)² + (1 + a)²)/16 for answers that move up, up and down
    assert outcome.mu_squared == Fraction(5, 28)


def test_many_small_losses_are_added_as_zcdp() -> None:
    def answers(data: Any, rng: Any) -> Any:
        return [data.sum() + rng.laplace(0, 40) for _ in range(64)]

    total = prove(answers, N, epsilon=0.9, delta=1e-3)
    assert isinstance(total, Proof)
    assert (total.epsilon, total.rho) == (Fraction(64, 40), Fraction(64, 2 * 40**2))
    assert check_certificate(total.certificate) is None
    assert "ρ = " in proof_line(total)
    # δ of 64 draws that are exp(±1/40)-ratio coins, the worst of 1/40-DP
    rho = float(total.rho)
    assert isinstance(prove(answers, N, epsilon=0.9, delta=zcdp_delta(rho, 0.9) * 0.99), Unknown)
    alone = dict(total.certificate, rho=str(total.rho / 2))
    assert check_certificate(alone) is not None


def test_an_epsilon_alone_says_what_to_do() -> None:
    outcome = prove(total, N, epsilon=1, refute=False)
    assert isinstance(outcome, Unknown)
    assert outcome.reason == "Gaussian noise protects by no ε alone."
    assert "δ" in outcome.remedy


def test_streams_are_not_proved_with_a_delta() -> None:
    def first(data: Any, rng: Any) -> Any:
        return [answer + rng.normal(0, 1) > 0 for answer in data]

    assert isinstance(prove(first, Stream(), epsilon=1, delta=0.1), Unknown)


def test_words_of_a_finite_domain() -> None:
    def count(data: Any, rng: Any) -> Any:
        return sum(word == "a" for word in data) + rng.normal(0, 2)

    outcome = prove(count, Domain(3, ("a", "b")), claim=GaussianDP(0.5))
    assert isinstance(outcome, Proof)
    assert outcome.mu_squared == Fraction(1, 4)


def random_release(rng: np.random.Generator) -> tuple[Callable[..., Any], float]:
    """A program that releases linear functions of data and noise, and its exact μ² by linear algebra."""
    k = int(rng.integers(1, 4))
    weights = rng.integers(-3, 4, (k, 3))
    mixing = rng.integers(-2, 3, (k, k)) + 3 * np.eye(k, dtype=int)
    sigmas = [int(each) for each in rng.integers(1, 6, k)]

    def program(data: Any, rng: Any) -> Any:
        noise = [rng.normal(0, sigma) for sigma in sigmas]
        return [
            sum(int(weights[row, i]) * data[i] for i in range(3))
            + sum(int(mixing[row, j]) * noise[j] for j in range(k))
            for row in range(k)
        ]

    if abs(np.linalg.det(mixing)) < 1e-9:
        return random_release(rng)
    inverse = np.linalg.inv(mixing)
    moves = [inverse @ weights[:, i] for i in range(3)]
    return program, max(float(sum((move / np.array(sigmas)) ** 2)) for move in moves)


def test_random_releases() -> None:
    """60 programs of known μ²: none is proved below it, and each within a relative 1e-6."""
    rng = np.random.default_rng(20261126)
    for number in range(60):
        program, exact = random_release(rng)
        outcome = prove(program, Records(3, 0, 1), claim=LOOSE)
        if exact == 0:
            assert isinstance(outcome, Proof)
            continue
        assert isinstance(outcome, Proof), (number, outcome)
        assert exact * (1 - 1e-12) <= float(outcome.mu_squared) <= exact * (1 + 1e-6), number
        assert check_certificate(outcome.certificate) is None
        assert isinstance(prove(program, Records(3, 0, 1), claim=GaussianDP(0.999 * math.sqrt(exact))), Unknown)


def test_a_noisy_comparison_is_not_proved_below_its_truth() -> None:
    """P[x + N(0, σ²) > t] for x = 0 and 1: δ(ε) in closed form is never above a proved δ."""
    for sigma in (0.5, 1.0, 2.0, 4.0):
        def test(data: Any, rng: Any, sigma: float = sigma) -> Any:
            return data.sum() + rng.normal(0, sigma) > 0.5

        for epsilon in (0.1, 1.0):
            for delta in np.geomspace(1e-4, 0.5, 12).tolist():
                if isinstance(prove(test, Records(1, 0, 1), epsilon=epsilon, delta=delta), Proof):
                    p, q = (math.erfc((0.5 - x) / sigma / math.sqrt(2)) / 2 for x in (1.0, 0.0))
                    assert max(p - math.exp(epsilon) * q, 0.0) <= delta


@dataclass(frozen=True)
class Noisy(Mechanism):
    """A noisy answer, claimed ρ-zCDP.

    Args:
        rho: of the claim.
    """

    rho: float

    @property
    def claim(self) -> Claim:
        """ρ-zCDP for one answer."""
        return Claim.zcdp(self.rho, epsilon=1.0, relation=AnswersL1())

    def run(self, D: Any) -> Any:
        first = yield Gaussian(D[0], 2.0)
        second = yield Laplace(D[1], 4.0)
        return first, second


def test_mechanisms_and_their_claims() -> None:
    found = prove(Noisy(0.125), Answers(2, "total"))
    assert isinstance(found, Proof)
    assert found.goal == "0.125-zCDP"
    assert isinstance(prove(Noisy(0.12), Answers(2, "total")), Unknown)


def proved() -> Outcome:
    return prove(both, N, epsilon=2, delta=0.3)


def test_what_is_shown() -> None:
    outcome = proved()
    assert proof_line(outcome) == (
        "PROVED · both is (2, 0.3)-DP: ε = 1/2 (0.5) and μ² = 1 by Gaussian noise"
    )
    assert "costs 1 of μ²" in proof_text(outcome)
    values = proof_json(outcome)
    assert (values["goal"], values["epsilon"], values["mu_squared"]) == ("(2, 0.3)-DP", "1/2", "1")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("mu_squared", "1/2", "more than"), ("epsilon", "1/4", "more than"), ("kind", "paths", "no fraction"),
        ("paths", [], "proves nothing"),
    ],
)  # fmt: skip
def test_forged_certificates(key: str, value: Any, says: str) -> None:
    outcome = proved()
    assert isinstance(outcome, Proof)
    forged = copy.deepcopy(outcome.certificate)
    forged[key] = value
    assert says in (check_certificate(forged) or "")


def test_a_forged_shift() -> None:
    outcome = proved()
    assert isinstance(outcome, Proof)
    forged = copy.deepcopy(outcome.certificate)
    forged["paths"][0]["shifts"] = [["0"] * len(shift) for shift in forged["paths"][0]["shifts"]]
    assert "changes by" in (check_certificate(forged) or "")


@pytest.mark.parametrize(
    "options", [{"epsilon": 1, "claim": GaussianDP(1.0)}, {"delta": 0.1, "claim": Claim(1.0)}, {"epsilon": 0}],
)
def test_wrong_claims(options: Any) -> None:
    with pytest.raises(UsageError):
        prove(total, N, **options)
