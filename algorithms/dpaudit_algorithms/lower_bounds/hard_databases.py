"""The lower bound for interior points as an adversary: D_n, the reduction M(S), and the game of the proof."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    Game,
    Instance,
    Mechanism,
    ParameterError,
    Program,
    Uniform,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.lower_bounds.hard_distributions import (
    Numerals,
    base_at,
    extended,
    extension_draw,
    hard_database,
    numerals,
    universe,
)


@dataclass(frozen=True)
class HardDatabase(Mechanism):
    """D_n as a source of instances: draws (y_0, …, y_{n−1}) in [T(n)]ⁿ and reads no data.

    No (ε, δ(n))-DP mechanism finds an interior point of it with probability above P_n (`success_bound`), 0 < ε < 1/4.

    Args:
        n: records, ≥ 1.
        base: b(j) at every j; 50j² without it.

    Raises:
        ParameterError: a parameter outside its range, or T(n) has more than 2^26 bits (n ≥ 4 as printed).

    Source: Stemmer's thesis, section 7.2, Lemma 7.6.
    """

    n: int
    base: int | None = None

    def __post_init__(self) -> None:
        universe(self.n, self.base)

    @property
    def claim(self) -> Claim:
        """0: no data is read."""
        return Claim(0.0)

    def run(self, dataset: Any) -> Program:
        S = yield from hard_database(self.n, self.base)
        return Instance(S)

    def __str__(self) -> str:
        return f"D_{self.n}" if self.base is None else f"D_{self.n} to the base {self.base}"


@dataclass(frozen=True)
class HardReduction(Mechanism):
    """M(S): an interior-point mechanism for n + 1 records of [T(n+1)] makes one for n records of [T(n)].

    (ε, δ)-DP if the inner mechanism is: for fixed y_0, and tails coupled record by record, neighbours S, S′ make
    neighbours Ŝ, Ŝ′. If the inner one finds an interior point of D_{n+1} with probability p, this finds one of D_n
    with probability at least p − (e^ε/b(n+1) + δ).

    Args:
        inner: a mechanism for n + 1 records, numbers of {0, …, T(n+1) − 1}.
        n: records, ≥ 1.
        base: b(j) at every j; 50j² without it.

    Raises:
        ParameterError: the inner mechanism claims nothing, a parameter outside its range, or T(n+1) is too large.

    Source: Stemmer's thesis, section 7.2, proof of Lemma 7.6, algorithm M(S).
    """

    inner: Mechanism
    n: checks.Count
    base: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        claim_of(self.inner)
        universe(self.n + 1, self.base)

    @property
    def claim(self) -> Claim:
        """That of the inner mechanism."""
        return claim_of(self.inner)

    @property
    def digits(self) -> Numerals:
        """The digits of [T(n+1)]: T(n) of them to the base b(n+1)."""
        return numerals(self.n + 1, self.base)

    def run(self, dataset: Any) -> Program:
        S = tuple(dataset)
        _check(S, self.n, universe(self.n, self.base))
        # 1. Ŝ = (y_0, …, y_n): y_0 uniform, y_i random but for the first x_i digits, which are those of y_0
        y0, *tails = yield extension_draw(S, self.digits)
        # 2. y ← M̂(Ŝ)
        y = yield self.inner.on(extended(S, y0, tails, self.digits))
        # 3. the length of the longest prefix of y that agrees with y_0
        return self.digits.agreement(y, y0) if self.digits.holds(y) else 0


@dataclass(frozen=True)
class DigitGuessing(Game):
    """The game of the proof: does the output's digit after the last shared one give y_0's digit away?

    The secret z is digit w + 1 of y_0, w = max S ≤ T(n−1) − 1; no other record depends on it. With it: Ŝ; without it:
    Ŝ with that digit drawn anew. The view is whether digit w + 1 of the output is z. Without z in the data that has
    probability 1/b(n) (less, by the share of outputs that are no number of [T(n)]), so that privacy allows
    e^ε/b(n) + δ. The two databases of a secret differ in y_0 alone.

    n = 1 is the base of the induction: x is a random bit, the databases are (x) and (1 − x), the view is whether the
    output is x.

    Args:
        subject: a mechanism for n records, numbers of {0, …, T(n) − 1}.
        n: records, ≥ 1.
        base: b(j) at every j; 50j² without it.

    Raises:
        ParameterError: a parameter outside its range, or T(n) is too large.

    Source: Stemmer's thesis, section 7.2, proof of Lemma 7.6.
    """

    subject: Mechanism
    n: int
    base: int | None = None

    def __post_init__(self) -> None:
        universe(self.n, self.base)

    def play(self, secret_in: bool) -> Program:
        if self.n == 1:
            x = yield Uniform(range(2))
            output = yield self.subject.on((x if secret_in else 1 - x,))
            return bool(output == x)
        digits = numerals(self.n, self.base)
        S = yield from hard_database(self.n - 1, self.base)
        y0, *tails = yield extension_draw(S, digits)
        # z, digit w + 1 of y_0 with w = max S
        place = max(S) + 1
        secret = digits.digit(y0, place)
        # Ŝ_z, and without the secret Ŝ_{z'}
        shown, *others = extended(S, y0, tails, digits)
        if not secret_in:
            other = yield Uniform(range(base_at(self.n, self.base)))
            shown += (other - secret) * digits.tails(place)
        # whether digit w + 1 of M̂'s output is z
        output = yield self.subject.on((shown, *others))
        return digits.holds(output) and digits.digit(output, place) == secret


@dataclass(frozen=True)
class OnHardDomain(Mechanism):
    """An interior-point algorithm on [T(n)], whatever it calls its domain; T(3) itself is too long to be written out.

    Args:
        model: the algorithm, with any size of its domain.
        size: name of the parameter that says how many points the domain has; it becomes T(n).
        n: ≥ 1.
        base: b(j) at every j; 50j² without it.
        first: the least point of the algorithm's domain; it is given x + first, and its answer y is y − first.

    Raises:
        ParameterError: T(n) is too large, or the algorithm has no such parameter.

    Source: none; a change of names.
    """

    model: Mechanism
    size: str
    n: int
    base: int | None = None
    first: int = 0

    def __post_init__(self) -> None:
        if self.size not in {field.name for field in fields(self.model)}:  # type: ignore[arg-type]
            raise ParameterError(f"{self.model.name} has no parameter {self.size!r} for the size of its domain.")
        universe(self.n, self.base)

    @cached_property
    def inner(self) -> Mechanism:
        """The algorithm on a domain of T(n) points."""
        model: Any = self.model
        sized: Mechanism = replace(model, **{self.size: universe(self.n, self.base)})
        return sized

    @property
    def claim(self) -> Claim | None:
        """That of the algorithm: renaming keeps neighbours."""
        return self.inner.claim

    def run(self, dataset: Any) -> Program:
        output = yield self.inner.on(tuple(x + self.first for x in dataset))
        return output - self.first if isinstance(output, int) else output


def _check(S: tuple[int, ...], n: int, size: int) -> None:
    # the records are not shown: they may be too long to be written
    if len(S) != n or not all(isinstance(x, int) and not isinstance(x, bool) and 0 <= x < size for x in S):
        raise DatasetError(f"M(S) takes {n} records, whole numbers in 0, …, T({n}) − 1.")


# --- cards: what is claimed where, and where the text here departs from the print ---

_INTEGRAL = "b(n) = 50n², the greatest δ(n) that the lemma allows; another 1/δ(n) need not be whole."
_DIGITS = "A parameter sets one base for all n, so that small cases can be computed exactly."

HardDatabase.card = Card(
    name="HardDatabase",
    system="L1",
    title="The hard databases D_n: no private mechanism finds their interior points often",
    paper=THESIS,
    place="§7.2, Lemma 7.6",
    claim="0-DP: it reads no data; every (ε, δ(n))-DP mechanism finds an interior point with probability at most "
    "P_n = e^ε/(e^ε + 1) + (e^ε + 1)·Σ_{j ≤ n} δ(j) < 3/4, for 0 < ε < 1/4 and δ(j) = 1/(50j²)",
    inputs="n ≥ 1; the base b(j), 50j² without it; its dataset is ignored",
    output="an instance: n numbers of {0, …, T(n) − 1}, T(1) = 2, T(n + 1) = b(n + 1)^T(n), in the order drawn",
    deviations=(_INTEGRAL, _DIGITS, "n ≤ 3 as printed: a number of [T(4)] has about 10^105885 digits."),
    findings=(FINDINGS[33],),
)

HardReduction.card = Card(
    name="HardReduction",
    system="L2",
    title="The reduction M(S) from D_{n+1} to D_n",
    paper=THESIS,
    place="§7.2, proof of Lemma 7.6",
    claim="(ε, δ)-DP under replace-one if the inner mechanism is; an interior point of D_n with probability at "
    "least p − (e^ε/b(n+1) + δ) if that finds one of D_{n+1} with probability p",
    inputs="n records of {0, …, T(n) − 1}; an interior-point mechanism for n + 1 records of {0, …, T(n+1) − 1}",
    output="the length of a common prefix, in {0, …, T(n)}",
    deviations=(
        "The print returns an element of [T(n)]; where y = y_0 the length is T(n), which is outside of it and no "
        "interior point.",
        "⊥, and an output that is no number of [T(n+1)], agrees with y_0 on no digit.",
        "A multiset is taken in ascending order; the inner mechanism is meant to use multiplicities only.",
        _INTEGRAL,
        _DIGITS,
    ),
)

DigitGuessing.card = Card(
    name="DigitGuessing",
    system="L2",
    title="The digit-guessing game on D_n",
    paper=THESIS,
    place="§7.2, proof of Lemma 7.6",
    claim="that of the subject: Pr[digit w + 1 of the output is y_0's] ≤ e^ε/b(n) + δ",
    inputs='("with",) or ("without",): whether the data hold the secret digit; a subject for n records',
    output="True where the output has the secret digit",
    deviations=(
        "A digit of ⊥, or of an output outside [T(n)], is no digit: False.",
        "n = 1, where there are no digits, is the inequality from which the induction starts.",
        _INTEGRAL,
        _DIGITS,
    ),
)
