"""Noisy prefix sums: private if one answer changes, audited on datasets where all answers change."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import ANSWERS_LINF, Card, Claim, FloatArray, KnownBug, Laplace, Mechanism, checks
from dpaudit_algorithms.corpus.noisy_histogram import laplace_log_density


@dataclass(frozen=True)
class PrefixSum(Mechanism):
    """All prefix sums of answers with independent noise Lap(1/ε).

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution (PLDI 2019), case
    study PrefixSum.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε if every answer changes by at most 1, as claimed; the true value is ε times the number of answers."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, answers: tuple[float, ...]) -> Generator[Laplace, float, tuple[float, ...]]:
        total, sums = 0.0, []
        for answer in answers:
            total += yield Laplace(answer, 1 / self.epsilon)
            sums.append(total)
        return tuple(sums)

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> FloatArray:
        """`size` vectors of prefix sums, shape (size, d)."""
        noisy = rng.laplace(np.array(answers, dtype=np.float64), 1 / self.epsilon, (size, len(answers)))
        return np.cumsum(noisy, axis=1)

    def log_density(self, answers: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log density of prefix sums, shape (r, d) → (r,): that of their differences (the Jacobian is 1)."""
        noisy = np.diff(outputs, axis=1, prepend=0.0)
        return laplace_log_density(noisy - np.array(answers), 1 / self.epsilon)


# --- cards: claims, sources and deviations from the papers ---

PrefixSum.card = Card(
    name="PrefixSum",
    system="corpus",
    title="Prefix sums of noisy answers",
    paper="Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution (PLDI 2019)",
    place="case study PrefixSum",
    claim="ε-DP (false where every answer moves by 1)",
    inputs="a vector of answers to queries (published: 10); epsilon > 0, as published 0.1",
    output="a vector of real numbers, one per answer",
    deviations=(
        "The claim is tested on neighbours where every answer changes by at most 1, as in DP-Sniper; "
        "ε-DP holds if a record changes only one answer.",
        "The output is a vector of doubles; the claim is about real numbers.",
    ),
    known_bug=KnownBug(
        bug="claimed for the wrong neighbours",
        effect="Every answer that a record changes has a privacy loss of ε: ε for one answer, 10ε for ten.",
        epsilon="1.0 = 10ε with 10 answers: differences of the prefix sums are 10 independent Laplace mechanisms",
    ),
)
