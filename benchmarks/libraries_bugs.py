"""Known privacy bugs of other people's libraries: how soon an audit finds them; the fixed versions are not accused.

`python benchmarks/libraries_bugs.py` audits what is installed in the environment that runs it, and appends one line for
each audit to benchmarks/libraries_bugs.jsonl; `--tables` writes benchmarks/libraries_bugs.md from that file and runs
nothing. The libraries exclude each other (dpmm pins numpy 1.26, and two versions of one package cannot be installed
together), so each needs an environment of its own with dpaudit in it:

    python -m venv env; env/bin/pip install . pipeline-dp==0.3.1; env/bin/python benchmarks/libraries_bugs.py

The packages are pipeline-dp 0.2.1 and 0.3.1, smartnoise-sql, smartnoise-synth 1.0.4 and 1.0.8, opacus and dpmm. Of
smartnoise-synth only the linear regression is used, which needs neither torch nor pac-synth:
`pip install --no-deps smartnoise-synth==1.0.4` and `pip install smartnoise-sql Faker`.

Each mechanism is a function f(dataset, rng) that calls the library as its documentation says; claim, relation and
pair are those of the library's contract. The pair was chosen by reading the source. An audit has α = 0.01 and stops
when the claim is refuted; each is repeated with five seeds (slow ones with fewer). A control is the same code in
which the fault has been fixed or avoided. "Samples" are those of each dataset until the refutation (the median of the
seeds), or the number of the whole audit. "CPU" is the median of the whole audit without imports, "ms" the time of one
sample. The measurements shared two cores with other work. OpenDP's noise (in dpmm and smartnoise-sql) and that of
pipeline-dp cannot be seeded, so their numbers differ a little from run to run.

The issues, and what they say:

- pipeline-dp, issue 551 of OpenMined/PipelineDP: VECTOR_SUM is clipped in compute_metrics, "not correct because
  clipping has to be performed at per-user contributions level". Fixed in 0.3.0. Issue 552 describes the noise before
  0.3.0: of sensitivity max_contributions_per_partition, whatever vector_max_norm is. Neither 0.2.1 nor 0.3.1
  runs VECTOR_SUM with public partitions on the local backend: an empty partition raises a TypeError.
- smartnoise-synth, issue 622 of opendp/smartnoise-sdk ("Covariance Clipping Bug"): the data are clipped, and the
  covariance is that of the data before. Since 1.0.6 it is that of the clipped data.
- opacus, issue 571 of meta-pytorch/opacus ("Privacy Leakage at low sample size") and issue 819: gradients are divided
  by the expected batch size, the number of records times the sampling rate, rounded down; the accountant takes it as
  public. 1.6.0 still does so. So the control sets `optimizer.expected_batch_size` to a public number.
- dpmm: no issue; `TableBinner.fit` adds a column of missing values to the domain of the model if a record lacks one.
  The control is a pair that differs in the number of missing values, of which both datasets have some.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import resumable

import dpaudit

ALPHA = 0.01
SEEDS = range(1, 6)
KEEP = Path(__file__).with_suffix(".jsonl")

Mechanism = Callable[[Sequence[Any], Any], Any]


@dataclass(frozen=True)
class Case:
    """A mechanism at its claim.

    Args:
        package: as in the index of packages.
        name: what is audited.
        make: imports the library and returns the mechanism.
        epsilon, delta, relation: the claim.
        left, right: the pair.
        known: what is known to be wrong, with the issue; "" for a control.
        fixed: the first version without the fault; None where no version is.
        runs: samples per dataset at most.
    """

    package: str
    name: str
    make: Callable[[], Mechanism]
    epsilon: float
    delta: float
    relation: str
    left: list[Any]
    right: list[Any]
    known: str = ""
    fixed: str | None = None
    runs: int = 20_000

    def broken(self, installed: str) -> bool:
        """Whether this version has the fault."""
        return bool(self.known) and (self.fixed is None or _number(installed) < _number(self.fixed))


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


# pipeline-dp ----------------------------------------------------------------------------------------------------------


def pipeline(metric: str, *, public: list[str] | None, epsilon: float = 1.0, delta: float = 0.0, **how: Any) -> Any:
    """One aggregation by DPEngine; a record of the dataset is all that one person contributes: (partition, value)s."""
    import pipeline_dp as pdp

    backend = pdp.LocalBackend()
    extractors = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )  # fmt: skip
    kinds = {"noise_kind": getattr(pdp.NoiseKind, how.pop("noise", "LAPLACE"))}
    if "vector_norm_kind" in how:
        from pipeline_dp.aggregate_params import NormKind

        kinds["vector_norm_kind"] = getattr(NormKind, how.pop("vector_norm_kind"))
    params = pdp.AggregateParams(
        metrics=[getattr(pdp.Metrics, metric)], **kinds,
        **{"max_partitions_contributed": 1, "max_contributions_per_partition": 1, **how},
    )  # fmt: skip

    def mechanism(people: Sequence[Any], rng: Any) -> Any:
        rows = [(person, *contribution) for person, given in enumerate(people) for contribution in given]
        accountant = pdp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        result = pdp.DPEngine(accountant, backend).aggregate(rows, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        # a vector sum is an array, which a tuple of numbers replaces
        return {partition: tuple(np.ravel(list(metrics)).tolist()) for partition, metrics in result}

    return mechanism


def pipeline_cases() -> list[Case]:
    """One person more or less."""
    one = [("a", 1.0)]
    unit = {"min_value": 0.0, "max_value": 1.0}
    public = ["a"]
    made: list[tuple[str, Any, list[Any], list[Any]]] = [
        ("COUNT", lambda: pipeline("COUNT", public=public), [one], [one, one]),
        ("SUM in [0, 1], one person of 100", lambda: pipeline("SUM", public=public, **unit), [one],
         [one, [("a", 100.0)]]),
        ("MEAN in [0, 1]", lambda: pipeline("MEAN", public=public, **unit), [one], [one, [("a", 0.0)]]),
        ("PRIVACY_ID_COUNT", lambda: pipeline("PRIVACY_ID_COUNT", public=public), [one], [one, one]),
    ]  # fmt: skip
    rows = [Case("pipeline-dp", name, make, 1.0, 0.0, "add-remove-one", x, y) for name, make, x, y in made]

    # the selection of partitions gets a half of the budget; with public ones VECTOR_SUM raises a TypeError
    def private(metric: str, **how: Any) -> Callable[[], Mechanism]:
        return lambda: pipeline(metric, public=None, delta=0.01, **how)

    def vector() -> Mechanism:
        return private("VECTOR_SUM", vector_norm_kind="Linf", vector_max_norm=5.0, vector_size=1)()

    norm = "the noise of VECTOR_SUM has the scale of max_norm 1, whatever it is (read in the source; see issue 552)"
    both = "VECTOR_SUM clips the sum of a partition instead of each person's (issue 551); noise as above"
    many = [[("a", [1.0])]] * 30
    hidden: list[tuple[str, Any, list[Any], list[Any], str]] = [
        ("COUNT, private partitions", private("COUNT"), [one] * 3, [one] * 4, ""),
        ("VECTOR_SUM in [−5, 5], one person of 5", vector, [[("a", [0.0])]] * 30,
         [[("a", [0.0])]] * 30 + [[("a", [5.0])]], norm),
        ("VECTOR_SUM in [−5, 5], one person of −100", vector, many, [*many, [("a", [-100.0])]], both),
    ]  # fmt: skip
    return rows + [
        Case("pipeline-dp", name, make, 1.0, 0.01, "add-remove-one", x, y, known, "0.3.0" if known else None)
        for name, make, x, y, known in hidden
    ]


# smartnoise -----------------------------------------------------------------------------------------------------------


def covariance() -> Mechanism:
    """Covariances of two columns in [0, 1], by smartnoise-synth's linear regression."""
    import pandas as pd
    import sklearn.linear_model._base

    # 1.0.4 imports a name that scikit-learn no longer has
    sys.modules.setdefault("sklearn.linear_model.base", sklearn.linear_model._base)
    from snsynth.models.dp_covariance import DPcovariance

    def mechanism(rows: Sequence[Any], rng: Any) -> tuple[float, ...]:
        # numpy's global generator is what the library draws from
        np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
        frame = pd.DataFrame(list(rows), columns=["x", "y"])
        bounds = pd.DataFrame([[0.0, 0.0], [1.0, 1.0]])
        return tuple(map(float, DPcovariance(len(frame), ["x", "y"], bounds, 1.0).release(frame)))

    return mechanism


def sql(query: str) -> Mechanism:
    """One query by smartnoise-sql; each row is one person."""
    import pandas as pd
    import snsql

    column = {"type": "float", "lower": 0.0, "upper": 1.0}
    table = {"row_privacy": True, "rows": 100, "x": column, "g": {"type": "string"}}
    privacy = snsql.Privacy(epsilon=1.0, delta=1e-5)

    def mechanism(rows: Sequence[Any], rng: Any) -> tuple[Any, ...]:
        frame = pd.DataFrame(list(rows), columns=["x", "g"])
        reader = snsql.from_df(frame, metadata={"": {"T": {"T": table}}}, privacy=privacy)
        return tuple(map(tuple, reader.execute(query)[1:]))

    return mechanism


def synth_cases() -> list[Case]:
    """The number of rows is public, so one row is replaced."""
    rest = [(0.0, 0.0), (1.0, 1.0)]
    unclipped = "the covariance is of the data before it is clipped (issue 622)"
    return [
        Case("smartnoise-synth", "DPcovariance, a value of 20 where bounds are [0, 1]", covariance, 1.0, 0.0,
             "replace-one", [*rest, (0.5, 0.5)], [*rest, (20.0, 20.0)], unclipped, "1.0.6", runs=2_000),
        Case("smartnoise-synth", "DPcovariance, values within the bounds", covariance, 1.0, 0.0, "replace-one",
             [*rest, (0.5, 0.5)], [*rest, (1.0, 0.0)], runs=2_000),
    ]  # fmt: skip


def sql_cases() -> list[Case]:
    """No fault is known; a reader for each sample, as a session of its own would have."""
    rows = [(1.0, "a")] * 3
    queries = {
        "SELECT COUNT(*)": "SELECT COUNT(*) FROM T.T",
        "SELECT SUM(x), one row of 100": "SELECT SUM(x) FROM T.T",
    }
    return [
        Case("smartnoise-sql", name, lambda query=query: sql(query), 1.0, 1e-5, "add-remove-one", rows,
             [*rows, (100.0, "a")], runs=400)
        for name, query in queries.items()
    ]  # fmt: skip


# opacus ---------------------------------------------------------------------------------------------------------------


SIGMA, DIMENSIONS, OPACUS_DELTA = 4.0, 200, 1e-5


def opacus_step(*, batch_size: int | None = None) -> Mechanism:
    """One step of DP-SGD from zero on a linear model of 200 weights, by PrivacyEngine.make_private.

    The batch size of the loader is above the number of records, so each is in the batch. All gradients are 0: the
    weights are the noise, divided by `expected_batch_size`. Their Euclidean norm is released.

    Args:
        batch_size: a public number that replaces `expected_batch_size`.
    """
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)

    def mechanism(records: Sequence[float], rng: Any) -> float:
        torch.manual_seed(int(rng.integers(2**32)))
        target = torch.tensor(list(records)).reshape(-1, 1)
        loader: Any = DataLoader(TensorDataset(torch.zeros(len(records), DIMENSIONS), target), batch_size=8)
        model: Any = torch.nn.Linear(DIMENSIONS, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        optimizer: Any = torch.optim.SGD(model.parameters(), lr=1.0)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=SIGMA, max_grad_norm=1.0
        )
        if batch_size is not None:
            optimizer.expected_batch_size = batch_size
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        return float(model._module.weight.detach().norm())

    return mechanism


def opacus_cases() -> list[Case]:
    """ε is what Opacus' own accountant says of one step with sampling rate 1."""
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.step(noise_multiplier=SIGMA, sample_rate=1.0)
    epsilon = float(accountant.get_epsilon(OPACUS_DELTA))
    divisor = (
        "gradients are divided by ⌊q·n⌋ with the secret n, which the accountant does not know of (issues 571 and 819)"
    )
    given = (epsilon, OPACUS_DELTA, "add-remove-one", [1.0, 1.0], [1.0, 1.0, 1.0])
    return [
        Case("opacus", "make_private, 2 records against 3", opacus_step, *given, divisor, runs=4_000),
        Case("opacus", "as above, expected_batch_size = 2", lambda: opacus_step(batch_size=2), *given, runs=4_000),
    ]


# dpmm -----------------------------------------------------------------------------------------------------------------


def privbayes() -> Mechanism:
    """How many of 20 synthetic records lack a value, by PrivBayesPipeline with a stated domain."""
    import pandas as pd
    from dpmm.pipelines import PrivBayesPipeline

    logging.disable(logging.WARNING)

    def mechanism(rows: Sequence[Any], rng: Any) -> int:
        frame = pd.DataFrame([[np.nan if x is None else x, y] for x, y in rows], columns=["x", "y"])
        frame["y"] = frame["y"].astype("category")
        # n_iters is of the fit to the noisy marginals, after all noise
        made = PrivBayesPipeline(epsilon=1.0, delta=1e-5, proc_epsilon=0.1, n_jobs=1, gen_kwargs={"n_iters": 50})
        with contextlib.redirect_stdout(io.StringIO()):
            made.fit(
                frame, {"x": {"lower": 0.0, "upper": 1.0}, "y": {"categories": [0, 1]}},
                random_state=int(rng.integers(2**32)),
            )  # fmt: skip
            synthetic = made.generate(n_records=20, random_state=int(rng.integers(2**32)))
        return int(synthetic["x"].isna().sum())

    return mechanism


def dpmm_cases() -> list[Case]:
    """The claim is the sum of what the model and the preprocessing are given."""
    rows: list[Any] = [(float(i % 2), i % 2) for i in range(8)]
    one = [*rows[:-1], (None, 1)]
    leak = (
        "a column for missing values is added to the domain as soon as one record lacks a value, so a single NaN "
        "shows in the synthetic data (read in TableBinner.fit)"
    )
    return [
        Case("dpmm", "PrivBayesPipeline, no value missing against one", privbayes, 1.1, 1e-5, "replace-one", rows,
             one, leak, runs=100),
        Case("dpmm", "as above, one value missing against two", privbayes, 1.1, 1e-5, "replace-one", one,
             [(None, 0), *one[1:]], runs=100),
    ]  # fmt: skip


# the measurement ------------------------------------------------------------------------------------------------------


CASES: dict[str, Callable[[], list[Case]]] = {
    "pipeline-dp": pipeline_cases,
    "smartnoise-synth": synth_cases,
    "smartnoise-sql": sql_cases,
    "opacus": opacus_cases,
    "dpmm": dpmm_cases,
}


def installed() -> Iterator[tuple[str, str]]:
    """(package, version) of those that this environment has."""
    for package in CASES:
        with contextlib.suppress(PackageNotFoundError):
            yield package, version(package)


def one(package: str, number: str, name: str, seed: int) -> dict[str, Any]:
    """One audit."""
    warnings.simplefilter("ignore")
    case = next(case for case in CASES[package]() if case.name == name)
    # the environment of smartnoise-synth has smartnoise-sql too
    mechanism = case.make()
    rng = np.random.default_rng(seed)
    mechanism(case.left, rng)
    begun, repeats = time.process_time(), 0
    while time.process_time() - begun < 0.2 or repeats < 3:
        mechanism(case.left, rng)
        repeats += 1
    each = (time.process_time() - begun) / repeats
    begun = time.process_time()
    (audit,) = dpaudit.audit(
        mechanism, epsilon=case.epsilon, delta=case.delta, relation=case.relation, pair=(case.left, case.right),
        runs=case.runs, seed=seed, alpha=ALPHA, jobs=1,
    ).audits  # fmt: skip
    seconds = time.process_time() - begun
    refuted = None if audit.sequential is None else audit.sequential.refuted_at
    return {
        "broken": case.broken(number), "known": case.known, "fixed": case.fixed, "verdict": audit.verdict.value,
        "refuted_at": refuted, "samples": audit.runs, "epsilon": case.epsilon, "delta": case.delta,
        "relation": case.relation, "lower": audit.epsilon_lower, "cpu": seconds, "ms": each * 1e3,
    }  # fmt: skip


def table(found: dict[resumable.Key, dict[str, Any]]) -> str:
    """Everything that has been measured."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for (package, number, name, _seed), value in found.items():
        groups.setdefault((package, number, name), []).append(value)
    lines = [
        "| package | mechanism and pair | claim | known fault | refuted | samples | ε ≥ | ms | CPU, s |",
        "| --- " * 9 + "|",
    ]
    order = list(CASES)

    def place(item: tuple[tuple[str, str, str], list[dict[str, Any]]]) -> tuple[Any, ...]:
        (package, number, _name), (first, *_) = item
        # a control comes after what it is the control of
        return order.index(package), number, not (first["known"] or first["broken"])

    for (package, number, name), values in sorted(groups.items(), key=place):
        first = values[0]
        fails = sum(value["verdict"] == "fail" for value in values)
        stops = [value["refuted_at"] for value in values if value["refuted_at"] is not None]
        bounds = [value["lower"] or 0.0 for value in values]
        claim = f"({first['epsilon']:.3g}, {first['delta']:g})" if first["delta"] else f"ε = {first['epsilon']:.3g}"
        known = first["known"] if first["broken"] else f"fixed in {first['fixed']}" if first["fixed"] else "–"
        cells = (
            f"{package} {number}", name, f"{claim}, {first['relation']}", known, f"{fails} of {len(values)}",
            f"{statistics.median(stops):,.0f}" if stops else f"{first['samples'] // 2:,}",
            f"{statistics.median(bounds):.2f}", f"{statistics.median(v['ms'] for v in values):.2g}",
            f"{statistics.median(v['cpu'] for v in values):.1f}",
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    given = resumable.arguments(__doc__, KEEP)
    if not given.tables:
        keys = [
            (package, number, case.name, seed)
            for package, number in installed() if given.part in (None, package)
            for case in CASES[package]() for seed in SEEDS
        ]  # fmt: skip
        resumable.run(keys, one, given)
    text = table(resumable.results(given.keep))
    if given.tables:
        Path(__file__).with_suffix(".md").write_text(f"{__doc__}\n{text}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
