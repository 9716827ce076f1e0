"""RAPPOR: a value's Bloom filter under randomised response, once and twice."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    BoolArray,
    Card,
    Categorical,
    Claim,
    DatasetError,
    FloatArray,
    KnownBug,
    Mechanism,
    ParameterError,
    Product,
    Program,
    checks,
    log,
)


@dataclass(frozen=True)
class OneTimeRappor(Mechanism):
    """Steps 1 and 2: the filter and its permanent randomised response, reported as it is.

    Args:
        bits: size of the Bloom filter, ≥ 1.
        hashes: h ≥ 1.
        f: in (0, 1), the probability that a bit of the filter is replaced by a fair coin.

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: from `run`: the dataset is not one value.

    Source: Erlingsson, Pihur and Korolova, RAPPOR (CCS 2014): One-time RAPPOR, and the bound on all reports.
    """

    bits: checks.Count = 20
    hashes: checks.Count = 4
    f: checks.OpenUnit = 0.95

    @property
    def claim(self) -> Claim:
        """ε_∞ under any change of the value."""
        return Claim(2 * self.hashes * log((1 - self.f / 2) / (self.f / 2)))

    @property
    def reported(self) -> tuple[float, float]:
        """Probabilities that a 0 and that a 1 of the filter are reported as a 1."""
        return self.f / 2, 1 - self.f / 2

    def run(self, dataset: tuple[Any, ...]) -> Program | Product:
        B = bloom_filter(_value(dataset), self.bits, self.hashes)
        return permanent_response(B, self.f)

    def bulk(self, dataset: tuple[Any, ...], size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`size` reports, shape (size, bits)."""
        return self._permanent(dataset, size, rng).astype(np.uint8)

    def _permanent(self, dataset: tuple[Any, ...], size: int, rng: np.random.Generator) -> BoolArray:
        """Step 2, `size` times."""
        B = np.array(bloom_filter(_value(dataset), self.bits, self.hashes))
        response: BoolArray = rng.random((size, self.bits)) < np.where(B, 1 - self.f / 2, self.f / 2)
        return response

    def log_density(self, dataset: tuple[Any, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log probabilities of reports, shape (r, bits)."""
        p, q = self.reported
        one = np.where(bloom_filter(_value(dataset), self.bits, self.hashes), q, p)
        logs: FloatArray = np.where(outputs, np.log(one), np.log1p(-one)).sum(axis=1)
        return logs


@dataclass(frozen=True)
class Rappor(OneTimeRappor):
    """Steps 1–3: the filter, its permanent and its instantaneous randomised response; one report.

    Args:
        bits: size of the Bloom filter, ≥ 1.
        hashes: h ≥ 1.
        f: in (0, 1), the probability that the permanent response replaces a bit of the filter by a fair coin.
        p, q: in (0, 1), p < q; probabilities that a 0 and that a 1 of the permanent response are reported as a 1.

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: from `run`: the dataset is not one value.

    Source: Erlingsson, Pihur and Korolova, RAPPOR (CCS 2014): the algorithm, and the bound on one report.
    """

    f: float = 0.75
    p: checks.OpenUnit = 0.45
    q: checks.OpenUnit = 0.55

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p >= self.q:
            raise ParameterError(f"p must be below q, not {self.p!r} and {self.q!r}.")

    @property
    def claim(self) -> Claim:
        """ε₁ under any change of the value."""
        p, q = self.reported
        return Claim(self.hashes * log(q * (1 - p) / (p * (1 - q))))

    @property
    def reported(self) -> tuple[float, float]:
        """p* and q*: probabilities that a 0 and that a 1 of the filter are reported as a 1."""
        coin = self.f * (self.p + self.q) / 2
        return coin + (1 - self.f) * self.p, coin + (1 - self.f) * self.q

    def run(self, dataset: tuple[Any, ...]) -> Program:
        B = bloom_filter(_value(dataset), self.bits, self.hashes)
        permanent = yield permanent_response(B, self.f)
        instantaneous = _bit(self.p), _bit(self.q)
        return Product(tuple(instantaneous[bit] for bit in permanent))

    def bulk(self, dataset: tuple[Any, ...], size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`size` reports, shape (size, bits)."""
        permanent = self._permanent(dataset, size, rng)
        reports = rng.random((size, self.bits)) < np.where(permanent, self.q, self.p)
        return reports.astype(np.uint8)


def bloom_filter(value: Any, bits: int, hashes: int) -> tuple[int, ...]:
    """Step 1: a vector of `bits` bits; the positions that `value` hashes to are 1."""
    hit = set()
    for i in range(hashes):
        digest = blake2b(str(value).encode(), digest_size=8, salt=i.to_bytes(16, "little")).digest()
        hit.add(int.from_bytes(digest, "little") % bits)
    return tuple(int(position in hit) for position in range(bits))


def permanent_response(B: tuple[int, ...], f: float) -> Product:
    """Step 2: every bit is 1 with probability f/2, 0 with probability f/2, and otherwise as in the filter."""
    response = _bit(f / 2), _bit(1 - f / 2)
    return Product(tuple(response[bit] for bit in B))


def _bit(one: float) -> Categorical:
    return Categorical((1, 0), (one, 1 - one))


def _value(dataset: tuple[Any, ...]) -> Any:
    if len(dataset) != 1:
        raise DatasetError(f"RAPPOR reports one value, but the dataset has {len(dataset)} entries.")
    return dataset[0]


# --- cards: claims, sources and deviations from the papers ---

_PAPER = "Erlingsson, Pihur and Korolova, RAPPOR (CCS 2014)"
_HASHES = (
    "Hash i of a value v is blake2b of str(v) in UTF-8 with salt i (16 bytes) and a digest of 8 bytes, both "
    "little-endian, modulo the size of the filter. Filters are the same on every machine."
)
_ONE = "The dataset is one client's value; neighbours are any two values."
_OUTPUT = "a tuple of 20 bits"

Rappor.card = Card(
    name="Rappor",
    system="corpus",
    title="RAPPOR, one report",
    paper=_PAPER,
    place="the algorithm, and the theorem on one report (ε₁)",
    claim="ε₁ = h·log(q*(1 − p*)/(p*(1 − q*))), q* = f(p + q)/2 + (1 − f)q, p* = f(p + q)/2 + (1 − f)p",
    inputs="one value with a string form; 20 bits, 4 hashes, f = 0.75, p = 0.45, q = 0.55",
    output=_OUTPUT,
    deviations=(
        _HASHES,
        _ONE,
        "The logarithm of ε₁ is natural.",
        "The constants are those of DP-Sniper's evaluation.",
    ),
    variants=("OneTimeRappor",),
    known_bug=KnownBug(
        bug="",
        effect="None: the loss ε₁ = 0.4001 is attained if two filters share no bit and no hashes of a value collide.",
        epsilon="0.3001 on two values whose filters differ in 6 bits, each with a loss of ln(0.5125/0.4875)",
    ),
)

OneTimeRappor.card = Card(
    name="OneTimeRappor",
    system="corpus",
    title="RAPPOR, permanent response only",
    paper=_PAPER,
    place="One-time RAPPOR, and the theorem on all reports (ε_∞)",
    claim="ε_∞ = 2h·ln((1 − f/2)/(f/2))",
    inputs="one value with a string form; 20 bits, 4 hashes, f = 0.95",
    output=_OUTPUT,
    deviations=(_HASHES, _ONE, "The constants are those of DP-Sniper's evaluation."),
    variants=("Rappor",),
    known_bug=KnownBug(
        bug="",
        effect="None: the loss ε_∞ = 0.8007 is attained if two filters share no bit and no hashes of a value collide.",
        epsilon="0.6005 on two values whose filters differ in 6 bits, each with a loss of ln(0.525/0.475)",
    ),
)
