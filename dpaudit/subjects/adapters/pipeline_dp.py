"""pipeline-dp: one aggregation by its `DPEngine`, at the budget that it is given.

Runs draw from the system's generator, and cannot be seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from numpy.random import Generator

from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, Claim
from dpaudit.subjects.adapters.base import Adapted, library, version_of


def wrap(
    params: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    public_partitions: Sequence[Hashable] | None = None,
    read: Callable[[dict[Any, Any]], object] | None = None,
    name: str | None = None,
) -> Adapted:
    """The aggregation that an `AggregateParams` describes, on the local backend.

    A record of the dataset is one person: all that this person contributes, as a list of (partition, value). Neighbours
    have one person more or less, however many contributions that is: pipeline-dp bounds them. An output is a dict of
    the partitions that are released: partition → value of the metric, or of several metrics their names → values.

    Args:
        params: metrics, noise, and bounds of what one person contributes.
        epsilon, delta: the budget of the aggregation, which is also the claim; it must be given.
        public_partitions: partitions that are released in any case; without them pipeline-dp selects partitions, which
            takes a part of the budget and needs a delta above 0.
        read: the dict → what is audited.
        name: as in reports; "pipeline-dp" and the metrics without it.

    Raises:
        UsageError: these are no AggregateParams, no epsilon is given, or partitions are to be selected without a delta.
    """
    pdp: Any = library("pipeline_dp", "pipeline-dp", "pipeline-dp")
    kind = type(params).__name__
    if not isinstance(params, pdp.AggregateParams):
        shown = params.__name__ if isinstance(params, type) else kind
        raise UsageError(
            f"{shown} of pipeline-dp is not known here: give AggregateParams to wrap(params, epsilon=…), or write a "
            "function f(dataset, rng) that runs the pipeline."
        )
    if epsilon is None:
        raise UsageError(
            "AggregateParams state no budget: from dpaudit.subjects.adapters import pipeline_dp, and audit "
            "pipeline_dp.wrap(params, epsilon=…)."
        )
    if public_partitions is None and not delta > 0:
        raise UsageError(
            "Without public_partitions pipeline-dp selects partitions, for which it needs a delta above 0: give "
            "wrap(…, delta=…) or wrap(…, public_partitions=…)."
        )
    claim = Claim(float(epsilon), float(delta), ADD_REMOVE_ONE)
    named = name or f"pipeline-dp {', '.join(str(metric) for metric in params.metrics)}"
    backend = pdp.LocalBackend()
    extractors = pdp.DataExtractors(*(_item(i) for i in range(3)))

    def release(rows: list[tuple[Any, ...]]) -> object:
        accountant = pdp.NaiveBudgetAccountant(total_epsilon=claim.epsilon, total_delta=claim.delta)
        engine = pdp.DPEngine(accountant, backend)
        result = engine.aggregate(rows, params, extractors, public_partitions=public_partitions)
        accountant.compute_budgets()
        released = {
            partition: metrics[0] if len(metrics) == 1 else metrics._asdict() for partition, metrics in result
        }
        return released if read is None else read(released)

    def draw(dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        rows = [(person, *given) for person, record in enumerate(dataset) for given in _contributions(record, named)]
        return [release(rows) for _ in range(size)]

    source = f"pipeline-dp {version_of('pipeline-dp')}: total_epsilon, total_delta of NaiveBudgetAccountant"
    return Adapted(named, claim, source, draw, reproducible=False)


def _item(at: int) -> Callable[[tuple[Any, ...]], Any]:
    return lambda row: row[at]


def _contributions(record: object, name: str) -> Iterable[tuple[Any, Any]]:
    """(partition, value) of all that one person contributes."""
    # a list in a dataset comes as a tuple
    if isinstance(record, list | tuple) and all(isinstance(one, tuple) and len(one) == 2 for one in record):
        return record
    raise DatasetError(
        "{} takes people, each of them a list of (partition, value), such as [('a', 1.0)]; not {}.", name, repr(record),
    )
