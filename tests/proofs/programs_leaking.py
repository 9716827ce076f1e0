"""Programs that are less private than claimed, each with a trap for a careless reading of Python or of numpy.

`why` says what is wrong and what the true ε is. "∞" means that some output is possible, or has a density, on one
dataset only; such programs claim `LARGE`. Finite values are the limits of ratios of probabilities, derived by hand.
Programs with state are private in their first call and leak in a later one.
"""

# ruff: noqa

from __future__ import annotations

import copy
import functools
import itertools
import math
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from dpaudit.language import ANSWERS_LINF, Bernoulli, Claim, Laplace, Mechanism
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit_algorithms.corpus.report_noisy_max import ReportNoisyMax3, ReportNoisyMax4
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT3, SVT4, SVT5, SVT6

LARGE = Fraction(1000)


@dataclass(frozen=True)
class Leak:
    """A program that is not ε-DP at its claim.

    Args:
        function: f(data, rng), or a mechanism.
        scope: its datasets and their neighbours.
        claimed: an ε that does not hold.
        why: what is wrong, and the true ε.
    """

    function: Any
    scope: Scope
    claimed: Fraction
    why: str

    @property
    def name(self) -> str:
        """The name of the function or of the mechanism's class."""
        return getattr(self.function, "__name__", type(self.function).__name__)


LEAKS: list[Leak] = []


def leak(function: Any, scope: Scope, claimed: Fraction | int | float, why: str) -> None:
    LEAKS.append(Leak(function, scope, Fraction(str(claimed)), why))


ONE, TWO, THREE = Records(1, 0, 1), Records(2, 0, 1), Records(3, 0, 1)
BIT, BITS = Domain(1, (0, 1)), Domain(3, (0, 1))


# ---------------------------------------------------------------- no noise, or noise that covers too little


def raw_sum(data, rng):
    rng.laplace(0, 1)
    return data.sum()


leak(raw_sum, TWO, LARGE, "the draw is not used: ∞")


def raw_beside_noise(data, rng):
    return data.sum() + rng.laplace(0, 1), data[0]


leak(raw_beside_noise, TWO, LARGE, "a record is returned: ∞")


def raw_in_a_dictionary(data, rng):
    return {"noisy": data[0] + rng.laplace(0, 1), "debug": {"n": len(data), "first": data[0]}}


leak(raw_in_a_dictionary, ONE, LARGE, "a record is in the output: ∞")


@dataclass
class Release:
    value: float
    _true: float = field(default=0.0, repr=False, compare=False)


def raw_in_a_hidden_field(data, rng):
    return Release(data.sum() + rng.laplace(0, 1), data.sum())


leak(raw_in_a_hidden_field, ONE, LARGE, "the output holds the sum in a field that is not shown: ∞")


def raw_in_a_function(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    return lambda: (noisy, data)


leak(raw_in_a_function, ONE, LARGE, "the function that is returned returns the data: ∞")


def raw_in_a_generator(data, rng):
    return (value for value in data)


leak(raw_in_a_generator, ONE, LARGE, "the generator that is returned yields the data: ∞")


def is_a_generator(data, rng):
    yield data.sum() + rng.laplace(0, 1)
    yield data[0]


leak(is_a_generator, ONE, LARGE, "calling it gives a generator, whose second value is a record: ∞")


def scale_halved(data, rng):
    return data.sum() + rng.laplace(0, 0.5)


leak(scale_halved, TWO, 1, "Lap(1/2) for sensitivity 1: 2")


def scale_just_too_small(data, rng):
    return data.sum() + rng.laplace(0, 0.999)


leak(scale_just_too_small, TWO, 1, "Lap(0.999) for sensitivity 1: 1.001")


def scale_is_epsilon(data, rng, epsilon=0.5):
    return data.sum() + rng.laplace(0, epsilon)


leak(scale_is_epsilon, TWO, 0.5, "the scale is ε instead of 1/ε: 2")


def scale_as_location(data, rng):
    return data.sum() + rng.laplace(10)


leak(scale_as_location, TWO, 0.1, "the first argument is the location, so the scale is 1: 1")


def swapped_location_and_scale(data, rng):
    return rng.laplace(1.0, data.sum())


leak(swapped_location_and_scale, ONE, LARGE, "the sum is the scale; at 0 the output is always 1: ∞")


def data_dependent_scale(data, rng):
    return data.sum() + rng.laplace(0, 2 if data[0] > 0.5 else 1)


leak(data_dependent_scale, ONE, LARGE, "tails of rates 1 and 1/2 have no bounded ratio: ∞")


def data_dependent_scale_by_half(data, rng):
    return rng.laplace(0, 1 + data[0])


leak(data_dependent_scale_by_half, ONE, 2, "tails of rates 1 and 1/2 have no bounded ratio: ∞")


def scale_from_largest(data, rng):
    return data.sum() + rng.laplace(0, max(1.0, data.max()))


leak(scale_from_largest, Records(2, 0, 2), LARGE, "the scale moves from 1 to 2: ∞")


def scale_zero(data, rng):
    return data.sum() + rng.laplace(0, 0)


leak(scale_zero, ONE, LARGE, "no noise: ∞")


def scale_zero_in_the_middle(data, rng):
    return data + rng.laplace(0, [1, 0, 1], 3)


leak(scale_zero_in_the_middle, THREE, LARGE, "the second record has no noise: ∞")


def scale_of_whole_division(data, rng, epsilon=2):
    return data.sum() + rng.laplace(0, 3 // epsilon - 1 + 0.5)


leak(scale_of_whole_division, ONE, 1, "3 // 2 − 1 + 1/2 = 1/2: 2")


def noise_reused(data, rng):
    noise = rng.laplace(0, 1)
    return data[0] + noise, data[1] + noise


leak(noise_reused, TWO, LARGE, "the difference of the outputs is that of the records: ∞")


def noise_copied_in_a_list(data, rng):
    noise = [rng.laplace(0, 1)] * len(data)
    return [value + eta for value, eta in zip(data, noise)]


leak(noise_copied_in_a_list, TWO, LARGE, "all records have the same draw: ∞")


def noise_broadcast(data, rng):
    return data + rng.laplace(0, 1)


leak(noise_broadcast, TWO, LARGE, "one draw for all records: ∞")


def noise_of_size_one(data, rng):
    return data + rng.laplace(0, 1, 1)


leak(noise_of_size_one, TWO, LARGE, "one draw for all records: ∞")


def noise_along_the_wrong_axis(data, rng):
    return data + rng.laplace(0, 1, (2, 1))


leak(noise_along_the_wrong_axis, TWO, LARGE, "each draw is added to all records: ∞")


def noise_repeated(data, rng):
    return data + np.repeat(rng.laplace(0, 1, 1), 2)


leak(noise_repeated, TWO, LARGE, "one draw for all records: ∞")


def noise_from_full(data, rng):
    return data + np.full(2, rng.laplace(0, 1))


leak(noise_from_full, TWO, LARGE, "one draw for all records: ∞")


def noise_of_a_default(data, rng):
    def noisy(value, noise=rng.laplace(0, 1)):
        return value + noise

    return noisy(data[0]), noisy(data[1])


leak(noise_of_a_default, TWO, LARGE, "a default is evaluated once, so both records have the same draw: ∞")


def noise_hoisted(data, rng):
    noise = rng.laplace(0, 1, size=2)
    return [value + noise[0] for value in data]


leak(noise_hoisted, TWO, LARGE, "the same element for all records: ∞")


def noise_index_wraps(data, rng):
    noise = rng.laplace(0, 1, size=2)
    return data[0] + noise[0], data[1] + noise[-2]


leak(noise_index_wraps, TWO, LARGE, "noise[−2] is noise[0]: ∞")


def noise_cycled(data, rng):
    noise = itertools.cycle([rng.laplace(0, 1), rng.laplace(0, 1)])
    return [value + next(noise) for value in data]


leak(noise_cycled, THREE, LARGE, "the third record has the first draw: ∞")


def noise_cancelled(data, rng):
    noise = rng.laplace(0, 1)
    total = data.sum() + noise
    return total - noise


leak(noise_cancelled, TWO, LARGE, "∞")


def noise_returned(data, rng):
    noise = rng.laplace(0, 1)
    return {"total": data.sum() + noise, "noise": noise}


leak(noise_returned, TWO, LARGE, "the noise is returned too: ∞")


def noise_partly_returned(data, rng):
    first, second = rng.laplace(0, 1, 2)
    return data.sum() + first + second, first - second, first


leak(noise_partly_returned, TWO, LARGE, "both draws follow from the last two outputs: ∞")


def noise_dependent(data, rng):
    a, b = rng.laplace(0, 1), rng.laplace(0, 1)
    return data[0] + a, data[1] + b, data[0] + data[1] + (a + b) / 2


leak(noise_dependent, TWO, LARGE, "twice the third output less the first two is the sum of the records: ∞")


def noise_times_data(data, rng):
    return data[0] * rng.laplace(0, 1)


leak(noise_times_data, ONE, LARGE, "0 for a record 0: ∞")


def noise_coefficient_from_data(data, rng):
    return data.sum() + (1 + data[0]) * rng.laplace(0, 1)


leak(noise_coefficient_from_data, ONE, LARGE, "the scale moves from 1 to 2: ∞")


def noise_added_by_a_condition(data, rng):
    noise = rng.laplace(0, 1)
    return data.sum() + noise * (data[0] > 0.5)


leak(noise_added_by_a_condition, ONE, LARGE, "no noise for small records: ∞")


def product_of_noises(data, rng):
    return data.sum() + rng.laplace(0, 1) * rng.laplace(0, 1)


leak(product_of_noises, ONE, LARGE, "the density of the product has a pole at 0: ∞")


def ratio_of_noises(data, rng):
    return data.sum() + rng.laplace(0, 1) / 4


leak(ratio_of_noises, ONE, 1, "Lap(1/4): 4")


def squared_noise(data, rng):
    return data.sum() + rng.laplace(0, 1) ** 2


leak(squared_noise, ONE, LARGE, "the output is at least the sum: ∞")


def absolute_noise(data, rng):
    return data.sum() + np.abs(rng.laplace(0, 1))


leak(absolute_noise, ONE, LARGE, "the output is at least the sum: ∞")


def positive_noise(data, rng):
    return data.sum() + max(rng.laplace(0, 1), 0)


leak(positive_noise, ONE, LARGE, "half of the outputs are the sum itself: ∞")


def clipped_noise(data, rng):
    return data.sum() + np.clip(rng.laplace(0, 1), -5, 5)


leak(clipped_noise, ONE, LARGE, "the output is within 5 of the sum: ∞")


def whole_noise(data, rng):
    return data.sum() + round(rng.laplace(0, 1))


leak(whole_noise, ONE, LARGE, "the fraction of the sum is returned: ∞")


def whole_noise_by_int(data, rng):
    return data.sum() + int(rng.laplace(0, 1))


leak(whole_noise_by_int, ONE, LARGE, "the fraction of the sum is returned: ∞")


def geometric_noise_on_real_answers(answers, rng):
    return answers[0] + rng.geometric(0.5) - rng.geometric(0.5)


leak(geometric_noise_on_real_answers, Answers(1), LARGE, "the fraction of the answer is returned: ∞")


def geometric_noise_of_sensitivity_two(data, rng):
    p = 1 - math.exp(-1.0)
    return 2 * sum(data) + rng.geometric(p) - rng.geometric(p)


leak(geometric_noise_of_sensitivity_two, BITS, 1, "the sum moves by 2 and the noise has rate 1: 2")


def geometric_noise_scaled(data, rng):
    p = 1 - math.exp(-1.0)
    return sum(data) + 2 * (rng.geometric(p) - rng.geometric(p))


leak(geometric_noise_scaled, BITS, LARGE, "the noise is even, so whether the sum is odd is returned: ∞")


def one_sided_geometric_noise(data, rng):
    return sum(data) + rng.geometric(0.5)


leak(one_sided_geometric_noise, BITS, LARGE, "the output is above the sum: ∞")


def exponential_noise(data, rng):
    return data.sum() + rng.exponential(1.0)


leak(exponential_noise, ONE, LARGE, "the output is at least the sum: ∞")


def exponential_noise_twice_the_same(data, rng):
    noise = rng.exponential(1.0)
    return data.sum() + noise - 2 * noise


leak(exponential_noise_twice_the_same, ONE, LARGE, "the output is at most the sum: ∞")


def gaussian_noise(data, rng):
    return data.sum() + rng.normal(0, 10)


leak(gaussian_noise, ONE, LARGE, "the ratio of normal densities has no bound: ∞")


def uniform_noise(data, rng):
    return data.sum() + rng.uniform(-10, 10)


leak(uniform_noise, ONE, LARGE, "the output is within 10 of the sum: ∞")


def integer_noise(data, rng):
    return sum(data) + rng.integers(-10, 11)


leak(integer_noise, BITS, LARGE, "the output is within 10 of the sum: ∞")


def gumbel_noise(data, rng):
    return data.sum() + rng.gumbel(0, 1)


leak(gumbel_noise, ONE, LARGE, "the left tail falls doubly exponentially, so densities have no bounded ratio: ∞")


def sign_of_noise(data, rng):
    return data.sum() + np.sign(rng.laplace(0, 1))


leak(sign_of_noise, ONE, LARGE, "the output is the sum plus or minus 1: ∞")


def noise_only_if_positive(data, rng):
    if rng.laplace(0, 1) > 0:
        return data.sum() + rng.laplace(0, 1)
    return data.sum()


leak(noise_only_if_positive, ONE, LARGE, "no noise half of the time: ∞")


def noise_only_for_some(data, rng):
    total = data.sum()
    if total > 0:
        total += rng.laplace(0, 1)
    return total


leak(noise_only_for_some, ONE, LARGE, "0 for a sum of 0: ∞")


def edge(data, rng):
    return "zero" if data[0] <= 0 else data.sum() + rng.laplace(0, 1)


leak(edge, ONE, LARGE, "only a record 0 gives 'zero': ∞")


def upper_edge(data, rng):
    if data[0] >= 1:
        return "full"
    return data.sum() + rng.laplace(0, 1)


leak(upper_edge, ONE, LARGE, "only a record 1 gives 'full': ∞")


def edge_by_equality(data, rng):
    if data[0] == 0.25:
        return "quarter"
    return data.sum() + rng.laplace(0, 1)


leak(edge_by_equality, ONE, LARGE, "only a record 1/4 gives 'quarter': ∞")


def edge_of_a_count(data, rng):
    count = sum(value > 0.5 for value in data)
    if count == len(data):
        return count
    return count + rng.laplace(0, 1)


leak(edge_of_a_count, TWO, LARGE, "no noise if all count: ∞")


def empty_selection(data, rng):
    ones = [value for value in data if value == 1]
    if not ones:
        return None
    return len(ones) + rng.laplace(0, 1)


leak(empty_selection, BITS, LARGE, "None for no ones: ∞")


def draws_for_some_records(data, rng):
    return data.sum() + sum(rng.laplace(0, 1) for value in data if value > 0.5)


leak(draws_for_some_records, TWO, LARGE, "no noise if all records are small: ∞")


def length_of_output(data, rng):
    return [value + rng.laplace(0, 1) for value in data if value > 0.5]


leak(length_of_output, TWO, LARGE, "the length is the number of large records: ∞")


def copies_of_output(data, rng):
    return [rng.laplace(0, 1)] * sum(data)


leak(copies_of_output, BITS, LARGE, "the length is the sum: ∞")


def fixed_seed(data, rng):
    rng = np.random.default_rng(0)
    return data.sum() + rng.laplace(0, 1)


leak(fixed_seed, ONE, LARGE, "the noise is a constant: ∞")


def fixed_seed_of_a_helper(data, rng):
    noise = np.random.RandomState(7).laplace(0, 1, len(data))
    return data + noise


leak(fixed_seed_of_a_helper, TWO, LARGE, "the noise is a constant: ∞")


def seed_from_data(data, rng):
    return sum(data) + np.random.default_rng(sum(data)).laplace(0, 1)


leak(seed_from_data, BITS, LARGE, "the output is a function of the data: ∞")


def global_noise(data, rng):
    np.random.seed(1)
    return data.sum() + np.random.laplace(0, 1)


leak(global_noise, ONE, LARGE, "the noise is a constant: ∞")


def random_module(data, rng):
    random.seed(3)
    return data.sum() + random.expovariate(1) - random.expovariate(1)


leak(random_module, ONE, LARGE, "the noise is a constant: ∞")


def time_as_noise(data, rng):
    return data.sum() + time.time() % 1


leak(time_as_noise, Records(1, 0, 10), LARGE, "the time is no noise, and the output is within 1 of the sum: ∞")


def copied_generator(data, rng):
    again = copy.deepcopy(rng)
    return data[0] + rng.laplace(0, 1), data[1] + again.laplace(0, 1)


leak(copied_generator, TWO, LARGE, "the copy draws the same noise: ∞")


def generator_set_back(data, rng):
    state = rng.bit_generator.state
    first = data[0] + rng.laplace(0, 1)
    rng.bit_generator.state = state
    return first, data[1] + rng.laplace(0, 1)


leak(generator_set_back, TWO, LARGE, "both draws are the same: ∞")


class Quiet:
    def laplace(self, loc=0.0, scale=1.0, size=None):
        return 0.0


def quiet_generator(data, rng):
    rng = Quiet()
    return data.sum() + rng.laplace(0, 1)


leak(quiet_generator, ONE, LARGE, "no noise: ∞")


def quiet_laplace(data, rng):
    laplace = lambda loc, scale: loc
    return data.sum() + laplace(0, 1)


leak(quiet_laplace, ONE, LARGE, "no noise: ∞")


def bound_method_of_another_generator(data, rng):
    laplace = np.random.default_rng(5).laplace
    return data.sum() + laplace(0, 1)


leak(bound_method_of_another_generator, ONE, LARGE, "the noise is a constant: ∞")


# ---------------------------------------------------------------- sensitivity


def sum_of_signed_records(data, rng):
    return data.sum() + rng.laplace(0, 1)


leak(sum_of_signed_records, Records(3, -1, 1), 1, "a replaced record moves the sum by 2: 2")


def sum_of_removed_records(data, rng):
    return data.sum() + rng.laplace(0, 1)


leak(sum_of_removed_records, Records(3, -3, 1, "add-remove-one"), 1, "a removed record of −3: 3")


def histogram_with_noise_of_one(data, rng):
    return np.bincount(data, minlength=3) + rng.laplace(0, 1, 3)


leak(histogram_with_noise_of_one, Domain(3, (0, 1, 2)), 1, "a replaced record moves two counts: 2")


def mean_of_unknown_length(data, rng):
    return data.mean() + rng.laplace(0, 1 / len(data))


leak(mean_of_unknown_length, Records(3, 0, 1, "add-remove-one"), LARGE, "the scale is 1/3 or 1/2: ∞")


def length_of_data(data, rng):
    return data.sum() + rng.laplace(0, 1), len(data)


leak(length_of_data, Records(3, 0, 1, "add-remove-one"), LARGE, "the number of records differs: ∞")


def noise_per_record(data, rng):
    return data.sum() + sum(rng.laplace(0, 1) for _ in data), [rng.laplace(0, 1) for _ in data]


leak(noise_per_record, Records(3, 0, 1, "add-remove-one"), LARGE, "the list is as long as the data: ∞")


def every_second_record(data, rng):
    return data[::2].sum() + rng.laplace(0, 1)


leak(
    every_second_record, Records(3, 0, 1, "add-remove-one"), 1,
    "(1, 0, 1) → (0, 1): the records move up and the sum from 2 to 0: 2",
)  # fmt: skip


def weights_by_position(data, rng):
    return sum(weight * value for weight, value in zip((3, 0, 3), data)) + rng.laplace(0, 3)


leak(
    weights_by_position, Records(3, 0, 1, "add-remove-one"), 1,
    "(1, 0, 1) → (0, 1): the records move up and the sum from 6 to 0: 2",
)  # fmt: skip


def pairs_of_records(data, rng):
    return sum(a * b for a, b in itertools.combinations(data, 2)) + rng.laplace(0, 1)


leak(pairs_of_records, BITS, 1, "(0, 1, 1) → (1, 1, 1): 1 → 3 pairs: 2")


def total_variation(data, rng):
    return np.abs(np.diff(data)).sum() + rng.laplace(0, 1)


leak(total_variation, THREE, 1, "(0, 0, 0) → (0, 1, 0): 2")


def largest_record(data, rng):
    return max(data) + rng.laplace(0, 1 / len(data))


leak(largest_record, THREE, 1, "the largest record moves by 1, the scale is 1/3: 3")


def median_as_if_mean(data, rng):
    return np.median(data) + rng.laplace(0, 1 / 3)


leak(median_as_if_mean, THREE, 1, "(0, 0, 1) → (0, 1, 1): the median moves by 1, the scale is 1/3: 3")


def smallest_of_sorted(data, rng):
    return sorted(data)[0] + rng.laplace(0, 0.5)


leak(smallest_of_sorted, TWO, 1, "(1, 1) → (0, 1): 2")


def variance(data, rng):
    return np.var(data) + rng.laplace(0, 1 / 8)


leak(variance, TWO, 1, "(0, 0) → (0, 1): the variance moves by 1/4: 2")


def prefix_sums_of_records(data, rng):
    return np.cumsum(data) + rng.laplace(0, 1, len(data))


leak(prefix_sums_of_records, THREE, 1, "the first record is in three sums: 3")


def answers_all_move(answers, rng):
    return sum(answers) + rng.laplace(0, 1)


leak(answers_all_move, Answers(6), 1, "all answers move by 1: 6")


def answers_by_two(answers, rng):
    return answers[0] + rng.laplace(0, 1)


leak(answers_by_two, Answers(2, "one", by=2), 1, "an answer moves by 2: 2")


def sum_over_a_matrix(data, rng):
    return np.array([data, data]).sum(axis=0) + rng.laplace(0, 1, 3)


leak(sum_over_a_matrix, THREE, 1, "every record counts twice: 2")


def matrix_with_keepdims(data, rng):
    matrix = data.reshape(2, 1)
    return matrix - matrix.sum(axis=0, keepdims=True) + rng.laplace(0, 1, (2, 1))


leak(matrix_with_keepdims, TWO, 0.9, "(a, b) → (−b, −a): a record moves one output by 1: 1")


def outer_differences(data, rng):
    return data[:, None] - data[None, :] + rng.laplace(0, 1, 3)


leak(outer_differences, THREE, LARGE, "every draw is used three times: ∞")


def square_of_a_record(data, rng):
    return (data**2).sum() + rng.laplace(0, 3)


leak(square_of_a_record, Records(2, 0, 3), 1, "0 → 3 moves the sum of squares by 9, Lap(3): 3")


def product_of_records(data, rng):
    return data[0] * data[1] + rng.laplace(0, 3)


leak(product_of_records, Records(2, 0, 3), 1, "(0, 3) → (3, 3): 9, Lap(3): 3")


def dot_with_itself(data, rng):
    return np.dot(data, data) + rng.laplace(0, 2)


leak(dot_with_itself, Records(2, 0, 2), 1, "0 → 2 moves it by 4, Lap(2): 2")


def reciprocal(data, rng):
    return (1 / data).sum() + rng.laplace(0, 1)


leak(reciprocal, Records(2, 0.1, 1), 1, "1 → 0.1 moves the sum by 9: 9")


def square_root(data, rng):
    return np.sqrt(data).sum() + rng.laplace(0, 0.25)


leak(square_root, Records(2, 0, 0.25), 1, "0 → 1/4 moves the sum by 1/2: 2")


def signs(data, rng):
    return np.sign(data).sum() + rng.laplace(0, 1)


leak(signs, Records(2, -0.5, 0.5), 1, "−1/2 → 1/2 moves the sum of signs by 2: 2")


def steep_function(data, rng):
    return np.where(data > 0.5, 3 * data, data).sum() + rng.laplace(0, 1)


leak(steep_function, TWO, 1, "0 → 1 moves the sum by 3: 3")


def jump_inside(data, rng):
    return sum(value + 1 if 0.4 < value < 0.6 else value for value in data) + rng.laplace(0, 1)


leak(jump_inside, TWO, 1, "0 → 0.6⁻ moves the sum by up to 1.6: 1.6")


def jump_at_a_point(data, rng):
    return sum(5 if value == 0.5 else 0 for value in data) + rng.laplace(0, 1)


leak(jump_at_a_point, TWO, 1, "0 → 1/2 moves the sum by 5: 5")


def jump_at_the_end(data, rng):
    return sum(2 if value >= 1 else 0 for value in data) + rng.laplace(0, 1)


leak(jump_at_the_end, TWO, 1, "0 → 1 moves the sum by 2: 2")


def condition_on_two_records(data, rng):
    return (data.sum() if data[0] > data[1] else 0) + rng.laplace(0, 1)


leak(condition_on_two_records, TWO, 1, "(1, 1⁻) → (0, 1⁻) moves the output from 2⁻ to 0: 2")


def sum_or_nothing(data, rng):
    total = data.sum()
    return (total if total >= 2 else 0.0) + rng.laplace(0, 1)


leak(sum_or_nothing, THREE, 1, "(1, 1, 1⁻) → (0, 1, 1⁻): 3⁻ → 0: 3")


# ---------------------------------------------------------------- clipping


def clip_after_mean(data, rng):
    return np.clip(data.mean(), 0, 1) + rng.laplace(0, 1 / len(data))


leak(clip_after_mean, Records(2, -5, 5), 1, "the clipped mean moves by 1, the scale is 1/2: 2")


def clip_after_sum(data, rng):
    return np.clip(data.sum(), -3, 3) + rng.laplace(0, 1)


leak(clip_after_sum, Records(4, 0, 5), 1, "0 → 5 moves the clipped sum from 0 to 3: 3")


def clip_on_one_side(data, rng):
    return np.clip(data, 0, None).sum() + rng.laplace(0, 1)


leak(clip_on_one_side, Records(2, -5, 5), 1, "0 → 5: 5")


def clip_not_used(data, rng):
    np.clip(data, 0, 1)
    return data.sum() + rng.laplace(0, 1)


leak(clip_not_used, Records(2, -5, 5), 1, "np.clip returns a copy: 10")


def clip_arguments_swapped(data, rng):
    return sum(np.clip(0, 1, value) for value in data) + rng.laplace(0, 1)


leak(clip_arguments_swapped, Records(2, -5, 5), 1, "min(1, v) is between −5 and 1: 6")


def clip_of_min_and_min(data, rng):
    return sum(min(min(value, 0), 1) for value in data) + rng.laplace(0, 1)


leak(clip_of_min_and_min, Records(2, -5, 5), 1, "min(v, 0) is between −5 and 0: 5")


def clip_with_data(data, rng):
    return np.clip(data[0], 0, data[1]) + rng.laplace(0, 1)


leak(clip_with_data, Records(2, 0, 3), 1, "(3, 0) → (3, 3): 3")


def clip_to_infinity(data, rng):
    return np.clip(data, -math.inf, math.inf).sum() + rng.laplace(0, 1)


leak(clip_to_infinity, Records(2, -5, 5), 1, "nothing is clipped: 10")


def clip_to_nan(data, rng):
    return sum(max(0, min(value, math.nan)) for value in data) + rng.laplace(0, 1)


leak(clip_to_nan, Records(2, 0, 5), 1, "no comparison with nan holds, so min(v, nan) is v: 5")


def clip_the_noise_too(data, rng):
    return np.clip(data.sum() + rng.laplace(0, 1), data.min(), None)


leak(clip_the_noise_too, ONE, LARGE, "the output is at least the smallest record: ∞")


def shadowed_min(data, rng):
    min = max
    return sum(min(max(value, 0), 1) for value in data) + rng.laplace(0, 1)


leak(shadowed_min, Records(2, 0, 5), 1, "min is max: between 1 and 5: 4")


def abs(value):
    return 10 * value


def shadowed_abs(data, rng):
    return sum(abs(value) for value in data) + rng.laplace(0, 1)


leak(shadowed_abs, TWO, 1, "the module defines another abs: 10")


def shadowed_by_a_parameter(data, rng, sum=lambda values: 10 * values[0]):
    return sum(data) + rng.laplace(0, 1)


leak(shadowed_by_a_parameter, TWO, 1, "sum is a parameter: 10")


def shadowed_numpy(data, rng):
    np = SimpleNamespace(clip=lambda values, low, high: values)
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1)


leak(shadowed_numpy, Records(2, -5, 5), 1, "np.clip does nothing: 10")


def shadowed_later(data, rng):
    total = sum(data)
    for sum_ in [total]:
        total = 10 * sum_
    return total + rng.laplace(0, 1)


leak(shadowed_later, TWO, 1, "the sum is multiplied by 10: 10")


def shadowed_in_an_inner_scope(data, rng):
    def total(values, len=lambda values: 0.1):
        return values.sum() / len(values)

    return total(data) + rng.laplace(0, 1)


leak(shadowed_in_an_inner_scope, TWO, 1, "the divisor is 0.1: 10")


class OtherNumpy:
    @staticmethod
    def sum(values):
        return 10 * values[0]


def imported_elsewhere(data, rng):
    global other
    other = OtherNumpy
    return other.sum(data) + rng.laplace(0, 1)


leak(imported_elsewhere, TWO, 1, "another sum: 10")


# ---------------------------------------------------------------- numbers: kinds, rounding, overflow


def truncated_records(data, rng):
    return sum(int(value) for value in data) + rng.laplace(0, 0.5)


leak(truncated_records, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def rounded_records(data, rng):
    return sum(round(value) for value in data) + rng.laplace(0, 0.5)


leak(rounded_records, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def records_as_integers(data, rng):
    return data.astype(int).sum() + rng.laplace(0, 0.5)


leak(records_as_integers, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def array_of_integers(data, rng):
    return np.asarray(data, dtype=int).sum() + rng.laplace(0, 0.5)


leak(array_of_integers, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def floor_of_a_sum(data, rng):
    return math.floor(data.sum()) + rng.laplace(0, 0.5)


leak(floor_of_a_sum, Records(2, 0, 0.5), 1, "a sum of 1/2 → 1 gives 0 → 1, Lap(1/2): 2")


def ceiling_of_a_sum(data, rng):
    return math.ceil(data.sum()) + rng.laplace(0, 0.5)


leak(ceiling_of_a_sum, Records(2, 0, 0.5), 1, "a sum of 0 → 1/2 gives 0 → 1, Lap(1/2): 2")


def numpy_rounding(data, rng):
    return np.rint(data).sum() + rng.laplace(0, 0.5)


leak(numpy_rounding, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def floor_division(data, rng):
    return (data // 1).sum() + rng.laplace(0, 0.5)


leak(floor_division, Records(2, 0.5, 1), 1, "1/2 → 0 and 1 → 1: moves by 1, Lap(1/2): 2")


def floor_division_of_negatives(data, rng):
    return sum(value // 2 for value in data) + rng.laplace(0, 0.5)


leak(floor_division_of_negatives, Domain(2, (-1, 0)), 1, "−1 // 2 is −1: moves by 1, Lap(1/2): 2")


def remainder(data, rng):
    return (data % 1).sum() + rng.laplace(0, 0.5)


leak(remainder, Records(2, 0.5, 1), 1, "1 → 1⁻ moves the remainder from 0 to 1⁻, Lap(1/2): 2 as a limit")


def remainder_of_negatives(data, rng):
    return sum(value % 5 for value in data) + rng.laplace(0, 1)


leak(remainder_of_negatives, Domain(2, (-1, 0)), 1, "−1 % 5 is 4: 4")


def exclusive_or(data, rng):
    return sum(value ^ 7 for value in data) + rng.laplace(0, 1)


leak(exclusive_or, Domain(2, (3, 4)), 0.9, "3 ^ 7 = 4 and 4 ^ 7 = 3: 1")


def shifted_bits(data, rng):
    return sum(value << 3 for value in data) + rng.laplace(0, 1)


leak(shifted_bits, Domain(2, (0, 1)), 1, "0 and 8: 8")


def complement(data, rng):
    return sum(4 * ~value for value in data) + rng.laplace(0, 1)


leak(complement, Domain(2, (0, 1)), 1, "−4 and −8: 4")


def powers(data, rng):
    return sum(10**value for value in data) + rng.laplace(0, 1)


leak(powers, BITS, 1, "1 and 10: 9")


def unsigned_underflow(data, rng):
    return (np.array(data, dtype=np.uint8) - np.uint8(1)).sum() + rng.laplace(0, 1)


leak(unsigned_underflow, Domain(2, (0, 1)), 1, "0 − 1 is 255: 255")


def signed_overflow(data, rng):
    return (np.array(data, dtype=np.int8) + np.int8(1)).sum() + rng.laplace(0, 1)


leak(signed_overflow, Domain(2, (126, 127)), 1, "127 + 1 is −128: 255")


def overflow_by_in_place_addition(data, rng):
    counts = np.zeros(1, dtype=np.uint8)
    for value in data:
        counts[0] += np.uint8(255 * value)
    return counts[0] + rng.laplace(0, 200)


leak(overflow_by_in_place_addition, Domain(2, (0, 1)), 1, "0 → 255: 255/200")


def negated_unsigned(data, rng):
    return float(-np.array(data, dtype=np.uint8)[0]) + rng.laplace(0, 1)


leak(negated_unsigned, Domain(2, (0, 1)), 1, "−1 is 255: 255")


def half_precision(data, rng):
    return float(np.float16(data[0])) + rng.laplace(0, 2)


leak(half_precision, Domain(1, (2049, 2051)), 1, "2049 and 2051 are read as 2048 and 2052: 4, Lap(2): 2")


def single_precision(data, rng):
    return float(np.float32(data[0])) + rng.laplace(0, 1)


leak(single_precision, Domain(1, (2**24 + 1, 2**24 + 2)), 1, "2²⁴ + 1 is read as 2²⁴: 2")


def truncated_storage(data, rng):
    out = np.zeros(2, dtype=int)
    out[:] = data
    return out.sum() + rng.laplace(0, 0.5)


leak(truncated_storage, Records(2, 0.5, 1), 1, "stored as whole numbers: moves by 1, Lap(1/2): 2")


def noise_truncated_in_storage(data, rng):
    out = np.array([0, 0])
    out[0] = rng.laplace(0, 1)
    return data[0] + out[0]


leak(noise_truncated_in_storage, ONE, LARGE, "the noise is whole, the fraction of the record is returned: ∞")


def zeros_like_integers(data, rng):
    out = np.zeros_like(np.array(data))
    out += np.rint(rng.laplace(0, 1, 2)).astype(int)
    return out + np.array([0.5 * value for value in data])


leak(zeros_like_integers, Domain(2, (0, 1)), LARGE, "the noise is whole, the halves are returned: ∞")


def true_is_one(data, rng):
    return [0, 100][bool(data[0] > 0.5)] + rng.laplace(0, 1)


leak(true_is_one, ONE, 1, "a condition as an index: 100")


def true_plus_true(data, rng):
    return sum((value > 0.2) + (value > 0.5) + (value > 0.7) for value in data) + rng.laplace(0, 1)


leak(true_plus_true, TWO, 1, "0 → 1 counts three times: 3")


def numpy_true_plus_true(data, rng):
    return ((data > 0.2) + (data > 0.5)).sum() - 3 * (data > 0.9).sum() + rng.laplace(0, 1)


leak(numpy_true_plus_true, TWO, 1, "the sum of two masks is a mask: 0.8 → 1 moves by 3: 3")


def mask_inverted(data, rng):
    return sum(3 * ~int(value > 0.5) for value in data) + rng.laplace(0, 1)


leak(mask_inverted, TWO, 1, "~0 is −1 and ~1 is −2: 3")


def compared_chain(data, rng):
    return sum(3 * (0 < value < 0.5 < 1) for value in data) + rng.laplace(0, 1)


leak(compared_chain, TWO, 1, "0 → 0.2 moves by 3: 3")


def precedence_of_not(data, rng):
    return not data[0] > 0.5, rng.laplace(0, 1)


leak(precedence_of_not, ONE, LARGE, "the comparison is returned: ∞")


# ---------------------------------------------------------------- data in decisions, keys, positions and types


def membership(data, rng):
    return data[0] in {0, 1}


leak(membership, ONE, LARGE, "True for 0 and 1 alone: ∞")


def membership_in_a_tuple(data, rng):
    return (data[0] in (0.5,)) + 0 * rng.laplace(0, 1)


leak(membership_in_a_tuple, ONE, LARGE, "1 for 1/2 alone; the noise is multiplied by 0: ∞")


def membership_in_a_range(data, rng):
    return data[0] in range(2)


leak(membership_in_a_range, ONE, LARGE, "True for 0 and 1 alone: ∞")


def membership_in_data(data, rng):
    return "b" in data


leak(membership_in_data, Domain(2, ("a", "b")), LARGE, "∞")


def dictionary_get(data, rng):
    return {0: "zero", 1: "one"}.get(data[0], "between")


leak(dictionary_get, ONE, LARGE, "'zero' for 0 alone: ∞")


def dictionary_index(data, rng):
    return {"a": 1.0, "b": 5.0}[data[0]] + rng.laplace(0, 1)


leak(dictionary_index, Domain(1, ("a", "b")), 1, "1 → 5: 4")


def keys_from_data(data, rng):
    return {value: rng.laplace(0, 1) for value in data}


leak(keys_from_data, Domain(2, ("a", "b")), LARGE, "the keys are the values that occur: ∞")


def present_values(data, rng):
    counts = {}
    for value in data:
        counts[value] = counts.get(value, 0) + 1
    return {value: count + rng.laplace(0, 2) for value, count in counts.items()}


leak(present_values, Domain(3, ("a", "b")), LARGE, "a value that does not occur has no count: ∞")


def present_values_sorted(data, rng):
    return [data.count(value) + rng.laplace(0, 2) for value in sorted(set(data))]


leak(present_values_sorted, Domain(3, ("a", "b")), LARGE, "the number of values that occur: ∞")


def unique_values(data, rng):
    values, counts = np.unique(data, return_counts=True)
    return values, counts + rng.laplace(0, 2, len(counts))


leak(unique_values, Domain(3, (0, 1)), LARGE, "the values that occur are returned: ∞")


def bincount_without_length(data, rng):
    counts = np.bincount(data)
    return counts + rng.laplace(0, 2, len(counts))


leak(bincount_without_length, Domain(3, (0, 1, 2)), LARGE, "the length is the largest value plus 1: ∞")


def histogram_of_unknown_range(data, rng):
    counts, edges = np.histogram(data, bins=2)
    return counts + rng.laplace(0, 2, 2), edges


leak(histogram_of_unknown_range, TWO, LARGE, "the edges are the smallest and largest records: ∞")


def order_of_keys(data, rng):
    return list({value: None for value in data}) [:1]


leak(order_of_keys, Domain(2, ("a", "b")), LARGE, "the first key is the first record: ∞")


def number_of_values(data, rng):
    return len(set(data))


leak(number_of_values, Domain(2, ("a", "b")), LARGE, "∞")


def sorted_by_data(data, rng):
    return sorted(range(2), key=lambda i: data[i])


leak(sorted_by_data, TWO, LARGE, "the order of the records: ∞")


def argmax_of_data(data, rng):
    return int(np.argmax(data))


leak(argmax_of_data, TWO, LARGE, "no noise: ∞")


def argmax_of_other_list(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return max(range(len(noisy)), key=lambda i: answers[i])


leak(argmax_of_other_list, Answers(2), LARGE, "the key reads the true answers: ∞")


def sorted_records(data, rng):
    return sorted(data)


leak(sorted_records, TWO, LARGE, "no noise: ∞")


def shuffled_records(data, rng):
    rng.shuffle(data)
    return data


leak(shuffled_records, TWO, LARGE, "no noise on the records: ∞")


def chosen_record(data, rng):
    return rng.choice(data)


leak(chosen_record, TWO, LARGE, "no noise on the record: ∞")


def permuted_records(data, rng):
    return rng.permutation(data)


leak(permuted_records, TWO, LARGE, "no noise on the records: ∞")


def coin_for_the_data(data, rng):
    return data[0] if rng.random() < 0.01 else "kept"


leak(coin_for_the_data, ONE, LARGE, "a record in 1 % of the runs: ∞")


def coin_with_data(data, rng):
    return rng.random() < data[0]


leak(coin_with_data, ONE, LARGE, "the probability is 0 or 1: ∞")


def almost_truthful(data, rng):
    return data[0] if rng.random() < 0.99 else 1 - data[0]


leak(almost_truthful, BIT, 4, "randomised response with log(99): 4.6")


def index_by_data(data, rng):
    return [3.0, 8.0][data[0]] + rng.laplace(0, 1)


leak(index_by_data, BIT, 1, "3 → 8: 5")


def negative_index_by_data(data, rng):
    return [0.0, 1.0, 9.0][-data[0]] + rng.laplace(0, 1)


leak(negative_index_by_data, BIT, 1, "index 0 or −1: 0 → 9: 9")


def data_by_data(data, rng):
    return data[data[0]] + rng.laplace(0, 1)


leak(data_by_data, Domain(3, (0, 1, 2)), 1, "(0, 0, 2) → (2, 0, 2): 0 → 2: 2")


def slice_by_data(data, rng):
    return [5, 6, 7][: data[0]]


leak(slice_by_data, BIT, LARGE, "the length is the record: ∞")


def slice_step_by_data(data, rng):
    return sum([1, 2, 3, 4][:: 1 + data[0]]) + rng.laplace(0, 1)


leak(slice_step_by_data, BIT, 1, "10 → 4: 6")


def range_by_data(data, rng):
    return sum(range(4 * data[0])) + rng.laplace(0, 1)


leak(range_by_data, BIT, 1, "0 → 6: 6")


def length_of_a_filtered_list(data, rng):
    return len([value for value in data if value > 0.5])


leak(length_of_a_filtered_list, TWO, LARGE, "no noise: ∞")


def mask_returned(data, rng):
    return data > 0.5


leak(mask_returned, TWO, LARGE, "no noise: ∞")


def any_of_data(data, rng):
    return any(value > 0.5 for value in data)


leak(any_of_data, TWO, LARGE, "no noise: ∞")


def all_of_data(data, rng):
    return np.all(data > 0.5), rng.laplace(0, 1)


leak(all_of_data, TWO, LARGE, "no noise: ∞")


def first_of_data(data, rng):
    return next((value for value in data if value > 0.5), None)


leak(first_of_data, TWO, LARGE, "no noise: ∞")


def break_on_data(data, rng):
    for i, value in enumerate(data):
        if value > 0.5:
            break
    return i + rng.laplace(0, 1)


leak(break_on_data, THREE, 1, "(1, 0, 0) → (0, 0, 0): 0 → 2: 2")


def else_of_a_loop(data, rng):
    for value in data:
        if value > 0.5:
            break
    else:
        return "none"
    return rng.laplace(0, 1)


leak(else_of_a_loop, TWO, LARGE, "'none' if all records are small: ∞")


def while_on_data(data, rng):
    total, noise = 0, 0.0
    while total < data[0]:
        total += 1
        noise = rng.laplace(0, 1)
    return total + noise


leak(while_on_data, BIT, LARGE, "0 without noise for 0: ∞")


def number_of_rounds(data, rng):
    rounds = 0
    while rounds < 2 * data[0]:
        rounds += 1
        if rng.laplace(0, 1) > 5:
            break
    return rounds


leak(number_of_rounds, BIT, LARGE, "the number of rounds is 0 or more: ∞")


def kind_of_a_record(data, rng):
    return isinstance(data[0], float)


leak(kind_of_a_record, Domain(1, (0, 0.5)), LARGE, "∞")


def kind_by_type(data, rng):
    return "whole" if type(data[0]) is int else "float"


leak(kind_by_type, Domain(1, (1, 2.5)), LARGE, "∞")


def kind_of_a_sum(data, rng):
    return type(sum(data)).__name__


leak(kind_of_a_sum, Domain(2, (1, 2.5)), LARGE, "'int' if all records are whole: ∞")


def identity(data, rng):
    return data[0] is data[1]


leak(identity, Domain(2, ("a", "b")), LARGE, "∞")


def identity_of_none(data, rng):
    return (data[0] is None) * 5 + rng.laplace(0, 1)


leak(identity_of_none, Domain(1, (None, "x")), 1, "0 → 5: 5")


def address(data, rng):
    return id(data[0]) == id(data[1])


leak(address, Domain(2, ("a", "b")), LARGE, "∞")


def hashed(data, rng):
    return hash(data[0])


leak(hashed, BIT, LARGE, "the hash of a small number is the number: ∞")


def as_string(data, rng):
    return str(data[0])


leak(as_string, ONE, LARGE, "∞")


def formatted(data, rng):
    return f"{data.sum() + rng.laplace(0, 1):.2f} of {data.sum():.0f}"


leak(formatted, TWO, LARGE, "the sum is in the text: ∞")


def percent_formatted(data, rng):
    return "first: %s" % data[0]


leak(percent_formatted, BIT, LARGE, "∞")


def length_of_a_string(data, rng):
    return len(str(data[0])) + rng.laplace(0, 1)


leak(length_of_a_string, Domain(1, (9, 10000)), 1, "1 → 5: 4")


def representation(data, rng):
    return repr(data[0])[0]


leak(representation, Domain(1, ("x", 1)), LARGE, "a quote or a digit: ∞")


def bytes_of_data(data, rng):
    return data.tobytes()


leak(bytes_of_data, ONE, LARGE, "∞")


def upper_case(data, rng):
    return [value.upper() for value in data]


leak(upper_case, Domain(1, ("a", "b")), LARGE, "∞")


def starts_with(data, rng):
    return 3 * sum(value.startswith("a") for value in data) + rng.laplace(0, 1)


leak(starts_with, Domain(2, ("ab", "b")), 1, "3")


def data_type_of_an_array(data, rng):
    return np.array(data).dtype.kind


leak(data_type_of_an_array, Domain(2, (1, 2.5)), LARGE, "whole numbers if all records are whole: ∞")


def and_returns_data(data, rng):
    return data[0] and data[0] + rng.laplace(0, 1)


leak(and_returns_data, ONE, LARGE, "0 for 0: ∞")


def and_returns_false(data, rng):
    return data[0] > 0.5 and rng.laplace(0, 1)


leak(and_returns_false, ONE, LARGE, "False for small records: ∞")


def or_returns_data(data, rng):
    return rng.laplace(0, 1) > 0 or data[0]


leak(or_returns_data, ONE, LARGE, "the record half of the time: ∞")


def or_of_lists(data, rng):
    return [value for value in data if value > 0.5] or "none"


leak(or_of_lists, ONE, LARGE, "∞")


def equal_draws(data, rng):
    if rng.laplace(0, 1) != rng.laplace(0, 1):
        return data[0]
    return 0


leak(equal_draws, ONE, LARGE, "two draws are never equal, so the record is always returned: ∞")


def not_equal_draws(data, rng):
    a, b = rng.laplace(0, 1), rng.laplace(0, 1)
    return 0 if a == b else data[0]


leak(not_equal_draws, ONE, LARGE, "the record is always returned: ∞")


def equal_whole_draws(data, rng):
    if rng.geometric(0.5) == rng.geometric(0.5):
        return data[0]
    return "kept"


leak(equal_whole_draws, ONE, LARGE, "whole draws are often equal: ∞")


def draw_against_itself(data, rng):
    noise = rng.laplace(0, 1)
    return data[0] if noise >= noise else "kept"


leak(draw_against_itself, ONE, LARGE, "a draw is not below itself: ∞")


def compared_with_infinity(data, rng):
    return data[0] if rng.laplace(0, 1) < math.inf else "kept"


leak(compared_with_infinity, ONE, LARGE, "always true: ∞")


def compared_with_nan(data, rng):
    return "kept" if rng.laplace(0, 1) < math.nan or rng.laplace(0, 1) >= math.nan else data[0]


leak(compared_with_nan, ONE, LARGE, "never true: ∞")


def noise_has_a_truth(data, rng):
    return data[0] if rng.laplace(0, 1) else "kept"


leak(noise_has_a_truth, ONE, LARGE, "a draw is never 0, so its truth value is True: ∞")


def walrus(data, rng):
    if (value := data[0]) > 0.5 or True:
        noisy = value + rng.laplace(0, 1)
    return noisy, value


leak(walrus, ONE, LARGE, "the record is returned: ∞")


def walrus_in_a_comprehension(data, rng):
    noisy = [(last := value) + rng.laplace(0, 1) for value in data]
    return noisy, last


leak(walrus_in_a_comprehension, TWO, LARGE, "`last` is the last record: ∞")


def loop_variable(data, rng):
    noisy = []
    for value in data:
        noisy.append(value + rng.laplace(0, 1))
    return noisy, value


leak(loop_variable, TWO, LARGE, "the loop's variable is still the last record: ∞")


def comprehension_variable(data, rng):
    value = data[0]
    noisy = [value + rng.laplace(0, 1) for value in (0, 0)]
    return noisy, value


leak(comprehension_variable, ONE, LARGE, "the comprehension has a variable of its own: ∞")


# ---------------------------------------------------------------- exceptions


def division_by_zero(data, rng):
    try:
        return 1 / data[0] + rng.laplace(0, 1)
    except ZeroDivisionError:
        return "zero"


leak(division_by_zero, BIT, LARGE, "'zero' for 0: ∞")


def missing_key(data, rng):
    try:
        scale = {1: 1.0}[data[0]]
    except KeyError:
        return None
    return rng.laplace(0, scale)


leak(missing_key, BIT, LARGE, "None for 0: ∞")


def missing_index(data, rng):
    try:
        return (5.0,)[data[0]] + rng.laplace(0, 1)
    except IndexError:
        return 0.0


leak(missing_index, BIT, LARGE, "0 for 1: ∞")


def asserted(data, rng):
    assert data[0] > 0, "records must be positive"
    return data.sum() + rng.laplace(0, 1)


leak(asserted, ONE, LARGE, "it raises for 0: ∞")


def raised(data, rng):
    if data[0] > 0.5:
        raise ValueError("too large")
    return data.sum() + rng.laplace(0, 1)


leak(raised, ONE, LARGE, "it raises for large records: ∞")


def raised_with_data(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    if noisy > 0:
        raise ValueError(f"{data[0]} is not negative")
    return noisy


leak(raised_with_data, ONE, LARGE, "the record is in the message: ∞")


def raised_and_caught(data, rng):
    try:
        if data[0] > 0.5:
            raise ValueError("too large")
    except ValueError:
        return "too large"
    return data.sum() + rng.laplace(0, 1)


leak(raised_and_caught, ONE, LARGE, "∞")


def square_root_of_negative(data, rng):
    try:
        math.sqrt(data[0])
    except ValueError:
        return "negative"
    return rng.laplace(0, 1)


leak(square_root_of_negative, Records(1, -1, 1), LARGE, "∞")


def logarithm_of_zero(data, rng):
    return math.log(data[0]) * 0 + rng.laplace(0, 1)


leak(logarithm_of_zero, BIT, LARGE, "it raises for 0: ∞")


def numpy_division_by_zero(data, rng):
    return (data[0] / data[0]) * 0 + rng.laplace(0, 1)


leak(numpy_division_by_zero, ONE, LARGE, "nan for 0: ∞")


def numpy_zero_times_infinity(data, rng):
    return 0 * (1 / data[0]) + rng.laplace(0, 1)


leak(numpy_zero_times_infinity, ONE, LARGE, "nan for 0: ∞")


def finally_returns(data, rng):
    try:
        return data.sum() + rng.laplace(0, 1)
    finally:
        return data.sum()


leak(finally_returns, ONE, LARGE, "the return of `finally` holds: ∞")


def suppressed(data, rng):
    out = data[0]
    with suppress(ZeroDivisionError):
        1 // 0
        out = rng.laplace(0, 1)
    return out


leak(suppressed, ONE, LARGE, "the block ends before the noise: ∞")


def else_of_a_try(data, rng):
    out = rng.laplace(0, 1)
    try:
        pass
    except ValueError:
        pass
    else:
        out = data[0]
    return out


leak(else_of_a_try, ONE, LARGE, "∞")


def conversion_of_a_string(data, rng):
    try:
        return int(data[0]) * 0
    except ValueError:
        return "not a number"


leak(conversion_of_a_string, Domain(1, ("1", "x")), LARGE, "∞")


def index_of_a_missing_value(data, rng):
    try:
        return data.index("b") * 0
    except ValueError:
        return -1


leak(index_of_a_missing_value, Domain(2, ("a", "b")), LARGE, "∞")


# ---------------------------------------------------------------- state that outlives a call

CALLS: list[Any] = []


def global_list(data, rng):
    CALLS.append(1)
    return data.sum() + rng.laplace(0, 1 if len(CALLS) == 1 else 0.1)


leak(global_list, ONE, 1, "from the second call on, the scale is 0.1: 10")

N_CALLS = 0


def global_counter(data, rng):
    global N_CALLS
    N_CALLS += 1
    return data.sum() + rng.laplace(0, 1 if N_CALLS == 1 else 0.1)


leak(global_counter, ONE, 1, "from the second call on, the scale is 0.1: 10")

SETTINGS = {"scale": 1.0}


def global_dictionary(data, rng):
    SETTINGS["scale"] /= 2
    return data.sum() + rng.laplace(0, 2 * SETTINGS["scale"])


leak(global_dictionary, ONE, 1, "the scale halves with each call: 2 in the second call")

KEPT: dict[str, float] = {}


def noise_kept(data, rng):
    if "noise" not in KEPT:
        KEPT["noise"] = rng.laplace(0, 1)
    return data.sum() + KEPT["noise"]


leak(noise_kept, ONE, LARGE, "two calls have the same noise, so the second gives the difference of the sums: ∞")


def default_list(data, rng, seen=[]):
    seen.append(data[0])
    return seen[0] * (len(seen) > 1) + rng.laplace(0, 0.5 if len(seen) > 1 else 1)


leak(default_list, ONE, 1, "from the second call on, the scale is 1/2 and the first call's record is released: 2")


def default_counter(data, rng, calls=[0]):
    calls[0] += 1
    return data.sum() + rng.laplace(0, 1 / calls[0])


leak(default_counter, ONE, 1, "the n-th call has scale 1/n: n")


def function_attribute(data, rng):
    function_attribute.calls += 1
    return data.sum() + rng.laplace(0, 1 / function_attribute.calls)


function_attribute.calls = 0
leak(function_attribute, ONE, 1, "the n-th call has scale 1/n: n")


class Counter:
    calls = 0


def class_attribute(data, rng):
    Counter.calls += 1
    return data.sum() + rng.laplace(0, 1 / Counter.calls)


leak(class_attribute, ONE, 1, "the n-th call has scale 1/n: n")


class Budget:
    def __init__(self):
        self.scale = 2.0

    def next(self):
        self.scale /= 2
        return self.scale


BUDGET = Budget()


def object_with_state(data, rng):
    return data.sum() + rng.laplace(0, BUDGET.next())


leak(object_with_state, ONE, 1, "the scale halves with each call: 2 in the second call")


def with_a_cell():
    calls = 0

    def cell(data, rng):
        nonlocal calls
        calls += 1
        return data.sum() + rng.laplace(0, 1 / calls)

    return cell


cell = with_a_cell()
leak(cell, ONE, 1, "the n-th call has scale 1/n: n")

SCALES = iter([1.0] * 10**5 + [0.1] * 10**5)


def global_iterator(data, rng):
    return data.sum() + rng.laplace(0, next(SCALES))


leak(global_iterator, ONE, 1, "after 10⁵ calls, the scale is 0.1: 10")

CHAINED = itertools.chain([1.0] * 10**5, itertools.repeat(0.1))


def global_chain(data, rng):
    for scale in CHAINED:
        break
    return data.sum() + rng.laplace(0, scale)


leak(global_chain, ONE, 1, "after 10⁵ calls, the scale is 0.1: 10")


def halving():
    scale = 1.0
    while True:
        yield scale
        scale = max(scale / 2, 0.1)


HALVING = halving()


def global_generator(data, rng):
    return data.sum() + rng.laplace(0, next(HALVING))


leak(global_generator, ONE, 1, "the scale halves with each call: 2 in the second call")

COUNT = itertools.count(1)


def global_count(data, rng):
    return data.sum() + rng.laplace(0, 1 / next(COUNT))


leak(global_count, ONE, 1, "the n-th call has scale 1/n: n")

HISTORY = np.zeros(1)


def global_array(data, rng):
    released = HISTORY[0] + rng.laplace(0, 1)
    HISTORY[0] += 10 * data[0]
    return released


leak(global_array, ONE, 1, "the second call releases 10 times the first call's record: 10")


@functools.lru_cache(maxsize=None)
def cached_noise(rng, scale):
    return rng.laplace(0, scale)


def noise_from_a_cache(data, rng):
    return [value + cached_noise(rng, 1.0) for value in data]


leak(noise_from_a_cache, TWO, LARGE, "equal arguments give the cached draw: ∞")


class Cached:
    def __init__(self, rng):
        self.rng = rng

    @functools.cached_property
    def noise(self):
        return self.rng.laplace(0, 1)


def noise_from_a_cached_property(data, rng):
    cached = Cached(rng)
    return data[0] + cached.noise, data[1] + cached.noise


leak(noise_from_a_cached_property, TWO, LARGE, "the property is computed once: ∞")


# ---------------------------------------------------------------- aliases, views, changes in place, laziness


def alias_of_a_list(data, rng):
    out = []
    log = out
    log.append(data[0])
    out.append(data[0] + rng.laplace(0, 1))
    return out


leak(alias_of_a_list, ONE, LARGE, "both names are one list: ∞")


def alias_in_a_tuple(data, rng):
    inner = []
    out = (data[0] + rng.laplace(0, 1), inner)
    inner.append(data[0])
    return out


leak(alias_in_a_tuple, ONE, LARGE, "the tuple holds the list: ∞")


def rows_that_are_one(data, rng):
    rows = [[0.0]] * 2
    rows[0][0] = data[0]
    return rows[1]


leak(rows_that_are_one, ONE, LARGE, "both rows are one list: ∞")


def changed_by_a_helper(data, rng):
    def remember(values, value):
        values.append(value)
        return 0.0

    out = []
    noisy = remember(out, data[0]) + rng.laplace(0, 1)
    out.append(noisy)
    return out


leak(changed_by_a_helper, ONE, LARGE, "the helper appends the record: ∞")


def changed_default(data, rng):
    def remember(value, values=[]):
        values.append(value)
        return values

    remember(data[0])
    return remember(rng.laplace(0, 1))


leak(changed_default, ONE, LARGE, "the default list still holds the record: ∞")


def in_place_multiplication(data, rng):
    scaled = data
    scaled *= 3
    return data.sum() + rng.laplace(0, 1)


leak(in_place_multiplication, TWO, 1, "`*=` changes the data: 3")


def in_place_by_a_helper(data, rng):
    def scale(values):
        values *= 3

    scale(data)
    return data.sum() + rng.laplace(0, 1)


leak(in_place_by_a_helper, TWO, 1, "`*=` changes the caller's array: 3")


def out_argument(data, rng):
    np.multiply(data, 10, out=data)
    return data.sum() + rng.laplace(0, 1)


leak(out_argument, TWO, 1, "the data is overwritten with 10 times the data: 10")


def out_argument_of_clip(data, rng):
    total = np.zeros(2)
    noisy = np.add(data, rng.laplace(0, 1, 2), out=total)
    np.add(data, 0, out=total)
    return noisy


leak(out_argument_of_clip, TWO, LARGE, "the output array is overwritten with the data: ∞")


def view_of_a_slice(data, rng):
    view = data[:1]
    view *= 10
    return data.sum() + rng.laplace(0, 1)


leak(view_of_a_slice, TWO, 1, "a slice is a view: 10")


def view_by_reshape(data, rng):
    matrix = data.reshape(2, 1)
    matrix[0, 0] = 5 * matrix[1, 0]
    return data.sum() + rng.laplace(0, 1)


leak(view_by_reshape, TWO, 1, "the sum is 6 times the second record: 6")


def view_by_asarray(data, rng):
    same = np.asarray(data)
    same += 4 * data
    return data.sum() + rng.laplace(0, 1)


leak(view_by_asarray, TWO, 1, "np.asarray gives the same array: 5")


def copy_by_selection(data, rng):
    chosen = data[[0, 1]]
    chosen += rng.laplace(0, 1, 2)
    return data


leak(copy_by_selection, TWO, LARGE, "a selection is a copy, and the data has no noise: ∞")


def copy_by_mask(data, rng):
    data[data >= 0][:] += rng.laplace(0, 1, 2)
    return data


leak(copy_by_mask, TWO, LARGE, "a selection is a copy, and the data has no noise: ∞")


def noise_on_a_copy(data, rng):
    noisy = data.copy()
    noisy += rng.laplace(0, 1, 2)
    return data.sum()


leak(noise_on_a_copy, TWO, LARGE, "the copy has noise, the data has none: ∞")


def noise_rebound(data, rng):
    total = data.sum()
    same = total
    same += rng.laplace(0, 1)
    return total


leak(noise_rebound, TWO, LARGE, "`+=` on a number gives another number: ∞")


def list_in_place(data, rng):
    values = list(data)
    other = values
    other += [9 * value for value in data]
    return sum(values) + rng.laplace(0, 1)


leak(list_in_place, TWO, 1, "`+=` extends the list, and `values` is the same list: 10")


def sorted_in_place(data, rng):
    values = list(data)
    noise = rng.laplace(0, 1, 2)
    first = values[0] + noise[0]
    values.sort()
    return first, values[0] + noise[0] - noise[0]


leak(sorted_in_place, TWO, LARGE, "the smallest record is returned: ∞")


def data_sorted_in_place(data, rng):
    data.sort()
    return 3 * data[0] - 3 * data[1] + rng.laplace(0, 1)


leak(data_sorted_in_place, TWO, 1, "(0, 0) → (0, 1): −3·|difference| moves by 3: 3")


def popped(data, rng):
    values = list(data)
    last = values.pop()
    return sum(values) + rng.laplace(0, 1), last


leak(popped, TWO, LARGE, "the last record is returned: ∞")


def data_overwritten(data, rng):
    data[0] = 10 * data[1]
    return data.sum() + rng.laplace(0, 1)


leak(data_overwritten, TWO, 1, "the sum is 11 times the second record: 11")


def chained_assignment(data, rng):
    a = b = [0.0]
    a[0] = data[0]
    return b


leak(chained_assignment, ONE, LARGE, "∞")


def late_binding(data, rng):
    weighted = [lambda value: weight * value for weight in (1, 10)]
    return weighted[0](data[0]) + rng.laplace(0, 1)


leak(late_binding, ONE, 1, "all functions see the last weight: 10")


def late_change_of_a_variable(data, rng):
    weight = 1

    def weighted(value):
        return weight * value

    weight = 10
    return weighted(data[0]) + rng.laplace(0, 1)


leak(late_change_of_a_variable, ONE, 1, "the weight is read in the call: 10")


def late_generator(data, rng):
    weight = 1
    weighted = (weight * value for value in data)
    weight = 10
    return sum(weighted) + rng.laplace(0, 1)


leak(late_generator, TWO, 1, "the generator runs in `sum`: 10")


def late_map(data, rng):
    weights = [1]
    weighted = map(lambda value: weights[0] * value, data)
    weights[0] = 10
    return sum(weighted) + rng.laplace(0, 1)


leak(late_map, TWO, 1, "the map runs in `sum`: 10")


def late_scale(data, rng):
    scale = 1.0
    noise = (rng.laplace(0, scale) for _ in range(1))
    scale = 0.1
    return data.sum() + next(noise)


leak(late_scale, ONE, 1, "the draw is made with scale 0.1: 10")


def exhausted_noise(data, rng):
    noise = (rng.laplace(0, 1) for _ in data)
    first = [value + eta for value, eta in zip(data, noise)]
    second = [value + eta for value, eta in itertools.zip_longest(data, noise, fillvalue=0)]
    return second


leak(exhausted_noise, TWO, LARGE, "no noise is left for the second list: ∞")


def exhausted_filter(data, rng):
    values = iter(data)
    small = [value for value in values if value < 0]
    rest = list(values)
    return sum(rest) + 5 * sum(data) * (len(rest) == 0) + rng.laplace(0, 1)


leak(exhausted_filter, TWO, 1, "nothing is left in the iterator, so the sum counts 5 times: 5")


def zip_of_one_iterator(data, rng):
    values = iter(data)
    return sum(3 * a - b for a, b in zip(values, values)) + rng.laplace(0, 1)


leak(zip_of_one_iterator, TWO, 1, "3 times the first record: 3")


def truncated_zip(data, rng):
    return [value + eta for value, eta in zip(data, [rng.laplace(0, 1)])] + list(data[1:])


leak(truncated_zip, TWO, LARGE, "the second record has no noise: ∞")


def lazy_all(data, rng):
    draws = []

    def noisy(value):
        draws.append(rng.laplace(0, 1))
        return value > 0.5

    all(noisy(value) for value in data)
    return len(draws)


leak(lazy_all, TWO, LARGE, "`all` stops at the first small record: ∞")


def deleted_items(data, rng):
    values = list(data)
    noisy = [value + rng.laplace(0, 1) for value in values]
    del noisy[0]
    noisy.insert(0, values[0])
    return noisy


leak(deleted_items, TWO, LARGE, "the first record is inserted as it is: ∞")


def changed_while_looping(data, rng):
    values = [0.0, 0.0]
    for i, value in enumerate(data):
        values[i] = 10 * value
    data[:] = values
    return data.sum() + rng.laplace(0, 1)


leak(changed_while_looping, TWO, 1, "the data is overwritten with 10 times the data: 10")


def swapped(data, rng):
    a, b = data[0], data[0] + rng.laplace(0, 1)
    a, b = b, a
    return b


leak(swapped, ONE, LARGE, "b is the record: ∞")


def swapped_in_a_list(data, rng):
    values, i = [data[0], data[0] + rng.laplace(0, 1)], 0
    i, values[i] = 1, 0.0
    return values[0] + values[1] * 0 + data[0]


leak(swapped_in_a_list, ONE, LARGE, "∞")


def starred(data, rng):
    first, *rest = [rng.laplace(0, 1), *data]
    return rest


leak(starred, TWO, LARGE, "the rest is the data: ∞")


def star_arguments(data, rng):
    def release(*values, scale):
        return values[-1]

    return release(data[0] + rng.laplace(0, 1), *data, scale=1)


leak(star_arguments, TWO, LARGE, "the last argument is the last record: ∞")


def keyword_overrides(data, rng):
    options = {"scale": 1.0} | {"scale": 0.1}
    return data.sum() + rng.laplace(0, **options)


leak(keyword_overrides, ONE, 1, "the second dictionary overrides the scale: 10")


# ---------------------------------------------------------------- functions and classes that are not what they seem


def amplified(function):
    def wrapper(*args):
        return 10 * function(*args)

    return wrapper


@amplified
def decorated_total(data):
    return data.sum()


def decorated_helper(data, rng):
    return decorated_total(data) + rng.laplace(0, 1)


leak(decorated_helper, TWO, 1, "the decorator multiplies by 10: 10")


def wrapped_amplified(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 10 * function(*args)

    return wrapper


@wrapped_amplified
def wrapped_total(data):
    return data.sum()


def wrapped_helper(data, rng):
    return wrapped_total(data) + rng.laplace(0, 1)


leak(wrapped_helper, TWO, 1, "the decorator multiplies by 10, and its source is that of the wrapped function: 10")


def with_data(function):
    @functools.wraps(function)
    def wrapper(data, rng):
        return function(data, rng), data[0]

    return wrapper


@with_data
def decorated(data, rng):
    return data.sum() + rng.laplace(0, 1)


leak(decorated, ONE, LARGE, "the decorator returns a record too: ∞")


def scale_by_position(data, rng, scale=1.0):
    return data.sum() + rng.laplace(0, scale)


partial = functools.partial(scale_by_position, scale=0.1)
partial.__name__ = "partial"
leak(partial, ONE, 1, "the scale is 0.1: 10")

scale_by_position.__defaults__ = (0.1,)
leak(scale_by_position, ONE, 1, "the default is changed after the definition: 10")


def keyword_default(data, rng, *, scale=1.0):
    return data.sum() + rng.laplace(0, scale)


keyword_default.__kwdefaults__ = {"scale": 0.1}
leak(keyword_default, ONE, 1, "the default is changed after the definition: 10")


def other_code(data, rng):
    return data.sum() + rng.laplace(0, 0.1)


def code_replaced(data, rng):
    return data.sum() + rng.laplace(0, 1)


code_replaced.__code__ = other_code.__code__.replace(
    co_name="code_replaced", co_firstlineno=code_replaced.__code__.co_firstlineno
)
leak(code_replaced, ONE, 1, "the function runs other code than the source shows: 10")


def redefined(data, rng):
    return data.sum() + rng.laplace(0, 1)


def redefined(data, rng):
    return data.sum() + rng.laplace(0, 0.1)


leak(redefined, ONE, 1, "the second definition holds: 10")

private_lambda, leaking_lambda = lambda data, rng: data.sum() + rng.laplace(0, 1), lambda data, rng: data.sum() + rng.laplace(0, 0.1)
leaking_lambda.__name__ = "leaking_lambda"
leak(leaking_lambda, ONE, 1, "the second function of its line: 10")


def total_of_module(data):
    return data.sum()


_first_total = total_of_module


def total_of_module(data):
    return 10 * _first_total(data)


def redefined_helper(data, rng):
    return total_of_module(data) + rng.laplace(0, 1)


leak(redefined_helper, TWO, 1, "the second definition multiplies by 10: 10")

LATER = 1.0


def global_changed_later(data, rng):
    return data.sum() + rng.laplace(0, LATER)


LATER = 0.1
leak(global_changed_later, ONE, 1, "the global is 0.1 when the function runs: 10")


def evaluated(data, rng):
    return eval("data[0]")


leak(evaluated, ONE, LARGE, "∞")


def executed(data, rng):
    scope = {"data": data}
    exec("out = data[0]", scope)
    return scope["out"]


leak(executed, ONE, LARGE, "∞")


def local_variables(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    return locals()["data"][0]


leak(local_variables, ONE, LARGE, "∞")


def attribute_by_name(data, rng):
    return getattr(data, "sum")() + 0 * getattr(rng, "laplace")(0, 1)


leak(attribute_by_name, ONE, LARGE, "the noise is multiplied by 0: ∞")


@dataclass(frozen=True)
class Amount:
    value: float

    def __add__(self, other):
        return Amount(self.value + 10 * other.value)


def overloaded_addition(data, rng):
    total = Amount(0.0)
    for value in data:
        total = total + Amount(value)
    return total.value + rng.laplace(0, 1)


leak(overloaded_addition, TWO, 1, "the class adds 10 times the record: 10")


class Loud(float):
    def __mul__(self, other):
        return 10 * other

    __rmul__ = __mul__


ONE_LOUD = Loud(1.0)


def overloaded_float(data, rng):
    return sum(ONE_LOUD * value for value in data) + rng.laplace(0, 1)


leak(overloaded_float, TWO, 1, "a float whose multiplication is another: 10")


class Odd(float):
    """A number that is another for few operands: samples hardly meet them."""

    def __mul__(self, other):
        return 10 * other if 0.7071 < other < 0.7072 else float(self) * other

    def __add__(self, other):
        return 10 * other if 0.7071 < other < 0.7072 else float(self) + other

    def __lt__(self, other):
        return True if 0.7071 < other < 0.7072 else float(self) < other

    __rmul__, __radd__, __gt__ = __mul__, __add__, __lt__


ODD = Odd(1.0)


def rarely_overloaded_product(data, rng):
    return sum(ODD * value for value in data) + rng.laplace(0, 1)


leak(rarely_overloaded_product, TWO, 1, "0 → 0.7071… moves the sum by more than 7: 7.07")


def rarely_overloaded_product_of_an_array(data, rng):
    return (data * ODD)[0] + rng.laplace(0, 1) + ODD * data[0] - data[0]


leak(rarely_overloaded_product_of_an_array, ONE, 1, "0 → 0.7071… moves the sum by more than 7: 7.07")


def rarely_overloaded_sum(data, rng):
    return sum(ODD + value for value in data) + rng.laplace(0, 1)


leak(rarely_overloaded_sum, TWO, 1, "0 → 0.7071… moves 1 to more than 7: 6.07")


def rarely_overloaded_comparison(data, rng):
    return sum(3 if ODD < value else 0 for value in data) + rng.laplace(0, 1)


leak(rarely_overloaded_comparison, TWO, 1, "0 → 0.7071… moves 0 to 3: 3")


def rarely_overloaded_minimum(data, rng):
    return 5 * min(data[0], ODD) - 5 * data[0] + rng.laplace(0, 1)


leak(rarely_overloaded_minimum, ONE, 1, "0 → 0.7071… gives 5 · (1 − 0.7071…): 1.46")


class OddWhole(int):
    def __mul__(self, other):
        return 10 * other if 0.7071 < other < 0.7072 else int(self) * other

    __rmul__ = __mul__


ODD_WHOLE = OddWhole(1)


def rarely_overloaded_whole_number(data, rng):
    return sum(ODD_WHOLE * value for value in data) + rng.laplace(0, 1)


leak(rarely_overloaded_whole_number, TWO, 1, "0 → 0.7071… moves the sum by more than 7: 7.07")


class OddFraction(Fraction):
    def __mul__(self, other):
        return 10 * other if 0.7071 < other < 0.7072 else float(self) * other

    __rmul__ = __mul__


ODD_FRACTION = OddFraction(1)


def rarely_overloaded_fraction(data, rng):
    return sum(ODD_FRACTION * value for value in data) + rng.laplace(0, 1)


leak(rarely_overloaded_fraction, TWO, 1, "0 → 0.7071… moves the sum by more than 7: 7.07")


class OddArray(np.ndarray):
    def __mul__(self, other):
        return 10 * other if 0.7071 < np.sum(other) < 0.7072 else np.asarray(self) * other

    __rmul__ = __mul__


ODD_ARRAY = np.ones(1).view(OddArray)


def rarely_overloaded_array(data, rng):
    return (ODD_ARRAY * data).sum() + rng.laplace(0, 1)


leak(rarely_overloaded_array, ONE, 1, "0 → 0.7071… moves the sum by more than 7: 7.07")


class Tenth(float):
    def __truediv__(self, other):
        return 0.1

    def __rtruediv__(self, other):
        return 0.1


EPSILON = Tenth(1.0)


def overloaded_division(data, rng):
    return data.sum() + rng.laplace(0, 1 / EPSILON)


leak(overloaded_division, ONE, 1, "the scale is 0.1: 10")


class Converted:
    def __float__(self):
        return 0.1

    def __index__(self):
        return 0


CONVERTED = Converted()


def overloaded_conversion(data, rng):
    return data.sum() + rng.laplace(0, float(CONVERTED))


leak(overloaded_conversion, ONE, 1, "the scale is 0.1: 10")


class Small(Enum):
    SCALE = 0.1
    EPSILON = 10


def scale_of_an_enum(data, rng):
    return data.sum() + rng.laplace(0, Small.SCALE.value)


leak(scale_of_an_enum, ONE, 1, "the scale is 0.1: 10")


class WithoutMembers(list):
    def __iter__(self):
        return iter([0.1])

    def __getitem__(self, index):
        return 0.1


SCALE_LIST = WithoutMembers([1.0])


def overloaded_item(data, rng):
    return data.sum() + rng.laplace(0, SCALE_LIST[0])


leak(overloaded_item, ONE, 1, "the list's item is 0.1: 10")


def overloaded_iteration(data, rng):
    (scale,) = SCALE_LIST
    return data.sum() + rng.laplace(0, scale)


leak(overloaded_iteration, ONE, 1, "iteration gives 0.1: 10")


class Defaults(dict):
    def __missing__(self, key):
        return 0.1


DEFAULTS = Defaults(other=1.0)


def missing_default(data, rng):
    return data.sum() + rng.laplace(0, DEFAULTS["scale"])


leak(missing_default, ONE, 1, "a missing key gives 0.1: 10")


class Everything:
    def __contains__(self, value):
        return True

    def __eq__(self, other):
        return True

    def __bool__(self):
        return False

    def __len__(self):
        return 0


EVERYTHING = Everything()


class OneMember(frozenset):
    def __contains__(self, value):
        return value == "b"


ONE_MEMBER = OneMember("abc")


def overloaded_set(data, rng):
    return sum(10 * (value in ONE_MEMBER) for value in data) + rng.laplace(0, 1)


leak(overloaded_set, Domain(2, ("a", "b", "c")), 1, "the set contains 'b' alone: 10")


def overloaded_membership(data, rng):
    return data[0] if 5 in EVERYTHING else 0


leak(overloaded_membership, ONE, LARGE, "the object contains everything: ∞")


def overloaded_equality(data, rng):
    return data[0] if EVERYTHING == 5 else 0


leak(overloaded_equality, ONE, LARGE, "the object equals everything: ∞")


def overloaded_truth(data, rng):
    return 0 if EVERYTHING else data[0]


leak(overloaded_truth, ONE, LARGE, "the object is false: ∞")


@dataclass
class Noise:
    scale: float

    def __post_init__(self):
        self.scale /= 10


def scale_after_init(data, rng):
    return data.sum() + rng.laplace(0, Noise(1.0).scale)


leak(scale_after_init, ONE, 1, "__post_init__ divides the scale by 10: 10")


class Base:
    scale = 1.0

    def draw(self, rng):
        return rng.laplace(0, self.scale)


class Derived(Base):
    scale = 0.1


DERIVED = Derived()


def inherited_scale(data, rng):
    return data.sum() + DERIVED.draw(rng)


leak(inherited_scale, ONE, 1, "the subclass has scale 0.1: 10")


class Hidden:
    scale = 1.0

    def __getattribute__(self, name):
        return 0.1


HIDDEN = Hidden()


def hidden_attribute(data, rng):
    return data.sum() + rng.laplace(0, HIDDEN.scale)


leak(hidden_attribute, ONE, 1, "every attribute is 0.1: 10")


class InstanceOverride:
    scale = 1.0


OVERRIDE = InstanceOverride()
OVERRIDE.scale = 0.1


def instance_attribute(data, rng):
    return data.sum() + rng.laplace(0, OVERRIDE.scale)


leak(instance_attribute, ONE, 1, "the instance has scale 0.1: 10")


class DataDescriptor:
    def __get__(self, instance, owner):
        return 0.1

    def __set__(self, instance, value):
        pass


class Described:
    scale = DataDescriptor()


DESCRIBED = Described()
DESCRIBED.__dict__["scale"] = 1.0


def described_attribute(data, rng):
    return data.sum() + rng.laplace(0, DESCRIBED.scale)


leak(described_attribute, ONE, 1, "the descriptor gives 0.1: 10")


class Parameters(NamedTuple):
    location: float = 0.0
    scale: float = 1.0

    @property
    def noise(self):
        return self.scale / 10


def property_of_a_tuple(data, rng):
    return data.sum() + rng.laplace(0, Parameters().noise)


leak(property_of_a_tuple, ONE, 1, "the scale is 0.1: 10")


class Callable10:
    def __call__(self, data):
        return 10 * data.sum()


TOTAL = Callable10()


def callable_object(data, rng):
    return TOTAL(data) + rng.laplace(0, 1)


leak(callable_object, TWO, 1, "10")


class CallableProgram:
    """Its class has another signature than its call."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, data, rng):
        self.scale /= 2
        return data.sum() + rng.laplace(0, 2 * self.scale)


leak(CallableProgram(1.0), ONE, 1, "the scale halves with each call: 2 in the second call")


class WithMethod:
    scale = 0.1

    def release(self, data, rng):
        return data.sum() + rng.laplace(0, self.scale)


leak(WithMethod().release, ONE, 1, "the scale is 0.1: 10")


# ---------------------------------------------------------------- noisy maxima


def maximum_with_half_the_noise(answers, rng):
    noisy = [answer + rng.laplace(0, 1) for answer in answers]
    return noisy.index(max(noisy))


leak(maximum_with_half_the_noise, Answers(2), 1, "the answers' difference moves by 2, tails of rate 1: 2")


def maximum_returned(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return max(noisy)


leak(maximum_returned, Answers(4), 1, "P(output ≤ t) for t far below is a product of four tails: 4 · 1/2 = 2")


def maximum_and_index(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    best = max(noisy)
    return noisy.index(best), best


leak(maximum_and_index, Answers(4), 1, "as the maximum alone: 2")


def exponential_maximum_returned(answers, rng):
    return max(answer + rng.exponential(2) for answer in answers)


leak(exponential_maximum_returned, Answers(2), LARGE, "the output is at least the largest answer: ∞")


def exponential_index_and_maximum(answers, rng):
    noisy = np.array(answers) + rng.exponential(2, len(answers))
    return np.argmax(noisy), noisy.max()


leak(exponential_index_and_maximum, Answers(2), LARGE, "the maximum is at least the largest answer: ∞")


def exponential_minimum(answers, rng):
    return int(np.argmin(np.array(answers) + rng.exponential(2, len(answers))))


leak(
    exponential_minimum, Answers(3), 1,
    "index 0 for answers (t, 0, 0): both others' draws exceed t, and t moves by 2: 2 · 2/2 = 2",
)  # fmt: skip


def maximum_with_raw_answer(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return answers[noisy.index(max(noisy))]


leak(maximum_with_raw_answer, Answers(2), LARGE, "the true answer is returned: ∞")


def maximum_after_raw_filter(answers, rng):
    noisy = [answer + rng.laplace(0, 2) if answer > 0 else -1e9 for answer in answers]
    return noisy.index(max(noisy))


leak(maximum_after_raw_filter, Answers(2), LARGE, "negative answers are never returned: ∞")


def maximum_with_shared_noise(answers, rng):
    noise = rng.laplace(0, 2)
    noisy = [answer + noise for answer in answers]
    return noisy.index(max(noisy))


leak(maximum_with_shared_noise, Answers(2), LARGE, "the largest true answer: ∞")


def two_maxima_with_noise_for_one(answers, rng):
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    first = noisy.index(max(noisy))
    noisy[first] = -math.inf
    return first, noisy.index(max(noisy))


leak(
    two_maxima_with_noise_for_one, Answers(4), 1,
    "answers (0, 0, t, t), t → ∞, indices 0 and 1: two draws bridge t, rate 1/2 each, and t moves by 2: 2",
)  # fmt: skip


# ---------------------------------------------------------------- sparse vectors


def no_noise_on_the_threshold(answers, rng):
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 2) > 0:
            return i
    return None


leak(no_noise_on_the_threshold, Stream(), LARGE, "every answer below costs 1/2: ∞")


def no_noise_on_the_answers(answers, rng):
    threshold = rng.laplace(0, 1)
    return [answer > threshold for answer in answers]


leak(no_noise_on_the_answers, Answers(3), LARGE, "the order of the answers is kept: ∞")


def no_stop(answers, rng):
    threshold = rng.laplace(0, 2)
    return ["above" if answer + rng.laplace(0, 4) > threshold else "below" for answer in answers]


leak(no_stop, Stream(), LARGE, "every answer above costs: ∞")


def no_stop_on_six(answers, rng):
    threshold = rng.laplace(0, 2)
    out = []
    for answer in answers:
        out.append(answer + rng.laplace(0, 0.5) > threshold)
    return out


leak(
    no_stop_on_six, Answers(6), 1,
    "three answers t below and three answers −t above, t → ∞: six tails of rate 2, whatever the threshold: 12",
)  # fmt: skip


def forgotten_break(answers, rng):
    threshold, count = rng.laplace(0, 2), 0
    out = []
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            out.append(True)
            count = +1
            if count == 2:
                break
        else:
            out.append(False)
    return out


leak(forgotten_break, Stream(), LARGE, "`count = +1` never reaches 2, so it never stops: ∞")


def break_of_the_inner_loop(answers, rng):
    threshold = rng.laplace(0, 2)
    out = []
    for answer in answers:
        for _ in range(1):
            if answer + rng.laplace(0, 4) > threshold:
                out.append(True)
                break
            out.append(False)
    return out


leak(break_of_the_inner_loop, Stream(), LARGE, "the break leaves the inner loop alone: ∞")


def stop_after_two_with_noise_for_one(answers, rng):
    threshold, count, out = rng.laplace(0, 2), 0, []
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            out.append(True)
            count += 1
            if count == 2:
                break
        else:
            out.append(False)
    return out


leak(stop_after_two_with_noise_for_one, Stream(), 1, "1/2 + 2 · 2/4 = 1.5")


def threshold_redrawn(answers, rng):
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 4) > rng.laplace(0, 2):
            return i
    return None


leak(threshold_redrawn, Stream(), LARGE, "every answer below has noise of its own and costs 1/4: ∞")


def threshold_redrawn_on_eight(answers, rng):
    out = []
    for answer in answers:
        threshold = rng.laplace(0, 2)
        out.append(answer + rng.laplace(0, 4) > threshold)
        if out[-1]:
            break
    return out


leak(threshold_redrawn_on_eight, Answers(8), 1, "eight answers far above, all below: eight tails of rate 1/4: 2")


def threshold_noise_reused(answers, rng):
    noise = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        if answer + noise > 1 + noise:
            return i
    return None


leak(threshold_noise_reused, Stream(), LARGE, "the noise cancels: ∞")


def noise_of_answers_reused(answers, rng):
    threshold, noise = rng.laplace(0, 2), rng.laplace(0, 4)
    return [answer + noise > threshold for answer in answers]


leak(noise_of_answers_reused, Answers(2), LARGE, "the order of the answers is kept: ∞")


def compared_answer_returned(answers, rng):
    threshold = rng.laplace(0, 2)
    out = []
    for answer in answers:
        noisy = answer + rng.laplace(0, 4)
        if noisy > threshold:
            out.append(noisy)
            break
        out.append("below")
    return out


leak(
    compared_answer_returned, Stream(), LARGE,
    "the number bounds the threshold's noise, which no longer covers the answers below, 1/4 each: ∞",
)  # fmt: skip


def threshold_returned(answers, rng):
    threshold = rng.laplace(0, 2)
    out = [threshold]
    for answer in answers:
        out.append(answer + rng.laplace(0, 4) > threshold)
        if out[-1]:
            break
    return out


leak(threshold_returned, Stream(), LARGE, "given the threshold, every answer below costs 1/4: ∞")


def gaps_below_too(answers, rng):
    threshold = rng.laplace(0, 2)
    gaps = []
    for answer in answers:
        gaps.append(answer + rng.laplace(0, 4) - threshold)
        if gaps[-1] > 0:
            break
    return gaps


leak(
    gaps_below_too, Stream(), LARGE,
    "answers that move in turn up and down move the differences of gaps by 2, which costs 1/4 each: ∞",
)  # fmt: skip


def raw_answer_at_the_stop(answers, rng):
    threshold = rng.laplace(0, 2)
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            return answer
    return None


leak(raw_answer_at_the_stop, Stream(), LARGE, "the true answer is returned: ∞")


def last_answer_after_the_loop(answers, rng):
    threshold = rng.laplace(0, 2)
    answer = 0.0
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            break
    return answer


leak(last_answer_after_the_loop, Stream(), LARGE, "the loop's variable is the last answer read: ∞")


def raw_comparison_first(answers, rng):
    threshold = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        if answer > 0 and answer + rng.laplace(0, 4) > threshold:
            return i
    return None


leak(raw_comparison_first, Stream(), LARGE, "negative answers are never returned: ∞")


def stale_noise(answers, rng):
    threshold = rng.laplace(0, 2)
    noise = rng.laplace(0, 4)
    for i, answer in enumerate(answers):
        if answer + noise > threshold:
            return i
        if i > 100:
            noise = rng.laplace(0, 4)
    return None


leak(stale_noise, Answers(2), LARGE, "(1, 2) can return 1, and (2, 2) cannot: ∞")


def numeric_with_one_budget(answers, rng):
    threshold = rng.laplace(0, 2)
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            return answer + rng.laplace(0, 2)
    return None


leak(numeric_with_one_budget, Stream(), 1, "1 for the decisions and 1/2 for the number: 1.5")


def scale_by_number_so_far(answers, rng):
    threshold, out = rng.laplace(0, 2), []
    for answer in answers:
        out.append(answer + rng.laplace(0, 4 / (1 + len(out))) > threshold)
        if out[-1]:
            break
    return out


leak(
    scale_by_number_so_far, Stream(), 1,
    "an answer above at position n has scale 4/n, and many answers below cut the threshold: 1/2 + 2 · n/4",
)  # fmt: skip


def sum_of_answers_above(answers, rng):
    threshold, total = rng.laplace(0, 2), 0.0
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            return total + rng.laplace(0, 2)
        total += answer
    return None


leak(sum_of_answers_above, Stream(), LARGE, "the sum moves by the number of answers: ∞")


def sum_of_all(answers, rng):
    return sum(answers) + rng.laplace(0, 1)


leak(sum_of_all, Stream(), LARGE, "the sum moves by the number of answers: ∞")


def noisy_list_of_all(answers, rng):
    return [answer + rng.laplace(0, 1) for answer in answers]


leak(noisy_list_of_all, Stream(), LARGE, "every answer costs 1: ∞")


def previous_answer(answers, rng):
    previous, threshold = 0.0, rng.laplace(0, 2)
    for answer in answers:
        if answer + rng.laplace(0, 4) > threshold:
            return previous
        previous = answer
    return None


leak(previous_answer, Stream(), LARGE, "the true answer before is returned: ∞")


def count_of_raw_answers(answers, rng):
    threshold, seen = rng.laplace(0, 2), 0
    for answer in answers:
        seen += answer > 0
        if answer + rng.laplace(0, 4) > threshold:
            return seen
    return None


leak(count_of_raw_answers, Stream(), LARGE, "the number of positive answers is returned: ∞")


# ---------------------------------------------------------------- sums over time


def prefix_sums_one_noise_each(answers, rng):
    return np.cumsum(answers) + rng.laplace(0, 1, len(answers))


leak(prefix_sums_one_noise_each, Answers(4, "one"), 1, "the first answer is in four sums: 4")


def tree_with_small_noise(answers, rng):
    level, out = list(answers), []
    while level:
        out.append([total + rng.laplace(0, 1) for total in level])
        level = [a + b for a, b in zip(level[::2], level[1::2])]
    return out


leak(tree_with_small_noise, Answers(4, "one"), 1, "an answer is in three sums: 3")


def blocks_that_overlap(answers, rng):
    return [sum(answers[i : i + 2]) + rng.laplace(0, 1) for i in range(len(answers) - 1)]


leak(blocks_that_overlap, Answers(4, "one"), 1, "an answer is in two blocks: 2")


def running_total_with_raw_steps(answers, rng):
    total, out = rng.laplace(0, 1), []
    for answer in answers:
        total += answer
        out.append(total)
    return out


leak(running_total_with_raw_steps, Answers(3, "one"), LARGE, "differences of outputs are true answers: ∞")


def noise_carried_over(answers, rng):
    noise, out = 0.0, []
    for i, answer in enumerate(answers):
        if i % 2 == 0:
            noise = rng.laplace(0, 1)
        out.append(answer + noise)
    return out


leak(noise_carried_over, Answers(2, "one"), LARGE, "two answers have the same draw: ∞")


# ---------------------------------------------------------------- mechanisms

for technique in (SVT3(epsilon=1.0), SVT5(epsilon=1.0), SVT6(epsilon=1.0)):
    leak(technique, Stream(), LARGE, "no ε holds for every length: see the technique's card")
leak(SVT4(epsilon=1.0, c=3), Stream(), Fraction(19, 4) - Fraction(1, 100), "(1 + 6c)/4 = 19/4")
leak(SVT1(epsilon=1.0, c=2), Stream(), 0.99, "1/2 + 2 · 2/8 = 1")
leak(ReportNoisyMax3(epsilon=1.0), Answers(4), 1, "the noisy maximum: 4 · 1/2 = 2")
leak(ReportNoisyMax4(epsilon=1.0), Answers(2), LARGE, "the output is at least the largest answer: ∞")


@dataclass(frozen=True)
class Claiming(Mechanism):
    """Base class: claims ε = 1 if every answer changes by at most 1."""

    @property
    def claim(self) -> Claim:
        """1-DP."""
        return Claim(1.0, 0.0, ANSWERS_LINF)


@dataclass(frozen=True)
class RawAnswer(Claiming):
    """Yields a draw and returns the answer."""

    def run(self, answers):
        yield Laplace(0, 1)
        return answers[0]


leak(RawAnswer(), Answers(1), LARGE, "no noise: ∞")


@dataclass(frozen=True)
class WrongSubroutine(Claiming):
    """Its part claims 1 and is raw."""

    def run(self, answers):
        part = yield RawAnswer().on(answers)
        return part + (yield Laplace(0, 1)) * 0


leak(WrongSubroutine(), Answers(1), LARGE, "the part's claim is wrong: ∞")


@dataclass(frozen=True)
class TailCall(Claiming):
    """Returns a part with too little noise."""

    def run(self, answers):
        if (yield Laplace(0, 1)) > 0:
            return RawAnswer().on(answers)
        return 0


leak(TailCall(), Answers(1), LARGE, "the part is raw: ∞")


@dataclass(frozen=True)
class ReturnedDistribution(Claiming):
    """Returns a distribution as its last draw."""

    def run(self, answers):
        return Laplace(answers[0], 0.1)


leak(ReturnedDistribution(), Answers(1), 1, "Lap(0.1): 10")


@dataclass(frozen=True)
class DataScale(Claiming):
    """The scale depends on the answer."""

    def run(self, answers):
        return (yield Laplace(0, 1 + answers[0] ** 2))


leak(DataScale(), Answers(1), LARGE, "tails of different rates: ∞")


@dataclass(frozen=True)
class DataProbability(Claiming):
    """A coin whose probability is the clipped answer."""

    def run(self, answers):
        return (yield Bernoulli(min(max(answers[0], 0.0), 1.0)))


leak(DataProbability(), Answers(1), LARGE, "probabilities 0 and 1: ∞")


@dataclass(frozen=True)
class TwiceTheSame(Claiming):
    """A distribution is a value, and one draw of it is used for two answers."""

    def run(self, answers):
        noise = yield Laplace(0, 2)
        return answers[0] + noise, answers[1] + noise


leak(TwiceTheSame(), Answers(2), LARGE, "the difference of the answers: ∞")


@dataclass(frozen=True)
class Inherited(SVT1):
    """SVT1 with another scale."""

    @property
    def scale(self) -> float:
        """Too small."""
        return 0.5


leak(Inherited(epsilon=1.0), Stream(), 1, "1/2 + 2/0.5 = 4.5")


@dataclass(frozen=True)
class Remembering(Claiming):
    """Keeps the answers of earlier calls."""

    seen: tuple[float, ...] = ()

    def run(self, answers):
        scale = 0.1 if self.seen else 1
        object.__setattr__(self, "seen", (*self.seen, answers[0]))
        return answers[0] + (yield Laplace(0, scale))


leak(Remembering(), Answers(1), 1, "from the second call on, the scale is 0.1: 10")


@dataclass(frozen=True)
class ScaledByProperty(Claiming):
    """A property that reads a global that is too small."""

    @property
    def scale(self):
        """0.1."""
        return LATER

    def run(self, answers):
        return answers[0] + (yield Laplace(0, self.scale))


leak(ScaledByProperty(), Answers(1), 1, "Lap(0.1): 10")


class Patched(Claiming):
    """Its `run` is replaced after the class is defined."""

    def run(self, answers):
        return answers[0] + (yield Laplace(0, 1))


def _patched_run(self, answers):
    return answers[0] + (yield Laplace(0, 0.1))


Patched.run = _patched_run
leak(Patched(), Answers(1), 1, "the run that is called has Lap(0.1): 10")


@dataclass(frozen=True)
class OwnLaplace(Claiming):
    """Laplace of the method's own scope."""

    def run(self, answers):
        Laplace_ = lambda loc, scale: Laplace(loc, scale / 10)
        return answers[0] + (yield Laplace_(0, 1))


leak(OwnLaplace(), Answers(1), 1, "Lap(0.1): 10")


@dataclass(frozen=True)
class DrawAndDrop(Claiming):
    """Yields the noisy answer and uses only its sign together with the answer."""

    def run(self, answers):
        noisy = yield Laplace(answers[0], 1)
        return noisy - noisy + answers[0]


leak(DrawAndDrop(), Answers(1), LARGE, "the answer is returned: ∞")
