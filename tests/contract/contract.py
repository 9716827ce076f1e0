"""What every registered algorithm and its plan must keep; `test_algorithms.py` runs it over the catalogue.

Each check takes a `Subject` and raises AssertionError with what is wrong. `test_contract.py` shows that broken
algorithms are caught.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.adversary.pairs.pair import Pair, every_pair
from dpaudit.errors import DpauditError, NotEnumerableError, ParameterError
from dpaudit.evidence.symmetries import declared, moved
from dpaudit.interpret import Law, LawCache, Outputs, first_difference, interval_law, law, ledger, sample
from dpaudit.language import ADD_REMOVE_ONE, Claim, IntegerRange, Mechanism, Trial
from dpaudit.plans import registry
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit.testing import WithoutBulk

PARAMETERS = ("epsilon", "delta", "beta", "alpha")
PATHS = 3_000
"""Laws of more paths are left to the audits; the contract is about agreement."""
LAWS = 6
"""Datasets of an algorithm on which its law is computed."""
DATASETS = 130
"""Of a domain, on which symmetries are held against the law; 0 and 1 record are always tried."""

SHIFT = 0.01
"""Share of an event's probability that a wrong law or sampler moves elsewhere and must be caught at."""
FALSE_ALARM = 5e-7
"""Of each of the two tests that hold samples against a law: at most 1e-6 an algorithm."""
MISS = 1e-3
MOST_RUNS = 10**13
"""Runs share their paths, so that many cost no more than few; a `bulk` has no such gift."""
MOST_BULK_RUNS = 4_000_000


@dataclass(frozen=True)
class Agreement:
    """A law to hold samples against: on which data, by which event, with how many runs."""

    mechanism: Mechanism
    dataset: Any
    law: dict[Hashable, float]
    event: frozenset[Hashable]
    p: float
    runs: int


@dataclass(frozen=True)
class Subject:
    """A registered algorithm and its plan."""

    name: str
    kind: type[Mechanism]
    plan: Plan

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        return self.plan.cases()

    @cached_property
    def mechanisms(self) -> list[Mechanism]:
        """Different instances of the plan."""
        different: list[Mechanism] = []
        for case in self.cases:
            if case.mechanism not in different:
                different.append(case.mechanism)
        return different

    @cached_property
    def pairs(self) -> list[tuple[Mechanism, Pair]]:
        """Pairs of every case, smallest datasets first; of a scope its first, middle and last."""
        found = [(case.mechanism, pair) for case in self.cases for pair in pairs_of(case)]
        return sorted(found, key=lambda item: len(item[1].left) + len(item[1].right))

    @cached_property
    def laws(self) -> list[tuple[Mechanism, Any, Law]]:
        """Exact laws at both datasets of some pairs; empty where a draw cannot be enumerated."""
        cache, found = LawCache(), list[tuple[Mechanism, Any, Law]]()
        tried: list[tuple[Mechanism, Any]] = []
        for mechanism, pair in spread(self.pairs):
            for dataset in (pair.left, pair.right):
                if len(tried) < LAWS and (mechanism, dataset) not in tried:
                    tried.append((mechanism, dataset))
                    try:
                        found.append((mechanism, dataset, law(mechanism, dataset, cache=cache, path_limit=PATHS)))
                    except NotEnumerableError:
                        continue
        return found

    @cached_property
    def agreement(self) -> Agreement | None:
        """The law that needs the fewest runs for the required power; None without a law that leaves anything open."""
        candidates = [a for found in self.laws if (a := agreement(*found)) is not None]
        return min(candidates, key=lambda a: a.runs, default=None)

    @cached_property
    def counts(self) -> dict[Hashable, int]:
        """How often each outcome came in the samples that are held against that law."""
        assert self.agreement is not None
        found = self.agreement
        return counted(sample(WithoutBulk(found.mechanism), found.dataset, found.runs, seed=11))


@dataclass
class Catalogue:
    """Names and where they are defined, in two packages."""

    algorithms: dict[str, str] = field(default_factory=dict)
    audits: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, algorithms: str, audits: str) -> Catalogue:
        """What the files of both packages define."""
        return cls(
            registry.defined_in(import_module(algorithms), registry.ALGORITHMS),
            registry.defined_in(import_module(audits), registry.AUDITS),
        )

    @property
    def names(self) -> list[str]:
        return sorted(self.algorithms)

    def subject(self, name: str) -> Subject:
        return Subject(name, loaded(self.algorithms[name]), loaded(self.audits[name]))


def loaded(where: str) -> Any:
    """What "module:attribute" names."""
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def pairs_of(case: Case) -> tuple[Pair, ...]:
    """Specified pairs, or some of the scope."""
    if case.pairs or case.scope is None or case.tested is None:
        return case.pairs
    scope = case.scope
    every = list(every_pair(case.tested.relation, scope.domain, scope.records, ordered=scope.ordered))
    return (every[0], every[len(every) // 2], every[-1]) if every else ()


def spread(items: list[tuple[Mechanism, Pair]]) -> Iterator[tuple[Mechanism, Pair]]:
    """Each mechanism's first pair, then each one's second, …"""
    rounds: dict[int, list[tuple[Mechanism, Pair]]] = {}
    seen: list[Mechanism] = []
    for mechanism, pair in items:
        rounds.setdefault(seen.count(mechanism), []).append((mechanism, pair))
        seen.append(mechanism)
    for _, group in sorted(rounds.items()):
        yield from group


# --- the registry ---------------------------------------------------------------------------------------------------


def check_registered(catalogue: Catalogue) -> None:
    """Every algorithm has a plan and every plan an algorithm."""
    missing = sorted(set(catalogue.algorithms) - set(catalogue.audits))
    orphans = sorted(set(catalogue.audits) - set(catalogue.algorithms))
    assert not missing, f"no plan for {', '.join(missing)}"
    assert not orphans, f"no algorithm for the plans of {', '.join(orphans)}"


def check_card(subject: Subject) -> None:
    """A card of that name with a citation, whose variants its kind knows."""
    card = subject.kind.card
    assert card is not None, "it has no card"
    assert card.name == subject.name, f"its card says {card.name}"
    assert card.paper.strip(), "its card has no paper"
    assert card.place.strip(), "its card has no place in the paper"
    assert subject.name not in card.variants, "its card lists itself as a variant"
    assert all(text.strip().endswith(".") for text in card.deviations), "a reading note is no sentence"
    assert subject.kind.__doc__, "it has no docstring"
    assert "Source" in subject.kind.__doc__, "its docstring has no Source line"


def check_value(subject: Subject) -> None:
    """Instances are frozen dataclasses that pickle, compare and print."""
    assert any(isinstance(m, subject.kind) for m in subject.mechanisms), "no case runs the registered class"
    for mechanism in subject.mechanisms:
        assert dataclasses.is_dataclass(mechanism), f"{type(mechanism).__name__} is no dataclass"
        parameters = dataclasses.fields(mechanism)
        for parameter in parameters[:1]:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(mechanism, parameter.name, None)
        copy = pickle.loads(pickle.dumps(mechanism))
        assert copy == mechanism, f"a pickled {mechanism!r} is another one"
        assert repr(copy) == repr(mechanism), f"a pickled {mechanism!r} prints otherwise"
        assert repr(mechanism).startswith(type(mechanism).__name__), f"{mechanism!r} does not say what it is"
        assert " at 0x" not in repr(mechanism), f"{mechanism!r} prints an address"
        assert "\n" not in repr(mechanism), f"{mechanism!r} prints on several lines"


def check_plan(subject: Subject) -> None:
    """Labels are unique, claims are given, pairs are related and differ, groups of 2 and 3 are tried."""
    assert subject.plan.name == subject.name, f"its plan is called {subject.plan.name}"
    assert subject.cases, "its plan has no cases"
    labels = [case.label for case in subject.cases]
    assert len(set(labels)) == len(labels), f"labels come twice: {labels}"
    assert all(label.strip() for label in labels), "a case has no label"
    for case in subject.cases:
        assert case.pairs or case.scope, f"{case.label}: neither pairs nor a scope"
        assert isinstance(case.tested, Claim), f"{case.label}: nothing is claimed"
        for pair in case.pairs:
            pair.distance(case.tested.relation)  # refuses unrelated and equal datasets
    card = subject.kind.card
    if card is not None and card.private and card.known_bug is None:
        sizes = {case.tested.relation.size for case in subject.cases if case.tested is not None}
        assert {2, 3} <= sizes, f"no case for groups of {sorted({2, 3} - sizes)}"
    if card is not None and not card.private:
        assert all(m.claim is None for m in subject.mechanisms if isinstance(m, subject.kind)), "a baseline claims"


def check_utility(subject: Subject) -> None:
    """A mechanism with a guarantee is tested, and some trials can be run."""
    guarantees = subject.plan.utility() if subject.plan.utility is not None else ()
    overridden = subject.kind.utility is not Mechanism.utility
    assert guarantees or not overridden, "it has a guarantee that its plan does not test"
    assert bool(guarantees) == (subject.plan.utility is not None), "its plan has utility cases, and they are none"
    labels = [case.label for case in guarantees]
    assert len(set(labels)) == len(labels), f"labels come twice: {labels}"
    for case in guarantees:
        assert case.instances, f"{case.label}: nothing to try it on"
        assert str(case.claim.goal).strip(), f"{case.label}: its goal says nothing"
        shown = [str(source) for source in case.instances]
        assert not any("Mechanism object" in text or " at 0x" in text for text in shown), f"{case.label}: {shown}"
        trial = Trial(case.instances[0], case.mechanism, case.claim.goal)
        outputs = sample(trial, (), 3, seed=5)
        assert set(outputs.counts) <= {True, False}, f"{case.label}: success is {set(outputs.counts)}"


def check_sample_sizes(subject: Subject) -> None:
    """Printed sample sizes are whole numbers with a formula, a guarantee and a place."""
    for mechanism in subject.mechanisms:
        for size in mechanism.sample_sizes:
            assert isinstance(size.records, int), f"{mechanism!r}: {size}"
            assert size.records >= 0, f"{mechanism!r}: {size}"
            assert all(text.strip() for text in (size.formula, size.guarantee, size.place)), f"{mechanism!r}: {size}"


def check_parameters(subject: Subject) -> None:
    """NaN, negative numbers and strings are refused in one sentence that names the parameter."""
    first = {type(mechanism): mechanism for mechanism in reversed(subject.mechanisms)}
    for mechanism in first.values():
        for parameter in dataclasses.fields(mechanism):  # type: ignore[arg-type]
            present = getattr(mechanism, parameter.name)
            is_number = isinstance(present, int | float) and not isinstance(present, bool)
            if parameter.name not in PARAMETERS or not parameter.init or not is_number:
                continue
            for bad in (math.nan, -0.5, "0.5"):
                text = refusal(mechanism, parameter.name, bad)
                assert parameter.name in text, f"the refusal of {parameter.name} = {bad!r} does not name it: {text}"
                assert re.fullmatch(r"[^\n]+[.?]", text), f"no sentence: {text!r}"
                assert not re.search(r"[.?!] [A-Z]", text), f"more than one sentence: {text!r}"


def refusal(mechanism: Mechanism, name: str, bad: Any) -> str:
    """The message with which a value of a parameter is refused."""
    try:
        dataclasses.replace(mechanism, **{name: bad})  # type: ignore[type-var]
    except ParameterError as error:
        return str(error)
    raise AssertionError(f"{type(mechanism).__name__} takes {name} = {bad!r}")


# --- its three readings ----------------------------------------------------------------------------------------------


def check_samples(subject: Subject) -> None:
    """200 runs of some mechanisms and datasets; the same seed gives the same outputs."""
    for mechanism, pair in list(spread(subject.pairs))[:4]:
        for dataset in (pair.left, pair.right):
            outputs = sample(mechanism, dataset, 200, seed=7)
            assert outputs.runs == 200
        assert same(sample(mechanism, pair.left, 200, seed=8), sample(mechanism, pair.left, 200, seed=8)), (
            f"{mechanism!r}: the same seed gave other outputs"
        )


def same(left: Outputs, right: Outputs) -> bool:
    blocks = [[(block.shape, block.tobytes()) for block in side.blocks] for side in (left, right)]
    return blocks[0] == blocks[1] and left.counts == right.counts and left.others == right.others


def check_laws_sum_to_one(subject: Subject) -> None:
    for mechanism, dataset, exact in subject.laws:
        assert np.all(exact.probs >= 0), f"{mechanism!r} on {dataset!r}: a negative probability"
        total = math.fsum(exact.probs.tolist())
        assert abs(total - 1) < 1e-9, f"{mechanism!r} on {dataset!r}: its law sums to {total!r}"


def counted(outputs: Outputs) -> dict[Any, int]:
    """How often each outcome came, floats too."""
    counts: Counter[Any] = Counter()
    for outcome, times in outputs.each():
        counts[outcome] += times
    return dict(counts)


def check_ledger(subject: Subject) -> None:
    """Where every draw is accounted for, the parts composed keep the claim (unless a FAIL is expected)."""
    for case in subject.cases:
        if case.expected is Verdict.FAIL or not pairs_of(case):
            continue
        entry = ledger(case.mechanism, pairs_of(case)[0].left, seed=5)
        if entry.complete:
            assert entry.balanced is not False, f"{case.label}: composed {entry.composed}, claimed {entry.claim}"


def check_agreement(subject: Subject) -> None:
    """Samples follow the law: the tolerances are `agreement`, `refutes` and MISS."""
    found = subject.agreement
    if found is None:
        for mechanism, dataset, exact in subject.laws:
            (certain,) = (value for value, p in exact.as_dict().items() if p > 0)
            assert counted(sample(WithoutBulk(mechanism), dataset, 10_000, seed=1)) == {certain: 10_000}
        return
    assert not refutes(found.law, subject.counts, found.event), f"{subject.name} on {found.dataset!r}"
    if hasattr(found.mechanism, "bulk"):
        runs = min(found.runs, MOST_BULK_RUNS)
        outputs = sample(found.mechanism, found.dataset, runs, seed=12)
        assert not refutes(found.law, counted(outputs), found.event), f"{subject.name}: bulk on {found.dataset!r}"


def check_agreement_has_power(subject: Subject) -> None:
    """A law or samples wrong by SHIFT on one event are refuted."""
    found = subject.agreement
    if found is None:
        return
    counts = subject.counts
    assert refutes(shifted(found.law, found.event), counts, found.event), f"{subject.name}: a wrong law passed"
    rng = np.random.default_rng(13)
    other = next(value for value, p in found.law.items() if value not in found.event and p > 0)
    moved = {value: int(rng.binomial(times, SHIFT)) for value, times in counts.items() if value in found.event}
    wrong = {value: times - moved.get(value, 0) for value, times in counts.items()}
    wrong[other] = wrong.get(other, 0) + sum(moved.values())
    assert refutes(found.law, wrong, found.event), f"{subject.name}: wrong samples passed"


def check_bulk(subject: Subject) -> None:
    """`bulk` draws what `run` draws, also where there is no law: two samples compared at 1e-6."""
    for mechanism in subject.mechanisms:
        if not hasattr(mechanism, "bulk"):
            continue
        pair = next(pair for m, pair in subject.pairs if m == mechanism)
        for i, dataset in enumerate((pair.left, pair.right)):
            by_run = sample(WithoutBulk(mechanism), dataset, 4_000, seed=2 * i)
            bulk = sample(mechanism, dataset, 20_000, seed=2 * i + 1)
            p_value = two_samples(by_run, bulk)
            assert p_value > 1e-6, f"{mechanism!r} on {dataset!r}: bulk and run differ (p = {p_value:.1g})"


# --- symmetries ------------------------------------------------------------------------------------------------------


def check_symmetries(subject: Subject) -> None:
    """What a mechanism declares holds on every dataset of a few records from its scopes' domains, and from 0, …, 3."""
    for mechanism, domain in places(subject):
        holding(mechanism, domain)


def places(subject: Subject) -> Iterator[tuple[Mechanism, tuple[Any, ...]]]:
    """Mechanisms with a small law, and possible records."""
    small = subject.plan.small
    found = [(case.mechanism, case.scope.domain) for case in subject.cases if case.scope is not None]
    if small is not None:
        mechanism, scope = small(4, 3)
        found += [(mechanism, scope.domain), (mechanism, (0, 1, 2, 3))]
    seen: list[tuple[Mechanism, tuple[Any, ...]]] = []
    for place in found:
        if place not in seen:
            seen.append(place)
            yield place


def holding(mechanism: Mechanism, domain: tuple[Any, ...]) -> set[str]:
    """Names of the symmetries that act on the domain, after each was held against every dataset."""
    action = declared(mechanism, ADD_REMOVE_ONE, domain)
    if not action.symmetries:
        return set()
    cache, names = LawCache(), set[str]()
    records = next(n for n in range(4, -1, -1) if math.comb(len(domain) + n, n) <= DATASETS or n <= 1)
    for dataset in ADD_REMOVE_ONE.scope(domain, records, ordered=False):
        try:
            before = interval_law(mechanism, dataset, cache=cache, path_limit=PATHS).as_dict()
        except DpauditError:
            continue  # so few records, or these, are not for it
        for symmetry, image_of in zip(action.symmetries, action.records, strict=True):
            image = moved(dataset, image_of)
            after = interval_law(mechanism, image, cache=cache, path_limit=PATHS).as_dict()
            wrong = first_difference(before, after, symmetry)
            assert wrong is None, f"{mechanism!r}: {symmetry.name} does not hold from {dataset!r} to {image!r}: {wrong}"
            names.add(symmetry.name)
    return names


# --- statistics ------------------------------------------------------------------------------------------------------


def agreement(mechanism: Mechanism, dataset: Any, exact: Law) -> Agreement | None:
    """An event of probability near 1/2, and the runs that see a shift of SHIFT of it with probability 1 − MISS."""
    masses = {value: p for value, p in exact.as_dict().items() if p > 0}
    if len(masses) < 2 or any(isinstance(value, IntegerRange) for value in masses):
        return None  # of a range samples are its single numbers
    event, mass = [], 0.0
    for value, p in sorted(masses.items(), key=lambda item: -item[1]):
        if mass + p <= 0.5:
            event.append(value)
            mass += p
    p, q = mass, mass * (1 - SHIFT)
    z_alarm, z_miss = stats.norm.isf(FALSE_ALARM / 2), stats.norm.isf(MISS)
    runs = 1.1 * ((z_alarm * math.sqrt(p * (1 - p)) + z_miss * math.sqrt(q * (1 - q))) / (p * SHIFT)) ** 2
    limit = MOST_BULK_RUNS if hasattr(mechanism, "bulk") else MOST_RUNS
    if not runs < limit:
        return None
    return Agreement(mechanism, dataset, masses, frozenset(event), p, math.ceil(runs))


def refutes(law: dict[Hashable, float], counts: dict[Hashable, int], event: frozenset[Hashable]) -> bool:
    """Whether counts contradict a law: an outcome it excludes, the event's frequency, or chi-square on its atoms."""
    runs = sum(counts.values())
    if any(law.get(value, 0.0) <= 0 for value, times in counts.items() if times):
        return True
    p, hits = math.fsum(law[value] for value in event), sum(counts.get(value, 0) for value in event)
    z = abs(hits - runs * p) / math.sqrt(runs * p * (1 - p))
    if 2 * stats.norm.sf(z) < FALSE_ALARM:
        return True
    means = np.array([p * runs for p in law.values()])
    seen = np.array([counts.get(value, 0) for value in law], dtype=np.float64)
    large = means >= 20
    bins, found = means[large], seen[large]
    if means[~large].sum() >= 20:
        bins, found = np.append(bins, means[~large].sum()), np.append(found, seen[~large].sum())
    if len(bins) < 2:
        return False
    statistic = float(((found - bins) ** 2 / bins).sum())
    return float(stats.chi2.sf(statistic, len(bins) - 1)) < FALSE_ALARM


def shifted(law: dict[Hashable, float], event: frozenset[Hashable]) -> dict[Hashable, float]:
    """The law with SHIFT of the event's mass spread over the rest."""
    p = math.fsum(law[value] for value in event)
    outside = (1 - (1 - SHIFT) * p) / (1 - p)
    return {value: q * ((1 - SHIFT) if value in event else outside) for value, q in law.items()}


def two_samples(left: Outputs, right: Outputs) -> float:
    """A p-value for equality: homogeneity of the atoms, and Kolmogorov–Smirnov of every coordinate of the reals."""
    counts = [Counter(side.counts) + Counter(side.others) for side in (left, right)]
    common = [v for v, times in (counts[0] + counts[1]).items() if times >= 60]
    rows = [[side[v] for v in common] for side in counts]
    for row, times, side in zip(rows, counts, (left, right), strict=True):
        row.append(times.total() - sum(row))
        row.append(len(side.reals))
    table = np.array(rows)[:, np.sum(rows, axis=0) > 0]
    values = [float(stats.chi2_contingency(table).pvalue)] if table.shape[1] > 1 else []
    if len(left.reals) and len(right.reals):
        a, b = (side.reals.reshape(len(side.reals), -1) for side in (left, right))
        values += [float(stats.ks_2samp(a[:, i], b[:, i]).pvalue) for i in range(a.shape[1])]
    return min(values, default=1.0) * max(1, len(values))


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_card, check_value, check_plan, check_utility, check_sample_sizes, check_parameters, check_samples,
    check_laws_sum_to_one, check_ledger, check_agreement, check_agreement_has_power, check_bulk, check_symmetries,
)
"""One row each in the table of tests."""

__all__ = ["CHECKS", "Catalogue", "Subject", "check_registered"]
