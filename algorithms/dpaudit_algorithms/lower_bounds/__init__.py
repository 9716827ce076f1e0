"""Lower bounds as adversaries: hard distributions, reductions, the packing game, hardness amplification.

From the lecture notes and the thesis.
"""
