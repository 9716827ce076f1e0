"""Mechanisms of OpenDP, diffprivlib and python-dp, audited at the claims that their own interfaces state.

`python benchmarks/libraries.py [--jobs 2] [--scale 1.0] [name …]` writes benchmarks/libraries.md (without names; with
names it prints those rows alone). It needs `pip install -e '.[libraries]'`. The claim and the relation are read by
`dpaudit.subjects.adapters` from the audited object (the fourth column says where); the pair consists of neighbours
under that relation and satisfies the library's contract. Every audit uses all its samples (`certify=True`); the bound
is a lower confidence bound, so a share near 1 shows a tight mechanism and a good pair, and a small one a
loose claim, a bad pair, or rare events. One family-wise error α of 0.001 is shared equally by all rows; the seed is
1. "Floats" is about the low bits of doubles, which count in the verdict only where the mechanism's name ends in "with
low bits".
OpenDP and python-dp draw their randomness themselves and cannot be seeded: their numbers differ a little from run to
run.
benchmarks/libraries_findings.md refutes the same claims without dpaudit, and quotes the libraries.
benchmarks/libraries_bugs.md has known bugs of pipeline-dp, smartnoise-synth, opacus and dpmm.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import dpaudit
from dpaudit.results.model import Audit, Verdict
from dpaudit.subjects.adapters import Adapted, adapted
from dpaudit.subjects.adapters import diffprivlib as diffprivlib_adapter

ALPHA = 0.001
SEED = 1
FEW, SLOW, MIDDLE, FAST = 6_000, 20_000, 40_000, 80_000
PACKAGES = ("opendp", "diffprivlib", "python-dp", "scikit-learn", "numpy")


@dataclass(frozen=True)
class Row:
    """One audit.

    Args:
        library: whose.
        name: of the mechanism, with its parameters.
        make: the object, or what its adapter makes of it.
        left, right: the pair.
        runs: samples per dataset.
        remark: why it is refuted, or what is to be known.
        bits: whether what the low bits of doubles give away counts in the verdict.
    """

    library: str
    name: str
    make: Callable[[], Any]
    left: list[Any]
    right: list[Any]
    runs: int
    remark: str = ""
    bits: bool = False


def opendp_rows() -> list[Row]:
    """Measurements of OpenDP."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    number = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float))
    scores = (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float))
    unit = dp.atom_domain(bounds=(0.0, 1.0), nan=False)
    some = (dp.vector_domain(unit), dp.symmetric_distance())
    five = (dp.vector_domain(unit, size=5), dp.symmetric_distance())
    ints = (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
    leaves = dp.vector_domain(dp.atom_domain(T=int), size=4)
    best, rest = [1.0] + [0.0] * 9, [0.0] + [1.0] * 9

    def fixed() -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*number, scale=2.0)), 0.05)

    def tree() -> Any:
        summed = dp.t.make_b_ary_tree(leaves, dp.l1_distance(T=int), leaf_count=4, branching_factor=2)
        return summed >> dp.m.then_laplace(scale=3.0)

    def keys() -> Any:
        return ints >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=4)

    def quantile() -> Any:
        return five >> dp.m.then_private_quantile(
            dp.max_divergence(), candidates=[0.0, 0.25, 0.5, 0.75, 1.0], alpha=0.5, scale=2.0
        )

    def largest(**how: Any) -> Any:
        return dp.m.make_noisy_max(*scores, how["measure"], scale=how["scale"])

    halves = [dp.m.make_laplace(*number, scale=2.0), dp.m.make_laplace(*number, scale=2.0)]
    zeros, one = [0.0] * 5, [0.0] * 4 + [1.0]
    made: list[tuple[str, Callable[[], Any], list[Any], list[Any]]] = [
        ("make_laplace, f64, scale 1", lambda: dp.m.make_laplace(*number, scale=1.0), [0.0], [1.0]),
        (
            "make_laplace, i32, scale 1 (discrete)",
            lambda: dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0), [0], [1],
        ),
        ("make_gaussian, f64, scale 1", lambda: dp.m.make_gaussian(*number, scale=1.0), [0.0], [1.0]),
        ("make_gaussian, scale 2, zCDP_to_approxDP, fix_delta 0.05", fixed, [0.0], [1.0]),
        (
            "make_canonical_noise, d_out (1, 0.05)",
            lambda: dp.m.make_canonical_noise(*number, d_in=1.0, d_out=(1.0, 0.05)), [0.0], [1.0],
        ),
        ("make_randomized_response_bool, 3/4", lambda: dp.m.make_randomized_response_bool(prob=0.75), [True], [False]),
        (
            "make_randomized_response, 3 categories, 0.6",
            lambda: dp.m.make_randomized_response(["a", "b", "c"], prob=0.6), ["a"], ["b"],
        ),
        ("make_noisy_max, scale 2", lambda: largest(measure=dp.max_divergence(), scale=2.0), best, rest),
        (
            "make_noisy_max, zCDP, scale 2",
            lambda: largest(measure=dp.zero_concentrated_divergence(), scale=2.0), best, rest,
        ),
        (
            "make_noisy_top_k, k = 2, scale 4",
            lambda: dp.m.make_noisy_top_k(*scores, dp.max_divergence(), k=2, scale=4.0),
            [1.0, 1.0] + [0.0] * 4, [0.0, 0.0] + [1.0] * 4,
        ),
        ("count, laplace 1", lambda: some >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0), [0.0], [0.0, 0.0]),
        (
            "sum in [0, 1], laplace 1",
            lambda: some >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0), [1.0], [1.0, 1.0],
        ),
        (
            "sum in [0, 1], gaussian 1",
            lambda: some >> dp.t.then_sum() >> dp.m.then_gaussian(scale=1.0), [1.0], [1.0, 1.0],
        ),
        (
            "clamp to [−5, 5], sum, laplace 5",
            lambda: ints >> dp.t.then_clamp((-5, 5)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=5.0), [0], [0, 99],
        ),
        ("mean of 5, laplace 1/5", lambda: five >> dp.t.then_mean() >> dp.m.then_laplace(scale=0.2), zeros, one),
        (
            "variance of 5, laplace 1/5",
            lambda: five >> dp.t.then_variance() >> dp.m.then_laplace(scale=0.2), zeros, one,
        ),
        (
            "count_by_categories, laplace 1",
            lambda: ints >> dp.t.then_count_by_categories([0, 1]) >> dp.m.then_laplace(scale=1.0), [0, 1], [0, 1, 1],
        ),
        ("count_by, laplace_threshold 4, scale 1", keys, [7, 7], [7, 7, 7]),
        ("private_quantile of 5, median, scale 2", quantile, [0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0]),
        ("b_ary_tree, 4 leaves, laplace 3", tree, [0, 0, 0, 0], [1, 0, 0, 0]),
        ("make_composition of two laplaces 2", lambda: dp.c.make_composition(halves), [0.0], [1.0]),
    ]
    return [Row("OpenDP", name, make, left, right, SLOW) for name, make, left, right in made]


def diffprivlib_rows() -> list[Row]:
    """Mechanisms of diffprivlib."""
    from diffprivlib import mechanisms as m

    one: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0}
    exact: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1}
    tree = [["a", "b"], ["c", "d"]]
    numbers: list[tuple[str, Any, float, float]] = [
        ("Laplace(1)", m.Laplace(**one), 0.0, 1.0),
        ("Laplace(1, δ = 0.05)", m.Laplace(**one, delta=0.05), 0.0, 1.0),
        ("LaplaceTruncated(1), [0, 1]", m.LaplaceTruncated(**one, lower=0.0, upper=1.0), 0.0, 1.0),
        ("LaplaceFolded(1), [0, 1]", m.LaplaceFolded(**one, lower=0.0, upper=1.0), 0.0, 1.0),
        ("LaplaceBoundedDomain(1), [0, 1]", m.LaplaceBoundedDomain(**one, lower=0.0, upper=1.0), 0.0, 1.0),
        ("LaplaceBoundedNoise(1, δ = 0.05)", m.LaplaceBoundedNoise(**one, delta=0.05), 0.0, 1.0),
        ("Staircase(1)", m.Staircase(**one), 0.0, 1.0),
        ("Snapping(1), [0, 1]", m.Snapping(**one, lower=0.0, upper=1.0), 0.0, 1.0),
        ("Uniform(δ = 0.1)", m.Uniform(delta=0.1, sensitivity=1.0), 0.0, 1.0),
        ("Gaussian(1, δ = 0.05)", m.Gaussian(**one, delta=0.05), 0.0, 1.0),
        ("GaussianAnalytic(1, δ = 0.05)", m.GaussianAnalytic(**one, delta=0.05), 0.0, 1.0),
        ("GaussianDiscrete(1, δ = 0.05)", m.GaussianDiscrete(**exact, delta=0.05), 0, 1),
        ("Geometric(1)", m.Geometric(**exact), 0, 1),
        ("Geometric(1), sensitivity 3", m.Geometric(epsilon=1.0, sensitivity=3), 0, 3),
        ("GeometricTruncated(1), [0, 3]", m.GeometricTruncated(**exact, lower=0, upper=3), 0, 1),
        ("GeometricFolded(1), [0, 3]", m.GeometricFolded(**exact, lower=0, upper=3), 0, 1),
    ]
    rows = [
        Row("diffprivlib", name, lambda made=made: made, [x], [y], MIDDLE if "Geometric" in name else FAST)
        for name, made, x, y in numbers
    ]
    best, rest = [1.0] + [0.0] * 9, [0.0] + [1.0] * 9
    others: list[tuple[str, Any, list[Any], list[Any]]] = [
        ("Exponential(1), 10 candidates", m.Exponential(**one, utility=best), best, rest),
        ("PermuteAndFlip(1), 10 candidates", m.PermuteAndFlip(**one, utility=best), best, rest),
        ("Binary(1)", m.Binary(epsilon=1.0, value0="no", value1="yes"), ["no"], ["yes"]),
        (
            "ExponentialCategorical(1), unbalanced",
            m.ExponentialCategorical(epsilon=1.0, utility_list=[("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0)]),
            ["a"], ["c"],
        ),
        ("ExponentialHierarchical(1)", m.ExponentialHierarchical(epsilon=1.0, hierarchy=tree), ["a"], ["c"]),
    ]
    rows += [Row("diffprivlib", name, lambda made=made: made, x, y, FAST) for name, made, x, y in others]
    known = "known: issues 19 and 94 of the library"
    plain = m.Laplace(**one)
    return [*rows, Row("diffprivlib", "Laplace(1), with low bits", lambda: plain, [0.0], [1.0], SLOW, known, bits=True)]


def tools_rows() -> list[Row]:
    """Functions of diffprivlib's tools, and models."""
    import numpy as np
    from diffprivlib import mechanisms, models, tools

    unit: dict[str, Any] = {"epsilon": 1.0, "bounds": (0.0, 1.0)}
    wrap = diffprivlib_adapter.wrap
    zeros, one = [0.0] * 5, [0.0] * 4 + [1.0]

    def leading(rows: Any, epsilon: float, random_state: Any) -> float:
        return float(mechanisms.Bingham(epsilon=epsilon, random_state=random_state).randomise(rows.T @ rows)[0] ** 2)

    def bayes(labels: Any, epsilon: float, random_state: Any) -> tuple[int, float]:
        model = models.GaussianNB(epsilon=epsilon, bounds=(100.0, 101.0), random_state=random_state)
        model.fit(np.full((len(labels), 1), 100.0), labels)
        return int(model.class_count_[0]), float(model.theta_[0, 0])

    def regression(rows: Any, epsilon: float, random_state: Any) -> float:
        model = models.LinearRegression(
            epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False, random_state=random_state
        )
        return float(model.fit(rows[:, :1], rows[:, 1]).coef_[0])

    def histogram(**how: Any) -> Adapted:
        return wrap(tools.histogram, epsilon=1.0, bins=2, range=(0.0, 1.0), **how)

    y, z = [0] * 10 + [1] * 10, [0] * 9 + [1] * 11
    missing = "its sensitivity divides by the number of records, missing ones included, its mean by that of the others"
    known = "known: issues 104 and 105 of the library: a sensitivity that uses the lower bound twice"
    labels = "a record that changes its label takes all of its value from a sum, of which the noise covers its range"
    reading = (
        "a reading, not a fault: the noise is calibrated for one record more or less (the row above), that of means, "
        "variances and sums for a replaced one, and the documentation names neither"
    )
    made: list[tuple[str, Callable[[], Any], list[Any], list[Any], int, str]] = [
        ("tools.mean", lambda: wrap(tools.mean, **unit), zeros, one, MIDDLE, ""),
        ("tools.var", lambda: wrap(tools.var, **unit), zeros, one, SLOW, ""),
        ("tools.std", lambda: wrap(tools.std, **unit), zeros, one, SLOW, ""),
        ("tools.sum", lambda: wrap(tools.sum, **unit), zeros, one, MIDDLE, ""),
        ("tools.count_nonzero", lambda: wrap(tools.count_nonzero, epsilon=1.0), [0, 1, 1], [1, 1, 1], SLOW, ""),
        ("tools.quantile, median", lambda: wrap(tools.quantile, quant=0.5, **unit), [0.4] * 2 + [0.6] * 3,
         [0.4] * 3 + [0.6] * 2, SLOW, ""),
        ("tools.histogram, 2 bins", histogram, [0.0], [0.0, 0.0], SLOW, ""),
        ("tools.histogram, replace-one", lambda: histogram(relation="replace-one"), [0.0] * 4, [0.0] * 3 + [1.0], SLOW,
         reading),
        ("tools.nanmean, 4 of 5 missing", lambda: wrap(tools.nanmean, **unit), [None] * 4 + [0.0], [None] * 4 + [1.0],
         SLOW, missing),
        ("tools.nanmean, 1 of 4 missing", lambda: wrap(tools.nanmean, **unit), [None, 0.0, 0.0, 0.0],
         [None, 0.0, 0.0, 1.0], MIDDLE, missing),
        ("Bingham, of XᵀX in 2 dimensions", lambda: wrap(leading, epsilon=1.0, relation="add-remove-one"),
         [(1.0, 0.0)], [(1.0, 0.0)] * 2, FEW, ""),
        ("models.GaussianNB, bounds (100, 101)", lambda: wrap(bayes, epsilon=1.0, relation="replace-one"), y, z,
         FEW, labels),
        ("models.LinearRegression, bounds (0, 1)", lambda: wrap(regression, epsilon=1.0, relation="replace-one"),
         [(0.1, 0.0)], [(1.0, 0.0)], FEW, known),
    ]
    return [Row("diffprivlib", name, make, left, right, runs, why) for name, make, left, right, runs, why in made]


def pydp_rows() -> list[Row]:
    """Algorithms and mechanisms of python-dp."""
    from pydp.algorithms import laplacian, numerical_mechanisms, partition_selection

    unit: dict[str, Any] = {"epsilon": 1.0, "lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}

    def algorithm(name: str, **how: Any) -> Callable[[], Any]:
        return lambda: getattr(laplacian, name)(**(how or unit))

    def keep(kind: str) -> Callable[[], Any]:
        return lambda: partition_selection.create_partition_strategy(kind, 1.0, 0.05, 1)

    made: list[tuple[str, Callable[[], Any], list[Any], list[Any], int]] = [
        ("Count", algorithm("Count", epsilon=1.0), [1], [1, 1], FAST),
        ("Count, linf_sensitivity 2", algorithm("Count", epsilon=1.0, linf_sensitivity=2), [1], [1, 1, 1], FAST),
        ("BoundedSum, [0, 1]", algorithm("BoundedSum"), [1.0], [1.0, 1.0], FAST),
        (
            "BoundedSum, [−5, 2], whole numbers",
            algorithm("BoundedSum", epsilon=1.0, lower_bound=-5, upper_bound=2, dtype="int"), [0], [0, -5], FAST,
        ),
        ("BoundedMean, [0, 1]", algorithm("BoundedMean"), [1.0], [1.0, 0.0], MIDDLE),
        ("BoundedVariance, [0, 1]", algorithm("BoundedVariance"), [], [1.0], MIDDLE),
        ("BoundedStandardDeviation, [0, 1]", algorithm("BoundedStandardDeviation"), [], [1.0], MIDDLE),
        ("Max, [0, 1]", algorithm("Max"), [], [1.0], SLOW),
        ("Min, [0, 1]", algorithm("Min"), [], [0.0], SLOW),
        ("Median, [0, 1]", algorithm("Median"), [0.0], [0.0, 1.0], SLOW),
        ("Percentile 0.9, [0, 1]", algorithm("Percentile", percentile=0.9, **unit), [0.0], [0.0, 1.0], SLOW),
        ("LaplaceMechanism(1)", lambda: numerical_mechanisms.LaplaceMechanism(1.0, 1.0), [0.0], [1.0], FAST),
        ("LaplaceMechanism(1), whole numbers", lambda: numerical_mechanisms.LaplaceMechanism(1.0, 1.0), [0], [1], FAST),
        (
            "GaussianMechanism(1, δ = 0.05)",
            lambda: numerical_mechanisms.GaussianMechanism(1.0, 0.05, 1.0), [0.0], [1.0], FAST,
        ),
        ("partitions, truncated geometric", keep("truncated_geometric"), [], [1], FAST),
        ("partitions, Laplace", keep("laplace"), [1], [1, 1], FAST),
        ("partitions, Gaussian", keep("gaussian"), [1], [1, 1], FAST),
    ]
    rows = [Row("python-dp", name, make, left, right, runs) for name, make, left, right, runs in made]
    rounded = "the noise is a whole number of up to 57 bits times a granularity, rounded to 53 bits before it is added"
    low = [
        Row(
            "python-dp", f"GaussianMechanism(1, δ = {delta:g}), with low bits",
            lambda delta=delta: numerical_mechanisms.GaussianMechanism(1.0, delta, 1.0), [0.0], [1.0], SLOW, rounded,
            bits=True,
        )
        for delta in (0.05, 1e-5)
    ]
    laplace = Row(
        "python-dp", "LaplaceMechanism(1), with low bits", lambda: numerical_mechanisms.LaplaceMechanism(1.0, 1.0),
        [0.0], [1.0], SLOW, bits=True,
    )
    return [*rows, *low, laplace]


SETS = (opendp_rows, diffprivlib_rows, tools_rows, pydp_rows)


def all_rows() -> list[Row]:
    """Of all libraries; objects of theirs cannot be sent to another process, so each process makes its own."""
    return [row for rows in SETS for row in rows()]


def audited(at: int, number: int, scale: float) -> str:
    """The line of one row."""
    warnings.simplefilter("ignore")
    row = all_rows()[at]
    subject = adapted(row.make())
    begun = time.monotonic()
    (audit,) = dpaudit.audit(
        subject, pair=(row.left, row.right), runs=round(row.runs * scale), certify=True, seed=SEED,
        alpha=ALPHA / number, bits=row.bits,
    ).audits
    written = line(row, subject, audit, time.monotonic() - begun)
    # a long table that is interrupted leaves what it has
    print(written, file=sys.stderr, flush=True)
    return written


def line(row: Row, subject: Adapted, audit: Audit, seconds: float) -> str:
    """Cells of a row."""
    if audit.crashed:
        raise SystemExit(f"{row.library} {row.name}: {audit.reason}")
    lower, claimed = audit.epsilon_lower or 0.0, subject.claim.epsilon
    floats = "–" if audit.floating_point is None else "vulnerable" if audit.floating_point.leaks else "not detected"
    verdict = "**FAIL**" if audit.verdict is Verdict.FAIL else "not refuted"
    share = f"{lower / claimed:.3f}" if claimed else "–"
    stated = subject.source.partition(": ")[2]
    cells = (
        row.library, row.name, f"{subject.claim}", stated, f"{row.left} against {row.right}".replace("None", "NaN"),
        f"{max(e.n for e in audit.sampled) if audit.sampled else 0:,} of {round(audit.runs / 2):,}",
        f"{lower:.4f}", share, floats, verdict + (f" ({row.remark})" if row.remark else ""), f"{seconds:.0f}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


HEAD = (
    "| library | mechanism | claim | read from | pair | samples per dataset: counted, of | ε ≥ | of the claim | "
    "floats | verdict | seconds |"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0, help="runs, in shares of the table's")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = all_rows()
    wanted = [i for i, row in enumerate(rows) if not options.names or any(n in row.name for n in options.names)]
    work = (delayed(audited)(i, len(rows), options.scale) for i in wanted)
    lines = Parallel(n_jobs=options.jobs, batch_size=1)(work)
    text = written(lines)
    if not options.names and options.scale == 1:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def written(lines: list[str]) -> str:
    """The whole page."""
    refuted = [one.split(" | ")[1] for one in lines if "**FAIL**" in one]
    leaks = [one.split(" | ")[1] for one in lines if "| vulnerable |" in one]
    ending = (
        f"{len(lines)} audits, {len(refuted)} claims refuted: {'; '.join(refuted) or 'none'}. Floating-point "
        f"vulnerabilities are detected in {len(leaks)}: {'; '.join(leaks) or 'none'}."
    )
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    assert __doc__ is not None
    return f"{__doc__}\nVersions: {versions}.\n\n" + "\n".join([HEAD, "| --- " * 11 + "|", *lines, "", ending]) + "\n"


if __name__ == "__main__":
    main()
