"""Audits of `dpaudit_algorithms.lower_bounds`."""
