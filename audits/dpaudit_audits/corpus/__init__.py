"""Audit plans of the corpus: a pair for each mechanism, and the best events that any auditor could find on it.

`ORACLES` maps a mechanism's name to the "module:function" of a function without arguments that returns its `Oracle`.
It holds only mechanisms with a known output distribution or density.
"""

ORACLES: dict[str, str] = {
    # histograms and counts
    "NoisyHist1": "dpaudit_audits.corpus.noisy_histogram:oracle",
    "NoisyHist2": "dpaudit_audits.corpus.noisy_histogram:broken_oracle",
    "PrefixSum": "dpaudit_audits.corpus.prefix_sum:oracle",
    "TruncatedGeometric": "dpaudit_audits.corpus.truncated_geometric:oracle",
    "TruncatedGeometricBase2": "dpaudit_audits.corpus.truncated_geometric:base2_oracle",
    # report noisy max
    "ReportNoisyMax1": "dpaudit_audits.corpus.report_noisy_max:oracle_1",
    "ReportNoisyMax2": "dpaudit_audits.corpus.report_noisy_max:oracle_2",
    "ReportNoisyMax3": "dpaudit_audits.corpus.report_noisy_max:oracle_3",
    "ReportNoisyMax4": "dpaudit_audits.corpus.report_noisy_max:oracle_4",
    # sparse vector technique
    "SVT1": "dpaudit_audits.corpus.sparse_vector:oracle_1",
    "SVT2": "dpaudit_audits.corpus.sparse_vector:oracle_2",
    "SVT3": "dpaudit_audits.corpus.sparse_vector:oracle_3",
    "SVT4": "dpaudit_audits.corpus.sparse_vector:oracle_4",
    "SVT5": "dpaudit_audits.corpus.sparse_vector:oracle_5",
    "SVT6": "dpaudit_audits.corpus.sparse_vector:oracle_6",
    "SVT34Parallel": "dpaudit_audits.corpus.sparse_vector:parallel_oracle",
    "NumericalSVT": "dpaudit_audits.corpus.sparse_vector:numerical_oracle",
    "AboveThresholdDiscretised": "dpaudit_audits.corpus.sparse_vector:discretised_oracle",
    "AboveThresholdCoarse": "dpaudit_audits.corpus.sparse_vector:coarse_oracle",
    # local and parallel
    "Rappor": "dpaudit_audits.corpus.rappor:oracle",
    "OneTimeRappor": "dpaudit_audits.corpus.rappor:one_time_oracle",
    "LaplaceParallel": "dpaudit_audits.corpus.laplace_parallel:oracle",
    # noise in floating point
    "FloatingPointLaplace": "dpaudit_audits.corpus.floating_point:floating_point_oracle",
    "SnappingLaplace": "dpaudit_audits.corpus.floating_point:snapping_oracle",
    "DiscreteLaplaceMechanism": "dpaudit_audits.corpus.floating_point:discrete_oracle",
    # wrong calibration, wrong composition
    "GaussianClassical": "dpaudit_audits.corpus.gaussian:classical_oracle",
    "GaussianHalfSigma": "dpaudit_audits.corpus.gaussian:half_oracle",
    "GaussianClassicalLargeEpsilon": "dpaudit_audits.corpus.gaussian:large_oracle",
    "GaussianAnalytic": "dpaudit_audits.corpus.gaussian:analytic_oracle",
    "PermuteAndFlip": "dpaudit_audits.corpus.permute_and_flip:oracle",
    "PermuteAndFlipBoundedRange": "dpaudit_audits.corpus.permute_and_flip:bounded_range_oracle",
    "ExponentialZCDP": "dpaudit_audits.corpus.permute_and_flip:exponential_oracle",
    "SubsampledLaplace": "dpaudit_audits.corpus.subsampling:oracle",
    "SubsampledLaplacePoisson": "dpaudit_audits.corpus.subsampling:poisson_oracle",
    "ClampedToTruth": "dpaudit_audits.corpus.not_post_processing:truth_oracle",
    "RoundedToData": "dpaudit_audits.corpus.not_post_processing:data_oracle",
    "ClampedToPublicBounds": "dpaudit_audits.corpus.not_post_processing:public_oracle",
    "GroupPrivacyMisprinted": "dpaudit_audits.corpus.misprinted_group:oracle",
}
