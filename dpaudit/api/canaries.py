"""What audits of scores and of guesses of canaries share: their results with methods, and how a claim is given.

Every bound in these results says what it assumes. Those that assume a trade-off family never decide a verdict on
(ε, δ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.api.arguments import ClaimLike, stated_claim
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import Claim, Curve, GaussianDP, Profile, TradeOff, parse_curve, relation_named
from dpaudit.language.accounting import claim_under
from dpaudit.language.checks import at_least, probability
from dpaudit.options import ALPHA, DELTA, EPSILON, Door
from dpaudit.report.numbers import count
from dpaudit.results.canaries import GAUSSIAN, Bound, CanaryRecord, GuessesRecord, ScoresRecord
from dpaudit.stats import gdp, tradeoff
from dpaudit.stats.arrays import FloatArray

__all__ = ["Bound", "CanaryClaim", "GuessesResult", "ScoresResult", "checked_alpha", "checked_scores", "in_family"]

RELATION = "add-remove-one"
POWER = 0.9
"""A violation counts as detectable if it would have been detected with this probability."""
_LARGEST = 700.0
"""The exponential of a larger ε is no double."""
_FAMILY = (
    "ε follows from μ only if the trade-off curve of the mechanism is Gaussian, which is not tested; no verdict on "
    "(ε, δ) rests on it."
)


class _Methods(CanaryRecord):
    """What can be done with either result."""

    def __bool__(self) -> NoReturn:
        raise TypeError("A result has no truth value; compare result.verdict with dpaudit's Verdict, or its text.")

    def __str__(self) -> str:
        """What the command line prints, 80 columns wide."""
        from dpaudit.report.canaries import canaries_text

        return canaries_text(self)

    def __repr__(self) -> str:
        from dpaudit.report.canaries import canaries_line

        return f"<dpaudit.{type(self).__name__} {canaries_line(self)}>"

    def to_html(self) -> str:
        """The report as the text of one HTML file."""
        from dpaudit.report.canaries_page import canaries_page

        return canaries_page(self)

    def save(self, path: str | Path) -> None:
        """Write a file: the report as .html, or the data as .json.

        Raises:
            ReportError: another ending, or the file cannot be written.
        """
        from dpaudit.report.files import save

        save(path, {".json": self.to_json, ".html": self.to_html})


class ScoresResult(_Methods, ScoresRecord):
    """The audit of scores of canaries, by `audit_scores`: data, and what can be done with it.

    It prints as the command line does, and `save` writes an HTML report or JSON. It has no truth value.
    """


class GuessesResult(_Methods, GuessesRecord):
    """The audit of guesses from one training run, by `audit_guesses`: data, and what can be done with it.

    It prints as the command line does, and `save` writes an HTML report or JSON. It has no truth value.
    """


@dataclass(frozen=True)
class CanaryClaim:
    """What is claimed of canaries, or that nothing is.

    Args:
        claim: None for bounds without a verdict.
        delta: at which ε is bounded if nothing is claimed.
        relation: in words.
    """

    claim: Claim | None
    delta: float
    relation: str

    @classmethod
    def of(
        cls, claim: ClaimLike | None, epsilon: float | None, delta: float | None, relation: str | None
    ) -> CanaryClaim:
        """The claim as it is given; a canary is in the data or not, so neighbours are add-remove-one by default.

        Raises:
            DpauditError: it is given twice, or is none.
        """
        stated = stated_claim(claim, epsilon, delta, relation)
        given = stated.get("claim")
        if isinstance(given, Claim):
            return cls(given, given.delta, given.relation.name)
        if given is not None:
            curve = parse_curve(given) if isinstance(given, str) else given
            named = relation or (RELATION if isinstance(curve, Curve) else None)
            made = claim_under(curve, None if named is None else relation_named(named))
            return cls(made, made.delta, made.relation.name)
        at = 0.0 if stated["delta"] is None else probability(DELTA, stated["delta"])
        own = relation_named(stated["relation"] or RELATION)
        if stated["epsilon"] is None:
            return cls(None, at, own.name)
        return cls(Claim(at_least(EPSILON, stated["epsilon"], 0), at, own), at, own.name)

    @property
    def curve(self) -> Curve | None:
        """The claim, if it is a curve."""
        return None if self.claim is None else self.claim.curve

    @property
    def mu(self) -> float | None:
        """μ of a claim of μ-GDP."""
        return self.curve.mu if isinstance(self.curve, GaussianDP) else None

    @property
    def text(self) -> str | None:
        """E.g. "(1.0, 1e-05)-DP under add-remove-one"; None if nothing is claimed."""
        return None if self.claim is None else str(self.claim)

    @cached_property
    def points(self) -> list[tuple[float, float]]:
        """(ε, δ) that follow from the claim: every one that it states, or those at which audits test a smooth curve."""
        assert self.claim is not None
        every = self.curve.lines if isinstance(self.curve, Profile | TradeOff) else self.claim.points
        return [(float(e), float(d)) for e, d in every if e <= _LARGEST] or [(_LARGEST, 1.0)]

    def least_errors(self, type_one: ArrayLike) -> FloatArray:
        """The claimed trade-off function, of tests in both directions, or one below it; shape as given."""
        if self.mu is not None:
            return gdp.tradeoff(self.mu, type_one)
        epsilons, deltas = zip(*self.points, strict=True)
        return tradeoff.of_claim(epsilons, deltas, type_one)


def unclaimed(door: Door) -> str:
    """Why there is no verdict."""
    return f"No ε is claimed: the bounds stand for themselves. Give {EPSILON.called(door)} for a verdict."


def checked_alpha(alpha: float) -> float:
    """The error of a verdict.

    Raises:
        DpauditError: it is not in (0, 0.5).
    """
    if probability(ALPHA, alpha, open_ends=True) >= 0.5:
        raise UsageError("{} must be below 0.5, not {}.", ALPHA, alpha)
    return float(alpha)


def in_family(mu: float, delta: float, alpha: float, also: str) -> Bound:
    """The bound that holds if the trade-off curve is Gaussian."""
    epsilon = gdp.epsilon_of(mu, delta)
    shown = epsilon if math.isfinite(epsilon) else None
    return Bound(GAUSSIAN, shown, delta, mu, 1 - alpha, f"{_FAMILY} {also}", False)


def checked_scores(values: object, label: str) -> FloatArray:
    """Scores as floats.

    Raises:
        DatasetError: they are no numbers, or one is NaN.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DatasetError(f"{label} must be numbers, one for each canary.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or not array.size:
        raise DatasetError(f"{label} must have one score for each canary, not the shape {array.shape}.")
    if (bad := int(np.isnan(array).sum())) > 0:
        raise DatasetError(
            f"{label} has {count(bad)} scores that are NaN; give every canary a number, by a rule that does not depend "
            "on whether it was in the data."
        )
    return array
