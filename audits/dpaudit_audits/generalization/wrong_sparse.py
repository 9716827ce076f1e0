"""Variants of NumericSparse, one private and the others not, which an audit must distinguish."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import Laplace, Program
from dpaudit_algorithms.foundations.sparse_vector_outputs import BELOW, Outputs
from dpaudit_algorithms.generalization.multiplicative_weights import PrivateMultiplicativeWeights
from dpaudit_algorithms.generalization.numeric_sparse import NumericSparse, SparseNoise


@dataclass(frozen=True)
class Respun(NumericSparse):
    """NumericSparse with some of its noise left out. (`SVT3` of the corpus releases the compared number.)

    Args:
        once: T̂ keeps its noise after a release, as in Algorithm 1 of Lyu, Su and Li. That is private: shifting the
            threshold by 1 costs ε₁/(2c), once, and shifting every answer above by 2 costs another ε₁/(2c).
        bare: no noise on the answers compared with T̂.
    """

    once: bool = False
    bare: bool = False

    def run(self, D: Any) -> Program:
        noise, T = self.noise, self.threshold
        noisy = T + (yield Laplace(0, noise.threshold))
        count, said = 0, list[Hashable]()
        for answer in self.answers(D):
            seen = answer if self.bare else (yield Laplace(answer, noise.compared))
            if seen >= noisy:
                said.append((yield Laplace(answer, noise.released)))
                count += 1
                if not self.once:
                    noisy = T + (yield Laplace(0, noise.threshold))
            else:
                said.append(BELOW)
            if count >= self.c:
                break
        return tuple(said)

    def bulk(self, D: Any, size: int, rng: Generator) -> Outputs:
        noise, answers = self.noise, self.answers(D)
        noisy = self.threshold + rng.laplace(0, noise.threshold, size)
        count, length = np.zeros(size, dtype=np.int64), np.full(size, len(answers))
        said = np.full((size, len(answers)), BELOW, dtype=object)
        for i, answer in enumerate(answers):
            seen = np.full(size, answer) if self.bare else answer + rng.laplace(0, noise.compared, size)
            above = np.flatnonzero((seen >= noisy) & (count < self.c))
            said[above, i] = answer + rng.laplace(0, noise.released, len(above))
            count[above] += 1
            if not self.once:
                noisy[above] = self.threshold + rng.laplace(0, noise.threshold, len(above))
            length[above[count[above] >= self.c]] = i + 1
        return [tuple(row[:end]) for row, end in zip(said.tolist(), length.tolist(), strict=True)]


@dataclass(frozen=True)
class QuietSparse(SparseNoise):
    """Noise only for the releases; the comparisons have almost none."""

    @cached_property
    def threshold(self) -> float:
        return 1e-9 * self.unit


@dataclass(frozen=True)
class Quiet(PrivateMultiplicativeWeights):
    """Private multiplicative weights that decide without noise whether to answer ⊥."""

    @cached_property
    def noise(self) -> SparseNoise:
        return QuietSparse(self.epsilon, self.delta, self.updates, unit=1 / self.records)
