"""The first calls of a user's function: does it raise, and how long does it take?

They come before the search for pairs, the tests of assumptions and the samples, so that a typing error or a slow
function is reported at once. An exception is an outcome, because an attacker sees it: only a function that raises in
every call, on every pair that is tried, is not audited.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from numpy.random import SeedSequence, default_rng

from dpaudit.adversary import Pair
from dpaudit.errors import DpauditError
from dpaudit.evidence.assumptions import always_fails, copies, shown_dataset
from dpaudit.evidence.needed import Needed
from dpaudit.language import Dataset
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.failures import hint, is_typing_error, raised
from dpaudit.results.reasons import duration, needed_sentence
from dpaudit.results.stream import Notice
from dpaudit.subjects.global_seeds import global_seeds
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget

AT_LEAST = 6
"""Calls that must all raise before a slow function is said to fail always, unless the error is a typing error."""
MOST_CALLS = 60
"""The same for a fast function, which may want more records than a search begins with."""
PATIENCE = 2.0
"""Seconds that calls which only raise may take together before they are ended."""
WORTH_SAYING = 60.0
"""Seconds from which the user hears how long an audit may take."""


@dataclass(frozen=True)
class FirstCall:
    """One call of a function.

    Args:
        dataset: the argument.
        failure: what it raised, or that it took too long; None where it returned.
        seconds: how long it took.
    """

    dataset: Dataset
    failure: Raised | None
    seconds: float


def try_first(
    target: FunctionTarget, pairs: Sequence[Pair], runner: Runner, *, seed: int
) -> Generator[Notice, None, float]:
    """Call a function once on each dataset of the first pair; the seconds of a call.

    A slow function that raises is called on more pairs, until it is clear that it always does. A fast one is left to
    the tests of assumptions, which call it more often.

    Raises:
        MechanismError: a slow function raised in all these calls.
        TimeLimitError: as `Runner.guarded`.
    """
    with runner.guarded(target.name):
        calls = first_calls(target, pairs[0], seed=seed)
    failing = [call for call in calls if call.failure is not None]
    if failing:
        slow = MOST_CALLS / len(calls) * sum(call.seconds for call in calls) > PATIENCE
        always = len(failing) == len(calls)
        if not always or (slow and not _typing_errors(failing)):
            yield Notice(_of_failure(target.name, failing[0], always=always))
        if slow and always:
            _refuse_if_failing(target, pairs, calls, runner, seed=seed)
    return min(call.seconds for call in calls)


def first_calls(target: FunctionTarget, pair: Pair, *, seed: int) -> list[FirstCall]:
    """One call on each dataset of a pair, of a copy of the function where it can be copied: its state stays as it is.
    """
    fresh = copies(target)
    called = target if fresh is None else fresh()
    datasets = enumerate((pair.left, pair.right))
    return [_call(called, dataset, SeedSequence([seed, 0xF125, which])) for which, dataset in datasets]


@dataclass
class OnlyFailures:
    """Whether a function has only raised so far, for a search whose pairs come one by one.

    Args:
        target: the function.
        seed: of its generators.
    """

    target: FunctionTarget
    seed: int
    calls: list[FirstCall] = field(default_factory=list)
    so_far: bool = True

    def on(self, pair: Pair, runner: Runner) -> bool:
        """Whether it still has only raised, in a call on each dataset of this pair too."""
        if self.so_far:
            with runner.guarded(self.target.name):
                self.calls += first_calls(self.target, pair, seed=self.seed + len(self.calls))
            self.so_far = all(call.failure is not None for call in self.calls)
        return self.so_far

    @property
    def certain(self) -> bool:
        """Whether it is clear that other calls would raise too."""
        return self.so_far and _enough(self.calls)


def of_slow_calls(
    name: str, seconds: float, needed: Needed, *, runs: int, pairs: int, limit: float | None,
    searched: bool, in_time: tuple[int, float] | None = None,
) -> str:
    """What the user of a slow function should know before the samples are drawn; "" where it is fast enough.

    Args:
        seconds: of one call.
        needed: samples that the claim needs.
        runs: samples per dataset of each pair, at most.
        pairs: how many of them, at most.
        limit: time that is left; None for no limit.
        searched: whether they are searched for, which takes about as many samples as a pair does.
        in_time: the samples per dataset that fit into the limit and are taken instead, and the smallest ε of a
            violation that they detect; None where all are taken.
    """
    whole = 2 * seconds * runs * (pairs + searched)
    if whole <= (WORTH_SAYING if limit is None else min(limit, WORTH_SAYING)):
        return ""
    parts = [f"A call of {name} takes {duration(seconds)}."]
    if needed.least is not None and needed.least <= runs:
        parts.append(needed_sentence(seconds, needed.least, needed.for_power, needed.target))
    if in_time is not None:
        fewer, epsilon = in_time
        parts.append(
            f"The time limit has time for about {fewer:,}, which detect a violation of ε ≥ {epsilon:.3g} with "
            "probability 0.9."
        )
        return " ".join(parts)
    up_to = "one pair" if pairs == 1 else f"up to {pairs} pairs"
    search = ", and the search for pairs," if searched else ""
    parts.append(f"All {runs:,} samples per dataset of {up_to}{search} take up to {duration(whole)}.")
    return " ".join(parts)


def _call(target: FunctionTarget, dataset: Dataset, seed: SeedSequence) -> FirstCall:
    records, rng, output, failure = target.given(dataset)(), default_rng(seed), None, None
    with global_seeds(seed, 0):
        begun = time.monotonic()
        if target.vectorised:
            try:
                output = target.subject(records, rng, 1)
            except (DpauditError, MemoryError):
                raise
            except Exception as error:
                failure = raised(error)
        else:
            output = target.outcome(records, rng)
        seconds = time.monotonic() - begun
    if isinstance(output, Raised):
        failure = output
    return FirstCall(dataset, failure, seconds)


def _refuse_if_failing(
    target: FunctionTarget, pairs: Sequence[Pair], calls: Sequence[FirstCall], runner: Runner, *, seed: int
) -> None:
    """Call a function whose first calls raised on these pairs too, until a call returns or enough have raised."""
    seen = list(calls)
    for at, pair in enumerate(cycle([*pairs[1:], pairs[0]])):
        if _enough(seen) or _typing_errors(seen):
            break
        with runner.guarded(target.name):
            seen += first_calls(target, pair, seed=seed + 1 + at)
        if any(call.failure is None for call in seen):
            return
    first = seen[0]
    assert first.failure is not None
    raise always_fails(target.name, first.failure, first.dataset, calls=len(seen))


def _enough(failing: Sequence[FirstCall]) -> bool:
    """Whether these failures make it clear that other calls would fail too."""
    late = sum(call.seconds for call in failing) > PATIENCE
    return len(failing) >= (AT_LEAST if late or _typing_errors(failing) else MOST_CALLS)


def _typing_errors(failing: Sequence[FirstCall]) -> bool:
    return all(call.failure is not None and is_typing_error(call.failure) for call in failing)


def _of_failure(name: str, call: FirstCall, *, always: bool) -> str:
    failure = call.failure
    assert failure is not None
    happened = f"raised {failure.where}" if type(failure) is Raised else f"{failure!r}: {failure.where}"
    where = f"in {'both first calls' if always else 'a first call'}, on {shown_dataset(call.dataset)}"
    advice = hint(failure) or "A failure counts as an output, because an attacker sees it."
    return f"{name} {happened.rstrip('.')} {where}. {advice} {'Other datasets are tried.' if always else ''}".rstrip()
