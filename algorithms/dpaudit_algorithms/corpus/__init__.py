"""The corpus: mechanisms that are known to be broken, and their correct look-alikes.

They are what an auditor is measured on: each has a card that says what is wrong, what it does to privacy and, where it
can be derived, the true ε. `CATALOGUE` is what the entry point `dpaudit.corpus` names.
"""

CATALOGUE: dict[str, str] = {
    # histograms and counts
    "NoisyHist1": "dpaudit_algorithms.corpus.noisy_histogram:NoisyHist1",
    "NoisyHist2": "dpaudit_algorithms.corpus.noisy_histogram:NoisyHist2",
    "PrefixSum": "dpaudit_algorithms.corpus.prefix_sum:PrefixSum",
    "TruncatedGeometric": "dpaudit_algorithms.corpus.truncated_geometric:TruncatedGeometric",
    "TruncatedGeometricBase2": "dpaudit_algorithms.corpus.truncated_geometric:TruncatedGeometricBase2",
    # report noisy max
    "ReportNoisyMax1": "dpaudit_algorithms.corpus.report_noisy_max:ReportNoisyMax1",
    "ReportNoisyMax2": "dpaudit_algorithms.corpus.report_noisy_max:ReportNoisyMax2",
    "ReportNoisyMax3": "dpaudit_algorithms.corpus.report_noisy_max:ReportNoisyMax3",
    "ReportNoisyMax4": "dpaudit_algorithms.corpus.report_noisy_max:ReportNoisyMax4",
    # sparse vector technique
    "SVT1": "dpaudit_algorithms.corpus.sparse_vector:SVT1",
    "SVT2": "dpaudit_algorithms.corpus.sparse_vector:SVT2",
    "SVT3": "dpaudit_algorithms.corpus.sparse_vector:SVT3",
    "SVT4": "dpaudit_algorithms.corpus.sparse_vector:SVT4",
    "SVT5": "dpaudit_algorithms.corpus.sparse_vector:SVT5",
    "SVT6": "dpaudit_algorithms.corpus.sparse_vector:SVT6",
    "SVT34Parallel": "dpaudit_algorithms.corpus.numerical_sparse_vector:SVT34Parallel",
    "NumericalSVT": "dpaudit_algorithms.corpus.numerical_sparse_vector:NumericalSVT",
    "AboveThresholdDiscretised": "dpaudit_algorithms.corpus.above_threshold:AboveThresholdDiscretised",
    "AboveThresholdCoarse": "dpaudit_algorithms.corpus.above_threshold:AboveThresholdCoarse",
    # local and parallel
    "Rappor": "dpaudit_algorithms.corpus.rappor:Rappor",
    "OneTimeRappor": "dpaudit_algorithms.corpus.rappor:OneTimeRappor",
    "LaplaceParallel": "dpaudit_algorithms.corpus.laplace_parallel:LaplaceParallel",
    # noise in floating point
    "FloatingPointLaplace": "dpaudit_algorithms.corpus.floating_point:FloatingPointLaplace",
    "SnappingLaplace": "dpaudit_algorithms.corpus.floating_point:SnappingLaplace",
    "DiscreteLaplaceMechanism": "dpaudit_algorithms.corpus.floating_point:DiscreteLaplaceMechanism",
    # wrong calibration, wrong composition
    "GaussianClassical": "dpaudit_algorithms.corpus.gaussian:GaussianClassical",
    "GaussianHalfSigma": "dpaudit_algorithms.corpus.gaussian:GaussianHalfSigma",
    "GaussianClassicalLargeEpsilon": "dpaudit_algorithms.corpus.gaussian:GaussianClassicalLargeEpsilon",
    "GaussianAnalytic": "dpaudit_algorithms.corpus.gaussian:GaussianAnalytic",
    "PermuteAndFlip": "dpaudit_algorithms.corpus.permute_and_flip:PermuteAndFlip",
    "PermuteAndFlipBoundedRange": "dpaudit_algorithms.corpus.permute_and_flip:PermuteAndFlipBoundedRange",
    "ExponentialZCDP": "dpaudit_algorithms.corpus.permute_and_flip:ExponentialZCDP",
    "SubsampledLaplace": "dpaudit_algorithms.corpus.subsampling:SubsampledLaplace",
    "SubsampledLaplacePoisson": "dpaudit_algorithms.corpus.subsampling:SubsampledLaplacePoisson",
    "ClampedToTruth": "dpaudit_algorithms.corpus.not_post_processing:ClampedToTruth",
    "RoundedToData": "dpaudit_algorithms.corpus.not_post_processing:RoundedToData",
    "ClampedToPublicBounds": "dpaudit_algorithms.corpus.not_post_processing:ClampedToPublicBounds",
    "GroupPrivacyMisprinted": "dpaudit_algorithms.corpus.misprinted_group:GroupPrivacyMisprinted",
}
