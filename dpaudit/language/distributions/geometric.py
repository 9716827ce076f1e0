"""Geometric numbers, truncated where larger values make no difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.language.checks import positive, whole
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosed import near


@dataclass(frozen=True)
class CutGeometric(Finite):
    """min(G, most), where Pr[G = k] = (1 − e^−rate)·e^(−rate·k) for whole k ≥ 0.

    A program that uses only min(G, most) has the same output distribution as with G.

    Args:
        rate: > 0; G is geometric with success probability 1 − e^−rate.
        most: ≥ 0.

    Raises:
        ParameterError: a parameter outside its range.
    """

    rate: float
    most: int

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        whole("most", self.most, least=0)

    @property
    def values(self) -> Values:
        return np.arange(self.most + 1)

    @property
    def probs(self) -> FloatArray:
        probs: FloatArray = np.exp(-near(self.rate) * np.arange(self.most + 1, dtype=np.float64))
        probs[:-1] *= -math.expm1(-near(self.rate))
        return probs
