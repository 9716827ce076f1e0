"""A few runs of a function on both datasets of a pair, with the same draws, and what differs between them.

On each dataset there are seven runs: four with draws as they fall, and one each with the draws pushed far up, far down
and far out on both sides. A part of the output that is the same in all runs on D, and another value in all runs on D′,
is reached by no draw. A part that is linear in the draws has a known distribution, up to the linearity that the runs
show: its scale must be the same on both datasets, and the difference of its locations must not cost more than claimed
(`linear.cheapest_shift`). Of anything else nothing is said: a sampled row, a threshold, an argmax, a loop that stops by
chance. An alarm about a cost is confirmed by a replay in which the shifted draws give the output of D on D′.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.errors import NotEnumerableError
from dpaudit.language import Claim, Dataset
from dpaudit.outputs.canonical import Raised, shown
from dpaudit.outputs.parts import ITEM, PRESENCE, present, subject
from dpaudit.outputs.parts import Place as Part
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.noise_profile import Moves, NoiseProfile
from dpaudit.subjects.target import FunctionTarget
from dpaudit.subjects.user_errors import StopNow
from dpaudit.traces.alarms import Alarm, AlarmCode, Trace
from dpaudit.traces.costs import SAME, differing, hockey_stick, price
from dpaudit.traces.executions import Execution, as_number, executed, generators_of
from dpaudit.traces.linear import CLOSE, Linear, cheapest_shift, fitted
from dpaudit.traces.recorder import FAR, Draws, Place, Push, Tape
from dpaudit.traces.steps import RETURNED, Step

RUNS: tuple[Push, ...] = ("none", "none", "none", "none", "up", "down", "mixed")
"""The runs on each dataset."""
MOST_EXECUTIONS = 20
"""Calls of the function for one pair, at most."""
PUSHED = 4
"""Draws that are pushed, at most, as a multiple of those of other runs."""
FAR_OF_EPSILON = 4.0
"""Scales by which draws are pushed, at least, as a multiple of ε: D and D′ may lie ε scales apart."""
MOST_ALARMS = 4
"""Alarms of a pair that are reported."""
MOST_WORK = 40_000
"""Parts of the output times draws that are analysed."""
SHIFTED = 8
"""Shifted draws whose joint privacy profile is computed."""
UNCERTAIN = 1e-6
"""Error of a δ that is integrated numerically."""
LONGEST_VALUE = 40
"""Most characters of a value in a sentence."""


def traced(target: FunctionTarget, pair: Pair, claim: Claim, *, seed: int) -> Trace:
    """Run a function on both datasets with the same draws, and say what differs that no noise hides.

    Args:
        target: the function; a copy of it, because its state may change.
        pair: two datasets.
        claim: what the differences must not cost more than.
        seed: of the draws.

    Returns:
        At most `MOST_EXECUTIONS` calls' worth of alarms; none where the function fails or cannot be read.
    """
    session = _Session(target, pair, claim, seed)
    try:
        return session.trace()
    except (KeyboardInterrupt, StopNow, MemoryError):
        raise
    except Exception:
        # a function that cannot be traced is audited all the same; what is wrong with it shows there
        return Trace(pair, executions=session.executions, remark="The function could not be traced.")


_VARIES = object()


@dataclass(frozen=True, eq=False)
class _Shared:
    """A number in the output, linear in the draws on both datasets."""

    part: Part
    left: Linear
    right: Linear


class _Session:
    def __init__(self, target: FunctionTarget, pair: Pair, claim: Claim, seed: int) -> None:
        self.target, self.pair, self.claim, self.seed = target, pair, claim, seed
        self.own_generators = generators_of(target.subject)
        self.executions = 0
        self.runs: tuple[list[Execution], list[Execution]] = ([], [])
        self.alarms: list[Alarm] = []
        self.cost: float | None = None
        self._followed: list[list[Execution]] | None = None

    # -- the runs

    def _run(
        self, which: int, at: int, push: Push = "none", frozen: Sequence[Draws] = (), *, lines: bool = False
    ) -> Execution:
        self.executions += 1
        dataset: Dataset = self.pair.right if which else self.pair.left
        most = max((run.tape.count for runs in self.runs for run in runs), default=0)
        far = max(FAR, FAR_OF_EPSILON * self.claim.epsilon)
        tape = Tape(SeedSequence([self.seed, 0x7ACE, at]), push, frozen, PUSHED * (most + 1), far)
        return executed(self.target, dataset, tape, self.own_generators, lines=lines)

    def trace(self) -> Trace:
        left, right = self.runs
        for at, push in enumerate(RUNS):
            left.append(self._run(0, at, push))
            right.append(self._run(1, at, push, left[-1].draws))
            if any(run.own_randomness for run in (left[-1], right[-1])):
                return self._ended("It draws from another source than rng, whose draws cannot be frozen.")
            if any(run.too_large for run in (left[-1], right[-1])):
                return self._ended("It draws, or returns, too many numbers to be analysed.")
            if (coin := next((draws for run in (left[-1], right[-1]) for draws in run.draws if draws.is_other), None)):
                # a coin of probability 0.95 falls the same way in all these runs, and sampling lowers ε
                return self._ended(
                    f"It draws other randomness than noise ({coin.distribution}, {_line(coin.place)}), of which a few "
                    "runs say little."
                )
            silent = not left[-1].draws and not right[-1].draws
            if not at and silent and left[-1].parts == right[-1].parts:
                failure = left[-1].parts.get(())
                return self._ended(
                    f"It raises {failure.where}" if isinstance(failure, Raised) else "It draws nothing here."
                )
        if all(isinstance(run.parts.get(()), Raised) for run in (*left, *right)):
            return self._ended(f"It {left[0].parts[()]!r} on D in every run, and {right[0].parts[()]!r} on D′.")
        left_parts, right_parts = _constants(left), _constants(right)
        self._presence(left_parts, right_parts)
        shared, noisy = self._linear(left_parts, right_parts)
        self._unprotected(left_parts, right_parts, noisy)
        self._costs(shared)
        return self._ended("")

    def _ended(self, remark: str) -> Trace:
        draws = self.runs[0][0].draws if self.runs[0] else ()
        if self.alarms and not self._repeats():
            self.alarms, self.cost = [], None
            remark = "The same draws do not give the same output again: it keeps a state, or draws from another source."
        order = {"noise_reused": 1, "shift_costs_more": 2}
        alarms = sorted(self.alarms, key=lambda alarm: order.get(alarm.code, 0))
        chosen: dict[tuple[str, Place], Alarm] = {}
        for alarm in alarms:
            chosen.setdefault((alarm.code, alarm.place), alarm)
        return Trace(
            self.pair, tuple(chosen.values())[:MOST_ALARMS], draws, self.cost, self.executions, remark
        )

    # -- parts that are there or not

    def _presence(self, left: dict[Part, object], right: dict[Part, object]) -> None:
        ever = [{part for run in runs for part in run.parts} for runs in self.runs]
        seen: set[Part] = set()
        for which, (always, never) in enumerate(((left, ever[1]), (right, ever[0]))):
            for part in always:
                if part in never or not part:
                    continue
                at = next(
                    (n for n in range(len(part), 0, -1) if part[n - 1][0] in PRESENCE or part[n - 1][0] == ITEM), 0
                )
                whole = part[:at]
                if not at or whole in seen or any(other[:at] == whole for other in never):
                    continue
                seen.add(whole)
                self._add_presence(whole, which, part)

    def _add_presence(self, part: Part, which: int, leaf: Part) -> None:
        one, other = ("D", "D′") if which == 0 else ("D′", "D")
        length = part[-1][0] == ITEM
        what = f"{subject(part)} is present" if length else present(part, True)
        place = self._reaching(which, leaf) or self._last_place(which)
        said = f"{_line(place)}: {what} in every run on {one} and in none on {other}, whatever the draws."
        sides = ("present", "missing") if which == 0 else ("missing", "present")
        code: AlarmCode = "length_differs" if length else "key_set_differs"
        self._add(Alarm(code, place, subject(part), *sides, said, self._branch()))

    def _reaching(self, which: int, part: Part) -> Place | None:
        """The line whose noise reaches a part of the output."""
        runs = self.runs[which]
        if (model := _model(runs, part)) is None or not model.reached:
            return None
        return _draw_at(runs[0], int(np.abs(model.factors).argmax()))[0].place

    # -- numbers that are linear in the draws

    def _linear(
        self, left: dict[Part, object], right: dict[Part, object]
    ) -> tuple[list[_Shared], dict[Part, tuple[int, Linear]]]:
        """The parts that are linear on both datasets, and those on one of them whose value on the other never varies.
        """
        shared, alone = [], {}
        most = max(1, MOST_WORK // max(1, *(runs[0].noise.size for runs in self.runs)))
        for part in [part for part in left if part in right][:most]:
            constant = [left[part] is not _VARIES, right[part] is not _VARIES]
            if all(constant):
                continue
            models = [_model(runs, part) for runs in self.runs]
            for which in (0, 1):
                model = models[which]
                if constant[1 - which] and model is not None and model.reached:
                    alone[part] = (which, model)
            if models[0] is not None and models[1] is not None and models[0].reached and models[1].reached:
                shared.append(_Shared(part, models[0], models[1]))
        return shared, alone

    # -- parts that no draw reaches

    def _unprotected(
        self, left: dict[Part, object], right: dict[Part, object], alone: dict[Part, tuple[int, Linear]]
    ) -> None:
        for part, value in left.items():
            if part not in right:
                continue
            other = right[part]
            if value is not _VARIES and other is not _VARIES:
                if value != other:
                    self._add(self._bare(part, value, other))
            elif part in alone:
                which, model = alone[part]
                constant = (left, right)[1 - which][part]
                if any(run.parts[part] == constant for run in self.runs[which]):
                    # a bound clips it there too
                    continue
                self._add(self._noise_on_one(part, which, model, constant))
            if len(self.alarms) > MOST_ALARMS:
                return

    def _bare(self, part: Part, left: object, right: object) -> Alarm:
        """A part that is one value on D and another on D′, whatever the draws."""
        values = _value(left), _value(right)
        differs = f"{subject(part)} is {values[0]} on D and {values[1]} on D′"
        seeded = [place for runs in self.runs for run in runs for place in run.tape.seeded_at]
        if seeded and not any(draws.is_noise for run in self.runs[0] for draws in run.draws):
            said = (
                f"{_line(seeded[0])}: the function seeds its generator, so its noise is the same in every run: "
                f"{differs}."
            )
            return Alarm("seeded_inside", seeded[0], subject(part), *values, said)
        steps = self._steps()
        place = _assigning(steps, left, right) or self._last_place(0)
        unused = self._unused()
        more = (
            f" The {_named(unused[0].family)} noise of {_line(unused[0].place, place)} reaches no part of the output "
            "that differs."
            if unused else ""
        )
        branch = self._branch()
        parted = f" The runs part at {_line(branch[0], place)}." if branch else ""
        said = f"{_line(place)}: {differs}, whatever the draws: no noise reaches it.{more}{parted}"
        lines = dict.fromkeys([*(draws.place for draws in unused[:1]), *branch, self._last_place(0)])
        others = tuple(other for other in lines if other != place)
        return Alarm("unprotected_output", place, subject(part), *values, said, others)

    def _noise_on_one(self, part: Part, which: int, model: Linear, constant: object) -> Alarm:
        """A part with noise on one dataset, and without on the other."""
        draws, at = _draw_at(self.runs[which][0], int(np.abs(model.factors).argmax()))
        there, other = ("D", "D′") if which == 0 else ("D′", "D")
        noise = f"{_named(draws.family)} noise"
        same = [one for one in self.runs[1 - which][0].draws if one.place == draws.place and one.is_noise]
        value = _value(constant)
        if any((one.scale == 0).any() for one in same):
            scale = f"{draws.scale[at]:.6g}"
            said = (
                f"{_line(draws.place)}: the scale of the {noise} is {scale} on {there} and 0 on {other}, where "
                f"{subject(part)} is {value} in every run."
            )
            return Alarm("scale_depends_on_data", draws.place, subject(part), *_ordered([scale, "0"], which), said)
        branch = self._branch()
        parted = f", after they part at {_line(branch[0], draws.place)}" if branch else ""
        sides = _ordered(["noise", value], which)
        if same:
            said = (
                f"{_line(draws.place)}: {subject(part)} has {noise} on {there}, and is {value} on {other}, whatever "
                f"the draws{parted}."
            )
            return Alarm("unprotected_output", draws.place, subject(part), *sides, said, branch)
        said = (
            f"{_line(draws.place)}: {there} draws {noise} here and {other} does not{parted}: {subject(part)} is "
            f"{value} on {other}, whatever the draws."
        )
        return Alarm("draw_missing", draws.place, subject(part), *sides, said, branch)

    def _unused(self) -> list[Draws]:
        """Noise on D that reaches no part of the output that differs; none where that is not clear."""
        run, constants = self.runs[0][0], _constants(self.runs[0])
        reached = np.zeros(run.noise.size, dtype=bool)
        for part in run.parts:
            if constants.get(part) is not _VARIES:
                continue
            model, other = (_model(runs, part) for runs in self.runs)
            if model is None:
                return []
            if other is None or abs(model.location - other.location) > SAME * max(1.0, abs(model.location)):
                reached |= model.factors != 0
        unused, start = [], 0
        for draws in run.draws:
            if draws.is_noise:
                if not reached[start : start + draws.standard.size].any():
                    unused.append(draws)
                start += draws.standard.size
        return unused

    # -- scales, factors and costs

    def _costs(self, shared: list[_Shared]) -> None:
        level = []
        for one in shared:
            if (alarm := self._other_noise(one)) is not None:
                self._add(alarm)
            elif (one.left.everywhere and one.right.everywhere) or self._clipped_costs_the_same(one, shared):
                level.append(one)
            elif not self.alarms and self._clipped_costs_too_much(one):
                self._shift([one])
        if level and not self.alarms:
            self._shift(level)

    def _clipped_costs_the_same(self, one: _Shared, shared: list[_Shared]) -> bool:
        """Whether the shift of a clipped number costs at δ = 0 what it costs without the bounds, beside the others.

        It does for Laplace noise of its own if a tail beyond both locations is seen: the ratio of the two
        probabilities of a tail beyond both is e^ε.
        """
        if self.claim.delta > 0 or one.left.everywhere != one.right.everywhere:
            return False
        low, high = self._ends(one)
        locations = one.left.location, one.right.location
        if low > min(locations) and high < max(locations):
            return False
        for which, model in enumerate((one.left, one.right)):
            columns = self._columns(which, model)
            if [name for name, *_ in columns] != ["laplace"]:
                return False
            models = [other.right if which else other.left for other in shared if other is not one]
            if any(other.factors[columns[0][2]] for other in models):
                return False
        return True

    def _clipped_costs_too_much(self, one: _Shared) -> bool:
        """Whether a clipped number breaks the claim on its own, for all that its bounds hide."""
        if one.left.everywhere != one.right.everywhere:
            return False
        columns = [self._columns(which, model) for which, model in enumerate((one.left, one.right))]
        return self._integrated(one, columns) > self.claim.delta * (1 + SAME) + UNCERTAIN

    def _ends(self, one: _Shared) -> tuple[float, float]:
        """The bounds to which a number is clipped, or the least and the largest value that was seen."""
        ends = [as_number(run.parts[one.part]) or 0.0 for runs in self.runs for run in runs]
        return min(ends), max(ends)

    def _other_noise(self, one: _Shared) -> Alarm | None:
        """Whether the noise in a number of the output differs, by more than the claim allows."""
        columns = [self._columns(which, model) for which, model in enumerate((one.left, one.right))]
        slack = 4 * max(one.left.deviation, one.right.deviation) / FAR
        if (at := differing(columns[0], columns[1], slack)) is None or not self._exceeds(one, columns):
            return None
        (family, a, i), (other, b, j) = columns[0][at[0]], columns[1][at[1]]
        a, b = abs(a), abs(b)
        first, second = self.runs[0][0], self.runs[1][0]
        (draws, within), (second_draws, second_within) = _draw_at(first, i), _draw_at(second, j)
        if family != other:
            said = (
                f"{_line(draws.place)}: {subject(one.part)} has {_named(family)} noise on D and {_named(other)} noise "
                f"on D′ ({_line(second_draws.place, draws.place)})."
            )
            places = () if second_draws.place == draws.place else (second_draws.place,)
            return Alarm(
                "distribution_differs", draws.place, subject(one.part), family, other, said, places
            )
        scales = float(draws.scale[within]), float(second_draws.scale[second_within])
        noise = f"{_named(family)} noise"
        if draws.place == second_draws.place and abs(scales[0] - scales[1]) > SAME * max(scales):
            shown_scales = _apart(*scales)
            steps = self._steps()
            source = _assigning(steps, *scales) or _computing(steps, draws.place)
            others = () if source is None or source == draws.place else (source,)
            computed = f", which {_line(source, draws.place)} computes," if source is not None and others else ""
            said = (
                f"{_line(draws.place)}: the scale of the {noise}{computed} differs between D and D′ "
                f"({shown_scales[0]}, {shown_scales[1]})."
            )
            return Alarm("scale_depends_on_data", draws.place, subject(one.part), *shown_scales, said, others)
        factors = _apart(a / (scales[0] or 1.0), b / (scales[1] or 1.0))
        place = self._factor_line() or draws.place
        of = "" if place == draws.place else f" of {_line(draws.place, place)}"
        said = (
            f"{_line(place)}: the {noise}{of} reaches {subject(one.part)} with the factor {factors[0]} on D and "
            f"{factors[1]} on D′."
        )
        others = () if place == draws.place else (draws.place,)
        return Alarm("factor_depends_on_data", place, subject(one.part), *factors, said, others)

    def _columns(self, which: int, model: Linear) -> list[tuple[str, float, int]]:
        """(distribution, signed scale in the output, number) of every draw that reaches a number of the output."""
        run = self.runs[which][0]
        at = np.nonzero(model.factors)[0].tolist()
        return [(_draw_at(run, i)[0].distribution, float(model.factors[i]), i) for i in at]

    def _exceeds(self, one: _Shared, columns: list[list[tuple[str, float, int]]]) -> bool:
        """Whether a number of the output with other noise on D than on D′ breaks the claim.

        At δ = 0 it does (`differing`), unless a bound clips the output, which limits the ratio of densities. Then, and
        for δ > 0, δ at the claimed ε is integrated for a number that is Laplace or Gaussian noise on a location.
        """
        clipped = not (one.left.everywhere and one.right.everywhere)
        if self.claim.delta == 0 and not clipped:
            return True
        return self._overlap(one) and self._integrated(one, columns) > self.claim.delta * (1 + SAME) + UNCERTAIN

    def _integrated(self, one: _Shared, columns: list[list[tuple[str, float, int]]]) -> float:
        """δ at the claimed ε of one number of the output, within the bounds that clip it; 0 where it is not known."""
        if len(columns[0]) != 1 or len(columns[1]) != 1 or one.left.deviation or one.right.deviation:
            return 0.0
        (family, scale, _), (other, width, _) = columns[0][0], columns[1][0]
        if not {family, other} <= {"laplace", "normal"}:
            return 0.0
        within = (-math.inf, math.inf)
        if not (one.left.everywhere and one.right.everywhere):
            # clipping at a value that is no bound gives fewer events, and a smaller δ
            within = self._ends(one)
        sides = (family, one.left.location, abs(scale)), (other, one.right.location, abs(width))
        return max(hockey_stick(*each, self.claim.epsilon, within) for each in (sides, sides[::-1]))

    def _overlap(self, one: _Shared) -> bool:
        """Whether the outputs of D and D′ lie in the same range, so that one clipping cannot give two factors."""
        values = [
            np.array([number for run in runs[:4] if (number := as_number(run.parts[one.part])) is not None])
            for runs in self.runs
        ]
        low, high = max(v.min() for v in values), min(v.max() for v in values)
        return bool(high > low)

    def _shift(self, level: list[_Shared]) -> None:
        """What the cheapest shift of the draws costs that gives the outputs of D on D′, and of D′ on D."""
        first = self.runs[0][0]
        factors, order = self._matched(level)
        if factors is None:
            return
        difference = np.array([one.left.location - one.right.location for one in level])
        every = [*self.runs[0], *self.runs[1]]
        sizes = np.array([max(abs(as_number(run.parts[one.part]) or 0.0) for run in every) for one in level])
        slack = np.array([4 * (one.left.deviation + one.right.deviation) for one in level]) + 10 * CLOSE * sizes
        families = [_draw_at(first, at)[0].distribution for at in range(factors.shape[1])]
        if self.claim.delta > 0:
            families = ["laplace" if family == "normal" else family for family in families]
        up, down = (np.array(cost) for cost in zip(*map(price, families), strict=True))
        costs = []
        for sign in (1, -1):
            with np.errstate(invalid="ignore"):
                found = cheapest_shift(factors, sign * difference, slack, up, down)
            if found is None:
                self._no_shift(level, factors, difference, slack)
                return
            costs.append(found)
        cost, shift = costs[0] if costs[0][0] >= costs[1][0] else (costs[1][0], -costs[1][1])
        needed = self._needed(factors, difference, cost, shift)
        self.cost = needed
        if needed is None or needed <= self.claim.epsilon * (1 + SAME) + SAME:
            return
        if not self._replayed(level, shift, order, slack):
            return
        self._add(self._costly(level, factors, difference, shift, needed))

    def _matched(self, level: list[_Shared]) -> tuple[FloatArray | None, list[int]]:
        """The factors on D of all draws, and for each the draw on D′ that does the same; None where there is none."""
        left = np.array([one.left.factors for one in level])
        right = np.array([one.right.factors for one in level])
        runs = self.runs[0][0], self.runs[1][0]
        names = [[_draw_at(run, at)[0].distribution for at in range(run.noise.size)] for run in runs]
        slack = 4 * max(max(one.left.deviation, one.right.deviation) for one in level) / FAR
        close = SAME * max(float(np.abs(left).max()), float(np.abs(right).max())) + slack
        order: list[int] = []
        free = set(range(right.shape[1]))
        for at in range(left.shape[1]):
            likely = [at, *sorted(free - {at})] if at in free else sorted(free)
            found = -1
            for other in likely if (left[:, at] != 0).any() else ():
                same = np.abs(left[:, at] - right[:, other]).max() <= close
                if names[0][at] == names[1][other] and same:
                    found = other
                    break
            if found < 0 and (left[:, at] != 0).any():
                return None, []
            order.append(found)
            free.discard(found)
        if any((right[:, other] != 0).any() for other in free):
            return None, []
        return left, order

    def _needed(self, factors: FloatArray, difference: FloatArray, cost: float, shift: FloatArray) -> float | None:
        """ε that the shift needs at the claimed δ; None where it is not known."""
        delta = self.claim.delta
        if delta == 0:
            return cost
        first = self.runs[0][0]
        reached = np.nonzero((factors != 0).any(axis=0))[0]
        families = [_draw_at(first, int(at))[0].family for at in reached]
        part = factors[:, reached]
        if not np.any(difference):
            return 0.0
        if set(families) == {"normal"}:
            square = float(difference @ np.linalg.pinv(part @ part.T) @ difference)
            moves = Moves(gaussian=(_fraction(math.sqrt(max(0.0, square))),)) if square > 0 else Moves()
        elif set(families) <= {"laplace", "normal"} and np.linalg.matrix_rank(part) == len(reached):
            moved = [(family, abs(shift[at])) for family, at in zip(families, reached, strict=True) if shift[at]]
            if len(moved) > SHIFTED:
                return None
            moves = Moves(
                laplace=tuple(_fraction(by) for family, by in moved if family == "laplace" and by > SAME),
                gaussian=tuple(_fraction(by) for family, by in moved if family == "normal" and by > SAME),
            )
        else:
            return None
        if not moves.laplace and not moves.gaussian:
            return 0.0
        try:
            return NoiseProfile(moves).epsilon(delta).low
        except NotEnumerableError:
            return None

    def _replayed(self, level: list[_Shared], shift: FloatArray, order: list[int], slack: FloatArray) -> bool:
        """Whether the shifted draws of D give its output on D′."""
        first, second = self.runs[0][0], self.runs[1][0]
        z = second.noise.copy()
        for at, other in enumerate(order):
            if other >= 0:
                z[other] = first.noise[at] + shift[at]
        frozen, start = [], 0
        for draws in second.draws:
            if draws.is_noise:
                frozen.append(replace(draws, standard=z[start : start + draws.standard.size]))
                start += draws.standard.size
            else:
                frozen.append(draws)
        again = self._run(1, 0, "none", frozen)
        for one, miss in zip(level, slack, strict=True):
            wanted = as_number(first.parts[one.part])
            number = as_number(again.parts.get(one.part))
            if wanted is None or number is None or abs(number - wanted) > miss + 1e-6 * abs(wanted):
                return False
        return True

    def _costly(
        self, level: list[_Shared], factors: FloatArray, difference: FloatArray, shift: FloatArray, needed: float
    ) -> Alarm:
        at = int(np.abs(shift).argmax())
        draws, within = _draw_at(self.runs[0][0], at)
        row = int(np.abs(factors[:, at] * shift[at]).argmax())
        part, by = level[row].part, abs(float(difference[row]))
        steps, scale = self._steps(), abs(float(factors[row, at]))
        value, width = _computing(steps, draws.place), _assigning(steps, *[float(draws.scale[within])] * 2)
        others = tuple(
            place for place in dict.fromkeys([value, width]) if place is not None and place != draws.place
        )
        computed = f" ({_line(value, draws.place)} computes it)" if value in others and value is not None else ""
        noise = f"{_named(draws.family)} noise"
        of = f"scale {scale:.6g}"
        if width in others and width is not None and width != value:
            of += f", from {_line(width, draws.place)}"
        moved = int((np.abs(shift) > SAME).sum())
        what = f"the {noise} ({of})" if moved == 1 else f"{moved} draws (here {noise} of {of})"
        at_delta = f" at δ = {self.claim.delta:.4g}" if self.claim.delta else ""
        costs = "costs no finite ε" if math.isinf(needed) else f"costs ε = {needed:.4g}"
        said = (
            f"{_line(draws.place)}: {subject(part)} moves by {by:.6g} between D and D′{computed}; the shift of {what} "
            f"that hides it {costs}{at_delta}, and the claim is ε = {self.claim.epsilon:.6g}."
        )
        cost = None if math.isinf(needed) else needed
        return Alarm("shift_costs_more", draws.place, subject(part), f"{by:.6g}", f"{scale:.6g}", said, others, cost)

    def _no_shift(
        self, level: list[_Shared], factors: FloatArray, difference: FloatArray, slack: FloatArray
    ) -> None:
        """No shift of the draws gives the same output: some combination of outputs has no noise, or none of this kind.
        """
        solution: FloatArray = np.asarray(np.linalg.lstsq(factors, difference, rcond=None)[0], dtype=np.float64)
        missed = difference - factors @ solution
        if (np.abs(missed) <= slack + 1e-6 * np.abs(difference).max()).all():
            # a shift exists, and its noise allows none: Gaussian noise at δ = 0, or noise that has one sign
            self.cost = None
            if self.claim.delta == 0 and self._replayed(level, solution, self._matched(level)[1], slack):
                self._add(self._costly(level, factors, difference, solution, math.inf))
            return
        rows = np.nonzero(np.abs(missed) > 1e-6 * np.abs(difference).max())[0].tolist()
        reach = np.abs(factors[rows]).sum(axis=0)
        at = int(((factors[rows] != 0).sum(axis=0) * 1e6 + reach).argmax())
        draws = _draw_at(self.runs[0][0], at)[0]
        if len(rows) < 2:
            return
        names = [subject(level[row].part) for row in rows[:2]]
        moves = [f"{difference[row]:.6g}" for row in rows[:2]]
        steps = self._steps()
        ends = [
            _assigning(steps, *(runs[0].parts.get(level[row].part) for runs in steps)) for row in rows[:2]
        ] if all(steps) else []
        others = tuple(place for place in dict.fromkeys(ends) if place is not None and place != draws.place)
        used = f" ({' and '.join(_line(place, draws.place) for place in others)})" if others else ""
        said = (
            f"{_line(draws.place)}: the same {_named(draws.family)} noise reaches {names[0]} and {names[1]}{used}, "
            f"which move by {moves[0]} and {moves[1]} between D and D′: no shift of it hides both, and a combination "
            "of them has no noise."
        )
        self._add(Alarm("noise_reused", draws.place, names[0], moves[0], moves[1], said, others))

    # -- lines

    def _add(self, alarm: Alarm) -> None:
        self.alarms.append(alarm)

    def _steps(self) -> list[list[Execution]]:
        """Two runs on each dataset whose lines are followed: [[D, D again], [D′, D′ again]]."""
        if self._followed is None:
            if self.executions + 4 > MOST_EXECUTIONS:
                self._followed = [[], []]
                return self._followed
            followed = []
            for which in (0, 1):
                frozen = [self.runs[0][at].draws if which else () for at in (0, 1)]
                followed.append([self._run(which, at, "none", frozen[at], lines=True) for at in (0, 1)])
            self._followed = followed
        return self._followed

    def _repeats(self) -> bool:
        """Whether the runs whose lines were followed gave what the same draws gave before."""
        return all(
            again.parts == self.runs[which][at].parts
            for which, runs in enumerate(self._steps()) for at, again in enumerate(runs)
        )

    def _last_place(self, which: int) -> Place:
        """The line that returns."""
        followed = self._steps()
        for runs in (followed[which], followed[1 - which]):
            if runs and runs[0].steps.lines:
                return runs[0].steps.lines[-1]
        return next(iter([draws.place for draws in self.runs[0][0].draws]), Place(self.target.name, 0))

    def _branch(self) -> tuple[Place, ...]:
        """The line after which the run on D′ goes another way than the run on D; () where it does not, or in a loop."""
        left, right = self._steps()
        if not left or not right:
            return ()
        for before, one, other in zip(
            [None, *left[0].steps.lines], left[0].steps.lines, right[0].steps.lines, strict=False
        ):
            if one != other:
                source = before.source if before is not None else ""
                return (before,) if before is not None and not source.startswith(("for ", "while ")) else ()
        return ()

    def _factor_line(self) -> Place | None:
        """The first line at which the same noise has another effect on D′ than on D."""
        left, right = self._steps()
        if not left or not right:
            return None
        for (place, name, by), (other_place, other_name, other_by) in zip(
            _changes(left), _changes(right), strict=False
        ):
            if (place, name) != (other_place, other_name) or len(by) != len(other_by):
                return None
            gap, size = np.abs(by - other_by).max(), np.abs(by).max()
            if gap > SAME * size and size > 0:
                return place
        return None


def _changes(runs: Sequence[Execution]) -> list[tuple[Place, str, FloatArray]]:
    """What every assignment of a run changes by with other draws."""
    changes = []
    for one, other in zip(runs[0].steps.assigned, runs[1].steps.assigned, strict=False):
        if (one.place, one.name) != (other.place, other.name) or len(one.value) != len(other.value):
            break
        changes.append((one.place, one.name, np.array(other.value) - np.array(one.value)))
    return changes


def _computing(followed: list[list[Execution]], noise: Place) -> Place | None:
    """The last line before the noise that gives a variable a value that differs between D and D′, draws apart."""
    left, right = followed
    if not left or not right:
        return None
    found = None
    others: dict[tuple[Place, str], Step] = {(step.place, step.name): step for step in right[0].steps.assigned}
    again: dict[tuple[Place, str], Step] = {(step.place, step.name): step for step in left[1].steps.assigned}
    for step in left[0].steps.assigned:
        if step.name == RETURNED and step.depth == 0:
            continue
        key = step.place, step.name
        later = step.place.file == noise.file and step.place.line > noise.line
        if later or key not in others or key not in again:
            continue
        if again[key].value == step.value and others[key].value != step.value:
            found = step.place
    return found


def _assigning(followed: list[list[Execution]], left: object, right: object) -> Place | None:
    """The line that first gives a variable the value that the output has on D, and on D′."""
    numbers = [float(value) if isinstance(value, int | float) else None for value in (left, right)]
    places: list[list[Place]] = []
    for runs, number in zip(followed, numbers, strict=True):
        if not runs or number is None:
            return None
        places.append([step.place for step in runs[0].steps.assigned if step.value == (number,)])
    both: list[Place] = [place for place in places[0] if place in places[1]]
    return both[0] if both else None


def _constants(runs: Sequence[Execution]) -> dict[Part, object]:
    """The parts that every run has, with their value, or that it varies."""
    always: dict[Part, object] = dict(runs[0].parts)
    for run in runs[1:]:
        for part in list(always):
            if part not in run.parts:
                del always[part]
            elif always[part] is not _VARIES and not _equal(always[part], run.parts[part]):
                always[part] = _VARIES
    return always


def _equal(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _model(runs: Sequence[Execution], part: Part) -> Linear | None:
    """A part of the output as a function of the noise; None where it is not linear, or the draws vary in number."""
    if len({run.signature for run in runs}) != 1:
        return None
    y = [as_number(run.parts.get(part)) for run in runs]
    values = [number for number in y if number is not None]
    return fitted(np.array([run.noise for run in runs]), np.array(values)) if len(values) == len(runs) else None


def _draw_at(run: Execution, at: int) -> tuple[Draws, int]:
    """The call that made a draw, and which of its draws that is."""
    for draws in run.draws:
        if draws.is_noise:
            if at < draws.standard.size:
                return draws, at
            at -= draws.standard.size
    raise IndexError(at)


def _fraction(x: float) -> Fraction:
    return Fraction(x).limit_denominator(10_000)


def _line(place: Place, near: Place | None = None) -> str:
    """A line in words; of the same file as another one, its number alone."""
    return f"line {place.line}" if near is not None and near.file == place.file else f"{place.file}, line {place.line}"


def _named(family: str) -> str:
    return {"laplace": "Laplace", "normal": "Gaussian", "gumbel": "Gumbel", "student_t": "Student's t"}.get(
        family.partition("(")[0], family.partition("(")[0]
    )


def _value(value: object) -> str:
    if isinstance(value, Raised):
        return repr(value)
    text = f"{value:.6g}" if type(value) is float else shown(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _ordered(sides: Sequence[str], which: int) -> tuple[str, str]:
    """Texts on D and D′, of which the first is about the dataset `which`."""
    return (sides[0], sides[1]) if which == 0 else (sides[1], sides[0])


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as few digits as tell them apart, three at least."""
    for digits in range(3, 17):
        if f"{one:.{digits}g}" != f"{other:.{digits}g}":
            return f"{one:.{digits}g}", f"{other:.{digits}g}"
    return repr(one), repr(other)
