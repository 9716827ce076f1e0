"""The global generators of `random` and numpy, seeded for a while: functions may draw from them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.random import SeedSequence


@contextmanager
def global_seeds(seed: SeedSequence, word: int) -> Iterator[None]:
    """The global generators of `random` and numpy, seeded inside and as they were afterwards."""
    kept, kept_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    state = int(seed.generate_state(word + 1)[word])
    random.seed(state)
    np.random.seed(state)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)  # noqa: NPY002
