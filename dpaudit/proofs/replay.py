"""Runs the real program, and compares it with the paths that were found on symbols.

A proof rests on the interpreter. Here the program itself runs on datasets of the scope, with noise that is recorded:
the draws have to be those of a path, the decisions of that path have to hold for these data and draws, and the output
has to be the one that the path computes.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
import types
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from dpaudit.language.distributions import Bernoulli, Distribution, Product, Real, Repeated, Softmax, Uniform
from dpaudit.language.distributions.base import Tail
from dpaudit.language.distributions.real import Integer
from dpaudit.language.mechanism import Applied, Mechanism
from dpaudit.proofs.arrays import Array
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.forms import Cell, Condition, Form
from dpaudit.proofs.functions import Piecewise, RecordFunction, Rounded, Table
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.program import answers_method
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope

DATASETS = 60
"""Datasets that are tried."""
ROUNDS = 3
"""Runs on each of them."""
LEAST = 10
"""Runs that are compared even if they take longer than `SECONDS`."""
SECONDS = 0.5
"""CPU time after which no more runs are made."""
CLOSE = 1e-9
"""Relative difference of two numbers that counts as rounding."""
MOST_POINTS = 40
"""Special values of records that are tried."""
GRID = 64
"""Random records are multiples of 1 / GRID, which floats add without rounding."""
FACTORS = (1.0, 1.0, 0.1, 10.0)
"""Multiples of the noise, so that rare branches are reached."""
Dataset: TypeAlias = tuple[Any, ...]


def replayed(
    target: Any, scope: Scope, finished: Sequence[Finished], n: int, *, datasets: Iterable[Dataset] | None = None
) -> None:
    """Compares the paths of a program with what it does on datasets of n answers or records.

    Args:
        target, scope: as in `prove`; a stream is compared as `Answers`.
        finished: all of its paths, neither merged nor with whole maxima.
        n: number of answers or records.
        datasets: to run it on; by default random ones, and special values of the functions in the rows.

    Raises:
        Unsupported: the program raised, or did something else than any path.
    """
    rng = np.random.default_rng(0)
    tried = list(datasets if datasets is not None else chosen_datasets(scope, n, finished, rng))
    program = Followed(finished, scope)
    begun, runs = time.process_time(), 0
    for number, dataset in enumerate(itertools.chain(*[tried] * ROUNDS)):
        if runs >= LEAST and time.process_time() - begun > SECONDS:
            return
        tape = Tape(rng, FACTORS[number % len(FACTORS)])
        output = real_output(target, scope, dataset, tape)
        program.compare(dataset, tape, output)
        runs += 1


def real_output(target: Any, scope: Scope, dataset: Dataset, tape: Tape) -> Any:
    """The output of the real program with recorded noise.

    Raises:
        Unsupported: it raised, or drew something that is not recorded.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if isinstance(target, Mechanism):
                return tape.run(on_answers(target) if isinstance(scope, Answers) else target, dataset)
            output = target(given(scope, dataset), Recorder(tape))
    except Unsupported:
        raise
    except Exception as error:
        raise Unsupported(f"The program raises {type(error).__name__} on {dataset!r}.") from error
    if tape.refused:
        raise tape.refused[0]
    return output


def given(scope: Scope, dataset: Dataset) -> Any:
    """A dataset as a function f(data, rng) gets it."""
    return np.array(dataset, dtype=np.float64) if isinstance(scope, Records) else tuple(dataset)


def on_answers(mechanism: Mechanism) -> Mechanism:
    """The mechanism, with the answers of its queries in place of the data."""
    if answers_method(mechanism) is None:
        return mechanism
    return varied(mechanism, answers=lambda self, data: data)


def varied(mechanism: Mechanism, **attributes: Any) -> Mechanism:
    """A copy of a mechanism, of a subclass with other attributes.

    Raises:
        Unsupported: its class has no such subclass.
    """
    made, kind = copy.copy(mechanism), type(mechanism)
    try:
        object.__setattr__(made, "__class__", type(kind.__name__, (kind,), attributes))
    except TypeError as error:
        raise Unsupported(f"The class {kind.__name__} cannot be given other answers: {error}.") from None
    return made


class Tape:
    """The draws of one run.

    Args:
        rng: where they come from.
        factor: multiple of the noise.
    """

    def __init__(self, rng: Generator, factor: float) -> None:
        self.rng, self.factor = rng, factor
        self.kinds: list[str] = []
        self.scales: list[float] = []
        self.noise: list[Fraction] = []
        self.coins: list[float] = []
        """The probability of each other random choice that was made."""
        self.refused: list[Unsupported] = []

    def draw(self, kind: str, scale: float) -> float:
        """A draw of noise around 0, of a kind in `forms.KINDS`."""
        factor = self.factor * (30.0 if self.rng.random() < 0.05 else 1.0)
        match kind:
            case "laplace":
                value = scale * factor * self.rng.laplace()
            case "exponential":
                value = scale * factor * self.rng.standard_exponential()
            case "gumbel":
                value = scale * factor * self.rng.gumbel()
            case "normal":
                value = scale * factor * self.rng.standard_normal()
            case "uniform":
                value = self.rng.random()
                if factor != 1:
                    value = value / 10 if self.rng.random() < 0.5 else 1 - value / 10
            case "geometric":
                value = float(round(scale * factor * self.rng.laplace()))
            case "one-sided":
                value = float(math.floor(scale * factor * self.rng.standard_exponential()))
            case _:
                raise Unsupported(f"Noise of the kind {kind} is not replayed.")
        return self.record(kind, scale, value)

    def record(self, kind: str, scale: float, value: float) -> float:
        self.kinds.append(kind)
        self.scales.append(float(scale))
        self.noise.append(Fraction(value))
        return value

    def refuse(self, what: str) -> Unsupported:
        """What to raise; it is kept, because the program might catch it."""
        self.refused.append(Unsupported(f"The program draws with {what}, which is not replayed."))
        return self.refused[-1]

    # --- mechanisms ---

    def run(self, mechanism: Mechanism, dataset: Any) -> Any:
        """A mechanism's output, with every yielded distribution drawn from here."""
        value = mechanism.run(dataset)
        if isinstance(value, types.GeneratorType):
            try:
                node = next(value)
                while True:
                    node = value.send(self.drawn(node))
            except StopIteration as end:
                value = end.value
        return self.drawn(value) if isinstance(value, Distribution | Applied) else value

    def drawn(self, node: Any) -> Any:
        """A value of a distribution, or an output of an applied mechanism."""
        match node:
            case Applied():
                return self.run(node.mechanism, node.dataset)
            case Bernoulli() if node.event is not None:
                return self._indicator(node.event)
            case Bernoulli():
                if node.p in (0, 1):
                    return node.p == 1
                value = bool(self.rng.random() < 0.5)
                self.coins.append(float(node.p if value else 1 - node.p))
                return value
            case Uniform():
                options = list(node.values)
                return options[self.choose(len(options))]
            case Product() | Repeated():
                return tuple(map(self.drawn, node.parts))
            case Softmax():
                return self._softmax(node)
            case Integer():
                return self._rounded(node)
            case Real() if node.noise_kind is not None:
                location, scale = list(vars(node).values())[1:3] if "claim" == next(iter(vars(node))) else (
                    self._parameters(node)
                )
                noise = self.draw(node.noise_kind, float(scale))
                return location + (int(noise) if node.noise_kind == "geometric" else noise)
        raise self.refuse(type(node).__name__)
