"""A proof from the cheapest alignment of each execution path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from dpaudit.proofs import coins
from dpaudit.proofs.alignment import Aligned, Constraint, NoShift, align
from dpaudit.proofs.certificate import certificate_of_paths
from dpaudit.proofs.exact import ROUNDING, brief
from dpaudit.proofs.forms import Form
from dpaudit.proofs.merging import may_merge, merged
from dpaudit.proofs.neighbours import Differences, differences, sums, with_changes, with_maxima
from dpaudit.proofs.parts import Parts
from dpaudit.proofs.paths import LIMITS, Finished, Limits, Manner, Seen
from dpaudit.proofs.program import assumptions, paths, symbols
from dpaudit.proofs.replay import handed_in, put_in, replayed
from dpaudit.proofs.results import NoiseLine, Place, Proof, Unknown, Unsupported
from dpaudit.proofs.scopes import Answers, Asked, Container, Domain, Records, Scope, Stream

MOST_REPLAYED = 40
"""Datasets of a finite domain, followed one by one, on which the program itself is run."""
MOST_CLIPPED = 300
"""Paths that are followed where noisy numbers are clipped one by one."""
MOST_DATASETS = 200
"""Datasets of a finite domain up to which each is followed by itself where symbols do not suffice."""

Explored: TypeAlias = tuple[int, frozenset[Place], bool]
"""The number of records, the lines with whole maxima, and `clipping`."""


@dataclass(frozen=True, eq=False)
class PathPair:
    """A path on D, and the one on D′ that it is mapped to.

    Args:
        path: on D.
        forms: what each row is on D′ less what it is on D, for other programs on D and D′; None where both are one
            program.
    """

    path: Finished
    forms: tuple[Form, ...] | None = None


@dataclass(eq=False)
class Attempt:
    """A proof that is being looked for.

    Args:
        target, scope, claimed: as in `prove`.
        name: of the program.
        delta: of the claim; used where outputs are finitely many.
        limits: beyond which it is given up.
        container: what a function gets its answers or records in, where that is known.
        worst: the most expensive aligned path and difference so far.
        broken: the path and the difference for which no shift was found.
        explored: the paths on symbols.
        on_datasets: the paths on each dataset of a finite domain.
        is_followed: whether the program could be followed.
        clipping: whether the noise in a number of a record that is clipped counts as released before.
        seen: what makes a difference to how it is followed.
        parts: what it applies to its whole dataset and is proved by itself; None where all is followed.
    """

    target: Any
    scope: Scope
    claimed: Fraction
    name: str
    limits: Limits = LIMITS
    delta: Fraction = Fraction(0)
    container: Container | None = None
    worst: tuple[Finished, Aligned] | None = None
    broken: tuple[Finished, NoShift] | None = None
    explored: dict[Explored, list[Finished]] = field(default_factory=dict)
    on_datasets: dict[tuple[Any, ...], list[Finished]] = field(default_factory=dict)
    is_followed: bool = False
    clipping: bool = False
    seen: Seen = field(default_factory=Seen)
    parts: Parts | None = None

    def looks_at_clipping(self) -> bool:
        """Whether `clipping` makes a difference, from the first path; the exploration of all may be long."""
        if isinstance(self.scope, Records):
            too_many = self.seen.too_many
            with suppress(Unsupported):
                self.paths(self.scope, self.scope.n, limits=replace(self.limits, paths=1), keep=False)
            self.seen.too_many = too_many
        return self.seen.clips

    def follow_without_clipping(self) -> None:
        """Follows clipped numbers on paths of their own, which are many where there are several records."""
        self.clipping = False
        self.limits = replace(self.limits, paths=min(self.limits.paths, MOST_CLIPPED))

    def manner(self, whole_maxima: frozenset[Place] = frozenset()) -> Manner:
        """How the program is followed."""
        if self.parts is None:
            return Manner(whole_maxima, self.clipping)
        return Manner(whole_maxima, self.clipping, self.parts.of)

    @property
    def outputs(self) -> list[Any]:
        """The outputs on symbols of all paths that were followed."""
        return [path.result for found in (*self.explored.values(), *self.on_datasets.values()) for path in found]

    def outcome(self) -> Proof | Unknown:
        """A proof for all datasets of a scope other than streams."""
        try:
            first = self.on_symbols()
            if isinstance(first, Proof):
                self.replay(self.scope)
            if isinstance(first, Proof) or not isinstance(self.scope, Domain) or not _is_small(self.scope):
                return first
            try:
                self.follow_datasets(self.scope)
                found = self.of_datasets(self.scope)
            except Unsupported:
                # a line that leaks says more than why its datasets are not followed one by one
                if first.least is not None or self.broken is not None:
                    return first
                raise
            if not isinstance(found, Proof) and found.least is None and not self.delta and not self.is_of_choices:
                return first
            for dataset, finished in list(self.on_datasets.items())[:MOST_REPLAYED]:
                replayed(
                    self.target, self.scope, finished, len(dataset), datasets=[dataset], container=self.handed_in
                )
            return found
        except Unsupported as error:
            return self.unknown(error.reason, error.remedy, error.place)

    @property
    def is_of_choices(self) -> bool:
        """Whether outputs depend on random choices alone, on every dataset of a finite domain."""
        return all(path.is_finite for found in self.on_datasets.values() for path in found)

    def replay(self, scope: Scope) -> None:
        """Compares the program with the paths found on symbols.

        Raises:
            Unsupported: it does something else.
        """
        assert not isinstance(scope, Stream)
        size = scope.k if isinstance(scope, Answers) else scope.n
        both = not isinstance(scope, Answers) and scope.relation == "add-remove-one"
        for n in (size, size - 1) if both else (size,):
            replayed(self.target, scope, self.paths(scope, n), n, container=self.handed_in)

    def paths(
        self, scope: Scope, n: int, whole_maxima: frozenset[Place] = frozenset(), *, limits: Limits | None = None,
        keep: bool = True,
    ) -> list[Finished]:
        """All paths on symbols with n answers or records."""
        found = self.explored.get((n, whole_maxima, self.clipping))
        if found is None:
            found = paths(
                self.target, lambda: symbols(scope, n, self.handed_in),
                answers=isinstance(scope, Answers) and not isinstance(scope, Asked),
                whole_answers=isinstance(scope, Answers) and scope.whole,
                limits=limits or self.limits, manner=self.manner(whole_maxima), seen=self.seen,
            )
            if keep:
                self.explored[n, whole_maxima, self.clipping] = found
        return found

    def on_symbols(self) -> Proof | Unknown:
        """A proof from the paths on symbols, and from their unions if that is not enough."""
        if self.looks_at_clipping():
            self.clipping = True
            outcome = self.tried({})
            if isinstance(outcome, Proof):
                return outcome
            self.follow_without_clipping()
        outcome = self.tried({}, hasty=True)
        if isinstance(outcome, Proof) or not self.is_followed:
            return outcome
        if self.may_merge():
            found = self.tried({"merging": True})
            # what the hasty attempt needs is that of one path
            if isinstance(found, Proof) or outcome.least is not None or found.least is not None:
                outcome = found
        for place in sorted(self.seen.maxima_at, key=str):
            if isinstance(outcome, Proof):
                break
            found = self.tried({"whole_maxima": frozenset({place})})
            least = math.inf if outcome.least is None else outcome.least
            if isinstance(found, Proof) or (self.is_followed and found.least is not None and found.least < least):
                outcome = found
        return outcome

    def may_merge(self) -> bool:
        """Whether paths that were followed have one output, and might be one path."""
        scope = self.scope
        if isinstance(scope, Answers):
            return may_merge(self.paths(scope, scope.k))
        assert not isinstance(scope, Stream)
        return scope.relation == "replace-one" and may_merge(self.paths(scope, scope.n))

    def tried(self, options: dict[str, Any], *, hasty: bool = False) -> Proof | Unknown:
        """A proof from the paths on symbols.

        Args:
            options: of `pairs`.
            hasty: whether to stop at a path that costs too much if paths may merge: their union costs less than each.
        """
        self.is_followed = True
        try:
            return self.of_pairs(list(self.pairs(**options)), to_the_end=not (hasty and self.may_merge()))
        except NoShift as failure:
            return self.without_bound(failure)
        except Unsupported as error:
            self.is_followed = False
            return self.unknown(error.reason, error.remedy, error.place)

    def unknown(self, reason: str, remedy: str, place: Place | None, least: Fraction | None = None) -> Unknown:
        return Unknown(reason, remedy, place, self.claimed, self.name, str(self.scope), least)

    def too_much(self, least: Fraction) -> Unknown:
        return self.unknown(
            f"The alignment needs ε = {brief(least)}, above the claimed {brief(self.claimed)}.", "", None, least
        )

    def without_bound(self, failure: NoShift) -> Unknown:
        row = failure.constraint
        place = row.place if row is not None else None
        if row is not None and self.is_gaussian(failure):
            return self.unknown(
                "Gaussian noise protects by no ε alone.",
                "Prove a claim with δ, or of zCDP or GDP.", place,
            )
        if row is not None and not row.noise and not row.equal:
            return self.unknown(
                "The program branches on the data without noise, and the branches are not one number.",
                "Write the branch as an expression, such as np.where, min or max"
                + ("." if isinstance(self.scope, Domain) else ", or give a finite domain."), place,
            )
        return self.unknown(
            "No shift of the noise gives a neighbouring dataset the same output: no ε can be proved.",
            "Add noise to what this line decides or releases.", place,
        )

    @property
    def draws_gaussian(self) -> bool:
        """Whether a path that was followed draws Gaussian noise."""
        return any(draw.kind == "normal" for found in self.explored.values() for path in found for draw in path.draws)

    @property
    def is_adaptive(self) -> bool:
        """Whether a path that was followed draws noise after a decision."""
        return any(any(path.drawn_after) for found in self.explored.values() for path in found)

    def is_gaussian(self, failure: NoShift) -> bool:
        """Whether the row that cannot be kept has Gaussian noise."""
        row, path = failure.constraint, self.broken[0] if self.broken is not None else None
        return row is not None and path is not None and any(path.draws[index].kind == "normal" for index in row.noise)

    def pairs(self, *, merging: bool = False, whole_maxima: frozenset[Place] = frozenset()) -> Iterator[PathPair]:
        """Paths on symbols; the arguments are those of `groups`."""
        for group in self.groups(merging=merging, whole_maxima=whole_maxima):
            yield from group

    def groups(
        self, *, merging: bool = False, whole_maxima: frozenset[Place] = frozenset()
    ) -> Iterator[list[PathPair]]:
        """All paths on symbols of one way in which datasets may differ: a record is removed, added, or has any change.

        Args:
            merging: whether those of one output become one where their union is convex.
            whole_maxima: lines at which the largest of several numbers is kept as one number.
        """
        scope = self.scope
        assert not isinstance(scope, Stream)
        size = scope.k if isinstance(scope, Answers) else scope.n
        if isinstance(scope, Answers) or scope.relation == "replace-one":
            found = self.paths(scope, size, whole_maxima)
            if merging:
                found = merged(found) or found
            yield [PathPair(path) for path in found]
            return
        larger, smaller = self.paths(scope, size), self.paths(scope, size - 1)
        for removed in range(size):
            moved = {index: index if index < removed else index + 1 for index in range(size - 1)}
            renamed = [
                replace(path, rows=tuple(replace(row, form=_renamed(row.form, moved)) for row in path.rows))
                for path in smaller
            ]
            yield list(matched(larger, renamed))
            yield list(matched(renamed, larger))

    def follow_datasets(self, scope: Domain) -> None:
        """Finds all paths on every dataset of a finite domain."""
        sizes = (scope.n,) if scope.relation == "replace-one" else (scope.n, scope.n - 1)
        self.on_datasets = {
            dataset: paths(
                self.target, lambda dataset=dataset: put_in(self.handed_in, dataset),  # type: ignore[misc]
                limits=self.limits, manner=self.manner(), seen=self.seen,
            )
            for size in sizes for dataset in itertools.product(scope.values, repeat=size)
        }

    def of_datasets(self, scope: Domain) -> Proof | Unknown:
        """A proof from the paths on every pair of neighbouring datasets.

        Raises:
            Unsupported: too many alignments are needed.
        """
        for found in self.on_datasets.values() if self.is_of_choices else ():
            if sum(path.probability for path in found) != 1:
                raise Unsupported("The probabilities of the random choices do not sum to 1.")
        laws = {dataset: coins.law(found) for dataset, found in self.on_datasets.items()}
        align = self.aligner()

        def compared(*, by_delta: bool) -> list[list[coins.Inflow]]:
            return [
                coins.inflows(laws[one], laws[other], align, self.claimed, by_delta=by_delta)
                for one, other in coins.neighbours(scope)
            ]

        flows = compared(by_delta=False)
        epsilon = least = coins.least(flows)
        delta = Fraction(0)
        if epsilon is None or epsilon > self.claimed * (1 + ROUNDING):
            if self.delta:
                flows = compared(by_delta=True)
            epsilon, delta = self.claimed, coins.excess(flows, self.claimed)
            if delta > self.delta * (1 + ROUNDING):
                if least is not None and not self.delta and not self.is_of_choices:
                    return self.too_much(least)
                why = "No ε can be proved" if least is None else f"The alignment needs ε = {brief(least)}"
                if self.is_of_choices:
                    times = "" if least is None else f"{math.exp(min(float(least), 700.0)):.6g} times as likely"
                    why = f"An output is {times or 'impossible'} on one of two neighbours"
                if delta >= 1:
                    return self.unknown(f"{why}. The tails of noise are not counted as δ.", "", None, least)
                return self.unknown(f"{why}: δ = {float(delta):.3g} at ε = {float(self.claimed):.6g}.", "", None, least)
        aligned = {id(each): each for pair in flows for flow in pair for _, each in flow.flows if each is not None}
        # uniform draws that choose do not move
        moved = tuple(line for line in noise_lines(list(aligned.values())) if line.cost)
        return Proof(
            epsilon, self.claimed, self.name, str(scope), moved,
            sum(map(len, self.on_datasets.values())), assumptions(self.target, scope),
            coins.certificate_of_coins(
                self.target, self.name, str(scope), self.claimed, epsilon, delta, flows, self.parts.list
                if self.parts is not None else (),
            ),
        )

    def aligner(self) -> Callable[[Finished, Finished], Aligned | None]:
        """Aligns the noise of paths on two datasets, which draw and decide alike; None where there is no noise."""
        known: dict[object, Aligned | NoShift] = {}

        def align_two(path: Finished, other: Finished) -> Aligned | None:
            if not path.rows:
                return None
            vector = tuple(
                theirs.form.constant - mine.form.constant + mine.change
                for mine, theirs in zip(path.rows, other.rows, strict=True)
            )
            constraints = tuple(Constraint(row.form.draws, row.kind == "equal", row.place) for row in path.rows)
            key = path.draws, vector, tuple((tuple(sorted(row.noise.items())), row.equal) for row in constraints)
            if key not in known:
                if len(known) >= self.limits.programs:
                    raise Unsupported(
                        f"More than {self.limits.programs:,} alignments are needed.", "Prove it for fewer records."
                    )
                try:
                    known[key] = align(path.draws, constraints, Differences((vector,), True))
                except NoShift as failure:
                    known[key] = failure
            found = known[key]
            if isinstance(found, NoShift):
                raise found
            return found

        return align_two

    @property
    def handed_in(self) -> Container:
        """What the program gets its answers or records in."""
        return handed_in(self.target, self.scope, self.container)

    def of_pairs(self, pairs: Sequence[PathPair], *, to_the_end: bool = True) -> Proof | Unknown:
        """A proof from the cheapest shifts of all paths, or of those up to the first that costs too much."""
        aligned: list[tuple[Finished, Aligned]] = []
        known: dict[object, Aligned] = {}
        programs, most = 0, self.claimed * (1 + ROUNDING)
        for pair in pairs:
            path = pair.path
            constraints = tuple(Constraint(row.form.draws, row.kind == "equal", row.place) for row in path.rows)
            equal = [constraint.equal for constraint in constraints]
            if pair.forms is not None:
                vectors = sums(pair.forms, equal)
            elif path.maxima:
                vectors, _ = with_maxima([row.form for row in path.rows], equal, path.maxima, self.scope)
                constraints = (*constraints, *(
                    Constraint({index: Fraction(1)}, True, path.draws[index].place)
                    for index in sorted({index for maximum in path.maxima for index in maximum.frozen})
                ))
            else:
                vectors = differences([row.form for row in path.rows], equal, self.scope)
            vectors = with_changes(vectors, [row.change for row in path.rows])
            key = (
                path.draws, vectors,
                tuple((tuple(sorted(row.noise.items())), row.equal, row.place) for row in constraints),
            )
            try:
                found = known.get(key)
                programs += len(vectors.vectors) if found is None else 0
                if programs > self.limits.programs:
                    raise Unsupported(
                        f"More than {self.limits.programs:,} alignments are needed.",
                        "Prove it for fewer answers or records.",
                    )
                if found is None:
                    found = known[key] = align(path.draws, constraints, vectors)
            except NoShift as failure:
                self.broken = (path, failure)
                raise
            aligned.append((path, found))
            if found.cost > most and not to_the_end:
                break
        worst = max(aligned, key=lambda each: each[1].cost, default=None)
        self.worst = worst
        least = worst[1].cost if worst is not None else Fraction(0)
        if least > most:
            return self.too_much(least)
        return Proof(
            least, self.claimed, self.name, str(self.scope), noise_lines(list(known.values())), len(aligned),
            assumptions(self.target, self.scope),
            certificate_of_paths(
                self.target, self.name, str(self.scope), self.claimed, list(known.values()),
                self.parts.list if self.parts is not None else (),
            ),
        )


def matched(ours: Sequence[Finished], theirs: Sequence[Finished]) -> Iterator[PathPair]:
    """Maps each path on D to one on D′ with the same draws, rows and output, except for the data.

    Raises:
        Unsupported: there is none for some path.
    """
    if any(path.maxima for path in (*ours, *theirs)):
        raise Unsupported("The largest of numbers of several records is not compared between two sizes of data.")
    by_shape: dict[object, list[Finished]] = {}
    for path in theirs:
        by_shape.setdefault(_shape(path), []).append(path)
    used: set[tuple[int, ...]] = set()
    for path in ours:
        others = [other for other in by_shape.get(_shape(path), []) if other.decisions not in used]
        exact = [other for other in others if other.decisions == path.decisions]
        partner = next(iter(exact or others), None)
        if partner is None:
            raise Unsupported(
                "Two neighbouring datasets lead to different draws, comparisons or outputs, which are not compared.",
                "", path.rows[-1].place if path.rows else None,
            )
        used.add(partner.decisions)
        yield PathPair(path, tuple(
            other.form.plus(mine.form, Fraction(-1)) for mine, other in zip(path.rows, partner.rows, strict=True)
        ))


def _shape(path: Finished) -> object:
    return (
        tuple((draw.kind, draw.scale, draw.part) for draw in path.draws), path.coins, path.splits, path.output,
        tuple((row.kind, row.strict, tuple(sorted(row.form.draws.items()))) for row in path.rows),
    )


def _renamed(form: Form, names: dict[int, int]) -> Form:
    return Form(form.constant, {names[index]: function for index, function in form.records.items()}, form.draws)


def _is_small(scope: Domain) -> bool:
    return bool(len(scope.values) ** scope.n <= MOST_DATASETS)


def noise_lines(aligned: Sequence[Aligned]) -> tuple[NoiseLine, ...]:
    """How far the draws of each line move, and what they cost at most on one path."""
    shifts: dict[tuple[Place, str], set[Fraction]] = {}
    costs: dict[tuple[Place, str], Fraction] = {}
    for path in aligned:
        for shift in path.shifts:
            here: dict[tuple[Place, str], Fraction] = {}
            for draw, moved in zip(path.draws, shift, strict=True):
                if draw.kind == "maximum":
                    continue
                key = draw.place, str(draw)
                # a part is proved by itself, and moves nothing
                shifts.setdefault(key, set()).update({moved} if draw.part is None else ())
                share = abs(moved) / draw.scale
                here[key] = here.get(key, Fraction(0)) + (share**2 if draw.kind == "normal" else share)
            for key, cost in here.items():
                costs[key] = max(costs.get(key, Fraction(0)), cost)
    return tuple(
        NoiseLine(place, noise, tuple(sorted(moved)), costs[place, noise])
        for (place, noise), moved in shifts.items()
    )


