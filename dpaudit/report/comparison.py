"""A comparison of algorithms: its table, on the terminal and for the page."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from dpaudit.report import utility, wording
from dpaudit.report.numbers import count, small, stated
from dpaudit.report.terminal_text import Rows, columns
from dpaudit.results.comparison import ONE_RUN, ComparisonRow
from dpaudit.results.model import Audit, Result, UtilityAudit

HEADING = ("algorithm", "n", "success", "guaranteed", "ε on the pair", "claimed (ε, δ)", "one run")


@dataclass(frozen=True)
class Line:
    """One row as it is shown."""

    algorithm: str
    records: str
    success: str
    guaranteed: str
    epsilon: str
    claimed: str
    seconds: str
    note: str

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of `HEADING`."""
        return (
            self.algorithm, self.records, self.success, self.guaranteed, self.epsilon, self.claimed, self.seconds
        )


def lines(result: Result, *, times: bool) -> list[Line]:
    """The rows of a result's comparison; without `times`, only what is reproducible."""
    return [] if result.comparison is None else [_line(row, result, times=times) for row in result.comparison.rows]


def comparison_block(result: Result) -> Rows:
    """The table for a terminal."""
    block = Rows()
    if result.comparison is None:
        return block
    block.line(Text(_title(result), "bold"), indent=0)
    shown = lines(result, times=True)
    heading, *rows = columns([HEADING, *(line.cells for line in shown)])
    block.line(Text(heading, "dim"), indent=0)
    for row in rows:
        block.line(row, indent=0)
    for line in shown:
        if line.note:
            block.line(f"{line.algorithm}, n = {line.records}: {line.note}")
    return block


def _title(result: Result) -> str:
    comparison = result.comparison
    assert comparison is not None
    return f"{comparison.title}, given ε = {stated(comparison.epsilon)}, δ = {small(comparison.delta)}"


def _line(row: ComparisonRow, result: Result, *, times: bool) -> Line:
    guarantee, audit = _utility(row, result), _audit(row, result)
    worst = guarantee.deciding if guarantee is not None else None
    seconds = result.timings.audits.get(guarantee.replay + ONE_RUN) if guarantee is not None and times else None
    guaranteed = guarantee is not None and guarantee.claim.probability > 0
    return Line(
        row.algorithm,
        count(row.records),
        "–" if worst is None else utility.success(worst),
        utility.guaranteed(guarantee) if guarantee is not None and guaranteed else "nothing",
        _epsilon(audit),
        "–" if audit is None else wording.claimed(audit),
        "" if seconds is None else f"{seconds * 1000:.3g} ms",
        row.note,
    )


def _epsilon(audit: Audit | None) -> str:
    if audit is None:
        return "–"
    if wording.has_exact(audit):
        return f"= {wording.exact_epsilon(audit)}"
    bound = wording.certified_epsilon(audit)
    return "–" if bound is None else f"≥ {bound}"


def _utility(row: ComparisonRow, result: Result) -> UtilityAudit | None:
    return None if row.utility is None else result.utility[row.utility]


def _audit(row: ComparisonRow, result: Result) -> Audit | None:
    return None if row.audit is None else result.audits[row.audit]
