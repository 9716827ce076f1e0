"""The language in which mechanisms are written: all that an algorithm file imports.

Input: a paper's algorithm, as its author writes it: a `run` that draws, a claim, a card.
Output: programs of draws from distributions, claims, neighbouring relations, qualities and utility guarantees.
May import: `outputs` and `stats` (enclosed numbers). The theory of a single paper belongs beside its algorithms.
"""

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import checks
from dpaudit.language.answers import ANSWERS_L1, ANSWERS_L2, ANSWERS_LINF, Answers, AnswersL1, AnswersL2, AnswersLInf
from dpaudit.language.card import (
    DP_SNIPER,
    DWORK_ROTH,
    HALFSPACES,
    INTERIOR_POINT_NOTES,
    MIXTURES,
    PAC_OVERVIEW,
    STATDP,
    THESIS,
    UNDERSTANDING_SVT,
    Card,
    Finding,
    KnownBug,
    Severity,
)
from dpaudit.language.claim import Claim, advanced_composition, advanced_share, basic_composition, optimal_composition
from dpaudit.language.curve_text import parse_curve
from dpaudit.language.curves import Curve, GaussianDP, Profile, Renyi, TradeOff, ZeroConcentrated
from dpaudit.language.distributions import (
    Bernoulli,
    Categorical,
    CutGeometric,
    DiscreteLaplace,
    Distribution,
    Finite,
    Gaussian,
    Laplace,
    Levels,
    LevelSoftmax,
    Multinomial,
    NoisyCopies,
    Product,
    RandomOrder,
    RandomPairing,
    Real,
    Repeated,
    Snapping,
    Softmax,
    StepSoftmax,
    Uniform,
    independent,
)
from dpaudit.language.distributions.step_scores import Scored, Solution, StepScores
from dpaudit.language.game import WITH, WITHOUT, Game
from dpaudit.language.mechanism import Applied, Draw, Mechanism, Program
from dpaudit.language.multiset import Multiset
from dpaudit.language.numbers import as_written, ceil_log2, log_star, next_prime
from dpaudit.language.private_rows import PRIVATE, PRIVATE_ROWS, PUBLIC, PrivateRows
from dpaudit.language.quality import Given, Multiplicity, PiecewiseConstantScore, Quality, Realised
from dpaudit.language.query import Query
from dpaudit.language.records import Record
from dpaudit.language.relation import ADD_REMOVE_ONE, REPLACE_ONE, AddRemoveOne, Dataset, Relation, ReplaceOne
from dpaudit.language.relations import relation_named, relation_names
from dpaudit.language.scores import AnyScores, Scores, step_scores
from dpaudit.language.symmetry import Exchange, Symmetry, exchanges, relabellings
from dpaudit.language.trial import Fixed, Trial
from dpaudit.language.users import USERS, Users
from dpaudit.language.utility import Goal, Instance, InteriorPoint, SampleSize, UtilityClaim
from dpaudit.language.zcdp import zcdp_budget, zcdp_delta, zcdp_delta_by_moments, zcdp_of_pure
from dpaudit.outputs.canonical import BOTTOM, Bottom, Outcome, Output, canonical
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.arrays import BoolArray, FloatArray, IntArray
from dpaudit.stats.enclosed import cached, exp, exp2, expm1, fsum, log, log1p, log2, sqrt, tanh, to_float

__all__ = [
    "ADD_REMOVE_ONE",
    "ANSWERS_L1",
    "ANSWERS_L2",
    "ANSWERS_LINF",
    "BOTTOM",
    "DP_SNIPER",
    "DWORK_ROTH",
    "HALFSPACES",
    "INTERIOR_POINT_NOTES",
    "MIXTURES",
    "PAC_OVERVIEW",
    "PRIVATE",
    "PRIVATE_ROWS",
    "PUBLIC",
    "REPLACE_ONE",
    "STATDP",
    "THESIS",
    "UNDERSTANDING_SVT",
    "USERS",
    "WITH",
    "WITHOUT",
    "AddRemoveOne",
    "Answers",
    "AnswersL1",
    "AnswersL2",
    "AnswersLInf",
    "AnyScores",
    "Applied",
    "Bernoulli",
    "BoolArray",
    "Bottom",
    "Card",
    "Categorical",
    "Claim",
    "Curve",
    "CutGeometric",
    "Dataset",
    "DatasetError",
    "DiscreteLaplace",
    "Distribution",
    "Draw",
    "Exchange",
    "Finding",
    "Finite",
    "Fixed",
    "FloatArray",
    "Game",
    "Gaussian",
    "GaussianDP",
    "Given",
    "Goal",
    "Instance",
    "IntArray",
    "IntegerRange",
    "InteriorPoint",
    "KnownBug",
    "Laplace",
    "LevelSoftmax",
    "Levels",
    "Mechanism",
    "Multinomial",
    "Multiplicity",
    "Multiset",
    "NoisyCopies",
    "Outcome",
    "Output",
    "ParameterError",
    "PiecewiseConstantScore",
    "PrivateRows",
    "Product",
    "Profile",
    "Program",
    "Quality",
    "Query",
    "RandomOrder",
    "RandomPairing",
    "Real",
    "Realised",
    "Record",
    "Relation",
    "Renyi",
    "Repeated",
    "ReplaceOne",
    "SampleSize",
    "Scored",
    "Scores",
    "Severity",
    "Snapping",
    "Softmax",
    "Solution",
    "StepScores",
    "StepSoftmax",
    "Symmetry",
    "TradeOff",
    "Trial",
    "Uniform",
    "Users",
    "UtilityClaim",
    "ZeroConcentrated",
    "advanced_composition",
    "advanced_share",
    "as_written",
    "basic_composition",
    "cached",
    "canonical",
    "ceil_log2",
    "checks",
    "exchanges",
    "exp",
    "exp2",
    "expm1",
    "fsum",
    "independent",
    "log",
    "log1p",
    "log2",
    "log_star",
    "next_prime",
    "optimal_composition",
    "parse_curve",
    "relabellings",
    "relation_named",
    "relation_names",
    "sqrt",
    "step_scores",
    "tanh",
    "to_float",
    "zcdp_budget",
    "zcdp_delta",
    "zcdp_delta_by_moments",
    "zcdp_of_pure",
]
