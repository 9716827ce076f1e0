"""dpaudit as it is by default: it stops where the claim is refuted, and half as many samples later has its bound."""

from __future__ import annotations

from typing import Any

from common import Found, main
from subjects import Subject

import dpaudit


def audit(subject: Subject, seed: int, runs: int, alpha: float, *, certify: bool = False) -> Found:
    """One audit; with `certify` all samples go into the bound."""

    def function(dataset: tuple[int, ...], rng: Any, size: int) -> Any:
        return subject.function(dataset[0], rng, size)

    result = dpaudit.audit(
        function, (subject.epsilon, subject.delta), relation="replace-one", pair=((1,), (0,)), runs=runs, alpha=alpha,
        seed=seed, progress=False, certify=certify,
    )
    [one] = result.audits
    return Found(one.verdict.value == "fail", one.epsilon_lower, one.runs)


if __name__ == "__main__":
    main(audit)
