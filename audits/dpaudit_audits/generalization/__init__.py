"""Audit plans for `dpaudit_algorithms.generalization`."""
