"""The record of training runs with a canary: one row for every noisy gradient, in the direction of the canary's."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from dpaudit.errors import ReportError, UsageError
from dpaudit.stats.arrays import BoolArray, FloatArray, IntArray
from dpaudit.training.claim import SGDClaim
from dpaudit.whole_files import write_file

__all__ = ["SGDTranscript"]

_FORMAT = 1
_UNKNOWN = -1
_COLUMNS = {
    "run": np.int64, "canary_in": np.bool_, "projection": np.float64, "rest": np.float64, "dimension": np.int64,
    "fingerprint": np.float64, "sampled": np.int64, "batch_size": np.int64, "divided_by": np.float64,
}  # fmt: skip


class SGDTranscript:
    """What training runs with a canary released, recorded step by step.

    The canary is one record that D has and D′ does not, as its adversary chooses it: its gradient should be far longer
    than the clip norm, and in a direction in which no other record has a gradient (a "Dirac canary"). Call `begin`
    before each run and `step` after each step. One long run on D and one on D′ are enough: every step is a sample.

    Args:
        claim: the parameters that the accountant was given.
        records: number of records without the canary, which only checks of batch sizes need.

    Source: Nasr et al., Adversary Instantiation: Lower Bounds for Differentially Private Machine Learning, 2021; Nasr
    et al., Tight Auditing of Differentially Private Machine Learning, 2023.
    """

    def __init__(self, claim: SGDClaim, *, records: int | None = None) -> None:
        self.claim = claim
        self.records = records
        self._rows: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self._run, self._in = -1, False

    def begin(self, *, canary_in: bool) -> None:
        """Start a training run.

        Args:
            canary_in: whether the canary is in its dataset: True for D, False for D′.
        """
        self._run, self._in = self._run + 1, bool(canary_in)

    def step(
        self,
        noisy_gradient: Any,
        canary_gradient: Any = None,
        *,
        others: Any = None,
        sampled: int | bool | None = None,
        batch_size: int | None = None,
        divided_by: float | None = None,
    ) -> None:
        """Record one noisy gradient, as the loop released it.

        A gradient is an array, or a list, tuple or dict of arrays (one for each parameter), of numpy or anything that
        numpy can read, such as tensors of torch and arrays of jax.

        Args:
            noisy_gradient: what the optimizer gets; or its component in the canary's direction, a number.
            canary_gradient: the canary's gradient in this step, clipped or not: its direction counts. Give it on D′
                too. None if `noisy_gradient` is a number.
            others: the sum of the clipped gradients of the other records of this batch, computed by other code than
                the loop's; 0 if they have none. Only with it are the other coordinates tested. None where it is
                unknown: the other records must then have no gradient in the canary's direction.
            sampled: how many times the canary was in the batch, where the loop can tell.
            batch_size: number of records in the batch, where the loop can tell.
            divided_by: what the loop divided its noisy sum by, where it can tell; checked, not used.

        Raises:
            UsageError: no run has begun, the shapes differ, or a value is not finite.
        """
        if self._run < 0:
            raise UsageError("Call begin(canary_in=…) before the first step of a run.")
        row = self._reduced(noisy_gradient, canary_gradient, others)
        if sampled and not self._in:
            raise UsageError("The canary was sampled in a run that began with canary_in=False.")
        row |= {
            "run": self._run, "canary_in": self._in, "sampled": _UNKNOWN if sampled is None else int(sampled),
            "batch_size": _UNKNOWN if batch_size is None else int(batch_size),
            "divided_by": math.nan if divided_by is None else float(divided_by),
        }  # fmt: skip
        for name, value in row.items():
            self._rows[name].append(value)

    def _reduced(self, noisy_gradient: Any, canary_gradient: Any, others: Any) -> dict[str, Any]:
        noisy = _flat("noisy_gradient", noisy_gradient) * self.claim.denominator
        known = others is not None
        if canary_gradient is None:
            if noisy.size != 1:
                raise UsageError(
                    "Give the canary's gradient, or as noisy_gradient a number: the component in its direction."
                )
            canary = np.ones(1)
        else:
            canary = _flat("canary_gradient", canary_gradient)
        length = float(np.linalg.norm(canary))
        if canary.size != noisy.size:
            raise UsageError(f"The noisy gradient has {noisy.size} entries and the canary's gradient {canary.size}.")
        if length == 0:
            raise UsageError("The canary's gradient is zero: choose a canary whose gradient is long.")
        if known:
            background = _flat("others", others)
            if background.size not in (1, noisy.size):
                raise UsageError(f"The noisy gradient has {noisy.size} entries and others {background.size}.")
            noisy = noisy - background
        unit = canary / length
        projection = float(noisy @ unit)
        row = {"projection": projection, "rest": math.nan, "dimension": noisy.size, "fingerprint": math.nan}
        if known and noisy.size > 1:
            rest = noisy - projection * unit
            signs = _signs(noisy.size)
            across = signs - float(signs @ unit) * unit
            width = float(np.linalg.norm(across))
            row["rest"] = float(rest @ rest)
            if width > 1e-3:
                row["fingerprint"] = float(rest @ across) / width
        return row

    def __len__(self) -> int:
        """Number of steps of all runs."""
        return len(self._rows["run"])

    @property
    def run(self) -> IntArray:
        """The run of every step, from 0; shape (steps,), as those below."""
        return np.asarray(self._rows["run"], dtype=np.int64)

    @property
    def canary_in(self) -> BoolArray:
        """Whether the canary was in the dataset."""
        return np.asarray(self._rows["canary_in"], dtype=np.bool_)

    @property
    def projection(self) -> FloatArray:
        """The noisy sum without `others`, in the canary's direction; in units of gradients."""
        return np.asarray(self._rows["projection"], dtype=np.float64)

    @property
    def rest(self) -> FloatArray:
        """The squared norm of the noisy sum without `others`, across the canary's direction; NaN if unknown."""
        return np.asarray(self._rows["rest"], dtype=np.float64)

    @property
    def dimension(self) -> IntArray:
        """Number of coordinates of the gradient."""
        return np.asarray(self._rows["dimension"], dtype=np.int64)

    @property
    def fingerprint(self) -> FloatArray:
        """The component in a fixed direction across the canary's, which shows repeated noise; NaN if unknown."""
        return np.asarray(self._rows["fingerprint"], dtype=np.float64)

    @property
    def sampled(self) -> IntArray:
        """How many times the canary was in the batch; −1 if unknown."""
        return np.asarray(self._rows["sampled"], dtype=np.int64)

    @property
    def batch_size(self) -> IntArray:
        """Number of records in the batch; −1 if unknown."""
        return np.asarray(self._rows["batch_size"], dtype=np.int64)

    @property
    def divided_by(self) -> FloatArray:
        """What the loop divided by; NaN if unknown."""
        return np.asarray(self._rows["divided_by"], dtype=np.float64)

    def save(self, path: str | Path) -> None:
        """Write it as .npz.

        Raises:
            ReportError: the file cannot be written.
        """
        about = json.dumps({"format": _FORMAT, "records": self.records, "claim": dataclasses.asdict(self.claim)})
        buffer = io.BytesIO()
        np.savez_compressed(buffer, about=np.array(about), **{name: getattr(self, name) for name in _COLUMNS})
        try:
            write_file(path, buffer.getvalue())
        except OSError as error:
            raise ReportError(f"Cannot write {path}: {error.strerror or error}.") from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ReportError: the file cannot be read, or is of another kind.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                columns = {name: arrays[name].astype(kind) for name, kind in _COLUMNS.items()}
            if about["format"] != _FORMAT:
                raise ReportError(f"{path} has format {about['format']}; this version of dpaudit reads {_FORMAT}.")
            transcript = cls(SGDClaim(**about["claim"]), records=about["records"])
        except OSError as error:
            raise ReportError(f"Cannot read {path}: {error.strerror or error}.") from None
        except (KeyError, ValueError, TypeError) as error:
            raise ReportError(f"{path} is not a transcript that SGDTranscript.save wrote ({error}).") from None
        transcript._rows = {name: column.tolist() for name, column in columns.items()}
        transcript._run = int(columns["run"].max(initial=-1))
        transcript._in = bool(columns["canary_in"][-1]) if len(transcript) else False
        return transcript

    def __repr__(self) -> str:
        inside = int(self.canary_in.sum())
        return f"SGDTranscript({self._run + 1} runs, {inside} steps on D, {len(self) - inside} on D′)"


def _flat(name: str, gradient: Any) -> FloatArray:
    """One vector of floats; for containers of arrays, one after the other."""
    if isinstance(gradient, Mapping):
        gradient = tuple(gradient.values())
    if isinstance(gradient, (list, tuple)):
        parts = [_flat(name, part) for part in gradient]
        return np.concatenate(parts) if parts else np.zeros(0)
    if hasattr(gradient, "detach"):  # a tensor of torch, which may require a gradient or be on a device
        gradient = gradient.detach().cpu()
    try:
        vector = np.asarray(gradient, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name} must be an array, or a list, tuple or dict of arrays, not {type(gradient).__name__} ({error})."
        ) from None
    if not np.isfinite(vector).all():
        raise UsageError(f"{name} has an entry that is infinite or NaN, of which nothing can be tested.")
    return vector


@lru_cache(maxsize=8)
def _signs(dimension: int) -> FloatArray:
    """A fixed vector of ±1, the same in every process."""
    signs: FloatArray = np.random.default_rng(dimension).choice(np.array([-1.0, 1.0]), size=dimension)
    return signs
