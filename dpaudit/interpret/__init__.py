"""Three readings of the same text: sampled, enumerated exactly, accounted for."""

from dpaudit.interpret.law import Law, LawCache, align, law
from dpaudit.interpret.ledger import Entry, ledger
from dpaudit.interpret.sample import Outputs, Tally, sample

__all__ = ["Entry", "Law", "LawCache", "Outputs", "Tally", "align", "law", "ledger", "sample"]
