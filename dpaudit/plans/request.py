"""What a user asks for."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property
from typing import Self

from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.description import Description, parse_description
from dpaudit.adversary.pairs.observed import observed_records
from dpaudit.errors import DpauditError, UsageError
from dpaudit.language import Claim, Curve, Dataset, Mechanism, Record, Relation, Users, parse_curve, relation_named
from dpaudit.language.accounting import claim_under, is_accounting
from dpaudit.language.checks import at_least, positive, probability, whole
from dpaudit.language.containers import Container, container_from_json
from dpaudit.options import (
    ALPHA,
    CALL_TIME,
    CASE,
    CERTIFY,
    CLAIM,
    COMPARED,
    DATA,
    DEFAULT_ALPHA,
    DEFAULT_COMPARED,
    DEFAULT_MIN_POWER,
    DELTA,
    DOMAIN,
    EPSILON,
    GAME,
    GROUPS,
    JOBS,
    MIN_POWER,
    MOST,
    PAIR,
    REALISED,
    RUNS,
    SCORES,
    SEED,
    SIZE,
    SIZES,
    STOP_AT_REFUTATION,
    TIME,
    Door,
)
from dpaudit.plans.recorded_files import again
from dpaudit.results.datasets import dataset_from_json, dataset_to_json
from dpaudit.subjects.command import Command, command
from dpaudit.subjects.recorded import Recorded, RecordedFiles

ID_VERSION = "2.0"
"""Part of every replay id: it changes when the same request would give another result."""
LEAST_ALPHA = 1e-100
"""Its shares must stay floats."""
LONGEST_CALL = 1e8
"""Seconds that timers take."""


@dataclass(frozen=True)
class PriorEvidence:
    """The e-value of earlier, independent runs against a claim.

    Args:
        log_e: its natural logarithm.
        seeds: of the requests that it comes from, one for every run of CI.
        about: the mechanism and the claim, in words for messages.
        alpha: the smallest share of the error that the e-process had in these runs; it may not have more later.
    """

    log_e: float
    seeds: tuple[int, ...]
    about: str = ""
    alpha: float = 1.0
    data: tuple[str, ...] = ()
    """Recordings that it comes from, which must not count again: their names and the beginnings of their SHA-256."""

    @property
    def session(self) -> int:
        """The number of the next run, counted from 1."""
        return len(self.seeds) + 1


@dataclass(frozen=True)
class VerifyMode:
    """A finite domain whose pairs are all to be verified.

    Args:
        domain: points of the domain; None for the records of a description.
        records: size of the datasets.
        groups: also group privacy, for groups of up to this many records.
        ordered: whether the order of the records matters.
        symmetries: whether to use the symmetries that the mechanism declares.
    """

    domain: int | None
    records: int
    groups: int = 1
    ordered: bool = False
    symmetries: bool = True

    def __post_init__(self) -> None:
        if self.domain is not None:
            whole(DOMAIN, self.domain, least=1)
        whole(SIZE, self.records, least=1)
        whole(GROUPS, self.groups, least=1)


@dataclass(frozen=True)
class WorstCaseMode:
    """Search for the worst pair by exact output distributions.

    Args:
        domain: points of the domain, for algorithms of the catalogue.
        records: most records of a dataset.
        case: case of the catalogue to start from, with its mechanism and pairs, instead of a small domain.
        scores: vary the scores instead of records: any quality function of sensitivity 1.
        realised: only scores that some dataset attains.
        compared: most pairs whose output distributions are compared.
        ordered: whether the order of the records matters.
    """

    domain: int | None = None
    records: int = 32
    case: str | None = None
    scores: bool = False
    realised: bool = False
    compared: int = DEFAULT_COMPARED
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.domain is not None:
            whole(DOMAIN, self.domain, least=1)
        whole(SIZE, self.records, least=1)
        whole(COMPARED, self.compared, least=1)
        if self.realised and not self.scores:
            raise UsageError("{} goes with {}.", REALISED, SCORES)
        if self.case is not None and self.domain is not None:
            raise UsageError("Give {} or {}, not both.", DOMAIN, CASE)


@dataclass(frozen=True)
class ComparisonSpec:
    """A comparison to run.

    Args:
        name: of the registered comparison.
        sizes: numbers of records; () for its own.
        parameters: its fields to change, name and value.
    """

    name: str
    sizes: tuple[int, ...] = ()
    parameters: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        for size in self.sizes:
            whole(SIZES, size, least=1)


@dataclass(frozen=True)
class Request:
    """One invocation of `dpaudit check`, `dpaudit verify` or `dpaudit worst`.

    Args:
        targets: catalogue names, "module:object" or "file.py:object"; a `Command`; or one function or mechanism itself.
        seed: whole number ≥ 0.
        alpha: family-wise error over everything tried, in [1e-100, 0.5).
        runs: most samples per dataset of each pair, learning included; None for each case's own.
        time: time limit in seconds; None for none.
        call_time: time limit for one call of a function; a timeout is an output. None for no limit.
        jobs: worker processes.
        cluster: the address of a cluster whose workers to use instead (`dpaudit.subjects.clusters`).
        epsilon, delta, relation: the claim to test; None for the mechanism's own.
        pair: the two datasets to test on; None for the case's own.
        pairs: several pairs instead of `pair`, worst first; α covers all of them.
        data: a description of records (`dpaudit.adversary.pairs.description`) from which to find pairs; with a table,
            its name.
        size: records in found pairs; with a table, how many of its rows.
        parameters: fields of the mechanism to change.
        certify: use all samples, also after a refutation, for a sharper bound.
        stop_at_refutation: draw none after a refutation.
        bits: whether the low-order bits of floating-point outputs count in the verdict.
        min_power: PASS requires that a violation of this multiple of the claimed ε would have been detected with
            probability 0.9 on some pair; infinity for no requirement.
        black_box: use samples only: no exact output distributions, no declared densities.
        prior: e-values of earlier, independent results, by `evidence_key` of their cases.
        prior_from: the file that they come from, for the record.
        verify: verify every pair of datasets of a finite domain exactly.
        worst_case: search for the worst pair by exact output distributions.
        only: "privacy" or "utility" for one of them alone, of a check; None for both.
        game: "name:n", a game played with the subject instead of pairs.
        comparison: a comparison to run instead of the targets' own cases.
        groups: audit group privacy instead, by chains, for groups of 2 up to this many.
        spelled: options that the command line of the result states even at their defaults, as the project's
            configuration changes them. The result does not depend on them.
        claim: the claim instead of epsilon, delta and relation, e.g. for zCDP; a curve may have a relation beside it.
        call: source of the Python call that made the request, which its result shows.
        door: the front end; sentences name options as it does.
        container: what the function gets the records of `pair`, `pairs` or `table` in; None for a list.
        table: a real dataset, whose neighbours are searched for.
        files: the words of `--pair`, where they named files; the command line of the result states them.
        recorded: recorded outputs, which are audited instead of the targets; without a claim their bound is wanted.
        read: what turns each output into what is tested: a function, or "file.py:function"; None for the output itself.
    """

    targets: tuple[str | Callable[..., object] | Mechanism, ...]
    seed: int = 0
    alpha: float = DEFAULT_ALPHA
    runs: int | None = None
    time: float | None = None
    call_time: float | None = None
    jobs: int = 1
    cluster: str | None = None
    epsilon: float | None = None
    delta: float | None = None
    relation: str | None = None
    pair: tuple[Dataset, Dataset] | None = None
    data: str | None = None
    size: int | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    certify: bool = False
    stop_at_refutation: bool = False
    bits: bool = False
    min_power: float = DEFAULT_MIN_POWER
    black_box: bool = False
    prior: dict[str, PriorEvidence] = field(default_factory=dict)
    prior_from: str | None = None
    verify: VerifyMode | None = None
    worst_case: WorstCaseMode | None = None
    only: str | None = "privacy"
    comparison: ComparisonSpec | None = None
    game: str | None = None
    groups: int | None = None
    spelled: frozenset[str] = frozenset()
    claim: Claim | None = None
    call: str | None = None
    door: Door = "command line"
    pairs: tuple[tuple[Dataset, Dataset], ...] = ()
    container: Container | None = None
    table: tuple[Record, ...] | None = None
    files: tuple[str, ...] = ()
    recorded: Recorded | None = None
    read: str | Callable[..., object] | None = None

    def __post_init__(self) -> None:
        if not self.targets:
            raise UsageError(
                "Nothing to check: name an algorithm of `dpaudit list`, or file.py:function (`dpaudit example`)."
            )
        whole(SEED, self.seed, least=0)
        if self.only not in (None, "privacy", "utility"):
            raise UsageError(f"only must be privacy or utility, not {self.only!r}.")
        whole(JOBS, self.jobs, least=1)
        if not LEAST_ALPHA <= probability(ALPHA, self.alpha) < 0.5:
            raise UsageError("{} must be at least {:g} and below 0.5, not {!r}.", ALPHA, LEAST_ALPHA, self.alpha)
        if self.runs is not None:
            whole(RUNS if self.recorded is None else MOST, self.runs, least=1)
        if self.time is not None:
            positive(TIME, self.time)
        if self.call_time is not None:
            positive(CALL_TIME, self.call_time)
            if self.call_time >= LONGEST_CALL:
                raise UsageError(
                    "{} must be below {:g} seconds, not {!r}.", CALL_TIME, LONGEST_CALL, self.call_time
                )
            if self.game is not None:
                raise UsageError(
                    "{} limits calls of the audited function; leave {} or {} out.", CALL_TIME, GAME, CALL_TIME
                )
        if not self.min_power > 1:
            raise UsageError("{} must be a number above 1, not {!r}.", MIN_POWER, self.min_power)
        if self.certify and self.stop_at_refutation:
            raise UsageError("Give {} or {}, not both.", CERTIFY, STOP_AT_REFUTATION)
        if self.epsilon is not None:
            at_least(EPSILON, self.epsilon, 0)
        if self.delta is not None:
            probability(DELTA, self.delta)
        if self.size is not None:
            whole(SIZE, self.size, least=1)
        if self.groups is not None:
            whole(GROUPS, self.groups, least=2)
        if self.pair is not None and self.pairs:
            raise UsageError("Give pair or pairs, not both.")
        if self.data is not None and self.given_pairs:
            raise UsageError("Give {} or {}, not both.", PAIR, DATA)
        if self.game is not None and (self.data is not None or self.given_pairs):
            raise UsageError("A game draws its own datasets; leave {} and {} out.", PAIR, DATA)
        if self.game is not None and self.groups is not None:
            raise UsageError("A game draws its own datasets, not chains; leave {} or {} out.", GROUPS, GAME)
        exact_evidence = self.verify or self.worst_case
        if exact_evidence is not None and exact_evidence.domain is not None and self.data is not None:
            raise UsageError("Give {} or {}, not both.", DOMAIN, DATA)
        if self.size is not None and self.data is None:
            raise UsageError("{} sets the number of records of found pairs; it needs {}.", SIZE, DATA)
        self._settle_claim()
        numbers = (self.epsilon, self.delta, self.relation)
        if self.claim is not None and self.claim.curve is not None and any(given is not None for given in numbers):
            raise UsageError("Give {}, or {} and {}, not both.", CLAIM, EPSILON, DELTA)
        if self.claim is not None and any(given is not None for given in numbers):
            raise UsageError("A claim already has ε, δ and the relation; give either the claim or these.")
        named = [target for target in self.targets if isinstance(target, str)]
        if len(set(named)) < len(named):
            raise UsageError(f"{max(named, key=named.count)} is given twice; give it once.")

    def _settle_claim(self) -> None:
        """A curve, its text, or an object of dp-accounting becomes a claim under the stated relation.

        Raises:
            UsageError: a claim that is none of these.
        """
        given: object = self.claim
        if given is None or isinstance(given, Claim):
            return
        curve = parse_curve(given) if isinstance(given, str) else given
        if not (isinstance(curve, Curve) or is_accounting(curve)):
            raise UsageError(
                "{} is a curve such as dpaudit.GaussianDP(0.5), its text, or an event of dp-accounting, not {!r}.",
                CLAIM, given,
            )
        relation = None if self.relation is None else relation_named(self.relation)
        object.__setattr__(self, "claim", claim_under(curve, relation))
        object.__setattr__(self, "relation", None)

    @property
    def checks(self) -> bool:
        """Whether it is of `dpaudit check`: only there guarantees of utility may be audited."""
        return self.verify is None and self.worst_case is None and self.comparison is None

    @property
    def given_pairs(self) -> tuple[tuple[Dataset, Dataset], ...]:
        """The pairs to test on, where they are given."""
        return self.pairs if self.pair is None else (self.pair,)

    @cached_property
    def _description(self) -> Description | None:
        return None if self.data is None or self.table is not None else parse_description(self.data)

    @cached_property
    def records(self) -> Records | None:
        """The records that `data` or the table describes; None without either.

        Raises:
            DatasetError: the text describes none.
        """
        if self.table is not None:
            return observed_records(self.table, self.container)
        return None if self._description is None else self._description.records

    @property
    def handed_in(self) -> Container | None:
        """What a function gets its records in; None for a list.

        Raises:
            DatasetError: as `records`.
        """
        return self.container if self._description is None else self._description.container

    @property
    def stated_relation(self) -> Relation | None:
        """The relation of --relation, or of the claim."""
        if self.claim is not None:
            return self.located(self.claim.relation)
        return None if self.relation is None else self.located(relation_named(self.relation))

    def located(self, relation: Relation) -> Relation:
        """The relation, which finds a column that it names among those of the datasets.

        Raises:
            ParameterError: there is no such column.
        """
        if not isinstance(relation, Users):
            return relation
        return relation.located(None if self.handed_in is None else self.handed_in.fields)

    def image(self) -> dict[str, object]:
        """JSON of all that the result depends on (not the number of jobs): what ids and replays are made from."""
        return {
            "targets": [_named(target) for target in self.targets],
            "seed": self.seed,
            "alpha": self.alpha,
            "runs": self.runs,
            # under the names that they had first, so that the ids of earlier results stay
            "seconds": self.time,
            **({} if self.call_time is None else {"call_seconds": self.call_time}),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "pair": None if self.pair is None else _datasets_to_json(self.pair),
            "data": self.data,
            "size": self.size,
            "parameters": {key: repr(value) for key, value in self.parameters.items()},
            "certify": self.certify,
            **({"stop_at_refutation": True} if self.stop_at_refutation else {}),
            "bits": self.bits,
            **({} if self.min_power == DEFAULT_MIN_POWER else {"min_power": self.min_power}),
            "black_box": self.black_box,
            "prior": {key: [value.log_e, value.alpha, *value.seeds] for key, value in sorted(self.prior.items())},
            **({} if self.verify is None else {"verify": list(astuple(self.verify))}),
            **({} if self.worst_case is None else {"worst_case": list(astuple(self.worst_case))}),
            **({"only": self.only} if self.only is not None and self.checks else {}),
            **({} if self.game is None else {"game": self.game}),
            **({} if self.comparison is None else {"comparison": repr(astuple(self.comparison))}),
            **({} if self.groups is None else {"groups": self.groups}),
            **({} if self.claim is None else {"claim": repr(self.claim)}),
            **({"pairs": list(map(_datasets_to_json, self.pairs))} if self.pairs else {}),
            # datasets of a search once had other sizes as well
            **({} if self.size is None else {"sized": True}),
            **({} if self.container is None else {"container": self.container.to_json()}),
            **({} if self.table is None else {"table": dataset_to_json(self.table)}),
            **({} if self.recorded is None else {"recorded": self.recorded.image()}),
            **({} if self.read is None else {"read": _named(self.read)}),
        }

    def to_json(self) -> str:
        """The request as JSON, which `from_json` reads.

        Raises:
            UsageError: it holds a function, a mechanism or a claim itself, which only the program that made them has.
        """
        curve = None if self.claim is None else self.claim.curve
        named = self.claim is None or (curve is not None and _reads_back(curve))
        named = named and all(isinstance(target, str | Command) for target in self.targets)
        if not named or not isinstance(self.read, str | None):
            raise UsageError("A request with a function, mechanism or claim object cannot be serialised; name them.")
        value = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.recorded is not None:
            if self.recorded.words is None:
                raise UsageError("A request with recorded outputs themselves cannot be serialised; name files.")
            files = self.recorded.files
            value["recorded"] = {
                "words": vars(self.recorded.words), "sha256": [digest for _, digest in files],
                "sources": [source for source, _ in files],
            }
        value["targets"] = [
            {"command": target.text, "persistent": target.persistent} if isinstance(target, Command) else target
            for target in self.targets
        ]
        if self.claim is not None and curve is not None:
            value["claim"] = [curve.text, self.claim.relation.name]
        value["pair"] = None if self.pair is None else _datasets_to_json(self.pair)
        value["pairs"] = [_datasets_to_json(pair) for pair in self.pairs]
        value["container"] = None if self.container is None else self.container.to_json()
        value["table"] = None if self.table is None else dataset_to_json(self.table)
        value["parameters"] = _literals(self.parameters.items())
        value["spelled"] = sorted(self.spelled)
        for name in ("verify", "worst_case", "comparison"):
            value[name] = None if value[name] is None else vars(value[name])
        if self.comparison is not None:
            value["comparison"] = {**vars(self.comparison), "parameters": _literals(self.comparison.parameters)}
        value["prior"] = {key: vars(evidence) for key, evidence in self.prior.items()}
        return json.dumps(value)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The request that `to_json` wrote.

        Raises:
            UsageError: it is no such text.
        """
        try:
            value = json.loads(text)
            made: dict[str, object] = {
                "targets": tuple(
                    one if isinstance(one, str) else command(one["command"], persistent=one["persistent"])
                    for one in value["targets"]
                ),
                "pair": None if value["pair"] is None else _datasets_from_json(value["pair"]),
                "pairs": tuple(map(_datasets_from_json, value["pairs"])),
                "parameters": dict(_values(value["parameters"])),
                "spelled": frozenset(value["spelled"]),
                "files": tuple(value.get("files", ())),
                "verify": None if value["verify"] is None else VerifyMode(**value["verify"]),
                "worst_case": None if value["worst_case"] is None else WorstCaseMode(**value["worst_case"]),
                "prior": {
                    key: PriorEvidence(
                        **{**one, "seeds": tuple(one["seeds"]), "data": tuple(one.get("data", ()))}
                    )
                    for key, one in value["prior"].items()
                },
            }
            if (claim := value.get("claim")) is not None:
                text, relation = claim
                made["claim"] = Claim.of(parse_curve(text), relation=relation_named(relation))
            if (container := value.get("container")) is not None:
                made["container"] = container_from_json(container)
            if (table := value.get("table")) is not None:
                made["table"] = tuple(dataset_from_json(table))
            if (comparison := value["comparison"]) is not None:
                parameters = tuple(_values(comparison["parameters"]))
                made["comparison"] = ComparisonSpec(comparison["name"], tuple(comparison["sizes"]), parameters)
            if (recorded := value.get("recorded")) is not None:
                words = {**recorded["words"], "files": tuple(recorded["words"]["files"])}
                used = [one for evidence in value["prior"].values() for one in evidence.get("data", ())]
                made["recorded"] = again(
                    RecordedFiles(**words), recorded["sha256"], used=used, sources=recorded.get("sources", ())
                )
            return cls(**{**value, **made})
        except (ValueError, LookupError, TypeError, AttributeError, SyntaxError) as error:
            raise UsageError(f"This is not a request written by dpaudit ({type(error).__name__}: {error}).") from None


def _reads_back(curve: Curve) -> bool:
    """Whether the text of a curve gives the same curve."""
    try:
        return parse_curve(curve.text) == curve
    except DpauditError:
        return False


def _datasets_to_json(pair: tuple[Dataset, Dataset]) -> list[object]:
    return [dataset_to_json(dataset) for dataset in pair]


def _datasets_from_json(value: list[object]) -> tuple[Dataset, Dataset]:
    first, second = value
    return dataset_from_json(first), dataset_from_json(second)


def _literals(parameters: Iterable[tuple[str, object]]) -> list[list[str]]:
    """Names, and values as Python writes them: JSON has no tuples."""
    return [[name, repr(value)] for name, value in parameters]


def _values(literals: Iterable[list[str]]) -> Iterator[tuple[str, object]]:
    for name, text in literals:
        # repr of an infinite number is no literal
        yield name, float(text) if text in ("inf", "-inf", "nan") else ast.literal_eval(text)


def _named(target: str | Callable[..., object] | Mechanism) -> str:
    """A target in a form that is the same in every process."""
    if isinstance(target, str):
        return target
    if isinstance(target, Mechanism):
        return repr(target)
    if isinstance(target, Command):
        return target.spelled
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', type(target).__qualname__)}"
