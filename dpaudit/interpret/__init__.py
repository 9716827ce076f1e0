"""Three readings of the same text: sampled, enumerated exactly, accounted for; and where its privacy goes."""

from dpaudit.interpret.law import (
    BallLaw,
    BallLaws,
    Law,
    LawCache,
    NotOnExact,
    align,
    ball_law,
    ball_laws,
    first_difference,
    law,
    of_one_kind,
)
from dpaudit.interpret.ledger import Entry, ledger
from dpaudit.interpret.sample import Outputs, Tally, outcomes, sample
from dpaudit.interpret.spending import Spent, grouped, spending

__all__ = [
    "BallLaw",
    "BallLaws",
    "Entry",
    "Law",
    "LawCache",
    "NotOnExact",
    "Outputs",
    "Spent",
    "Tally",
    "align",
    "ball_law",
    "ball_laws",
    "first_difference",
    "grouped",
    "law",
    "ledger",
    "of_one_kind",
    "outcomes",
    "sample",
    "spending",
]
