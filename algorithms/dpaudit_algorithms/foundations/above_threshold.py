"""AboveThreshold: the sparse vector technique that stops at the first answer above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import (
    DWORK_ROTH,
    Card,
    Claim,
    Goal,
    Instance,
    Laplace,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Query,
    UtilityClaim,
    checks,
    log,
)
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABOVE, BELOW, Outputs, noisy_answers


@dataclass(frozen=True)
class AboveThreshold(Mechanism):
    """Compares noisy answers with a noisy threshold, one after the other, and halts at the first above.

    Privacy: the noise of the threshold moved by 1 and that of the answer above by 2 pay for all answers, however many
    are below: ε/2 each. Many queries of which one record moves all but the last one way, and the last the other way,
    come as near to ε as one likes (0.996 of 1 for ten).

    Args:
        epsilon: > 0.
        threshold: T.
        queries: f_1, …, f_k, k ≥ 1, each with one answer of sensitivity at most 1.
        beta: in (0, 1); of the utility claim alone.

    Raises:
        ParameterError: a parameter outside its range, no queries, or a query of sensitivity above 1.

    Source: Dwork and Roth, section 3.6, Algorithm 1, Theorems 3.23 and 3.24; named in Stemmer's thesis, section 2.2.
    """

    epsilon: checks.Positive
    threshold: checks.Number
    queries: tuple[Query, ...]
    beta: checks.OpenUnit = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.queries:
            raise ParameterError("queries must hold at least one query.")
        if any(query.sensitivity > 1 for query in self.queries):
            raise ParameterError("queries must have sensitivity 1 at most, each with noise of its own.")

    @property
    def claim(self) -> Claim:
        """ε, Theorem 3.23."""
        return Claim(self.epsilon)

    @property
    def alpha(self) -> float:
        """α = 8(ln k + ln(2/β))/ε, Theorem 3.24."""
        return 8 * (log(len(self.queries)) + log(2 / self.beta)) / self.epsilon

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α, β)-accurate where all queries but the last are below T − α, whatever the number of records."""
        goal = AccurateAbove(self.queries, self.threshold, self.alpha)
        return (UtilityClaim(goal, 1 - self.beta, "§3.6, Theorem 3.24"),)

    def answers(self, D: Any) -> tuple[float, ...]:
        """f_1(D), …, f_k(D)."""
        return tuple(answer for query in self.queries for answer in query(D))

    def run(self, D: Any) -> Program:
        noise = yield Laplace(0, 2 / self.epsilon)  # T̂ = T + Lap(2/ε)
        seen: list[str] = []
        for answer in self.answers(D):  # for each query i do
            if (yield Laplace(answer, 4 / self.epsilon) >= self.threshold + noise):  # ν_i = Lap(4/ε); f_i(D) + ν_i ≥ T̂
                return (*seen, ABOVE)  # output a_i = ⊤, halt
            seen.append(BELOW)  # else output a_i = ⊥
        return tuple(seen)

    def bulk(self, D: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 2 / self.epsilon, (size, 1))
        above = noisy_answers(self.answers(D), 4 / self.epsilon, size, rng) >= noisy_threshold
        k = above.shape[1]
        halts = np.where(above.any(axis=1), above.argmax(axis=1), k)
        possible: Outputs = [(*[BELOW] * i, ABOVE) for i in range(k)] + [(BELOW,) * k]
        return [possible[i] for i in halts.tolist()]


@dataclass(frozen=True)
class CountAtMost(Query):
    """How many records are ≤ `value`: one answer, of sensitivity 1."""

    value: Any

    @property
    def sensitivity(self) -> float:
        return 1.0

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        return (float(Multiset.of(dataset).at_most(self.value)),)


@dataclass(frozen=True)
class AccurateAbove(Goal):
    """It does not halt before the last query; answers ⊤ have f(D) ≥ T − α, answers ⊥ have f(D) ≤ T + α.

    Reached at once where a query before the last is at least T − α, for then nothing is guaranteed.

    Source: Dwork and Roth, Definition 3.9 and Theorem 3.24.
    """

    queries: tuple[Query, ...]
    threshold: float
    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        answers = [answer for query in self.queries for answer in query(instance.dataset)]
        low, high = self.threshold - self.alpha, self.threshold + self.alpha
        if any(answer >= low for answer in answers[:-1]):
            return True
        return len(output) == len(answers) and all(
            answer >= low if said == ABOVE else answer <= high for said, answer in zip(output, answers, strict=True)
        )

    def __str__(self) -> str:
        return f"no answer off by more than {self.alpha:.6g} and no early halt"


# --- cards: what is claimed where, and where the text here departs from the print ---

AboveThreshold.card = Card(
    name="AboveThreshold",
    system="F8",
    title="AboveThreshold, the sparse vector technique with one answer above",
    paper=DWORK_ROTH,
    place="§3.6, Algorithm 1, Theorems 3.23 and 3.24",
    claim="ε-DP for queries of sensitivity 1",
    inputs="a dataset that the queries answer; epsilon > 0, a threshold, k ≥ 1 queries of sensitivity 1, beta",
    output='the answers up to the halt, each "below" or "above"',
    deviations=(
        "The thesis names the algorithm and does not print it: the text is Algorithm 1 of Dwork and Roth's book.",
        "The queries are fixed beforehand; the book's stream may choose them by the answers before, and its proof "
        "holds then too.",
        "The log of the utility claim is natural, which its proof needs.",
    ),
)
