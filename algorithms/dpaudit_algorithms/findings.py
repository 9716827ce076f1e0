"""What the audits found against printed claims: the sections of FINDINGS.md, for the cards that they are about."""

from __future__ import annotations

from dpaudit.language import Finding

FINDINGS = {
    finding.number: finding
    for finding in (
        Finding(1, "privacy", "A_dist is (2ε, ·)-DP, not (ε, δ)-DP, under replace-one"),
        Finding(2, "privacy", "LearnPoints inherits the refutation of A_dist"),
        Finding(3, "privacy", "RecConcave: three calls cost more than 9ε, so Lemma 6.11's (3Nε, 3Nδ) is false"),
        Finding(4, "privacy", "LearnThresholds: three calls, or two at large ε, cost more than (ε, δ)"),
        Finding(5, "utility", "The median utility does not find an interior point where records are equal"),
        Finding(6, "utility", "LearnPoints is not (α, β)-PAC if δ is large compared with β"),
        Finding(7, "utility", "Theorem 7.8's number of records vanishes at large ε"),
        Finding(8, "utility", "The sample size of LearnThresholds vanishes at large ε"),
        Finding(
            9, "utility",
            "An interior point is not always a good threshold: Lemma 7.22(1) if examples of label 0 are equal",
        ),
        Finding(10, "utility", "No threshold labels a dataset whose middle records are equal: Lemma 7.22(2)"),
        Finding(11, "privacy", "Subsampling 9m rows does not keep (ε, δ) when ε is large"),
        Finding(
            12, "utility",
            "The agnostic generalisation bound requires only one example if VC(H) = 0, or if αβ is near 1",
        ),
        Finding(13, "utility", "The private learner A′ has the wrong sign: private and useless"),
        Finding(14, "utility", "Theorem 3.3's bound on bad samples: e^{−n/8} should be e^{−n/32}"),
        Finding(15, "privacy", "MakeData costs 2ε"),
        Finding(16, "utility", "The grid of angles need not hold the best half-space, and A_SimpleH need not learn"),
        Finding(17, "privacy", "A_SimpleH is not differentially private, in any reading tried"),
        Finding(18, "privacy", "MakeHighDimData costs 2ε"),
        Finding(19, "utility", "In three dimensions the grid of angles misses most half-spaces"),
        Finding(20, "privacy", "A_HighH is not (ε, δ)-DP"),
        Finding(21, "privacy", "ReorderSliceCompute: δ′ + 2δτ is too little for one or two iterations"),
        Finding(22, "privacy", "ReorderSliceCompute: there is no condition on the sorters"),
        Finding(23, "utility", "A_ConstrHalf: one arbitrary supported half-space is not enough"),
        Finding(24, "utility", "The proof of Theorem 4.10 lacks a square root"),
        Finding(25, "utility", "Lemma 5.12's number of examples vanishes at large ε"),
        Finding(26, "utility", "The exponential mechanism's step of Lemma 5.12 lacks an α"),
        Finding(27, "utility", "The tightness algorithm falls short if αn is not an integer"),
        Finding(28, "utility", "The proof of Lemma 5.17 counts one round twice"),
        Finding(29, "utility", "The construction of Lemma 5.15 is larger than its last line says"),
        Finding(30, "utility", "NumericSparse's releases miss their accuracy where δ > 0"),
        Finding(31, "utility", "NumericSparse halts where its theorem says that it does not"),
    )
}
