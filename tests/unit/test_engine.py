"""The engine's stream: its order, what it keeps when it is cut short, and the α that every test gets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import audit_toys
import numpy as np
import pytest
from audit_toys import PAIR, Breaks, Choice, Folded, NoisySum, Response, response
from numpy.random import Generator, SeedSequence

from dpaudit.adversary import Pair
from dpaudit.engine import orchestrator
from dpaudit.errors import MechanismError, UsageError
from dpaudit.evidence import exact_evidence, law_table, sampled, sampling
from dpaudit.language import Categorical, Claim, Mechanism, Multiset
from dpaudit.plans import alpha_shares, registry
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, EvidenceKind, Result, Verdict
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished, CheckStarted, Event, Progress
from dpaudit.stats import clopper_pearson
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import Unit
from dpaudit.testing import LeakyResponse, RoundedLaplaceSum


def audit(*targets: Any, **more: Any) -> Audit:
    """The only audit of a request."""
    settings = {"runs": 2_000, "pair": PAIR, **more}
    (found,) = orchestrator.run(Request(targets, **settings)).audits
    return found


def of_case(monkeypatch: pytest.MonkeyPatch, *cases: Case, **more: Any) -> list[Audit]:
    """The audits of a plan of these cases."""
    monkeypatch.setattr(registry, "plan", lambda name: Plan(name, lambda: cases))
    monkeypatch.setattr(registry, "canonical_name", lambda name: name)
    return orchestrator.run(Request(("Toy",), **more)).audits


# --- the stream -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("catalogue")
def test_the_order_of_events() -> None:
    events = list(orchestrator.check(Request(("Response", "Choice"), seed=3)))
    assert events[0] == CheckStarted(4, 3, 0.001)
    assert isinstance(events[-1], CheckFinished)
    middle = events[1:-1]
    kinds = [type(event).__name__ for event in middle if not isinstance(event, Progress)]
    assert kinds == ["AuditStarted", "AuditFinished"] * 4
    begun = [event.name for event in middle if isinstance(event, AuditStarted)]
    assert begun == ["Response"] * 3 + ["Choice"]
    ended = [event.audit for event in middle if isinstance(event, AuditFinished)]
    assert events[-1].result.audits == ended


@pytest.mark.usefixtures("catalogue")
def test_progress_counts_up_and_bounds_only_rise() -> None:
    groups: list[list[Progress]] = []
    for event in orchestrator.check(Request(("Response",))):
        if isinstance(event, AuditStarted):
            groups.append([])
        if isinstance(event, Progress) and event.of > 1:
            groups[-1].append(event)
    assert any(groups)
    for group in groups:
        assert all(0 <= p.done <= p.of for p in group)
        assert all(a.done <= b.done for a, b in pairwise(group))
        bounds = [p.bound for p in group if p.bound is not None]
        assert bounds == sorted(bounds)


def test_usage_errors_come_before_anything_runs() -> None:
    ran: list[int] = []

    def never(dataset: Any, rng: Generator) -> int:
        ran.append(1)
        return 0

    with pytest.raises(UsageError, match="What does"):
        orchestrator.run(Request((never,), pair=PAIR))
    assert not ran


def _interrupt(dataset: Any, rng: Generator) -> int:
    raise KeyboardInterrupt


def test_an_interrupt_ends_the_stream_with_what_is_finished() -> None:
    events = list(orchestrator.check(Request((response, _interrupt, Response()), epsilon=1.0, pair=PAIR, runs=500)))
    last = events[-1]
    assert isinstance(last, CheckFinished)
    assert last.result.interrupted
    assert [a.name for a in last.result.audits] == ["response"]
    assert not any(isinstance(event, AuditStarted) and event.name == "Response" for event in events)
    with pytest.raises(KeyboardInterrupt):
        orchestrator.run(Request((_interrupt,), epsilon=1.0, pair=PAIR, runs=500))


@pytest.mark.parametrize("at", [CheckStarted, AuditStarted, Progress, AuditFinished])
def test_an_interrupt_thrown_by_the_listener_ends_it_too(at: type[Event]) -> None:
    stream = orchestrator.check(Request((response,), epsilon=1.0, pair=PAIR, runs=500))
    for event in stream:
        if isinstance(event, at):
            thrown = stream.throw(KeyboardInterrupt)
            break
    # of an audit that has begun to sample, what it had until then
    (*partial, last) = [thrown, *stream]
    assert len(partial) == (at is Progress)
    assert isinstance(last, CheckFinished)
    assert last.result.interrupted
    assert len(last.result.audits) == (at in (Progress, AuditFinished))


def test_the_environment_names_the_versions() -> None:
    found = orchestrator.environment()
    assert {"python", "platform", "dpaudit", "numpy", "scipy", "scikit-learn"} <= set(found)
    assert "unknown" not in found.values()


# --- α ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("catalogue")
def test_alpha_is_divided_over_all_counted_pairs_of_the_invocation() -> None:
    found = orchestrator.run(Request(("Response", "Choice"), alpha=0.03)).audits
    for audit in found:
        if not audit.sampled:
            continue
        assert audit.sequential is not None
        parts = alpha_shares.shares(0.01, certify=False, bits=False)
        spent = parts.sequential + parts.bits + parts.analyses + parts.final
        assert spent == pytest.approx(alpha_shares.of_session(0.01, 1)), "one of three tests has a third of it"
        assert audit.sequential.alpha == pytest.approx(parts.sequential)
        (evidence,) = audit.sampled
        assert evidence.alpha in (
            pytest.approx(parts.final),
            pytest.approx(parts.analyses / (alpha_shares.INTERIM_ANALYSES - 1)),
        )
    assert all(audit.confidence == 0.97 for audit in found)


@pytest.mark.slow
def test_alpha_is_split_over_found_pairs_that_go_on() -> None:
    request = Request((response,), epsilon=2.0, data="integers(0, 1)", size=3, runs=500, alpha=0.04)
    found = orchestrator.run(request).audits
    shares = [evidence.alpha for evidence in found[0].sampled]
    assert len(shares) == 3
    assert shares == pytest.approx([0.004] * 3), "three tenths of α for the last analysis, a third of it for each pair"


@pytest.mark.parametrize("bits", [False, True])
@pytest.mark.parametrize("certify", [False, True])
def test_shares_add_up(bits: bool, certify: bool) -> None:
    parts = alpha_shares.shares(0.04, certify=certify, bits=bits)
    # levels above the claim have the same e-process as the claim on the first session
    assert parts.above == parts.sequential
    assert parts.sequential + parts.bits + parts.analyses + parts.final == pytest.approx(
        alpha_shares.of_session(0.04, 1)
    )
    assert min(vars(parts).values()) >= 0
    for tests in (1, 3):
        looks = math.fsum(tests * parts.at_analysis(look, tests) for look in range(alpha_shares.INTERIM_ANALYSES))
        assert looks == pytest.approx(parts.analyses + parts.final)
    assert (parts.bits == 0) is bits


@pytest.mark.usefixtures("catalogue")
def test_one_replayed_case_keeps_its_share_and_its_numbers() -> None:
    wanted = Request(("Response", "Choice"), alpha=0.03)
    every = orchestrator.run(wanted).audits
    events = list(orchestrator.check(wanted, only=every[2].replay))
    last = events[-1]
    assert isinstance(last, CheckFinished)
    assert last.result.audits == [every[2]]


# --- seeds ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_training_runs_are_never_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[tuple[Any, ...]] = []
    original = Runner.run

    def noted(units: Any) -> Any:
        for unit in units:
            seeds.append((tuple(unit.seed.entropy), unit.runs, unit.dataset))
            yield unit

    def spy(self: Runner, target: Any, units: Any, runs: Any) -> Any:
        return original(self, target, noted(units), runs)

    monkeypatch.setattr(Runner, "run", spy)
    orchestrator.run(Request((response, audit_toys.responses), epsilon=1.0, data="integers(0, 3)", size=2, runs=6_000))
    keys = [key for key, _, _ in seeds]
    assert len(keys) == len(set(keys)), "no unit of work shares its seed with another"
    streams = {np.random.default_rng(SeedSequence(list(key))).integers(2**63) for key in keys}
    assert len(streams) == len(keys)
    phases = {key[4] for key in keys}
    assert phases == {sampling.SEARCH, sampling.LEARN, sampling.MINIMIZE, sampling.CERTIFY}


def test_runs_are_counted_in_full() -> None:
    found = audit(response, epsilon=1.0)
    (evidence,) = found.sampled
    assert found.sequential is not None
    assert found.runs == 2 * 2_000
    assert evidence.runs_trained == alpha_shares.learning_runs(2_000) == 500
    assert (evidence.n, evidence.m) == (1_500, 1_500)
    assert found.sequential.runs == 2_000, "the e-process tests the counted samples too"


@pytest.mark.parametrize("runs", [1, 2, 9, 10, 11, 4_999, 5_001, 12_345])
def test_batches_hold_all_runs(runs: int) -> None:
    sizes = list(sampling.batches(runs))
    assert sum(sizes) == runs
    assert min(sizes) > 0
    assert sizes[0] <= 7
    assert all(b <= max(1, 0.5 * sum(sizes[: i + 1])) for i, (_, b) in enumerate(pairwise(sizes)))


@pytest.mark.parametrize("runs", [1, 5_001, 12_345])
@pytest.mark.parametrize("subject", [response, Response()], ids=["function", "mechanism"])
def test_units_hold_all_runs(runs: int, subject: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    units: list[Unit] = []
    original = Runner.run

    def spy(self: Runner, target: Any, given: Any, number: Any) -> Any:
        assert number == 2 * runs
        units.extend(given)
        return original(self, target, units, number)

    monkeypatch.setattr(Runner, "run", spy)
    (job,) = jobs_of(Request((subject,), epsilon=1.0, pair=PAIR, runs=runs))
    left, right = sampling.draw(
        job, job.pairs[0], runs, Runner(), seed=0, index=0, phase=sampling.CERTIFY, batch=0
    )
    assert left.runs == right.runs == runs
    for side in (0, 1):
        assert sum(unit.runs for unit in units if unit.dataset == PAIR[side]) == runs


# --- evidence ---------------------------------------------------------------------------------------------------


def test_both_kinds_of_evidence_on_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = of_case(monkeypatch, Case("both", RoundedLaplaceSum(1.0), (Pair((0, 1), (1, 1)),), runs=20_000))
    assert found.verdict is Verdict.PASS
    assert found.evidence is EvidenceKind.EXACT
    assert found.epsilon_exact == pytest.approx(1.0)
    assert found.epsilon_lower is not None
    assert 0.7 < found.epsilon_lower <= 1.0
    assert found.output_plot is not None
    assert found.output_plot.kind == "exact"
    assert found.profile_plot is not None
    assert found.profile_plot.exact is not None
    assert found.profile_plot.certified is not None


def test_the_exact_event_attains_the_divergence() -> None:
    found = audit(LeakyResponse(1.0, 0.1), epsilon=0.5, delta=0.05)
    (shown,) = found.exact
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.EXACT
    assert shown.p - math.exp(0.5) * shown.q == pytest.approx(shown.delta)
    assert shown.delta > 0.05


def test_an_infinite_exact_epsilon() -> None:
    found = audit(LeakyResponse(1.0, 0.1), delta=0.0)
    assert found.verdict is Verdict.FAIL
    assert found.epsilon_exact is None
    assert found.delta_exact == pytest.approx(0.1)
    assert "no finite ε" in found.reason


def test_an_exhausted_scope_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = of_case(monkeypatch, Case("all", Choice(1.0, 3), scope=Scope((0, 1, 2), 2), runs=0))
    assert found.verdict is Verdict.PASS
    assert found.evidence is EvidenceKind.EXHAUSTIVE
    # 6 multisets of 2 records, of whose 15 pairs 9 share a record
    assert found.scope == "all 9 replace-one pairs of multisets of 2 records from {0, 1, 2}"
    assert 1 <= len(found.exact) <= exact_evidence.SHOWN_EXHAUSTIVE
    assert found.proof is not None
    assert (found.proof.datasets, found.proof.pairs) == (6, 9)
    assert found.runs == 0
    assert found.epsilon_lower is None


def test_an_exhausted_scope_finds_the_one_bad_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = of_case(monkeypatch, Case("all", OneBadPair(), scope=Scope((0, 1, 2), 2), runs=0))
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.EXHAUSTIVE
    assert found.pair is not None
    assert {"multiset": [[2, 2]]} in (found.pair.left, found.pair.right)


@dataclass(frozen=True)
class OneBadPair(Mechanism):
    """Constant but for one dataset."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Any:
        return 1 if dataset == Multiset.of((2, 2)) else 0


@dataclass(frozen=True)
class RareAndCommon(Mechanism):
    """One record chooses a row: the worst pairs by ε differ in a rare output, the worst by δ in a common one."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Any:
        (row,) = dataset
        rare, common = 10.0 ** -(12, 11.5, 4.5, 4, 8)[row], (0.2, 0.2, 0.2, 0.2, 0.7)[row]
        return Categorical(("rare", "common", "rest"), (rare, common, 1 - rare - common))


def test_the_worst_delta_of_a_scope_is_over_all_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = of_case(monkeypatch, Case("all", RareAndCommon(), scope=Scope((0, 1, 2, 3, 4), 1), runs=0))
    assert found.epsilon_exact == pytest.approx(8 * math.log(10))
    # 0.7 − e·0.2, of a pair that is none of the three worst by ε
    assert found.delta_exact == pytest.approx(0.7 - math.e * 0.2)
    assert found.exact[0].delta < 1e-3


def test_a_violation_stands_though_the_time_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    laws = law_table._laws

    def slow(*args: Any) -> Any:
        clock[0] += 1.0
        return laws(*args)

    monkeypatch.setattr(law_table, "_laws", slow)
    monkeypatch.setattr(Runner, "left", property(lambda self: 1.5 - clock[0]))
    case = Case("all", Response(1.0, 0.5), scope=Scope((0, 1), 1, ordered=True), runs=0)
    cases = (case, Case("more", OneBadPair(), scope=Scope((2, 1, 0), 2), runs=0))
    first, second = of_case(monkeypatch, *cases, time=9.0)
    assert first.evidence is EvidenceKind.EXHAUSTIVE
    assert second.verdict is Verdict.FAIL
    assert second.evidence is EvidenceKind.EXACT, "the scope was not finished"
    assert second.scope is None


def test_no_law_is_a_note_where_runs_decide() -> None:
    found = audit(Folded())
    assert found.evidence is EvidenceKind.SAMPLED
    assert found.verdict is Verdict.PASS
    (note,) = found.notes
    assert note.sentence.startswith("Not computed exactly: ")
    assert "Folded applies a nonlinear operation to a draw" in note.sentence


def test_no_law_is_the_reason_where_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    law, scope = of_case(
        monkeypatch,
        Case("law", Folded(), (Pair(*PAIR),), runs=0),
        Case("scope", NoisySum(), scope=Scope((0, 1), 1), runs=0),
    )
    for found in (law, scope):
        assert found.verdict is Verdict.INCONCLUSIVE
        assert not found.crashed
        assert "Laplace" in found.reason


def test_sampled_evidence_before_a_crash_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    class Third(Mechanism):
        @property
        def claim(self) -> Claim:
            return Claim(2.0)

        def run(self, dataset: Any) -> Any:
            return Breaks().run(dataset) if len(dataset) == 2 else Response().run(dataset)

    class SecondBreaks(sampling.Draws):
        def __init__(self, job: Any, runner: Any, planned: Any, **more: Any) -> None:
            batches = list(planned)
            self.index = batches[0].index
            super().__init__(job, runner, batches, **more)

        def next_parts(self) -> Any:
            if self.index == 1:
                raise MechanismError("Third raised RuntimeError: no ones, please.")
            return super().next_parts()

    monkeypatch.setattr(sampled, "Draws", SecondBreaks)
    (found,) = of_case(
        monkeypatch,
        Case("two pairs", Third(), (Pair(*PAIR), Pair((1,), (0,), "turned")), runs=20_000, exact=False),
    )
    assert found.crashed
    assert found.verdict is Verdict.INCONCLUSIVE
    assert len(found.sampled) == 1
    assert found.reason == "Third raised RuntimeError: no ones, please."
    assert found.epsilon_lower is not None
    assert found.epsilon_lower > 0.8


@pytest.mark.slow
def test_only_whole_looks_before_a_crash_are_counted() -> None:
    """A confidence bound may stop only at interim analyses, whose error is divided in advance; a crash is not one."""

    def crashes_in_the_end(dataset: Any, rng: Generator, size: int) -> Any:
        if rng.random() < 0.02:
            raise RuntimeError("rare")
        return np.zeros(size, dtype=int)

    runs = 20_000
    sizes = {size for _, size in sampled._analyses(runs - alpha_shares.learning_runs(runs), certify=False)}
    crashed = 0
    for seed in range(20):
        found = audit(crashes_in_the_end, epsilon=1.0, seed=seed, runs=runs)
        assert found.verdict is not Verdict.FAIL
        crashed += found.crashed
        assert {evidence.n for evidence in found.sampled} <= sizes
    assert crashed > 3


def test_the_time_limit_keeps_complete_analyses() -> None:
    calls: list[int] = []

    def slow(dataset: Any, rng: Generator, size: int) -> Any:
        import time

        calls.append(1)
        time.sleep(0.2 if len(calls) > 225 else 0)
        return rng.integers(0, 2, size)

    runs = 200_000
    found = audit(slow, epsilon=0.1, runs=runs, time=3, certify=False)
    (evidence,) = found.sampled
    sizes = [size for _, size in sampled._analyses(runs - alpha_shares.learning_runs(runs), certify=False)]
    assert evidence.n == evidence.m
    assert evidence.n in sizes[:-1]
    assert found.verdict is Verdict.INCONCLUSIVE


def test_the_ledger_of_a_mechanism_that_exits_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def exits(job: Any, found: Any) -> Any:
        raise SystemExit

    monkeypatch.setattr(orchestrator, "ledger_rows", exits)
    assert audit(Response()).ledger == []


# --- group privacy, relations, several pairs --------------------------------------------------------------------


@pytest.mark.slow
def test_found_pairs_only_the_best_go_on() -> None:
    found = orchestrator.run(Request((response,), epsilon=1.0, data="integers(0, 1)", size=4, runs=2_000)).audits[0]
    assert 1 <= len(found.sampled) <= TESTS_OF_FOUND_PAIRS
    assert found.pair is not None
    assert found.pair.left[0] != found.pair.right[0], "only the first record counts"


def test_a_multiset_pair() -> None:
    left, right = Multiset.of((0, 0, 1)), Multiset.of((0, 1, 1))

    def count(dataset: Any, rng: Generator) -> int:
        return int(sum(dataset))

    found = audit(count, epsilon=1.0, pair=(left, right))
    assert found.verdict is Verdict.FAIL
    assert found.pair is not None
    assert found.pair.left == {"multiset": [[0, 2], [1, 1]]}


@pytest.mark.usefixtures("catalogue")
def test_the_bound_plot_ends_in_the_confidence_bound() -> None:
    result: Result = orchestrator.run(Request(("Response",)))
    found = result.audits[0]
    (evidence,) = found.sampled
    assert found.bound_plot is not None
    assert found.bound_plot.runs[-1] == evidence.n
    by_hand = clopper_pearson.epsilon_lower(
        evidence.x, evidence.n, evidence.y, evidence.m, delta=0.0, alpha=evidence.alpha
    )
    assert found.bound_plot.bound[-1] == by_hand == evidence.epsilon_lower_clopper_pearson


def test_cases_of_one_label_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are made from labels, and say which audit a process has made that died later."""
    case = Case("pair", Response(), (Pair(*PAIR, "natural"),), runs=100)
    with pytest.raises(UsageError, match="The plan of Toy has 2 cases 'pair'; give each of them"):
        of_case(monkeypatch, case, Case("other", Response(), case.pairs, runs=100), case)


def test_two_instances_of_one_class_have_ids_of_their_own() -> None:
    targets = (Response(1.0), Response(2.0))
    found = orchestrator.run(Request(targets, runs=500, pair=PAIR, seed=1))
    assert len({audit.replay for audit in found.audits}) == 2
    (again,) = orchestrator.run(Request(targets[1:], runs=500, pair=PAIR, seed=1)).audits
    assert again.claim.epsilon == found.audits[1].claim.epsilon


def test_functions_of_one_factory_have_ids_of_their_own() -> None:
    def made(scale: float) -> Any:
        def function(data: Any, rng: Generator) -> float:
            return float(sum(data) + rng.laplace(0, scale))

        return function

    request = Request((made(1.0), made(0.1), made(1.0)), runs=500, epsilon=1.0, pair=((1,), (0,)), seed=1)
    audits = orchestrator.run(request).audits
    assert len({audit.replay for audit in audits}) == 3
    (again,) = [e.audit for e in orchestrator.check(request, only=audits[1].replay) if isinstance(e, AuditFinished)]
    assert again.verdict is audits[1].verdict is Verdict.FAIL
    assert audits[0].verdict is not Verdict.FAIL
