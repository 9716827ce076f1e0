"""Proofs for all datasets, given the sensitivities that queries and quality functions state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import UsageError
from dpaudit.interpret import law
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    Claim,
    Laplace,
    Mechanism,
    Multiplicity,
    Multiset,
    Program,
    Quality,
    Query,
    Scores,
)
from dpaudit.plans import registry
from dpaudit.plans.plan import Case
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.report.proof import proof_json, proof_text
from dpaudit.report.proof_page import proof_page
from dpaudit_algorithms.foundations.above_threshold import AboveThreshold
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram, LaplaceMechanism
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedian


def proved(mechanism: Mechanism, **keywords: Any) -> Proof:
    found = dpaudit.prove(mechanism, refute=False, **keywords)
    assert isinstance(found, Proof), found
    assert check_certificate(found.certificate) is None
    return found


@pytest.mark.parametrize("mechanism", [
    LaplaceMechanism(0.5, Count(1)), LaplaceMechanism(1, Histogram((0, 1, 2))), LaplaceMechanism(2, Histogram((7,))),
    ExponentialMechanism(1, Multiplicity(("a", "b", "c"))), ExponentialMechanism(0.25, Multiplicity(tuple(range(20)))),
    InteriorPointByMedian(0.5, 10),
])
def test_needs_the_epsilon_that_the_theorem_says(mechanism: Mechanism) -> None:
    found = proved(mechanism)
    assert found.epsilon == Fraction(mechanism.claim.epsilon)  # type: ignore[union-attr]
    assert found.scope == "all datasets, replace-one"
    assert any("states" in each for each in found.assumptions)
    less = dpaudit.prove(mechanism, epsilon=found.epsilon * Fraction(999, 1000), refute=False)
    assert isinstance(less, Unknown)
    assert less.least == found.epsilon


def test_groups_cost_as_often() -> None:
    claim = Claim(3.0, relation=REPLACE_ONE.group(3))
    assert proved(LaplaceMechanism(1, Histogram((0, 1))), claim=claim).epsilon == 3


@dataclass(frozen=True)
class Asking(Mechanism):
    """Runs a program with two queries and a quality function."""

    program: Callable[[Any, Any], Any]
    first: Query
    second: Query
    quality: Quality

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> Program:
        return (yield from self.program(self, S))


def asking(program: Callable[[Any, Any], Any]) -> Asking:
    return Asking(program, Count(1), Histogram((0, 1)), Multiplicity((0, 1, 2)))


def twice(self: Any, S: Any) -> Program:
    (a,), (b,) = self.first(S), self.first(S)
    return (yield Laplace(a - b, 0.001))


def both(self: Any, S: Any) -> Program:
    (a,), (b, _) = self.first(S), self.second(S)
    return (yield Laplace(a - b, 3))


def one_after_the_other(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.25)
    (a,) = self.first(S)
    return place, (yield Laplace(a, 2))


def made_here(self: Any, S: Any) -> Program:
    (a,) = Count(5)(S)
    return (yield Laplace(a, 1))


@pytest.mark.parametrize(("program", "epsilon"), [(twice, 0), (both, 1), (one_after_the_other, 1), (made_here, 1)])
def test_one_query_has_one_answer_and_two_differ_independently(program: Any, epsilon: int) -> None:
    assert proved(asking(program)).epsilon == epsilon


def counts(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return len(S), (yield Laplace(a, 1))


def looks_for(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return 1 in S, (yield Laplace(a, 1))


def makes_a_multiset(self: Any, S: Any) -> Program:
    (a,) = self.first(Multiset.of(S))
    return (yield Laplace(a, 1))


def asks_part(self: Any, S: Any) -> Program:
    (a,) = self.first(S[1:])
    return (yield Laplace(a, 1))


def releases_it(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return S, (yield Laplace(a, 1))


def writes_it(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return f"{S}", (yield Laplace(a, 1))


def compares_it(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return S == (1, 1), (yield Laplace(a, 1))


def asks_if_any(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    return bool(S), (yield Laplace(a, 1))


def releases_scores(self: Any, S: Any) -> Program:
    scores = self.quality(S)
    return scores.best(), (yield Laplace(0, 1))


def adds_to_the_solution(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return place + 1


def looks_up_the_solution(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return ("same", "same", "other")[place]


def decides_by_the_solution(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return "same" if place == 1 else "other"


def uses_the_solution_as_a_key(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return {place: 1}


def writes_the_solution(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return str(place)


def sorts_the_solution(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return sorted([place, 1])


def counts_with_it(self: Any, S: Any) -> Program:
    place = yield self.quality(S).softmax(0.5)
    return list(range(place))


def releases_the_answer(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    yield Laplace(0, 1)
    return a


def decides_by_the_answer(self: Any, S: Any) -> Program:
    (a,) = self.first(S)
    b = yield Laplace(a, 1)
    return a > 3, b


LOOKING = [
    counts, looks_for, makes_a_multiset, asks_part, releases_it, writes_it, compares_it, asks_if_any, releases_scores,
    adds_to_the_solution, looks_up_the_solution, decides_by_the_solution, uses_the_solution_as_a_key,
    writes_the_solution, sorts_the_solution, counts_with_it, releases_the_answer, decides_by_the_answer,
]


@pytest.mark.parametrize("program", LOOKING, ids=[program.__name__ for program in LOOKING])
def test_what_looks_at_the_dataset_or_a_solution_is_not_proved(program: Any) -> None:
    assert isinstance(dpaudit.prove(asking(program), epsilon=100, refute=False), Unknown)


@dataclass(frozen=True)
class Removing(LaplaceMechanism):
    """Claims its ε for records that are added and removed."""

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, relation=ADD_REMOVE_ONE)


def test_a_query_states_nothing_for_records_that_are_added() -> None:
    found = dpaudit.prove(Removing(1, Count(1)), refute=False)
    assert isinstance(found, Unknown)
    assert "replace-one" in found.reason
    with pytest.raises(UsageError, match="scope"):
        dpaudit.prove(LaplaceMechanism(1, Count(1)), claim=Claim(1.0, relation=ADD_REMOVE_ONE), refute=False)


@dataclass(frozen=True)
class Understated(Query):
    """A count that states too small a sensitivity."""

    @property
    def sensitivity(self) -> float:
        return 0.5

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        return (float(sum(dataset)),)


@dataclass(frozen=True)
class Loud(Quality):
    """A score that moves by 2."""

    @property
    def n_solutions(self) -> int:
        return 2

    def __call__(self, dataset: Any) -> Scores:
        return Scores([2 * sum(dataset), 0])


@dataclass(frozen=True)
class Growing(Quality):
    """Its solutions depend on the data."""

    @property
    def n_solutions(self) -> int:
        return 2

    def __call__(self, dataset: Any) -> Scores:
        return Scores([0, 0], (0, sum(dataset)))


@pytest.mark.parametrize("mechanism", [
    LaplaceMechanism(1, Understated()), ExponentialMechanism(1, Loud()), ExponentialMechanism(1, Growing()),
], ids=["query", "score", "solutions"])
def test_an_audit_finds_a_wrong_sensitivity_on_its_pairs(mechanism: Mechanism) -> None:
    pair = (0, 0, 0), (0, 0, 1)
    found = dpaudit.audit(mechanism, pair=pair, runs=2_000, seed=0, epsilon=3.0).audit
    assert found.alignment is None
    assert [note.code for note in found.notes if note.code == "wrong_sensitivity"]


def test_real_runs_are_as_before_after_a_proof() -> None:
    mechanism = ExponentialMechanism(1, Multiplicity((0, 1)))
    called = Multiplicity.__call__
    before = law(mechanism, (0, 0, 1)).probs.tolist()
    proved(mechanism)
    assert Multiplicity.__call__ is called
    assert law(mechanism, (0, 0, 1)).probs.tolist() == before


def test_a_mechanism_needs_no_scope_and_a_function_does() -> None:
    with pytest.raises(UsageError, match="scope"):
        dpaudit.prove(lambda data, rng: 0, epsilon=1)


def case_of(algorithm: str, label: str) -> Case:
    return next(case for case in registry.plan(algorithm).cases() if case.label == label)


@pytest.mark.parametrize(("label", "epsilon"), [("ε = 4, c = 1", 4)])
def test_multiplicative_weights_cost_what_the_theorem_says(label: str, epsilon: int) -> None:
    """Queries depend on x^t, and x^t on former answers."""
    found = proved(case_of("PrivateMultiplicativeWeights", label).mechanism)
    assert found.epsilon == epsilon


@pytest.mark.parametrize(("algorithm", "label"), [
    (algorithm, label) for algorithm in ("LaplaceAnswers", "GaussianAnswers")
    for label in ("advanced, 10 queries for one record", "zcdp, ε = 3", "advanced, the hunter", "zcdp, the hunter",
                  "zcdp, group of 2", "ρ-zCDP")
])
def test_answers_to_statistical_queries(algorithm: str, label: str) -> None:
    """(ε, δ) by advanced composition and by zCDP, with queries fixed in advance and adaptive ones."""
    case = case_of(algorithm, label)
    found = proved(case.mechanism, claim=case.claim or case.mechanism.claim)
    assert found.scope.startswith("all datasets, replace-one")


@pytest.mark.parametrize("algorithm", ["LaplaceAnswers", "GaussianAnswers"])
def test_the_claim_of_one_answer_does_not_cover_ten(algorithm: str) -> None:
    case = case_of(algorithm, "zcdp, claim of one answer, 10 asked")
    assert isinstance(dpaudit.prove(case.mechanism, claim=case.claim or case.mechanism.claim, refute=False), Unknown)


def test_a_report_says_what_is_taken_at_its_word() -> None:
    found = proved(LaplaceMechanism(1, Histogram((0, 1, 2))))
    line = "Histogram(values=(0, 1, 2)): its answers differ by at most 2 in total"
    assert proof_json(found)["queries"] == [line]
    assert line in " ".join(proof_text(found).split())
    assert line in proof_page(found, call="dpaudit prove LaplaceMechanism")
    chosen = proved(ExponentialMechanism(1, Multiplicity(("a", "b"))))
    assert proof_json(chosen)["queries"] == ["Multiplicity(solutions=('a', 'b')): each score differs by at most 1"]


@dataclass(frozen=True)
class Listing(Mechanism):
    """Its queries are a property."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    @property
    def queries(self) -> tuple[Query, ...]:
        return (Count(1), Count(1))

    def answers(self, D: Any) -> tuple[float, ...]:
        return tuple(answer for query in self.queries for answer in query(D))

    def run(self, S: Any) -> Program:
        first, second = self.answers(S)
        return (yield Laplace(first, 2.0)), (yield Laplace(second, 2.0))


def test_queries_may_be_a_property() -> None:
    """Equal queries have one answer in all datasets, and any two in all vectors of answers."""
    assert proved(Listing()).epsilon == 1
    found = dpaudit.prove(Listing(), dpaudit.Answers(2), refute=False)
    assert isinstance(found, Proof)
    assert found.epsilon == 1
    assert [each.subject for each in found.stated] == [Count(1)] * 2


@pytest.mark.parametrize("relation", ["users", "add-remove-one"])
def test_a_sensitivity_under_replacement_says_nothing_under_other_relations(relation: str) -> None:
    """A user with m records moves a count by m; the size of a dataset has the sensitivity 0 under replace-one."""
    mechanism = AboveThreshold(1.0, 1000.0, (Count(("u", 1)),))
    found = dpaudit.audit(mechanism, pair=((("u", 1),), ()), relation=relation, runs=2_000, seed=0).audit
    assert found.alignment is None


@dataclass(frozen=True)
class OfSize(Quality):
    """Moves by 1 at most where a record is replaced, and by 40 where one is added."""

    @property
    def n_solutions(self) -> int:
        return 2

    def __call__(self, dataset: Any) -> Scores:
        return Scores([40 * max(0, len(dataset) - 1), 0])


def test_a_quality_states_nothing_under_another_relation_than_the_mechanism_claims() -> None:
    found = dpaudit.audit(
        ExponentialMechanism(1, OfSize()), pair=((1,), ()), relation="add-remove-one", runs=2_000, seed=0
    ).audit
    assert found.alignment is None


@dataclass(frozen=True)
class AskingBeside(AboveThreshold):
    """Asks a query by itself, beside all of them."""

    def run(self, D: Any) -> Program:
        noise = yield Laplace(0, 2 / self.epsilon)
        for answer in self.answers(D):
            if (yield Laplace(answer, 4 / self.epsilon) >= self.threshold + noise):
                return self.queries[0](D)
        return ()


def test_no_answer_is_released_beside_the_stream() -> None:
    assert isinstance(dpaudit.prove(AskingBeside(1.0, 3.0, (Count(0), Count(1))), epsilon=100, refute=False), Unknown)


@dataclass(frozen=True)
class AsArray(Query):
    """Two counts, in an array: h + h is twice the counts, and of tuples it would be both one after the other."""

    @property
    def sensitivity(self) -> float:
        return 2.0

    @property
    def coordinates(self) -> int:
        return 2

    def __call__(self, dataset: Any) -> Any:
        return np.array([list(dataset).count(0), list(dataset).count(1)])


@dataclass(frozen=True)
class FourTimes(Mechanism):
    first: Query

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> Program:
        h: Any = self.first(S)
        h = h + h + h + h
        a = yield Laplace(h[0], 2)
        b = yield Laplace(h[1], 2)
        return a, b


@dataclass(frozen=True)
class Added(Mechanism):
    first: Query

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> Program:
        h = self.first(S)
        a = yield Laplace(h[0], 2)
        b = yield Laplace(h[1], 2)
        return a + b, len(h), sum(1 for _ in h)


def test_the_answers_of_a_query_may_be_an_array() -> None:
    assert isinstance(dpaudit.prove(FourTimes(AsArray()), refute=False), Unknown)
    assert isinstance(dpaudit.prove(Added(AsArray()), refute=False), Proof)


@dataclass(frozen=True)
class AnswersOfNothing(Mechanism):
    """A solution may be None."""

    first: Query
    quality: Quality

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> Program:
        place = yield self.quality(S).softmax(0.25)
        (a,) = self.first(S)
        return a if place is None else 0


def test_a_solution_may_be_none() -> None:
    assert isinstance(dpaudit.prove(AnswersOfNothing(Count(1), Multiplicity((None, 1))), refute=False), Unknown)


@dataclass(frozen=True)
class OneAnswer(Mechanism):
    queries: Any

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def answers(self, data: Any) -> Any:
        return tuple(answer for query in self.queries for answer in query(data))

    def run(self, S: Any) -> Program:
        out = []
        for a in self.answers(S):
            b = yield Laplace(a, 1)
            out.append(b)
            break
        return out


@dataclass(frozen=True)
class Rebinding(OneAnswer):
    def answers(self, data: Any) -> Any:
        (data := [*data] * 100)
        return tuple(answer for query in self.queries for answer in query(data))


def hundredfold(values: Any) -> Any:
    return [100 * each for each in values]


@dataclass(frozen=True)
class Shadowing(OneAnswer):
    def answers(self, data: Any, *, tuple: Any = hundredfold) -> Any:
        return tuple(answer for query in self.queries for answer in query(data))


@pytest.mark.parametrize("kind", [Rebinding, Shadowing])
def test_a_method_that_only_looks_like_the_answers_of_queries(kind: Any) -> None:
    assert isinstance(dpaudit.prove(OneAnswer((Count(1),)), refute=False), Proof)
    assert isinstance(dpaudit.prove(kind((Count(1),)), refute=False), Unknown)
