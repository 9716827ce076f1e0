"""The results of audits, as plain frozen dataclasses.

Nothing here computes or renders: the engine fills these in, `dpaudit.report` writes them. Field names are
those of the published JSON schema (`dpaudit/results/schema/result.schema.json`); the contract part of it is
stable within a major `format_version`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from dpaudit.results.comparison import ComparisonRecord
from dpaudit.results.figures import (
    PLOTS,
    BoundPlot,
    Drawing,
    EvidencePlot,
    LossPlot,
    OutputPlot,
    Plot,
    ProfilePlot,
    TradeoffPlot,
)
from dpaudit.results.kinds import Count, Direction, Level, NonNegative, Probability, Version
from dpaudit.results.notes import NoteRecord
from dpaudit.results.reasons import Code, Value
from dpaudit.results.records import (
    AssumptionRecord,
    Bounds,
    Chain,
    ChainLink,
    ClaimRecord,
    CurveRecord,
    EventRecord,
    Json,
    Location,
    PairRecord,
)

__all__ = [
    "FORMAT_VERSION",
    "Alignment",
    "AssumptionRecord",
    "Attempt",
    "Audit",
    "Bounds",
    "Chain",
    "ChainLink",
    "ClaimRecord",
    "CurveRecord",
    "EventRecord",
    "EvidenceKind",
    "ExactEvidence",
    "FloatingPoint",
    "Header",
    "Json",
    "LedgerRow",
    "Location",
    "LossBreakdown",
    "NoteRecord",
    "PairRecord",
    "Proof",
    "Result",
    "SampledEvidence",
    "SequentialEvidence",
    "ShiftedNoise",
    "Timings",
    "UtilityAudit",
    "UtilityRecord",
    "Verdict",
]

FORMAT_VERSION = "2.0"
"""Version of the JSON form, major.minor.  2.0: the form of dpaudit 0.1, the first that is released."""


LEFT_OUT: Mapping[str, bool] = MappingProxyType({"left_out": True})
"""Of a field that came after version 2.0: it is not written where it is None, so that results stay the same bytes."""


class Verdict(StrEnum):
    """FAIL: refuted.  PASS: proved or not refuted (see `EvidenceKind`).  INCONCLUSIVE: the reason is the remedy."""

    FAIL = "fail"
    PASS = "pass"
    INCONCLUSIVE = "inconclusive"


class EvidenceKind(StrEnum):
    """What a verdict was made from."""

    SAMPLED = "sampled"
    """Samples on the pairs tried."""
    EXACT = "exact"
    """Exact output distributions on the pairs tried."""
    EXHAUSTIVE = "exhaustive"
    """Exact output distributions on every neighbouring pair of the stated finite domain."""
    ALIGNMENT = "alignment"
    """An alignment of the noise, for every dataset of the stated scope."""


@dataclass(frozen=True)
class SampledEvidence:
    """Counts of one event on fresh samples of both datasets, and the lower confidence bound on ε.

    `x` of `n` samples of the numerator dataset and `y` of `m` of the other are in the event.
    """

    pair: PairRecord
    """The pair that was sampled."""
    direction: Direction
    """"left/right": the event is more likely under D (`left`); "right/left": under D′."""
    event: EventRecord
    """The event that was counted."""
    x: Count
    """Samples of the numerator dataset in the event."""
    n: Count
    """Samples of the numerator dataset."""
    y: Count
    """Samples of the other dataset in the event."""
    m: Count
    """Samples of the other dataset."""
    p_value: Probability
    """Of the exact unconditional score test of the claim."""
    epsilon_lower: float
    """By inversion of the score test, at level `alpha`."""
    epsilon_lower_clopper_pearson: float
    """Lower bound on ε at the claimed δ by two Clopper–Pearson bounds at level `alpha`."""
    alpha: Probability
    """Share of the family-wise error of this test."""
    detectable_epsilon: float | None
    """Smallest true ε that this test would have refuted the claim at with probability 0.9; None if none."""
    runs_trained: Count
    """Samples per dataset from which the event was learned; they are not counted."""
    family: str = ""
    """How the event was learned: atoms, half-line, bins, logistic, boosting, density or bits."""


@dataclass(frozen=True)
class SequentialEvidence:
    """The e-process of an audit: evidence against the claim that may be checked, and stopped on, at any time.

    It averages over the audit's pairs; the event and the direction on each are learned from earlier samples only. If
    the claim holds, it ever reaches 1/alpha with probability at most alpha.
    """

    log_e: float
    """Natural logarithm of its last value, at the claimed ε; it includes prior evidence."""
    log_peak: float
    """Of its largest value."""
    alpha: Level
    """Its share of the family-wise error."""
    refuted_at: Count | None
    """Samples per dataset, averaged over the pairs, after which it reached 1/alpha; None if it never did."""
    runs: Count
    """Samples per dataset that it used, averaged over the pairs."""
    epsilon_lower: float
    """Lower bound on ε by inversion, valid whenever the audit was stopped."""
    prior: float
    """Natural logarithm of the e-value of earlier results; 0 without any."""
    key: str
    """What it is evidence about; evidence of results with the same key can be combined."""
    seeds: list[Count]
    """Of all requests whose samples are in it."""


@dataclass(frozen=True)
class FloatingPoint:
    """What the bit patterns of floating-point outputs reveal beyond their values."""

    leaks: bool
    """Whether the claim is refuted by events on bit patterns at level `alpha`."""
    log_e: float
    """Natural logarithm of the e-process' largest value."""
    alpha: Level
    """Its share of the family-wise error."""
    runs: Count
    """Samples per dataset that were tested."""
    event: EventRecord | None
    """The last event that was tried."""
    counted: bool
    """Whether it counts in the verdict (`--bits`, or the case says so)."""


@dataclass(frozen=True)
class ExactEvidence:
    """The exact privacy loss of one pair (both directions)."""

    pair: PairRecord
    """The pair whose output distributions were computed."""
    direction: Direction
    """The direction that attains `delta` at the claimed ε (or `epsilon`, where both deltas are equal)."""
    event: EventRecord | None
    """None where no simple event attains it: several draws with densities."""
    epsilon: float | None
    """Smallest ε at the claimed δ; None when infinite."""
    delta: float
    """Smallest δ at the claimed ε."""
    p: float | None
    """Probability of the event on the numerator dataset of `direction`."""
    q: float | None
    """Probability of the event on the other dataset."""
    bounds: Bounds | None = None
    """Enclosures of `epsilon` and `delta`; None if there are too many outcomes for interval arithmetic."""
    by_density: bool = False
    """Whether they are computed from the densities of released noise."""


@dataclass(frozen=True)
class Proof:
    """Bounds on every pair of a finite domain, in interval arithmetic and rounded outward.

    Args:
        epsilon_low, epsilon_high: enclose the least ε that the worst pair needs at the claimed δ; None when infinite.
        epsilon_most: no pair of the domain needs more, at a δ that is larger by 1e-11; None when infinite.
        datasets, pairs: their numbers in the domain.
        laws: output distributions computed, one for all datasets that symmetries map to each other; None for all.
        symmetries: names of the symmetries used, which the mechanism declares.
        confirmed: number of datasets on which each of them was confirmed.
        cache: the use of the cache, in words; "" if everything was computed.
        rounded: what the program rounded to doubles, in words: then the bounds are those of the program with these
            rounded numbers, and nothing is proved. [] where it rounded nothing; None where that was not watched.
    """

    epsilon_low: NonNegative | None
    epsilon_high: NonNegative | None
    epsilon_most: NonNegative | None
    datasets: Count
    pairs: Count
    laws: Count | None = None
    symmetries: list[str] = field(default_factory=list)
    confirmed: Count = 0
    cache: str = ""
    rounded: list[str] | None = None

    @property
    def certain(self) -> bool:
        """Whether nothing was rounded."""
        return self.rounded is not None and not self.rounded


@dataclass(frozen=True)
class LedgerRow:
    """One line of the composition tree, depth first. Its parts and its privacy loss are those of one execution path:
    see `LossBreakdown`."""

    depth: Count
    """Depth in the tree; 0 is the root. Rows are depth first."""
    text: str
    """The sub-mechanism, or the rule of composition."""
    epsilon: NonNegative
    """Its claim, or else what its parts compose to, or 0."""
    delta: NonNegative
    """Its claimed δ, or else what its parts compose to, or 0."""
    name: str = ""
    """The mechanism or draw alone."""
    claimed: bool | None = None
    """Whether `epsilon` and `delta` are its own claim."""
    composed_epsilon: NonNegative | None = None
    """What its parts' claims compose to; None for a leaf, or where a part has no claim."""
    composed_delta: NonNegative | None = None
    """δ that its parts' claims compose to; None like composed_epsilon."""
    exact_epsilon: NonNegative | None = None
    """Smallest ε at `delta` of its laws on its two inputs, in both directions; None where infinite, or not known."""
    exact_delta: NonNegative | None = None
    """Smallest δ at `epsilon` of the same; None where there are no laws."""
    value: str = ""
    """What it gave."""
    loss: float | None = None
    """Log of the ratio of its probabilities on the two datasets; the losses of the parts add up to it."""
    impossible: bool = False
    """Whether it is infinite: what was drawn is impossible on the other dataset."""
    remark: str = ""
    """Why its parts are not shown, or not compared."""


@dataclass(frozen=True)
class LossBreakdown:
    """The execution path that the rows of a ledger show.

    It leads to the most likely outcome of the worst event, by the most likely draws; sub-mechanisms are compared on the
    inputs that they have on it.
    """

    pair: PairRecord
    """The pair on which the path is followed."""
    direction: Direction
    """The path is that of the first dataset in it."""
    share: Probability
    """The share of the outcome's probability that the outermost draws of this path have."""


@dataclass(frozen=True)
class ShiftedNoise:
    """How far the noise of one line of a program moves in an alignment."""

    line: str
    """File and line that draws."""
    source: str
    """Its text."""
    noise: str
    """The distribution, such as "Laplace(20)"."""
    shifts: list[str]
    """The distinct shifts, as fractions."""
    cost: str
    """Of this line's draws on one path, at most, as a fraction."""


@dataclass(frozen=True)
class Alignment:
    """A proof for every dataset of a scope: shifts of the noise that give every neighbour the same output.

    `dpaudit prove` writes its certificate.
    """

    scope: str
    """The datasets and their neighbours."""
    epsilon: str
    """The ε that is proved, as a fraction; beside Gaussian noise, of the rest."""
    mu_squared: str
    """μ² of Gaussian noise, as a fraction."""
    rho: str
    """ρ, as a fraction, where the claim is of zCDP or follows by it; "0" elsewhere."""
    noise: list[ShiftedNoise]
    """How the noise moves, line by line."""
    paths: Count
    """Execution paths that were aligned."""
    assumptions: list[str]
    """What the proof takes for granted."""
    given: str | None
    """Which of these the program states and the audit only confirmed on its pairs; None for none."""
    choices: bool = False
    """Whether random choices have exact probabilities, with which costs of the noise count."""


@dataclass(frozen=True)
class Audit:
    """One claim, tried on some pairs, with its verdict."""

    name: str
    """Name of the algorithm or function."""
    verdict: Verdict
    """fail: the claim is refuted. pass: proved if `evidence` is exhaustive, else not refuted. inconclusive: `reason` is
    the remedy."""
    evidence: EvidenceKind
    """What the verdict was made from. sampled: runs on the pairs tried. exact: exact laws on the pairs tried.
    exhaustive: exact laws on every neighbouring pair of `scope`."""
    claim: ClaimRecord
    """The claim."""
    epsilon_lower: float | None
    """Best certified lower bound on ε at the claimed δ, of the e-process and of all counts; None when nothing was
    sampled."""
    epsilon_exact: float | None
    """None when nothing was enumerated or when it is infinite (then `delta_exact` tells)."""
    detectable_epsilon: float | None
    """Smallest true ε that would have been detected with probability 0.9 on the pairs tried; None if none or nothing
    was sampled."""
    confidence: Probability
    """1 − the family-wise error over everything tried: audits, pairs, events, directions, powers, interim
    analyses."""
    runs: Count
    """Samples in total: both datasets, learning and certification, all pairs."""
    pair: PairRecord | None
    """The pair that decided; None if there is none."""
    event: EventRecord | None
    """The event that decided; None if there is none."""
    replay: str
    """Id for `dpaudit replay`."""
    expected: Verdict | None
    """What the catalogue expects: fail, pass or inconclusive; None for a user's own function."""
    case: str
    """Which of the algorithm's cases: "paper constants", "group of 2", "every pair of [3]^2", …"""
    mechanism: str
    """repr of the instance that was run."""
    title: str
    """What the algorithm does, in a few words."""
    source: str
    """Paper and theorem, or the file of a user's own function."""
    deviations: list[str]
    """Where the implementation reads or departs from the paper."""
    reason: str
    """One or two sentences: why this verdict, and for INCONCLUSIVE what to do. Options are named as the front end does
    that made the result."""
    reason_code: Code
    """What kind of reason it is, for programs."""
    reason_values: dict[str, Value]
    """The numbers and texts that the sentence of this kind of reason is made from."""
    epsilon_lower_clopper_pearson: float | None
    """The lower bound by Clopper–Pearson alone, always reported beside `epsilon_lower`."""
    delta_exact: float | None
    """Exact δ at the claimed ε; None when nothing was enumerated."""
    scope: str | None
    """What was enumerated, when anything was."""
    sampled: list[SampledEvidence]
    """All sampled evidence."""
    exact: list[ExactEvidence]
    """All exact evidence."""
    profile_plot: ProfilePlot | None
    """Data of the privacy profile; None without a plot."""
    output_plot: OutputPlot | None
    """Data of the output distributions; None without a plot."""
    bound_plot: BoundPlot | None
    """Data of bound against runs; None without a plot."""
    ledger: list[LedgerRow]
    """The composition tree, depth first; empty when the mechanism has none."""
    notes: list[NoteRecord]
    """What was not tried, what was skipped and why."""
    crashed: bool = False
    """Whether the mechanism raised or misbehaved; `reason` says how."""
    sequential: SequentialEvidence | None = None
    """None where nothing was sampled."""
    floating_point: FloatingPoint | None = None
    """None where no output was a double from a continuous draw, or nothing was sampled."""
    evidence_plot: EvidencePlot | None = None
    """Data of evidence against runs; None without a plot."""
    proof: Proof | None = None
    """None where no scope was enumerated."""
    loss_breakdown: LossBreakdown | None = None
    """None where there are no laws, or no parts: then the rows of `ledger` hold claims alone."""
    chain: Chain | None = None
    """None where no chain was walked (`--groups`)."""
    drawing: Drawing | None = None
    """A figure of the pair and of what comes out; None where the catalogue draws none."""
    location: Location | None = None
    """Where the mechanism's source code is; None where it cannot be read."""
    tradeoff_plot: TradeoffPlot | None = None
    """Data of the trade-off curve; None without a plot."""
    loss_plot: LossPlot | None = None
    """None without laws or densities."""
    assumptions: list[AssumptionRecord] = field(default_factory=list)
    """What the statistics assume of a function, and whether it held; none of a mechanism with laws."""
    curve: CurveRecord | None = field(default=None, metadata=LEFT_OUT)
    """The claim, where it is a curve: `claim` is then the (ε, δ) of it that is reported. Left out for other claims."""
    alignment: Alignment | None = field(default=None, metadata=LEFT_OUT)
    """A proof by an alignment of the noise. Left out where none was found."""

    @property
    def plots(self) -> dict[str, Plot]:
        """The plots that there are data for, by the names of `PLOTS`."""
        plots = {name: getattr(self, key) for name, key in PLOTS.items()}
        return {name: plot for name, plot in plots.items() if plot is not None}

    @property
    def as_expected(self) -> bool | None:
        """Whether the verdict is the catalogue's expectation; None where there is none."""
        return None if self.expected is None else self.expected == self.verdict


@dataclass(frozen=True)
class UtilityRecord:
    """What was guaranteed of the output: the goal, and with what probability it is reached at least (or at most)."""

    goal: str
    """What a good output is."""
    probability: Probability
    """With what probability it is reached at least (or at most)."""
    at_most: bool
    """Whether the guarantee is an upper limit of the probability (lower bounds of private algorithms)."""
    place: str
    """Section and theorem of the guarantee."""
    statement: str
    """The guarantee as one sentence."""


@dataclass(frozen=True)
class Attempt:
    """A guarantee tried on one source of inputs."""

    instances: str
    """Where the inputs come from, in words."""
    exact: Probability | None
    """The exact probability of success; None where there is no law."""
    exact_low: Probability | None
    """It lies between these (interval arithmetic, rounded outward)."""
    exact_high: Probability | None
    """And at most this."""
    hits: Count
    """Successes in `runs` runs; 0 of 0 where nothing was run."""
    runs: Count
    """Runs; 0 where nothing was run."""
    low: Probability | None
    """Clopper–Pearson limits of the probability of success, `alpha` / 2 on each side; None where nothing was run."""
    high: Probability | None
    """Upper limit, at `alpha` / 2."""
    alpha: Probability
    """Share of the family-wise error that the two limits use."""
    rounded: list[str] | None = None
    """What the program rounded to doubles, in words; [] where nothing was, and the exact probability is certain. None
    without one."""


@dataclass(frozen=True)
class UtilityAudit:
    """One utility guarantee, tried on some sources of inputs, with its verdict.

    FAIL: on one of them it is violated, exactly or at the confidence. PASS: it is not; `reason` says how well that is
    known. Keys that audits of privacy have too mean the same.
    """

    name: str
    """Name of the algorithm or function."""
    case: str
    """Which of the algorithm's cases this is."""
    mechanism: str
    """The instance that was run, with its parameters."""
    title: str
    """What the algorithm does, in a few words."""
    source: str
    """Paper and theorem, or the file of a user's own function."""
    deviations: list[str]
    """Where the implementation reads or departs from the paper."""
    verdict: Verdict
    """fail: the guarantee is violated on some inputs. pass: it is not, `reason` says how well that is known.
    inconclusive: `reason` is the remedy."""
    evidence: EvidenceKind
    """`exact` where the verdict rests on exact probabilities, `sampled` where it rests on runs."""
    reason: str
    """Why this verdict; for inconclusive, what to do. Options are named as the front end does that made the result."""
    reason_code: Code
    """What kind of reason it is, for programs."""
    reason_values: dict[str, Value]
    """The numbers and texts that the sentence of this kind of reason is made from."""
    claim: UtilityRecord
    """What was guaranteed."""
    attempts: list[Attempt]
    """The guarantee on each source of inputs."""
    worst: Count | None
    """Which of `attempts` comes nearest to violating the guarantee, or violates it most; None where none ended."""
    confidence: Probability
    """1 minus the family-wise error over everything tried: audits, pairs, events, directions, powers, interim
    analyses."""
    runs: Count
    """Runs in total."""
    replay: str
    """Id for `dpaudit replay`."""
    expected: Verdict | None
    """Verdict that the catalogue expects; None for a user's own function."""
    notes: list[NoteRecord]
    """What was not tried, what was skipped and why."""
    crashed: bool = False
    """Whether the mechanism raised or misbehaved; `reason` says how."""
    location: Location | None = None
    """Where the mechanism's source code is; None where it cannot be read."""
    drawing: Drawing | None = None
    """None where the catalogue draws none."""

    @property
    def as_expected(self) -> bool | None:
        """Whether the verdict is the catalogue's expectation; None where there is none."""
        return None if self.expected is None else self.expected == self.verdict

    @property
    def deciding(self) -> Attempt | None:
        """The attempt that `worst` names."""
        return None if self.worst is None else self.attempts[self.worst]


@dataclass(frozen=True)
class Timings:
    """Everything that differs between two runs of the same seed; kept apart so that the rest is byte-identical."""

    started: str
    """When the run started (ISO 8601)."""
    seconds: NonNegative
    """Wall-clock seconds in total."""
    jobs: Count
    """Number of workers."""
    audits: dict[str, float]
    """Seconds by replay id."""
    unused: Count = 0
    """Samples that workers began ahead of time, or twice, and that were not needed."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """One invocation, without the audits that it made."""

    format_version: Version = FORMAT_VERSION
    """Version of the JSON form, major.minor."""
    seed: Count
    """The one seed of all samples."""
    alpha: Probability
    """Family-wise error over all audits of this result."""
    command: str
    """What to type to get this result again."""
    environment: dict[str, str]
    """dpaudit, python, numpy, scipy, platform versions."""
    interrupted: bool = False
    """Whether it was cut short: `audits` holds those that had ended."""
    comparison: ComparisonRecord | None = None
    """The comparison that this is the result of, if it is one's."""
    timings: Timings
    """All that differs between two runs of one seed."""


@dataclass(frozen=True, kw_only=True)
class Result(Header):
    """One invocation of `dpaudit check`: audits, each with its verdict and the evidence it was made from."""

    audits: list[Audit]
    """One for each claim of privacy and each of its cases."""
    utility: list[UtilityAudit] = field(default_factory=list)
    """Utility guarantees that were tried."""

    @property
    def every(self) -> list[Audit | UtilityAudit]:
        """Audits of privacy, then of utility."""
        return [*self.audits, *self.utility]
