"""Calculators for the printed sample sizes from which a small empirical error implies a small generalisation error.

α and β lie in (0, 1]; a formula that allows 0 examples gives 1, because an error needs at least one example.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpaudit.errors import ParameterError
from dpaudit.language import SampleSize, checks


def generalisation(vc: int, alpha: float, beta: float) -> SampleSize:
    """n ≥ (64·VC(C)/α)·ln(512/(αβ)), for examples labelled by a concept of C.

    Args:
        vc: VC dimension, ≥ 0.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.17.
    """
    return SampleSize(
        _least(64 * _dimension(vc) / _share("alpha", alpha) * math.log(512 / (alpha * _share("beta", beta)))),
        "n ≥ (64·VC(C)/α)·ln(512/(αβ))",
        _realisable(alpha, beta, "C"),
        "§3.2.3, Theorem 3.17",
    )


def agnostic_generalisation(vc: int, alpha: float, beta: float) -> SampleSize:
    """n ≥ (50·VC(H)/α²)·ln(1/(αβ)), for examples with any labels.

    As printed it allows one example if VC(H) = 0 or αβ ≥ e^{−α²/50}; it is enough for VC(H) ≥ 1 and αβ ≤ 0.976: see
    finding 12.

    Args:
        vc: VC dimension, ≥ 0.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.18.
    """
    return SampleSize(
        _least(50 * _dimension(vc) / _share("alpha", alpha) ** 2 * math.log(1 / (alpha * _share("beta", beta)))),
        "n ≥ (50·VC(H)/α²)·ln(1/(αβ))",
        f"with probability {1 - beta:.4g} every error on the sample is within {alpha:.4g} of that under P",
        "§3.2.3, Theorem 3.18",
    )


def agnostic_generalisation_corrected(vc: int, alpha: float, beta: float) -> SampleSize:
    """n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ)), for which Theorem 3.18 holds for all α and β in (0, 1].

    Proof. With d = max{1, VC(H)} a failure has probability at most 4·Π_H(2n)·e^{−nα²/8} if nα² ≥ 2 (Vapnik and
    Chervonenkis 1971), and Π_H(2n) ≤ (2en/d)^d. At n = (50d/α²)·L, L = ln(4/(αβ)), from which this decreases, it
    is at most 4·b^d with b = 100e·L·α^{−2}·(αβ/4)^{6.25} ≤ 0.047·L·(αβ)^{4.25}·β, which is at most 0.066·β.

    Args:
        vc: VC dimension, ≥ 0.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.18, corrected.
    """
    return SampleSize(
        _least(
            50 * max(1, _dimension(vc)) / _share("alpha", alpha) ** 2 * math.log(4 / (alpha * _share("beta", beta)))
        ),
        "n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ))",
        f"with probability {1 - beta:.4g} every error on the sample is within {alpha:.4g} of that under P",
        "§3.2.3, Theorem 3.18, corrected",
    )


def threshold_generalisation(alpha: float, beta: float) -> SampleSize:
    """n ≥ (8/α)·ln(2/β), for thresholds and examples labelled by one.

    Args:
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Lemma 3.19.
    """
    return SampleSize(
        _least(8 / _share("alpha", alpha) * math.log(2 / _share("beta", beta))),
        "n ≥ (8/α)·ln(2/β)",
        _realisable(alpha, beta, "THRESH_X"),
        "§3.3, Lemma 3.19",
    )


def log_hypotheses(dimension: int, public: int) -> float:
    """ln of Σ_{j ≤ d} (2·Σ_{i ≤ d} (n_pub over i) over j), which bounds |𝒢| of A_LearnHalf.

    Args:
        dimension: d, ≥ 1.
        public: n_pub, ≥ 0.

    Source: Bassily, Moran and Nandi, section 4, "effective hypothesis class", where it is O(2^d·n_pub^{d²}).
    """
    d = checks.whole("dimension", dimension, least=1)
    halfspaces = 2 * sauer(d, public)
    return math.log(sauer(d, halfspaces))


def compression(k: int, records: int, beta: float, error: float) -> float:
    """√(err^·4k·ln(n/β)/n) + 8k·ln(n/β)/n + 2k/n, a bound on the difference of the true and the empirical error.

    Args:
        k: number of examples that determine the hypothesis, ≥ 1.
        records: n, ≥ 1.
        beta: probability of failure, in (0, 1].
        error: err^, the empirical error.

    Source: Bassily, Moran and Nandi, Lemma 4.8.  It is Theorem 30.2 of Shalev-Shwartz and Ben-David, Understanding
    Machine Learning (2014), which bounds the error on the examples that do not determine the hypothesis, from above,
    and requires n ≥ 2k. The rest follows: below 2k the bound is above 1. Where it is below 1, k/n ≤ 1/26, so the factor
    2 between 1/(n − k) and the printed 2/n is enough for the other side and for the other examples.
    """
    n, L = checks.whole("records", records, least=1), math.log(records / _share("beta", beta))
    return math.sqrt(error * 4 * k * L / n) + 8 * k * L / n + 2 * k / n


def mixture_empirical(dimension: int, epsilon: float, alpha: float, beta: float) -> SampleSize:
    """The least n from which |𝒢|·e^{−εnα/2} ≤ β, with 𝒢 as large as n public records allow.

    Args:
        dimension: d, ≥ 1.
        epsilon: > 0.
        alpha: excess error on the sample, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, Lemma 4.6 and Claim 4.7, printed as O((d²·ln(d/(εα)) + ln(1/β))/(εα)).
    """
    rate = checks.positive("epsilon", epsilon) * _share("alpha", alpha) / 2
    wanted = math.log(1 / _share("beta", beta))
    records = _from_on(lambda n: rate * n >= log_hypotheses(dimension, n) + wanted, 2 * dimension**2 / rate)
    return SampleSize(
        records,
        "least n with Σ_{j ≤ d} (2·Σ_{i ≤ d} (n over i) over j)·e^{−εnα/2} ≤ β",
        f"with probability {1 - beta:.4g} the error on the sample is at most {alpha:.4g} above the best halfspace's",
        "§4, Lemma 4.6 and Claim 4.7, with the constants of their proof",
    )


def mixture_realisable(dimension: int, epsilon: float, alpha: float, beta: float) -> SampleSize:
    """Claim 4.7 for α/2 and β/2, and Lemma 4.8 for β/2 and err^ ≤ α/2: the sum is at most α.

    The proof's numbers give d²·ln(1/β), but the theorem's O(·) has ln(1/β): in `compression` k multiplies ln(n/β). (The
    proof of Theorem 30.2 has k·ln n + ln(1/β) there.)

    Args:
        dimension: d, ≥ 1.
        epsilon: > 0.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, Theorem 4.9, printed as O((d²·ln(d/(εα)) + ln(1/β))/(εα)).
    """
    first = mixture_empirical(dimension, epsilon, alpha / 2, beta / 2).records
    k = dimension**2
    second = _from_on(lambda n: compression(k, n, beta / 2, alpha / 2) <= alpha / 2, 8 * k / alpha)
    return SampleSize(
        max(first, second),
        "least n for Claim 4.7 with α/2, β/2, and √(α·2d²·ln(2n/β)/n) + 8d²·ln(2n/β)/n + 2d²/n ≤ α/2",
        f"with probability {1 - beta:.4g} the error is at most {alpha:.4g} if some halfspace has error 0",
        "§4, Theorem 4.9, with the constants of its proof",
    )


def mixture_agnostic(dimension: int, epsilon: float, alpha: float, beta: float) -> SampleSize:
    """Claim 4.7 for α/4 and β/4, all terms of Lemma 4.8 for β/4, and uniform convergence of halfspaces to α/8 for β/2.

    The printed proof omits the square root of Lemma 4.8 and its bound is false without it (see finding 24); here it is
    included. The proof gives no numbers for uniform convergence; these are from `agnostic_generalisation_corrected` at
    VC = d + 1.

    Args:
        dimension: d, ≥ 1.
        epsilon: > 0.
        alpha: excess error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, Theorem 4.10, printed as O((d²·ln(d/(εα)) + ln(1/β))·max(1/α², 1/(εα))).
    """
    first = mixture_empirical(dimension, epsilon, alpha / 4, beta / 4).records
    k = dimension**2
    second = _from_on(lambda n: compression(k, n, beta / 4, 1.0) <= alpha / 4, 64 * k / alpha**2)
    third = agnostic_generalisation_corrected(dimension + 1, alpha / 8, beta / 2).records
    return SampleSize(
        max(first, second, third),
        "least n for Claim 4.7 with α/4, β/4, √(4d²·ln(4n/β)/n) + 8d²·ln(4n/β)/n + 2d²/n ≤ α/4, and "
        "(50(d+1)/(α/8)²)·ln(64/(αβ))",
        f"with probability {1 - beta:.4g} the error is at most {alpha:.4g} above that of the best halfspace",
        "§4, Theorem 4.10, with the constants of its proof, corrected",
    )


def sauer(vc: int, points: int) -> int:
    """Σ_{i ≤ VC(C)} (n over i), the largest number of labellings of n points by a class (Sauer's lemma)."""
    return sum(math.comb(checks.whole("points", points, least=0), i) for i in range(_dimension(vc) + 1))


def _realisable(alpha: float, beta: float, concepts: str) -> str:
    return (
        f"with probability {1 - beta:.4g} no concept of {concepts} has error > {alpha:.4g} and at most "
        f"{alpha / 2:.4g} on the sample"
    )


def _share(name: str, value: float) -> float:
    if not 0 < checks.number(name, value) <= 1:
        raise ParameterError(f"{name} must lie in (0, 1], not {value!r}.")
    return float(value)


def _from_on(holds: Callable[[int], bool], rising: float) -> int:
    """The least n from which `holds` is true, given that beyond `rising` it stays true once it is."""
    low = high = max(1, math.ceil(rising))
    if holds(low):
        while low > 1 and holds(low - 1):
            low -= 1
        return low
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _dimension(vc: int) -> int:
    return checks.whole("vc", vc, least=0)


def _least(bound: float) -> int:
    return max(1, math.ceil(bound))
