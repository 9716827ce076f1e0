"""Spies for what counts are: fresh samples, each drawn once from a stream of its own and counted once, no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy import stats

from dpaudit.adversary import Event, Pair
from dpaudit.engine import orchestrator
from dpaudit.errors import TimeLimitError
from dpaudit.interpret import Outputs, sample
from dpaudit.language import BOTTOM, Bernoulli, Laplace, Mechanism, Program, Uniform
from dpaudit.plans import alpha_shares
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.stats import clopper_pearson, power, score_test

PAIR = ((0,), (1,))
ALPHA = 0.01


def audit(target: Any, *, pairs: tuple[Any, ...] = (), **more: Any) -> Audit:
    """The only audit of a request, on several pairs where they are given."""
    request = Request((target,), **{"runs": 3_000, "pair": PAIR, "alpha": ALPHA, **more})
    if not pairs:
        return orchestrator.run(request).audits[0]
    (job,) = jobs_of(request)
    made = tuple(Pair(left, right, f"pair {i}", "given") for i, (left, right) in enumerate(pairs))
    job = replace(job, pairs=made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orchestrator, "all_jobs", lambda _: [job])
        return orchestrator.run(request).audits[0]


@dataclass
class Watched:
    """A function that notes what it gave on each dataset, and the state of the generator it was given."""

    output: Callable[[int, Generator], Any]
    given: dict[int, list[Any]] = field(default_factory=lambda: {0: [], 1: [], 2: [], 3: []})
    states: list[tuple[int, int]] = field(default_factory=list)

    __name__ = "watched"

    def __call__(self, dataset: Any, rng: Generator) -> Any:
        state: Any = rng.bit_generator.state
        self.states.append((state["state"]["state"], state["state"]["inc"]))
        output = self.output(dataset[0], rng)
        self.given[dataset[0]].append(output)
        return output


def bit(record: int, rng: Generator) -> int:
    """1 with probability .2 or .5."""
    return int(rng.random() < (0.5 if record % 2 else 0.2))


# --- every sample is counted once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize(("epsilon", "verdict"), [(0.3, Verdict.FAIL), (2.0, Verdict.PASS)])
def test_counts_are_those_of_the_samples_that_came_after_learning(
    certify: bool, epsilon: float, verdict: Verdict
) -> None:
    watched = Watched(bit)
    found = audit(watched, epsilon=epsilon, certify=certify, runs=12_000)
    assert found.verdict is verdict
    assert found.runs == len(watched.given[0]) + len(watched.given[1])
    (counts,) = found.sampled
    assert counts.n == counts.m <= len(watched.given[0]) - counts.runs_trained
    assert len(watched.given[0]) == len(watched.given[1]) == counts.runs_trained + counts.n
    (atom,) = counts.event.spec["atoms"]
    fresh = [given[counts.runs_trained :] for given in (watched.given[0], watched.given[1])]
    top, bottom = fresh if counts.direction == "left/right" else fresh[::-1]
    assert (counts.x, counts.y) == (top.count(atom), bottom.count(atom))


def test_outputs_of_every_kind_are_counted_once() -> None:
    """Numbers, symbols and pairs of both, drawn in blocks that are put together."""

    def any_kind(record: int, rng: Generator) -> Any:
        kind = rng.integers(4)
        return ["none", int(rng.integers(3)), float(rng.normal()), ("x", float(rng.normal()))][kind]

    watched, runs = Watched(any_kind), 2_000
    drawn: list[int] = []
    count = Event.count

    def noted(self: Event, outputs: Outputs) -> int:
        drawn.append(outputs.runs)
        return count(self, outputs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Event, "count", noted)
        found = audit(watched, epsilon=2.0, certify=True, runs=runs)
    assert found.runs == 2 * runs
    (counts,) = found.sampled
    # three batches certify, each counted on both datasets: all outputs of all parts are there
    assert drawn[-6:] == [500] * 6
    assert counts.n == 1_500


@pytest.mark.parametrize("certify", [False, True])
def test_no_state_of_a_generator_is_used_twice(certify: bool) -> None:
    """Both datasets, both phases, all batches, parts of a batch and several pairs: all samples are independent."""
    watched = Watched(bit)
    found = audit(watched, epsilon=2.0, certify=certify, pairs=(PAIR, ((2,), (3,))))
    assert found.runs == len(watched.states) == 4 * 3_000
    assert len(set(watched.states)) == len(watched.states)


def test_certifying_samples_come_from_streams_that_no_search_has_used() -> None:
    """The search for pairs, learning and certifying; the search alone may look at several pairs with one stream."""
    watched = Watched(bit)
    found = audit(watched, epsilon=2.0, pair=None, data="integers(0, 1)", size=1, runs=400)
    assert len(watched.states) >= found.runs > 2 * 400 * len(found.sampled), "there was a search"
    certified = 2 * sum(counts.n for counts in found.sampled)
    fresh = watched.states[-certified:]
    assert len(set(fresh)) == certified > 0
    assert not set(fresh) & set(watched.states[:-certified])


def test_two_datasets_that_are_equally_distributed_give_different_samples() -> None:
    watched = Watched(lambda record, rng: float(rng.normal()))
    audit(watched, epsilon=1.0, runs=1_000)
    assert len({*watched.given[0], *watched.given[1]}) == 2_000


# --- samples of mechanisms that use others ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise(Mechanism):
    """A Laplace draw, or a die, or a draw beside a symbol."""

    kind: str = "real"

    def run(self, dataset: Any) -> Any:
        if self.kind == "real":
            return Laplace(0, 1)
        if self.kind == "die":
            return Uniform(range(16))
        return Laplace(0, 1).then(lambda x: (BOTTOM, x))


@dataclass(frozen=True)
class Ends(Mechanism):
    """Ends with another mechanism, after a coin that chooses among equal ways."""

    kind: str
    coin: bool = True

    def run(self, dataset: Any) -> Program:
        if self.coin:
            yield Bernoulli(0.5)
        return Noise(self.kind).on(dataset)


@dataclass(frozen=True)
class Twice(Mechanism):
    """Whether two uses of a die show the same."""

    def run(self, dataset: Any) -> Program:
        first = yield Noise("die").on(dataset)
        second = yield Noise("die").on(dataset)
        return first == second


ABOVE = Event(intervals=((0.0, float("inf")),))


@pytest.mark.parametrize("coin", [False, True])
def test_a_mechanism_that_ends_with_another_has_fresh_samples(coin: bool) -> None:
    """How many of 400 are positive is Binomial(400, 1/2) over seeds; the test errs with probability 2e-6."""
    hits = [ABOVE.count(sample(Ends("real", coin), (), 400, seed=seed)) for seed in range(60)]
    spread = float(np.var(hits, ddof=1)) * 59 / 100
    assert stats.chi2.ppf(1e-6, 59) < spread < stats.chi2.ppf(1 - 1e-6, 59)


def test_two_uses_of_a_mechanism_in_one_sample_are_independent() -> None:
    """They agree in 1 of 16 samples; the test errs with probability 1e-6 for each of 5 seeds."""
    agree = Event(frozenset({True}))
    for seed in range(5):
        hits = agree.count(sample(Twice(), (), 4_000, seed=seed))
        assert stats.binomtest(hits, 4_000, 1 / 16).pvalue > 1e-6


@pytest.mark.parametrize("kind", ["real", "die", "beside a symbol"])
def test_samples_of_all_branches_are_put_together(kind: str) -> None:
    assert sample(Ends(kind), (), 1_000, seed=3).runs == 1_000


# --- what counts may say ---------------------------------------------------------------------------------------------


def response(dataset: Any, rng: Generator, size: int) -> Any:
    """Randomised response, ε = 1."""
    return (rng.random(size) < 1 / (1 + np.exp(-1.0 if dataset[0] else 1.0))).astype(int)


@pytest.mark.parametrize(("bound", "verdict"), [(1.0, Verdict.PASS), (float(np.nextafter(1.0, 2)), Verdict.FAIL)])
def test_a_claim_is_refuted_by_a_bound_above_it_and_by_no_other(
    monkeypatch: pytest.MonkeyPatch, bound: float, verdict: Verdict
) -> None:
    monkeypatch.setattr(score_test, "epsilon_lower", lambda *counts, **how: bound)
    assert audit(response, epsilon=1.0, certify=True).verdict is verdict


def test_a_refuted_audit_takes_half_as_many_samples_again_at_most() -> None:
    """Refuted while it learns, or later; with `certify` it takes all."""
    learning, counted = alpha_shares.learning_runs(3_000), 0
    for seed in range(6):
        found = audit(response, epsilon=0.8, runs=3_000, seed=seed, alpha=0.05)
        assert (found.verdict, found.sequential is not None) == (Verdict.FAIL, True)
        assert found.sequential is not None
        at = found.sequential.refuted_at
        assert at is not None
        assert found.epsilon_lower is not None
        assert found.epsilon_lower >= 0.8
        if at <= learning:
            (sampled,) = found.sampled
            assert sampled.n == sampled.m == max(1, round(at / 2))
            assert found.runs == 2 * (at + sampled.n)
        else:
            counted += 1
            assert found.runs == 2 * at
        assert audit(response, epsilon=0.8, runs=3_000, seed=seed, alpha=0.05, certify=True).runs == 6_000
    assert 0 < counted < 6


def test_no_pair_is_counted_after_the_one_that_refutes() -> None:
    """And without a refutation all of them are."""

    def answer(dataset: tuple[int, ...], rng: Generator) -> int:
        return int(rng.random() < (0.62 if dataset[0] % 2 else 0.38))

    pairs = ((0,), (1,)), ((2,), (3,))
    last = 0
    for seed in range(6):
        found = audit(answer, pairs=pairs, epsilon=0.35, seed=seed)
        assert found.verdict is Verdict.FAIL
        assert found.sequential is not None
        assert found.sequential.refuted_at is not None
        if found.sequential.refuted_at > alpha_shares.learning_runs(3_000):
            last += 1
            (counts,) = found.sampled
            assert counts.pair.left == [0]
            # all later samples are those of one pair, and its bound is that of all of them
            assert found.runs / 2 == 2 * counts.runs_trained + counts.n
            assert found.runs / 2 <= 1.5 * 2 * found.sequential.refuted_at
    assert last >= 3
    assert len(audit(answer, pairs=pairs, epsilon=2.0).sampled) == 2


def test_samples_that_can_certify_the_claim_at_most_refute_nothing() -> None:
    # without the rule about power, which these samples do not meet either
    how: dict[str, Any] = {"runs": 200, "certify": True, "min_power": 1 + 1e-9}
    (counts,) = audit(response, epsilon=1.0, **how).sampled
    most = power.largest_certifiable(counts.n, counts.alpha)
    found = audit(response, epsilon=most, **how)
    assert [(one.n, one.alpha) for one in found.sampled] == [(counts.n, counts.alpha)]
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "can show at most" in found.reason


@pytest.mark.parametrize("certify", [False, True])
def test_bounds_and_p_values_are_those_of_the_counts(certify: bool) -> None:
    (counts,) = audit(response, epsilon=1.0, delta=0.01, certify=certify).sampled
    x, n, y, m = counts.x, counts.n, counts.y, counts.m
    how: dict[str, Any] = {"delta": 0.01, "alpha": counts.alpha}
    assert counts.epsilon_lower == score_test.epsilon_lower(x, n, y, m, **how)
    assert counts.epsilon_lower_clopper_pearson == clopper_pearson.epsilon_lower(x, n, y, m, **how)
    shares = alpha_shares.shares(ALPHA, certify=certify, bits=False)
    assert counts.alpha in [shares.at_analysis(look, 1) for look in range(alpha_shares.INTERIM_ANALYSES)]


def test_a_confidence_bound_that_is_cut_short_is_that_of_the_last_interim_analysis() -> None:
    """Where time runs out between two analyses, the samples since the last one are not looked at."""
    sizes = {alpha_shares.INTERIM_ANALYSES: 0}
    budget = 40_000 - alpha_shares.learning_runs(40_000)
    looks = [
        -(-budget // 2 ** (alpha_shares.INTERIM_ANALYSES - 1 - look)) for look in range(alpha_shares.INTERIM_ANALYSES)
    ]

    def slow(dataset: Any, rng: Generator, size: int) -> Any:
        sizes[alpha_shares.INTERIM_ANALYSES] += size
        # half-way between the fifth and the sixth analysis
        if sizes[alpha_shares.INTERIM_ANALYSES] > 2 * (alpha_shares.learning_runs(40_000) + 0.75 * looks[5]):
            raise TimeLimitError("The time limit ran out")
        return response(dataset, rng, size)

    found = audit(slow, epsilon=1.0, runs=40_000)
    assert found.verdict is Verdict.INCONCLUSIVE
    (counts,) = found.sampled
    assert counts.n in looks[:6]


def test_time_that_runs_out_while_certifying_is_no_pass() -> None:
    calls = [0]

    def slow(dataset: Any, rng: Generator, size: int) -> Any:
        calls[0] += size
        if calls[0] > 2 * 2_900:
            raise TimeLimitError("The time limit ran out")
        return response(dataset, rng, size)

    assert audit(slow, epsilon=1.0).verdict is Verdict.INCONCLUSIVE


def test_a_failure_while_certifying_is_no_pass() -> None:
    calls = [0]

    def fails(dataset: Any, rng: Generator, size: int) -> Any:
        calls[0] += size
        if calls[0] > 2 * 2_900:
            raise OSError("disk full")
        return response(dataset, rng, size)

    found = audit(fails, epsilon=1.0)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_an_array_of_one_number_is_read_as_its_number_is() -> None:
    def shifted(dataset: Any, rng: Generator, size: int) -> Any:
        return (10.0 * dataset[0] + rng.normal(size=size)).reshape(-1, 1)

    assert audit(shifted, epsilon=1.0).verdict is Verdict.FAIL


def test_the_error_of_every_analysis_is_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs: each interim analysis of each pair is made at its own error, and they sum to what they share."""
    spent: list[float] = []
    bound = clopper_pearson.epsilon_lower

    def noted(x: int, n: int, y: int, m: int, *, delta: float, alpha: float) -> float:
        if not spent or spent[-1] != alpha:
            spent.append(alpha)
        return bound(x, n, y, m, delta=delta, alpha=alpha)

    monkeypatch.setattr(clopper_pearson, "epsilon_lower", noted)
    found = audit(response, epsilon=2.0, pairs=(PAIR, ((0,), (1,))))
    shares = alpha_shares.shares(ALPHA, certify=False, bits=False)
    per_pair = [shares.at_analysis(look, 2) for look in range(alpha_shares.INTERIM_ANALYSES)]
    # seven analyses of one pair have the same error, so that they are noted as one
    assert spent == [per_pair[0], per_pair[-1]] * 2
    assert [counts.alpha for counts in found.sampled] == [per_pair[-1]] * 2
