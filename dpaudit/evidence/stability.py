"""The search for a violation of stability: two related datasets whose outputs are farther apart than is claimed.

A function without randomness is called once on each dataset, and the distance of its outputs is a rational number. So
a violation is certain, and where all pairs of a finite domain are tried, so is that there is none. Otherwise the pairs
are those of every search of dpaudit: what a good tester would try first, then a climb whose score is the distance over
what the claim allows, and `minimize` on the pair that violates it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice

from numpy.random import default_rng

from dpaudit.adversary import Pair, every_pair
from dpaudit.adversary.pairs.climb import climb
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.minimize import minimize
from dpaudit.adversary.pairs.mutations import RecordMutations
from dpaudit.adversary.pairs.observed import table_pairs
from dpaudit.adversary.pairs.pair import sized
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.errors import DatasetError, MechanismError, TimeLimitError, UsageError
from dpaudit.evidence.output_distance import Distance, output_distance
from dpaudit.language import Dataset
from dpaudit.language.records import is_number, leaves_of
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Raised
from dpaudit.plans.stability import StabilityJob
from dpaudit.results.model import Verdict
from dpaudit.results.plain import one_line
from dpaudit.results.reasons import duration
from dpaudit.results.stability import StabilityCode, shown_number
from dpaudit.results.stream import Progress
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.user_errors import guarded

MOST_ENUMERATED = 20_000
"""Pairs of a finite domain that are all tried; a larger domain is searched."""
MOST_DATASETS = 2_000
"""Datasets of such a domain."""
MOST_IN_ANY_ORDER = 4
"""Records of a dataset whose orders are all tried."""
CALLED_TWICE = 20
"""Datasets, from the first, on which the function is called twice, to see whether its output is always the same."""
CALLED_AGAIN = 3
"""Further calls on both datasets of a violation."""
MINIMIZE_TRIES = 2_000
ROUNDINGS = 8
"""An excess of so many roundings of every number, and of these many more, is taken for rounding, where exact numbers
cannot tell."""
SHOWN_EVERY = 8
"""Pairs between two reports of progress."""
_LONGEST_OUTPUT = 200


@dataclass(frozen=True)
class Tried:
    """The function on one pair.

    Args:
        pair: the two datasets.
        outputs: what it returned or raised.
        distance: of the outputs.
        allowed: what the claim allows.
        rounding: whether the excess is that of rounding.
    """

    pair: Pair
    outputs: tuple[object, object]
    distance: Distance
    allowed: Fraction
    rounding: bool = False

    @property
    def violated(self) -> bool:
        """Whether the claim is violated, for certain."""
        return self.distance.exceeds(self.allowed)

    @property
    def kind(self) -> StabilityCode:
        """What kind of violation it is."""
        if self.distance.raises:
            return StabilityCode.RAISES
        if self.distance.value is None:
            return StabilityCode.INFINITE
        return StabilityCode.ROUNDING if self.rounding else StabilityCode.EXCEEDS

    @property
    def score(self) -> float:
        """The distance over what is allowed."""
        distance = float(self.distance)
        return distance / float(self.allowed) if self.allowed else math.inf if distance else 0.0

    @property
    def excess(self) -> float | None:
        """By how much the distance exceeds what is allowed; None where it does not, or infinitely."""
        if not self.violated or self.distance.value is None:
            return None
        if self.distance.squared:
            return max(0.0, float(self.distance) - float(self.allowed))
        return float(self.distance.value - self.allowed)

    def shown(self) -> list[str]:
        """Both outputs as text."""
        return [one_line(repr(output), most=_LONGEST_OUTPUT) for output in self.outputs]


@dataclass
class StabilityFindings:
    """What an audit of stability found; it is filled on the way.

    Args:
        worst: the violation, or else the pair with the largest share of what is allowed.
        pairs: pairs whose distance was computed.
        skipped: pairs with a dataset that the function refuses, or on both of which it raised.
        domain: the finite domain, if all its pairs were tried.
        late: whether the time limit ended the search.
        notes: sentences for the report.
    """

    worst: Tried | None = None
    pairs: int = 0
    skipped: int = 0
    domain: str | None = None
    late: bool = False
    notes: list[str] = field(default_factory=list)
    refusal: str = ""
    """Why the first skipped pair was."""


def find_violation(
    job: StabilityJob, findings: StabilityFindings, *, seed: int, most: int, limit: float | None
) -> Generator[Progress, None, None]:
    """Try pairs until one violates the claim by more than rounding, or all are tried, or `most`, or the time is over.

    Raises:
        UsageError: the function is not deterministic.
        MechanismError: it raises on every dataset, or its outputs do not suit the metric.
    """
    search = _Search(job, findings, most, limit)
    if job.pair is not None:
        given = Pair(*job.pair, "given", "given")
        given.distance(job.relation)
        try:
            search.tries(given)
        except TimeLimitError:
            findings.late = True
    else:
        assert job.records is not None
        try:
            yield from search.run(job.records, seed)
        except TimeLimitError:
            findings.late = True
    worst = findings.worst
    if worst is not None and worst.violated:
        yield search.progress("violated; minimising the pair")
        findings.worst = search.confirmed(search.minimized(worst) if job.pair is None else worst)
    elif not findings.pairs and findings.skipped and search.failure is not None:
        raise search.failure


class _Search:
    """A search in progress."""

    def __init__(self, job: StabilityJob, findings: StabilityFindings, most: int, limit: float | None) -> None:
        self.job, self.findings, self.most = job, findings, most
        self.runner = Runner(1, limit, time.monotonic())
        self.outputs: dict[Dataset, object] = {}
        self.tried: dict[tuple[Dataset, Dataset], Tried | None] = {}
        self.failure: MechanismError | None = None
        self.of = most

    # -- pairs

    def run(self, records: Records, seed: int) -> Iterator[Progress]:
        """Every pair of a small domain, or else a search."""
        job = self.job
        rng = default_rng([seed, 0x57AB])
        if job.table is not None:
            starts = table_pairs(job.relation, records, job.table, rng)
        else:
            pairs = self._domain(records)
            if pairs is not None:
                yield from self._enumerated(pairs, records)
                return
            least = job.size if job.sizes is not None else 1
            sizes = [size for size in (1, 2, 3, job.size) if size >= least]
            starts = [p for size in dict.fromkeys(sizes) for p in starting_pairs(job.relation, records, size, rng)]
        starts = [pair for pair in self._reordered(starts) if sized(pair, job.sizes)]
        if not starts:
            raise UsageError(f"The description has no two datasets that are {job.relation.name} neighbours.")
        neighbourhood = RecordMutations(job.relation, records, job.size, job.sizes)
        yield self.progress()
        while not self.over:
            before = len(self.tried)
            for _ in climb(starts, self._score, neighbourhood, rng=rng, stop=lambda: self.over, every=SHOWN_EVERY):
                yield self.progress()
            if len(self.tried) == before:
                # there is nothing else
                return
            starts = neighbourhood.starts(rng) + neighbourhood.around(starts[:1], rng)
            starts = [pair for pair in self._reordered(starts) if sized(pair, job.sizes)] or starts

    def _domain(self, records: Records) -> list[Pair] | None:
        """Every pair of the datasets of these records, where there are few."""
        job = self.job
        values, (least, most) = records.every(MOST_DATASETS), self._sizes
        if values is None or (job.any_order and most > MOST_IN_ANY_ORDER) or job.relation.kind == "users":
            # users have any number of records
            return None
        if sum(len(values) ** n for n in range(least, most + 1)) > MOST_DATASETS:
            return None
        every = (p for p in every_pair(job.relation, values, most, ordered=True) if sized(p, (least, most)))
        pairs = list(islice(every, MOST_ENUMERATED + 1))
        return pairs if len(pairs) <= MOST_ENUMERATED else None

    @property
    def _sizes(self) -> tuple[int, int]:
        """Least and most records of a dataset of a domain that is enumerated."""
        if self.job.sizes is not None:
            return self.job.sizes
        return (0, self.job.size) if self.job.relation.kind == "add-remove-one" else (self.job.size,) * 2

    def _enumerated(self, pairs: list[Pair], records: Records) -> Iterator[Progress]:
        self.most = self.of = len(pairs)
        values = records.every(MOST_DATASETS) or ()
        for number, pair in enumerate(pairs):
            if number % SHOWN_EVERY == 0:
                yield self.progress()
            self.tries(pair)
            if self.over:
                break
        if len(self.tried) == len(pairs):
            least, most = self._sizes
            size = str(most) if least == most else f"at most {most}" if not least else f"{least} to {most}"
            of = f"datasets of {size} records, each one of {len(values)} values"
            self.findings.domain = f"all {len(pairs):,} pairs of {of}"

    def _reordered(self, pairs: list[Pair]) -> list[Pair]:
        """The pairs, and if records may come in any order those with D′ reversed and with the same records as D."""
        if not self.job.any_order:
            return pairs
        more = [
            replace(pair, left=left, right=right, label=f"{pair.label}, in another order")
            for pair in pairs
            for left, right in (
                (pair.left, tuple(pair.right)[::-1]), (pair.left, tuple(pair.left)[::-1]),
                (pair.right, tuple(pair.right)[::-1]),
            )
            if left != right
        ]
        together = zip(pairs, more, strict=False)
        mixed = [one for both in together for one in both]
        return [*mixed, *pairs[len(mixed) // 2 :], *more[len(mixed) // 2 :]]

    # -- one pair

    @property
    def over(self) -> bool:
        """Whether the search ends: at a violation, and when the budget or the time is spent."""
        worst = self.findings.worst
        if worst is not None and worst.violated and not worst.rounding:
            return True
        if self.runner.left is not None and self.runner.left <= 0:
            self.findings.late = len(self.tried) < self.most
        return self.findings.late or len(self.tried) >= self.most

    def progress(self, what: str = "") -> Progress:
        """How far it is."""
        worst = self.findings.worst
        best = "" if worst is None or worst.violated else f", {worst.score:.3g} of what is allowed at most"
        return Progress(min(len(self.tried), self.of), self.of, what or f"{len(self.tried):,} pairs tried{best}", None)

    def _score(self, pair: Pair, effort: int) -> float:
        tried = self.tries(pair)
        return -math.inf if tried is None else tried.score

    def tries(self, pair: Pair) -> Tried | None:
        """The function on a pair, which counts; None where it refuses a dataset, or raises on both."""
        key = pair.left, pair.right
        if key not in self.tried:
            tried = self.tried[key] = self.on(pair)
            findings = self.findings
            if tried is None:
                findings.skipped += 1
            else:
                findings.pairs += 1
                if findings.worst is None or _rank(tried) > _rank(findings.worst):
                    findings.worst = tried
        return self.tried[key]

    def on(self, pair: Pair) -> Tried | None:
        """The function on a pair."""
        try:
            left, right = (self.output(dataset) for dataset in (pair.left, pair.right))
        except DatasetError as error:
            self.findings.refusal = self.findings.refusal or str(error)
            return None
        if isinstance(left, Raised) and isinstance(right, Raised):
            self.failure = self.failure or MechanismError(
                f"{self.job.target.name} {left!r} on both datasets of every pair that was tried ({left.where})."
            )
            return None
        distance = output_distance(self.job.metric, left, right, self.job.target.name)
        steps = self.job.relation.distance(pair.left, pair.right)
        assert steps is not None
        tried = Tried(pair, (left, right), distance, self.job.allowed(steps))
        return replace(tried, rounding=tried.violated and self._rounds(tried))

    def output(self, dataset: Dataset) -> object:
        """What the function returns or raises on a dataset.

        Raises:
            DatasetError: it refuses the dataset.
            UsageError: two calls return different outputs.
        """
        if dataset not in self.outputs:
            output = self._call(dataset)
            if len(self.outputs) < CALLED_TWICE:
                self._same(dataset, output, self._call(dataset))
            self.outputs[dataset] = output
        return self.outputs[dataset]

    def _call(self, dataset: Dataset, *, limited: bool = True) -> object:
        target = self.job.target
        with self.runner.guarded(target.name) if limited else guarded(target.name):
            # a function of this form gets no generator, and ignores what stands in its place
            return target.outcome(target.given(dataset)(), default_rng(0))

    def _same(self, dataset: Dataset, one: object, other: object) -> None:
        if isinstance(one, Raised) or isinstance(other, Raised):
            same = type(one) is type(other) and one == other
        else:
            distance = output_distance(_WITH[self.job.metric], one, other, self.job.target.name)
            same = distance.value == 0
        if not same:
            name, shown = self.job.target.name, one_line(repr(list(plain_records(dataset))), most=_LONGEST_OUTPUT)
            raise UsageError(
                f"{name} is not deterministic: on {shown} it returned {one_line(repr(one), most=80)} and then "
                f"{one_line(repr(other), most=80)}. Stability is about functions without randomness; a mechanism "
                "f(dataset, rng) is audited with `dpaudit check`."
            )

    # -- violations

    def _rounds(self, tried: Tried) -> bool:
        """Whether the excess is due to the rounding of floats.

        The function is called again on the same numbers as `Fraction`; if it can compute with them, the distance of
        these outputs decides. Otherwise the size of the excess does.
        """
        if tried.distance.value is None or tried.distance.raises:
            return False
        leaves = [leaf for dataset in (tried.pair.left, tried.pair.right) for one in dataset for leaf in leaves_of(one)]
        numbers = [abs(Fraction(leaf)) for leaf in leaves if is_number(leaf)]
        outputs = [*_numbers_in(tried.outputs[0]), *_numbers_in(tried.outputs[1])]
        if not any(isinstance(number, float) for number in outputs):
            return False
        if self.job.target.container is None and all(map(is_number, leaves)):
            exact = [tuple(_rational(one) for one in dataset) for dataset in (tried.pair.left, tried.pair.right)]
            try:
                with self.runner.guarded(self.job.target.name):
                    left, right = (self.job.target.subject(list(dataset), None) for dataset in exact)
                if all(isinstance(number, int | Fraction) for one in (left, right) for number in _numbers_in(one)):
                    distance = output_distance(self.job.metric, left, right, self.job.target.name)
                    return not distance.exceeds(tried.allowed)
            except Exception:
                # it takes floats alone
                pass
        largest = max((*numbers, tried.allowed, *(abs(Fraction(n)) for n in outputs if math.isfinite(n))))
        unit = Fraction(2) ** (-23 if any(_is_single(output) for output in tried.outputs) else -52)
        return not tried.distance.exceeds(tried.allowed + ROUNDINGS * (len(leaves) + ROUNDINGS) * unit * largest)

    def minimized(self, worst: Tried) -> Tried:
        """The smallest pair with a violation of the same kind."""
        found = {(worst.pair.left, worst.pair.right): worst}

        def violates(pair: Pair) -> bool:
            try:
                tried = self.on(pair)
            except TimeLimitError:
                return False
            if tried is None or not tried.violated or tried.kind is not worst.kind:
                return False
            found[pair.left, pair.right] = tried
            return True

        small = minimize(
            worst.pair, violates, relation=self.job.relation, records=self.job.records, budget=MINIMIZE_TRIES,
            sizes=self.job.sizes,
        )
        tried = found[small.pair.left, small.pair.right]
        return replace(tried, pair=replace(tried.pair, source="shrunk" if small.steps else tried.pair.source))

    def confirmed(self, worst: Tried) -> Tried:
        """The same, if its outputs come again.

        Raises:
            UsageError: they do not.
        """
        for dataset, output in zip((worst.pair.left, worst.pair.right), worst.outputs, strict=True):
            for _ in range(CALLED_AGAIN):
                self._same(dataset, output, self._call(dataset, limited=False))
        return worst


_WITH = {
    "absolute": "absolute", "l1": "l1", "l2": "l1", "linf": "l1", "symmetric": "symmetric",
    "insert-delete": "insert-delete", "change-one": "change-one", "hamming": "hamming", "discrete": "discrete",
}
"""The metric by which two outputs on one dataset are compared: 0 where they are equal to that metric."""


def _rank(tried: Tried) -> tuple[bool, bool, float]:
    """Violations first, those by more than rounding before others, larger ones before smaller ones."""
    return tried.violated, tried.violated and not tried.rounding, tried.score


def _rational(record: object) -> object:
    """A record with its numbers as `Fraction`."""
    if isinstance(record, tuple):
        return tuple(map(_rational, record))
    return Fraction(record) if isinstance(record, int | float) and not isinstance(record, bool) else record


def _is_single(output: object) -> bool:
    """Whether it is in single precision."""
    return str(getattr(output, "dtype", "")) in ("float32", "float16")


def _numbers_in(output: object) -> list[int | float | Fraction]:
    """All numbers of an output."""
    if isinstance(output, dict):
        return [number for value in output.values() for number in _numbers_in(value)]
    if hasattr(output, "tolist"):
        return _numbers_in(output.tolist())
    if isinstance(output, list | tuple):
        return [number for value in output for number in _numbers_in(value)]
    return [output] if isinstance(output, int | float | Fraction) and not isinstance(output, bool) else []


def concluded(job: StabilityJob, findings: StabilityFindings, seconds: float | None) -> tuple[
    Verdict, StabilityCode, str
]:
    """The verdict, and why."""
    worst, name = findings.worst, job.target.name
    if worst is not None and worst.violated:
        return Verdict.FAIL, worst.kind, _violation(job, worst)
    if worst is None:
        late = f"The time limit came before {name} had returned on both datasets of a pair; raise it."
        why = f" ({findings.refusal.rstrip('.')})" if findings.refusal else ""
        none = f"{name} returned on both datasets of none of the {findings.skipped} pairs that were tried{why}."
        return Verdict.INCONCLUSIVE, StabilityCode.NOTHING_TRIED, late if findings.late else none
    most = f"; the largest distance is {worst.distance.shown()} where {shown_number(worst.allowed)} is allowed"
    if findings.domain is not None and not findings.skipped:
        return Verdict.PASS, StabilityCode.PROVED, f"No pair violates the claim: {findings.domain}{most}."
    late = f" in {duration(seconds)}" if findings.late and seconds is not None else ""
    pairs = "1 pair" if findings.pairs == 1 else f"{findings.pairs:,} pairs"
    return Verdict.PASS, StabilityCode.NOT_VIOLATED, (
        f"No violation was found on the {pairs} tried{late}{most}. This is not a proof."
    )


def _violation(job: StabilityJob, worst: Tried) -> str:
    name, allowed = job.target.name, shown_number(worst.allowed)
    if worst.distance.raises:
        return (
            f"{name} does not return on both datasets: {worst.distance.why}. Whoever sees the output sees that; if no "
            "such dataset can occur, leave it out of the description of the data."
        )
    if worst.distance.value is None:
        return f"The outputs have no finite distance, where {allowed} is allowed: {worst.distance.why}."
    apart = f"The outputs are {worst.distance.shown()} apart, where {allowed} is allowed"
    if worst.rounding:
        return (
            f"{apart}: {worst.excess:.3g} too much, by the rounding of floats. A sum of floats depends on the order "
            "and the size of its terms. Compute with whole numbers, or claim a little more and add noise for that."
        )
    return f"{apart}."
