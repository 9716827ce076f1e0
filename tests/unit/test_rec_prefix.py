"""RecPrefix: its constants, its open steps, Lemma 7.14 and a law by hand."""

from __future__ import annotations

import math

import pytest
from scipy.stats import laplace

from dpaudit.errors import DatasetError, MechanismError, ParameterError
from dpaudit.interpret import law, ledger, sample
from dpaudit.language import BOTTOM, Multiset
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.interior_points.rec_prefix import Agreements, CommonPrefix, RecPrefix, RecPrefixLevel

A, B = 0x1000, 0x1800


def test_constants_of_theorem_7_8() -> None:
    level = RecPrefix().level
    assert (level.epsilon, level.delta, level.beta) == (1 / 8, 1e-6 / 8, pytest.approx(0.1 / 12))
    assert level.trim == 74_569
    assert level.calls == 2
    assert RecPrefix().sample_sizes[0].records == math.ceil(18500 * 16 * 4 * math.log(16 / 1e-7))


@pytest.mark.parametrize("base", [4, 5, 8, 32])
def test_at_most_log_star_calls_although_prefix_lengths_take_one_value_more(base: int) -> None:
    sizes = [*range(2, 3000), *(2**i + d for i in range(12, 300) for d in (-1, 0, 1))]
    for size in sizes:
        assert RecPrefixLevel(size, 0.1, 1e-6, 0.1, base=base).calls <= _exact_log_star(size)


def test_parameters_without_a_claim_are_refused() -> None:
    with pytest.raises(ParameterError, match="base"):
        RecPrefixLevel(base=3)
    with pytest.raises(ParameterError, match="≤ 2 a level"):
        RecPrefixLevel(epsilon=3.0)
    with pytest.raises(ParameterError, match="≤ 2 a level"):
        RecPrefix(epsilon=20.0)


@pytest.mark.parametrize(
    "data",
    [
        {A: 372_500, B: 372_500},
        {A: 596_000, 0x9C40: 149_000},
        {A: 300_000, B: 333_147, 0x9C40: 111_853},
        {7: 745_000},
    ],
)
def test_lemma_7_14_at_its_sample_size(data: dict[int, int]) -> None:
    # each call gets at least (1540/ε)·ln(4/(βεδ)) records; failing is allowed with probability 3βN = 0.05
    mechanism, S = RecPrefix(), Multiset.counted(data)
    level = mechanism.level
    least = 1540 / level.epsilon * math.log(4 / (level.beta * level.epsilon * level.delta))
    assert (len(S) - 2 * level.trim) // 2 >= least
    runs, allowed = 2000, 3 * level.beta * level.calls
    outputs = sample(mechanism, S, runs, seed=7)
    failures = sum(
        times for x, times in outputs.counts.items() if x < S.values[0] or S.at_least(x) < level.trim
    )
    # Hoeffding: a false alarm with probability 1e-9 at most
    assert failures <= runs * allowed + math.sqrt(runs * math.log(1e9) / 2)


def test_base_case_is_the_exponential_mechanism_with_the_depth() -> None:
    out = law(RecPrefixLevel(3, 1.0, 0.1, 0.1), (0, 0, 2)).as_dict()
    weights = [math.exp(2 / 2), math.exp(1 / 2), math.exp(1 / 2)]
    assert [out[x] for x in range(3)] == pytest.approx([w / sum(weights) for w in weights])


def test_law_by_hand_with_nothing_to_pair() -> None:
    # n ≤ 2k: S′ is empty, z is uniform on {0, …, 6}; ε = 1, one record: OPT = 1
    m = RecPrefixLevel(64, 1.0, 0.1, 0.5, k=1, base=8)
    passes = 0.5 * math.exp((1 - 8 * math.log(4 / 0.05)) / 4)
    full = 2 / 7  # z = 5 and z = 6 both ask for all 6 bits
    # the record 63 is its own L₁ for every length: #≥L₁ = 1 against 3k/2 = 1.5
    big = 0.5 * math.exp(-0.5)
    out = law(m, (63,)).as_dict()
    # ⊥ gives the prefix 0…0, whose L₁ = 31, 15, 7, 3, 1 has the one record above it
    from_bottom = (1 - passes) / 7
    assert out[63] == pytest.approx(passes * ((1 - full) * big + full))
    assert out[31] == pytest.approx(from_bottom * big)
    assert out[0] == pytest.approx((1 - passes) * (full + (1 - full) * (1 - big)))


def test_law_of_the_printed_steps_composed() -> None:
    m, S = RecPrefixLevel(64, 1.0, 0.1, 0.5, k=1, base=8), (0, 8, 62, 63)
    expected = dict.fromkeys(range(64), 0.0)
    # steps 2 to 4: without the 2k = 2 greatest records, 000000 and 001000 are left, which agree in 2 bits
    for z, at_z in law(m.next_level, (2,)).as_dict().items():
        length = min(z + 1, 6)
        shift = 6 - length
        for prefix, at_prefix in law(ChoosingMechanism(0.5, 1.0, 0.1, Agreements(6, length)), S).as_dict().items():
            low = 0 if prefix is BOTTOM else prefix << shift  # steps 5 and 6
            high = low + 2**shift - 1
            big = laplace.sf(1.5, sum(x >= high for x in S), 1.0)  # steps 7 and 8
            expected[high] += at_z * at_prefix * big
            expected[low] += at_z * at_prefix * (1 - big)
    found = law(m, S).as_dict()
    assert [found.get(x, 0.0) for x in range(64)] == pytest.approx(list(expected.values()))


def test_open_steps() -> None:
    assert CommonPrefix(6)(5, 5) == 6
    assert CommonPrefix(6)(0, 63) == 0
    assert CommonPrefix(6)(0b101000, 0b101111) == 3
    scores = Agreements(6, 2)(Multiset.of((0, 15, 16, 63)))
    assert dict(zip(scores.solutions, scores.values.tolist(), strict=True)) == {0: 2, 1: 1, 3: 1}
    # |X| no power of two: 33 elements need 6 bits, prefix lengths take 7 values, nothing above 32 comes out
    m = RecPrefixLevel(33, 2.0, 0.1, 0.9, k=1, base=8)
    assert (m.bits, m.next_level.size) == (6, 7)
    out = law(m, (0, 32, 32, 32, 31)).as_dict()
    assert all(0 <= x <= 32 for x in out)
    # the empty dataset, and one element
    assert sum(law(m, ()).as_dict().values()) == pytest.approx(1)
    assert law(RecPrefix(1), (0, 0)).as_dict() == {0: pytest.approx(1.0)}
    with pytest.raises((DatasetError, MechanismError), match="whole numbers in 0"):
        law(m, (33,))


def test_the_ledger_balances_at_every_level() -> None:
    entry = ledger(RecPrefix(2**16, k=1), Multiset.of((5, 9, 1000, 40_000)))
    assert entry.balanced
    assert entry.complete
    assert entry.parts[0].balanced


def _exact_log_star(n: int) -> int:
    """log* of a whole number, with ⌈log₂⌉, which the thesis shows to count the same."""
    steps = 0
    while n > 1:
        n, steps = (n - 1).bit_length(), steps + 1
    return steps
