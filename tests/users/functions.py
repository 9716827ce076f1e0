"""Functions as people write them, half of them wrong: what an audit must say of each is known and proved here.

Every function is written the way its author would: some make one output, some draw all outputs at once; they
return numbers, strings, tuples, arrays and dicts. A row of `CASES` has the claim of its author, how its datasets are
described, a pair, and the truth: `why` derives the true ε. Lap(b) is Laplace noise of scale b.

All ε are those of real numbers: floating-point noise has low-order bits that reveal more, which dpaudit notes and does
not count.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.random import Generator

ITEMS = ["beer", "bread", "milk"]
CITIES = ["Bern", "Oslo", "Rome"]
ANSWERS = ["no", "yes"]
COLOURS = ["blue", "green", "red", "white"]


# counts ------------------------------------------------------------------------------------------


def active_users(data: Any, rng: Generator, size: int) -> Any:
    return len(data) + rng.laplace(0, 1, size)


def adults(data: Any, rng: Generator) -> float:
    epsilon = 0.5
    return sum(1 for age in data if age >= 18) + rng.laplace(0, epsilon)


def large_orders(data: Any, rng: Generator) -> int:
    p = 1 - math.exp(-1.0)
    count = sum(amount > 50 for amount in data)
    return count + int(rng.geometric(p)) - int(rng.geometric(p))


def whole_count(data: Any, rng: Generator) -> int:
    return len(data) + int(rng.laplace(0, 1))


# sums ------------------------------------------------------------------------------------------


def revenue(data: Any, rng: Generator) -> int:
    total = np.clip(data, 0, 100).sum() if data else 0
    return round(total + rng.laplace(0, 100))


def revenue_unclipped(data: Any, rng: Generator) -> float:
    return sum(data) + rng.laplace(0, 100)


def balance(data: Any, rng: Generator, size: int) -> Any:
    """The balances lie between −50 and 50."""
    return np.clip(data, -50, 50).sum() + rng.laplace(0, 50, size)


def dose(data: Any, rng: Generator, size: int) -> Any:
    doses = np.nan_to_num(np.asarray(data, dtype=float), nan=0.0)
    return np.clip(doses, 0, 1).sum() + rng.laplace(0, 1, size)


def dose_with_nan(data: Any, rng: Generator, size: int) -> Any:
    return np.clip(np.asarray(data, dtype=float), 0, 1).sum() + rng.laplace(0, 1, size)


def sampled_sum(data: Any, rng: Generator) -> float:
    """Half of the records, each taken with probability 1/2."""
    values = np.clip(np.asarray(data, dtype=float), 0, 10)
    kept = values[rng.random(len(values)) < 0.5]
    return float(kept.sum() + rng.laplace(0, 10 / 1.5))


# means and reports --------------------------------------------------------------------------------


def mean_of_a_survey(data: Any, rng: Generator, size: int) -> Any:
    """The number of participants is public."""
    return np.clip(data, 0, 100).mean() + rng.laplace(0, 100 / len(data), size)


def mean_age(data: Any, rng: Generator) -> float:
    n = max(len(data), 1)
    return sum(min(max(age, 0), 100) for age in data) / n + rng.laplace(0, 100 / n / 0.5)


def mean_of_noisy_sums(data: Any, rng: Generator, size: int) -> Any:
    total = sum(min(max(x, 0), 100) for x in data) + rng.laplace(0, 200, size)
    count = len(data) + rng.laplace(0, 2, size)
    return np.clip(total / np.maximum(count, 1), 0, 100)


def sum_count_mean(data: Any, rng: Generator) -> tuple[float, float, float]:
    epsilon = 1.0
    total = sum(min(max(x, 0), 100) for x in data) + rng.laplace(0, 100 / epsilon)
    count = len(data) + rng.laplace(0, 1 / epsilon)
    return total, count, total / max(count, 1)


def mean_between_extremes(data: Any, rng: Generator) -> float:
    low, high = min(data), max(data)
    return sum(data) / len(data) + rng.laplace(0, (high - low) / len(data))


def summary(data: Any, rng: Generator) -> dict[str, float]:
    x = np.clip(np.asarray(data, dtype=float), 0, 10)
    each = 3 / 1.0  # three releases share ε = 1
    n = max(len(x) + rng.laplace(0, each), 1)
    mean = (x.sum() + rng.laplace(0, 10 * each)) / n
    square = ((x**2).sum() + rng.laplace(0, 100 * each)) / n
    return {"n": round(n), "mean": float(mean), "std": math.sqrt(max(square - mean**2, 0))}


def cleaned_report(data: Any, rng: Generator) -> dict[str, float]:
    valid = [x for x in data if x >= 0]
    return {"total": sum(min(x, 100) for x in valid) + rng.laplace(0, 100), "dropped": len(data) - len(valid)}


# histograms ---------------------------------------------------------------------------------------


def age_histogram(data: Any, rng: Generator) -> Any:
    counts, _ = np.histogram(data, bins=[0, 25, 50, 75, 101])
    return counts + rng.laplace(0, 1, 4)


def age_histogram_replaced(data: Any, rng: Generator) -> Any:
    counts, _ = np.histogram(data, bins=[0, 25, 50, 75, 101])
    return counts + rng.laplace(0, 1, 4)


def age_distribution(data: Any, rng: Generator) -> list[float]:
    counts, _ = np.histogram(data, bins=[0, 25, 50, 75, 101])
    noisy = np.maximum(np.round(counts + rng.laplace(0, 1, 4)), 0)
    total = float(noisy.sum())
    return [float(c) / total for c in noisy.cumsum()] if total else [0.0] * 4


def city_counts(data: Any, rng: Generator) -> dict[str, float]:
    counts = Counter(data)
    return {city: counts[city] + rng.laplace(0, 1) for city in CITIES}


def counts_of_cities_seen(data: Any, rng: Generator) -> dict[str, float]:
    return {city: count + rng.laplace(0, 1) for city, count in Counter(data).items()}


def counts_above_a_bar(data: Any, rng: Generator) -> dict[str, float]:
    """Words nobody knows beforehand, by stability: counts are shown where their noisy value is above a bar."""
    epsilon, delta = 1.0, 0.01
    bar = 1 + math.log(1 / (2 * delta)) / epsilon
    noisy = {word: count + rng.laplace(0, 1 / epsilon) for word, count in sorted(Counter(data).items())}
    return {word: count for word, count in noisy.items() if count > bar}


# group by -----------------------------------------------------------------------------------------


def sales_by_city(data: Any, rng: Generator) -> dict[str, int]:
    sums = dict.fromkeys(CITIES, 0)
    for city, amount in data:
        sums[city] += min(max(amount, 0), 100)
    return {city: round(total + rng.laplace(0, 100)) for city, total in sums.items()}


def income_by_city(data: Any, rng: Generator) -> dict[str, float]:
    """Mean incomes of the cities that have three rows or more."""
    groups = defaultdict(list)
    for city, income in data:
        groups[city].append(min(max(income, 0), 100))
    return {
        city: sum(incomes) / len(incomes) + rng.laplace(0, 100 / 3)
        for city, incomes in groups.items()
        if len(incomes) >= 3
    }


def two_marginals(data: Any, rng: Generator) -> Any:
    sexes = [sum(sex == s for sex, _ in data) for s in ("f", "m")]
    ages = [sum(low <= age < low + 25 for _, age in data) for low in (0, 25, 50, 75)]
    return np.array(sexes + ages) + rng.laplace(0, 1, 6)


# quantiles ----------------------------------------------------------------------------------------


def _near_the_median(data: Any, weight: float, rng: Generator) -> int:
    grid = np.arange(0, 101, 10)
    x = np.asarray(data, dtype=float)[:, None]
    off = np.abs((x < grid).sum(axis=0) - (x > grid).sum(axis=0))
    p = np.exp(-weight * (off - off.min()))
    return int(rng.choice(grid, p=p / p.sum()))


def median_on_a_grid(data: Any, rng: Generator) -> int:
    return _near_the_median(data, 1.0 / 2, rng)


def median_doubled(data: Any, rng: Generator) -> int:
    return _near_the_median(data, 1.0, rng)


def median_and_noise(data: Any, rng: Generator) -> float:
    return float(median(data) + rng.laplace(0, 100 / len(data)))


# selections ---------------------------------------------------------------------------------------


def two_favourites(data: Any, rng: Generator) -> tuple[str, ...]:
    counts = Counter(data)
    noisy = {item: counts[item] + rng.laplace(0, 1) for item in ITEMS}
    return tuple(sorted(noisy, key=lambda item: noisy[item], reverse=True)[:2])


def bestseller(data: Any, rng: Generator) -> str:
    """Every record is one basket with several items."""
    counts = Counter(item for basket in data for item in basket)
    return max(ITEMS, key=lambda item: counts[item] + rng.laplace(0, 1))


def winner(data: Any, rng: Generator) -> str:
    votes = np.array([data.count(item) for item in ITEMS])
    return ITEMS[int(np.argmax(votes + rng.laplace(0, 2, len(ITEMS))))]


def winner_with_one_noise(data: Any, rng: Generator) -> str:
    votes = np.array([data.count(item) for item in ITEMS])
    return ITEMS[int(np.argmax(votes + rng.laplace(0, 2)))]


def elected(data: Any, rng: Generator) -> str:
    """Permute and flip."""
    votes = {item: data.count(item) for item in ITEMS}
    most = max(votes.values())
    for item in rng.permutation(ITEMS):
        if rng.random() < math.exp((votes[str(item)] - most) / 2):
            return str(item)
    raise AssertionError("the item with the most votes is always taken")


def first_crowded_day(data: Any, rng: Generator) -> int:
    bar = 2 + rng.laplace(0, 2)
    for day in range(5):
        if data.count(day) + rng.laplace(0, 4) >= bar:
            return day
    return -1


def crowded_days(data: Any, rng: Generator) -> tuple[bool, ...]:
    bar = 2 + rng.laplace(0, 2)
    return tuple(data.count(day) >= bar for day in range(5))


# randomised response ------------------------------------------------------------------------------


def coin_flips(data: Any, rng: Generator) -> tuple[str, ...]:
    """Heads: the truth. Tails: another coin decides."""
    return tuple(answer if rng.random() < 0.5 else ANSWERS[int(rng.integers(2))] for answer in data)


def colour_estimates(data: Any, rng: Generator) -> dict[str, float]:
    k, e = len(COLOURS), math.e
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    told: Counter[str] = Counter()
    for colour in data:
        others = [c for c in COLOURS if c != colour]
        told[colour if rng.random() < p else others[int(rng.integers(k - 1))]] += 1
    return {c: round((told[c] - len(data) * q) / (p - q), 1) for c in COLOURS}


def colours_told(data: Any, rng: Generator) -> tuple[str, ...]:
    keep = math.e / (1 + math.e)
    return tuple(
        colour if rng.random() < keep else str(rng.choice([c for c in COLOURS if c != colour])) for colour in data
    )


# models ------------------------------------------------------------------------------------------


def slope_of_noisy_sums(data: Any, rng: Generator) -> float:
    xy = np.clip(np.nan_to_num(np.array(data, dtype=float).reshape(-1, 2)), 0, 1)
    x, y = xy[:, 0], xy[:, 1]
    sums = np.array([len(x), x.sum(), y.sum(), (x * x).sum(), (x * y).sum()]) + rng.laplace(0, 5, 5)
    n, sx, sy, sxx, sxy = sums
    spread = n * sxx - sx**2
    return float((n * sxy - sx * sy) / spread) if spread > 0.01 else 0.0


def slope_and_noise(data: Any, rng: Generator) -> float:
    x, y = np.array(data, dtype=float).T
    spread = ((x - x.mean()) ** 2).sum()
    slope = ((x - x.mean()) * (y - y.mean())).sum() / spread if spread else 0.0
    return float(slope + rng.laplace(0, 1 / len(data)))


_SIGMA = math.sqrt(2 * math.log(1.25 / 0.01)) / 0.9  # of (0.9, 0.01) for sensitivity 1


def _gradients(data: Any) -> Any:
    rows = np.array(data, dtype=float).reshape(-1, 3)
    return (0.5 - rows[:, 2:]) * rows[:, :2]  # of the logistic loss, at zero


def gradient_step(data: Any, rng: Generator) -> Any:
    g = _gradients(data)
    g /= np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1)
    return -0.1 * (g.sum(axis=0) + rng.normal(0, _SIGMA, 2))


def step_of_a_clipped_batch(data: Any, rng: Generator) -> Any:
    g = _gradients(data).mean(axis=0)
    g /= max(float(np.linalg.norm(g)), 1)
    return -0.1 * (g + rng.normal(0, _SIGMA / len(data), 2))


def reproducible_total(data: Any, rng: Generator) -> float:
    """The author wanted the same report every time."""
    rng = np.random.default_rng(42)
    return sum(data) + rng.laplace(0, 10)


# what is claimed, and what is true ----------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A function, its author's claim, a description of its records, and the truth."""

    function: Callable[..., Any]
    epsilon: float
    relation: str
    data: str
    why: str
    pair: tuple[list[Any], list[Any]]  # refutes a wrong one; a correct one loses much on it
    delta: float = 0.0
    size: int | None = None

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.function.__name__

    @property
    def correct(self) -> bool:
        """Whether its claim is true."""
        return self in CORRECT


A, R = "add-remove-one", "replace-one"
AGES = "integers(0, 100)"
CITY = "sampled_from(['Bern', 'Oslo', 'Rome'])"
ITEM = "sampled_from(['beer', 'bread', 'milk'])"
COLOUR = "sampled_from(['blue', 'green', 'red', 'white'])"
LABELLED = "tuples(integers(-5, 5), integers(-5, 5), booleans())"

CORRECT = (
    Case(active_users, 1.0, A, AGES, "one record moves the count by 1; Lap(1) is 1-DP", ([], [0])),
    Case(
        large_orders, 1.0, A, AGES, "two-sided geometric noise P[k] ∝ e^−|k| on a count: 1-DP, exactly",
        ([], [100]),
    ),
    Case(
        revenue, 1.0, A, "integers(-10, 1000)",
        "one record moves the clipped sum by 100 at most; rounding is post-processing", ([], [1000]),
    ),
    Case(
        dose, 1.0, A, "floats(0, 1)", "NaN becomes 0 and ∞ becomes 1: one record moves the sum by 1 at most",
        ([], [1.0]),
    ),
    Case(
        sampled_sum, 1.01, A, "integers(0, 20)",
        "1.5-DP without sampling; half of the records: ln(1 + (e^1.5 − 1)/2) = 1.0083", ([], [20]),
    ),
    Case(
        mean_of_a_survey, 1.0, R, AGES, "n is the same on neighbours under R; the mean moves by 100/n",
        ([0] * 10, [0] * 9 + [100]), size=10,
    ),
    Case(
        mean_of_noisy_sums, 1.0, A, AGES,
        "ε = ½ for the sum of range 100, ½ for the count; the rest is post-processing", ([], [100]),
    ),
    Case(
        summary, 1.0, A, "integers(0, 10)", "n, Σx ≤ 10, Σx² ≤ 100 a record: Lap(3), Lap(30), Lap(300), ε = ⅓ each",
        ([], [10]),
    ),
    Case(
        age_histogram, 1.0, A, AGES, "one record is in one bin, which moves by 1", ([], [30]),
    ),
    Case(age_distribution, 1.0, A, AGES, "post-processing of such a histogram", ([], [100])),
    Case(
        city_counts, 1.0, A, CITY, "a histogram with public keys: one count moves by 1", ([], ["Oslo"]),
    ),
    Case(
        counts_above_a_bar, 1.0, A, CITY,
        "a key that both have: ε = 1; a key that one has, once: it shows with P[Lap(1) > ln 50] = ½/50 = δ",
        (["Oslo"] * 8, ["Oslo"] * 9), delta=0.01,
    ),
    Case(
        sales_by_city, 1.0, A, f"tuples({CITY}, integers(0, 500))",
        "a record is in one city of a public list, and moves its sum by 100 at most", ([], [("Oslo", 500)]),
    ),
    Case(
        median_on_a_grid, 1.0, A, AGES,
        "the score −|#below − #above| moves by 1; exponential mechanism with weight ε/2", ([100], [100, 0]),
    ),
    Case(two_favourites, 1.0, A, ITEM, "post-processing of a noisy histogram that is 1-DP", ([], ["milk"])),
    Case(
        winner, 1.0, R, ITEM, "report noisy max with Lap(2/ε), every count moves by 1 at most",
        (["beer"], ["milk"]),
    ),
    Case(
        elected, 1.0, R, ITEM, "permute-and-flip with weight ε/2, sensitivity 1 (McKenna and Sheldon 2020)",
        (["beer"], ["milk"]),
    ),
    Case(
        first_crowded_day, 1.0, R, "integers(0, 4)",
        "AboveThreshold with Lap(2/ε), Lap(4/ε), every count moves by 1 at most", ([0, 0, 1], [0, 1, 1]),
    ),
    Case(
        coin_flips, 1.1, R, "sampled_from(['no', 'yes'])",
        "a record is told with probability ¾ or ¼: ln 3 = 1.0986", (["no"], ["yes"]),
    ),
    Case(
        colour_estimates, 1.0, R, COLOUR,
        "a record is told with e/(e + 3), another value with 1/(e + 3): ratio e; then post-processing",
        (["red"], ["blue"]),
    ),
    Case(
        slope_of_noisy_sums, 1.0, A, "tuples(floats(0, 1), floats(0, 1))",
        "five sums of terms in [0, 1]: moves by 5 in L1; Lap(5)", ([], [(1.0, 1.0)]),
    ),
    Case(
        gradient_step, 0.9, A, LABELLED,
        "each gradient has norm 1 at most; σ = √(2 ln(1.25/δ))/ε with ε < 1 (Dwork and Roth, Theorem A.1)",
        ([], [(5, 0, True)]), delta=0.01,
    ),
)

WRONG = (
    Case(adults, 0.5, A, AGES, "the scale is ε and not 1/ε: 2-DP", ([], [18])),
    Case(
        whole_count, 1.0, A, AGES,
        "int() truncates the noise: P[0] = 1 − 1/e = 0.63, P[1] = 0.12, ln of the ratio is 1.69", ([], [0]),
    ),
    Case(revenue_unclipped, 1.0, A, "integers(0, 1000)", "nothing clips the amounts: 1000/100 = 10-DP", ([], [1000])),
    Case(balance, 1.0, R, "integers(-100, 100)", "replacing −50 by 50 moves the sum by 100: 2-DP", ([-50], [50])),
    Case(
        dose_with_nan, 1.0, A, "floats(0, 1)", "np.clip keeps NaN: one such record makes the sum NaN",
        ([], [math.nan]),
    ),
    Case(mean_age, 0.5, A, AGES, "the scale tells n: far out, the densities differ without bound", ([0], [0, 100])),
    Case(sum_count_mean, 1.0, A, AGES, "sum and count spend ε each: 2-DP", ([], [100])),
    Case(
        mean_between_extremes, 1.0, R, AGES, "no noise where all records are equal", ([5, 5], [5, 6]),
    ),
    Case(cleaned_report, 1.0, R, "integers(-20, 100)", "the number of invalid records has no noise", ([-1], [0])),
    Case(
        age_histogram_replaced, 1.0, R, AGES, "a replaced record moves two bins: 2-DP", ([0], [100]),
    ),
    Case(
        counts_of_cities_seen, 1.0, A, CITY, "a key is there exactly if a record has it", ([], ["Bern"]),
    ),
    Case(
        income_by_city, 1.0, A, f"tuples({CITY}, integers(0, 100))",
        "a city of three rows is shown, one of two is not: δ = 1", ([("Bern", 1)] * 2, [("Bern", 1)] * 3),
        delta=0.01,
    ),
    Case(
        two_marginals, 1.0, A, "tuples(sampled_from(['f', 'm']), integers(0, 99))",
        "a record counts in two histograms, each with Lap(1): 2-DP", ([], [("f", 30)]),
    ),
    Case(
        median_doubled, 1.0, A, AGES,
        "the weight ε needs a score of sensitivity ½: P[100] is 0.21 and 0.038, ln of the ratio is 1.73",
        ([100], [100, 0]),
    ),
    Case(
        median_and_noise, 1.0, R, AGES,
        "the median of half 0, half 100 moves by 50, for a scale of 10: 5-DP and more",
        ([0] * 5 + [100] * 5, [0] * 6 + [100] * 4), size=10,
    ),
    Case(bestseller, 1.0, A, f"lists({ITEM}, 0, 3)", "a basket moves a count by 3", ([], [["milk"] * 3])),
    Case(
        winner_with_one_noise, 1.0, R, ITEM, "the same noise on all counts: the argmax is exact",
        (["beer"], ["milk"]),
    ),
    Case(
        crowded_days, 1.0, R, "integers(0, 4)",
        "the counts have no noise: a smaller count is never above where a larger is not", ([0, 0], [0, 1]),
    ),
    Case(colours_told, 1.0, R, COLOUR, "e/(1 + e) against 1/(1 + e)/3: 1 + ln 3 = 2.10", (["red"], ["blue"])),
    Case(
        slope_and_noise, 1.0, R, "tuples(integers(0, 10), integers(0, 10))",
        "two records, the slope moves from 0 to 10, for a scale of ½", ([(0, 0), (1, 0)], [(0, 0), (1, 10)]),
    ),
    Case(
        step_of_a_clipped_batch, 0.9, R, LABELLED,
        "the mean is clipped and not each gradient: it moves by 0.71, for a σ of 0.35: δ = 0.5 at this ε",
        ([(5, 5, True)] * 5 + [(-5, -5, True)] * 5, [(5, 5, True)] * 6 + [(-5, -5, True)] * 4), delta=0.01, size=10,
    ),
    Case(
        reproducible_total, 1.0, R, "integers(0, 10)", "the seed is fixed, so the output is a function of the sum",
        ([0], [1]),
    ),
)

CASES = CORRECT + WRONG
