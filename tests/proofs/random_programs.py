"""Random small noisy programs as source text, each with a lower bound on its ε from exact output probabilities.

A program is a tree of comparisons of linear expressions of the data and of at most two Laplace draws, a loop that
compares noisy answers with a noisy threshold, or a noisy maximum. Its output probabilities on given data are integrals
of exponentials over polyhedra, which are computed here without a symbol of dpaudit. The largest log-ratio over many
neighbouring datasets is a lower bound on ε, and the exact ε on a finite domain whose pairs are all compared.

    python tests/proofs/random_programs.py 2000        # a table: proved, tight, unknown
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream

Vector = tuple[float, ...]
Probabilities = dict[Any, float]

SCALES = (0.5, 1.0, 2.0, 3.0, 4.0)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
SMALLEST = 1e-9
"""Probabilities below this one are not compared: rounding would be seen in their ratios."""


@dataclass(frozen=True)
class Comparison:
    """Σ data_weights·data + Σ draw_weights·draws + constant > 0."""

    data_weights: Vector
    draw_weights: Vector
    constant: float

    def source(self, data: str) -> str:
        terms = [
            *(_times(weight, f"{data}[{i}]") for i, weight in enumerate(self.data_weights) if weight),
            *(_times(weight, f"z{i}") for i, weight in enumerate(self.draw_weights) if weight),
        ]
        return f"{' + '.join(terms) or '0'} > {-self.constant!r}"


@dataclass(frozen=True)
class Leaf:
    """Returns a label, and perhaps a weighted value with noise of its own (scale), or with the first draw (scale 0)."""

    label: str
    weights: Vector = ()
    scale: float | None = None


@dataclass(frozen=True)
class Branch:
    condition: Comparison
    yes: Node
    no: Node


Node = Leaf | Branch


@dataclass(frozen=True)
class RandomProgram:
    """A program, its scope, and its losses.

    Args:
        source: defines `program(data, rng)`.
        scope: the datasets.
        probabilities: of the discrete parts of the outputs on a dataset.
        losses: the largest log-ratio of output probabilities (and densities) of two datasets.
    """

    source: str
    scope: Scope
    probabilities: Callable[[Vector], Probabilities]
    losses: Callable[[Vector, Vector], float]

    def lower_bound(self, rng: random.Random, pairs: int) -> float:
        """The largest loss of neighbouring datasets: all pairs of a small domain, and random ones otherwise."""
        return max(self.losses(*pair) for pair in neighbours(self.scope, rng, pairs))


# --- probabilities ---


def probability(constraints: Sequence[tuple[Vector, float]], scales: Vector) -> float:
    """P(weights·draws + constant > 0 for all constraints), for one or two Laplace draws of these scales."""
    if any(not any(weights) and constant <= 0 for weights, constant in constraints):
        return 0.0
    constraints = [each for each in constraints if any(each[0])]
    if len(scales) == 1:
        low, high = _interval([(weights[0], constant) for weights, constant in constraints])
        return float(_mass(np.array([low]), np.array([high]), scales[0])[0])
    low, high = _interval([(weights[0], constant) for weights, constant in constraints if not weights[1]])
    lines = [(weights[1] > 0, -weights[0] / weights[1], -constant / weights[1])
             for weights, constant in constraints if weights[1]]  # fmt: skip

    def given(first: np.ndarray) -> np.ndarray:
        floor, ceiling = np.full(first.shape, -np.inf), np.full(first.shape, np.inf)
        for above, slope, intercept in lines:
            if above:
                floor = np.maximum(floor, slope * first + intercept)
            else:
                ceiling = np.minimum(ceiling, slope * first + intercept)
        return _mass(floor, ceiling, scales[1])

    kinks = [0.0]
    for _, slope, intercept in lines:
        kinks += [-intercept / slope] if slope else []
        kinks += [(other - intercept) / (slope - steep) for _, steep, other in lines if steep != slope]
    return _integral(given, scales[0], low, high, kinks, min(scales))


def _integral(
    given: Callable[[np.ndarray], np.ndarray], scale: float, low: float, high: float, kinks: list[float], step: float
) -> float:
    """∫ of the Laplace density times a function that is a sum of exponentials between kinks."""
    low, high = max(low, -45 * scale), min(high, 45 * scale)
    ends = sorted({low, high, *(kink for kink in [0.0, *kinks] if low < kink < high)})
    total = 0.0
    for start, stop in itertools.pairwise(ends):
        pieces = max(1, math.ceil((stop - start) / (6 * step)))
        edges = np.linspace(start, stop, pieces + 1)
        half = np.diff(edges)[:, None] / 2
        points = edges[:-1, None] + half * (NODES + 1)
        values = given(points) * np.exp(-np.abs(points) / scale) / (2 * scale)
        total += float((half * WEIGHTS * values).sum())
    return total


def _mass(low: np.ndarray, high: np.ndarray, scale: float) -> np.ndarray:
    """P(low < z < high), exact in the tails too."""
    low, high = np.minimum(low, high) / scale, high / scale
    flip = low > 0  # by symmetry, an interval on the right is one on the left
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    left = np.exp(np.minimum(low, 0)) / 2
    return np.where(high <= 0, np.exp(np.minimum(high, 0)) / 2 - left, 1 - left - np.exp(-np.maximum(high, 0)) / 2)


def _density(z: float, scale: float) -> float:
    return math.exp(-abs(z) / scale) / (2 * scale)


def _interval(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    low = max((-constant / weight for weight, constant in bounds if weight > 0), default=-math.inf)
    high = min((-constant / weight for weight, constant in bounds if weight < 0), default=math.inf)
    return (low, high) if low < high else (0.0, 0.0)


def log_ratio(p: float, q: float) -> float:
    """|log(p/q)|; 0 where both are too small, ∞ where one is exactly 0."""
    if max(p, q) < SMALLEST:
        return 0.0
    if min(p, q) == 0:
        return math.inf
    return abs(math.log(p / q)) if min(p, q) >= SMALLEST else 0.0


# --- neighbouring datasets ---


def neighbours(scope: Scope, rng: random.Random, pairs: int) -> Iterator[tuple[Vector, Vector]]:
    if isinstance(scope, Domain):
        for data in itertools.product(scope.values, repeat=scope.n):
            for i, value in itertools.product(range(scope.n), scope.values):
                other = (*data[:i], value, *data[i + 1 :])
                if data < other:
                    yield data, other  # type: ignore[misc]
        return
    for _ in range(pairs):
        size = scope.n if isinstance(scope, Records) else scope.k if isinstance(scope, Answers) else rng.randint(1, 4)
        if isinstance(scope, Records):
            low, high = float(scope.low), float(scope.high)
            data = [rng.choice((low, high, rng.uniform(low, high))) for _ in range(size)]
            other, i = list(data), rng.randrange(size)
            other[i] = rng.choice((low, high))
        else:
            spread = rng.choice((0.5, 2.0, 4.0, 7.0))
            data = [rng.choice((rng.uniform(-spread, spread), spread, -spread)) for _ in range(size)]
            moved = range(size) if isinstance(scope, Stream) or scope.moves == "each" else [rng.randrange(size)]
            other = list(data)
            for i in moved:
                other[i] += rng.choice((-1, 1)) * float(scope.by)
        yield tuple(data), tuple(other)


# --- trees of comparisons ---


def random_tree(rng: random.Random) -> RandomProgram:
    scope: Scope
    size = rng.randint(1, 3)
    kind = rng.choice(("answers", "one", "domain", "records"))
    if kind == "domain":
        scope = Domain(size, (0, 1, 3))
    elif kind == "records":
        scope = Records(size, 0, 2)
    else:
        scope = Answers(size, "one" if kind == "one" else "each", rng.choice((1, 1, 2)))
    scales = tuple(rng.choice(SCALES) for _ in range(rng.randint(1, 2)))
    labels = itertools.count()

    def weights() -> Vector:
        return tuple(rng.choice((0, 0, 1, 1, -1, 2)) for _ in range(size))

    def comparison() -> Comparison:
        draws = [rng.choice((0, 1, 1, -1, 2)) for _ in scales]
        if not any(draws) and rng.random() < 0.9:
            draws[rng.randrange(len(draws))] = rng.choice((1, -1))
        return Comparison(weights(), tuple(draws), rng.choice((0.0, 0.5, -1.0, 2.0)))

    def leaf() -> Leaf:
        label = f"{next(labels)}" if rng.random() < 0.85 else "0"
        release = rng.random()
        if release < 0.15:
            return Leaf(f"own {label}", weights(), rng.choice(SCALES))
        if release < 0.22:
            return Leaf(f"first {label}", weights(), 0.0)
        return Leaf(label)

    def node(depth: int) -> Node:
        if depth == 0 or (depth < 2 and rng.random() < 0.4):
            return leaf()
        return Branch(comparison(), node(depth - 1), node(depth - 1))

    tree = Branch(comparison(), node(1), node(rng.randint(0, 2)))
    return RandomProgram(
        _tree_source(tree, scales, rng), scope, lambda data: _tree_probabilities(tree, scales, data),
        lambda one, two: _tree_loss(tree, scales, one, two),
    )  # fmt: skip


def _tree_source(tree: Node, scales: Vector, rng: random.Random) -> str:
    lines = ["import numpy as np", "", "", "def program(data, rng):"]
    style = rng.randrange(4)
    if style == 0:
        lines += [f"    z{i} = rng.laplace(0, {scale!r})" for i, scale in enumerate(scales)]
    elif style == 1:
        lines.append(f"    {', '.join(f'z{i}' for i in range(len(scales)))}, = "
                     f"[rng.laplace(0, scale) for scale in {list(scales)}]")  # fmt: skip
    elif style == 2:
        lines.append(f"    z = rng.laplace(0, 1, {len(scales)}) * np.array({list(scales)})")
        lines += [f"    z{i} = z[{i}]" for i in range(len(scales))]
    else:
        lines += [f"    z{i} = 0.0" for i in range(len(scales))]
        for i, scale in enumerate(scales):
            lines += ["    for _ in range(1):", f"        z{i} += rng.laplace(0.0, {scale!r})"]

    def leaf(each: Leaf) -> str:
        total = " + ".join(_times(weight, f"data[{i}]") for i, weight in enumerate(each.weights) if weight) or "0"
        if each.scale is None:
            return repr(each.label)
        return f"({each.label!r}, {total} + {'z0' if each.scale == 0 else f'rng.laplace(0, {each.scale!r})'})"

    def write(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}return {leaf(node)}")
        elif isinstance(node.yes, Leaf) and isinstance(node.no, Leaf) and rng.random() < 0.5:
            condition = node.condition.source("data")
            lines.append(f"{indent}return {leaf(node.yes)} if {condition} else {leaf(node.no)}")
        elif rng.random() < 0.5:
            lines.append(f"{indent}if {node.condition.source('data')}:")
            write(node.yes, indent + "    ")
            write(node.no, indent)
        else:
            lines.append(f"{indent}decided = {node.condition.source('data')}")
            lines.append(f"{indent}if not decided:")
            write(node.no, indent + "    ")
            lines.append(f"{indent}else:")
            write(node.yes, indent + "    ")

    write(tree, "    ")
    return "\n".join(lines) + "\n"


def _leaves(node: Node, data: Vector, taken: tuple[tuple[Vector, float], ...] = ()) -> Iterator[tuple[Leaf, Any]]:
    if isinstance(node, Leaf):
        yield node, taken
        return
    condition = node.condition
    constant = condition.constant + sum(a * b for a, b in zip(condition.data_weights, data, strict=True))
    yield from _leaves(node.yes, data, (*taken, (condition.draw_weights, constant)))
    # a comparison of draws is equal with probability 0; one of data alone is not
    opposite = tuple(-weight for weight in condition.draw_weights)
    no = -constant if any(opposite) else (1.0 if constant <= 0 else -1.0)
    yield from _leaves(node.no, data, (*taken, (opposite, no)))


def _tree_probabilities(tree: Node, scales: Vector, data: Vector) -> Probabilities:
    found: Counter[Any] = Counter()
    for leaf, constraints in _leaves(tree, data):
        found[leaf.label] += probability(constraints, scales)
    return dict(found)


def _tree_loss(tree: Node, scales: Vector, one: Vector, two: Vector) -> float:
    first_law, second_law = (_tree_probabilities(tree, scales, data) for data in (one, two))
    loss = max(log_ratio(first_law[label], second_law[label]) for label in first_law)
    leaves = [list(_leaves(tree, data)) for data in (one, two)]
    # a leaf that releases a number is compared by itself if no other leaf has its label
    several = Counter(leaf.label for leaf, _ in leaves[0])
    for (leaf, first), (_, second) in zip(*leaves, strict=True):
        if leaf.scale is None or several[leaf.label] > 1:
            continue
        values = [sum(a * b for a, b in zip(leaf.weights, data, strict=True)) for data in (one, two)]
        if leaf.scale:
            decided = log_ratio(probability(first, scales), probability(second, scales))
            reached = max(probability(first, scales), probability(second, scales)) >= SMALLEST
            loss = max(loss, decided + abs(values[0] - values[1]) / leaf.scale if reached else 0.0)
        else:
            for output in np.linspace(min(values) - 8, max(values) + 8, 33):
                densities = [
                    _given_first(constraints, output - value, scales)
                    for constraints, value in zip((first, second), values, strict=True)
                ]
                loss = max(loss, log_ratio(*densities))
    return loss


def _given_first(constraints: Any, first: float, scales: Vector) -> float:
    """Density of the first draw at a point, times the probability of the constraints given it."""
    if len(scales) == 1:
        return _density(first, scales[0]) * all(weights[0] * first + constant > 0 for weights, constant in constraints)
    rest = [((weights[1],), weights[0] * first + constant) for weights, constant in constraints]
    return _density(first, scales[0]) * probability(rest, scales[1:])


def _times(weight: float, name: str) -> str:
    return name if weight == 1 else f"{weight!r} * {name}" if weight >= 0 else f"({weight!r}) * {name}"


# --- loops over noisy thresholds ---


def random_loop(rng: random.Random) -> RandomProgram:
    scope: Scope = rng.choice((Stream(), Answers(rng.randint(1, 4)), Answers(3, "one")))
    threshold_scale, scale = rng.choice(SCALES), rng.choice(SCALES)
    weight, c, start = rng.choice((1, 1, 2, 0)), rng.choice((1, 1, 2, 9)), rng.choice((0.0, 1.0, -2.0))
    redraw = rng.choice(("never", "never", "above", "always"))
    lines = ["def program(data, rng):", f"    rho = rng.laplace(0, {threshold_scale!r})", "    out, count = [], 0"]
    if rng.random() < 0.5:
        lines.append("    for answer in data:")
    else:
        lines.append("    for i, answer in enumerate(data):")
    if redraw == "always":
        lines.append(f"        rho = rng.laplace(0, {threshold_scale!r})")
    noisy = f"answer + rng.laplace(0, {scale!r})" if rng.random() < 0.5 else f"rng.laplace(answer, {scale!r})"
    threshold = f"{start!r} + {_times(weight, 'rho')}" if weight else repr(start)
    lines += [f"        if {noisy} > {threshold}:", "            out.append(True)", "            count += 1"]
    lines += [f"            if count == {c}:", "                break"]
    if redraw == "above":
        lines.append(f"            rho = rng.laplace(0, {threshold_scale!r})")
    lines += ["        else:", "            out.append(False)", "    return out"]

    def law(data: Vector) -> Probabilities:
        return {
            output: math.prod(segment(part) for part in segments(tuple(zip(output, data, strict=False))))
            for output in outputs(len(data))
        }

    def outputs(length: int) -> Iterator[tuple[bool, ...]]:
        for n in range(length + 1):
            for output in itertools.product((False, True), repeat=n):
                stopped = sum(output) == c and output[-1]
                if sum(output) <= c and not (sum(output) == c and not output[-1]) and (stopped or n == length):
                    yield output

    def segments(steps: tuple[tuple[bool, float], ...]) -> Iterator[tuple[tuple[bool, float], ...]]:
        part: tuple[tuple[bool, float], ...] = ()
        for step in steps:
            part = (*part, step)
            if redraw == "always" or (redraw == "above" and step[0]):
                yield part
                part = ()
        yield part

    def segment(part: tuple[tuple[bool, float], ...]) -> float:
        def given(rho: np.ndarray) -> np.ndarray:
            product = np.ones(rho.shape)
            for above, answer in part:
                cut = start + weight * rho - answer
                product = product * (_mass(cut, np.full(rho.shape, np.inf), scale) if above
                                     else _mass(np.full(rho.shape, -np.inf), cut, scale))  # fmt: skip
            return product

        kinks = [(answer - start) / weight for _, answer in part] if weight else []
        step = min(threshold_scale, scale / max(1, weight * len(part)))
        return _integral(given, threshold_scale, -math.inf, math.inf, kinks, step)

    def losses(one: Vector, two: Vector) -> float:
        first, second = law(one), law(two)
        return max(log_ratio(first[output], second[output]) for output in first)

    return RandomProgram("\n".join(lines) + "\n", scope, law, losses)


# --- noisy maxima ---


def random_maximum(rng: random.Random) -> RandomProgram:
    size = rng.randint(2, 3)
    scope: Scope = rng.choice((Answers(size), Answers(size, "one"), Domain(size, (0, 1, 4))))
    scales = [rng.choice(SCALES)] * size if rng.random() < 0.5 else [rng.choice(SCALES) for _ in range(size)]
    weights = [rng.choice((1, 1, 1, 2)) for _ in range(size)]
    measured = rng.choice((None, None, 1.0, 3.0))
    noisy = [f"{_times(weight, f'data[{i}]')} + rng.laplace(0, {scale!r})"
             for i, (weight, scale) in enumerate(zip(weights, scales, strict=True))]  # fmt: skip
    lines = ["import numpy as np", "", "", "def program(data, rng):", f"    noisy = [{', '.join(noisy)}]"]
    style = rng.randrange(4)
    if style == 0:
        lines.append("    best = noisy.index(max(noisy))")
    elif style == 1:
        lines.append("    best = int(np.argmax(noisy))")
    elif style == 2:
        lines.append("    best = max(range(len(noisy)), key=lambda i: noisy[i])")
    else:
        lines += ["    best = 0", f"    for i in range(1, {size}):", "        if noisy[i] > noisy[best]:"]
        lines.append("            best = i")
    lines.append("    return best" + (f", data[best] + rng.laplace(0, {measured!r})" if measured else ""))

    def wins(data: Vector, i: int) -> float:
        scores = [weight * value for weight, value in zip(weights, data, strict=True)]
        others = [j for j in range(size) if j != i]

        def given(z: np.ndarray) -> np.ndarray:
            product = np.ones(z.shape)
            for j in others:
                product = product * _mass(np.full(z.shape, -np.inf), scores[i] + z - scores[j], scales[j])
            return product

        kinks = [scores[j] - scores[i] for j in others]
        return _integral(given, scales[i], -math.inf, math.inf, kinks, min(scales) / size)

    def losses(one: Vector, two: Vector) -> float:
        return max(
            log_ratio(wins(one, i), wins(two, i)) + (abs(one[i] - two[i]) / measured if measured else 0.0)
            for i in range(size)
        )

    return RandomProgram(
        "\n".join(lines) + "\n", scope, lambda data: {i: wins(data, i) for i in range(size)}, losses
    )  # fmt: skip


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    rng = random.Random(seed)
    return rng.choice((random_tree, random_tree, random_tree, random_loop, random_maximum))(rng)


def loaded(source: str, folder: Path, name: str) -> Any:
    """The module of a source text, from a file of its own: proofs read the file."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def compared(seed: int, folder: Path, pairs: int) -> tuple[RandomProgram, float, Fraction | None]:
    """A program, the lower bound on its ε, and what is proved for it (None: nothing)."""
    program = random_program(seed)
    bound = program.lower_bound(random.Random(seed), pairs)
    function = loaded(program.source, folder, f"random_program_{seed}").program
    outcome = prove(function, program.scope, epsilon=10**6, refute=False)
    return program, bound, outcome.epsilon if isinstance(outcome, Proof) else None


def table(seeds: Sequence[int], pairs: int) -> int:
    """Print how many programs are proved and how tightly; returns the number of wrong proofs."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            program, bound, proved = compared(seed, Path(folder), pairs)
            if proved is None:
                counts["unknown, ε is ∞" if bound == math.inf else "unknown"] += 1
            elif float(proved) < bound - 1e-6:
                counts["WRONG"] += 1
                print(f"seed {seed}: proved {proved}, but ε ≥ {bound}; {program.scope}\n{program.source}")
            else:
                counts["proved"] += 1
                counts["within 1 % of the bound"] += float(proved) <= bound * 1.01 + 1e-6
                counts["within 10 % of the bound"] += float(proved) <= bound * 1.1 + 1e-6
    for name, count in sorted(counts.items()):
        print(f"{count:6}  {name}")
    return counts["WRONG"]


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(bool(table(range(first, first + int(sys.argv[1])), pairs=40)))
