"""Looks for a violation by sampling, where no proof was found.

The most expensive alignment says which output, and which D and D′, are worst. A pilot of samples chooses one pair and
one event among several. Fresh samples are then counted at interim analyses that share the error probability, so the
bound holds with the stated confidence whatever was chosen before.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.learner import Learner
from dpaudit.errors import DpauditError, MechanismError
from dpaudit.interpret import Outputs, outcomes
from dpaudit.language.mechanism import Mechanism
from dpaudit.outputs.canonical import Outcome, Structure
from dpaudit.proofs.alignment import Constraint, NoShift, align
from dpaudit.proofs.attempt import Attempt
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.functions import NotOfRecord, Piecewise, RecordFunction, Rounded
from dpaudit.proofs.neighbours import Vector, differences
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.replay import Dataset, of_record, on_answers, put_in, varied
from dpaudit.proofs.results import LowerBound, Refuted, Unknown, Unsupported
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit.stats.clopper_pearson import epsilon_lower, lower, upper
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Unit

CONFIDENCE = 0.999
"""Of the bound."""
STEPS = (10_000, 100_000, 1_000_000, 4_000_000)
"""Fresh samples of each dataset at the interim analyses, which share the error probability evenly."""
UNIT = 100_000
"""Samples that are made at once."""
PILOT = ((40, 20_000), (12, 100_000), (3, 1_000_000))
"""Pairs that stay in the pilot, and the samples of each dataset that they then get; fewer where a sample is slow."""
GUIDED = 6
"""Pairs that stay until the last stage because an alignment suggests them."""
FEWEST = 1_000
"""Samples of each dataset that every pair gets."""
LEARNED_FROM = 20_000
"""Samples of each dataset from which events are learned where outputs hold numbers, which is slow."""
SECONDS, PILOTING = 20.0, 8.0
"""What the samples may cost in all, and in the pilot, at the nominal costs below: numbers of samples must not depend on
how fast the machine is."""
NOMINAL_BULK, NOMINAL_CALL = 3e-6, 5e-5
"""Nominal seconds for an output on each of two datasets, made in bulk and one at a time."""
LIMIT = 120.0
"""Seconds after which the search is given up."""
MOST_ALIGNED = 400
"""Paths that are aligned to find the most expensive ones."""
LENGTHS = (5, 10, 2)
"""Lengths of streams that are tried."""
CAUTION = 0.2
"""Error probability of the shares that pairs and events of the pilot are compared by."""
CERTAIN = 1e-6
"""The same, below which the pilot ends at once."""
ENOUGH = 1.05
"""A readable event is preferred to a learned one if its expected bound is this multiple of the claim."""
PATTERNS = 200
"""Patterns of outputs that are counted one by one, the most frequent ones."""
MOST_NUMBERS = 12
"""Numbers of an output that are compared with thresholds."""
MOST_CHANGED, MOST_POINTS = 8, 24
"""Records that are replaced, and values of records, in the search for a pair of an expensive path."""
TINY = 1e-6
"""Distance from a cut, relative to the interval, at which a function has its one-sided limit."""
ALPHA = (1 - CONFIDENCE) / len(STEPS)
"""Error probability of one interim analysis."""
Pair: TypeAlias = tuple[Dataset, Dataset]
_Found = TypeVar("_Found")


def refuted(attempt: Attempt, unknown: Unknown, seed: int) -> Refuted | None:
    """A violation of the claim, certified by fresh samples; None where none was found.

    Args:
        attempt: the program, its scope and the claim.
        unknown: why there is no proof.
        seed: of everything random.
    """
    return _quietly(lambda runner: _Search(attempt, unknown.least, runner, SeedSequence(seed)).result())


def bounded_below(attempt: Attempt, seed: int) -> LowerBound | None:
    """A lower bound on ε from fresh samples of the pair and the event that a proof suggests; None if none is above 0.

    Args:
        attempt: the program, its scope, and the proof that was found.
        seed: of everything random.
    """
    return _quietly(lambda runner: _Search(attempt, None, runner, SeedSequence(seed)).bound())


def _quietly(search: Callable[[Runner], _Found | None]) -> _Found | None:
    runner = Runner(seconds=LIMIT)
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    with nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return search(runner)
        except (DpauditError, Unsupported):
            # the program raised or took too long: nothing is known
            return None


@dataclass(eq=False)
class _Search:
    """The search for a violation.

    Args:
        attempt: as in `refuted`.
        least: what the alignment needs, if there is one.
        runner: makes samples within the time limit.
        seeds: of everything random.
    """

    attempt: Attempt
    least: Fraction | None
    runner: Runner
    seeds: SeedSequence
    spent: float = 0.0
    """Nominal seconds of all samples."""

    def result(self) -> Refuted | None:
        chosen = self.piloted()
        claimed = float(self.attempt.claimed)
        if chosen is None or not chosen.bound(0.5) > claimed:
            return None
        (more, less), event = chosen.pair, chosen.event
        x = y = n = 0
        for size in STEPS:
            if n and self.pace * (size - n) > SECONDS - self.spent:
                break
            while n < size:
                fresh = min(size - n, UNIT)
                x += event.count(self.sampled(more, fresh))
                y += event.count(self.sampled(less, fresh))
                n += fresh
            bound = epsilon_lower(x, n, y, n, delta=0.0, alpha=ALPHA)
            if bound > claimed * (1 + 1e-9):
                return Refuted(
                    bound, self.attempt.claimed, self.attempt.name, str(self.attempt.scope), (more, less),
                    event.description, (x, y), n, CONFIDENCE, self.least,
                )
        return None

    def bound(self) -> LowerBound | None:
        """A bound from one count of fresh samples."""
        chosen = self.piloted()
        if chosen is None:
            return None
        (more, less), event = chosen.pair, chosen.event
        x = y = n = 0
        size = int(min(STEPS[-2], max(STEPS[0], self.affordable(SECONDS - self.spent))))
        while n < size:
            fresh = min(size - n, UNIT)
            x += event.count(self.sampled(more, fresh))
            y += event.count(self.sampled(less, fresh))
            n += fresh
        bound = epsilon_lower(x, n, y, n, delta=0.0, alpha=1 - CONFIDENCE)
        if not bound > 0:
            return None
        return LowerBound(bound, (more, less), event.description, (x, y), n, CONFIDENCE)

    def sampled(self, dataset: Dataset, size: int) -> Outputs:
        """Fresh independent outputs on a dataset."""
        self.spent += size * self.pace / 2
        (seed,) = self.seeds.spawn(1)
        (outputs,) = self.runner.run(subject(self.attempt, dataset), [Unit(dataset, size, seed)])
        assert isinstance(outputs, Outputs)
        return outputs

    def piloted(self) -> Choice | None:
        """The pair and the event with the largest expected bound."""
        rng = default_rng(self.seeds.spawn(1)[0])
        pairs = itertools.islice(_distinct(candidate_pairs(self.attempt, rng), self.attempt.scope), PILOT[0][0])
        tried = [_Tried(pair, Choice(pair, Pattern(()))) for pair in pairs]
        guided = tried[:GUIDED]
        for stage, (stay, most) in enumerate(PILOT):
            best = sorted(tried, key=lambda each: -each.choice.bound(CAUTION))[:stay]
            tried = [*best, *(each for each in guided if each not in best and stage < len(PILOT) - 1)]
            for place, each in enumerate(tried):
                left = PILOTING * (stage + 1) / len(PILOT) - self.spent
                if left <= 0 and each.samples:
                    break
                size = int(min(most, max(FEWEST, self.affordable(left / (len(tried) - place)))))
                each.samples.append((self.sampled(each.pair[0], size), self.sampled(each.pair[1], size)))
                runs = int(min(STEPS[-1], max(STEPS[0], self.affordable(SECONDS - PILOTING))))
                each.choice = choose(
                    each.pair, each.samples, float(self.attempt.claimed), runs, last=stage == len(PILOT) - 1
                )
                if each.choice.bound(CERTAIN) > ENOUGH * float(self.attempt.claimed):
                    return each.choice
        return max((each.choice for each in tried), key=lambda each: each.bound(0.5), default=None)

    @property
    def pace(self) -> float:
        """Nominal seconds for an output on each of two datasets."""
        target = self.attempt.target
        in_bulk = isinstance(target, Mechanism) and hasattr(target, "bulk") and has_its_bulk(type(target))
        return NOMINAL_BULK if in_bulk else NOMINAL_CALL

    def affordable(self, seconds: float) -> float:
        """Samples of each of two datasets that take so long."""
        return seconds / self.pace


@dataclass(eq=False)
class _Tried:
    """A pair in the pilot, with the event that was chosen so far."""

    pair: Pair
    choice: Choice
    samples: list[tuple[Outputs, Outputs]] = field(default_factory=list)


def subject(attempt: Attempt, dataset: Dataset) -> MechanismTarget | FunctionTarget:
    """The program, to be sampled."""
    target, scope = attempt.target, attempt.scope
    if isinstance(target, Mechanism):
        mechanism = on_answers(target) if isinstance(scope, Answers | Stream) else target
        if not has_its_bulk(type(target)):
            mechanism = varied(mechanism, bulk=None)
        return MechanismTarget(attempt.name, "", mechanism)

    def call(_: Any, rng: Generator) -> Any:
        try:
            return target(put_in(attempt.handed_in, dataset), rng)
        except Exception as error:
            raise MechanismError(f"{attempt.name} raised {type(error).__name__}.") from error

    return FunctionTarget(attempt.name, "", call)


def has_its_bulk(kind: type[Mechanism]) -> bool:
    """Whether `bulk`, if there is one, is of the class that defines `run` or of one derived from it."""
    run, bulk = (
        next((place for place, each in enumerate(kind.__mro__) if name in vars(each)), None) for name in ("run", "bulk")
    )
    return bulk is None or run is None or bulk <= run


# --- events ---


Limit: TypeAlias = tuple[int, bool, float]
"""Which of the floats of an output, from 0; whether it is above a threshold, or at most it; the threshold."""


@dataclass(frozen=True)
class Pattern:
    """Outputs that are equal but for their floats, some of which are compared with thresholds.

    Args:
        shape: the output, with `NUMBER` in place of floats.
        limits: all of which hold.
    """

    shape: Any
    limits: tuple[Limit, ...] = ()

    def count(self, outputs: Outputs) -> int:
        """The number of outputs in the event."""
        return sum(
            int(self.marks(numbers).sum()) for shape, numbers in patterns(outputs).items() if shape == self.shape
        )

    def marks(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Which outputs of this shape are in the event, from their floats, shape (outputs, floats)."""
        inside = np.ones(len(numbers), dtype=bool)
        for place, above, threshold in self.limits:
            inside &= numbers[:, place] > threshold if above else numbers[:, place] <= threshold
        return inside

    @property
    def description(self) -> str:
        """The event in words."""
        names = itertools.count(1)
        shown = "output" if self.shape is NUMBER and self.limits else f"output is {_shown(self.shape, names)}"
        limits = [
            f"{'' if self.shape is NUMBER else f'x{place + 1} '}{'>' if above else '≤'} {threshold:.6g}"
            for place, above, threshold in self.limits
        ]
        if not limits:
            return shown
        return f"{shown}{' ' if self.shape is NUMBER else ' with '}{' and '.join(limits)}"


NUMBER = object()
"""Stands for a float in a pattern."""


def _shown(shape: Any, names: Iterator[int]) -> str:
    if shape is NUMBER:
        return f"x{next(names)}"
    if isinstance(shape, tuple):
        parts = [_shown(part, names) for part in shape]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if isinstance(shape, Structure):
        return f"{shape.kind}({', '.join(f'{name!r}: {_shown(part, names)}' for name, part in shape.items())})"
    return repr(shape)


def patterns(outputs: Outputs) -> dict[Any, np.ndarray[Any, Any]]:
    """The floats of outputs by their pattern, shape (outputs, floats)."""
    found: dict[Any, list[np.ndarray[Any, Any]]] = {}
    for block in outputs.blocks:
        rows = block.reshape(len(block), -1)
        if len(block):
            found.setdefault(_pattern(outcomes(block[:1])[0])[0], []).append(rows)
    listed: dict[Any, list[tuple[float, ...]]] = {}
    for value, times in itertools.chain(outputs.counts.items(), ((each, 1) for each in outputs.others)):
        shape, numbers = _pattern(value)
        listed.setdefault(shape, []).extend([numbers] * times)
    for shape, several in listed.items():
        found.setdefault(shape, []).append(np.array(several, dtype=np.float64).reshape(len(several), -1))
    return {shape: np.concatenate(several) for shape, several in found.items()}


def _pattern(value: Outcome) -> tuple[Any, tuple[float, ...]]:
    if isinstance(value, float):
        return NUMBER, (value,)
    if isinstance(value, tuple):
        parts = [_pattern(part) for part in value]
        return tuple(shape for shape, _ in parts), tuple(number for _, numbers in parts for number in numbers)
    if isinstance(value, Structure):
        shape, floats = _pattern(tuple(part for _, part in value.parts))
        return Structure(value.kind, tuple(zip((name for name, _ in value.parts), shape, strict=True))), floats
    return value, ()


@dataclass(frozen=True)
class Choice:
    """A pair and an event.

    Args:
        pair: the event is more likely on the first dataset.
        event: outputs.
        hits: outputs in the event among the pilot's samples of the first dataset and of the second.
        sizes: these samples.
        runs: fresh samples of each dataset that can be made.
    """

    pair: Pair
    event: Pattern | Event
    hits: tuple[int, int] = (0, 0)
    sizes: tuple[int, int] = (0, 0)
    runs: int = 0

    def bound(self, alpha: float) -> float:
        """The bound from fresh samples, if their shares are the limits of the pilot's counts with error alpha."""
        if not min(self.sizes):
            return -math.inf
        p, q = lower(self.hits[0], self.sizes[0], alpha=alpha), upper(self.hits[1], self.sizes[1], alpha=alpha)
        least = lower(int(p * self.runs), self.runs, alpha=ALPHA / 2)
        most = upper(math.ceil(q * self.runs), self.runs, alpha=ALPHA / 2)
        return math.log(least / most) if least else -math.inf


def choose(
    pair: Pair, samples: Sequence[tuple[Outputs, Outputs]], claimed: float, runs: int, *, last: bool
) -> Choice:
    """The event with the largest bound expected from so many fresh samples.

    A pattern if one is enough or the pilot goes on; otherwise a learned event, which takes longer.
    """
    simple = chosen_pattern(pair, samples, runs)
    if simple.bound(CAUTION) > ENOUGH * claimed or not last:
        return simple
    is_slow = any(outputs.uncounted for both in samples for outputs in both)
    learner = Learner(seed=0)
    for both in samples:
        if not is_slow or sum(learner.runs) + both[0].runs <= 2 * LEARNED_FROM:
            learner.add(*both)
    learner.refit()
    learned = learner.certify(epsilon=claimed, delta=0.0, runs=runs, alpha=ALPHA)
    ordered = pair[::-1] if learned.reverse else pair
    found = Choice(ordered, learned.event, (learned.x, learned.y), (learned.n, learned.m), runs)
    return max(simple, found, key=lambda each: each.bound(CAUTION))


def chosen_pattern(pair: Pair, samples: Sequence[tuple[Outputs, Outputs]], runs: int) -> Choice:
    """The pattern, with or without a threshold, that has the largest expected bound."""
    sides = [[patterns(each[side]) for each in samples] for side in (0, 1)]
    sizes = [sum(each[side].runs for each in samples) for side in (0, 1)]
    found = [_joined(side) for side in sides]
    often = {
        shape: sum(len(side[shape]) for side in found if shape in side) for shape in {**found[0], **found[1]}
    }
    best, most = Choice(pair, Pattern(())), -math.inf
    for shape in sorted(often, key=lambda each: -often[each])[:PATTERNS]:
        numbers = [side.get(shape, np.empty((0, 0))) for side in found]
        width = max(each.shape[1] for each in numbers)
        numbers = [each if len(each) else np.empty((0, width)) for each in numbers]
        limits = _limits(numbers, width)
        ours, bound = best_of(pair, [Pattern(shape), *(Pattern(shape, (limit,)) for limit in limits)],
                              numbers, sizes, runs)
        improved = width > 1
        while improved and isinstance(ours.event, Pattern) and len(ours.event.limits) < width:
            # one more number at a time
            taken = ours.event.limits
            places = {place for place, _, _ in taken}
            further = [Pattern(shape, (*taken, limit)) for limit in limits if limit[0] not in places]
            other, more = best_of(pair, further, numbers, sizes, runs)
            improved = more > bound
            if improved:
                ours, bound = other, more
        if bound > most:
            best, most = ours, bound
    return best


def best_of(
    pair: Pair, events: Sequence[Pattern], numbers: Sequence[np.ndarray[Any, Any]], sizes: Sequence[int], runs: int
) -> tuple[Choice, float]:
    """The one of some events of one shape with the largest cautious bound, and this bound.

    Args:
        pair: D and D′.
        events: of outputs of one shape.
        numbers: the floats of the outputs of this shape on each of the two datasets.
        sizes: all samples of each of them.
        runs: fresh samples that can be made.
    """
    best, most = Choice(pair, Pattern(())), -math.inf
    for event in events:
        x, y = (int(event.marks(each).sum()) for each in numbers)
        n, m = sizes
        one = Choice(pair, event, (x, y), (n, m), runs) if x * m > y * n else Choice(
            pair[::-1], event, (y, x), (m, n), runs
        )
        if (bound := one.bound(CAUTION)) > most:
            best, most = one, bound
    return best, most


def _joined(side: list[dict[Any, np.ndarray[Any, Any]]]) -> dict[Any, np.ndarray[Any, Any]]:
    joined: dict[Any, list[np.ndarray[Any, Any]]] = {}
    for each in side:
        for shape, numbers in each.items():
            joined.setdefault(shape, []).append(numbers)
    return {shape: np.concatenate(several) for shape, several in joined.items()}


def _limits(numbers: Sequence[np.ndarray[Any, Any]], width: int) -> list[Limit]:
    """Thresholds at quantiles of each number."""
    found: list[Limit] = []
    for place in range(min(width, MOST_NUMBERS)):
        both = np.concatenate([each[:, place] for each in numbers])
        for threshold in np.unique(np.quantile(both, np.linspace(0.01, 0.99, 31), method="lower")).tolist():
            found += [(place, True, threshold), (place, False, threshold)]
    return found


# --- pairs ---


def are_neighbours(scope: Scope, left: Dataset, right: Dataset) -> bool:
    """Whether both are datasets of the scope, and neighbours."""
    if isinstance(scope, Answers | Stream):
        if len(left) != len(right) or (isinstance(scope, Answers) and len(left) != scope.k):
            return False
        moves = [abs(exactly(x) - exactly(y)) for x, y in zip(left, right, strict=True)]
        if isinstance(scope, Answers) and scope.whole and any(
            exactly(each).denominator != 1 for each in (*left, *right)
        ):
            return False
        one = isinstance(scope, Answers) and scope.moves != "each"
        return all(move <= exactly(scope.by) for move in moves) and not (one and sum(map(bool, moves)) > 1)
    for record in (*left, *right):
        if isinstance(scope, Domain) and record not in scope.values:
            return False
        if isinstance(scope, Records) and not exactly(scope.low) <= exactly(record) <= exactly(scope.high):
            return False
    if scope.relation == "replace-one":
        return len(left) == len(right) == scope.n and sum(
            x != y for x, y in zip(left, right, strict=True)
        ) <= 1
    longer, shorter = sorted((left, right), key=len, reverse=True)
    return len(longer) == scope.n and len(shorter) == scope.n - 1 and any(
        longer[:place] + longer[place + 1:] == shorter for place in range(scope.n)
    )


def _distinct(pairs: Iterable[Pair], scope: Scope) -> Iterator[Pair]:
    seen = set()
    for left, right in pairs:
        key = frozenset((repr(left), repr(right)))
        # whatever the search made of them: the claim is about neighbours alone
        if left != right and key not in seen and are_neighbours(scope, left, right):
            seen.add(key)
            yield left, right


def candidate_pairs(attempt: Attempt, rng: Generator) -> Iterator[Pair]:
    """Pairs at which expensive paths are likely and their noise is in the tail, then extreme ones."""
    scope = attempt.scope
    lists: list[Iterator[Pair]] = []
    for each in [Answers(k, by=scope.by) for k in LENGTHS] if isinstance(scope, Stream) else [scope]:
        for path, vector, shift in expensive(attempt, each):
            lists.append(pairs_of_path(path, vector, shift, each, rng))
        lists.append(simple_pairs(each, constants(attempt.target)))
    # one of each in turn, because the pilot has little time
    for several in itertools.zip_longest(*lists):
        yield from (pair for pair in several if pair is not None)


def expensive(attempt: Attempt, scope: Scope) -> list[tuple[Finished, Vector, Vector | None]]:
    """The most expensive paths, each with its difference and shift; no shift where there is none."""
    if isinstance(scope, Stream) or (not isinstance(scope, Answers) and scope.relation != "replace-one"):
        return []
    size = scope.k if isinstance(scope, Answers) else scope.n
    try:
        found = attempt.paths(scope, size)
    except Unsupported:
        return []
    costs: list[tuple[float, int, Finished, Vector, Vector | None]] = []
    for path in sorted(found, key=lambda each: len(each.rows))[:MOST_ALIGNED]:
        constraints = tuple(Constraint(row.form.draws, row.kind == "equal", row.place) for row in path.rows)
        try:
            vectors = differences([row.form for row in path.rows], [row.equal for row in constraints], scope)
            aligned = align(path.draws, constraints, vectors)
        except NoShift as failure:
            costs.append((-math.inf, len(path.rows), path, failure.vector, None))
        except Unsupported:
            continue
        else:
            place = max(range(len(aligned.costs)), key=lambda index: aligned.costs[index])
            costs.append(
                (-float(aligned.costs[place]), len(path.rows), path, aligned.vectors[place], aligned.shifts[place])
            )
    # the shortest of them is the most likely, the longest pushes the noise furthest out
    worst = [each for each in costs if each[0] <= costs[0][0] * (1 - 1e-9)]
    return [worst[place][2:] for place in dict.fromkeys((len(worst) // 2, 0, len(worst) - 1))] if worst else []


def constants(target: Any) -> list[float]:
    """Numbers in a program, which may be thresholds."""
    code = getattr(target, "__code__", None)
    held = [*vars(target).values()] if isinstance(target, Mechanism) else [
        *(getattr(target, "__defaults__", None) or ()), *(code.co_consts if code is not None else ()),
    ]
    numbers = [float(each) for each in held if type(each) in (int, float) and abs(each) <= 1e6]
    return list(dict.fromkeys([0.0, *numbers]))[:4]


def simple_pairs(scope: Scope, thresholds: Sequence[float]) -> Iterator[Pair]:
    """Extreme datasets and their neighbours."""
    if isinstance(scope, Answers):
        grid = _Grid(scope)
        k, by = scope.k, grid.by
        patterns_of = [tuple(by if place == at else 0 for place in range(k)) for at in {0, k - 1}]
        if scope.moves == "each":
            patterns_of = [
                (by,) * k, (*(by,) * (k - 1), -by), (by, *(-by,) * (k - 1)),
                tuple(by if place < k // 2 else -by for place in range(k)),
                tuple(by if place % 2 else -by for place in range(k)), *patterns_of,
            ]
        for threshold, moves in itertools.product(thresholds, patterns_of):
            yield grid.pair([threshold] * k, moves)
        return
    if isinstance(scope, Stream):
        return
    values: list[Any] = list(scope.values) if isinstance(scope, Domain) else [
        float(scope.low), float(scope.high), (float(scope.low) + float(scope.high)) / 2,
    ]
    bases = [(value,) * scope.n for value in values[:6]]
    bases.append(tuple(values[place % 2] for place in range(scope.n)))
    for base in bases:
        for place in (0, scope.n - 1):
            if scope.relation == "add-remove-one":
                for value in values[:6]:
                    larger = (*base[:place], value, *base[place + 1:])
                    yield larger, larger[:place] + larger[place + 1:]
            else:
                for value in values[:6]:
                    if value != base[place]:
                        yield base, (*base[:place], value, *base[place + 1:])


class _Grid:
    """Answers as floats that differ by at most `by`, computed without rounding."""

    def __init__(self, scope: Answers) -> None:
        self.whole = scope.whole
        power = 2.0 ** math.floor(math.log2(float(scope.by)))
        # few digits where that loses nothing
        finest = power / (64 if exactly(scope.by) % Fraction(power / 64) == 0 else 1 << 20)
        self.unit = 1.0 if scope.whole else finest
        self.by = math.floor(exactly(scope.by) / Fraction(self.unit)) * self.unit

    def pair(self, answers: Iterable[float], moves: Iterable[float]) -> Pair:
        """The answers, rounded, and the answers moved."""
        left = [round(float(answer) / self.unit) * self.unit for answer in answers]
        right = [answer + move for answer, move in zip(left, moves, strict=True)]
        kind: Callable[[float], Any] = int if self.whole else float
        return tuple(map(kind, left)), tuple(map(kind, right))


def pairs_of_path(
    path: Finished, vector: Vector, shift: Vector | None, scope: Scope, rng: Generator
) -> Iterator[Pair]:
    """Pairs that differ as a path's most expensive difference says.

    D is such that the path's rows are about to fail where the draws that are shifted lie so many scales out, in the
    direction of their shift: there, each of them costs all that its shift costs.
    """
    if not path.rows:
        return
    widths = [float(draw.scale) for draw in path.draws]
    moved = [0.0] * len(widths) if shift is None else [float(each) for each in shift]
    directions = np.sign(moved) * widths
    noise = np.array([[float(row.form.draws.get(index, 0)) for index in range(len(widths))] for row in path.rows])
    unit = max(widths, default=1.0)
    for far, slack in ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (0.5, 1.0), (0.0, -1.0)):
        offsets = (noise @ (far * directions) if len(widths) else np.zeros(len(path.rows))) - slack * unit
        if isinstance(scope, Answers):
            yield from _answers(path, vector, scope, offsets)
        elif not isinstance(scope, Stream):
            yield from _records(path, vector, scope, offsets, rng)


def _answers(path: Finished, vector: Vector, scope: Answers, offsets: np.ndarray[Any, Any]) -> Iterator[Pair]:
    from scipy.optimize import linprog, lsq_linear

    slopes = np.zeros((len(path.rows), scope.k))
    for place, row in enumerate(path.rows):
        for index, function in row.form.records.items():
            slopes[place, index] = _slope(function)
    grid = _Grid(scope)
    fit = lsq_linear(slopes, np.array([float(each) for each in vector]), bounds=(-grid.by, grid.by))
    if scope.moves != "each":
        largest = int(np.abs(fit.x).argmax())
        moves = [math.copysign(grid.by, fit.x[index]) if index == largest else 0.0 for index in range(scope.k)]
    else:
        moves = [math.copysign(grid.by, each) if abs(each) > grid.by / 4 else 0.0 for each in fit.x]
    keep = [place for place, row in enumerate(path.rows) if row.kind == "keep" and row.form.records]
    answers = np.zeros(scope.k)
    read = sorted({index for row in path.rows for index in row.form.records})
    if keep:
        # rows that fail cost more than rows that hold easily; answers cost a little, so that they stay small
        a, c = slopes[keep], np.array([float(path.rows[place].form.constant) for place in keep]) + offsets[keep]
        r = len(keep)
        found = linprog(
            np.concatenate([np.full(2 * scope.k, 1e-6), np.ones(r), np.full(r, 3.0)]),
            A_eq=np.hstack([a, -a, -np.eye(r), np.eye(r)]), b_eq=-c, bounds=(0, None), method="highs",
        )
        if found.x is None:
            return
        answers = found.x[:scope.k] - found.x[scope.k:2 * scope.k]
    for index in range(scope.k):
        if read and index not in read:
            # what comes after the end of this path belongs to similar paths
            answers[index], moves[index] = answers[read[-1]], moves[read[-1]] if scope.moves == "each" else 0.0
    if np.abs(answers).max() < 1e6 * grid.by:
        yield grid.pair(answers.tolist(), moves)


def _slope(function: RecordFunction) -> float:
    match function:
        case Piecewise():
            return float(max((slope for slope, _ in function.between), key=abs))
        case Rounded():
            return float(function.factor * function.slope)
    return 0.0


def _records(
    path: Finished, vector: Vector, scope: Records | Domain, offsets: np.ndarray[Any, Any], rng: Generator
) -> Iterator[Pair]:
    points = _points(path, scope)
    values = np.zeros((scope.n, len(points), len(path.rows)))
    for place, row in enumerate(path.rows):
        for index, function in row.form.records.items():
            for number, point in enumerate(points):
                record = number if isinstance(scope, Domain) else exactly(point)
                # what also depends on former outputs is left at 0: this only orders pairs
                with contextlib.suppress(NotOfRecord):
                    values[index, number, place] = float(of_record(function, record))
    wanted = np.array([float(each) for each in vector])
    some = values[:MOST_CHANGED]
    changes = some[:, None, :, :] - some[:, :, None, :]
    distance = np.abs(changes - wanted).sum(axis=3)
    # pairs of records with the wanted difference, those of ends and cuts first
    closest = np.argwhere(distance <= distance.min() + 1e-9)
    closest = closest[np.argsort(closest[:, 1:].sum(axis=1), kind="stable")]
    keep = np.array([row.kind == "keep" for row in path.rows])
    constant = np.array([float(row.form.constant) for row in path.rows]) + offsets
    for number, (changed, first, last) in enumerate(closest[[0, int(rng.integers(len(closest)))]].tolist()):
        places = rng.integers(len(points), size=scope.n) if number else np.zeros(scope.n, dtype=np.int64)
        places[changed] = first
        total = constant + values[np.arange(scope.n), places].sum(axis=0)
        for _ in range(3):
            for index in range(scope.n):
                if index != changed and keep.any():
                    others = total - values[index, places[index]]
                    options = (others + values[index])[:, keep]
                    places[index] = int(np.where(options < 0, -3 * options, options).sum(axis=1).argmin())
                    total = others + values[index, places[index]]
        base = [points[place] for place in places.tolist()]
        yield tuple(base), (*base[:changed], points[last], *base[changed + 1:])


def _points(path: Finished, scope: Records | Domain) -> list[Any]:
    """Values of records: those of a domain; the ends, the cuts and both sides of the cuts in an interval."""
    if isinstance(scope, Domain):
        return list(scope.values[:MOST_POINTS])
    low, high = float(scope.low), float(scope.high)
    cuts = {
        float(cut) for row in path.rows for function in row.form.records.values() if isinstance(function, Piecewise)
        for cut in function.cuts
    }
    step = TINY * (high - low)
    clean = [low, high, *sorted(cuts - {low, high})]
    beside = [cut + side for cut in clean for side in (-step, step) if low < cut + side < high]
    return [*clean, *(point for point in beside if point not in clean)][:MOST_POINTS]
