"""The results of audits as plain data: the published form, how it is read and written, and what refutes.

Comes in: numbers, names and datasets from the engine, or JSON from a file.
Goes out: `Result` with all its parts, the stream of events of a run, and JSON with its schema.
May import: `language`, `outputs`, `stats`, `options`. A report needs nothing else.
"""
