"""Seeds of many blocks of calls at once: the same as numpy's, with states that are computed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

_Words = NDArray[np.uint32]

_POOL = 4
"""Words of a SeedSequence's pool."""
_STATE = 8
"""Words of the state that PCG64, numpy's default bit generator, asks for."""
_WORD = 32
_TOGETHER = 4_096
"""Most blocks whose states are computed together."""
_FEW = 8
"""So many blocks are faster without it."""
_SHOWN = frozenset({"entropy", "spawn_key", "pool_size", "n_children_spawned", "pool", "state"})
"""What else a SeedSequence says of itself."""
# as in numpy/random/bit_generator.pyx, after M. E. O'Neill, "Developing a seed_seq alternative", pcg-random.org, 2015
_INIT_A, _MULT_A, _INIT_B, _MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_SHIFT = np.uint32(16)


def block_seeds(seed: SeedSequence, blocks: range) -> Iterator[SeedSequence]:
    """The seed of each of these blocks: that of block 0 is `seed`, and block i has i after its entropy.

    Every one is new: a program may spawn seeds from the generator that it is given. The seeds of the blocks after 0 are
    none that it can spawn from its own.

    Args:
        seed: of the first block of all; its entropy a number or a sequence of numbers.
        blocks: their numbers.
    """
    entropy = seed.entropy
    words: list[int] = list(entropy) if isinstance(entropy, Sequence) else [entropy or 0]
    key = seed.spawn_key
    for start in range(blocks.start, blocks.stop, _TOGETHER):
        some = range(start, min(blocks.stop, start + _TOGETHER))
        if len(some) <= _FEW or some[-1] >> _WORD or seed.pool_size != _POOL:
            for block in some:
                yield SeedSequence([*words, block] if block else words, spawn_key=key)
            continue
        states = _states(words, key, some)
        for block, state in zip(some, states, strict=True):
            # block 0 has one word less
            own: Any = SeedSequence(words, spawn_key=key) if not block else _BlockSeed([*words, block], key, state)
            yield own


class _BlockSeed(ISpawnableSeedSequence):
    """A SeedSequence whose state for PCG64 is known; for anything else numpy's is made."""

    def __init__(self, entropy: list[int], spawn_key: tuple[int, ...], state: NDArray[np.uint64]) -> None:
        self._entropy, self._spawn_key, self._state = entropy, spawn_key, state
        self._made: SeedSequence | None = None

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """As `SeedSequence.generate_state`."""
        if n_words == len(self._state) and dtype is np.uint64:
            return self._state
        return self._own.generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> Any:
        """As `SeedSequence.spawn`."""
        return self._own.spawn(n_children)

    @property
    def _own(self) -> SeedSequence:
        if self._made is None:
            self._made = SeedSequence(self._entropy, spawn_key=self._spawn_key)
        return self._made

    def __getattr__(self, name: str) -> Any:
        if name not in _SHOWN:
            raise AttributeError(f"a SeedSequence has no {name}")
        return getattr(self._own, name)

    def __reduce__(self) -> tuple[Any, ...]:
        # in another process and in a copy it is numpy's, with what was spawned from it
        return copy, (self._own,)


def _states(words: list[int], key: tuple[int, ...], blocks: range) -> NDArray[np.uint64]:
    """What `SeedSequence([*words, block], spawn_key=key).generate_state(4, uint64)` is for each block, shape (k, 4)."""
    before = [word for number in words for word in _words_of(number)]
    after = [word for number in key for word in _words_of(number)]
    entropy: list[_Words | np.uint32] = [*map(np.uint32, before), np.arange(blocks.start, blocks.stop, dtype=np.uint32)]
    if after:
        # a short entropy is filled up before a spawn key
        entropy += [np.uint32(0)] * (_POOL - len(entropy))
        entropy += map(np.uint32, after)
    entropy += [np.uint32(0)] * (_POOL - len(entropy))
    hashed = _Hash(_INIT_A, _MULT_A)
    with np.errstate(over="ignore"):
        pool = [hashed(part) for part in entropy[:_POOL]]
        for source in range(_POOL):
            for target in range(_POOL):
                if source != target:
                    pool[target] = _mixed(pool[target], hashed(pool[source]))
        for part in entropy[_POOL:]:
            for target in range(_POOL):
                pool[target] = _mixed(pool[target], hashed(part))
        given = _Hash(_INIT_B, _MULT_B)
        state = [np.broadcast_to(given(pool[i % _POOL]), len(blocks)) for i in range(_STATE)]
    joined = np.stack(state, axis=1).astype("<u4")
    return np.ascontiguousarray(joined).view("<u8").astype(np.uint64)


class _Hash:
    """Its multiplier changes with every use, but not with what is hashed."""

    def __init__(self, start: int, factor: int) -> None:
        self._constant, self._factor = start, factor

    def __call__(self, value: Any) -> Any:
        value = value ^ np.uint32(self._constant)
        self._constant = self._constant * self._factor % (1 << _WORD)
        value = value * np.uint32(self._constant)
        return value ^ (value >> _SHIFT)


def _mixed(one: Any, other: Any) -> Any:
    mixed = _MIX_LEFT * one - _MIX_RIGHT * other
    return mixed ^ (mixed >> _SHIFT)


def _words_of(number: int) -> list[int]:
    """A number in words of 32 bits, the lowest first; 0 is one word."""
    words: list[int] = []
    while not words or number:
        words.append(number % (1 << _WORD))
        number >>= _WORD
    return words
