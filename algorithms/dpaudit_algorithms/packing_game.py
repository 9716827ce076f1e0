"""The packing game (L3): its text stands in the language, where the search for vertices of one colour finds it."""

from dpaudit.language.packing import PackingGame

__all__ = ["PackingGame"]
