"""Convert an output of a mechanism to a canonical outcome, and many outcomes to columns of numbers.

Input: anything that a mechanism returned or raised.
Output: hashable outcomes that are equal if the outputs are, their forms, and columns of numbers to learn from.
May import: `stats`.
"""
