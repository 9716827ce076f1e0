"""Seeds of many blocks at once, against numpy's own."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import MT19937, SeedSequence, default_rng

from dpaudit.subjects.block_seeds import block_seeds

NUMBERS = st.integers(0, 2**70) | st.integers(0, 5)
FIRST = st.sampled_from([0, 1, 4_090, 2**32 - 10, 2**32])


def numpys(entropy: Any, key: tuple[int, ...], block: int) -> SeedSequence:
    words = list(entropy) if isinstance(entropy, list) else [entropy]
    return SeedSequence([*words, block] if block else words, spawn_key=key)


@given(st.lists(NUMBERS, min_size=1, max_size=6) | NUMBERS, st.lists(NUMBERS, max_size=3).map(tuple), FIRST)
def test_they_are_those_of_numpy(entropy: Any, key: tuple[int, ...], first: int) -> None:
    blocks = range(first, first + 20)
    for block, seed in zip(blocks, block_seeds(SeedSequence(entropy, spawn_key=key), blocks), strict=True):
        expected = numpys(entropy, key, block)
        assert default_rng(seed).bit_generator.state == default_rng(expected).bit_generator.state
        # of other bit generators too
        assert (seed.generate_state(3) == expected.generate_state(3)).all()
        assert (seed.generate_state(4, np.uint64) == expected.generate_state(4, np.uint64)).all()


def test_many_of_them_are_all_there() -> None:
    seeds = list(block_seeds(SeedSequence(1), range(10_000)))
    for block in (0, 1, 4_095, 4_096, 8_191, 8_192, 9_999):
        assert (seeds[block].generate_state(4, np.uint64) == numpys(1, (), block).generate_state(4, np.uint64)).all()
    assert len({tuple(seed.generate_state(4, np.uint64)) for seed in seeds}) == 10_000


def test_a_program_can_use_them_as_it_uses_numpy_s() -> None:
    def rng(mine: bool) -> Any:
        (*_, last) = block_seeds(SeedSequence([1, 2], spawn_key=(3,)), range(20))
        return default_rng(last if mine else numpys([1, 2], (3,), 19))

    mine, expected = rng(True), rng(False)
    for _ in range(2):
        assert [each.random() for each in mine.spawn(3)] == [each.random() for each in expected.spawn(3)]
    seed = mine.bit_generator.seed_seq
    assert (seed.entropy, seed.spawn_key, seed.n_children_spawned) == ([1, 2, 19], (3,), 6)
    assert MT19937(seed).random_raw() == MT19937(expected.bit_generator.seed_seq).random_raw()
    with pytest.raises(AttributeError):
        _ = seed.nothing
    # copies go on from where it is
    for again in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert again.random() == copy.deepcopy(expected).random()
        assert again.spawn(1)[0].random() == copy.deepcopy(expected).spawn(1)[0].random()
