"""What a function states of itself, as attributes that dpaudit reads.

| attribute | of type | means |
| --- | --- | --- |
| `claim` | `dpaudit.language.Claim` | what it claims, where no ε is given |
| `source` | str | where the claim is from, for the report |
| `notes` | sequence of str | sentences for the report |
| `reproducible` | bool | whether `rng` is all its randomness; True where it is not said |
| `constant` | bool | whether its output is meant to be the same always; False where it is not said |
| `portable` | bool | whether it can be sent to another process; True where it is not said |

Any callable may have them: a function (`f.claim = Claim(1.0)`), or an object with `__call__`. The adapters of
`dpaudit.subjects.adapters` make such objects of other libraries' mechanisms.
"""

from __future__ import annotations

from dpaudit.errors import UsageError
from dpaudit.language import Claim, Curve
from dpaudit.language.accounting import claim_under
from dpaudit.options import EPSILON


def stated_claim(function: object, name: str) -> Claim | None:
    """The claim of a function; None where it states none.

    Raises:
        UsageError: its `claim` is something else.
    """
    claim = getattr(function, "claim", None)
    if isinstance(claim, Curve):
        return claim_under(claim, None)
    if claim is not None and not isinstance(claim, Claim):
        raise UsageError(
            "{}.claim is a {}; make it a Claim (from dpaudit.language import Claim), such as Claim(1.0), or "
            "a curve such as GaussianDP(0.5), or "
            "give {}.",
            name, type(claim).__name__, EPSILON,
        )
    return claim


def stated_notes(function: object) -> str:
    """Sentences for the report; "" for none."""
    notes = getattr(function, "notes", ())
    return notes if isinstance(notes, str) else " ".join(str(note) for note in notes)


def is_reproducible(function: object) -> bool:
    """Whether the same generator gives the same outputs."""
    return bool(getattr(function, "reproducible", True))


def is_constant(function: object) -> bool:
    """Whether its output is meant never to vary."""
    return bool(getattr(function, "constant", False))


def is_portable(function: object) -> bool:
    """Whether it can be pickled, and so be run in worker processes."""
    return bool(getattr(function, "portable", True))
