"""Audit plans for `dpaudit_algorithms.mixtures`."""
