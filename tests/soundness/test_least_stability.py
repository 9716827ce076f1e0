"""Random functions on small domains: no true claim of stability is refuted, and every false one is."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.evidence.output_distance import output_distance
from dpaudit.language import relation_named
from dpaudit.language.unordered import unordered
from dpaudit.results.model import Verdict

VALUES = (0, 1, 2)
RECORDS = 3


def table(rng: np.random.Generator, metric: str, relation: str) -> dict[tuple[int, ...], Any]:
    """A random function on all datasets that an audit may call it on."""
    sizes = range(RECORDS + 1) if relation.startswith("add") else (RECORDS,)

    def output() -> Any:
        match metric:
            case "absolute":
                return float(rng.choice([0.1, 0.2, 0.3, 1 / 3])) * int(rng.integers(5))
            case "l2":
                return [int(v) for v in rng.integers(0, 4, 2)]
            case _:
                return [int(v) for v in rng.integers(0, 2, int(rng.integers(4)))]

    return {records: output() for n in sizes for records in product(VALUES, repeat=n)}


@pytest.mark.parametrize("metric", ["absolute", "l2", "symmetric"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove-one", "replace-one:2"])
@pytest.mark.parametrize("any_order", [False, True])
def test_the_largest_distance_is_the_least_claim(metric: str, relation: str, any_order: bool) -> None:
    rng = np.random.default_rng([len(metric), len(relation), any_order])
    related = relation_named(relation)
    related = unordered(related) if any_order else related
    for _ in range(2):
        outputs = table(rng, metric, relation)
        needed = max(
            (
                distance.value / (steps * steps if distance.squared else steps)
                for left, right in product(outputs, repeat=2)
                if left and right  # of --size 2, which under add-remove-one is 1 to 3 records
                if (steps := related.distance(left, right)) is not None and 0 < steps <= related.size
                for distance in [output_distance(metric, outputs[left], outputs[right], "f")]
                if distance.value is not None
            ),
            default=Fraction(0),
        )
        given: dict[str, Any] = {
            "metric": metric, "relation": relation, "any_order": any_order, "data": "integers(0, 2)",
            "size": RECORDS - relation.startswith("add"),
        }

        def f(xs: list[int], outputs: dict[tuple[int, ...], Any] = outputs) -> Any:
            return outputs[tuple(xs)]

        # of squares the claim is a little above or below the root
        claims = (
            (Fraction(float(needed) ** 0.5) * (1 - Fraction(1, 10**12)), float(needed) ** 0.5 * (1 + 1e-12))
            if metric == "l2" else (needed - Fraction(1, 10**12), needed)
        )
        below, enough = (dpaudit.audit_stability(f, claim, **given) for claim in claims)
        assert needed > 0
        assert below.verdict is Verdict.FAIL
        assert (enough.verdict, enough.proved) == (Verdict.PASS, True)
