"""Which threshold events are predicted before one is certified."""

from __future__ import annotations

import numpy as np

from dpaudit.adversary.events import candidates as module
from dpaudit.adversary.events.candidates import Candidates, Group, Offers
from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.optimistic_bound import expected_bound, predicted_bound, score_bound
from dpaudit.outputs.columns import Floats

LEARNED, RUNS, ALPHA = 200_000, 800_000, 0.04
# the hits of a density's threshold events in PrefixSum with seed 0, and those of a column where the tail was lucky
DENSITY = ([219, 363, 420, 2178, 2858, 11299, 35450, 77252], [71, 154, 179, 922, 1212, 5861, 21566, 55035])
LUCKY = ([17, 150, 400, 3000, 12000, 40000, 80000, 99000], [2, 120, 370, 2900, 11800, 39800, 79900, 99000])


def score(of: Offers) -> tuple[Floats, Floats]:
    counted = expected_bound(
        of.x / of.n, of.y / of.m, trained=LEARNED, runs=RUNS, delta=0.0, alpha=ALPHA,
        caution=0.5 * np.sqrt(2 * (1 + of.rarity)),
    )
    predicted = predicted_bound(of.predicted, runs=RUNS, delta=0.0, alpha=ALPHA, caution=0.5)
    bound: Floats = np.maximum(np.where(np.isnan(predicted), counted, predicted), 0.0)
    return bound, bound


def optimistic(x: Floats, n: int, y: Floats, m: int) -> Floats:
    return score_bound(x / n, (y + 1) / (m + 1), runs=RUNS, delta=0.0, alpha=ALPHA)


def group(hits: tuple[list[int], list[int]], family: str) -> Group:
    left, right = (np.array(side, dtype=np.float64) for side in hits)
    return Group(left, right, False, 0.0, family, lambda i: Event(frozenset({i})), nested=True)


def test_lucky_tails_do_not_take_the_place_of_the_best_scale() -> None:
    candidates = Candidates()
    for number in range(40):
        candidates.offer(group(LUCKY, f"lucky {number}"))
    candidates.offer(group(DENSITY, "density"))
    counted = {one.family: float(score(module._offers([one], (LEARNED,) * 2, backwards=False))[0].max())
               for one in candidates.groups}
    candidates.predict((LEARNED, LEARNED), score, optimistic)
    (chosen,) = candidates.best((LEARNED, LEARNED), score)
    assert chosen.family == "density"
    # predicted from all of the scale, its events are worth more than by their own hits alone
    assert counted["density"] < 0.75 < chosen.score


def test_a_scale_that_cannot_have_the_best_event_is_not_predicted() -> None:
    candidates = Candidates()
    candidates.offer(group(DENSITY, "density"))
    weak = ([100, 1000, 10_000, 50_000], [99, 995, 9_990, 49_990])
    candidates.offer(group(weak, "weak"))
    candidates.predict((LEARNED, LEARNED), score, optimistic)
    predicted = {one.family: one.predicted is not None for one in candidates.groups}
    assert predicted == {"density": True, "weak": False}


def test_the_predicted_scales_are_limited() -> None:
    candidates = Candidates()
    for number in range(2 * module.PREDICTED):
        candidates.offer(group(LUCKY, f"lucky {number}"))
    candidates.predict((LEARNED, LEARNED), score, optimistic)
    assert sum(one.predicted is not None for one in candidates.groups) <= module.PREDICTED
