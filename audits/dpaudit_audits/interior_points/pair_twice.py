"""Audits of the "pair twice" thought experiment (thesis, end of §7.3.2), for which nothing is claimed."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.interior_points.interior_point_rec_concave import DepthFrom0
from dpaudit_algorithms.interior_points.pair_twice import EVERY_LEVEL, ONCE, PairTwice
from dpaudit_audits.lower_bounds.thresholds_reductions import Marked

DOMAIN = (0, 1, 2, 4)
_NOTE = "No claim is printed: this is the inner mechanism's for groups of {}, which {} suggests."
_NOTES = {
    ONCE: _NOTE.format("t + 1", '"affects at most t + 1 elements at depth t"'),
    EVERY_LEVEL: _NOTE.format("2^t", '"might affect 2^t elements at depth t"'),
}


def cases() -> tuple[Case, ...]:
    """Counting at its worst and choosing by depth, one to three levels, both shuffles; one record beside equal ones."""
    default = counting(1, ONCE)
    return (
        Case("default", default, (_one_other(40, 1),), runs=20_000, note=_NOTES[ONCE]),
        *(
            Case(
                f"every pair of 5 records: {label}, {levels} level{'s' if levels > 1 else ''}, shuffled {shuffle}",
                make(levels, shuffle),
                runs=0,
                scope=Scope(DOMAIN, 5),
                note=_NOTES[shuffle],
            )
            for label, make in (("counting", counting), ("counting, δ > 0", leaking), ("by depth", by_depth))
            for levels, shuffle in ((1, ONCE), (2, ONCE), (3, ONCE), (2, EVERY_LEVEL), (3, EVERY_LEVEL))
        ),
        *(
            Case(
                f"one record beside {n - 1:,} equal ones: {levels} levels, shuffled {shuffle}",
                counting(levels, shuffle),
                (_one_other(n, 1),),
                runs=0,
                note=_NOTES[shuffle],
            )
            for levels, shuffle, n in ((3, ONCE, 400), (2, EVERY_LEVEL, 100), (3, EVERY_LEVEL, 24))
        ),
        *(
            Case(f"group of {g}", default, (_one_other(40, g),), default.claim.group(g), runs=0, note=_NOTES[ONCE])
            for g in (2, 3)
        ),
    )


def counting(levels: int, shuffle: str) -> PairTwice:
    """Every element of length 0 counts, at its full ε."""
    return PairTwice(Marked(GroupPrivacy(0.25, 0.0, 0.001), (0,), 1), 8, levels, shuffle)


def leaking(levels: int, shuffle: str) -> PairTwice:
    """The same with δ > 0."""
    return PairTwice(Marked(GroupPrivacy(0.25, 0.001, 0.01), (0,), 1), 8, levels, shuffle)


def by_depth(levels: int, shuffle: str) -> PairTwice:
    """The exponential mechanism for an interior point of the lengths."""
    last = PairTwice(Marked(GroupPrivacy(1.0, 0.5), (0,), 1), 8, levels, shuffle).depth_sizes[-1]
    return PairTwice(ExponentialMechanism(1.0, DepthFrom0(last)), 8, levels, shuffle)


def _one_other(n: int, others: int) -> Pair:
    """n records 0, against `others` of them 4, which has no common prefix with 0."""
    right = Multiset.counted({0: n - others, 4: others})
    return Pair(Multiset.counted({0: n}), right, f"{others} beside equal records")


def verified(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Two levels, shuffled once."""
    return PairTwice(Marked(GroupPrivacy(0.25, 0.0, 0.001), (0,), 1), domain, 2), Scope(tuple(range(domain)), records)


PLAN = Plan("PairTwice", cases, verified)
