"""Whether a mechanism in dpaudit's language keeps anything between its runs: copies that have run on nothing else tell.

Its interpreters check that it is a function of its draws on one dataset. What it has seen of another dataset (a cache
with too small a key, a counter, an attribute that is set once) shows in copies that were made before it ran.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.errors import NondeterministicMechanismError
from dpaudit.evidence.exact import PATHS, PairLaws
from dpaudit.interpret import Outputs, align, law
from dpaudit.language.distributions import plain
from dpaudit.outputs.canonical import likeness
from dpaudit.plans.registry import ALGORITHMS, CORPUS, names
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Target
from dpaudit.subjects.user_errors import guarded

SAMPLES = 200
"""Of each dataset, drawn in both orders."""
CLOSE = 1e-9
"""Difference of two probabilities beyond rounding."""


def is_examined(target: Target) -> bool:
    """Whether to look for state: in all mechanisms but those of installed catalogues, whose tests do that."""
    if isinstance(target, FunctionTarget):
        return False
    catalogues = {where.partition(".")[0] for group in (ALGORITHMS, CORPUS) for where in names(group).values()}
    return type(target.subject).__module__.partition(".")[0] not in catalogues


def played(copy: MechanismTarget, pair: Pair, *, swapped: bool, seed: int) -> list[Outputs] | None:
    """Samples of both datasets of a pair, the same in either order; None where the copy does not run."""
    drawn: list[Outputs] = []
    try:
        for which in (1, 0) if swapped else (0, 1):
            dataset = pair.right if which else pair.left
            drawn.append(copy.runs(dataset, SAMPLES, SeedSequence([seed, which])))
    except Exception:
        return None
    return drawn[::-1] if swapped else drawn


def refuse_state(
    copies: Callable[[], MechanismTarget] | None, pair: Pair, comparison: PairLaws, name: str
) -> None:
    """Compare the output distributions of a pair with those of two copies, each of which has run on nothing else.

    Args:
        copies: makes copies in the state before the first run; None where there can be none.
        pair: the pair that decides.
        comparison: its output distributions, as they were computed.
        name: of the mechanism.

    Raises:
        NondeterministicMechanismError: they differ.
    """
    if copies is None:
        return
    laws = []
    try:
        for dataset in (pair.right, pair.left):
            with guarded(name):
                laws.append(law(copies().subject, dataset, path_limit=PATHS))
        alone = PairLaws(*align(*laws[::-1]))
    except Exception:
        # a copy that does not run shows nothing
        return
    before, after = _by_text(comparison), _by_text(alone)
    nothing = (0.0, 0.0)
    for text in before.keys() | after.keys():
        each = zip(before.get(text, nothing), after.get(text, nothing), strict=True)
        if any(abs(p - q) > CLOSE for p, q in each):
            raise NondeterministicMechanismError(
                f"{name} is not a function of its dataset and its draws: a copy of it that has run on no other dataset "
                "has a different output distribution; keep no state between runs."
            )


def _by_text(comparison: PairLaws) -> dict[str, tuple[float, float]]:
    """Both probabilities by the representation of the outcome: outcomes of copies are objects of other classes."""
    by_text: dict[str, tuple[float, float]] = {}
    for value, p, q in zip(plain(comparison.values), comparison.left.tolist(), comparison.right.tolist(), strict=True):
        text = likeness(value)
        before = by_text.get(text, (0.0, 0.0))
        by_text[text] = (before[0] + p, before[1] + q)
    return by_text
