"""Private-public mixtures: distributions of records (x, y, p), p = "priv" or "pub".

A privacy model is the probability that an example (x, y) is private. The models here are those of Bassily, Moran and
Nandi, sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpaudit.errors import ParameterError
from dpaudit.language import PRIVATE, PUBLIC, Instance, Mechanism, Multinomial, Program, as_written, checks

Weighted: TypeAlias = dict[tuple[Any, int], float | Fraction]
"""A distribution D̃ of examples (x, y): example → weight ≥ 0, proportional to its probability."""


@dataclass(frozen=True)
class Mixture:
    """A distribution D of records (x, y, p).

    Args:
        rows: distinct records (x, y, p).
        weights: one whole number ≥ 0 per row, proportional to its probability.
        model: the privacy model in a few words.
    """

    rows: tuple[tuple[Any, int, str], ...]
    weights: tuple[int, ...]
    model: str

    @property
    def examples(self) -> dict[tuple[Any, int], int]:
        """D̃: the weights of (x, y), summed over p."""
        totals: dict[tuple[Any, int], int] = {}
        for (x, y, _), weight in zip(self.rows, self.weights, strict=True):
            totals[x, y] = totals.get((x, y), 0) + weight
        return totals


@dataclass(frozen=True)
class Mixed(Mechanism):
    """Instances of n records drawn independently from a mixture; the dataset is a multiset, the truth the `Mixture`."""

    truth: Mixture
    records: int

    def run(self, dataset: Any) -> Program:
        sample = yield Multinomial(self.truth.rows, self.truth.weights, self.records)
        return Instance(sample, self.truth)

    def __str__(self) -> str:
        total = sum(self.truth.weights)
        shown = [f"{r!r}: {w / total:.4g}" for r, w in list(zip(self.truth.rows, self.truth.weights, strict=True))[:4]]
        more = ", …" if len(self.truth.rows) > 4 else ""
        return f"{self.records:,} records, {self.truth.model}, {{{', '.join(shown)}{more}}}"


def label_determined(examples: Weighted, *, private_label: int = 1) -> Mixture:
    """Private iff y = private_label (1 in section 4; section 3 allows 0 as well)."""
    return _mixture(examples, lambda x, y: float(y == private_label), f"private iff y = {private_label}")


def flipped_bits(examples: Weighted, flip: float) -> Mixture:
    """Private iff y = 1, except that the bit flips with this probability: relaxation (i).

    Raises:
        ParameterError: flip outside [0, 1].
    """
    checks.probability("flip", flip)
    other = f"private iff y = 1, the bit flipped with probability {flip:g}"
    return _mixture(examples, lambda x, y: flip if y == 0 else 1 - as_written(flip), other)


def private_ones(examples: Weighted, share: float) -> Mixture:
    """Label 1 is private with this probability, label 0 never: relaxation (ii), public records with both labels.

    Raises:
        ParameterError: share outside [0, 1].
    """
    checks.probability("share", share)
    return _mixture(examples, lambda x, y: share if y == 1 else 0.0, f"y = 1 is private with probability {share:g}")


def noisy_labels(points: Iterable[tuple[Any, float]], target: Callable[[Any], int], noise: float) -> Weighted:
    """D̃ of the agnostic case: x drawn by its weight, labelled by the target, flipped with probability `noise`.

    Raises:
        ParameterError: noise outside [0, 1].
    """
    rate = as_written(checks.probability("noise", noise))
    weights: Weighted = {}
    for x, weight in points:
        y = target(x)
        weights[x, y], weights[x, 1 - y] = _exact(weight) * (1 - rate), _exact(weight) * rate
    return {example: weight for example, weight in weights.items() if weight}


def _mixture(examples: Weighted, private: Callable[[Any, int], float | Fraction], model: str) -> Mixture:
    masses: dict[tuple[Any, int, str], Fraction] = {}
    for (x, y), weight in examples.items():
        if y not in (0, 1) or weight < 0:
            raise ParameterError(f"An example is (x, 0) or (x, 1) with a weight ≥ 0, not {(x, y)!r}: {weight!r}.")
        share = _exact(private(x, y))
        masses[x, y, PRIVATE], masses[x, y, PUBLIC] = _exact(weight) * share, _exact(weight) * (1 - share)
    masses = {row: mass for row, mass in sorted(masses.items()) if mass}
    if not masses:
        raise ParameterError("A mixture needs an example of weight above 0.")
    unit = math.lcm(*(mass.denominator for mass in masses.values()))
    return Mixture(tuple(masses), tuple(int(mass * unit) for mass in masses.values()), model)


def _exact(number: float | Fraction) -> Fraction:
    """The decimal that a float was written as."""
    return as_written(number) if isinstance(number, float) else Fraction(number)
