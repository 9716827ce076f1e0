"""What the audits found against printed claims; `docs/findings/` has a page and a script for each.

The index and the first lines of the pages are made of this table (tools/findings.py).
"""

from __future__ import annotations

from dpaudit.language import Finding, Severity

REFUTED, CONSTRUCTION, STEP = Severity.REFUTED, Severity.CONSTRUCTION, Severity.STEP
RANGE, TYPO = Severity.RANGE, Severity.TYPO
THESIS, NOTES, OVERVIEW = "Stemmer's thesis", "lecture notes on interior points", "Sivakumar's overview"
HALF_SPACES, MIXTURES, BOOK = "half-spaces paper", "mixtures paper", "Dwork and Roth"

FINDINGS = {
    finding.number: finding
    for finding in (
        Finding(
            1, "privacy", "A_dist costs 2ε where a record is replaced",
            REFUTED, f"{THESIS}, §3.5.3, Proposition 3.28(i)", "every ε, for small δ: 2δe^ε < 1 − e^{−ε} is enough",
            "{0×22} against {0×21, 1×1}, q = multiplicity, ε = 1, δ = 1e-6: needs ε = 1.9999978583",
            "default",
        ),
        Finding(
            2, "privacy", "LearnPoints costs 2ε where an example is replaced",
            REFUTED, f"{THESIS}, §6.2, Lemma 6.2", "every ε",
            "{(0,1)×22} against {(0,1)×21, (1,1)}, |X| = 256, ε = 1, δ = 1e-6: needs ε = 1.999998",
            "default",
        ),
        Finding(
            3, "privacy", "Three calls of RecConcave cost more than 9ε",
            REFUTED, f"{THESIS}, §6.4, Lemma 6.11, Theorem 6.14(1)",
            "every ε, at every N ≥ 3, where T is large and δ small (6e-5 at N = 3, ε = 0.5)",
            "one record, T = 2^33, ε = 1 and δ = 2^−100 per step: needs ε = 9.9037 of 9",
            "three calls, by hand",
        ),
        Finding(
            4, "privacy", "LearnThresholds with three calls costs more than ε",
            REFUTED, f"{THESIS}, §6.5, Theorem 6.17", "ε from 0.1 to 4.5 tried, at N = 3 and δ = 1e-6",
            "36,000 examples of seven kinds, N = 3, ε = 1, δ = 9·2^−100: one changed label needs ε = 1.118385",
            "three calls, by hand",
        ),
        Finding(
            5, "utility", "The median utility does not find an interior point where records are equal",
            REFUTED, f'{NOTES}, "Algorithms for Interior Point"', "every ε; at |X| = 2 from n > 4·ln 4/ε on",
            "{1×6} of |X| = 2, ε = 1: misses with probability 0.5, bound 0.446260",
            "six equal records of two values",
        ),
        Finding(
            6, "utility", "LearnPoints needs δ ≤ β",
            RANGE, f"{THESIS}, §6.2, Lemma 6.2", "every ε, where β < δ^1.4427 and α is small",
            "{(0,0)×591}, |X| = 400, α = 0.1, β = 0.05, δ = 1/4: fails with probability 0.069998",
            "400 points, α = 0.1, β = 0.05, δ = 1/4",
        ),
        Finding(
            7, "utility", "The number of records of Theorem 7.8 goes to 0 at large ε",
            RANGE, f"{THESIS}, §7.3.2, Theorem 7.8(2)", "ε near 4·log*|X|/(βδ) or above: from 14.8 on",
            "one record, |X| = 9, ε = 24.3, δ = 0.99, β = 1/2: misses with probability 0.513607",
            "Theorem 7.8, large ε",
        ),
        Finding(
            8, "utility", "The sample size of LearnThresholds goes to 0 at large ε",
            RANGE, f"{THESIS}, §6.5, Theorem 6.17", "ε > 72N·8^N/ln 2, which is 831 at N = 1",
            "one example, |X| = 2, α = δ = 1/2, β = 0.2, ε = 10⁴: fails with probability 0.245",
            "PAC, large ε, 1 example",
        ),
        Finding(
            9, "utility", "An interior point need not be a good threshold where examples of label 0 are equal",
            CONSTRUCTION, f"{THESIS}, §7.5, Lemma 7.22(1), Theorem 7.21(1)", "every ε",
            "{(2,0)×2}, |X| = 2, ε = 1: fails with probability 0.5, inner error 0.268941",
            "smallest case",
        ),
        Finding(
            10, "utility", "No threshold labels a dataset whose middle records are equal",
            CONSTRUCTION, f"{THESIS}, §7.5, Lemma 7.22(2), Theorem 7.21(2); {NOTES}", "every ε",
            "{1×2}, X = {0, 1}, α = 1/6, ε = 1: succeeds with probability 0.377541 of 0.622459",
            "smallest case",
        ),
        Finding(
            11, "privacy", "Subsampling m of 9m rows does not keep (ε, δ) at large ε",
            CONSTRUCTION, f"{THESIS}, §7.4, proof of Lemma 7.20; {OVERVIEW}, Theorem 3.5",
            "ε > 3.474 for large m, ε > 5.666 for m = 2",
            "m = 2, n = 18, ε = 6, {(x,0)×18} against one (x,1): needs ε = 6.301807",
            "the worst mechanism, m = 2, ε = 6",
        ),
        Finding(
            12, "utility", "The agnostic generalisation bound asks for one example if VC(H) = 0 or αβ is near 1",
            RANGE, f"{THESIS}, §3.2.3, Theorem 3.18", "no ε; VC(H) = 0, or αβ ≥ e^{−α²/50} > 0.98",
            "one concept, fair labels on one point, n = 1, α = 0.1: never within α",
            "Theorem 3.18, one concept",
        ),
        Finding(
            13, "utility", "The printed weights prefer the worst hypothesis",
            TYPO, f"{OVERVIEW}, §3, A′ and Theorem 3.3", "every ε",
            "H = {c₀, c₁}, D at 1, target c₀, ε = 1, n = 45: succeeds with probability 1.6919e-10",
            "Theorem 3.3, two concepts",
        ),
        Finding(
            14, "utility", "The bound on bad samples is e^{−n/32}, not e^{−n/8}",
            STEP, f"{OVERVIEW}, §3, proof of Theorem 3.3", "no ε",
            "|H| = 2, a concept of error 0.251, n = 24: a bad sample with probability 0.112928, bound 0.099574",
            "bad samples, |H| = 2, n = 24: the bound |H|·e^(−n/8)",
        ),
        Finding(
            15, "privacy", "MakeData costs 2ε in five of six readings",
            REFUTED, f"{HALF_SPACES}, §3.1, Lemma 12", "every ε in (0, 1), k ≥ 2; at k = 1 for sin γ = 1/2",
            "∅ against {((1, 1), 1)}, k = 2, ε = 0.5: needs ε = 1",
            "k = 2, ε = 0.5, sin γ = 1/8",
        ),
        Finding(
            16, "utility", "The grid of angles need not hold a best half-space",
            REFUTED, f"{HALF_SPACES}, §3.1, Lemmas 12, 13, Theorem 14", "every ε",
            "{((1, 1), 1), ((−1, −1), 1)}: no angle of the grid is right on both",
            "k = 2, best only on a border",
        ),
        Finding(
            17, "privacy", "A_SimpleH reads the data a second time, without noise",
            REFUTED, f"{HALF_SPACES}, §3.1, Theorem 14", "every ε and δ in (0, 1), at α = β = 1/2",
            "{((1,1),1)×200, ((−1,−1),1)×200} against one more ((1,1),1), ε = 0.9, A_Thr a coin: needs δ > 0.9999",
            "k = 1, 400 examples, A_Thr a coin",
        ),
        Finding(
            18, "privacy", "MakeHighDimData costs 2ε in all readings but one",
            REFUTED, f"{HALF_SPACES}, §3.2, Corollary 18", "every ε",
            "∅ against {((1, 1, 1), 1)}, k = 1, ε = 0.9: needs ε = 1.8",
            "k = 1, ε = 0.9",
        ),
        Finding(
            19, "utility", "In three dimensions most half-spaces are not on the grid of angles",
            REFUTED, f"{HALF_SPACES}, §3.2, Lemma 17, Corollaries 18, 19, Theorem 21", "every ε",
            "((1, 0, 0), −1), ((1, −1, 0), 1), ((0, 1, 1), 1), k = 1: no direction of three grids is right on all",
            "three points that no grid explains",
        ),
        Finding(
            20, "privacy", "A_HighH keeps angles by their exact quality",
            REFUTED, f"{HALF_SPACES}, §3.2, Theorem 21", "every ε in (0, 1), for small δ",
            "∅ against {((1, 0, 0), −1)}, k = 4, n_Thr = 90, A_Thr a coin, ε = 0.9, δ = 0.001: needs ε ≥ 35",
            "k = 4, C = 90, ε = 0.9, A_Thr a coin",
        ),
        Finding(
            21, "privacy", "δ′ + 2δτ is too little for one or two iterations of ReorderSliceCompute",
            REFUTED, f"{HALF_SPACES}, §3.2, Lemma 20", "ln 2 < ε < 1 at τ = 1, ln 2.5 < ε < 1 at τ = 2; for small δ′",
            "{1} against {0, 1}, τ = m = 1, ε = 0.9, δ = 0.01, δ′ = 1e-4: needs δ = 0.02459603, allowed 0.0201",
            "Lemma 20 with the constant 10, τ = 1, ε = 0.9",
        ),
        Finding(
            22, "privacy", "Theorem 21 uses sorters for which Lemma 20 does not hold",
            REFUTED, f"{HALF_SPACES}, §3.2, Lemma 20, Theorem 21", "every ε in (0, 1)",
            "{((1,0,0),1)×20, ((0,1,0),1)×20} against one more ((−1,0,0),−1), by Q, ε = 0.5: needs ε = 17.34",
            "Lemma 20 with the constant 4, the order of Algorithm 5, m = 20",
        ),
        Finding(
            23, "utility", "An arbitrary supported half-space need not be enough",
            CONSTRUCTION, f"{MIXTURES}, §4, Algorithm 1, Lemma 4.5, Theorem 4.9", "every ε in (0, 1)",
            "public ((0, 0), 0), ((1, 0), 0), private ((2, 0), 1), drawn with ¼, ¼, ½, α = 0.2: never succeeds",
            "Theorem 4.9, supports aligned, α = 0.2, 24 records",
        ),
        Finding(
            24, "utility", "A square root is missing in the proof of Theorem 4.10",
            STEP, f"{MIXTURES}, §4, proof of Theorem 4.10", "no ε; every n ≥ 15,664 at β = 1/2",
            "d = 1, fair labels on one point, n = 100,000, β = 1/2: fails with probability 0.484638 of 0.125",
            "Theorem 4.10's proof: the bound without the square root",
        ),
        Finding(
            25, "utility", "The sample size of Lemma 5.12 goes to 0 at large ε",
            RANGE, f"{THESIS}, §5.2.1, Lemma 5.12", "ε > 9.6247, as α, β → 0; from 20.75 on at usual α, β",
            "thresholds on two points, α = 0.05, β = 0.01, ε = 300, n = 2: succeeds with probability 0.755 of 0.96",
            "ε = 300, n = 2",
        ),
        Finding(
            26, "utility", "An α is missing in the exponential mechanism's step of Lemma 5.12",
            STEP, f"{THESIS}, §5.2.1, proof of Lemma 5.12", "every ε",
            "two thresholds, one wrong on 1 of 4, α = 0.05, ε = 1: 0.6224593, printed 0.7293294",
            "E_3, n = 4",
        ),
        Finding(
            27, "utility", "The tightness algorithm falls short where αn is not an integer",
            CONSTRUCTION, f"{THESIS}, §4.3, Theorem 4.5", "no ε",
            "n = 3, α = 0.34, δ = 0.1: succeeds with probability 0.1 of 0.147059",
            "αn not whole, three records",
        ),
        Finding(
            28, "utility", "The proof of Lemma 5.17 counts one round twice",
            STEP, f"{THESIS}, §5.2.1, proof of Lemma 5.17", "no ε",
            "T = 2, D = (3, 1, 1)/5: D(R) = 2/5, printed bound 3/16",
            "D(R), T = 2",
        ),
        Finding(
            29, "utility", "The construction of Lemma 5.15 is larger than its last line says",
            STEP, f"{THESIS}, §5.2.1, proof of Lemma 5.15", "ε > 0.0816",
            "n = 5, α = 1/4, ε = 0.1, 1,000 outcomes: 32 executions, e^{nεα+3} = 22.76",
            "size(ℋ) with 1,000 outcomes",
        ),
        Finding(
            30, "utility", "The releases of NumericSparse are less accurate than stated where δ > 0",
            REFUTED, f"{BOOK}, §3.6, Theorem 3.28", "every ε, δ > 0",
            "c = k = 1, f₁ = 1,579, T = 1,184, ε = 1, δ = 1e-6, β = 0.05: off by > α with probability 0.212401",
            "c = 1, k = 1, β = 0.05, δ = 1e-06",
        ),
        Finding(
            31, "utility", "NumericSparse halts with its c-th answer above the threshold",
            TYPO, f"{BOOK}, §3.6, Theorems 3.26, 3.28", "every ε",
            "c = 1, f = (10,000, 0), T = 5,000: f₂ is not answered",
            "the first of two queries far above, c = 1",
        ),
        Finding(
            32, "utility", "The proof of Theorem 4.3 does not reach 10ε",
            STEP, f"{THESIS}, §4.2, proof of Theorem 4.3", "every ε in (0, 1/3), if ε/δ is whole or δ ≤ 2ε²",
            "ε = 0.1, δ = 0.02, k = 1, n = 231: 0.300642 is shown, Lemma 4.2 allows 0.321403",
        ),
        Finding(
            33, "utility", "The lecture notes ask for δ ≤ 1/(20n) where the theorem that they cite asks for 1/(50n²)",
            TYPO, f"{NOTES}, the theorem of [BNSV15]; {THESIS}, Theorem 7.7, Lemma 7.6", "ε in (0, 1/4)",
            "n = 100: 1/(20n) = 1/2,000, and 1/(50n²) = 1/500,000",
        ),
        Finding(
            34, "utility", "The lower bound of Theorem 5.18 does not hold for two complementary concepts",
            RANGE, f"{THESIS}, §5.2.1, Theorem 5.18",
            "every ε; C = {c, 1 − c} as α → 0, any C of two concepts at β = 1/2",
            "C = {0, 1} on one point, ε = 1, β = 1/20: 6 examples are enough for every α",
        ),
    )
}
