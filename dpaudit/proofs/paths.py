"""Execution paths: the decisions on one path, its draws, and what its alignment has to keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dpaudit.proofs.forms import Cell, Condition, Draw, Form, Made, Part, PostProcessed
from dpaudit.proofs.functions import Curved
from dpaudit.proofs.results import Place, Unsupported

MOST_DRAWS = 2_000
"""Draws on a path beyond which it is not followed."""
MOST_DECISIONS = 2_000
"""The same for decisions."""
RowKind: TypeAlias = Literal["keep", "equal"]


@dataclass(frozen=True)
class Limits:
    """Beyond which a program is not followed; numbers, and no times, so that outcomes are the same on every machine.

    Args:
        paths: execution paths.
        steps: expressions and statements evaluated on all paths.
        programs: linear programs.
        states: of a loop over a stream.
    """

    paths: int = 3_000
    steps: int = 6_000_000
    programs: int = 30_000
    states: int = 400


LIMITS = Limits()
"""Of a proof that was asked for."""


@dataclass(frozen=True, eq=False)
class Row:
    """What D′ with the shifted draws has to keep.

    Args:
        kind: "keep": the form, which is ≥ 0 (or > 0) on D, may not fall; "equal": it may not change.
        form: of records and draws.
        strict: whether it is > 0.
        place: the line that decides or releases it.
        change: what it changes by between D and D′ beside its form.
        is_split: whether it says how a uniform draw compares with a constant, with a probability among the splits.
    """

    kind: RowKind
    form: Form
    strict: bool
    place: Place
    change: Fraction = Fraction(0)
    is_split: bool = False


@dataclass(frozen=True, eq=False)
class Maximum:
    """The largest of some numbers as one number, whose noise no shift moves.

    Args:
        draw: its number among the draws of the path.
        members: the numbers.
    """

    draw: int
    members: tuple[Form, ...]

    @property
    def frozen(self) -> frozenset[int]:
        """The draws that no shift moves."""
        return frozenset(index for form in self.members for index in form.draws)


@dataclass(frozen=True, eq=False)
class Finished:
    """A path from the start of the program to its end.

    Args:
        decisions: what was decided at each fork.
        draws: in the order in which they were drawn.
        drawn_after: the number of decisions before each of them.
        rows: of decisions and of the output.
        coins: the probability of each other random choice that was made on it.
        splits: the probability of each comparison of a uniform draw with a constant, given those before.
        maxima: the largest numbers that were kept as one number.
        post_processed: what was computed from released numbers; equal where one computation gives it.
        post_decided: decisions on what was computed from released numbers.
        cuts: numbers that records were compared with, and whether floats round what was compared.
        output: the output's parts that depend neither on data nor on noise; hashable.
        result: the output as the interpreter has it.
    """

    decisions: tuple[int, ...]
    draws: tuple[Draw, ...]
    drawn_after: tuple[int, ...]
    rows: tuple[Row, ...]
    coins: tuple[Fraction, ...]
    splits: tuple[Fraction, ...]
    maxima: tuple[Maximum, ...]
    post_processed: tuple[object, ...]
    post_decided: tuple[tuple[PostProcessed, bool], ...]
    cuts: dict[Fraction, bool]
    output: Any
    result: Any

    @property
    def probability(self) -> Fraction:
        """The probability of its coins and splits."""
        return math.prod((*self.coins, *self.splits), start=Fraction(1))

    @property
    def is_finite(self) -> bool:
        """Whether nothing on it depends on noise, other than on how uniform draws compare with constants."""
        return not self.maxima and not self.post_processed and all(row.is_split for row in self.rows)

    def without_choices(self) -> tuple[Finished, Fraction]:
        """The path without its random choices, and their probability.

        Uniform draws that do more than compare with constants are left as they are.
        """
        rows = tuple(row for row in self.rows if not row.is_split)
        used = {index for row in rows for index in row.form.draws}
        if any(self.draws[index].kind == "uniform" for index in used):
            return self, math.prod(self.coins, start=Fraction(1))
        return replace(self, rows=rows), self.probability


def _no_part(target: Any, key: object) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Manner:
    """How a program is followed.

    Args:
        whole_maxima: lines at which the largest of several numbers is kept as one number.
        clipping: whether the noise in a number of a record that is clipped counts as released before.
        part: as `Parts.of`; None where what is applied to the whole dataset is followed.
    """

    whole_maxima: frozenset[Place] = frozenset()
    clipping: bool = False
    part: Callable[[Any, object], Part | None] = _no_part


@dataclass(eq=False)
class Seen:
    """What makes a difference to how a program is followed.

    Args:
        maxima_at: lines at which the largest of several numbers that depend on noise was taken.
        clips: whether a number of a record and of noise was compared with a bound by max or min.
        applies: whether a mechanism or function was applied to the whole dataset.
        too_many: whether it has more paths than the limit.
    """

    maxima_at: set[Place] = field(default_factory=set)
    clips: bool = False
    applies: bool = False
    too_many: bool = False


class Path:
    """One execution path: it repeats the decisions that it is given, and takes the first branch after them.

    Args:
        decisions: to repeat.
        manner: how it is followed.
        seen: notes what makes a difference to that.
    """

    def __init__(
        self, decisions: tuple[int, ...] = (), manner: Manner | None = None, seen: Seen | None = None
    ) -> None:
        self.given, self.manner, self.seen = decisions, manner or Manner(), seen or Seen()
        self.maxima: list[Maximum] = []
        self.decisions: list[int] = []
        self.open: list[tuple[int, ...]] = []
        """Decisions that lead to paths not yet followed."""
        self.draws: list[Draw] = []
        self.drawn_after: list[int] = []
        """The number of decisions before each of them."""
        self.rows: list[Row] = []
        self.coins: list[Fraction] = []
        self.splits: list[Fraction] = []
        self.intervals: dict[int, tuple[Fraction, Fraction]] = {}
        """In which a uniform draw of this path is known to be."""
        self.known: dict[object, set[str]] = {}
        self.post_processed: dict[object, PostProcessed] = {}
        """Values computed from released numbers, by what computes them from what."""
        self.post_decided: dict[int, tuple[PostProcessed, bool]] = {}
        """Decisions on them, by their places."""
        self.cuts: dict[Fraction, bool] = {}
        """Numbers that records were compared with, and whether floats round what was compared."""
        self.released: dict[object, int] = {}
        """The numbers of released numbers, in the order in which they were released, by their keys."""
        self.steps = 0
        """Expressions and statements evaluated on it."""
        self.merging = 0
        """Above 0 while a branch on data is followed to merge its two sides: nothing may be decided or drawn."""

    def choose(self, options: int) -> int:
        """One of the options; the others are followed later."""
        if self.merging:
            raise CannotMerge
        index = len(self.decisions)
        if index < len(self.given):
            chosen = self.given[index]
        else:
            chosen = 0
            if index >= MOST_DECISIONS:
                raise Unsupported(f"More than {MOST_DECISIONS:,} decisions on one path.")
            self.open += [(*self.decisions, other) for other in range(1, options)]
        self.decisions.append(chosen)
        return chosen

    def toss(self, probabilities: Sequence[Fraction]) -> int:
        """A random choice with probabilities that depend on neither data nor noise: one path for each."""
        chosen = self.choose(len(probabilities))
        self.coins.append(probabilities[chosen])
        return chosen

    def draw(self, kind: str, scale: Fraction, place: Place) -> Form:
        """A fresh draw of noise."""
        index = self._drawn(Draw(kind, scale, place))
        if kind == "uniform":
            self.intervals[index] = Fraction(0), Fraction(1)
        return Form(draws={index: Fraction(1)})

    def apply(self, target: Any, key: object, place: Place) -> tuple[Part, int] | None:
        """The part that a mechanism or function is, and its number among the draws; None where it is followed.

        Args:
            target: is applied to the whole dataset.
            key: equal for one target alone.
            place: the line.
        """
        self.seen.applies = True
        part = self.manner.part(target, key)
        if part is None:
            return None
        index = self._drawn(Draw("mechanism", 1 / (part.epsilon or Fraction(1)), place, part))
        if part.epsilon:
            # its output is as likely on D′ as on D but for a factor, which a shift by 1 pays for
            self.rows.append(Row("equal", Form(draws={index: Fraction(-1)}), False, place, Fraction(1)))
        return part, index

    def _drawn(self, draw: Draw) -> int:
        if self.merging:
            raise CannotMerge
        if len(self.draws) >= MOST_DRAWS:
            raise Unsupported(f"More than {MOST_DRAWS:,} draws on one path.", "", draw.place)
        self.draws.append(draw)
        self.drawn_after.append(len(self.decisions))
        return len(self.draws) - 1

    def _split(self, form: Form, place: Place) -> bool | None:
        """Whether a uniform draw of this path is on one side of a constant; None for other forms."""
        if form.has_data or len(form.draws) != 1:
            return None
        ((index, coefficient),) = form.draws.items()
        if index not in self.intervals:
            return None
        low, high = self.intervals[index]
        cut = -form.constant / coefficient
        upper = coefficient > 0  # the form is ≥ 0 above the cut
        if not low < cut < high:
            return (cut <= low) is upper
        yes = self.choose(2) == 0
        above = yes is upper
        self.splits.append(((high - cut) if above else (cut - low)) / (high - low))
        self.intervals[index] = (cut, high) if above else (low, cut)
        self.rows.append(Row("keep", form if yes else form.scaled(Fraction(-1)), False, place, is_split=True))
        return yes

    def maximum(self, members: Sequence[Form], place: Place) -> Form:
        """The largest of some numbers, as one number."""
        index = self._drawn(Draw("maximum", Fraction(1), place))
        if any(self.draws[index].is_whole for form in members for index in form.draws):
            raise Unsupported("The largest of numbers with whole noise is not followed as one number.", "", place)
        self.maxima.append(Maximum(index, tuple(members)))
        return Form(draws={index: Fraction(1)})

    def finished_rows(self) -> tuple[Row, ...]:
        """The rows; a number that is at least every member of a maximum is at least the maximum."""
        rows = list(self.rows)
        for maximum in self.maxima:
            above: dict[object, tuple[Form, set[int], list[Row]]] = {}
            for row in rows:
                if row.kind == "keep":
                    for number, member in enumerate(maximum.members):
                        larger = row.form.plus(member)
                        _, seen, found = above.setdefault(larger.key(), (larger, set(), []))
                        seen.add(number)
                        found.append(row)
            for larger, seen, found in above.values():
                if len(seen) == len(maximum.members) and maximum.draw not in larger.draws:
                    drop = {id(row) for row in found}
                    rows = [row for row in rows if id(row) not in drop]
                    largest = Form(draws={maximum.draw: Fraction(1)})
                    rows.append(Row("keep", larger.plus(largest, Fraction(-1)), False, found[0].place))
        return tuple(rows)

    def is_noisy(self, form: Form) -> bool:
        """Whether a form depends on noise, and not on data alone."""
        plain: set[int] = set()
        for maximum in self.maxima:
            if maximum.frozen <= plain:
                plain.add(maximum.draw)
        return not form.draws.keys() <= plain

    def keep(self, form: Form, place: Place, *, strict: bool = False) -> None:
        """The form is ≥ 0 on this path."""
        if self.merging:
            raise CannotMerge
        self.rows.append(Row("keep", form, strict, place))

    def assume(self, form: Form, place: Place, *, strict: bool = False) -> None:
        """The form is ≥ 0 (or > 0) on this path, because another choice was not taken."""
        key, flipped = _canonical(form)
        fact = ("<" if flipped else ">") if strict else ("<=" if flipped else ">=")
        self.known.setdefault(key, set()).add(fact)
        self.keep(form, place, strict=strict)

    def release(self, form: Form, place: Place) -> None:
        """The form is part of the output."""
        if not form.has_data and not form.has_noise:
            return
        self.rows.append(Row("equal", form, False, place))

    def post_process(
        self, name: str, function: Callable[..., Any], args: Sequence[Any], made: Made, place: Place, *,
        is_positive: bool = False,
    ) -> PostProcessed:
        """A value computed from noisy numbers, which are released by it, and from constants.

        Whatever it is, it is the same on D′ if these numbers are.

        Args:
            name: of the function: one name is one function.
            function: gives the same for equal numbers, whatever their types.
            args: forms that depend on noise, post-processed values, and plain values.
            made: the type of the value.
            place: the line.
            is_positive: whether the value is above 0.
        """
        key = name, made, tuple(self.name_released(arg, place) for arg in args)
        if key not in self.post_processed:
            self.post_processed[key] = PostProcessed(
                len(self.post_processed), function, tuple(args), made, is_positive
            )
        return self.post_processed[key]

    def name_released(self, value: Any, place: Place) -> object:
        """A name of what a post-processed value is computed from; one name is one value on D and on D′."""
        if isinstance(value, PostProcessed):
            return "post-processed", value.place
        if not isinstance(value, Form):
            return type(value).__name__, repr(value)
        if not value.has_data and not value.has_noise:
            return "number", value.constant
        if self.merging:
            raise CannotMerge
        key = value.key()
        if key not in self.released:
            # rows of random choices are left out where paths are compared, and count for nothing here
            self.released[key] = len(self.released)
            self.release(value, place)
        return "row", self.released[key]

    def decide_post_processed(self, value: PostProcessed) -> bool:
        """Whether a post-processed value counts as true: D and D′ agree, and either may be."""
        known = self.post_decided.get(value.place)
        if known is None:
            known = self.post_decided[value.place] = value, self.choose(2) == 0
        return known[1]

    def decide(self, condition: Condition | Cell, place: Place) -> bool:
        """Whether a condition holds on this path."""
        if isinstance(condition, Cell):
            indicator = condition.as_form()
            return self._decide(indicator.plus(Form(Fraction(-1))), ">=", place, also=indicator)
        form = condition.form
        if condition.symbol in ("==", "!="):
            equal = self._equal(form, place)
            return equal if condition.symbol == "==" else not equal
        return self._decide(form, condition.symbol, place)

    def _equal(self, form: Form, place: Place) -> bool:
        if not form.has_data and not form.has_noise:
            return form.constant == 0
        largest = {index for index in form.draws if self.draws[index].kind == "maximum"}
        noisy = {each.draw for each in self.maxima if any(member.has_noise for member in each.members)}
        if form.has_noise and any(isinstance(function, Curved) for function in form.records.values()):
            # what is clipped may depend on the draws beside it
            raise Unsupported("A number that is not linear is compared for equality.", "Use >= or >.", place)
        if not largest & noisy and any(not self.draws[index].is_whole for index in form.draws.keys() - largest):
            # a continuous draw with a coefficient other than 0, and nothing else depends on it: the probability is 0
            return False
        if largest:
            raise Unsupported("The largest of several numbers is compared for equality.", "Use >= or >.", place)
        return self._decide(form, ">=", place) and self._decide(form.scaled(Fraction(-1)), ">=", place)

    def _decide(self, form: Form, symbol: str, place: Place, also: Form | None = None) -> bool:
        if not form.has_data and not form.has_noise:
            return form.constant >= 0 if symbol == ">=" else form.constant > 0
        if not form.has_noise:
            low, high = form.extremes()
            if low is not None and (low >= 0 if symbol == ">=" else low > 0):
                return True
            if high is not None and (high < 0 if symbol == ">=" else high <= 0):
                return False
        if (side := self._split(form, place)) is not None:
            return side
        key, flipped = _canonical(form)
        known = self.known.setdefault(key, set())
        holds = {">=": ("<=" if flipped else ">="), ">": ("<" if flipped else ">")}[symbol]
        fails = {">=": "<", ">": "<=", "<=": ">", "<": ">="}[holds]
        if known & _IMPLIES[holds]:
            return True
        if known & _IMPLIES[fails]:
            return False
        yes = self.choose(2) == 0
        known.add(holds if yes else fails)
        if yes:
            self.keep(form, place, strict=symbol == ">")
        elif also is not None:
            # a condition that fails: its indicator is 0
            self.keep(also.scaled(Fraction(-1)), place)
        else:
            self.keep(form.scaled(Fraction(-1)), place, strict=symbol == ">=")
        return yes


_IMPLIES = {
    ">=": frozenset({">=", ">"}), ">": frozenset({">"}), "<=": frozenset({"<=", "<"}), "<": frozenset({"<"}),
}
"""From which known facts a fact follows."""


class CannotMerge(Exception):
    """A branch on data draws, decides or returns, so its two sides are not one number."""


def _canonical(form: Form) -> tuple[object, bool]:
    """A key that is equal for a form and its multiples, and whether the form is a negative multiple of the key's."""
    # of data alone: the sign of a slope or a value that is not 0
    leading = form.draws[min(form.draws)] if form.draws else _sign(form)
    scaled = form.scaled(1 / abs(leading)) if leading > 0 else form.scaled(-1 / abs(leading))
    return scaled.key(), leading < 0


def _sign(form: Form) -> Fraction:
    return next(number for number in form.records[min(form.records)].numbers() if number)


def explore(
    run: Callable[[Path], tuple[Any, Any]], manner: Manner | None = None, seen: Seen | None = None,
    limits: Limits = LIMITS,
) -> list[Finished]:
    """All paths of a program.

    Args:
        run: follows a path; returns its output's hashable parts, and the output.
        manner, seen: as in `Path`.
        limits: beyond which it is not followed.

    Raises:
        Unsupported: the program cannot be followed, or has too many paths.
    """
    waiting: list[tuple[int, ...]] = [()]
    finished: list[Finished] = []
    steps = 0
    while waiting:
        path = Path(waiting.pop(), manner, seen)
        output, result = run(path)
        decided = tuple(path.post_decided.values())
        if path.post_processed:
            # one output only where it is computed from released numbers alike
            output = output, tuple(path.post_processed), tuple((value.place, holds) for value, holds in decided)
        waiting += path.open
        finished.append(
            Finished(
                tuple(path.decisions), tuple(path.draws), tuple(path.drawn_after), path.finished_rows(),
                tuple(path.coins), tuple(path.splits), tuple(path.maxima), tuple(path.post_processed), decided,
                path.cuts, output, result,
            )
        )
        steps += path.steps
        if steps > limits.steps:
            raise Unsupported("The program takes too many steps.", "Prove it for fewer answers or records.")
        if len(finished) + len(waiting) > limits.paths:
            if seen is not None:
                seen.too_many = True
            raise Unsupported(
                f"The program has more than {limits.paths:,} execution paths.", "Prove it for fewer answers or records."
            )
    return finished
