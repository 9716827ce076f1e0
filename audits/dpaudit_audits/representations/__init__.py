"""Audits of `dpaudit_algorithms.representations`."""
