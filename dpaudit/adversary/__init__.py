"""The adversary: where pairs come from, and how the event that tells them apart is found."""

from dpaudit.adversary.event import Event
from dpaudit.adversary.learner import Learner, Witness
from dpaudit.adversary.pairs import Pair, every_pair

__all__ = ["Event", "Learner", "Pair", "Witness", "every_pair"]
