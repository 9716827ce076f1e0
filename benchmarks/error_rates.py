"""How often audits err, and what they see: whole audits of mechanisms whose exact ε is known.

python benchmarks/error_rates.py --jobs 2 > benchmarks/error_rates.md

What has ended is kept (--keep FILE, by default benchmarks/error_rates.jsonl), and the same command goes on where it was
stopped; --tables prints what there is and runs nothing. Delete the file to begin anew. Progress on stderr.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import resumable
from scipy import stats

import dpaudit
from dpaudit.plans.request import DEFAULT_ALPHA
from dpaudit.stats.power import rejection_probability
from dpaudit.testing import RandomisedResponse

# the mechanisms are those of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "soundness"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "quality"))

import helpers
from exact_mechanisms import Gap
from shapes import EVERY, PAIR, SHAPES, WAYS, Dressed, Shape

KEPT = Path(__file__).resolve().parent / "error_rates.jsonl"
RUNS = 200
"""Samples per dataset of most audits: enough to learn, to certify and for several interim analyses."""


@dataclass(frozen=True)
class Part:
    """Audits that one table is of.

    Args:
        title, text: of the table.
        alpha, runs, claimed, certify: of the audits, as in `helpers.audited`.
        each: how many of every shape.
        shapes: those that it has; by default all of them.
    """

    title: str
    text: str
    alpha: float
    each: int
    runs: int = RUNS
    claimed: float = 1.0
    certify: bool = False
    shapes: Sequence[Shape] = EVERY


PARTS = {
    "size": Part(
        "The boundary, α = 0.05",
        "The claim is the exact ε, so every FAIL is an error. Only some of the shapes, to save time.",
        0.05, 500, shapes=tuple(dict.fromkeys((*EVERY[:-3:8], *EVERY[2:-3:8], *EVERY[4:-3:8], *EVERY[-3:]))),
    ),
    "small": Part(f"The boundary, α = {DEFAULT_ALPHA}", "All shapes, at the default α.", DEFAULT_ALPHA,
                  math.ceil(5_000 / len(EVERY))),
    "trees": Part(
        "The boundary with more samples, α = 0.05",
        "Where logistic regressions, boosted trees and all interim analyses take part.", 0.05, 3, runs=6_000,
    ),
    "bounds": Part(
        "The bound on ε of audits with `--certify`, α = 0.05",
        "The claim is half of the exact ε: it is false, FAIL is right, and the bound may exceed the exact ε in a share "
        "α\nof audits. (If the exact ε is 0, so is the claim.)", 0.05, 10, claimed=0.5, certify=True,
    ),
}  # fmt: skip
CHAINS, SESSIONS = 30, 12
"""Accumulated evidence: chains of so many audits, each with the evidence of the one before it."""


def seed_of(*key: Any) -> int:
    """A seed of its own for every task."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6])


def audit(part: str, name: str, number: int) -> dict[str, Any]:
    """One audit of one shape; the ways in take turns."""
    about, shape = PARTS[part], SHAPES[name]
    way = shape.ways[number % len(shape.ways)]
    found = helpers.audited(
        shape, way, seed=seed_of(part, name, number), alpha=about.alpha, runs=about.runs, claimed=about.claimed,
        certify=about.certify,
    )
    return {"way": way, **outcome(found)}


def outcome(found: Any) -> dict[str, Any]:
    """What is kept of an audit."""
    verdict = "refused" if helpers.refused(found) else str(found.verdict)
    told = {} if verdict in ("pass", "fail") else {"reason": found.reason[:200]}
    return {"verdict": verdict, "lower": found.epsilon_lower, **told}


def chain(part: str, name: str, number: int) -> dict[str, Any]:
    """Audits at the boundary, each with the evidence of those before it, until one of them FAILs."""
    evidence, verdict, lower, session = None, "pass", 0.0, 0
    for session in range(1, SESSIONS + 1):
        shape = SHAPES[name]
        evidence = dpaudit.audit(
            Dressed(name), epsilon=shape.epsilon, delta=shape.delta, pair=PAIR, runs=RUNS, alpha=0.05,
            seed=seed_of(part, name, number, session), evidence=evidence, progress=False, black_box=True,
        )
        verdict, lower = str(evidence.verdict), max(lower, evidence.audit.epsilon_lower or 0.0)
        if verdict == "fail":
            break
    return {"verdict": verdict, "lower": lower, "sessions": session}


def powered(part: str, runs: int, number: int) -> dict[str, Any]:
    """Randomised response at ε = 1.2 that claims 1, or a gap of 2 that claims 1 and goes on."""
    subject: Any
    subject, certify = (RandomisedResponse(1.2), False) if part == "power" else (Gap(2.0), True)
    found = dpaudit.audit(
        subject, epsilon=1.0, pair=PAIR, runs=runs, seed=number, certify=certify, black_box=True, progress=False,
    ).audit
    stop = None if found.sequential is None else found.sequential.refuted_at
    return {**outcome(found), "stop": stop}


POWER, TIGHTNESS = (2_000, 5_000, 10_000, 20_000), (1_000, 10_000, 100_000, 1_000_000)


def tasks() -> dict[str, tuple[list[resumable.Key], Callable[..., dict[str, Any]]]]:
    """All tasks by part: keys, and what runs one."""
    found: dict[str, tuple[list[resumable.Key], Callable[..., dict[str, Any]]]] = {}
    for part, about in PARTS.items():
        # one of every shape after the other, so that a table that was stopped early has all of them
        found[part] = ([(part, shape.name, i) for i in range(about.each) for shape in about.shapes], audit)
    found["chains"] = ([("chains", name, i) for i in range(CHAINS) for name in CHAINED], chain)
    found["power"] = ([("power", runs, i) for runs in POWER for i in range(50)], powered)
    found["tightness"] = ([("tightness", runs, i) for runs in TIGHTNESS for i in range(10)], powered)
    return found


CHAINED = ("bool", "float", "vector of 1 or 2 numbers")


def size_table(part: str, done: dict[resumable.Key, dict[str, Any]]) -> None:
    """Errors by shape, by way in, and of all."""
    about = PARTS[part]
    found = [(SHAPES[key[1]], value) for key, value in done.items() if key[0] == part and key[1] in SHAPES]
    print(f"## {about.title}\n\n{about.text}\n{about.runs:,} samples per dataset, learning included.\n")
    if not found:
        print("Not measured yet.\n")
        return
    print(_HEAD.format("shape of the output", "exact (ε, δ)"))
    for shape in EVERY:
        its = [one for one in found if one[0] is shape]
        if its:
            print(f"| {shape.name} | ({shape.epsilon:g}, {shape.delta:g}) | {row(its, about)}")
    print(f"| **all** | | {row(found, about)}\n")
    print(_HEAD.format("way in", ""))
    for way in WAYS:
        its = [one for one in found if one[1]["way"] == way]
        if its:
            print(f"| {way} | | {row(its, about)}")
    print()
    # reasons that differ in their numbers alone are one
    notes: dict[str, Counter[str]] = {}
    for shape, value in found:
        if reason := value.get("reason"):
            notes.setdefault(re.sub(r"[\d.,]*\d", "#", reason), Counter())[shape.name] += 1
    for reason, shapes in sorted(notes.items(), key=lambda one: -one[1].total()):
        named = ", ".join(f"{name} ({times})" for name, times in shapes.most_common(3))
        more = f" and {len(shapes) - 3} more" if len(shapes) > 3 else ""
        print(f"- {shapes.total():,} in {named}{more}: {reason.encode('ascii', 'backslashreplace').decode()}")
    seconds = sum(value["seconds"] for _, value in found)
    print(f"\n{seconds / len(found):.2f} CPU seconds an audit, {seconds / 60:.0f} minutes in all.\n")


_HEAD = (
    "| {} | {} | audits | PASS | FAIL | INCONCLUSIVE | refused | bound above ε | share | p |\n| --- |"
    + " --- |" * 9
)


def row(found: Sequence[tuple[Shape, dict[str, Any]]], about: Part) -> str:
    """Counts, the larger share of errors, and how likely that many are at a rate of α."""
    verdicts = Counter(value["verdict"] for _, value in found)
    above = sum(value["lower"] is not None and value["lower"] > shape.epsilon for shape, value in found)
    false = above if about.claimed < 1 else max(above, verdicts["fail"])
    read = len(found) - verdicts["refused"]
    cells = [f"{len(found):,}", *(f"{verdicts[v]:,}" for v in ("pass", "fail", "inconclusive", "refused")), str(above)]
    return " | ".join([*cells, *errors(false, read, about.alpha)]) + " |"


def errors(wrong: int, of: int, alpha: float) -> list[str]:
    """The share of errors, and the one-sided p-value of the exact binomial test of a rate of at most α."""
    if not of:
        return ["–", "–"]
    return [f"{wrong / of:.4f}", f"{stats.binomtest(wrong, of, alpha, alternative='greater').pvalue:.2g}"]


def chain_table(done: dict[resumable.Key, dict[str, Any]]) -> None:
    """FAIL in any session."""
    print(f"## Evidence over {SESSIONS} sessions, α = 0.05\n")
    print("Chains of audits at the boundary, each with the evidence of all before it, until one FAILs.\n")
    print("| shape of the output | chains | FAIL in any session | share | p |\n| --- |" + " --- |" * 4)
    for name in CHAINED:
        found = [value for key, value in done.items() if key[:2] == ("chains", name)]
        wrong = sum(value["verdict"] == "fail" or value["lower"] > SHAPES[name].epsilon for value in found)
        print(f"| {name} | {len(found)} | {wrong} | " + " | ".join(errors(wrong, len(found), 0.05)) + " |")
    print()


def power_tables(done: dict[resumable.Key, dict[str, Any]]) -> None:
    """How soon a false claim is refuted, and how near the bound comes."""
    print(f"## Power: randomised response at ε = 1.2 that claims 1, α = {DEFAULT_ALPHA}\n")
    print("Theory: the power of the score test of the best event with all samples and all of α, the event known.\n")
    print("| samples per dataset | audits | refuted | theory | median stop |\n| --- |" + " --- |" * 4)
    p = 1 / (1 + math.exp(-1.2))
    for runs in POWER:
        found = _of(done, "power", runs)
        stops = sorted(math.inf if one["stop"] is None else one["stop"] for one in found)
        theory = rejection_probability(p, 1 - p, runs, runs, epsilon=1.0, delta=0.0, alpha=DEFAULT_ALPHA)
        middle = stops[len(stops) // 2] if stops else math.inf
        refuted = sum(one["verdict"] == "fail" for one in found)
        shown = "–" if math.isinf(middle) else f"{middle:,}"
        print(f"| {runs:,} | {len(found)} | {refuted} | {theory:.3f} | {shown} |")
    print(f"\n## Tightness: Pr[⊥] = ½ against ½·e⁻², exact ε = 2, α = {DEFAULT_ALPHA}\n")
    print("Audits with `--certify`.\n")
    print("| samples per dataset | audits | median bound | share of the exact ε |\n| --- |" + " --- |" * 3)
    for runs in TIGHTNESS:
        bounds = sorted(one["lower"] or 0.0 for one in _of(done, "tightness", runs))
        if bounds:
            bound = bounds[len(bounds) // 2]
            print(f"| {runs:,} | {len(bounds)} | {bound:.4f} | {100 * bound / 2:.1f} % |")


def _of(done: dict[resumable.Key, dict[str, Any]], part: str, runs: int) -> list[dict[str, Any]]:
    return [value for key, value in done.items() if key[:2] == (part, runs)]


def tables(done: dict[resumable.Key, dict[str, Any]]) -> None:
    """The benchmark's text."""
    print("# Error rates and power of whole audits\n")
    print(
        "Tables of `python benchmarks/error_rates.py`. Every audit is a whole one by samples alone, with a seed of\n"
        "its own, of a mechanism of `tests/soundness/shapes.py` whose exact ε is known; the front ends take turns. At\n"
        "most a share α of audits may FAIL a claim that holds, and at most α may have a lower bound above the exact\n"
        "ε; share: the larger of the two. p: of the exact binomial test of that, one-sided; of fifty rows one is\n"
        "below 0.02 by chance. Refused: outputs that dpaudit does not read, and says so.\n"
    )
    for part in PARTS:
        size_table(part, done)
    chain_table(done)
    power_tables(done)


def main() -> None:
    """Run what is missing, and print the tables."""
    given = resumable.arguments(__doc__, KEPT)
    for part, (keys, one) in tasks().items():
        if not given.tables and given.part in (None, part):
            resumable.run(keys, one, given)
    tables(resumable.results(given.keep))


if __name__ == "__main__":
    main()
