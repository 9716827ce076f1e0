"""Reference implementations, one file per algorithm.

`CATALOGUE` is what the entry point `dpaudit.algorithms` names: the paper's name → "module:class", in the order of the
catalogue's ids. One row here and one in `dpaudit_audits` register an algorithm.
"""

CATALOGUE: dict[str, str] = {
    "LaplaceMechanism": "dpaudit_algorithms.foundations.laplace_mechanism:LaplaceMechanism",  # F1
    "LaplaceMechanismRounded": "dpaudit_algorithms.foundations.laplace_mechanism:LaplaceMechanismRounded",  # F1
    "ExponentialMechanism": "dpaudit_algorithms.foundations.exponential_mechanism:ExponentialMechanism",  # F2
    "ADist": "dpaudit_algorithms.foundations.a_dist:ADist",  # F3
    "ADistCorrected": "dpaudit_algorithms.foundations.a_dist:ADistCorrected",  # F3
    "ChoosingMechanism": "dpaudit_algorithms.foundations.choosing:ChoosingMechanism",  # F4
    "DominatingMechanism": "dpaudit_algorithms.foundations.dominating:DominatingMechanism",  # F5
    "Concatenation": "dpaudit_algorithms.foundations.composition:Concatenation",  # F5
    "BasicComposition": "dpaudit_algorithms.foundations.composition:BasicComposition",  # F5
    "AdvancedComposition": "dpaudit_algorithms.foundations.composition:AdvancedComposition",  # F5
    "GroupPrivacy": "dpaudit_algorithms.foundations.group_privacy:GroupPrivacy",  # F5
    "PostProcessing": "dpaudit_algorithms.foundations.post_processing:PostProcessing",  # F5
    "UniformConvergence": "dpaudit_algorithms.generalization.uniform_convergence:UniformConvergence",  # F6
    "UniformConvergenceCorrected": (
        "dpaudit_algorithms.generalization.uniform_convergence:UniformConvergenceCorrected"  # F6
    ),
    "Subsampled": "dpaudit_algorithms.foundations.subsampling:Subsampled",  # F7
    "AboveThreshold": "dpaudit_algorithms.foundations.above_threshold:AboveThreshold",  # F8
    "InteriorPointByMedian": "dpaudit_algorithms.interior_points.interior_point:InteriorPointByMedian",  # I1
    "InteriorPointByMedianCorrected": (
        "dpaudit_algorithms.interior_points.interior_point:InteriorPointByMedianCorrected"  # I1
    ),
    "RecPrefix": "dpaudit_algorithms.interior_points.rec_prefix:RecPrefix",  # I2
    "RecConcave": "dpaudit_algorithms.interior_points.rec_concave:RecConcave",  # I3
    "RecConcaveCorrected": "dpaudit_algorithms.interior_points.rec_concave:RecConcaveCorrected",  # I3
    "InteriorPointByRecConcave": (
        "dpaudit_algorithms.interior_points.interior_point_rec_concave:InteriorPointByRecConcave"  # I3
    ),
    "LearnThresholds": "dpaudit_algorithms.pac.learn_thresholds:LearnThresholds",  # I4
    "LearnThresholdsCorrected": "dpaudit_algorithms.pac.learn_thresholds:LearnThresholdsCorrected",  # I4
    "LearnPoints": "dpaudit_algorithms.pac.learn_points:LearnPoints",  # I5
    "LearnPointsCorrected": "dpaudit_algorithms.pac.learn_points:LearnPointsCorrected",  # I5
    "ThresholdsFromInteriorPoint": (
        "dpaudit_algorithms.lower_bounds.thresholds_reductions:ThresholdsFromInteriorPoint"  # I6
    ),
    "ThresholdsFromInteriorPointCorrected": (
        "dpaudit_algorithms.lower_bounds.thresholds_reductions:ThresholdsFromInteriorPointCorrected"  # I6
    ),
    "InteriorPointFromThresholds": (
        "dpaudit_algorithms.lower_bounds.thresholds_reductions:InteriorPointFromThresholds"  # I6
    ),
    "InteriorPointFromThresholdsCorrected": (
        "dpaudit_algorithms.lower_bounds.thresholds_reductions:InteriorPointFromThresholdsCorrected"  # I6
    ),
    "EmpiricalLearner": "dpaudit_algorithms.pac.learner_conversions:EmpiricalLearner",  # I7
    "EmpiricalLearnerCorrected": "dpaudit_algorithms.pac.learner_conversions:EmpiricalLearnerCorrected",  # I7
    "PacLearner": "dpaudit_algorithms.pac.learner_conversions:PacLearner",  # I7
    "PairTwice": "dpaudit_algorithms.interior_points.pair_twice:PairTwice",  # I8
    "TreeLog": "dpaudit_algorithms.interior_points.tree_log:TreeLog",  # I9
    "HardDatabase": "dpaudit_algorithms.lower_bounds.hard_databases:HardDatabase",  # L1
    "HardReduction": "dpaudit_algorithms.lower_bounds.hard_databases:HardReduction",  # L2
    "DigitGuessing": "dpaudit_algorithms.lower_bounds.hard_databases:DigitGuessing",  # L2
    "PackingGame": "dpaudit_algorithms.lower_bounds.packing_game:PackingGame",  # L3
    "SolveD": "dpaudit_algorithms.lower_bounds.solve_d:SolveD",  # L4
    "ThresholdRelease": "dpaudit_algorithms.lower_bounds.query_release:ThresholdRelease",  # L5
    "RefinedRelease": "dpaudit_algorithms.lower_bounds.query_release:RefinedRelease",  # L5
    "LearnerFromRelease": "dpaudit_algorithms.lower_bounds.query_release:LearnerFromRelease",  # L5
    "Median": "dpaudit_algorithms.interior_points.interior_point_baselines:Median",  # L6
    "ConsistentThreshold": "dpaudit_algorithms.pac.non_private:ConsistentThreshold",  # L6
    "Minimum": "dpaudit_algorithms.interior_points.interior_point_baselines:Minimum",  # L6
    "Maximum": "dpaudit_algorithms.interior_points.interior_point_baselines:Maximum",  # L6
    "NoisyMedian": "dpaudit_algorithms.interior_points.interior_point_baselines:NoisyMedian",  # L6
    "EmpiricalRiskMinimizer": "dpaudit_algorithms.pac.non_private:EmpiricalRiskMinimizer",  # P1
    "FiniteClassLearner": "dpaudit_algorithms.pac.finite_class:FiniteClassLearner",  # P2
    "FiniteClassLearnerCorrected": "dpaudit_algorithms.pac.finite_class:FiniteClassLearnerCorrected",  # P2
    "RepresentationLearner": "dpaudit_algorithms.representations.representation_learner:RepresentationLearner",  # P3
    "RepresentationLearnerCorrected": (
        "dpaudit_algorithms.representations.representation_learner:RepresentationLearnerCorrected"  # P3
    ),
    "PointRepresentation": "dpaudit_algorithms.representations.point_representation:PointRepresentation",  # P4
    "PointRepresentationHash": "dpaudit_algorithms.representations.point_representation:PointRepresentationHash",  # P4
    "RepresentationFromLearner": (
        "dpaudit_algorithms.representations.representation_from_learner:RepresentationFromLearner"  # P5
    ),
    "RepresentationFromLearnerRefined": (
        "dpaudit_algorithms.representations.representation_from_learner:RepresentationFromLearnerRefined"  # P5
    ),
    "BetaBoosted": "dpaudit_algorithms.representations.representation_boosting:BetaBoosted",  # P6
    "AlphaBoosted": "dpaudit_algorithms.representations.representation_boosting:AlphaBoosted",  # P6
    "GeneralizationTightness": "dpaudit_algorithms.generalization.tightness:GeneralizationTightness",  # G1
    "GeneralizationTightnessCorrected": (
        "dpaudit_algorithms.generalization.tightness:GeneralizationTightnessCorrected"  # G1
    ),
    "NaiveAnswers": "dpaudit_algorithms.generalization.statistical_queries:NaiveAnswers",  # G2
    "LaplaceAnswers": "dpaudit_algorithms.generalization.statistical_queries:LaplaceAnswers",  # G3
    "GaussianAnswers": "dpaudit_algorithms.generalization.statistical_queries:GaussianAnswers",  # G3
    "NumericSparse": "dpaudit_algorithms.generalization.numeric_sparse:NumericSparse",  # G4
    "NumericSparseCorrected": "dpaudit_algorithms.generalization.numeric_sparse:NumericSparseCorrected",  # G4
    "PrivateMultiplicativeWeights": (
        "dpaudit_algorithms.generalization.multiplicative_weights:PrivateMultiplicativeWeights"  # G4
    ),
    "AlgorithmB": "dpaudit_algorithms.generalization.algorithm_b:AlgorithmB",  # G5
    "ReleaseThresholds": "dpaudit_algorithms.half_spaces.release_thresholds:ReleaseThresholds",  # H1
    "LearnRectangles": "dpaudit_algorithms.half_spaces.learn_rectangles:LearnRectangles",  # H2
    "MakeData": "dpaudit_algorithms.half_spaces.half_spaces:MakeData",  # H3
    "MakeDataCorrected": "dpaudit_algorithms.half_spaces.half_spaces:MakeDataCorrected",  # H3
    "ASimpleH": "dpaudit_algorithms.half_spaces.simple_half_spaces:ASimpleH",  # H4
    "ASimpleHCorrected": "dpaudit_algorithms.half_spaces.simple_half_spaces:ASimpleHCorrected",  # H4
    "MakeHighDimData": "dpaudit_algorithms.half_spaces.high_dim_data:MakeHighDimData",  # H5
    "MakeHighDimDataCorrected": "dpaudit_algorithms.half_spaces.high_dim_data:MakeHighDimDataCorrected",  # H5
    "AHighH": "dpaudit_algorithms.half_spaces.high_dim_half_spaces:AHighH",  # H5
    "AHighHCorrected": "dpaudit_algorithms.half_spaces.high_dim_half_spaces:AHighHCorrected",  # H5
    "ReorderSliceCompute": "dpaudit_algorithms.half_spaces.reorder_slice_compute:ReorderSliceCompute",  # H6
    "ConstrHalf": "dpaudit_algorithms.mixtures.mixtures:ConstrHalf",  # H7
    "LearnHalf": "dpaudit_algorithms.mixtures.mixtures:LearnHalf",  # H7
    "MixtureModel": "dpaudit_algorithms.mixtures.mixture_model:MixtureModel",  # H8
}

GAMES: dict[str, str] = {"digit": "dpaudit_algorithms.lower_bounds.hard_databases:DigitGuessing"}
"""What the entry point `dpaudit.games` names: games against any mechanism (`dpaudit check … --game`)."""
