"""How the error of a request is shared out, so that one α covers everything that is tried."""

from __future__ import annotations

from dataclasses import dataclass

LOOKS = 8
"""Sizes at which a certification may stop; each is twice the one before it, the last is all that the budget allows."""


@dataclass(frozen=True)
class Shares:
    """The error of one case, spent on what is done with it; the four parts add up to its share of α.

    Args:
        sequential: the e-process over all pairs, events and directions, at whatever time it is stopped.
        bits: the e-process over the low bits of doubles; 0 where it counts in the verdict, and is part of the first.
        looks: all certificates at sizes before the last, together.
        final: the certificates at the last size, together.
    """

    sequential: float
    bits: float
    looks: float
    final: float

    def at_look(self, look: int, tests: int) -> float:
        """The error of one of `tests` certificates at one of its looks, counted from 0."""
        return self.final / tests if look == LOOKS - 1 else self.looks / tests / (LOOKS - 1)


def shares(alpha: float, *, certify: bool, bits: bool) -> Shares:
    """The parts of a case's error.

    Without `certify` most of it is for stopping early. With it the bound is what is wanted, so four fifths go to the
    one certificate at the end and there is no look before it.

    Args:
        alpha: the case's share of the family-wise error.
        certify: whether all of the budget is used whatever is found.
        bits: whether the low bits of doubles count in the verdict.
    """
    apart = 0.0 if bits else 0.05 * alpha
    if certify:
        return Shares(0.2 * alpha - apart, apart, 0.0, 0.8 * alpha)
    return Shares(0.6 * alpha - apart, apart, 0.1 * alpha, 0.3 * alpha)


LEARNING_SHARE = 0.2
"""Of a pair's runs, for learning events while betting on them; the others certify the event that was learned."""
LEAST_LEARNING = 500


def learning_runs(runs: int) -> int:
    """Runs a side and pair of the sequential phase, of `runs` in all: the share, and of few runs half."""
    return min(runs // 2, max(LEAST_LEARNING, round(LEARNING_SHARE * runs)))
