"""A sparse vector technique that prints answers with fresh noise, and two techniques run on the same answers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import DP_SNIPER, Card, KnownBug, Laplace, Program
from dpaudit_algorithms.corpus.sparse_vector import INPUTS, SVT3, SVT4, Stopping
from dpaudit_algorithms.foundations.sparse_vector_outputs import (
    BELOW,
    Outputs,
    noisy_answers,
    padded,
    until_stop,
    with_numbers,
)

SHADOW_EXECUTION = "Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution (PLDI 2019)"


@dataclass(frozen=True)
class NumericalSVT(Stopping):
    """Prints the answers above the threshold with fresh noise: the correct counterpart of SVT3.

    Args:
        epsilon: > 0; a third each for the threshold, the comparisons and the printed numbers.
        threshold: T.
        c: number of answers above after which it stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Wang et al. 2019, the numerical sparse vector among the case studies.
    """

    c: int = 2

    def run(self, answers: Any) -> Program:
        rho_1 = yield Laplace(0, 3 / self.epsilon)
        outputs: list[Hashable] = []
        count = 0
        for answer in answers:
            if (yield Laplace(answer, 6 * self.c / self.epsilon) >= self.threshold + rho_1):
                outputs.append((yield Laplace(answer, 3 * self.c / self.epsilon)))
                count += 1
                if count >= self.c:
                    break
            else:
                outputs.append(BELOW)
        return padded(outputs, len(answers))

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 3 / self.epsilon, (size, 1))
        compared = noisy_answers(answers, 6 * self.c / self.epsilon, size, rng)
        codes = until_stop(compared >= noisy_threshold, self.c)
        # fresh noise only where a number is printed
        printed = np.zeros(codes.shape)
        above = codes == 1
        printed[above] = rng.laplace(0, 3 * self.c / self.epsilon, int(above.sum()))
        return with_numbers(codes, np.asarray(answers, dtype=np.float64) + printed)


@dataclass(frozen=True)
class SVT34Parallel(Stopping):
    """SVT3 and SVT4 on the same answers, each with budget ε, but claimed as ε-DP together.

    Args:
        epsilon: > 0, for each of the two.
        threshold: T, for both.
        c: number of answers above after which each stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bichsel et al., DP-Sniper, SVT34Parallel in the evaluation.
    """

    c: int = 2

    @property
    def parts(self) -> tuple[SVT3, SVT4]:
        """The two techniques."""
        return (SVT3(self.epsilon, self.threshold, self.c), SVT4(self.epsilon, self.threshold, self.c))

    def run(self, answers: Any) -> Program:
        numbers, symbols = self.parts
        first = yield numbers.on(answers)
        second = yield symbols.on(answers)
        return (*first, *second)

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        numbers, symbols = self.parts
        first, second = numbers.bulk(answers, size, rng), symbols.bulk(answers, size, rng)
        return [a + b for a, b in zip(first, second, strict=True)]


# --- cards: claims, sources and deviations from the papers ---

NumericalSVT.card = Card(
    name="NumericalSVT",
    system="corpus",
    title="Sparse vector technique that prints fresh noisy answers",
    paper=SHADOW_EXECUTION,
    place="numerical sparse vector",
    claim="ε-DP for queries of sensitivity 1",
    inputs=f"{INPUTS}, a number c ≥ 1 of answers above",
    output='k entries: a noisy answer where it is above, "below", or (after the stop) "aborted"',
    deviations=(
        "The dataset is the vector of true answers.",
        "For an answer below the threshold the source prints 0; here it is the symbol below, which cannot be confused "
        "with a noisy answer.",
        "After the stop the remaining entries are the symbol aborted, so that all outputs have the same length.",
    ),
    variants=("SVT3",),
    known_bug=KnownBug(
        bug="",
        effect="Correct: the printed numbers have their own noise, so they reveal nothing more about the threshold.",
        epsilon="at most 0.1: ε/3 for the threshold, c·2/(6c/ε) = ε/3 for the comparisons and c/(3c/ε) = ε/3 for "
        "the printed numbers",
    ),
)

SVT34Parallel.card = Card(
    name="SVT34Parallel",
    system="corpus",
    title="SVT3 and SVT4 side by side",
    paper=DP_SNIPER,
    place="evaluation, SVT34Parallel",
    claim="ε-DP for queries of sensitivity 1",
    inputs=f"{INPUTS}, a number c ≥ 1 of answers above",
    output="2k entries: those of SVT3, then those of SVT4",
    deviations=(
        "The dataset is the vector of true answers.",
        "The claimed ε is that of each part, as in the published experiments.",
    ),
    variants=("SVT3", "SVT4"),
    known_bug=KnownBug(
        bug="composition not paid for, of two broken parts",
        effect="The privacy losses of both parts add up, and each part exceeds its own claim.",
        epsilon="at most 0.575 for ten answers and c = 2: 10·ε2/c = 0.25 for SVT3 (it grows with the number of "
        "answers) and (1 + 6c)/4 · ε = 0.325 for SVT4",
    ),
)
