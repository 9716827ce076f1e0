"""The pages of the Python reference: which modules are public, and the directives that show their docstrings."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from docs_text import toctree

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Page:
    """One page of the reference.

    Args:
        slug: its file.
        title: its heading.
        about: a paragraph, in Markdown.
        modules: what it shows, in this order; those that are not there are left out.
        names: of some of the modules, those to show, in this order; of others all that are public are shown.
    """

    slug: str
    title: str
    about: str
    modules: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PAGES = (
    Page(
        "functions",
        "dpaudit",
        "What most people use: a function for every command of {doc}`the command line <../command-line>`, what they "
        "return, and what they raise.\n{py:class}`dpaudit.Claim <dpaudit.language.Claim>` and the curves "
        "(`dpaudit.GaussianDP`, …) are words of {doc}`the language <language>`.",
        ("dpaudit", "dpaudit.api.guesses"),
        {
            "dpaudit": (
                "audit", "audit_samples", "audit_scores", "audit_guesses", "count_guesses", "assert_private",
                "trace", "verify", "worst", "compare", "load", "command", "Result", "ScoresResult", "GuessesResult",
                "PrivacyViolation", "InconclusiveAudit", "Interrupted", "audit_stability", "assert_stable",
                "StabilityResult", "StabilityViolation", "prove", "Proof", "Refuted", "Unknown", "Answers", "Stream",
                "Records", "Domain", "check_certificate",
            ),
            "dpaudit.api.guesses": ("Guesses",),
        },
    ),
    Page(
        "proofs",
        "Proofs",
        "Parts of a {py:class}`dpaudit.Proof`; {doc}`../../../how-to/prove` shows how to prove a claim.",
        ("dpaudit.proofs.results",),
        {"dpaudit.proofs.results": ("LowerBound", "NoiseLine", "Place")},
    ),
    Page(
        "results",
        "Results",
        "What an audit found, as frozen dataclasses; {doc}`../json` is the same as JSON. "
        "{py:class}`dpaudit.Result` adds methods to them.",
        (
            "dpaudit.api.result", "dpaudit.results.model", "dpaudit.results.records", "dpaudit.results.figures",
            "dpaudit.results.stream", "dpaudit.results.faults", "dpaudit.results.stability",
            "dpaudit.results.canaries",
        ),
        {"dpaudit.api.result": ("Plots",)},
    ),
    Page(
        "traces",
        "Traces",
        "What {py:func}`dpaudit.trace` returns, and the registry of noise functions of other libraries; "
        "{doc}`../../../how-to/trace` shows both.",
        ("dpaudit.traces.alarms", "dpaudit.traces.recorder", "dpaudit.traces.hooks"),
        {
            "dpaudit.traces.recorder": ("Place", "Draws"),
            "dpaudit.traces.hooks": ("NoiseFunction", "Parameters", "register", "registered"),
        },
    ),
    Page(
        "testing",
        "Testing",
        "For tests of your own: the pytest plugin, strategies for Hypothesis, and toy mechanisms of known ε.",
        ("dpaudit.pytest_plugin", "dpaudit.strategies", "dpaudit.testing"),
    ),
    Page(
        "training",
        "Training",
        "Audits of DP-SGD: {doc}`../../../how-to/training` is an introduction.",
        (
            "dpaudit.training.transcript", "dpaudit.training.claim", "dpaudit.training.audit",
            "dpaudit.training.checks", "dpaudit.training.reference",
        ),
    ),
    Page(
        "adapters",
        "Adapters",
        "Mechanisms of other libraries, and programs, as functions that can be audited.",
        (
            "dpaudit.subjects.adapters", "dpaudit.subjects.adapters.opendp", "dpaudit.subjects.adapters.diffprivlib",
            "dpaudit.subjects.adapters.pydp", "dpaudit.subjects.adapters.table", "dpaudit.subjects.command",
        ),
    ),
    Page(
        "language",
        "The language",
        "All that a mechanism's text imports: `from dpaudit.language import …`. "
        "{doc}`../../../how-to/language` is an introduction.",
        ("dpaudit.language", "dpaudit.language.checks"),
    ),
    Page(
        "interpret",
        "Interpreters",
        "Three readings of the same text: sampled, enumerated exactly, accounted for.",
        ("dpaudit.interpret",),
    ),
    Page(
        "stats",
        "Statistics",
        "Numbers in, numbers out. {doc}`../../../explanation/statistics` says what they are for and what they assume.",
        (
            "dpaudit.stats.clopper_pearson", "dpaudit.stats.score_test", "dpaudit.stats.eprocess",
            "dpaudit.stats.hockey_stick", "dpaudit.stats.enclosure",
            "dpaudit.stats.noise_profile", "dpaudit.stats.noise_losses", "dpaudit.stats.tradeoff",
            "dpaudit.stats.power", "dpaudit.stats.membership", "dpaudit.stats.bands", "dpaudit.stats.one_run",
            "dpaudit.stats.gdp", "dpaudit.stats.log_bounds",
        ),
    ),
    Page(
        "adversary",
        "Pairs and events",
        "Where pairs come from, and how the event that tells them apart is learned.",
        (
            "dpaudit.adversary.pairs.pair", "dpaudit.adversary.pairs.describe", "dpaudit.adversary.pairs.description",
            "dpaudit.adversary.pairs.starting_pairs", "dpaudit.adversary.pairs.climb",
            "dpaudit.adversary.pairs.mutations", "dpaudit.adversary.pairs.histogram_mutations",
            "dpaudit.adversary.pairs.chains", "dpaudit.adversary.pairs.minimize",
            "dpaudit.adversary.events.event", "dpaudit.adversary.events.learner",
        ),
    ),
    Page(
        "plans",
        "Plans of audits",
        "The form in which a catalogue says what to try against its algorithms.",
        (
            "dpaudit.plans.plan", "dpaudit.plans.comparison", "dpaudit.results.comparison",
            "dpaudit.plans.registry",
        ),
    ),
    Page(
        "report",
        "Reports",
        "From a result to a text, and back.",
        (
            "dpaudit.results.json_form", "dpaudit.report.html", "dpaudit.report.figures",
            "dpaudit.report.report_dir",
            "dpaudit.report.short", "dpaudit.report.junit", "dpaudit.report.sarif",
            "dpaudit.report.markdown", "dpaudit.report.ndjson",
        ),
    ),
    Page("settings", "Settings and errors", "", ("dpaudit.options", "dpaudit.config", "dpaudit.errors")),
)


def python_pages() -> dict[str, str]:
    """Name under reference/generated/ → text; pages of which no module is there are left out."""
    there = [(page, [name for name in page.modules if _exists(name)]) for page in PAGES]
    made = {f"python/{page.slug}": _page(page, modules) for page, modules in there if modules}
    slugs = [page.slug for page, modules in there if modules]
    made["python/index"] = (
        "# Python\n\nFrom the docstrings. What is not here is no part of the interface and may change.\n\n"
        + toctree(slugs, hidden=False)
    )
    return made


def _exists(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _page(page: Page, modules: list[str]) -> str:
    parts = [f"# {page.title}\n", f"{page.about}\n"]
    for name in modules:
        if len(modules) > 1:
            parts.append(f"## {name}\n")
        parts.append(_language() if name == "dpaudit.language" else _module(name, page.names.get(name, ())))
    return "\n".join(parts)


def _module(name: str, names: tuple[str, ...] = ()) -> str:
    """Everything of a module that has no underscore, or these names in order; of a package, what it exports."""
    if names:
        each = [line for one in names for line in (*_directive(name, one, name), "")]
        return _rst([f".. automodule:: {name}", "   :no-members:", "", *each])
    imported = ["   :imported-members:"] if hasattr(import_module(name), "__all__") else []
    return _rst([f".. automodule:: {name}", "   :members:", "   :undoc-members:", "   :show-inheritance:", *imported])


_OF_LANGUAGE = ("dpaudit.language.", "dpaudit.outputs.", "dpaudit.stats.")
"""Where what the language exports is defined."""


def _language() -> str:
    """The names that the language exports, under the modules that they come from."""
    package = ROOT / "dpaudit" / "language"
    exported = set(import_module("dpaudit.language").__all__)
    parts = []
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(_OF_LANGUAGE):
            continue
        module = str(node.module)
        lines = []
        for alias in node.names:
            if alias.name in exported:
                lines += [*_directive(module, alias.name, "dpaudit.language"), ""]
        if lines:
            parts.append(f"## {_summary(module)}\n\n{_rst(lines)}")
    return "\n".join(parts)


def _directive(module: str, name: str, shown: str) -> list[str]:
    """What shows a name of a module as one of the package that exports it."""
    value = getattr(import_module(module), name)
    if isinstance(value, type):
        options = ["   :members:", "   :undoc-members:", "   :show-inheritance:"]
        return [f".. auto{'exception' if issubclass(value, BaseException) else 'class'}:: {shown}.{name}", *options]
    if callable(value) and hasattr(value, "__code__"):
        return [f".. autofunction:: {shown}.{name}"]
    return [f".. autodata:: {shown}.{name}", "   :no-value:"]


def _summary(module: str) -> str:
    """The first line of a module's docstring, up to its first colon or full stop."""
    text = (import_module(module).__doc__ or module).strip().split("\n")[0]
    return text.split(":")[0].rstrip(".")


def _rst(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```"]) + "\n"
