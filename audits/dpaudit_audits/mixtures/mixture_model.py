"""Audit plan for the data model of private-public mixtures: it reads no data, and the bits follow its models."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import PRIVATE, Claim, Fixed, UtilityClaim
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.mixtures.mixture_model import LabelDetermined, MixtureModel
from dpaudit_algorithms.mixtures.record_sources import (
    Mixture,
    Weighted,
    flipped_bits,
    label_determined,
    noisy_labels,
    private_ones,
)

STEP: Weighted = {((x,), int(x > 1)): 1 for x in range(4)}
"""Four points of a line, labelled by x ≥ 2."""


def models() -> dict[str, Mixture]:
    """Every model of sections 3 and 4, on four points of a line."""
    noisy = noisy_labels([((x,), 1) for x in range(4)], lambda x: int(x[0] > 1), 0.1)
    return {
        "label-determined, realizable": label_determined(STEP),
        "label-determined, agnostic": label_determined(noisy),
        "relaxation (i), bits flipped with probability 0.02": flipped_bits(STEP, 0.02),
        "relaxation (ii), half of label 1 is public": private_ones(STEP, 0.5),
    }


def cases() -> tuple[Case, ...]:
    """No data is read."""
    default = MixtureModel(models()["label-determined, realizable"], 3)
    row, other = ((0,), 1, PRIVATE), ((3,), 0, PRIVATE)
    return (
        Case("default", default, (Pair((row,), (other,), "any data"),), runs=5_000),
        *(
            Case(
                f"group of {k}",
                default,
                (Pair((row,) * k, (other,) * k, "any data"),),
                Claim(0.0, relation=default.claim.relation).group(k),
                runs=0,
            )
            for k in (2, 3)
        ),
    )


def utility() -> tuple[UtilityCase, ...]:
    """The bits of every model; and that a relaxation violates the strict model."""
    cases = []
    for name, truth in models().items():
        model = MixtureModel(truth, 5)
        cases.append(UtilityCase(name, model, model.utility(0)[0], (Fixed(()),)))
    relaxed = MixtureModel(models()["relaxation (i), bits flipped with probability 0.02"], 5)
    cases.append(
        UtilityCase(
            "relaxation (i), tested against the strict model",
            relaxed,
            UtilityClaim(LabelDetermined(), 1.0, "§3, label-determined privacy model"),
            (Fixed(()),),
            expected=Verdict.FAIL,
            note="The relaxation does not satisfy the strict model.",
            deliberate=True,
        )
    )
    return tuple(cases)


PLAN = Plan("MixtureModel", cases, utility=utility)
