"""The adversary: `pairs` generates neighbouring datasets, and `events` learns events that distinguish their outputs.

Input: descriptions of records, a mechanism's claim, outputs on both datasets.
Output: pairs to test, and one event learned from samples, to be tested on fresh ones.
May import: `interpret`, `language`, `outputs`, `stats`. It never modifies its arguments.
"""

from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.learner import LearnedEvent, Learner
from dpaudit.adversary.pairs.pair import Pair, every_pair

__all__ = ["Event", "LearnedEvent", "Learner", "Pair", "every_pair"]
