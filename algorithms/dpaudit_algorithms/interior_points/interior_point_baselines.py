"""Interior points without privacy: the least record, the greatest, the median, and one with far too little noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    INTERIOR_POINT_NOTES,
    THESIS,
    Card,
    Claim,
    DatasetError,
    DiscreteLaplace,
    KnownBug,
    Mechanism,
    Multiset,
    Program,
    checks,
)

_TAIL = 40
"""Noise of more scales than this is cut: it has probability e^−40."""


@dataclass(frozen=True)
class Minimum(Mechanism):
    """Outputs the least record, an interior point without error and without privacy.

    Source: Stemmer's thesis, Definition 7.5 (which it solves with β = 0); a baseline.
    """

    def run(self, S: Any) -> Any:
        return _values(S)[0]


@dataclass(frozen=True)
class Maximum(Mechanism):
    """Outputs the greatest record, an interior point without error and without privacy.

    Source: Stemmer's thesis, Definition 7.5 (which it solves with β = 0); a baseline.
    """

    def run(self, S: Any) -> Any:
        return _values(S)[-1]


@dataclass(frozen=True)
class Median(Mechanism):
    """Outputs the record of rank ⌈n/2⌉, an interior point without error and without privacy.

    Source: lecture notes on interior points (what the median utility approximates); a baseline.
    """

    def run(self, S: Any) -> Any:
        records = Multiset.of(S)
        if not len(records):
            raise DatasetError("The empty dataset has no median.")
        return next(x for x in records.values if records.at_most(x) >= (len(records) + 1) // 2)


@dataclass(frozen=True)
class NoisyMedian(Mechanism):
    """The median plus whole Laplace noise of a scale that does not know the domain: it claims more than it keeps.

    The median of numbers below |X| moves by up to |X| − 1 with one record, so that a scale of (|X| − 1)/ε would be
    private. This is the mistake of a scale for a change of 1, or of less.

    Args:
        epsilon, delta: as claimed.
        scale: of the noise, > 0, in the units of the records.

    Raises:
        ParameterError: a parameter outside its range.

    Source: lecture notes on interior points, "Algorithms for Interior Point" (the median); a baseline.
    """

    epsilon: checks.Positive = 0.2
    delta: float = 0.005
    scale: checks.Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.claim

    @property
    def claim(self) -> Claim:
        """(ε, δ), which it does not keep."""
        return Claim(self.epsilon, self.delta)

    def run(self, S: Any) -> Program:
        median = yield Median().on(S)
        most = math.ceil(_TAIL * self.scale)
        noise = yield DiscreteLaplace(0, self.scale).clip(-most, most)
        return median + noise


def _values(S: Any) -> tuple[Any, ...]:
    values = Multiset.of(S).values
    if not values:
        raise DatasetError("The empty dataset has no least and no greatest record.")
    return values


# --- cards: what is claimed where, and where the text here departs from the print ---

Minimum.card = Card(
    name="Minimum",
    system="L6",
    title="The least record: an interior point, not private",
    paper=THESIS,
    place="§7.2, Definition 7.5",
    claim="none: it is deterministic",
    inputs="n ≥ 1 records that can be ordered",
    output="the least record",
    private=False,
)

Maximum.card = Card(
    name="Maximum",
    system="L6",
    title="The greatest record: an interior point, not private",
    paper=THESIS,
    place="§7.2, Definition 7.5",
    claim="none: it is deterministic",
    inputs="n ≥ 1 records that can be ordered",
    output="the greatest record",
    private=False,
)

Median.card = Card(
    name="Median",
    system="L6",
    title="The median itself: not private",
    paper=INTERIOR_POINT_NOTES,
    place='"Algorithms for Interior Point", the median without noise',
    claim="none: it is deterministic",
    inputs="n ≥ 1 records that can be ordered",
    output="the record of rank ⌈n/2⌉",
    private=False,
)

NoisyMedian.card = Card(
    name="NoisyMedian",
    system="L6",
    title="The median with too little noise: claims more than it keeps",
    paper=INTERIOR_POINT_NOTES,
    place='"Algorithms for Interior Point", the median with noise',
    claim="(ε, δ)-DP under replace-one, falsely: true where one record moves the median by at most ε·scale",
    inputs="n ≥ 1 whole numbers; epsilon and delta as claimed, the scale of the noise",
    output="a whole number",
    deviations=("Noise beyond 40 scales, of probability e^−40, is cut, so that the output distribution is finite.",),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="One record moves the median by up to the whole domain, and the noise does not grow with the domain.",
        epsilon="unknown: about (y − x)/scale for a pair whose medians are x and y",
    ),
)
