"""Results to render: one for each kind of verdict and evidence, with the numbers a real run would give."""

from __future__ import annotations

import math
from dataclasses import replace

from dpaudit.results.figures import (
    BoundPlot,
    CertifiedTest,
    EvidencePlot,
    LossPlot,
    OutputPlot,
    ProfilePlot,
    TradeoffPlot,
)
from dpaudit.results.model import (
    Attempt,
    Audit,
    Bounds,
    Chain,
    ChainLink,
    ClaimRecord,
    EventRecord,
    EvidenceKind,
    ExactEvidence,
    FloatingPoint,
    LedgerRow,
    Location,
    LossBreakdown,
    NoteRecord,
    PairRecord,
    Proof,
    Result,
    SampledEvidence,
    SequentialEvidence,
    Timings,
    UtilityAudit,
    UtilityRecord,
    Verdict,
)
from dpaudit.results.notes import Stated

ENVIRONMENT = {
    "dpaudit": "0.1.0",
    "numpy": "2.3.0",
    "platform": "Linux x86_64",
    "python": "3.11.7",
    "scipy": "1.16.0",
}


def result(*audits: Audit) -> Result:
    """A result of these audits."""
    return Result(
        seed=20250711,
        alpha=0.001,
        audits=list(audits),
        environment=dict(ENVIRONMENT),
        command=f"dpaudit check {' '.join(dict.fromkeys(a.name for a in audits))} --seed 20250711",
        timings=Timings("2025-07-11T09:30:00+00:00", 12.5, 2, {a.replay: 1.25 for a in audits}),
    )


def stated(text: str) -> NoteRecord:
    """A note of this text."""
    return Stated(text).record("command line")


def _profile(
    claim: ClaimRecord, true_epsilon: float, *, exact: bool = True, certified: float | None = None
) -> ProfilePlot:
    """Of randomised response: δ(ε) = max(0, p − e^ε q), as the claim's pure part gives it."""

    def delta(at: float, spent: float) -> float:
        return max(0.0, (math.exp(spent) - math.exp(at)) / (1 + math.exp(spent)))

    epsilons = [round(0.05 * i, 2) for i in range(61)]
    return ProfilePlot(
        epsilon=epsilons,
        claim=[
            max(claim.delta, delta(e, claim.epsilon)) if e < claim.epsilon else claim.delta for e in epsilons
        ],
        exact=[delta(e, true_epsilon) for e in epsilons] if exact else None,
        certified=None if certified is None else [delta(e, certified) for e in epsilons],
    )


def _tradeoff(
    claim: ClaimRecord, true_epsilon: float | None, *, certified: CertifiedTest | None = None
) -> TradeoffPlot:
    """Of randomised response: two straight lines."""

    def beta(at: float, epsilon: float, delta: float) -> float:
        return max(0.0, 1 - delta - math.exp(epsilon) * at, math.exp(-epsilon) * (1 - delta - at))

    bends = [(1 - claim.delta) / (1 + math.exp(claim.epsilon)), 1 - claim.delta]
    if true_epsilon is not None:
        bends.append(1 / (1 + math.exp(true_epsilon)))
    alpha = sorted({0.0, *bends, 1.0})
    return TradeoffPlot(
        alpha,
        [beta(a, claim.epsilon, claim.delta) for a in alpha],
        None if true_epsilon is None else [beta(a, true_epsilon, 0.0) for a in alpha],
        certified,
    )


def _loss(claim: ClaimRecord, true_epsilon: float, *, infinite: float = 0.0) -> LossPlot:
    """Of randomised response: a loss of ε or −ε, infinite ones on the left alone."""
    p, width = math.exp(true_epsilon) / (1 + math.exp(true_epsilon)), true_epsilon / 10
    above = [round(-true_epsilon + width * (i - 1), 6) for i in range(21)]
    left = [0.0] * 21
    left[0], left[-1] = (1 - p) * (1 - infinite), p * (1 - infinite)
    right = [1 - p, *[0.0] * 19, p]
    beyond = true_epsilon > claim.epsilon
    return LossPlot(
        *("exact", above, width, left, right, infinite, 0.0, claim.epsilon),
        beyond_left=left[-1] * beyond + infinite,
        beyond_right=p * beyond,
        delta_left=max(0.0, p - math.exp(claim.epsilon) * (1 - p)) * (1 - infinite) + infinite,
        delta_right=max(0.0, p - math.exp(claim.epsilon) * (1 - p)),
    )


def _sequential(
    *, log10_e: float, runs: int, refuted_at: int | None = None, bound: float = 0.0, prior: float = 0.0
) -> SequentialEvidence:
    """An e-process; the numbers with log10 in their name are exponents of 10."""
    return SequentialEvidence(
        log_e=log10_e * math.log(10),
        log_peak=max(log10_e, 0.31) * math.log(10),
        alpha=0.00045,
        refuted_at=refuted_at,
        runs=runs,
        epsilon_lower=bound,
        prior=prior * math.log(10),
        key="9a4be3f08c2d7711",
        seeds=[20250711] if prior == 0 else [1, 2, 20250711],
    )


def _evidence_plot(evidence: SequentialEvidence, *, start: float = 0.0) -> EvidencePlot:
    """A path that begins at no evidence (or at the prior evidence) and ends where the e-process ended."""
    runs, value = [10], start
    while runs[-1] < evidence.runs:
        runs.append(min(math.ceil(runs[-1] * 1.25), evidence.runs))
    if evidence.refuted_at is not None:
        runs = sorted({*runs, evidence.refuted_at})
    end = evidence.log_e / math.log(10)
    exponents = []
    for n in runs:
        value = start + (end - start) * (n / evidence.runs) ** 0.8 + 0.05 * math.sin(3 * math.log(n))
        exponents.append(value)
    exponents[-1] = end
    return EvidencePlot(runs, exponents, -math.log10(evidence.alpha))


def fail() -> Audit:
    """FAIL, sampled and exact: noisy max that also reports the score."""
    pair = PairRecord(
        "all queries move together", "specified", 1, [0] * 400 + [1, 1, 1], [0] * 400 + [1, 1, 0]
    )
    event = EventRecord("output in {4, 5, 6}", {"kind": "set", "outputs": [4, 5, 6]})
    other = PairRecord("one heavy query", "random", 1, [3, 1, 4, 1, 5], [3, 1, 4, 1, 6])
    claim = ClaimRecord(1.0, 1e-06, "replace-one", 1, "(1, 1e-06)-DP under replace-one, Thm 3.2")
    labels = [str(i) for i in range(8)]
    sampled = SampledEvidence(
        *(pair, "left/right", event, 53_214, 500_000, 13_020, 500_000, 1.2e-47, 1.3741, 1.3522),
        *(0.00025, 1.0421, 100_000),
        family="atoms",
    )
    weaker = SampledEvidence(
        *(other, "right/left", EventRecord("output ≤ 2", {"kind": "at_most", "value": 2})),
        *(21_730, 500_000, 20_092, 500_000, 1.0, 0.0271, 0.0114, 0.00025, 1.0655, 100_000),
        family="half-line",
    )
    sequential = _sequential(log10_e=161.37, runs=600_000, refuted_at=13_750, bound=1.2104)
    return Audit(
        name="NoisyMax",
        case="paper constants",
        mechanism="NoisyMax(epsilon=1.0, delta=1e-06, queries=8)",
        location=Location("dpaudit_algorithms/noisy_max.py", 14, 42, "dpaudit_algorithms.noisy_max.NoisyMax"),
        title="Report noisy max with exponential noise",
        source="Example, Author and Writer 2014, Algorithm 3, Thm 3.2",
        deviations=[
            "Step 4 does not say what happens on a tie; the first maximum wins.",
            "Noise is drawn on the grid of multiples of 1/1024.",
        ],
        verdict=Verdict.FAIL,
        evidence=EvidenceKind.SAMPLED,
        reason="The event is too likely under D for the claim: p-value 1.2e-47 against a share of 0.00025.",
        reason_code="sampled_refutation",
        reason_values={"epsilon_lower": 1.3741, "claimed_epsilon": 1.0, "refuted_at": None, "bits": False},
        claim=claim,
        epsilon_lower=1.3741,
        epsilon_lower_clopper_pearson=1.3522,
        epsilon_exact=1.3912,
        delta_exact=0.0345,
        detectable_epsilon=1.0421,
        confidence=0.999,
        runs=2_400_000,
        pair=pair,
        event=event,
        replay="7f3a-c01d",
        expected="pass",
        scope="the pairs listed; 8 outcomes",
        sampled=[weaker, sampled],
        exact=[ExactEvidence(pair, "left/right", event, 1.3912, 0.0345, 0.1001, 0.0249)],
        profile_plot=_profile(claim, 1.3912, certified=1.3522),
        output_plot=OutputPlot(
            *("exact", labels, [0.05, 0.15, 0.3, 0.3937, 0.06, 0.03, 0.0063, 0.01]),
            *([0.12, 0.2, 0.33, 0.3138, 0.015, 0.0075, 0.0037, 0.01], [i in (4, 5, 6) for i in range(8)], 0),
        ),
        bound_plot=BoundPlot(
            [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 500_000],
            [0.61, 0.94, 1.13, 1.24, 1.31, 1.343, 1.3522],
        ),
        ledger=[
            _row(0, "NoisyMax", (1.0, 1e-06), (1.0, 1e-06), (1.3912, 0.0345), "3", 1.42),
            _row(1, "Softmax over 8 outcomes with coefficient 0.25", (0.5, 0.0), None, (0.4821, 0.0), "3", 0.4421),
            _row(1, "ADist", (0.5, 1e-06), (0.5, 0.0), (0.9779, 0.0305), "3", 0.9779),
            _row(2, "Laplace(1, 2.0) ≥ 3", (0.5, 0.0), None, (0.9779, 0.0305), "True", 0.9779),
        ],
        loss_breakdown=LossBreakdown(pair, "left/right", 0.8731),
        notes=[stated('Pair "three queries" was skipped: it is not related under replace-one.')],
        sequential=sequential,
        evidence_plot=_evidence_plot(sequential),
        tradeoff_plot=_tradeoff(claim, 1.3912, certified=CertifiedTest(0.0005, 0.0254, 0.0272, 0.8922, 0.8949)),
        loss_plot=_loss(claim, 1.3912),
    )


def _row(
    depth: int,
    name: str,
    claim: tuple[float, float],
    composed: tuple[float, float] | None,
    exact: tuple[float, float],
    value: str,
    loss: float,
) -> LedgerRow:
    """A line of a ledger that was followed on a pair."""
    parts = composed or (None, None)
    return LedgerRow(depth, name, *claim, name, True, *parts, *exact, value, loss)


def proved() -> Audit:
    """PASS · proved: every pair of a small scope, no sampling."""
    pair = PairRecord("[1, 2] and [1, 3]", "exhaustive", 1, [1, 2], [1, 3])
    event = EventRecord("output = 3", {"kind": "set", "outputs": [3]})
    claim = ClaimRecord(
        1.0, 0.0, "replace-one", 1, "(1, 0)-DP under replace-one, Thm 6 of McSherry and Talwar 2007"
    )
    return Audit(
        name="ExponentialMechanism",
        case="every pair of [3]^2",
        mechanism="ExponentialMechanism(epsilon=1.0, quality=Median())",
        title="Exponential mechanism",
        source="McSherry and Talwar 2007, Thm 6",
        deviations=[],
        verdict=Verdict.PASS,
        evidence=EvidenceKind.EXHAUSTIVE,
        reason="The exact output distributions of all 36 neighbouring pairs satisfy the claim.",
        reason_code="proved",
        reason_values={"scope": "36 pairs", "symmetries": ["reflection"], "rounded": False},
        claim=claim,
        epsilon_lower=None,
        epsilon_lower_clopper_pearson=None,
        epsilon_exact=0.812345,
        delta_exact=0.0,
        detectable_epsilon=None,
        confidence=1.0,
        runs=0,
        pair=pair,
        event=event,
        replay="51bb-0e2a",
        expected="pass",
        scope="every pair of datasets in {1, 2, 3}² that are neighbours under replace-one: 36 pairs",
        sampled=[],
        exact=[ExactEvidence(pair, "right/left", event, 0.812345, 0.0, 0.405, 0.18)],
        profile_plot=_profile(claim, 0.812345),
        output_plot=OutputPlot(
            "exact", ["1", "2", "3"], [0.42, 0.4, 0.18], [0.31, 0.285, 0.405], [False, False, True], 0
        ),
        bound_plot=None,
        ledger=[LedgerRow(0, "ExponentialMechanism", 1.0, 0.0)],
        notes=[],
        proof=Proof(0.812345, 0.812346, 0.812346, 9, 36, 5, ["reflection"], 9),
        tradeoff_plot=_tradeoff(claim, 0.812345),
        loss_plot=_loss(claim, 0.812345),
    )


def not_refuted() -> Audit:
    """PASS · not refuted: sampled, continuous output in bins, no law."""
    pair = PairRecord("one record at the end", "random", 1, list(range(200)), [*range(199), 250])
    event = EventRecord("log-odds of the classifier ≥ 0.73", {"kind": "classifier", "threshold": 0.73})
    claim = ClaimRecord(0.5, 1e-05, "add/remove-one", 1, "(0.5, 1e-05)-DP under add/remove-one")
    bins = [f"[{-4 + 0.2 * i:.1f}, {-3.8 + 0.2 * i:.1f})" for i in range(40)]
    left = [math.exp(-abs(-3.9 + 0.2 * i) / 1.2) for i in range(40)]
    right = [math.exp(-abs(-4.2 + 0.2 * i) / 1.2) for i in range(40)]
    evidence = SampledEvidence(
        *(pair, "right/left", event, 128_402, 400_000, 99_874, 400_000, 1.0, 0.23441, 0.2288),
        *(0.0005, 0.5231, 80_000),
        family="logistic",
    )
    sequential = _sequential(log10_e=-0.2689, runs=480_000)
    return Audit(
        name="noisy_mean",
        case="",
        mechanism="noisy_mean from mine.py",
        title="noisy_mean",
        source="mine.py, line 12",
        deviations=[],
        verdict=Verdict.PASS,
        evidence=EvidenceKind.SAMPLED,
        reason="No event on the pairs tried refutes the claim.",
        reason_code="not_refuted",
        reason_values={"pairs": 2, "runs": 480_000},
        claim=claim,
        epsilon_lower=0.23441,
        epsilon_lower_clopper_pearson=0.2288,
        epsilon_exact=None,
        delta_exact=None,
        detectable_epsilon=0.5231,
        confidence=0.999,
        runs=960_000,
        pair=pair,
        event=event,
        replay="a0c4-99d1",
        expected=None,
        scope=None,
        sampled=[evidence],
        exact=[],
        profile_plot=_profile(claim, 0.4, exact=False, certified=0.2288),
        output_plot=OutputPlot(
            *("sampled", bins, [v / sum(left) for v in left], [v / sum(right) for v in right]),
            *([i < 16 for i in range(40)], 0),
        ),
        bound_plot=BoundPlot([5_000, 50_000, 400_000], [0.11, 0.2, 0.2288]),
        ledger=[],
        notes=[stated("The density of the output is not known.")],
        sequential=sequential,
        floating_point=FloatingPoint(False, 0.1, 0.00005, 4_000, None, counted=False),
        evidence_plot=_evidence_plot(sequential),
        tradeoff_plot=_tradeoff(claim, None, certified=CertifiedTest(0.0005, 0.2473, 0.2521, 0.6764, 0.6816)),
    )


def inconclusive() -> Audit:
    """INCONCLUSIVE: the budget could not decide."""
    audit = not_refuted()
    (evidence,) = audit.sampled
    return replace(
        audit,
        name="LearnThresholds",
        case="group of 2",
        title="Learning thresholds with an empirical learner",
        source="Example, Author and Writer 2014, Thm 5.1",
        mechanism="LearnThresholds(alpha=0.2, beta=0.1, epsilon=0.5, delta=1e-05)",
        verdict=Verdict.INCONCLUSIVE,
        reason="The smallest violation that 4,000 runs can show is ε = 5.2; give --runs 2000000 or more.",
        epsilon_lower=0.0,
        epsilon_lower_clopper_pearson=0.0,
        detectable_epsilon=None,
        claim=replace(audit.claim, group=2, epsilon=1.0, statement="(1, 2.6e-05)-DP for groups of 2 records"),
        runs=9_600,
        replay="e771-04fb",
        expected="pass",
        sampled=[
            replace(
                *(evidence,),
                x=0,
                n=4_000,
                y=0,
                m=4_000,
                epsilon_lower=0.0,
                epsilon_lower_clopper_pearson=0.0,
                detectable_epsilon=None,
                runs_trained=800,
            )
        ],
        profile_plot=None,
        tradeoff_plot=None,
        output_plot=OutputPlot("sampled", ["⊥"], [1.0], [1.0], [False], 3),
        bound_plot=BoundPlot([4_000], [0.0]),
        sequential=(sequential := _sequential(log10_e=0.0, runs=4_800)),
        evidence_plot=EvidencePlot([sequential.runs], [0.0], 3.3468),
    )


def infinite() -> Audit:
    """FAIL by exact law: an outcome that the other dataset never gives, so no ε is enough."""
    pair = PairRecord(
        "labels swapped",
        "given",
        1,
        {"private": [[0.5, 1], [0.25, 0]], "public": [7]},
        {"private": [[0.5, 1], [0.25, 1]], "public": [7]},
    )
    event = EventRecord("output = <script>alert('no & no')</script>", {"kind": "set", "outputs": ["x"]})
    claim = ClaimRecord(1.0, 0.0, "labels only", 1, "1-DP for labels, Algorithm 2")
    names = [
        "Hypothesis(threshold=0.25, label=1, margin=0.125)",
        "<script>alert('no & no')</script>",
        "⊥",
        "Hypothesis(threshold=0.50, label=1, margin=0.125)",
    ]
    return replace(
        fail(),
        name="SVT3",
        case="as printed",
        mechanism="SVT3(epsilon=1.0)",
        title="Sparse vector that prints the noisy answer",
        source="Lyu, Su and Li 2017, Algorithm 3",
        deviations=[],
        verdict=Verdict.FAIL,
        evidence=EvidenceKind.EXACT,
        reason="The event has probability 0 under D′: no ε is enough at δ = 0.",
        claim=claim,
        epsilon_lower=None,
        epsilon_lower_clopper_pearson=None,
        epsilon_exact=None,
        delta_exact=0.0012345,
        detectable_epsilon=None,
        confidence=1.0,
        runs=0,
        pair=pair,
        event=event,
        replay="0d15-ea5e",
        expected="fail",
        scope="1 pair",
        sampled=[],
        exact=[ExactEvidence(pair, "left/right", event, None, 0.0012345, 0.0012345, 0.0)],
        profile_plot=ProfilePlot(
            [0.0, 0.5, 1.0, 1.5, 2.0],
            [0.46, 0.24, 0.0, 0.0, 0.0],
            [0.02, 0.004, 0.0012345, 0.00124, 0.00123],
            None,
        ),
        output_plot=OutputPlot(
            "exact",
            names,
            [0.7, 0.0012345, 0.2, 0.0987655],
            [0.6, 0.0, 0.3, 0.1],
            [False, True, False, False],
            17,
        ),
        bound_plot=None,
        ledger=[],
        notes=[],
        sequential=None,
        evidence_plot=None,
        tradeoff_plot=_tradeoff(claim, 0.3),
        loss_plot=_loss(claim, 0.3, infinite=0.0012345),
    )


def chained() -> Audit:
    """FAIL by exact law at the ends of a chain: what is claimed of groups lacks a factor, and all links keep theirs."""
    none, one, two = ({"multiset": [[0, 5 - i], *([[1, i]] if i else [])]} for i in range(3))
    ends = PairRecord("all low, 2 high (last)", "found", 2, none, two)
    links = [PairRecord("link 1: all low", "found", 1, none, one), PairRecord("link 2: all low", "found", 1, one, two)]
    event = EventRecord("output is True", {"kind": "set", "outputs": [True]})
    stated = ClaimRecord(2.0, 0.04, "replace-one:2", 2, "(2, 0.04)-DP under replace-one:2")
    return replace(
        infinite(),
        name="GroupPrivacyMisprinted",
        case="group of 2, by a chain",
        mechanism="GroupPrivacyMisprinted(epsilon=1.0, delta=0.02, start=0.0)",
        title="Group privacy with a factor left out",
        source="Example and Writer 2016, Theorem 3.7, misprinted",
        reason="The exact output distributions of related pairs need no finite ε at δ = 0.04 (claimed 2).",
        claim=stated,
        delta_exact=0.0743656,
        pair=ends,
        event=event,
        replay="c4a1-0002",
        expected=None,
        scope=None,
        exact=[ExactEvidence(ends, "right/left", event, None, 0.0743656, 0.0743656, 0.0)],
        profile_plot=_profile(stated, 2.5),
        tradeoff_plot=_tradeoff(stated, 2.5),
        loss_plot=None,
        output_plot=OutputPlot("exact", ["False", "True"], [1.0, 0.0], [0.9256344, 0.0743656], [False, True], 0),
        chain=Chain(
            single=ClaimRecord(1.0, 0.02, "replace-one", 1, "(1, 0.02)-DP under replace-one"),
            stated=stated,
            tight=ClaimRecord(2.0, 0.0743656, "replace-one:2", 2, "(2, 0.0743656)-DP under replace-one:2"),
            pair=ends,
            epsilon=None,
            delta=0.0743656,
            exceeded=True,
            tight_exceeded=False,
            named=None,
            walked=157,
            links=[
                ChainLink(links[0], 0.0, 0.02, None, impossible=True),
                ChainLink(links[1], 1.0, 0.02, Bounds(0.9999999, 1.0, 0.02, 0.02), loss=1.3132617),
            ],
        ),
    )


def estimated() -> Audit:
    """PASS · not refuted: a function, whose chain is known from runs."""
    audit = not_refuted()
    claim = replace(audit.claim, group=3, epsilon=1.5, delta=0.000134, relation="add-remove-one:3")
    shorter = [PairRecord(f"link {i}: one record", "found", 1, [1] * i, [1] * (i + 1)) for i in range(1, 4)]
    return replace(
        audit,
        case="group of 3, by a chain",
        claim=claim,
        chain=Chain(
            single=audit.claim,
            stated=claim,
            tight=replace(claim, delta=0.0000536),
            pair=PairRecord("one record", "found", 3, [1], [1] * 4),
            epsilon=None,
            delta=None,
            exceeded=False,
            tight_exceeded=None,
            named=None,
            walked=320,
            links=[ChainLink(pair, None, None, estimate=0.31) for pair in shorter],
        ),
        replay="c4a1-0003",
    )


def density() -> Audit:
    """FAIL by the density of several draws, with ε between bounds and no event."""
    bounds = Bounds(1.597533851, 1.597548766, 0.241835132, 0.241836868)
    exact = ExactEvidence(
        fail().exact[0].pair, "left/right", None, 1.5975413, 0.241836, None, None, bounds, True
    )
    claim = ClaimRecord(1.0, 0.1, "replace-one", 1, "(1, 0.1)-DP under replace-one")
    return replace(
        infinite(),
        name="TwoCounts",
        case="given pairs",
        mechanism="TwoCounts(epsilon=1.0)",
        title="Two noisy counts",
        source="mine.py",
        reason="The exact output distributions of related pairs need ε ≥ 1.59753 at δ = 0.1 (claimed 1).",
        claim=claim,
        epsilon_exact=1.5975413,
        delta_exact=0.241836,
        pair=exact.pair,
        event=None,
        replay="de45-17a1",
        exact=[exact],
        profile_plot=_profile(claim, 1.5975413),
        tradeoff_plot=_tradeoff(claim, 1.5975413),
        loss_plot=replace(_loss(claim, 1.5975413), kind="density"),
        output_plot=None,
    )


def huge_multiset() -> Audit:
    """PASS on the exact laws of one pair of multisets with a million records."""
    left = [[value, 1_000 + value % 7] for value in range(1_000)]
    right = [[value, times - (value == 17) + (value == 901)] for value, times in left] + [[5_000, 1]]
    pair = PairRecord("far apart", "random", 2, {"multiset": left}, {"multiset": right})
    event = EventRecord("output ≥ 512", {"kind": "at_least", "value": 512})
    return replace(
        proved(),
        name="RecPrefix",
        case="|X| = 1024",
        proof=None,
        title="Private interior point by recursion",
        source="Example, Author and Writer 2014, Thm 7.8",
        mechanism="RecPrefix(size=1024, epsilon=1.0, delta=1e-09)",
        evidence=EvidenceKind.EXACT,
        reason="The exact output distributions of the one pair tried satisfy the claim.",
        claim=ClaimRecord(1.0, 1e-09, "add/remove-one", 2, "(1, 1e-09)-DP for groups of 2, Thm 7.8"),
        epsilon_exact=0.99996,
        delta_exact=9.1e-10,
        pair=pair,
        event=event,
        scope="1 pair",
        replay="bead-5001",
        exact=[ExactEvidence(pair, "left/right", event, 0.99996, 9.1e-10, 0.5, 0.18394)],
    )


def crashed() -> Audit:
    """INCONCLUSIVE because the mechanism raised."""
    return replace(
        not_refuted(),
        verdict=Verdict.INCONCLUSIVE,
        reason="noisy_mean raised ZeroDivisionError on D′; fix it and run again.",
        crashed=True,
        epsilon_lower=None,
        epsilon_lower_clopper_pearson=None,
        detectable_epsilon=None,
        sampled=[],
        pair=None,
        event=None,
        profile_plot=None,
        tradeoff_plot=None,
        output_plot=None,
        bound_plot=None,
        replay="dead-0001",
        sequential=None,
        floating_point=None,
        evidence_plot=None,
    )


BITS = EventRecord("lowest set bit of the output in {-53, -52}", {"kind": "bits", "mask": 7})


def leaks() -> Audit:
    """PASS, but the bit patterns of its doubles give the dataset away."""
    return replace(
        not_refuted(),
        name="LaplaceTextbook",
        case="counts 0 and 1",
        title="Laplace noise by inversion of one uniform double",
        source="Example and Writer 2012, §4",
        mechanism="LaplaceTextbook(epsilon=0.5)",
        expected="pass",
        floating_point=FloatingPoint(True, 95.3, 0.00005, 4_000, BITS, counted=False),
        replay="f10a-7000",
    )


def bits_counted() -> Audit:
    """FAIL by bit patterns, which count here; stopped so early that the confidence bound is weak."""
    audit = leaks()
    (evidence,) = audit.sampled
    evidence = replace(
        *(evidence,), direction="left/right", event=BITS, x=190, n=420, y=72, m=420, p_value=0.0021,
        epsilon_lower=0.511, epsilon_lower_clopper_pearson=0.3321, runs_trained=212, family="bits",
        detectable_epsilon=2.2,
    )  # fmt: skip
    sequential = _sequential(log10_e=9.12, runs=632, refuted_at=212, bound=0.6138)
    return replace(
        audit,
        verdict=Verdict.FAIL,
        reason="The samples show ε ≥ 0.613 at δ = 1e-05 (claimed 0.5), by the low-order bits of its outputs.",
        expected="fail",
        epsilon_lower=0.6138,
        epsilon_lower_clopper_pearson=0.3321,
        detectable_epsilon=2.2,
        runs=1_264,
        event=BITS,
        sampled=[evidence],
        profile_plot=None,
        tradeoff_plot=None,
        bound_plot=BoundPlot([105, 210, 315, 420], [0.0, 0.12, 0.25, 0.3321]),
        sequential=sequential,
        floating_point=FloatingPoint(True, 21.0, 0.0005, 632, BITS, counted=True),
        evidence_plot=_evidence_plot(sequential),
        replay="f10a-7001",
    )


def prior() -> Audit:
    """FAIL by the e-process alone, on top of earlier results; the time ran out before anything was counted."""
    sequential = _sequential(log10_e=3.512, runs=2_310, refuted_at=2_310, bound=0.5124, prior=2.1749)
    return replace(
        not_refuted(),
        verdict=Verdict.FAIL,
        reason="The samples show ε ≥ 0.512; the e-process refuted the claim in addition to earlier results.",
        epsilon_lower=0.5124,
        epsilon_lower_clopper_pearson=None,
        detectable_epsilon=None,
        runs=4_620,
        event=None,
        sampled=[],
        profile_plot=None,
        tradeoff_plot=None,
        output_plot=None,
        bound_plot=None,
        sequential=sequential,
        floating_point=FloatingPoint(False, 0.1, 0.00005, 2_310, None, counted=False),
        evidence_plot=_evidence_plot(sequential, start=2.1749),
        replay="ca44-1ed0",
    )


def broken_guarantee() -> UtilityAudit:
    """Exactly broken on one kind of inputs, kept on another."""
    attempts = [
        Attempt("drawn from {1, 64}", 0.9999999, 0.99999989, 0.99999991, 20_000, 20_000, 0.99958, 1.0, 0.0005),
        Attempt("six records <1>", 0.5, 0.5, 0.5000000000000002, 10_199, 20_000, 0.49614, 0.52375, 0.0005),
    ]
    goal = "an interior point"
    return UtilityAudit(
        name="InteriorPointByMedian",
        case="equal records",
        mechanism="InteriorPointByMedian(epsilon=1.0, domain=2)",
        title="Interior point by the exponential mechanism with the median utility",
        source='"Algorithms for Interior Point"',
        deviations=["The domain is finite."],
        verdict=Verdict.FAIL,
        evidence=EvidenceKind.EXACT,
        reason=(
            "The probability of success is exactly 0.5, and the guarantee is at least 0.55373968. "
            "Inputs: six records <1>."
        ),
        reason_code="guarantee_exactly_broken",
        reason_values={"probability": 0.5, "at_most": False},
        claim=UtilityRecord(goal, 0.55373968, False, "a lecture", f"{goal} with probability at least 0.55373968"),
        attempts=attempts,
        worst=1,
        confidence=0.999,
        runs=40_000,
        replay="0a11-be57",
        expected="fail",
        notes=[stated("The bound of the print needs a y with exactly n/2 records at or below it.")],
    )


def certified_guarantee() -> UtilityAudit:
    """An upper bound on success, by samples; five kinds of inputs."""
    attempts = [
        Attempt(f"D_2 with ε = 0.{i}", None, None, None, 100 * i, 1000, 0.08 * i - 0.02, 0.11 * i + 0.04, 0.0001)
        for i in range(1, 6)
    ]
    return replace(
        broken_guarantee(),
        name="Private",
        case="hard distribution",
        verdict=Verdict.PASS,
        evidence=EvidenceKind.SAMPLED,
        reason=(
            "The probability of success satisfies the guarantee on all 5 kinds of inputs tried, with 99.9 % confidence."
        ),
        claim=UtilityRecord("a good point", 0.7, True, "Lemma 7.6", "a good point with probability at most 0.7"),
        attempts=attempts,
        worst=4,
        runs=5000,
        replay="0b22-ce57",
        expected=None,
        notes=[],
    )


def many(number: int = 60) -> list[Audit]:
    """A catalogue's worth of audits, of every kind."""
    kinds = [
        proved,
        not_refuted,
        fail,
        proved,
        huge_multiset,
        not_refuted,
        infinite,
        proved,
        inconclusive,
        not_refuted,
    ]
    audits = []
    for i in range(number):
        audit = kinds[i % len(kinds)]()
        audits.append(
            replace(audit, name=f"{audit.name}{i // len(kinds) or ''}", replay=f"{i:04x}-{audit.replay[:4]}")
        )
    return audits


NASTY = "]]> </failure> <script>alert(1)</script> a|b `c` **d** @all #1 [x](1) {0} \x00\x1b[31m\r\n\u2028\u202e\ud800"
"""Everything that means something to somebody who reads a report."""


def hostile() -> Result:
    """A result whose strings try to be more than text."""
    event, audit = EventRecord(f"output = {NASTY}", {"kind": "set", "outputs": [NASTY]}), fail()
    assert audit.pair is not None
    pair = replace(audit.pair, label=NASTY, left=[NASTY], right=[f"{NASTY}!"])
    changed = replace(
        audit,
        name=NASTY,
        case=f"case {NASTY}",
        reason=f"It raised: {NASTY}",
        claim=replace(audit.claim, statement=NASTY),
        pair=pair,
        event=event,
        sampled=[replace(one, pair=pair, event=event) for one in audit.sampled],
        exact=[replace(one, pair=pair, event=event) for one in audit.exact],
        location=Location(f"my files/{NASTY}.py", 3, 4, NASTY),
        title=NASTY,
        notes=[stated(NASTY)],
    )
    guarantee = replace(broken_guarantee(), name=NASTY, case=NASTY, reason=NASTY, expected=None)
    return replace(result(changed, replace(changed, case="")), utility=[guarantee], command=f"dpaudit check {NASTY}")


def every() -> dict[str, Result]:
    """All examples by name."""
    singles = (fail, proved, not_refuted, inconclusive, infinite, huge_multiset)
    named = {make.__name__: result(make()) for make in singles}
    return {
        **named,
        "crashed": result(crashed()),
        "density": result(density()),
        "chained": result(chained()),
        "estimated": result(estimated()),
        **{make.__name__: result(make()) for make in (leaks, bits_counted, prior)},
        "several": result(*(make() for make in singles)),
        "floats": result(leaks(), bits_counted()),
        "none": result(),
        "utility_alone": replace(result(), utility=[broken_guarantee()]),
        "utility": replace(result(fail(), proved()), utility=[broken_guarantee(), certified_guarantee()]),
    }
