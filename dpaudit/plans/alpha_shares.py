"""How α is divided, so that it covers every test of a request."""

from __future__ import annotations

from dataclasses import dataclass

INTERIM_ANALYSES = 8
"""Sample sizes at which counting may stop; each doubles the one before, and the last uses all samples."""


@dataclass(frozen=True)
class Shares:
    """The parts of one case's share of α; over all sessions they add up to it.

    Args:
        sequential: the e-process over all pairs, events and directions, for any stopping time; if evidence
            accumulates, one e-process for all sessions.
        bits: the e-process over the low-order bits of floating-point outputs; 0 if it counts in the verdict, as it is
            then a part of `sequential`.
        analyses: all confidence bounds at interim analyses, together.
        final: the confidence bounds at the last size, together.
        above: the e-process at levels above the claim, which does not accumulate.
    """

    sequential: float
    bits: float
    analyses: float
    final: float
    above: float

    def at_analysis(self, analysis: int, tests: int) -> float:
        """The error of one of `tests` confidence bounds at one analysis, counted from 0."""
        return (
            self.final / tests if analysis == INTERIM_ANALYSES - 1 else self.analyses / tests / (INTERIM_ANALYSES - 1)
        )


LATER_SESSIONS = 0.01
"""Share of α for what later sessions test independently: confidence bounds, bits, levels above the claim."""


def of_session(alpha: float, session: int) -> float:
    """The error that one session may use by itself, so that all sessions together use at most `alpha`.

    The first session has all but `LATER_SESSIONS` of it. Session k > 1 has 1/(k(k − 1)) of the rest; these shares add
    up to 1. A smaller share costs little: the required number of samples grows with its logarithm.

    Args:
        alpha: a test's share of the family-wise error.
        session: counted from 1.
    """
    return (1 - LATER_SESSIONS) * alpha if session == 1 else LATER_SESSIONS * alpha / (session * (session - 1))


def shares(
    alpha: float, *, certify: bool, bits: bool, session: int = 1, prior: float = 1.0, counts: bool = True
) -> Shares:
    """The parts of a case's error.

    Without `certify` most of it is for stopping early. With it the bound matters, so four fifths go to the one
    confidence bound at the end, and there are no interim analyses.

    In the first session the e-process gets its part for all sessions. What later sessions test independently uses
    the rest (`of_session`), divided in the same way.

    Args:
        alpha: the case's share of the family-wise error.
        certify: whether all samples are used, whatever they show.
        bits: whether the low-order bits of floating-point outputs count in the verdict.
        session: number of the session that accumulates evidence, from 1.
        prior: smallest part that the e-process had in earlier sessions; it never grows.
        counts: whether an event is counted on fresh samples at the end; otherwise the e-process is all there is.
    """
    apart = 0.0 if bits else 0.04 * alpha
    part = 1.0 if not counts else 0.2 if certify else 0.68
    first = part * alpha - LATER_SESSIONS * alpha - apart
    analyses, final = (0.0, 0.0) if not counts else (0.0, 0.8 * alpha) if certify else (0.02 * alpha, 0.3 * alpha)
    if session == 1:
        return Shares(first, apart, analyses, final, first)
    anew = of_session(1.0, session)
    sequential = min(first, prior)
    return Shares(sequential, anew * apart, anew * analyses, anew * final, anew * sequential)


LEARNING_SHARE = 0.2
"""Fraction of each pair's samples used for learning; the rest certify."""
LEAST_LEARNING = 500
MOST_LEARNING = 400_000
"""Beyond it the learner learns nothing more (`learner.POOL`); whatever is counted certifies."""

LEAST_LEARNING_RECORDED = 200
"""Of recorded outputs there are no more to count, so that each has a higher price."""


def learning_runs(runs: int, *, least: int = LEAST_LEARNING) -> int:
    """Samples per dataset of each pair for the sequential phase, of `runs` in all.

    The share; of few runs half, and never more than teach anything.
    """
    return min(runs // 2, max(least, round(LEARNING_SHARE * runs)), MOST_LEARNING)
