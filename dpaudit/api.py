"""The functions for use from Python; everything else is a name in its own package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.auditing.carry import evidence_of
from dpaudit.auditing.datasets import as_dataset
from dpaudit.auditing.engine import run
from dpaudit.auditing.request import DEFAULT_ALPHA, DEFAULT_COMPARED, Everything, Request, Seek, Versus
from dpaudit.auditing.results import Result
from dpaudit.language import Mechanism


def audit(
    target: str | Callable[..., Any] | Mechanism,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    pair: tuple[Any, Any] | None = None,
    data: str | None = None,
    size: int | None = None,
    groups: int | None = None,
    runs: int | None = None,
    seconds: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    jobs: int = 1,
    parameters: dict[str, Any] | None = None,
    certify: bool = False,
    bits: bool = False,
    black_box: bool = False,
    evidence: Result | None = None,
    only: str | None = None,
    game: str | None = None,
) -> Result:
    """Audit a claim of differential privacy, and what an algorithm of the catalogue promises of its output.

    Args:
        target: a function f(dataset, rng) or f(dataset, rng, size), a mechanism, or a catalogue name.
        epsilon, delta, relation: the claim; for mechanisms, their own where None. Relations are "replace-one" and
            "add-remove-one", for groups of k with ":k".
        pair: two datasets (sequences of records, or multisets) to tell apart.
        data, size: instead of a pair, what records are ("integers(0, 100)") and how many, to let dpaudit find pairs.
        groups: audit group privacy instead, on the ends of chains of neighbours, for groups of 2 up to so many: one
            audit for each.
        runs: runs a side and pair at most; a refutation stops earlier.
        seconds: time limit.
        alpha: family-wise error over everything tried, in (0, 0.5).
        seed: same seed, same result.
        jobs: worker processes.
        parameters: fields of the mechanism to change.
        certify: use all runs, also after a refutation, to sharpen the bound on ε.
        bits: let what the low bits of doubles give away count in the verdict.
        black_box: use runs alone: no exact law, no density of the mechanism's own.
        evidence: an earlier result, with another seed, whose e-values are carried over.
        only: "privacy" or "utility" for one of them alone.
        game: "name:n", a game that draws its own datasets ("digit:2" against algorithms for interior points).

    Returns:
        The result; `result.audits[0].verdict` is the verdict.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    return run(
        Request(
            targets=(target,),
            seed=seed,
            alpha=alpha,
            runs=runs,
            seconds=seconds,
            jobs=jobs,
            epsilon=epsilon,
            delta=delta,
            relation=relation,
            pair=None if pair is None else (as_dataset(pair[0]), as_dataset(pair[1])),
            data=data,
            size=size,
            parameters=parameters or {},
            certify=certify,
            bits=bits,
            black_box=black_box,
            carried={} if evidence is None else evidence_of(evidence, where="the earlier result", seed=seed),
            only=only,
            game=game,
            groups=groups,
        )
    )


def verify(
    target: str | Mechanism,
    *,
    domain: int | None = None,
    size: int = 4,
    groups: int = 1,
    data: str | None = None,
    ordered: bool = False,
    symmetries: bool = True,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    seconds: float | None = None,
    jobs: int = 1,
    parameters: dict[str, Any] | None = None,
) -> Result:
    """Prove or refute a claim on a small scope, by the exact laws of all its datasets in ball arithmetic.

    Args:
        target: a catalogue name, or a mechanism that has a law.
        domain: points of the domain, 8 without it; for a mechanism of your own the records are 0, …, domain − 1.
        size: records of a dataset.
        groups: group privacy too, up to groups of so many; one audit for each.
        data: instead of a domain, what records are, e.g. "integers(0, 3)".
        ordered: whether a mechanism of your own looks at the order of the records.
        symmetries: use those that the mechanism declares; without them every law is computed.
        epsilon, delta, relation: the claim; the mechanism's own where None.
        seconds: time limit.
        jobs: worker processes.
        parameters: fields of the mechanism to change.

    Returns:
        The result; `result.audits[0].proof` holds the interval for the worst ε.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    return run(
        Request(
            targets=(target,),
            seconds=seconds,
            jobs=jobs,
            epsilon=epsilon,
            delta=delta,
            relation=relation,
            data=data,
            parameters=parameters or {},
            every=Everything(domain, size, groups, ordered, symmetries),
        )
    )


def compare(
    name: str,
    *,
    sizes: Sequence[int] = (),
    parameters: dict[str, Any] | None = None,
    runs: int | None = None,
    seconds: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    jobs: int = 1,
) -> Result:
    """Compare algorithms for one task on the same inputs, with the same claim.

    Args:
        name: of a registered comparison, e.g. "interior-points".
        sizes: numbers of records; the comparison's own without them.
        parameters: its fields to change, e.g. {"epsilon": 0.5}.
        runs: on each kind of inputs, and a side of each pair.
        seconds: time limit.
        alpha: family-wise error over everything tried.
        seed: same seed, same result.
        jobs: worker processes.

    Returns:
        The result; its `contest` is the table, whose rows name places in `utility` and `audits`.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    return run(
        Request(
            targets=(name,),
            seed=seed,
            alpha=alpha,
            runs=runs,
            seconds=seconds,
            jobs=jobs,
            versus=Versus(name, tuple(sizes), tuple((parameters or {}).items())),
        )
    )


def worst(
    target: str | Mechanism,
    *,
    domain: int | None = None,
    size: int = 32,
    case: str | None = None,
    scores: bool = False,
    realised: bool = False,
    data: str | None = None,
    ordered: bool = False,
    pairs: int = DEFAULT_COMPARED,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    seconds: float | None = None,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
) -> Result:
    """Search for the pair of the largest exact ε, where there are too many pairs to verify them all.

    Args:
        target: a catalogue name, or a mechanism that has a law.
        domain: points of the domain, 8 without it; for algorithms of the catalogue.
        size: records of a dataset, at most.
        case: begin with the mechanism and the pairs of this case of the catalogue, in place of a small domain.
        scores: vary the scores that the mechanism chooses by, by at most 1 each, instead of records.
        realised: only such scores as two neighbouring datasets have.
        data: what records are, e.g. "integers(0, 3)"; a mechanism of your own needs it.
        ordered: whether a mechanism of your own looks at the order of the records.
        pairs: compare the laws of so many, at most.
        epsilon, delta, relation: the claim; the mechanism's own where None.
        seconds: time limit.
        seed: same seed, same result.
        parameters: fields of the mechanism to change.

    Returns:
        The result; `result.audits[0].epsilon_exact` is what the worst pair needs at the claimed δ.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    return run(
        Request(
            targets=(target,),
            seed=seed,
            seconds=seconds,
            epsilon=epsilon,
            delta=delta,
            relation=relation,
            data=data,
            parameters=parameters or {},
            seek=Seek(domain, size, case, scores, realised, pairs, ordered),
        )
    )
