"""Proofs for programs with finitely many outputs: exact probabilities on every dataset of a small domain.

Randomised response has no noise to shift. Its random choices have exact probabilities on each path, so the output
distribution on each dataset is a table of fractions, and neighbours are compared output by output.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.proofs.certificate import head
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.scopes import Domain

LARGEST = 50
"""Larger ε are taken for this one, which asks for more."""
TERMS = 260
"""Of the series of e^ε."""
Law = Mapping[Any, Fraction]


def laws(found: Mapping[tuple[Any, ...], Sequence[Finished]]) -> dict[tuple[Any, ...], Law] | None:
    """The output distribution on each dataset; None where an output depends on noise."""
    result: dict[tuple[Any, ...], Law] = {}
    for dataset, paths in found.items():
        if not all(path.is_finite for path in paths):
            return None
        law: dict[Any, Fraction] = {}
        for path in paths:
            law[path.output] = law.get(path.output, Fraction(0)) + path.probability
        if sum(law.values()) != 1:
            return None
        result[dataset] = law
    return result


def neighbours(scope: Domain) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Every ordered pair of neighbouring datasets."""
    for dataset in itertools.product(scope.values, repeat=scope.n):
        for place in range(scope.n):
            rest = dataset[:place], dataset[place + 1:]
            if scope.relation == "replace-one":
                for value in scope.values:
                    if value != dataset[place]:
                        yield dataset, (*rest[0], value, *rest[1])
            else:
                yield dataset, (*rest[0], *rest[1])
                yield (*rest[0], *rest[1]), dataset


def pairs(tables: Mapping[tuple[Any, ...], Law], scope: Domain) -> list[tuple[tuple[Fraction, Fraction], ...]]:
    """The probabilities of every output on D and on D′, for every pair; equal lists once."""
    found: dict[tuple[tuple[Fraction, Fraction], ...], None] = {}
    for left, right in neighbours(scope):
        one, other = tables[left], tables[right]
        outputs = dict.fromkeys((*one, *other))
        found[tuple(sorted((one.get(x, Fraction(0)), other.get(x, Fraction(0))) for x in outputs))] = None
    return list(found)


def exponential_below(epsilon: Fraction) -> Fraction:
    """A fraction that is at most e^ε, and very near for ε up to `LARGEST`: the beginning of its series."""
    term = total = Fraction(1)
    for k in range(1, TERMS):
        term *= min(epsilon, Fraction(LARGEST)) / k
        total += term
    return total


def ratio(compared: Sequence[tuple[tuple[Fraction, Fraction], ...]]) -> Fraction | None:
    """The largest ratio of probabilities; None where an output is impossible on one of two neighbours."""
    if any(p and not q for pair in compared for p, q in pair):
        return None
    return max((p / q for pair in compared for p, q in pair if q), default=Fraction(1))


def excess(compared: Sequence[tuple[tuple[Fraction, Fraction], ...]], epsilon: Fraction) -> Fraction:
    """An upper bound on δ at ε, and very near: the largest Σ (p − e^ε q)⁺."""
    power = exponential_below(epsilon)
    return max((sum((max(p - power * q, Fraction(0)) for p, q in pair), Fraction(0)) for pair in compared),
               default=Fraction(0))


def logarithm_above(value: Fraction) -> Fraction:
    """A fraction that is at least ln(value) and very near, for value ≥ 1."""
    if value == 1:
        return Fraction(0)
    return Fraction(math.log1p(float(value - 1)) * (1 + 1e-14))


def certificate_of_coins(
    target: Any, name: str, scope: str, claimed: Fraction, epsilon: Fraction, delta: Fraction,
    compared: Sequence[tuple[tuple[Fraction, Fraction], ...]],
) -> dict[str, Any]:
    """The certificate: the probabilities of all outputs on all pairs of neighbours."""
    return {
        **head(target, name, scope, claimed), "kind": "coins", "epsilon": str(epsilon), "delta": str(delta),
        "pairs": [[[str(p), str(q)] for p, q in pair] for pair in compared],
    }
