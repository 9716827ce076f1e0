"""The Python front end: `dpaudit.audit`, `verify`, `worst`, `assert_private`, `compare`, `trace`, `load`, and `Result`.

Comes in: functions, mechanisms and datasets as Python has them.
Goes out: a `Result` with methods, or an exception that holds one.
May import: `engine`, `report` and what is below them; `strategies` where a search draws from one.
"""
