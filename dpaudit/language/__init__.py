"""The language in which mechanisms are written: all that an algorithm file imports."""

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import checks
from dpaudit.language.card import DWORK_ROTH, HALFSPACES, INTERIOR_POINT_NOTES, PAC_OVERVIEW, THESIS, Card
from dpaudit.language.claim import Claim, advanced_composition, basic_composition, optimal_composition
from dpaudit.language.distributions import (
    Bernoulli,
    Categorical,
    Distribution,
    Finite,
    Gaussian,
    Laplace,
    Product,
    RandomPairing,
    Real,
    Softmax,
    Uniform,
    independent,
)
from dpaudit.language.mechanism import Applied, Draw, Mechanism, Program
from dpaudit.language.multiset import Multiset
from dpaudit.language.numbers import ceil_log2, log_star
from dpaudit.language.outputs import BOTTOM, Bottom, canonical
from dpaudit.language.quality import Given, Multiplicity, Quality, Scored, Scores
from dpaudit.language.relation import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    AddRemoveOne,
    Dataset,
    Relation,
    ReplaceOne,
    relation_named,
)

__all__ = [
    "ADD_REMOVE_ONE",
    "BOTTOM",
    "DWORK_ROTH",
    "HALFSPACES",
    "INTERIOR_POINT_NOTES",
    "PAC_OVERVIEW",
    "REPLACE_ONE",
    "THESIS",
    "AddRemoveOne",
    "Applied",
    "Bernoulli",
    "Bottom",
    "Card",
    "Categorical",
    "Claim",
    "Dataset",
    "DatasetError",
    "Distribution",
    "Draw",
    "Finite",
    "Gaussian",
    "Given",
    "Laplace",
    "Mechanism",
    "Multiplicity",
    "Multiset",
    "ParameterError",
    "Product",
    "Program",
    "Quality",
    "RandomPairing",
    "Real",
    "Relation",
    "ReplaceOne",
    "Scored",
    "Scores",
    "Softmax",
    "Uniform",
    "advanced_composition",
    "basic_composition",
    "canonical",
    "ceil_log2",
    "checks",
    "independent",
    "log_star",
    "optimal_composition",
    "relation_named",
]
