"""jax_privacy.auditing: Clopper–Pearson bounds on scores with one half for the threshold, in both orders.

It bounds ε from scores of canaries; here the output is the score.
"""

from __future__ import annotations

import numpy as np
from common import Counted, Found, NotTaken, main
from jax_privacy import auditing
from subjects import Subject


def audit(subject: Subject, seed: int, runs: int, alpha: float) -> Found:
    """Each order at half of α."""
    function = Counted(subject, seed)
    samples = [np.asarray(function(which, runs), dtype=np.float64) for which in (1, 0)]
    if samples[0].ndim > 1:
        raise NotTaken("a score is one number")
    bound = 0.0
    for inside, outside in (samples, [-one for one in samples]):
        one = auditing.CanaryScoreAuditor(inside, outside)
        split = auditing.Split(seed=seed)
        bound = max(bound, float(one.epsilon_clopper_pearson(alpha / 2, subject.delta, threshold_strategy=split)))
    return Found(bound > subject.epsilon, bound, 2 * runs)


if __name__ == "__main__":
    main(audit)
