"""The adversary: `pairs`, where neighbouring datasets come from, and `events`, which tell their outputs apart.

Comes in: descriptions of records, a mechanism's claim, outputs of both datasets.
Goes out: pairs to try, and one event learned from samples, to be tested on fresh ones.
May import: `interpret`, `language`, `outputs`, `stats`. It changes nothing that was handed to it.
"""

from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.learner import Learner, Witness
from dpaudit.adversary.pairs.pair import Pair, every_pair

__all__ = ["Event", "Learner", "Pair", "Witness", "every_pair"]
