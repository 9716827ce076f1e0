"""Everyday programs are proved with exactly their ε, and no program is proved at a claim that does not hold."""

from __future__ import annotations

import inspect

import pytest

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof
from tests.proofs import programs_leaking, programs_private
from tests.proofs.programs_leaking import LEAKS, Leak
from tests.proofs.programs_private import PROGRAMS, Program

EXPECTED_UNKNOWN = {
    # a function returns on several paths that depend on the data
    "clipped_by_hand",
    # objects: loops over a counter, classes of the program
    "count_people",
    "state_in_a_local_object",
    "cached_scale",
    # −∞ as a number
    "running_maximum",
    # streams that are read by index, and `out += [...]`
    "first_above_while",
    # match
    "matched",
    # the alignment needs twice the ε where two order statistics may move, but never both
    "midrange",
}
"""Private programs for which there is no proof yet."""

def without_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only the interpreter: the real program is not run beside it."""
    monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_private_programs(program: Program) -> None:
    outcome = prove(program.function, program.scope, epsilon=program.epsilon, refute=False)
    if program.name in EXPECTED_UNKNOWN:
        assert not isinstance(outcome, Proof), "remove it from EXPECTED_UNKNOWN"
        return
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == program.epsilon
    assert check_certificate(outcome.certificate) is None


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_no_private_program_is_proved_below_its_epsilon(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_replay(monkeypatch)
    claimed = program.epsilon * 999 / 1000
    assert not isinstance(prove(program.function, program.scope, epsilon=claimed, refute=False), Proof)
    generous = prove(program.function, program.scope, epsilon=1000, refute=False)
    if isinstance(generous, Proof):
        assert generous.epsilon >= program.epsilon


@pytest.mark.parametrize(
    "leak",
    LEAKS,
    ids=lambda leak: leak.name,
)
def test_leaks_are_never_proved(leak: Leak, monkeypatch: pytest.MonkeyPatch) -> None:
    without_replay(monkeypatch)
    outcome = prove(leak.function, leak.scope, epsilon=leak.claimed, refute=False)
    assert not isinstance(outcome, Proof), leak.why


def test_every_program_is_in_its_list() -> None:
    def defined(module: object) -> set[str]:
        return {
            name for name, value in vars(module).items()
            if inspect.isfunction(value) and list(inspect.signature(value).parameters)[:2] in (
                ["data", "rng"], ["answers", "rng"]
            )
        }  # fmt: skip

    assert defined(programs_private) == {program.name for program in PROGRAMS}
    helpers = {"other_code", "private_lambda"}
    assert defined(programs_leaking) - helpers <= {leak.name for leak in LEAKS}


def test_names_are_distinct() -> None:
    for programs in (PROGRAMS, LEAKS):
        names = [program.name for program in programs]
        assert len(names) == len(set(names))
