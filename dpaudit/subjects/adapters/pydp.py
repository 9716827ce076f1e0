"""python-dp: the algorithms and mechanisms of Google's C++ library, at the ε and δ that they state.

Its neighbours differ by all that one user adds: datasets of which one has one record more, or with `linf_sensitivity` k
up to k more. Its randomness cannot be seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.random import Generator

from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, AnswersL1, AnswersL2, Claim, Relation
from dpaudit.options import EPSILON
from dpaudit.subjects.adapters.base import Adapted, library, only_record, version_of

_MANY = (
    "It is calibrated for users in several partitions (l0_sensitivity {0}); here there is one partition, in which a "
    "user spends a part of ε alone."
)


def wrap(algorithm: Any, *, name: str | None = None) -> Adapted:
    """An algorithm (`pydp.algorithms.laplacian`), a numerical mechanism, or a partition selection of python-dp.

    | object | datasets | relation |
    | --- | --- | --- |
    | algorithms (`BoundedSum`, …), by `quick_result` | records | add-remove-one, `linf_sensitivity` times |
    | `LaplaceMechanism`, `GaussianMechanism`, by `add_noise` | one answer | answers-l1, -l2, of its sensitivity |
    | partition selections, by `should_keep` | a record for each user | add-remove-one |

    Args:
        algorithm: the object.
        name: as in reports; the class's name without it.

    Raises:
        UsageError: it is nothing of these.
    """
    library("pydp", "python-dp", "python-dp")
    kind = type(algorithm).__name__
    named = name or f"python-dp {kind}"
    notes: tuple[str, ...] = ()
    release: Callable[[list[Any]], object]
    relation: Relation
    if isinstance(algorithm, type):
        raise UsageError(f"{algorithm.__name__} is a class of python-dp; give an instance, made with its epsilon.")
    if hasattr(algorithm, "quick_result"):
        relation, read = ADD_REMOVE_ONE.group(_contributions(algorithm)), "epsilon, delta"
        take = float if algorithm.dtype == "float" else _whole(named)
        users = algorithm.l0_sensitivity
        notes = (_MANY.format(users),) if isinstance(users, int) and users > 1 else ()

        def release(dataset: list[Any]) -> object:
            return algorithm.quick_result([take(record) for record in dataset])

    elif hasattr(algorithm, "add_noise"):
        gaussian = hasattr(algorithm, "l2_sensitivity")
        reach = float(algorithm.l2_sensitivity if gaussian else algorithm.sensitivity)
        relation = AnswersL2(reach=reach) if gaussian else AnswersL1(reach=reach)
        read = "epsilon, delta, l2_sensitivity" if gaussian else "epsilon, sensitivity"

        def release(dataset: list[object]) -> object:
            return algorithm.add_noise(only_record(dataset, named))

    elif hasattr(algorithm, "should_keep"):
        relation, read = ADD_REMOVE_ONE, "epsilon, delta"
        users = algorithm.max_partitions_contributed
        notes = (_MANY.format(users).replace("l0_sensitivity", "max_partitions_contributed"),) if users > 1 else ()

        def release(dataset: list[object]) -> object:
            return algorithm.should_keep(len(dataset))

    else:
        raise UsageError(
            "{} of python-dp is not known here: wrap it as f(dataset, rng) and give {}, or audit an algorithm, a "
            "numerical mechanism or a partition selection.",
            kind, EPSILON,
        )
    claim = Claim(float(algorithm.epsilon), float(getattr(algorithm, "delta", 0.0)), relation)

    def draw(dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        records = list(dataset)
        return [release(records) for _ in range(size)]

    source = f"python-dp {version_of('python-dp')}: {read} of {kind}"
    return Adapted(named, claim, source, draw, notes, reproducible=False, portable=False)


def _contributions(algorithm: Any) -> int:
    """Records that one user adds at most."""
    most = algorithm.linf_sensitivity
    return most if isinstance(most, int) else 1


def _whole(name: str) -> Callable[[object], int]:
    """What makes the whole numbers that an algorithm of whole numbers takes."""

    def take(record: object) -> int:
        if isinstance(record, bool) or not isinstance(record, int | float) or not float(record).is_integer():
            raise DatasetError(f"{name} takes whole numbers, not {record!r}; make it with dtype='float' for others.")
        return int(record)

    return take
