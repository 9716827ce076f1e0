"""Clopper-Pearson limits of a probability, and the lower confidence bound on epsilon from two of them.

Source: C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26 (1934). The limits are beta quantiles: the lower one solves
P(Bin(runs, p) >= successes) = alpha, the upper one P(Bin(runs, p) <= successes) = alpha.
"""

from __future__ import annotations

import math
import operator

from scipy import special

__all__ = ["epsilon_lower", "interval", "lower", "upper"]


def interval(successes: int, runs: int, *, alpha: float) -> tuple[float, float]:
    """Two-sided limits of a probability, with error alpha / 2 for each limit.

    The event occurred in ``successes`` of ``runs`` independent runs. Both limits hold together with probability at
    least 1 - alpha, for every true probability.

    Raises ValueError if the counts are not whole numbers with 0 <= successes <= runs, runs >= 1, or if alpha
    is not in (0, 1).
    """
    check_alpha(alpha)
    return lower(successes, runs, alpha=alpha / 2), upper(successes, runs, alpha=alpha / 2)


def lower(successes: int, runs: int, *, alpha: float) -> float:
    """One-sided lower limit: it exceeds the true probability with probability at most alpha.

    Raises ValueError as `interval` does.
    """
    successes, runs = check_counts(successes, runs)
    check_alpha(alpha)
    if successes == 0:
        return 0.0
    return float(special.betaincinv(successes, runs - successes + 1, alpha))


def upper(successes: int, runs: int, *, alpha: float) -> float:
    """One-sided upper limit: it falls below the true probability with probability at most alpha.

    Raises ValueError as `interval` does.
    """
    successes, runs = check_counts(successes, runs)
    check_alpha(alpha)
    if successes == runs:
        return 1.0
    # Use the complemented inverse: 1 - alpha would round a tiny alpha away.
    return float(special.betainccinv(successes + 1, runs - successes, alpha))


def epsilon_lower(x: int, n: int, y: int, m: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound ln((p_lo - delta) / q_hi) on epsilon, never negative.

    The event occurred ``x`` times in ``n`` runs on the first dataset and ``y`` times in ``m`` runs on the
    second. alpha is split evenly between the two one-sided limits, so by the union bound the true epsilon
    of the pair at ``delta`` is below the result with probability at most alpha. The event must have been
    chosen on other runs. The result is 0.0 if the bound is not positive (for example if p_lo <= delta).

    Raises ValueError as `interval` does, or if delta is not in [0, 1].
    """
    x, n = check_counts(x, n)
    y, m = check_counts(y, m)
    check_alpha(alpha)
    check_delta(delta)
    excess = lower(x, n, alpha=alpha / 2) - delta
    if excess <= 0:
        return 0.0
    return max(0.0, math.log(excess / upper(y, m, alpha=alpha / 2)))


def check_counts(successes: int, runs: int) -> tuple[int, int]:
    """The counts as Python ints; ValueError if they are not counts.

    A fractional count (a tie-break weight, an average) is an error, because it is not binomial and limits computed from
    it are invalid. The type annotation does not prevent a numpy float.
    """
    try:
        whole_successes, whole_runs = operator.index(successes), operator.index(runs)
    except TypeError:
        raise ValueError(
            f"counts must be whole numbers of type int, not {successes!r} of {runs!r}: "
            "confidence limits do not hold for fractional counts"
        ) from None
    if whole_runs < 1:
        raise ValueError(f"the number of runs must be at least 1, not {whole_runs}")
    if not 0 <= whole_successes <= whole_runs:
        raise ValueError(f"the count must lie between 0 and the {whole_runs} runs, not be {whole_successes}")
    return whole_successes, whole_runs


def check_alpha(alpha: float) -> None:
    """ValueError unless alpha is in (0, 1)."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, not be {alpha!r}")


def check_delta(delta: float) -> None:
    """ValueError unless delta is in [0, 1]."""
    if not 0 <= delta <= 1:
        raise ValueError(f"delta must lie between 0 and 1, not be {delta!r}")


def check_epsilon(epsilon: float) -> None:
    """ValueError unless epsilon is in [0, 700], where exp(epsilon) is a float."""
    if not 0 <= epsilon <= 700:
        raise ValueError(f"epsilon must lie between 0 and 700, not be {epsilon!r}")
