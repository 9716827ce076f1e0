"""What the statistics assume of a function, tested: independent samples, an output that varies, an input left alone.

Clopper–Pearson bounds, score tests and e-values hold for independent samples of one distribution. A function can break
that (it caches its answer, resamples stored values, draws one noise for all outputs of a call); then no bound holds.
"""

from __future__ import annotations

import math
import pickle
import re
import site
import sys
import sysconfig
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any, TypeVar

import cloudpickle
import cloudpickle.cloudpickle as internals
import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from dpaudit.adversary import Pair
from dpaudit.errors import DpauditError, MechanismError, OutputError
from dpaudit.evidence.kept_state import is_examined, played
from dpaudit.interpret import Counted, Drawn, Outputs, are_all, lone_outcome, minus_zeros, outcomes
from dpaudit.language import Claim, Dataset
from dpaudit.language.containers import container_of
from dpaudit.outputs.canonical import Kinds, Raised, TookLonger, canonical, likeness, shown
from dpaudit.outputs.columns import as_number, flat, placed
from dpaudit.outputs.failures import hint, raised
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.form import Form, Forms
from dpaudit.results.datasets import dataset_to_json, json_text
from dpaudit.results.notes import Assumption, SampledFailures
from dpaudit.results.records import AssumptionRecord
from dpaudit.stats import clopper_pearson, kruskal_wallis
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.subjects import by_value
from dpaudit.subjects.command import Command
from dpaudit.subjects.fresh_process import FreshProcess, fresh_process
from dpaudit.subjects.global_seeds import global_seeds
from dpaudit.subjects.stated import is_reproducible
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Target, Unit

_Target = TypeVar("_Target", MechanismTarget, FunctionTarget)
SEEDS = 2
"""Generators that a function is called with on each dataset, in two orders."""
MANY_SEEDS = 12
"""Generators for the question whether a function whose outputs differ has randomness of its own."""
AT_ONCE = 32
"""Outputs that a vectorised function is asked for in such a call."""
CALLS = 16
"""Calls of a vectorised function on each dataset, between which its outputs are compared."""
MOST_AT_ONCE = 1_000
"""Outputs of such a call at most."""
RARE = 10
"""Outputs of a call, on the average, that must differ from the most frequent value."""
SHARED = 1e-12
"""Error of that test for each dataset, by an approximation that may be off by some orders of magnitude."""
PARTS = 8
"""Parts of an output that it compares."""
LARGEST = 1 << 26
"""Bytes of a function's copy beyond which no copy is made."""
REPEATS_FROM = 20
"""A dataset's outputs are searched for repeated values from this many different values on."""
KEPT = 20_000
"""Values of each dataset that are kept to find repeats."""
SIGNIFICANT = 40
"""Bits of a mantissa from which a value seems to be from a continuous distribution."""
DATASET_SHOWN = 80
"""Most characters of a dataset in a sentence."""
FAILED_CALLS = 5
"""Calls on each dataset that must all raise before a function is said to fail in every call."""

EARLIEST, LATEST = 6, 6
"""Units of samples at the beginning and at the end of an audit that are repeated in a fresh process."""
AT_MOST = 500
"""Outputs of a unit of a vectorised function that is repeated."""
SIGNS = 0.001
"""Error of the bound on what the signs of zeros show."""
FORMS = 0.001
"""Error of the bounds on what the forms of outputs show, together."""
MOST = 700.0
"""No exponential is taken of more."""
DIGITS = 9
"""Significant digits in which outputs of two processes must agree: they may add numbers up in other orders."""

DETERMINISTIC = (
    "The output never varied on either dataset: the function is deterministic. Does it seed its generator, or draw no "
    "noise?"
)
_UNCOPIED = "Not tested: its state cannot be copied."
_OWN = "Not tested: the same seed gives different outputs, so its randomness does not come from rng."
_COPY = "The same seeds give the same outputs in another order and in a fresh copy of the function."
VARIES, INDEPENDENT, TYPES, SEEDED, INPUT = "varies", "independent", "types", "seeded", "input"


@dataclass(frozen=True)
class _Call:
    """What one call gave: its outcome, whether it used the generator, and whether it changed its input."""

    outcome: Hashable
    used: bool
    changed: bool

    @property
    def failed(self) -> bool:
        return isinstance(self.outcome, Raised)


def examine(target: MechanismTarget | FunctionTarget, pair: Pair, *, runs: int, seed: int) -> list[AssumptionRecord]:
    """Call a function a few times on both datasets, as it is when loaded and in another order, and compare.

    Of a mechanism in dpaudit's language a few samples are drawn: its interpreters check that it is a function of its
    draws, and what is left to test is whether runs on one dataset influence those on the other.

    Args:
        target: what is audited; its own state is left as it is where it can be copied.
        pair: two datasets.
        runs: samples of each dataset that the audit draws; a quarter of them show whether calls share noise.
        seed: of the generators.

    Raises:
        MechanismError: it raises in every call.
    """
    if isinstance(target, MechanismTarget):
        return _of_mechanism(target, pair, seed=seed)
    fresh = copies(target)
    if not is_reproducible(target.subject):
        _refuse_if_always_failing(fresh() if fresh is not None else target, pair, seed)
        return [AssumptionRecord(INDEPENDENT, None, "Not tested: its randomness does not come from rng.")]
    if fresh is None:
        return [AssumptionRecord(INDEPENDENT, None, _UNCOPIED)]
    forth, back, same = _both_orders(fresh, pair, SEEDS, seed)
    if same and not any(call.used or call.failed for call in forth.values()):
        # few values of its own randomness may be equal a few times
        forth, back, same = _both_orders(fresh, pair, MANY_SEEDS, seed)
    if not forth or not back:
        return [AssumptionRecord(INDEPENDENT, None, "Not tested: a copy of the function does not run.")]
    if all(call.failed for call in forth.values()):
        _refuse_if_always_failing(fresh(), pair, seed)
    records = []
    if same:
        records.append(AssumptionRecord(INDEPENDENT, True, _COPY))
    else:
        records.append(_influence(fresh, pair, forth, back, seed))
    if target.vectorised and (record := _one_noise(forth) or _shared_noise(fresh(), pair, runs, seed)) is not None:
        records = [record]
    records.append(_seeded(fresh, pair, forth, seed))
    changed = any(call.changed for call in forth.values())
    text = "It modifies its input; every call gets a fresh copy." if changed else "It does not modify its input."
    records.append(AssumptionRecord(INPUT, not changed, text))
    return records


def _of_mechanism(target: MechanismTarget, pair: Pair, *, seed: int) -> list[AssumptionRecord]:
    fresh = copies(target) if is_examined(target) else None
    if fresh is None:
        return []
    forth, back = (played(fresh(), pair, swapped=swapped, seed=seed) for swapped in (False, True))
    if forth is None or back is None:
        return []
    if _agree(forth, back):
        return [AssumptionRecord(INDEPENDENT, True, _COPY)]
    return [AssumptionRecord(INDEPENDENT, False, (
        "Runs on one dataset influence runs on the other: the same seeds in another order give different outputs, so "
        "no bound on ε is valid; make the output a function of the dataset and the draws, and keep no state between "
        "runs."
    ))]


def _seeded(
    fresh: Callable[[], FunctionTarget], pair: Pair, forth: dict[tuple[int, int], _Call], seed: int
) -> AssumptionRecord:
    """Whether the generator that it is given is all its randomness."""
    if not any(call.used for call in forth.values()):
        return AssumptionRecord(
            SEEDED, False, (
                "It never used the given generator: it has its own randomness, or none. Draw all noise from rng, so "
                "that the audit can be repeated from its seed."
            )
        )
    other = _played(fresh(), pair, list(forth), seed, word=1)
    if other is not None and all(_alike(other[key], call) for key, call in forth.items()):
        return AssumptionRecord(SEEDED, True, "It uses the given generator.")
    if isinstance(target := fresh().subject, Command):
        return AssumptionRecord(SEEDED, False, target.unseeded)
    return AssumptionRecord(SEEDED, False, (
        "Part of its randomness does not come from the given generator, but e.g. from random or numpy.random, so "
        "results are not reproducible; draw all noise from rng."
    ))


def started(target: Target, records: Sequence[AssumptionRecord]) -> FreshProcess | None:
    """A process in which calls of a function can be repeated; None where that would not test anything."""
    if isinstance(target, FunctionTarget) and target.call_time is not None:
        # the clock decides which calls take too long, and another process has another one
        return None
    known = {record.name: record for record in records}
    if INDEPENDENT in known and known[INDEPENDENT].text == _UNCOPIED:
        return fresh_process(target)
    tested = all(name in known and known[name].holds for name in (INDEPENDENT, SEEDED))
    return fresh_process(target) if tested else None


def repeated(
    monitor: Monitor, fresh: FreshProcess | None, records: Sequence[AssumptionRecord], left: float | None
) -> list[AssumptionRecord]:
    """The records, with what a fresh process says of independence; it is ended.

    Args:
        monitor: has seen the audit's samples.
        fresh: a process for calls of the same function.
        records: of the audit until now.
        left: seconds until the time limit; None for none.
    """
    independence = None
    if fresh is not None:
        independence = _elsewhere(monitor.units, fresh, left) if monitor.units and refutation(records) is None else None
        fresh.close()
    elif {_UNCOPIED, DETERMINISTIC} <= {record.text for record in records}:
        independence = AssumptionRecord(INDEPENDENT, False, (
            "The output never varied on either dataset, and the state of the function cannot be copied to check "
            "whether noise is drawn once and kept; remove locks and other objects that cannot be pickled from its "
            "globals."
        ))
    return [independence if independence and record.name == INDEPENDENT else record for record in records]


def _elsewhere(
    units: Sequence[tuple[Unit, Outputs]], fresh: FreshProcess, left: float | None
) -> AssumptionRecord | None:
    """What units of samples that are repeated in a fresh process show, if their outputs are other ones there."""
    # from the last to the first: what the first call leaves for all others comes of another seed then
    seeds, outputs = [unit for unit, _ in units[::-1]], [outputs for _, outputs in units[::-1]]
    there = fresh.repeat(seeds, left)
    if there is None or _agree(outputs, there):
        # results say the same where there can be no fresh process: they do not depend on the machine
        return None
    # what depends on earlier calls differs here and not in another process; what was drawn at import the other way
    # round; randomness that is not that of rng differs in both
    if not (_agree(there, fresh.repeat(seeds, left)) or _agree(there, fresh.anew().repeat(seeds, left))):
        return AssumptionRecord(INDEPENDENT, None, _OWN)
    return AssumptionRecord(INDEPENDENT, False, (
        "The same seeds give different outputs in a fresh process: the output depends on earlier calls, or on values "
        "drawn once per process (at import, or the order of a set of strings), so the samples are not independent "
        "and no bound on ε is valid; draw all noise from rng in every call, keep no state between calls, and set "
        "PYTHONHASHSEED if the order of a set matters."
    ))


def _agree(some: Sequence[Outputs], others: Sequence[Outputs] | None) -> bool:
    return others is not None and list(map(_rounded, some)) == list(map(_rounded, others))


def _rounded(outputs: Outputs) -> Counter[str]:
    """How often each outcome came, as a text in which floats are rounded."""
    counts: Counter[str] = Counter()
    for outcome, times in outputs.each():
        counts[_FLOAT.sub(lambda number: f"{float(number[0]):.{DIGITS - 1}e}", likeness(outcome))] += times
    return counts


_FLOAT = re.compile(r"\d+\.\d+(e[-+]?\d+)?|\d+e[-+]?\d+")


def refutation(records: Sequence[AssumptionRecord]) -> AssumptionRecord | None:
    """The record that says that no bound may rest on the samples, if one does."""
    return next((record for record in records if record.name == INDEPENDENT and record.holds is False), None)


def remarks(records: Sequence[AssumptionRecord]) -> list[Assumption]:
    """What a reader of the report should know, besides the verdict's reason."""
    return [
        Assumption(record.name, record.text) for record in records
        if (record.name in (SEEDED, INPUT) and record.holds is False) or record.text == DETERMINISTIC
    ]


@dataclass
class Monitor:
    """Watches the samples of one audit: do they vary, do continuous values repeat, do types that are equal mix."""

    firsts: list[Hashable] = field(default_factory=lambda: [None, None])
    still: list[bool] = field(default_factory=lambda: [True, True])
    """Whether all outputs on a dataset were its first one; of several pairs, on all of them."""
    values: tuple[list[FloatArray], list[FloatArray]] = field(default_factory=lambda: ([], []))
    kept: list[int] = field(default_factory=lambda: [0, 0])
    failures: list[Counter[Raised]] = field(default_factory=lambda: [Counter(), Counter()])
    totals: list[int] = field(default_factory=lambda: [0, 0])
    kinds: Kinds = field(default_factory=lambda: Kinds(zeros=False))
    mixed: str | None = None
    places: dict[Hashable, Kinds] = field(default_factory=dict)
    """The kinds of values in each place of outputs with parts, beside numbers that never repeat."""
    minus_zeros: list[int] = field(default_factory=lambda: [0, 0])
    """Outputs with −0.0 in them."""
    forms: tuple[Forms, Forms] = field(default_factory=lambda: (Forms(), Forms()))
    earliest: list[tuple[Unit, Outputs]] = field(default_factory=list)
    latest: deque[tuple[Unit, Outputs]] = field(default_factory=partial(deque, maxlen=LATEST))

    @property
    def units(self) -> list[tuple[Unit, Outputs]]:
        """Units of samples that can be repeated, and what they gave."""
        return [*self.earliest, *self.latest]

    def note(self, unit: Unit, outputs: Drawn) -> None:
        """A unit of samples and its outputs; of calls one after another the first few can be repeated."""
        if outputs.first is not None:
            unit, outputs = replace(unit, runs=outputs.first.runs, count=None), outputs.first
        if isinstance(outputs, Outputs) and unit.runs <= AT_MOST:
            (self.earliest if len(self.earliest) < EARLIEST else self.latest).append((unit, outputs))

    def see(self, samples: Sequence[Drawn]) -> None:
        """Samples of both datasets of a pair; of those that were counted elsewhere, less is left to watch."""
        for which, some in enumerate(samples):
            if isinstance(some, Counted):
                self._see_counted(which, some)
            else:
                self._see_outputs(which, some)

    def _see_counted(self, which: int, some: Counted) -> None:
        self.still[which] = self.still[which] and some.same == (self.firsts[which],)
        self.totals[which] += some.runs
        self.forms[which].merge(some.forms)
        self.failures[which].update(some.failures)
        self.minus_zeros[which] += some.minus_zeros

    def _see_outputs(self, which: int, outputs: Outputs) -> None:
        self._vary(which, outputs)
        self.totals[which] += outputs.runs
        self.forms[which].merge(outputs.forms)
        self.minus_zeros[which] += minus_zeros(outputs)
        for outcome, times in outputs.counts.items():
            if isinstance(outcome, Raised):
                self.failures[which][outcome] += times
            self._kind(outcome)
        for outcome in outputs.others:
            self._kind(outcome)
            self._kinds_of(placed(outcome))
        for block in outputs.blocks:
            self._whole(block)
            if self.kept[which] < KEPT and block.ndim == 1:
                self.values[which].append(block[: KEPT - self.kept[which]])
                self.kept[which] += len(self.values[which][-1])

    @property
    def constant(self) -> bool:
        """Whether all outputs were one and the same, on both datasets."""
        return all(self.still) and all(self.totals) and self.firsts[0] == self.firsts[1]

    def _vary(self, which: int, outputs: Outputs) -> None:
        if not self.still[which] or not outputs.runs:
            return
        if not self.totals[which]:
            self.firsts[which] = lone_outcome(outputs)
        self.still[which] = are_all(outputs, self.firsts[which])

    def _whole(self, block: FloatArray) -> None:
        """The kinds of those reals that an integer may equal."""
        whole = block[(block == np.floor(block)).reshape(len(block), -1).all(axis=1)]
        for outcome in outcomes(np.unique(whole, axis=0)[:KEPT]) if len(whole) else ():
            self._kind(outcome)

    def _kinds_of(self, leaves: Sequence[tuple[Hashable, Hashable]]) -> None:
        """The kinds of the leaves of one output; texts and floats are read as nothing else is."""
        for place, leaf in leaves:
            if type(leaf) not in (float, str):
                self._kind(leaf, self.places.setdefault(place, Kinds(zeros=False)))

    def _kind(self, outcome: Hashable, kinds: Kinds | None = None) -> None:
        kinds = kinds or self.kinds
        if self.mixed is None and len(kinds.known) < KEPT:
            try:
                kinds.see(outcome)
            except OutputError as error:
                self.mixed = str(error)

    def conclude(self, name: str, claim: Claim) -> list[AssumptionRecord]:
        """What the samples say of the assumptions."""
        records: list[AssumptionRecord] = []
        if all(self.totals):
            records.append(self._varies())
        mixed = self.mixed or self._signs(claim) or self._forms(claim)
        if mixed is not None:
            records.append(AssumptionRecord(TYPES, False, mixed))
        repeated = self._repeated()
        if repeated is not None:
            records.append(AssumptionRecord(INDEPENDENT, False, (
                f"The value {repeated!r} came more than once among outputs that look continuous, and never on the "
                "other dataset: the samples seem to be drawn from stored values, so they are not independent and no "
                f"bound on ε is valid. Draw fresh noise from rng in every call of {name}."
            )))
        return records

    def _signs(self, claim: Claim) -> str | None:
        """Why the signs of zeros are not what the claim allows; events do not see them."""
        if not all(self.totals) or not any(self.minus_zeros) or claim.delta >= 1:
            return None
        for one, other in ((0, 1), (1, 0)):
            low = clopper_pearson.epsilon_lower(
                self.minus_zeros[one], self.totals[one], self.minus_zeros[other], self.totals[other],
                delta=claim.delta, alpha=SIGNS,
            )
            if low > claim.epsilon:
                return (
                    "The outputs include 0.0 and -0.0, with probabilities that exceed the claim. They are equal in "
                    "Python, but an attacker can distinguish them; return x + 0.0."
                )
        return None

    def _forms(self, claim: Claim) -> str | None:
        """Why the forms of outputs, which events do not see, are not what the claim allows."""
        if not all(self.totals) or not any(forms.special for forms in self.forms) or claim.delta >= 1:
            return None
        tests = []
        for which in (lambda forms: forms.whole, lambda forms: forms.words):
            some, others = map(which, self.forms)
            for one in {**some.counts, **others.counts}:
                ends = [(n := kept.counts.get(one, 0), n + kept.missed) for kept in (some, others)]
                tests.append((one, *ends))
        plain = [total - forms.special for total, forms in zip(self.totals, self.forms, strict=True)]
        tests.append((Form("plain"), (plain[0], plain[0]), (plain[1], plain[1])))
        worst, most = None, claim.epsilon
        for one, *ends in tests:
            for this, that in ((0, 1), (1, 0)):
                x, y = ends[this][0], min(ends[that][1], self.totals[that])
                n, m = self.totals[this], self.totals[that]
                if x / n - claim.delta <= math.exp(min(claim.epsilon, MOST)) * y / m:
                    continue
                low = clopper_pearson.epsilon_lower(x, n, y, m, delta=claim.delta, alpha=FORMS / (2 * len(tests)))
                if low > most:
                    worst, most = (one, ends[0][0] / self.totals[0], ends[1][0] / self.totals[1]), low
        return None if worst is None else self._said(*worst)

    def _said(self, one: Form, here: float, there: float) -> str:
        """A sentence about a form that breaks the claim, and its shares on D and D′."""
        shares = f"{100 * here:.3g} % of the samples on D and {100 * there:.3g} % on D′"
        if one.of != "value":
            what = "The word" if one.of == "word" else "The message"
            text = repr(_short_text(one.text))
            return (
                f"{what} {text} of its {one.error} came in {shares}, which exceeds the claim. An attacker "
                "can read messages, but events do not; keep data out of messages of exceptions."
            )
        what = "plain Python values" if one.text == "plain" else f"of the form {one.text!r}"
        return (
            f"The outputs are {what} in {shares}, which exceeds the claim. An attacker can see "
            "the types of outputs, but events do not; return one type."
        )

    def _varies(self) -> AssumptionRecord:
        if self.constant:
            text = f"All {sum(self.totals):,} samples were {_short(self.firsts[0])}."
            return AssumptionRecord(VARIES, False, text)
        if all(self.still):
            return AssumptionRecord(VARIES, True, DETERMINISTIC)
        return AssumptionRecord(VARIES, True, "Its output varies.")

    def failure_notes(self, pairs: int) -> list[SampledFailures]:
        """How often calls raised, on D and on D′; nothing where none did.

        Args:
            pairs: how many pairs were sampled, a minimised one included.
        """
        if not any(self.failures):
            return []
        kinds = sorted({*self.failures[0], *self.failures[1]}, key=lambda outcome: outcome.error)
        left, right = ([counts[kind] for kind in kinds] for counts in self.failures)
        return [SampledFailures(
            [repr(kind) for kind in kinds], [kind.where.rstrip(".") for kind in kinds], left, right,
            n=self.totals[0], m=self.totals[1], by_the_clock=any(isinstance(kind, TookLonger) for kind in kinds),
            pairs=pairs,
        )]

    def _repeated(self) -> float | None:
        """A value that shows that outputs are drawn from a store; None where none does."""
        samples = [np.concatenate([np.empty(0), *parts]) for parts in self.values]
        found = (stored_value(own, other) for own, other in (samples, samples[::-1]))
        return next((value for value in found if value is not None), None)


def stored_value(own: FloatArray, other: FloatArray) -> float | None:
    """A value that shows that the outputs on a dataset are drawn from a store; None where none does.

    Values of a continuous distribution repeat with probability below n² / 2^53 (1e-7 at the 20,000 kept). Values on
    a lattice, values that both datasets share, and a few different ones are left alone: discrete noise gives those.

    Args:
        own, other: outputs on this dataset and on the other one.
    """
    values, counts = np.unique(own, return_counts=True)
    if len(values) < REPEATS_FROM:
        return None
    repeats = values[(_significant_bits(values) >= SIGNIFICANT) & (counts > 1)]
    stored = len(repeats) > 0 and not np.isin(repeats, other).any()
    return float(repeats[0]) if stored and seems_continuous(values) else None


def seems_continuous(values: FloatArray) -> bool:
    """Whether different values, ascending, use most bits of a double and are on no lattice."""
    full = _significant_bits(values) >= SIGNIFICANT
    return bool(full.mean() > 0.9) and not _on_lattice(values[full])


def _significant_bits(values: FloatArray) -> IntArray:
    mantissa = np.abs(np.frexp(values)[0] * 2.0**53).astype(np.int64)
    lowest = mantissa & -mantissa
    return np.where(mantissa == 0, 0, 54 - np.frexp(lowest.astype(np.float64))[1]).astype(np.int64)


def _on_lattice(values: FloatArray) -> bool:
    """Whether values are a + k·b for whole numbers k, up to rounding: discrete noise, scaled and shifted."""
    gaps = np.diff(values)
    step = float(gaps.min())
    if step <= 1e-12 * float(np.abs(values).max()):
        return False
    places = (values - values[0]) / step
    error = np.abs(places - np.round(places))
    return bool(np.median(error) < 1e-3 and np.quantile(error, 0.9) < 0.01)


def _refuse_if_always_failing(target: FunctionTarget, pair: Pair, seed: int) -> None:
    first = _played(target, pair, [(0, SEEDS)], seed)
    if first is None or not first[0, SEEDS].failed:
        return
    calls = _played(target, pair, [(which, SEEDS + at) for at in range(FAILED_CALLS) for which in (0, 1)], seed)
    outcomes = [] if calls is None else [call.outcome for call in calls.values()]
    failures = [outcome for outcome in outcomes if isinstance(outcome, Raised)]
    if failures and len(failures) == len(outcomes):
        raise always_fails(target.name, failures[0], pair.left)


def always_fails(
    name: str, failure: Raised, dataset: Dataset | None = None, *, calls: int | None = None
) -> MechanismError:
    """The error of a function that raised in every call.

    Args:
        name: of the function.
        failure: of one of the calls.
        dataset: on which that was; None if it is of no interest.
        calls: how many there were, where they were few.
    """
    every = f"in {'every call' if calls is None else f'all {calls} calls'}"
    if type(failure) is not Raised:
        return MechanismError(f"{name} {failure!r} {every} ({failure.where}).")
    advice = hint(failure)
    example = "" if dataset is None else f", for example on {shown_dataset(dataset)}"
    said = f"{name} raised {failure.where.rstrip('.')} {every}{example}."
    return MechanismError(f"{said} {advice}" if advice else said)


def shown_dataset(dataset: Dataset) -> str:
    """A dataset in a sentence."""
    text = json_text(dataset_to_json(dataset))
    return text if len(text) <= DATASET_SHOWN else f"{text[: DATASET_SHOWN - 1]}… ({len(dataset):,} records)"


def only_failures(outcomes: Sequence[object] | NDArray[np.generic]) -> Raised | None:
    """One of the outcomes, where all of them are failures."""
    if isinstance(outcomes, np.ndarray) or not len(outcomes):
        return None
    first = outcomes[0]
    return first if isinstance(first, Raised) and all(isinstance(one, Raised) for one in outcomes) else None


def _both_orders(
    fresh: Callable[[], FunctionTarget], pair: Pair, seeds: int, seed: int
) -> tuple[dict[tuple[int, int], _Call], dict[tuple[int, int], _Call], bool]:
    """Calls in one order and, by another copy, in the other, and whether they gave the same; empty where one fails."""
    plan = [(which, at) for at in range(seeds) for which in (0, 1)]
    forth, back = _played(fresh(), pair, plan, seed) or {}, _played(fresh(), pair, plan[::-1], seed) or {}
    return forth, back, bool(forth and back) and all(_alike(forth[key], back[key]) for key in plan)


def _influence(
    fresh: Callable[[], FunctionTarget], pair: Pair, forth: dict[tuple[int, int], _Call],
    back: dict[tuple[int, int], _Call], seed: int,
) -> AssumptionRecord:
    """Why two orders of the same calls gave different outputs: earlier calls, or randomness of its own."""
    own = next((which for which in (0, 1) if _own_randomness(fresh, pair, which, seed)), None)
    if own is not None:
        calls = [forth, back]
        if not any(_changes(some, which) for some in calls for which in (0, 1)):
            # outputs of few values may be equal a few times
            more = _played(fresh(), pair, [(own, at) for at in range(MANY_SEEDS)], seed)
            calls = [] if more is None else [more]
        if any(_changes(some, which) for some in calls for which in (0, 1)):
            return AssumptionRecord(INDEPENDENT, None, _OWN)
    kept, order = "its output is drawn once and kept", "the same seeds in another order give different outputs"
    how = order if own is None else kept
    if isinstance(target := fresh().subject, Command):
        return AssumptionRecord(INDEPENDENT, False, target.dependent.format(how))
    return AssumptionRecord(INDEPENDENT, False, (
        f"Earlier calls influence later ones ({how}), so the samples are not independent and no bound on ε is valid; "
        "remove caches and state between calls, and draw fresh noise from rng in every call."
    ))


def _own_randomness(fresh: Callable[[], FunctionTarget], pair: Pair, which: int, seed: int) -> bool:
    """Whether the first call of two copies with the same seed differs on a dataset, for one of several seeds.

    One seed is not enough: on one of the datasets the output may never vary, and one of few values is often the same.
    """
    for at in range(MANY_SEEDS):
        one, other = (_played(fresh(), pair, [(which, at)], seed) for _ in range(2))
        if one is None or other is None or not _alike(one[which, at], other[which, at]):
            return True
    return False


def _alike(one: _Call, other: _Call) -> bool:
    """Whether two calls gave the same, as far as can be known: the clock decides which calls take too long.

    Classes of two copies of a function are two classes.
    """
    if any(isinstance(call.outcome, TookLonger) for call in (one, other)):
        return True
    return one.outcome == other.outcome or likeness(one.outcome) == likeness(other.outcome)


def _changes(calls: dict[tuple[int, int], _Call], which: int) -> bool:
    """Whether the outputs on one dataset differ from call to call."""
    return len({repr(call.outcome) for (of, _), call in calls.items() if of == which}) > 1


def _one_noise(calls: dict[tuple[int, int], _Call]) -> AssumptionRecord | None:
    """Refuted where each call gives one value many times, and another call another value.

    A function whose outputs are independent does so with probability below 2^−2·AT_ONCE.
    """
    constants = [call.outcome for call in calls.values() if isinstance(call.outcome, tuple)]
    if len(constants) < len(calls) or any(len(set(map(shown, outcome))) != 1 for outcome in constants):
        return None
    for which in (0, 1):
        if len({shown(call.outcome) for (of, _), call in calls.items() if of == which}) > 1:
            return AssumptionRecord(INDEPENDENT, False, (
                "All outputs of one call are equal, and they differ between calls: the samples are not independent and "
                "no bound on ε is valid; draw fresh noise for each of the `size` outputs."
            ))
    return None


def _shared_noise(target: FunctionTarget, pair: Pair, runs: int, seed: int) -> AssumptionRecord | None:
    """Refuted where the outputs of one call are more alike, or less, than those of several calls.

    The test of Kruskal and Wallis, on what numbers can be read in the outputs and on whether one is the most frequent.
    """
    size = min(max(runs // (4 * CALLS), AT_ONCE), MOST_AT_ONCE)
    for which, dataset in enumerate((pair.left, pair.right)):
        calls = []
        for at in range(CALLS):
            own = SeedSequence([seed, 0x5A4E, which, at])
            try:
                with global_seeds(own, 0):
                    outputs = canonical(target.subject(target.given(dataset)(), default_rng(own), size))
            except Exception:
                return None
            if not isinstance(outputs, tuple) or len(outputs) != size:
                return None
            calls.append(outputs)
        columns = _columns([output for outputs in calls for output in outputs])
        for column in columns:
            _, counts = np.unique(column, return_counts=True)
            if size * CALLS - counts.max() < RARE * CALLS:
                # the test's approximation wants more values that differ
                continue
            if min(kruskal_wallis.tails(column.reshape(CALLS, size))) < SHARED / len(columns):
                return AssumptionRecord(INDEPENDENT, False, (
                    "The outputs of one call are not independent: calls differ by more, or by less, than calls with "
                    "independent outputs do, so no bound on ε is valid; draw fresh noise for each of the `size` "
                    "outputs."
                ))
    return None


def _columns(outcomes: Sequence[Hashable]) -> list[FloatArray]:
    """Numbers to compare calls by: those in the outputs, and whether an output is the most frequent one."""
    if all(type(outcome) is float and isfinite(outcome) for outcome in outcomes):
        # as below, where a number has itself as its only part, without a look at each
        numbers = np.array(outcomes, dtype=np.float64)
        _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        most_frequent = numbers[first[counts == counts.max()].min()]
        return [(numbers == most_frequent).astype(np.float64), numbers, numbers]
    (most, _), *_ = Counter(outcomes).most_common(1)
    columns = [np.array([float(outcome == most) for outcome in outcomes])]
    parts = [(outcome, *flat(outcome)[:PARTS]) for outcome in outcomes]
    if len({len(each) for each in parts}) == 1:
        columns += [np.array([as_number(part) for part in column]) for column in zip(*parts, strict=True)]
    # by their order alone
    return [np.where(np.isnan(column), -np.inf, column) for column in columns]


def _played(
    target: FunctionTarget, pair: Pair, plan: Sequence[tuple[int, int]], seed: int, *, word: int = 0
) -> dict[tuple[int, int], _Call] | None:
    """Calls in this order, by (dataset, number of the seed); None where a copy fails and the function would not.

    Args:
        word: what the global generators are seeded with, beside the seed.
    """
    calls = {}
    for which, at in plan:
        dataset = pair.right if which else pair.left
        try:
            calls[which, at] = _called(target, dataset, SeedSequence([seed, 0xCA11, at]), word)
        except Exception:
            return None
    return calls


def _called(target: FunctionTarget, dataset: Dataset, seed: SeedSequence, word: int) -> _Call:
    rng, records = default_rng(seed), target.given(dataset)()
    before, state = _image(target, records), str(rng.bit_generator.state)
    with global_seeds(seed, word):
        if not target.vectorised:
            outcome = canonical(target.outcome(records, rng))
        else:
            try:
                output = target.subject(records, rng, AT_ONCE)
            except (DpauditError, MemoryError):
                raise
            except Exception as error:
                outcome = raised(error)
            else:
                outcome = canonical(output)
    return _Call(outcome, str(rng.bit_generator.state) != state, _image(target, records) != before)


def _image(target: FunctionTarget, records: Any) -> Hashable:
    """Equal before and after a call that changes nothing in its input; the text of a long frame leaves rows out."""
    if target.container is None:
        return fingerprint(records)
    try:
        return type(records), fingerprint(target.container.records(records)), container_of(records)
    except Exception:
        return "no longer a dataset"


def copies(target: _Target) -> Callable[[], _Target] | None:
    """Makes copies of a function in the state in which it is now, with globals of their own; None where none can be."""
    if not target.portable:
        return None
    modules = [module for module in _project_modules(target.subject) if _registered(module)]
    try:
        with _classes_of_their_own():
            payload = by_value.dumps(target)
    except Exception:
        return None
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
    if len(payload) > LARGEST:
        return None
    return partial(pickle.loads, payload)


@contextmanager
def _classes_of_their_own() -> Iterator[None]:
    """Pickle classes without the number by which cloudpickle finds the class itself again in the same process.

    Loading would change that class: its methods would get the globals of the copy.
    """
    kept = internals._get_or_create_tracker_id
    internals._get_or_create_tracker_id = lambda cls: None
    try:
        yield
    finally:
        internals._get_or_create_tracker_id = kept


def _registered(module: ModuleType) -> bool:
    """Pickle the module's functions by value from now on; False where they were already."""
    if module.__name__ in cloudpickle.list_registry_pickle_by_value():
        return False
    with suppress(ValueError):
        cloudpickle.register_pickle_by_value(module)
        return True
    return False


def _project_modules(subject: object) -> list[ModuleType]:
    """Modules that define the function, unless they are installed: their state is to be copied with it."""
    while isinstance(subject, partial | MethodType):
        subject = subject.func if isinstance(subject, partial) else subject.__func__
    names = {getattr(subject, "__module__", None), type(subject).__module__}
    wrapped = getattr(subject, "__wrapped__", None)
    names.add(getattr(wrapped, "__module__", None))
    loaded = [sys.modules[name] for name in sorted(name for name in names if name in sys.modules)]
    return [module for module in loaded if _is_project(module)]


def _is_project(module: ModuleType) -> bool:
    if module.__name__ == "__main__":
        return False  # cloudpickle takes it by value anyhow
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path = Path(file).resolve()
    places = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *site.getsitepackages()]
    installed = [Path(place).resolve() for place in places]
    own = Path(__file__).resolve().parents[1]
    return not any(path.is_relative_to(place) for place in [*installed, own])


def _short(outcome: Hashable) -> str:
    return _short_text(shown(outcome))


def _short_text(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
