"""DP-SGD: are the known bugs found, at what cost, and how often is a correct loop accused? Writes training.md.

    python benchmarks/training.py > benchmarks/training.md
    python benchmarks/training.py "projections alone"       # the rows of audits of loops with these words, alone
    python benchmarks/training.py "whole runs"              # the table of whole runs alone

The reference loop of `dpaudit.training` trains logistic regression on 63 records of 15 features, with a canary or
without, and is audited as it is and with one bug at a time. Other tables repeat direct checks and whole audits of
correct loops, at the boundary of the claim and inside it.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import textwrap
import time
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.stats.clopper_pearson import interval
from dpaudit.training import BUGS, SGDClaim, SGDTranscript, TranscriptAudit, audit_transcript, checks, train

RECORDS, FEATURES = 63, 15
CLAIM = SGDClaim(1.0, 2.0, 1 / 8, 1000, denominator=8)
ALPHA = 0.05
TRANSCRIPTS = 2_000
FOUND_BY = {
    "clip-after-averaging": "contribution", "unscaled-noise": "noise", "noise-per-microbatch": "noise",
    "shuffled-batches": "sampling", "secret-batch-size": "scale", "accumulation": "sampling", "seeded-noise": "reuse",
}  # fmt: skip
SEEDS = 10


@dataclass(frozen=True)
class Loop:
    """A loop that the second table audits.

    Args:
        what: in words.
        claim: what it claims.
        noise: its noise over the claimed.
        blind: whether projections alone are recorded.
        runs: on D, and on D′.
        audits: how many are made.
        alpha: of each audit.
    """

    what: str
    claim: SGDClaim
    noise: float = 1.0
    blind: bool = False
    runs: int = 1
    audits: int = 500
    alpha: float = ALPHA


SHORT = replace(CLAIM, steps=128)
RUNS = Loop("", replace(CLAIM, steps=16), runs=300)
RUNS_DELTA = 1e-3
CORRECT = (
    Loop("as claimed, all recorded, the default α = 0.001", SHORT, audits=200, alpha=0.001),
    Loop("as claimed, all recorded", SHORT),
    Loop("as claimed, projections alone", SHORT, blind=True, audits=200),
    Loop("as claimed, 100 runs of 4 steps on each dataset", replace(CLAIM, steps=4), runs=100, audits=60),
)
DIRECT = (
    Loop("as claimed, all recorded", replace(CLAIM, steps=64)),
    Loop("as claimed, projections alone", replace(CLAIM, steps=64), blind=True),
    Loop("twice the claimed noise, all recorded", replace(CLAIM, steps=64), noise=2.0),
)


def recorded(loop: Loop, bug: str | None, seed: int) -> SGDTranscript:
    """Runs of a loop on D and D′."""
    rng = np.random.default_rng([seed, 99])
    features, labels = rng.normal(size=(RECORDS, FEATURES)), rng.integers(0, 2, RECORDS).astype(float)
    done = replace(loop.claim, noise_multiplier=loop.claim.noise_multiplier * loop.noise)
    transcript = SGDTranscript(done, records=None if loop.blind else RECORDS)
    for run in range(loop.runs):
        for canary_in in (True, False):
            own = np.random.default_rng([seed, run, canary_in])
            train(done, features, labels, own, canary_in=canary_in, transcript=transcript, bug=bug)
    if loop.blind:
        return projections(transcript)
    transcript.claim = loop.claim
    return transcript


def projections(transcript: SGDTranscript) -> SGDTranscript:
    """The same runs without what only a white box shows."""
    blind = SGDTranscript(transcript.claim)
    last = -1
    for run, canary_in, value in zip(
        transcript.run.tolist(), transcript.canary_in.tolist(), transcript.projection.tolist(), strict=True
    ):
        if run != last:
            blind.begin(canary_in=canary_in)
            last = run
        blind.step(value / transcript.claim.denominator)
    return blind


def bug_row(bug: str | None) -> str:
    """How often one of the bugs is found, by which checks, and the seconds of one audit with its training."""
    began = time.process_time()
    audits: list[TranscriptAudit] = []
    for seed in range(SEEDS):
        audits.append(audit_transcript(recorded(Loop("", CLAIM), bug, seed)))
        show_progress(f"{bug or 'correct'} {seed}")
    seconds = (time.process_time() - began) / SEEDS
    names = [check.name for check in audits[0].checks]
    counts = {name: sum(audit[name].found for audit in audits) for name in names}
    shown = ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "none"
    own = f"{counts[FOUND_BY[bug]]}/{SEEDS}" if bug else "–"
    what = BUGS[bug].what if bug else "nothing: the correct loop"
    return f"| {bug or 'correct'} | {what} | {own} | {shown} | {seconds:.2f} |"


def runs_row(bug: str | None) -> str:
    """How often the bound on ε of whole runs, and anything else, finds one of the bugs."""
    began = time.process_time()
    lowers: list[float] = []
    found: dict[str, int] = {}
    for seed in range(SEEDS):
        audit = audit_transcript(recorded(RUNS, bug, seed), delta=RUNS_DELTA)
        if (result := audit["run-epsilon"].result) is not None:
            lowers.append(result.epsilon_lower or 0.0)
        for check in audit.findings:
            found[check.name] = found.get(check.name, 0) + 1
        show_progress(f"runs of {bug or 'correct'} {seed}")
    seconds = (time.process_time() - began) / SEEDS
    shown = ", ".join(f"{name} {count}" for name, count in found.items()) or "none"
    bound = f"{np.mean(lowers):.2f}" if lowers else "withheld"
    return f"| {bug or 'correct'} | {bound} | {found.get('run-epsilon', 0)}/{SEEDS} | {shown} | {seconds:.2f} |"


def print_runs() -> None:
    """The table of whole runs."""
    claim = RUNS.claim
    print("## Whole runs\n")
    about = (
        f"{RUNS.runs} runs of {claim.steps} steps on each dataset, as above; the claim of a run is ε = "
        f"{claim.epsilon(RUNS_DELTA):.2f} at δ = {RUNS_DELTA:g}. α = 0.001 for all checks together, {SEEDS} seeds. The "
        "bound is on ε of a whole run, from the likelihood ratio of its projections under the claim, the mean of seeds."
    )
    print(textwrap.fill(about, 118) + "\n")
    print("| bug | mean bound, ε ≥ | found by run-epsilon | found by, of all seeds | CPU, s |")
    print("| --- | --- | --- | --- | --- |")
    for bug in (None, *BUGS):
        print(runs_row(bug), flush=True)


def direct_row(loop: Loop) -> str:
    """How often each direct check, with all of α, accuses a correct loop."""
    tests = (checks.contribution, checks.noise, checks.scale, checks.sampling, checks.reuse)
    counts = dict.fromkeys((test.__name__ for test in tests), 0)
    made = dict(counts)
    for seed in range(TRANSCRIPTS):
        transcript = recorded(loop, None, seed)
        for test in tests:
            check = test(transcript, ALPHA)
            counts[check.name] += check.found
            made[check.name] += check.made
    cells = [f"{counts[name] / TRANSCRIPTS:.4f}" if made[name] else "–" for name in counts]
    return f"| {loop.what} | {' | '.join(cells)} |"


def correct_row(loop: Loop) -> str:
    """How often a correct loop is accused by whole audits."""
    began = time.process_time()
    counts: dict[str, int] = {}
    accused = 0
    for seed in range(loop.audits):
        audit = audit_transcript(recorded(loop, None, seed), alpha=loop.alpha, seed=seed)
        accused += bool(audit.findings)
        for check in audit.findings:
            counts[check.name] = counts.get(check.name, 0) + 1
        show_progress(f"{loop.what} {seed}")
    low, high = interval(accused, loop.audits, alpha=0.05)
    shown = ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
    seconds = time.process_time() - began
    return f"| {loop.what} | {loop.audits} | {accused} | {low:.3f} to {high:.3f} | {shown} | {seconds:.0f} |"


def show_progress(what: str) -> None:
    """Progress, on a terminal."""
    if sys.stderr.isatty():
        with contextlib.suppress(OSError):
            print(f"\r{what:70}", end="", file=sys.stderr, flush=True)


def main() -> None:
    """Measure, and print the page, or some of its rows."""
    if words := sys.argv[1:]:
        if "whole runs" in words:
            print_runs()
        for loop in CORRECT:
            if any(word in loop.what for word in words):
                print(correct_row(loop), flush=True)
        return
    print("# DP-SGD\n")
    about = (
        "Written by `python benchmarks/training.py > benchmarks/training.md`. The loop is `dpaudit.training.train`: "
        f"{RECORDS} records and a canary, {FEATURES} features, σ = {CLAIM.noise_multiplier:g}, "
        f"C = {CLAIM.clip_norm:g}, q = {CLAIM.sampling_rate:g}, {CLAIM.steps:,} steps; one run with the canary and one "
        f"without. α = 0.001 for all checks of an audit together. {SEEDS} seeds; CPU is that of both runs and the "
        f"audit, mean. {platform.machine()}, {os.cpu_count()} processors, which other work may have shared; Python "
        f"{platform.python_version()}, numpy {np.__version__}."
    )
    print(textwrap.fill(about, 118) + "\n")
    print("| bug | the loop | found by its check | found by, of all seeds | CPU, s |\n| --- | --- | --- | --- | --- |")
    for bug in (None, *BUGS):
        print(bug_row(bug), flush=True)
    print("\nSources of the bugs are in `dpaudit.training.BUGS`.\n")
    print_runs()
    print()
    print("## Correct loops\n")
    print(f"Each direct check alone, with α = {ALPHA:g}: how often it accuses, of {TRANSCRIPTS:,} transcripts of 64")
    print("steps on each dataset. All but the last row are at the boundary of the claim.\n")
    print("| loop | contribution | noise | scale | sampling | reuse |\n| --- | --- | --- | --- | --- | --- |")
    for loop in DIRECT:
        print(direct_row(loop), flush=True)
    print(f"\nWhole audits at the boundary of the claim, with α = {ALPHA:g} for all checks together if not said:\n")
    print("| loop | audits | accused | 95 % interval | by | CPU, s |\n| --- | --- | --- | --- | --- | --- |")
    for loop in CORRECT:
        print(correct_row(loop), flush=True)


if __name__ == "__main__":
    main()
