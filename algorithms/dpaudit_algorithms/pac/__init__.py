"""Private PAC learners of points, thresholds and finite classes; and baselines that are not private.

From the overview of private PAC learning and the thesis.
"""
