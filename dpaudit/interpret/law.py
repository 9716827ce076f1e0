"""The exact law of a mechanism's output, by enumerating the paths of its generator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from flint import arb, ctx

from dpaudit.errors import DpauditError, NotEnumerableError, TimeLimitError
from dpaudit.interpret.ball_spans import Pieces, cuts_of, pieces, refined
from dpaudit.interpret.balls import probabilities
from dpaudit.interpret.parameters import exact_dataset, exact_mechanism
from dpaudit.interpret.span_laws import SpanMixture, aligned, has_spans, members
from dpaudit.interpret.walk import Last, Path, Run, Step, Watch, blaming, continued
from dpaudit.language import Applied, Distribution, Finite, Mechanism, Symmetry, canonical
from dpaudit.language.distributions import Then, plain
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Kinds, Raised
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.form import PLAIN, FormShares, SameForms, form, saying
from dpaudit.stats.arb import PRECISION, Ball
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import Roundings, keying, watching

_Computed = TypeVar("_Computed")
COMPARED = 16
"""Output distributions of a program on exact numbers that are compared with those on doubles: so many of the first, and
then the 32nd, the 64th, ….
"""
CLOSE = 1e-6
"""By which probabilities of the two may differ."""
PATH_LIMIT = 1_000_000
"""More paths than this are not enumerated."""
DRAW_LIMIT = 10_000
"""Draws on one path: every branch replays the path to it, and a loop without an end has a branch at every step."""


@dataclass(frozen=True)
class Law:
    """A finite distribution of outputs: distinct `values` (integers as an array), `probs` of the same length.

    Exact up to rounding of double-precision sums; outcomes of probability 0 may be listed. Where whole numbers are
    too many to be listed, some of `values` are a `Span` of them: its probability is that of all of them, who share it
    alike.
    """

    values: tuple[Hashable, ...] | IntArray
    probs: FloatArray
    forms: Mapping[Hashable, str] = field(default_factory=dict)
    """What the outcomes leave out, in words, of those of which it does not follow from them (`output_form`)."""

    def __len__(self) -> int:
        return len(self.probs)

    def as_dict(self) -> dict[Hashable, float]:
        """Output → probability."""
        return dict(zip(plain(self.values), self.probs.tolist(), strict=True))

    def probability(self, event: Callable[[Hashable], bool]) -> float:
        """Pr[event].

        Raises:
            NotEnumerableError: there are spans with too many members to ask the event about each.
        """
        values, probs = members(self.values, self.probs, "law")
        if values is not self.values:
            return Law(values, probs).probability(event)
        return float(sum(p for value, p in self.as_dict().items() if event(value)))


Support: TypeAlias = tuple[Hashable, ...] | IntArray


def align(left: Law, right: Law) -> tuple[Support, FloatArray, FloatArray]:
    """Both laws over the union of their outcomes: values, probabilities on the left, on the right."""
    if isinstance(left.values, np.ndarray) and isinstance(right.values, np.ndarray):
        if np.array_equal(left.values, right.values):
            return left.values, left.probs, right.probs
        values = np.union1d(left.values, right.values)
        p, q = np.zeros(len(values)), np.zeros(len(values))
        p[np.searchsorted(values, left.values)] = left.probs
        q[np.searchsorted(values, right.values)] = right.probs
        return values, p, q
    if has_spans(left.values) or has_spans(right.values):
        return aligned(left.values, left.probs, right.values, right.probs)
    a, b = left.as_dict(), right.as_dict()
    union = tuple(dict.fromkeys([*a, *b]))
    return union, np.array([a.get(v, 0.0) for v in union]), np.array([b.get(v, 0.0) for v in union])


@dataclass
class _Mixture:
    """Sums weighted laws; integer outcomes in one dense array over their range, spans and the rest apart."""

    masses: dict[Hashable, float] = field(default_factory=dict)
    low: int = 0
    dense: FloatArray = field(default_factory=lambda: np.zeros(0))
    entries: int = 0
    """How many integer outcomes were added: the dense range may be that much wider, not more."""
    spans: SpanMixture = field(default_factory=SpanMixture)
    kinds: Kinds = field(default_factory=Kinds)
    forms: FormShares = field(default_factory=FormShares)

    def add(self, output: Any, mass: float) -> None:
        self._add(canonical(output), mass, _form(output))

    def _add(self, key: Hashable, mass: float, text: str) -> None:
        self.kinds.see(key)
        before = self.masses.get(key)
        if text or self.forms.masses:
            self.forms.add(key, text, mass, before)
        self.masses[key] = mass if before is None else before + mass

    def add_all(self, values: Any, probs: FloatArray, mass: float) -> None:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and len(values):
            low, high = int(values.min()), int(values.max())
            if max(-low, high) < 1 << 62 and self._make_room(low, high, len(values)):
                # values may repeat: labels are the algorithm's own
                np.add.at(self.dense, values.astype(np.int64) - self.low, mass * probs)
                return
        for value, p in zip(plain(values), probs.tolist(), strict=True):
            self.add(value, mass * p)

    def add_law(self, part: Law, mass: float) -> None:
        if not has_spans(part.values):
            if not part.forms:
                self.add_all(part.values, part.probs, mass)
                return
            for value, p in zip(plain(part.values), part.probs.tolist(), strict=True):
                self._add(value, mass * p, part.forms.get(value, ""))
            return
        for value, share in self.spans.add_all(part.values, part.probs, mass):
            self._add(value, share, part.forms.get(value, ""))

    def add_spread(self, draw: Distribution, mass: float, where: str) -> None:
        """The law of a draw from a long range."""
        if draw.spread is None:
            raise _refusal(draw, where)
        self.spans.add(draw.spread, mass)

    def _make_room(self, low: int, high: int, entries: int) -> bool:
        """Let the dense range hold low … high; False when it would be mostly empty."""
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
        return Law(*self.spans.law(plain(single.values), single.probs), single.forms) if self.spans else single

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
class BallLaw:
    """A finite distribution of outputs whose probabilities are intervals (see `balls`): `probs[i]` contains that of
    `values[i]`."""

    values: tuple[Hashable, ...]
    probs: tuple[Ball, ...]
    rounded: tuple[str, ...] = ()
    """What the program rounded to doubles, in words: where there is something, the law is that of such a program."""
    forms: Mapping[Hashable, str] = field(default_factory=dict)
    """As those of a `Law`."""

    def __len__(self) -> int:
        return len(self.probs)

    def as_dict(self) -> dict[Hashable, Ball]:
        """Output → the ball of its probability."""
        return dict(zip(self.values, self.probs, strict=True))


@dataclass
class _BallMixture:
    """Sums weighted laws in balls."""

    masses: dict[Hashable, Ball] = field(default_factory=dict)
    pieces: Pieces = field(default_factory=list)
    kinds: Kinds = field(default_factory=Kinds)
    forms: FormShares = field(default_factory=FormShares)

    def add(self, output: Any, mass: Ball) -> None:
        self._add(canonical(output), mass, _form(output))

    def _add(self, key: Hashable, mass: Ball, text: str) -> None:
        self.kinds.see(key)
        before = self.masses.get(key)
        if text or self.forms.masses:
            self.forms.add(key, text, mass, before)
        self.masses[key] = mass if before is None else before + mass

    def add_law(self, part: BallLaw, mass: Ball) -> None:
        for value, p in zip(part.values, part.probs, strict=True):
            # spans stand for outcomes and are none themselves
            self._add(value, mass * p, part.forms.get(value, ""))

    def add_all(self, values: Any, probs: Iterable[Ball], mass: Ball) -> None:
        for value, p in zip(plain(values), probs, strict=True):
            self.add(value, mass * p)

    def add_spread(self, draw: Distribution, mass: Ball, where: str) -> None:
        parts = pieces(draw)
        if parts is None:
            raise _refusal(draw, where)
        self.pieces += [(start, stop, mass * p) for start, stop, p in parts]

    def law(self) -> BallLaw:
        found = refined(self.masses, self.pieces) if self.pieces or has_spans(tuple(self.masses)) else self.masses
        forms = self.forms.texts(_ball_share)
        return BallLaw(tuple(saying(value, forms) for value in found), tuple(found.values()), forms=forms)


def _form(output: Any) -> str:
    """The form of an output; of a failure its message."""
    kind = type(output)
    if kind in PLAIN:
        return output.message if kind is Raised else ""
    return form(output)


def _share(mass: float, whole: float) -> str:
    return f"{mass / whole:.9g}" if mass > 0 else ""


def _ball_share(mass: Ball, whole: Ball) -> str:
    share = float((mass / whole).mid()) if not mass.is_zero() else 0.0
    return f"{share:.15g}" if share else ""


@dataclass(frozen=True)
class _Arithmetic:
    """In which numbers a law is computed.

    Args:
        one: of these numbers.
        probabilities: of a finite draw, in the order of its values.
        impossible: whether a probability is surely 0.
        spreads: whether the law of a draw from a long range is known.
        mixture: an empty sum of laws.
    """

    name: str
    one: Any
    probabilities: Callable[[Finite], Any]
    impossible: Callable[[Any], bool]
    mixture: Callable[[], Any]
    spreads: Callable[[Distribution], bool]


_DOUBLES = _Arithmetic(
    "doubles", 1.0, lambda draw: draw.probs, lambda p: not p > 0, _Mixture, lambda draw: draw.spread is not None
)
_BALLS = _Arithmetic(
    "balls", arb(1), probabilities, lambda p: bool(p.is_zero()), _BallMixture, lambda draw: pieces(draw) is not None
)


class NotOnExact(DpauditError):
    """A program does not run on exact numbers as it does on doubles, and the argument says how.

    Laws on both kinds of numbers must not be compared: 0.1 / 3 is a fraction among the outcomes of the one, and a
    double among those of the other. So all laws are to be computed anew, with a cache that says `doubles`.
    """


class LawCache:
    """Laws of sub-mechanisms already computed, by mechanism and dataset: equal states are merged through it.

    Args:
        doubles: why `ball_law` is to run programs on doubles; "" where they run on exact numbers.
    """

    def __init__(self, doubles: str = "") -> None:
        self.doubles = doubles
        self._laws: dict[Hashable, Any] = {}
        self._exact: dict[Hashable, _ExactRun] = {}
        self._kinds: dict[Hashable, Kinds] = {}
        self._forms: dict[Hashable, SameForms] = {}
        self.paths = 0
        """Executions of any mechanism's text so far."""

    def law(self, mechanism: Mechanism, dataset: Any, arithmetic: str, compute: Callable[[], Any]) -> Any:
        """The stored law, or the computed one; mechanisms or datasets that do not hash are computed anew."""
        # by their images too, because (1,) and (True,) are equal and a mechanism may tell them apart
        key: Hashable = (arithmetic, mechanism, dataset, fingerprint(mechanism), fingerprint(dataset))
        with keying():
            try:
                hash(key)
            except TypeError:
                return compute()
            if key in self._laws:
                return self._laws[key]
        computed = compute()
        with keying():
            self._laws[key] = computed
        return computed

    @property
    def differing(self) -> str:
        """A sentence about forms of outputs that are not the same on every dataset; "" where there are none."""
        return next((one.differing for one in self._forms.values() if one.differing), "")

    def see(self, mechanism: Mechanism, found: Law | BallLaw, *, exact: bool) -> None:
        """The outputs of a mechanism on one more dataset.

        Args:
            exact: whether it ran on exact numbers; their types are not those that an attacker sees.

        Raises:
            OutputError: one equals that of another dataset, and an attacker can tell them apart.
        """
        image = fingerprint(mechanism)
        kinds = self._kinds.setdefault(image, Kinds())
        values = plain(found.values)
        for value in values:
            kinds.see(value)
        if not exact:
            self._forms.setdefault(image, SameForms()).see(values, found.forms)

    def exact(self, mechanism: Mechanism) -> _ExactRun:
        """The mechanism with exact parameters; the same one for all laws that share this cache."""
        key = fingerprint(mechanism)
        try:
            if key not in self._exact:
                self._exact[key] = _ExactRun(mechanism, self.doubles)
            return self._exact[key]
        except TypeError:
            return _ExactRun(mechanism, self.doubles)


class _ExactRun:
    """A mechanism whose parameters are exact numbers, and what its program rounds all the same.

    Exceptions of a program are outcomes, and a program may catch them or branch on what doubles round: so some
    distributions, and those in which it fails, are compared with what the program computes on doubles.

    Args:
        mechanism: as it is given.
        doubles: why it is to run on doubles, which is noted; "" for exact numbers.
    """

    def __init__(self, mechanism: Mechanism, doubles: str = "") -> None:
        self.roundings = Roundings()
        self._number = 0
        self._given = mechanism
        self._exact: Mechanism | None = None
        if doubles:
            self.roundings.note(f"all of its numbers: the program does not run on exact ones ({doubles})")
            return
        try:
            with watching(self.roundings):
                self._exact = exact_mechanism(mechanism, self.roundings)
        except TimeLimitError:
            raise
        except Exception as error:
            raise NotOnExact(str(error)) from error

    def law(self, dataset: Any, budget: _Budget) -> BallLaw:
        """The law of its output.

        Raises:
            NotOnExact: it is another one on doubles, or there is none on exact numbers.
        """
        found: BallLaw
        if self._exact is None:
            found = _law(self._given, dataset, budget)
        else:
            try:
                with watching(self.roundings):
                    found = _law(self._exact, exact_dataset(dataset, self.roundings), budget)
                same = self._same_on_doubles(found, dataset, budget)
            except (TimeLimitError, NotEnumerableError):
                raise
            except DpauditError as error:
                raise NotOnExact(str(error)) from error
            if not same:
                raise NotOnExact("its output distribution is another one there")
        return replace(found, rounded=tuple(self.roundings.notes))

    def _same_on_doubles(self, found: BallLaw, dataset: Any, budget: _Budget) -> bool:
        fails = any(isinstance(value, Raised) for value in found.values)
        self._number += 1
        if self._number > COMPARED and self._number & (self._number - 1) and not fails:
            return True
        try:
            on_doubles: Law = _law(self._given, dataset, _Budget(budget.limit, budget.cache, _DOUBLES))
        except NotEnumerableError:
            return not fails
        return _close(found, on_doubles)


def _close(found: BallLaw, on_doubles: Law) -> bool:
    """Whether two output distributions are the same but for what doubles round."""
    p, q = found.as_dict(), {value: arb(mass) for value, mass in on_doubles.as_dict().items()}
    if has_spans((*p, *q)):
        cuts = cuts_of([*p, *q])
        p, q = refined(p, [], cuts), refined(q, [], cuts)
    nothing = arb(0)
    return all(abs(float((p.get(v, nothing) - q.get(v, nothing)).mid())) <= CLOSE for v in dict.fromkeys([*p, *q]))


@dataclass
class _Budget:
    """The paths that one call of `law` may still take, its sub-mechanisms' included, and its arithmetic."""

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


def law(mechanism: Mechanism, dataset: Any, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT) -> Law:
    """The exact distribution of the output on a dataset.

    Args:
        mechanism: every draw on its way must be finite.
        dataset: what its `run` takes.
        cache: share one among calls that meet the same sub-mechanisms.
        path_limit: most paths to enumerate in this call.

    Raises:
        NotEnumerableError: a draw cannot be enumerated (it names the draw and the remedy), or too many paths.
        OutputError: outputs that are equal and that an attacker can tell apart, such as 1 and True.
        NondeterministicMechanismError, MechanismError: as in `sample`.
    """
    shared = LawCache() if cache is None else cache
    found: Law = _law(mechanism, dataset, _Budget(path_limit, shared, _DOUBLES))
    shared.see(mechanism, found, exact=False)
    return found


def ball_law(
    mechanism: Mechanism, dataset: Any, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT
) -> BallLaw:
    """The law of the output, its probabilities enclosed by intervals (about 38 digits wide).

    The program runs on exact numbers: each of the mechanism's parameters is the decimal that it was written as, and 1/ε
    and ln(1/δ) are fractions and intervals. What it rounds to doubles all the same is in the law's `rounded`.

    Args: as for `law`.

    Raises:
        NotOnExact: a cache is given, and the program does not run on exact numbers as it does on doubles. Without one
            its law on doubles is returned then, and `rounded` says so.
        As `law` does.
    """
    if cache is None:
        return of_one_kind(lambda cache: ball_law(mechanism, dataset, cache=cache, path_limit=path_limit))
    with ctx.workprec(PRECISION):
        found = cache.exact(mechanism).law(dataset, _Budget(path_limit, cache, _BALLS))
    cache.see(mechanism, found, exact=not cache.doubles)
    return found


def of_one_kind(compute: Callable[[LawCache], _Computed]) -> _Computed:
    """What is computed from laws, all of them on exact numbers, or all of them on doubles where that is not possible.

    Args:
        compute: uses the cache that it is given for every law.
    """
    try:
        return compute(LawCache())
    except NotOnExact as error:
        return compute(LawCache(str(error)))


def ball_laws(
    mechanism: Mechanism, left: Any, right: Any, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT
) -> BallLaws:
    """Both laws over the union of their outcomes.

    Args, Raises: as for `ball_law`.
    """
    if cache is None:
        return of_one_kind(lambda cache: ball_laws(mechanism, left, right, cache=cache, path_limit=path_limit))
    # whatever was rounded for the first is among what is noted of the second
    laws = [ball_law(mechanism, side, cache=cache, path_limit=path_limit) for side in (left, right)]
    p, q = (each.as_dict() for each in laws)
    if has_spans((*p, *q)):
        with ctx.workprec(PRECISION):
            cuts = cuts_of([*p, *q])
            p, q = refined(p, [], cuts), refined(q, [], cuts)
    union = dict.fromkeys([*p, *q])
    nothing = arb(0)
    rounded = tuple(dict.fromkeys(note for each in laws for note in each.rounded))
    return BallLaws([p.get(v, nothing) for v in union], [q.get(v, nothing) for v in union], rounded)


@dataclass(frozen=True)
class BallLaws:
    """The laws of a pair over the same outcomes.

    Args:
        left, right: intervals of the probabilities, shape (k,) each.
        rounded: what the program rounded to doubles, in words.
    """

    left: list[Ball]
    right: list[Ball]
    rounded: tuple[str, ...]


def first_difference(
    before: dict[Hashable, Ball], after: dict[Hashable, Ball], symmetry: Symmetry | None
) -> tuple[Hashable, float, float] | None:
    """Where two laws in balls certainly differ, after the outcomes of the first are moved by a symmetry.

    Returns:
        An outcome of the second, its probability by the first and by the second; None where all balls overlap.
    """
    with ctx.workprec(PRECISION):
        p: dict[Hashable, Ball] = before
        if symmetry is not None:
            if has_spans((*before,)):
                before = refined(before, [], symmetry.cuts or ())
            p = {}
            for outcome, mass in before.items():
                image = symmetry.on(outcome)
                p[image] = p[image] + mass if image in p else mass
        q = after
        if has_spans((*p, *q)):
            cuts = cuts_of([*p, *q])
            p, q = refined(p, [], cuts), refined(q, [], cuts)
        nothing = arb(0)
        for outcome in dict.fromkeys([*p, *q]):
            there, here = p.get(outcome, nothing), q.get(outcome, nothing)
            if not there.overlaps(here):
                return outcome, float(there), float(here)
    return None


def _law(mechanism: Mechanism, dataset: Any, budget: _Budget) -> Any:
    return budget.cache.law(
        mechanism, dataset, budget.arithmetic.name, lambda: _enumerate(mechanism, dataset, budget)
    )


def courses(
    mechanism: Mechanism, dataset: Any, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT
) -> Iterator[tuple[Path, float, Any]]:
    """Every path of draws with its probability and its end: an output, or what the output is drawn from.

    Args, Raises: as for `law`.
    """
    budget = _Budget(path_limit, LawCache() if cache is None else cache, _DOUBLES)
    for run, mass in _finished(mechanism, dataset, budget):
        assert isinstance(run.node, Last)
        yield run.path, mass, run.node.value


def law_of(draw: Any, *, cache: LawCache | None = None, path_limit: int = PATH_LIMIT) -> Law:
    """The exact law of a draw or applied mechanism; all of it on one outcome where it is an output.

    Raises:
        NotEnumerableError, MechanismError: as in `law`.
    """
    mixture = _Mixture()
    _mix(draw, 1.0, mixture, _Budget(path_limit, LawCache() if cache is None else cache, _DOUBLES), "draw")
    return mixture.law()


def _enumerate(mechanism: Mechanism, dataset: Any, budget: _Budget) -> Any:
    mixture = budget.arithmetic.mixture()
    for run, mass in _finished(mechanism, dataset, budget):
        with blaming(mechanism):
            _mix(run.node.value, mass, mixture, budget, f"last draw of {mechanism.name}")
    return mixture.law()


def _finished(mechanism: Mechanism, dataset: Any, budget: _Budget) -> Iterator[tuple[Any, Any]]:
    """Every path, run to its end, and its probability."""
    pending: list[tuple[Path, Any]] = [((), budget.arithmetic.one)]
    dataset = plain_records(dataset)
    watch = Watch(mechanism, dataset)
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
                    f"The {where} has {len(branches):,} values; more than {budget.limit:,} paths are not enumerated; "
                    "use a smaller dataset or domain."
                )
            pending.extend(((*run.path, Step(image, other)), mass * q) for other, q in others)
            mass *= p
            run.send(value, image)
            if len(run.path) > DRAW_LIMIT:
                raise NotEnumerableError(
                    f"{mechanism.name} draws more than {DRAW_LIMIT:,} times on one execution path, as a loop that may "
                    "go on for ever does; bound the number of draws, or audit it by samples."
                )
        watch.finished(run)
        yield run, mass
    watch.close()


def _mix(end: Any, mass: Any, mixture: Any, budget: _Budget, where: str) -> None:
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


def _branches(node: Distribution | Applied, budget: _Budget, where: str) -> Iterable[tuple[Any, Any]]:
    """What may come of a draw, and how probable it is."""
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
    return NotEnumerableError(f"The {where} is {node!r}, which cannot be enumerated; {node.remedy}.")
