"""Chains of sessions at the exact boundary: how often any session fails, and how often any bound is too large.

    python benchmarks/evidence.py counts 500 12 0 20    chains, sessions, scene, seed; at the level of the accounting
    python benchmarks/evidence.py audits 500 12         whole audits, one after another, for as long as you let it

Randomised response with ε = 1 on a pair that attains it. `counts` draws the hits of the one event and uses
what an audit uses (`Sequential`, `shares`, the score test), so only learning is left out. It also says what an
accounting would give with a full share of α for the confidence bounds of every session.
"""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

import dpaudit
from dpaudit.evidence import sampled, sequential
from dpaudit.evidence.sampling import batches
from dpaudit.plans.alpha_shares import Shares, learning_runs, shares
from dpaudit.plans.request import PriorEvidence
from dpaudit.stats import clopper_pearson, score_test
from dpaudit.stats.eprocess import Counts, EProcess

P = 1 / (1 + math.exp(-1))
ALPHA = 0.05


def session(rng: Generator, *, claim: float, samples: int, prior: PriorEvidence | None, alpha: float) -> dict[str, Any]:
    """One session's counts, and what refutes: the e-process, confidence bounds, and bounds with a full share."""
    epsilons, at = sequential.grid(claim, samples, 0.0)
    number, before = (prior.session, prior.alpha) if prior is not None else (1, 1.0)
    parts = shares(alpha, certify=False, bits=False, session=number, prior=before)
    unused: Any = None
    process = EProcess(epsilons, 0.0)
    track = sequential.Track(0, unused, unused, process, unused, EProcess(epsilons, 0.0))
    state = sequential.Sequential([track], parts, False, prior, epsilons, at, np.zeros(len(epsilons)))
    state.peaks = state._values()
    x = y = n = 0

    def batch(size: int) -> tuple[int, int]:
        nonlocal x, y, n
        hits = int(rng.binomial(size, P)), int(rng.binomial(size, 1 - P))
        if n:
            process.update(Counts(hits[0], size, hits[1], size), past=Counts(x, n, y, n))
        x, y, n = x + hits[0], y + hits[1], n + size
        track.runs += size
        state.interim_analysis()
        return hits

    for size in batches(learning_runs(samples)):
        batch(size)
        if state.refuted:
            break
    drawn: list[tuple[int, int, int, int]] = []
    certified = [0, 0, 0]
    for look, size in sampled._analyses(samples - n, certify=False):
        for part in sampled._parts(size - certified[2]):
            hits = batch(part)
            certified = [certified[0] + hits[0], certified[1] + hits[1], certified[2] + part]
        drawn.append((look, *certified))
    anew = shares(alpha, certify=False, bits=False)
    anew = shares(alpha, certify=False, bits=False)
    return {
        "log_e": state.log_e, "by_e": state.refuted, "alpha": parts.sequential,
        "counts": _rejects(drawn, parts, claim, claim), "anew": _rejects(drawn, anew, claim, claim),
        "above": state.epsilon_lower > 1 + 1e-9 or _rejects(drawn, parts, claim, 1.0),
    }


def _rejects(drawn: list[tuple[int, int, int, int]], parts: Shares, claim: float, epsilon: float) -> bool:
    """Whether the score bound is above ε at the interim analysis at which an audit ends."""
    for look, x, y, n in drawn:
        alpha = parts.at_analysis(look, 1)
        if clopper_pearson.epsilon_lower(x, n, y, n, delta=0.0, alpha=alpha) > claim:
            break
    ratio = math.exp(epsilon)
    # within 1.3 standard errors no test at 0.3 α or less rejects
    if x - ratio * y < 1.3 * math.sqrt(x * (n - x) / n + ratio**2 * y * (n - y) / n):
        return False
    return score_test.p_value(x, n, y, n, epsilon=epsilon, delta=0.0, berger_boos=alpha / 1000) <= alpha


def chain(rng: Generator, sessions: int, *, claim: float, samples: int, alpha: float = ALPHA) -> SimpleNamespace:
    """The first session (from 1) that fails, and the first whose bound is above the true ε = 1; 0 for none."""
    prior: PriorEvidence | None = None
    failed = anew = above = 0
    for k in range(1, sessions + 1):
        found = session(rng, claim=claim, samples=samples, prior=prior, alpha=alpha)
        seeds = (*(prior.seeds if prior is not None else ()), k)
        prior = PriorEvidence(found["log_e"], seeds, alpha=found["alpha"])
        if not failed and (found["by_e"] or found["counts"]):
            failed = k
        if not anew and (found["by_e"] or found["anew"]):
            anew = k
        if not above and found["above"]:
            above = k
    return SimpleNamespace(failed=failed, anew=anew, above=above)


SCENES = ((1.0, 200), (0.8, 200), (1.0, 1000))
"""(claimed ε, samples per dataset and session)."""


def _counts(chains: int, sessions: int, scene: int, seed: int) -> None:
    claim, samples = SCENES[scene]
    rng = default_rng(seed)
    ran: list[SimpleNamespace] = []
    while len(ran) < chains:
        ran.append(chain(rng, sessions, claim=claim, samples=samples))
        if len(ran) % 20 == 0 or len(ran) == chains:
            numbers = {name: sum(getattr(one, name) > 0 for one in ran) for name in ("failed", "anew", "above")}
            first = {
                name: np.median([getattr(one, name) or sessions + 1 for one in ran]) for name in ("failed", "anew")
            }
            print(f"claim {claim}, {samples} samples, seed {seed}: {len(ran)} chains of {sessions} sessions, "
                  f"{numbers}; first FAIL, median session {first}", flush=True)


def response(data: list[int], rng: Generator, size: int) -> Any:
    """Randomised response with ε = 1."""
    return np.where(rng.random(size) < P, data[0], 1 - data[0])


def _audits(chains: int, sessions: int) -> None:
    failed = above = 0
    for c in range(chains):
        last: Any = None
        some = high = False
        for n in range(sessions):
            seed = 100_000 + c * 1000 + n
            last = dpaudit.audit(
                response, epsilon=1.0, pair=([1], [0]), runs=200, alpha=ALPHA, seed=seed, evidence=last
            )
            some |= str(last.verdict) == "fail"
            high |= (last.audit.epsilon_lower or 0.0) > 1.0 + 1e-9
        failed, above = failed + some, above + high
        print(f"{c + 1} chains of {sessions} sessions: some FAIL in {failed}, a bound above ε in {above}", flush=True)


if __name__ == "__main__":
    {"counts": _counts, "audits": _audits}[sys.argv[1]](*map(int, sys.argv[2:]))
