"""Noise that a function draws by other means than the given generator: a small registry of noise functions.

While a function is traced, each registered function whose module is loaded is replaced by one that records its draws.
A noise function *makes* noise (numpy.random.laplace, a function that returns a tensor) or *adds* it to its argument
(`Laplace.randomise` of diffprivlib): in both cases a value is location + scale · z.

    from dpaudit.traces.hooks import NoiseFunction, Parameters, register

    register(NoiseFunction(
        "mylib.noise:add_laplace", "laplace",
        lambda value, epsilon, sensitivity=1.0: Parameters(value, sensitivity / epsilon),
    ))
"""

from __future__ import annotations

import functools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.errors import UsageError
from dpaudit.traces.recorder import NOISE, RecordingGenerator, Tape, calling_place


@dataclass(frozen=True)
class Parameters:
    """What a call of a noise function draws.

    Args:
        location: to which noise is added; 0 where the function returns noise alone.
        scale: of the noise, in the units of the distribution: b of Laplace noise, σ of Gaussian noise.
        size: the shape, as numpy's; that of location and scale where it is None.
    """

    location: Any = 0.0
    scale: Any = 1.0
    size: Any = None


@dataclass(frozen=True)
class NoiseFunction:
    """A function, or a method, of some library that draws noise.

    Args:
        where: "module:function" or "module:Class.method"; it is replaced in that module, and wherever the traced
            function's own module has imported it by name.
        distribution: a kind of noise in `dpaudit.traces.recorder.NOISE`.
        read: takes the arguments of a call and returns its `Parameters`; None for a call that is to be left alone.
        give: makes the function's result of the array, or number, that was drawn; the array itself without it.
    """

    where: str
    distribution: str
    read: Callable[..., Parameters | None]
    give: Callable[[Any], Any] | None = None


_REGISTRY: dict[str, NoiseFunction] = {}
UNFROZEN = (
    "os:urandom", "random:_urandom", "subprocess:Popen.__init__", "http.client:HTTPConnection.putrequest",
    "opendp.mod:Measurement.__call__", "opendp.mod:Measurement.invoke", "opendp.mod:Queryable.__call__",
    "opendp.mod:OdometerQueryable.__call__", "opendp.mod:OdometerQueryable.invoke",
    "pydp.algorithms._algorithm:MetaAlgorithm.__init__", "pydp.algorithms._algorithm:MetaAlgorithm.result",
    "pydp.algorithms._algorithm:MetaAlgorithm.quick_result", "pydp._pydp._mechanisms:NumericalMechanism.add_noise",
)
"""Functions whose randomness no tape can freeze: of the operating system, other processes, and libraries' native code.
A function that calls one, and whose own noise function is not registered, gets no alarm.
"""


def register(function: NoiseFunction) -> None:
    """Record this function in every trace from now on; a second registration of the same place replaces the first.

    Raises:
        UsageError: the place is not written module:function, or the distribution is no noise.
    """
    if function.where.count(":") != 1 or not all(function.where.split(":")):
        raise UsageError(f"{function.where!r} names no function; write module:function or module:Class.method.")
    if function.distribution not in NOISE:
        raise UsageError(f"{function.distribution!r} is no noise; use one of {', '.join(sorted(NOISE))}.")
    _REGISTRY[function.where] = function


def registered() -> list[NoiseFunction]:
    """What is registered, in the order in which it was."""
    return list(_REGISTRY.values())


@contextmanager
def hooked(tape: Tape, subject: object) -> Iterator[None]:
    """Record what a function draws by other means than the given generator.

    Args:
        tape: to record on.
        subject: the function; names that its module has imported are replaced there too.
    """
    held = getattr(subject, "__globals__", {})
    shared = RecordingGenerator(np.random.PCG64(tape.seed.spawn(1)[0]))
    shared.follow(tape)
    with ExitStack() as undo:
        for function in registered():
            if (found := _found(function.where)) is not None:
                owner, name, plain = found
                _replace(undo, owner, name, _recording(function, plain, shared), held)
        for name in ("laplace", "normal", "exponential", "gumbel", "logistic", "standard_normal", "geometric"):
            _replace(undo, np.random, name, getattr(shared, name), held)
        _replace(undo, np.random, "default_rng", _seeding(tape, np.random.default_rng), held)
        _replace(undo, np.random, "seed", _reseeding(tape, shared), held)
        for where in UNFROZEN:
            if (found := _found(where)) is not None:
                owner, name, plain = found
                _replace(undo, owner, name, _unfrozen(tape, plain), held)
        _replace(undo, random.Random, "seed", _unseeded(tape, random.Random.seed), held)
        if (torch := sys.modules.get("torch")) is not None:
            _replace(undo, torch, "manual_seed", _reseeded(tape, torch.manual_seed), held)
        yield


def _found(where: str) -> tuple[Any, str, Any] | None:
    """The object that holds a function, its name there, and the function; None where its module is not loaded."""
    module, _, path = where.partition(":")
    owner: Any = sys.modules.get(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part, None)
    plain = getattr(owner, name, None)
    return None if owner is None or plain is None else (owner, name, plain)


def _replace(undo: ExitStack, owner: Any, name: str, new: Any, held: dict[str, Any]) -> None:
    """Replace an attribute, and the names of the same object in the function's module, until the end."""
    plain = getattr(owner, name)
    setattr(owner, name, new)
    undo.callback(setattr, owner, name, plain)
    for own, value in list(held.items()):
        if value is plain:
            held[own] = new
            undo.callback(held.__setitem__, own, value)


def _recording(function: NoiseFunction, plain: Callable[..., Any], shared: RecordingGenerator) -> Callable[..., Any]:
    # a method gets its object as the first argument, as `read` does
    @functools.wraps(plain)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        parameters = function.read(*args, **kwargs)
        if parameters is None:
            return plain(*args, **kwargs)
        fresh, positive = _STANDARD[function.distribution]
        drawn = shared.record(
            function.distribution, parameters.location, parameters.scale, parameters.size,
            functools.partial(fresh, shared), positive=positive, place=calling_place(),
        )
        return drawn if function.give is None else function.give(drawn)

    return recorded


_STANDARD: dict[str, tuple[Callable[[Generator, int], Any], bool]] = {
    "laplace": (lambda rng, n: Generator(rng.bit_generator).laplace(size=n), False),
    "normal": (lambda rng, n: Generator(rng.bit_generator).standard_normal(n), False),
    "logistic": (lambda rng, n: Generator(rng.bit_generator).logistic(size=n), False),
    "gumbel": (lambda rng, n: Generator(rng.bit_generator).gumbel(size=n), False),
    "exponential": (lambda rng, n: Generator(rng.bit_generator).standard_exponential(n), True),
    "cauchy": (lambda rng, n: Generator(rng.bit_generator).standard_cauchy(n), False),
}


def _seeding(tape: Tape, plain: Callable[..., Generator]) -> Callable[..., Generator]:
    """`numpy.random.default_rng`, which notes that a generator is seeded inside."""

    def default_rng(seed: Any = None) -> Generator:
        if isinstance(seed, Generator):
            return seed
        bits = np.random.PCG64(tape.seed.spawn(1)[0]) if seed is None else plain(seed).bit_generator
        own = RecordingGenerator(bits)
        own.follow(tape, seeded=seed is not None)
        if seed is not None:
            tape.seeded_at.append(calling_place())
        return own

    return default_rng


def _reseeding(tape: Tape, shared: RecordingGenerator) -> Callable[..., None]:
    """`numpy.random.seed`, which notes that the global generator is seeded inside."""

    def seed(seed: Any = None) -> None:
        if seed is not None:
            tape.seeded_at.append(calling_place())
            # the same in every run, as the function wants it
            shared.restart()

    return seed


def _unfrozen(tape: Tape, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A source of randomness that no tape can freeze, which notes that it was used."""

    def used(*args: Any, **kwargs: Any) -> Any:
        tape.own_randomness = True
        return plain(*args, **kwargs)

    return used


def _unseeded(tape: Tape, plain: Callable[..., None]) -> Callable[..., None]:
    """`random.Random.seed`, which notes that a generator is seeded by the operating system."""

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            tape.own_randomness = True
        plain(self, a, version)

    return seed


def _reseeded(tape: Tape, plain: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.manual_seed`, after which torch draws the same in every run."""

    def manual_seed(seed: Any) -> Any:
        tape.torch_seeded = True
        return plain(seed)

    return manual_seed


def _diffprivlib(kind: str) -> Callable[..., Parameters | None]:
    def read(mechanism: Any, value: Any, *_: Any) -> Parameters | None:
        mechanism._check_all(value)
        if kind == "laplace":
            # for δ > 0 its scale is that of a larger ε
            epsilon = float(mechanism.epsilon) - math.log1p(-float(mechanism.delta))
            return Parameters(value, float(mechanism.sensitivity) / (epsilon or math.inf))
        scale = getattr(mechanism, "_scale", None)
        return None if scale is None else Parameters(value, float(scale))

    return read


def _opacus(std: float, reference: Any, *_: Any, **__: Any) -> Parameters | None:
    return None if not std else Parameters(0.0, float(std), tuple(reference.shape))


def _tensor(drawn: Any) -> Any:
    torch = sys.modules["torch"]
    return torch.as_tensor(np.asarray(drawn), dtype=torch.get_default_dtype())


_BUILT_IN: Sequence[NoiseFunction] = (
    NoiseFunction("diffprivlib.mechanisms.laplace:Laplace.randomise", "laplace", _diffprivlib("laplace")),
    NoiseFunction("diffprivlib.mechanisms.gaussian:Gaussian.randomise", "normal", _diffprivlib("normal")),
    NoiseFunction("opacus.optimizers.optimizer:_generate_noise", "normal", _opacus, _tensor),
)
for _function in _BUILT_IN:
    register(_function)
