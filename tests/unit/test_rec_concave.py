"""RecConcave: its steps against the definitions, Lemma 6.13, the open steps, and the refutation of Lemma 6.11."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import DatasetError, MechanismError, ParameterError
from dpaudit.interpret import Law, align, law, ledger, sample
from dpaudit.interpret.range_laws import members
from dpaudit.language import Given, IntegerRange, Scores, StepScores
from dpaudit.language.distributions import plain
from dpaudit.stats import clopper_pearson
from dpaudit.stats.hockey_stick import epsilon_at_symmetric, profile_symmetric
from dpaudit_algorithms.interior_points.rec_concave import (
    RecConcave,
    RecConcaveCorrected,
    _as_printed,
    _families,
    _lengths,
    _padded,
)
from dpaudit_audits.interior_points.rec_concave import TWO_SPIKES, four_calls, three_calls, three_calls_at_large_delta

Pieces = list[tuple[int, float]]


@pytest.mark.parametrize("T", [2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 40, 64, 65, 100])
def test_steps_in_pieces_are_the_printed_ones(T: int) -> None:
    r, alpha = 7.0, 0.3
    values = np.random.default_rng(T).integers(-5, 20, T + 1).astype(float)
    printed, printed_families = _as_printed(values.tolist(), r, alpha)
    padded = _padded(Scores(values).steps)
    assert _lengths(padded, r, alpha).values.tolist() == printed
    assert [(listed(u_A), listed(u_B)) for u_A, u_B in _families(padded)] == printed_families


def listed(scores: StepScores) -> list[float]:
    return [value for a, b, value in zip(scores.starts, scores.stops, scores.values, strict=True) for _ in range(a, b)]


@settings(max_examples=60)
@given(st.lists(st.integers(-3, 6), min_size=3, max_size=70), st.sampled_from([1, 2, 3, 4]), st.booleans())
def test_pieces_and_lists_have_one_law(heights: list[int], base: int, big: bool) -> None:
    """Step functions of few scores, so that ties abound: in pieces and one by one, to the last digit but rounding."""
    heights = [heights[i // 3 if big else i] for i in range(len(heights))]
    mechanism = RecConcave(len(heights) - 1, Given(), 3.0, 0.4, 1.5, 0.05, base=base)
    one_by_one = law(mechanism, Scores(heights)).as_dict()
    pieces = law(mechanism, Scores(heights).steps)
    values, probs = members(pieces.values, pieces.probs, "law")
    assert sum(one_by_one.values()) == pytest.approx(1, abs=1e-12)
    found = dict(zip(plain(values), probs.tolist(), strict=True))
    assert found.keys() >= one_by_one.keys()
    for value, p in found.items():
        assert p == pytest.approx(one_by_one.get(value, 0.0), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("T", [2**33, 2**40, 2**64 - 1])
def test_the_law_gives_three_calls_of_the_printed_base(T: int) -> None:
    """Depth 3 as printed begins past 2^32: the law itself, to be held against `piecewise` below."""
    epsilon, delta = 0.5, 1e-9
    r, steps = three_calls(epsilon, delta, T)
    printed, corrected = (v(T, steps, r, 0.5, epsilon, delta) for v in (RecConcave, RecConcaveCorrected))
    assert printed.calls == 3
    left, right = law(printed, (0,)), law(printed, (1,))
    _, p, q = align(left, right)
    assert epsilon_at_symmetric(p, q, 9 * delta) == pytest.approx(4.9115, abs=1e-4)
    for record, exact in ((0, left), (1, right)):
        pieces = [(start, height + record * change) for start, height, change in steps.pieces]
        expected = piecewise(pieces, T, r, 0.5, epsilon, delta, 32)
        starts = [start for start, _, _ in steps.pieces]
        for probability, a, b in zip(expected, starts, [*starts[1:], T + 1], strict=True):
            assert mass(exact, a, b) == pytest.approx(probability, rel=1e-9)
    _, p, q = align(law(corrected, (0,)), law(corrected, (1,)))
    assert epsilon_at_symmetric(p, q, 9 * delta) < 9 * epsilon


def mass(exact: Law, start: int, stop: int) -> float:
    """Of the outcomes start, …, stop − 1."""
    ranges = [v if isinstance(v, IntegerRange) else IntegerRange(v, v + 1) for v in exact.values]  # type: ignore[arg-type,operator]
    shares = [max(0, min(s.stop, stop) - max(s.start, start)) / s.size for s in ranges]
    return math.fsum(p * share for p, share in zip(exact.probs.tolist(), shares, strict=True))


def test_huge_ranges_are_sampled_as_their_law_says() -> None:
    T = 2**100
    r, steps = three_calls(0.5, 0.01, T)
    mechanism, runs = RecConcave(T, steps, r, 0.5, 0.5, 0.01), 100_000
    exact, counts = law(mechanism, (1,)), sample(mechanism, (1,), runs, seed=101).counts
    for a, b in ((0, 1), (2, 8), (8, 1024), (2048, 2304), (3072, T // 2), (T // 2, T + 1)):
        p = mass(exact, a, b)
        seen = sum(times for j, times in counts.items() if a <= int(str(j)) < b)
        # six standard deviations, and one run for the rarest
        assert abs(seen - runs * p) <= 6 * math.sqrt(runs * p * (1 - p)) + 1


@pytest.mark.parametrize(("T", "N", "calls"), [(32, None, 1), (33, None, 2), (2**32, None, 2), (2**32 + 1, None, 3),
                                               (2**40, 2, 2), (2**40, 1, 1), (2**40, 9, 3)])  # fmt: skip
def test_number_of_calls(T: int, N: int | None, calls: int) -> None:
    mechanism = RecConcave(T, Given(), 1.0, 0.5, 0.1, 1e-6, N)
    assert mechanism.calls == calls
    assert mechanism.claim.epsilon == pytest.approx(0.3 * calls)
    assert mechanism.claim.delta == pytest.approx(3e-6 * calls)


@pytest.mark.parametrize("version", [RecConcave, RecConcaveCorrected])
def test_lemma_6_13_at_its_promise(version: type[RecConcave] | type[RecConcaveCorrected]) -> None:
    # N = 2, so failing to reach (1 − α)r is allowed with probability 2βN = 0.2; the law gives it exactly
    T, alpha, epsilon, delta, beta = 1000, 0.5, 1.0, 1e-6, 0.05
    r = math.ceil(8**2 * 4 / (alpha * epsilon) * (math.log2(32 / (beta * delta)) + 4))
    x = np.arange(T + 1)
    for peak, slope in ((0, 5.0), (500, 50.0), (1000, 1.0), (333, 1e4), (17, 0.0)):
        Q = r - slope * np.abs(x - peak)
        out = law(version(T, Given(), float(r), alpha, epsilon, delta), Scores(Q))
        assert sum(out.probs[np.isin(np.asarray(out.values), np.flatnonzero((1 - alpha) * r > Q))]) <= 4 * beta


def test_the_output_stays_in_the_range_though_it_was_padded() -> None:
    # every true score is far below the padding's 0, so the intervals of the padding are the best
    Q = Scores(np.full(34, -500.0))
    mechanism = RecConcave(33, Given(), 10.0, 0.5, 1.0, 1e-3)
    out = law(mechanism, Q).as_dict()
    assert sum(out.values()) == pytest.approx(1)
    assert all(isinstance(j, int) and 0 <= j <= 33 for j in out)
    tops = np.full(34, -500.0)
    tops[33] = 100.0
    assert all(isinstance(j, int) and 0 <= j <= 33 for j in law(mechanism, Scores(tops)).as_dict())


def test_two_bottoms_give_index_zero() -> None:
    # k = 0 surely; a tie of all intervals leaves both A_dist at ⊥ but for ½·δ^1.44
    scores = np.full(41, -1000.0)
    scores[[10, 20, 30, 38]] = 100.0
    out = law(RecConcave(40, Given(), 100.0, 0.5, 1.0, 1e-6), Scores(scores)).as_dict()
    assert out[0] == pytest.approx(1.0, abs=1e-6)


def test_wrong_inputs_are_named() -> None:
    with pytest.raises((DatasetError, MechanismError), match="needs 41"):
        law(RecConcave(40, Given(), 1.0, 0.5, 1.0, 1e-3), Scores([1.0, 2.0]))
    gap = StepScores((0,), (1.0,), 50).only([IntegerRange(0, 40), IntegerRange(49, 50)])
    for scores in (Scores(np.ones(41), range(1, 42)), StepScores((1,), (1.0,), 42), gap):
        with pytest.raises((DatasetError, MechanismError), match=r"are 0, …, 40"):
            law(RecConcave(40, Given(), 1.0, 0.5, 1.0, 1e-3), scores)
    for wrong in ({"T": -1}, {"alpha": 0.0}, {"epsilon": -1.0}, {"delta": 1.0}, {"N": 0}, {"base": 0}):
        values = {"T": 40, "quality": Given(), "promise": 1.0, "alpha": 0.5, "epsilon": 1.0, "delta": 0.1} | wrong
        with pytest.raises(ParameterError):
            RecConcave(**values)  # type: ignore[arg-type]


def test_two_calls_by_hand() -> None:
    # both families: gap 2 with the spike at 20 ahead, then a tie that the spike at 5 wins
    epsilon, delta = 2.5, 0.01
    mechanism = RecConcave(40, TWO_SPIKES, 100.0, 0.5, epsilon, delta)
    left, right = law(mechanism, (0,)).as_dict(), law(mechanism, (1,)).as_dict()
    passes = 0.5 * math.exp(2 * epsilon - math.log2(1 / delta))
    assert left[20] == pytest.approx(1 - (1 - passes) ** 2)
    assert right.get(20, 0.0) < 1e-12
    assert left[20] > 3 * mechanism.claim.delta
    runs = 200_000
    seen = sample(mechanism, (0,), runs, seed=3).counts[20]
    # six standard deviations: a false alarm with probability below 1e-8
    assert abs(seen / runs - left[20]) < 6 * math.sqrt(left[20] / runs)


@pytest.mark.parametrize(("epsilon", "worst"), [(0.5, 9.823), (0.25, 9.9), (0.1, 9.944)])
def test_three_calls_spend_more_than_nine_epsilon(epsilon: float, worst: float) -> None:
    delta = 1e-9
    r, steps = three_calls(epsilon, delta)
    printed = RecConcave(4096, steps, r, 0.5, epsilon, delta, base=4)
    assert printed.calls == 3
    _, p, q = align(law(printed, (0,)), law(printed, (1,)))
    assert epsilon_at_symmetric(p, q, printed.claim.delta) / epsilon == pytest.approx(worst, abs=2e-3)
    corrected = RecConcaveCorrected(4096, steps, r, 0.5, epsilon, delta, base=4)
    _, p, q = align(law(corrected, (0,)), law(corrected, (1,)))
    assert epsilon_at_symmetric(p, q, corrected.claim.delta) <= 9 * epsilon


def test_three_calls_are_refuted_at_a_larger_delta() -> None:
    epsilon, delta = 0.5, 3.155e-5
    r, quality = three_calls_at_large_delta(epsilon, delta)
    for version, at_claim in ((RecConcave, 2.84411e-4), (RecConcaveCorrected, 0.0)):
        mechanism = version(4096, quality, r, 0.5, epsilon, delta, base=4)
        assert mechanism.calls == 3
        _, p, q = align(law(mechanism, (0,)), law(mechanism, (1,)))
        assert profile_symmetric(p, q, [9 * epsilon])[0] == pytest.approx(at_claim, rel=1e-5, abs=1e-12)
    assert 9 * delta < 2.84411e-4


def test_four_calls_spend_more_than_twelve_epsilon() -> None:
    """The law on 2^260 solutions, and `piecewise`, which shares no code with it."""
    epsilon, delta = 0.5, 1e-130
    r, quality = four_calls(epsilon, delta)
    printed, corrected = (v(2**260, quality, r, 0.5, epsilon, delta, base=4) for v in (RecConcave, RecConcaveCorrected))
    assert printed.calls == 4
    left, right = law(printed, (0,)), law(printed, (1,))
    _, p, q = align(left, right)
    assert epsilon_at_symmetric(p, q, 12 * delta) / epsilon == pytest.approx(13.7153, abs=1e-4)
    event = (8 << 256, 9 << 256)
    for record, exact in ((0, left), (1, right)):
        pieces = [(start, height + record * change) for start, height, change in quality.pieces]
        expected = piecewise(pieces, 2**260, r, 0.5, epsilon, delta, 4)
        assert mass(exact, *event) == pytest.approx(expected[4], rel=1e-6)
    _, p, q = align(law(corrected, (0,)), law(corrected, (1,)))
    assert epsilon_at_symmetric(p, q, 12 * delta) <= 12 * epsilon


def test_three_calls_refuted_by_samples_of_one_event() -> None:
    r, steps = three_calls(0.5, 1e-9)
    printed, runs = RecConcave(4096, steps, r, 0.5, 0.5, 1e-9, base=4), 10**8
    hits = [
        sum(times for j, times in sample(printed, (x,), runs, seed=11 + x).counts.items() if 2048 <= int(str(j)) < 2304)
        for x in (0, 1)
    ]
    lower = clopper_pearson.epsilon_lower(hits[1], runs, hits[0], runs, delta=printed.claim.delta, alpha=0.001)
    assert lower > printed.claim.epsilon


def test_three_calls_with_the_printed_base_of_32() -> None:
    """T > 2^32 is needed for three calls then: too many scores for an array, seven pieces for `piecewise`."""
    epsilon, delta = 0.5, 1e-9
    r, steps = three_calls(epsilon, delta)
    small = RecConcave(4096, steps, r, 0.5, epsilon, delta, base=4)
    starts = [start for start, _, _ in steps.pieces]
    worst = []
    for T, base in ((4096, 4), (2**33, 32)):
        laws = []
        for record in (0, 1):
            pieces = [(start, height + record * change) for start, height, change in steps.pieces]
            laws.append(np.array(piecewise(pieces, T, r, 0.5, epsilon, delta, base)))
            if T == 4096:  # the calculator agrees with the interpreter
                points = law(small, (record,)).as_dict()
                for probability, a, b in zip(laws[-1], starts, [*starts[1:], T + 1], strict=True):
                    assert probability == pytest.approx(sum(points.get(j, 0.0) for j in range(a, b)), rel=1e-6)
        p, q = (one / one.sum() for one in laws)
        worst.append(epsilon_at_symmetric(p, q, 9 * delta))
        assert profile_symmetric(p, q, [9 * epsilon])[0] > 9 * delta
    assert worst[0] == pytest.approx(worst[1], rel=1e-9)
    assert worst[1] == pytest.approx(4.9115, abs=1e-4)


def test_the_ledger_of_the_corrected_version_balances() -> None:
    r, steps = three_calls(0.5, 1e-9)
    entry = ledger(RecConcaveCorrected(4096, steps, r, 0.5, 0.5, 1e-9, base=4), (0,))
    assert entry.balanced
    assert entry.complete


def piecewise(pieces: Pieces, T: int, r: float, alpha: float, epsilon: float, delta: float, base: int) -> list[float]:
    """RecConcave's exact probability of every piece of a step function, whatever T: an independent calculation."""
    if base >= T:
        return _softmax(pieces, [(0, T + 1)], epsilon, T)
    log_T = (T - 1).bit_length()
    end = 1 << log_T
    padded = pieces + ([(T + 1, min(0.0, pieces[-1][1]))] if end > T else [])
    L = [_best_window(padded, end, 1 << j) for j in range(log_T + 1)]
    L.append(min(0.0, L[-1]))
    q = [(j, min(L[j] - (1 - alpha) * r, r - L[j + 1])) for j in range(log_T + 1)]
    out = [0.0] * len(pieces)
    for k, p in enumerate(piecewise(q, log_T, alpha / 2 * r, 0.25, epsilon, delta, base)):
        size = 8 << k
        for A, p_A in _a_dist(_two_best(padded, end, 0, size), epsilon, delta):
            for B, p_B in _a_dist(_two_best(padded, end, size // 2, size), epsilon, delta):
                chosen = [(s, min(s + size, T + 1)) for s in (A, B) if s is not None and s <= T]
                if len(chosen) == 2 and abs(chosen[0][0] - chosen[1][0]) < size:
                    chosen = [(min(a for a, _ in chosen), max(b for _, b in chosen))]
                shares = _softmax(pieces, chosen, epsilon, T) if chosen else [1.0] + [0.0] * (len(pieces) - 1)
                out = [mass + p * p_A * p_B * share for mass, share in zip(out, shares, strict=True)]
    return out


def _ranges(pieces: Pieces, end: int) -> list[tuple[int, int, float]]:
    stops = [start for start, _ in pieces[1:]] + [end + 1]
    return [(start, stop, height) for (start, height), stop in zip(pieces, stops, strict=True)]


def _softmax(pieces: Pieces, ranges: list[tuple[int, int]], epsilon: float, T: int) -> list[float]:
    counts = [sum(max(0, min(e, b) - max(s, a)) for a, b in ranges) for s, e, _ in _ranges(pieces, T)]
    top = max(height for (_, height), count in zip(pieces, counts, strict=True) if count)
    weights = [
        count * math.exp(epsilon / 2 * (height - top)) if count else 0.0
        for (_, height), count in zip(pieces, counts, strict=True)
    ]
    return [weight / sum(weights) for weight in weights]


def _best_window(pieces: Pieces, end: int, length: int) -> float:
    ranges = _ranges(pieces, end)
    at = {s for s, _, _ in ranges} | {e - length for _, e, _ in ranges}
    return max(
        min(h for s, e, h in ranges if s < a + length and e > a) for a in at if 0 <= a <= end + 1 - length
    )


def _two_best(pieces: Pieces, end: int, first: int, size: int) -> list[tuple[int, float]]:
    ranges = _ranges(pieces, end)
    number = max(0, -(-(end + 1 - first) // size))
    near = {(x - first) // size + d for s, e, _ in ranges for x in (s, e - 1) for d in (-1, 0, 1, 2)}
    scored = []
    for i in sorted(near):
        if 0 <= i < number:
            a, b = first + i * size, min(first + (i + 1) * size, end + 1)
            scored.append((a, max(h for s, e, h in ranges if s < b and e > a)))
    return sorted(scored, key=lambda one: -one[1])[:2]


def _a_dist(best: list[tuple[int, float]], epsilon: float, delta: float) -> list[tuple[int | None, float]]:
    if len(best) < 2:
        return [(best[0][0] if best else None, 1.0)]
    short = math.log2(1 / delta) - epsilon * (best[0][1] - best[1][1])
    passes = 0.5 * math.exp(-short) if short > 0 else 1 - 0.5 * math.exp(short)
    bottom = 1 - 0.5 * math.exp(-short) if short > 0 else 0.5 * math.exp(short)
    return [(best[0][0], passes), (None, bottom)]
