"""One output of a mechanism as one canonical outcome, and many outcomes as columns.

Comes in: whatever a mechanism returned or raised.
Goes out: hashable outcomes that are equal where the outputs are, their forms, and columns of numbers to learn from.
May import: `stats`.
"""
