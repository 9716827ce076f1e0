"""Traces: recorded draws are as numpy's, the shift has its cost, hooks are undone, nothing is changed."""

from __future__ import annotations

import inspect
import json
import math
import random
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, SeedSequence
from scipy.stats import kstest, laplace, norm
from typed_commands import Typed

import dpaudit
from dpaudit.errors import UsageError
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.traced import _affordable, trace_pairs
from dpaudit.plans.job import PrivacyJob
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.subjects.runner import Runner
from dpaudit.traces import hooks
from dpaudit.traces.costs import hockey_stick
from dpaudit.traces.hooks import NoiseFunction, Parameters, hooked, register
from dpaudit.traces.linear import cheapest_shift, fitted
from dpaudit.traces.recorder import OTHERS, RecordingGenerator, Tape

INF = math.inf
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "laplace": ((2.0, 0.5), {}), "normal": ((2.0, 0.5), {}), "standard_normal": ((), {}), "exponential": ((2.0,), {}),
    "standard_exponential": ((), {}), "gumbel": ((1.0, 2.0), {}), "logistic": ((1.0, 2.0), {}),
    "standard_cauchy": ((), {}), "gamma": ((2.0, 3.0), {}), "standard_gamma": ((2.0,), {}), "standard_t": ((3.0,), {}),
    "geometric": ((0.3,), {}), "random": ((), {}), "uniform": ((1.0, 3.0), {}), "integers": ((2, 9), {}),
    "choice": ((5,), {}), "binomial": ((9, 0.3), {}), "poisson": ((3.0,), {}), "lognormal": ((), {}),
}
"""Distributions with arguments."""


def _tape(seed: int = 0, **how: Any) -> Tape:
    return Tape(SeedSequence(seed), **how)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("size", [None, 3, (2, 3)])
@pytest.mark.parametrize("push", ["none", "up", "down", "mixed"])
def test_recorded_draws_have_the_type_and_the_shape_of_numpys(name: str, size: Any, push: Any) -> None:
    positional, named = CALLS[name]
    plain = getattr(np.random.default_rng(0), name)(*positional, **named, size=size)
    tape = _tape(push=push, pushed=100)
    drawn = getattr(tape.generator(), name)(*positional, **named, size=size)
    assert np.shape(drawn) == np.shape(plain)
    assert np.asarray(drawn).dtype == np.asarray(plain).dtype
    assert isinstance(drawn, np.ndarray) == isinstance(plain, np.ndarray)
    assert len(tape.draws) == 1
    assert np.allclose(np.ravel(drawn), tape.draws[0].values)


@pytest.mark.parametrize("name", ["laplace", "normal", "exponential", "gumbel", "logistic", "gamma", "geometric"])
def test_recorded_draws_have_their_distribution(name: str) -> None:
    """Each of seven tests fails with probability 1e-4 for a fresh seed."""
    positional, named = CALLS[name]
    drawn = getattr(_tape().generator(), name)(*positional, **named, size=20_000)
    plain = getattr(np.random.default_rng(1), name)(*positional, **named, size=20_000)
    assert kstest(drawn, plain).pvalue > 1e-4


def test_every_distribution_of_numpy_is_recorded() -> None:
    public = {name for name in dir(Generator) if not name.startswith("_")} - {"bit_generator"}
    own = {name for name, _ in inspect.getmembers(RecordingGenerator) if name in vars(RecordingGenerator)}
    assert public <= own | set(OTHERS)


def test_it_is_a_generator_that_default_rng_and_children_keep() -> None:
    tape = _tape()
    rng = tape.generator()
    assert isinstance(rng, Generator)
    assert np.random.default_rng(rng) is rng
    for child in rng.spawn(2):
        child.laplace()
    assert len(tape.draws) == 2


def test_frozen_draws_are_replayed_with_another_scale_and_location() -> None:
    first = _tape(1)
    first.generator().laplace([1.0, 2.0], 3.0)
    second = _tape(2, frozen=first.draws)
    drawn = second.generator().laplace([5.0, 7.0], 6.0)
    assert np.allclose(drawn, [5, 7] + 6 * first.draws[0].standard)
    # another distribution is drawn anew
    third = _tape(3, frozen=first.draws)
    third.generator().normal(0, 1, 2)
    assert not np.allclose(third.draws[0].standard, first.draws[0].standard)


def test_arrays_of_scales_and_out_arrays_are_recorded() -> None:
    tape = _tape()
    rng = tape.generator()
    assert rng.laplace(0, np.array([1.0, 2.0])).shape == (2,)
    out = np.empty(4)
    assert rng.standard_normal(out=out) is out
    assert rng.standard_normal(3, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="scale"):
        rng.laplace(0, -1.0)
    correlated = rng.multivariate_normal([1.0, 2.0], [[2.0, 1.0], [1.0, 2.0]], size=5)
    assert correlated.shape == (5, 2)


def test_correlated_noise_has_its_covariance() -> None:
    drawn = _tape().generator().multivariate_normal([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]], size=200_000)
    assert np.allclose(drawn.mean(axis=0), [1, 2], atol=0.02)
    assert np.allclose(np.cov(drawn.T), [[2, 1], [1, 3]], atol=0.04)


def test_a_loop_that_waits_for_a_value_ends_however_draws_are_pushed() -> None:
    for push in ("up", "down", "mixed"):
        rng = _tape(push=push, pushed=8).generator()
        while abs(rng.laplace()) > 0.5:
            pass
        while not 0.4 < rng.random() < 0.6:
            pass


# -- shifts


@pytest.mark.parametrize(
    ("factors", "difference", "up", "down", "cost"),
    [
        ([[2.0]], [3.0], [1.0], [1.0], 1.5),
        ([[1.0, 0.0], [0.0, 0.5]], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0], 3.0),
        # two draws in one output: the wider one is cheaper
        ([[1.0, 4.0]], [2.0], [1.0, 1.0], [1.0, 1.0], 0.5),
        # the difference of two exponential draws is Laplace noise
        ([[1.0, -1.0]], [1.0], [1.0, 1.0], [INF, INF], 1.0),
        ([[1.0, -1.0]], [-1.0], [1.0, 1.0], [INF, INF], 1.0),
        # an output that repeats another
        ([[1.0], [1.0]], [2.0, 2.0], [1.0], [1.0], 2.0),
    ],
)
def test_the_cheapest_shift_has_its_cost(factors: Any, difference: Any, up: Any, down: Any, cost: float) -> None:
    arrays = [np.array(each, dtype=float) for each in (factors, difference, np.zeros(len(difference)), up, down)]
    found = cheapest_shift(*arrays)
    assert found is not None
    assert math.isclose(found[0], cost, rel_tol=1e-7)
    assert np.allclose(arrays[0] @ found[1], difference)


@pytest.mark.parametrize(
    ("factors", "difference", "up", "down"),
    [([[1.0], [1.0]], [1.0, 0.0], [1.0], [1.0]), ([[1.0]], [-1.0], [1.0], [INF]), ([[1.0]], [1.0], [INF], [INF])],
)
def test_there_may_be_no_shift(factors: Any, difference: Any, up: Any, down: Any) -> None:
    arrays = [np.array(each, dtype=float) for each in (factors, difference, np.zeros(len(difference)), up, down)]
    assert cheapest_shift(*arrays) is None


def test_the_cost_is_the_supremum_of_the_loss_of_a_sum_of_two_laplace_draws() -> None:
    """By numerical convolution, far out in the tail: the cost is the ε of the pair, not only a bound on it."""
    x = np.linspace(-80, 80, 8_001)
    step = x[1] - x[0]
    density = np.convolve(np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x) / 2) / 4, mode="same") * step
    shifted = np.roll(density, round(1 / step))
    middle = np.abs(x) < 30
    loss = float(np.abs(np.log(density[middle] / shifted[middle])).max())
    found = cheapest_shift(np.array([[1.0, 2.0]]), np.ones(1), np.zeros(1), np.ones(2), np.ones(2))
    assert found is not None
    assert math.isclose(found[0], 0.5)
    assert 0.49 < loss < 0.5 + 1e-3


def test_linear_outputs_are_fitted_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(7, 10)) * np.array([1, 1, 1, 1, 40, 40, 20])[:, None]
    for y, factors in (
        (3 + 2 * z[:, 4], {4: 2.0}), (z[:, 1] - 5 * z[:, 7], {1: 1.0, 7: -5.0}), (np.full(7, 2.5), {}),
    ):
        model = fitted(z, y)
        assert model is not None
        assert model.everywhere
        expected = np.zeros(10)
        for at, factor in factors.items():
            expected[at] = factor
        assert np.allclose(model.factors, expected)
    rounded = fitted(z, np.round(3 + 2 * z[:, 4]))
    assert rounded is not None
    assert 0 < rounded.deviation < 1.5
    assert fitted(z, z[:, 1] ** 2) is None
    assert fitted(z, z.sum(axis=1)) is None
    assert fitted(z, np.maximum(z[:, 1], z[:, 2])) is None


def test_outputs_in_single_precision_are_fitted_with_their_rounding() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(7, 3)) * np.array([1, 1, 1, 1, 40, 40, 20])[:, None]
    y = (3 + 2 * z[:, 1]).astype(np.float32).astype(np.float64)
    model = fitted(z, y)
    assert model is not None
    assert 0 < model.deviation <= 1e-6 * np.abs(y).max()
    assert np.allclose(model.factors, [0, 2, 0], atol=1e-5)


def test_whole_numbers_on_a_line_by_chance_are_not_linear() -> None:
    """Of 300 outputs in 0 … 5 with seven runs of six whole draws, none is taken for linear."""
    rng = np.random.default_rng(0)
    z = rng.geometric(0.6, size=(7, 6)) + np.array([0, 0, 0, 0, 40, 0, 20])[:, None] * rng.integers(1, 3, (7, 6))
    for _ in range(300):
        y = rng.integers(0, 6, 7).astype(float)
        assert fitted(z.astype(float), y) is None
    assert fitted(z.astype(float), (4.0 + z[:, 0] - z[:, 3])) is not None


@pytest.mark.parametrize("family", ["laplace", "normal"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_delta_within_bounds_is_that_of_the_clipped_outputs(family: str, epsilon: float) -> None:
    """Against the exact sum over fine cells of the distribution functions."""
    one, other, low, high = (family, 0.0, 1.0), (family, 1.0, 1.5), -0.7, 2.0
    cdf = {"laplace": laplace.cdf, "normal": norm.cdf}[family]
    cells = np.concatenate([[-np.inf], np.linspace(low, high, 20_001), [np.inf]])
    p, q = np.diff(cdf(cells, 0, 1)), np.diff(cdf(cells, 1, 1.5))
    exact = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
    assert math.isclose(hockey_stick(one, other, epsilon, (low, high)), exact, rel_tol=1e-4)


# -- hooks


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module with a noise function, a class with a method that adds noise, and one that makes tensors."""
    module: Any = ModuleType("noisy_library")

    class Laplace:
        def __init__(self, epsilon: float, sensitivity: float) -> None:
            self.epsilon, self.sensitivity = epsilon, sensitivity

        def randomise(self, value: float) -> float:
            raise AssertionError("it is replaced")

    def make_noise(std: float, reference: Any) -> Any:
        raise AssertionError("it is replaced")

    module.Laplace, module.make_noise = Laplace, make_noise
    monkeypatch.setitem(sys.modules, "noisy_library", module)
    monkeypatch.setattr(hooks, "_REGISTRY", dict(hooks._REGISTRY))
    register(NoiseFunction(
        "noisy_library:Laplace.randomise", "laplace",
        lambda self, value: Parameters(value, self.sensitivity / self.epsilon),
    ))
    register(NoiseFunction(
        "noisy_library:make_noise", "normal", lambda std, reference: Parameters(0.0, std, reference.shape),
        lambda drawn: SimpleNamespace(values=drawn),
    ))
    return module


def test_noise_functions_of_libraries_are_recorded_and_put_back(library: Any) -> None:
    tape, plain = _tape(), library.Laplace.randomise
    with hooked(tape, lambda: None):
        value = library.Laplace(0.5, 2.0).randomise(10.0)
        tensor = library.make_noise(3.0, np.zeros((2, 2)))
    assert library.Laplace.randomise is plain
    added, made = tape.draws
    assert (added.distribution, added.location.tolist(), added.scale.tolist()) == ("laplace", [10.0], [4.0])
    assert value == added.values[0]
    assert made.scale.tolist() == [3.0] * 4
    assert tensor.values.shape == (2, 2)
    assert added.place.file.endswith("test_traces.py")


def test_a_trace_follows_noise_of_a_library(library: Any) -> None:
    def count(data: Any, rng: Generator) -> float:
        library: Any = sys.modules["noisy_library"]
        return float(library.Laplace(2.0, 1.0).randomise(float(len(data))))

    wrong = dpaudit.trace(count, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]))
    right = dpaudit.trace(count, epsilon=2.0, relation="add-remove-one", pair=([0], [0, 1]))
    assert [alarm.code for alarm in wrong.alarms] == ["shift_costs_more"]
    assert not right.alarms
    assert math.isclose(right.cost or 0, 2.0, rel_tol=1e-5)


@pytest.mark.parametrize(
    ("where", "distribution", "words"), [("nowhere", "laplace", "module:function"), ("a:b", "uniform", "no noise")]
)
def test_a_bad_registration_is_refused(where: str, distribution: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        register(NoiseFunction(where, distribution, lambda: Parameters()))


def test_globals_are_as_they_were() -> None:
    laplace, default_rng, urandom = np.random.laplace, np.random.default_rng, vars(random)["_urandom"]
    state, numpy_state = random.getstate(), str(np.random.get_state())  # noqa: NPY002

    def noisy(data: Any, rng: Generator) -> float:
        np.random.seed(1)  # noqa: NPY002
        return len(data) + np.random.laplace() + random.random()  # noqa: NPY002

    dpaudit.trace(noisy, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]))
    assert (np.random.laplace, np.random.default_rng) == (laplace, default_rng)
    assert vars(random)["_urandom"] is urandom
    assert random.getstate() == state
    assert str(np.random.get_state()) == numpy_state  # noqa: NPY002


CALLED: list[int] = []


def remembering(data: Any, rng: Generator) -> float:
    CALLED.append(len(data))
    return len(data) + rng.laplace()


def test_the_state_of_the_function_is_left_alone() -> None:
    before = list(CALLED)
    dpaudit.trace(remembering, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]))
    assert before == CALLED


# -- what it says


def test_it_says_what_was_drawn_and_where() -> None:
    def mean(data: Any, rng: Generator) -> float:
        return float(np.mean(data)) + rng.laplace(0, 1 / len(data))

    trace = dpaudit.trace(mean, epsilon=1.0, relation="add-remove-one", pair=([0, 1], [0, 1, 1]))
    (alarm,) = trace.alarms
    assert alarm.code == "scale_depends_on_data"
    assert (alarm.left, alarm.right) == ("0.5", "0.333")
    assert "the scale of the Laplace noise differs between D and D′ (0.5, 0.333)" in str(trace)
    (draws,) = trace.draws
    assert draws.place == alarm.place
    assert draws.place.source == "return float(np.mean(data)) + rng.laplace(0, 1 / len(data))"
    assert draws.location[0] + draws.scale[0] * draws.standard[0] == draws.values[0]


def test_a_function_of_a_size_is_traced_with_one_output() -> None:
    def count(data: Any, rng: Generator, size: int) -> Any:
        assert size == 1
        return len(data) + rng.laplace(0, 0.5, size)

    trace = dpaudit.trace(count, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]))
    assert [alarm.code for alarm in trace.alarms] == ["shift_costs_more"]


def test_what_cannot_be_traced_says_why() -> None:
    def failing(data: Any, rng: Generator) -> float:
        raise ValueError("no")

    def many(data: Any, rng: Generator) -> Any:
        return rng.laplace(size=10_000)

    def own(data: Any, rng: Generator) -> float:
        return random.gauss(0, 1)

    for function, words in ((failing, "raises ValueError"), (many, "too many"), (own, "another source")):
        trace = dpaudit.trace(function, epsilon=1.0, pair=([0], [1]))
        assert not trace.alarms
        assert words in str(trace)


def test_mechanisms_and_other_peoples_randomness_are_refused() -> None:
    def own(data: Any, rng: Generator) -> float:
        return 0.0

    vars(own)["reproducible"] = False
    with pytest.raises(UsageError, match="does not come from rng"):
        dpaudit.trace(own, epsilon=1.0, pair=([0], [1]))
    with pytest.raises(UsageError, match="need no trace"):
        dpaudit.trace("LaplaceMechanism", epsilon=1.0, pair=([0], [1]))


# -- in audits


def wrong_scale(data: Any, rng: Generator) -> float:
    return len(data) + rng.laplace(0, 0.5)


def right_scale(data: Any, rng: Generator) -> float:
    return len(data) + rng.laplace(0, 1)


def test_an_audit_shows_the_alarm_and_its_values() -> None:
    result = dpaudit.audit(wrong_scale, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]), runs=3_000)
    (note,) = [note for note in result.audit.notes if note.code == "trace"]
    assert note.sentence.startswith("Trace: ")
    assert note.values["alarm"] == "shift_costs_more"
    assert note.values["source"] == "return len(data) + rng.laplace(0, 0.5)"
    assert note.values["epsilon"] == pytest.approx(2.0, rel=1e-5)
    assert note.values["pair"] == ""
    written = json.loads(result.to_json())["audits"][0]["notes"]
    assert note.sentence in [one["sentence"] for one in written]


def test_an_alarm_alone_refutes_nothing() -> None:
    """With 40 samples nothing is refuted, whatever a trace says."""
    result = dpaudit.audit(wrong_scale, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]), runs=40)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert [note.code for note in result.audit.notes if note.code == "trace"] == ["trace"]


def zeros(data: Any, rng: Generator) -> float:
    return 3.0 * min(data.count(0), 1) + rng.laplace(0, 1)


def test_a_search_begins_with_a_pair_that_has_an_alarm() -> None:
    request = Request(
        (zeros,), epsilon=1.0, relation="add-remove-one", data="sampled_from([0, 1])", runs=6_000, door="Python"
    )
    job, findings = jobs_of(request)[0], Findings()
    before = dpaudit.trace(zeros, epsilon=1.0, relation="add-remove-one", pair=(job.pairs[0].left, job.pairs[0].right))
    steps = trace_pairs(job, Runner(), findings, seed=0)
    with pytest.raises(StopIteration) as end:
        next(steps)
    first = end.value.value.pairs[0]
    assert not before.alarms
    assert {first.left.count(0), first.right.count(0)} == {0, 1}
    assert set(end.value.value.pairs) == set(job.pairs)
    (note,) = findings.notes
    assert "(Seen on D = " in note.sentence("Python")


def test_a_time_limit_leaves_less_to_be_traced() -> None:
    request = Request((zeros,), epsilon=1.0, relation="add-remove-one", data="sampled_from([0, 1])", runs=6_000)
    job = jobs_of(request)[0]
    for limit, calls in ((0.1, 0), (60.0, 1)):
        findings = Findings(call_time=0.2)
        with suppress(StopIteration):
            next(trace_pairs(job, Runner(1, limit), findings, seed=0))
        assert len(findings.notes) <= calls


def test_a_function_too_slow_for_samples_is_traced_on_one_pair() -> None:
    request = Request((zeros,), epsilon=1.0, relation="add-remove-one", data="sampled_from([0, 1])", runs=6_000)
    job = jobs_of(request)[0]
    # 20 calls of 60 s: more than a tenth of the hour, and less than half of it
    assert isinstance(job, PrivacyJob)
    for limit, pairs in ((3_600.0, 1), (2_000.0, 0), (20_000.0, 1), (1e6, 12)):
        assert _affordable(job, Runner(1, limit), Findings(call_time=60.0)) == pairs


def test_without_an_alarm_the_pairs_stay_in_their_order() -> None:
    request = Request((right_scale,), epsilon=1.0, relation="add-remove-one", data="integers(0, 3)", runs=2_000)
    job, findings = jobs_of(request)[0], Findings()
    with pytest.raises(StopIteration) as end:
        next(trace_pairs(job, Runner(), findings, seed=0))
    assert end.value.value is job
    assert not findings.notes


def test_without_an_alarm_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def audited() -> Any:
        whole = json.loads(dpaudit.audit(
            right_scale, epsilon=1.0, relation="add-remove-one", pair=([0], [0, 1]), runs=500
        ).to_json())
        del whole["timings"]
        return whole

    traced = audited()
    monkeypatch.setattr("dpaudit.evidence.traced.trace_pairs", _no_trace)
    assert audited() == traced


def _no_trace(job: Any, *_: Any, **__: Any) -> Any:
    return job
    yield


# -- on the command line


def test_the_command_prints_alarms_and_exits_with_0(typed: Typed, tmp_path: Path) -> None:
    source = "def mean(data, rng):\n    return sum(data) / len(data) + rng.laplace(0, 1 / len(data))\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    said = typed("trace mine.py:mean --epsilon 1 --relation add-remove-one --pair '[0,1]' '[0,1,1]'")
    assert said.code == 0
    assert said.out.startswith("scale_depends_on_data: mine.py, line 2: the scale of the Laplace noise")
    for words, sentence in (
        ("mine.py:mean --epsilon 1", "A trace needs two datasets; give --pair."),
        ("mine.py:men --epsilon 1 --pair '[0]' '[1]'", "Did you mean mean?"),
        ("mine.py:mean --pair '[0]' '[1]'", "--epsilon"),
    ):
        said = typed(f"trace {words}")
        assert said.code == 2
        assert sentence in said.err
