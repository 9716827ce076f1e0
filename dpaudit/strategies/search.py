"""Search for the worst pair of neighbours with Hypothesis: its mutations, `target`, shrinker and example database.

Only Hypothesis knows what a strategy can draw, so it does the mutating and shrinking; the objective is the same as in
all searches by samples (`SampledObjective`). An example is a pair. A few samples estimate its ε, which
`hypothesis.target` maximises. If a pair looks worse than all previous ones, the claim is tested on it, and if it is
refuted, Hypothesis shrinks the pair. All pairs use the same random streams, so that estimates differ only because the
pairs do; the best few are then compared on other samples. Everything here is sampled in the phase SEARCH of the seed:
the verdict on the result comes from an audit, which samples in other phases.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import Any
from unittest import SkipTest

import hypothesis
from hypothesis import Phase
from hypothesis.database import ExampleDatabase
from hypothesis.errors import NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.alignment import usable
from dpaudit.adversary.pairs.minimize import size_of
from dpaudit.errors import DpauditError, TimeLimitError, UsageError
from dpaudit.evidence.estimate import LEAST_RUNS, SampledObjective, Tried
from dpaudit.evidence.first_calls import OnlyFailures
from dpaudit.evidence.sampling import SEARCH
from dpaudit.language import Claim, Dataset, Mechanism, Relation
from dpaudit.language.checks import whole
from dpaudit.language.containers import Container
from dpaudit.language.relation import plain_records
from dpaudit.options import DEFAULT_SIZE
from dpaudit.plans import registry
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, GivenPairs
from dpaudit.plans.request import Request
from dpaudit.plans.subject import resolved
from dpaudit.results.datasets import as_dataset
from dpaudit.results.given_data import given_pair
from dpaudit.results.stream import AuditStarted, Event, Progress
from dpaudit.strategies.datasets import exceptional_records, quiet_settings, with_some
from dpaudit.strategies.neighbours import Neighbours, neighbours
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Target, function_target

DEFAULT_EXAMPLES = 500
"""Most pairs that a search estimates."""
RACE = ((12, 4), (6, 16))
"""The final comparison: the number of pairs, and the samples of each as a multiple of those of an estimate."""
GROWTH = 1.5
"""Growth of a test's samples from batch to batch; large, because many pairs need a quick answer."""
KEPT = 3
"""Number of pairs of each kind kept in the database."""
ERROR = 0.001
"""Error probability of the e-process that decides whether the claim seems refuted on a pair."""
KEPT_PHASES = (Phase.reuse, Phase.shrink)
"""Hypothesis phases of the first part: pairs kept by earlier searches."""
PHASES = (Phase.generate, Phase.target, Phase.shrink)
"""Hypothesis phases of the second part: new pairs, targeting from halfway on, and shrinking a refuting pair."""
ESTIMATES, TESTS, RACES, CONFIRMED = range(4)
"""Uses of the phase; each has its own random streams, the same for all pairs."""


def find_pairs(
    f: Mechanism | Callable[..., object] | str,
    data: SearchStrategy[object],
    relation: Relation,
    claim: Claim,
    *,
    seed: int,
    runs: int,
    examples: int = DEFAULT_EXAMPLES,
    key: bytes | None = None,
    size: int | None = None,
    time: float | None = None,
    call_time: float | None = None,
    tell: Callable[[Event], object] | None = None,
) -> list[tuple[Dataset, Dataset]]:
    """The pairs of neighbours on which a claim seems to be violated most, worst first.

    If the claim seems refuted, this is a single pair: the smallest to which Hypothesis could shrink it. Audit the
    result on fresh samples: an audit with the same seed draws them in separate phases. Without a key the search is a
    function of its arguments. With a key, stored pairs are tried first. If none of them refutes, the search runs as
    with an empty database, and its best pairs are compared with the stored ones; pairs that it stored itself change
    nothing.

    Args:
        f: the mechanism or function, or its name.
        data: a strategy of pairs, as returned by `neighbours`, or of records, whose neighbours under the relation are
            then drawn.
        relation: the relation of the pairs.
        claim: the claim to refute, under that relation.
        seed: the seed of the search and of its samples.
        runs: the audit's samples per dataset and pair. The estimates may use as many or slightly more, the tests as
            many, shrinking as many, and the final comparison a fraction.
        examples: the largest number of pairs to estimate.
        key: the key under which Hypothesis's example database (of the current profile) stores the worst pairs, and
            from which the search starts; None to store nothing. `database_key` makes one.
        size: the largest number of records of a dataset, if `data` is a strategy of records.
        time: time limit in seconds, after which the best pairs so far are returned.
        call_time: time limit in seconds of one call of a function; exceeding it is an outcome.
        tell: called with the events of the search: its start, and the progress after every pair.

    Raises:
        UsageError and its subclasses: an invalid function, an unknown name, a strategy that yields no pair.
    """
    whole("examples", examples, least=1)
    whole("seed", seed, least=0)
    claim = claim.under(relation) if claim.relation != relation else claim
    pairs = _pairs(data, relation, size)
    target = _target(f, call_time)
    if isinstance(target, FunctionTarget):
        target = replace(target, container=drawn_container(data))
    job = GivenPairs(
        target=target, label="a search by Hypothesis", claim=claim, replay="", runs=whole("runs", runs, least=1)
    )
    objective = SampledObjective(job, Runner(seconds=time), seed)
    search = _Search(objective, examples, tell)
    if tell is not None:
        tell(AuditStarted(target.name, job.label, str(claim), examples))
    # a profile for continuous integration may have no database
    database = hypothesis.settings().database if key is not None else None
    try:
        return _found(pairs, search, database, key, seed)
    except _OnlyFailsError as failing:
        # the audit of this pair says how
        return [_plain(failing.pair)]


def _found(
    pairs: SearchStrategy[object], search: _Search, database: ExampleDatabase | None, key: bytes | None, seed: int
) -> list[tuple[Dataset, Dataset]]:
    """The worst pairs; the search starts from those in the database, if there is one.

    Raises:
        _OnlyFailsError: the function raises in every call.
        UsageError: as `find_pairs`.
    """
    examples = search.examples
    if database is None or key is None:
        smallest = _smallest(pairs, search, quiet_settings(examples, None, PHASES), seed)
        return _confirmed(search, smallest) or search.best(smallest)
    # with separate answers, so that pairs from earlier searches do not steer this one
    again = _Search(search.objective, examples, search.tell)
    kept = _Under(key, database, again)
    try:
        if chosen := _confirmed(again, _smallest_kept(pairs, again, quiet_settings(examples, kept, KEPT_PHASES), seed)):
            return chosen
        kept.search, kept.reads = search, False
        smallest = _smallest(pairs, search, quiet_settings(examples, kept, PHASES), seed)
    finally:
        kept.reads = True
        kept.forget_all_but(KEPT)
    return _confirmed(search, smallest) or search.best(smallest, beside=again)


def drawn_container(data: SearchStrategy[Any]) -> Container | None:
    """What the datasets of a strategy of pairs are: arrays or frames; None for lists, and for strategies of records.

    Raises:
        DatasetError: the two datasets of the simplest pair differ in their columns or types.
    """
    try:
        drawn = hypothesis.find(data, lambda value: True, settings=quiet_settings(10, None, PHASES), random=Random(0))
    except (NoSuchExample, Unsatisfiable):
        return None
    return given_pair(drawn.left, drawn.right).container if isinstance(drawn, Neighbours) else None


def database_key(f: Mechanism | Callable[..., object] | str, claim: Claim, *, where: str = "") -> bytes:
    """The key under which the example database stores the pairs of a function and a claim.

    The key depends on the function's name, not its source code: after a fix, the pair that refuted it is tried first.
    For functions without a unique name (lambdas and nested functions) it depends on the source code as well.

    Args:
        where: the caller of the search, for example a test: callers do not share their pairs.
    """
    name = f if isinstance(f, str) else repr(f) if isinstance(f, Mechanism) else _named(f)
    return hashlib.sha256(f"dpaudit pairs\n{where}\n{name}\n{claim}".encode()).digest()


def _confirmed(search: _Search, smallest: Pair | None) -> list[tuple[Dataset, Dataset]]:
    return [_plain(smallest)] if smallest is not None and search.confirmed(smallest) else []


def _comparable(drawn: Neighbours) -> Pair:
    """The pair with records that compare correctly."""
    return Pair(as_dataset(drawn.left), as_dataset(drawn.right))


def _plain(pair: Pair) -> tuple[Dataset, Dataset]:
    """The pair as mechanisms see it."""
    return plain_records(pair.left), plain_records(pair.right)


class _Search:
    """The condition that Hypothesis searches for, and everything learned during the search.

    Every pair is evaluated only once, so that its answer never changes.
    """

    def __init__(
        self, objective: SampledObjective, examples: int, tell: Callable[[Event], object] | None = None
    ) -> None:
        job = objective.job
        self.objective, self.job, self.examples, self.tell = objective, job, examples, tell
        self.least = max(LEAST_RUNS, job.runs // examples)
        self.heights: dict[Pair, float] = {}
        self.answers: dict[Pair, bool] = {}
        self.refuting: list[Pair] = []
        self.enough = learning_runs(job.runs)
        """Most samples per dataset in a test; once a test has refuted the claim, twice the number it used."""
        self.left = {"tests": job.runs, "shrink": job.runs}
        self.timed_out = False
        self.failures = OnlyFailures(job.target, objective.seed) if isinstance(job.target, FunctionTarget) else None
        """Whether the function has only raised so far; None for a mechanism in dpaudit's language."""
        self.failing: list[Pair] = []
        self.latest = -math.inf
        """The estimate of the last evaluated pair."""

    def __call__(self, pair: Pair) -> bool:
        """Whether the claim seems to be refuted on the pair."""
        if pair not in self.answers:
            self.answers[pair] = not self.timed_out and self._ask(pair)
            self._report(len(self.answers), self.examples, "shrinking the pair" if self.refuting else "pairs")
        self.latest = self.heights.get(pair, -math.inf)
        if self.latest > -math.inf:
            hypothesis.target(self.latest, label="estimated epsilon")
        return self.answers[pair]

    def confirmed(self, pair: Pair) -> bool:
        """Whether other samples also refute the claim on a pair: the same answer in every search with this seed."""
        tried = self._test(pair, CONFIRMED, learning_runs(self.job.runs))
        return tried is not None and tried.refuted

    def best(self, smallest: Pair | None, *, beside: _Search | None = None) -> list[tuple[Dataset, Dataset]]:
        """The worst pairs by samples not used to choose them; each pair in only one direction.

        Args:
            smallest: always comes first.
            beside: another search, whose pairs are compared with these.
        """
        once: dict[frozenset[Dataset], Pair] = {}
        first = [smallest] if smallest is not None else []
        # skip pairs that this search already knows, so that pairs stored by itself change nothing
        others = beside.heights if beside is not None else {}
        heights = {**self.heights, **{pair: height for pair, height in others.items() if pair not in self.answers}}
        estimated = sorted(heights, key=lambda pair: (-heights[pair], size_of(pair)))
        for pair in (*first, *self.refuting, *estimated):
            once.setdefault(frozenset((pair.left, pair.right)), pair)
        ranked = list(once.values())
        for number, effort in RACE:
            scores = {}
            for pair in ranked[:number]:
                scores[pair] = self._estimate(pair, self.least * effort, RACES + 10 * effort)
                self._report(len(scores), number, "comparing the worst pairs")
            if self.timed_out:
                break
            # with the same streams, equal pairs have exactly equal estimates
            ranked = sorted(scores, key=lambda pair: (-scores[pair], size_of(pair)))
        return [_plain(pair) for pair in ranked[:TESTS_OF_FOUND_PAIRS]]

    def _report(self, done: int, of: int, what: str) -> None:
        if self.tell is not None:
            # shrinking may evaluate more pairs than the search
            self.tell(Progress(min(done, of), of, f"searching, {what} ({done:,})", None))

    def _ask(self, pair: Pair) -> bool:
        if self.refuting:
            return self._refuted(pair, "shrink")
        if self._only_fails(pair):
            self.heights[pair] = -math.inf
            return False
        highest = max(self.heights.values(), default=-math.inf)
        height = self.heights[pair] = self._estimate(pair, self.least, ESTIMATES)
        # the first pair may be one stored by an earlier search
        promising = len(self.heights) == 1 or (height > self.job.claim.epsilon and height > highest)
        return promising and self._refuted(pair, "tests")

    def _only_fails(self, pair: Pair) -> bool:
        """Whether all calls so far have raised; such pairs are worth no estimate.

        Raises:
            _OnlyFailsError: there have been enough calls.
        """
        if self.failures is None or not self.failures.so_far:
            return False
        try:
            failing = self.failures.on(pair, self.objective.runner)
        except TimeLimitError:
            self.timed_out = True
            return True
        except DpauditError:
            return False
        self.failing.append(pair)
        if self.failures.certain:
            raise _OnlyFailsError(min(self.failing, key=size_of))
        return failing

    def _refuted(self, pair: Pair, what: str) -> bool:
        if self.left[what] <= 0 or self.timed_out:
            return False
        tried = self._test(pair, TESTS, self.enough)
        if tried is None:
            return False
        self.left[what] -= tried.runs
        if tried.refuted:
            if not self.refuting:
                self.enough = min(self.enough, max(2 * tried.runs, 2 * LEAST_RUNS))
            self.refuting.append(pair)
        return tried.refuted

    def _test(self, pair: Pair, use: int, runs: int) -> Tried | None:
        """Test the claim on a pair; None if the mechanism fails, or the time is over."""
        try:
            return self.objective.test(
                pair, runs, index=use, phase=SEARCH, alpha=ERROR, stop_early=True, growth=GROWTH
            )
        except TimeLimitError:
            self.timed_out = True
            return None
        except DpauditError:
            return None

    def _estimate(self, pair: Pair, runs: int, use: int) -> float:
        """Estimate ε on a pair; −∞ if the mechanism fails, as it may require other datasets."""
        try:
            return self.objective.estimate(pair, runs, index=use).height
        except TimeLimitError:
            self.timed_out = True
            return -math.inf
        except DpauditError:
            return -math.inf


class _OnlyFailsError(BaseException):
    """Ends a search: every call raises. Not an `Exception`, which Hypothesis would take for a failing example."""

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.pair = pair


class _RefutedError(Exception):
    """Marks a pair as a failing example."""


def _smallest(
    pairs: SearchStrategy[object],
    search: _Search,
    settings: hypothesis.settings,
    seed: int,
) -> Pair | None:
    """The pair to which Hypothesis shrinks refuting pairs; None if none refutes.

    Raises:
        UsageError: the strategy yields no pair of the relation.
    """
    last: list[Pair] = []

    def test(drawn: Neighbours) -> None:
        pair = _comparable(drawn)
        if search(pair):
            last[:] = [pair]
            raise _RefutedError

    # in this order: setting the seed last would disable the database
    searched = settings(hypothesis.seed(seed)(hypothesis.given(pairs)(test)))
    try:
        searched()
    except _RefutedError:
        return last[0]
    except Unsatisfiable:
        raise UsageError(_EMPTY.format(search.job.claim.relation.name)) from None
    return None


def _smallest_kept(
    pairs: SearchStrategy[object], search: _Search, settings: hypothesis.settings, seed: int
) -> Pair | None:
    """The same for stored pairs; None also if there are none, or none that the strategy can still generate."""
    try:
        return _smallest(pairs, search, settings, seed)
    except (SkipTest, UsageError):
        return None


class _Under(ExampleDatabase):
    """A database that separates searches by dpaudit's own key.

    Hypothesis's keys come from the source code of its test, which is the same in all searches. Hypothesis stores pairs
    that are either simpler or worse than the others, more of them than it retries; so this class selects the worst.
    """

    def __init__(self, key: bytes, inner: ExampleDatabase, search: _Search) -> None:
        super().__init__()
        self._key, self._inner = key, inner
        self.search = search
        """The search whose pairs are stored."""
        self.reads = True
        """Whether `fetch` returns stored pairs."""
        self._heights: dict[bytes, dict[bytes, float]] = {}

    def save(self, key: bytes, value: bytes) -> None:
        # a pair is saved right after its evaluation
        self._heights.setdefault(key, {})[value] = self.search.latest
        self._inner.save(self._ours(key), value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._inner.fetch(self._ours(key)) if self.reads else ()

    def delete(self, key: bytes, value: bytes) -> None:
        self._inner.delete(self._ours(key), value)

    def forget_all_but(self, number: int) -> None:
        """Keep only the worst pairs of every kind."""
        for key, heights in self._heights.items():
            here = sorted(self.fetch(key), key=lambda value: (-heights.get(value, -math.inf), value))
            for value in here[number:]:
                self.delete(key, value)

    def _ours(self, key: bytes) -> bytes:
        return hashlib.sha256(self._key + key).digest()




def _pairs(data: SearchStrategy[Any], relation: Relation, size: int | None) -> SearchStrategy[object]:
    """The strategy itself if it yields pairs, else neighbours of its records."""
    try:
        example = hypothesis.find(
            data, lambda value: True, settings=quiet_settings(10, None, PHASES), random=Random(0)
        )
    except (NoSuchExample, Unsatisfiable):
        raise UsageError(_EMPTY.format(relation.name)) from None
    if isinstance(example, Neighbours):
        if size is not None:
            raise UsageError("The strategy of pairs determines the number of records; omit size.")
        return data.filter(lambda drawn: usable(_comparable(drawn), relation))
    records = with_some(data, exceptional_records(data))
    return neighbours(relation, records, max_size=DEFAULT_SIZE if size is None else size)


def _target(f: Mechanism | Callable[..., object] | str, call_time: float | None = None) -> Target:
    if isinstance(f, str) and registry.in_catalogue(f):
        f = registry.plan(registry.canonical_name(f)).cases()[0].mechanism
    own = resolved(Request((f,)), f)
    if isinstance(own.value, Mechanism):
        return MechanismTarget(own.value.name, own.source, own.value)
    return function_target(own.value, own.name, own.source, call_time)


def _named(f: Callable[..., object]) -> str:
    name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}"
    if "<" not in name:
        return name
    try:
        return f"{name}\n{inspect.getsource(f)}"
    except (OSError, TypeError):
        return name


_EMPTY = "The strategy yields no two different datasets that are {} neighbours; check its filters."
