"""Statistics of an audit: numbers in, numbers out.

Input: counts, probabilities, ε, δ, levels.
Output: bounds, p-values, e-values, privacy profiles, numbers of samples; intervals that contain the exact number.
May import: numpy, scipy and Arb; from dpaudit only its errors.

* ``clopper_pearson``: a lower confidence bound that you can check by hand.
* ``score_test``: the test that decides, the exact unconditional score test of p <= exp(epsilon) q + delta.
* ``eprocess``: the sequential test of the same claim, valid at any stopping time, in both directions at once.
* ``hockey_stick``: the exact privacy profile of two finite output distributions.
* ``membership``: scores of canaries in and out of the data: bounds at all thresholds at once, AUROC, TPR at FPR.
* ``bands``: Clopper-Pearson limits that hold for all thresholds at once.
* ``one_run``: bounds from guesses of which canaries one training run had.
* ``log_bounds``: divergences, the least μ and profiles from bounds of ln p and ln q.
* ``gdp``: Gaussian differential privacy, and what it says at one (ε, δ).
* ``power``: the violations that a sample size can detect, and the sample size that a violation needs.

Import the modules, not their functions: ``clopper_pearson.epsilon_lower`` and ``score_test.epsilon_lower`` answer
the same question by two methods.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.stats import (
        bands,
        clopper_pearson,
        eprocess,
        gdp,
        hockey_stick,
        membership,
        one_run,
        power,
        score_test,
    )

__all__ = [
    "bands", "clopper_pearson", "eprocess", "gdp", "hockey_stick", "membership", "one_run", "power", "score_test",
]  # fmt: skip


def __getattr__(name: str) -> object:
    # imported when they are first asked for: the language needs `enclosed` alone, and the rest loads much of scipy
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
