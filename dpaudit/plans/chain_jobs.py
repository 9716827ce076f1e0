"""Audits of group privacy: from the cases of a request to one job for every size of a group."""

from __future__ import annotations

from itertools import groupby

from numpy.random import default_rng

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Records, SampledFrom
from dpaudit.adversary.pairs.pair import as_multisets
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit.options import CLAIM, DATA, DEFAULT_RUNS, DELTA, EPSILON, GROUPS, PAIR, RELATION, SIZE
from dpaudit.plans.job import ExhaustiveDomain, GroupChains, PairSearch, PrivacyJob
from dpaudit.plans.jobs import claim_of_group, jobs_of, replay_id, with_own_ids
from dpaudit.plans.plan import Scope
from dpaudit.plans.request import Request
from dpaudit.subjects.recorded import Recorded

LARGE = 2_000
"""Records of a dataset; walks on larger ones begin with the given pairs alone."""


def all_jobs(request: Request) -> list[PrivacyJob]:
    """Every case of a request; where groups are asked for, one for every algorithm and every size from 2 on.

    Raises:
        UsageError and its kinds: as `jobs_of`; or groups that cannot be had of a claim, a relation or its datasets.
    """
    jobs = jobs_of(request)
    if request.groups is None:
        return jobs
    # pairs that are given are one case of each target; else the cases of a name follow each other
    given = bool(request.given_pairs) or request.data is not None
    targets = [[job] for job in jobs] if given else [list(of) for _, of in groupby(jobs, lambda job: job.target.name)]
    return with_own_ids(job for of in targets for job in _walks(of, request, request.groups))


def _walks(jobs: list[PrivacyJob], request: Request, most: int) -> list[GroupChains]:
    """The first case about neighbours, for groups of 2, …, `most`; its mechanism's other cases give pairs as well."""
    first = next((job for job in jobs if job.claim.relation.size == 1), jobs[0])
    name, claim, subject = first.target.name, first.claim, first.target.subject
    if isinstance(subject, Recorded):
        raise UsageError(
            "{} searches for datasets, and {} has outputs alone; give {} replace-one:{} instead.",
            GROUPS, name, RELATION, most,
        )
    _refuse(name, claim)
    same = [job for job in jobs if not isinstance(subject, Mechanism) or job.target.subject == subject]
    pairs = [pair for job in same for pair in job.pairs]
    scopes = [scope for job in same if (scope := _scope(job)) is not None]
    records = request.records or _records(pairs, scopes)
    counted = bool(scopes) and not scopes[0].ordered
    counted = isinstance(pairs[0].left, Multiset) if pairs else counted
    sizes = [len(dataset) for pair in pairs for dataset in (pair.left, pair.right)]
    sizes += [scope.records for scope in scopes]
    size = max(sizes, default=0)
    if claim.relation.kind == "replace-one" and most > size:
        if request.data is not None:
            raise UsageError(
                "{} {} changes {} records of {}, and {} is {}; raise {}.",
                GROUPS, most, most, name, SIZE, request.size or size, SIZE,
            )
        raise UsageError(
            "{} {} changes {} records of {}, and its largest dataset has {}; ask for fewer, or give larger ones with "
            "{}.",
            GROUPS, most, most, name, size, DATA,
        )
    walks = []
    claims: tuple[Claim, ...] = (claim,)
    begin = len(pairs[0].left) if pairs else size
    for k in range(2, most + 1):
        stated = claim_of_group(subject, claim, k)
        claims = (*claims, stated)
        rng = default_rng([request.seed, 0x9A125, k])
        groups = (1, k) if begin <= LARGE else ()
        tried = [pair for group in groups for pair in starting_pairs(claim.relation.group(group), records, begin, rng)]
        starts = (*pairs, *(_alike(tried) if counted else tried))
        label = f"group of {k}, by a chain"
        walks.append(
            GroupChains(
                target=first.target, label=label, claim=stated, replay=replay_id(request, first.target, label),
                runs=request.runs or first.runs or DEFAULT_RUNS, exact=first.exact, black_box=first.black_box,
                bits=first.bits, drawing=first.drawing, claims=claims, starts=starts, records=records,
            )
        )
    return walks


def _scope(job: PrivacyJob) -> Scope | None:
    """The finite domain of a job, if it has one."""
    match job:
        case ExhaustiveDomain():
            return job.scope
        case PairSearch():
            return job.small
        case _:
            return None


def _refuse(name: str, claim: Claim) -> None:
    if claim.rho is not None or claim.curve is not None:
        raise UsageError(
            "{} claims {}; {} compares chains with one (ε, δ): give {} and {}. To test a curve for groups of 2, give a "
            "pair that differs in 2 records with {} {} and the {} that you expect of them.",
            name, str(claim), GROUPS, EPSILON, DELTA, RELATION, f"{claim.relation.kind}:2", CLAIM,
        )
    if claim.relation.kind in ("private-rows", "users"):
        raise UsageError(
            "{} is claimed under {}, which {} does not support; give a pair with {} and its claim with {} {} and {}.",
            name, claim.relation.name, GROUPS, PAIR, RELATION, claim.relation.group(2).name, EPSILON,
        )
    if not claim.relation.of_records:
        raise UsageError(
            "{} is claimed under {}, whose datasets are answers; {} is about records: give replace-one or "
            "add-remove-one with {} if its datasets have records.",
            name, claim.relation.name, GROUPS, RELATION,
        )
    if claim.relation.size > 1:
        raise UsageError(
            "{} is already about groups, and {} starts from neighbours; give {}.",
            claim.relation.name, GROUPS, claim.relation.kind,
        )


def _records(pairs: list[Pair], scopes: list[Scope]) -> Records:
    """The records that occur in pairs and scopes."""
    datasets = [dataset for pair in pairs for dataset in (pair.left, pair.right)]
    values = [v for dataset in datasets for v in (dataset.values if isinstance(dataset, Multiset) else dataset)]
    different = dict.fromkeys((*values, *(v for scope in scopes for v in scope.domain)))
    try:
        return SampledFrom(tuple(sorted(different)))
    except TypeError:
        return SampledFrom(tuple(sorted(different, key=lambda v: (type(v).__name__, repr(v)))))


def _alike(pairs: list[Pair]) -> list[Pair]:
    """The same by multiplicities; those whose records have no order are left out."""
    alike = []
    for pair in pairs:
        try:
            alike.append(as_multisets(pair))
        except DatasetError:
            continue
    return alike
