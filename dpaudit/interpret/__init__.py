"""Three readings of the same text: sampled, enumerated exactly, accounted for."""

from dpaudit.interpret.law import BallLaw, Law, LawCache, align, ball_law, ball_laws, law
from dpaudit.interpret.ledger import Entry, ledger
from dpaudit.interpret.sample import Outputs, Tally, sample

__all__ = [
    "BallLaw",
    "Entry",
    "Law",
    "LawCache",
    "Outputs",
    "Tally",
    "align",
    "ball_law",
    "ball_laws",
    "law",
    "ledger",
    "sample",
]
