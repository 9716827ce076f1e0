"""Functions of frames, series and arrays as people write them, half of them wrong, with the truth of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from functions import Case
from numpy.random import Generator

CITIES = ["Basel", "Bern", "Chur"]
PEOPLE = "frame(age=integers(0, 120), city=sampled_from(['Basel', 'Bern', 'Chur']), income=integers(0, 500))"
A, R = "add-remove-one", "replace-one"


def mean_age(df: Any, rng: Generator) -> float:
    return df["age"].clip(0, 100).mean() + rng.laplace(0, 100 / len(df))


def mean_income_unclipped(df: Any, rng: Generator) -> float:
    return df["income"].mean() + rng.laplace(0, 100 / len(df))


def people_by_city(df: Any, rng: Generator) -> Any:
    counts = df.groupby("city").size().reindex(CITIES, fill_value=0)
    return counts + rng.laplace(0, 2, len(counts))


def people_by_city_that_occurs(df: Any, rng: Generator) -> Any:
    counts = df.groupby("city").size()
    return counts + rng.laplace(0, 2, len(counts))


def adults(df: Any, rng: Generator) -> float:
    return len(df.query("age >= 18")) + rng.laplace(0, 1)


def adults_with_half_of_the_noise(df: Any, rng: Generator) -> float:
    return len(df.query("age >= 18")) + rng.laplace(0, 0.5)


def report(df: Any, rng: Generator) -> dict[str, float]:
    return {"people": len(df) + rng.laplace(0, 2), "adults": (df["age"] >= 18).sum() + rng.laplace(0, 2)}


def report_with_one_budget_twice(df: Any, rng: Generator) -> dict[str, float]:
    return {"people": len(df) + rng.laplace(0, 1), "adults": (df["age"] >= 18).sum() + rng.laplace(0, 1)}


def largest_city(df: Any, rng: Generator) -> str:
    counts = df["city"].value_counts().reindex(CITIES, fill_value=0)
    return str((counts + rng.laplace(0, 2, len(counts))).idxmax())


def largest_city_without_noise(df: Any, rng: Generator) -> str:
    return str(df["city"].value_counts().reindex(CITIES, fill_value=0).idxmax())


def histogram(values: Any, rng: Generator) -> Any:
    return np.histogram(values, bins=4, range=(0, 100))[0] + rng.laplace(0, 1, 4)


def histogram_of_its_own_range(values: Any, rng: Generator) -> Any:
    return np.histogram(values, bins=4)[0] + rng.laplace(0, 1, 4)


def column_means(rows: Any, rng: Generator) -> Any:
    # a column of floats may hold NaN, which would be the mean of all
    return np.clip(np.nan_to_num(rows), 0, 1).mean(axis=0) + rng.laplace(0, 2 / len(rows), rows.shape[1])


def column_means_with_the_noise_of_one(rows: Any, rng: Generator) -> Any:
    return np.clip(rows, 0, 1).mean(axis=0) + rng.laplace(0, 1 / len(rows), rows.shape[1])


TEAM = [(40, "Bern", 0)] * 8

CORRECT = (
    Case(
        mean_age, 1.0, R, PEOPLE, "one of n rows moves the mean of clipped ages by 100/n at most",
        (TEAM, [(120, "Bern", 0), *TEAM[1:]]), size=8,
    ),
    Case(
        people_by_city, 1.0, R, PEOPLE, "one row moves two of the counts by 1: L1 sensitivity 2, Lap(2)",
        (TEAM, [(40, "Chur", 0), *TEAM[1:]]),
    ),
    Case(adults, 1.0, A, PEOPLE, "one row moves the count by 1", (TEAM, TEAM[1:])),
    Case(report, 1.0, A, PEOPLE, "two counts with ε = 1/2 each", (TEAM, TEAM[1:])),
    Case(
        largest_city, 1.0, R, PEOPLE, "report noisy max of counts that move by 1 each way: Lap(2) is 1-DP",
        (TEAM[:1], [(40, "Chur", 0)]),
    ),
    Case(
        histogram, 1.0, A, "array(integers(0, 100))", "one record moves one of the four counts by 1", ([50], [50, 99]),
    ),
    Case(
        column_means, 1.0, R, "array(tuples(floats(0, 1), floats(0, 1)))",
        "one of n rows moves each of two means by 1/n at most: L1 sensitivity 2/n",
        ([(0.0, 0.0)] * 8, [(1.0, 1.0), *[(0.0, 0.0)] * 7]), size=8,
    ),
)
WRONG = (
    Case(
        mean_income_unclipped, 1.0, R, PEOPLE, "incomes reach 500, so one moves the sum by 500: ε = 5",
        (TEAM, [(40, "Bern", 500), *TEAM[1:]]), size=8,
    ),
    Case(
        people_by_city_that_occurs, 1.0, R, PEOPLE, "the index has the cities where somebody lives",
        (TEAM, [(40, "Chur", 0), *TEAM[1:]]),
    ),
    Case(adults_with_half_of_the_noise, 1.0, A, PEOPLE, "sensitivity 1 and Lap(1/2): ε = 2", (TEAM, TEAM[1:])),
    Case(
        report_with_one_budget_twice, 1.0, A, PEOPLE, "an adult moves both counts, ε = 1 each: ε = 2",
        (TEAM, TEAM[1:]),
    ),
    Case(largest_city_without_noise, 1.0, R, PEOPLE, "the answer is exact", (TEAM[:1], [(40, "Chur", 0)])),
    Case(
        histogram_of_its_own_range, 1.0, A, "array(integers(0, 100))",
        "one record outside of the others' range moves all the edges, and with them most counts",
        ([0] * 4 + [1] * 4, [0] * 4 + [1] * 4 + [100]),
    ),
    Case(
        column_means_with_the_noise_of_one, 1.0, R, "array(tuples(floats(0, 1), floats(0, 1)))",
        "a row from (0, 0) to (1, 1) moves both means by 1/n: ε = 2",
        ([(0.0, 0.0)] * 8, [(1.0, 1.0), *[(0.0, 0.0)] * 7]), size=8,
    ),
)
CASES = (*CORRECT, *WRONG)
