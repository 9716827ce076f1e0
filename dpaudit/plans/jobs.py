"""The cases that a request comes to: what to run, on which pairs, against which claim."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from numpy.random import default_rng

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Records, SampledFrom
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.errors import PairError, UnknownNameError, UsageError
from dpaudit.language import REPLACE_ONE, Claim, Mechanism, Multiset, PiecewiseConstantScore, Quality
from dpaudit.options import (
    DATA,
    DEFAULT_DOMAIN,
    DEFAULT_RUNS,
    DEFAULT_SIZE,
    DELTA,
    EPSILON,
    PAIR,
    PARAMETERS,
    REALISED,
    SCORES,
    SIZE,
)
from dpaudit.plans import registry
from dpaudit.plans.comparison import Comparison, comparison_entries
from dpaudit.plans.job import ExhaustiveDomain, GivenPairs, PairSearch, PrivacyJob, WorstCaseSearch
from dpaudit.plans.plan import Case, Plan, Scope, refuse_twins
from dpaudit.plans.play import Play
from dpaudit.plans.request import ID_VERSION, ComparisonSpec, Request, VerifyMode, WorstCaseMode
from dpaudit.plans.subject import in_catalogue, own_claim, resolved, tested_claim
from dpaudit.results.model import Verdict
from dpaudit.subjects.call_time import refuse_without_timer
from dpaudit.subjects.stated import stated_notes
from dpaudit.subjects.target import MechanismTarget, Target, function_target, instantiate, with_parameters

MOST_DOMAIN = 10_000
"""Different records of a scope; of more there are too many pairs, however few records a dataset has."""
MOST_UNASKED = 1_000
"""Sequences of described records that are enumerated though nobody asked for it; some seconds at most."""
WORST_PAIR = "the worst pair of a search"
MOST_CHANGED = 10_000
"""Records in which the datasets of a pair that is searched for may differ."""


def jobs_of(request: Request) -> list[PrivacyJob]:
    """Every case of a request, in order.

    Raises:
        UsageError and its kinds: unknown names, claims or pairs missing or unrelated, parameters refused.
    """
    if request.comparison is not None:
        return _comparison_jobs(request, request.comparison)
    jobs: list[PrivacyJob] = []
    changed = set[str]()
    for target in request.targets:
        if request.verify is not None:
            jobs += _scope_jobs(request, request.verify, target, changed)
        elif request.worst_case is not None:
            jobs.append(_worst_case_job(request, request.worst_case, target, changed))
        elif in_catalogue(target):
            jobs += _catalogue_jobs(request, registry.canonical_name(target), changed)
        else:
            jobs.append(_own_job(request, target, changed))
    unknown = set(request.parameters) - changed
    if unknown:
        key = min(unknown)
        mechanisms = [job.target.subject for job in jobs if isinstance(job.target, MechanismTarget)]
        if not mechanisms:
            raise UsageError("{} {}=… is for mechanisms; a function has no parameters to set.", PARAMETERS, key)
        with_parameters(mechanisms[0], {key: request.parameters[key]})
    return with_own_ids(jobs)


def comparison_of(spec: ComparisonSpec) -> Comparison:
    """The comparison that is wanted, with its parameters.

    Raises:
        UnknownNameError: no such comparison.
        ParameterError: a parameter that it does not have, or refuses.
    """
    return instantiate(registry.comparison(spec.name), dict(spec.parameters))


def _comparison_jobs(request: Request, spec: ComparisonSpec) -> list[PrivacyJob]:
    """The privacy of every algorithm of a comparison, at every size."""
    jobs: list[PrivacyJob] = []
    for entry in comparison_entries(comparison_of(spec), spec):
        if entry.privacy is None or entry.privacy.tested is None:
            continue
        case = replace(entry.privacy, runs=_runs(request, entry.privacy))
        target = MechanismTarget(entry.method, _source(case.mechanism, ""), case.mechanism)
        jobs.append(_of_case(request, target, case, entry.privacy.tested, None))
    return jobs


def _catalogue_jobs(request: Request, name: str, changed: set[str]) -> Iterable[PrivacyJob]:
    cases = registry.plan(name).cases()
    if not cases:
        raise UsageError(f"The plan of {name} has no cases, so there is nothing to check.")
    refuse_twins(name, cases)
    if pairs := _pairs_wanted(request, cases[0].tested):
        cases = (replace(cases[0], pairs=pairs, scope=None, label=_label(request)),)
    if request.game is not None:
        yield _played(request, Play.parse(request.game), cases[0].mechanism, name, changed)
        return
    for case in cases:
        fields = set(getattr(case.mechanism, "__dataclass_fields__", {}))
        wanted = {key: value for key, value in request.parameters.items() if key in fields}
        changed |= set(wanted)
        mechanism, claim = case.mechanism, case.tested
        if wanted:
            mechanism = with_parameters(case.mechanism, wanted)
            if case.claim is None:
                claim = mechanism.claim
            elif case.mechanism.claim is not None and mechanism.claim is not None:
                # a group's claim follows the mechanism's
                claim = mechanism.group_claim(case.claim.relation.size)
        claim = tested_claim(request, claim, name)
        expected = case.expected if not wanted and claim == case.tested and not pairs else None
        made = replace(case, mechanism=mechanism, claim=claim, runs=_runs(request, case))
        target = MechanismTarget(name, _source(mechanism, type(mechanism).__module__), mechanism)
        yield _of_case(request, target, made, claim, expected)


def _scope_jobs(
    request: Request, verify: VerifyMode, target: str | Callable[..., Any] | Mechanism, changed: set[str]
) -> Iterable[PrivacyJob]:
    """The claim on every pair of a scope, and group privacy on every group."""
    mechanism: Any
    if in_catalogue(target):
        name = registry.canonical_name(target)
        mechanism, scope = _small(request, verify, name)
        source = _source(mechanism, type(mechanism).__module__)
        if request.parameters:
            mechanism = with_parameters(mechanism, request.parameters)
            changed |= set(request.parameters)
    else:
        mechanism, name, source = resolved(request, target)
        changed |= _fitting(request, mechanism)
        if not isinstance(mechanism, Mechanism):
            raise UsageError(
                f"{name} is a function, which can only be sampled; `dpaudit verify` needs a Mechanism, whose output "
                "distributions can be computed."
            )
        scope = Scope(_domain(request, verify), verify.records, ordered=verify.ordered)
    scope = replace(scope, reduced=verify.symmetries)
    claim = tested_claim(request, mechanism.claim, name)
    for k in range(1, verify.groups + 1):
        # an algorithm may take more records than requested: a multiple, or a minimum
        if k > scope.records:
            break
        label = f"every pair of {scope.records} records" if k == 1 else f"every group of {k} of {scope.records} records"
        stated = claim_of_group(mechanism, claim, k)
        of_group = MechanismTarget(name, source, mechanism)
        _refuse_divergence(name, stated)
        yield ExhaustiveDomain(
            target=of_group, label=label, claim=stated, replay=replay_id(request, of_group, label),
            black_box=request.black_box, scope=scope,
        )


def _worst_case_job(
    request: Request, worst_case: WorstCaseMode, target: str | Callable[..., Any] | Mechanism, changed: set[str]
) -> PrivacyJob:
    """One search for the worst pair."""
    mechanism: Any
    starts: tuple[Pair, ...] = ()
    natural = None
    if in_catalogue(target):
        name = registry.canonical_name(target)
        plan = registry.plan(name)
        if worst_case.case is not None:
            cases = {case.label: case for case in plan.cases()}
            if worst_case.case not in cases:
                close = difflib.get_close_matches(worst_case.case, cases, n=2) or [
                    f"one that `dpaudit show {name}` lists"
                ]
                raise UnknownNameError(f"case of {name}", worst_case.case, tuple(close))
            mechanism, starts = cases[worst_case.case].mechanism, cases[worst_case.case].pairs
            sides = [side for pair in starts for side in (pair.left, pair.right)]
            values = tuple(sorted({value for side in sides for value in Multiset.of(side).values})) or (0, 1)
        elif request.data is not None:
            # nothing is enumerated, so the description may be of any size
            mechanism, values = _first(plan.cases(), name), ()
        else:
            mechanism, scope = _small(request, worst_case, name)
            values = scope.domain
        records: Records = SampledFrom(values) if request.data is None else parse_records(request.data)
        natural, source = plan.natural, _source(mechanism, "")
        if request.parameters:
            mechanism = with_parameters(mechanism, request.parameters)
            changed |= set(request.parameters)
    else:
        if request.data is None:
            raise UsageError("Describe the records with {}, such as 'integers(0, 7)'.", DATA)
        mechanism, name, source = resolved(request, target)
        changed |= _fitting(request, mechanism)
        records = parse_records(request.data)
    if not isinstance(mechanism, Mechanism):
        raise UsageError(
            f"{name} is a function, which can only be sampled; `dpaudit worst` needs a Mechanism, whose output "
            "distributions can be computed. `dpaudit check` searches for pairs by sampling."
        )
    if worst_case.scores and not isinstance(getattr(mechanism, "quality", None), Quality):
        raise UsageError("{} has no quality function to vary; leave {} out.", name, SCORES)
    claim = tested_claim(request, mechanism.claim, name)
    quality = getattr(mechanism, "quality", None) if worst_case.scores else None
    if isinstance(quality, PiecewiseConstantScore):
        quality = natural(quality.stop) if natural is not None else None
    if worst_case.realised and (quality is None or type(quality).realised is Quality.realised):
        raise UsageError("It is not known which scores datasets attain for {}; leave {} out.", name, REALISED)
    searched = MechanismTarget(name, source, mechanism)
    return WorstCaseSearch(
        target=searched, label=WORST_PAIR, claim=claim, replay=replay_id(request, searched, WORST_PAIR),
        black_box=request.black_box, mode=worst_case, records=records, starts=starts, natural=quality,
    )


def _source(mechanism: Mechanism, other: str) -> str:
    """The paper and theorem of a mechanism's card; `other` without a card."""
    return other if mechanism.card is None else mechanism.card.source


def _small(request: Request, verify: VerifyMode | WorstCaseMode, name: str) -> tuple[Mechanism, Scope]:
    """An algorithm of the catalogue on a small domain, or its first case's on the records of a description."""
    plan = registry.plan(name)
    if request.data is not None:
        return _first(plan.cases(), name), Scope(_domain(request, verify), verify.records, ordered=verify.ordered)
    if plan.small is None:
        raise UsageError(
            f"The output distributions of {name} cannot be computed on a small domain; `dpaudit check {name}` samples "
            "it, and uses densities if its noise has them."
        )
    return plan.small(verify.domain or DEFAULT_DOMAIN, verify.records)


def instance_of(plan: Plan, kind: type[Mechanism]) -> Mechanism:
    """The plan's first instance of a class.

    Raises:
        UsageError: there is none.
    """
    found = next((case.mechanism for case in plan.cases() if isinstance(case.mechanism, kind)), None)
    if found is None:
        raise UsageError(f"The plan of {plan.name} has no {kind.__name__} to use.")
    return found


def _first(cases: tuple[Case, ...], name: str) -> Mechanism:
    """The mechanism of the first case."""
    if not cases:
        raise UsageError(f"The plan of {name} has no cases, so there is nothing to verify.")
    return cases[0].mechanism


def _domain(request: Request, verify: VerifyMode | WorstCaseMode) -> tuple[Any, ...]:
    """All records of the description, or the whole numbers below --domain."""
    if request.data is None:
        return tuple(range(verify.domain or DEFAULT_DOMAIN))
    domain = parse_records(request.data).every(MOST_DOMAIN)
    if domain is None:
        raise UsageError(
            "{} {!r} has more than {:,} records, or infinitely many, too many to verify every pair.",
            DATA, request.data, MOST_DOMAIN,
        )
    return domain


def _own_job(request: Request, given: str | Callable[..., Any] | Mechanism, changed: set[str]) -> PrivacyJob:
    subject, name, source = resolved(request, given)
    target: Target
    changed |= _fitting(request, subject)
    if isinstance(subject, Mechanism):
        target = MechanismTarget(name, source, subject)
    else:
        if request.call_seconds is not None:
            refuse_without_timer()
        target = function_target(subject, name, getattr(subject, "source", source), request.call_seconds)
    claim = tested_claim(request, own_claim(subject), name)
    if request.game is not None:
        return _played(request, Play.parse(request.game), subject, name, changed)
    pairs = _pairs_wanted(request, claim)
    if not pairs:
        raise UsageError(
            "Which datasets should {} be tested on? Give {} '[0, 1, 1]' '[0, 1, 0]', or {} 'integers(0, 100)' {} 20 to "
            "let dpaudit search for pairs.",
            name, PAIR, DATA, SIZE,
        )
    _refuse_unrelated(name, pairs, claim)
    label = _label(request)
    job = GivenPairs(
        target=target, label=label, claim=claim, replay=replay_id(request, target, label), runs=_runs(request, None),
        pairs=pairs, black_box=request.black_box,
        note="" if isinstance(subject, Mechanism) else stated_notes(subject),
    )
    if request.data is None:
        return job
    small = _small_scope(request, claim, request.data) if isinstance(subject, Mechanism) else None
    return PairSearch(**vars(job), records=parse_records(request.data), small=small)


def _label(request: Request) -> str:
    return "found pairs" if request.data is not None or request.pairs else "given pairs"


def _played(
    request: Request, play: Play, subject: Mechanism | Callable[..., Any], name: str, changed: set[str]
) -> PrivacyJob:
    """A game against a subject, which claims what it claims or is said to."""
    if isinstance(subject, Mechanism) and request.parameters:
        subject = with_parameters(subject, request.parameters)
        changed |= set(request.parameters)
    game = play.against(subject, name)
    claim = tested_claim(request, game.claim, name)
    label, target = f"game {play.name}:{play.n}", MechanismTarget(name, _source(game, ""), game)
    _refuse_unrelated(name, (play.pair,), claim)
    return GivenPairs(
        target=target, label=label, claim=claim, replay=replay_id(request, target, label), runs=_runs(request, None),
        pairs=(play.pair,), exact=isinstance(subject, Mechanism), black_box=request.black_box,
    )


def _small_scope(request: Request, claim: Claim, data: str) -> Scope | None:
    """All sequences of the described records, where these are few: then they are enumerated besides."""
    if request.black_box or claim.rho is not None or not claim.relation.of_records:
        return None
    size = request.size or DEFAULT_SIZE
    domain = parse_records(data).every(MOST_UNASKED)
    if domain is None or len(domain) < 2 or len(domain) ** size > MOST_UNASKED:
        return None
    return Scope(domain, size, ordered=True)


def _fitting(request: Request, subject: Any) -> set[str]:
    """The parameters that a subject has taken."""
    return set(request.parameters) if isinstance(subject, Mechanism) else set()


def _runs(request: Request, case: Case | None) -> int:
    if case is not None and not case.runs:
        # an audit by law alone stays one
        return 0
    return request.runs or (case.runs if case is not None else DEFAULT_RUNS)


def _pairs_wanted(request: Request, claim: Claim | None) -> tuple[Pair, ...]:
    """The given pairs, or those from which a search starts; none where a case's own are wanted."""
    if request.given_pairs:
        origin = "found" if request.pairs else "given"
        return tuple(Pair(*pair, origin, origin) for pair in request.given_pairs)
    if request.data is None:
        return ()
    records = parse_records(request.data)
    size = request.size or DEFAULT_SIZE
    relation = request.stated_relation or (claim.relation if claim is not None else REPLACE_ONE)
    if relation.size > size and relation.kind == "replace-one":
        raise UsageError(
            "{} changes {} records, and {} is {}; raise {}.", relation.name, relation.size, SIZE, size, SIZE
        )
    if relation.size > MOST_CHANGED:
        raise UsageError(
            "{} changes {} records, and the search supports at most {:,}; give {}.",
            relation.name, relation.size, MOST_CHANGED, PAIR,
        )
    # pairs depend on the seed, and not on the runs' streams
    pairs = starting_pairs(relation, records, size, default_rng([request.seed, 0x9A125]))
    if not pairs:
        raise UsageError("{} {!r} has no two datasets that are {} neighbours.", DATA, request.data, relation.name)
    return tuple(pairs)


def _of_case(
    request: Request, target: MechanismTarget, case: Case, claim: Claim, expected: Verdict | None
) -> PrivacyJob:
    """A case of a plan, or the request's pairs in its place."""
    _refuse_unrelated(target.name, case.pairs, claim)
    given = GivenPairs(
        target=target, label=case.label, claim=claim, replay=replay_id(request, target, case.label), expected=expected,
        runs=case.runs, pairs=case.pairs, exact=case.exact, black_box=request.black_box, bits=case.bits,
        note=case.note, drawing=case.drawing,
    )
    if case.scope is not None:
        _refuse_divergence(target.name, claim)
        return ExhaustiveDomain(**vars(given), scope=case.scope)
    return given if request.data is None else PairSearch(**vars(given), records=parse_records(request.data))


def _refuse_unrelated(name: str, pairs: Iterable[Pair], claim: Claim) -> None:
    """Reject pairs that the claim does not cover.

    Raises:
        PairError: a pair is not related as in the claim.
    """
    for pair in pairs:
        try:
            pair.distance(claim.relation)
        except PairError as error:
            if pair.source == "given":
                raise
            raise PairError("{}: {}", name, error) from None


def _refuse_divergence(name: str, claim: Claim) -> None:
    """Reject a claim that no finite number of comparisons at one (ε, δ) proves.

    Raises:
        UsageError: it is of zCDP.
    """
    if claim.rho is not None:
        raise UsageError(
            "{} claims {}; exact output distributions are compared with one (ε, δ) at a time, which does not prove "
            "it: give {} and {}.",
            name, str(claim), EPSILON, DELTA,
        )


def claim_of_group(subject: Mechanism | Callable[..., Any], claim: Claim, k: int) -> Claim:
    """The claim for groups of k; a mechanism may state it, if the claim for neighbours is its own.

    Raises:
        UsageError: it states one under another relation.
    """
    own = subject.group_claim(k) if isinstance(subject, Mechanism) and subject.claim == claim and k > 1 else None
    stated = claim.group(k) if own is None else own
    if stated.relation != claim.relation.group(k):
        raise UsageError(
            f"group_claim({k}) of {subject!r} is under {stated.relation.name}; make it one under "
            f"{claim.relation.group(k).name}."
        )
    return stated


def with_own_ids(jobs: Iterable[PrivacyJob]) -> list[PrivacyJob]:
    """Jobs of which no two share an id: instances of one class, and functions of one factory, have one name and source.

    Where a process died, the result of one would be taken for that of the other. The second has its place in its id.
    """
    seen: Counter[str] = Counter()
    found = []
    for job in jobs:
        times, replay = seen[job.replay], job.replay
        seen[replay] += 1
        again = hashlib.sha256(f"{replay} {times}".encode()).hexdigest()[:12]
        found.append(replace(job, replay=again) if times else job)
    return found


def replay_id(request: Request, target: Target, label: str) -> str:
    """The id of a case: the same for the same request, another one for anything that the result depends on."""
    # the source tells two functions of one name apart
    image = {
        "request": request.image(),
        "name": target.name,
        "source": target.source,
        "case": label,
        "format": ID_VERSION,
    }
    return hashlib.sha256(json.dumps(image, sort_keys=True).encode()).hexdigest()[:12]
