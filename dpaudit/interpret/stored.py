"""Outputs, or what was counted in them, as bytes and back: numbers as they lie in memory, all else as JSON.

Nothing is pickled.
"""

from __future__ import annotations

import json
import math
from itertools import chain, islice
from typing import Any

import numpy as np

from dpaudit.interpret.counted import Counted, Drawn
from dpaudit.interpret.sample import Outputs
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.form import Form, Forms, Frequent
from dpaudit.outputs.plain_values import NotPlainError, decoded, encoded
from dpaudit.stats.arrays import FloatArray

_LITTLE = np.dtype("<f8")
_JUDGED = 16
"""Outcomes from which the size of all is estimated."""


def to_bytes(outputs: Drawn) -> bytes:
    """Outputs, or what was counted in them, as bytes.

    Raises:
        NotPlainError: an outcome is an object of a class that is not dpaudit's.
    """
    blocks: list[FloatArray] = []
    described = _described(outputs, blocks) if isinstance(outputs, Outputs) else _counts(outputs, blocks)
    head = json.dumps(described).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(_numbers(block) for block in blocks)])


def size_in_bytes(outputs: Drawn) -> float:
    """About how many bytes `to_bytes` returns, judging by the first outcomes; infinite if it refuses one of them."""
    if not isinstance(outputs, Outputs):
        return 0
    listed = len(outputs.counts) + len(outputs.others)
    try:
        first = [encoded(value) for value in islice(chain(outputs.counts, outputs.others), _JUDGED)]
    except NotPlainError:
        return math.inf
    return sum(block.nbytes for block in outputs.blocks) + len(json.dumps(first)) * listed // max(1, len(first))


def from_bytes(content: bytes) -> Drawn:
    """What `to_bytes` was given.

    Raises:
        ValueError, TypeError, KeyError, IndexError: they are none.
    """
    end = 8 + int.from_bytes(content[:8], "little")
    described, at = json.loads(content[8:end]), end
    if "hits" not in described:
        return _made(described, memoryview(content), [at])
    return Counted(
        int(described["runs"]), int(described["hits"]),
        {one: times for value, times in described["failures"] if isinstance(one := decoded(value), Raised)},
        int(described["minus zeros"]),
        tuple(decoded(value) for value in described["same"]),
        None if described["first"] is None else _made(described["first"], memoryview(content), [at]),
        _forms(described["forms"]),
    )


def _numbers(block: FloatArray) -> bytes:
    return np.ascontiguousarray(block, dtype=_LITTLE).tobytes()


def _described(outputs: Outputs, blocks: list[FloatArray]) -> dict[str, Any]:
    blocks.extend(outputs.blocks)
    return {
        "counts": [[encoded(value), times] for value, times in outputs.counts.items()],
        "blocks": [block.shape for block in outputs.blocks],
        "others": [encoded(value) for value in outputs.others],
        "forms": _forms_described(outputs.forms),
        "first": None if outputs.first is None else _described(outputs.first, blocks),
    }


def _counts(some: Counted, blocks: list[FloatArray]) -> dict[str, Any]:
    return {
        "runs": some.runs,
        "hits": some.hits,
        "failures": [[encoded(failure), times] for failure, times in some.failures.items()],
        "minus zeros": some.minus_zeros,
        "same": [encoded(outcome) for outcome in some.same],
        "first": None if some.first is None else _described(some.first, blocks),
        "forms": _forms_described(some.forms),
    }


def _forms_described(forms: Forms) -> list[Any]:
    return [forms.special, _frequent(forms.whole), _frequent(forms.words)]


def _frequent(counted: Frequent) -> list[Any]:
    return [counted.missed, [
        [one.text, one.of, one.error, None if one.failure is None else encoded(one.failure), times]
        for one, times in counted.counts.items()
    ]]


def _made(described: dict[str, Any], content: memoryview, at: list[int]) -> Outputs:
    blocks = []
    for shape in described["blocks"]:
        size = math.prod(shape)
        block = np.frombuffer(content, _LITTLE, size, at[0]).reshape(shape)
        # in the machine's own order, and not a view of what was read
        blocks.append(block.astype(np.float64))
        at[0] += 8 * size
    return Outputs(
        {decoded(value): times for value, times in described["counts"]},
        tuple(blocks),
        tuple(decoded(value) for value in described["others"]),
        None if described["first"] is None else _made(described["first"], content, at),
        _forms(described["forms"]),
    )


def _forms(described: list[Any]) -> Forms:
    special, whole, words = described
    return Forms(special, _counted(whole), _counted(words))


def _counted(described: list[Any]) -> Frequent:
    missed, each = described
    counts: dict[Form, int] = {}
    for text, of, error, failure, times in each:
        raised = None if failure is None else decoded(failure)
        counts[Form(text, of, error, raised if isinstance(raised, Raised) else None)] = times
    return Frequent(counts, missed)
