"""The result that the functions of `dpaudit` return, with its methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from dpaudit.errors import UnknownNameError, UsageError
from dpaudit.results import model
from dpaudit.results.faults import exit_code
from dpaudit.results.figures import PLOTS, Plot, columns
from dpaudit.results.model import Audit, ClaimRecord, Verdict

if TYPE_CHECKING:
    # drawing and writing are imported where they are asked for: worker processes need neither
    from matplotlib.axes import Axes

_WIDTH = 80


class Result(model.Result):
    """The result of an audit: data, as in `dpaudit.results.model.Result`, and what can be done with it.

    `verdict` is the overall verdict; `audits` and `utility` have the single audits. Most results have one audit, and
    then
    `audit`, `claim`, `reason`, `epsilon_lower`, `epsilon_exact` and `plot` are about it. If there are several, select
    one: `result[0]`, `result.only("a case")`, or a loop over the result give results with one audit.

    It displays itself in a notebook and prints as the command line does. It has no truth value, so that
    `assert audit(…)` is an error; use `assert_private` in tests.
    """

    @classmethod
    def of(cls, result: model.Result) -> Self:
        """The same data with these methods."""
        return cls(**{field.name: getattr(result, field.name) for field in dataclasses.fields(result)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The result that `to_json`, or `dpaudit check --json`, wrote.

        Raises:
            ReportError: the text is none.
        """
        from dpaudit.results import json_form

        return cls.of(json_form.from_json(text, where="the text"))

    # --- verdict and numbers ---

    @property
    def verdict(self) -> Verdict:
        """FAIL if any audit fails, else INCONCLUSIVE if any is, else PASS; utility guarantees count too.

        Raises:
            UsageError: there is no audit, which is no reason to pass.
        """
        if not self.every:
            raise UsageError("This result has no audits, so it has no verdict.")
        verdicts = {audit.verdict for audit in self.every}
        return next(v for v in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS) if v in verdicts)

    @property
    def exit_code(self) -> int:
        """What `dpaudit check` would exit with: 130 if it was interrupted, 4 if a mechanism crashed, 1 if anything is
        refuted, 3 if anything is inconclusive, else 0."""
        return exit_code(self)

    @property
    def audit(self) -> Audit:
        """The one audit of privacy.

        Raises:
            UsageError: there are several, or none.
        """
        if len(self.audits) == 1:
            return self.audits[0]
        if not self.audits:
            raise UsageError("This result has no privacy audit.")
        labels = ", ".join(repr(audit.case) for audit in self.audits[:3])
        raise UsageError(
            f"This result has {len(self.audits)} audits ({labels}{', …' if len(self.audits) > 3 else ''}); take one: "
            "result[0], or result.only(case)."
        )

    @property
    def claim(self) -> ClaimRecord:
        """What the one audit tested."""
        return self.audit.claim

    @property
    def reason(self) -> str:
        """The reason of the single audit's verdict, and for INCONCLUSIVE what to do."""
        return self.audit.reason

    @property
    def epsilon_lower(self) -> float | None:
        """The lower confidence bound on ε of the single audit; None if nothing was sampled."""
        return self.audit.epsilon_lower

    @property
    def epsilon_exact(self) -> float | None:
        """The exact ε at the claimed δ of the single audit; None if it was not computed, or is infinite."""
        return self.audit.epsilon_exact

    # --- one of several ---

    def __len__(self) -> int:
        return len(self.every)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A result has no truth value; compare result.verdict, or use dpaudit.assert_private in a test."
        )

    def __getitem__(self, place: int) -> Self:
        """The result with the audit at one place alone; audits of privacy come first."""
        return self._alone(self.every[place])

    def __iter__(self) -> Iterator[Self]:
        return map(self._alone, self.every)

    def only(self, name: str) -> Self:
        """The result with the one audit that has this case, name, or both ("RecPrefix · group of 2").

        Raises:
            UnknownNameError: none has it.
            UsageError: several have it.
        """
        import difflib

        matching = [a for a in self.every if name in (a.case, a.name, f"{a.name} · {a.case}")]
        if not matching:
            close = difflib.get_close_matches(name, [audit.case for audit in self.every], n=3)
            raise UnknownNameError("audit in this result", name, tuple(close))
        if len(matching) > 1:
            raise UsageError(f"{len(matching)} audits of this result are called {name!r}; give both: 'name · case'.")
        return self._alone(matching[0])

    def _alone(self, audit: Audit | model.UtilityAudit) -> Self:
        if isinstance(audit, Audit):
            return dataclasses.replace(self, audits=[audit], utility=[], comparison=None)
        return dataclasses.replace(self, audits=[], utility=[audit], comparison=None)

    # --- seen ---

    @property
    def plot(self) -> Plots:
        """Figures of the one audit, on matplotlib axes."""
        return Plots(self.audit)

    def __str__(self) -> str:
        """What the command line prints, without colour, 80 columns wide."""
        from rich.console import Console

        from dpaudit.report.console import ConsoleReporter

        out = StringIO()
        consoles = [Console(file=file, width=_WIDTH, color_system=None, force_jupyter=False) for file in (out, out)]
        ConsoleReporter(*consoles, quiet=False).show(self)
        return out.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        from dpaudit.report import wording
        from dpaudit.results.plain import flat

        if len(self.every) > 1 or not self.audits:
            return f"<dpaudit.Result {wording.title(self)}>"
        (audit,) = self.audits
        verdict = wording.verdict_phrase(audit).replace(" · ", ", ")
        return flat(f"<dpaudit.Result {audit.name}: {verdict}; {wording.headline(audit)}>")

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from dpaudit.report.notebook import to_fragment

        return to_fragment(self)

    # --- kept ---

    def to_json(self) -> str:
        """The result as JSON, of the published schema; `from_json` reads it back.

        Raises:
            ReportError: it holds what JSON cannot.
        """
        from dpaudit.results import json_form

        return json_form.to_json(self)

    def to_html(self) -> str:
        """The report as the text of one HTML file."""
        from dpaudit.report.html import to_html

        return to_html(self)

    def save(self, path: str | Path) -> None:
        """Write a file: the report as .html, or the data as .json, which `dpaudit.load` reads.

        Raises:
            ReportError: another ending, or the file cannot be written.
        """
        from dpaudit.report.files import save

        save(path, {".json": self.to_json, ".html": self.to_html})


def load(path: str | Path) -> Result:
    """The result in a file that `Result.save`, or `dpaudit check --json`, wrote.

    Raises:
        ReportError: the file cannot be read, or holds no result.
    """
    from dpaudit.report import files

    return Result.of(files.read(str(path)))


class Plots:
    """The figures of one audit, each on `ax`, or on axes of a new figure of pyplot's; each returns the axes.

    They are the report's: the claim is dashed, evidence is solid, so that black and white is enough. Fonts and sizes
    are those of the axes. Each draws on axes of its own, whose scales and limits it sets.
    """

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def profile(self, ax: Axes | None = None) -> Axes:
        """δ against ε on the pair: claimed, exact if computed, and the lower bound from counts."""
        return self._drawn("profile", ax)

    def tradeoff(self, ax: Axes | None = None) -> Axes:
        """Type II against type I error of the best tests: claimed, exact, and the confidence bound."""
        return self._drawn("tradeoff", ax)

    def loss(self, ax: Axes | None = None) -> Axes:
        """The exact distribution of the privacy loss in both directions, with the claimed ε."""
        return self._drawn("loss", ax)

    def outputs(self, ax: Axes | None = None) -> Axes:
        """The output's distribution on both datasets, with the event."""
        return self._drawn("outputs", ax)

    def evidence(self, ax: Axes | None = None) -> Axes:
        """The e-process against samples per dataset, with the threshold that refutes."""
        return self._drawn("evidence", ax)

    def bound(self, ax: Axes | None = None) -> Axes:
        """The lower confidence bound on ε against samples per dataset."""
        return self._drawn("bound", ax)

    @property
    def names(self) -> list[str]:
        """Names of the figures that have data."""
        return list(self._audit.plots)

    def data(self, name: str) -> dict[str, list[Any]]:
        """The numbers behind a figure: a list for each column, all of one length; `pandas.DataFrame` takes it.

        Raises:
            UnknownNameError: no such figure.
            UsageError: this audit has none.
        """
        return {key: list(value) for key, value in columns(self._data(name)).items()}

    def _data(self, name: str) -> Plot:
        if name not in PLOTS:
            raise UnknownNameError("figure", name, tuple(PLOTS))
        if (plot := self._audit.plots.get(name)) is None:
            there = f"it has {', '.join(self.names)}" if self.names else "nothing was sampled or computed exactly"
            raise UsageError(f"This audit has no data for the figure {name!r}; {there}.")
        return plot

    def _drawn(self, name: str, ax: Axes | None) -> Axes:
        from dpaudit.report.figures import on_axes

        self._data(name)
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots()
        on_axes.draw(ax, self._audit, name)
        return ax
