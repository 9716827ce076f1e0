"""The building blocks: noise, selection, sparse vectors, composition, subsampling, group privacy.

From Stemmer's thesis, chapter 3.
"""
