"""Some cases of the catalogue, audited with few runs: real results for tests that need many audits, or large ones.

They cover PASS proved and not refuted, FAIL, a FAIL on purpose, INCONCLUSIVE, utility guarantees, a worst pair,
drawings, and ledgers; apart from them LearnHalf with 200 records, whose page is the largest of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from unittest import mock

from dpaudit.engine.orchestrator import run
from dpaudit.plans import registry
from dpaudit.plans.plan import Plan
from dpaudit.plans.request import ComparisonSpec, Request, WorstCaseMode
from dpaudit.results.model import Result

RUNS = 1_000
CASES = {
    "LaplaceMechanism": ["count", "count, group of 2"],
    "LaplaceMechanismRounded": ["count", "every pair of 6 records, count", "count, group of 2", "count, group of 3"],
    "ADist": ["default", "fewest records", "every pair of 22 records", "group of 2"],
    "InteriorPointByMedianCorrected": ["default", "every pair of 6 records"],
    "Subsampled": ["pure", "one of two rows", "A_dist as printed", "an inner mechanism of ε = 4 that claims 1"],
    "DigitGuessing": ["depth, D_1"],
    "AHighH": ["k = 3, the first angle"],
    "PrivateMultiplicativeWeights": ["no noise on the compared values"],
    "LearnHalf": [
        "default", "public points on a line", "three dimensions", "a public record is replaced",
        "private records have label 0, every pair of 2 records of a 2 × 2 grid",
    ],
}
"""Algorithm → its cases."""
GUARANTEES = {
    "LaplaceMechanism": ["count, off by at most 3"],
    "InteriorPointByMedianCorrected": ["every dataset of 6 records of 2 values"],
    "LearnHalf": ["Claim 4.7, step 8 alone", "Claim 4.7, the plane"],
    "PrivateMultiplicativeWeights": ["worst queries, one point, |X| = 4, α = 0.2"],
}
"""Algorithm → its utility cases."""


@cache
def sample_audits() -> Result:
    """The audits of `CASES` and `GUARANTEES`, and of a search for a worst pair."""
    audited = _audited(CASES, GUARANTEES)
    worst = run(Request(("ADistCorrected",), worst_case=WorstCaseMode(domain=2, records=6)))
    return replace(audited, audits=[*audited.audits, *worst.audits])


@cache
def largest_audit() -> Result:
    """The audit of which most is written: the case of LearnHalf with most records."""
    return _audited({"LearnHalf": ["n = 200, n_pub = 60"]}, {})


@cache
def sample_comparison() -> Result:
    """The comparison of algorithms for interior points, at two sizes."""
    comparison = ComparisonSpec("interior-points", sizes=(10, 300), parameters=(("size", 16),))
    return run(Request(("interior-points",), runs=100, comparison=comparison))


def _audited(cases: Mapping[str, Sequence[str]], guarantees: Mapping[str, Sequence[str]]) -> Result:
    plan_of = registry.plan

    def part(name: str) -> Plan:
        plan = plan_of(name)
        every = plan.utility() if plan.utility is not None else ()
        chosen = tuple(replace(c, runs=min(c.runs, RUNS)) for c in plan.cases() if c.label in cases[name])
        tried = tuple(replace(c, runs=RUNS) for c in every if c.label in guarantees.get(name, ()))
        return replace(plan, cases=lambda: chosen, utility=lambda: tried)

    with mock.patch.object(registry, "plan", part):
        return run(Request(tuple(cases), only=None))
