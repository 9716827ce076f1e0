"""Audit plans for `dpaudit_algorithms.half_spaces`."""
