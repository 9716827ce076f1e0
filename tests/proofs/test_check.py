"""`check` tries a proof unasked: what it comes to, and what it never overrides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.errors import ReportError
from dpaudit.language import Claim, Laplace, Mechanism, Query
from dpaudit.language.answers import AnswersL1, AnswersLInf
from dpaudit.report import wording
from dpaudit.report.console import audit_block
from dpaudit.report.html import to_html
from dpaudit.report.method import method
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Audit, EvidenceKind, Verdict
from tests.proofs import functions_checked as functions

RUNS = 4_000


@dataclass(frozen=True)
class Released(Mechanism):
    """Two answers with noise each.

    Args:
        scale: of the noise.
    """

    scale: float = 1.0

    @property
    def claim(self) -> Claim:
        """1, for answers of total sensitivity 1."""
        return Claim(1.0, relation=AnswersL1())

    def run(self, D: Any) -> Any:
        first = yield Laplace(D[0], self.scale)
        second = yield Laplace(D[1], self.scale)
        return first, second


@dataclass(frozen=True)
class Rounded(Released):
    """Answers are rounded before the noise, so that two small moves add up to two large ones."""

    def run(self, D: Any) -> Any:
        first = yield Laplace(1 if D[0] >= 1 else 0, self.scale)
        second = yield Laplace(1 if D[1] >= 1 else 0, self.scale)
        return first, second


@dataclass(frozen=True)
class Largest(Mechanism):
    """Which answer is largest with noise; every answer may move by 1."""

    @property
    def claim(self) -> Claim:
        """1, for answers that move by 1 each."""
        return Claim(1.0, relation=AnswersLInf())

    def run(self, D: Any) -> Any:
        first = yield Laplace(D[0], 2.0)
        second = yield Laplace(D[1], 2.0)
        return first >= second


def one(target: Any, pair: Any, **options: Any) -> Audit:
    """The audit of one pair."""
    audit: Audit = dpaudit.audit(target, pair=pair, runs=RUNS, seed=0, **options).audit
    return audit


def test_a_proof_is_the_verdict() -> None:
    audit = one(Released(), ((0.0, 0.0), (0.5, 0.5)))
    assert (audit.verdict, audit.evidence, audit.reason_code) == (
        Verdict.PASS, EvidenceKind.ALIGNMENT, "proved_by_alignment"
    )
    assert wording.verdict_phrase(audit) == "PASS · proved for every dataset"
    assert audit.alignment is not None
    assert (audit.alignment.epsilon, audit.alignment.paths, audit.alignment.given) == ("1", 1, None)
    assert audit.alignment.scope.startswith("all vectors of 2 answers")
    assert [(line.noise, line.cost) for line in audit.alignment.noise] == [("Laplace(1)", "1")] * 2


def test_small_moves_of_several_answers_add_up() -> None:
    """(0.5, 0.5) → (1, 1) moves both rounded answers by 1, at a cost of 2: a proof for one answer would be wrong."""
    audit = one(Rounded(), ((0.5, 0.5), (1.0, 1.0)))
    assert audit.alignment is None
    assert audit.evidence is not EvidenceKind.ALIGNMENT


def test_groups() -> None:
    for size, epsilon, proved in ((2, 2.0, True), (2, 1.9, False), (3, 3.0, True)):
        claim = Claim(epsilon, relation=AnswersLInf(size))
        audit = dpaudit.audit(Largest(), claim=claim, pair=((0.0, 0.0), (size, -size)), runs=RUNS, seed=0).audit
        assert (audit.alignment is not None) is proved, (size, epsilon)


def test_too_little_noise_is_not_proved() -> None:
    assert one(Released(0.9), ((0.0, 0.0), (1.0, 0.0))).alignment is None


def test_functions_are_sampled_alone() -> None:
    assert one(lambda data, rng: data[0] + rng.laplace(), ((0.0,), (1.0,)), epsilon=1.0).alignment is None


def test_a_refutation_stands_beside_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were there a wrong proof, samples that refute would still decide, and the report would say both."""
    proof = one(Released(), ((0.0, 0.0), (0.5, 0.5))).alignment

    def wrong(job: Any, findings: Any, runner: Any) -> None:
        findings.alignment = proof

    monkeypatch.setattr(orchestrator, "align_noise", wrong)
    audit = one(Released(0.25), ((0.0, 0.0), (1.0, 0.0)))
    assert audit.verdict is Verdict.FAIL
    assert "also_proved" in [note.code for note in audit.notes]


def test_samples_that_show_more_than_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """They keep the claim and contradict the proof, so nothing is decided."""
    proof = one(Released(), ((0.0, 0.0), (0.5, 0.5))).alignment
    assert proof is not None

    def wrong(job: Any, findings: Any, runner: Any) -> None:
        findings.alignment = replace(proof, epsilon="1/100")

    monkeypatch.setattr(orchestrator, "align_noise", wrong)
    audit = dpaudit.audit(Released(), pair=((0.0, 0.0), (1.0, 0.0)), runs=40_000, seed=0).audit
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "dpaudit is wrong" in audit.reason


def test_a_crash_stands_before_a_proof() -> None:
    """The program raises on a dataset of the scope that the proof takes for one with two answers."""
    audit = one(Released(), ((0.0,), (1.0,)))
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.crashed


@dataclass(frozen=True)
class Doubled(Query):
    """A query that states a sensitivity of 1, and has one of 2."""

    @property
    def sensitivity(self) -> float:
        return 1.0

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        return (2.0 * sum(dataset),)


@dataclass(frozen=True)
class OfQueries(Mechanism):
    """Is the noisy answer of each query at least 0?

    Args:
        queries: with one answer each.
    """

    queries: tuple[Any, ...] = (Doubled(),)
    relation: ClassVar[Any] = None

    @property
    def claim(self) -> Claim:
        """3, for queries of sensitivity 1."""
        return Claim(3.0)

    def answers(self, D: Any) -> tuple[float, ...]:
        """Of all queries."""
        return tuple(answer for query in self.queries for answer in query(D))

    def run(self, D: Any) -> Any:
        above = 0
        for answer in self.answers(D):
            if (yield Laplace(answer, 1.0) >= 0):
                above += 1
        return above


def test_the_stated_sensitivity_is_tested() -> None:
    same = one(OfQueries(), ((0, 1), (1, 1)))
    assert same.alignment is None
    assert [note.values for note in same.notes if note.code == "wrong_sensitivity"] == [
        {"query": "query 1", "difference": 2.0, "sensitivity": 1.0, "pair": same.pair.label if same.pair else ""}
    ]


def released() -> str:
    """A result with a proof, as JSON."""
    return dpaudit.audit(Released(), pair=((0.0, 0.0), (0.5, 0.5)), runs=RUNS, seed=0).to_json()


def test_read_back_and_written() -> None:
    text = released()
    again = from_json(text, where="results.json")
    assert to_json(again) == text
    page = to_html(again)
    assert "Alignment of the noise" in page
    assert "PASS · proved for every dataset" in page
    console = str(audit_block(again.audits[0]))
    assert console
    assert "real numbers" in " ".join(method(again.audits[0], 0.001))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"epsilon": "1"', '"epsilon": "2"', "proves less than the claim"),
        ('"epsilon": "1"', '"epsilon": "1e9"', "is no fraction"),
        ('"cost": "1"', '"cost": "-1"', "cost below 0"),
        ('"cost": "1"', '"cost": "5"', "costs more than all lines"),
        ('"shifts": [', '"shifts": ["a",', "is no fraction"),
    ],
)
def test_a_forged_alignment_is_refused(old: str, new: str, says: str) -> None:
    text = released()
    assert old in text
    with pytest.raises(ReportError, match=says):
        from_json(text.replace(old, new), where="results.json")


def test_a_verdict_without_its_alignment_is_refused() -> None:
    result = from_json(released(), where="results.json")
    result = replace(result, audits=[replace(result.audits[0], alignment=None)])
    with pytest.raises(ReportError, match="it holds no alignment"):
        from_json(to_json(result), where="results.json")


def test_the_same_for_any_number_of_workers() -> None:
    found = {
        dpaudit.audit(Released(), pair=((0.0, 0.0), (0.5, 0.5)), runs=RUNS, seed=0, jobs=jobs).to_json().partition(
            '\n  "audits": [')[2]
        for jobs in (1, 2)
    }
    assert len(found) == 1


REALS = "floats(-5, 5, allow_nan=False, allow_infinity=False)"


@pytest.mark.parametrize(("function", "options", "epsilon", "scope"), [
    (functions.list_sum, {"data": REALS, "size": 10}, 1, "all datasets of 10 real records in [-5, 5], replace-one"),
    (functions.joined, {"data": REALS, "size": 3}, 0, "all datasets of 3 real records in [-5, 5], replace-one"),
    (functions.histogram, {"data": "integers(0, 3)", "size": 5}, 1,
     "all datasets of 5 records in {0, 1, 2, 3}, replace-one"),
    (functions.vector_sum, {"pair": (np.array([0.0, 1.0]), np.array([1.0, 1.0])), "relation": "answers-l1"}, 1,
     "all vectors of 2 answers that are real numbers, all together differing by at most 1"),
    (functions.answers_of_two, {"pair": ([0.0, 1.0], [1.0, 0.0]), "relation": "answers-linf"}, 1,
     "all vectors of 2 answers that are real numbers, each differing by at most 1"),
])
def test_functions_are_proved_where_their_datasets_have_one_size(
    function: Any, options: dict[str, Any], epsilon: int, scope: str
) -> None:
    audit = dpaudit.audit(function, epsilon=1.0, runs=RUNS, seed=0, **options).audit
    assert (audit.verdict, audit.evidence) == (Verdict.PASS, EvidenceKind.ALIGNMENT)
    assert audit.alignment is not None
    assert (audit.alignment.epsilon, audit.alignment.scope) == (str(epsilon), scope)


@pytest.mark.parametrize(("function", "epsilon", "lines"), [
    (functions.coin, math.log(7 / 3), []), (functions.coin_and_count, math.log(7 / 3) + 0.1, ["Laplace(10)"]),
])
def test_functions_with_random_choices(function: Any, epsilon: float, lines: list[str]) -> None:
    result = dpaudit.audit(function, epsilon=1.0, runs=RUNS, seed=0, data="integers(0, 1)", size=2)
    audit = result.audit
    assert (audit.verdict, audit.evidence) == (Verdict.PASS, EvidenceKind.ALIGNMENT)
    assert audit.alignment is not None
    assert audit.alignment.choices
    assert float(Fraction(audit.alignment.epsilon)) == pytest.approx(epsilon, rel=1e-9)
    assert [line.noise for line in audit.alignment.noise] == lines
    assert from_json(result.to_json(), where="results.json").audits == [audit]
    assert "exact probability of every random choice" in str(audit_block(audit))


def test_functions_of_parts() -> None:
    """Three streams have too many paths to be followed at once; each is proved by itself, and moves no noise here."""
    pair = [0.0] * 7, [1.0] * 7
    result = dpaudit.audit(
        functions.above_three_times, epsilon=1.0, runs=RUNS, seed=0, pair=pair, relation="answers-linf"
    )
    audit = result.audit
    assert audit.evidence is EvidenceKind.ALIGNMENT
    assert audit.alignment is not None
    (line,) = audit.alignment.noise
    assert (line.noise, line.shifts, line.cost) == ("first_above, 1/3-DP", [], "1")
    assert from_json(result.to_json(), where="results.json").audits == [audit]
    assert "proved by itself" in str(audit_block(audit))


@pytest.mark.parametrize(("function", "options"), [
    (functions.list_sum, {"data": REALS}),
    (functions.list_sum, {"data": REALS, "size": 10, "relation": "add-remove-one"}),
    (functions.list_sum, {"data": REALS, "size": 10, "relation": "replace-one:2", "epsilon": 2.0}),
    (functions.list_sum, {"pair": ([0.0, 1.0], [1.0, 1.0])}),
    (functions.answers_of_two, {"pair": ([0.0, 1.0], [1.0, 1.0]), "relation": "answers-l2"}),
    (functions.several, {"data": REALS, "size": 4, "epsilon": 10.0}),
])
def test_functions_without_a_scope_are_sampled_alone(function: Any, options: dict[str, Any]) -> None:
    audit = dpaudit.audit(function, **{"epsilon": 1.0, "runs": RUNS, "seed": 0, **options}).audit
    assert audit.alignment is None
    assert audit.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE)
