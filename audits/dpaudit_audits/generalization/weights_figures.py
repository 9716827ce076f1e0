"""A conversation with private multiplicative weights drawn: the errors, and how x^t learns."""

from __future__ import annotations

from numpy.random import Generator

from dpaudit.language import BOTTOM
from dpaudit.results.figures import Drawing, Panel, dots, line
from dpaudit_algorithms.generalization.multiplicative_weights import (
    PrivateMultiplicativeWeights,
    mean,
    potential,
    values,
)
from dpaudit_algorithms.generalization.weights_analysts import Following, followed


def errors_by_round(mechanism: PrivateMultiplicativeWeights, rng: Generator) -> Drawing:
    """One conversation: the error of every answer, where it comes from, and KL(S ‖ x^t).

    Args:
        mechanism: with an analyst who knows S and x^t.
        rng: what the conversation is drawn with.
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
        line([(at, 3 * alpha) for at in ends], style="claim", label="3α, promised"),
        line([(at, mechanism.T) for at in ends], style="data", label="T"),
        dots(kept, "left", "answered by x^t"),
        dots(released, "right", "released, and x^t moved", mark="cross"),
    ]
    what = (
        f"One conversation at n = {mechanism.records:,}, ε = {mechanism.epsilon:g}, α = {alpha:g}: each query is the "
        f"worst for x^t. {len(released)} of c = {mechanism.updates} updates are used."
    )
    largest = max(error for _, error in (*kept, *released))
    seen = f"The largest error is {largest:.3g}, of {3 * alpha:g} promised."
    panels = [
        Panel("", "round", "error", layers),
        Panel("", "round", "KL(S ‖ x^t)", [line(learned, style="right", label="distance of x^t from S")]),
    ]
    return Drawing(f"{what} {seen}", f"{what} {seen}", panels)
