"""DP-Sniper (Bichsel et al., S&P 2021): logistic regression with the settings of its paper, c = 0.01.

Samples of each dataset, in tenths: 1.5 to train on in each order of the pair, 1.5 for the threshold (of one dataset in
each order), 1 to compare the two orders in each of them, 3.5 for the bound. It trains in as many steps as by default:
with batches of its default size an epoch would have two and not 107, too few for its classifier to converge.
"""

from __future__ import annotations

import math
import tempfile
from typing import Any

import numpy as np
import torch
from common import Counted, Found, NotTaken, main
from dpsniper.attack.dpsniper import DPSniper
from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory
from dpsniper.classifiers.feature_transformer import FlagsFeatureTransformer
from dpsniper.classifiers.torch_optimizer_factory import SGDOptimizerFactory
from dpsniper.mechanisms.abstract import Mechanism
from dpsniper.search.ddconfig import DDConfig
from dpsniper.search.ddsearch import DDSearch
from dpsniper.utils.initialization import initialize_dpsniper
from dpsniper.utils.my_multiprocessing import the_parallel_executor
from subjects import Subject

BATCHES = 107
"""Of an epoch by default: 10.7 million samples, 100,000 at a time."""


class Sampled(Mechanism):
    """A subject's function as DP-Sniper's mechanism."""

    def __init__(self, function: Counted) -> None:
        self.function = function

    def m(self, a: Any, n_samples: int = 1) -> Any:
        """Outputs of dataset a[0]."""
        return self.function(int(a[0]), n_samples)


class BothOrders:
    """The pair in both orders, as its own generators give it."""

    def get_input_pairs(self) -> Any:
        """(D, D′) and (D′, D)."""
        zero, one = np.zeros(1), np.ones(1)
        yield zero, one
        yield one, zero


def audit(subject: Subject, seed: int, runs: int, alpha: float) -> Found:
    """One search; refuted if its lower bound exceeds the claim."""
    if subject.delta:
        raise NotTaken("its bound is of δ = 0")
    torch.manual_seed(seed)
    # its classifiers shuffle with the global generator
    np.random.seed(seed)  # noqa: NPY002
    function = Counted(subject, seed)
    first = function(0, 1)
    numbers = 1 if first.ndim == 1 else first.shape[1]
    tenth = runs // 10
    training = 3 * tenth // 2
    config = DDConfig(
        n_train=training, n=training, n_check=tenth, n_final=7 * tenth // 2, n_processes=1, confidence=1 - alpha,
        training_batch_size=math.ceil(training / BATCHES),
    )
    factory = LogisticRegressionFactory(
        in_dimensions=numbers * (1 + len(subject.symbols)), regularization_weight=0.001, epochs=10,
        feature_transform=FlagsFeatureTransformer(list(subject.symbols)) if subject.symbols else None,
        optimizer_factory=SGDOptimizerFactory(learning_rate=0.3, momentum=0.3, step_size=500),
    )
    # in this process: in its worker processes every task would begin with the same random numbers
    the_parallel_executor.execute = lambda task, inputs: [task(one) for one in inputs]
    mechanism = Sampled(function)
    with tempfile.TemporaryDirectory() as folder, initialize_dpsniper(config, out_dir=folder, torch_threads=1):
        witness = DDSearch(mechanism, DPSniper(mechanism, factory, config), BothOrders(), config).run()
        witness.compute_eps_high_precision(mechanism, config)
    bound = float(witness.lower_bound)
    return Found(bound > subject.epsilon, max(bound, 0.0), 2 * runs)


if __name__ == "__main__":
    main(audit)
