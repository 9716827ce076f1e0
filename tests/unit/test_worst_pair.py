"""`dpaudit worst`: the search for the pair of the largest exact ε, against all pairs where they can be enumerated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from numpy.random import default_rng
from typed_commands import Typed

import dpaudit
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.histogram_mutations import HistogramMutations
from dpaudit.adversary.pairs.score_mutations import ScoreMutations
from dpaudit.errors import UsageError
from dpaudit.language import (
    Bernoulli,
    Claim,
    Laplace,
    Mechanism,
    Multiplicity,
    PiecewiseConstantScore,
    Product,
    Scores,
    relation_named,
    step_scores,
)
from dpaudit.results.model import Audit, EvidenceKind, Verdict
from dpaudit_algorithms.foundations.a_dist import ADist
from dpaudit_algorithms.pac.learn_thresholds import Consistency

MECHANISM = '''
from dataclasses import dataclass
from dpaudit.language import Claim, Laplace, Mechanism, Multiset

@dataclass(frozen=True)
class Loud(Mechanism):
    """Whether 40 or more records are 7, with noise for a count that moves by half as much."""
    epsilon: float = 1.0

    @property
    def claim(self):
        return Claim(self.epsilon, 0.001)

    def run(self, dataset):
        many = dict(Multiset.of(dataset).items).get(7, 0)
        return Laplace(float(many), 0.5 / self.epsilon) < 40

def plain(dataset, rng):
    return 0
'''


def tail(count: int) -> float:
    """Pr[count + Lap(1/2) ≥ 40], of the rarer answer."""
    below = math.exp(-2 * abs(40 - count)) / 2
    return below if count < 40 else 1 - below


def found(target: Any, **more: Any) -> Audit:
    (audit,) = dpaudit.worst(target, **more).audits
    return audit


@pytest.mark.slow(fast=["GroupPrivacy-*"])
@pytest.mark.parametrize(
    ("name", "domain", "size", "scale"),
    [("ADist", 3, 8, 1.0), ("ExponentialMechanism", 4, 5, 1.0), ("ChoosingMechanism", 3, 12, 1.0),
     ("GroupPrivacy", 3, 5, 1.0), ("LearnThresholds", 4, 3, 1.0), ("RecPrefix", 4, 4, 1.0)],
)  # fmt: skip
def test_the_search_finds_the_worst_of_all_pairs(name: str, domain: int, size: int, scale: float) -> None:
    """A scope that can be swept: the search must not say more than the sweep, nor less."""
    proof = dpaudit.verify(name, domain=domain, size=size).audits[0].proof
    assert proof is not None
    assert proof.epsilon_low is not None
    assert proof.epsilon_most is not None
    audit = found(name, domain=domain, size=size, pairs=800)
    assert audit.evidence is EvidenceKind.EXACT
    assert audit.epsilon_exact is not None
    assert audit.epsilon_exact <= proof.epsilon_most + 1e-9
    assert audit.epsilon_exact >= proof.epsilon_low * scale - 1e-9


@pytest.mark.slow(fast=["1"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_lead_that_a_dist_does_worst_on_is_found(seed: int) -> None:
    """Finding 1: 2ε + ln(1 − 2δ·e^{ε(⌈t⌉ − t)}) is the most there is, and 8 records are enough to refute."""
    t = math.log2(1e6)
    audit = found("ADist", domain=2, size=32, parameters={"delta": 1e-6}, seed=seed)
    assert audit.verdict is Verdict.FAIL
    assert audit.epsilon_exact == pytest.approx(2 + math.log(1 - 2e-6 * math.exp(math.ceil(t) - t)), abs=1e-9)
    assert any(note.sentence.startswith("8 records are enough to refute the claim") for note in audit.notes)
    lengths = {sum(count for _, count in side["multiset"]) for side in (audit.pair.left, audit.pair.right)}
    assert len(lengths) == 1
    assert max(lengths) <= 32


@pytest.mark.slow
def test_any_quality_of_sensitivity_one() -> None:
    audit = found("ADist", domain=3, size=4, scores=True, parameters={"delta": 1e-6}, pairs=800)
    assert audit.verdict is Verdict.FAIL
    assert audit.epsilon_exact is not None
    assert 1.99999 < audit.epsilon_exact < 2
    assert any(note.sentence.startswith("Scores on D → on D′: ") for note in audit.notes)


@pytest.mark.slow
def test_scores_that_datasets_have() -> None:
    audit = found("ADist", domain=2, size=4, scores=True, realised=True, parameters={"delta": 1e-6}, pairs=600)
    assert audit.verdict is Verdict.FAIL
    (note,) = [note for note in audit.notes if "attain these scores under Multiplicity" in note.sentence]
    assert note.sentence.startswith("Two datasets of ")
    assert f"need ε = {audit.epsilon_exact:.9g}" in note.sentence


def test_the_same_seed_finds_the_same() -> None:
    one, other = (found("ADist", domain=3, size=10, pairs=200, seed=5) for _ in range(2))
    assert (one.epsilon_exact, one.pair, one.notes) == (other.epsilon_exact, other.pair, other.notes)


def test_the_pair_that_was_found_is_shown_though_it_keeps_the_claim(typed: Typed) -> None:
    done = typed("worst", "ExponentialMechanism", "--domain", "2", "--size", "3", "--pairs", "50")
    assert done.code == 0
    assert "PASS · not refuted  ExponentialMechanism · the worst pair of a search" in done.out
    words = " ".join(done.out.split())
    assert "The worst pair that the search found satisfies the claim. This is not a proof." in words
    assert "D  [" in done.out
    assert "D′ [" in done.out


def test_no_more_pairs_than_asked_for() -> None:
    audit = found("ExponentialMechanism", domain=3, size=5, pairs=7)
    assert any("the exact output distributions of 7 pairs" in note.sentence for note in audit.notes)


@pytest.mark.slow
def test_a_mechanism_of_ones_own(typed: Typed, tmp_path: Path) -> None:
    """Its flaw shows where the count is near 40: among 100 records of 10 values a random pair has no chance."""
    path = tmp_path / "loud.py"
    path.write_text(MECHANISM)
    done = typed("worst", f"{path}:Loud", "--data", "integers(0, 9)", "--size", "100", "--pairs", "600")
    assert done.code == 1
    # by hand: one side's tail beyond 40 is e² times the other's
    worst = max(math.log((tail(n + 1) - 0.001) / tail(n)) for n in range(99) if tail(n + 1) > 0.001)
    assert f"exact ε = {worst:.6f}" in done.out
    again = typed("replay", done.out.split("dpaudit replay ")[1].split()[0])
    assert again.code == 1
    assert "the same result" in again.err + again.out
    for words, says in (
        ((f"{path}:plain", "--data", "integers(0, 9)"), "`dpaudit worst` needs a Mechanism"),
        ((f"{path}:Loud",), "Describe the records with --data"),
        ((f"{path}:Loud", "--data", "integers(0, 9)", "--scores"), "leave --scores out"),
    ):
        refused = typed("worst", *words)
        assert refused.code == 2
        assert says in refused.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ADist", "--realised"), "--realised goes with --scores."),
        (("ADist", "--case", "no such", "--domain", "3"), "Give --domain or --case, not both."),
        (("RecConcave", "--case", "three cals"), "Did you mean three calls"),
        (("LaplaceMechanism",), "cannot be computed on a small domain"),
        (("ADist", "--pairs", "0"), "--pairs must be"),
        (("InteriorPointByMedian", "--scores"), "leave --scores out"),
        (("ADist", "--data", "integers(0, 3)", "--domain", "3"), "Give --domain or --data, not both."),
    ],
)
def test_bad_requests(typed: Typed, words: tuple[str, ...], says: str) -> None:
    refused = typed("worst", *words)
    assert refused.code == 2
    assert says in refused.err
    assert refused.err.count("\n") == 1


def test_a_law_that_is_not_there() -> None:
    @dataclass(frozen=True)
    class Real(Mechanism):
        @property
        def claim(self) -> Claim:
            return Claim(1.0)

        def run(self, dataset: Any) -> Any:
            # the absolute value of noise has no closed form here
            noise = yield Laplace(float(len(dataset)), 1.0)
            return abs(noise)

    audit = found(Real(), data="integers(0, 3)")
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert not audit.crashed


def test_noise_with_a_density_has_a_worst_pair_too() -> None:
    """Two counts move by 1 each, and noise is there for one: twice the claim, by hand."""

    @dataclass(frozen=True)
    class Histogram(Mechanism):
        @property
        def claim(self) -> Claim:
            return Claim(1.0)

        def run(self, dataset: Any) -> Any:
            return Product(tuple(Laplace(float(tuple(dataset).count(value)), 1.0) for value in (0, 1, 2)))

    audit = found(Histogram(), data="integers(0, 3)", size=10, pairs=200)
    assert audit.verdict is Verdict.FAIL
    assert audit.epsilon_exact == pytest.approx(2.0, abs=1e-9)
    assert any(note.sentence.startswith("1 record is enough to refute the claim") for note in audit.notes)


def test_scores_of_which_none_are_realised_end_the_search() -> None:
    """Halves are no multiplicities: nothing can be compared, and the search says so instead of going on for ever."""

    @dataclass(frozen=True)
    class Halves(Multiplicity):
        def realised(self, left: Any, right: Any, records: int | None = None) -> None:
            return None

    audit = found(ADist(1.0, 0.05, Halves((0, 1))), data="integers(0, 1)", scores=True, realised=True, pairs=20)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.reason.startswith("No pair was found that datasets attain")
    assert not audit.crashed


def test_an_order_that_matters_is_no_refutation() -> None:
    """The last record less the first: in ascending rows it is never negative, and one count moved may move all rows."""

    class First(Mechanism):
        claim = Claim(1.0)  # type: ignore[assignment]

        def run(self, dataset: Any) -> Any:
            rows = tuple(dataset)
            return Bernoulli(0.5 + 0.2 * (rows[-1] - rows[0]))

    audit = found(First(), data="integers(0, 2)", size=5, pairs=60)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.reason.endswith("search with ordered=True.")
    assert found(First(), data="integers(0, 2)", size=5, pairs=60, ordered=True).verdict is not Verdict.INCONCLUSIVE


def test_a_description_of_any_size_will_do_for_the_catalogue() -> None:
    audit = found("ADist", data="integers(0, 1000000000)", size=30, pairs=30)
    assert audit.epsilon_exact is not None


def test_a_mechanism_that_fails_on_every_pair() -> None:
    class Fails(Mechanism):
        claim = Claim(1.0)  # type: ignore[assignment]

        def run(self, dataset: Any) -> Any:
            raise ValueError("never")

    audit = found(Fails(), data="integers(0, 1)", size=3, pairs=20)
    assert audit.crashed
    assert "never" in audit.reason


def test_no_finite_epsilon_is_said_so() -> None:
    class Leaks(Mechanism):
        claim = Claim(1.0)  # type: ignore[assignment]

        def run(self, dataset: Any) -> Any:
            return tuple(dataset).count(1)

    audit = found(Leaks(), data="integers(0, 1)", size=6, pairs=40)
    assert audit.verdict is Verdict.FAIL
    assert audit.epsilon_exact is None
    assert any("needs no finite ε" in note.sentence for note in audit.notes)


@pytest.mark.slow
def test_the_time_limit_ends_a_search() -> None:
    audit = found("LearnThresholds", domain=8, size=100, pairs=10**6, time=2.0)
    assert any("time limit" in text for text in (*(note.sentence for note in audit.notes), audit.reason))


@pytest.mark.parametrize("stop", [1, 2, 7, 4097, 2**64])
def test_staircases_are_of_sensitivity_one(stop: int) -> None:
    neighbourhood, rng = ScoreMutations(stop, finest=0.5), default_rng(stop % 1000)
    every = neighbourhood.starts(rng)
    for _ in range(6):
        every += neighbourhood.around(every[-8:], rng)
    assert len(set(every)) > 50
    for one in every:
        left, right = one.sides
        assert left.size == right.size == stop
        assert max(abs(change) for _, _, change in one.pieces) <= 1
        assert all(a[0] < b[0] for a, b in pairwise(one.pieces))
        assert neighbourhood.between(left, right) == one


@pytest.mark.slow(only=["add-*"])
@pytest.mark.parametrize("kind", ["replace-one", "add-remove-one", "replace-one:3"])
def test_histogram_mutations_are_related(kind: str) -> None:
    relation, rng = relation_named(kind), default_rng(3)
    for data in ("integers(0, 9)", "tuples(integers(0, 99), integers(0, 1))", "sampled_from(['a', 'b', 'c'])"):
        neighbourhood = HistogramMutations(relation, parse_records(data), 50)
        every = neighbourhood.starts(rng)
        for _ in range(10):
            every += neighbourhood.around(every[-6:], rng)
        assert len({neighbourhood.key(pair) for pair in every}) > 100
        for pair in every:
            assert 0 < pair.distance(relation) <= relation.size
            assert max(len(pair.left), len(pair.right)) <= 50


@pytest.mark.slow
def test_datasets_that_realise_scores() -> None:
    """Scores of random neighbours are always realised, with no more examples than they have."""
    rng = default_rng(0)
    for quality, record in (
        (Consistency(30), lambda: (int(rng.integers(30)), int(rng.integers(2)))),
        (Multiplicity(range(30)), lambda: int(rng.integers(30))),
    ):
        for _ in range(200):
            records = [record() for _ in range(1 + int(rng.integers(8)))]
            changed = [*records[1:], record()]
            left, right = quality(tuple(records)), quality(tuple(changed))
            if left == right and isinstance(quality, Multiplicity):
                continue
            realised = quality.realised(left, right)
            assert realised is not None
            assert (quality(realised[0]), quality(realised[1])) == (left, right)
            assert len(realised[0]) == len(realised[1]) <= len(records)


def test_scores_that_no_datasets_have() -> None:
    """Two changes of sign; halves; counts that move at two places; a score that falls further than examples allow."""
    quality = Consistency(30)
    flat = step_scores([0], [9.0], 30)
    assert quality.realised(flat, step_scores([0, 5, 9], [8.0, 10.0, 8.0], 30)) is None
    assert quality.realised(flat, step_scores([0], [9.5], 30)) is None
    assert quality.realised(step_scores([0, 5], [2.0, -1.0], 30), step_scores([0, 5], [3.0, -2.0], 30)) is None
    counts, five = Multiplicity(range(3)), step_scores([0, 1, 2], [5.0, 0.0, 0.0], 3)
    assert counts.realised(five, step_scores([0, 1, 2], [3.0, 1.0, 1.0], 3)) is None
    assert counts.realised(five, step_scores([0, 1, 2], [4.0, 0.0, 0.0], 3)) is None


def test_a_staircase_is_the_two_vectors() -> None:
    one = PiecewiseConstantScore(6, ((0, 3.0, -1.0), (2, 1.0, 1.0), (5, 0.0, 0.0)))
    left, right = one.sides
    assert isinstance(left, Scores)
    assert isinstance(right, Scores)
    assert left.values.tolist() == [3, 3, 1, 1, 1, 0]
    assert right.values.tolist() == [2, 2, 2, 2, 2, 0]
    assert str(one) == "0–1: 3 → 2, 2–4: 1 → 2, 5: 0 → 0"
    for pieces in ((), ((1, 0.0, 0.0),), ((0, 0.0, 0.0), (0, 1.0, 0.0)), ((0, 0.0, 1.5),), ((0, 0.0, math.nan),)):
        with pytest.raises(UsageError):
            PiecewiseConstantScore(6, pieces)


def test_a_mechanism_with_a_quality_from_python() -> None:
    audit = found(ADist(1.0, 0.05, Multiplicity((0, 1))), data="integers(0, 1)", size=12, pairs=300)
    assert audit.verdict is Verdict.FAIL
