"""Declared symmetries: confirmed, refused where they are none, and no proof differs for them."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from typed_commands import Typed

from dpaudit.adversary import every_pair
from dpaudit.engine import orchestrator
from dpaudit.errors import SymmetryError
from dpaudit.evidence import law_table, symmetries
from dpaudit.evidence.sweep import Swept, exceeds, sweep
from dpaudit.evidence.symmetries import Action, Orbits, closed_cuts, declared, moved
from dpaudit.interpret import LawCache, align, law
from dpaudit.language import (
    ADD_REMOVE_ONE,
    ANSWERS_LINF,
    BOTTOM,
    REPLACE_ONE,
    Bernoulli,
    Categorical,
    Claim,
    Exchange,
    IntegerRange,
    Mechanism,
    Multiplicity,
    Multiset,
    Symmetry,
    Uniform,
    exchanges,
    relabellings,
)
from dpaudit.plans.plan import Scope
from dpaudit.plans.request import Request, VerifyMode
from dpaudit.results.model import Verdict
from dpaudit.stats import hockey_stick
from dpaudit.subjects.runner import Runner
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram, LaplaceMechanismRounded
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedian, InteriorPointByMedianCorrected
from dpaudit_algorithms.pac.concepts import all_examples
from dpaudit_algorithms.pac.learn_points import LearnPoints
from dpaudit_algorithms.pac.learn_thresholds import LearnThresholds

Value = TypeVar("Value")
FOUR = (0, 1, 2, 3)
EXAMPLES = all_examples(FOUR)


def end_of(steps: Generator[Any, None, Value]) -> Value:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: Value = end.value
            return value


def swept(mechanism: Mechanism, scope: Scope, claim: Claim) -> Swept:
    return end_of(sweep(mechanism, scope, claim, Runner(), "a mechanism", LawCache()))


def labelled(**changed: Any) -> LearnThresholds:
    return LearnThresholds(**({"size": 4, "alpha": 0.5, "epsilon": 1.0, "delta": 1e-6, "base": 32} | changed))


FAR = (3, 2**40, 2**40 + 1)
CASES: dict[str, tuple[Mechanism, Scope, int]] = {
    "relabelling": (ExponentialMechanism(1.0, Multiplicity(FOUR)), Scope(FOUR, 5), 6),
    "some are no solution": (ExponentialMechanism(1.0, Multiplicity((0, 1))), Scope((*FOUR, 4), 4), 16),
    "choosing": (ChoosingMechanism(0.9, 2.0, 0.2, Multiplicity((0, 1, 2))), Scope((0, 1, 2), 6), 7),
    "others": (GroupPrivacy(0.5, 0.01), Scope((0, 1, 2, 3), 4), 11),
    "count": (LaplaceMechanismRounded(1.0, Count(1), -1, 4), Scope((0, 1, 2), 3), 6),
    "histogram": (LaplaceMechanismRounded(1.0, Histogram((0, 2)), -1, 3), Scope((0, 1, 2), 3), 6),
    "median": (InteriorPointByMedian(1.0, 5), Scope((1, 2, 3, 4, 5), 4), 38),
    "depth": (InteriorPointByMedianCorrected(1.0, 5), Scope((1, 2, 3, 4, 5), 4), 38),
    "labelled": (labelled(), Scope(EXAMPLES, 3), 48),
    "negative examples": (LearnPoints(1.0, 0.05, 3), Scope(all_examples(range(3)), 3), 25),
    "spans, relabelled": (ExponentialMechanism(1.0, Multiplicity(range(2**64))), Scope(FAR, 3), 3),
    "spans, reflected": (labelled(size=2**64, N=1), Scope(((0, 0), (0, 1), (1, 1), (2**64 - 1, 0)), 2), 5),
    "spans, median": (InteriorPointByMedian(1.0, 2**64), Scope((1, 5, 2**64 - 4, 2**64), 3), 10),
    "spans, depth": (InteriorPointByMedianCorrected(1.0, 2**64), Scope((1, 5, 2**64 - 4, 2**64), 3), 10),
}
"""A mechanism, a scope, and how many orbits its datasets have."""


@pytest.mark.slow(fast=["*-1-multisets", "relabelling-*", "spans, relabelled-*"])
@pytest.mark.parametrize("kind", ["multisets", "sequences", "add or remove"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_proofs_are_the_same_without_symmetries(name: str, k: int, kind: str) -> None:
    mechanism, scope, _ = CASES[name]
    stated = mechanism.claim
    assert stated is not None
    claim = Claim(stated.epsilon, stated.delta, ADD_REMOVE_ONE if kind == "add or remove" else REPLACE_ONE).group(k)
    scope = replace(scope, ordered=kind == "sequences", records=min(scope.records, 3 if k == 1 else 2))
    short = swept(mechanism, scope, claim)
    law_table.forget()
    long = swept(mechanism, replace(scope, reduced=False), claim)
    law_table.forget()
    assert (short.datasets, short.pairs) == (long.datasets, long.pairs)
    assert short.pairs == sum(1 for _ in every_pair(claim.relation, scope.domain, scope.records, ordered=scope.ordered))
    assert long.laws == long.datasets
    assert long.symmetries == ()
    assert short.delta == pytest.approx(long.delta, rel=1e-12, abs=1e-15)
    assert short.worst is not None
    assert long.worst is not None
    # both sides let go of a pair that is no worse by more than 1e-11
    near = {"rel": 3e-11, "abs": 3e-11}
    assert short.worst.epsilon.low == pytest.approx(long.worst.epsilon.low, **near)
    assert short.worst.epsilon.high == pytest.approx(long.worst.epsilon.high, **near)
    assert short.worst.at_most == pytest.approx(long.worst.at_most, **near)
    assert exceeds(short.worst, claim) == exceeds(long.worst, claim)


@pytest.mark.slow(only=["median", "labelled"])
@pytest.mark.parametrize("name", CASES)
def test_against_brute_force(name: str) -> None:
    mechanism, scope, laws = CASES[name]
    claim = mechanism.claim
    assert claim is not None
    found = swept(mechanism, scope, claim)
    cache, epsilon, pairs = LawCache(), 0.0, 0
    for pair in every_pair(claim.relation, scope.domain, scope.records, ordered=False):
        _, p, q = align(*(law(mechanism, side, cache=cache) for side in (pair.left, pair.right)))
        pairs += 1
        epsilon = max(epsilon, hockey_stick.epsilon_at(p, q, claim.delta), hockey_stick.epsilon_at(q, p, claim.delta))
    assert found.worst is not None
    assert found.pairs == pairs
    assert found.worst.epsilon.low == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    assert found.laws == laws < found.datasets


@pytest.mark.parametrize("name", CASES)
def test_every_law_of_the_table_is_the_law(name: str) -> None:
    """Not of representatives alone: what symmetries made of them, on every dataset."""
    mechanism, scope, _ = CASES[name]
    scope = replace(scope, records=min(3, scope.records))
    table = end_of(law_table.law_table(mechanism, REPLACE_ONE, scope, Runner(), "a mechanism", LawCache()))
    law_table.forget()
    low, high = table.laws(np.arange(len(table.datasets)))
    for at, dataset in enumerate(table.datasets):
        truth = law(mechanism, dataset).as_dict()
        for c, outcome in enumerate(table.outcomes):
            p = _mass(truth, outcome)
            assert low[at, c] * (1 - 1e-12) - 1e-300 <= p <= high[at, c] * (1 + 1e-12) + 1e-300, (dataset, outcome)


def _mass(truth: dict[Any, float], outcome: Any) -> float:
    """Of an outcome, or of a piece of the spans of a law."""
    if outcome in truth:
        return truth[outcome]
    if not isinstance(outcome, int | IntegerRange):
        return 0.0
    piece = outcome if isinstance(outcome, IntegerRange) else IntegerRange(outcome, outcome + 1)
    parts = [
        p * float(Fraction(piece.size, range_.size))
        for range_, p in truth.items()
        if isinstance(range_, IntegerRange) and range_.start <= piece.start and piece.stop <= range_.stop
    ]
    assert len(parts) <= 1
    return sum(parts)


# --- what is declared ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [2, 4])
def test_thresholds_are_mirrored_with_one_call_alone(base: int) -> None:
    domain = all_examples(range(8))
    mechanism = labelled(size=8, base=base)
    assert mechanism.symmetries(domain) == ()
    # and it would not hold
    one = replace(mechanism, base=32)
    wrong = declared(one, REPLACE_ONE, domain).only(lambda symmetry: symmetry.name == "reflection")
    datasets = REPLACE_ONE.scope(domain, 2, ordered=False)
    assert symmetries.confirmed(one, wrong, datasets, "it", LawCache()) == (wrong, 32)
    with pytest.raises(SymmetryError, match="'reflection', which does not hold"):
        symmetries.confirmed(mechanism, wrong, datasets, "it", LawCache())


def test_the_median_utility_is_not_mirrored_in_the_middle() -> None:
    """x → m + 1 − x with y → m + 1 − y is that of the other score."""
    datasets = REPLACE_ONE.scope((1, 2, 3), 2, ordered=False)
    other = declared(InteriorPointByMedianCorrected(1.0, 3), REPLACE_ONE, (1, 2, 3))
    with pytest.raises(SymmetryError):
        symmetries.confirmed(InteriorPointByMedian(1.0, 3), other, datasets, "it", LawCache())


def test_only_symmetries_that_act_on_the_domain_are_used() -> None:
    mechanism = InteriorPointByMedianCorrected(1.0, 5)
    assert declared(mechanism, REPLACE_ONE, (1, 2, 4, 5)).names == ("reflection",)
    assert declared(mechanism, REPLACE_ONE, (1, 2, 4)).names == ()
    # one that moves nothing makes no datasets equal
    assert declared(mechanism, REPLACE_ONE, (3,)).names == ()
    # neighbours of vectors of answers are near each other, which a permutation of values does not keep
    assert declared(mechanism, ANSWERS_LINF, (1, 2, 4, 5)).names == ()
    # records that are not the mechanism's: its law says so
    assert declared(labelled(), REPLACE_ONE, ("a", "b")).names == ()
    assert declared(labelled(), REPLACE_ONE, (0, 1)).names == ()


def test_orbits() -> None:
    datasets = REPLACE_ONE.scope(FOUR, 3, ordered=False)
    action = declared(ExponentialMechanism(1.0, Multiplicity(FOUR)), REPLACE_ONE, FOUR)
    orbits = Orbits.of(datasets, action)
    every = [{0: 3}, {0: 2, 1: 1}, {0: 1, 1: 1, 2: 1}]
    assert [datasets[at] for at in orbits.firsts.tolist()] == [Multiset.counted(counts) for counts in every]
    assert [int(orbits.size[at]) for at in orbits.firsts.tolist()] == [4, 12, 4]
    for at, dataset in enumerate(datasets):
        images = [dict(zip(FOUR, p, strict=True)) for p in permutations(FOUR)]
        assert datasets[orbits.first[at]] in {moved(dataset, image) for image in images}
    alone = Orbits.of(datasets, Action())
    assert alone.firsts.tolist() == list(range(len(datasets)))


def test_how_outcomes_move() -> None:
    reflection = Symmetry("reflection", lambda x: 9 - x, lambda y: 9 - y, ())
    assert reflection.on(2) == 7
    assert reflection.on(IntegerRange(0, 3)) == IntegerRange(7, 10)
    assert reflection.keeping(BOTTOM).on(BOTTOM) is BOTTOM
    assert reflection.keeping(BOTTOM).on(1) == 8
    (swap,) = relabellings("relabelling", (3, 7))
    assert [swap.on(x) for x in (3, 7, 5, IntegerRange(4, 7))] == [7, 3, 5, IntegerRange(4, 7)]
    (same,) = exchanges("exchange", "ab")
    assert [same.on(x) for x in ("a", IntegerRange(0, 5))] == ["a", IntegerRange(0, 5)]
    assert same.moves_ranges
    assert same.keeping(BOTTOM) is same
    (words,) = relabellings("relabelling", ("a", "b"))
    assert not words.moves_ranges


def test_spans_are_cut_where_an_image_is() -> None:
    (swap,) = relabellings("relabelling", (3, 700))
    assert closed_cuts([IntegerRange(0, 1000)], [swap], 99) == [0, 3, 4, 700, 701, 1000]
    reflection = Symmetry("reflection", lambda x: x, lambda y: 999 - y, ())
    # the image of 3, 996, is no longer in a span
    assert closed_cuts([3, IntegerRange(0, 3), IntegerRange(4, 1000)], [reflection], 99) == [0, 3, 4, 996, 997, 1000]
    with pytest.raises(SymmetryError, match="more than 4"):
        closed_cuts([3, IntegerRange(0, 3), IntegerRange(4, 1000)], [reflection], 4)


# --- what is no symmetry ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plurality(Mechanism):
    """The commonest record with probability 1 − lie, otherwise any; ties go to the smallest or are thrown for."""

    fair: bool = False
    lie: float = 0.5

    @property
    def claim(self) -> Claim:
        return Claim(5.0)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        return relabellings("relabelling", sorted(domain))

    def run(self, dataset: Any) -> Any:
        counts = dict(Multiset.of(dataset).items)
        best = [x for x in FOUR if counts.get(x, 0) == max(counts.values(), default=0)]
        if (yield Bernoulli(self.lie)):
            return Uniform(FOUR)
        return Uniform(tuple(best)) if self.fair else best[0]


@dataclass(frozen=True)
class Inheriting(ExponentialMechanism):
    """Another text: of solutions with equal scores the first one comes for sure."""

    def run(self, S: Any) -> Any:
        scores = self.quality(S)
        return scores.solutions[0] if np.ptp(scores.values) == 0 else scores.softmax(self.epsilon / 2)


def test_another_text_does_not_inherit_them() -> None:
    two = Multiplicity((0, 1))
    assert declared(ExponentialMechanism(1.0, two), REPLACE_ONE, (0, 1)).names == ("relabelling",)
    assert declared(Inheriting(1.0, two), REPLACE_ONE, (0, 1)).names == ()
    # so that it is refuted, and does not end in an error
    (audit,) = orchestrator.run(Request((Inheriting(1.0, two),), data="booleans()", verify=VerifyMode(None, 2))).audits
    assert audit.verdict is Verdict.FAIL


@pytest.mark.parametrize("size", [2, 5, 8])
def test_a_rule_for_ties_is_caught(size: int) -> None:
    assert swept(Plurality(fair=True), Scope(FOUR, size), Claim(5.0)).symmetries == ("relabelling",)
    with pytest.raises(SymmetryError) as caught:
        swept(Plurality(), Scope(FOUR, size), Claim(5.0))
    text = str(caught.value)
    assert text.startswith("a mechanism declares the symmetry 'relabelling', which does not hold: ")
    assert text.endswith("; fix `symmetries` or remove it.")
    assert "{" in text
    assert "\n" not in text
    # without its symmetries it is verified
    assert swept(Plurality(), Scope(FOUR, size, reduced=False), Claim(5.0)).worst is not None


def test_it_is_said_on_the_command_line(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "plurality.py"
    path.write_text(
        "from dpaudit.language import Categorical, Claim, Mechanism, Multiset, relabellings\n"
        "class Plurality(Mechanism):\n"
        "    claim = Claim(3.0)\n"
        "    def symmetries(self, domain):\n"
        "        return relabellings('relabelling', domain)\n"
        "    def run(self, dataset):\n"
        "        zeros = dict(Multiset.of(dataset).items).get(0, 0)\n"
        "        return Categorical((0, 1), (0.8, 0.2) if 2 * zeros >= len(dataset) else (0.2, 0.8))\n"
    )
    done = typed("verify", f"{path}:Plurality", "--domain", "2", "--size", "4", "--groups", "1")
    assert done.code == 4
    said = " ".join(done.out.split())
    assert "declares the symmetry 'relabelling', which does not hold: 1 has probability " in said
    assert "Traceback" not in done.out + done.err
    # with an odd number of records there is no tie, and it is one
    odd = typed("verify", f"{path}:Plurality", "--domain", "2", "--size", "3", "--groups", "1")
    assert odd.code == 0
    said = " ".join(odd.out.split())
    assert "up to relabelling (declared, and confirmed on 4 datasets): 2 of 4 output distributions computed" in said


@dataclass(frozen=True)
class Declaring(Mechanism):
    """Randomised response on the number of ones, modulo 2, which declares whatever it is told to."""

    output: Any

    @property
    def claim(self) -> Claim:
        return Claim(math.log(3))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        return (Symmetry("told", Exchange(0, 1), self.output),)

    def run(self, dataset: Any) -> Categorical:
        odd = sum(dataset) % 2
        return Categorical((odd, 1 - odd), (0.75, 0.25))


def raising(h: Any) -> Any:
    raise KeyError(h)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (lambda h: 2 * h, "does not hold"),
        (lambda h: 0, "does not hold"),
        (None, "does not hold"),
        (raising, "fails on an output of {0×3} \\(KeyError: 0\\)"),
    ],
)
def test_bad_maps_of_outputs(output: Any, says: str) -> None:
    # three records: exchanging 0 and 1 turns odd into even
    with pytest.raises(SymmetryError, match=says):
        swept(Declaring(output), Scope((0, 1), 3), Claim(2.0))
    assert swept(Declaring(lambda h: 1 - h), Scope((0, 1), 3), Claim(2.0)).laws == 2


def test_a_map_of_records_that_is_no_bijection_is_not_used() -> None:
    @dataclass(frozen=True)
    class Merging(Declaring):
        def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
            return (Symmetry("merging", lambda x: 0),)

    assert swept(Merging(None), Scope((0, 1), 3), Claim(2.0)).laws == 4


@dataclass(frozen=True)
class Sometimes(Mechanism):
    """Has spans in its law where a record is large; says of its symmetry nothing about them."""

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        return (Symmetry("mirror", lambda x: -x, lambda y: -y),)

    def run(self, dataset: Any) -> Uniform:
        (x,) = dataset
        return Uniform(range(-abs(x), abs(x) + 1))


def test_a_symmetry_that_does_not_act_on_spans_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Scope((-2, 2), 1)
    assert swept(Sometimes(), small, Claim(1.0)).symmetries == ("mirror",)
    wide = Scope((-(10**7), -2, 2, 10**7), 1)
    found = swept(Sometimes(), wide, Claim(1.0))
    assert (found.laws, found.symmetries) == (4, ())
    # also where it was confirmed on others
    law_table.forget()
    monkeypatch.setattr(symmetries, "_spread", lambda datasets, records: datasets[1:3])
    again = swept(Sometimes(), wide, Claim(1.0))
    assert (again.laws, again.symmetries) == (4, ())
    assert again.worst == found.worst
    law_table.forget()


# --- the order of rows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstRow(Mechanism):
    """Tells something of the first row."""

    @property
    def claim(self) -> Claim:
        return Claim(math.log(3))

    def run(self, dataset: Any) -> Categorical:
        (first, *_) = dataset
        return Categorical((first, 1 - first), (0.75, 0.25))


def test_it_is_noted_where_the_order_of_rows_matters() -> None:
    every = VerifyMode(2, 3, 1)
    (audit,) = orchestrator.run(Request((FirstRow(),), verify=every)).audits
    assert audit.verdict is Verdict.PASS
    (note,) = audit.notes
    assert note.sentence.startswith("The order of records matters: on (1, 0, 0) the output distribution differs from")
    assert "`dpaudit verify --ordered`" in note.sentence
    (sequences,) = orchestrator.run(Request((FirstRow(),), verify=replace(every, ordered=True))).audits
    assert sequences.notes == []
    (other,) = orchestrator.run(Request((GroupPrivacy(0.5, 0.01),), verify=every)).audits
    assert other.notes == []


def test_results_say_what_symmetries_saved() -> None:
    (audit,) = orchestrator.run(Request(("ExponentialMechanism",), verify=VerifyMode(5, 4, 1))).audits
    assert audit.verdict is Verdict.PASS
    proof = audit.proof
    assert proof is not None
    assert (proof.datasets, proof.laws, proof.symmetries, proof.confirmed) == (70, 5, ["relabelling"], 32)
    (plain,) = orchestrator.run(Request(("ADist",), verify=VerifyMode(3, 4, 1))).audits
    assert plain.proof is not None
    assert "satisfy the claim, assuming the symmetries that it declares (relabelling). The worst pair" in audit.reason
    assert "given" not in plain.reason
    assert (plain.proof.laws, plain.proof.symmetries, plain.proof.confirmed) == (15, [], 0)


def test_the_smallest_pair_has_as_few_records() -> None:
    """Of a claim that fails: the exponential mechanism at twice its ε."""
    mechanism = ExponentialMechanism(1.0, Multiplicity(FOUR))
    fewest = []
    for reduced in (True, False):
        for records in range(1, 9):
            found = swept(mechanism, Scope(FOUR, records, reduced=reduced), Claim(0.8))
            law_table.forget()
            if found.worst is not None and exceeds(found.worst, Claim(0.8)):
                fewest.append(records)
                break
    assert len(fewest) == 2
    assert fewest[0] == fewest[1] > 1


@dataclass(frozen=True)
class Most(Mechanism):
    """Whether most records are 1, told truthfully with probability 0.8; of as many zeros as ones it says 0."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        return relabellings("relabelling", domain)

    def run(self, dataset: Any) -> Categorical:
        most = int(2 * sum(dataset) > len(dataset))
        return Categorical((most, 1 - most), (0.8, 0.2))


def test_a_refutation_stands_though_a_symmetry_fails_on_fewer_records() -> None:
    """Of 5 records there is no tie, nor of 1, which is enough; of 4 there is."""
    (audit,) = orchestrator.run(Request((Most(),), verify=VerifyMode(2, 5, 1))).audits
    assert audit.verdict is Verdict.FAIL
    assert any(note.sentence.startswith("1 record is enough to refute the claim") for note in audit.notes)
    (even,) = orchestrator.run(Request((Most(),), verify=VerifyMode(2, 4, 1))).audits
    assert even.verdict is Verdict.INCONCLUSIVE
    assert even.crashed
    assert "declares the symmetry 'relabelling', which does not hold" in even.reason


@dataclass(frozen=True)
class MostOfMany(Most):
    """Says nothing of a single record."""

    symmetries = Most.symmetries

    def run(self, dataset: Any) -> Categorical:
        return Categorical((0, 1), (0.5, 0.5)) if len(dataset) < 2 else super().run(dataset)


def test_it_is_said_where_fewer_records_are_looked_at() -> None:
    (audit,) = orchestrator.run(Request((MostOfMany(),), verify=VerifyMode(2, 5, 1))).audits
    assert audit.verdict is Verdict.FAIL
    declared = "MostOfMany declares the symmetry 'relabelling', which does not hold"
    assert any(declared in note.sentence for note in audit.notes)
