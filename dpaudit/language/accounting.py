"""What Google's dp-accounting computes, as claims: events, privacy loss distributions and accountants.

Only the side that is valid for a claim is taken: a δ from above. dp-accounting is imported when it is used (the extra
`dp-accounting`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.errors import ParameterError, UsageError
from dpaudit.extras import install_command
from dpaudit.language.checks import positive, probability, whole
from dpaudit.language.claim import Claim
from dpaudit.language.curves import LARGEST, Curve, Profile, Renyi
from dpaudit.language.relation import ADD_REMOVE_ONE, REPLACE_ONE, Relation

GRID = 33
"""ε at which a profile is taken."""
SMALLEST = 1e-6
"""The profile is taken up to the ε at which δ is this small, or this share of δ(0)."""


def is_accounting(thing: object) -> bool:
    """Whether it is an object of dp-accounting that `accounted` takes."""
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__}
    return any(("dp_accounting", name) in kinds for name in _NAMES)


_NAMES = ("DpEvent", "PrivacyLossDistribution", "PrivacyAccountant")


def accounted(thing: object, *, relation: Relation | None = None) -> Claim:
    """The claim of a `DpEvent`, a `PrivacyLossDistribution` or a `PrivacyAccountant` of dp-accounting.

    An event becomes the profile of `PLDAccountant`, an `RdpAccountant` its Rényi bounds, every other object the
    profile of its δ at a grid of ε.

    Args:
        thing: the object.
        relation: the accountant's own by default, and add-remove-one for events and distributions.

    Raises:
        ParameterError: a distribution that was made with `pessimistic_estimate=False`, whose δ are too small; an event
            that `PLDAccountant` does not support; a relation that is not the accountant's.
    """
    kinds = {kind.__name__ for kind in type(thing).__mro__}
    if "DpEvent" in kinds:
        thing = _account(thing, relation)
        kinds = {"PrivacyAccountant"}
    if "PrivacyLossDistribution" in kinds:
        pld: Any = thing
        if not all(getattr(pmf, "_pessimistic_estimate", True) for pmf in (pld._pmf_remove, pld._pmf_add)):
            raise ParameterError(
                "This privacy loss distribution is optimistic: its δ may be smaller than the mechanism's, which would "
                "accuse a correct mechanism. Make it with pessimistic_estimate=True."
            )
        profile = _profile(pld.get_delta_for_epsilon, "the privacy loss distribution")
        return Claim.of(profile, relation=relation or ADD_REMOVE_ONE)
    accountant: Any = thing
    own = {"ADD_OR_REMOVE_ONE": ADD_REMOVE_ONE, "REPLACE_ONE": REPLACE_ONE}.get(accountant.neighboring_relation.name)
    if relation is not None and own is not None and relation != own:
        raise ParameterError(
            f"The accountant's neighbours are those of {own.name}, not of {relation.name}; leave the relation out, or "
            "make the accountant with the other one."
        )
    if "RdpAccountant" in {kind.__name__ for kind in type(accountant).__mro__}:
        known = [(float(a), float(e)) for a, e in zip(accountant.orders, accountant.rdp, strict=True)]
        curve: Curve = Renyi([(a, e) for a, e in known if a > 1 and math.isfinite(e)])
    else:
        curve = _profile(accountant.get_delta, "the accountant's profile")
    return Claim.of(curve, relation=relation or own or ADD_REMOVE_ONE)


def claim_under(curve: object, relation: Relation | None) -> Claim:
    """A curve, or an object of dp-accounting, as a claim under a relation; without one under its own.

    Profiles that dp-accounting computed for `dp-sgd(…)` are of add-remove-one, other curves of replace-one.
    """
    if not isinstance(curve, Curve):
        return accounted(curve, relation=relation)
    own = ADD_REMOVE_ONE if isinstance(curve, Profile) and curve.name.startswith("dp-sgd(") else REPLACE_ONE
    return Claim.of(curve, relation=relation or own)


def dp_sgd(*, noise: float, rate: float = 1.0, steps: int = 1) -> Profile:
    """The profile of DP-SGD: `steps` Gaussian sums of clipped gradients, with Poisson sampling, under add-remove-one.

    Args:
        noise: standard deviation of the noise, in units of the clipping norm.
        rate: probability of each record in each step, in (0, 1].
        steps: number of steps.

    Raises:
        ParameterError: outside these ranges.
        UsageError: dp-accounting is not installed.
    """
    positive("noise", noise)
    if not 0 < probability("rate", rate) <= 1:
        raise ParameterError(f"rate must lie in (0, 1], not {rate!r}.")
    whole("steps", steps, least=1)
    accounting = _library()
    event = accounting.GaussianDpEvent(noise)
    if rate < 1:
        event = accounting.PoissonSampledDpEvent(rate, event)
    accountant = _account(accounting.SelfComposedDpEvent(event, steps), None)
    return _profile(accountant.get_delta, f"dp-sgd(noise={noise:g}, rate={rate:g}, steps={steps})")


def _account(event: object, relation: Relation | None) -> Any:
    accounting = _library()
    from dp_accounting.pld import PLDAccountant

    neighbours = accounting.NeighboringRelation
    try:
        accountant = PLDAccountant(neighbours.REPLACE_ONE if relation == REPLACE_ONE else neighbours.ADD_OR_REMOVE_ONE)
        return accountant.compose(event)
    except (accounting.UnsupportedEventError, TypeError, ValueError) as error:
        under = "" if relation is None else f" under {relation.name}"
        raise ParameterError(f"dp-accounting's PLDAccountant does not support this event{under}: {error}") from None


def _library() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise UsageError(
            f"This claim needs dp-accounting, which is not installed: {install_command('dp-accounting')}"
        ) from None
    return dp_accounting


def _profile(delta: Any, name: str) -> Profile:
    def above(epsilon: float) -> float:
        # rounded up: sums of many doubles
        return min(1.0, max(0.0, float(delta(epsilon))) * (1 + 1e-9) + 1e-15)

    small = max(SMALLEST, SMALLEST * above(0.0))
    end = 0.01
    while above(end) > small and end < LARGEST / 2:
        end *= 1.25
    return Profile([(e, above(e)) for e in np.linspace(0.0, end, GRID).tolist()], name=name)
