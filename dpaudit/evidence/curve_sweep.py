"""Every pair of a finite scope against a whole curve.

The laws are enclosed by doubles (`law_table`), and `Margins` bounds what each pair needs from both sides. A pair that
these do not decide is computed again in interval arithmetic. Of pairs that symmetries make equal, one is compared.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpaudit.adversary import Pair
from dpaudit.errors import TimeLimitError
from dpaudit.evidence.curves import ORDERS, Comparison, Margins, within_bounds, worst_comparison
from dpaudit.evidence.law_table import LawTable, law_table
from dpaudit.evidence.sweep import Counted, pairs_of
from dpaudit.interpret import LawCache, interval_laws
from dpaudit.language import Claim, Curve, Mechanism, ZeroConcentrated
from dpaudit.plans.plan import Scope
from dpaudit.results.stream import Progress
from dpaudit.stats.arrays import IntArray
from dpaudit.stats.log_bounds import LogBounds, divergences
from dpaudit.subjects.runner import Runner

CELLS = 200_000
"""Probabilities of pairs that are compared at once."""
MOST_UNDECIDED = 200
"""Pairs that are computed again in interval arithmetic; further ones are left undecided."""


@dataclass(frozen=True)
class SweptCurve:
    """The result of a sweep.

    Args:
        worst: the pair that decides: one that exceeds the claim, one that was left open, or the one that needs the
            largest share of what is allowed. None where there is no pair.
        comparison: of this pair.
    """

    worst: Pair | None
    comparison: Comparison | None


def sweep_curve(
    mechanism: Mechanism, scope: Scope, claim: Claim, curve: Curve, runner: Runner, name: str, cache: LawCache
) -> Generator[Progress, None, SweptCurve]:
    """Compare all pairs that the claim speaks about with the whole curve, in both directions.

    Args:
        cache: as of `law_table`.

    Raises:
        TimeLimitError: the limit came, and no pair exceeds the claim so far.
        NotEnumerableError, SymmetryError, UsageError: as of `law_table`.
    """
    table = yield from law_table(mechanism, claim.relation, scope, runner, name, cache)
    tests = len(ORDERS) if isinstance(curve, ZeroConcentrated) else 32
    step = max(1, CELLS // max(tests, len(table.outcomes)))
    compared, undecided, known = 0, 0, 0.0
    worst: _Compared | None = None
    try:
        for left, right in pairs_of(table, scope, claim, Counted()):
            for start in range(0, len(left), step):
                i, j = left[start : start + step], right[start : start + step]
                compared += len(i)
                with runner.limited():
                    bounds = LogBounds.of_doubles(*table.laws(i), *table.laws(j))
                    if isinstance(curve, ZeroConcentrated):
                        rest, known = _may_need_more(curve, bounds, known)
                        i, j, bounds = i[rest], j[rest], bounds[rest]
                    margins = Margins.of(curve, bounds)
                    open_ = np.flatnonzero(~margins.kept & ~margins.exceeded).tolist()
                    ratio = margins.ratio
                    chosen = dict.fromkeys([int(np.argmax(ratio)), int(np.argmax(margins.exceeded)), *open_])
                for at in chosen:
                    pair = int(i[at]), int(j[at])
                    one = margins.comparison(at)
                    if one.keeps is None and undecided < MOST_UNDECIDED:
                        undecided += 1
                        with runner.limited():
                            one = _enclosed(mechanism, table, curve, *pair, cache)
                    worst = _worse(worst, (one, float(ratio[at]), pair))
                yield Progress(compared, compared, f"comparing whole curves, {compared:,} comparisons", None)
    except TimeLimitError:
        if worst is None or worst[0].keeps is not False:
            raise
    if worst is None:
        return SweptCurve(None, None)
    a, b = sorted(worst[2])
    return SweptCurve(Pair(table.datasets[a], table.datasets[b], "worst of the domain", "exhaustive"), worst[0])


_Compared = tuple[Comparison, float, tuple[int, int]]
"""A comparison, the share of what is allowed that the pair needs, and the pair."""


def _may_need_more(curve: ZeroConcentrated, bounds: LogBounds, known: float) -> tuple[IntArray, float]:
    """The pairs, by place, that may need a larger ρ than is claimed or than another pair; at least one.

    Every ε-DP pair is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4), which needs the order infinity alone.

    Args:
        curve, bounds: the claim, and the pairs.
        known: a ρ that some pair needs; the second result is the largest one now.
    """
    largest = np.maximum(*(divergences(one, np.array([np.inf]))[1][:, 0] for one in (bounds, bounds.turned)))
    first = int(np.argmax(largest))
    margins = Margins.of(curve, bounds[np.array([first])])
    known = max(known, float((margins.low[0, :-1] / ORDERS).max()))
    rest = np.flatnonzero(largest**2 / 2 > min(curve.rho, known))
    return (rest if first in rest else np.append(rest, first)), known


def _worse(one: _Compared | None, other: _Compared) -> _Compared:
    if one is None:
        return other
    if one[0].keeps is other[0].keeps:
        return one if one[1] >= other[1] else other
    return one if worst_comparison([one[0], other[0]]) is one[0] else other


def _enclosed(
    mechanism: Mechanism, table: LawTable, curve: Curve, a: int, b: int, cache: LawCache
) -> Comparison:
    cache = cache.on_doubles(table.doubles)
    laws = interval_laws(mechanism, table.datasets[a], table.datasets[b], cache=cache)
    return within_bounds(curve, LogBounds.of_intervals(laws.left, laws.right))
