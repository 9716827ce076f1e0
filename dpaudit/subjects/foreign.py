"""What is said of an object that cannot be audited: its class, what was tried, and what to write instead."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from types import ModuleType

from dpaudit.subjects.adapters import LIBRARIES

USER_MODULE = "_dpaudit_user_"
"""What the names of modules that were given as files begin with."""
FUNCTION_FORMS = "f(dataset, rng) → one output, or f(dataset, rng, size) → that many"
_DATA = ("pandas.", "polars.", "numpy.ndarray", "pyarrow.")
_MOST_PARAMETERS = 6


def class_name(value: object) -> str:
    """The class of an object, or the class that it is, with the module that people import it from.

    "int", "pandas.DataFrame", "sklearn.linear_model.LogisticRegression" (which is in `sklearn.linear_model._logistic`),
    "my.Model" for a class of the file my.py.
    """
    kind = value if isinstance(value, type) else type(value)
    module = str(kind.__module__).removeprefix(USER_MODULE)
    if module in ("builtins", "__main__"):
        return kind.__qualname__
    parts = module.split(".")
    for last in range(1, len(parts)):
        package = ".".join(parts[:last])
        if getattr(sys.modules.get(package), kind.__qualname__, None) is kind:
            return f"{package}.{kind.__qualname__}"
    return f"{module}.{kind.__qualname__}"


def refused(value: object, name: str) -> str:
    """Why an object cannot be audited, and what to do.

    Args:
        value: neither a mechanism nor callable.
        name: what the user called it; "" where it was handed over in Python.
    """
    libraries = " or ".join((", ".join(LIBRARIES[:-1]), LIBRARIES[-1]))
    return (
        f"{name or 'What was given'} is {_with_article(value)}, which dpaudit cannot audit: it is not a function "
        "f(dataset, rng) or f(dataset, rng, size), not a Mechanism of dpaudit.language, and not an object of "
        f"{libraries}. {_advice(value, name)}"
    )


def refused_call(value: object, name: str, parameters: Sequence[str]) -> str:
    """Why a callable that takes other arguments cannot be audited.

    Args:
        value: what takes them.
        name: in messages.
        parameters: their names.
    """
    more = ["…"] if len(parameters) > _MOST_PARAMETERS else []
    shown = ", ".join([*parameters[:_MOST_PARAMETERS], *more]) or "nothing"
    if isinstance(value, type):
        return (
            f"{name} is the class {class_name(value)} and takes ({shown}); dpaudit calls functions, as "
            f"{FUNCTION_FORMS}. Write a function that makes an object of it and returns what it releases."
        )
    kind = "" if inspect.isroutine(value) else f" ({_with_article(value)})"
    method = " It is a method: name that of an object, not of its class." if parameters[:1] == ["self"] else ""
    return f"{name}{kind} takes ({shown}); dpaudit calls it as {FUNCTION_FORMS}.{method}"


def _with_article(value: object) -> str:
    if isinstance(value, ModuleType):
        return f"the module {value.__name__.removeprefix(USER_MODULE)}"
    if value is None:
        return "None"
    shown = class_name(value)
    return f"{'an' if shown[0].lower() in 'aeiou' else 'a'} {shown}"


def _advice(value: object, name: str) -> str:
    """What to do instead, for the kinds of objects that people try."""
    if isinstance(value, ModuleType):
        return "Name a function of it."
    if class_name(value).startswith(_DATA):
        return "It is data: name the function that releases something about it."
    if hasattr(value, "fit"):
        return "Write a function that fits it to the dataset and returns what you publish, such as its coefficients."
    if inspect.isawaitable(value) or inspect.isgenerator(value):
        return "Write a function that returns an output."
    if (method := _releasing(value)) is not None:
        return f"Did you mean its method, {name or 'object'}.{method}?"
    return "Write a function that takes a dataset and returns what you release."


def _releasing(value: object) -> str | None:
    """A method that draws from a generator; none is called, as properties would be."""
    for name, member in inspect.getmembers_static(type(value), inspect.isfunction):
        if not name.startswith("_") and "rng" in inspect.signature(member).parameters:
            return name
    return None
