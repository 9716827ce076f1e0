"""Traces of functions that use other libraries: their noise is recorded, and native randomness gives no alarm."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.traces import hooks
from dpaudit.traces.alarms import Trace
from dpaudit.traces.hooks import NoiseFunction, Parameters, register

COUNTED = ([0], [0, 1])
UNIT = ([0.0, 0.5], [0.0, 1.0])


def _module(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)


def _traced(function: Any, epsilon: float, delta: float = 0.0, *, pair: Any = COUNTED) -> Trace:
    relation = "add-remove-one" if pair is COUNTED else "replace-one"
    traces = [
        dpaudit.trace(function, epsilon=epsilon, delta=delta, relation=relation, pair=pair, seed=seed)
        for seed in range(5)
    ]
    assert len({tuple(alarm.code for alarm in trace.alarms) for trace in traces}) == 1
    return traces[0]


def _laplace(data: Any, rng: Generator) -> Any:
    from diffprivlib.mechanisms import Laplace

    return Laplace(epsilon=2.0, sensitivity=1).randomise(len(data))


def _laplace_with_delta(data: Any, rng: Generator) -> Any:
    from diffprivlib.mechanisms import Laplace

    return Laplace(epsilon=1.0, delta=0.3, sensitivity=1).randomise(len(data))


def _truncated(data: Any, rng: Generator) -> Any:
    from diffprivlib.mechanisms import LaplaceTruncated

    return LaplaceTruncated(epsilon=3.0, sensitivity=1, lower=0, upper=10).randomise(len(data))


def _gaussian(data: Any, rng: Generator) -> Any:
    from diffprivlib.mechanisms import GaussianAnalytic

    return GaussianAnalytic(epsilon=1.0, delta=1e-5, sensitivity=1).randomise(len(data))


@pytest.mark.parametrize(
    ("function", "epsilon", "delta", "cost"),
    [
        (_laplace, 2.0, 0.0, 2.0), (_laplace_with_delta, 1.0, 0.3, 1.0 + math.log(0.7)), (_truncated, 3.0, 0.0, 3.0),
        (_gaussian, 1.0, 1e-5, 1.0),
    ],
)
def test_noise_of_diffprivlib_has_its_cost(function: Any, epsilon: float, delta: float, cost: float) -> None:
    _module("diffprivlib")
    right, wrong = _traced(function, epsilon, delta), _traced(function, epsilon / 2, delta)
    assert not right.alarms
    assert right.cost is not None
    assert math.isclose(right.cost, cost, rel_tol=1e-4)
    assert [alarm.code for alarm in wrong.alarms] == ["shift_costs_more"]
    assert wrong.alarms[0].place.source.startswith("return ")


def test_the_scale_of_a_mean_without_bounds_is_of_the_data() -> None:
    """The output is clipped to the range of the data, so that not every seed shows the scale."""
    _module("diffprivlib.tools")

    def bounded(data: Any, rng: Generator) -> Any:
        from diffprivlib.tools import mean

        return mean(np.array(data), epsilon=1.0, bounds=(0, 1))

    def unbounded(data: Any, rng: Generator) -> Any:
        from diffprivlib.tools import mean

        return mean(np.array(data), epsilon=1.0)

    assert not _traced(bounded, 1.0, pair=UNIT).alarms
    codes = {
        alarm.code for seed in range(5) for alarm in dpaudit.trace(
            unbounded, epsilon=1.0, relation="replace-one", pair=([0.0, 0.5], [0.0, 2.0]), seed=seed
        ).alarms
    }
    assert codes == {"scale_depends_on_data"}


def _binary(data: Any, rng: Generator) -> Any:
    from diffprivlib.mechanisms import Binary

    return Binary(epsilon=3.0, value0="0", value1="1").randomise(str(data[0]))


def _opendp_bit(data: Any, rng: Generator) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp.m.make_randomized_response_bool(prob=0.95)(bool(data[0]))


def _opendp_count(data: Any, rng: Generator) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return (space >> dp.t.then_count() >> dp.m.then_laplace(scale=0.5)).invoke(data)


@pytest.mark.parametrize(
    ("library", "function"), [("diffprivlib", _binary), ("opendp", _opendp_bit), ("opendp", _opendp_count)]
)
def test_randomness_that_no_tape_freezes_gives_no_alarm(library: str, function: Any) -> None:
    """At ε = 3 the same answer comes fourteen times with probability 0.5."""
    _module(library)
    trace = _traced(function, 3.0, pair=([0], [1]))
    assert not trace.alarms
    assert "another source" in trace.remark


def test_a_function_that_calls_opendp_is_traced_when_it_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    _module("opendp")
    own: Any = ModuleType("own_noise")

    def noisy(value: float, scale: float) -> float:
        raise AssertionError("OpenDP draws here")

    own.noisy = noisy
    monkeypatch.setitem(sys.modules, "own_noise", own)
    monkeypatch.setattr(hooks, "_REGISTRY", dict(hooks._REGISTRY))
    register(NoiseFunction("own_noise:noisy", "laplace", lambda value, scale: Parameters(value, scale)))

    def count(data: Any, rng: Generator) -> float:
        import own_noise

        return float(own_noise.noisy(len(data), 0.5))

    assert [alarm.code for alarm in _traced(count, 1.0).alarms] == ["shift_costs_more"]
    assert not _traced(count, 2.0).alarms


def _opacus_sum(data: Any, noise: float) -> Any:
    """A step of DP-SGD on a model of one weight, by Opacus' optimizer; the clipped gradients are the records."""
    import torch
    from opacus.optimizers import DPOptimizer

    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad_sample = torch.tensor([[float(x)] for x in data])
    optimizer = DPOptimizer(
        torch.optim.SGD([weight], lr=1.0), noise_multiplier=noise, max_grad_norm=1.0, expected_batch_size=1
    )
    optimizer.step()
    return float(weight.detach()[0])


def test_the_noise_of_opacus_is_recorded() -> None:
    _module("opacus")

    def enough(data: Any, rng: Generator) -> Any:
        return _opacus_sum(data, 3.8)

    def little(data: Any, rng: Generator) -> Any:
        return _opacus_sum(data, 1.0)

    pair = ([0.5], [0.5, 7.0])
    right = dpaudit.trace(enough, epsilon=1.0, delta=1e-5, relation="add-remove-one", pair=pair)
    wrong = dpaudit.trace(little, epsilon=1.0, delta=1e-5, relation="add-remove-one", pair=pair)
    assert not right.alarms
    assert right.cost is not None
    assert 0.9 < right.cost < 1.0
    assert [alarm.code for alarm in wrong.alarms] == ["shift_costs_more"]


def test_a_coin_of_torch_gives_no_alarm_unless_torch_is_seeded_inside() -> None:
    _module("torch")

    def told(data: Any, rng: Generator) -> int:
        import torch

        return int(data[0]) ^ int(torch.rand(1).item() < 0.05)

    def seeded(data: Any, rng: Generator) -> int:
        import torch

        torch.manual_seed(0)
        return int(data[0]) ^ int(torch.rand(1).item() < 0.05)

    assert not _traced(told, 3.0, pair=([0], [1])).alarms
    assert [alarm.code for alarm in _traced(seeded, 3.0, pair=([0], [1])).alarms] == ["unprotected_output"]
