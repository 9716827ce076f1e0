"""Generalisation from privacy: adaptive queries, sparse vectors, multiplicative weights, tightness.

From Stemmer's thesis, chapter 4.
"""
