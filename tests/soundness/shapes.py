"""Mechanisms whose exact ε is their claim, for every shape of output and every way of giving one to dpaudit.

A `Shape` is a core and a dress. The core draws one of few outcomes, or one number, and is exactly (ε, δ)-private on
`PAIR`, with equality. The dress turns what was drawn into an object. It may add noise and the toss of a coin, which
are independent of the data. What the core drew can be read off every object, so the dressed mechanism is private with
equality too: every FAIL, and every lower bound above ε, is an error of the auditor.

No shape relies on whether 1, 1.0, True and np.int64(1) are one outcome or several, nor on whether a list, a tuple and
an array of the same numbers are: where one mechanism returns several of these, a fair coin chooses.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from dpaudit.language import Bernoulli, Categorical, Claim, Laplace, Mechanism
from dpaudit.subjects.adapters import Adapted

PAIR = ((0,), (1,))
"""The two datasets: one record, a bit."""
FUNCTION, VECTORISED, MECHANISM, ADAPTER = "function", "vectorised", "Mechanism", "adapter"
WAYS = (FUNCTION, VECTORISED, MECHANISM, ADAPTER)
WITH_PANDAS = find_spec("pandas") is not None


@dataclass(frozen=True)
class Finite:
    """A core with few outcomes, 0, …, k − 1.

    Args:
        epsilon, delta: exact on `PAIR`, with equality.
        rows: the outcomes' probabilities on each dataset, shape (2, k).
    """

    epsilon: float
    delta: float
    rows: tuple[tuple[float, ...], tuple[float, ...]]

    def draw(self, bit: int, rng: np.random.Generator) -> int:
        """One outcome."""
        at = np.searchsorted(np.cumsum(self.rows[bit]), rng.random(), side="right")
        return min(int(at), len(self.rows[bit]) - 1)

    def program(self, bit: int) -> Categorical:
        """The same for the interpreters."""
        kept = [(k, p) for k, p in enumerate(self.rows[bit]) if p > 0]
        return Categorical(tuple(k for k, _ in kept), tuple(p for _, p in kept))


@dataclass(frozen=True)
class Noisy:
    """A core that is a number: the bit with Laplace noise of scale 1/ε."""

    epsilon: float
    delta: float = 0.0

    def draw(self, bit: int, rng: np.random.Generator) -> float:
        """One number."""
        return bit + float(rng.laplace(0, 1 / self.epsilon))

    def program(self, bit: int) -> Laplace:
        """The same for the interpreters."""
        return Laplace(float(bit), 1 / self.epsilon)


def _response(epsilon: float) -> Finite:
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    return Finite(epsilon, 0.0, ((p, q), (q, p)))


def _leak(epsilon: float, delta: float) -> Finite:
    """Randomised response, which names the bit for certain (outcomes 2 and 3) with probability δ."""
    p, q = ((1 - delta) / (1 + math.exp(sign * epsilon)) for sign in (-1, 1))
    return Finite(epsilon, delta, ((p, q, delta, 0.0), (q, p, 0.0, delta)))


def _steps(epsilon: float, most: int) -> Finite:
    """A count of most/2 or one more with two-sided geometric noise, cut to 0, …, most."""
    tail = math.exp(-epsilon)

    def row(centre: int) -> tuple[float, ...]:
        inner = [(1 - tail) / (1 + tail) * tail ** abs(k - centre) for k in range(most + 1)]
        inner[0], inner[-1] = tail**centre / (1 + tail), tail ** (most - centre) / (1 + tail)
        return tuple(inner)

    return Finite(epsilon, 0.0, (row(most // 2), row(most // 2 + 1)))


RESPONSE = _response(1.0)
LEAK = _leak(1.0, 0.05)
RARE = Finite(0.0, 0.05, ((1.0, 0.0), (0.95, 0.05)))
"""Outcome 1 has probability δ under D′ and 0 under D: exactly (0, δ)."""
STEPS = _steps(1.0, 5)
NOISY = Noisy(1.0)
PATHS = Finite(1.0, 0.0, (
    tuple(p * path for p in RESPONSE.rows[0] for path in (0.8, 0.2)),
    tuple(p * path for p in RESPONSE.rows[1] for path in (0.2, 0.8)),
))  # fmt: skip
"""Randomised response with a path of the program, which nobody sees: (answer, path) is 2 · answer + path."""

Core = Finite | Noisy
Dress = Callable[[Any, float, bool], Any]
"""(what the core drew, noise, coin) → the output."""


@dataclass(frozen=True)
class Shape:
    """One mechanism at the boundary of its claim.

    Args:
        name: as in tables.
        core: what is drawn.
        dress: what is made of it.
        noise: whether the dress uses its noise, or for which outcomes of the core alone it is drawn.
        coin: whether it uses its coin.
        ways: the ways in that can return such outputs.
        stacked: whether many outputs are one array.
        refusable: whether dpaudit may refuse such outputs, by type and with a remedy.
        needs_pandas: whether outputs are objects of pandas.
    """

    name: str
    core: Core
    dress: Dress
    noise: bool | frozenset[int] = False
    coin: bool = False
    ways: tuple[str, ...] = WAYS
    stacked: bool = False
    refusable: bool = False
    needs_pandas: bool = False

    @property
    def epsilon(self) -> float:
        """Exact at `delta`."""
        return self.core.epsilon

    @property
    def delta(self) -> float:
        """Of the claim."""
        return self.core.delta

    def draws_noise(self, drawn: Any) -> bool:
        """Whether the dress of what the core drew has noise."""
        return drawn in self.noise if isinstance(self.noise, frozenset) else self.noise

    def output(self, bit: int, rng: np.random.Generator) -> Any:
        """One output on one dataset."""
        drawn = self.core.draw(bit, rng)
        noise = float(rng.laplace()) if self.draws_noise(drawn) else 0.0
        return self.dress(drawn, noise, self.coin and bool(rng.random() < 0.5))

    def subject(self, way: str) -> Any:
        """What is given to dpaudit."""
        return {FUNCTION: self._function, VECTORISED: self._vectorised, MECHANISM: self._mechanism,
                ADAPTER: self._adapter}[way]()

    def _function(self) -> Callable[..., Any]:
        def one_output(dataset: Any, rng: np.random.Generator) -> Any:
            return self.output(dataset[0], rng)

        return one_output

    def _vectorised(self) -> Callable[..., Any]:
        def many_outputs(dataset: Any, rng: np.random.Generator, size: int) -> Any:
            outputs = [self.output(dataset[0], rng) for _ in range(size)]
            return np.array(outputs) if self.stacked else outputs

        return many_outputs

    def _mechanism(self) -> Mechanism:
        return Dressed(self.name)

    def _adapter(self) -> Adapted:
        def draw(dataset: Any, rng: np.random.Generator, size: int) -> list[Any]:
            return [self.output(dataset[0], rng) for _ in range(size)]

        return Adapted(self.name, Claim(self.epsilon, self.delta), "tests/soundness/shapes.py", draw)


@dataclass(frozen=True)
class Dressed(Mechanism):
    """A shape in dpaudit's language."""

    shape: str

    @property
    def claim(self) -> Claim:
        return Claim(SHAPES[self.shape].epsilon, SHAPES[self.shape].delta)

    def run(self, dataset: Any) -> Generator[Any, Any, Any]:
        shape = SHAPES[self.shape]
        drawn = yield shape.core.program(dataset[0])
        noise = (yield Laplace(0.0, 1.0)) if shape.draws_noise(drawn) else 0.0
        coin = (yield Bernoulli(0.5)) if shape.coin else 0
        return shape.dress(drawn, noise, bool(coin))


class Answer(Enum):
    """Outcomes of an Enum."""

    NO = "no"
    YES = "yes"


@dataclass(frozen=True)
class Frozen:
    """A frozen dataclass with a number."""

    kind: str
    count: float


@dataclass
class Loose:
    """A dataclass that is not frozen, and cannot be hashed."""

    kind: str
    parts: list[float] = field(default_factory=list)


Named = namedtuple("Named", ["kind", "count"])


class Opaque:
    """An object whose repr is its address: two equal ones are never equal."""

    def __init__(self, value: Any) -> None:
        self.value = value


_LIST: list[Any] = []
_ARRAY = np.zeros(2)


def _in_list(k: Any, noise: float, coin: bool) -> list[Any]:
    _LIST[:] = [k, noise]
    return _LIST


def _in_array(k: Any, noise: float, coin: bool) -> Any:
    _ARRAY[:] = k, noise
    return _ARRAY


def _raising(k: int, noise: float, coin: bool) -> Any:
    """Two kinds of failure and two values; the message, with its noise, is no part of the outcome."""
    if k == 2:
        raise ZeroDivisionError
    if k == 3:
        raise KeyError("secret")
    return ("no", "yes")[k]


def _by_a_path(k: int, noise: float, coin: bool) -> float:
    """0.0 or 1.0; on one path computed from noise that is cut off, but for e⁻⁴⁰ of it."""
    answer = float(k // 2)
    return answer if k % 2 else answer + min(max(noise - 40.0, 0.0), 0.5)


def _scalar(k: int, noise: float, coin: bool) -> Any:
    """Types of numpy that alternate by coin, with different numbers for different outcomes."""
    return (np.int16(k), np.uint8(k))[coin] if k % 2 else (np.float32(k), np.float64(k))[coin]


def _series(k: int, noise: float, coin: bool) -> Any:
    import pandas as pd

    return pd.Series({"count": noise, "bit": float(k)} if coin else {"bit": float(k), "count": noise})


def _frame(k: int, noise: float, coin: bool) -> Any:
    import pandas as pd

    return pd.DataFrame({"city": ["a", "b"], "count": [k + 10, 3]})


def _longer_frame(k: int, noise: float, coin: bool) -> Any:
    import pandas as pd

    rows = [("a", noise), ("b", 12.0)][: 1 + k]
    return pd.DataFrame(rows, columns=["city", "count"])


def _missing(k: int, noise: float, coin: bool) -> Any:
    import pandas as pd

    return (pd.NA, pd.NaT, pd.Timestamp("2024-02-29"), pd.Timestamp("2024-03-01", tz="UTC"))[k]


def _dictionary(k: int, noise: float, coin: bool) -> dict[str, Any]:
    return {"noise": noise, "bit": k} if coin else {"bit": k, "noise": noise}


def _set(k: int, noise: float, coin: bool) -> set[Any]:
    words = [["a", "b", 3], ["a", "c", 3, None]][k]
    return set(words[::-1] if coin else words)


EVERY = (
    # scalars
    Shape("int", STEPS, lambda k, noise, coin: k, stacked=True),
    Shape("int, beyond doubles", STEPS, lambda k, noise, coin: 10**400 + k),
    Shape("float", NOISY, lambda x, noise, coin: x, stacked=True),
    Shape("bool", RESPONSE, lambda k, noise, coin: bool(k), stacked=True),
    Shape("str of varying length", STEPS, lambda k, noise, coin: "no" * k),
    Shape("str with lone surrogates", LEAK, lambda k, noise, coin: ("\ud800", "\udfff", "a\udc80", "𝄞")[k]),
    Shape("bytes", LEAK, lambda k, noise, coin: (b"", b"\0", b"\xff\xfe", b"no")[k]),
    Shape("None or a float", RESPONSE, lambda k, noise, coin: noise if k else None, noise=frozenset({1})),
    Shape("int, float and bool by coin", RESPONSE, lambda k, noise, coin: bool(k) if noise > 0 else (k, float(k))[coin],
          noise=True, coin=True, refusable=True),
    Shape("numpy scalars by coin", STEPS, _scalar, coin=True),
    Shape("numpy strings and bytes", RESPONSE, lambda k, noise, coin: np.str_("no") if k else np.bytes_(b"yes")),
    Shape("NaN, ±inf and floats", LEAK,
          lambda k, noise, coin: (noise, math.nan, (math.inf, math.inf)[coin], -math.inf)[k], noise=True, coin=True),
    Shape("0.0, −0.0 by coin, and 2.0", RESPONSE, lambda k, noise, coin: 2.0 if k else (0.0, -0.0)[coin], coin=True),
    Shape("float, by two paths", PATHS, _by_a_path, noise=frozenset({0, 2})),
    Shape("complex", RESPONSE, lambda k, noise, coin: complex(noise, k), noise=True, refusable=True),
    Shape("Decimal and Fraction", LEAK,
          lambda k, noise, coin: (Decimal("0.5"), Decimal("NaN"), Fraction(1, 3), Fraction(7))[k], refusable=True),
    Shape("dates and times", LEAK,
          lambda k, noise, coin: (date(2024, 2, 29), datetime(2024, 3, 1, tzinfo=UTC), timedelta(days=1),
                                  datetime(2024, 3, 1))[k], refusable=True),
    Shape("numpy dates", RESPONSE, lambda k, noise, coin: np.datetime64("NaT" if k else "2024-02-29"), refusable=True),
    Shape("Enum", RESPONSE, lambda k, noise, coin: (Answer.NO, Answer.YES)[k]),
    # arrays and lists
    Shape("0-d array", STEPS, lambda k, noise, coin: np.array(k)),
    Shape("0-d array of a float", NOISY, lambda x, noise, coin: np.array(x)),
    Shape("vector of 1 or 2 numbers", RARE, lambda k, noise, coin: np.array([10 + noise, 12.0][: 1 + k]), noise=True),
    Shape("list of 1 or 2 numbers", RARE, lambda k, noise, coin: [10 + noise, 12.0][: 1 + k], noise=True),
    Shape("vector", RESPONSE, lambda k, noise, coin: np.array([noise, k + 0.5, 3.0]), noise=True, stacked=True),
    Shape("vector with Laplace noise", NOISY, lambda x, noise, coin: [noise, x, float(coin)], noise=True, coin=True,
          stacked=True),
    Shape("vector of int", STEPS, lambda k, noise, coin: np.array([k, 7, int(coin)]), coin=True, stacked=True),
    Shape("vector of bool", RESPONSE, lambda k, noise, coin: np.array([bool(k), coin]), coin=True, stacked=True),
    Shape("matrix", RESPONSE, lambda k, noise, coin: np.array([[noise, 1.0], [float(coin), k - 0.5]]), noise=True,
          coin=True, stacked=True),
    Shape("matrix, transposed or not", RESPONSE,
          lambda k, noise, coin: np.full((2, 3) if k else (3, 2), noise), noise=True),
    Shape("empty arrays of many shapes", LEAK,
          lambda k, noise, coin: (np.empty(0), np.empty((0, 3)), np.empty((2, 0)), np.array([noise]))[k], noise=True),
    Shape("array of objects", RESPONSE, lambda k, noise, coin: np.array([k, "a", None, noise], dtype=object),
          noise=True),
    Shape("ragged list", LEAK,
          lambda k, noise, coin: [[noise], [[1.5, 2.5], [2.5], [], [3.5, noise, 4]][k], "end"], noise=True),
    Shape("a list, the same at every call", NOISY, _in_list, noise=True, ways=(FUNCTION,)),
    Shape("an array, the same at every call", NOISY, _in_array, noise=True, ways=(FUNCTION,)),
    # tuples, records and sets
    Shape("tuple of many kinds", RESPONSE, lambda k, noise, coin: ("a", k + 2, None, noise), noise=True),
    Shape("tuple of 1 or 2 parts", RARE, lambda k, noise, coin: (noise, "extra")[: 1 + k], noise=True),
    Shape("tuples in tuples", LEAK,
          lambda k, noise, coin: ((noise, ()), ((noise,),), (("a", (noise, 2)), coin), ((), noise))[k], noise=True,
          coin=True),
    Shape("namedtuple", RESPONSE, lambda k, noise, coin: Named(("no", "yes")[k], noise), noise=True),
    Shape("frozen dataclass", RESPONSE, lambda k, noise, coin: Frozen(("no", "yes")[k], noise), noise=True),
    Shape("dataclass that is not frozen", LEAK, lambda k, noise, coin: Loose("abcd"[k], [noise] * k), noise=True),
    Shape("dict, in any order", RESPONSE, _dictionary, noise=True, coin=True),
    Shape("dict with a key more", RARE, lambda k, noise, coin: {"a": noise, **({"b": 12.0} if k else {})}, noise=True),
    Shape("set, in any order", RESPONSE, _set, coin=True),
    Shape("frozenset of tuples", STEPS, lambda k, noise, coin: frozenset((i, "a") for i in range(k))),
    # kinds beside each other
    Shape("float or str", RARE, lambda k, noise, coin: "stopped" if k else noise,
          noise=frozenset({0})),
    Shape("float, vector or matrix", LEAK,
          lambda k, noise, coin: (noise, np.array([noise]), np.array([noise, 2.0]), np.array([[noise, 2.0]]))[k],
          noise=True),
    Shape("int, str, None or tuple", LEAK, lambda k, noise, coin: (5, "5", None, ("5",))[k]),
    Shape("raises, or returns a str", LEAK, _raising, ways=(FUNCTION,)),
    # pandas
    Shape("Series, in any order", RESPONSE, _series, noise=True, coin=True, needs_pandas=True),
    Shape("DataFrame", STEPS, _frame, needs_pandas=True),
    Shape("DataFrame of 1 or 2 rows", RARE, _longer_frame, noise=True, needs_pandas=True),
    Shape("pandas NA, NaT and Timestamp", LEAK, _missing, needs_pandas=True),
    # numbers that are related: what doubles round in their sums and differences depends on the last bits of noise
    Shape("two numbers that add up to one", NOISY, lambda x, noise, coin: [x, 1 - x], stacked=True),
    Shape("a number, shifted", NOISY, lambda x, noise, coin: np.array([x, x + 0.1, x + 1, 3.0]), stacked=True),
    Shape("a number, and shares of a sum", NOISY,
          lambda x, noise, coin: {"a": x, "share": x / (x + noise), "rest": noise / (x + noise)}, noise=True),
)  # fmt: skip
SHAPES = {shape.name: shape for shape in EVERY}


def present() -> Iterator[Shape]:
    """The shapes whose libraries are installed."""
    return (shape for shape in EVERY if WITH_PANDAS or not shape.needs_pandas)
