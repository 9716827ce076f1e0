"""Violations that sampling finds, private programs that it never refutes, and the pairs and events it chooses from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.interpret import sample
from dpaudit.language import Claim, Laplace, Mechanism
from dpaudit.language.relation import ReplaceOne
from dpaudit.proofs import refute
from dpaudit.proofs.attempt import Attempt
from dpaudit.proofs.prove import prove
from dpaudit.proofs.refute import Pattern, are_neighbours, candidate_pairs, has_its_bulk, patterns, refuted
from dpaudit.proofs.results import Proof, Refuted, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit.report.proof import proof_json, proof_text
from dpaudit.stats.clopper_pearson import epsilon_lower
from dpaudit_algorithms.corpus.report_noisy_max import ReportNoisyMax3, ReportNoisyMax4
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT3, SVT4, SVT5, SVT6


def attempted(target: Any, scope: Scope, epsilon: float, seed: int = 0) -> Refuted | None:
    attempt = Attempt(target, scope, Fraction(epsilon), "program")
    unknown = Unknown("", "", None, attempt.claimed, attempt.name, str(scope), Fraction(5))
    return refuted(attempt, unknown, seed)


def leak(x, rng):
    return "zero" if x[0] <= 0 else "more"


def raw(x, rng):
    return x.sum()


def halved(x, rng):
    return np.clip(x, 0, 1).sum() + rng.laplace(0, 0.5)


def halved_counts(records, rng):
    return np.bincount(np.array(records), minlength=3) + rng.laplace(0, 1.0, 3)


def present(records, rng):
    counts: dict[Any, float] = {}
    for record in records:
        counts[record] = counts.get(record, 0) + 1
    return {record: count + rng.laplace(0, 2.0) for record, count in counts.items()}


@pytest.mark.parametrize(
    ("target", "scope", "epsilon", "at_least"),
    [
        (leak, Records(2, 0, 1), 1, 5), (raw, Records(3, 0, 1), 1, 5), (halved, Records(3, 0, 1), 1, 1.3),
        (halved, Records(3, 0, 1, "add-remove-one"), 1, 1.2), (halved_counts, Domain(4, (0, 1, 2)), 1, 1.2),
        (present, Domain(3, (0, 1, 2)), 1, 5), (SVT4(epsilon=1.0), Answers(6), 1, 1),
        (SVT5(epsilon=1.0), Stream(), 1, 5), (SVT6(epsilon=1.0), Answers(6), 1, 1),
        pytest.param(SVT3(epsilon=1.0), Answers(6), 1, 1, marks=pytest.mark.slow),
        (ReportNoisyMax3(epsilon=1.0), Answers(4), 1, 1), (ReportNoisyMax4(epsilon=1.0), Answers(4), 1, 1),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_violations_are_found(target: Any, scope: Scope, epsilon: float, at_least: float) -> None:
    found = attempted(target, scope, epsilon)
    assert found is not None
    assert found.epsilon > at_least
    assert found.confidence == 0.999
    assert found.least == 5
    assert are_neighbours(Answers(len(found.pair[0])) if isinstance(scope, Stream) else scope, *found.pair)
    # the bound is that of the counts
    alpha = (1 - found.confidence) / len(refute.STEPS)
    (x, y), n = found.counts, found.samples
    assert found.epsilon == pytest.approx(epsilon_lower(x, n, y, n, delta=0, alpha=alpha))


def test_the_same_seed_gives_the_same_result() -> None:
    one, other = (attempted(halved, Records(3, 0, 1), 1, seed=3) for _ in range(2))
    assert one == other
    assert one is not None


@dataclass(frozen=True)
class Exact(Mechanism):
    """The sum with noise that its claim just allows: every tail has a ratio of exactly e^ε."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0, 0.0, ReplaceOne())

    def run(self, dataset):
        return Laplace(sum(dataset), 1.0)

    def bulk(self, dataset, size, rng):
        return sum(dataset) + rng.laplace(0, 1.0, size)


@pytest.mark.slow
def test_a_claim_that_just_holds_is_never_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    # a small pilot chooses an event by luck; fresh samples do not repeat it
    monkeypatch.setattr(refute, "PILOT", ((6, 300),))
    monkeypatch.setattr(refute, "FEWEST", 300)
    monkeypatch.setattr(refute, "STEPS", (100, 300, 1_000))
    monkeypatch.setattr(refute, "CAUTION", 0.5)
    assert not any(attempted(Exact(), Records(2, 0, 1), 1, seed) for seed in range(30))


def test_the_best_event_of_a_pilot_overstates_its_ratio() -> None:
    # why events are counted on fresh samples
    pair = ((0, 0), (0, 1))
    luck = []
    for seed in range(60):
        outputs = [sample(Exact(), dataset, 300, seed=2 * seed + side) for side, dataset in enumerate(pair)]
        best = refute.chosen_pattern(pair, [(outputs[0], outputs[1])], 10_000)
        (p, q), n = best.hits, best.sizes[0]
        luck.append(math.log(max(p, 1) / max(q, 1)) > 1.0 and n == 300)
    assert sum(luck) > 20


def private_sum(x, rng):
    return np.clip(x, 0, 1).sum() + rng.laplace(0, 1.0)


def test_a_private_program_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refute, "PILOT", ((20, 1_000), (3, 2_000)))
    assert attempted(private_sum, Records(3, 0, 1), 1) is None


def raising(x, rng):
    raise ValueError(x[0])


def test_a_program_that_raises_is_not_refuted(capsys: pytest.CaptureFixture[str]) -> None:
    assert attempted(raising, Records(2, 0, 1), 1) is None
    assert capsys.readouterr() == ("", "")


def chatty(x, rng):
    print("a secret")
    return x[0]


def test_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert attempted(chatty, Records(2, 0, 1), 1) is not None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "scope",
    [
        Answers(4), Answers(4, by=0.1), Answers(3, moves="one"), Answers(3, by=2, whole=True), Records(3, -1, 0.1),
        Records(3, 0, 1, "add-remove-one"), Domain(3, ("a", "b", "c")), Domain(1, (0, 1), "add-remove-one"),
    ],
    ids=str,
)
def test_every_candidate_is_a_pair_of_neighbours(scope: Scope) -> None:
    for target in (leak, halved, SVT4(epsilon=1.0)):
        pairs = list(candidate_pairs(Attempt(target, scope, Fraction(1), "program"), np.random.default_rng(0)))
        assert pairs
        for left, right in pairs:
            assert are_neighbours(scope, left, right)


@pytest.mark.parametrize(
    ("scope", "left", "right"),
    [
        (Answers(2), (0.0, 0.0), (1.5, 0.0)), (Answers(2), (0.0, 0.0), (1.0,)), (Answers(3), (0.0,), (1.0,)),
        (Answers(2, moves="one"), (0.0, 0.0), (1.0, 1.0)), (Answers(1, whole=True), (0.5,), (1,)),
        (Answers(1, by=0.1), (0.0,), (0.1001,)), (Stream(), (0.0,), (0.0, 1.0)),
        (Records(2, 0, 1), (0.0, 0.0), (1.0, 1.0)),
        (Records(2, 0, 1), (0.0, 0.0), (1.5, 0.0)), (Records(2, 0, 1), (0.0, 0.0), (1.0,)),
        (Records(2, 0, 1, "add-remove-one"), (0.0, 0.0), (1.0, 0.0)),
        (Records(2, 0, 1, "add-remove-one"), (0.0, 0.5), (1.0,)), (Domain(1, (0, 1)), (0,), (2,)),
        (Domain(2, (0, 1)), (0, 0), (1, 1)),
    ],
)
def test_other_pairs_are_no_neighbours(scope: Scope, left: Any, right: Any) -> None:
    assert not are_neighbours(scope, left, right)


def test_patterns_count_outputs_with_numbers() -> None:
    outputs = sample(SVT3(epsilon=1.0), (1.0, 1.0), 500, seed=1)
    found = patterns(outputs)
    assert sum(map(len, found.values())) == 500
    shape = next(each for each in found if each[0] == "below" and each[1] is refute.NUMBER)
    numbers = found[shape][:, 0]
    event = Pattern(shape, ((0, True, 3.0),))
    assert event.count(outputs) == int((numbers > 3).sum()) > 0
    assert event.description == "output is ('below', x1) with x1 > 3"
    assert Pattern(shape, ((0, False, 3.0),)).count(outputs) == int((numbers <= 3).sum()) > 0
    assert Pattern(shape).count(outputs) == len(numbers)


@dataclass(frozen=True)
class Overridden(Exact):
    """A mechanism whose inherited bulk is not that of its run."""

    def run(self, dataset):
        return Laplace(sum(dataset), 100.0)


def test_a_bulk_that_is_not_of_this_run_is_left_out() -> None:
    assert has_its_bulk(Exact)
    assert not has_its_bulk(Overridden)
    assert attempted(Exact(), Records(2, 0, 1), 0.1) is not None
    assert attempted(Overridden(), Records(2, 0, 1), 0.1) is None


def test_a_proof_is_bounded_from_below() -> None:
    """The least of both sides: SVT1 has ε = 1 in the limit of many answers, and more than 0.8 with ten."""
    mechanism = SVT1(epsilon=1.0)
    outcome = prove(mechanism, Stream(), lower=True)
    assert isinstance(outcome, Proof)
    assert outcome.lower is not None
    assert 0.8 < outcome.lower.epsilon <= 1
    again = prove(mechanism, Stream(), lower=True)
    assert isinstance(again, Proof)
    assert again.lower == outcome.lower
    assert "ε ∈ [0.8" in proof_text(outcome)
    assert proof_json(outcome)["lower"]["confidence"] == 0.999


def test_no_bound_from_below_without_a_difference() -> None:
    def constant(data: Any, rng: Any) -> Any:
        return 1 + rng.laplace(0, 1)

    outcome = prove(constant, Records(2, 0, 1), epsilon=1, lower=True)
    assert isinstance(outcome, Proof)
    assert outcome.lower is None
