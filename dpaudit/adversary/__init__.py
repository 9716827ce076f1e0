"""The adversary: where pairs come from, and how the event that tells them apart is found."""

from dpaudit.adversary.event import Event
from dpaudit.adversary.pairs import Pair, every_pair, extreme_pairs, random_pairs
from dpaudit.adversary.witness import Witness, search

__all__ = ["Event", "Pair", "Witness", "every_pair", "extreme_pairs", "random_pairs", "search"]
