"""Audits of utility: verdicts by exact laws and by runs, their error, and that they survive crashes and time limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from dpaudit.errors import UsageError
from dpaudit.evidence.utility import audit_utility, utility_jobs
from dpaudit.language import Bernoulli, Fixed, Gaussian, Goal, Instance, InteriorPoint, Mechanism, Program, UtilityClaim
from dpaudit.plans.job import UtilityJob
from dpaudit.plans.plan import UtilityCase
from dpaudit.plans.request import Request
from dpaudit.results.model import EvidenceKind, UtilityAudit, Verdict
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedian
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Thresholds, Truth


@dataclass(frozen=True)
class Says(Goal):
    """The output is this."""

    what: Any

    def reached(self, instance: Instance, output: Any) -> bool:
        return bool(output == self.what)

    def __str__(self) -> str:
        return f"the output {self.what!r}"


@dataclass(frozen=True)
class Coin(Mechanism):
    """True with probability p."""

    p: float

    def run(self, dataset: Any) -> Bernoulli:
        return Bernoulli(self.p)


@dataclass(frozen=True)
class Noise(Mechanism):
    """A real number, without a law that can be enumerated: whether it is above 0."""

    def run(self, dataset: Any) -> Program:
        x = yield Gaussian(0.0, 1.0)
        return x > 0


@dataclass(frozen=True)
class Crash(Mechanism):
    """Raises on a dataset of two records."""

    def run(self, dataset: Any) -> Bernoulli:
        if len(dataset) == 2:
            raise ValueError("no such record")
        return Bernoulli(0.5)


EMPTY = (Fixed(()),)


def tried(
    mechanism: Mechanism, claim: UtilityClaim, instances: tuple[Mechanism, ...] = EMPTY, *, runs: int = 1000,
    exact: bool = True, seed: int = 0, alpha: float = 0.001, seconds: float | None = None,
) -> UtilityAudit:
    case = UtilityCase("a case", mechanism, claim, instances, runs=runs, exact=exact)
    request = Request(("InteriorPointByMedian",), seed=seed, alpha=alpha, time=seconds)
    target = MechanismTarget("Toy", "", case.mechanism)
    job = UtilityJob(target=target, case=case, replay="id", expected=None, runs=runs)
    steps = audit_utility(job, request, alpha, Runner(1, seconds))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            audit: UtilityAudit = end.value
            return audit


def says(probability: float, *, at_most: bool = False) -> UtilityClaim:
    return UtilityClaim(Says(True), probability, "a test", at_most)


@pytest.mark.parametrize(("p", "guaranteed", "at_most", "verdict"), [
    (0.5, 0.5, False, Verdict.PASS), (0.5, 0.5, True, Verdict.PASS),
    (0.5, 0.5 + 1e-9, False, Verdict.FAIL), (0.5, 0.5 - 1e-9, True, Verdict.FAIL),
    (0.5, 0.5 - 1e-9, False, Verdict.PASS), (0.5, 0.5 + 1e-9, True, Verdict.PASS),
    (1.0, 1.0, False, Verdict.PASS), (0.0, 1e-9, False, Verdict.FAIL), (0.0, 0.0, True, Verdict.PASS),
])
def test_an_exact_law_decides_to_the_last_digits(p: float, guaranteed: float, at_most: bool, verdict: Verdict) -> None:
    audit = tried(Coin(p), says(guaranteed, at_most=at_most), runs=0)
    assert (audit.verdict, audit.evidence) == (verdict, EvidenceKind.EXACT)
    (one,) = audit.attempts
    assert one.exact == p
    assert one.exact_low is not None
    assert one.exact_high is not None
    assert one.exact_low <= p <= one.exact_high <= one.exact_low + 1e-14


@pytest.mark.parametrize(("guaranteed", "at_most", "verdict"), [
    (0.6, False, Verdict.FAIL), (0.4, False, Verdict.PASS), (0.4, True, Verdict.FAIL), (0.6, True, Verdict.PASS),
])
def test_runs_decide_where_there_is_no_law(guaranteed: float, at_most: bool, verdict: Verdict) -> None:
    audit = tried(Noise(), says(guaranteed, at_most=at_most), runs=4000)
    assert (audit.verdict, audit.evidence) == (verdict, EvidenceKind.SAMPLED)
    assert audit.attempts[0].exact is None
    assert audit.attempts[0].runs == audit.runs == 4000
    assert any("was not computed exactly" in note.sentence for note in audit.notes)
    if verdict is Verdict.PASS:
        assert "satisfies the guarantee" in audit.reason


def test_a_pass_without_enough_samples_says_so() -> None:
    audit = tried(Noise(), says(0.5), runs=1000, seed=3)
    assert audit.verdict is Verdict.PASS
    assert "too close to it" in audit.reason


def test_the_worst_source_of_inputs_decides() -> None:
    kind = InteriorPointByMedian(1.0, 2)
    claim = UtilityClaim(InteriorPoint(), 1 - 2 * math.exp(-6 / 4), "Algorithms for Interior Point")
    audit = tried(kind, claim, (Fixed((1, 1, 1, 2, 2, 2)), Fixed((1,) * 6), Fixed((1, 2, 2, 2, 2, 2))))
    assert audit.verdict is Verdict.FAIL
    assert audit.worst == 1
    assert audit.attempts[1].exact == pytest.approx(0.5)
    assert all(one.low is not None and one.low <= (one.exact or 0) <= (one.high or 0) for one in audit.attempts)


def test_guarantees_on_random_examples_are_of_the_draw_too() -> None:
    concepts = Thresholds(2)
    source = Examples(concepts, Truth((0, 1), (3, 1), 0), 2)

    @dataclass(frozen=True)
    class Greatest(Mechanism):
        """The greatest positive example, or 1 where there is none."""

        def run(self, dataset: Any) -> int:
            return max((x for x, y in dataset if y), default=1)

    # wrong on x = 1 where no 0 was drawn: with probability 1/16
    audit = tried(Greatest(), UtilityClaim(GeneralisationError(concepts, 0.2), 0.9, "a test"), (source,))
    assert audit.attempts[0].exact == pytest.approx(15 / 16, abs=1e-15)
    assert audit.verdict is Verdict.PASS


@pytest.mark.slow
def test_the_error_is_the_stated_one() -> None:
    """A guarantee that is just kept is refuted by runs in at most α of the audits: α = 0.05, 600 audits.

    30 are expected at most (fewer, as limits are exact); more than 47 have probability 0.001 at α = 0.05.
    """
    failed = sum(
        tried(Coin(0.7), says(0.7), runs=200, exact=False, seed=seed, alpha=0.05).verdict is Verdict.FAIL
        for seed in range(600)
    )
    assert failed <= 47


def test_what_is_wrong_by_a_tenth_is_refuted() -> None:
    audits = [tried(Coin(0.6), says(0.7), runs=2000, exact=False, seed=seed) for seed in range(20)]
    assert all(audit.verdict is Verdict.FAIL for audit in audits)


def test_a_crash_is_inconclusive_and_keeps_what_there_is() -> None:
    audit = tried(Crash(), says(0.5), (Fixed((1,)), Fixed((1, 2))))
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.crashed
    assert "no such record" in audit.reason
    assert len(audit.attempts) == 1


def test_a_broken_guarantee_stands_though_a_later_source_crashes() -> None:
    audit = tried(Crash(), says(0.9), (Fixed((1,)), Fixed((1, 2))))
    assert audit.verdict is Verdict.FAIL


def test_a_time_limit_is_inconclusive() -> None:
    audit = tried(Coin(0.5), says(0.5), seconds=1e-9)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "--time" in audit.reason


def test_guarantees_alone_of_what_guarantees_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="has no utility guarantee"):
        utility_jobs(Request(("Median",), only="utility"))
    with pytest.raises(UsageError, match="leave --epsilon"):
        utility_jobs(Request(("InteriorPointByMedian",), only="utility", epsilon=1.0))
    with pytest.raises(UsageError, match="leave --groups, --param"):
        utility_jobs(Request(("InteriorPointByMedian",), only="utility", parameters={"epsilon": 1.0}))
    assert utility_jobs(Request(("InteriorPointByMedian",), only="privacy")) == []
