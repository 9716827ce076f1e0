"""Bounds of jax_privacy.auditing, for benchmarks/scores.py, which runs this in an environment that has jax_privacy.

`python benchmarks/scores_peer.py QUESTIONS.json` prints, as JSON, one object for each question of the file, from the
names of functions to their bounds on ε for each data set of the question.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from jax_privacy import auditing


def functions(alpha: float, delta: float, guesses: int, seed: int) -> Mapping[str, Callable[[Any], float]]:
    """The bounds by name; one-run bounds at the threshold that `guesses` of the scores reach."""
    split = auditing.Split(seed=seed)
    plain: dict[str, Callable[[Any], float]] = {
        "Bonferroni": lambda one: one.epsilon_clopper_pearson(alpha, delta),
        "Bonferroni, two-sided": lambda one: one.epsilon_clopper_pearson(alpha, delta, one_sided=False),
        "split": lambda one: one.epsilon_clopper_pearson(alpha, delta, threshold_strategy=split),
        "multi-split": lambda one: one.epsilon_clopper_pearson(
            alpha, delta, threshold_strategy=auditing.MultiSplit(num_samples=20, seed=seed)
        ),
    }
    if delta > 0:
        plain |= {
            "one-run": lambda one: one.epsilon_one_run(alpha, delta, threshold_strategy=_explicit(one, guesses)),
            "one-run f-DP": lambda one: one.epsilon_one_run_fdp(
                alpha, delta, threshold_strategy=_explicit(one, guesses)
            ),
            "GDP": lambda one: one.epsilon_from_gdp(alpha, delta),
        }
    return plain


def _explicit(one: Any, guesses: int) -> Any:
    scores = np.sort(np.concatenate([one._in_canary_scores, one._out_canary_scores]))
    return auditing.Explicit(float(scores[-guesses]))


def main() -> None:
    """Answer the questions of a file: a list of {path, alpha, delta, guesses, seed, names}."""
    with open(sys.argv[1], encoding="utf-8") as file:
        questions = json.load(file)
    answers = []
    for question in questions:
        with np.load(question["path"]) as data:
            both = np.atleast_2d(data["inside"]), np.atleast_2d(data["outside"])
        wanted = functions(question["alpha"], question["delta"], question["guesses"], question["seed"])
        answer: dict[str, list[float]] = {name: [] for name in wanted if name in question["names"]}
        for inside, outside in zip(*both, strict=True):
            one = auditing.CanaryScoreAuditor(inside, outside)
            for name, values in answer.items():
                values.append(float(wanted[name](one)))
        answers.append(answer)
    json.dump({"version": version("jax_privacy"), "answers": answers}, sys.stdout)


if __name__ == "__main__":
    main()
