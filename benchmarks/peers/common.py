"""What the scripts of all tools have in common: arguments, CPU seconds and one line of JSON."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from subjects import SUBJECTS, Subject


@dataclass
class Found:
    """What a tool says of a claim.

    Args:
        refuted: whether it rejects the claim.
        bound: its lower confidence bound on ε; None if it has none.
        samples: outputs of both datasets that it took.
        note: what it was given in another form, if anything.
    """

    refuted: bool
    bound: float | None
    samples: int
    note: str = ""


class Counted:
    """A subject's function that counts the outputs taken from it, with random numbers of its own."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject = subject
        self.samples = 0
        self._rng = np.random.default_rng([seed, 26])

    def __call__(self, which: int, size: int) -> Any:
        """Outputs of dataset 0 or 1."""
        self.samples += size
        return self.subject.function(which, self._rng, size)


class NotTaken(Exception):
    """The tool does not take such outputs or claims; the text says why."""


def seconds() -> float:
    """CPU seconds of this process and its ended children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main(audit: Callable[[Subject, int, int, float], Found]) -> None:
    """Run `audit(subject, seed, runs, alpha)` and print what it found, with its CPU seconds after all imports.

    Arguments of the command line: the subject's name, the seed, samples of each dataset, α.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("subject")
    parser.add_argument("seed", type=int)
    parser.add_argument("runs", type=int)
    parser.add_argument("alpha", type=float)
    given = parser.parse_args()
    begun = seconds()
    try:
        found = asdict(audit(SUBJECTS[given.subject], given.seed, given.runs, given.alpha))
    except NotTaken as reason:
        found = {"not taken": str(reason)}
    print(json.dumps({**found, "cpu": round(seconds() - begun, 2)}))
