"""Writers: each turns a result, or the stream of events, into one format.

Comes in: a `Result`, or the events of a run.
Goes out: text for a terminal, HTML, JUnit, SARIF, Markdown, NDJSON, figures, and files that are whole.
May import: `results` and what is below it. It computes nothing that a verdict depends on.
"""
