"""Code that is not ours, behind one interface: functions, files, mechanisms, and objects of other libraries.

Comes in: a function, a mechanism, "file.py:function", an object that an adapter recognises, or recorded outputs.
Goes out: a `Target` that gives outputs for a dataset and a seed, here or in worker processes, or one sentence about
what its author's code did wrong; the key of its code.
May import: `interpret`, `language`, `outputs`, `stats`.
"""
