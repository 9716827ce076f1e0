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

    An event becomes the profile of `PLDAccountant`, or the Rényi bounds of `RdpAccountant` if the former does not
    support it. An `RdpAccountant` becomes its Rényi bounds, every other object the profile of its δ at a grid of ε.

    Args:
        thing: the object.
        relation: the accountant's own by default, and add-remove-one for events and distributions.

    Raises:
        ParameterError: a distribution that was made with `pessimistic_estimate=False`, whose δ are too small; an event
            that neither of them supports; a relation that is not the accountant's, or not that of a distribution
            whose two directions differ.
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
        if relation is not None and not _of_one_more(relation) and not getattr(pld, "_symmetric", True):
            raise ParameterError(
                "This privacy loss distribution differs between adding and removing a record, as after sampling, so it "
                f"is of add-remove-one and not of {relation.name}; leave the relation out, or make one for "
                f"{relation.name}."
            )
        profile = _profile(pld.get_delta_for_epsilon, "the privacy loss distribution")
        return Claim.of(profile, relation=relation or ADD_REMOVE_ONE)
    accountant: Any = thing
    own = {"ADD_OR_REMOVE_ONE": ADD_REMOVE_ONE, "REPLACE_ONE": REPLACE_ONE}.get(accountant.neighboring_relation.name)
    same = relation == own or (own == ADD_REMOVE_ONE and relation is not None and _of_one_more(relation))
    if relation is not None and own is not None and not same:
        raise ParameterError(
            f"The accountant's neighbours are those of {own.name}, not of {relation.name}; leave the relation out, or "
            "make the accountant with the other one."
        )
    under = relation or own
    if under is None:
        raise ParameterError(
            f"The accountant's neighbours are {accountant.neighboring_relation.name}, for which dpaudit has no "
            "relation; say under which relation its δ hold, such as relation='add-remove-one'."
        )
    if "RdpAccountant" in {kind.__name__ for kind in type(accountant).__mro__}:
        known = [(float(a), float(e)) for a, e in zip(accountant.orders, accountant.rdp, strict=True)]
        finite = [(a, e) for a, e in known if a > 1 and math.isfinite(e)]
        if not finite:
            raise ParameterError("The accountant gives no finite bound at any order, so there is nothing to test.")
        curve: Curve = Renyi(finite)
    else:
        curve = _profile(accountant.get_delta, "the accountant's profile")
    return Claim.of(curve, relation=under)


def claim_under(curve: object, relation: Relation | None) -> Claim:
    """A curve, or an object of dp-accounting, as a claim under a relation; without one under its own.

    Profiles that dp-accounting computed for `dp-sgd(…)` are of add-remove-one, other curves of replace-one.

    Raises:
        ParameterError: as of `accounted`; or a profile of `dp-sgd(…)` under other neighbours than those of one record,
            or of one person, for which it is too small.
    """
    if not isinstance(curve, Curve):
        return accounted(curve, relation=relation)
    if not (isinstance(curve, Profile) and curve.name.startswith("dp-sgd(")):
        return Claim.of(curve, relation=relation or REPLACE_ONE)
    if relation is not None and not _of_one_more(relation):
        raise ParameterError(
            f"{curve.name} is the profile of datasets of which one has a record more, and those of {relation.name} "
            "need a larger one; leave the relation out, or give an accountant of dp-accounting that was made with it."
        )
    return Claim.of(curve, relation=relation or ADD_REMOVE_ONE)


def _of_one_more(relation: Relation) -> bool:
    """Whether one of two neighbours has a record more, or all records of one person."""
    return relation.size == 1 and relation.kind in ("add-remove-one", "users")


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
    from dp_accounting.rdp import RdpAccountant

    kinds = accounting.NeighboringRelation
    neighbours = kinds.REPLACE_ONE if relation == REPLACE_ONE else kinds.ADD_OR_REMOVE_ONE
    reasons = []
    for kind in (PLDAccountant, RdpAccountant):
        accountant = kind(neighboring_relation=neighbours)
        try:
            return accountant.compose(event)
        except (accounting.UnsupportedEventError, TypeError, ValueError) as error:
            reasons.append(str(error))
    under = "" if relation is None else f" under {relation.name}"
    raise ParameterError(f"dp-accounting does not support this event{under}: {reasons[0]}")


def _library() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise UsageError(
            f"This claim needs dp-accounting, which is not installed: {install_command('dp-accounting')}"
        ) from None
    return dp_accounting


def _profile(delta: Any, name: str) -> Profile:
    """The profile of a δ that dp-accounting computes.

    Raises:
        ParameterError: it allows everything.
    """

    def above(epsilon: float) -> float:
        # rounded up: sums of many doubles
        return min(1.0, max(0.0, float(delta(epsilon))) * (1 + 1e-9) + 1e-15)

    if above(0.0) >= 1 and above(LARGEST / 2) >= 1:
        raise ParameterError(f"By {name} δ = 1 at every ε, which all mechanisms satisfy, so there is nothing to test.")
    small = max(SMALLEST, SMALLEST * above(0.0))
    end = 0.01
    while above(end) > small and end < LARGEST / 2:
        end *= 1.25
    return Profile([(e, above(e)) for e in np.linspace(0.0, end, GRID).tolist()], name=name)
