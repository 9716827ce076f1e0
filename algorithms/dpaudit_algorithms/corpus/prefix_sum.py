"""Noisy prefix sums: private where one answer moves, audited where all of them do."""

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
    """All prefix sums of answers that have each got noise Lap(1/ε).

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
        """ε where every answer moves by at most 1, as claimed; the truth is ε times the number of answers."""
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
        """Of vectors of prefix sums, shape (r, d): that of their differences, since the volume is the same."""
        noisy = np.diff(outputs, axis=1, prepend=0.0)
        return laplace_log_density(noisy - np.array(answers), 1 / self.epsilon)


# --- cards: what is claimed where, and where the text here departs from the print ---

PrefixSum.card = Card(
    name="PrefixSum",
    system="corpus",
    title="Prefix sums of noisy answers",
    paper="Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution (PLDI 2019)",
    place="case study PrefixSum",
    claim="ε-DP (false where every answer moves by 1)",
    inputs="a vector of answers to queries (published: 10); epsilon > 0, as published 0.1",
    output="a vector of as many real numbers",
    deviations=(
        "The claim is held against neighbours on which every answer moves by at most 1, as DP-Sniper does; "
        "ε is kept where a record moves one answer only.",
        "The output is a vector of doubles, not of real numbers; the claim is about the reals.",
    ),
    known_bug=KnownBug(
        bug="claimed for the wrong neighbours",
        effect="Every answer that a record moves costs ε: one answer costs ε, ten cost 10ε.",
        epsilon="1.0 = 10ε with 10 answers: differences of the prefix sums are 10 independent Laplace mechanisms",
    ),
)
