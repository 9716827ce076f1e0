"""What benchmarks/libraries.md refutes, once more without dpaudit: by closed forms, and by plain counts of samples.

`python benchmarks/libraries_findings.py` writes benchmarks/libraries_findings.md. It needs
`pip install -e '.[libraries]'`, and calls numpy, scipy and the library alone. Each row has one event that was fixed
before its runs, the closed form of the privacy loss (or of the probabilities) derived from the library's source, and
how often the event came up; the last column is a lower confidence limit by Clopper and Pearson, each at error 0.0001.
diffprivlib's runs are seeded (seeds 101 and up); python-dp cannot be seeded.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib import mechanisms, models, tools
from numpy.random import RandomState
from pydp.algorithms.numerical_mechanisms import GaussianMechanism
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import beta, norm

ALPHA = 0.0001
UNIT: dict[str, Any] = {"epsilon": 1.0, "bounds": (0.0, 1.0)}
NAN = math.nan


def at_least(hits: int, runs: int) -> float:
    """Lower limit of a probability at error α/2."""
    return float(beta.ppf(ALPHA / 2, hits, runs - hits + 1)) if hits else 0.0


def at_most(hits: int, runs: int) -> float:
    """Upper limit of a probability at error α/2."""
    return float(beta.ppf(1 - ALPHA / 2, hits + 1, runs - hits)) if hits < runs else 1.0


def pure(name: str, event: str, exact: str, one: Callable[[Any, RandomState], bool], pair: Any, runs: int) -> str:
    """A claim of ε = 1: counts of the event on the left and the right dataset."""
    a, b = (
        sum(one(side, state) for state in [RandomState(seed)] for _ in range(runs))
        for seed, side in zip((101, 102), pair, strict=True)
    )
    lower = math.log(at_least(a, runs) / at_most(b, runs))
    return f"| {name} | {event} | {exact} | {a:,} and {b:,} of {runs:,} | ε ≥ {lower:.3f} |"


def nanmean(missing: int, present: int) -> str:
    """The noise has scale (U − L)/n for n records, missing ones included; the mean of k present moves by (U − L)/k."""
    n = missing + present
    left = np.array([NAN] * missing + [0.0] * present)
    right = np.array([NAN] * missing + [0.0] * (present - 1) + [1.0])

    def below(data: Any, state: RandomState) -> bool:
        return bool(tools.nanmean(data, random_state=state, **UNIT) <= 0)

    exact = f"½ : ½·exp(−{n}/{present}), so ε = {n / present:.4g}"
    name = f"diffprivlib tools.nanmean, {missing} of {n} missing, 0 against 1"
    return pure(name, "output ≤ 0", exact, below, (left, right), 40_000)


def bayes() -> str:
    """A record of value 100 that changes its label takes 100 from its class's sum; the noise there is Laplace(3).

    Counts come first: Pr[class_count 9] is that of a truncated geometric of ε/3, then adjusted; between neighbours they
    differ by at most e^{2/3}. Given class_count 9 the sum is clamped to [900, 909] after its noise: mean 100 is at most
    900, which is ½ where the sum is 900 and ½·exp(−100/3) where it is 1,000.
    """
    left, right = np.array([0] * 9 + [1] * 11), np.array([0] * 10 + [1] * 10)

    def low(labels: Any, state: RandomState) -> bool:
        model = models.GaussianNB(epsilon=1.0, bounds=(100.0, 101.0), random_state=state)
        model.fit(np.full((len(labels), 1), 100.0), labels)
        return bool(model.class_count_[0] == 9 and model.theta_[0, 0] <= 100.0)

    exact = "given the count ½ : ½·exp(−100/3), so ε ≥ 100/3 − 2/3 = 32.6"
    name = "diffprivlib models.GaussianNB, bounds (100, 101), one of 20 records of value 100 has another label"
    return pure(name, "class_count_[0] = 9, theta_[0] ≤ 100", exact, low, (left, right), 6_000)


def regression() -> str:
    """With y = 0 the fit is Laplace(3)/Σx², and the source adds to Σx² a noise of sensitivity max(|L|, |L|)² = 0."""

    def far(rows: Any, state: RandomState) -> bool:
        model = models.LinearRegression(
            epsilon=1.0, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False, random_state=state
        )
        return bool(abs(model.fit(rows[:, :1], rows[:, 1]).coef_[0]) > 20)

    exact = "exp(−0.2/3) : exp(−20/3), so ε ≥ 6.6"
    name = "diffprivlib models.LinearRegression, bounds (0, 1), one record (0.1, 0) against (1, 0)"
    return pure(name, "&#124;coef_&#124; > 20", exact, far, (np.array([[0.1, 0.0]]), np.array([[1.0, 0.0]])), 4_000)


def histogram() -> str:
    """One replaced record moves two counts, each of which has geometric noise of ε."""

    def same(data: Any, state: RandomState) -> bool:
        counts = tools.histogram(data, epsilon=1.0, bins=2, range=(0.0, 1.0), random_state=state)[0]
        return bool(counts[0] >= 4 and counts[1] <= 0)

    pair = (np.array([0.0] * 4), np.array([0.0] * 3 + [1.0]))
    return pure(
        "diffprivlib tools.histogram under replace-one (a reading)", "counts ≥ 4 and ≤ 0", "(1 : e^{−1})², so ε = 2",
        same, pair, 40_000,
    )


def gaussian(delta: float) -> str:
    """Of whole multiples k of the granularity g, odd ones with |k| ≤ 2⁵³ are half; larger k are rounded to even ones.

    The answer 0 keeps them. With the answer 1 an output below 2⁵³·g in size has |noise| above 2⁵³·g, so its k is even:
    where 2⁵³·g ≤ ½, which holds for the δ below.
    """
    mechanism = GaussianMechanism(1.0, delta, 1.0)
    deviation, runs = mechanism.std, 200_000
    grain = 2.0 ** math.ceil(math.log2(2 * deviation / 2**57))
    most = 2.0**53 * grain
    assert most <= 0.5
    probability = 0.5 * (2 * norm.cdf(most / deviation) - 1)

    def hits(answer: float) -> int:
        outputs = np.array([mechanism.add_noise(answer) for _ in range(runs)])
        return int(((np.mod(outputs / grain, 2) == 1) & (np.abs(outputs) < most)).sum())

    a, b = hits(0.0), hits(1.0)
    lower = at_least(a, runs) - math.e * at_most(b, runs)
    event = f"an odd multiple of 2^{round(math.log2(grain))} of size below {most:g}"
    return (
        f"| python-dp GaussianMechanism(1, δ = {delta:g}), 0 against 1 | {event} | {probability:.4f} : 0, so "
        f"δ ≥ {probability:.4f} at any ε | {a:,} and {b:,} of {runs:,} | δ ≥ {lower:.4f} at ε = 1 |"
    )


def laplace() -> str:
    """A number below 1 in size has bits below 2⁻⁵³ as a sum 0 + noise, and none as a sum 1 + noise."""
    mechanism = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0, random_state=RandomState(103))

    def fine(answer: float, state: RandomState) -> bool:
        value = mechanism.randomise(answer)
        return bool(abs(value) < 0.25 and (value * 2.0**53) % 1 != 0)

    return pure(
        "diffprivlib Laplace(1), 0 against 1", "&#124;output&#124; < ¼, not a multiple of 2⁻⁵³",
        "> 0 : 0 (Sterbenz: 1 + noise is exact there, and noise near −1 is a multiple of 2⁻⁵³), so no ε",
        fine, (0.0, 1.0), 40_000,
    )


ANGLES = np.linspace(0, math.pi / 2, 8001)
"""Between v and e₁."""


def bingham_law(c: float, dimensions: int, epsilon: float, *, coded: bool) -> tuple[Any, Any]:
    """Log densities of v, and of its angle to e₁, for the matrix c·e₁e₁ᵀ: as the source draws it, or as the paper does.

    The translated matrix T has the eigenvalue 0 once and t = εc/4 else; b solves Σ 1/(b + 2Tᵢ) = 1; Ω = I + 2T/b.
    """
    t, low, high = epsilon * c / 4, 1.0, float(dimensions)
    for _ in range(200):
        b = (low + high) / 2
        low, high = (low, b) if 1 / b + (dimensions - 1) / (b + 2 * t) <= 1.0 else (b, high)
    square = np.sin(ANGLES) ** 2
    v = -t * square - (dimensions * np.log1p(2 * t * square / b) if coded else 0)
    with np.errstate(divide="ignore"):
        angle = v + ((dimensions - 2) * np.log(np.sin(ANGLES)) if dimensions > 2 else 0)
    weights = np.ones_like(ANGLES)
    weights[0] = weights[-1] = 0.5
    total = logsumexp(angle, b=weights) + math.log(ANGLES[1])
    return v - total, angle - total


def bingham_loss(dimensions: int, *, coded: bool) -> tuple[float, float]:
    """The largest privacy loss between c and c + 1 on a grid of c and ε, in shares of ε; δ(ε) of that pair."""
    worst = (0.0, 0.0)
    for epsilon in (0.1, 1.0, 5.0):
        for c in np.geomspace(0.05, 100 * dimensions / epsilon, 120):
            (v, a), (w, b) = (bingham_law(one, dimensions, epsilon, coded=coded) for one in (c, c + 1))
            over = (np.maximum(np.exp(x) - np.exp(epsilon + y), 0).sum() for x, y in ((a, b), (b, a)))
            delta = max(over)
            worst = max(worst, (float(np.abs(v - w).max()) / epsilon, float(delta) * ANGLES[1]))
    return worst


def bingham() -> Iterator[str]:
    """The distribution that is drawn, by quadrature and by counts; the privacy loss by quadrature."""
    runs, state = 20_000, RandomState(104)
    mechanism = mechanisms.Bingham(epsilon=1.0, random_state=state)
    matrix = np.diag([8.0, 0.0])
    near = sum(bool(mechanism.randomise(matrix)[0] ** 2 > 0.5) for _ in range(runs))
    shares = []
    for coded in (True, False):
        angle = np.exp(bingham_law(8.0, 2, 1.0, coded=coded)[1])
        shares.append(trapezoid(angle * (math.pi / 4 > ANGLES), ANGLES))
    yield (
        f"\nDiag(8, 0), ε = 1: v₁² > ½ came up in {near / runs:.4f} of {runs:,} runs (between "
        f"{at_least(near, runs):.4f} and {at_most(near, runs):.4f}); as the source draws it has probability "
        f"{shares[0]:.4f}, by the paper's distribution {shares[1]:.4f}.\n"
    )
    yield "| dimensions | largest loss found, as drawn | its δ(ε) | by the paper's distribution |"
    yield "| --- " * 4 + "|"
    for dimensions in (2, 10, 20, 30, 40, 50, 100, 1000):
        loss, delta = bingham_loss(dimensions, coded=True)
        yield f"| {dimensions:,} | {loss:.2f} ε | {delta:.0e} | {bingham_loss(dimensions, coded=False)[0]:.2f} ε |"


def rows() -> Iterator[str]:
    """Of all findings."""
    yield nanmean(4, 1)
    yield nanmean(1, 3)
    yield bayes()
    yield regression()
    yield histogram()
    yield laplace()
    yield gaussian(0.05)
    yield gaussian(1e-5)


WORDS = """
The documentation of the libraries, and what the counts show:


- **tools.nanmean** (diffprivlib 0.6.6): "Compute the differentially private arithmetic mean along the specified axis,
  ignoring NaNs. … Noise is added using Laplace to satisfy differential privacy, where sensitivity is calculated using
  `bounds`." `_mean` uses sensitivity (upper − lower)/array.size, and array.size counts the missing values that the
  mean leaves out. Shown: with the same places missing in both datasets and one present value changed from bound to
  bound, ε is n/k for k present of n. Without missing values it is what is claimed. Not shown: anything about datasets
  in which a value becomes missing. The documentation names no neighbouring relation; this pair is a pair in any that
  lets one value change.
- **models.GaussianNB** (diffprivlib 0.6.6): "Gaussian Naive Bayes (GaussianNB) with differential privacy … adds noise
  to satisfy differential privacy to the learned means and variances"; `epsilon` is the "Privacy parameter ε for the
  model". Sums of a class have noise of sensitivity upper − lower. Shown: where a record may change its label, that is
  too little for bounds that do not hold 0, as the record takes its whole value away. Not shown: anything where
  neighbours differ in features alone and labels are public; the documentation does not say which is meant. (Added and
  removed records cannot be meant: the counts always sum to the number of records.)
- **models.LinearRegression** (diffprivlib 0.6.6): known and open, issues 104 and 105 of the library: the lower bound
  is used twice where lower and upper are meant.
- **tools.histogram** (diffprivlib 0.6.6): a reading, not a bug. It is 1-DP for one record more or less; the
  documentation does not say that this is what is meant, and means, variances and sums have noise for a replaced
  record.
- **Laplace** (diffprivlib 0.6.6): "Samples from the Laplace distribution are generated using 4 uniform variates, as
  detailed in [HB21], to prevent against reconstruction attacks due to limited floating point precision." That this
  does not suffice is known: issue 94 of the library, open. Nothing is refuted about the real numbers that the doubles
  represent.
- **GaussianMechanism** (python-dp 1.1.5): its noise is generated as Google's "Secure Noise Generation" describes: a
  whole number of deviation 2⁵⁵ to 2⁵⁶, times a power of two. `GaussianDistribution::SampleBinomial` of
  google/differential-privacy (cc/algorithms/distributions.cc) returns that number as a double, which has 53 bits, and
  the counts agree with that to three digits. Shown: the low bits of doubles distinguish the answers 0 and 1 by more
  than δ. Not shown: anything about whole-number answers, or about the numbers that the doubles stand for (that row of
  the table is not refuted); its LaplaceMechanism, of 2⁴⁰, shows no leak. That floating-point sums are open to attacks
  by rounding is discussed in issues 126 and 127 of google/differential-privacy.

Not refuted by samples, but read in the source: diffprivlib's **Bingham** accepts a candidate v with probability
exp(−vᵀTv) / (c·(vᵀΩv)^{d/2}), where the paper that it cites divides by the candidates' own density (vᵀΩv)^{−d/2}, and
so multiplies. So it does not draw from the Bingham distribution (the counts below). Whether it is private is
another question: for matrices c·e₁e₁ᵀ and (c + 1)·e₁e₁ᵀ the loss was computed by quadrature on a grid of c up to
100·d/ε and ε in 0.1, 1 and 5. In many dimensions it exceeds ε only where there is hardly any mass: no audit by
samples can detect it. Pairs that do not commute were not tried.
"""


def main() -> None:
    warnings.simplefilter("ignore")
    assert __doc__ is not None
    versions = ", ".join(f"{package} {version(package)}" for package in ("diffprivlib", "python-dp", "numpy", "scipy"))
    names = "| mechanism and pair | event | by closed form | counted, left and right | certified |"
    head = names + "\n" + "| --- " * 5 + "|"
    text = "\n".join([f"{__doc__}\nVersions: {versions}.\n", head, *rows(), WORDS + "\n".join(bingham()) + "\n"])
    Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
