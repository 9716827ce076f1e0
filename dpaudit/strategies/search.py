"""The search for the worst pair of neighbours in Hypothesis: its mutations, its `target`, its shrinker, its database.

Only Hypothesis knows what a strategy can draw, so it mutates and shrinks here; its objective is that of all searches by
samples (`SampledObjective`). An example is a pair. A few samples estimate its ε, which `hypothesis.target` climbs; on a
pair that looks worse than all before it the claim is tested, and if it is refuted there, Hypothesis shrinks the pair.
All pairs have the same random streams, so that estimates differ where the pairs do; the best few are then compared on
other samples. Everything here is sampled in the phase SEARCH of the seed: the verdict on what it finds comes from an
audit, which samples in other phases.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable
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
from dpaudit.evidence.sampling import SEARCH
from dpaudit.language import Claim, Dataset, Mechanism, Relation
from dpaudit.language.checks import whole
from dpaudit.language.relation import plain_records
from dpaudit.options import DEFAULT_SIZE
from dpaudit.plans import registry
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, GivenPairs
from dpaudit.plans.request import Request
from dpaudit.plans.subject import in_catalogue, resolved
from dpaudit.results.datasets import as_dataset
from dpaudit.results.stream import AuditStarted, Event, Progress
from dpaudit.strategies.datasets import exceptional_records, quiet_settings, with_some
from dpaudit.strategies.neighbours import Neighbours, neighbours
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget, Target, function_target

DEFAULT_EXAMPLES = 500
"""Pairs that a search may estimate."""
RACE = ((12, 4), (6, 16))
"""How the best pairs are compared at the end: so many, each with so many times the runs of an estimate."""
GROWTH = 1.5
"""Of the samples of a test from batch to batch: of many pairs a quick answer is wanted."""
KEPT = 3
"""Pairs of a kind that stay in the database."""
ERROR = 0.001
"""Error of the e-process that says whether the claim seems to be refuted on a pair."""
KEPT_PHASES = (Phase.reuse, Phase.shrink)
"""Of Hypothesis, first: pairs that earlier searches kept."""
PHASES = (Phase.generate, Phase.target, Phase.shrink)
"""Of Hypothesis, then: new pairs, the climb halfway, and the shrink of a pair that refutes."""
ESTIMATES, TESTS, RACES, CONFIRMED = range(4)
"""Uses of the phase; each has random streams of its own, the same for all pairs."""


def find_pairs(
    f: Mechanism | Callable[..., Any] | str,
    data: SearchStrategy[Any],
    relation: Relation,
    claim: Claim,
    *,
    seed: int,
    runs: int,
    examples: int = DEFAULT_EXAMPLES,
    key: bytes | None = None,
    size: int | None = None,
    seconds: float | None = None,
    call_seconds: float | None = None,
    tell: Callable[[Event], object] | None = None,
) -> list[tuple[Dataset, Dataset]]:
    """The pairs of neighbours on which a claim seems to be broken most, worst first.

    Where the claim seems to be refuted, it is one pair: the smallest to which Hypothesis could shrink it. Audit what is
    found on fresh runs: an audit with the same seed draws them in phases of their own. Without a key the search is a
    function of its arguments. With one, kept pairs are tried first, and where none of them refutes the search is the
    one that it would be in an empty database, and they are compared with its best: what it kept itself changes nothing.

    Args:
        f: the mechanism or function, or the name of one.
        data: a strategy of pairs, as `neighbours` makes them, or of records, whose neighbours under the relation are
            then drawn.
        relation: of the pairs.
        claim: what to refute; under that relation.
        seed: of the search and of its runs.
        runs: those that the audit may spend, a side and pair. The estimates may cost as many or a little more, the
            bets as many, the shrink as many, and the comparison of the best a share.
        examples: pairs to estimate, at most.
        key: where Hypothesis's example database (of the current profile) keeps the worst pairs, and finds those with
            which the search begins; None to keep nothing. `database_key` makes one.
        size: records of a dataset, at most, where `data` is of records.
        seconds: time limit, after which the best so far are returned.
        call_seconds: how long one call of a function may take before that is its outcome.
        tell: is called with the events of the search: that it begins, and after every pair how far it is.

    Raises:
        UsageError and its kinds: a function of another form, an unknown name, a strategy that gives no pair.
    """
    whole("examples", examples, least=1)
    whole("seed", seed, least=0)
    claim = claim.under(relation) if claim.relation != relation else claim
    pairs = _pairs(data, relation, size)
    target = _target(f, call_seconds)
    job = GivenPairs(
        target=target, label="a search by Hypothesis", claim=claim, replay="", runs=whole("runs", runs, least=1)
    )
    objective = SampledObjective(job, Runner(seconds=seconds), seed)
    search = _Search(objective, examples, tell)
    if tell is not None:
        tell(AuditStarted(target.name, job.label, str(claim), examples))
    # a profile for continuous integration may have no database
    database = hypothesis.settings().database if key is not None else None
    if database is None or key is None:
        smallest = _smallest(pairs, search, quiet_settings(examples, None, PHASES), seed)
        return _confirmed(search, smallest) or search.best(smallest)
    # with answers of their own, so that pairs of other days do not steer the search
    again = _Search(objective, examples, tell)
    kept = _Under(key, database, again)
    try:
        if found := _confirmed(again, _smallest_kept(pairs, again, quiet_settings(examples, kept, KEPT_PHASES), seed)):
            return found
        kept.search, kept.reads = search, False
        smallest = _smallest(pairs, search, quiet_settings(examples, kept, PHASES), seed)
    finally:
        kept.reads = True
        kept.forget_all_but(KEPT)
    return _confirmed(search, smallest) or search.best(smallest, beside=again)


def database_key(f: Mechanism | Callable[..., Any] | str, claim: Claim, *, where: str = "") -> bytes:
    """Where the example database keeps the pairs of a function and a claim.

    The name of the function counts and not its text: a mended function meets the pair that refuted it first. What has
    no name of its own, a lambda or a function inside another, goes by its text as well.

    Args:
        where: who searches, a test for instance: what others keep is none of its business.
    """
    name = f if isinstance(f, str) else repr(f) if isinstance(f, Mechanism) else _named(f)
    return hashlib.sha256(f"dpaudit pairs\n{where}\n{name}\n{claim}".encode()).digest()


def _confirmed(search: _Search, smallest: Pair | None) -> list[tuple[Dataset, Dataset]]:
    return [_plain(smallest)] if smallest is not None and search.confirmed(smallest) else []


def _comparable(drawn: Neighbours) -> Pair:
    """The pair with records that compare as records do."""
    return Pair(as_dataset(drawn.left), as_dataset(drawn.right))


def _plain(pair: Pair) -> tuple[Dataset, Dataset]:
    """The pair as mechanisms are to see it."""
    return plain_records(pair.left), plain_records(pair.right)


class _Search:
    """The condition that Hypothesis looks for, and all that was learned on the way to it.

    A pair is asked about once, so that its answer never changes.
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
        """Samples of each dataset that a test may take; once one has refuted the claim, twice what it took."""
        self.left = {"tests": job.runs, "shrink": job.runs}
        self.timed_out = False
        self.latest = -math.inf
        """The estimate of the pair that was asked about last."""

    def __call__(self, pair: Pair) -> bool:
        """Whether the claim seems to be refuted on the pair."""
        if pair not in self.answers:
            self.answers[pair] = not self.timed_out and self._ask(pair)
            self._told(len(self.answers), self.examples, "shrinking the pair" if self.refuting else "pairs")
        self.latest = self.heights.get(pair, -math.inf)
        if self.latest > -math.inf:
            hypothesis.target(self.latest, label="estimated epsilon")
        return self.answers[pair]

    def confirmed(self, pair: Pair) -> bool:
        """Whether other runs refute the claim on a pair, too: the same answer in every search with this seed."""
        tried = self._test(pair, CONFIRMED, learning_runs(self.job.runs))
        return tried is not None and tried.refuted

    def best(self, smallest: Pair | None, *, beside: _Search | None = None) -> list[tuple[Dataset, Dataset]]:
        """The worst pairs by runs that did not choose them; one of two directions.

        Args:
            smallest: comes first, whatever was estimated.
            beside: another search, whose pairs are compared with these.
        """
        once: dict[frozenset[Dataset], Pair] = {}
        first = [smallest] if smallest is not None else []
        # what this search knows has its place already, so that pairs that it kept itself before change nothing
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
                self._told(len(scores), number, "comparing the worst pairs")
            if self.timed_out:
                break
            # with the same streams, equal ones are equal to the digit
            ranked = sorted(scores, key=lambda pair: (-scores[pair], size_of(pair)))
        return [_plain(pair) for pair in ranked[:TESTS_OF_FOUND_PAIRS]]

    def _told(self, done: int, of: int, what: str) -> None:
        if self.tell is not None:
            # a shrink may ask for more pairs than the search
            self.tell(Progress(min(done, of), of, f"searching, {what} ({done:,})", None))

    def _ask(self, pair: Pair) -> bool:
        if self.refuting:
            return self._refuted(pair, "shrink")
        highest = max(self.heights.values(), default=-math.inf)
        height = self.heights[pair] = self._estimate(pair, self.least, ESTIMATES)
        # the first pair may be one that an earlier search has kept
        promising = len(self.heights) == 1 or (height > self.job.claim.epsilon and height > highest)
        return promising and self._refuted(pair, "tests")

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
        """None where the mechanism fails, or the time is over."""
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
        """−∞ where the mechanism fails: it may ask for other datasets."""
        try:
            return self.objective.estimate(pair, runs, index=use).height
        except TimeLimitError:
            self.timed_out = True
            return -math.inf
        except DpauditError:
            return -math.inf


class _RefutedError(Exception):
    """What makes a pair a failing example."""


def _smallest(
    pairs: SearchStrategy[Any],
    search: _Search,
    settings: hypothesis.settings,
    seed: int,
) -> Pair | None:
    """The pair to which Hypothesis shrinks those that refute; None where there is none.

    Raises:
        UsageError: the strategy gives no pair of the relation.
    """
    last: list[Pair] = []

    def test(drawn: Neighbours) -> None:
        pair = _comparable(drawn)
        if search(pair):
            last[:] = [pair]
            raise _RefutedError

    # in this order: a seed that is set last leaves the database out
    searched = settings(hypothesis.seed(seed)(hypothesis.given(pairs)(test)))
    try:
        searched()
    except _RefutedError:
        return last[0]
    except Unsatisfiable:
        raise UsageError(_EMPTY.format(search.job.claim.relation.name)) from None
    return None


def _smallest_kept(
    pairs: SearchStrategy[Any], search: _Search, settings: hypothesis.settings, seed: int
) -> Pair | None:
    """The same of the pairs that were kept; None also where nothing was, or nothing that the strategy still gives."""
    try:
        return _smallest(pairs, search, settings, seed)
    except (SkipTest, UsageError):
        return None


class _Under(ExampleDatabase):
    """A database in which what belongs to one search is kept apart by a key of ours.

    Hypothesis's own keys come from the text of its test, which is the same in all searches. It keeps pairs that are
    either simpler or worse than the others, more of them than it tries again; so the worst of them are chosen here.
    """

    def __init__(self, key: bytes, inner: ExampleDatabase, search: _Search) -> None:
        super().__init__()
        self._key, self._inner = key, inner
        self.search = search
        """Whose pairs are kept."""
        self.reads = True
        """Whether what is kept is given back."""
        self._heights: dict[bytes, dict[bytes, float]] = {}

    def save(self, key: bytes, value: bytes) -> None:
        # what is kept is kept as soon as it was asked about
        self._heights.setdefault(key, {})[value] = self.search.latest
        self._inner.save(self._ours(key), value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._inner.fetch(self._ours(key)) if self.reads else ()

    def delete(self, key: bytes, value: bytes) -> None:
        self._inner.delete(self._ours(key), value)

    def forget_all_but(self, number: int) -> None:
        """Keep the worst of every kind."""
        for key, heights in self._heights.items():
            here = sorted(self.fetch(key), key=lambda value: (-heights.get(value, -math.inf), value))
            for value in here[number:]:
                self.delete(key, value)

    def _ours(self, key: bytes) -> bytes:
        return hashlib.sha256(self._key + key).digest()




def _pairs(data: SearchStrategy[Any], relation: Relation, size: int | None) -> SearchStrategy[Any]:
    """The strategy itself where it gives pairs, else neighbours of its records."""
    try:
        example = hypothesis.find(
            data, lambda value: True, settings=quiet_settings(10, None, PHASES), random=Random(0)
        )
    except (NoSuchExample, Unsatisfiable):
        raise UsageError(_EMPTY.format(relation.name)) from None
    if isinstance(example, Neighbours):
        if size is not None:
            raise UsageError("The strategy of pairs says how many records they have; leave size out.")
        return data.filter(lambda drawn: usable(_comparable(drawn), relation))
    records = with_some(data, exceptional_records(data))
    return neighbours(relation, records, max_size=DEFAULT_SIZE if size is None else size)


def _target(f: Mechanism | Callable[..., Any] | str, call_seconds: float | None = None) -> Target:
    if isinstance(f, str) and in_catalogue(f):
        f = registry.plan(registry.canonical_name(f)).cases()[0].mechanism
    subject, name, source = resolved(Request((f,)), f)
    if isinstance(subject, Mechanism):
        return MechanismTarget(subject.name, source, subject)
    return function_target(subject, name, source, call_seconds)


def _named(f: Callable[..., Any]) -> str:
    name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}"
    if "<" not in name:
        return name
    try:
        return f"{name}\n{inspect.getsource(f)}"
    except (OSError, TypeError):
        return name


_EMPTY = "The strategy gives no two different datasets that are {} neighbours; do its filters let any through?"
