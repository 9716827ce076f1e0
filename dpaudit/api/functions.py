"""The functions for use from Python; everything else is a name in its own package."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from dpaudit.api.arguments import (
    HOW_TO_CLAIM,
    HOW_TO_PLACE,
    ClaimLike,
    Target,
    cluster_address,
    on_found_pairs,
    pair_of,
    stated_claim,
)
from dpaudit.api.arguments import in_pythons_words as _in_pythons_words
from dpaudit.api.call_text import call_text
from dpaudit.api.outcomes import Interrupted, refusal
from dpaudit.api.result import Result
from dpaudit.engine import orchestrator
from dpaudit.engine.prior_evidence import evidence_of, recorded_prior
from dpaudit.language import Mechanism
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_COMPARED, DEFAULT_MIN_POWER, Door
from dpaudit.plans.request import ComparisonSpec, Request, VerifyMode, WorstCaseMode
from dpaudit.plans.subject import refuse_half
from dpaudit.results import model
from dpaudit.results.given_data import table_of
from dpaudit.results.stream import CheckFinished
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.recorded import Recorded, recorded_outputs

if TYPE_CHECKING:
    from dpaudit.report.progress import Watch
    from dpaudit.traces.alarms import Trace


class Settings(TypedDict, total=False):
    """The keyword arguments of `audit`, for functions that pass them on."""

    epsilon: float | None
    delta: float | None
    relation: str | None
    pair: tuple[object, object] | None
    data: object
    size: int | None
    groups: int | None
    runs: int | None
    time: float | None
    call_time: float | None
    read: str | Callable[..., object] | None
    alpha: float
    seed: int
    jobs: int
    cluster: object
    parameters: Mapping[str, object] | None
    certify: bool
    stop_at_refutation: bool
    bits: bool
    min_power: float
    black_box: bool
    evidence: model.Result | None
    only: str | None
    game: str | None
    progress: bool | None


@_in_pythons_words
def audit(
    target: Target,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    pair: tuple[object, object] | None = None,
    data: object = None,
    size: int | None = None,
    groups: int | None = None,
    runs: int | None = None,
    time: float | None = None,
    call_time: float | None = None,
    read: str | Callable[..., object] | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    jobs: int = 1,
    cluster: object = None,
    parameters: Mapping[str, object] | None = None,
    certify: bool = False,
    stop_at_refutation: bool = False,
    bits: bool = False,
    min_power: float = DEFAULT_MIN_POWER,
    black_box: bool = False,
    evidence: model.Result | None = None,
    only: str | None = "privacy",
    game: str | None = None,
    progress: bool | None = None,
) -> Result:
    """Audit a claim of differential privacy, or the utility guarantees of an algorithm of the catalogue.

    Args:
        target: a function f(dataset, rng) or f(dataset, rng, size), a mechanism, a catalogue name, or an object of
            OpenDP, diffprivlib, python-dp or pipeline-dp (`dpaudit.subjects.adapters`).
        claim: ε, (ε, δ), a `Claim`, a curve (`GaussianDP(0.5)`, `ZeroConcentrated(0.1)`, `Renyi({2: 0.5})`, `TradeOff`,
            `Profile`, or its text, such as "gdp(0.5)"), or an event, privacy loss distribution or accountant of
            dp-accounting; None for the target's own: mechanisms and objects of libraries state one, and a
            function may (`f.claim`).
        epsilon, delta, relation: parts of the claim, which override those of a mechanism's own. Relations are
            "replace-one", "add-remove-one" and "users" (all records of one), with ":k" for groups of k; a relation may
            accompany a numeric `claim`.
        pair: two datasets D and D′: lists of records, multisets, numpy arrays, or frames or series of pandas or polars,
            whose rows are the records. A function gets its dataset in the same form.
        data, size: instead of a pair, a description of records ("integers(0, 100)") and their number; dpaudit searches
            for pairs. "frame(age=integers(18, 100))" describes a frame's rows. A DataFrame, an array, or the name of a
            file (.csv, .parquet, .npy) is a table, whose neighbours are searched for. Hypothesis strategies describe
            records, or pairs (`dpaudit.strategies.neighbours`); the worst pairs of their search are audited on fresh
            samples.
        groups: audit group privacy instead, on the ends of chains of neighbours, for groups of 2 up to this many, with
            one audit for each.
        runs: most samples per dataset of each pair; a refutation stops earlier.
        time: time limit in seconds; without `runs` there are no more samples than there is time for.
        call_time: time limit in seconds for one call of a function f(dataset, rng); a timeout counts as an output, as
            an exception does. Timeouts depend on the machine, so counts are not exactly reproducible. POSIX only, in
            the main thread.
        read: a function that turns each output into what is tested, such as `lambda model: model.coef_`, or the name of
            one ("file.py:function"). It is post-processing: what refutes the claim on what is read refutes it.
        alpha: family-wise error rate over all audits, in (0, 0.5).
        seed: random seed; the same seed gives the same result.
        jobs: worker processes.
        cluster: a dask cluster or client, the address of a dask scheduler ("tcp://host:8786") or of ray ("ray",
            "ray://host:10001"), whose workers to use instead.
        parameters: fields of the mechanism to change.
        certify: use all samples, also after a refutation, for a sharper bound on ε.
        stop_at_refutation: stop when the claim is refuted; without it a refuted claim has half as many samples again,
            for a sharper bound.
        bits: count the low-order bits of floating-point outputs in the verdict.
        min_power: PASS requires that a violation of this multiple of the claimed ε would have been detected on some
            pair with probability 0.9; `math.inf` for no requirement.
        black_box: use samples only: no exact output distributions, no declared densities.
        evidence: an earlier result, with another seed, whose e-values are added.
        only: "privacy" or "utility"; None for both, of an algorithm of the catalogue.
        game: "name:n", a game that draws its own datasets ("digit:2" against algorithms for interior points).
        progress: whether to show it on stderr; None to do so in a terminal or notebook, after two seconds.

    Returns:
        The result; `result.verdict` is the verdict.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard; its `result` has the finished audits.
    """
    given = dict(locals())
    placed = None if pair is None else pair_of(pair)
    table = table_of(data)
    described = table.name if table is not None else data if isinstance(data, str) else None
    subject = adapted(target)
    stated = stated_claim(claim, epsilon, delta, relation)
    refuse_half(
        subject, claimed=stated.get("claim") is not None or stated["epsilon"] is not None,
        placed=any(given[name] is not None for name in ("pair", "data", "game")),
        how_to_claim=HOW_TO_CLAIM, how_to_place=HOW_TO_PLACE,
    )
    request = Request(
        targets=(subject,),
        seed=seed,
        alpha=alpha,
        runs=runs,
        time=time,
        call_time=call_time,
        read=read,
        jobs=jobs,
        cluster=cluster_address(cluster),
        pair=None if placed is None else placed.datasets,
        data=described,
        container=placed.container if placed is not None else None if table is None else table.container,
        table=None if table is None else table.records,
        size=None if data is not None and described is None else size,
        parameters=dict(parameters or {}),
        certify=certify,
        stop_at_refutation=stop_at_refutation,
        bits=bits,
        min_power=min_power,
        black_box=black_box,
        prior={} if evidence is None else evidence_of(evidence, where="the earlier result", seed=seed),
        only=only,
        game=game,
        groups=groups,
        call=call_text(audit, {**given, "pair": placed, "data": data if table is None or data is described else table}),
        door="Python",
        **stated,
    )
    if data is not None and described is None:
        with _watched(progress) as watch:
            request = on_found_pairs(
                request, subject, data, size=size, placed=pair is not None or game is not None, tell=watch.on
            )
    return _run(request, progress)


@_in_pythons_words
def audit_samples(
    D_outputs: object,
    Dprime_outputs: object,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    paired: bool = False,
    blocks: tuple[Iterable[Hashable], Iterable[Hashable]] | None = None,
    ordered: bool = False,
    name: str = "recorded outputs",
    runs: int | None = None,
    time: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    bits: bool = False,
    min_power: float = DEFAULT_MIN_POWER,
    evidence: model.Result | None = None,
    progress: bool | None = None,
) -> Result:
    """Audit a claim on recorded outputs: samples of M(D) and of M(D′) that another system wrote.

    Every output is used exactly once, to learn an event or to count it, in an order drawn from the seed. All of them
    are used, also after a refutation, for the sharpest bound on ε. The bounds assume that the outputs are independent
    and that D and D′ are neighbours; neither can be checked on recorded outputs. Copies, values drawn from a store,
    correlation of outputs recorded one after another, and datasets recorded with the same seeds contradict
    independence; where the outputs show them, there is no bound.

    Args:
        D_outputs, Dprime_outputs: outputs on D and on D′, at least 10 of each, in any numbers: an array (of numbers; or
            of vectors, one each row), a tensor, a series, a frame (one output a row), or any iterable of outputs, as a
            function would return them: numbers, strings, tuples, dicts.
        claim: ε, (ε, δ) or a `Claim`; None with `epsilon` for those parts, or for a bound without a verdict.
        epsilon, delta, relation: parts of the claim. Without ε nothing is claimed: the verdict is INCONCLUSIVE, the
            reason and `epsilon_lower` have the lower confidence bound on ε at `delta`.
        paired: the i-th outputs on D and on D′ depend on each other (the same seed, the same day): one of each pair is
            used, by a draw that does not depend on the values.
        blocks: labels of the blocks of both, where outputs of one block may depend on each other (several outputs of
            one training run): one output of each block is used. A label in both is one block. Where a block's outputs
            belong together, give one tuple or vector for each block instead.
        ordered: use the outputs in the order in which they are given, and not in one drawn from the seed.
        name: of the mechanism, in reports.
        runs: most outputs of each dataset.
        evidence: an earlier result of other outputs of the same mechanism (the same `name`), whose e-values are added.
        time, alpha, seed, bits, min_power, progress: as of `audit`.

    Returns:
        The result, as `audit` returns it.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard; its `result` has what was found.
    """
    given = dict(locals())
    recorded = recorded_outputs(
        D_outputs, Dprime_outputs, name=name, paired=paired, blocks=blocks, shuffled=not ordered
    )
    prior = {} if evidence is None else recorded_prior(evidence, recorded, where="the earlier result")
    return audit_recorded(
        recorded, progress=progress, prior=prior, seed=seed, alpha=alpha, runs=runs, time=time, bits=bits,
        min_power=min_power, call=call_text(audit_samples, given),
        **stated_claim(claim, epsilon, delta, relation),
    )


def audit_recorded(
    recorded: Recorded, *, progress: bool | None, call: str, door: Door = "Python", **settings: Any
) -> Result:
    """Audit recorded outputs, with all of them used for the bound.

    Args:
        recorded: made by `recorded_outputs`.
        progress: as of `audit`.
        call: how to get the result again.
        door: the front end, in whose words options are named.
        settings: fields of a `Request`.
    """
    request = Request(
        targets=(recorded.name,), recorded=recorded, certify=True, call=call, door=door, **settings
    )
    return _run(request, progress)


def assert_private(
    target: Target,
    claim: ClaimLike | None = None,
    *,
    allow_inconclusive: bool = False,
    **settings: Unpack[Settings],
) -> Result:
    """Audit a claim, and raise where it is refuted: for a test in any test runner.

    Args:
        target, claim: as of `audit`.
        allow_inconclusive: also return where nothing was refuted but the budget could not decide. A mechanism that
            crashes never passes.
        settings: the keyword arguments of `audit`.

    Returns:
        The result, no audit of which fails.

    Raises:
        PrivacyViolation: refuted; an AssertionError with the claim, the certified ε, the pair and the event.
        InconclusiveAudit: undecided; an AssertionError with the reason, which says what to change.
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    __tracebackhide__ = True
    result = audit(target, claim, **settings)
    if (error := refusal(result, allow_inconclusive=allow_inconclusive)) is not None:
        raise error
    return result


@_in_pythons_words
def trace(
    target: Target,
    claim: ClaimLike | None = None,
    *,
    pair: tuple[object, object],
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    seed: int = 0,
) -> Trace:
    """Run a function a few times with the same draws on both datasets, and name the lines that no noise protects.

    A trace takes at most 20 calls, and finds mistakes that samples need millions of calls for, or cannot find. It is no
    test: an alarm rests on a few runs, and no alarm is no evidence that the claim is true. `audit` traces functions
    before it draws samples, and shows alarms as notes.

    Args:
        target: a function f(dataset, rng) or f(dataset, rng, size) that draws its noise from rng, from numpy.random, or
            by a function that `dpaudit.traces.hooks` knows.
        claim: ε, (ε, δ) or a `Claim`; None for the function's own.
        pair: two datasets D and D′, as for `audit`.
        epsilon, delta, relation: parts of the claim, as for `audit`.
        seed: of the draws.

    Returns:
        The alarms, each with a line, and the draws on D.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    from dpaudit.evidence.traced import trace_of

    placed, stated = pair_of(pair), stated_claim(claim, epsilon, delta, relation)
    subject = adapted(target)
    refuse_half(
        subject, claimed=stated.get("claim") is not None or stated["epsilon"] is not None, placed=True,
        how_to_claim=HOW_TO_CLAIM, how_to_place=HOW_TO_PLACE,
    )
    return trace_of(Request(
        targets=(subject,), seed=seed, pair=placed.datasets, container=placed.container, only="privacy", door="Python",
        **stated,
    ))


@_in_pythons_words
def verify(
    target: str | Mechanism,
    claim: ClaimLike | None = None,
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
    time: float | None = None,
    jobs: int = 1,
    cluster: object = None,
    parameters: Mapping[str, object] | None = None,
    progress: bool | None = None,
) -> Result:
    """Prove or refute a claim on a finite domain, by the exact output distributions on all its datasets.

    Probabilities are computed in interval arithmetic.

    Args:
        target: a catalogue name, or a mechanism whose output distributions can be computed.
        domain: points of the domain (default 8); the records of your own mechanism are 0, …, domain − 1.
        size: records of a dataset.
        groups: also group privacy, for groups of up to this many records; one audit for each.
        data: instead of a domain, a description of records, e.g. "integers(0, 3)".
        ordered: whether the order of the records matters to your own mechanism.
        symmetries: use the symmetries that the mechanism declares; without them every distribution is computed.
        claim: as of `audit`, for all of a curve at once; None for the mechanism's own, or for `epsilon` and `delta`.
        epsilon, delta, relation: parts of the claim; the mechanism's own where None.
        time: time limit in seconds.
        jobs: worker processes.
        cluster: a dask cluster or client, the address of a dask scheduler ("tcp://host:8786") or of ray ("ray",
            "ray://host:10001"), whose workers to use instead.
        parameters: fields of the mechanism to change.
        progress: whether to show it on stderr; None to do so in a terminal or notebook, after two seconds.

    Returns:
        The result; `result.audit.proof` holds the interval for the worst ε.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard; its `result` has the finished audits.
    """
    given = dict(locals())
    stated = stated_claim(claim, epsilon, delta, relation)
    return _run(
        Request(
            targets=(target,),
            time=time,
            jobs=jobs,
            cluster=cluster_address(cluster),
            **stated,
            data=data,
            parameters=dict(parameters or {}),
            verify=VerifyMode(domain, size, groups, ordered, symmetries),
            call=call_text(verify, given),
            door="Python",
        ),
        progress,
    )


@_in_pythons_words
def compare(
    name: str,
    *,
    sizes: Sequence[int] = (),
    parameters: Mapping[str, object] | None = None,
    runs: int | None = None,
    time: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    jobs: int = 1,
    cluster: object = None,
    progress: bool | None = None,
) -> Result:
    """Compare algorithms for one task on the same inputs, with the same claim.

    Args:
        name: of a registered comparison, e.g. "interior-points".
        sizes: numbers of records; the comparison's own without them.
        parameters: its fields to change, e.g. {"epsilon": 0.5}.
        runs: samples for each kind of inputs, and per dataset of each pair.
        time: time limit in seconds.
        alpha: family-wise error rate over all audits.
        seed: random seed; the same seed gives the same result.
        jobs: worker processes.
        cluster: a dask cluster or client, the address of a dask scheduler ("tcp://host:8786") or of ray ("ray",
            "ray://host:10001"), whose workers to use instead.
        progress: whether to show it on stderr; None to do so in a terminal or notebook, after two seconds.

    Returns:
        The result; its `comparison` is the table, whose rows name places in `utility` and `audits`.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard; its `result` has the finished audits.
    """
    given = dict(locals())
    return _run(
        Request(
            targets=(name,),
            seed=seed,
            alpha=alpha,
            runs=runs,
            time=time,
            jobs=jobs,
            cluster=cluster_address(cluster),
            comparison=ComparisonSpec(name, tuple(sizes), tuple((parameters or {}).items())),
            call=call_text(compare, given),
            door="Python",
        ),
        progress,
    )


@_in_pythons_words
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
    time: float | None = None,
    seed: int = 0,
    parameters: Mapping[str, object] | None = None,
    progress: bool | None = None,
) -> Result:
    """Search for the pair with the largest exact ε, if there are too many pairs to verify.

    Args:
        target: a catalogue name, or a mechanism whose output distributions can be computed.
        domain: points of the domain (default 8), for algorithms of the catalogue.
        size: most records of a dataset.
        case: start from the mechanism and the pairs of this case of the catalogue, instead of a small domain.
        scores: vary the scores by at most 1 each, instead of records.
        realised: only scores that two neighbouring datasets attain.
        data: description of records, e.g. "integers(0, 3)"; required for your own mechanism.
        ordered: whether the order of the records matters to your own mechanism.
        pairs: most pairs whose output distributions are compared.
        epsilon, delta, relation: the claim; the mechanism's own where None.
        time: time limit in seconds.
        seed: random seed; the same seed gives the same result.
        parameters: fields of the mechanism to change.
        progress: whether to show it on stderr; None to do so in a terminal or notebook, after two seconds.

    Returns:
        The result; `result.audit.epsilon_exact` is what the worst pair needs at the claimed δ.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard; its `result` has the finished audits.
    """
    given = dict(locals())
    return _run(
        Request(
            targets=(target,),
            seed=seed,
            time=time,
            epsilon=epsilon,
            delta=delta,
            relation=relation,
            data=data,
            parameters=dict(parameters or {}),
            worst_case=WorstCaseMode(domain, size, case, scores, realised, pairs, ordered),
            call=call_text(worst, given),
            door="Python",
        ),
        progress,
    )


def _watched(progress: bool | None) -> Watch:
    # only here, so that worker processes, which import this module, do without
    from dpaudit.report.progress import Watch, display_for

    return Watch(display_for(progress))


def _run(request: Request, progress: bool | None) -> Result:
    """Run, and show how far it is.

    Raises:
        Interrupted: with what had ended.
    """
    stream = orchestrator.check(request)
    with _watched(progress) as watch:
        event = next(stream)
        while not isinstance(event, CheckFinished):
            try:
                watch.on(event)
                event = next(stream)
            except KeyboardInterrupt:
                # where it came while something was shown, the engine ends the stream with what is finished
                event = stream.throw(KeyboardInterrupt)
    result = Result.of(event.result)
    if result.interrupted:
        raise Interrupted(result)
    return result
