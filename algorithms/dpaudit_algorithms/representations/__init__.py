"""Probabilistic representations of concept classes: from learners, to learners, and boosted.

From the overview of private PAC learning.
"""
