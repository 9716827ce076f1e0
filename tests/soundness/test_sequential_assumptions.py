"""The assumptions of the sequential test's theorems: predictable alternatives, shares of α, averages over pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from scipy import stats

from dpaudit.adversary import Event
from dpaudit.engine import orchestrator
from dpaudit.evidence.sequential import Sequential
from dpaudit.interpret import Outputs
from dpaudit.plans import alpha_shares
from dpaudit.plans.request import PriorEvidence, Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.stats.eprocess import Counts, EProcess
from dpaudit.subjects.target import FunctionTarget

PAIR = ((0,), (1,))
ALPHA = 0.01


def audit(function: Callable[..., Any], **more: Any) -> Audit:
    """The only audit of a request."""
    return orchestrator.run(Request((function,), **{"runs": 1_500, "pair": PAIR, "alpha": ALPHA, **more})).audits[0]


# --- an alternative is a function of earlier samples ------------------------------------------------------------------

HISTORIES = [
    [],
    [(4, 5, 1, 5)],
    [(0, 5, 3, 5)],
    [(4, 5, 0, 5), (1, 1, 0, 1), (3, 4, 1, 4)],
    [(30, 40, 10, 40), (8, 9, 1, 9)],
]


@pytest.mark.parametrize("history", HISTORIES, ids=len)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.05)])
def test_whatever_came_before_a_batch_multiplies_by_at_most_one_under_the_claim(
    history: list[tuple[int, int, int, int]], epsilon: float, delta: float
) -> None:
    """E[value after a batch | past] ≤ value before it, summed exactly over all outcomes of the batch."""
    size = 6

    def value(x: int, y: int) -> tuple[float, float]:
        process, past = EProcess(np.array([epsilon]), delta), np.zeros(4, dtype=int)
        for batch in history:
            process.update(Counts(*batch), past=Counts(*past.tolist()))
            past += batch
        before = float(process.log_values[0])
        process.update(Counts(x, size, y, size), past=Counts(*past.tolist()))
        return before, float(process.log_values[0])

    values = np.array([[value(x, y) for y in range(size + 1)] for x in range(size + 1)])
    factor = np.exp(values[..., 1] - values[..., 0])
    counts = np.arange(size + 1)
    for q in np.linspace(0, (1 - delta) / math.exp(epsilon), 21):
        p = min(1.0, math.exp(epsilon) * q + delta)
        chance = np.outer(stats.binom.pmf(counts, size, p), stats.binom.pmf(counts, size, q))
        assert (chance * factor).sum() <= 1 + 1e-9
    assert np.ptp(factor) > 0.01, "the alternative differs from the claim"


def response(dataset: Any, rng: Generator, size: int) -> Any:
    """A bit that is 1 with probability .4 or .65; on the record 2 it is the opposite of what it is on 1."""
    bits = rng.random(size) < (0.4, 0.65, 0.65)[dataset[0]]
    return (bits != (dataset[0] == 2)).astype(int)


def updates(monkeypatch: pytest.MonkeyPatch, changed: int | None = None) -> list[tuple[Any, ...]]:
    """Every update of an audit: past counts, hits, samples, and the events that were counted for it, in order.

    In the batch of number `changed` the samples of (1,) are those of (2,), where every bit is another one.
    """
    seen: list[tuple[Any, ...]] = []
    counted: list[Event] = []
    update, count, runs = EProcess.update, Event.count, FunctionTarget.runs
    count_with = Event.count_with
    batch = iter(range(10**9))

    def drawn(self: FunctionTarget, dataset: Any, size: int, seed: SeedSequence, first: int = 0) -> Outputs:
        other = tuple(dataset) == (1,) and next(batch) == changed
        return runs(self, (2,) if other else dataset, size, seed, first)

    def watched(self: EProcess, batch: Counts, *, past: Counts, **more: Any) -> None:
        seen.append((past, tuple(counted), (batch.x, batch.y), (batch.n, batch.m), more.get("other_past")))
        counted.clear()
        update(self, batch, past=past, **more)

    def noted(self: Event, outputs: Outputs) -> int:
        counted.append(self)
        return count(self, outputs)

    def noted_with(self: Event, other: Event, outputs: Outputs) -> tuple[int, int, int]:
        counted.extend((self, other))
        return count_with(self, other, outputs)

    with monkeypatch.context() as patch:
        patch.setattr(EProcess, "update", watched)
        patch.setattr(Event, "count", noted)
        patch.setattr(Event, "count_with", noted_with)
        patch.setattr(FunctionTarget, "runs", drawn)
        audit(response, epsilon=2.0)
    return seen


@pytest.mark.slow(fast=["4", "55"])
@pytest.mark.parametrize("changed", [4, 12, 50, 55])
def test_an_alternative_does_not_change_when_the_hits_of_its_own_batch_do(
    monkeypatch: pytest.MonkeyPatch, changed: int
) -> None:
    """The learning phase has 52 batches; the counted ones follow."""
    one, other = updates(monkeypatch), updates(monkeypatch, changed)
    at = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a[2] != b[2])
    # the first update that differs has the same past and the same event; only its hits are others
    assert one[: at + 1] != other[: at + 1]
    for a, b in zip(one[: at + 1], other[: at + 1], strict=True):
        assert (a[0], a[1], a[3], a[4]) == (b[0], b[1], b[3], b[4])
    # and the past of later updates does change
    assert any(a[0] != b[0] for a, b in zip(one[at + 1 :], other[at + 1 :], strict=False))


def test_an_alternative_has_seen_all_earlier_samples_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = 0
    processes = updates(monkeypatch)
    assert len(processes) > 30
    first = processes[0][0][1]
    for (_, n, _, m), _, _, (fresh, fresh_too), _ in processes:
        # the first batch only teaches
        assert (n, m) == (first + drawn, first + drawn)
        assert fresh == fresh_too
        drawn += fresh
    assert first + drawn == 1_500


def test_bit_patterns_are_tested_before_they_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with a floating-point leak: both e-processes of a batch have the same past."""
    past: list[tuple[int, int]] = []
    update = EProcess.update

    def watched(self: EProcess, batch: Counts, **more: Any) -> None:
        past.append((more["past"].n, batch.n))
        update(self, batch, **more)

    monkeypatch.setattr(EProcess, "update", watched)
    audit(lambda data, rng, size: data[0] + rng.laplace(0, 1, size), epsilon=3.0, runs=400)
    learning = alpha_shares.learning_runs(400)
    pairs = [both for both in past if both[0] < learning]
    assert pairs[::2] == pairs[1::2], "one update for the event, one for the bits: the same samples and past"


# --- one α for all that is tried --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tests", [1, 2, 7])
@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("bits", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more(
    certify: bool, bits: bool, counts: bool, tests: int
) -> None:
    parts = alpha_shares.shares(ALPHA, certify=certify, bits=bits, counts=counts)
    looks = sum(tests * parts.at_analysis(look, tests) for look in range(alpha_shares.INTERIM_ANALYSES))
    assert all(share >= 0 for share in (parts.sequential, parts.bits, parts.analyses, parts.final))
    assert 0.98 * ALPHA <= parts.sequential + parts.bits + looks <= ALPHA * (1 + 1e-12)
    # where the bits count, the first e-process has them in it
    assert (parts.bits == 0) == bits


def test_audits_of_one_request_share_its_alpha() -> None:
    request = Request((response, leaky(0), leaky(1)), epsilon=2.0, runs=100, pair=PAIR, alpha=ALPHA)
    found = orchestrator.run(request).audits
    spent = [one.sequential.alpha for one in found if one.sequential is not None]
    apart = [one.floating_point.alpha for one in found if one.floating_point is not None]
    assert len(spent) == 3
    assert sum(spent) + sum(apart) + sum(e.alpha for one in found for e in one.sampled) <= ALPHA * (1 + 1e-9)


# --- several pairs ----------------------------------------------------------------------------------------------------

GRID = np.array([0.0, 0.5, 1.0])


def sequential(
    values: list[list[float]], bits: list[float] | None = None, *, prior: float | None = None
) -> Sequential:
    """The state of a case in which every pair's e-process has these logarithms."""

    def process(logs: Any) -> Any:
        array = np.asarray(logs, dtype=np.float64)
        return SimpleNamespace(log_values=array, log_peaks=np.maximum(array, 0.0))

    tracks: list[Any] = [
        SimpleNamespace(process=process(logs), bits_process=process([peak] * 3), runs=10, runs_certified=0)
        for logs, peak in zip(values, bits or [0.0] * len(values), strict=True)
    ]
    shares = alpha_shares.shares(ALPHA, certify=False, bits=False)
    before = None if prior is None else PriorEvidence(prior, (1,))
    start: NDArray[np.float64] = np.zeros(3)
    return Sequential(tracks, shares, False, before, GRID, 1, start)


def test_evidence_of_several_pairs_is_their_average() -> None:
    """A maximum or a sum of e-values would need no luck on one pair, but on any."""
    state = sequential([[2.0, 2.0, 2.0], [0.0, 0.0, 0.0], [-5.0, -5.0, -5.0]])
    assert state.log_e == pytest.approx(math.log((math.exp(2) + 1 + math.exp(-5)) / 3))
    assert sequential([[0.0, 0.0, 0.0]] * 5).log_e == pytest.approx(0.0)


@pytest.mark.parametrize("pairs", [1, 2, 5])
def test_bit_patterns_of_several_pairs_share_alpha(pairs: int) -> None:
    """Each pair is tested at its share: with k of them a peak of ln(k/α) is needed."""
    share = alpha_shares.shares(ALPHA, certify=False, bits=False).bits
    enough = math.log(pairs / share)
    quiet = [0.0] * (pairs - 1)
    assert sequential([[0.0] * 3] * pairs, [*quiet, enough + 1e-9]).leaks
    assert not sequential([[0.0] * 3] * pairs, [*quiet, enough - 1e-9]).leaks


def test_a_claim_is_refuted_where_the_bound_reaches_it() -> None:
    """A peak at the claimed ε alone, with none at a smaller one, gives no bound, so it refutes nothing either."""
    high = 20.0
    state = sequential([[0.0, high, 0.0]])
    state.interim_analysis()
    assert state.epsilon_lower == 0.0
    assert not state.refuted
    state = sequential([[high, high, 0.0]])
    state.interim_analysis()
    assert state.epsilon_lower == math.nextafter(0.5, 1)
    assert state.refuted


def test_evidence_of_earlier_results_speaks_about_the_claim_and_smaller_epsilons() -> None:
    state = sequential([[1.0, 1.0, 1.0]], prior=20.0)
    state.interim_analysis()
    assert state.log_e == pytest.approx(21.0)
    assert state.epsilon_lower == math.nextafter(0.5, 1), "nothing is known about ε above the claim that was tested"


# --- what the samples say at the end -------------------------------------------------------------------------------


def leaky(top: int) -> Callable[..., Any]:
    """Gives 1 with probability .2 on the dataset (top,), and never on the other."""

    def leak(dataset: Any, rng: Generator, size: int) -> Any:
        return (rng.random(size) < (0.2 if dataset[0] == top else 0.0)).astype(int)

    return leak


@pytest.mark.parametrize("top", [0, 1])
def test_a_direction_is_named_for_the_dataset_on_which_the_event_is_more_likely(top: int) -> None:
    found = audit(leaky(top), epsilon=0.5)
    assert found.verdict is Verdict.FAIL
    (counts,) = found.sampled
    assert counts.x / counts.n > counts.y / counts.m
    # either "1 is more likely on (top,)"; its complement is hardly more likely on the other dataset
    assert counts.event.spec["atoms"] == [1]
    assert counts.y == 0
    assert counts.direction == ("left/right" if top == 0 else "right/left")
    assert counts.pair.left == [0]
