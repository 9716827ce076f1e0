"""Writers: each turns a result into one format, and computes nothing that a verdict depends on.

`json_form` is the published form, `html` one self-contained file, `console` the terminal.
"""
