"""Distributions: what a mechanism yields or returns when it uses randomness."""

from dpaudit.language.distributions.base import (
    Bernoulli,
    Categorical,
    Distribution,
    Finite,
    Mapped,
    Product,
    Softmax,
    Then,
    Uniform,
    independent,
    plain,
)
from dpaudit.language.distributions.copies import NoisyCopies
from dpaudit.language.distributions.discrete_noise import DiscreteLaplace, Snapping
from dpaudit.language.distributions.geometric import CutGeometric
from dpaudit.language.distributions.levels import Levels, LevelSoftmax
from dpaudit.language.distributions.multinomial import Multinomial
from dpaudit.language.distributions.order import RandomOrder
from dpaudit.language.distributions.pairing import RandomPairing
from dpaudit.language.distributions.real import Clipped, ClippedInteger, Gaussian, Integer, Laplace, Real
from dpaudit.language.distributions.repeated import Repeated
from dpaudit.language.distributions.step_scores import StepSoftmax

__all__ = [
    "Bernoulli",
    "Categorical",
    "Clipped",
    "ClippedInteger",
    "CutGeometric",
    "DiscreteLaplace",
    "Distribution",
    "Finite",
    "Gaussian",
    "Integer",
    "Laplace",
    "LevelSoftmax",
    "Levels",
    "Mapped",
    "Multinomial",
    "NoisyCopies",
    "Product",
    "RandomOrder",
    "RandomPairing",
    "Real",
    "Repeated",
    "Snapping",
    "Softmax",
    "StepSoftmax",
    "Then",
    "Uniform",
    "independent",
    "plain",
]
