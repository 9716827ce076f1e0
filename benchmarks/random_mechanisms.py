"""Random small mechanisms with odd Python objects as outputs, against their exact ε by enumeration.

python benchmarks/random_mechanisms.py --jobs 2 > benchmarks/random_mechanisms.md

What has ended is kept (--keep FILE, by default benchmarks/random_mechanisms.jsonl), and the same command goes on where
it was stopped; --tables prints what there is and runs nothing. Delete the file to begin anew. Progress on stderr.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import resumable
from scipy import stats

# the mechanisms are those of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "soundness"))

import helpers
from shapes import WAYS

KEPT = Path(__file__).resolve().parent / "random_mechanisms.jsonl"
MECHANISMS = 2_000
ALPHA, RUNS = 0.05, 200


def one(part: str, seed: int) -> dict[str, Any]:
    """One mechanism, verified or sampled."""
    if part == "proved":
        return helpers.kernel_proved(seed)
    return helpers.kernel_sampled(seed, alpha=ALPHA, runs=RUNS)


def tables(done: dict[resumable.Key, dict[str, Any]]) -> None:
    """The benchmark's text."""
    proved, sampled = ([value for key, value in done.items() if key[0] == part] for part in ("proved", "sampled"))
    print("# Random mechanisms against enumeration\n")
    print(
        f"Tables of `python benchmarks/random_mechanisms.py`: {MECHANISMS:,} random mechanisms of "
        "`tests/soundness/kernels.py`\nwith 2 to 6 inputs and 2 to 12 outcomes, which become odd Python objects and "
        "often the same one. Half of the claims\nhold with equality. Enumeration is by fractions and is no code of "
        "dpaudit.\n"
    )
    print("## Exact: `dpaudit verify` over all neighbouring datasets\n")
    print(
        "Wrong: a proof that enumeration contradicts, a refutation of a claim that holds, or an enclosure without the\n"
        "exact ε (60 digits).\n"
    )
    print("| mechanisms | PASS · proved | FAIL | refused | wrong |\n| --- |" + " --- |" * 4)
    verdicts = Counter(value["verdict"] for value in proved)
    wrong = sum(bool(value["wrong"]) for value in proved)
    print(f"| {len(proved):,} | {verdicts['pass']:,} | {verdicts['fail']:,} | {verdicts['refused']} | {wrong} |\n")
    print(f"## Sampled: {RUNS} samples per dataset of the worst pair, α = {ALPHA}\n")
    print(
        "Wrong: a lower bound above the exact ε, or FAIL where the claim holds; at most a share α may be. p: of the\n"
        "exact binomial test of that, one-sided.\n"
    )
    print("| way in | audits | PASS | FAIL | INCONCLUSIVE | refused | wrong | share | p |\n| --- |" + " --- |" * 8)
    for way in WAYS:
        print(f"| {way} | {row([value for value in sampled if value['way'] == way])}")
    print(f"| **all** | {row(sampled)}\n")
    for value in [value for value in (*proved, *sampled) if value["wrong"]][:40]:
        print(f"- {value}")
    reasons = (value["reason"] for value in (*proved, *sampled) if value["verdict"] == "refused")
    notes = Counter(re.sub(r"[\d.,]*\d", "#", reason) for reason in reasons)
    for reason, times in notes.most_common(20):
        print(f"- refused, {times}: {reason.encode('ascii', 'backslashreplace').decode()}")
    seconds = sum(value["seconds"] for value in (*proved, *sampled))
    print(f"\n{seconds / 60:.0f} CPU minutes.")


def row(found: Sequence[dict[str, Any]]) -> str:
    """Counts of some audits."""
    verdicts = Counter(value["verdict"] for value in found)
    wrong, number = sum(bool(value["wrong"]) for value in found), len(found) - verdicts["refused"]
    p = stats.binomtest(wrong, number, ALPHA, alternative="greater").pvalue if number else 1.0
    cells = [f"{len(found):,}", *(f"{verdicts[v]:,}" for v in ("pass", "fail", "inconclusive", "refused"))]
    return " | ".join([*cells, str(wrong), f"{wrong / max(1, number):.4f}", f"{p:.2g}"]) + " |"


def main() -> None:
    """Run what is missing, and print the tables."""
    given = resumable.arguments(__doc__, KEPT)
    for part in ("proved", "sampled"):
        if not given.tables and given.part in (None, part):
            resumable.run([(part, seed) for seed in range(MECHANISMS)], one, given)
    tables(resumable.results(given.keep))


if __name__ == "__main__":
    main()
