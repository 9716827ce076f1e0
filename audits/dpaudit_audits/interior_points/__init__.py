"""Audits of `dpaudit_algorithms.interior_points`."""
