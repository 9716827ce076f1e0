"""Audits of the stability of deterministic functions, from Python and in tests."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import NoReturn, ParamSpec, Self

from dpaudit.api.arguments import pair_of
from dpaudit.api.call_text import call_text
from dpaudit.engine.stability import check_stability
from dpaudit.errors import DpauditError, UsageError
from dpaudit.options import DEFAULT_COMPARED
from dpaudit.plans.stability import Stability, StabilityRequest
from dpaudit.results.given_data import table_of
from dpaudit.results.model import Verdict
from dpaudit.results.stability import StabilityRecord

__all__ = ["StabilityResult", "StabilityViolation", "assert_stable", "audit_stability"]


class StabilityResult(StabilityRecord):
    """The result of `audit_stability`: the verdict, the pair, both outputs and their exact distance."""

    @classmethod
    def of(cls, record: StabilityRecord) -> Self:
        """The engine's result, with methods."""
        return cls(**vars(record))

    @property
    def exact_distance(self) -> Fraction | None:
        """The distance of the outputs as a rational number; None where it is infinite, irrational or unknown."""
        try:
            return None if self.distance is None else Fraction(self.distance)
        except ValueError:
            return None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A result has no truth value; compare result.verdict, or use dpaudit.assert_stable in a test."
        )

    def __str__(self) -> str:
        """What the command line prints, without colour, 80 columns wide."""
        from dpaudit.report.stability import stability_text

        return stability_text(self)

    def __repr__(self) -> str:
        from dpaudit.report.stability import quiet_line

        return f"<dpaudit.StabilityResult {quiet_line(self)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from dpaudit.report.notebook import stability_to_fragment

        return stability_to_fragment(self)

    def to_html(self) -> str:
        """The report as the text of one HTML file."""
        from dpaudit.report.html import stability_to_html

        return stability_to_html(self)

    def save(self, path: str | Path) -> None:
        """Write a file: the report as .html, or the data as .json, which `StabilityResult.from_json` reads.

        Raises:
            ReportError: another ending, or the file cannot be written.
        """
        from dpaudit.report.files import save

        save(path, {".json": self.to_json, ".html": self.to_html})


class StabilityViolation(AssertionError):
    """A claim of stability is violated, or could not be tried; `result` has the pair and both outputs."""

    def __init__(self, text: str, result: StabilityResult) -> None:
        super().__init__(text)
        self.result = result


_P = ParamSpec("_P")


def _in_pythons_words(function: Callable[_P, StabilityResult]) -> Callable[_P, StabilityResult]:
    """Errors name arguments where they name options."""

    @wraps(function)
    def said(*args: _P.args, **kwargs: _P.kwargs) -> StabilityResult:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except DpauditError as error:
            error.args = (error.at("Python"),)
            raise

    return said


@_in_pythons_words
def audit_stability(
    target: str | Callable[..., object],
    stability: Stability | None = None,
    *,
    metric: str | None = None,
    relation: str | None = None,
    pair: tuple[object, object] | None = None,
    data: object = None,
    size: int | None = None,
    any_order: bool = False,
    read: str | Callable[..., object] | None = None,
    pairs: int = DEFAULT_COMPARED,
    time: float | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> StabilityResult:
    """Search for two neighbouring datasets on which a deterministic function's outputs are farther apart than claimed.

    A function f is c-stable if d(f(D), f(D′)) ≤ c·d(D, D′) for all datasets (McSherry, Privacy Integrated Queries,
    SIGMOD 2009, Definition 4). The distances are computed in rational numbers, so that a FAIL is certain. A PASS is
    "proved" where all pairs of a finite domain were tried, and otherwise says that no violation was found.

    Args:
        target: a function f(dataset), the name of one ("file.py:f"), or a transformation of OpenDP, which states its
            own stability.
        stability: c, or a map from the distance of two datasets to the largest distance of their outputs.
        metric: of outputs. "absolute" for one number; "l1", "l2" or "linf" for lists, arrays and dicts of numbers;
            "symmetric", "insert-delete", "change-one" or "hamming" for datasets (the first and the third ignore their
            order); "discrete" for 0 or 1.
        relation: of the datasets: "replace-one" without it; a distance is a number of its steps.
        pair: two datasets D and D′ to try alone, as for `audit`.
        data, size: instead of a pair, a description of records ("integers(0, 100)") or a table, and their number.
        any_order: whether D and D′ may list their records in different orders.
        read: a function that turns each output into what is compared, or the name of one.
        pairs: most pairs that are tried.
        time: time limit in seconds.
        seed: of the search; the same seed gives the same result.
        progress: whether to show it on stderr; None to do so in a terminal or notebook, after two seconds.

    Returns:
        The result; `result.verdict` is the verdict.

    Raises:
        UsageError: the function is not deterministic, or what is given does not go together.
        MechanismError: it raises on every dataset, or its outputs do not suit the metric.
    """
    given = dict(locals())
    placed = None if pair is None else pair_of(pair)
    table = table_of(data)
    if data is not None and table is None and not isinstance(data, str):
        raise UsageError(f"data is a description such as 'integers(0, 100)' or a table, not {data!r}.")
    function = callable(stability)
    shown = {**given, "pair": placed, "data": data if table is None or isinstance(data, str) else table}
    request = StabilityRequest(
        target=target,
        at_most=None if stability is None or function else _as_text(stability),
        map=stability if callable(stability) else None,
        metric=metric,
        relation=relation,
        any_order=any_order,
        pair=None if placed is None else placed.datasets,
        data=table.name if table is not None else data if isinstance(data, str) else None,
        size=size,
        pairs=pairs,
        time=time,
        seed=seed,
        read=read,
        container=placed.container if placed is not None else None if table is None else table.container,
        table=None if table is None else table.records,
        call=call_text(audit_stability, shown),
        door="Python",
    )
    return _run(request, progress)


@_in_pythons_words
def assert_stable(
    target: str | Callable[..., object],
    stability: Stability | None = None,
    *,
    metric: str | None = None,
    relation: str | None = None,
    pair: tuple[object, object] | None = None,
    data: object = None,
    size: int | None = None,
    any_order: bool = False,
    read: str | Callable[..., object] | None = None,
    pairs: int = DEFAULT_COMPARED,
    time: float | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> StabilityResult:
    """Search for a violation of stability, and raise where there is one: for a test in any test runner.

    Args:
        target, stability, metric, relation, pair, data, size, any_order, read, pairs, time, seed, progress: as of
            `audit_stability`.

    Returns:
        The result, whose verdict is PASS.

    Raises:
        StabilityViolation: there is one, or nothing could be tried; an AssertionError with the pair and both outputs.
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    __tracebackhide__ = True
    result = audit_stability(
        target, stability, metric=metric, relation=relation, pair=pair, data=data, size=size, any_order=any_order,
        read=read, pairs=pairs, time=time, seed=seed, progress=progress,
    )
    if result.verdict is not Verdict.PASS:
        raise StabilityViolation(str(result), result)
    return result


def _as_text(stability: object) -> str:
    """c as the text that a command line has; a float as the decimal that stands for it."""
    if isinstance(stability, bool) or not isinstance(stability, int | float | Fraction):
        raise UsageError(f"stability is a number such as 2, or a map from distance to distance, not {stability!r}.")
    return repr(stability) if isinstance(stability, float) else str(stability)


def _run(request: StabilityRequest, progress: bool | None) -> StabilityResult:
    # only here, as in `dpaudit.api.functions`
    from dpaudit.report.progress import Watch, display_for

    steps = check_stability(request)
    with Watch(display_for(progress)) as watch:
        while True:
            try:
                watch.on(next(steps))
            except StopIteration as end:
                return StabilityResult.of(end.value)
