"""What these tests take from inside dpaudit: outputs, events and learners. Everything else they reach by `dpaudit`."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from kernels import RandomMechanism, kernel_of, logarithm
from numpy.random import SeedSequence
from shapes import PAIR, WAYS, Shape

import dpaudit
from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.learner import Learner
from dpaudit.interpret import Outputs
from dpaudit.language import Categorical, Claim, Mechanism, exp
from dpaudit.results.model import Audit
from dpaudit.subjects.target import FunctionTarget


def outputs_of(values: Sequence[Any]) -> Outputs:
    """The outputs that a function returned one by one, as the engine stores them."""
    if not len(values):
        return Outputs({}, np.empty(0))
    given = iter(values)
    target = FunctionTarget("given", "", lambda dataset, rng: next(given))
    return target.runs([], len(values), SeedSequence(0))


def count(event: Event, values: Sequence[Any]) -> int:
    """How many of some outputs lie in an event, counted as one batch."""
    return event.count(outputs_of(values))


def learned_events(left: Sequence[Any], right: Sequence[Any], *, seed: int = 0) -> Iterator[Event]:
    """Every kind of event that a learner makes of two samples: its choices, and one on each axis that it considers."""
    for bits in (False, True):
        learner = Learner(bits=bits, seed=seed)
        learner.add(outputs_of(left), outputs_of(right))
        learner.refit()
        for epsilon, delta in ((0.0, 0.0), (1.0, 0.0), (0.5, 0.1)):
            yield learner.choose_event(epsilon=epsilon, delta=delta).event
            yield learner.certify(epsilon=epsilon, delta=delta, runs=1_000, alpha=0.05, thorough=False).event
        yield learner.certify(epsilon=1.0, delta=0.0, runs=1_000, alpha=0.05).event
        for scale in learner._scales:
            if len(edges := scale.edges):
                middle = float(edges[len(edges) // 2])
                yield Event(intervals=((-np.inf, middle),), axis=scale.axis)


def families(events: Sequence[Event]) -> set[str]:
    """What events are made of: kinds of axes and encoders, "atoms" and "spans"."""
    found = set()
    for event in events:
        if event.axis is not None:
            found.add(f"{type(event.axis).__name__} of {type(event.axis.encoder).__name__}")
        found |= {name for name in ("atoms", "ranges") if getattr(event, name)}
    return found


def audited(
    shape: Shape, way: str, *, seed: int, alpha: float, runs: int, claimed: float = 1.0, certify: bool = False,
    **more: Any,
) -> Audit:
    """A whole audit, from samples alone, of the claim `claimed` · ε at the exact δ."""
    result = dpaudit.audit(
        shape.subject(way), epsilon=claimed * shape.epsilon, delta=shape.delta, pair=PAIR, runs=runs, alpha=alpha,
        seed=seed, certify=certify, black_box=True, progress=False, **more,
    )
    return result.audit


def refused(audit: Audit) -> bool:
    """Whether dpaudit could not read the outputs, and said so."""
    return audit.crashed


ROUNDING = Decimal("3e-11")
"""To within what dpaudit says that it proves: the rounding of a mechanism's own numbers."""


def kernel_proved(seed: int) -> dict[str, Any]:
    """`dpaudit.verify` of a random kernel against enumeration: the verdict, and what is wrong with it."""
    kernel = kernel_of(seed)
    audit = dpaudit.verify(
        RandomMechanism(seed), data=f"integers(0, {kernel.domain - 1})", size=kernel.size, progress=False
    ).audit
    if refused(audit) or audit.proof is None:
        return {"verdict": "refused", "wrong": [], "reason": audit.reason[:200]}
    exact, claim = logarithm(kernel.worst), Decimal(kernel.epsilon)
    low, high = (
        Decimal("inf") if end is None else Decimal(end) for end in (audit.proof.epsilon_low, audit.proof.epsilon_high)
    )
    wrong = []
    if not low <= exact <= high:
        wrong.append(f"the exact ε {exact:.20g} is not in [{low:.20g}, {high:.20g}]")
    if audit.verdict == "pass" and exact > claim + ROUNDING * max(Decimal(1), claim):
        wrong.append(f"proved, and the exact ε is {exact:.20g}")
    if audit.verdict == "fail" and exact <= claim:
        wrong.append(f"refuted, and the exact ε is {exact:.20g}")
    return {"verdict": str(audit.verdict), "wrong": wrong, "exact": float(exact), "claim": kernel.epsilon}


def kernel_sampled(seed: int, *, alpha: float, runs: int) -> dict[str, Any]:
    """An audit of a random kernel by samples alone, the ways in turn, of a claim about the pair that is tried."""
    kernel = kernel_of(seed)
    exact = logarithm(kernel.ratio(kernel.tried))
    # at the boundary of the pair, but for every fourth kernel: of its claim, which may be false
    claim = kernel.epsilon if seed % 4 == 3 or not exact.is_finite() else float(exact)
    way = WAYS[seed // 4 % len(WAYS)]
    audit = dpaudit.audit(
        kernel.subject(way), epsilon=claim, delta=float(kernel.delta), pair=kernel.pair(kernel.tried), runs=runs,
        alpha=alpha, seed=seed, black_box=True, progress=False,
    ).audit
    wrong = []
    if audit.epsilon_lower is not None and Decimal(audit.epsilon_lower) > exact:
        wrong.append(f"ε ≥ {audit.epsilon_lower}, and the exact ε is {exact:.12g}")
    if audit.verdict == "fail" and exact <= Decimal(claim) + ROUNDING:
        wrong.append(f"refuted, and the exact ε is {exact:.12g}")
    verdict = "refused" if refused(audit) else str(audit.verdict)
    told = {} if verdict in ("pass", "fail") else {"reason": audit.reason[:200]}
    return {
        "way": way, "verdict": verdict, "wrong": wrong, "lower": audit.epsilon_lower, "exact": float(exact),
        "claim": claim, **told,
    }


@dataclass(frozen=True)
class Rows(Mechanism):
    """Releases one bit of its row by randomised response at `epsilon`; claims ε = 1."""

    epsilon: float = 2.0

    @property
    def claim(self) -> Claim:
        """What it claims."""
        return Claim(1.0)

    def run(self, dataset: Any) -> Generator[Any, Any, Any]:
        """Its program."""
        bit = int(dataset[0])
        flip = 1 / (1 + exp(self.epsilon))
        flipped = yield Categorical((0, 1), (1 - flip, flip))
        return ("bit", bit ^ flipped)
