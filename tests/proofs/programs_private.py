"""Everyday noisy programs as people write them, each with the smallest ε that holds for it.

The ε is derived by hand in the comment above each entry: an upper bound by composition (or by aligning the noise), and
outputs whose probabilities on D and D′ come arbitrarily close to that ratio. Lap(b) is Laplace noise of scale b. "Far
below" and "far above" mean limits of answers that have no bound.
"""

# ruff: noqa: PERF401, RET505, RUF005, UP033

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream


@dataclass(frozen=True)
class Program:
    """A function f(data, rng) that is ε-DP for the datasets of a scope, and for no smaller ε.

    Args:
        function: the program.
        scope: its datasets and their neighbours.
        epsilon: the smallest ε.
    """

    function: Callable[[Any, Any], Any]
    scope: Scope
    epsilon: Fraction

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__


PROGRAMS: list[Program] = []


def private(function: Callable[[Any, Any], Any], scope: Scope, epsilon: Fraction | int) -> None:
    PROGRAMS.append(Program(function, scope, Fraction(epsilon)))


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


# --- sums ---


def numpy_sum(data, rng):
    return data.sum() + rng.laplace(0, 1)


# a record moves the sum by up to 1, and the output has the density of Lap(1) around it
private(numpy_sum, Records(5, 0, 1), 1)


def python_sum(data, rng):
    return sum(data) + rng.laplace(scale=1.0)


# sensitivity 2, Lap(1)
private(python_sum, Records(5, 0, 2), 2)


def noise_around_the_sum(data, rng):
    return rng.laplace(np.sum(data), 4.0)


# sensitivity 2, Lap(4)
private(noise_around_the_sum, Records(3, -1, 1), HALF)


def sum_in_a_loop(data, rng):
    total = 0.0
    for value in data:
        total += min(max(value, 0.0), 1.0)
    return total + rng.laplace(loc=0.0, scale=2.0)


# clipped to [0, 1]: sensitivity 1, Lap(2)
private(sum_in_a_loop, Records(4, -5, 5), HALF)


def sum_with_a_while_loop(data, rng):
    i, total = 0, rng.laplace(0, 1)
    while i < len(data):
        total = total + data[i]
        i += 1
    return total


# sensitivity 1, Lap(1)
private(sum_with_a_while_loop, Records(4, 0, 1), 1)


def clipped_numpy_sum(data, rng, low=-1.0, high=1.0, epsilon=1.0):
    sensitivity = high - low
    return np.clip(data, low, high).sum() + rng.laplace(0, sensitivity / epsilon)


# sensitivity 2, Lap(2)
private(clipped_numpy_sum, Records(4, -5, 5), 1)


def clipped_sum_that_may_lose_a_record(data, rng):
    return np.sum(np.clip(data, -1, 3)) + rng.laplace(0, 3)


# a record adds between −1 and 3: sensitivity max(1, 3) = 3, Lap(3)
private(clipped_sum_that_may_lose_a_record, Records(4, -5, 5, "add-remove-one"), 1)


def clipped_by_hand(data, rng):
    def clip(value, low=0.0, high=1.0):
        if value < low:
            return low
        if value > high:
            return high
        return value

    return sum([clip(value) for value in data]) + rng.laplace(0, 1)


# clipped to [0, 1]: sensitivity 1, Lap(1)
private(clipped_by_hand, Records(3, -2, 2), 1)


def mean(data, rng):
    return data.mean() + rng.laplace(0, 1 / len(data))


# sensitivity 1/4, Lap(1/4)
private(mean, Records(4, 0, 1), 1)


def mean_of_a_list(data, rng):
    n = len(data)
    return sum(float(value) for value in data) / n + rng.laplace(0, 2 / n)


# sensitivity 1/4, Lap(1/2)
private(mean_of_a_list, Records(4, 0, 1), HALF)


def absolute_deviations(data, rng):
    return np.abs(data - 0.5).sum() + rng.laplace(0, 0.5)


# |v − 1/2| is in [0, 1/2]: sensitivity 1/2, Lap(1/2)
private(absolute_deviations, Records(3, 0, 1), 1)


def weighted_sum(data, rng):
    weights = (1, 2, 3)
    return sum(weight * value for weight, value in zip(weights, data, strict=True)) + rng.laplace(0, 3)


# the record with weight 3: sensitivity 3, Lap(3)
private(weighted_sum, Records(3, 0, 1), 1)


def dot_product(data, rng):
    weights = np.array([0.5, 1.0, -2.0])
    return np.dot(weights, data) + rng.laplace(0, 2)


# the record with weight −2: sensitivity 2, Lap(2)
private(dot_product, Records(3, 0, 1), 1)


def sum_of_large_values(data, rng):
    return np.where(data > 0.5, data, 0.0).sum() + rng.laplace(0, 1)


# a record adds 0, or between 1/2 and 1: sensitivity 1, Lap(1)
private(sum_of_large_values, Records(3, 0, 1), 1)


def difference_of_halves(data, rng):
    return data[:2].sum() - data[2:].sum() + rng.laplace(0, 1)


# every record has weight 1 or −1: sensitivity 1, Lap(1)
private(difference_of_halves, Records(4, 0, 1), 1)


def unpacked(data, rng):
    first, *rest = data
    return first + rng.laplace(0, 1), sum(rest) + rng.laplace(0, 1)


# a record is in one of the two sums: 1
private(unpacked, Records(3, 0, 1), 1)


def noise_from_two_exponentials(data, rng):
    return data.sum() + rng.exponential(1.0) - rng.exponential(1.0)


# the difference of two exponential draws of scale 1 is Lap(1); sensitivity 1
private(noise_from_two_exponentials, Records(2, 0, 1), 1)


def sum_of_absolute_values(data, rng):
    total = 0
    for value in data:
        total += value if value >= 0 else -value
    noise = rng.laplace(0, 1)
    return total + noise


# |v| is in [0, 1]: sensitivity 1, Lap(1)
private(sum_of_absolute_values, Records(3, -1, 1), 1)


def scale_from_epsilon(data, rng):
    epsilon, sensitivity = 0.25, 1
    scale = sensitivity / epsilon
    noise = rng.laplace(0, scale)
    return {"sum": data.sum() + noise, "scale": scale}


# sensitivity 1, Lap(4)
private(scale_from_epsilon, Records(3, 0, 1), Fraction(1, 4))


# --- counts ---


def count_condition(data, rng):
    return sum(value > 0.5 for value in data) + rng.laplace(0, 1)


# sensitivity 1, Lap(1)
private(count_condition, Records(4, 0, 1), 1)


def count_numpy_mask(data, rng):
    return np.count_nonzero(data > 0.5) + rng.laplace(0, 2)


# sensitivity 1, Lap(2)
private(count_numpy_mask, Records(4, 0, 1), HALF)


def count_range(data, rng):
    return len([value for value in data if 0.25 <= value < 0.75]) + rng.laplace(0, 1)


# sensitivity 1, Lap(1)
private(count_range, Records(4, 0, 1), 1)


def count_in_a_loop(data, rng):
    count = 0
    for value in data:
        if not value:
            continue
        count += 1
    return count + rng.laplace(0, 1)


# sensitivity 1, Lap(1)
private(count_in_a_loop, Domain(4, (0, 1)), 1)


def count_in_a_set(data, rng):
    return sum(1 for value in data if value in {"red", "blue"}) + rng.laplace(0, 1)


# sensitivity 1, Lap(1)
private(count_in_a_set, Domain(3, ("red", "green", "blue")), 1)


class Person(NamedTuple):
    city: str
    age: int


PEOPLE = (Person("Basel", 20), Person("Bern", 40), Person("Basel", 60))


def count_people(data, rng):
    return sum(person.age > 30 and person.city == "Basel" for person in data) + rng.laplace(0, 1)


# the third kind of person counts, the others do not: sensitivity 1, Lap(1)
private(count_people, Domain(3, PEOPLE), 1)


def sum_and_count(data, rng):
    return {"sum": data.sum() + rng.laplace(0, 2), "count": (data > 0.5).sum() + rng.laplace(0, 2)}


# a record 0 → 1 moves both by 1: 1/2 + 1/2
private(sum_and_count, Records(3, 0, 1), 1)


def two_moments(data, rng):
    first = sum(data) + rng.laplace(0, 4)
    second = sum(value**2 for value in data) + rng.laplace(0, 8)
    return first, second


# a record 0 → 2 moves the sum by 2 and the sum of squares by 4: 2/4 + 4/8
private(two_moments, Domain(4, (0, 1, 2)), 1)


def geometric_count(data, rng):
    p = 1 - math.exp(-0.5)
    return sum(data) + int(rng.geometric(p)) - int(rng.geometric(p))


# the difference of two geometric draws has P(k) ∝ e^(−|k|/2); sensitivity 1
private(geometric_count, Domain(4, (0, 1)), HALF)


# --- histograms ---


def bincount(data, rng):
    return np.bincount(data, minlength=3) + rng.laplace(0, 2, size=3)


# a replaced record moves two counts by 1: 2 · 1/2
private(bincount, Domain(5, (0, 1, 2)), 1)


def histogram_of_floats(data, rng):
    counts, _ = np.histogram(data, bins=3, range=(0, 1))
    return counts + rng.laplace(0, 1, 3)


# an added record moves one count by 1: 1
private(histogram_of_floats, Records(3, 0, 1, "add-remove-one"), 1)


def histogram_from_a_counter(data, rng):
    counts = Counter(data)
    return [counts[key] + rng.laplace(0, 2) for key in ("a", "b", "c")]


# a replaced record moves two counts by 1: 2 · 1/2
private(histogram_from_a_counter, Domain(3, ("a", "b", "c")), 1)


def histogram_in_a_dictionary(data, rng):
    counts = {"a": 0, "b": 0}
    for value in data:
        counts[value] += 1
    return {key: count + rng.laplace(0, 1) for key, count in counts.items()}


# a replaced record moves both counts by 1: 2 · 1
private(histogram_in_a_dictionary, Domain(3, ("a", "b")), 2)


def histogram_by_comparison(data, rng):
    noisy = []
    for key in ("a", "b", "c"):
        noisy.append(sum(1 for value in data if value == key) + rng.laplace(0, 1))
    return max(range(3), key=lambda i: noisy[i]), noisy


# an added record moves one count by 1; the index is computed from what is released
private(histogram_by_comparison, Domain(3, ("a", "b", "c"), "add-remove-one"), 1)


def histogram_with_a_threshold(data, rng):
    noisy = np.bincount(np.array(data), minlength=2) + rng.laplace(0, 2, 2)
    return np.where(noisy > 1, noisy, 0.0)


# 2 · 1/2, and both noisy counts are released where both are above 1
private(histogram_with_a_threshold, Domain(4, (0, 1)), 1)


def counts_with_defaultdict(data, rng):
    counts = defaultdict(int)
    for value in data:
        counts[value] += 1
    return [counts[key] + rng.laplace(0, 2) for key in range(2)]


# 2 · 1/2
private(counts_with_defaultdict, Domain(3, (0, 1)), 1)


# --- several answers ---


def vector_of_answers(answers, rng):
    return np.array(answers) + rng.laplace(0, len(answers), size=len(answers))


# four answers move by 1, Lap(4) each
private(vector_of_answers, Answers(4), 1)


def list_of_answers(answers, rng):
    return [answer + rng.laplace(0, 1) for answer in answers]


# one answer moves by 1, Lap(1)
private(list_of_answers, Answers(4, "one"), 1)


def noise_drawn_first(answers, rng):
    noise = [rng.laplace(0, 3) for _ in range(len(answers))]
    return tuple(answer + eta for answer, eta in zip(answers, noise, strict=False))


# three answers move by 1, Lap(3) each
private(noise_drawn_first, Answers(3), 1)


def rounded_and_clipped(answers, rng):
    noisy = np.array(answers) + rng.laplace(0, 2, 2)
    return np.round(np.clip(noisy, 0, 100), 1).tolist()


# 2 · 1/2: both outputs are 50 for answers far below 0
private(rounded_and_clipped, Answers(2), 1)


def rounded_sum(data, rng):
    return max(0, round(sum(data) + rng.laplace(0, 1)))


# sensitivity 1; P(output = k) for k above the sums has ratio e
private(rounded_sum, Domain(4, (0, 1)), 1)


def larger_of_two(answers, rng):
    return max(answers[0] + rng.laplace(0, 2), answers[1] + rng.laplace(0, 2))


# 2 · 1/2: for t far below, P(output ≤ t) is a product of two left tails
private(larger_of_two, Answers(2), 1)


def sorted_noisy(answers, rng):
    return sorted(answer + rng.laplace(0, 2) for answer in answers)


# 2 · 1/2: two outputs far below both answers
private(sorted_noisy, Answers(2), 1)


def spread(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return max(noisy) - min(noisy)


# 2 · 1/2 by composition: the noises' difference decays with rate 1/2 and the answers' difference moves by 2
private(spread, Answers(2), 1)


def sum_of_noisy_answers(answers, rng):
    return sum(answer + rng.laplace(0, 2) for answer in answers)


# 2 · 1/2: the sum moves by 2, and the sum of both noises has tails of rate 1/2
private(sum_of_noisy_answers, Answers(2), 1)


# --- decisions on noisy values ---


def above(answers, rng):
    return bool(answers[0] + rng.laplace(0, 1) > 0)


# far below 0 the probability is a tail of Lap(1)
private(above, Answers(1), 1)


def few_or_many(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    if noisy > 3:
        return "many"
    return "few"


# sums 0 and 1: P(many) = e^(−3)/2 and e^(−2)/2
private(few_or_many, Records(5, 0, 1), 1)


def in_an_interval(answers, rng):
    return 0 < answers[0] + rng.laplace(0, 1) < 1


# far below 0
private(in_an_interval, Answers(1), 1)


def nested_decisions(data, rng):
    if (noisy := sum(data) + rng.laplace(0, 2)) > 10:
        return f"more than ten: {noisy}"
    elif noisy > 0:
        return "some"
    else:
        return None


# sensitivity 1, Lap(2): "more than ten" has the density of the noise
private(nested_decisions, Records(3, 0, 1), HALF)


def second_query_if_useful(answers, rng):
    if answers[0] + rng.laplace(0, 2) > 0:
        return answers[1] + rng.laplace(0, 2)
    return "no"


# 1/2 for the decision and 1/2 for the second answer
private(second_query_if_useful, Answers(2), 1)


def cheap_or_dear(answers, rng):
    if answers[0] + rng.laplace(0, 4) > 0:
        return "dear", answers[1] + rng.laplace(0, 2)
    return "cheap", answers[1] + rng.laplace(0, 4)


# 1/4 for the decision and at most 1/2 for the second answer
private(cheap_or_dear, Answers(2), Fraction(3, 4))


def noisy_threshold_of_a_sum(answers, rng):
    threshold = 10 + rng.laplace(0, 2)
    return "above" if sum(answers) >= threshold else "below"


# the sum of two answers moves by 2, Lap(2)
private(noisy_threshold_of_a_sum, Answers(2), 1)


def both_above(answers, rng):
    a, b = (answer + rng.laplace(0, 2) for answer in answers)
    return a > 0 and b > 0


# two right tails
private(both_above, Answers(2), 1)


def majority(answers, rng):
    votes = sum(answer + rng.laplace(0, 3) > 0 for answer in answers)
    return votes == 3


# three right tails of Lap(3)
private(majority, Answers(3), 1)


def at_most_three_tries(answers, rng):
    noisy = answers[0]
    tries = 0
    while tries < 3:
        if noisy + rng.laplace(0, 3) > 0:
            return "found after", tries
        tries += 1
    return "not found"


# far above 0, "not found" is three left tails of Lap(3)
private(at_most_three_tries, Answers(1), 1)


# --- noisy maxima ---


def argmax_of_a_list(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return noisy.index(max(noisy))


# the differences of two answers move by 2, and the noises' difference has tails of rate 1/2
private(argmax_of_a_list, Answers(4), 1)


def argmax_of_an_array(answers, rng):
    return np.argmax(np.asarray(answers) + rng.laplace(scale=2.0, size=len(answers)))


# as above
private(argmax_of_an_array, Answers(4), 1)


def most_common(data, rng):
    counts = [sum(value == color for value in data) for color in ("red", "green", "blue")]
    noisy = [count + rng.laplace(0, 4) for count in counts]
    best = 0
    for i in range(1, len(noisy)):
        if noisy[i] > noisy[best]:
            best = i
    return best, noisy[best]


# two counts move by 1: 2 · 1/4. Attained by (0, m) with 1 < m < 2, where the first count moves from 0 to 1 and another
# from 3 to 2: the density of the first at m and the probability that the other is below m have ratio e^(1/4) each
private(most_common, Domain(3, ("red", "green", "blue")), HALF)


def argmax_with_exponential_noise(answers, rng):
    noisy = np.array(answers) + rng.exponential(2, size=len(answers))
    return int(noisy.argmax())


# two answers: the difference of two exponential draws is Lap(2), and the answers' difference moves by 2
private(argmax_with_exponential_noise, Answers(3), 1)


def argmin_of_distances(answers, rng):
    noisy = {i: answer + rng.laplace(0, 2) for i, answer in enumerate(answers)}
    return min(noisy, key=lambda i: noisy[i])


# as the maximum
private(argmin_of_distances, Answers(3), 1)


def running_maximum(answers, rng):
    best, where = -math.inf, None
    for i, answer in enumerate(answers):
        noisy = answer + rng.laplace(0, 2)
        if noisy > best:
            best, where = noisy, i
    return where


# as the maximum
private(running_maximum, Answers(4), 1)


def largest_with_gap(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    return order[0], noisy[order[0]] - noisy[order[1]]


# the gap of two answers moves by 2, and the noises' difference has tails of rate 1/2
private(largest_with_gap, Answers(3), 1)


def largest_then_measured(answers, rng):
    noisy = [answer + rng.laplace(0, 4) for answer in answers]
    i = int(np.argmax(noisy))
    return i, answers[i] + rng.laplace(0, 2)


# 1/2 for the index and 1/2 for the measurement
private(largest_then_measured, Answers(3), 1)


# --- sparse vectors ---


def first_above(answers, rng):
    threshold = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 4) >= threshold:
            return i
    return None


# the threshold moves by 1 and the answer above by 2: 1/2 + 2/4. Many answers below, all near a point, act as a step at
# which the threshold's noise is cut; the step moves by 1 against the last answer, which moves the other way
private(first_above, Stream(), 1)


def first_above_while(answers, rng, epsilon=2.0, threshold=5.0):
    noisy_threshold = rng.laplace(threshold, 2 / epsilon)
    i, found = 0, False
    while not found and i < len(answers):
        found = answers[i] + rng.laplace(0, 4 / epsilon) > noisy_threshold
        i += 1
    return found, i


# as above, with all scales halved
private(first_above_while, Stream(), 2)


def sparse_with_count(answers, rng):
    rho = rng.laplace(0, 2)
    count, out = 0, []
    for answer in answers:
        if count == 2:
            break
        above = answer + rng.laplace(0, 8) > 1 + rho
        out.append("above" if above else "below")
        count += above
    return out


# 1/2 + 2 · 2/8
private(sparse_with_count, Stream(), 1)


def sparse_with_numbers(answers, rng):
    threshold, out = 3 + rng.laplace(0, 4), []
    for answer in answers:
        if answer + rng.laplace(0, 8) > threshold:
            out += [answer + rng.laplace(0, 2)]
            break
        out += [None]
    return out


# 1/4 + 2/8 for the decisions and 1/2 for the number
private(sparse_with_numbers, Stream(), 1)


def gap_to_threshold(answers, rng):
    noisy_threshold = rng.laplace(0, 2)
    gaps = []
    for answer in answers:
        gap = answer + rng.laplace(0, 4) - noisy_threshold
        if gap >= 0:
            gaps.append(gap)
            return gaps
        gaps.append(0)
    return gaps


# the gap is released: as for the decision, 1/2 + 2/4
private(gap_to_threshold, Stream(), 1)


# --- sums over time ---


def partial_sums_with_one_noise_each(answers, rng):
    return [total + noise for total, noise in zip(itertools.accumulate(answers), rng.laplace(0, 3, 3), strict=True)]


# the first answer is in all three sums: 3 · 1/3
private(partial_sums_with_one_noise_each, Answers(3, "one"), 1)


def prefix_sums(answers, rng):
    return np.cumsum(np.array(answers) + rng.laplace(0, 1, size=len(answers)))


# differences of outputs are the noisy answers: 1
private(prefix_sums, Answers(5, "one"), 1)


def blocks_of_two(answers, rng):
    out, total = [], 0.0
    for i in range(0, len(answers), 2):
        total += answers[i] + answers[i + 1] + rng.laplace(0, 1)
        out.append(total)
    return out


# one answer is in one block: 1
private(blocks_of_two, Answers(6, "one"), 1)


def tree_of_sums(answers, rng):
    def node(low, high):
        total = sum(answers[low:high]) + rng.laplace(0, 3)
        if high - low == 1:
            return [total]
        middle = (low + high) // 2
        return [total] + node(low, middle) + node(middle, high)

    return node(0, len(answers))


# an answer is in three sums: 3 · 1/3
private(tree_of_sums, Answers(4, "one"), 1)


# --- helpers, closures and classes ---


@dataclass(frozen=True)
class LaplaceNoise:
    sensitivity: float
    epsilon: float

    @property
    def scale(self):
        return self.sensitivity / self.epsilon

    def add(self, value, rng):
        return value + rng.laplace(0, self.scale)


def noise_of_a_dataclass(data, rng):
    noise = LaplaceNoise(sensitivity=1.0, epsilon=0.5)
    return noise.add(data.sum(), rng)


# sensitivity 1, Lap(2)
private(noise_of_a_dataclass, Records(3, 0, 1), HALF)


def counting(low, high):
    def query(data):
        return sum(low <= value <= high for value in data)

    return query


QUERIES = (counting(0.0, 0.5), counting(0.25, 0.75))


def closures(data, rng):
    return [query(data) + rng.laplace(0, 2) for query in QUERIES]


# a record 0.3 → 1 moves both counts by 1: 2 · 1/2
private(closures, Records(3, 0, 1), 1)


def lambdas(data, rng):
    noisy = lambda value, scale=2.0: value + rng.laplace(0, scale)  # noqa: E731
    return noisy(data[0]), noisy(data[1], scale=1.0)


# the records move one at a time: max(1/2, 1)
private(lambdas, Records(2, 0, 1), 1)


def helper_with_keywords(data, rng):
    def release(*, value, scale, **ignored):
        return value + rng.laplace(0, scale)

    options = {"scale": 1.5, "label": "total"}
    return release(value=sum(data), **options)


# sensitivity 1, Lap(3/2)
private(helper_with_keywords, Records(3, 0, 1), Fraction(2, 3))


@functools.lru_cache(maxsize=None)
def noise_scale(queries, epsilon):
    return queries / epsilon


def cached_scale(data, rng):
    return data.sum() + rng.laplace(0, noise_scale(3, 1))


# sensitivity 1, Lap(3)
private(cached_scale, Records(3, 0, 1), THIRD)


def state_in_a_local_object(data, rng):
    class Budget:
        def __init__(self, epsilon):
            self.left = epsilon

        def spend(self, value, epsilon):
            self.left -= epsilon
            return value + rng.laplace(0, 1 / epsilon)

    budget = Budget(1.0)
    out = []
    while budget.left > 0:
        out.append(budget.spend(data.sum(), 0.5))
    return out


# two releases with Lap(2) of sensitivity 1
private(state_in_a_local_object, Records(3, 0, 1), 1)


def early_return(data, rng):
    if len(data) == 0:
        return None
    assert rng is not None, "a generator"
    total = data.sum()
    return total + rng.laplace(0, 1)


# sensitivity 1, Lap(1)
private(early_return, Records(3, 0, 1), 1)


def matched(data, rng):
    noisy = sum(data) + rng.laplace(0, 1)
    match noisy > 1, noisy > 2:
        case True, True:
            return "large"
        case True, False:
            return "medium"
        case _:
            return "small"


# sums 0 and 1: P(large) has ratio e
private(matched, Records(2, 0, 1), 1)


# --- not of the form that a proof can follow at present, but private ---


def sum_of_squares(data, rng):
    return np.sum(data * data) + rng.laplace(0, 1)


# v² is in [0, 1]: sensitivity 1, Lap(1)
private(sum_of_squares, Records(3, 0, 1), 1)


def midrange(data, rng):
    return (data.max() + data.min()) / 2 + rng.laplace(0, 0.5)


# one record can move the largest or the smallest by up to 1, not both: with records (0, 0, 0) → (0, 0, 1) the midrange
# moves by 1/2; Lap(1/2)
private(midrange, Records(3, 0, 1), 1)


def largest_value(data, rng):
    return max(data) + rng.laplace(0, 1)


# the largest moves by up to 1, Lap(1)
private(largest_value, Records(3, 0, 1), 1)


def number_of_colors(data, rng):
    return len(set(data)) + rng.laplace(0, 1)


# (a, a, a) → (a, a, b): sensitivity 1, Lap(1)
private(number_of_colors, Domain(3, ("a", "b", "c")), 1)
