"""Three readings of the same program: sampled, enumerated exactly, accounted for; and where its privacy goes.

Comes in: a mechanism and a dataset.
Goes out: outputs, the exact output distribution (in intervals, if wanted), a ledger of what each part spends.
May import: `language`, `outputs`, `stats`.
"""

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
