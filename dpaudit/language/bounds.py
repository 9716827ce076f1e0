"""Printed numbers of examples from which small empirical error means small generalisation error, as calculators.

α and β lie in (0, 1]; a formula that allows 0 examples gives 1, since no error is defined on none.
"""

from __future__ import annotations

import math

from dpaudit.errors import ParameterError
from dpaudit.language.checks import number, whole
from dpaudit.language.utility import SampleSize


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

    As printed it allows one example where VC(H) = 0, or where αβ is near 1: see FINDINGS.md.

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
    """n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ)): what Theorem 3.18 promises then holds for all α and β in (0, 1].

    Proof. With d = max{1, VC(H)} a failure has probability at most 4·Π_H(2n)·e^{−nα²/8} where nα² ≥ 2 (Vapnik and
    Chervonenkis 1971), and Π_H(2n) ≤ (2en/d)^d. At n = (50d/α²)·L, L = ln(4/(αβ)), and beyond, where this falls, it
    is at most 4·b^d with b = 100e·L·α^{−2}·(αβ/4)^{6.25} ≤ 0.047·L·(αβ)^{4.25}·β, which is at most 0.066·β.

    Args:
        vc: VC dimension, ≥ 0.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.18, mended.
    """
    return SampleSize(
        _least(
            50 * max(1, _dimension(vc)) / _share("alpha", alpha) ** 2 * math.log(4 / (alpha * _share("beta", beta)))
        ),
        "n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ))",
        f"with probability {1 - beta:.4g} every error on the sample is within {alpha:.4g} of that under P",
        "§3.2.3, Theorem 3.18, mended",
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


def sauer(vc: int, points: int) -> int:
    """Σ_{i ≤ VC(C)} (n over i): a class labels n points in at most so many ways (Sauer's lemma)."""
    return sum(math.comb(whole("points", points, least=0), i) for i in range(_dimension(vc) + 1))


def _realisable(alpha: float, beta: float, concepts: str) -> str:
    return (
        f"with probability {1 - beta:.4g} no concept of {concepts} has error > {alpha:.4g} and at most "
        f"{alpha / 2:.4g} on the sample"
    )


def _share(name: str, value: float) -> float:
    if not 0 < number(name, value) <= 1:
        raise ParameterError(f"{name} must lie in (0, 1], not {value!r}.")
    return float(value)


def _dimension(vc: int) -> int:
    return whole("vc", vc, least=0)


def _least(bound: float) -> int:
    return max(1, math.ceil(bound))
