"""Audits of `dpaudit_algorithms.foundations`."""
