"""The cases that a request comes to: what to run, on which pairs, against which claim."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from numpy.random import Generator, default_rng

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Records, SampledFrom
from dpaudit.adversary.pairs.observed import table_pairs
from dpaudit.adversary.pairs.pair import sized
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.errors import PairError, ParameterError, UnknownNameError, UsageError
from dpaudit.language import (
    REPLACE_ONE,
    Claim,
    Mechanism,
    Multiset,
    PiecewiseConstantScore,
    Quality,
    Record,
    Relation,
)
from dpaudit.options import (
    CLAIM,
    DATA,
    DEFAULT_DOMAIN,
    DEFAULT_RUNS,
    DEFAULT_SIZE,
    DELTA,
    EPSILON,
    GROUPS,
    PAIR,
    PARAMETERS,
    REALISED,
    SCORES,
    SIZE,
)
from dpaudit.plans import registry
from dpaudit.plans.comparison import Comparison, comparison_entries
from dpaudit.plans.findings import case_notes
from dpaudit.plans.job import ExhaustiveDomain, GivenPairs, PairSearch, PrivacyJob, RecordedSamples, WorstCaseSearch
from dpaudit.plans.plan import Case, Plan, Scope, refuse_twins
from dpaudit.plans.play import Play
from dpaudit.plans.request import ID_VERSION, ComparisonSpec, Request, VerifyMode, WorstCaseMode
from dpaudit.plans.subject import CatalogueSubject, OwnSubject, Subject, own_claim, subject_of, tested_claim
from dpaudit.results.model import Verdict
from dpaudit.results.notes import Note, OwnRandomness, ReadBy, Stated
from dpaudit.subjects.adapters.base import Adapted
from dpaudit.subjects.call_time import refuse_without_timer
from dpaudit.subjects.read import reader_name
from dpaudit.subjects.recorded import D_PRIME, D, Recorded, RecordedTarget
from dpaudit.subjects.stated import is_reproducible, stated_notes
from dpaudit.subjects.target import MechanismTarget, Target, function_target, instantiate, with_parameters

MOST_DOMAIN = 10_000
"""Different records of a scope; of more there are too many pairs, however few records a dataset has."""
MOST_UNASKED = 1_000
"""Sequences of described records that are enumerated though nobody asked for it; some seconds at most."""
WORST_PAIR = "the worst pair of a search"
MOST_ROWS = 10_000
"""Rows of a table whose neighbours are searched for: every pair that is tried has so many."""
MOST_CHANGED = 10_000
"""Records in which the datasets of a pair that is searched for may differ."""


def jobs_of(request: Request) -> list[PrivacyJob]:
    """Every case of a request, in order.

    Raises:
        UsageError and its kinds: unknown names, claims or pairs missing or unrelated, parameters refused.
    """
    if request.comparison is not None:
        return _comparison_jobs(request, request.comparison)
    if request.recorded is not None:
        return [_recorded_job(request, request.recorded)]
    subjects = [subject_of(request, target) for target in request.targets]
    jobs = [job for subject in subjects for job in _jobs(request, subject)]
    _refuse_ignored_parameters(request, subjects, jobs)
    return with_own_ids(jobs)


def _jobs(request: Request, subject: Subject) -> Iterable[PrivacyJob]:
    if request.verify is not None:
        return _scope_jobs(request, request.verify, subject)
    if request.worst_case is not None:
        return [_worst_case_job(request, request.worst_case, subject)]
    if request.game is not None:
        return [_played(request, Play.parse(request.game), subject)]
    return _catalogue_jobs(request, subject) if isinstance(subject, CatalogueSubject) else [_own_job(request, subject)]


def _refuse_ignored_parameters(request: Request, subjects: Iterable[Subject], jobs: Iterable[PrivacyJob]) -> None:
    """Reject parameters that none of the subjects has; single mechanisms reject unknown ones when they are made."""
    if request.game is not None or any(
        isinstance(subject, OwnSubject) and isinstance(subject.value, Mechanism) for subject in subjects
    ):
        return
    mechanisms = [job.target.subject for job in jobs if isinstance(job.target, MechanismTarget)]
    for key in sorted(request.parameters):
        if not mechanisms:
            raise UsageError("{} {}=… is for mechanisms; a function has no parameters to set.", PARAMETERS, key)
        if not any(key in _fields(mechanism) for mechanism in mechanisms):
            with_parameters(mechanisms[0], {key: request.parameters[key]})


def _fields(mechanism: Mechanism) -> Collection[str]:
    return getattr(mechanism, "__dataclass_fields__", ())


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
        jobs.append(_of_case(request, _target(entry.method, case.mechanism), case, entry.privacy.tested, None))
    return jobs


def _catalogue_jobs(request: Request, subject: CatalogueSubject) -> Iterable[PrivacyJob]:
    name, cases = subject.name, _cases(subject)
    refuse_twins(name, cases)
    if pairs := _pairs_wanted(request, cases[0].tested):
        cases = (replace(cases[0], pairs=pairs, scope=None, label=_label(request)),)
    for case in cases:
        wanted = {key: value for key, value in request.parameters.items() if key in _fields(case.mechanism)}
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
        yield _of_case(request, _target(name, mechanism, type(mechanism).__module__), made, claim, expected)


def _scope_jobs(request: Request, verify: VerifyMode, subject: Subject) -> Iterable[PrivacyJob]:
    """The claim on every pair of a scope, and group privacy on every group."""
    if isinstance(subject, CatalogueSubject):
        mechanism, scope = _small(request, verify, subject)
        mechanism = _with_parameters(request, mechanism)
        target = _target(subject.name, mechanism, type(mechanism).__module__)
    else:
        target = _enumerable(subject, "verify", "")
        mechanism, scope = target.subject, _described_scope(request, verify)
    scope = replace(scope, reduced=verify.symmetries)
    claim = tested_claim(request, mechanism.claim, subject.name)
    for k in range(1, verify.groups + 1):
        # an algorithm may take more records than requested: a multiple, or a minimum
        if k > scope.records:
            break
        label = f"every pair of {scope.records} records" if k == 1 else f"every group of {k} of {scope.records} records"
        try:
            stated = claim_of_group(mechanism, claim, k)
        except ParameterError as error:
            raise UsageError("{} Leave groups out with {} {}.", str(error), GROUPS, k - 1) from None
        _refuse_divergence(subject.name, stated)
        yield ExhaustiveDomain(
            target=target, label=label, claim=stated, replay=replay_id(request, target, label),
            black_box=request.black_box, scope=scope,
        )


def _worst_case_job(request: Request, worst_case: WorstCaseMode, subject: Subject) -> PrivacyJob:
    """One search for the worst pair."""
    starts: tuple[Pair, ...] = ()
    natural = None
    if isinstance(subject, CatalogueSubject):
        natural = subject.plan.natural
        if worst_case.case is not None:
            case = _case(subject, worst_case.case)
            mechanism, starts = case.mechanism, case.pairs
            datasets = [dataset for pair in starts for dataset in (pair.left, pair.right)]
            values = tuple(sorted({value for dataset in datasets for value in Multiset.of(dataset).values})) or (0, 1)
        elif request.records is not None:
            # nothing is enumerated, so the description may be of any size
            mechanism, values = _cases(subject)[0].mechanism, ()
        else:
            mechanism, scope = _small(request, worst_case, subject)
            values = scope.domain
        records = request.records or SampledFrom(values)
        target = _target(subject.name, _with_parameters(request, mechanism))
    else:
        if request.records is None:
            raise UsageError("Describe the records with {}, such as 'integers(0, 7)'.", DATA)
        records = request.records
        target = _enumerable(subject, "worst", " `dpaudit check` searches for pairs by sampling.")
    name, mechanism = target.name, target.subject
    quality = getattr(mechanism, "quality", None) if worst_case.scores else None
    if worst_case.scores and not isinstance(quality, Quality):
        raise UsageError("{} has no quality function to vary; leave {} out.", name, SCORES)
    claim = tested_claim(request, mechanism.claim, name)
    if isinstance(quality, PiecewiseConstantScore):
        quality = natural(quality.stop) if natural is not None else None
    if worst_case.realised and (quality is None or type(quality).realised is Quality.realised):
        raise UsageError("It is not known which scores datasets attain for {}; leave {} out.", name, REALISED)
    return WorstCaseSearch(
        target=target, label=WORST_PAIR, claim=claim, replay=replay_id(request, target, WORST_PAIR),
        black_box=request.black_box, mode=worst_case, records=records, starts=starts, natural=quality,
    )


def _target(name: str, mechanism: Mechanism, other: str = "") -> MechanismTarget:
    """A mechanism to audit; its source is the paper and theorem of its card, and `other` without a card."""
    return MechanismTarget(name, other if mechanism.card is None else mechanism.card.source, mechanism)


def _enumerable(subject: OwnSubject, command: str, alternative: str) -> MechanismTarget:
    """A mechanism of the user's own, for a command that compares output distributions.

    Raises:
        UsageError: it is a function.
    """
    if not isinstance(subject.value, Mechanism):
        raise UsageError(
            f"{subject.name} is a function, which can only be sampled; `dpaudit {command}` needs a Mechanism, whose "
            f"output distributions can be computed.{alternative}"
        )
    return MechanismTarget(subject.name, subject.source, subject.value)


def _with_parameters(request: Request, mechanism: Mechanism) -> Mechanism:
    return with_parameters(mechanism, request.parameters) if request.parameters else mechanism


def _small(
    request: Request, mode: VerifyMode | WorstCaseMode, subject: CatalogueSubject
) -> tuple[Mechanism, Scope]:
    """An algorithm of the catalogue on a small domain, or its first case's on the records of a description."""
    if request.records is not None:
        return _cases(subject)[0].mechanism, _described_scope(request, mode)
    if subject.plan.small is None:
        raise UsageError(
            f"The output distributions of {subject.name} cannot be computed on a small domain; `dpaudit check "
            f"{subject.name}` samples it, and uses densities if its noise has them."
        )
    return subject.plan.small(mode.domain or DEFAULT_DOMAIN, mode.records)


def _described_scope(request: Request, mode: VerifyMode | WorstCaseMode) -> Scope:
    """All datasets of the described records, or of the whole numbers below --domain."""
    if request.records is None:
        domain: tuple[object, ...] | None = tuple(range(mode.domain or DEFAULT_DOMAIN))
    else:
        domain = request.records.every(MOST_DOMAIN)
    if domain is None:
        raise UsageError(
            "{} {!r} has more than {:,} records, or infinitely many, too many to verify every pair.",
            DATA, request.data, MOST_DOMAIN,
        )
    return Scope(domain, mode.records, ordered=mode.ordered)


def _cases(subject: CatalogueSubject) -> tuple[Case, ...]:
    """The cases of its plan.

    Raises:
        UsageError: there are none.
    """
    if not (cases := subject.plan.cases()):
        raise UsageError(f"The plan of {subject.name} has no cases, so there is nothing to check.")
    return cases


def _case(subject: CatalogueSubject, label: str) -> Case:
    """The case of this label.

    Raises:
        UnknownNameError: there is none; it carries the closest ones.
    """
    cases = {case.label: case for case in subject.plan.cases()}
    if label not in cases:
        close = difflib.get_close_matches(label, cases, n=2) or [f"one that `dpaudit show {subject.name}` lists"]
        raise UnknownNameError(f"case of {subject.name}", label, tuple(close))
    return cases[label]


def instance_of(plan: Plan, kind: type[Mechanism]) -> Mechanism:
    """The plan's first instance of a class.

    Raises:
        UsageError: there is none.
    """
    mechanism = next((case.mechanism for case in plan.cases() if isinstance(case.mechanism, kind)), None)
    if mechanism is None:
        raise UsageError(f"The plan of {plan.name} has no {kind.__name__} to use.")
    return mechanism


def _own_job(request: Request, subject: OwnSubject) -> PrivacyJob:
    name, value = subject.name, subject.value
    target: Target
    if isinstance(value, Mechanism):
        target = MechanismTarget(name, subject.source, value)
    else:
        if request.call_time is not None:
            refuse_without_timer()
        source = getattr(value, "source", subject.source)
        # adapters read their records as their library takes them
        container = None if isinstance(value, Adapted) else request.handed_in
        target = function_target(value, name, source, request.call_time, container)
    claim = tested_claim(request, own_claim(value), name)
    pairs = _pairs_wanted(request, claim)
    if not pairs:
        raise UsageError(
            "Which datasets should {} be tested on? Give {} '[0, 1, 1]' '[0, 1, 0]', or {} 'integers(0, 100)' to let "
            "dpaudit search for pairs; both take files as well, such as table.csv.",
            name, PAIR, DATA,
        )
    _refuse_unrelated(name, pairs, claim)
    label = _label(request)
    job = GivenPairs(
        target=target, label=label, claim=claim, replay=replay_id(request, target, label), runs=_runs(request, None),
        pairs=pairs, black_box=request.black_box,
        notes=() if isinstance(value, Mechanism) else (*_notes(value), *_reader_notes(request)),
    )
    if request.records is None:
        return job
    small = _small_scope(request, claim, request.records) if isinstance(value, Mechanism) else None
    sizes = sizes_of(request, claim.relation)
    return PairSearch(**vars(job), records=request.records, sizes=sizes, small=small)


def _recorded_job(request: Request, recorded: Recorded) -> PrivacyJob:
    """Recorded outputs against the claim, or against nothing, for a lower confidence bound on ε alone."""
    target = RecordedTarget(recorded, request.seed, request.runs)
    claimed = request.epsilon is not None or request.claim is not None
    # without a claim there is a bound and no verdict, for which any ε will do
    asked = request if request.claim is not None else replace(request, epsilon=request.epsilon or 0.0)
    claim = tested_claim(asked, None, recorded.name)
    label = "recorded samples"
    return RecordedSamples(
        target=target, label=label, claim=claim, replay=replay_id(request, target, label), runs=target.total,
        pairs=(Pair(D, D_PRIME, label, "recorded"),), exact=False, claimed=claimed,
    )


def _notes(function: Callable[..., object]) -> tuple[Note, ...]:
    """What a function states of itself, and whether its randomness is its own."""
    stated = stated_notes(function)
    own = () if is_reproducible(function) else (OwnRandomness(),)
    return (Stated(stated), *own) if stated else own


def _reader_notes(request: Request) -> tuple[Note, ...]:
    """Who reads the outputs."""
    if request.read is None:
        return ()
    return (ReadBy(request.read if isinstance(request.read, str) else reader_name(request.read)),)


def _label(request: Request) -> str:
    return "found pairs" if request.data is not None or request.pairs else "given pairs"


def _played(request: Request, play: Play, subject: Subject) -> PrivacyJob:
    """A game against a subject, which claims what it claims or is said to."""
    value = _cases(subject)[0].mechanism if isinstance(subject, CatalogueSubject) else subject.value
    if isinstance(value, Mechanism):
        value = _with_parameters(request, value)
    elif request.parameters:
        raise UsageError(
            "{} {}=… is for mechanisms; a function has no parameters to set.", PARAMETERS, min(request.parameters)
        )
    game = play.against(value, subject.name)
    claim = tested_claim(request, game.claim, subject.name)
    label, target = f"game {play.name}:{play.n}", _target(subject.name, game)
    _refuse_unrelated(subject.name, (play.pair,), claim)
    return GivenPairs(
        target=target, label=label, claim=claim, replay=replay_id(request, target, label), runs=_runs(request, None),
        pairs=(play.pair,), exact=isinstance(value, Mechanism), black_box=request.black_box,
    )


def _small_scope(request: Request, claim: Claim, records: Records) -> Scope | None:
    """All sequences of the described records, where these are few: then they are enumerated besides."""
    if request.black_box or claim.rho is not None or claim.curve is not None or not claim.relation.of_records:
        return None
    size = request.size or DEFAULT_SIZE
    domain = records.every(MOST_UNASKED)
    if domain is None or len(domain) < 2 or len(domain) ** size > MOST_UNASKED:
        return None
    return Scope(domain, size, ordered=True)


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
    records = request.records
    if records is None:
        return ()
    # pairs depend on the seed, and not on the runs' streams
    rng = default_rng([request.seed, 0x9A125])
    table = None if request.table is None else _rows(request.table, request, rng)
    size = len(table) if table is not None else request.size or DEFAULT_SIZE
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
    pairs = (
        starting_pairs(relation, records, size, rng)
        if table is None
        else table_pairs(relation, records, table, rng)
    )
    pairs = [pair for pair in pairs if sized(pair, sizes_of(request, relation))]
    if not pairs:
        raise UsageError("{} {!r} has no two datasets that are {} neighbours.", DATA, request.data, relation.name)
    return tuple(pairs)


def sizes_of(request: Request, relation: Relation) -> tuple[int, int] | None:
    """Least and most records of the datasets of a search: those that the user gave, or one step of the relation more.

    A function may need exactly so many. None where no size is given: smaller and larger ones are tried too.
    """
    if request.size is None:
        return None
    # a user has any number of records
    room = {"add-remove-one": relation.size, "users": request.size}.get(relation.kind, 0)
    return max(request.size - room, 0), request.size + room


def _rows(table: tuple[Record, ...], request: Request, rng: Generator) -> tuple[Record, ...]:
    """The rows of a table that a search starts from: all, or `size` of them at random, in their order.

    Raises:
        UsageError: it has too few or too many.
    """
    size = len(table) if request.size is None else request.size
    if size > len(table):
        raise UsageError("{} is {:,}, and {} has {:,} rows.", SIZE, size, request.data, len(table))
    if size > MOST_ROWS:
        raise UsageError(
            "{} has {:,} rows, and a search takes at most {:,}: give {} 1000 for 1,000 of them at random.",
            request.data, len(table), MOST_ROWS, SIZE,
        )
    return table if size == len(table) else tuple(table[i] for i in sorted(rng.choice(len(table), size, replace=False)))


def _of_case(
    request: Request, target: MechanismTarget, case: Case, claim: Claim, expected: Verdict | None
) -> PrivacyJob:
    """A case of a plan, or the request's pairs in its place."""
    _refuse_unrelated(target.name, case.pairs, claim)
    given = GivenPairs(
        target=target, label=case.label, claim=claim, replay=replay_id(request, target, case.label), expected=expected,
        runs=case.runs, pairs=case.pairs, exact=case.exact, black_box=request.black_box, bits=case.bits,
        notes=case_notes(target.name, case, expected), drawing=case.drawing,
    )
    if case.scope is not None:
        _refuse_divergence(target.name, claim)
        return ExhaustiveDomain(**vars(given), scope=case.scope)
    if request.records is None:
        return given
    return PairSearch(**vars(given), records=request.records, sizes=sizes_of(request, claim.relation))


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
    """Reject a claim of which one (ε, δ) is tested, and that follows from more.

    Raises:
        UsageError: it is of zCDP, and tested at one ε.
    """
    if claim.rho is not None:
        raise UsageError(
            "{} claims {}, tested at one ε, which does not prove it: give {} {} to compare exact output distributions "
            "with all of it, or {} and {}.",
            name, str(claim), CLAIM, f"'zcdp({claim.rho:g})'", EPSILON, DELTA,
        )


def claim_of_group(subject: Mechanism | Callable[..., object], claim: Claim, k: int) -> Claim:
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
    distinct = []
    for job in jobs:
        times, replay = seen[job.replay], job.replay
        seen[replay] += 1
        again = hashlib.sha256(f"{replay} {times}".encode()).hexdigest()[:12]
        distinct.append(replace(job, replay=again) if times else job)
    return distinct


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
