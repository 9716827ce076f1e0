"""What a program applies to its whole dataset and is proved by itself: exact costs, and what must not be proved."""

from __future__ import annotations

import inspect
import json
import math
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.language import Bernoulli, Gaussian, Laplace, Mechanism
from dpaudit.language.curves import ZeroConcentrated
from dpaudit.proofs import parts
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import QUICK, claimed, prove, prove_widest
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope
from dpaudit.report.proof import method, proof_text

BITS = Domain(3, (0, 1))
LOG3 = math.log(3)


def name(value: Any) -> str:
    return str(getattr(value, "__name__", value))


def flipped(data: Any, rng: Any, p: float = 0.75) -> Any:
    return [x if rng.random() < p else 1 - x for x in data]


def counted(data: Any, rng: Any, *, scale: float = 1.0) -> Any:
    return sum(data) + rng.laplace(scale=scale)


def first_above(data: Any, rng: Any) -> Any:
    threshold = rng.laplace(scale=2.0)
    for place, x in enumerate(data):
        if x + rng.laplace(scale=4.0) >= threshold:
            return place
    return None


@dataclass(frozen=True)
class Flipped(Mechanism):
    def run(self, S: Any) -> Any:
        out = []
        for x in S:
            truth = yield Bernoulli(0.75)
            out.append(x if truth else 1 - x)
        return tuple(out)


@dataclass(frozen=True)
class Both(Mechanism):
    inner: Mechanism = field(default_factory=Flipped)

    def run(self, S: Any) -> Any:
        bits = yield self.inner.on(S)
        noisy = yield Laplace(sum(S), 2.0)
        if sum(bits) > 1:
            return noisy + bits[0]
        return noisy, bits


# --- private programs, and their ε ---


def bits_and_a_count(data: Any, rng: Any) -> Any:
    bits = flipped(data, rng)
    return sum(bits), sum(data) + rng.laplace(scale=1.0)


def two_functions(data: Any, rng: Any) -> Any:
    return flipped(data, rng, p=0.8), counted(data, rng, scale=4.0)


def noise_that_depends_on_bits(data: Any, rng: Any) -> Any:
    if flipped(data, rng)[0]:
        return counted(data, rng, scale=2.0), counted(data, rng, scale=4.0)
    return counted(rng=rng, data=data)


def bits_twice(data: Any, rng: Any) -> Any:
    one, two = flipped(data, rng), flipped(data, rng)
    return [x + y for x, y in zip(one, two, strict=True)], counted(data, rng)


def three_streams(data: Any, rng: Any) -> Any:
    one, two, three = first_above(data, rng), first_above(data, rng), first_above(data, rng)
    if one is None:
        return two, three
    return one, data[0] + rng.laplace(scale=1.0)


PRIVATE: list[tuple[Any, Scope, float]] = [
    (bits_and_a_count, BITS, LOG3 + 1), (two_functions, BITS, math.log(4) + 1 / 4),
    (noise_that_depends_on_bits, BITS, LOG3 + 1), (bits_twice, BITS, 2 * LOG3 + 1), (Both(), BITS, LOG3 + 1 / 2),
    (Both(Flipped()), Domain(1, (0, 1)), LOG3 + 1 / 2),
]


@pytest.mark.parametrize(("program", "scope", "epsilon"), PRIVATE, ids=name)
def test_costs_add_up(program: Any, scope: Scope, epsilon: float) -> None:
    proof = prove(program, scope, epsilon=epsilon * (1 + 1e-9), refute=False)
    assert isinstance(proof, Proof)
    assert float(proof.epsilon) == pytest.approx(epsilon, rel=1e-9)
    assert check_certificate(json.loads(json.dumps(proof.certificate))) is None
    less = prove(program, scope, epsilon=epsilon * 0.999, refute=False)
    assert isinstance(less, Unknown)
    assert less.least is not None
    assert float(less.least) == pytest.approx(epsilon, rel=1e-9)


def test_a_part_has_paths_of_its_own() -> None:
    """With 8³ paths and more, the program cannot be followed through all parts at once within these limits."""
    for epsilon, found in ((4, Proof), (3.99, Unknown)):
        outcome = prove_widest(three_streams, [Answers(7)], claimed(three_streams, epsilon=epsilon), refute=False,
                               limits=QUICK)
        assert isinstance(outcome, found)


def test_random_compositions_are_never_proved_below_the_truth() -> None:
    """A bit with probability p of being kept and a count with Laplace noise: ε is ln(p/(1−p)) + 1/scale."""
    rng = np.random.default_rng(7)
    for _ in range(12):
        p, scale, often = 0.5 + int(rng.integers(1, 9)) / 20, float(rng.integers(1, 5)), int(rng.integers(1, 4))

        def program(data: Any, rng: Any, p: float = p, scale: float = scale, often: int = often) -> Any:
            return [flipped(data, rng, p) for _ in range(often)], counted(data, rng, scale=scale)

        truth = often * math.log(p / (1 - p)) + 1 / scale
        proof = prove(program, Domain(1, (0, 1)), epsilon=truth * (1 + 1e-9), refute=False)
        assert isinstance(proof, Proof)
        assert truth * (1 - 1e-12) <= float(proof.epsilon) <= truth * (1 + 1e-9)


def test_gaussian_noise_beside_a_part() -> None:
    def program(data: Any, rng: Any) -> Any:
        return flipped(data, rng), sum(data) + rng.normal(scale=2.0)

    rho = 1 / 8 + LOG3**2 / 2
    proof = prove(program, BITS, claim=ZeroConcentrated(rho * (1 + 1e-9)), refute=False)
    assert isinstance(proof, Proof)
    assert (proof.mu_squared, float(proof.rho)) == (Fraction(1, 4), pytest.approx(rho, rel=1e-9))
    assert check_certificate(json.loads(json.dumps(proof.certificate))) is None
    assert isinstance(prove(program, BITS, claim=ZeroConcentrated(rho * 0.999), refute=False), Unknown)
    approximate = prove(program, BITS, epsilon=LOG3 + 1, delta=0.05, refute=False)
    assert isinstance(approximate, Proof)
    assert float(approximate.epsilon) == pytest.approx(LOG3, rel=1e-9)


# --- programs that are less private than claimed, or unknown ---


SEEN: list[Any] = []


def keeps_the_data(data: Any, rng: Any) -> Any:
    SEEN.append(data[0])
    return flipped(data, rng)


@dataclass(frozen=True)
class ReturnsItsList(Flipped):
    zero: list[int] = field(default_factory=lambda: [0])

    def run(self, S: Any) -> Any:
        bits = yield Flipped().on(S)
        return self.zero if bits[0] else [0]


@dataclass(frozen=True)
class LooksAtTheList(Mechanism):
    inner: ReturnsItsList = field(default_factory=ReturnsItsList)

    def run(self, S: Any) -> Any:
        found = yield self.inner.on(S)
        noise = yield Laplace(0, 1.0)
        found.append(S[0])
        again = yield self.inner.on(S)
        return again, noise


@dataclass(frozen=True)
class TellsTheList(LooksAtTheList):
    def run(self, S: Any) -> Any:
        found = yield self.inner.on(S)
        noise = yield Laplace(sum(S), 1.0)
        return (S[0], noise) if found is self.inner.zero else noise


@dataclass(frozen=True)
class OneRecordOften(Mechanism):
    inner: Mechanism = field(default_factory=Flipped)

    def run(self, S: Any) -> Any:
        bits = yield self.inner.on((S[0], S[0], S[0]))
        noise = yield Laplace(0, 1.0)
        return bits, noise


def a_raw_record(data: Any, rng: Any) -> Any:
    return flipped(data, rng), data[0], counted(data, rng)


def chosen_by_the_data(data: Any, rng: Any) -> Any:
    bits = flipped(data, rng, p=0.75) if data[0] else flipped(data, rng, p=0.25)
    return bits, counted(data, rng)


def chosen_by_the_data_twice(data: Any, rng: Any) -> Any:
    one, other = (flipped, counted) if data[0] else (counted, flipped)
    return one(data, rng), other(data, rng)


def parameter_from_the_data(data: Any, rng: Any) -> Any:
    return flipped(data, rng, p=0.5 + data[0] / 4), counted(data, rng)


def parameter_from_noise(data: Any, rng: Any) -> Any:
    return flipped(data, rng, p=max(data[0], 0) / 2), rng.laplace(scale=1.0)


def masked(data: Any, rng: Any, noise: Any) -> Any:
    rng.laplace(scale=1.0)
    return sum(data) + noise


def noise_as_an_argument(data: Any, rng: Any) -> Any:
    noise = rng.laplace(scale=0.01)
    return masked(data, rng, noise), flipped(data, rng)


def one_record_often(data: Any, rng: Any) -> Any:
    return flipped((data[0], data[0], data[0]), rng), counted(data, rng)


def of_other_data(data: Any, rng: Any) -> Any:
    return flipped(tuple(x * y for x in data for y in data), rng), counted(data, rng)


def once_for_each_record(data: Any, rng: Any) -> Any:
    return [counted(data, rng) for x in data if x], flipped(data, rng)


def with_a_side_effect(data: Any, rng: Any) -> Any:
    return keeps_the_data(data, rng), counted(data, rng), SEEN[-1]


def compared_by_identity(data: Any, rng: Any) -> Any:
    bits = flipped(data, rng)
    return (data[0], counted(data, rng)) if bits is data else counted(data, rng)


def of_two_sizes(data: Any, rng: Any) -> Any:
    return flipped(data, rng), rng.laplace(scale=1.0)


def gaussian(data: Any, rng: Any) -> Any:
    return sum(data) + rng.normal(scale=10.0)


def of_gaussian_noise(data: Any, rng: Any) -> Any:
    return flipped(data, rng), gaussian(data, rng)


def its_own_generator(data: Any, rng: Any) -> Any:
    return flipped(data, np.random.default_rng(0)), counted(data, rng)


def of_itself(data: Any, rng: Any) -> Any:
    return of_itself(data, rng) if rng.random() < 0.5 else flipped(data, rng), counted(data, rng)


LEAKING: list[tuple[Any, Scope]] = [
    (LooksAtTheList(), BITS), (OneRecordOften(), BITS), (TellsTheList(), BITS), (a_raw_record, BITS),
    (chosen_by_the_data, BITS), (chosen_by_the_data_twice, BITS), (parameter_from_the_data, BITS),
    (parameter_from_noise, BITS), (of_other_data, Domain(2, (0, 1))), (noise_as_an_argument, BITS),
    (one_record_often, BITS), (once_for_each_record, BITS), (with_a_side_effect, BITS), (compared_by_identity, BITS),
    (of_two_sizes, Domain(3, (0, 1), "add-remove-one")), (of_gaussian_noise, BITS), (its_own_generator, BITS),
    (of_itself, BITS), (a_raw_record, Records(3, 0, 1)),
]


@pytest.mark.parametrize("replays", [True, False])
@pytest.mark.parametrize(("program", "scope"), LEAKING, ids=name)
def test_what_must_not_be_proved(program: Any, scope: Scope, replays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not replays:
        monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)
    assert isinstance(prove(program, scope, epsilon=2.5, refute=False), Unknown)


def bits_and_gaussian_noise(data: Any, rng: Any) -> Any:
    return flipped(data, rng, p=0.8), sum(data) + rng.normal(scale=2.0)


def with_another_signature(data: Any, rng: Any, p: float = 1.0) -> Any:
    return [x if rng.random() < p else 1 - x for x in data]


with_another_signature.__signature__ = inspect.signature(flipped)  # type: ignore[attr-defined]


def says_another_default(data: Any, rng: Any) -> Any:
    return with_another_signature(data, rng), sum(data) + rng.normal(scale=2.0)


def test_defaults_are_those_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)
    assert isinstance(prove(says_another_default, BITS, epsilon=2, delta=0.1, refute=False), Unknown)


def sorts_it(data: Any, rng: Any) -> Any:
    data.sort()
    return flipped(data, rng)


def a_part_changes_the_data(data: Any, rng: Any) -> Any:
    return sorts_it(data, rng), data[0] + rng.normal(scale=2.0)


def changes_the_data(data: Any, rng: Any) -> Any:
    bits = flipped(data, rng)
    data[0] = 0
    return bits, flipped(data, rng), sum(data) + rng.normal(scale=2.0)


@pytest.mark.parametrize(
    ("program", "found"), [(a_part_changes_the_data, Unknown), (changes_the_data, Unknown),
                           (bits_and_gaussian_noise, Proof)], ids=name,
)
def test_lists(program: Any, found: type) -> None:
    what = claimed(program, epsilon=5, delta=0.1)
    assert isinstance(prove_widest(program, [BITS], what, refute=False, container="list"), found)


# --- certificates and the replay ---


@dataclass(frozen=True)
class GaussianBoth(Both):
    def run(self, S: Any) -> Any:
        bits = yield self.inner.on(S)
        noisy = yield Gaussian(sum(S), 2.0)
        return noisy, bits


def forged(change: Any) -> str | None:
    proof = prove(bits_and_gaussian_noise, BITS, epsilon=2, delta=0.05, refute=False)
    assert isinstance(proof, Proof)
    certificate = deepcopy(proof.certificate)
    change(certificate)
    return check_certificate(json.loads(json.dumps(certificate)))


def test_certificates_hold_those_of_the_parts() -> None:
    assert forged(lambda certificate: None) is None
    cheaper = forged(lambda certificate: certificate["paths"][0]["draws"][0].update(scale="2"))
    assert cheaper is not None
    assert "costs less than its certificate says" in cheaper
    lowered = forged(lambda certificate: certificate["parts"][0].update(epsilon="1/2"))
    assert lowered is not None
    assert lowered.startswith("part 0: ")
    assert forged(lambda certificate: certificate.pop("parts")) is not None
    assert forged(lambda certificate: certificate["parts"][0].update(delta="1/2")) is not None


def test_certificates_are_the_same_in_every_run() -> None:
    one, two = (prove(bits_and_gaussian_noise, BITS, epsilon=2, delta=0.05, refute=False) for _ in range(2))
    assert isinstance(one, Proof)
    assert isinstance(two, Proof)
    assert one.certificate == two.certificate
    assert [part["parameters"] for part in one.certificate["parts"]] == ["p=0.8"]


@pytest.mark.parametrize("program", [bits_and_gaussian_noise, GaussianBoth()], ids=name)
def test_the_replay_sees_outputs_of_another_shape(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(prove(program, BITS, epsilon=3, delta=0.05, refute=False), Proof)
    monkeypatch.setattr(parts, "shape_of", lambda outputs: (tuple, ("number", "number")))
    outcome = prove(program, BITS, epsilon=3, delta=0.05, refute=False)
    assert isinstance(outcome, Unknown)
    assert "does not do what was followed" in outcome.reason


def test_the_method_says_what_is_proved_by_itself() -> None:
    outcome = prove(bits_and_gaussian_noise, BITS, epsilon=2, delta=0.05, refute=False)
    assert "proved by itself" in method(outcome)[0]
    assert "proved by itself" in proof_text(outcome)
    assert "proved by itself" not in method(prove(counted, BITS, epsilon=1))[0]
