"""Audits of `dpaudit_algorithms.pac`."""
