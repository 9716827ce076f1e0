"""The form of an output: what an attacker sees but its canonical outcome omits.

A list and a tuple of the same values have the same outcome, and so do equal numbers of numpy and Python, and two
exceptions of the same class with different messages. Forms are counted besides outcomes, to test whether they violate
the claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.outputs.canonical import (
    Bottom,
    Exited,
    NotANumber,
    Outcome,
    Output,
    Raised,
    Structure,
    TookLonger,
    is_array,
    shown,
)
from dpaudit.stats.enclosed import Enclosed

MOST_FORMS = 1_000
"""At least this many distinct forms are kept; beyond twice as many the rarest are dropped."""
LONGEST = 200
"""Most characters of a form; the rest of a longer form becomes a digest."""
MOST_WORDS = 100
"""Most distinct words of a message that are counted."""


@dataclass(frozen=True)
class Form:
    """A counted feature of an output.

    Args:
        text: the types of a value, as in "list of numpy float32"; the message of an exception, or one word of it.
        of: "value", "message" or "word".
        error: the class of the exception.
    """

    text: str
    of: str = "value"
    error: str = ""
    failure: Raised | None = field(default=None, compare=False, repr=False)
    """The first outcome that had this message."""

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass
class Frequent:
    """Counts of the most frequent forms: a true count is at least the stored one, and at most `missed` more.

    Source: J. Misra and D. Gries, "Finding repeated elements", Science of Computer Programming 2 (1982); merged as in
    P. Agarwal et al., "Mergeable summaries", PODS 2012.
    """

    counts: dict[Form, int] = field(default_factory=dict)
    missed: int = 0

    def add(self, one: Form, times: int) -> None:
        """Count a form `times` more."""
        self.counts[one] = self.counts.get(one, 0) + times
        if len(self.counts) > 2 * MOST_FORMS:
            self._cut()

    def merge(self, other: Frequent) -> None:
        """Add the counts of another object."""
        self.missed += other.missed
        for one, times in other.counts.items():
            self.add(one, times)

    def _cut(self) -> None:
        least = sorted(self.counts.values(), reverse=True)[MOST_FORMS]
        self.missed += least
        self.counts = {one: times - least for one, times in self.counts.items() if times > least}


@dataclass
class Forms:
    """Counts the forms of outputs, except plain ones: those whose form follows from their outcomes."""

    special: int = 0
    """Counts of outputs that are not plain."""
    whole: Frequent = field(default_factory=Frequent)
    words: Frequent = field(default_factory=Frequent)
    """Counts of outputs by the words in their message."""

    def see(self, output: Output, times: int) -> None:
        """Count `times` outputs of the same form as this one."""
        if type(output) is Raised:
            self.special += times
            self.whole.add(Form(_cut(output.message), "message", output.error, output), times)
            for word in list(dict.fromkeys(_WORD.findall(output.message)))[:MOST_WORDS]:
                self.words.add(Form(_cut(word), "word", output.error), times)
        else:
            self.count(form(output), times)

    def count(self, text: str, times: int) -> None:
        """Count `times` outputs with a known form."""
        if text:
            self.special += times
            self.whole.add(_of_value(text), times)

    def merge(self, other: Forms) -> None:
        """Add the forms of other outputs."""
        if other.special:
            self.special += other.special
            self.whole.merge(other.whole)
            self.words.merge(other.words)

    def failures(self, failure: Raised, times: int) -> Iterator[tuple[Raised, int]]:
        """Equal failures, separated by their messages, with the count of each."""
        for one, known in self.whole.counts.items():
            if one.failure is not None and one.failure == failure:
                times -= known
                yield one.failure, known
        if times:
            yield failure, times


SEVERAL = "one of several: "
"""Prefix of a message that represents a distribution of messages."""


@dataclass
class FormShares:
    """The distribution of forms given each outcome, in one exact output distribution.

    A form is not part of an outcome. If its distribution given the outcome is the same on every dataset, it is a
    post-processing of the outcome, so privacy of outcomes extends to forms. The form of a failure is its message.

    Args:
        masses: outcome → form → probability, for outcomes with at least one form that is not plain.
    """

    masses: dict[Outcome, dict[str, float | arb]] = field(default_factory=dict)

    def add(self, outcome: Outcome, text: str, mass: float | arb, before: float | arb | None) -> None:
        """Add an output with this probability.

        Args:
            before: the probability of this outcome so far; None if it is new.
        """
        known = self.masses.get(outcome)
        if known is None:
            if not text:
                return
            known = self.masses[outcome] = {} if before is None else {"": before}
        known[text] = known[text] + mass if text in known else mass

    def texts(self, share: Callable[[Any, Any], str]) -> dict[Outcome, str]:
        """Descriptions of the forms of every outcome with forms that are not plain.

        Args:
            share: formats a quotient of probabilities; "" for 0.
        """
        descriptions = {}
        for outcome, known in self.masses.items():
            whole = sum(known.values())
            shares = {text: share(mass, whole) for text, mass in known.items()}
            possible = {text: part for text, part in shares.items() if part} or shares
            several = sorted(f"{text!r}: {part}" for text, part in possible.items())
            descriptions[outcome] = next(iter(possible)) if len(possible) == 1 else SEVERAL + "; ".join(several)
        return {outcome: text for outcome, text in descriptions.items() if text}


def saying(outcome: Outcome, forms: Mapping[Outcome, str]) -> Outcome:
    """The outcome; for a failure, the distribution of its messages replaces its message."""
    if type(outcome) is Raised and forms.get(outcome, "") != outcome.message:
        return replace(outcome, message=forms.get(outcome, ""))
    return outcome


@dataclass
class SameForms:
    """Checks that the forms given each outcome have the same distribution on several datasets."""

    seen: set[Outcome] = field(default_factory=set)
    """Outcomes so far."""
    special: dict[Outcome, str] = field(default_factory=dict)
    """The forms of those that are not plain."""
    differing: str = ""
    """A sentence about the first difference."""

    def see(self, outcomes: Iterable[Outcome], forms: Mapping[Outcome, str]) -> None:
        """Add the outcomes of another dataset."""
        if not self.differing and (forms or self.special):
            for outcome in outcomes:
                text = forms.get(outcome, "")
                before = self.special.get(outcome, "") if outcome in self.seen else text
                if before != text:
                    self.differing = _differing(outcome, before, text)
                    break
            self.special |= forms
        self.seen.update(outcomes)


def _differing(outcome: Outcome, *texts: str) -> str:
    if type(outcome) is Raised:
        before, after = (_cut(text) for text in texts)
        return (
            f"The message of its {outcome.error} is not the same on every dataset ({before!r} and {after!r}); an "
            "attacker can read messages, but events do not; keep data out of messages of exceptions."
        )
    before, after = (text or f"plain {type(outcome).__name__}" for text in texts)
    return (
        f"The type of its output {_cut(shown(outcome))} is not the same on every dataset ({before} and {after}); an "
        "attacker can see types, but events do not; return one type."
    )


@lru_cache(maxsize=1024)
def _of_value(text: str) -> Form:
    """The form of a value, cached so that equal texts share one object and dictionary look-ups are faster."""
    return Form(text)


def form(output: Output) -> str:
    """The types of an output and of its parts; "" if they follow from its canonical outcome.

    Args:
        output: any output that `canonical` accepts.
    """
    kind = type(output)
    if kind in PLAIN:
        return ""
    if kind is tuple or kind is list:
        parts = _of_parts(output)
        if parts:
            return _cut(f"{kind.__name__} of {parts}")
        return "" if kind is tuple else "list"
    name = _NAMES.get(kind)
    if name is not None:
        return name
    try:
        return _form(output, kind)
    except Exception:
        # the class is defined by the audited function, and so are its errors
        return _name(kind)


def row_form(drawn: NDArray[np.generic]) -> str:
    """The form of every row of an array; "" if each object has its own."""
    if drawn.dtype.hasobject:
        return ""
    if drawn.ndim == 1:
        return str(_NAMES.get(drawn.dtype.type) or _of_dtype(drawn.dtype))
    return f"{_name(type(drawn))} of {_of_dtype(drawn.dtype)}"


def _form(output: Output, kind: type) -> str:
    if isinstance(output, Enum | type):
        return ""
    if isinstance(output, np.ndarray):
        parts = output.ravel().tolist() if output.dtype.hasobject else []
        # an array of exact numbers is an array of doubles when run on doubles
        real = not output.dtype.hasobject or Enclosed in map(type, parts)
        inside = (_NAMES[np.float64] if parts else _of_dtype(output.dtype)) if real else _of_parts(parts) or "objects"
        filled = f", fill value {output.fill_value!r}" if isinstance(output, np.ma.MaskedArray) else ""
        return _cut(f"{_name(kind)} of {inside}{filled}")
    if isinstance(output, np.generic):
        return _of_dtype(output.dtype)
    if isinstance(output, Mapping):
        keys, values = _of_parts(output.keys()), _of_parts(output.values())
        if kind is dict and not keys and not values:
            return ""
        return _cut(_name(kind) + (f" with keys {keys}" if keys else "") + (f" and values {values}" if values else ""))
    if isinstance(output, set | frozenset):
        inside = ", ".join(sorted({form(part) for part in output} - {""}))
        if kind is frozenset and not inside:
            return ""
        return _cut(f"{_name(kind)} of {inside}" if inside else _name(kind))
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _cut(_of_pandas(output, kind))
    if library == "polars" or is_array(output):
        types = getattr(output, "dtypes", None) or [getattr(output, "dtype", "")]
        return _cut(f"{_name(kind)} of {', '.join(map(str, types))}")
    if isinstance(output, str | bytes | bytearray | memoryview):
        return _name(kind)
    inside = ""
    if hasattr(kind, "__dataclass_fields__"):
        inside = _of_parts([getattr(output, name) for name in kind.__dataclass_fields__ if hasattr(output, name)])
    elif isinstance(output, Iterable) and isinstance(output, Sized):
        inside = _of_parts(list(output))
    return _cut(f"{_name(kind)} of {inside}" if inside else _name(kind))


def _of_parts(parts: Iterable[Output]) -> str:
    """The forms of parts; "" if all are plain."""
    kinds = set(map(type, parts))
    if kinds <= PLAIN:
        return ""
    if len(kinds) == 1 and (name := _NAMES.get(next(iter(kinds)))) is not None:
        return name
    runs = [(text, len(list(same))) for text, same in groupby(form(part) or "plain" for part in parts)]
    if len(runs) == 1:
        return "" if runs[0][0] == "plain" else runs[0][0]
    return _cut(", ".join(f"{times} × {text}" if times > 1 else text for text, times in runs))


def _of_dtype(dtype: np.dtype[np.generic]) -> str:
    """The name of a dtype; strings without their width, which is that of the longest in the array."""
    return _NAMES.get(dtype.type) or {"U": "numpy str", "S": "numpy bytes"}.get(dtype.kind) or f"numpy {dtype}"


def _of_pandas(output: object, kind: type) -> str:
    types: Iterable[object] = np.atleast_1d(np.asarray(getattr(output, "dtypes", []), dtype=object)).tolist()
    index = getattr(output, "index", None)
    inside = ", ".join(map(str, types))
    beside = "" if index is None else f", {_name(type(index))} of {getattr(index, 'dtype', '')}"
    return f"{_name(kind)} of {inside}{beside}" if inside else _name(kind) + beside


def _name(kind: type) -> str:
    where = kind.__module__
    return kind.__qualname__ if where in ("builtins", "__main__") else f"{where}.{kind.__qualname__}"


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({blake2b(text.encode('utf-8', 'backslashreplace'), digest_size=8).hexdigest()})"


def message_of(error: BaseException) -> str:
    """Everything an attacker sees of an exception: its class, message, notes and attributes, and those of its causes.

    Addresses of objects are removed, because they differ between processes.
    """
    messages: list[str] = []
    one: BaseException | None = error
    seen: set[int] = set()
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        held = {name: value for name, value in one.__dict__.items() if name != "__notes__"}
        texts = [_text(one, str), *_strings(one.__dict__.get("__notes__"))]
        if type(one).__module__ != "builtins":
            texts += [_text(part, shown) for part in (one.args, held) if part]
        messages.append(f"{_name(type(one))}: {' '.join(texts)}")
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return _ADDRESS.sub("", " from ".join(messages))


def _strings(notes: object) -> list[str]:
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list | tuple) else []


def _text(thing: object, written: Callable[[object], str]) -> str:
    try:
        return written(thing)
    except Exception:
        # the class is defined by the audited function
        return ""


PLAIN = frozenset({
    int, float, bool, str, bytes, complex, type(None), Bottom, NotANumber, Structure, Raised, TookLonger, Exited,
    Enclosed,
})
"""Types that their outcomes distinguish, because strings of outcomes are compared too."""

_NAMES: dict[type, str] = {
    kind: f"numpy {kind.__name__}"
    for kind in (
        np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
        np.float32, np.float64, np.complex64, np.complex128,
    )
}
"""Forms that follow from the type alone."""
_WORD = re.compile(r"\w+(?:\.\w+)*")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
