"""How much of the best event can be learned where outputs mix symbols and numbers. Writes learnable.md.

python benchmarks/learnable.py --jobs 2

What has ended is kept (--keep FILE, by default benchmarks/learnable.jsonl), and the same command goes on where it was
stopped; --tables runs nothing. Progress on stderr.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import resumable
from sklearn.linear_model import LogisticRegression

from dpaudit.adversary.events.learner import CAUTION, Learner
from dpaudit.adversary.events.optimistic_bound import CHOICE, expected_bound
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.interpret import Outputs as Counted
from dpaudit.interpret.sample import Tally
from dpaudit.plans.alpha_shares import learning_runs, shares
from dpaudit.stats import score_test
from dpaudit_algorithms.corpus.numerical_sparse_vector import NumericalSVT, SVT34Parallel
from dpaudit_algorithms.corpus.sparse_vector import SVT3
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABOVE, BELOW, Outputs
from dpaudit_audits.corpus import sparse_vector as plans

PAGE = Path(__file__).resolve().with_suffix(".md")
KEPT = PAGE.with_suffix(".jsonl")
RUNS = 1_000_000
SEEDS = 7
ALPHA = 0.05
EPSILON = 0.1
CUTS = 2_000

Floats = np.ndarray
Scores = tuple[Floats, Floats]
"""Of the outputs on D and of those on D′."""


@dataclass(frozen=True)
class Member:
    """A mechanism whose outputs mix symbols and numbers.

    Args:
        mechanism, pair: as the corpus audits them.
        log_ratio: the log-likelihood ratio of outputs, shape (r,).
        form: features in which it is linear or nearly so, with weights that the mechanism's text does not show,
            shape (r, k).
    """

    mechanism: SVT3 | SVT34Parallel | NumericalSVT
    pair: Pair
    log_ratio: Callable[[Outputs], Floats]
    form: Callable[[Outputs], Floats]


def log_ratio_3(outputs: Outputs) -> Floats:
    left, right = plans.reused_noise(plans.LAST_DOWN, 20, 20)
    ratios = np.empty(len(outputs))
    for pattern, (rows, numbers) in plans.by_pattern(outputs).items():
        ratios[rows] = left.log_density(pattern, numbers) - right.log_density(pattern, numbers)
    return ratios


def form_3(outputs: Outputs) -> Floats:
    """The place of the stop, and for each place whether the number is at most 0, 1 (the threshold) and 20."""
    place = np.array([sum(entry == BELOW for entry in row) for row in outputs])
    number = np.array([next((entry for entry in row if isinstance(entry, float)), 0.0) for row in outputs])
    at = (place[:, None] == np.arange(11)).astype(np.float64)
    return np.hstack([at, *(at[:, :10] * (number <= cut)[:, None] for cut in (0, 1, 20))])


def form_parallel(outputs: Outputs) -> Floats:
    """The symbol at every position, the numbers' |v − a′| − |v − a|, and the smallest number, cut where it matters."""
    symbols = [
        [entry == BELOW for entry in row] + [isinstance(entry, float) for entry in row[:10]]
        + [entry == ABOVE for entry in row[10:]]
        for row in outputs
    ]
    first = [row[:10] for row in outputs]
    least = np.array([min((e for e in row if isinstance(e, float)), default=0.0) for row in first])
    return np.column_stack([symbols, moved(first), np.clip(least, 0, 1), np.clip(least, -80, 80)])


def form_numerical(outputs: Outputs) -> Floats:
    """The pattern of answers above, and the sum of |v − a′| − |v − a| over the numbers."""
    ten = len(plans.HALVES.left)
    above = np.array([[isinstance(entry, float) for entry in row] for row in outputs]) @ (1 << np.arange(ten))
    # it stops at the second answer above
    patterns = np.array([pattern for pattern in range(1 << ten) if pattern.bit_count() <= 2])
    table = above[:, None] == patterns
    return np.column_stack([table.astype(np.float32), moved(outputs).sum(axis=1)])


def moved(outputs: Sequence[Sequence[object]]) -> Floats:
    """|v − a′| − |v − a| of every number v in the place of the answers a on D and a′ on D′; 0 for symbols."""
    numbers = np.array([[e if isinstance(e, float) else np.nan for e in row] for row in outputs])
    left, right = np.array(plans.HALVES.left), np.array(plans.HALVES.right)
    return np.nan_to_num(np.abs(numbers - right) - np.abs(numbers - left))


MEMBERS = {
    "SVT3": Member(SVT3(), plans.LAST_DOWN, log_ratio_3, form_3),
    "SVT34Parallel": Member(SVT34Parallel(), plans.HALVES, plans.parallel_log_ratio, form_parallel),
    "NumericalSVT": Member(NumericalSVT(), plans.HALVES, plans.numerical_log_ratio, form_numerical),
}


# --- one task: all learners on the same samples -----------------------------------------------------------------------


def one(name: str, seed: int) -> dict[str, float]:
    """Bounds on ε from 10^6 samples per dataset, a fifth of them for learning, as an audit with `certify` has them."""
    member, rng = MEMBERS[name], np.random.default_rng([seed, 5])
    outputs = [member.mechanism.bulk(side, RUNS, rng) for side in (member.pair.left, member.pair.right)]
    learning = learning_runs(RUNS)
    past, fresh = [side[:learning] for side in outputs], [side[learning:] for side in outputs]
    known = by_threshold(pair_of(member.log_ratio, past), pair_of(member.log_ratio, fresh))
    form = by_threshold(*by_regression(pair_of(member.form, past), pair_of(member.form, fresh), rng))
    return {"order": known, "form": form, "dpaudit": by_dpaudit(past, fresh, seed)}


def pair_of(function: Callable[[Outputs], Floats], sides: Sequence[Outputs]) -> Scores:
    return function(sides[0]), function(sides[1])


def by_regression(past: Scores, fresh: Scores, rng: np.random.Generator) -> tuple[Scores, Scores]:
    """Scores of logistic regression, those of past samples from weights learned on the other half of them."""
    rows, labels = np.vstack(past), np.repeat([1, 0], [len(side) for side in past])
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-12
    half = rng.integers(0, 2, len(rows))
    models = [
        LogisticRegression(C=0.1, max_iter=1_000).fit((rows[half != k] - middle) / spread, labels[half != k])
        for k in (0, 1)
    ]
    scores = np.empty(len(rows))
    for k, model in enumerate(models):
        scores[half == k] = model.decision_function((rows[half == k] - middle) / spread)
    left, right = (
        np.mean([model.decision_function((side - middle) / spread) for model in models], axis=0) for side in fresh
    )
    return (scores[labels == 1], scores[labels == 0]), (left, right)


def by_threshold(past: Scores, fresh: Scores) -> float:
    """The bound of the threshold event, in either direction, that promises most by past samples."""
    learning, counted = len(past[0]), len(fresh[0])
    best = (-np.inf, 1, 0.0)
    for sign in (1, -1):
        # with sign −1 the events are more likely on D′
        left, right = (np.sort(-sign * side) for side in past[::sign])
        cuts = np.unique(np.concatenate([left[:200], np.quantile(left, np.linspace(0, 1, CUTS))]))
        x, y = (np.searchsorted(side, cuts, side="right") / learning for side in (left, right))
        promised = expected_bound(
            x, y, trained=learning, runs=counted, delta=0.0, alpha=final(),
            caution=CAUTION * float(np.sqrt(2 * CHOICE)),
        )
        at = int(np.argmax(promised))
        best = max(best, (float(promised[at]), sign, float(cuts[at])))
    _, sign, cut = best
    x, y = (int((-sign * side <= cut).sum()) for side in fresh[::sign])
    return score_test.epsilon_lower(x, counted, y, counted, delta=0.0, alpha=final())


def by_dpaudit(past: Sequence[Outputs], fresh: Sequence[Outputs], seed: int) -> float:
    """The bound of the event that the auditor's learner chooses."""
    learner, counted = Learner(seed=seed), len(fresh[0])
    learner.add(*(tallied(side) for side in past))
    learned = learner.certify(epsilon=EPSILON, delta=0.0, runs=counted, alpha=final())
    x, y = (learned.event.count(tallied(side)) for side in (fresh[::-1] if learned.reverse else fresh))
    return score_test.epsilon_lower(x, counted, y, counted, delta=0.0, alpha=final())


def tallied(outputs: Outputs) -> Counted:
    tally = Tally()
    tally.add_many(outputs)
    return tally.outputs()


def final() -> float:
    return shares(ALPHA, certify=True, bits=False).final


# --- the page ---------------------------------------------------------------------------------------------------------


def page(done: dict[resumable.Key, dict[str, float]]) -> Iterator[str]:
    yield "# What can be learned of outputs that mix symbols and numbers\n"
    yield textwrap.fill(
        f"By `python benchmarks/learnable.py`. Lower confidence bounds on ε, α = {ALPHA}, from {RUNS:,} samples per "
        "dataset, a fifth of them for learning, on the corpus's pairs: medians and (least, most) of "
        f"{SEEDS} seeds, all three from the same samples. Order known: the log-likelihood ratio of every output is "
        "known, and a threshold on it is learned. Form known: the features are known in which it is linear, or nearly "
        "so, with the values where it has kinks, and their weights are learned by logistic regression. dpaudit knows "
        "neither.", 116, break_on_hyphens=False,
    ) + "\n"
    yield "| member | order known | form known | dpaudit | dpaudit / form known |"
    yield "| --- | --- | --- | --- | --- |"
    for name in MEMBERS:
        found = {kind: sorted(done[name, seed][kind] for seed in range(SEEDS)) for kind in ("order", "form", "dpaudit")}
        middle = {kind: statistics.median(values) for kind, values in found.items()}
        cells = [f"{middle[kind]:.3f} ({values[0]:.3f}, {values[-1]:.3f})" for kind, values in found.items()]
        yield f"| {name} | {' | '.join(cells)} | {middle['dpaudit'] / middle['form']:.2f} |"


def main() -> None:
    """As the module says."""
    given = resumable.arguments(__doc__, KEPT)
    keys = [(name, seed) for seed in range(SEEDS) for name in MEMBERS]
    if not given.tables:
        resumable.run(keys, one, given, chunk=1)
    done = resumable.results(given.keep)
    if all(key in done for key in keys):
        PAGE.write_text("\n".join(page(done)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
