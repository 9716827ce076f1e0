"""What is tried against the algorithms, one file per algorithm.

`CATALOGUE` is what the entry point `dpaudit.audits` names: the algorithm's name → "module:plan".
"""

CATALOGUE: dict[str, str] = {
    "LaplaceMechanism": "dpaudit_audits.foundations.laplace_mechanism:PLAN",  # F1
    "LaplaceMechanismRounded": "dpaudit_audits.foundations.laplace_mechanism:ROUNDED_PLAN",  # F1
    "ExponentialMechanism": "dpaudit_audits.foundations.exponential_mechanism:PLAN",  # F2
    "ADist": "dpaudit_audits.foundations.a_dist:PLAN",  # F3
    "ADistCorrected": "dpaudit_audits.foundations.a_dist:CORRECTED_PLAN",  # F3
    "ChoosingMechanism": "dpaudit_audits.foundations.choosing:PLAN",  # F4
    "DominatingMechanism": "dpaudit_audits.foundations.composition:DOMINATING_PLAN",  # F5
    "Concatenation": "dpaudit_audits.foundations.composition:CONCATENATION_PLAN",  # F5
    "BasicComposition": "dpaudit_audits.foundations.composition:BASIC_PLAN",  # F5
    "AdvancedComposition": "dpaudit_audits.foundations.composition:ADVANCED_PLAN",  # F5
    "GroupPrivacy": "dpaudit_audits.foundations.group_privacy:PLAN",  # F5
    "PostProcessing": "dpaudit_audits.foundations.post_processing:PLAN",  # F5
    "UniformConvergence": "dpaudit_audits.generalization.uniform_convergence:PLAN",  # F6
    "UniformConvergenceCorrected": "dpaudit_audits.generalization.uniform_convergence:CORRECTED_PLAN",  # F6
    "Subsampled": "dpaudit_audits.foundations.subsampling:PLAN",  # F7
    "AboveThreshold": "dpaudit_audits.foundations.above_threshold:PLAN",  # F8
    "InteriorPointByMedian": "dpaudit_audits.interior_points.interior_point:PLAN",  # I1
    "InteriorPointByMedianCorrected": "dpaudit_audits.interior_points.interior_point:CORRECTED_PLAN",  # I1
    "RecPrefix": "dpaudit_audits.interior_points.rec_prefix:PLAN",  # I2
    "RecConcave": "dpaudit_audits.interior_points.rec_concave:PLAN",  # I3
    "RecConcaveCorrected": "dpaudit_audits.interior_points.rec_concave:CORRECTED_PLAN",  # I3
    "InteriorPointByRecConcave": "dpaudit_audits.interior_points.interior_point_rec_concave:PLAN",  # I3
    "LearnThresholds": "dpaudit_audits.pac.learn_thresholds:PLAN",  # I4
    "LearnThresholdsCorrected": "dpaudit_audits.pac.learn_thresholds:CORRECTED_PLAN",  # I4
    "LearnPoints": "dpaudit_audits.pac.learn_points:PLAN",  # I5
    "LearnPointsCorrected": "dpaudit_audits.pac.learn_points:CORRECTED_PLAN",  # I5
    "ThresholdsFromInteriorPoint": "dpaudit_audits.lower_bounds.thresholds_reductions:PLAN",  # I6
    "ThresholdsFromInteriorPointCorrected": "dpaudit_audits.lower_bounds.thresholds_reductions:CORRECTED_PLAN",  # I6
    "InteriorPointFromThresholds": "dpaudit_audits.lower_bounds.thresholds_reductions:BACK_PLAN",  # I6
    "InteriorPointFromThresholdsCorrected": (
        "dpaudit_audits.lower_bounds.thresholds_reductions:BACK_CORRECTED_PLAN"  # I6
    ),
    "EmpiricalLearner": "dpaudit_audits.pac.learner_conversions:PLAN",  # I7
    "EmpiricalLearnerCorrected": "dpaudit_audits.pac.learner_conversions:CORRECTED_PLAN",  # I7
    "PacLearner": "dpaudit_audits.pac.learner_conversions:PAC_PLAN",  # I7
    "PairTwice": "dpaudit_audits.interior_points.pair_twice:PLAN",  # I8
    "TreeLog": "dpaudit_audits.interior_points.tree_log:PLAN",  # I9
    "HardDatabase": "dpaudit_audits.lower_bounds.hard_databases:DATABASE_PLAN",  # L1
    "HardReduction": "dpaudit_audits.lower_bounds.hard_databases:REDUCTION_PLAN",  # L2
    "DigitGuessing": "dpaudit_audits.lower_bounds.hard_databases:GAME_PLAN",  # L2
    "PackingGame": "dpaudit_audits.lower_bounds.packing_game:PLAN",  # L3
    "SolveD": "dpaudit_audits.lower_bounds.solve_d:PLAN",  # L4
    "ThresholdRelease": "dpaudit_audits.lower_bounds.query_release:RELEASE_PLAN",  # L5
    "RefinedRelease": "dpaudit_audits.lower_bounds.query_release:REFINED_PLAN",  # L5
    "LearnerFromRelease": "dpaudit_audits.lower_bounds.query_release:LEARNER_PLAN",  # L5
    "Median": "dpaudit_audits.interior_points.interior_point_baselines:MEDIAN_PLAN",  # L6
    "ConsistentThreshold": "dpaudit_audits.pac.non_private:CONSISTENT_THRESHOLD_PLAN",  # L6
    "Minimum": "dpaudit_audits.interior_points.interior_point_baselines:MINIMUM_PLAN",  # L6
    "Maximum": "dpaudit_audits.interior_points.interior_point_baselines:MAXIMUM_PLAN",  # L6
    "NoisyMedian": "dpaudit_audits.interior_points.interior_point_baselines:NOISY_MEDIAN_PLAN",  # L6
    "EmpiricalRiskMinimizer": "dpaudit_audits.pac.non_private:EMPIRICAL_RISK_PLAN",  # P1
    "FiniteClassLearner": "dpaudit_audits.pac.finite_class:PLAN",  # P2
    "FiniteClassLearnerCorrected": "dpaudit_audits.pac.finite_class:CORRECTED_PLAN",  # P2
    "RepresentationLearner": "dpaudit_audits.representations.representation_learner:PLAN",  # P3
    "RepresentationLearnerCorrected": "dpaudit_audits.representations.representation_learner:CORRECTED_PLAN",  # P3
    "PointRepresentation": "dpaudit_audits.representations.point_representation:PLAN",  # P4
    "PointRepresentationHash": "dpaudit_audits.representations.point_representation:HASH_PLAN",  # P4
    "RepresentationFromLearner": "dpaudit_audits.representations.representation_from_learner:PLAN",  # P5
    "RepresentationFromLearnerRefined": "dpaudit_audits.representations.representation_from_learner:REFINED_PLAN",  # P5
    "BetaBoosted": "dpaudit_audits.representations.representation_boosting:BETA_PLAN",  # P6
    "AlphaBoosted": "dpaudit_audits.representations.representation_boosting:ALPHA_PLAN",  # P6
    "GeneralizationTightness": "dpaudit_audits.generalization.tightness:PLAN",  # G1
    "GeneralizationTightnessCorrected": "dpaudit_audits.generalization.tightness:CORRECTED_PLAN",  # G1
    "NaiveAnswers": "dpaudit_audits.generalization.statistical_queries:NAIVE_PLAN",  # G2
    "LaplaceAnswers": "dpaudit_audits.generalization.statistical_queries:LAPLACE_PLAN",  # G3
    "GaussianAnswers": "dpaudit_audits.generalization.statistical_queries:GAUSSIAN_PLAN",  # G3
    "NumericSparse": "dpaudit_audits.generalization.numeric_sparse:PLAN",  # G4
    "NumericSparseCorrected": "dpaudit_audits.generalization.numeric_sparse:CORRECTED_PLAN",  # G4
    "PrivateMultiplicativeWeights": "dpaudit_audits.generalization.multiplicative_weights:PLAN",  # G4
    "AlgorithmB": "dpaudit_audits.generalization.algorithm_b:PLAN",  # G5
    "ReleaseThresholds": "dpaudit_audits.half_spaces.release_thresholds:PLAN",  # H1
    "LearnRectangles": "dpaudit_audits.half_spaces.learn_rectangles:PLAN",  # H2
    "MakeData": "dpaudit_audits.half_spaces.half_spaces:PLAN",  # H3
    "MakeDataCorrected": "dpaudit_audits.half_spaces.half_spaces:CORRECTED_PLAN",  # H3
    "ASimpleH": "dpaudit_audits.half_spaces.simple_half_spaces:PLAN",  # H4
    "ASimpleHCorrected": "dpaudit_audits.half_spaces.simple_half_spaces:CORRECTED_PLAN",  # H4
    "MakeHighDimData": "dpaudit_audits.half_spaces.high_dim_half_spaces:DATA_PLAN",  # H5
    "MakeHighDimDataCorrected": "dpaudit_audits.half_spaces.high_dim_half_spaces:DATA_CORRECTED_PLAN",  # H5
    "AHighH": "dpaudit_audits.half_spaces.high_dim_half_spaces:PLAN",  # H5
    "AHighHCorrected": "dpaudit_audits.half_spaces.high_dim_half_spaces:CORRECTED_PLAN",  # H5
    "ReorderSliceCompute": "dpaudit_audits.half_spaces.reorder_slice_compute:PLAN",  # H6
    "ConstrHalf": "dpaudit_audits.mixtures.mixtures:CONSTRUCTION_PLAN",  # H7
    "LearnHalf": "dpaudit_audits.mixtures.mixtures:PLAN",  # H7
    "MixtureModel": "dpaudit_audits.mixtures.mixture_model:PLAN",  # H8
}

CONTESTS: dict[str, str] = {"interior-points": "dpaudit_audits.interior_points.interior_points:InteriorPoints"}
"""What the entry point `dpaudit.contests` names: comparisons of several algorithms on the same inputs."""
