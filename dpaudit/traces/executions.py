"""One run of a function on a tape: its draws, and its output in parts."""

from __future__ import annotations

import math
import pickle
import random
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator, RandomState

from dpaudit.errors import DpauditError
from dpaudit.language import Dataset
from dpaudit.outputs.canonical import Outcome, canonical
from dpaudit.outputs.failures import raised
from dpaudit.outputs.parts import MEMBER, layout, taken_apart
from dpaudit.outputs.parts import Place as Part
from dpaudit.subjects.global_seeds import global_seeds
from dpaudit.subjects.target import FunctionTarget
from dpaudit.traces.hooks import hooked
from dpaudit.traces.recorder import MOST_DRAWS, Draws, Tape, is_own_code
from dpaudit.traces.steps import Steps

Own: TypeAlias = random.Random | Generator | RandomState
"""A generator other than the given one."""
MOST_PARTS = 512
"""Parts of an output beyond which it is not analysed."""
MOST_OBJECTS = 1_000
"""Objects of a function that are searched for generators."""


@dataclass(frozen=True, eq=False)
class Execution:
    """What one run did.

    Args:
        draws: in their order.
        parts: the leaves of the output by their place.
        too_large: whether there are too many draws or parts to analyse.
        own_randomness: whether it used randomness that no tape can freeze.
        tape: on which it ran.
        steps: the lines that it ran; empty unless they were asked for.
    """

    draws: tuple[Draws, ...]
    parts: dict[Part, Outcome]
    too_large: bool
    own_randomness: bool
    tape: Tape
    steps: Steps

    @property
    def signature(self) -> tuple[tuple[str, int], ...]:
        """The distribution and the number of draws of every call."""
        return tuple((draws.distribution, draws.standard.size) for draws in self.draws if draws.is_noise)

    @property
    def noise(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """All noise in standard units, in the order in which it was drawn."""
        parts = [draws.standard for draws in self.draws if draws.is_noise]
        return np.concatenate(parts) if parts else np.empty(0)


def executed(
    target: FunctionTarget, dataset: Dataset, tape: Tape, own_generators: Sequence[Own], *, lines: bool = False
) -> Execution:
    """Run a function once.

    Args:
        target: a copy: its state may change.
        dataset: to run it on.
        tape: for its draws.
        own_generators: generators that no tape feeds (`generators_of`).
        lines: whether to follow the lines that it runs, which takes longer.

    Raises:
        DpauditError: the function refuses the dataset, or its output cannot be read.
    """
    records, steps = target.given(dataset)(), Steps()
    rng = tape.generator()

    def call() -> Any:
        try:
            if target.vectorised:
                return target.rows(target.subject(records, rng, 1), 1)[0]
            return target.subject(records, rng)
        except (DpauditError, MemoryError):
            raise
        except Exception as error:
            return raised(error)

    with global_seeds(tape.seed, 0), warnings.catch_warnings(), hooked(tape, target.subject):
        warnings.simplefilter("ignore")
        before, torch_before = _states(own_generators), _torch_state()
        output = steps.follow(call) if lines else call()
        own = tape.own_randomness or _states(own_generators) != before
        own = own or (_torch_state() != torch_before and not tape.torch_seeded)
    outcome = canonical(output)
    skeleton, leaves = taken_apart(outcome)
    of = layout(outcome, skeleton)
    parts: dict[Part, Outcome] = {}
    if len(of.places) <= MOST_PARTS:
        parts = {place: leaves[at] for place, at in of.places.items()}
        parts.update({place: True for place in of.fixed if place and place[-1][0] == MEMBER})
    too_large = tape.count > MOST_DRAWS or len(of.places) > MOST_PARTS
    return Execution(tuple(tape.draws), parts, too_large, own, tape, steps)


def generators_of(subject: object) -> list[Own]:
    """Generators of its own that a function may draw from: those that its names and its attributes refer to."""
    waiting: list[object] = [subject, getattr(subject, "__self__", None), getattr(subject, "__func__", None)]
    seen: set[int] = set()
    generators: list[Own] = []
    while waiting and len(seen) < MOST_OBJECTS:
        each = waiting.pop(0)
        if each is None or id(each) in seen or isinstance(each, ModuleType | type):
            continue
        seen.add(id(each))
        if isinstance(each, random.Random | Generator | RandomState):
            generators.append(each)
        elif isinstance(each, list | tuple | set):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
        else:
            if is_own_code(getattr(getattr(each, "__code__", None), "co_filename", "<frozen")):
                waiting += [getattr(each, "__globals__", None), getattr(each, "__defaults__", None)]
            for cell in getattr(each, "__closure__", None) or ():
                with suppress(ValueError):
                    # an empty cell
                    waiting.append(cell.cell_contents)
            waiting.append(getattr(each, "__dict__", None))
    return generators


def _states(own_generators: Sequence[Own]) -> list[object]:
    """The states of the global generators and of these."""
    states: list[object] = [random.getstate(), pickle.dumps(np.random.get_state())]  # noqa: NPY002
    for each in own_generators:
        if isinstance(each, random.Random):
            states.append(each.getstate())
        else:
            states.append(pickle.dumps(each.bit_generator.state if isinstance(each, Generator) else each.get_state()))
    return states


def _torch_state() -> bytes:
    """The state of torch's global generator; empty where torch is not loaded."""
    torch = sys.modules.get("torch")
    return b"" if torch is None else torch.get_rng_state().numpy().tobytes()


def as_number(leaf: Outcome) -> float | None:
    """A leaf as a number; None where it is none."""
    if isinstance(leaf, int | float) and not isinstance(leaf, bool) and abs(leaf) < math.inf:
        return float(leaf)
    return None
