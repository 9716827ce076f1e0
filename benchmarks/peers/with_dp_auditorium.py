"""DP-Auditorium (Kong et al., 2023): its hockey-stick tester, in both orders of the pair, each at half of α.

Its bound is of δ at the claimed ε, so there is none of ε here.
"""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import tensorflow as tf
from common import Counted, Found, main
from subjects import Subject

# the package itself imports its generators of datasets, which need Vizier and are not used here
found = importlib.util.find_spec("dp_auditorium")
assert found is not None
assert found.submodule_search_locations is not None
package = types.ModuleType("dp_auditorium")
package.__path__ = list(found.submodule_search_locations)
sys.modules["dp_auditorium"] = package

from dp_auditorium.configs import privacy_property, property_tester_config  # noqa: E402
from dp_auditorium.testers import hockey_stick_tester  # noqa: E402


def audit(subject: Subject, seed: int, runs: int, alpha: float) -> Found:
    """Both orders on the same samples, half of them to train on, as it divides them."""
    tf.keras.utils.set_random_seed(seed)
    function = Counted(subject, seed)
    samples = [np.asarray(function(which, runs), dtype=np.float64) for which in (0, 1)]
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=hockey_stick_tester.make_default_hs_training_config(),
        approximate_dp=privacy_property.ApproximateDp(epsilon=subject.epsilon, delta=subject.delta),
    )
    tester = hockey_stick_tester.HockeyStickPropertyTester(
        config=config, base_model=hockey_stick_tester.make_default_hs_base_model()
    )
    refuted = any(
        tester.reject_property(tester.estimate_lower_bound(*order, failure_probability=alpha / 2))
        for order in (samples, samples[::-1])
    )
    return Found(bool(refuted), None, 2 * runs)


if __name__ == "__main__":
    main(audit)
