"""The whole auditor on the corpus: its bounds, its stopping times, its false alarms. Writes corpus.md.

python benchmarks/corpus.py --jobs 2 [--part bound|stop|correct|time]

A part replaces its section of the page. What has ended is kept (--keep FILE, by default benchmarks/corpus.jsonl), and
the same command goes on where it was stopped; --tables runs nothing. Delete the file to begin anew. Progress on stderr.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import resumable
from scipy import stats

from dpaudit.adversary.events.learner import CAUTION
from dpaudit.adversary.events.optimistic_bound import CHOICE, expected_bound
from dpaudit.engine import orchestrator
from dpaudit.language import Claim
from dpaudit.plans import registry
from dpaudit.plans.alpha_shares import learning_runs, shares
from dpaudit.plans.plan import Case
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.stats import score_test
from dpaudit.stats.power import information_limit, runs_needed
from dpaudit_audits.corpus import ORACLES
from dpaudit_audits.corpus.oracle import Oracle

PAGE = Path(__file__).resolve().with_suffix(".md")
KEPT = PAGE.with_suffix(".jsonl")
BOUND_RUNS = 1_000_000
BOUND_ALPHA = 0.05
BOUND_SEEDS = 7, 3
"""Seeds, and those of members in `SLOW`; so also below."""
REFERENCE_SEEDS = 25
STOP_ALPHA = 0.01
STOP_RUNS = 1_000_000
STOP_SEEDS = 40, 5
MORE_RUNS = {"SVT3": 2_000_000}
"""Budgets of members whose n* is too large a part of `STOP_RUNS`."""
CORRECT_ALPHA = 0.01
CORRECT_RUNS = 1_000
CORRECT_SEEDS = 200, 25
LONG_RUNS = 20_000
LONG_SEEDS = 3, 1

SLOW = (
    "NoisyHist1",
    "SVT3",
    "SVT34Parallel",
    "NumericalSVT",
    "AboveThresholdDiscretised",
    "Rappor",
    "OneTimeRappor",
    "LaplaceParallel",
)
"""Members whose audits take ten times as long as the others' (classifiers on vectors and lists)."""

PUBLISHED = {
    "NoisyHist1": (".098 / .098", ".083 / .099"),
    "NoisyHist2": ("4.602 / 4.602", "9.717 / 10.002"),
    "ReportNoisyMax1": (".092 / .093", ".092"),
    "ReportNoisyMax2": (".098 / .098", ".100"),
    "ReportNoisyMax3": (".248 / .249", ".199 / .196"),
    "ReportNoisyMax4": (".346 / .353", ".196 / .199"),
    "SVT1": (".086 / .086", ".030 / .030"),
    "SVT2": (".086 / .085", ".032 / .041"),
    "SVT3": (".172 / .182", ".023 / .179"),
    "SVT4": (".169 / .170", ".171 / .172"),
    "SVT5": ("1.761 / 1.761", "14.314 / 14.314"),
    "SVT6": (".272 / .270", ".322 / .320"),
    "SVT34Parallel": (".261 / .262", ".137 / .196"),
    "Rappor": (".293 / .301", ".242 / .024"),
    "OneTimeRappor": (".598 / .600", ".471 / .060"),
    "LaplaceParallel": (".035 / .030", ".013 / .013"),
    "PrefixSum": (".504 / .577", ".352 / .345"),
    "NumericalSVT": (".034 / .035", "error"),
    "TruncatedGeometric": (".116 / .116", ".116 / .117"),
    "FloatingPointLaplace": ("– / .252 (bits)", "–"),
}
"""Bounds on ε from DP-Sniper's reference logs: its own (logistic regression / neural network), StatDP's two runs."""

@dataclass(frozen=True)
class Event:
    """An event of a mechanism that violates its claim, and its probabilities on the two datasets."""

    epsilon: float
    delta: float
    p: float
    q: float


Found = dict[str, float]
"""What one task measured; NaN stands for nothing."""


# --- one task, in a worker --------------------------------------------------------------------------------------------


def case_of(name: str) -> Case:
    """The case that the first two tables are about: its pair is the one that the oracle belongs to."""
    return registry.plan(name).cases()[0]


def oracle_of(name: str) -> Oracle:
    module, _, function = ORACLES[name].partition(":")
    made: Oracle = getattr(import_module(module), function)()
    return made


def audited(name: str, **more: object) -> Audit:
    """The first case on its pair alone, with all of alpha."""
    pair = case_of(name).pairs[0]
    (audit,) = orchestrator.run(Request((name,), pair=(pair.left, pair.right), **more)).audits  # type: ignore[arg-type]
    assert not audit.crashed, audit.reason
    return audit


def bound(name: str, seed: int, *, black_box: bool) -> Found:
    audit = audited(name, seed=seed, alpha=BOUND_ALPHA, runs=BOUND_RUNS, certify=True, black_box=black_box)
    return {"bound": audit.epsilon_lower or 0.0, "runs": audit.runs}


def stop(name: str, seed: int) -> Found:
    runs = MORE_RUNS.get(name, STOP_RUNS)
    audit = audited(name, seed=seed, alpha=STOP_ALPHA, runs=runs, black_box=True)
    at = audit.sequential.refuted_at if audit.sequential is not None else None
    return {
        "at": math.inf if at is None else at,
        "fail": audit.verdict is Verdict.FAIL,
        "runs": audit.runs / 2,
    }


def correct(name: str, seed: int, *, runs: int) -> Found:
    """All cases and pairs of the plan."""
    result = orchestrator.run(Request((name,), seed=seed, alpha=CORRECT_ALPHA, runs=runs, black_box=True))
    assert not any(audit.crashed for audit in result.audits)
    looked = [audit.floating_point for audit in result.audits if audit.floating_point is not None]
    return {
        "fail": any(audit.verdict is Verdict.FAIL for audit in result.audits),
        "inconclusive": any(audit.verdict is Verdict.INCONCLUSIVE for audit in result.audits),
        "leaks": any(found.leaks for found in looked) if looked else math.nan,
    }


def theory(name: str, _: int) -> Found:
    """What the oracle says of the pair: its bound, n*, and what tests of a fixed size need on the event of n*."""
    oracle, claim = oracle_of(name), case_of(name).tested
    assert claim is not None
    found = {
        "bound": oracle.bound(BOUND_RUNS, claim.delta, BOUND_ALPHA),
        "epsilon": oracle.epsilon(claim.delta),
        "reference": reference(oracle, claim.delta),
        "limit": oracle.information_limit(claim, STOP_ALPHA),
    }
    event = best_event(oracle, claim)
    if event is not None:
        needed = {"epsilon": claim.epsilon, "delta": claim.delta, "alpha": STOP_ALPHA}
        found["split"] = runs_needed(event.p, event.q, method="clopper_pearson", **needed)
        found["hoeffding"] = hoeffding(event, STOP_ALPHA)
    return found


def reference(oracle: Oracle, delta: float) -> float:
    """The median bound of a learner that knows the order of outputs by likelihood ratio, but no probability.

    It has as many samples as an audit with `certify`, and divides them and α in the same way: from its learning
    samples it chooses where to cut the order, in either direction, by the bound that their counts predict, and counts
    that event in the others.
    """
    learning = learning_runs(BOUND_RUNS)
    rest = BOUND_RUNS - learning
    alpha = shares(BOUND_ALPHA, certify=True, bits=False).final
    cells = [np.clip(np.diff(side, prepend=0.0), 0.0, None) for side in (oracle.p, oracle.q)]
    cells = [side / side.sum() for side in cells]
    bounds = []
    for seed in range(REFERENCE_SEEDS):
        rng = np.random.default_rng(seed)
        drawn = [np.cumsum(rng.multinomial(learning, side)) for side in cells]
        best = (-math.inf, 0, False)
        for backwards in (False, True):
            # the most likely outputs of the second dataset are the last ones
            x, y = ((learning - side for side in drawn[::-1]) if backwards else drawn)
            predicted = expected_bound(
                x / learning, y / learning, trained=learning, runs=rest, delta=delta, alpha=alpha,
                caution=CAUTION * math.sqrt(2 * CHOICE),
            )
            at = int(np.argmax(predicted))
            best = max(best, (float(predicted[at]), at, backwards))
        _, at, backwards = best
        inside = [int(rng.binomial(rest, min(1.0, float(side[: at + 1].sum())))) for side in cells]
        x, y = (rest - inside[1], rest - inside[0]) if backwards else inside
        bounds.append(score_test.epsilon_lower(x, rest, y, rest, delta=delta, alpha=alpha))
    return statistics.median(bounds)


def best_event(oracle: Oracle, claim: Claim) -> Event | None:
    """The event that attains `Oracle.information_limit`; None where the claim holds."""
    if math.isinf(oracle.information_limit(claim, STOP_ALPHA)):
        return None
    made = [Event(claim.epsilon, claim.delta, p, q) for p, q in oracle.events()]
    return min(made, key=limit)


def hoeffding(event: Event, alpha: float) -> float:
    """Samples per dataset for 80 % power (normal approximation) of the test by Hoeffding's inequality.

    The mean of X - e^ε Y - δ, whose range is 1 + e^ε, must exceed (1 + e^ε) sqrt(ln(1/α)/(2n)).
    """
    ratio = math.exp(event.epsilon)
    surplus = event.p - ratio * event.q - event.delta
    noise = math.sqrt(event.p * (1 - event.p) + ratio**2 * event.q * (1 - event.q))
    needed: float = (((1 + ratio) * math.sqrt(math.log(1 / alpha) / 2) + stats.norm.ppf(0.8) * noise) / surplus) ** 2
    return needed


def limit(event: Event) -> float:
    return information_limit(event.p, event.q, epsilon=event.epsilon, delta=event.delta, alpha=STOP_ALPHA)


KINDS: dict[str, Callable[[str, int], Found]] = {
    "theory": theory,
    "black box": lambda name, seed: bound(name, seed, black_box=True),
    "density": lambda name, seed: bound(name, seed, black_box=False),
    "stop": stop,
    "correct": lambda name, seed: correct(name, seed, runs=CORRECT_RUNS),
    "correct, long": lambda name, seed: correct(name, seed, runs=LONG_RUNS),
}


def one(kind: str, name: str, seed: int) -> Found:
    """A task."""
    return KINDS[kind](name, seed)


# --- all tasks --------------------------------------------------------------------------------------------------------


Task = tuple[str, str, int]
"""A kind of `KINDS`, a name and a seed: one audit, or what is computed once about a member."""
Outcomes = dict[tuple[str, str], list[Found]]
"""By kind and name, in the order of seeds."""


def outcomes_of(keep: Path) -> Outcomes:
    """What has ended."""
    grouped: Outcomes = {}
    for (kind, name, _), found in sorted(resumable.results(keep).items()):
        grouped.setdefault((kind, name), []).append(found)
    return grouped


def broken(name: str) -> bool:
    return case_of(name).expected is Verdict.FAIL


def has_density(name: str) -> bool:
    return hasattr(case_of(name).mechanism, "log_density")


def seeds_for(name: str, seeds: tuple[int, int]) -> range:
    return range(seeds[name in SLOW])


def bound_tasks(names: Iterable[str], seeds: tuple[int, int]) -> Iterator[Task]:
    for name in names:
        kinds = ("black box", "density") if has_density(name) else ("black box",)
        yield ("theory", name, 0)
        yield from ((kind, name, seed) for kind, seed in itertools.product(kinds, seeds_for(name, seeds)))


def stop_tasks(names: Iterable[str], seeds: tuple[int, int]) -> Iterator[Task]:
    for name in filter(broken, names):
        yield ("theory", name, 0)
        yield from (("stop", name, seed) for seed in seeds_for(name, seeds))


def correct_tasks(names: Iterable[str], seeds: tuple[int, int], long_seeds: tuple[int, int]) -> Iterator[Task]:
    for name in names:
        if not broken(name):
            yield from (("correct", name, seed) for seed in seeds_for(name, seeds))
            yield from (("correct, long", name, seed) for seed in seeds_for(name, long_seeds))


# --- tables -----------------------------------------------------------------------------------------------------------


def column(outcomes: Outcomes, kind: str, name: str, key: str) -> list[float]:
    return [found[key] for found in outcomes.get((kind, name), [])]


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else math.nan


def quantile(values: Sequence[float], share: float) -> float:
    """An observed value: between a number and never there is nothing."""
    return float(np.quantile(values, share, method="nearest"))


def digits(value: float) -> str:
    """Four significant digits; ∞ for what is not finite, – for nothing."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def paragraph(text: str) -> str:
    return textwrap.fill(text, 116, break_on_hyphens=False) + "\n"


def bound_table(names: Sequence[str], outcomes: Outcomes) -> Iterator[str]:
    yield "## Bounds from equal numbers of samples\n"
    yield paragraph(
        f"Lower confidence bound on ε at the claim's δ from {BOUND_RUNS:,} samples per dataset, learning included "
        "(`--certify "
        f"--runs {BOUND_RUNS}`), α = {BOUND_ALPHA:g}, on the member's pair. Median over the seeds. Black box: outputs "
        "alone. Density: the mechanism's `log_density` supplied, where it has one. Oracle: the score test at the "
        "expected counts of the best event, which is known to it in advance, with the same samples and α. Reference: a "
        "learner that knows the order of outputs by likelihood ratio and no probability, and chooses where to cut it "
        f"from as many samples as an audit does ({REFERENCE_SEEDS} seeds). Ratios: of black box "
        "to either. ε of the pair: the truth at that δ, on this pair. DP-Sniper (logistic regression / neural "
        "network) and StatDP (two runs): published in DP-Sniper's reference logs, 90 % confidence, on the authors' "
        "pairs, DP-Sniper with 200 million counted samples per dataset and 21 million for learning. One of StatDP's "
        "numbers "
        "on NoisyHist2 lies above the truth."
    )
    yield (
        "| member | claim | ε of the pair | black box | density | oracle | ratio | reference | ratio | seeds "
        "| least, most | CPU s | DP-Sniper | StatDP |"
    )
    yield "| --- |" + " --- |" * 13
    for name in names:
        claim = case_of(name).tested
        assert claim is not None
        values = column(outcomes, "black box", name, "bound")
        (known,) = outcomes["theory", name][:1]
        sniper, statdp = PUBLISHED.get(name, ("–", "–"))
        yield (
            f"| {name} | {claim.epsilon:.3g}{f', {claim.delta:.3g}' if claim.delta else ''} "
            f"| {digits(known['epsilon'])} | {digits(median(values))} "
            f"| {digits(median(column(outcomes, 'density', name, 'bound')))} "
            f"| {digits(known['bound'])} | {median(values) / known['bound']:.3f} "
            f"| {digits(known['reference'])} | {median(values) / known['reference']:.3f} "
            f"| {len(values)} | {digits(min(values))}, {digits(max(values))} "
            f"| {median(column(outcomes, 'black box', name, 'seconds')):.1f} | {sniper} | {statdp} |"
        )
    yield ""
    yield paragraph(
        "The learner's constants (the price of rare events, the shape of its trees, the weight of extrapolated tails) "
        "were chosen by results on members of this corpus, with other seeds: four settings of the first, some thirteen "
        "of the second on SVT3 and SVT34Parallel alone, a dozen of the third. So these two tables are about cases to "
        "which the auditor was fitted; on other mechanisms it may do worse. Error rates do not depend on it."
    )


def stop_table(names: Sequence[str], outcomes: Outcomes) -> Iterator[str]:
    yield "## Samples until a claim is refuted\n"
    more = ", ".join(f"{name} {runs:,}" for name, runs in MORE_RUNS.items())
    yield paragraph(
        "Samples per dataset at which the e-process refutes the claim of a broken member, learning included: black "
        "box, its "
        f"pair, family-wise α = {STOP_ALPHA:g} (the e-process has a share of it), budget {STOP_RUNS:,} samples per "
        "dataset "
        f"({more}); ∞: never. Without `--certify`: the audit goes on until a confidence bound refutes too; in all: "
        "samples per dataset "
        "at its end, median; refuted: FAIL by either. n*: the information limit of the best event at all of α, which "
        "no auditor beats on average, and this one has to find the event. Clopper–Pearson split and Hoeffding: samples "
        "per dataset for 80 % power on that event if it were known in advance."
    )
    yield (
        "| member | n* | median | 10 % | 90 % | median / n* | refuted | in all | Clopper–Pearson split | Hoeffding "
        "| seconds |"
    )
    yield "| --- |" + " --- |" * 10
    for name in filter(broken, names):
        at = column(outcomes, "stop", name, "at")
        (known,) = outcomes["theory", name][:1]
        low, middle, high = (quantile(at, share) for share in (0.1, 0.5, 0.9))
        ratio = middle / known["limit"]
        yield (
            f"| {name} | {digits(known['limit'])} | {digits(middle)} | {digits(low)} | {digits(high)} "
            f"| {'∞' if math.isinf(ratio) else f'{ratio:.2f}'} "
            f"| {sum(column(outcomes, 'stop', name, 'fail')):.0f} of {len(at)} "
            f"| {digits(median(column(outcomes, 'stop', name, 'runs')))} "
            f"| {digits(known['split'])} | {digits(known['hoeffding'])} "
            f"| {median(column(outcomes, 'stop', name, 'seconds')):.1f} |"
        )
    yield ""


def correct_table(names: Sequence[str], outcomes: Outcomes) -> Iterator[str]:
    yield "## Correct members\n"
    yield paragraph(
        "Audits of members whose claim holds, black box, all their cases and pairs, family-wise "
        f"α = {CORRECT_ALPHA:g}: how many FAIL, with {CORRECT_RUNS:,} and with {LONG_RUNS:,} samples per dataset. Each "
        "may, "
        f"with probability at most {CORRECT_ALPHA:g}. Leaks: audits in which the bit patterns of doubles refute the "
        "claim; it counts as a FAIL only where the member's case says so. Inconclusive: this "
        "number of samples cannot refute the claim for any mechanism."
    )
    yield (
        f"| member | FAIL, {CORRECT_RUNS:,} samples | inconclusive | leaks by bits | FAIL, {LONG_RUNS:,} samples "
        "| leaks by bits | seconds |"
    )
    yield "| --- |" + " --- |" * 6
    total = {"correct": [0, 0], "correct, long": [0, 0]}
    for name in names:
        if broken(name):
            continue
        cells = [name]
        for kind in total:
            failed = column(outcomes, kind, name, "fail")
            total[kind][0] += int(sum(failed))
            total[kind][1] += len(failed)
            cells.append(f"{sum(failed):.0f} of {len(failed)}")
            if kind == "correct":
                cells.append(f"{sum(column(outcomes, kind, name, 'inconclusive')):.0f}")
            cells.append(leaks(column(outcomes, kind, name, "leaks")))
        cells.append(f"{median(column(outcomes, 'correct', name, 'seconds')):.2f}")
        yield "| " + " | ".join(cells) + " |"
    short, long = (f"{failed} of {number:,}" for failed, number in total.values())
    yield f"| all | {short} | | | {long} | | |"
    yield ""


def leaks(values: Sequence[float]) -> str:
    """In how many audits, of those that saw doubles."""
    looked = [value for value in values if not math.isnan(value)]
    return f"{sum(looked):.0f} of {len(looked)}" if looked else "no doubles"


def timing(workers: int, seeds: int) -> Iterator[str]:
    """`dpaudit check --corpus`, timed."""
    yield "## Time of the whole corpus\n"
    yield f"What `dpaudit check --corpus --alpha 0.01 --jobs {workers}` does, default budgets, every case and pair:\n"
    yield "| seed | seconds | as expected | not |"
    yield "| --- |" + " --- |" * 3
    for seed in range(seeds):
        print(f"the whole corpus, seed {seed}", file=sys.stderr)
        request = Request(tuple(registry.names(registry.CORPUS)), seed=seed, alpha=0.01, jobs=workers)
        begun = time.monotonic()
        audits = orchestrator.run(request).audits
        seconds = time.monotonic() - begun
        other = [f"{audit.name} ({audit.case}): {audit.verdict.value}" for audit in audits if not audit.as_expected]
        right = len(audits) - len(other)
        yield f"| {seed} | {seconds:.0f} | {right} of {len(audits)} | {'; '.join(other) or 'none'} |"
    yield ""


PARTS: dict[str, Callable[[Sequence[str], Outcomes], Iterator[str]]] = {
    "bound": bound_table, "stop": stop_table, "correct": correct_table,
}


def replaced(page: str, section: str) -> str:
    """The page with this section in the place of the one of the same title, or at its end."""
    title = section.splitlines()[0]
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    at = next((i for i, part in enumerate(parts) if part.splitlines()[0] == title), len(parts))
    parts[at : at + 1] = [section.rstrip() + "\n\n"]
    return "".join(parts).rstrip() + "\n"


def main() -> None:
    """As the module says."""
    given = resumable.arguments(__doc__, KEPT)
    if given.part not in (None, *PARTS, "time"):
        sys.exit(f"no part is called {given.part!r}; there are {', '.join(PARTS)} and time")
    members = list(registry.names(registry.CORPUS))
    tasks: dict[str, Iterator[Task]] = {
        "bound": bound_tasks(members, BOUND_SEEDS),
        "stop": stop_tasks(members, STOP_SEEDS),
        "correct": correct_tasks(members, CORRECT_SEEDS, LONG_SEEDS),
    }
    wanted = [part for part in PARTS if given.part in (None, part)]
    page = PAGE.read_text(encoding="utf-8")
    for part in wanted:
        keys = list(dict.fromkeys(tasks[part]))
        if not given.tables:
            # long ones first, so that no worker is left alone with one at the end
            resumable.run(sorted(keys, key=lambda key: key[1] not in SLOW), one, given, chunk=1)
        done = resumable.results(given.keep)
        if all(key in done for key in keys):
            page = replaced(page, "\n".join(PARTS[part](members, outcomes_of(given.keep))))
        else:
            print(f"{part}: not all of it has been measured, and its section stays", file=sys.stderr)
    if given.part in (None, "time") and not given.tables:
        page = replaced(page, "\n".join(timing(2, 1)))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
