"""The command line: `dpaudit check` and the other commands.

Comes in: the words of a command line.
Goes out: text, files and an exit code.
May import: everything; no other room imports it. This file imports nothing, for a fast start.
"""
