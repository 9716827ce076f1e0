"""A figure of a conversation with private multiplicative weights: the errors, and how x^t learns."""

from __future__ import annotations

from numpy.random import Generator

from dpaudit.language import BOTTOM
from dpaudit.results.figures import Drawing, Panel, dots, line
from dpaudit_algorithms.generalization.multiplicative_weights import PrivateMultiplicativeWeights, mean, values
from dpaudit_algorithms.generalization.multiplicative_weights_theory import potential
from dpaudit_algorithms.generalization.weights_analysts import Following, followed


def errors_by_round(mechanism: PrivateMultiplicativeWeights, rng: Generator) -> Drawing:
    """One conversation: the error and the source of every answer, and KL(S ‖ x^t).

    Args:
        mechanism: a mechanism whose analyst knows S and x^t.
        rng: random generator for the conversation.
    """
    analyst = mechanism.analyst
    assert isinstance(analyst, Following)
    S, points = analyst.held, analyst.points
    (answers,) = mechanism.bulk(S, 1, rng)
    kept: list[tuple[float, float]] = []
    released: list[tuple[float, float]] = []
    learned: list[tuple[float, float]] = []
    for i, a in enumerate(answers):
        if a is BOTTOM:
            break
        x, query = followed(analyst, answers[:i]), analyst.query(None, answers[:i])
        error = abs(a - float(query.share(S)))
        (kept if a == mean(values(query, points), x) else released).append((i + 1, error))
        learned.append((i + 1, potential(S, points, x)))
    ends, alpha = (1, len(learned)), mechanism.alpha
    layers = [
        line([(at, 3 * alpha) for at in ends], style="claim", label="3α, guaranteed"),
        line([(at, mechanism.T) for at in ends], style="data", label="T"),
        dots(kept, "left", "answered by x^t"),
        dots(released, "right", "released; x^t updated", mark="cross"),
    ]
    setting = (
        f"One conversation at n = {mechanism.records:,}, ε = {mechanism.epsilon:g}, α = {alpha:g}: each query has the "
        f"largest error for x^t. {len(released)} of c = {mechanism.updates} updates are used."
    )
    largest = max(error for _, error in (*kept, *released))
    result = f"The largest error is {largest:.3g}; the guarantee is {3 * alpha:g}."
    panels = [
        Panel("", "round", "error", layers),
        Panel("", "round", "KL(S ‖ x^t)", [line(learned, style="right", label="distance of x^t from S")]),
    ]
    return Drawing(f"{setting} {result}", f"{setting} {result}", panels)
