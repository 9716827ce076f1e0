"""Notes of audits: one small dataclass for each kind, as reasons of verdicts are (`dpaudit.results.reasons`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from dpaudit.errors import DpauditError
from dpaudit.options import CALL_TIME, DATA, ORDERED, RUNS, Door
from dpaudit.results.reasons import Statement, Value, at_least

NoteCode: TypeAlias = Literal[
    "stated", "own_randomness", "call_time_of_mechanism", "assumption", "exact_failures", "sampled_failures",
    "not_exact", "curve_left_open", "not_every_pair_exact", "real_noise", "rounded", "order_matters",
    "smaller_domain", "smaller_pair",
    "search_time_limit", "pairs_compared", "chains_compared", "search_errors", "scores", "scores_attained",
    "scores_not_attained", "scores_of_no_quality", "chain_link_refutes", "minimized", "not_minimized",
    "exceptional_float", "rare_events", "samples_disagree", "also_crashed", "also_proved", "wrong_sensitivity",
    "success_not_exact", "no_figure",
    "prior_of_unknown", "prior_of_other", "prior_unused", "evidence_of_several", "evidence_of_unknown", "made_in_test",
    "kept_from_earlier", "search_cut_short", "samples_in_time", "interrupted", "read_by", "trace",
    "recorded_evidence", "finding",
]
SHOWN_ROUNDINGS = 3
"""Roundings that a note names."""


@dataclass(frozen=True)
class NoteRecord:
    """A note of an audit, as results hold it."""

    code: NoteCode
    """What kind of note it is, for programs."""
    values: dict[str, Value]
    """The numbers and texts that the sentence of this kind of note is made from."""
    sentence: str
    """The note in words. Options are named as the front end does that made the result."""


@dataclass(frozen=True)
class Note(Statement):
    """What a reader of an audit should know besides the reason of its verdict."""

    code: ClassVar[NoteCode]

    def record(self, door: Door) -> NoteRecord:
        """The note as results hold it, in the words of this front end."""
        return NoteRecord(self.code, self.values(door), self.sentence(door))


# -- of what is audited


@dataclass(frozen=True)
class Stated(Note):
    """A text of somebody else: of a case of the catalogue, a user's function, or an adapter."""

    code = "stated"
    text: str

    def sentence(self, door: Door) -> str:
        return self.text


@dataclass(frozen=True)
class ShowsFinding(Note):
    """The audit shows a finding about a printed claim."""

    code = "finding"
    number: int
    severity: str
    title: str
    page: str
    """Where its page is in a checkout, with the anchor."""

    def sentence(self, door: Door) -> str:
        return (
            f"Finding {self.number} ({self.severity}): {self.title}. See {self.page}, or "
            f"`dpaudit finding {self.number}`."
        )


@dataclass(frozen=True)
class OwnRandomness(Note):
    """The function does not take its randomness from `rng`."""

    code = "own_randomness"

    def sentence(self, door: Door) -> str:
        return (
            "Its randomness is its own and cannot be seeded: results differ from run to run, and `dpaudit replay` "
            "repeats the audit but not its numbers."
        )


@dataclass(frozen=True)
class ReadBy(Note):
    """What was tested is a function of the outputs."""

    code = "read_by"
    reader: str

    def sentence(self, door: Door) -> str:
        return (
            f"Tested is what {self.reader} makes of each output. A violation and a lower bound on ε hold for the "
            "output itself, as this is post-processing; a PASS is about what was read."
        )


@dataclass(frozen=True)
class CallTimeOfMechanism(Note):
    """A time limit for calls was given, and a mechanism in dpaudit's language has no calls."""

    code = "call_time_of_mechanism"

    def sentence(self, door: Door) -> str:
        return (
            f"{CALL_TIME.called(door)} is about calls of functions: how long a mechanism in dpaudit's language "
            "takes is no outcome."
        )


@dataclass(frozen=True)
class Assumption(Note):
    """What was seen of an assumption of the statistics, on which the verdict does not rest."""

    code = "assumption"
    assumption: str
    seen: str

    def sentence(self, door: Door) -> str:
        return self.seen


@dataclass(frozen=True)
class ExactFailures(Note):
    """Failures among the outputs, with their exact probabilities.

    Args:
        failures: what each is: "raises ValueError".
        where: message and place of one of each.
        left, right: probability of each on D and on D′.
    """

    code = "exact_failures"
    failures: list[str]
    where: list[str]
    left: list[float]
    right: list[float]

    def sentence(self, door: Door) -> str:
        rows = zip(self.failures, self.where, self.left, self.right, strict=True)
        return _failures(sorted(
            f"{what} with probability {p:.4g} on D and {q:.4g} on D′ (as in {where})" for what, where, p, q in rows
        ))


@dataclass(frozen=True)
class SampledFailures(Note):
    """Failures among the samples.

    Args:
        failures: what each is: "raises ValueError", "took longer than 0.5 s".
        where: message and place of one of each.
        left, right: how often each came on D and on D′.
        n, m: samples of D and of D′.
        by_the_clock: whether calls took too long.
        pairs: how many pairs these samples are of.
    """

    code = "sampled_failures"
    failures: list[str]
    where: list[str]
    left: list[int]
    right: list[int]
    n: int
    m: int
    by_the_clock: bool
    pairs: int = 1

    def sentence(self, door: Door) -> str:
        rows = zip(self.failures, self.where, self.left, self.right, strict=True)
        said = _failures([f"{what} {self._counted(x, y)} (as in {where})" for what, where, x, y in rows])
        clock = "The clock decides which calls took too long, so another run may count differently."
        return f"{said} {clock}" if self.by_the_clock else said

    def _counted(self, x: int, y: int) -> str:
        if self.pairs > 1:
            # D and D′ are those of the reported pair, and these samples are of others too
            return f"{x + y:,} of {self.n + self.m:,} times on the {self.pairs} pairs that were sampled"
        return f"{x:,} of {self.n:,} times on D and {y:,} of {self.m:,} on D′"


@dataclass(frozen=True)
class Traced(Note):
    """What a few runs with the same draws on both datasets show, in a line of the function; the verdict rests on other
    evidence.

    Args:
        alarm: what it is (`dpaudit.traces.alarms.AlarmCode`).
        file, line: the line that it is about; the file is below the working directory, or a name.
        source: the text of the line.
        others: further lines, as "file:line": the line that computes the value, the branch, an unused draw.
        part: of the output, in words.
        left, right: what differs, on D and on D′.
        epsilon: that the pair needs along this path; None where that is not known, or not finite.
        pair: the two datasets as JSON, where they were searched for; "" for the pair that was given.
        said: what differs, in a sentence that begins with the line.
    """

    code = "trace"
    alarm: str
    file: str
    line: int
    source: str
    others: list[str]
    part: str
    left: str
    right: str
    epsilon: float | None
    pair: str
    said: str

    def sentence(self, door: Door) -> str:
        return f"Trace: {self.said}{f' (Seen on {self.pair}.)' if self.pair else ''}"


# -- of exact evidence


@dataclass(frozen=True)
class NotExact(Note):
    """Output distributions could not be computed exactly."""

    code = "not_exact"
    error: DpauditError

    def sentence(self, door: Door) -> str:
        return f"Not computed exactly: {self.error.at(door)}"


@dataclass(frozen=True)
class CurveLeftOpen(Note):
    """Exact distributions keep every tested point of a curve, but were not compared with all of it."""

    code = "curve_left_open"
    claim: str

    def sentence(self, door: Door) -> str:
        return (
            f"The exact distributions keep the tested points of {self.claim}; whether they keep all of it was not "
            "decided exactly."
        )


@dataclass(frozen=True)
class NotEveryPairExact(Note):
    """Not every pair of a small domain could be compared exactly."""

    code = "not_every_pair_exact"
    scope: str
    error: DpauditError

    def sentence(self, door: Door) -> str:
        return f"Not every pair of {self.scope} could be compared exactly: {self.error.at(door)}"


@dataclass(frozen=True)
class RealNoise(Note):
    """The evidence is from densities of continuous noise."""

    code = "real_noise"

    def sentence(self, door: Door) -> str:
        return (
            "The exact ε and δ are those of real-valued noise, from its density. Samples are floating-point numbers; "
            "what their low-order bits reveal is not included."
        )


@dataclass(frozen=True)
class Rounded(Note):
    """The program rounds some of its numbers to doubles.

    Args:
        first: the first few roundings, in words.
        more: how many others there are.
    """

    code = "rounded"
    first: list[str]
    more: int

    @classmethod
    def of(cls, rounded: Sequence[str]) -> Rounded:
        """The note on these roundings."""
        return cls(list(rounded[:SHOWN_ROUNDINGS]), max(0, len(rounded) - SHOWN_ROUNDINGS))

    def sentence(self, door: Door) -> str:
        more = f"; and {self.more} more" if self.more else ""
        return (
            f"Some numbers of the program are rounded to doubles ({'; '.join(self.first)}{more}): the exact ε and δ "
            "and their intervals hold for the program with these rounded numbers, and are no proof for a program "
            "without rounding."
        )


@dataclass(frozen=True)
class OrderMatters(Note):
    """The output distribution depends on the order of records, and multisets were compared.

    Args:
        records: in an order whose output distribution differs from that of the sorted records.
    """

    code = "order_matters"
    records: str

    def sentence(self, door: Door) -> str:
        ordered = f"dpaudit verify {ORDERED.flag}"
        if door == "Python":
            ordered = f"dpaudit.verify(…, {ORDERED.called(door)})"
        return (
            f"The order of records matters: on {self.records} the output distribution differs from that on the sorted "
            f"records, which is what was compared; `{ordered}` compares every sequence."
        )


@dataclass(frozen=True)
class SmallerDomain(Note):
    """A pair of a domain with fewer records refutes the claim too.

    Args:
        records: of its datasets.
        left, right: D and D′.
        epsilon_low: lower end of the enclosure of its ε; None if it is infinite.
        delta: the claimed δ.
    """

    code = "smaller_domain"
    records: int
    left: str
    right: str
    epsilon_low: float | None
    delta: float

    def sentence(self, door: Door) -> str:
        needed = f"{at_least(self.epsilon_low)} at δ = {self.delta:.6g}"
        return _enough(self.records, self.left, self.right, needed)


# -- of searches


@dataclass(frozen=True)
class SmallerPair(Note):
    """A pair with fewer or simpler records than the worst one refutes the claim too.

    Args:
        records: of its datasets.
        left, right: D and D′.
        epsilon: exact, at the claimed δ; None if it is infinite.
    """

    code = "smaller_pair"
    records: int
    left: str
    right: str
    epsilon: float | None

    def sentence(self, door: Door) -> str:
        return _enough(self.records, self.left, self.right, _exactly(self.epsilon))


@dataclass(frozen=True)
class SearchTimeLimit(Note):
    """The time limit ended a search; `sought` is "pairs" or "chains", or "" for the worst pair."""

    code = "search_time_limit"
    sought: str

    def sentence(self, door: Door) -> str:
        return f"The time limit ended the search{f' for {self.sought}' if self.sought else ''}."


@dataclass(frozen=True)
class Interrupted(Note):
    """The user ended the audit; `by_the_clock` is True, because the moment decides what it had until then."""

    code = "interrupted"
    by_the_clock: bool = True

    def sentence(self, door: Door) -> str:
        return "The audit was interrupted; this is what it had until then."


@dataclass(frozen=True)
class SearchCutShort(Note):
    """The search for pairs used up its part of the time limit, or took fewer samples because calls are slow.

    Args:
        estimates: how often a pair was tried.
        by_the_clock: True: on another machine the search may get further.
    """

    code = "search_cut_short"
    estimates: int
    by_the_clock: bool

    def sentence(self, door: Door) -> str:
        if not self.estimates:
            what = "The calls are too slow to search for pairs within the time limit, so the first ones were audited."
        else:
            made = "one estimate" if self.estimates == 1 else f"{self.estimates:,} estimates"
            what = f"The search for pairs made {made} in its half of the time; the best pairs so far were audited."
        return f"{what} On another machine the same seed may lead to other pairs; without a limit it does not."


@dataclass(frozen=True)
class SamplesInTime(Note):
    """A time limit leaves time for fewer samples than there would be without it.

    Args:
        seconds: the limit; None if unknown.
        runs: samples per dataset of each pair.
        by_the_clock: True: another machine may have time for more.
    """

    code = "samples_in_time"
    seconds: float | None
    runs: int
    by_the_clock: bool

    def sentence(self, door: Door) -> str:
        limit = "" if self.seconds is None else f" of {self.seconds:g} s"
        return (
            f"The time limit{limit} left time for {self.runs:,} samples per dataset. With {RUNS.called(door)} the "
            "number does not depend on the machine."
        )


@dataclass(frozen=True)
class PairsCompared(Note):
    """How many pairs a search for the worst one compared.

    Args:
        compared: pairs.
        scores: whether they are pairs of score vectors.
        climbs: after each, the search began anew.
    """

    code = "pairs_compared"
    compared: int
    scores: bool
    climbs: int

    def sentence(self, door: Door) -> str:
        what = "score vectors" if self.scores else "pairs"
        return (
            f"A search compared the exact output distributions of {self.compared:,} {what}, in {self.climbs:,} "
            f"climb{'s' if self.climbs > 1 else ''}; there may be worse ones."
        )


@dataclass(frozen=True)
class ChainsCompared(Note):
    """How many chains of neighbours a search compared.

    Args:
        exact: whether by exact output distributions.
        compared: chains.
        links: neighbours in a chain, at most.
    """

    code = "chains_compared"
    exact: bool
    compared: int
    links: int

    def sentence(self, door: Door) -> str:
        what = "exact output distributions" if self.exact else "runs"
        return (
            f"A search compared {what} on the ends of {self.compared:,} chains of up to {self.links} neighbours; there "
            "may be worse ones."
        )


@dataclass(frozen=True)
class SearchErrors(Note):
    """The mechanism failed in this number of estimates of a search; `error` is the first."""

    code = "search_errors"
    estimates: int
    error: DpauditError

    def sentence(self, door: Door) -> str:
        return f"The mechanism failed in {self.estimates:,} estimates of the search, e.g.: {self.error.at(door)}"


@dataclass(frozen=True)
class Scores(Note):
    """The worst pair of score vectors."""

    code = "scores"
    scores: str

    def sentence(self, door: Door) -> str:
        return f"Scores on D → on D′: {self.scores}."


@dataclass(frozen=True)
class ScoresAttained(Note):
    """Two neighbouring datasets attain the scores of the worst pair.

    Args:
        quality: the quality function under which they do.
        records: of the datasets.
        left, right: D and D′.
        epsilon: exact, at the claimed δ; None if it is infinite.
    """

    code = "scores_attained"
    quality: str
    records: int
    left: str
    right: str
    epsilon: float | None

    def sentence(self, door: Door) -> str:
        return (
            f"Two datasets of {self.records:,} records attain these scores under {self.quality}: {self.left} and "
            f"{self.right}, which need {_exactly(self.epsilon)}."
        )


@dataclass(frozen=True)
class ScoresNotAttained(Note):
    """No neighbouring datasets attain the scores of the worst pair under this quality function."""

    code = "scores_not_attained"
    quality: str

    def sentence(self, door: Door) -> str:
        return (
            f"No two neighbouring datasets attain these scores under {self.quality}; another quality function does."
        )


@dataclass(frozen=True)
class ScoresOfNoQuality(Note):
    """No quality function is known that could attain the scores of the worst pair."""

    code = "scores_of_no_quality"

    def sentence(self, door: Door) -> str:
        return "No quality function of datasets is known that attains these scores."


@dataclass(frozen=True)
class ChainLinkRefutes(Note):
    """A link of the worst chain refutes the claim for neighbours, and its ends satisfy the claim for groups.

    Args:
        link: its number, from 1.
        stated: the claim for groups.
        single: the claim for neighbours.
    """

    code = "chain_link_refutes"
    link: int
    stated: str
    single: str

    def sentence(self, door: Door) -> str:
        return (
            f"The ends of the chain satisfy the claim for groups, {self.stated}. Its link {self.link} refutes the "
            f"claim for neighbours, {self.single}, which implies a claim for groups."
        )


@dataclass(frozen=True)
class Minimized(Note):
    """The refuting pair was minimised.

    Args:
        steps: of the minimisation.
        label: of the pair that it began with.
        left, right: numbers of records of that pair.
    """

    code = "minimized"
    steps: int
    label: str
    left: int
    right: int

    def sentence(self, door: Door) -> str:
        steps = f"{self.steps} step{'' if self.steps == 1 else 's'}"
        return (
            f"The pair was minimised in {steps} from “{self.label}” ({self.left} and {self.right} records), on which "
            "the e-process refuted the claim; the counts are those of the minimised pair."
        )


@dataclass(frozen=True)
class NotMinimized(Note):
    """The refuting pair could not be minimised, or not to the end.

    Args:
        error: why.
        further: whether it was minimised in part.
        by_the_clock: whether the time limit was the reason.
    """

    code = "not_minimized"
    error: DpauditError
    further: bool = False
    by_the_clock: bool = False

    def sentence(self, door: Door) -> str:
        return f"The refuting pair was not minimised{' further' if self.further else ''}: {self.error.at(door)}"


@dataclass(frozen=True)
class ExceptionalFloat(Note):
    """The pair that was found has a float that the description of the data includes.

    Args:
        value: "NaN", "an infinity" or "−0.0".
        keyword: of `floats`, with which the description excludes it.
        data: the description.
    """

    code = "exceptional_float"
    value: str
    keyword: str
    data: str

    def sentence(self, door: Door) -> str:
        return (
            f"The pair contains {self.value}, which a column of floats can contain whatever its range, so "
            f"{DATA.called(door)} {self.data!r} includes it. If it cannot reach the mechanism, exclude it with "
            f"{self.keyword}=False."
        )


# -- of samples


@dataclass(frozen=True)
class RareEvents(Note):
    """Violations by events of probability δ are too rare for these samples; `samples` are those of a dataset."""

    code = "rare_events"
    delta: float
    samples: int

    def sentence(self, door: Door) -> str:
        return (
            f"δ = {self.delta:.3g} is below 3/N = {3 / self.samples:.2g} for {self.samples:,} samples per dataset, so "
            "violations by events of probability δ are not detected; exact output distributions would show them."
        )


@dataclass(frozen=True)
class SamplesDisagree(Note):
    """The samples refute the claim and the exact output distributions do not; `alpha` is that of all audits."""

    code = "samples_disagree"
    alpha: float

    def sentence(self, door: Door) -> str:
        return (
            "The samples refute the claim and the exact output distributions do not: `bulk` or `law` disagrees with "
            f"`run`, or this is the one audit in {round(1 / self.alpha):,} with a false alarm."
        )


@dataclass(frozen=True)
class AlsoProved(Note):
    """Evidence shows a larger ε than is proved for real numbers.

    Args:
        scope: of the proof.
        epsilon: that is proved.
    """

    code = "also_proved"
    scope: str
    epsilon: float

    def sentence(self, door: Door) -> str:
        return (
            f"With real numbers and ideal noise the claim is proved, with ε = {self.epsilon:.6g}, for {self.scope}. "
            "The evidence here shows more: the program as it runs does something else, by its floating point, its "
            "source of randomness or datasets outside of that scope, or dpaudit is wrong, which should be reported."
        )


@dataclass(frozen=True)
class WrongSensitivity(Note):
    """A query's answers differ by more than it states, so that nothing is proved.

    Args:
        query: which.
        difference: of its answers.
        sensitivity: what it states.
        pair: on which.
    """

    code = "wrong_sensitivity"
    query: str
    difference: float
    sensitivity: float
    pair: str

    def sentence(self, door: Door) -> str:
        return (
            f"The answers of {self.query} differ by {self.difference:.6g} on the pair {self.pair}, more than the "
            f"sensitivity {self.sensitivity:.6g} that it states: no proof rests on it."
        )


@dataclass(frozen=True)
class AlsoCrashed(Note):
    """The mechanism, or dpaudit itself, raised after the claim was refuted."""

    code = "also_crashed"
    error: str

    def sentence(self, door: Door) -> str:
        return self.error


@dataclass(frozen=True)
class SuccessNotExact(Note):
    """The probability of success could not be computed exactly."""

    code = "success_not_exact"
    error: DpauditError

    def sentence(self, door: Door) -> str:
        return f"The probability of success was not computed exactly: {self.error.at(door)}"


@dataclass(frozen=True)
class NoFigure(Note):
    """The function that draws the figure of the case raised."""

    code = "no_figure"
    error: str

    def sentence(self, door: Door) -> str:
        return f"Its figure could not be made ({self.error})."


# -- of results of other runs


@dataclass(frozen=True)
class PriorOfUnknown(Note):
    """Prior evidence was given, and it is unknown what the mechanism computes.

    Args:
        where: the evidence is from.
        why: it is unknown.
    """

    code = "prior_of_unknown"
    where: str
    why: str

    def sentence(self, door: Door) -> str:
        return (
            f"No evidence of {self.where} is used in this audit: it is unknown what the mechanism computes, as "
            f"{self.why}."
        )


@dataclass(frozen=True)
class PriorOfOther(Note):
    """Prior evidence was given, and none of it is about this mechanism and this claim."""

    code = "prior_of_other"
    where: str

    def sentence(self, door: Door) -> str:
        return (
            f"No evidence of {self.where} is used in this audit: it has no e-value of this version of the mechanism "
            "against this claim."
        )


@dataclass(frozen=True)
class PriorUnused(Note):
    """Some of the prior evidence matches no audit; `about` is what it is about."""

    code = "prior_unused"
    where: str
    about: list[str]

    def sentence(self, door: Door) -> str:
        return f"Evidence of {self.where} that matches no audit here is not used: {listed(self.about)}."


@dataclass(frozen=True)
class EvidenceOfSeveral(Note):
    """Evidence does not accumulate across sessions of pytest; `cases` is None for group privacy."""

    code = "evidence_of_several"
    cases: int | None

    def sentence(self, door: Door) -> str:
        what = "group privacy" if self.cases is None else f"{self.cases} cases at once"
        return f"Evidence of {what} does not accumulate across sessions."


@dataclass(frozen=True)
class EvidenceOfUnknown(Note):
    """Evidence does not accumulate across sessions of pytest; `why` it is unknown what the function computes."""

    code = "evidence_of_unknown"
    why: str

    def sentence(self, door: Door) -> str:
        return (
            "Evidence does not accumulate across sessions here: it is unknown what the function computes, as "
            f"{self.why}."
        )


@dataclass(frozen=True)
class MadeInTest(Note):
    """The audit was made in a test; `again` is the command that repeats it."""

    code = "made_in_test"
    alpha: float
    again: str

    def sentence(self, door: Door) -> str:
        return f"Made in a test, with its share of α, {self.alpha:.3g}. Again: {self.again}"


@dataclass(frozen=True)
class KeptFromEarlier(Note):
    """The audit is from the result that the file had before."""

    code = "kept_from_earlier"
    seed: int

    def sentence(self, door: Door) -> str:
        return (
            f"Kept from an earlier result, made with seed {self.seed}: the run that wrote this file has no newer "
            "evidence."
        )


# -- words


def listed(about: Sequence[str]) -> str:
    """The first few of them: "A and B", "A, B and 3 more"."""
    more = f" and {len(about) - 2} more" if len(about) > 2 else ""
    return ", ".join(about[:2]) + more if more else " and ".join(about)


def _failures(parts: Sequence[str]) -> str:
    return f"A failure counts as an output, as an attacker can see it: it {'; it '.join(parts)}."


def _enough(records: int, left: str, right: str, needed: str) -> str:
    are = "record is" if records == 1 else "records are"
    return f"{records} {are} enough to refute the claim: {left} against {right} needs {needed}."


def _exactly(epsilon: float | None) -> str:
    return "no finite ε" if epsilon is None else f"ε = {max(0.0, epsilon):.9g}"


@dataclass(frozen=True)
class RecordedEvidence(Note):
    """The recordings that the e-value of an audit rests on, those of earlier results included.

    Args:
        files: name and the first digits of the SHA-256 of each.
    """

    code = "recorded_evidence"
    files: list[str]

    def sentence(self, door: Door) -> str:
        number = f"{len(self.files)} recordings" if len(self.files) > 1 else "1 recording"
        return f"The evidence is of {number}: {listed(self.files[:6])}{', …' if len(self.files) > 6 else ''}."
