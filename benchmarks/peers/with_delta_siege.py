"""Delta-Siege (Lokna et al., CCS 2023): one threshold on a learned score, against the whole (ε, δ) curve of the claim.

The curve is that of ε alone for pure claims, and of the Gaussian mechanism for the others, as in its own experiments,
and so are the searched δ. Its classifier is the logistic one of its benchmarks, on numbers and not on their bits, as
bits say nothing of the mathematics of a mechanism. Samples of each dataset, in sixths: 1 to train on, 1 for the
threshold, 1 to compare the two orders of the pair, 3 for the bound.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import Counted, Found, main
from subjects import Subject, gaussian_delta, least

# its package imports mechanisms of other libraries, and the optimiser of DP-Opt, which are not used here
location = importlib.util.find_spec("deltasiege")
assert location is not None
assert location.origin is not None
OWN = ("mechanism", "laplace_mechanism", "gauss_mechanism")
imports = (Path(location.origin).parent / "mechanism" / "__init__.py").read_text(encoding="utf-8")
for name, names in re.findall(r"from \.(\w+) import (.+)", imports):
    if name not in OWN:
        absent = types.ModuleType(f"deltasiege.mechanism.{name}")
        for one in names.split(","):
            setattr(absent, one.strip(), type(one.strip(), (), {}))
        sys.modules[absent.__name__] = absent
NAMES = ("PrEstimator", "EpsEstimator", "ucb", "lcb", "OptimizerGenerator")
for name in ("dpopt", "dpopt.probability", "dpopt.probability.estimators", "dpopt.optimizer",
             "dpopt.optimizer.optimizer_generator", "dpopt.optimizer.optimizers"):
    sys.modules[name] = types.ModuleType(name)
    for one in NAMES:
        setattr(sys.modules[name], one, type(one, (), {}))

from deltasiege import DeltaSiege  # noqa: E402
from deltasiege.attack import LinesearchEstimator, WitnessOptimization  # noqa: E402
from deltasiege.classifiers.legacy.multi_layer_perceptron import MultiLayerPerceptron  # noqa: E402
from deltasiege.classifiers.legacy.torch_optimizer_factory import AdamOptimizerFactory  # noqa: E402
from deltasiege.ddsampler import SimpleSampler  # noqa: E402
from deltasiege.logging.logger import Logger  # noqa: E402
from deltasiege.mechanism import GaussMechanism, LaplaceMechanism  # noqa: E402
from deltasiege.utils import Config  # noqa: E402

STEPS = 900
"""Values of δ that its benchmarks try."""
FUNCTION: list[Counted] = []
"""The function that the mechanism samples; its entities are made by name."""


class Sampled:
    """Outputs of the subject's function."""

    def __call__(self, which: float, n: int) -> Any:
        """Outputs of dataset 0 or 1."""
        return np.asarray(FUNCTION[0](int(which), n), dtype=np.float64)


class Pure(Sampled, LaplaceMechanism):  # type: ignore[misc]
    """A claim of ε alone."""


class Approximate(Sampled, GaussMechanism):  # type: ignore[misc]
    """A claim of (ε, δ) with the curve of Gaussian noise."""

    def guarantee_(self, epsilon: float, delta: float) -> float:
        """The least σ that is (ε, δ)-private."""
        if epsilon <= 0 or delta <= 0:
            return float("inf")
        if delta >= 1 or epsilon == float("inf"):
            return 0.0
        return least(lambda scale: gaussian_delta(scale, epsilon) > delta, 1e-3, 1e3)


def audit(subject: Subject, seed: int, runs: int, alpha: float) -> Found:
    """One search; refuted if its confident estimate is below the claim's curve."""
    function = Counted(subject, seed)
    FUNCTION.append(function)
    first = function(0, 1)
    # whole batches alone
    sixth = runs // 60 * 10
    config = Config(
        n_train=sixth, n_init=sixth, n_check=sixth, n_final=3 * sixth, n_experiments=1, n_jobs=1, n_trials=1,
        batch_size=sixth // 10, confidence=1 - alpha, seed=seed,
    )
    classifier = MultiLayerPerceptron.get_factory(
        in_dimensions=1 if first.ndim == 1 else first.shape[1], hidden_sizes=(), n_test_batches=1, epochs=10,
        optimizer_factory=AdamOptimizerFactory(learning_rate=0.1, step_size=500), regularization_weight=0.0001,
    )
    curve = {"delta": (subject.delta, subject.delta)} if subject.delta else {}
    space = SimpleSampler(
        Approximate if subject.delta else Pure, [(0.0, 1.0)], epsilon=(subject.epsilon, subject.epsilon),
        sensitivity=(1.0, 1.0), **curve,
    )
    steps = np.concatenate([[0.0, subject.delta], np.exp(np.linspace(np.log(1e-9), 0, STEPS))])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder)
        search = DeltaSiege(
            config=config, search_space=space, classifier_factories=classifier, logger=Logger(Logger.State.SILENT),
            base_folder=path, classifier_folder=path / "shared", mechanism_folder=path / "shared",
        )
        estimator = LinesearchEstimator(delta_steps=steps)
        run = search.run("deltasiege", witnesses_factories=WitnessOptimization.get_factory(estimator=estimator))
        [experiment] = run.experiments
        [trial] = experiment.trials
        surplus = float(trial.witnesses[trial.best_witness_idx].estimate_c)
    # of a pure claim its parameter is 1/ε
    bound = None if subject.delta else subject.epsilon / surplus if surplus > 0 else float("inf")
    return Found(surplus < 1, bound, function.samples)


if __name__ == "__main__":
    main(audit)
