"""The only orchestrator: from a request to a stream of events that ends in a result.

Comes in: a `Request`, with evidence of earlier runs if there is any.
Goes out: events as they happen, the last of them with the `Result`; verdicts are made here, and results are stored.
May import: `evidence` and what is below it.
"""
