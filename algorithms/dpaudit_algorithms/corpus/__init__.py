"""The corpus: mechanisms that are known to be broken, and their correct look-alikes.

They are what an auditor is measured on: each has a card that says what is wrong, what it does to privacy and, where it
can be derived, the true ε. The entry point `dpaudit.corpus` finds them by their cards.
"""
