"""Curves as text, as options and results write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpaudit.errors import ParameterError
from dpaudit.language.accounting import dp_sgd
from dpaudit.language.curves import Curve, GaussianDP, Profile, Renyi, TradeOff, ZeroConcentrated


def parse_curve(text: str) -> Curve:
    """A curve from its text.

    "gdp(0.5)", "zcdp(0.1)", "rdp(2: 0.5, 8: 1.1)", "profile(0: 0.38, 1: 0.13)", "tradeoff(0: 1, 0.2: 0.2, 1: 0)" or
    "dp-sgd(noise=1.1, rate=0.01, steps=1000)", whose profile dp-accounting computes.

    Raises:
        ParameterError: it is no such text.
    """
    name, bracket, rest = text.strip().partition("(")
    inside = rest.strip()
    if not bracket or not inside.endswith(")") or name.strip().lower() not in _READERS:
        raise ParameterError(
            f"A claim is written as one of {', '.join(_FORMS)}, not {text!r}; (ε, δ) has options of its own."
        )
    try:
        return _READERS[name.strip().lower()](inside[:-1].strip())
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"{text!r} cannot be read as a claim: {error}.") from None


def _numbers(inside: str) -> list[tuple[float, float]]:
    parts = [part.partition(":") for part in inside.split(",") if part.strip()]
    if not parts or not all(colon for _, colon, _ in parts):
        raise ValueError("write pairs such as 2: 0.5, 8: 1.1")
    return [(float(first), float(second)) for first, _, second in parts]


def _dp_sgd(inside: str) -> Curve:
    given = {word.strip(): float(value) for word, _, value in (part.partition("=") for part in inside.split(","))}
    if not set(given) <= {"noise", "rate", "steps"} or "noise" not in given:
        raise ValueError("write dp-sgd(noise=1.1, rate=0.01, steps=1000)")
    return dp_sgd(noise=given["noise"], rate=given.get("rate", 1.0), steps=round(given.get("steps", 1)))


_READERS: Mapping[str, Callable[[str], Curve]] = {
    "gdp": lambda inside: GaussianDP(float(inside)),
    "zcdp": lambda inside: ZeroConcentrated(float(inside)),
    "rdp": lambda inside: Renyi(_numbers(inside)),
    "profile": lambda inside: Profile(_numbers(inside)),
    "tradeoff": lambda inside: TradeOff(_numbers(inside)),
    "dp-sgd": _dp_sgd,
}
_FORMS = (
    "gdp(0.5)", "zcdp(0.1)", "rdp(2: 0.5, 8: 1.1)", "profile(0: 0.38, 1: 0.13)", "tradeoff(0: 1, 0.2: 0.2, 1: 0)",
    "dp-sgd(noise=1.1, rate=0.01, steps=1000)",
)
