"""Traced code: the draws of a function's noise on D, frozen and replayed on D′, and what differs besides.

Comes in: a user's function that draws its noise from the given generator, a pair of datasets, a claim.
Goes out: the draws with their lines, and named alarms with a file and a line (`Trace`). An alarm is no bound and no
verdict: it says where to look, and which pair to try first.
May import: `adversary`, `results`, `subjects` and what is below them.
"""
