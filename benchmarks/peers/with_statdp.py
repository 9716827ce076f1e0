"""StatDP (Ding et al., CCS 2018): a p-value for the claimed ε, with its own division of samples.

A sixth of them chooses the event, as with its defaults (100,000 and 500,000).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import Counted, Found, NotTaken, main
from statdp import detect_counterexample
from subjects import Subject

DATASETS = ([0.0], [1.0])
BLOCK = 10_000


@dataclass
class Waiting:
    """Outputs that were drawn and not yet returned, of each dataset."""

    function: Counted | None = None
    outputs: tuple[list[Any], list[Any]] = ([], [])


WAITING = Waiting()
"""Of this process; StatDP's worker process is forked from it."""


def algorithm(prng: Any, queries: list[float], epsilon: float) -> Any:
    """One output; they are drawn in blocks, so that a call of the subject takes no time that another tool saves."""
    which, function = int(queries[0]), WAITING.function
    outputs = WAITING.outputs[which]
    if not outputs and function is not None:
        drawn = function(which, BLOCK)
        if function.subject.summary is not None:
            drawn = function.subject.summary(drawn)
        outputs.extend(tuple(one) if np.ndim(one) else one for one in drawn)
    return outputs.pop()


def audit(subject: Subject, seed: int, runs: int, alpha: float) -> Found:
    """One test."""
    if subject.delta:
        raise NotTaken("its test is of δ = 0")
    function = Counted(subject, seed)
    first = function(0, 1)
    if first.ndim > 1 and subject.summary is None:
        raise NotTaken(f"its events are combinations of ten intervals for each of {first.shape[1]} numbers")
    WAITING.function = function
    choosing = runs // 6
    # the p-value uses numba's random numbers, which cannot be seeded from here
    [(_, p_value, *_)] = detect_counterexample(
        algorithm, subject.epsilon, default_kwargs={"epsilon": subject.epsilon}, databases=DATASETS,
        event_iterations=choosing, detect_iterations=runs - choosing, cores=1, quiet=True, loglevel=logging.ERROR,
    )
    note = "" if subject.summary is None else "of a number that its authors use in place of the output"
    return Found(p_value < alpha, None, 2 * runs, note)


if __name__ == "__main__":
    main(audit)
