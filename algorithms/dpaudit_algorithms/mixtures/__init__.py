"""Halfspaces from mixtures of private and public records.

From the paper on private-public mixtures.
"""
