"""Statistics of an audit: numbers in, numbers out.

Comes in: counts, probabilities, ε, δ, levels.
Goes out: bounds, p-values, e-values, privacy profiles, numbers of samples; intervals that contain the exact number.
May import: numpy, scipy and Arb, nothing of dpaudit but its errors.

* ``clopper_pearson``: the certificate that anyone can check by hand.
* ``score_test``: the deciding test, the exact unconditional score test of p <= exp(epsilon) q + delta.
* ``eprocess``: the sequential test, bets against the same claim that may be stopped at any time.
* ``betting``: how an audit bets, on an event that earlier runs taught.
* ``hockey_stick``: the exact privacy profile of two finite laws.
* ``power``: what a budget can see, and what a violation costs to see.

The modules are the names to import: ``clopper_pearson.epsilon_lower`` and ``score_test.epsilon_lower`` answer
one question by two methods, so they stay apart.
"""

from dpaudit.stats import clopper_pearson, eprocess, hockey_stick, power, score_test

__all__ = ["clopper_pearson", "eprocess", "hockey_stick", "power", "score_test"]
