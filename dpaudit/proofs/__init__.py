"""Proofs that a program is ε-DP for every dataset of a scope.

Comes in: a mechanism or a function f(data, rng), a scope (`Answers`, `Stream`, `Records`, `Domain`) and ε.
Goes out: `Proof` with its certificate, `Refuted` with a pair and an event, or `Unknown` with the line and the remedy.
May import: `subjects`, `language`, `stats` and what is below them.

An interpreter follows the program's source on symbols (`interpreter`, `library`, `arrays`); on each path
(`paths`) the neighbouring dataset is given the same output by shifting the draws at the least cost (`neighbours`,
`alignment`, `attempt`; `streams` for every length). `check` verifies certificates with fractions alone.
"""
