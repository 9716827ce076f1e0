"""What claims say of each other, and what exact laws say of claims: chains, groups, compositions, post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import strategies as dst
from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.chains import chain_between
from dpaudit.interpret import Law, align, law, ledger
from dpaudit.language import (
    ADD_REMOVE_ONE,
    PRIVATE_ROWS,
    REPLACE_ONE,
    Bernoulli,
    Categorical,
    Claim,
    Mechanism,
    Program,
    Relation,
    Softmax,
    Uniform,
    basic_composition,
)
from dpaudit.stats.hockey_stick import profile, profile_symmetric

quick = settings(max_examples=30)
few = settings(quick, max_examples=15)
EPSILONS = st.floats(0, 3)
DELTAS = st.just(0.0) | st.floats(1e-9, 0.5)
CLAIMS = st.builds(Claim, EPSILONS, DELTAS, st.sampled_from([REPLACE_ONE, ADD_REMOVE_ONE])) | st.builds(
    Claim.zcdp, st.floats(0.01, 1), epsilon=EPSILONS
)
ROWS = "tuples(integers(0, 2), booleans(), sampled_from(['priv', 'pub']))"


# --- claims --------------------------------------------------------------------------------------------------------


@quick
@given(CLAIMS, CLAIMS, CLAIMS)
def test_implies_is_a_partial_order(a: Claim, b: Claim, c: Claim) -> None:
    assert a.implies(a)
    if a.implies(b) and b.implies(a) and a.rho is b.rho is None:
        # two claims that imply each other allow the same, up to rounding
        for epsilon in (0.0, a.epsilon, b.epsilon, 5.0):
            assert a.delta_at(epsilon) == pytest.approx(b.delta_at(epsilon), abs=1e-9)
    if a.implies(b) and b.implies(c):
        # rounding may add up over two steps
        assert a.implies(c) or a.delta_at(c.epsilon * (1 + 1e-9)) <= c.delta * (1 + 1e-9) + 1e-14


@quick
@given(EPSILONS, DELTAS, st.floats(0, 1), st.floats(0, 0.3))
def test_a_looser_claim_is_implied(epsilon: float, delta: float, more: float, more_delta: float) -> None:
    claim = Claim(epsilon, delta)
    assert claim.implies(Claim(epsilon + more, min(1.0, delta + more_delta)))
    assert not Claim(epsilon + 0.1, delta).implies(claim) or delta == 1


@pytest.mark.slow
@few
@given(CLAIMS, st.integers(1, 4), st.integers(1, 4))
def test_claims_for_larger_groups_allow_more(claim: Claim, k: int, more: int) -> None:
    smaller, larger = claim.group(k), claim.group(k + more)
    assert smaller.relation.size == k
    assert larger.epsilon >= smaller.epsilon
    if claim.rho is None:
        assert larger.delta >= smaller.delta
        assert claim.chained(k).implies(smaller)
        assert claim.chained(k + more).delta >= claim.chained(k).delta
    for epsilon in (0.0, 0.5, 2.0):
        assert larger.delta_at(epsilon) >= smaller.delta_at(epsilon) - 1e-12


@pytest.mark.slow
@few
@given(CLAIMS, st.lists(st.floats(0, 6), min_size=3, max_size=3))
def test_the_profile_of_a_claim_falls_and_is_convex_in_the_ratio(claim: Claim, epsilons: list[float]) -> None:
    a, b, c = sorted(epsilons)
    at = [claim.delta_at(epsilon) for epsilon in (a, b, c)]
    assert at[0] >= at[1] >= at[2]
    if claim.rho is None and math.exp(c) > math.exp(a):
        share = (math.exp(b) - math.exp(a)) / (math.exp(c) - math.exp(a))
        assert at[1] <= (1 - share) * at[0] + share * at[2] + 1e-12


# --- exact laws of random mechanisms -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Votes(Mechanism):
    """The exponential mechanism on counts, whose winner is replaced by a coin of three sides now and then."""

    weight: float
    noise: float

    def run(self, S: Any) -> Program:
        winner = yield Softmax(np.array([float(S.count(v)) for v in range(3)]), self.weight)
        if (yield Bernoulli(self.noise)):
            return (yield Uniform((0, 1, 2)))
        return winner


@dataclass(frozen=True)
class Leaky(Mechanism):
    """Randomised response on every record that tells everything with probability δ."""

    epsilon: float
    delta: float

    def run(self, S: Any) -> Program:
        if (yield Bernoulli(self.delta)):
            return S
        return (yield Uniform((0, 1)))


VOTES = st.builds(Votes, st.floats(0.05, 1.5), st.floats(0, 1))


def vote_claim(mechanism: Votes) -> Claim:
    """Counts of values move by 1 when a record is replaced, which the exponential mechanism pays for twice."""
    return Claim(2 * mechanism.weight, 0.0)


def delta_of(p: Law, q: Law, epsilon: float) -> float:
    _, left, right = align(p, q)
    return float(profile_symmetric(left, right, [epsilon])[0])


@quick
@given(VOTES, dst.neighbours(REPLACE_ONE, "integers(0, 2)", groups=3, max_size=5))
def test_group_privacy_follows_chains(mechanism: Votes, pair: dst.Neighbours) -> None:
    claim, k = vote_claim(mechanism), REPLACE_ONE.distance(*pair)
    assert k is not None
    chain = chain_between(Pair(*pair), REPLACE_ONE)
    assert chain is not None
    links = chain.datasets
    assert (links[0], links[-1], len(links)) == (pair.left, pair.right, k + 1)
    laws = [law(mechanism, dataset) for dataset in links]
    for left, right in pairwise(links):
        assert REPLACE_ONE.distance(left, right) == 1
    for p, q in pairwise(laws):
        assert delta_of(p, q, claim.epsilon) <= 1e-12
    # at any ε, δ of the ends is at most the privacy loss of the links: δ(kε) ≤ Σ e^{iε} δᵢ(ε)
    for epsilon in (0.0, claim.epsilon / 2, claim.epsilon):
        spent = [delta_of(p, q, epsilon) for p, q in pairwise(laws)]
        ends = delta_of(laws[0], laws[-1], k * epsilon)
        assert ends <= Claim(epsilon, min(1.0, max(spent))).chained(k).delta + 1e-12
        assert ends <= Claim(epsilon, min(1.0, max(spent))).group(k).delta + 1e-12


@quick
@given(
    st.sampled_from([REPLACE_ONE, ADD_REMOVE_ONE, PRIVATE_ROWS]), st.integers(2, 4), st.booleans(), st.data()
)
def test_pairs_of_a_group_are_ends_of_chains_of_neighbours(
    relation: Relation, k: int, ordered: bool, data: st.DataObject
) -> None:
    records = ROWS if relation is PRIVATE_ROWS else "integers(0, 3)"
    left, right = data.draw(dst.neighbours(relation, records, groups=k, max_size=6, ordered=ordered))
    distance = relation.distance(left, right)
    assert distance is not None
    assert 1 <= distance <= k
    reached, edge = {left}, [left]
    domain = tuple(dict.fromkeys((*left, *right)))
    for _ in range(distance):
        # steps that come closer are enough
        edge = [
            other
            for dataset in edge[:20]
            for other in relation.neighbours(dataset, domain)
            if (relation.distance(other, right) or 0) < (relation.distance(dataset, right) or 0)
        ]
        reached.update(edge)
    assert right in reached


@quick
@given(st.floats(0.01, 3), st.floats(0, 0.5), dst.neighbours(REPLACE_ONE, "integers(0, 2)", min_size=1, max_size=3))
def test_a_leak_costs_its_probability(epsilon: float, delta: float, pair: dst.Neighbours) -> None:
    mechanism = Leaky(epsilon, delta)
    assert delta_of(law(mechanism, pair.left), law(mechanism, pair.right), epsilon) == pytest.approx(delta, abs=1e-12)


@dataclass(frozen=True)
class Processed(Mechanism):
    """Another mechanism's output through a random channel."""

    inner: Mechanism
    channel: tuple[tuple[float, ...], ...]

    def run(self, S: Any) -> Program:
        row = self.channel[(yield self.inner.on(S))]
        return (yield Categorical(range(len(row)), tuple(row)))


CHANNELS = st.lists(
    st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda w: tuple(x / math.fsum(w) for x in w)),
    min_size=3, max_size=3,
).map(tuple)


@quick
@given(VOTES, CHANNELS, dst.neighbours(ADD_REMOVE_ONE, "integers(0, 2)", max_size=4, groups=2))
def test_post_processing_never_adds_to_a_divergence(
    mechanism: Votes, channel: tuple[tuple[float, ...], ...], pair: dst.Neighbours
) -> None:
    epsilons = np.linspace(0, 3, 13)
    before, after = (
        profile(*align(law(made, pair.left), law(made, pair.right))[1:], epsilons)
        for made in (mechanism, Processed(mechanism, channel))
    )
    assert (after <= before + 1e-12).all()


@quick
@given(VOTES, dst.neighbours(REPLACE_ONE, "integers(0, 2)", max_size=4, groups=2))
def test_profiles_of_laws_fall_and_are_convex_in_the_ratio(mechanism: Votes, pair: dst.Neighbours) -> None:
    _, p, q = align(law(mechanism, pair.left), law(mechanism, pair.right))
    ratios = np.linspace(1, 8, 30)
    deltas = profile(p, q, np.log(ratios))
    assert (deltas >= 0).all()
    assert (np.diff(deltas) <= 1e-13).all()
    assert (np.diff(deltas, 2) >= -1e-13).all()


@dataclass(frozen=True)
class Response(Mechanism):
    """Randomised response on one bit: pure ε, and no less."""

    epsilon: float

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Program:
        truth = (yield Bernoulli(1 / (1 + math.exp(-self.epsilon))))
        return S[0] if truth else 1 - S[0]


@dataclass(frozen=True)
class Several(Mechanism):
    """Some of them, one after the other."""

    parts: tuple[Response, ...]

    @property
    def claim(self) -> Claim:
        return basic_composition([part.claim for part in self.parts])

    def run(self, S: Any) -> Program:
        told: tuple[int, ...] = ()
        for part in self.parts:
            told = (*told, (yield part.on(S)))
        return told


@quick
@given(
    st.lists(dst.mechanisms(Response), min_size=1, max_size=4).map(tuple).map(Several),
    dst.neighbours(REPLACE_ONE, "integers(0, 1)", min_size=1, max_size=1),
)
def test_the_ledger_bounds_what_is_spent(mechanism: Several, pair: dst.Neighbours) -> None:
    entry = ledger(mechanism, pair.left)
    assert entry.complete
    assert entry.balanced is True
    assert entry.composed is not None
    _, p, q = align(law(mechanism, pair.left), law(mechanism, pair.right))
    assert float(profile_symmetric(p, q, [entry.composed.epsilon])[0]) <= 1e-12
    # and randomised responses attain it
    assert float(profile_symmetric(p, q, [entry.composed.epsilon * 0.99])[0]) > 0
