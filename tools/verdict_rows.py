"""The rows of `reports/verdicts.csv` and `reports/utility.csv`: what came out of every case of the catalogue.

Bounds are rounded to the side on which they stay true, as in every report, so a row never contradicts its verdict.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from dpaudit.report.numbers import exactly, lower, nearest, upper
from dpaudit.report.wording import PROOFS
from dpaudit.results.model import Audit, EvidenceKind, Result, UtilityAudit, Verdict

REPORTS = Path(__file__).resolve().parent.parent / "reports"
_DIGITS = 6
_LONGEST = 120  # characters of a description of inputs


@dataclass(frozen=True)
class PrivacyRow:
    """One audit of privacy.

    Args:
        algorithm, case: as in the plan.
        claim: as text.
        relation: the neighbouring relation, ":k" for groups of k.
        epsilon, delta: of the claim; both ε below are at this δ.
        evidence: sampled, exact (on the pairs tried), exhaustive (every pair of a finite domain), or alignment (every
            dataset of a scope).
        verdict, expected: pass, fail or inconclusive.
        as_expected: whether they are equal.
        epsilon_exact: of the worst pair; infinite where no ε suffices, None without output distributions.
        epsilon_lower: lower confidence bound; None where nothing was sampled.
        samples_per_dataset: on average over the pairs.
        mechanism: fingerprint of the mechanism, by which a row of an older one is noticed.
    """

    algorithm: str
    case: str
    claim: str
    relation: str
    epsilon: float
    delta: float
    evidence: str
    verdict: str
    expected: str
    as_expected: bool
    epsilon_exact: float | None
    epsilon_lower: float | None
    samples_per_dataset: int
    mechanism: str

    @property
    def proved(self) -> bool:
        """Whether the claim is proved, on a finite domain or for every dataset of a scope."""
        return self.verdict == Verdict.PASS and self.evidence in PROOFS

    @property
    def phrase(self) -> str:
        """The verdict as reports print it."""
        if self.verdict != Verdict.PASS:
            return self.verdict.upper()
        return PROOFS.get(EvidenceKind(self.evidence), "PASS · not refuted")

    @property
    def exact_text(self) -> str:
        """The exact ε as reports print it, "" without one."""
        return "" if self.epsilon_exact is None else exactly(self.epsilon_exact, self.epsilon)

    @property
    def epsilon_text(self) -> str:
        """The exact ε, else the lower confidence bound after "≥", else ""."""
        if self.epsilon_exact is not None or self.epsilon_lower is None:
            return self.exact_text
        return f"≥ {lower(self.epsilon_lower, self.epsilon)}"


@dataclass(frozen=True)
class UtilityRow:
    """One audit of a utility guarantee.

    Args:
        algorithm, case: as in the plan.
        guarantee: as text, with the direction of the bound.
        place: where it is printed.
        probability: the printed one.
        evidence: exact or sampled.
        verdict, expected, as_expected: as for privacy.
        inputs: sources of inputs on which it was tried.
        worst_input: the one that comes nearest to breaking it, or breaks it most; what follows is about it.
        exact: probability of success; None without an output distribution.
        low, high: confidence limits of it; None where nothing was sampled.
        hits, samples: successes, and samples.
        mechanism: fingerprint of the mechanism and all inputs.
    """

    algorithm: str
    case: str
    guarantee: str
    place: str
    probability: float
    evidence: str
    verdict: str
    expected: str
    as_expected: bool
    inputs: int
    worst_input: str
    exact: float | None
    low: float | None
    high: float | None
    hits: int
    samples: int
    mechanism: str

    @property
    def phrase(self) -> str:
        """The verdict: a guarantee is never proved, for other inputs were not tried."""
        return "PASS · not refuted" if self.verdict == Verdict.PASS else self.verdict.upper()


Row = PrivacyRow | UtilityRow
_Kind = TypeVar("_Kind", PrivacyRow, UtilityRow)
FILES: Mapping[type[Row], str] = {PrivacyRow: "verdicts.csv", UtilityRow: "utility.csv"}


@dataclass(frozen=True)
class Verdicts:
    """All rows, in the order of the catalogue."""

    privacy: Sequence[PrivacyRow]
    utility: Sequence[UtilityRow]

    @property
    def every(self) -> list[Row]:
        """Rows of privacy, then of utility."""
        return [*self.privacy, *self.utility]

    @property
    def unexpected(self) -> list[Row]:
        """Those whose verdict is not the one that the plan expects."""
        return [row for row in self.every if not row.as_expected]


def from_result(result: Result) -> Verdicts:
    """The rows of a result of `dpaudit check`."""
    return Verdicts([_privacy(audit) for audit in result.audits], [_utility(audit) for audit in result.utility])


def load(folder: Path = REPORTS) -> Verdicts:
    """The rows of the two files."""
    return Verdicts(
        from_csv((folder / FILES[PrivacyRow]).read_text(encoding="utf-8"), PrivacyRow),
        from_csv((folder / FILES[UtilityRow]).read_text(encoding="utf-8"), UtilityRow),
    )


def to_csv(rows: Iterable[Row], kind: type[Row]) -> str:
    """The rows below a line of column names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(kind))
    writer.writerows(map(_cell, astuple(row)) for row in rows)
    return text.getvalue()


def from_csv(text: str, kind: type[_Kind]) -> list[_Kind]:
    """The rows of such a text.

    Raises:
        SystemExit: the columns are other ones.
    """
    lines = csv.reader(io.StringIO(text))
    names, expected = next(lines, []), [field.name for field in fields(kind)]
    if names != expected:
        raise SystemExit(f"{FILES[kind]} has the columns {', '.join(names)}; run `make report`.")
    reads = [_READ[str(field.type)] for field in fields(kind)]
    return [kind(*(read(cell) for read, cell in zip(reads, line, strict=True))) for line in lines]


def fingerprint(mechanism: str, inputs: Iterable[str] = ()) -> str:
    """Eight hexadecimal digits that change with a mechanism or its inputs.

    Args:
        mechanism: its repr.
        inputs: descriptions of the sources of inputs.
    """
    return hashlib.sha256("\n".join([mechanism, *inputs]).encode()).hexdigest()[:8]


def _privacy(audit: Audit) -> PrivacyRow:
    claim, exact, bound = audit.claim, audit.epsilon_exact, audit.epsilon_lower
    if exact is None and audit.delta_exact is not None:
        exact = math.inf
    return PrivacyRow(
        algorithm=audit.name,
        case=audit.case,
        claim=claim.statement,
        relation=claim.relation,
        epsilon=float(f"{claim.epsilon:.12g}"),
        delta=float(f"{claim.delta:.{_DIGITS}g}"),
        evidence=audit.evidence.value,
        verdict=audit.verdict.value,
        expected=audit.expected or "",
        as_expected=audit.as_expected is True,
        epsilon_exact=None if exact is None else _number(exactly(exact, claim.epsilon)),
        epsilon_lower=None if bound is None else _number(lower(bound, claim.epsilon, digits=_DIGITS)),
        samples_per_dataset=0 if audit.sequential is None else audit.sequential.runs,
        mechanism=fingerprint(audit.mechanism),
    )


def _utility(audit: UtilityAudit) -> UtilityRow:
    worst, guaranteed = audit.deciding, audit.claim.probability
    exact, low, high = (None, None, None) if worst is None else (worst.exact, worst.low, worst.high)
    where = "" if worst is None else worst.instances
    return UtilityRow(
        algorithm=audit.name,
        case=audit.case,
        guarantee=audit.claim.statement,
        place=audit.claim.place,
        probability=float(f"{guaranteed:.9g}"),
        evidence=audit.evidence.value,
        verdict=audit.verdict.value,
        expected=audit.expected or "",
        as_expected=audit.as_expected is True,
        inputs=len(audit.attempts),
        worst_input=where if len(where) <= _LONGEST else f"{where[:_LONGEST]}…",
        exact=None if exact is None else _number(nearest(exact, guaranteed, digits=_DIGITS)),
        low=None if low is None else _number(lower(low, guaranteed, digits=_DIGITS)),
        high=None if high is None else _number(upper(high, guaranteed, digits=_DIGITS)),
        hits=0 if worst is None else worst.hits,
        samples=0 if worst is None else worst.runs,
        mechanism=fingerprint(audit.mechanism, (one.instances for one in audit.attempts)),
    )


def _number(printed: str) -> float:
    return math.inf if printed == "∞" else float(printed)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    # a number has been rounded already: its shortest form has no more digits
    return "" if value is None else str(value)


_READ: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": lambda cell: float(cell) if cell else None,
    "bool": lambda cell: cell == "yes",
}
"""Annotation of a field → how its cell is read."""
