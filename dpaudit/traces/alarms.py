"""What a trace shows: named alarms with a file and a line, and the draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dpaudit.adversary import Pair
from dpaudit.traces.recorder import Draws, Place

AlarmCode: TypeAlias = Literal[
    "unprotected_output", "draw_missing", "key_set_differs", "length_differs", "scale_depends_on_data",
    "factor_depends_on_data", "distribution_differs", "noise_reused", "shift_costs_more", "seeded_inside",
]
"""What differs between D and D′:

| code | what it says |
| --- | --- |
| `unprotected_output` | a part of the output differs, and no draw reaches it |
| `draw_missing` | one dataset's output gets noise from a line that the other dataset does not run |
| `key_set_differs` | a key, label, column, row or member is in every output on one dataset and in none on the other |
| `length_differs` | the same of the length of a list or an array |
| `scale_depends_on_data` | the same line draws noise of another scale |
| `factor_depends_on_data` | the same noise reaches the output with another factor |
| `distribution_differs` | the same part of the output gets another kind of noise |
| `noise_reused` | one draw hides several numbers, whose combination has no noise |
| `shift_costs_more` | the shift of the noise that hides the difference costs more than the claim allows |
| `seeded_inside` | the function seeds its generator, so its noise is the same in every run |
"""


SHOWN = 10
"""Calls of distributions that a trace shows."""


@dataclass(frozen=True)
class Alarm:
    """Something that differs between two datasets and that no noise hides, or not well enough.

    It is no bound on ε: it rests on a few runs, and on their being typical of all.

    Args:
        code: what it is.
        place: the line that it is about.
        others: other lines that have a part in it: the line that computes the value, the branch, an unused draw.
        part: of the output, in words.
        left, right: what differs, on D and on D′: scales, factors, or values, in words.
        cost: ε that the pair needs along this path, as far as it is known; None where no noise is in question, or no
            finite cost.
        sentence: all of it in one sentence.
    """

    code: AlarmCode
    place: Place
    part: str
    left: str
    right: str
    sentence: str
    others: tuple[Place, ...] = ()
    cost: float | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """All lines that it names."""
        return (self.place, *self.others)

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


@dataclass(frozen=True)
class Trace:
    """What a function drew on D, and the alarms that replays on D′ gave.

    Args:
        pair: D and D′.
        alarms: worst first; none where nothing can be said.
        draws: of the first run on D, in their order.
        cost: of the cheapest shift of the draws that gives the output of D on D′: ε along this path; None where it is
            unknown, or not finite.
        executions: how often the function was called.
        remark: why less could be said than usual; "" for nothing.
    """

    pair: Pair
    alarms: tuple[Alarm, ...] = ()
    draws: tuple[Draws, ...] = field(default=(), repr=False)
    cost: float | None = None
    executions: int = 0
    remark: str = ""

    def __str__(self) -> str:
        lines = [str(alarm) for alarm in self.alarms] or ["No alarm."]
        if self.remark:
            lines.append(self.remark)
        number = sum(draws.standard.size for draws in self.draws)
        cost = "" if self.cost is None else f"; the cheapest shift of the noise costs ε = {self.cost:.4g}"
        lines.append(f"{number} {'draw' if number == 1 else 'draws'} on D, {self.executions} executions{cost}")
        lines += [f"  {draws}" for draws in self.draws[:SHOWN]]
        if len(self.draws) > SHOWN:
            lines.append(f"  … and {len(self.draws) - SHOWN} more calls")
        return "\n".join(lines)
