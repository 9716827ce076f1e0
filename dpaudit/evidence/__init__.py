"""From a job to evidence: exact, sampled, proved, searched, and of utility; one module for each kind.

Comes in: a `Job` and a `Runner`.
Goes out: `Findings`: exact comparisons, sampled counts with their bounds, proofs, chains, tested assumptions, figures'
numbers. Nothing here decides.
May import: `plans` and what is below it.
"""
