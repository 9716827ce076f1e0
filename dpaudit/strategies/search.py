"""The search for the worst pair of neighbours in Hypothesis: its mutations, its `target`, its shrinker, its database.

An example is a pair. A few runs estimate its ε, which `hypothesis.target` climbs; a pair that looks worse than all
before it is bet on, and if the claim is refuted there, Hypothesis shrinks it. All pairs are run with the same random
streams, so that estimates differ where the pairs do; the best few are then compared on other runs. Everything here runs
in the phase SEARCH of the seed: the verdict on what it finds comes from an audit, which draws in other phases.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, TypeAlias
from unittest import SkipTest

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.database import ExampleDatabase
from hypothesis.errors import NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.minimize import size_of
from dpaudit.errors import DpauditError, TimeLimitError, UsageError
from dpaudit.evidence.estimate import LEAST_RUNS, Tried, estimate, try_refuting
from dpaudit.evidence.sampling import SEARCH, draw
from dpaudit.language import Claim, Dataset, Mechanism, Relation
from dpaudit.language.checks import whole
from dpaudit.language.relation import plain_records
from dpaudit.options import DEFAULT_SIZE
from dpaudit.plans import registry
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, GivenPairs, PrivacyJob
from dpaudit.results.datasets import as_dataset
from dpaudit.results.stream import AuditStarted, Event, Progress
from dpaudit.strategies.datasets import exceptional_records, with_some
from dpaudit.strategies.neighbours import Neighbours, neighbours
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget, Target, function_target, instantiate, load_object

DEFAULT_EXAMPLES = 500
"""Pairs that a search may estimate."""
RACE = ((12, 4), (6, 16))
"""How the best pairs are compared at the end: so many, each with so many times the runs of an estimate."""
GROWTH = 1.5
"""Of the runs of a bet from batch to batch: of many pairs a quick answer is wanted."""
KEPT = 3
"""Pairs of a kind that stay in the database."""
ERROR = 0.001
"""Error of the e-process that says whether the claim seems to be refuted on a pair."""
KEPT_PHASES = (Phase.reuse, Phase.shrink)
"""Of Hypothesis, first: pairs that earlier searches kept."""
PHASES = (Phase.generate, Phase.target, Phase.shrink)
"""Of Hypothesis, then: new pairs, the climb halfway, and the shrink of a pair that refutes."""
ESTIMATES, BETS, RACES, CONFIRMED = range(4)
"""Uses of the phase; each has random streams of its own, the same for all pairs."""

_Key: TypeAlias = tuple[Dataset, Dataset]


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
) -> list[_Key]:
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
    runner = Runner(seconds=seconds)
    search = _Search(job, runner, seed, examples, tell)
    if tell is not None:
        tell(AuditStarted(target.name, job.label, str(claim), examples))
    # a profile for continuous integration may have no database
    database = hypothesis.settings().database if key is not None else None
    if database is None or key is None:
        smallest = _smallest(pairs, search, _settings(examples, None, PHASES), seed)
        return _confirmed(search, smallest) or search.best(smallest)
    # with answers of their own, so that pairs of other days do not steer the search
    again = _Search(job, runner, seed, examples, tell)
    kept = _Under(key, database, again)
    try:
        if found := _confirmed(again, _smallest_kept(pairs, again, _settings(examples, kept, KEPT_PHASES), seed)):
            return found
        kept.search, kept.reads = search, False
        smallest = _smallest(pairs, search, _settings(examples, kept, PHASES), seed)
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


def _confirmed(search: _Search, smallest: Neighbours | None) -> list[_Key]:
    return [_plain(_key(smallest))] if smallest is not None and search.confirmed(smallest) else []


def _key(pair: Neighbours) -> _Key:
    """The pair with records that compare as records do."""
    return as_dataset(pair.left), as_dataset(pair.right)


def _plain(key: _Key) -> _Key:
    """The pair as mechanisms are to see it."""
    return plain_records(key[0]), plain_records(key[1])


class _Search:
    """The condition that Hypothesis looks for, and all that was learned on the way to it.

    A pair is asked about once, so that its answer never changes.
    """

    def __init__(
        self, job: PrivacyJob, runner: Runner, seed: int, examples: int, tell: Callable[[Event], object] | None = None
    ) -> None:
        self.job, self.runner, self.seed, self.examples, self.tell = job, runner, seed, examples, tell
        self.least = max(LEAST_RUNS, job.runs // examples)
        self.heights: dict[_Key, float] = {}
        self.answers: dict[_Key, bool] = {}
        self.refuting: list[_Key] = []
        self.enough = learning_runs(job.runs)
        """Runs a side that a bet may spend; once one has refuted the claim, twice what it took."""
        self.left = {"bets": job.runs, "shrink": job.runs}
        self.timed_out = False
        self.latest = -math.inf
        """The estimate of the pair that was asked about last."""

    def __call__(self, pair: Neighbours) -> bool:
        """Whether the claim seems to be refuted on the pair."""
        key = _key(pair)
        if key not in self.answers:
            self.answers[key] = not self.timed_out and self._ask(key)
            self._told(len(self.answers), self.examples, "shrinking the pair" if self.refuting else "pairs")
        self.latest = self.heights.get(key, -math.inf)
        if self.latest > -math.inf:
            hypothesis.target(self.latest, label="estimated epsilon")
        return self.answers[key]

    def confirmed(self, pair: Neighbours) -> bool:
        """Whether other runs refute the claim on a pair, too: the same answer in every search with this seed."""
        tried = self._bet(_key(pair), CONFIRMED, learning_runs(self.job.runs))
        return tried is not None and tried.refuted

    def best(self, smallest: Neighbours | None, *, beside: _Search | None = None) -> list[_Key]:
        """The worst pairs by runs that did not choose them; one of two directions.

        Args:
            smallest: comes first, whatever was estimated.
            beside: another search, whose pairs are compared with these.
        """
        once: dict[frozenset[Dataset], _Key] = {}
        first = [_key(smallest)] if smallest is not None else []
        # what this search knows has its place already, so that pairs that it kept itself before change nothing
        others = beside.heights if beside is not None else {}
        heights = {**self.heights, **{key: height for key, height in others.items() if key not in self.answers}}
        estimated = sorted(heights, key=lambda key: (-heights[key], size_of(Pair(*key))))
        for key in (*first, *self.refuting, *estimated):
            once.setdefault(frozenset(key), key)
        ranked = list(once.values())
        for number, effort in RACE:
            scores = {}
            for key in ranked[:number]:
                scores[key] = self._estimate(key, self.least * effort, RACES + 10 * effort)
                self._told(len(scores), number, "comparing the worst pairs")
            if self.timed_out:
                break
            # with the same streams, equal ones are equal to the digit
            ranked = sorted(scores, key=lambda key: (-scores[key], size_of(Pair(*key))))
        return [_plain(key) for key in ranked[:TESTS_OF_FOUND_PAIRS]]

    def _told(self, done: int, of: int, what: str) -> None:
        if self.tell is not None:
            # a shrink may ask for more pairs than the search
            self.tell(Progress(min(done, of), of, f"searching, {what} ({done:,})", None))

    def _ask(self, key: _Key) -> bool:
        if self.refuting:
            return self._affordable("shrink") and self._refuted(key, "shrink")
        highest = max(self.heights.values(), default=-math.inf)
        height = self.heights[key] = self._estimate(key, self.least, ESTIMATES)
        # the first pair may be one that an earlier search has kept
        promising = len(self.heights) == 1 or (height > self.job.claim.epsilon and height > highest)
        return promising and self._affordable("bets") and self._refuted(key, "bets")

    def _affordable(self, what: str) -> bool:
        return self.left[what] > 0 and not self.timed_out

    def _refuted(self, key: _Key, what: str) -> bool:
        tried = self._bet(key, BETS, self.enough)
        if tried is None:
            return False
        self.left[what] -= tried.runs
        if tried.refuted:
            if not self.refuting:
                self.enough = min(self.enough, max(2 * tried.runs, 2 * LEAST_RUNS))
            self.refuting.append(key)
        return tried.refuted

    def _bet(self, key: _Key, use: int, runs: int) -> Tried | None:
        """None where the mechanism fails, or the time is over."""
        try:
            return try_refuting(
                self.job, Pair(*key), runs, self.runner, seed=self.seed, index=use, phase=SEARCH, alpha=ERROR,
                stop_early=True, growth=GROWTH,
            )
        except TimeLimitError:
            self.timed_out = True
            return None
        except DpauditError:
            return None

    def _estimate(self, key: _Key, runs: int, use: int) -> float:
        """−∞ where the mechanism fails: it may ask for other datasets."""
        try:
            sides = draw(self.job, Pair(*key), runs, self.runner, seed=self.seed, index=use, phase=SEARCH, batch=0)
        except TimeLimitError:
            self.timed_out = True
            return -math.inf
        except DpauditError:
            return -math.inf
        return estimate(self.job, sides, self.job.claim, seed=self.seed).height


class _RefutedError(Exception):
    """What makes a pair a failing example."""


def _smallest(
    pairs: SearchStrategy[Any],
    search: _Search,
    settings: hypothesis.settings,
    seed: int,
) -> Neighbours | None:
    """The pair to which Hypothesis shrinks those that refute; None where there is none.

    Raises:
        UsageError: the strategy gives no pair of the relation.
    """
    last: list[Neighbours] = []

    def test(pair: Neighbours) -> None:
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
) -> Neighbours | None:
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


def _settings(
    examples: int, database: ExampleDatabase | None, phases: tuple[Phase, ...]
) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        database=database,
        derandomize=False,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )


def _pairs(data: SearchStrategy[Any], relation: Relation, size: int | None) -> SearchStrategy[Any]:
    """The strategy itself where it gives pairs, else neighbours of its records."""
    try:
        example = hypothesis.find(
            data, lambda value: True, settings=_settings(10, None, PHASES), random=Random(0)
        )
    except (NoSuchExample, Unsatisfiable):
        raise UsageError(_EMPTY.format(relation.name)) from None
    if isinstance(example, Neighbours):
        if size is not None:
            raise UsageError("The strategy of pairs says how many records they have; leave size out.")
        return data.filter(lambda pair: relation.related(*(key := _key(pair))) and key[0] != key[1])
    records = with_some(data, exceptional_records(data))
    return neighbours(relation, records, max_size=DEFAULT_SIZE if size is None else size)


def _target(f: Mechanism | Callable[..., Any] | str, call_seconds: float | None = None) -> Target:
    if isinstance(f, str):
        named = ":" not in f and not f.endswith(".py")
        found = registry.plan(registry.canonical_name(f)).cases()[0].mechanism if named else load_object(f)[0]
        return _target(found, call_seconds)
    if isinstance(f, type) and issubclass(f, Mechanism):
        return _target(instantiate(f, {}))
    if isinstance(f, Mechanism):
        return MechanismTarget(f.name, "", f)
    if not callable(f):
        raise UsageError(f"{f!r} is a {type(f).__name__}; dpaudit checks functions and mechanisms.")
    return function_target(f, getattr(f, "__name__", type(f).__name__), "python", call_seconds)


def _named(f: Callable[..., Any]) -> str:
    name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}"
    if "<" not in name:
        return name
    try:
        return f"{name}\n{inspect.getsource(f)}"
    except (OSError, TypeError):
        return name


_EMPTY = "The strategy gives no two different datasets that are {} neighbours; do its filters let any through?"
