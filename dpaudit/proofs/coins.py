"""Proofs on every dataset of a small domain: exact probabilities of random choices, and noise that is shifted.

Randomised response has no noise to shift. Its random choices have exact probabilities on each path, so the output
distribution on each dataset is a table of fractions, and neighbours are compared output by output.

Beside noise, the probability P(p) of the random choices of a path p on D flows to paths q on D′ that have the same
output with shifted noise, at a cost c(p, q). If Σ_q f(p, q) = P(p), and Σ_p f(p, q) exp(c(p, q)) ≤ exp(ε) P(q) for
every q, the program is ε-DP; what exceeds this in total is a δ. The best flows are those of a linear program.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpaudit.proofs.alignment import Aligned, NoShift
from dpaudit.proofs.certificate import aligned_rows, head, of_parts
from dpaudit.proofs.exact import LARGEST, ROUNDING, exponential_below, logarithm_above
from dpaudit.proofs.forms import Part
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.scopes import Domain

MOST_FLOWS = 2_000
"""Pairs of paths of one output up to which flows are looked for."""
GRID = 10**14
"""The share of a path that flows to another is a multiple of 1 / GRID, but for its sum."""
FURTHER = 15.0
"""Above the claimed ε, what noise may cost where several paths have one output."""
LONGEST = 10**50
"""Largest denominator of a δ that is not rounded up."""
LOST = 1e9
"""What the loss of probability counts where the least ε is looked for."""
Dataset: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Chosen:
    """Paths on a dataset that differ in their random choices alone.

    Args:
        path: one of them, without its random choices.
        probability: of the random choices of all.
    """

    path: Finished
    probability: Fraction


Law: TypeAlias = Mapping[object, Sequence[Chosen]]
"""All paths on a dataset, by what they have in common with paths of other datasets."""


@dataclass(frozen=True, eq=False)
class Inflow:
    """What flows to a path on D′.

    Args:
        flows: probabilities on D, and how noise is aligned for each; None where nothing has to be.
        probability: of the path on D′; 0 where there is none.
    """

    flows: tuple[tuple[Fraction, Aligned | None], ...]
    probability: Fraction

    @property
    def worth(self) -> Fraction:
        """A bound on Σ f exp(c), and very near."""
        return sum((flow * _worth(aligned) for flow, aligned in self.flows), Fraction(0))

    @property
    def epsilon(self) -> Fraction | None:
        """The least ε, rounded up; None where there is none."""
        total = sum((flow for flow, _ in self.flows), Fraction(0))
        costs = {_cost(aligned) for _, aligned in self.flows}
        if not self.probability:
            return None if total else Fraction(0)
        if len(costs) == 1 and total >= self.probability:
            return costs.pop() + logarithm_above(total / self.probability)
        return logarithm_above(max(self.worth / self.probability, Fraction(1)))


def law(paths: Sequence[Finished]) -> Law:
    """The paths on a dataset."""
    found: dict[object, dict[tuple[Fraction, ...], Chosen]] = {}
    for each in paths:
        path, probability = each.without_choices()
        if not probability:
            continue
        used = sorted({index for row in path.rows for index in row.form.draws})
        number = {index: place for place, index in enumerate(used)}
        shape = (
            tuple((path.draws[index].kind, path.draws[index].scale, path.draws[index].part) for index in used),
            path.output,
            tuple(
                (row.kind, row.strict, row.change,
                 tuple(sorted((number[index], factor) for index, factor in row.form.draws.items())))
                for row in path.rows
            ),
        )
        alike = found.setdefault(shape, {})
        constants = tuple(row.form.constant for row in path.rows)
        if constants in alike:
            probability += alike[constants].probability
        alike[constants] = Chosen(path, probability)
    return {shape: tuple(alike.values()) for shape, alike in found.items()}


def neighbours(scope: Domain) -> Iterator[tuple[Dataset, Dataset]]:
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


def inflows(
    ours: Law, theirs: Law, align: Callable[[Finished, Finished], Aligned | None], claimed: Fraction,
    *, by_delta: bool = False,
) -> list[Inflow]:
    """What flows to all paths on D′.

    Args:
        ours, theirs: the paths on D and on D′.
        align: aligns the noise of two paths; None where nothing has to be. Raises NoShift if no shift does.
        claimed: ε.
        by_delta: whether δ is to be least at the claimed ε, and not ε.
    """
    found = []

    def aligned_with(path: Finished, other: Finished) -> tuple[Aligned | None, float]:
        try:
            each = align(path, other)
        except NoShift:
            return None, math.inf
        return (each, float(_worth(each))) if _cost(each) <= LARGEST else (None, math.inf)

    for shape, mine in ours.items():
        others = theirs.get(shape, ()) if len(mine) * len(theirs.get(shape, ())) <= MOST_FLOWS else ()
        table = [[aligned_with(each.path, other.path) for other in others] for each in mine]
        shares = _shares(mine, others, [[worth for _, worth in row] for row in table], float(claimed), by_delta)
        for column, other in enumerate(others):
            flows = [(share[column], row[column][0]) for share, row in zip(shares, table, strict=True)]
            found.append(Inflow(tuple((flow, each) for flow, each in flows if flow), other.probability))
        lost = [each.probability - sum(share, Fraction(0)) for each, share in zip(mine, shares, strict=True)]
        if any(lost):
            found.append(Inflow(((sum(lost, Fraction(0)), None),), Fraction(0)))
    return [each for each in found if each.flows]


def _shares(
    mine: Sequence[Chosen], others: Sequence[Chosen], worth: Sequence[Sequence[float]], claimed: float, by_delta: bool
) -> list[list[Fraction]]:
    """How much of each path flows to each of the others: rows that sum to no more than its probability."""
    m, n = len(mine), len(others)
    if not n:
        return [[] for _ in mine]
    if m == n == 1:
        return [[mine[0].probability if worth[0][0] < math.inf else Fraction(0)]]
    from scipy.optimize import linprog

    matrix = np.array(worth)
    usable = matrix <= math.exp(min(claimed, LARGEST) + FURTHER)
    weights = [float(each.probability) for each in mine]
    # flows, what is lost, and exp(ε) or what each of the others exceeds
    size = m * n + m + (n if by_delta else 1)
    above, sums = np.zeros((n, size)), np.zeros((m, size))
    for i, j in itertools.product(range(m), range(n)):
        above[j, i * n + j] = matrix[i, j] if usable[i, j] else 0.0
        sums[i, i * n + j] = 1.0
    sums[:, m * n:m * n + m] = np.eye(m)
    probabilities = np.array([float(each.probability) for each in others])
    above[:, m * n + m:] = -np.eye(n) if by_delta else -probabilities[:, None]
    price = [*[0.0] * (m * n), *[1.0 if by_delta else LOST] * m, *[1.0] * (n if by_delta else 1)]
    most = [None if each else 0.0 for each in usable.ravel()] + [None] * (size - m * n)
    found: Any = linprog(
        price, A_ub=above, b_ub=probabilities * math.exp(min(claimed, LARGEST)) if by_delta else [0.0] * n,
        A_eq=sums, b_eq=weights, bounds=[(0.0, each) for each in most], method="highs",
    )
    values = np.array([[1.0 if each else 0.0 for each in row] for row in usable]) if found.x is None else (
        found.x[:m * n].reshape(m, n)
    )
    lost = np.zeros(m) if found.x is None else found.x[m * n:m * n + m]
    shares = []
    for each, row, rest in zip(mine, values.tolist(), lost.tolist(), strict=True):
        whole = float(each.probability) or 1.0  # too small for a double
        parts = [Fraction(round(max(value, 0.0) / whole * GRID), GRID) for value in (*row, rest)]
        total = sum(parts, Fraction(0))
        shares.append([each.probability * part / total if total else Fraction(0) for part in parts[:-1]])
    return shares


def _cost(aligned: Aligned | None) -> Fraction:
    return Fraction(0) if aligned is None else aligned.cost


def _worth(aligned: Aligned | None) -> Fraction:
    """A bound on exp(cost), and very near, for costs up to `LARGEST`."""
    return Fraction(1) if aligned is None else exponential_below(aligned.cost) * (1 + ROUNDING)


def least(compared: Sequence[Sequence[Inflow]]) -> Fraction | None:
    """The least ε of all pairs of neighbours, rounded up; None where there is none."""
    largest = Fraction(0)
    for pair in compared:
        for each in pair:
            epsilon = each.epsilon
            if epsilon is None:
                return None
            largest = max(largest, epsilon)
    return largest


def excess(compared: Sequence[Sequence[Inflow]], epsilon: Fraction) -> Fraction:
    """An upper bound on δ at ε, and very near for outputs without noise."""
    power = exponential_below(epsilon) * (1 + ROUNDING)
    delta = max((sum((max(each.worth - power * each.probability, Fraction(0)) for each in pair), Fraction(0))
                 for pair in compared), default=Fraction(0))
    # exponentials have many digits
    return delta if delta.denominator <= LONGEST else Fraction(math.nextafter(float(delta), math.inf))


def certificate_of_coins(
    target: Any, name: str, scope: str, claimed: Fraction, epsilon: Fraction, delta: Fraction,
    compared: Sequence[Sequence[Inflow]], parts: Sequence[Part],
) -> dict[str, Any]:
    """The certificate: what flows to each path, for all pairs of neighbours, and the alignments for that."""
    aligned = {id(each): each for pair in compared for flow in pair for _, each in flow.flows if each is not None}
    numbers = {key: number for number, key in enumerate(aligned)}
    pairs = dict.fromkeys(
        tuple(sorted(
            (tuple((str(flow), -1 if each is None else numbers[id(each)]) for flow, each in inflow.flows),
             str(inflow.probability))
            for inflow in pair
        ))
        for pair in compared
    )
    return {
        **head(target, name, scope, claimed), "kind": "coins", "epsilon": str(epsilon), "delta": str(delta),
        "paths": [aligned_rows(each.draws, each.constraints, each.vectors, each.shifts) for each in aligned.values()],
        "pairs": [[[[list(flow) for flow in flows], probability] for flows, probability in pair] for pair in pairs],
        **of_parts(parts),
    }
