"""Half-spaces and rectangles by thresholds, released or learned; ReorderSliceCompute.

From the half-spaces paper.
"""
