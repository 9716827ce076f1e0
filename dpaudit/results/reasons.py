"""Reasons of verdicts: one small dataclass for each kind, which holds the values and words the sentence.

Sentences that name an option take it from the table of options and name it as the front end does. Notes are made in
the same way (`dpaudit.results.notes`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from dpaudit.errors import DpauditError
from dpaudit.options import DATA, DELTA, DOMAIN, EPSILON, EVIDENCE, FOLLOW, MIN_POWER, PAIR, RUNS, SIZE, TIME, Door

Code: TypeAlias = Literal[
    "exact_refutation", "finite_domain_refutation", "sampled_refutation", "earlier_refutation", "divergence_refutation",
    "curve_refutation", "proved", "proved_by_alignment", "proved_curve", "curve_undecided", "no_pairs",
    "worst_pair_keeps_claim", "worst_chain_keeps_claim", "exact_pairs_keep_claim", "not_refuted", "crash",
    "assumption_violated", "constant_output", "messages_differ", "time_limit", "no_event", "claim_allows_everything",
    "too_few_samples", "unread_outputs", "low_power", "guarantee_exactly_broken", "guarantee_broken",
    "guarantee_time_limit", "guarantee_exactly_kept", "guarantee_kept", "guarantee_not_refuted", "interrupted",
    "no_claim", "stream_ended", "followed_not_refuted",
]
Value: TypeAlias = str | int | float | bool | list[str | int | float] | None
"""A value of a reason or a note."""


@dataclass(frozen=True)
class Statement(ABC):
    """Something that a result says: its fields are the values, and each front end words the sentence."""

    code: ClassVar[str]

    def values(self, door: Door) -> dict[str, Value]:
        """Its fields; of an error, the sentence, which may name options."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value.at(door) if isinstance(value, DpauditError) else value for name, value in values.items()}

    @abstractmethod
    def sentence(self, door: Door) -> str:
        """One or two sentences that name options as this front end does."""


@dataclass(frozen=True)
class Reason(Statement):
    """The reason of a verdict, and for INCONCLUSIVE what to do."""

    code: ClassVar[Code]


# -- privacy, refuted


@dataclass(frozen=True)
class ExactRefutation(Reason):
    """Output distributions of related datasets exceed the claim.

    Args:
        epsilon: exact ε of the worst pair; None if it is infinite, or if only bounds are known.
        epsilon_low: lower end of its enclosure; None if it is infinite, or without bounds.
        bound: "for certain", or "at least" for a program that rounds; "" without a bound.
        delta: the largest exact δ at the claimed ε.
        claimed_epsilon, claimed_delta: the claim.
    """

    code = "exact_refutation"
    epsilon: float | None
    epsilon_low: float | None
    bound: str
    delta: float
    claimed_epsilon: float
    claimed_delta: float

    def sentence(self, door: Door) -> str:
        if self.epsilon is None:
            needed = at_least(self.epsilon_low)
        else:
            bound = f" ({self.bound} {at_least(self.epsilon_low)})" if self.bound else ""
            needed = f"ε = {self.epsilon:.7g}{bound}"
        return (
            f"The output distributions of related datasets need {needed} at δ = {self.claimed_delta:.6g} (claimed "
            f"{self.claimed_epsilon:.6g}), and up to δ = {self.delta:.6g} at ε = {self.claimed_epsilon:.6g}, computed "
            "exactly."
        )


@dataclass(frozen=True)
class DivergenceRefutation(Reason):
    """An exact Rényi divergence of related datasets exceeds a claim of Rényi DP or zCDP.

    Args:
        claim: the claim.
        order: the order of the divergence, as text.
        divergence: its exact value; None if it is infinite.
        allowed: what the claim allows at this order.
    """

    code = "divergence_refutation"
    claim: str
    order: str
    divergence: float | None
    allowed: float

    def sentence(self, door: Door) -> str:
        needed = "infinite" if self.divergence is None else f"{self.divergence:.7g}"
        return (
            f"The Rényi divergence of order {self.order} between the output distributions of related datasets is "
            f"{needed}, where {self.claim} allows {self.allowed:.6g}, computed exactly."
        )


@dataclass(frozen=True)
class CurveRefutation(Reason):
    """Samples refute a claim that is a curve.

    Args:
        claim: the claim.
        points: number of (ε, δ) of it that were tested with one α.
        confidence: of the refutation.
        bits: whether the bit patterns of floating-point outputs refute.
        refuted_at: samples per dataset after which the e-process refuted; None if it did not.
        prior: whether it includes e-values of earlier results.
        epsilon_lower: the bound on ε at `delta`, from fresh samples.
        epsilon, delta: the (ε, δ) of the claim that fresh samples were counted at.
    """

    code = "curve_refutation"
    claim: str
    points: int
    confidence: float
    bits: bool
    refuted_at: int | None
    prior: bool
    epsilon_lower: float
    epsilon: float
    delta: float

    def sentence(self, door: Door) -> str:
        parts = []
        if self.epsilon_lower > self.epsilon:
            parts.append(
                f"the samples show ε ≥ {rounded_down(self.epsilon_lower)} at δ = {self.delta:.6g}, where {self.claim} "
                f"allows {self.epsilon:.6g}, with {100 * self.confidence:g} % confidence"
            )
        if self.refuted_at is not None:
            earlier = " in addition to earlier results" if self.prior else ""
            where = f"its {self.points} tested points" if self.points > 1 else "its point"
            parts.append(
                f"the e-process over {where} refuted {self.claim} after {self.refuted_at:,} samples per "
                f"dataset{earlier} ({100 * self.confidence:g} % confidence)"
            )
        text = "; ".join(parts)
        bits = ", by the low-order bits of its floating-point outputs" if self.bits else ""
        return f"{text[:1].upper()}{text[1:]}{bits}."


@dataclass(frozen=True)
class FiniteDomainRefutation(Reason):
    """The worst pair of a finite domain exceeds the claim in interval arithmetic.

    Args:
        scope: the datasets whose pairs were compared.
        epsilon_low: lower end of the enclosure of the worst pair's ε; None if it is infinite.
        delta: the largest exact δ at the claimed ε.
        claimed_epsilon, claimed_delta: the claim.
    """

    code = "finite_domain_refutation"
    scope: str
    epsilon_low: float | None
    delta: float
    claimed_epsilon: float
    claimed_delta: float

    def sentence(self, door: Door) -> str:
        return (
            f"The exact output distributions on {self.scope} refute the claim: the worst pair needs "
            f"{at_least(self.epsilon_low)} at δ = {self.claimed_delta:.6g} (claimed {self.claimed_epsilon:.6g}), and "
            f"up to δ = {self.delta:.6g} is needed at ε = {self.claimed_epsilon:.6g}."
        )


@dataclass(frozen=True)
class SampledRefutation(Reason):
    """A lower confidence bound, or the e-process, exceeds the claim.

    Args:
        epsilon_lower: the bound.
        confidence: with which it holds.
        claimed_epsilon, claimed_delta: the claim.
        bits: whether the bit patterns of floating-point outputs refute.
        refuted_at: samples per dataset after which the e-process refuted; None if it did not.
        prior: whether it includes e-values of earlier results.
    """

    code = "sampled_refutation"
    epsilon_lower: float
    confidence: float
    claimed_epsilon: float
    claimed_delta: float
    bits: bool
    refuted_at: int | None
    prior: bool

    def sentence(self, door: Door) -> str:
        # the e-process may have refuted the claimed ε itself and nothing above it
        sign = ">" if self.epsilon_lower == self.claimed_epsilon > 0 else "≥"
        text = (
            f"The samples show ε {sign} {rounded_down(self.epsilon_lower)} at δ = {self.claimed_delta:.6g} "
            f"(claimed {self.claimed_epsilon:.6g}) with {100 * self.confidence:g} % confidence"
        )
        if self.bits:
            text += ", by the low-order bits of its floating-point outputs"
        if self.refuted_at is not None:
            earlier = " in addition to earlier results" if self.prior else ""
            text += f"; the e-process refuted the claim after {self.refuted_at:,} samples per dataset{earlier}"
        return f"{text}."


@dataclass(frozen=True)
class EarlierRefutation(Reason):
    """The evidence of all sessions refuted the claim in an earlier one.

    Args:
        session: the session in which it did, from 1.
        log_e: natural logarithm of the e-value then.
        alpha: the e-value refutes at 1/α.
    """

    code = "earlier_refutation"
    session: int
    log_e: float
    alpha: float

    def sentence(self, door: Door) -> str:
        return (
            f"The claim was refuted in session {self.session}, when the accumulated e-value reached "
            f"{_power(self.log_e)} (1/α: {1 / self.alpha:.3g}). A smaller e-value in this session does not "
            "withdraw the refutation; it holds until the function or its claim changes."
        )


# -- privacy, not refuted


@dataclass(frozen=True)
class Proved(Reason):
    """Every pair of a finite domain satisfies the claim.

    Args:
        scope: the datasets whose pairs were compared.
        symmetries: declared by the mechanism and used.
        epsilon_low: lower end of the enclosure of the worst pair's ε; None if it is infinite.
        epsilon_most: upper end of it; None if it is infinite.
        tolerance: up to which the claim is satisfied.
        rounded: whether the program rounds, so that this is no proof.
        claimed_epsilon, claimed_delta: the claim.
    """

    code = "proved"
    scope: str
    symmetries: list[str]
    epsilon_low: float | None
    epsilon_most: float | None
    tolerance: float
    rounded: bool
    claimed_epsilon: float
    claimed_delta: float

    def sentence(self, door: Door) -> str:
        given = f", assuming the symmetries that it declares ({', '.join(self.symmetries)})" if self.symmetries else ""
        gap = abs((self.epsilon_low or 0.0) - self.claimed_epsilon)
        met = gap <= 2 * self.tolerance * max(1.0, self.claimed_epsilon)
        how = "met with equality" if met else f"claimed {self.claimed_epsilon:.6g}"
        most = "no bound" if self.epsilon_most is None else f"more than {self.epsilon_most:.12g}"
        what = " of the program with rounded numbers" if self.rounded else ""
        rounding = "the rounding of its numbers, so this is no proof" if self.rounded else "the rounding of the claim"
        return (
            f"The exact output distributions{what} on {self.scope} satisfy the claim{given}. The worst pair needs "
            f"{at_least(self.epsilon_low)} at δ = {self.claimed_delta:.6g} ({how}), and no pair {most}, to within "
            f"{rounding} ({self.tolerance:g})."
        )


@dataclass(frozen=True)
class ProvedByAlignment(Reason):
    """An alignment of the noise proves the claim for every dataset of a scope.

    Args:
        scope: the datasets and their neighbours.
        given: what was taken from the program and confirmed on the pairs tried; None for nothing.
        epsilon: what is proved; beside Gaussian noise, of the rest.
        mu: of Gaussian noise.
        rho: of all noise, where the claim follows by zCDP; 0 elsewhere.
        claim: what follows.
        choices: whether it also rests on exact probabilities of random choices.
    """

    code = "proved_by_alignment"
    scope: str
    given: str | None
    epsilon: float
    mu: float
    rho: float
    claim: str
    choices: bool = False

    def sentence(self, door: Door) -> str:
        given = f", given that {self.given}" if self.given else ""
        cost = aligned_cost(self.epsilon, self.mu, self.rho)
        how = "A shift of the noise on every execution path gives" if not self.choices else (
            "Shifts of the noise and exact probabilities of all random choices give"
        )
        return (
            f"{how} every neighbouring dataset the same output, at a cost of at most {cost} (claimed: {self.claim}), "
            f"for {self.scope}{given}. "
            "Numbers count as real numbers: the proof says nothing about floating point."
        )


def aligned_cost(epsilon: float, mu: float, rho: float) -> str:
    """What a shift of noise costs: "ε = 1", "ε = 1 and μ = 0.5 by Gaussian noise", "ρ = 0.125"."""
    if rho:
        return f"ρ = {rho:.6g}"
    return " and ".join(
        [f"ε = {epsilon:.6g}"] * (epsilon > 0 or not mu) + [f"μ = {mu:.6g} by Gaussian noise"] * (mu > 0)
    )


@dataclass(frozen=True)
class ProvedCurve(Reason):
    """Every pair of a finite domain satisfies a claim that is a curve, at every ε or order of it.

    Args:
        scope: the datasets whose pairs were compared.
        symmetries: declared by the mechanism and used.
        claim: the claim.
        tolerance: up to which the claim is satisfied.
        rounded: whether the program rounds, so that this is no proof.
    """

    code = "proved_curve"
    scope: str
    symmetries: list[str]
    claim: str
    tolerance: float
    rounded: bool

    def sentence(self, door: Door) -> str:
        given = f", assuming the symmetries that it declares ({', '.join(self.symmetries)})" if self.symmetries else ""
        what = " of the program with rounded numbers" if self.rounded else ""
        no_proof = ", so this is no proof" if self.rounded else ""
        return (
            f"The exact output distributions{what} on {self.scope} satisfy all of {self.claim}{given}, to within a "
            f"relative {self.tolerance:g}{no_proof}."
        )


@dataclass(frozen=True)
class CurveUndecided(Reason):
    """No pair of a finite domain exceeds a curve at the tested point, and not all satisfy the whole curve for certain.

    Args:
        scope: the datasets whose pairs were compared.
        claim: the claim.
    """

    code = "curve_undecided"
    scope: str
    claim: str

    def sentence(self, door: Door) -> str:
        return (
            f"Nothing on {self.scope} refutes {self.claim}, but the intervals around the probabilities are too wide to "
            "prove all of it. A slightly larger claim may be proved."
        )


@dataclass(frozen=True)
class NoPairs(Reason):
    """A finite domain has no neighbouring datasets."""

    code = "no_pairs"
    scope: str

    def sentence(self, door: Door) -> str:
        return f"There is no pair in {self.scope}."


@dataclass(frozen=True)
class WorstPairKeepsClaim(Reason):
    """The worst pair found by an exact search satisfies the claim."""

    code = "worst_pair_keeps_claim"

    def sentence(self, door: Door) -> str:
        return "The worst pair that the search found satisfies the claim. This is not a proof."


@dataclass(frozen=True)
class WorstChainKeepsClaim(Reason):
    """The ends of the worst chain of neighbours that a search found satisfy the claim."""

    code = "worst_chain_keeps_claim"

    def sentence(self, door: Door) -> str:
        return "The ends of the worst chain that the search found satisfy the claim. This is not a proof."


@dataclass(frozen=True)
class ExactPairsKeepClaim(Reason):
    """The exact output distributions of this number of pairs satisfy the claim."""

    code = "exact_pairs_keep_claim"
    pairs: int

    def sentence(self, door: Door) -> str:
        return (
            f"The exact output distributions of {_pairs(self.pairs)} satisfy the claim. Other pairs were not tried, so "
            "this is not a proof."
        )


@dataclass(frozen=True)
class NotRefuted(Reason):
    """Up to `runs` samples per dataset of each of `pairs` pairs do not refute the claim."""

    code = "not_refuted"
    pairs: int
    runs: int

    def sentence(self, door: Door) -> str:
        return (
            f"No violation was found on {_pairs(self.pairs)} with up to {self.runs:,} samples per dataset. This is "
            "not a proof."
        )


class NotRefutedRecorded(NotRefuted):
    """The recorded outputs, at least `runs` of each dataset, do not refute the claim."""

    def sentence(self, door: Door) -> str:
        return (
            f"No violation was found in the recorded outputs, at least {self.runs:,} of each dataset. This is not a "
            "proof."
        )


# -- undecided


@dataclass(frozen=True)
class Crash(Reason):
    """The mechanism, or dpaudit itself, raised."""

    code = "crash"
    error: str

    def sentence(self, door: Door) -> str:
        return self.error


@dataclass(frozen=True)
class AssumptionViolated(Reason):
    """The function violates an assumption of the statistics; `seen` is how this was detected and what to do."""

    code = "assumption_violated"
    assumption: str
    seen: str

    def sentence(self, door: Door) -> str:
        return self.seen


@dataclass(frozen=True)
class ConstantOutput(Reason):
    """Every output was the same."""

    code = "constant_output"
    seen: str

    def sentence(self, door: Door) -> str:
        return (
            f"{self.seen} Nothing was tested. Is a `return` missing, or is the dataset not read? If the function is "
            "meant to be constant, declare it: `f.constant = True`."
        )


@dataclass(frozen=True)
class MessagesDiffer(Reason):
    """Messages of exceptions depend on the dataset; `seen` is where, and what to do."""

    code = "messages_differ"
    seen: str

    def sentence(self, door: Door) -> str:
        return self.seen


@dataclass(frozen=True)
class TimeLimit(Reason):
    """The time limit ran out.

    Args:
        seconds: the limit; None if unknown.
        sampled: whether the audit draws samples.
        call: seconds that one call of a slow function takes; None of others.
        least: samples per dataset with fewer of which nothing could refute the claim; None if unknown.
        for_power: samples per dataset that detect a violation of ε = `target` with probability 0.9; None if unknown.
        target: the ε of a large violation.
    """

    code = "time_limit"
    seconds: float | None
    sampled: bool
    call: float | None = None
    least: int | None = None
    for_power: int | None = None
    target: float | None = None

    def sentence(self, door: Door) -> str:
        limit = "the time limit" if self.seconds is None else f"the time limit of {self.seconds:g} s"
        domain = f"make {DOMAIN.called(door)} or {SIZE.called(door)} smaller"
        less = f"lower {RUNS.called(door)}" if self.sampled else domain
        said = f"No violation was found before {limit}; raise {TIME.called(door)} or {less}."
        if self.call is None or self.least is None or self.target is None:
            return said
        takes = f"A call takes about {duration(self.call)}."
        return f"{said} {takes} {needed_sentence(self.call, self.least, self.for_power, self.target)}"


@dataclass(frozen=True)
class Interrupted(Reason):
    """The user ended the audit before it was decided.

    Args:
        samples: in total, of both datasets of all pairs, those of the search not included.
    """

    code = "interrupted"
    samples: int

    def sentence(self, door: Door) -> str:
        if not self.samples:
            return "The claim was not tested before the interrupt."
        return f"No violation was found in the {self.samples:,} samples before the interrupt."


@dataclass(frozen=True)
class NoEvent(Reason):
    """No distinguishing event was tested on fresh samples; `pairs` is whether there was a pair."""

    code = "no_event"
    pairs: bool

    def sentence(self, door: Door) -> str:
        place = f"give {PAIR.called(door)}, or {DATA.called(door)} with {SIZE.called(door)}"
        remedy = f"raise {RUNS.called(door)}" if self.pairs else place
        return f"No event was tested on any pair; {remedy}."


@dataclass(frozen=True)
class ClaimAllowsEverything(Reason):
    """The claim has δ = 1."""

    code = "claim_allows_everything"

    def sentence(self, door: Door) -> str:
        return f"A claim with delta = 1 allows everything; name a smaller {DELTA.called(door)}."


@dataclass(frozen=True)
class TooFewSamples(Reason):
    """No output of a mechanism could have refuted the claim.

    Args:
        samples: fresh samples per dataset.
        largest: largest lower bound on ε that they can give.
        claimed: ε.
        needed: samples per dataset to ask for; None if no feasible number is enough.
    """

    code = "too_few_samples"
    samples: int
    largest: float
    claimed: float
    needed: int | None

    def remedy(self, door: Door) -> str:
        """What to do about it."""
        if self.needed is None:
            return "audit a smaller ε or compute the output distributions exactly"
        return f"raise {RUNS.called(door)} to at least {self.needed:,}"

    def sentence(self, door: Door) -> str:
        return (
            f"{self.samples:,} samples per dataset can show at most ε ≥ {self.largest:.3g}, which does not exceed the "
            f"claimed {self.claimed:g}; {self.remedy(door)}."
        )


class TooFewRecorded(TooFewSamples):
    """No recorded outputs in these numbers could have refuted the claim."""

    def remedy(self, door: Door) -> str:
        """What to do about it."""
        if self.needed is None:
            return "audit a smaller ε"
        return f"record at least {self.needed:,} independent outputs per dataset"


@dataclass(frozen=True)
class UnreadOutputs(Reason):
    """A share of the outputs has parts of a type that no event reads."""

    code = "unread_outputs"
    share: float
    type: str

    def sentence(self, door: Door) -> str:
        if self.type == "str within another one":  # as the learner calls it
            return (
                f"{100 * self.share:.3g} % of the outputs contain strings beside other parts. These strings are almost "
                "all different, so they were not tested; return numbers as numbers instead of text, and leave out "
                "random names."
            )
        return (
            f"{100 * self.share:.3g} % of the outputs have parts of type {self.type}, which dpaudit cannot read. "
            "They are almost all different, so they were not tested; return numbers, strings, dates, or tuples, sets, "
            "dicts, arrays or dataclasses of these."
        )


@dataclass(frozen=True)
class LowPower(Reason):
    """These samples would not have detected a large violation.

    Args:
        samples: per dataset.
        epsilon: of the violation.
        needed: samples per dataset to ask for; None if no feasible number is enough.
    """

    code = "low_power"
    samples: int
    epsilon: float
    needed: int | None

    def remedy(self, door: Door) -> str:
        """What to do about it."""
        if self.needed is None:
            return "compute the output distributions exactly"
        return f"raise {RUNS.called(door)} to about {self.needed:,}"

    def sentence(self, door: Door) -> str:
        return (
            f"No violation was found, but with {self.samples:,} samples per dataset a violation of ε ≥ "
            f"{self.epsilon:.3g} "
            f"would not have been detected with probability 0.9; {self.remedy(door)}, or accept lower power with a "
            f"larger {MIN_POWER.called(door)}."
        )


class LowPowerRecorded(LowPower):
    """These recorded outputs would not have shown a large violation."""

    def remedy(self, door: Door) -> str:
        """What to do about it."""
        if self.needed is None:
            return "audit the mechanism itself"
        return f"record about {self.needed:,} independent outputs per dataset"


@dataclass(frozen=True)
class StreamEnded(Reason):
    """A stream of recorded outputs ended before an event was counted on fresh ones.

    Args:
        samples: per dataset, that were used.
        planned: per dataset, that the stream was to have.
    """

    code = "stream_ended"
    samples: int
    planned: int

    def sentence(self, door: Door) -> str:
        return (
            f"The stream ended after {self.samples:,} samples per dataset of the {self.planned:,} that were planned, "
            "before an event could be counted on fresh ones. Their test does not refute the claim. Plan for as many "
            "samples as there will be, or record them and audit the file."
        )


@dataclass(frozen=True)
class FollowedNotRefuted(Reason):
    """The files of folders were read as they came, and the claim is not refuted.

    Args:
        samples: per dataset, that were used.
        idle: seconds without a new file, which ended it; None if something else did.
    """

    code = "followed_not_refuted"
    samples: int
    idle: float | None

    def sentence(self, door: Door) -> str:
        waited = "So far" if self.idle is None else f"No new file came for {duration(self.idle)}, and"
        return (
            f"{waited} the {self.samples:,} samples per dataset do not refute the claim. A test that may stop at "
            "any time counts no event on fresh samples, so nothing is known of the violations that it would miss. Go "
            f"on later with {FOLLOW.called(door)} and {EVIDENCE.called(door)}."
        )


@dataclass(frozen=True)
class NoClaim(Reason):
    """No claim was stated, so that there is a lower confidence bound on ε and no verdict.

    Args:
        epsilon: the bound.
        delta: at which it holds.
        confidence: with which it does.
    """

    code = "no_claim"
    epsilon: float
    delta: float
    confidence: float

    def sentence(self, door: Door) -> str:
        bound = f"ε ≥ {rounded_down(self.epsilon, 4)}" if self.epsilon > 0 else "no ε > 0"
        return (
            f"The samples show {bound} at δ = {self.delta:g} ({100 * self.confidence:.6g} % confidence). No claim was "
            f"stated, so there is no verdict; give {EPSILON.called(door)} to test one."
        )


# -- utility


@dataclass(frozen=True)
class GuaranteeExactlyBroken(Reason):
    """The exact probability of success breaks the guarantee.

    Args:
        probability: of success.
        guaranteed: at least this, or with `at_most` at most.
        instances: the inputs, in words.
    """

    code = "guarantee_exactly_broken"
    probability: float
    guaranteed: float
    at_most: bool
    instances: str

    def sentence(self, door: Door) -> str:
        return (
            f"The probability of success is exactly {_probability(self.probability)}, and "
            f"the guarantee is {_guaranteed(self.guaranteed, at_most=self.at_most)}. Inputs: {self.instances}."
        )


@dataclass(frozen=True)
class GuaranteeBroken(Reason):
    """The confidence limit of the probability of success misses the guarantee.

    Args:
        hits, runs: successes, and samples.
        limit: the upper confidence limit of the probability, the lower one with `at_most`.
        confidence: with which it holds.
        guaranteed: at least this, or with `at_most` at most.
        instances: the inputs, in words.
    """

    code = "guarantee_broken"
    hits: int
    runs: int
    limit: float
    confidence: float
    guaranteed: float
    at_most: bool
    instances: str

    def sentence(self, door: Door) -> str:
        return (
            f"{self.hits:,} of {self.runs:,} samples succeed, so the probability of success is "
            f"{'at least' if self.at_most else 'at most'} {self.limit:.6g} with {100 * self.confidence:g} % "
            f"confidence. The guarantee is {_guaranteed(self.guaranteed, at_most=self.at_most)}. Inputs: "
            f"{self.instances}."
        )


@dataclass(frozen=True)
class GuaranteeTimeLimit(Reason):
    """The time limit ran out before a guarantee was tested."""

    code = "guarantee_time_limit"

    def sentence(self, door: Door) -> str:
        return f"The guarantee was not refuted before the time limit; raise {TIME.called(door)}."


@dataclass(frozen=True)
class GuaranteeExactlyKept(Reason):
    """The exact probabilities satisfy the guarantee on every input tried; `rounded` if the program rounds."""

    code = "guarantee_exactly_kept"
    inputs: int
    rounded: bool

    def sentence(self, door: Door) -> str:
        what = ", for the program with rounded numbers" if self.rounded else ""
        return f"The exact probability of success satisfies the guarantee on {_inputs(self.inputs)} tried{what}."


@dataclass(frozen=True)
class GuaranteeKept(Reason):
    """The confidence limits of the probability of success satisfy the guarantee on every input tried."""

    code = "guarantee_kept"
    inputs: int
    confidence: float

    def sentence(self, door: Door) -> str:
        return (
            f"The probability of success satisfies the guarantee on {_inputs(self.inputs)} tried, with "
            f"{100 * self.confidence:g} % confidence."
        )


@dataclass(frozen=True)
class GuaranteeNotRefuted(Reason):
    """The guarantee lies between the confidence limits."""

    code = "guarantee_not_refuted"
    inputs: int

    def sentence(self, door: Door) -> str:
        return (
            f"The guarantee is not refuted on {_inputs(self.inputs)} tried. The probability of success is too close "
            "to it for this number of samples to decide."
        )


# -- numbers


def at_least(epsilon: float | None) -> str:
    """ "ε ≥ 1.85152", never rounded up; "no finite ε" for None and infinity."""
    if epsilon is None or math.isinf(epsilon):
        return "no finite ε"
    return f"ε ≥ {rounded_down(epsilon, 12)}" if epsilon > 0 else "ε = 0"


def duration(seconds: float) -> str:
    """Two digits and a unit: "5 ms", "17 s", "17 min", "3.8 h", "12 days"."""
    for unit, size, most in (("µs", 1e-6, 1e-3), ("ms", 1e-3, 1.0), ("s", 1.0, 120.0), ("min", 60.0, 7200.0)):
        if seconds < most * 0.995:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds / 3600)} h" if seconds < 172_800 else f"{_two_digits(seconds / 86_400)} days"


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 9.95 else f"{number:.2g}"


def needed_sentence(call: float, least: int, for_power: int | None, target: float) -> str:
    """The samples that a claim needs, and the time that they take.

    Args:
        call: seconds of one.
        least, for_power, target: as of `TimeLimit`.
    """
    first = f"An audit needs at least {least:,} samples per dataset of a pair ({duration(2 * call * least)})"
    if for_power is None or for_power <= least:
        return f"{first} to refute anything."
    return (
        f"{first} to refute anything, and about {for_power:,} ({duration(2 * call * for_power)}) to detect a violation "
        f"of ε ≥ {target:.3g} with probability 0.9."
    )


def rounded_down(bound: float, digits: int = 3) -> str:
    """A bound to this number of digits, never rounded up: it must not be overstated."""
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(bound))) if bound > 0 else 1.0
    return f"{math.floor(bound * scale) / scale:.{digits}g}"


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number:,} pairs"


def _inputs(kinds: int) -> str:
    return "the inputs" if kinds == 1 else f"all {kinds} kinds of inputs"


def _guaranteed(probability: float, *, at_most: bool) -> str:
    return f"{'at most' if at_most else 'at least'} {_probability(probability)}"


def _probability(probability: float) -> str:
    """A probability so that 1 − 1e-12 is not shown as 1."""
    text = f"{probability:.9g}"
    if text == "1" and probability < 1:
        return f"1 − {1 - probability:.3g}"
    return text


def _power(log_e: float) -> str:
    """An e-value from its logarithm, which may be too large for a float: "2.1e+07"."""
    log = round(log_e / math.log(10), 12)
    exponent = math.floor(log)
    return f"{math.floor(10 ** (log - exponent + 1)) / 10:.1f}e{exponent:+03d}"
