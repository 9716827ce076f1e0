"""The sequential engine as a user meets it: stopping, certifying, black boxes, bit patterns, searched pairs, notes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, NoisySum, Response, TwoLeaks, response, responses
from numpy.random import Generator

from dpaudit.engine import orchestrator
from dpaudit.errors import DatasetError, UsageError
from dpaudit.evidence import sampled
from dpaudit.evidence.sequential import BITS_RUNS
from dpaudit.language import Claim, Laplace, Mechanism
from dpaudit.plans import alpha_shares
from dpaudit.plans.request import Request
from dpaudit.results.figures import DIGITS
from dpaudit.results.model import Audit, EvidenceKind, Verdict


def audit(target: Any, **more: Any) -> Audit:
    """The only audit of a request."""
    return orchestrator.run(Request((target,), **{"runs": 20_000, "pair": PAIR, **more})).audits[0]


def test_a_refuted_claim_stops_sampling_and_has_a_bound() -> None:
    found = audit(responses, epsilon=0.5)
    assert found.verdict is Verdict.FAIL
    evidence = found.sequential
    assert evidence is not None
    assert evidence.refuted_at is not None
    assert evidence.refuted_at < 4_000
    assert evidence.log_peak >= math.log(1 / evidence.alpha)
    assert evidence.epsilon_lower >= 0.5
    assert found.runs == 2 * (evidence.refuted_at + round(evidence.refuted_at / 2))
    # the event is counted in half as many samples again
    (counts,) = found.sampled
    assert counts.n == counts.m == round(evidence.refuted_at / 2)
    assert found.epsilon_lower is not None
    assert max(evidence.epsilon_lower, counts.epsilon_lower) == found.epsilon_lower <= 1.0


def fails_on_one(dataset: Any, rng: Generator) -> int:
    if 1 in dataset and rng.random() < 0.5:
        raise ValueError("it is here")
    return 0


def test_stop_at_refutation_draws_no_more_samples() -> None:
    found, longer = (audit(responses, epsilon=0.5, stop_at_refutation=stop) for stop in (True, False))
    assert found.verdict is Verdict.FAIL
    assert found.sequential is not None
    assert longer.sequential is not None
    assert found.runs == 2 * (found.sequential.refuted_at or 0) < longer.runs
    assert found.sequential.refuted_at == longer.sequential.refuted_at
    # nothing is counted, but the event that refuted the claim is named
    assert found.sampled == []
    assert found.event is not None
    assert found.epsilon_lower == found.sequential.epsilon_lower > 0.5
    # so are low-order bits, where they do
    leaking = audit(NoisySum(), bits=True, stop_at_refutation=True)
    assert leaking.verdict is Verdict.FAIL
    assert leaking.event is not None
    assert "bit" in leaking.event.description
    assert "by the low-order bits" in leaking.reason
    assert not any(note.code == "samples_disagree" for note in leaking.notes)
    # and a failure of the function is noted
    raising = audit(fails_on_one, epsilon=0.5, stop_at_refutation=True)
    assert raising.verdict is Verdict.FAIL
    assert any(note.code == "sampled_failures" for note in raising.notes)
    # a claim that holds is counted as ever
    assert audit(responses, epsilon=1.2, stop_at_refutation=True).sampled
    with pytest.raises(UsageError, match="not both"):
        audit(responses, epsilon=0.5, stop_at_refutation=True, certify=True)


@pytest.mark.slow
def test_certify_uses_all_runs_and_sharpens() -> None:
    soon, all_of_it = audit(responses, epsilon=0.5), audit(responses, epsilon=0.5, certify=True)
    assert all_of_it.runs == 2 * 20_000
    assert all_of_it.verdict is Verdict.FAIL
    assert soon.epsilon_lower is not None
    assert all_of_it.epsilon_lower is not None
    assert soon.epsilon_lower < all_of_it.epsilon_lower <= 1.0
    (counts,) = all_of_it.sampled
    assert counts.n == 20_000 - alpha_shares.learning_runs(20_000)
    assert counts.alpha == pytest.approx(0.8 * 0.001)


@pytest.mark.slow
def test_for_the_verdict_the_event_that_speaks_most_against_the_claim_is_frozen() -> None:
    """Not the rarer one that would certify the larger bound: that is what `certify` asks for."""
    rare = {"output is 'rare'"}
    learning = alpha_shares.learning_runs(20_000)
    undecided = 0
    for seed in range(40):
        found = audit(TwoLeaks(), seed=seed, alpha=0.01)
        assert found.sequential is not None
        if found.sequential.refuted_at is None or found.sequential.refuted_at > learning:
            undecided += 1
            assert {counts.event.description for counts in found.sampled}.isdisjoint(rare), seed
    assert undecided >= 10
    sharpened = [audit(TwoLeaks(), seed=seed, alpha=0.01, certify=True) for seed in range(4)]
    assert rare & {counts.event.description for found in sharpened for counts in found.sampled}


def snapped(dataset: Any, rng: Generator, size: int) -> Any:
    """ε = 1, with noise on a grid: the bits of the doubles say nothing."""
    return np.round((sum(dataset) + rng.laplace(size=size)) * 8) / 8


def test_bits_that_count_take_no_certificate_from_what_shows_more() -> None:
    """E-values of a true claim differ by chance; which event is certified must not depend on them."""
    for seed in range(4):
        found = audit(snapped, seed=seed, epsilon=1.0, bits=True, certify=True, runs=4_000)
        (counts,) = found.sampled
        assert counts.family != "bits", seed
        assert counts.epsilon_lower > 0.6, seed


def test_bits_that_count_are_learned_from_all_samples() -> None:
    """Where they do not count, some thousands show what there is to see."""
    alone, counted = (
        audit(snapped, epsilon=1.2, bits=bits, certify=True, runs=60_000).floating_point for bits in (False, True)
    )
    assert alone is not None
    assert counted is not None
    assert BITS_RUNS <= alone.runs < 1.2 * BITS_RUNS
    assert counted.runs == alpha_shares.learning_runs(60_000)


def test_the_evidence_plot_tells_the_story() -> None:
    found = audit(responses, epsilon=0.5)
    plot, evidence = found.evidence_plot, found.sequential
    assert plot is not None
    assert evidence is not None
    assert plot.runs == sorted(plot.runs)
    assert plot.log10_threshold == pytest.approx(math.log10(1 / evidence.alpha))
    crossed = next(n for n, e in zip(plot.runs, plot.log10_e, strict=True) if e >= plot.log10_threshold)
    assert crossed == evidence.refuted_at
    # pictures are rounded to significant digits
    assert plot.log10_e[-1] == float(f"{evidence.log_e / math.log(10):.{DIGITS}g}")


def test_evidence_is_averaged_over_pairs() -> None:
    """Every pair costs ln 2 nats where one of two shows nothing, and no more."""
    case = _case(((0,), (1,)), ((2,), (3,)))
    found = case(epsilon=0.5)
    assert found.verdict is Verdict.FAIL
    assert len(found.sampled) == 1, "only the pair that refutes is counted"
    assert found.pair is not None
    assert (found.pair.left, found.pair.right) == ([0], [1])


def _case(*pairs: Any) -> Any:
    from dpaudit.adversary import Pair
    from dpaudit.plans.jobs import jobs_of

    def run(**more: Any) -> Audit:
        request = Request((first_pair_only,), runs=20_000, pair=pairs[0], **more)
        (job,) = jobs_of(request)
        made = tuple(Pair(left, right, f"pair {i}", "given") for i, (left, right) in enumerate(pairs))
        job = replace(job, pairs=made)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(orchestrator, "all_jobs", lambda _: [job])
            return orchestrator.run(request).audits[0]

    return run


def first_pair_only(dataset: Any, rng: Generator, size: int) -> Any:
    """Randomised response at ε = 1 on the records 0 and 1; nothing on others."""
    if dataset[0] > 1:
        return rng.integers(0, 2, size)
    return (rng.random(size) < 1 / (1 + math.exp(-1))) == bool(dataset[0])


# --- what the mechanism knows -----------------------------------------------------------------------------------


class Known(Mechanism):
    """A Laplace count that knows its density."""

    @property
    def claim(self) -> Claim:
        return Claim(0.5)

    def run(self, dataset: Any) -> Any:
        return Laplace(float(dataset[0]), 1.0)

    def log_density(self, dataset: Any, outputs: Any) -> Any:
        return -np.abs(outputs - dataset[0])


def test_a_density_is_used_unless_the_box_is_black() -> None:
    asked: list[int] = []

    class Watched(Known):
        def log_density(self, dataset: Any, outputs: Any) -> Any:
            asked.append(len(outputs))
            return super().log_density(dataset, outputs)

    assert audit(Watched(), black_box=True).verdict is Verdict.FAIL
    assert asked == []
    assert audit(Watched()).verdict is Verdict.FAIL
    assert sum(asked) > 0


def test_a_black_box_has_no_law() -> None:
    assert audit(Response()).evidence is EvidenceKind.EXACT
    found = audit(Response(), black_box=True)
    assert found.evidence is EvidenceKind.SAMPLED
    assert found.exact == []


# --- floating point ---------------------------------------------------------------------------------------------


def test_floating_point_is_reported_apart() -> None:
    found = audit(NoisySum(), runs=10_000)
    assert found.verdict is Verdict.PASS
    floats = found.floating_point
    assert floats is not None
    assert floats.leaks
    assert not floats.counted
    assert floats.log_e >= math.log(1 / floats.alpha)


def test_floating_point_counts_when_it_is_asked_to() -> None:
    found = audit(NoisySum(), runs=10_000, bits=True)
    assert found.verdict is Verdict.FAIL
    assert found.floating_point is not None
    assert found.floating_point.counted
    assert {e.family for e in found.sampled} == {"bits"}
    assert "by the low-order bits of its floating-point outputs" in found.reason


@pytest.mark.slow
def test_noise_on_a_grid_does_not_leak() -> None:
    def on_a_grid(dataset: Any, rng: Generator, size: int) -> Any:
        return np.round((dataset[0] + rng.laplace(0, 1, size)) * 64) / 64

    found = audit(on_a_grid, epsilon=1.2, bits=True)
    assert found.verdict is Verdict.PASS
    assert found.floating_point is not None
    assert not found.floating_point.leaks


def test_outcomes_have_no_floating_point() -> None:
    assert audit(response, epsilon=2.0).floating_point is None


# --- pairs that are searched for ----------------------------------------------------------------------------------


def broken_on_a_tie(dataset: Any, rng: Generator, size: int) -> Any:
    """Tells everything where as many records are 0 as are 1, and there are some."""
    tie = dataset.count(0) == dataset.count(1) > 0
    return np.zeros(size, dtype=int) if tie else rng.integers(0, 2, size)


@pytest.mark.slow
def test_a_pair_is_found_and_shrunk() -> None:
    request = Request((broken_on_a_tie,), epsilon=1.0, data="integers(0, 1000)", runs=5_000)
    found = orchestrator.run(request).audits[0]
    assert found.verdict is Verdict.FAIL
    assert found.pair is not None
    assert found.pair.source == "shrunk"
    assert len(found.pair.left) <= 3
    assert any(note.sentence.startswith("The pair was minimised in") for note in found.notes)
    (counts,) = found.sampled
    assert counts.pair == found.pair
    assert counts.epsilon_lower > 1.0, "the small pair has a confidence bound of its own"


def test_a_mechanism_that_fails_on_some_pairs_is_searched_on_others() -> None:
    def picky(dataset: Any, rng: Generator, size: int) -> Any:
        if 0 in dataset:
            raise ZeroDivisionError("no zeros")
        return rng.integers(0, 2, size)

    found = orchestrator.run(Request((picky,), epsilon=1.0, data="integers(0, 3)", size=3, runs=2_000)).audits[0]
    assert any("mechanism failed in" in note.sentence for note in found.notes)
    assert not found.crashed


@pytest.mark.slow
def test_a_mechanism_that_takes_one_value_is_searched_on_datasets_of_one_record() -> None:
    def one_value(dataset: Any, rng: Generator, size: int) -> Any:
        if len(dataset) != 1:
            raise DatasetError(f"one record, not {len(dataset)}.")
        return dataset[0] + rng.laplace(0, 0.5, size)

    request = Request((one_value,), epsilon=1.0, relation="answers-l1", data="integers(0, 3)", size=1, runs=5_000)
    found = orchestrator.run(request).audits[0]
    assert found.verdict is Verdict.FAIL
    assert not found.crashed


# --- what runs cannot see -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_delta_below_what_the_runs_can_see_is_said() -> None:
    found = audit(responses, epsilon=1.5, delta=1e-6)
    assert any("for 16,000 samples per dataset" in note.sentence for note in found.notes)
    assert "rare_events" not in [note.code for note in audit(responses, epsilon=1.5, delta=0.01).notes]


def test_interim_analyses_double_up_to_the_budget() -> None:
    analyses = sampled._analyses(10_000, certify=False)
    assert [analysis for analysis, _ in analyses] == list(range(alpha_shares.INTERIM_ANALYSES))
    assert analyses[-1] == (alpha_shares.INTERIM_ANALYSES - 1, 10_000)
    assert sampled._analyses(10_000, certify=True) == [(alpha_shares.INTERIM_ANALYSES - 1, 10_000)]
    assert sampled._analyses(1, certify=False) == [(alpha_shares.INTERIM_ANALYSES - 1, 1)]


@pytest.mark.slow
def test_the_last_digits_of_a_density_are_no_event() -> None:
    """Outside both counts a Laplace ratio is constant; its rounding follows the low bits, and must tell nothing."""

    class Shifted(Known):
        def log_density(self, dataset: Any, outputs: Any) -> Any:
            return -np.abs(outputs - (dataset[0] + 0.1)) * 0.7

        def run(self, dataset: Any) -> Any:
            return Laplace(dataset[0] + 0.1, 1 / 0.7)

    for seed in range(3):
        found = audit(Shifted(), epsilon=0.7, certify=True, runs=50_000, seed=seed)
        assert found.verdict is Verdict.PASS
        assert found.epsilon_lower is not None
        assert found.epsilon_lower <= 0.7
