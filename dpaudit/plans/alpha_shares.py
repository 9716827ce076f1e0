"""How the error of a request is shared out, so that one α covers everything that is tried."""

from __future__ import annotations

from dataclasses import dataclass

LOOKS = 8
"""Sizes at which a certification may stop; each is twice the one before it, the last is all that the budget allows."""


@dataclass(frozen=True)
class Shares:
    """The error of one case, spent on what is done with it; over all nights the parts add up to its share of α.

    Args:
        sequential: the e-process over all pairs, events and directions, at whatever time it is stopped; where evidence
            is carried over, it is the same one on all nights.
        bits: the e-process over the low bits of doubles; 0 where it counts in the verdict, and is part of the first.
        looks: all certificates at sizes before the last, together.
        final: the certificates at the last size, together.
        above: the e-process at levels above the claim, of which nothing is carried over.
    """

    sequential: float
    bits: float
    looks: float
    final: float
    above: float

    def at_look(self, look: int, tests: int) -> float:
        """The error of one of `tests` certificates at one of its looks, counted from 0."""
        return self.final / tests if look == LOOKS - 1 else self.looks / tests / (LOOKS - 1)


LATER_NIGHTS = 0.01
"""Of α, for what later nights do not carry over but test anew: certificates, bits, levels above the claim."""


def of_night(alpha: float, night: int) -> float:
    """What may be spent anew on one night, so that all nights together spend no more than `alpha`.

    The first has all but `LATER_NIGHTS` of it; night k > 1 has 1/(k(k − 1)) of the rest, and these add up to 1. A share
    that is so much smaller costs little: the samples that a certificate needs grow with its logarithm.

    Args:
        alpha: a test's share of the family-wise error.
        night: counted from 1.
    """
    return (1 - LATER_NIGHTS) * alpha if night == 1 else LATER_NIGHTS * alpha / (night * (night - 1))


def shares(alpha: float, *, certify: bool, bits: bool, night: int = 1, carried: float = 1.0) -> Shares:
    """The parts of a case's error.

    Without `certify` most of it is for stopping early. With it the bound is what is wanted, so four fifths go to the
    one certificate at the end and there is no look before it.

    On the first night the e-process has its part for that and all later nights. What later nights test anew they pay
    from what the first has left (`of_night`), shared out alike.

    Args:
        alpha: the case's share of the family-wise error.
        certify: whether all of the budget is used whatever is found.
        bits: whether the low bits of doubles count in the verdict.
        night: which of the nights that evidence is carried over, from 1.
        carried: the smallest part that the e-process had on the nights before: it never grows.
    """
    apart = 0.0 if bits else 0.04 * alpha
    first = (0.2 if certify else 0.6) * alpha - LATER_NIGHTS * alpha - apart
    looks, final = (0.0, 0.8 * alpha) if certify else (0.1 * alpha, 0.3 * alpha)
    if night == 1:
        return Shares(first, apart, looks, final, first)
    anew = of_night(1.0, night)
    sequential = min(first, carried)
    return Shares(sequential, anew * apart, anew * looks, anew * final, anew * sequential)


LEARNING_SHARE = 0.2
"""Of a pair's runs, for learning events while betting on them; the others certify the event that was learned."""
LEAST_LEARNING = 500


def learning_runs(runs: int) -> int:
    """Runs a side and pair of the sequential phase, of `runs` in all: the share, and of few runs half."""
    return min(runs // 2, max(LEAST_LEARNING, round(LEARNING_SHARE * runs)))
