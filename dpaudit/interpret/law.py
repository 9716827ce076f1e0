"""The law (exact distribution) of a mechanism's output, by enumerating the execution paths of its generator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from flint import arb, ctx

from dpaudit.errors import DpauditError, NotEnumerableError, TimeLimitError
from dpaudit.interpret.enclosures import probabilities
from dpaudit.interpret.interval_ranges import Pieces, cuts_of, pieces, refined
from dpaudit.interpret.parameters import exact_dataset, exact_mechanism
from dpaudit.interpret.range_laws import RangeMixture, aligned, has_ranges, members
from dpaudit.interpret.walk import Last, Path, Run, Step, Watch, blaming, continued, in_short
from dpaudit.language import Applied, Distribution, Finite, Mechanism, Symmetry, canonical
from dpaudit.language.distributions import Then, plain
from dpaudit.language.distributions.base import Values
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Kinds, Outcome, Output, Raised
from dpaudit.outputs.fingerprint import fingerprint, key_of
from dpaudit.outputs.form import PLAIN, FormShares, SameForms, form, saying
from dpaudit.stats.arb import PRECISION
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import Roundings, keying, watching

_Computed = TypeVar("_Computed")
COMPARED = 16
"""The first laws on exact numbers that are compared with those on doubles; after these also the 32nd, the 64th, …."""
CLOSE = 1e-6
"""Largest difference between the probabilities of the two."""
PATH_LIMIT = 1_000_000
"""More paths than this are not enumerated."""
DRAW_LIMIT = 10_000
"""Most draws on one path: every branch replays the path to it, and an infinite loop has a branch at every step."""


@dataclass(frozen=True)
class Law:
    """A finite distribution of outputs: distinct `values` (integers as an array), `probs` of the same length.

    Exact up to rounding of double-precision sums; outcomes of probability 0 may be listed. If there are too many
    whole numbers to list, some `values` are an `IntegerRange`: its probability is that of the whole range, and its
    numbers are equally likely.
    """

    values: tuple[Outcome, ...] | IntArray
    probs: FloatArray
    forms: Mapping[Outcome, str] = field(default_factory=dict)
    """Descriptions of the output forms that do not follow from the outcomes (`output_form`)."""

    def __len__(self) -> int:
        return len(self.probs)

    def as_dict(self) -> dict[Outcome, float]:
        """Output → probability."""
        return dict(zip(plain(self.values), self.probs.tolist(), strict=True))

    def probability(self, event: Callable[[Outcome], bool]) -> float:
        """Pr[event].

        Raises:
            NotEnumerableError: a range has too many members to test each for the event.
        """
        values, probs = members(self.values, self.probs, "law")
        if values is not self.values:
            return Law(values, probs).probability(event)
        return float(sum(p for value, p in self.as_dict().items() if event(value)))


Support: TypeAlias = tuple[Outcome, ...] | IntArray


def align(left: Law, right: Law) -> tuple[Support, FloatArray, FloatArray]:
    """Both laws over the union of their outcomes: values, probabilities under D, probabilities under D′."""
    if isinstance(left.values, np.ndarray) and isinstance(right.values, np.ndarray):
        if np.array_equal(left.values, right.values):
            return left.values, left.probs, right.probs
        values = np.union1d(left.values, right.values)
        p, q = np.zeros(len(values)), np.zeros(len(values))
        p[np.searchsorted(values, left.values)] = left.probs
        q[np.searchsorted(values, right.values)] = right.probs
        return values, p, q
    if has_ranges(left.values) or has_ranges(right.values):
        return aligned(left.values, left.probs, right.values, right.probs)
    a, b = left.as_dict(), right.as_dict()
    union = tuple(dict.fromkeys([*a, *b]))
    return union, np.array([a.get(v, 0.0) for v in union]), np.array([b.get(v, 0.0) for v in union])


@dataclass
class _Mixture:
    """Sums weighted laws; integer outcomes in one dense array over their range, ranges and the rest separately."""

    masses: dict[Outcome, float] = field(default_factory=dict)
    low: int = 0
    dense: FloatArray = field(default_factory=lambda: np.zeros(0))
    entries: int = 0
    """The number of integer outcomes added so far, which limits the width of the dense range."""
    ranges: RangeMixture = field(default_factory=RangeMixture)
    kinds: Kinds = field(default_factory=Kinds)
    forms: FormShares = field(default_factory=FormShares)

    def add(self, output: Output, mass: float) -> None:
        self._add(canonical(output), mass, _form(output))

    def _add(self, key: Outcome, mass: float, text: str) -> None:
        self.kinds.see(key)
        before = self.masses.get(key)
        if text or self.forms.masses:
            self.forms.add(key, text, mass, before)
        self.masses[key] = mass if before is None else before + mass

    def add_all(self, values: Values, probs: FloatArray, mass: float) -> None:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
            low, high = int(values.min()), int(values.max())
            if max(-low, high) < 1 << 62 and self._make_room(low, high, len(values)):
                # values may repeat: the algorithm chooses the labels
                np.add.at(self.dense, values.astype(np.int64) - self.low, mass * probs)
                return
        for value, p in zip(plain(values), probs.tolist(), strict=True):
            self.add(value, mass * p)

    def add_law(self, part: Law, mass: float) -> None:
        if not has_ranges(part.values):
            if not part.forms:
                self.add_all(part.values, part.probs, mass)
                return
            for value, p in zip(plain(part.values), part.probs.tolist(), strict=True):
                self._add(value, mass * p, part.forms.get(value, ""))
            return
        for value, share in self.ranges.add_all(part.values, part.probs, mass):
            self._add(value, share, part.forms.get(value, ""))

    def add_spread(self, draw: Distribution, mass: float, where: str) -> None:
        """The law of a draw from a long range."""
        if draw.spread is None:
            raise _refusal(draw, where)
        self.ranges.add(draw.spread, mass)

    def _make_room(self, low: int, high: int, entries: int) -> bool:
        """Extend the dense range to low … high; False if it would be mostly empty."""
        end = self.low + len(self.dense) - 1
        new_low, new_high = (min(low, self.low), max(high, end)) if len(self.dense) else (low, high)
        if new_high - new_low > max(65_536, 16 * (self.entries + entries)):
            return False
        self.entries += entries
        if not len(self.dense):
            self.low, self.dense = low, np.zeros(high - low + 1)
        elif (new_low, new_high) != (self.low, end):
            self.dense = np.pad(self.dense, (self.low - new_low, new_high - end))
            self.low = new_low
        return True

    def law(self) -> Law:
        single = self._single()
        return Law(*self.ranges.law(plain(single.values), single.probs), single.forms) if self.ranges else single

    def _single(self) -> Law:
        at = np.flatnonzero(self.dense)
        integers, masses = at + self.low, self.dense[at]
        if not self.masses:
            return Law(integers, masses)
        for value, mass in zip(integers.tolist(), masses.tolist(), strict=True):
            self._add(value, mass, "")
        self.dense = np.zeros(0)
        forms = self.forms.texts(_share)
        return Law(tuple(saying(value, forms) for value in self.masses), np.array(list(self.masses.values())), forms)


@dataclass(frozen=True)
class IntervalLaw:
    """A finite distribution of outputs whose probabilities are intervals (see `enclosures`).

    `probs[i]` contains the probability of `values[i]`."""

    values: tuple[Outcome, ...]
    probs: tuple[arb, ...]
    rounded: tuple[str, ...] = ()
    """Descriptions of the numbers that the program rounded to doubles; the law includes these roundings."""
    forms: Mapping[Outcome, str] = field(default_factory=dict)
    """As in a `Law`."""

    def __len__(self) -> int:
        return len(self.probs)

    def as_dict(self) -> dict[Outcome, arb]:
        """Output → the enclosure of its probability."""
        return dict(zip(self.values, self.probs, strict=True))


@dataclass
class _IntervalMixture:
    """Sums weighted laws in interval arithmetic."""

    masses: dict[Outcome, arb] = field(default_factory=dict)
    pieces: Pieces = field(default_factory=list)
    kinds: Kinds = field(default_factory=Kinds)
    forms: FormShares = field(default_factory=FormShares)

    def add(self, output: Output, mass: arb) -> None:
        self._add(canonical(output), mass, _form(output))

    def _add(self, key: Outcome, mass: arb, text: str) -> None:
        self.kinds.see(key)
        before = self.masses.get(key)
        if text or self.forms.masses:
            self.forms.add(key, text, mass, before)
        self.masses[key] = mass if before is None else before + mass

    def add_law(self, part: IntervalLaw, mass: arb) -> None:
        for value, p in zip(part.values, part.probs, strict=True):
            # a range represents outcomes but is not one itself
            self._add(value, mass * p, part.forms.get(value, ""))

    def add_all(self, values: Values, probs: Iterable[arb], mass: arb) -> None:
        for value, p in zip(plain(values), probs, strict=True):
            self.add(value, mass * p)

    def add_spread(self, draw: Distribution, mass: arb, where: str) -> None:
        parts = pieces(draw)
        if parts is None:
            raise _refusal(draw, where)
        self.pieces += [(start, stop, mass * p) for start, stop, p in parts]

    def law(self) -> IntervalLaw:
        masses = refined(self.masses, self.pieces) if self.pieces or has_ranges(tuple(self.masses)) else self.masses
        forms = self.forms.texts(_interval_share)
        return IntervalLaw(tuple(saying(value, forms) for value in masses), tuple(masses.values()), forms=forms)


def _form(output: Output) -> str:
    """The form of an output; for a failure, its message."""
    kind = type(output)
    if kind in PLAIN:
        return output.message if kind is Raised else ""
    return form(output)


def _share(mass: float, whole: float) -> str:
    return f"{mass / whole:.9g}" if mass > 0 else ""


def _interval_share(mass: arb, whole: arb) -> str:
    share = float((mass / whole).mid()) if not mass.is_zero() else 0.0
    return f"{share:.15g}" if share else ""


@dataclass(frozen=True)
class _Arithmetic:
    """The arithmetic in which a law is computed.

    Args:
        one: the number 1.
        probabilities: returns the probabilities of a finite draw, in the order of its values.
        impossible: whether a probability is certainly 0.
        spreads: whether the law of a draw from a long range is known.
        mixture: an empty sum of laws.
    """

    name: str
    one: float | arb
    probabilities: Callable[[Finite], Any]
    impossible: Callable[[Any], bool]
    mixture: Callable[[], Any]
    spreads: Callable[[Distribution], bool]


_DOUBLES = _Arithmetic(
    "doubles", 1.0, lambda draw: draw.probs, lambda p: not p > 0, _Mixture, lambda draw: draw.spread is not None
)
_INTERVALS = _Arithmetic(
    "enclosures",
    arb(1),
    probabilities,
    lambda p: bool(p.is_zero()),
    _IntervalMixture,
    lambda draw: pieces(draw) is not None,
)


class NotOnExact(DpauditError):
    """A program behaves differently on exact numbers and on doubles; the argument says how.

    Laws on the two kinds of numbers must not be compared: 0.1 / 3 is a fraction among the outcomes of one, and a
    double among those of the other. So all laws must be recomputed, with a cache whose `doubles` is set.
    """


class LawCache:
    """Laws already computed, by mechanism and dataset: of a whole audit, and of sub-mechanisms in equal states.

    Args:
        doubles: why `interval_law` must run programs on doubles; "" if they run on exact numbers.
    """

    def __init__(self, doubles: str = "") -> None:
        self.doubles = doubles
        self._laws: dict[Hashable, Any] = {}
        self._on_doubles: dict[str, LawCache] = {}
        self._exact: dict[Hashable, _ExactRun] = {}
        self._kinds: dict[Hashable, Kinds] = {}
        self._forms: dict[Hashable, SameForms] = {}
        self.paths = 0
        """The number of executions of any mechanism's program so far."""

    def law(
        self, mechanism: Mechanism, dataset: object, arithmetic: str, compute: Callable[[], _Computed]
    ) -> _Computed:
        """The stored law, or a newly computed one; laws of unhashable mechanisms or datasets are not stored."""
        key: Hashable = (arithmetic, key_of(mechanism), key_of(dataset))
        with keying():
            try:
                hash(key)
            except TypeError:
                return compute()
            if key in self._laws:
                stored: _Computed = self._laws[key]
                return stored
        computed = compute()
        with keying():
            self._laws[key] = computed
        return computed

    @property
    def differing(self) -> str:
        """A sentence about output forms that differ between datasets; "" if there are none."""
        return next((one.differing for one in self._forms.values() if one.differing), "")

    def see(self, mechanism: Mechanism, law: Law | IntervalLaw, *, exact: bool) -> None:
        """Check the outputs of a mechanism on another dataset.

        Args:
            exact: whether it ran on exact numbers, whose types differ from those that an attacker sees.

        Raises:
            OutputError: an output equals one on another dataset, but an attacker can distinguish them.
        """
        image = fingerprint(mechanism)
        kinds = self._kinds.setdefault((image, exact), Kinds())
        values = plain(law.values)
        for value in values:
            kinds.see(value)
        if not exact:
            self._forms.setdefault(image, SameForms()).see(values, law.forms)

    def on_doubles(self, doubles: str) -> LawCache:
        """The cache of laws for which programs run on doubles, for this reason; itself for no reason."""
        return self._on_doubles.setdefault(doubles, LawCache(doubles)) if doubles != self.doubles else self

    def note(self, mechanism: Mechanism, rounded: Iterable[str]) -> None:
        """Record what the mechanism rounded in another process."""
        for what in rounded:
            self.exact(mechanism).roundings.note(what)

    def exact(self, mechanism: Mechanism) -> _ExactRun:
        """The mechanism with exact parameters; the same object for all laws that share this cache."""
        key = key_of(mechanism)
        try:
            if key not in self._exact:
                self._exact[key] = _ExactRun(mechanism, self.doubles)
            return self._exact[key]
        except TypeError:
            return _ExactRun(mechanism, self.doubles)


class _ExactRun:
    """A mechanism whose parameters are exact numbers, and a record of what its program still rounds.

    Exceptions of a program are outcomes, and a program may catch them or branch on rounding errors. So some laws, and
    all laws that contain failures, are compared with the law of the program on doubles.

    Args:
        mechanism: the given mechanism.
        doubles: why it must run on doubles, which is recorded; "" for exact numbers.
    """

    def __init__(self, mechanism: Mechanism, doubles: str = "") -> None:
        self.roundings = Roundings()
        self._number = 0
        self._compared: set[Hashable] = set()
        self._given = mechanism
        self._exact: Mechanism | None = None
        if doubles:
            self.roundings.note(f"all of its numbers, because the program does not run on exact ones ({doubles})")
            return
        try:
            with watching(self.roundings):
                self._exact = exact_mechanism(mechanism, self.roundings)
        except TimeLimitError:
            raise
        except Exception as error:
            raise NotOnExact(str(error)) from error

    def law(self, dataset: object, budget: _Budget, *, compared: bool) -> IntervalLaw:
        """The law of its output.

        Args:
            compared: whether it must be compared with the law on doubles, whatever its number.

        Raises:
            NotOnExact: the law on doubles is different, or the program has no law on exact numbers.
        """
        computed: IntervalLaw
        if self._exact is None:
            computed = _law(self._given, dataset, budget)
        else:
            try:
                with watching(self.roundings):
                    computed = _law(self._exact, exact_dataset(dataset, self.roundings), budget)
                same = self._same_on_doubles(computed, dataset, budget, compared=compared)
            except (TimeLimitError, NotEnumerableError):
                raise
            except DpauditError as error:
                raise NotOnExact(str(error)) from error
            if not same:
                raise NotOnExact("its output distribution is different there")
        return replace(computed, rounded=tuple(self.roundings.notes))

    def _same_on_doubles(
        self, on_exact: IntervalLaw, dataset: object, budget: _Budget, *, compared: bool
    ) -> bool:
        key = key_of(dataset)
        with contextlib.suppress(TypeError):
            if key in self._compared:
                return True
        fails = any(isinstance(value, Raised) for value in on_exact.values)
        self._number += 1
        if self._number > COMPARED and self._number & (self._number - 1) and not fails and not compared:
            return True
        try:
            on_doubles: Law = _law(self._given, dataset, _Budget(budget.limit, budget.cache, _DOUBLES))
        except NotEnumerableError:
            return not fails
        same = _close(on_exact, on_doubles)
        if same:
            with contextlib.suppress(TypeError):
                self._compared.add(key)
        return same


def _close(on_exact: IntervalLaw, on_doubles: Law) -> bool:
    """Whether two laws are equal up to the rounding of doubles."""
    p, q = on_exact.as_dict(), {value: arb(mass) for value, mass in on_doubles.as_dict().items()}
    if has_ranges((*p, *q)):
        cuts = cuts_of([*p, *q])
        p, q = refined(p, [], cuts), refined(q, [], cuts)
    nothing = arb(0)
    return all(abs(float((p.get(v, nothing) - q.get(v, nothing)).mid())) <= CLOSE for v in dict.fromkeys([*p, *q]))


@dataclass
class _Budget:
    """The number of paths left for one call of `law`, including those of its sub-mechanisms, and its arithmetic."""

    limit: int
    cache: LawCache
    arithmetic: _Arithmetic
    taken: int = 0

    def take(self, mechanism: Mechanism) -> None:
        self.taken += 1
        self.cache.paths += 1
        if self.taken > self.limit:
            raise NotEnumerableError(
                f"{mechanism.name} has more than {self.limit:,} paths on this dataset; use a smaller dataset or domain."
            )


def law(mechanism: Mechanism, dataset: object, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT) -> Law:
    """The exact distribution of the output on a dataset.

    Args:
        mechanism: every draw on its paths must be finite.
        dataset: the argument of its `run`.
        cache: share one among calls that use the same sub-mechanisms.
        path_limit: most paths to enumerate in this call.

    Raises:
        NotEnumerableError: a draw cannot be enumerated (the message names the draw and a remedy), or too many paths.
        OutputError: two outputs are equal but an attacker can distinguish them, such as 1 and True.
        NondeterministicMechanismError, MechanismError: as in `sample`.
    """
    shared = LawCache() if cache is None else cache
    output_law: Law = _law(mechanism, dataset, _Budget(path_limit, shared, _DOUBLES))
    shared.see(mechanism, output_law, exact=False)
    return output_law


def interval_law(
    mechanism: Mechanism, dataset: object, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT,
    compared: bool = False,
) -> IntervalLaw:
    """The law of the output, with interval enclosures of its probabilities (to about 38 digits).

    The program runs on exact numbers: each parameter of the mechanism is the decimal that it was written as, and 1/ε
    and ln(1/δ) are fractions and intervals. The law's `rounded` lists the numbers that the program still rounds.

    Args:
        compared: compare it with the law on doubles, also if it is none of the first `COMPARED` of the cache.
        Others: as for `law`.

    Raises:
        NotOnExact: the program behaves differently on exact numbers and on doubles, and a cache is given. Without a
            cache the law on doubles is returned instead, and `rounded` says so.
        As in `law`.
    """
    if cache is None:
        return of_one_kind(lambda cache: interval_law(mechanism, dataset, cache=cache, path_limit=path_limit))
    with ctx.workprec(PRECISION):
        enclosed_law = cache.exact(mechanism).law(dataset, _Budget(path_limit, cache, _INTERVALS), compared=compared)
    cache.see(mechanism, enclosed_law, exact=not cache.doubles)
    return enclosed_law


def of_one_kind(compute: Callable[[LawCache], _Computed], known: LawCache | None = None) -> _Computed:
    """Compute something from laws on exact numbers, or if that is not possible, entirely from laws on doubles.

    Args:
        compute: must use the given cache for every law.
        known: laws that are known already.
    """
    cache = LawCache() if known is None else known
    try:
        return compute(cache)
    except NotOnExact as error:
        return compute(cache.on_doubles(str(error)))


def interval_laws(
    mechanism: Mechanism, left: object, right: object, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT
) -> IntervalLaws:
    """Both laws over the union of their outcomes, compared with those on doubles.

    Args, Raises: as for `interval_law`.
    """
    if cache is None:
        return of_one_kind(lambda cache: interval_laws(mechanism, left, right, cache=cache, path_limit=path_limit))
    # the second law's record includes everything rounded for the first
    laws = [
        interval_law(mechanism, dataset, cache=cache, path_limit=path_limit, compared=True) for dataset in (left, right)
    ]
    p, q = (each.as_dict() for each in laws)
    if has_ranges((*p, *q)):
        with ctx.workprec(PRECISION):
            cuts = cuts_of([*p, *q])
            p, q = refined(p, [], cuts), refined(q, [], cuts)
    union = dict.fromkeys([*p, *q])
    nothing = arb(0)
    rounded = tuple(dict.fromkeys(note for each in laws for note in each.rounded))
    return IntervalLaws([p.get(v, nothing) for v in union], [q.get(v, nothing) for v in union], rounded)


@dataclass(frozen=True)
class IntervalLaws:
    """The laws of a pair over the same outcomes.

    Args:
        left, right: intervals of the probabilities, shape (k,) each.
        rounded: descriptions of the numbers that the program rounded to doubles.
    """

    left: list[arb]
    right: list[arb]
    rounded: tuple[str, ...]


def first_difference(
    before: dict[Outcome, arb], after: dict[Outcome, arb], symmetry: Symmetry | None
) -> tuple[Outcome, float, float] | None:
    """The first outcome where two interval laws certainly differ, after a symmetry is applied to the first.

    Returns:
        An outcome of the second, its probability in the first and in the second; None if all enclosures overlap.
    """
    with ctx.workprec(PRECISION):
        p: dict[Outcome, arb] = before
        if symmetry is not None:
            if has_ranges((*before,)):
                before = refined(before, [], symmetry.cuts or ())
            p = {}
            for outcome, mass in before.items():
                image = symmetry.on(outcome)
                p[image] = p[image] + mass if image in p else mass
        q = after
        if has_ranges((*p, *q)):
            cuts = cuts_of([*p, *q])
            p, q = refined(p, [], cuts), refined(q, [], cuts)
        nothing = arb(0)
        for outcome in dict.fromkeys([*p, *q]):
            there, here = p.get(outcome, nothing), q.get(outcome, nothing)
            if not there.overlaps(here):
                return outcome, float(there), float(here)
    return None


def _law(mechanism: Mechanism, dataset: object, budget: _Budget) -> Any:
    return budget.cache.law(
        mechanism, dataset, budget.arithmetic.name, lambda: _enumerate(mechanism, dataset, budget)
    )


def execution_paths(
    mechanism: Mechanism, dataset: object, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT
) -> Iterator[tuple[Path, float, Output]]:
    """Every execution path with its probability and its end: an output, or the final draw.

    Args, Raises: as for `law`.
    """
    budget = _Budget(path_limit, LawCache() if cache is None else cache, _DOUBLES)
    for path, mass, end in _finished(mechanism, dataset, budget):
        yield path, float(mass), end


def law_of(draw: Output, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT) -> Law:
    """The exact law of a draw or applied mechanism; a point mass if `draw` is an output.

    Raises:
        NotEnumerableError, MechanismError: as in `law`.
    """
    mixture = _Mixture()
    _mix(draw, 1.0, mixture, _Budget(path_limit, LawCache() if cache is None else cache, _DOUBLES), "draw")
    return mixture.law()


def _enumerate(mechanism: Mechanism, dataset: object, budget: _Budget) -> Any:
    mixture = budget.arithmetic.mixture()
    for _, mass, end in _finished(mechanism, dataset, budget):
        with blaming(mechanism):
            _mix(end, mass, mixture, budget, f"last draw of {mechanism.name}")
    return mixture.law()


def _finished(mechanism: Mechanism, dataset: object, budget: _Budget) -> Iterator[tuple[Path, float | arb, Output]]:
    """Every path, run to its end, with its probability and that end."""
    pending: list[tuple[Path, float | arb]] = [((), budget.arithmetic.one)]
    dataset = plain_records(dataset)
    watch = Watch(mechanism)
    while pending:
        path, mass = pending.pop()
        budget.take(mechanism)
        run = Run(mechanism, dataset, path)
        while not isinstance(run.node, Last):
            image = fingerprint(run.node)
            where = f"draw {len(run.path) + 1} of {mechanism.name}"
            with blaming(mechanism):
                branches = list(_branches(run.node, budget, where))
            (value, p), *others = branches
            if len(others) + len(pending) > budget.limit:
                raise NotEnumerableError(
                    f"The {where} has {len(branches):,} values, but at most {budget.limit:,} paths are enumerated; "
                    "use a smaller dataset or domain."
                )
            pending.extend(((*run.path, Step(image, other)), mass * q) for other, q in others)
            mass *= p
            run.send(value, image)
            if len(run.path) > DRAW_LIMIT:
                raise NotEnumerableError(
                    f"{mechanism.name} draws more than {DRAW_LIMIT:,} times on one execution path, perhaps in an "
                    "infinite loop; bound the number of draws, or audit it by sampling."
                )
        watch.finished(mechanism, dataset, run)
        yield run.path, mass, run.node.value
    watch.close()


def _mix(end: Output, mass: float | arb, mixture: Any, budget: _Budget, where: str) -> None:
    if isinstance(end, Applied):
        mixture.add_law(_law(end.mechanism, end.dataset, budget), mass)
    elif isinstance(end, Then):
        for value, p in _branches(end.base, budget, where):
            _mix(continued(end, value), mass * p, mixture, budget, where)
    elif isinstance(end, Finite) and end.finite:
        mixture.add_all(end.values, budget.arithmetic.probabilities(end), mass)
    elif isinstance(end, Distribution):
        mixture.add_spread(end, mass, where)
    else:
        mixture.add(end, mass)


def _branches(node: Distribution | Applied, budget: _Budget, where: str) -> Iterable[tuple[Output, float | arb]]:
    """The possible values of a draw, and their probabilities."""
    arithmetic = budget.arithmetic
    if isinstance(node, Finite) and node.finite:
        values, probs = node.values, arithmetic.probabilities(node)
    elif isinstance(node, Distribution) and not isinstance(node, Then) and not arithmetic.spreads(node):
        raise _refusal(node, where)
    else:
        part = arithmetic.mixture()
        _mix(node, arithmetic.one, part, budget, where)
        merged = part.law()
        values, probs = members(merged.values, merged.probs, where)
    each = zip(plain(values), plain(probs), strict=True)
    return ((value, p) for value, p in each if not arithmetic.impossible(p))


def _refusal(node: Distribution, where: str) -> NotEnumerableError:
    return NotEnumerableError(f"The {where} is {in_short(node)}, which cannot be enumerated; {node.remedy}.")
