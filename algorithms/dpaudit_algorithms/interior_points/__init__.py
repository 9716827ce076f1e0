"""Interior points of a dataset, by the exponential mechanism, by RecConcave, by RecPrefix, by TreeLog.

From the lecture notes on interior points.
"""
