"""Three interpreters of the same program: sampling, exact enumeration and accounting; and a privacy loss breakdown.

The code calls the exact output distribution of a program on a dataset its law.

Input: a mechanism and a dataset.
Output: outputs, the exact output distribution (with interval probabilities on request), a ledger of privacy losses.
May import: `language`, `outputs`, `stats`.
"""

from dpaudit.interpret.counted import Counted, Drawn, are_all, counted, lone_outcome, minus_zeros, summed
from dpaudit.interpret.law import (
    IntervalLaw,
    IntervalLaws,
    Law,
    LawCache,
    NotOnExact,
    align,
    first_difference,
    interval_law,
    interval_laws,
    law,
    of_one_kind,
)
from dpaudit.interpret.ledger import Entry, ledger
from dpaudit.interpret.loss_breakdown import LossTerm, grouped, loss_breakdown
from dpaudit.interpret.sample import Outputs, Tally, merged, outcomes, sample

__all__ = [
    "Counted",
    "Drawn",
    "Entry",
    "IntervalLaw",
    "IntervalLaws",
    "Law",
    "LawCache",
    "LossTerm",
    "NotOnExact",
    "Outputs",
    "Tally",
    "align",
    "are_all",
    "counted",
    "first_difference",
    "grouped",
    "interval_law",
    "interval_laws",
    "law",
    "ledger",
    "lone_outcome",
    "loss_breakdown",
    "merged",
    "minus_zeros",
    "of_one_kind",
    "outcomes",
    "sample",
    "summed",
]
