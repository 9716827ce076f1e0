"""The corpus: mechanisms with known bugs, and their correct counterparts.

Auditors are measured on the corpus. Each mechanism has a card that states the bug, its effect on privacy and, where it
can be derived, the true ε. The entry point `dpaudit.corpus` finds the mechanisms by their cards.
"""
